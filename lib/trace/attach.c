// SPDX-License-Identifier: GPL-2.0-or-later
/* Plans and carries out the attaching: each function by the first way that takes it. */
#include "trace/attach.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "trace.skel.h"

/* A batch that the kernel refuses whole is halved until the culprits stand alone. */
struct batch {
	struct rd_attach *attach;
	enum rd_backend backend;
	enum rd_hook hook;
	bool *failed; /* per function */
	int last_error;
};

static rd_attach_fn *const kinds[RD_BACKEND_COUNT] = {
	[RD_BACKEND_FEXIT] = rd_attach_fexit,
	[RD_BACKEND_FEXIT_MULTI] = rd_attach_fexit_multi,
	[RD_BACKEND_KPROBE_MULTI] = rd_attach_kprobe_multi,
	[RD_BACKEND_KPROBE] = rd_attach_kprobe,
};

int rd_attach_keep(struct rd_attach *attach, int fd)
{
	if (rd_grow(&attach->links, &attach->cap_links, attach->n_links + 1, sizeof(*attach->links))) {
		close(fd);
		return -ENOMEM;
	}
	attach->links[attach->n_links++] = fd;
	return 0;
}

int rd_attach_btf_fd(struct rd_attach *attach, uint32_t module)
{
	const char *wanted = attach->set->modules[module].name;
	__u32 id = 0;

	if (attach->btf_fds[module] >= 0)
		return attach->btf_fds[module];
	while (!bpf_btf_get_next_id(id, &id)) {
		char name[64] = "";
		struct bpf_btf_info info = { .name = (__u64)(uintptr_t)name, .name_len = sizeof(name) };
		__u32 len = sizeof(info);
		int fd = bpf_btf_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) && info.kernel_btf && !strcmp(name, wanted)) {
			attach->btf_fds[module] = fd;
			return fd;
		}
		close(fd);
	}
	return errno == EPERM ? -EPERM : -ENOENT;
}

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

/* Loads the templates; those of kinds that are not `wanted` stay out. */
static int load(struct rd_attach *attach, bool tracing, bool kprobes)
{
	static const char *const target =
		"bpf_fentry_test1"; /* any function of vmlinux: a template is never attached */
	struct trace_bpf *skel = trace_bpf__open();
	int r;

	if (!skel)
		return -errno;
	struct bpf_program *tracers[] = { skel->progs.fexit_leave, skel->progs.fexit_leave_root,
					  skel->progs.fentry_root };
	struct bpf_program *probes[] = { skel->progs.kprobe_leave, skel->progs.kprobe_leave_root,
					 skel->progs.kprobe_root, skel->progs.kprobe_object };

	for (size_t i = 0; tracing && i < RD_ARRAY_SIZE(tracers); i++) {
		bpf_program__set_autoload(tracers[i], true);
		r = bpf_program__set_attach_target(tracers[i], 0, target);
		if (r < 0)
			goto fail;
	}
	bpf_program__set_autoload(skel->progs.whoami, true);
	for (size_t i = 0; kprobes && i < RD_ARRAY_SIZE(probes); i++)
		bpf_program__set_autoload(probes[i], true);
	fill_config(attach, (struct rd_trace_config *)&skel->rodata->cfg);
	bpf_map__set_max_entries(skel->maps.fns, attach->set->n_fns ? (__u32)attach->set->n_fns : 1);
	bpf_map__set_max_entries(skel->maps.ring, attach->opts->ring_bytes ? attach->opts->ring_bytes : 256 * 1024);
	r = trace_bpf__load(skel);
	if (r < 0)
		goto fail;
	attach->skel = skel;
	return 0;
fail:
	trace_bpf__destroy(skel);
	return r;
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

static int describe_functions(const struct rd_attach *attach)
{
	static const uint8_t doors[] = {
		[RD_ENTRY_NONE] = RD_DOOR_NONE,	       [RD_ENTRY_UVERBS_IOCTL] = RD_DOOR_IOCTL,
		[RD_ENTRY_UVERBS_MMAP] = RD_DOOR_MMAP, [RD_ENTRY_UVERBS_OPEN] = RD_DOOR_OPEN,
		[RD_ENTRY_UCMA_WRITE] = RD_DOOR_UCMA,  [RD_ENTRY_WRITE_HANDLER] = RD_DOOR_HANDLER,
	};
	int fd = bpf_map__fd(attach->skel->maps.fns);

	for (__u32 i = 0; i < attach->set->n_fns; i++) {
		const struct rd_fn *fn = &attach->set->fns[i];
		__u32 info;

		if (!fn->selected)
			continue;
		info = RD_FN_INFO(class_of(fn->ret), doors[fn->entry], fn->qp_arg < 0 ? RD_FN_NO_ARG : fn->qp_arg,
				  fn->dev_arg < 0 ? RD_FN_NO_ARG : fn->dev_arg,
				  attach->opts->fn_match && attach->opts->fn_match[i]);
		if (bpf_map_update_elem(fd, &i, &info, BPF_ANY))
			return -errno;
	}
	return 0;
}

/* Process numbers mean the initial pid namespace inside the kernel, and perhaps another one outside. */
static void find_command(const struct rd_attach *attach)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	if (bpf_prog_test_run_opts(bpf_program__fd(attach->skel->progs.whoami), &opts))
		attach->skel->bss->command = (__u32)getppid();
}

