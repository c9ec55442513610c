// SPDX-License-Identifier: GPL-2.0-or-later
/* How often the kernel could not run a hook, by what it counts itself. */
#include "trace/attach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

/*
 * struct bpf_link_info of 6.7 and later, which the headers of older distributions lack: after type, id and prog_id, at
 * offset 16, come the fields of the kind. An older kernel says so by a shorter answer.
 */
#define INFO_SIZE 96
#define MULTI_MISSED 32 /* kprobe_multi: addrs, count, flags, missed */
#define EVENT_MISSED 48 /* perf_event: type, then kprobe: func_name, name_len, offset, addr, missed */
#define LINK_KPROBE_MULTI 8
#define LINK_PERF_EVENT 7

static uint64_t recursion_misses(int prog)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(prog, &info, &len) ? 0 : info.recursion_misses;
}

/* Adds what one link says; -ENODATA if its kind's misses are not counted by this kernel. */
static int add_link(int link, uint32_t *last_prog, uint64_t *missed)
{
	union {
		uint8_t bytes[INFO_SIZE];
		struct {
			__u32 type, id, prog_id;
		};
	} info = {};
	__u32 len = sizeof(info);
	uint64_t value = 0;
	size_t at = 0;

	if (bpf_obj_get_info_by_fd(link, &info, &len))
		return -ENODATA;
	if (info.prog_id != *last_prog) { /* links of one program stand side by side */
		_cleanup_close_ int prog = bpf_prog_get_fd_by_id(info.prog_id);

		*last_prog = info.prog_id;
		if (prog >= 0)
			*missed += recursion_misses(prog);
	}
	if (info.type == LINK_KPROBE_MULTI)
		at = MULTI_MISSED;
	else if (info.type == LINK_PERF_EVENT)
		at = EVENT_MISSED;
	else
		return 0;
	if (len < at + sizeof(value))
		return -ENODATA;
	memcpy(&value, info.bytes + at, sizeof(value));
	*missed += value;
	return 0;
}

int rd_attach_missed(const struct rd_attach *attach, uint64_t *missed)
{
	uint32_t last_prog = 0;
	int r = 0;

	*missed = 0;
	for (size_t i = 0; i < attach->n_links; i++)
		if (add_link(attach->links[i], &last_prog, missed))
			r = -ENODATA;
	return r;
}
