// SPDX-License-Identifier: GPL-2.0-or-later
/* Hooks that are attached: the record of who owns them, their counters, and how those of one module are detached. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "source/shared/source.h"
#include "trace/attach/attach.h"

int rd_attach_create_record(struct rd_attach *attach)
{
	struct rd_hold_record *owner = &attach->owner;
	char stat[1024];
	const char *start;
	__u32 zero = 0;
	size_t n;
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, RD_HOLD_MAP, sizeof(zero), sizeof(*owner), 1, NULL);

	if (fd < 0)
		return fd;
	attach->owner_map = fd;
	*owner = (struct rd_hold_record){ .magic = RD_HOLD_MAGIC,
					  .version = RD_HOLD_VERSION,
					  .holder = (uint32_t)getpid(),
					  .reader = (uint32_t)getppid() };
	rd_read_own("/proc/self/stat", stat, sizeof(stat));
	start = rd_stat_field(stat, 22);
	if (!start || rd_take_uint(&start, RD_DECIMAL, UINT64_MAX, &owner->holder_start) != 0)
		owner->holder_start = 0;
	owner->since = rd_clock_ns(CLOCK_REALTIME);
	snprintf(owner->what, sizeof(owner->what), "%s",
		 attach->opts->qp || attach->opts->query ? "qp-state" :
		 attach->opts->service			 ? "service" :
							   "trace-errno");
	/* The holder was forked without exec: its command line is that of the command. */
	n = rd_read_own("/proc/self/cmdline", owner->command, sizeof(owner->command));
	for (size_t i = 0; i + 1 < n; i++)
		if (!owner->command[i])
			owner->command[i] = ' ';
	return bpf_map_update_elem(fd, &zero, owner, BPF_ANY);
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
	*ret = attach->released;
	ret->all_runs = !attach->progs_closed;
	for (size_t i = 0; i < attach->n_progs; i++)
		ret->all_runs &= add_prog(attach->progs[i].fd, ret);
	/* The templates, which perf events share. */
	for (size_t i = 0; i < RD_HOOK_COUNT; i++)
		if (attach->programs.kprobe[i] && bpf_program__fd(attach->programs.kprobe[i]) >= 0)
			ret->all_runs &= add_prog(bpf_program__fd(attach->programs.kprobe[i]), ret);
	ret->all_missed = ret->all_runs;
	for (size_t i = 0; i < attach->n_links; i++)
		ret->all_missed &= add_link(attach->links[i].fd, ret);
}

/* Closes those of a module, after they were counted. Returns how many are left. */
static size_t close_module(struct rd_held_fd *v, size_t n, uint32_t module,
			   bool (*add)(int fd, struct rd_attach_counts *sum), struct rd_attach_counts *released)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (v[i].module != module) {
			v[kept++] = v[i];
		} else {
			add(v[i].fd, released);
			close(v[i].fd);
		}
	return kept;
}

void rd_attach_release(struct rd_attach *attach, uint32_t module)
{
	attach->n_links = close_module(attach->links, attach->n_links, module, add_link, &attach->released);
	attach->n_progs = close_module(attach->progs, attach->n_progs, module, add_prog, &attach->released);
	for (size_t i = 0; i < attach->set->n_fns; i++)
		if (attach->set->fns[i].module == module)
			attach->backends[i] = RD_BACKEND_NONE;
}