static int read_kprobe_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/kprobe/type", "re");
	int type = -1;

	if (f) {
		if (fscanf(f, "%d", &type) != 1)
			type = -1;
		fclose(f);
	}
	return type;
}

/* "none voluntary full (lazy)": the scheduler's mode in brackets. */
static bool read_preemptible(void)
{
	FILE *f = fopen("/sys/kernel/debug/sched/preempt", "re");
	char line[128] = "";
	bool sure = f && fgets(line, sizeof(line), f) && (strstr(line, "(none)") || strstr(line, "(voluntary)"));

	if (f)
		fclose(f);
	return !sure;
}

static void note(struct rd_attach *attach, int code, const char *object, const char *message, const char *hint)
{
	struct rd_err err = {};

	rd_err_set(&err, code, object, "%s", message);
	if (hint)
		rd_err_hint(&err, "%s", hint);
	rd_errlist_add(attach->notes, &err);
}

int rd_attach_open(struct rd_attach *attach, struct rd_fnset *set, const struct rd_session_opts *opts,
		   uint8_t *backends, struct rd_errlist *notes, struct rd_err *err)
{
	struct rlimit files;
	int r = -ENOTSUP;

	*attach = (struct rd_attach){ .set = set, .opts = opts, .backends = backends, .notes = notes };
	attach->kprobe_type = read_kprobe_type();
	attach->preemptible = read_preemptible();
	attach->btf_fds = malloc((set->n_modules + 1) * sizeof(*attach->btf_fds));
	if (!attach->btf_fds)
		return rd_err_set(err, ENOMEM, "trace", "no memory");
	for (size_t i = 0; i < set->n_modules; i++)
		attach->btf_fds[i] = -1;
	/* One descriptor a function under fexit and kprobes. */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	/* lockdown=confidentiality refuses programs that can read kernel memory; kernels without BTF those that need it. */
	static const struct {
		bool read_kernel, tracing, kprobes;
	} tries[] = { { true, true, true },  { false, true, true },  { true, false, true },
		      { true, true, false }, { false, true, false }, { false, false, true } };
	for (size_t i = 0; i < RD_ARRAY_SIZE(tries) && !attach->skel; i++) {
		attach->read_kernel = tries[i].read_kernel;
		r = load(attach, tries[i].tracing, tries[i].kprobes);
		if (r == -EPERM && geteuid())
			break;
	}
	if (!attach->skel) {
		rd_err_set(err, -r, "bpf", "the kernel refuses the tracing programs");
		if (r == -EPERM)
			rd_err_hint(err, "run it as root, or with the capabilities BPF, PERFMON and SYS_ADMIN");
		return r;
	}
	if (!attach->read_kernel)
		note(attach, EPERM, "kernel memory", "the programs may not read it, so verbs, devices and QP numbers stay unknown",
		     "the kernel is locked down (confidentiality); boot it with lockdown=integrity to see them");
	r = describe_functions(attach);
	if (r < 0)
		return rd_err_set(err, -r, "bpf", "cannot fill the table of functions");
	find_command(attach);
	rd_attach_probe(attach);
	return 0;
}

