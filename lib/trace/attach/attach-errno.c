// SPDX-License-Identifier: GPL-2.0-or-later
/* The BPF programs of trace-errno: their configuration, and which of them are attached to a function. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "bpf/trace.h"
#include "trace/attach/attach.h"

#include "trace.skel.h"

static void fill_config(const struct rd_attach *attach, struct rd_trace_config *cfg)
{
	const struct rd_session_opts *opts = attach->opts;
	const struct rd_offsets *off = &attach->set->off;
	struct stat ns;

	cfg->pid = opts->pid;
	cfg->err = opts->err;
	cfg->cgroup = opts->cgroup_id;
	cfg->match = opts->fn_match != NULL;
	cfg->kernel_stack = opts->kernel_stack;
	cfg->user_stack = opts->user_stack;
	cfg->read_kernel = attach->read_kernel;
	cfg->qp_num = off->qp_num;
	cfg->qp_port = off->qp_port;
	cfg->ibdev_name = off->ibdev_name;
	cfg->bundle_ufile = off->bundle_ufile;
	cfg->ufile_device = off->ufile_device;
	cfg->uverbs_dev_devt = off->uverbs_dev_devt;
	cfg->descendants = opts->descendants;
	if (opts->pid && !stat("/proc/self/ns/pid", &ns)) {
		cfg->pidns_dev = ns.st_dev;
		cfg->pidns_ino = ns.st_ino;
	}
	if (opts->comm)
		snprintf(cfg->comm, sizeof(cfg->comm), "%s", opts->comm);
	if (opts->ibdev)
		snprintf(cfg->ibdev, sizeof(cfg->ibdev), "%s", opts->ibdev);
	cfg->n_devs = opts->n_devs < RD_DEVS_MAX ? (__u32)opts->n_devs : RD_DEVS_MAX;
	for (size_t i = 0; i < cfg->n_devs; i++)
		cfg->devs[i] = opts->devs[i];
}

/* BPF programs see process IDs of the initial PID namespace; this process may be in a different one. */
static void find_command(struct trace_bpf *skel)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.whoami), &opts))
		skel->bss->command = (__u32)getppid();
}

static void fill_programs(struct trace_bpf *skel, struct rd_programs *ret)
{
	ret->skel = skel;
	ret->tracing[RD_HOOK_LEAVE] = skel->progs.fexit_leave;
	ret->tracing[RD_HOOK_LEAVE_ROOT] = skel->progs.fexit_leave_root;
	ret->tracing[RD_HOOK_ENTER_ROOT] = skel->progs.fentry_root;
	ret->kprobe[RD_HOOK_LEAVE] = skel->progs.kprobe_leave;
	ret->kprobe[RD_HOOK_LEAVE_ROOT] = skel->progs.kprobe_leave_root;
	ret->kprobe[RD_HOOK_ENTER_ROOT] = skel->progs.kprobe_root;
	ret->kprobe[RD_HOOK_OBJECT] = skel->progs.kprobe_object;
	ret->fds[RD_FD_RING] = bpf_map__fd(skel->maps.ring);
	ret->fds[RD_FD_COUNTS] = bpf_map__fd(skel->maps.counts);
	ret->fds[RD_FD_TOTALS] = bpf_map__fd(skel->maps.totals);
	ret->fds[RD_FD_SWITCH] = bpf_map__fd(skel->maps.bss);
	ret->on = &skel->bss->on;
	ret->on_at = (uintptr_t)&skel->bss->on - (uintptr_t)skel->bss;
}

