// SPDX-License-Identifier: GPL-2.0-or-later
/* The BPF programs of trace-errno: their configuration, and which of them are attached to a function. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/stat.h>

#include "bpf/trace.h"
#include "collect/kernel/kernel.h"
#include "trace/attach/attach.h"

#include "trace.skel.h"

/* Functions of modules that are loaded during the trace. */
#define FNS_ADDED 16384

static void fill_config(const struct rd_attach *attach, struct rd_trace_config *cfg)
{
	const struct rd_session_opts *opts = attach->opts;
	struct stat ns;

	cfg->pid = opts->pid;
	cfg->err = opts->err;
	cfg->page_size = (__u32)sysconf(_SC_PAGESIZE);
	cfg->cgroup = opts->cgroup_id;
	cfg->match = opts->fn_match != NULL;
	cfg->kernel_stack = opts->kernel_stack;
	cfg->user_stack = opts->user_stack;
	cfg->read_kernel = attach->read_kernel;
	cfg->drop_benign = opts->drop_benign;
	cfg->off = attach->set->off;
	cfg->descendants = opts->descendants;
	if (!stat("/proc/self/ns/pid", &ns)) {
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

static int load(struct rd_attach *attach, bool tracing, bool kprobes, char *log)
{
	LIBBPF_OPTS(bpf_object_open_opts, open, .kernel_log_buf = log, .kernel_log_size = log ? RD_VERIFIER_LOG : 0);
	struct trace_bpf *skel = trace_bpf__open_opts(&open);
	struct rd_programs *p = &attach->programs;
	const int *share = attach->opts->share;
	int r;

	if (!skel)
		return -errno;
	p->skel = skel;
	/* Those of a trace that hooks are added to are shared. */
	const struct {
		struct bpf_map *map;
		enum rd_fd fd;
	} maps[] = { { skel->maps.ring, RD_FD_RING },	    { skel->maps.counts, RD_FD_COUNTS },
		     { skel->maps.totals, RD_FD_TOTALS },   { skel->maps.bss, RD_FD_SWITCH },
		     { skel->maps.fns, RD_FD_FNS },	    { skel->maps.threads, RD_FD_THREADS },
		     { skel->maps.layouts, RD_FD_LAYOUTS }, { skel->maps.benign, RD_FD_BENIGN } };

	p->tracing[RD_HOOK_LEAVE] = skel->progs.fexit_leave;
	p->tracing[RD_HOOK_LEAVE_ROOT] = skel->progs.fexit_leave_root;
	p->tracing[RD_HOOK_ENTER_ROOT] = skel->progs.fentry_root;
	p->tracing[RD_HOOK_NOTE] = skel->progs.fentry_note;
	p->kprobe[RD_HOOK_LEAVE] = skel->progs.kprobe_leave;
	p->kprobe[RD_HOOK_LEAVE_ROOT] = skel->progs.kprobe_leave_root;
	p->kprobe[RD_HOOK_ENTER_ROOT] = skel->progs.kprobe_root;
	p->kprobe[RD_HOOK_OBJECT] = skel->progs.kprobe_object;
	p->kprobe[RD_HOOK_NOTE] = skel->progs.kprobe_note;
	r = rd_programs_autoload(p, tracing, kprobes);
	bpf_program__set_autoload(skel->progs.whoami, true);
	fill_config(attach, (struct rd_trace_config *)&skel->rodata->cfg);
	bpf_program__set_autoload(skel->progs.module_loaded, !share);
	/* Not that of an earlier try. */
	p->unload_asked = attach->opts->service && !share && kprobes && attach->read_kernel ? skel->progs.unload_asked :
											      NULL;
	if (p->unload_asked)
		bpf_program__set_autoload(p->unload_asked, true);
	if (!share) {
		bpf_map__set_max_entries(skel->maps.fns, (__u32)attach->set->n_fns + FNS_ADDED);
		/* With stacks, some hundred events fit into it. */
		bpf_map__set_max_entries(skel->maps.ring, attach->opts->ring_bytes	   ?:
								  attach->opts->user_stack ? 16u << 20 :
											     1u << 20);
	}
	for (size_t i = 0; share && !r && i < RD_ARRAY_SIZE(maps); i++)
		r = bpf_map__reuse_fd(maps[i].map, share[maps[i].fd]);
	if (!r)
		r = trace_bpf__load(skel);
	if (r < 0)
		return r;
	/* BPF programs see process IDs of the initial PID namespace; this process may be in a different one. */
	if (!share && rd_programs_run(skel->progs.whoami))
		skel->bss->command = (__u32)getppid();
	for (size_t i = 0; i < RD_ARRAY_SIZE(maps); i++)
		p->fds[maps[i].fd] = bpf_map__fd(maps[i].map);
	p->on = &skel->bss->on;
	p->on_at = (uintptr_t)&skel->bss->on - (uintptr_t)skel->bss;
	p->loads_at = (uintptr_t)&skel->bss->loads - (uintptr_t)skel->bss;
	p->unloads_at = (uintptr_t)&skel->bss->unloads - (uintptr_t)skel->bss;
	p->loads = skel->progs.module_loaded;
	return 0;
}

static int describe_functions(const struct rd_attach *attach, int fd)
{
	static const uint8_t classes[] = {
		[RD_RET_UNKNOWN] = RD_CLASS_UNKNOWN, [RD_RET_INT] = RD_CLASS_INT,    [RD_RET_LONG] = RD_CLASS_WIDE,
		[RD_RET_PTR] = RD_CLASS_WIDE,	     [RD_RET_OTHER] = RD_CLASS_NONE,
	};
	static const uint8_t roots[] = {
		[RD_ENTRY_NONE] = RD_ROOT_NONE,	       [RD_ENTRY_UVERBS_IOCTL] = RD_ROOT_IOCTL,
		[RD_ENTRY_UVERBS_MMAP] = RD_ROOT_MMAP, [RD_ENTRY_UVERBS_OPEN] = RD_ROOT_OPEN,
		[RD_ENTRY_UCMA_WRITE] = RD_ROOT_UCMA,  [RD_ENTRY_WRITE_HANDLER] = RD_ROOT_HANDLER,
	};

	for (__u32 i = 0; i < attach->set->n_fns; i++) {
		const struct rd_fn *fn = &attach->set->fns[i];
		__u32 info;

		if (!fn->selected && !fn->notes)
			continue;
		info = RD_FN_INFO(classes[fn->ret], roots[fn->entry], fn->qp_arg < 0 ? RD_FN_NO_ARG : fn->qp_arg,
				  fn->dev_arg < 0 ? RD_FN_NO_ARG : fn->dev_arg,
				  attach->opts->fn_match && attach->opts->fn_match[i]) |
		       (fn->notes & RD_NOTE_QP ? RD_FN_NOTE_QP : 0) | (fn->notes & RD_NOTE_CM ? RD_FN_NOTE_CM : 0);
		if (bpf_map_update_elem(fd, &i, &info, BPF_ANY))
			return -errno;
	}
	return 0;
}

/* The parts of the layout of a request that the programs need. */
static int describe_layout(int fd, __u64 key, const struct rd_fnset *set)
{
	const struct rd_req_place *places = rd_request_layout(key, set);
	struct rd_rec_layout layout = {
		.address = RD_NOWHERE, .length = RD_NOWHERE, .access = RD_NOWHERE, .fd = RD_NOWHERE
	};
	size_t n = 0;

	if (!places)
		return 0;
	for (size_t i = 0; i < RD_HANDLES_MAX; i++)
		layout.handles[i] = RD_NOWHERE;
	for (; places->size; places++)
		if (places->field < RD_REQ_HANDLES && n < RD_HANDLES_MAX)
			layout.handles[n++] = places->at;
		else if (places->field == RD_REQ_ADDRESS)
			layout.address = places->at;
		else if (places->field == RD_REQ_LENGTH)
			layout.length = places->at;
		else if (places->field == RD_REQ_ACCESS)
			layout.access = places->at;
		else if (places->field == RD_REQ_FD)
			layout.fd = places->at;
	return bpf_map_update_elem(fd, &key, &layout, BPF_ANY) ? -errno : 0;
}

static int describe(const struct rd_attach *attach)
{
	const struct trace_bpf *skel = attach->programs.skel;
	const struct rd_session_opts *opts = attach->opts;
	const struct rd_fnset *set = attach->set;
	int layouts = bpf_map__fd(skel->maps.layouts), r = describe_functions(attach, bpf_map__fd(skel->maps.fns));
	uint64_t layout;

	for (size_t i = 0; !r && rd_request_layout_at(i, &layout); i++)
		r = describe_layout(layouts, layout, set);
	for (__u32 i = 0; !r && i < set->n_fns; i++)
		if (set->fns[i].entry == RD_ENTRY_WRITE_HANDLER)
			r = describe_layout(layouts, RD_VERB(RD_VERB_WRITE, i), set);
	/* If there are more rules than the map holds, the failures of the rest are reported, and marked as benign by the
	 * command. */
	for (size_t i = 0; !r && i < opts->n_benign && i < RD_BENIGN_MAX; i++) {
		struct rd_benign_key key = { .verb = opts->benign[i].verb,
					     .origin = (__u32)opts->benign[i].origin,
					     .err = opts->benign[i].err };
		__u32 attrs = opts->benign[i].unknown_verb ? RD_BENIGN_VERB_UNKNOWN : opts->benign[i].num_attrs;

		if (bpf_map_update_elem(bpf_map__fd(skel->maps.benign), &key, &attrs, BPF_ANY))
			return -errno;
	}
	return r;
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
	case RD_HOOK_NOTE:
		/* At an exit, fexit has the rdma_cm_id, too; the verdict on a transition of a queue pair returns no errno. */
		return fn->notes & RD_NOTE_QP ||
		       (fn->notes && (backend == RD_BACKEND_KPROBE || backend == RD_BACKEND_KPROBE_MULTI));
	default:
		return false;
	}
}

const struct rd_programs_ops rd_programs_errno = {
	.load = load,
	.describe = describe,
	.applies = applies,
	.object_optional = true, /* without this hook only the QP number is unknown */
};