static int tick(struct rd_attach *attach)
{
	return attach->tick && attach->tick(attach->tick_arg, attach->done, attach->total) ? -EINTR : 0;
}

static int try_batch(struct batch *b, const uint32_t *fns, size_t n)
{
	size_t half = n / 2;
	int r = kinds[b->backend](b->attach, b->hook, fns, n);

	if (!r)
		return 0;
	if (n == 1) {
		b->failed[fns[0]] = true;
		b->last_error = -r;
		return 0;
	}
	r = tick(b->attach);
	if (!r)
		r = try_batch(b, fns, half);
	return r ? r : try_batch(b, fns + half, n - half);
}

static bool hook_applies(const struct rd_attach *attach, const struct rd_fn *fn, enum rd_backend backend,
			 enum rd_hook hook)
{
	const struct rd_module *module = &attach->set->modules[fn->module];

	switch (hook) {
	case RD_HOOK_LEAVE:
		return fn->entry == RD_ENTRY_NONE;
	case RD_HOOK_LEAVE_ROOT:
	case RD_HOOK_ENTER_ROOT:
		return fn->entry != RD_ENTRY_NONE;
	case RD_HOOK_OBJECT:
		/* In the core, where every verb on a queue pair passes; drivers' own functions add nothing new. */
		return fn->entry == RD_ENTRY_NONE && fn->qp_arg >= 0 && fn->qp_arg < 5 && module->rdma &&
		       !module->has_ops && (backend == RD_BACKEND_KPROBE || backend == RD_BACKEND_KPROBE_MULTI);
	default:
		return false;
	}
}

/* How many functions one call of the kind may take: the kernel's link for many is per BTF object or for all, the others
 * are one function each. */
static size_t batch_size(const struct rd_attach *attach, enum rd_backend backend, const uint32_t *fns, size_t n)
{
	size_t same = 1;

	if (backend == RD_BACKEND_KPROBE_MULTI)
		return n;
	if (backend == RD_BACKEND_FEXIT_MULTI)
		while (same < n && attach->set->fns[fns[same]].module == attach->set->fns[fns[0]].module)
			same++;
	return same;
}

/* Attaches one hook to those of `fns` that it applies to. */
static int attach_hook(struct batch *b, const uint32_t *fns, size_t n)
{
	_cleanup_free_ uint32_t *ours = calloc(n + 1, sizeof(*ours));
	struct rd_attach *attach = b->attach;
	size_t m = 0;

	if (!ours)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (!b->failed[fns[i]] && hook_applies(attach, &attach->set->fns[fns[i]], b->backend, b->hook))
			ours[m++] = fns[i];
	for (size_t i = 0; i < m;) {
		size_t size = batch_size(attach, b->backend, ours + i, m - i);
		int r = tick(attach);

		if (!r)
			r = try_batch(b, ours + i, size);
		if (r)
			return r;
		i += size;
		if (b->hook == RD_HOOK_LEAVE || b->hook == RD_HOOK_LEAVE_ROOT)
			attach->done += size;
	}
	return 0;
}

