/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/host/klog.h"

#include <string.h>

void rd_klog_deinit(struct rd_klog *klog)
{
	RD_FREE(klog->v, klog->text);
	*klog = (struct rd_klog){ 0 };
}

const char *rd_krecord_pci(const struct rd_krecord *record)
{
	static const char prefix[] = "+pci:";

	if (!record->device || strncmp(record->device, prefix, sizeof(prefix) - 1) != 0)
		return NULL;
	return record->device + sizeof(prefix) - 1;
}
