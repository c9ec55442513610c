// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/rdma/proc-libs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define NAMES_SIZE 256 /* of all known names together */

int rd_collect_proc_libs(struct rd_source *src, struct rd_proc *proc)
{
	_cleanup_bytes_ struct rd_bytes text = { 0 };
	char path[64];
	int r;

	if (proc->devx_libs)
		return 0;
	snprintf(path, sizeof(path), RD_SOURCE_LIBS "/%u", proc->pid);
	r = rd_read_file(src, path, &text, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	/* A bundle may contain any text: it is shown escaped, as all foreign text. */
	while (text.size && text.data[text.size - 1] == '\n')
		text.size--;
	for (size_t i = 0; i < text.size; i++)
		text.data[i] = text.data[i] == '\n' ? ' ' : text.data[i];
	proc->devx_libs = rd_dup_part((char *)text.data,
				      strnlen((char *)text.data, text.size < NAMES_SIZE ? text.size : NAMES_SIZE));
	return 0;
}
