// SPDX-License-Identifier: GPL-2.0-or-later
/* The record by which other processes find the programs of this trace: see model/trace/held.h. */
#include "trace/attach/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "base/text.h"
#include "source/shared/source.h"

/* Field 22 of /proc/self/stat. */
static uint64_t start_time(void)
{
	char text[1024];
	uint64_t start;
	const char *field;

	rd_read_own("/proc/self/stat", text, sizeof(text));
	field = rd_stat_field(text, 22);
	return field && rd_take_uint(&field, RD_DECIMAL, UINT64_MAX, &start) == 0 ? start : 0;
}

/* The holder was forked without exec: its command line is that of the command. */
static void fill_record(const struct rd_attach *attach, struct rd_hold_record *ret)
{
	struct timespec now = { 0 };
	size_t n;

	*ret = (struct rd_hold_record){ .magic = RD_HOLD_MAGIC,
					.version = RD_HOLD_VERSION,
					.holder = (uint32_t)getpid(),
					.reader = (uint32_t)getppid(),
					.holder_start = start_time() };
	clock_gettime(CLOCK_REALTIME, &now);
	ret->since = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	snprintf(ret->what, sizeof(ret->what), "%s", attach->opts->qp ? "qp-state" : "trace-errno");
	n = rd_read_own("/proc/self/cmdline", ret->command, sizeof(ret->command));
	for (size_t i = 0; i + 1 < n; i++)
		if (!ret->command[i])
			ret->command[i] = ' ';
}

int rd_attach_create_record(struct rd_attach *attach)
{
	__u32 zero = 0;
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, RD_HOLD_MAP, sizeof(zero), sizeof(attach->owner), 1, NULL);

	if (fd < 0)
		return fd;
	attach->owner_map = fd;
	fill_record(attach, &attach->owner);
	return bpf_map_update_elem(fd, &zero, &attach->owner, BPF_ANY);
}

int rd_attach_bind_record(const struct rd_attach *attach, int prog)
{
	return bpf_prog_bind_map(prog, attach->owner_map, NULL);
}

int rd_attach_bind_templates(const struct rd_attach *attach)
{
	for (size_t i = 0; i < RD_HOOK_COUNT; i++) {
		struct bpf_program *prog = attach->programs.kprobe[i];
		int r = prog && bpf_program__fd(prog) >= 0 ? rd_attach_bind_record(attach, bpf_program__fd(prog)) : 0;

		if (r)
			return r;
	}
	return 0;
}

void rd_attach_update_record(struct rd_attach *attach, enum rd_hold_state state)
{
	__u32 zero = 0;

	attach->owner.state = state;
	memset(attach->owner.functions, 0, sizeof(attach->owner.functions));
	for (size_t i = 0; i < attach->set->n_fns; i++)
		attach->owner.functions[attach->backends[i]]++;
	attach->owner.functions[RD_BACKEND_NONE] = 0;
	for (size_t i = 0; i < RD_BACKEND_COUNT; i++)
		attach->owner.functions[i] += (uint32_t)attach->added[i];
	bpf_map_update_elem(attach->owner_map, &zero, &attach->owner, BPF_ANY);
}
