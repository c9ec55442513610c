/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/shared/redaction.h"

#include "base/memory.h"

void rd_redaction_deinit(struct rd_redaction *redaction)
{
	free(redaction->nets);
	*redaction = (struct rd_redaction){ 0 };
}

void rd_redaction_add_net(struct rd_redaction *redaction, uint16_t pseudonym, uint64_t id)
{
	*RD_ADD(redaction->nets, redaction->n_nets, redaction->cap_nets) = (struct rd_redacted_net){ pseudonym, id };
}

void rd_redaction_copy(const struct rd_redaction *from, struct rd_redaction *ret)
{
	*ret = (struct rd_redaction){ .redacted = from->redacted, .key = { from->key.v, from->key.known } };
	for (size_t i = 0; i < from->n_nets; i++)
		rd_redaction_add_net(ret, from->nets[i].pseudonym, from->nets[i].id);
}
