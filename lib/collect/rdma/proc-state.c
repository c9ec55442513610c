// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/rdma/proc-state.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

/* What follows the name at the beginning of a line; NULL: no such line. The name of the process, in another line, has no newline: the
 * kernel escapes it. */
static const char *find_line(const char *text, const char *name)
{
	while (text && *text) {
		if (strncmp(text, name, strlen(name)) == 0)
			return text + strlen(name);
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

void rd_proc_state_take(const char *text, struct rd_proc *proc)
{
	const char *state = find_line(text, "State:\t"), *tracer = find_line(text, "TracerPid:\t");
	uint64_t pid;

	if (state && isalpha((unsigned char)*state))
		RD_SET(proc->state, *state);
	if (tracer && rd_take_uint(&tracer, RD_DECIMAL, UINT32_MAX, &pid) == 0)
		RD_SET(proc->tracer, (uint32_t)pid);
}

int rd_collect_proc_state(struct rd_source *src, struct rd_proc *proc)
{
	_cleanup_free_ char *text = NULL;
	int r = rd_read_textf(src, &text, NULL, "/proc/%u/status", proc->pid);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	rd_proc_state_take(text, proc);
	return 0;
}
