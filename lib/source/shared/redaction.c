/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/shared/redaction.h"

void rd_redaction_deinit(struct rd_redaction *redaction)
{
	free(redaction->nets);
	*redaction = (struct rd_redaction){ 0 };
}

int rd_redaction_add_net(struct rd_redaction *redaction, uint16_t pseudonym, uint64_t id)
{
	int r = rd_grow(&redaction->nets, &redaction->cap_nets, redaction->n_nets + 1, sizeof(*redaction->nets));

	if (!r)
		redaction->nets[redaction->n_nets++] = (struct rd_redacted_net){ pseudonym, id };
	return r;
}

int rd_redaction_copy(const struct rd_redaction *from, struct rd_redaction *ret)
{
	int r = 0;

	*ret = (struct rd_redaction){ .redacted = from->redacted, .key = { from->key.v, from->key.known } };
	for (size_t i = 0; !r && i < from->n_nets; i++)
		r = rd_redaction_add_net(ret, from->nets[i].pseudonym, from->nets[i].id);
	return r;
}