/* By one way, all that it can take of what is left. A root needs both its hooks. */
static int attach_by(struct rd_attach *attach, enum rd_backend backend, bool *failed, int *last_error)
{
	static const enum rd_hook hooks[] = { RD_HOOK_ENTER_ROOT, RD_HOOK_OBJECT, RD_HOOK_LEAVE_ROOT, RD_HOOK_LEAVE };
	_cleanup_free_ uint32_t *fns = calloc(attach->set->n_fns + 1, sizeof(*fns));
	size_t n = 0;

	if (!fns)
		return -ENOMEM;
	for (uint32_t i = 0; i < attach->set->n_fns; i++) {
		const struct rd_fn *fn = &attach->set->fns[i];

		failed[i] = false;
		if (fn->selected && !attach->backends[i] && fn->attachable & 1 << backend)
			fns[n++] = i;
	}
	for (size_t h = 0; n && h < RD_ARRAY_SIZE(hooks); h++) {
		struct batch b = { .attach = attach, .backend = backend, .hook = hooks[h], .failed = failed };
		bool object = hooks[h] == RD_HOOK_OBJECT;
		_cleanup_free_ bool *extra = object ? calloc(attach->set->n_fns + 1, sizeof(*extra)) : NULL;
		int r;

		if (object) {
			if (!extra)
				return -ENOMEM;
			b.failed = extra; /* a QP number that stays unknown is no reason to leave a function out */
		}
		r = attach_hook(&b, fns, n);
		if (r)
			return r;
		if (b.last_error)
			*last_error = b.last_error;
	}
	for (size_t i = 0; i < n; i++)
		if (!failed[fns[i]])
			attach->backends[fns[i]] = backend;
	attach->done = 0;
	for (uint32_t i = 0; i < attach->set->n_fns; i++)
		attach->done += attach->backends[i] != RD_BACKEND_NONE;
	return 0;
}

/* Says which functions are left without a hook against expectation; those that nothing could hook from the start (the
 * compiler left no place for one) --list shows. Functions of one name stand side by side only within a module, so a name
 * is looked for among those that were said. */
static void note_left_out(struct rd_attach *attach, int last_error)
{
	char names[160] = "";
	size_t n = 0, said = 0;
	char text[256];

	for (uint32_t i = 0; i < attach->set->n_fns; i++) {
		const struct rd_fn *fn = &attach->set->fns[i];

		if (!fn->selected || !fn->attachable || attach->backends[i])
			continue;
		n++;
		if (said == 3 || strstr(names, fn->name))
			continue;
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%.48s", said++ ? ", " : "", fn->name);
	}
	if (!n)
		return;
	snprintf(text, sizeof(text), "%zu selected function%s could not be hooked (%s%s): chains lack %s", n,
		 n > 1 ? "s" : "", names, n > said ? " …" : "", n > 1 ? "them" : "it");
	note(attach, last_error, "trace", text, "trace-errno --list shows why for each");
}

int rd_attach_run(struct rd_attach *attach, char **reason, struct rd_err *err)
{
	_cleanup_free_ bool *failed = calloc(attach->set->n_fns + 1, sizeof(*failed));
	enum rd_backend order[RD_BACKEND_COUNT];
	size_t selected = 0;
	int last_error = 0, r;

	if (!failed)
		return rd_err_set(err, ENOMEM, "trace", "no memory");
	for (size_t i = 0; i < attach->set->n_fns; i++)
		selected += attach->set->fns[i].selected;
	attach->total = selected;
	rd_attach_choose(attach, selected, order, reason);
	for (size_t i = 0; order[i] != RD_BACKEND_NONE; i++) {
		if (!attach->works[order[i]])
			continue;
		r = attach_by(attach, order[i], failed, &last_error);
		if (r)
			return rd_err_set(err, -r, "trace", "%s",
					  r == -EINTR ? "given up while attaching" : "cannot attach");
	}
	if (!attach->done) {
		rd_err_set(err, last_error ? last_error : ENOTSUP, "trace", "no function could be hooked by %s",
			   attach->opts->backend ? rd_backend_name(attach->opts->backend) : "any of the kernel's ways");
		rd_err_hint(err, "%s",
			    attach->opts->backend ? "--backend auto takes what this kernel has" :
						    "a kernel with BTF (CONFIG_DEBUG_INFO_BTF) or kprobes is needed");
		return -(last_error ? last_error : ENOTSUP);
	}
	note_left_out(attach, last_error);
	attach->skel->bss->on = true;
	return 0;
}

void rd_attach_close(struct rd_attach *attach)
{
	if (attach->skel)
		attach->skel->bss->on = false;
	while (attach->n_links)
		close(attach->links[--attach->n_links]);
	free(attach->links);
	if (attach->btf_fds)
		for (size_t i = 0; i < attach->set->n_modules; i++)
			if (attach->btf_fds[i] >= 0)
				close(attach->btf_fds[i]);
	free(attach->btf_fds);
	trace_bpf__destroy(attach->skel);
	*attach = (struct rd_attach){};
}