static int load(struct rd_attach *attach, bool tracing, bool kprobes)
{
	struct trace_bpf *skel = trace_bpf__open();
	int r = 0;

	if (!skel)
		return -errno;
	struct bpf_program *tracers[] = { skel->progs.fexit_leave, skel->progs.fexit_leave_root,
					  skel->progs.fentry_root };
	struct bpf_program *probes[] = { skel->progs.kprobe_leave, skel->progs.kprobe_leave_root,
					 skel->progs.kprobe_root, skel->progs.kprobe_object };

	if (tracing)
		r = rd_programs_autoload(tracers, RD_ARRAY_SIZE(tracers), true);
	if (!r && kprobes)
		r = rd_programs_autoload(probes, RD_ARRAY_SIZE(probes), false);
	bpf_program__set_autoload(skel->progs.whoami, true);
	fill_config(attach, (struct rd_trace_config *)&skel->rodata->cfg);
	bpf_map__set_max_entries(skel->maps.fns, attach->set->n_fns ? (__u32)attach->set->n_fns : 1);
	bpf_map__set_max_entries(skel->maps.ring, attach->opts->ring_bytes ? attach->opts->ring_bytes : 256 * 1024);
	if (!r)
		r = trace_bpf__load(skel);
	if (r < 0) {
		trace_bpf__destroy(skel);
		return r;
	}
	find_command(skel);
	fill_programs(skel, &attach->programs);
	return 0;
}

static void unload(void *skel)
{
	trace_bpf__destroy(skel);
}

static uint32_t class_of(enum rd_ret ret)
{
	switch (ret) {
	case RD_RET_INT:
		return RD_CLASS_INT;
	case RD_RET_LONG:
	case RD_RET_PTR:
		return RD_CLASS_WIDE;
	case RD_RET_UNKNOWN:
		return RD_CLASS_UNKNOWN;
	default:
		return RD_CLASS_NONE;
	}
}

static int describe(const struct rd_attach *attach)
{
	static const uint8_t roots[] = {
		[RD_ENTRY_NONE] = RD_ROOT_NONE,	       [RD_ENTRY_UVERBS_IOCTL] = RD_ROOT_IOCTL,
		[RD_ENTRY_UVERBS_MMAP] = RD_ROOT_MMAP, [RD_ENTRY_UVERBS_OPEN] = RD_ROOT_OPEN,
		[RD_ENTRY_UCMA_WRITE] = RD_ROOT_UCMA,  [RD_ENTRY_WRITE_HANDLER] = RD_ROOT_HANDLER,
	};
	int fd = bpf_map__fd(((struct trace_bpf *)attach->programs.skel)->maps.fns);

	for (__u32 i = 0; i < attach->set->n_fns; i++) {
		const struct rd_fn *fn = &attach->set->fns[i];
		__u32 info;

		if (!fn->selected)
			continue;
		info = RD_FN_INFO(class_of(fn->ret), roots[fn->entry], fn->qp_arg < 0 ? RD_FN_NO_ARG : fn->qp_arg,
				  fn->dev_arg < 0 ? RD_FN_NO_ARG : fn->dev_arg,
				  attach->opts->fn_match && attach->opts->fn_match[i]);
		if (bpf_map_update_elem(fd, &i, &info, BPF_ANY))
			return -errno;
	}
	return 0;
}

static bool applies(const struct rd_attach *attach, const struct rd_fn *fn, enum rd_backend backend, enum rd_hook hook)
{
	const struct rd_module *module = &attach->set->modules[fn->module];

	switch (hook) {
	case RD_HOOK_LEAVE:
		return fn->entry == RD_ENTRY_NONE;
	case RD_HOOK_LEAVE_ROOT:
	case RD_HOOK_ENTER_ROOT:
		return fn->entry != RD_ENTRY_NONE;
	case RD_HOOK_OBJECT:
		/* Only in the core, which every verb on a queue pair passes; functions of drivers add nothing. The other backends
		 * provide the arguments at the exit. */
		return fn->entry == RD_ENTRY_NONE && fn->qp_arg >= 0 && fn->qp_arg < 5 && module->rdma &&
		       !module->has_ops && (backend == RD_BACKEND_KPROBE || backend == RD_BACKEND_KPROBE_MULTI);
	default:
		return false;
	}
}

const struct rd_programs_ops rd_programs_errno = {
	.load = load,
	.describe = describe,
	.applies = applies,
	.unload = unload,
	.object_optional = true, /* without this hook only the QP number is unknown */
};
