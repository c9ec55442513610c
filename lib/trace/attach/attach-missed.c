// SPDX-License-Identifier: GPL-2.0-or-later
/* Missed hooks and run time of the programs, as counted by the kernel. */
#include "trace/attach/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

/*
 * struct bpf_link_info of Linux 6.7 and later, which the headers of older distributions lack: the fields of the link type follow
 * type, id and prog_id at offset 16. An older kernel returns a shorter struct.
 */
#define INFO_SIZE 96
#define MULTI_MISSED 32 /* kprobe_multi: addrs, count, flags, missed */
#define EVENT_MISSED 48 /* perf_event: type, then kprobe: func_name, name_len, offset, addr, missed */
#define LINK_KPROBE_MULTI 8
#define LINK_PERF_EVENT 7

/* Adds the counters of one program. False: not readable. */
static bool add_prog(int prog, struct rd_attach_counts *sum)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(prog, &info, &len))
		return false;
	sum->missed += info.recursion_misses;
	sum->runs += info.run_cnt;
	sum->run_ns += info.run_time_ns;
	return true;
}

/* The programs loaded for a hook, and the templates, which perf events share. */
static bool add_progs(const struct rd_attach *attach, struct rd_attach_counts *sum)
{
	bool all = !attach->progs_closed;

	for (size_t i = 0; i < attach->n_progs; i++)
		all &= add_prog(attach->progs[i], sum);
	for (size_t i = 0; i < RD_HOOK_COUNT; i++)
		if (attach->programs.kprobe[i] && bpf_program__fd(attach->programs.kprobe[i]) >= 0)
			all &= add_prog(bpf_program__fd(attach->programs.kprobe[i]), sum);
	return all;
}

/* Adds the missed calls of one link. False: this kernel does not count them for this link type. */
static bool add_link(int link, struct rd_attach_counts *sum)
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
		return false;
	if (info.type == LINK_KPROBE_MULTI)
		at = MULTI_MISSED;
	else if (info.type == LINK_PERF_EVENT)
		at = EVENT_MISSED;
	else
		return true;
	if (len < at + sizeof(value))
		return false;
	memcpy(&value, info.bytes + at, sizeof(value));
	sum->missed += value;
	return true;
}

void rd_attach_count(const struct rd_attach *attach, struct rd_attach_counts *ret)
{
	*ret = (struct rd_attach_counts){};
	ret->all_runs = ret->all_missed = add_progs(attach, ret);
	for (size_t i = 0; i < attach->n_links; i++)
		ret->all_missed &= add_link(attach->links[i], ret);
}
