// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads the programs of a trace and hooks functions with them: four backends, which of them to prefer, and each function with the first
 * that can hook it; the record of who owns the hooks, and their counters.
 */
#include "trace/attach/attach.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>

#include "source/shared/source.h"

/* The sections of all programs. */
static const struct {
	const char *name;
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
} sections[] = {
	{ "fexit", BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT },
	{ "fentry", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY },
	{ "kprobe", BPF_PROG_TYPE_KPROBE, 0 },
	{ "kretprobe", BPF_PROG_TYPE_KPROBE, 0 },
};

/* Whose programs are being loaded, and the name of the one that is. */
static struct rd_programs *loading;
static char loading_name[32];

static int keep(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	size_t size = (size_t)opts->func_info_cnt * opts->func_info_rec_size;
	struct rd_programs *programs = loading;
	struct rd_program_types *types;

	snprintf(loading_name, sizeof(loading_name), "%s", bpf_program__name(prog));
	if (!size || !programs || programs->n_types == RD_ARRAY_SIZE(programs->types))
		return 0;
	types = &programs->types[programs->n_types];
	types->func_info = rd_alloc(size, 1);
	memcpy(types->func_info, opts->func_info, size);
	types->prog = prog;
	types->n = opts->func_info_cnt;
	types->size = opts->func_info_rec_size;
	types->btf = (int)opts->prog_btf_fd;
	programs->n_types++;
	return 0;
}

/* ops->load, keeping the types of its programs for their copies. Not thread-safe, as libbpf's handlers are not. */
static void forget_types(struct rd_programs *programs)
{
	for (size_t i = 0; i < programs->n_types; i++)
		free(programs->types[i].func_info);
	programs->n_types = 0;
}

/* A line of the verifier that is neither source, an instruction nor its registers. */
static bool is_reason(const char *line, size_t len)
{
	size_t word = strcspn(line, " \n");

	return len && !strchr("; \t", *line) && !memchr(line, '=', word < len ? word : len) &&
	       strncmp(line, "from ", 5);
}

/* Fills reason from log. */
void rd_refusal_explain(struct rd_refusal *refusal)
{
	const char *line = refusal->log, *reason = NULL, *insn = NULL;
	size_t len, reason_len = 0;

	for (; *line && strncmp(line, "processed ", 10); line += len + (line[len] == '\n')) {
		size_t digits = strspn(line, "0123456789");

		len = strcspn(line, "\n");
		if (digits && !strncmp(line + digits, ": (", 3)) {
			insn = line;
			reason = NULL;
		} else if (!reason && is_reason(line, len)) {
			reason = line;
			reason_len = len;
		}
	}
	if (reason)
		snprintf(refusal->reason, sizeof(refusal->reason), "instruction %.*s, %.*s",
			 insn ? (int)strcspn(insn, ":") : 1, insn ? insn : "0", (int)reason_len, reason);
}

/* Each skeleton begins so, and owns nothing else. */
static void unload(struct rd_programs *programs)
{
	if (programs->skel)
		bpf_object__destroy_skeleton(*(struct bpf_object_skeleton **)programs->skel);
	free(RD_TAKE(programs->skel));
}

static int load_programs(struct rd_attach *attach, bool tracing, bool kprobes, struct rd_refusal *refusal)
{
	static bool registered;
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = keep);
	_cleanup_free_ char *log = refusal ? calloc(1, RD_VERIFIER_LOG) : NULL;
	int r;

	/* Once: the removal of the last handler makes libbpf before 1.3 use freed memory. */
	for (size_t i = 0; i < RD_ARRAY_SIZE(sections) && !registered; i++)
		libbpf_register_prog_handler(sections[i].name, sections[i].type, sections[i].attach, &opts);
	registered = true;
	forget_types(&attach->programs);
	loading = &attach->programs;
	loading_name[0] = 0;
	r = attach->programs.ops->load(attach, tracing, kprobes, log);
	loading = NULL;
	if (r)
		unload(&attach->programs);
	if (r && log && *log) {
		snprintf(refusal->program, sizeof(refusal->program), "%s", loading_name);
		refusal->log = RD_TAKE(log);
		rd_refusal_explain(refusal);
	}
	return r;
}

/* ---- the four backends */

/* fexit of many functions with one link: bpf(2) of Linux 7.2, newer than libbpf and the headers of Debian 12. */
#define FENTRY_MULTI 59
#define FEXIT_MULTI 60

struct multi_link_attr {
	__u32 prog_fd, target_fd, attach_type, flags;
	__u64 ids, cookies;
	__u32 cnt, pad;
};

int rd_programs_autoload(const struct rd_programs *programs, bool tracing, bool kprobes)
{
	int r = 0;

	for (size_t i = 0; !r && i < RD_HOOK_COUNT; i++) {
		if (kprobes && programs->kprobe[i])
			bpf_program__set_autoload(programs->kprobe[i], true);
		if (!tracing || !programs->tracing[i])
			continue;
		bpf_program__set_autoload(programs->tracing[i], true);
		/* Any function of vmlinux: a template is never attached. */
		r = bpf_program__set_attach_target(programs->tracing[i], 0, "bpf_fentry_test1");
	}
	return r < 0 ? r : 0;
}

int rd_programs_run(const struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(bpf_program__fd(program), &opts);
}

static void keep_link(struct rd_attach *attach, int fd, uint32_t module)
{
	*RD_ADD(attach->links, attach->n_links, attach->cap_links) = (struct rd_held_fd){ fd, module };
}

/* Descriptors of programs are needed only to read their counters: if descriptors are scarce, links take precedence. */
void rd_attach_keep_prog(struct rd_attach *attach, int fd, uint32_t module)
{
	if (attach->n_progs >= attach->max_files / 3) {
		attach->progs_closed = true;
		close(fd);
		return;
	}
	*RD_ADD(attach->progs, attach->n_progs, attach->cap_progs) = (struct rd_held_fd){ fd, module };
}

/* Takes ownership of a link and, unless `link` is an error, of its program. 0 or -errno. */
static int keep_both(struct rd_attach *attach, int link, int *prog, uint32_t module)
{
	if (link < 0)
		return link;
	keep_link(attach, link, module);
	rd_attach_keep_prog(attach, RD_TAKE_FD(*prog), module);
	return 0;
}

/* File descriptor of a module's BTF in the kernel; -errno. Kept open in `attach`. */
static int btf_fd_of(struct rd_attach *attach, uint32_t module)
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

		if (fd < 0 && errno == EMFILE)
			return -EMFILE;
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

static bool at_exit(enum rd_hook hook)
{
	return hook == RD_HOOK_LEAVE || hook == RD_HOOK_LEAVE_ROOT;
}

/* Loads another copy of a template: the same instructions, with maps and constants already in place. */
static int load_copy(const struct rd_attach *attach, enum rd_hook hook, bool kprobe, enum bpf_attach_type type,
		     int btf_fd, uint32_t btf_id)
{
	struct bpf_program *prog = kprobe ? attach->programs.kprobe[hook] : attach->programs.tracing[hook];
	const struct rd_program_types *types = NULL; /* none are known, as without BTF */
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = type, .attach_btf_id = btf_id,
		    .attach_btf_obj_fd = btf_fd > 0 ? (__u32)btf_fd : 0);

	int fd, r;

	if (!prog || bpf_program__fd(prog) < 0)
		return -ENOTSUP;
	for (size_t i = 0; i < attach->programs.n_types && !types; i++)
		if (attach->programs.types[i].prog == prog)
			types = &attach->programs.types[i];
	if (types) {
		opts.prog_btf_fd = (__u32)types->btf;
		opts.func_info = types->func_info;
		opts.func_info_cnt = types->n;
		opts.func_info_rec_size = types->size;
	}
	fd = bpf_prog_load(kprobe ? BPF_PROG_TYPE_KPROBE : BPF_PROG_TYPE_TRACING, bpf_program__name(prog), "GPL",
			   bpf_program__insns(prog), bpf_program__insn_cnt(prog), &opts);
	r = fd < 0 ? fd : bpf_prog_bind_map(fd, attach->owner_map, NULL);
	if (fd >= 0 && r)
		close(fd);
	return r ? r : fd;
}

static int fexit_one(struct rd_attach *attach, enum rd_hook hook, uint32_t id)
{
	const struct rd_fn *fn = &attach->set->fns[id];
	enum bpf_attach_type type = at_exit(hook) ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
	int btf_fd = btf_fd_of(attach, fn->module);
	_cleanup_close_ int prog = -1;
	int link;

	if (btf_fd < 0)
		return btf_fd;
	prog = load_copy(attach, hook, false, type, btf_fd, fn->btf_id);
	if (prog < 0)
		return prog;
	LIBBPF_OPTS(bpf_link_create_opts, opts, .tracing.cookie = id);
	link = bpf_link_create(prog, 0, type, &opts);
	return keep_both(attach, link, &prog, fn->module);
}

/* A link of this program to functions of one module or of vmlinux; -errno. */
static int link_multi(int prog, int type, const __u32 *ids, const __u64 *cookies, size_t n)
{
	struct multi_link_attr attr = {
		.prog_fd = (__u32)prog,
		.attach_type = (__u32)type,
		.ids = (__u64)(uintptr_t)ids,
		.cookies = (__u64)(uintptr_t)cookies,
		.cnt = (__u32)n,
	};
	int link = (int)syscall(__NR_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return link < 0 ? -errno : link;
}

/* All functions must be of one module. */
static int attach_fexit_multi(struct rd_attach *attach, enum rd_hook hook, const uint32_t *fns, size_t n)
{
	_cleanup_free_ __u32 *ids = rd_alloc(n, sizeof(*ids));
	_cleanup_free_ __u64 *cookies = rd_alloc(n, sizeof(*cookies));
	int type = at_exit(hook) ? FEXIT_MULTI : FENTRY_MULTI;
	_cleanup_close_ int prog = -1;
	int btf_fd;

	btf_fd = btf_fd_of(attach, attach->set->fns[fns[0]].module);
	if (btf_fd < 0)
		return btf_fd;
	prog = load_copy(attach, hook, false, (enum bpf_attach_type)type, btf_fd, 0);
	if (prog < 0)
		return prog;
	for (size_t i = 0; i < n; i++) {
		ids[i] = attach->set->fns[fns[i]].btf_id;
		cookies[i] = fns[i];
	}
	return keep_both(attach, link_multi(prog, type, ids, cookies, n), &prog, attach->set->fns[fns[0]].module);
}

/* By address if all addresses are known, because several functions can have the same name. */
static int attach_kprobe_multi(struct rd_attach *attach, enum rd_hook hook, const uint32_t *fns, size_t n)
{
	_cleanup_free_ const char **names = rd_alloc(n, sizeof(*names));
	_cleanup_free_ unsigned long *addrs = rd_alloc(n, sizeof(*addrs));
	_cleanup_free_ __u64 *cookies = rd_alloc(n, sizeof(*cookies));
	uint32_t module = attach->set->fns[fns[0]].module;
	bool by_addr = true;
	_cleanup_close_ int prog = -1;
	int link;

	prog = load_copy(attach, hook, true, BPF_TRACE_KPROBE_MULTI, 0, 0);
	if (prog < 0)
		return prog;
	for (size_t i = 0; i < n; i++) {
		const struct rd_fn *fn = &attach->set->fns[fns[i]];

		names[i] = fn->name;
		addrs[i] = fn->addr;
		cookies[i] = fns[i];
		by_addr = by_addr && fn->addr;
		module = fn->module == module ? module : RD_NO_MODULE;
	}
	LIBBPF_OPTS(bpf_link_create_opts, opts, .kprobe_multi.cnt = (__u32)n, .kprobe_multi.cookies = cookies,
		    .kprobe_multi.flags = at_exit(hook) ? BPF_F_KPROBE_MULTI_RETURN : 0);
	if (by_addr)
		opts.kprobe_multi.addrs = addrs;
	else
		opts.kprobe_multi.syms = names;
	link = bpf_link_create(prog, 0, BPF_TRACE_KPROBE_MULTI, &opts);
	return keep_both(attach, link, &prog, module);
}

/* Through a perf event, which is removed with its file descriptor; an entry in kprobe_events of tracefs would outlive us. `addr` 0: by
 * name. */
static int kprobe_event(struct rd_attach *attach, int prog, bool at_exit, const char *name, uint64_t addr,
			uint64_t cookie, uint32_t module)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = (__u32)attach->kprobe_type };
	_cleanup_close_ int event = -1;
	int link;

	if (attach->kprobe_type < 0 || prog < 0)
		return -ENOTSUP;
	attr.config = at_exit ? 1 : 0; /* bit "retprobe" of the kprobe event source */
	if (addr)
		attr.config2 = addr;
	else
		attr.config1 = (__u64)(uintptr_t)name;
	event = (int)syscall(__NR_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -errno;
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);
	link = bpf_link_create(prog, event, BPF_PERF_EVENT, &opts);
	if (link < 0)
		return link;
	if (ioctl(event, PERF_EVENT_IOC_ENABLE, 0) < 0) {
		int r = -errno;

		close(link);
		return r;
	}
	keep_link(attach, link, module); /* the link holds the event */
	return 0;
}

/* Attaches `hook` to n functions with a backend; fexit-multi: all of one module. On an error none is attached. Does not set
 * attach->backends. */
static int attach_with(struct rd_attach *attach, enum rd_backend backend, enum rd_hook hook, const uint32_t *fns,
		       size_t n)
{
	const struct bpf_program *template = attach->programs.kprobe[hook];
	size_t before = attach->n_links;
	int r = 0;

	if (backend == RD_BACKEND_FEXIT_MULTI)
		return attach_fexit_multi(attach, hook, fns, n);
	if (backend == RD_BACKEND_KPROBE_MULTI)
		return attach_kprobe_multi(attach, hook, fns, n);
	for (size_t i = 0; !r && i < n; i++) {
		const struct rd_fn *fn = &attach->set->fns[fns[i]];

		r = backend == RD_BACKEND_FEXIT ? fexit_one(attach, hook, fns[i]) :
						  kprobe_event(attach, template ? bpf_program__fd(template) : -1,
							       at_exit(hook), fn->name, fn->addr, fns[i], fn->module);
	}
	while (r && attach->n_links > before)
		close(attach->links[--attach->n_links].fd);
	return r;
}

/* Programs load even where nothing can be linked to them: on arm64 no fexit-multi (as of Linux 7.2), and before 6.4 no fexit. The
 * template's own target is a function that nothing calls. */
static bool can_link_multi(const struct rd_attach *attach, int template)
{
	struct bpf_prog_info info = { 0 };
	_cleanup_close_ int prog = load_copy(attach, RD_HOOK_LEAVE, false, (enum bpf_attach_type)FEXIT_MULTI, 0, 0);
	_cleanup_close_ int link = -1;
	__u32 len = sizeof(info);
	__u64 cookie = 0;

	if (prog < 0 || bpf_obj_get_info_by_fd(template, &info, &len))
		return false;
	link = link_multi(prog, FEXIT_MULTI, &info.attach_btf_id, &cookie, 1);
	return link >= 0;
}

/* A backend whose program loads works; whether it can hook a certain function shows only when it is attached. */
void rd_attach_probe(struct rd_attach *attach)
{
	int template = bpf_program__fd(attach->programs.tracing[RD_HOOK_LEAVE]);
	bool kprobes = bpf_program__fd(attach->programs.kprobe[RD_HOOK_LEAVE]) >= 0;
	int fd;
#ifdef __x86_64__
	bool linked = true; /* ever since there are such programs; to end a link takes a while */
#else
	_cleanup_close_ int link = template <0 ? -1 : bpf_link_create(template, 0, BPF_TRACE_FEXIT, NULL);
	bool linked = link >= 0;
#endif

	attach->works[RD_BACKEND_FEXIT_MULTI] = template >= 0 && can_link_multi(attach, template);
	attach->works[RD_BACKEND_FEXIT] = attach->works[RD_BACKEND_FEXIT_MULTI] || (template >= 0 && linked);
	attach->works[RD_BACKEND_KPROBE] = kprobes && attach->kprobe_type >= 0;
	if (kprobes && !(attach->programs.ops->brief && attach->works[RD_BACKEND_KPROBE])) {
		const char *name = "bpf_fentry_test1";
		LIBBPF_OPTS(bpf_link_create_opts, opts, .kprobe_multi.cnt = 1, .kprobe_multi.syms = &name);
		_cleanup_close_ int prog = load_copy(attach, RD_HOOK_LEAVE, true, BPF_TRACE_KPROBE_MULTI, 0, 0);

		/* Programs of this type load even if the kernel was built without fprobe. */
		fd = prog < 0 ? prog : bpf_link_create(prog, 0, BPF_TRACE_KPROBE_MULTI, &opts);
		attach->works[RD_BACKEND_KPROBE_MULTI] = fd >= 0;
		if (fd >= 0)
			close(fd);
	}
}

/*
 * Which backend to prefer: the cost of attaching and detaching against the cost per call, among those that miss no calls.
 *
 * A tracing program is skipped while another task that was preempted inside it waits for the same CPU: the recursion guard of
 * the kernel is per program and CPU, and only migration is disabled while it runs. On a preemptible kernel, with eight threads on
 * two CPUs that fail 20,000 times, fexit-multi missed half of the calls and fexit a fifth; kprobe-multi, whose handlers run
 * with preemption disabled, missed none. Where there is no kprobe-multi (Debian's 6.1 with preempt=full), kprobe missed none of
 * these, and 12,000 of 19,000 calls of 48 threads, more than a kretprobe has instances for (10 on two CPUs); fexit missed 15,000.
 */

/* Attaching and detaching may take at most this share of the duration; a trace without end takes the hook that costs least per
 * call. */
#define SHARE 0.05

/* Attaching and detaching this few hooks is quick with any backend. */
#define FEW 8

/*
 * Seconds per function to attach and to detach one fexit program on 6.1 and 6.12 (7.x has fexit-multi). Detaching waits
 * for one RCU-tasks grace period per program, one after the other. Measured by tests/bench: tests/bench/results/trace-errno.md.
 */
#define FEXIT_ATTACH 0.015
#define FEXIT_DETACH 0.14

/* The order in which backends are tried for a function, terminated by RD_BACKEND_NONE, and why (caller frees `reason`). */
static void choose_order(const struct rd_attach *attach, size_t functions, enum rd_backend order[RD_BACKEND_COUNT],
			 char **reason)
{
	const enum rd_backend fexit = RD_BACKEND_FEXIT, fexits = RD_BACKEND_FEXIT_MULTI;
	const enum rd_backend kprobe = RD_BACKEND_KPROBE, kprobes = RD_BACKEND_KPROBE_MULTI;
	double wait = (double)functions * (FEXIT_ATTACH + FEXIT_DETACH), seconds = attach->opts->seconds;
	const bool *works = attach->works;
	_cleanup_free_ char *requested = rd_text("%s, as requested", rd_backend_name(attach->opts->backend));
	_cleanup_free_ char *slow = rd_text(
		"kprobe-multi: fexit costs less per call, but takes about %.0f s to attach and detach %zu functions%s",
		wait, functions, seconds > 0 ? ", much of the duration" : "");
	_cleanup_free_ char *quick =
		rd_text("fexit: lowest cost per call%s",
			works[kprobes] ? ", and the trace is long, without end, or has few functions" : "");
	const struct {
		bool applies;
		enum rd_backend order[RD_BACKEND_COUNT];
		const char *why;
	} rules[] = {
		{ attach->opts->backend != RD_BACKEND_NONE, { attach->opts->backend }, requested },
		{ attach->programs.ops->brief && works[kprobe],
		  { kprobe, fexits, fexit },
		  "kprobe: attaches and detaches fastest" },
		/* On kernels with this backend, the registers that kprobe-multi passes do not lead to the caller. */
		{ works[fexits] && attach->opts->kernel_stack,
		  { fexits, fexit, kprobes, kprobe },
		  "fexit-multi: provides the complete kernel stack" },
		{ works[kprobes] && attach->preemptible,
		  { kprobes, fexits, fexit, kprobe },
		  "kprobe-multi: fexit costs less per call, but misses calls under load on a preemptible kernel" },
		{ works[kprobe] && attach->preemptible,
		  { kprobe, fexits, fexit },
		  "kprobe: fexit costs less per call, but misses calls under load on a preemptible kernel; this kernel "
		  "has no kprobe-multi" },
		{ works[fexits],
		  { fexits, fexit, kprobes, kprobe },
		  "fexit-multi: lowest cost per call, and one link per module" },
		{ works[kprobes] && works[fexit] && functions > FEW && !attach->opts->endless &&
			  (seconds <= 0 || wait > seconds * SHARE),
		  { kprobes, fexit, kprobe },
		  slow },
		{ works[fexit], { fexit, kprobes, kprobe }, quick },
		{ works[kprobes], { kprobes, kprobe }, "kprobe-multi: this kernel does not support fexit programs" },
		{ true, { kprobe }, "kprobe: this kernel supports no faster backend" },
	};
	size_t i = 0;

	while (!rules[i].applies)
		i++;
	memcpy(order, rules[i].order, sizeof(rules[i].order));
	*reason = rd_dup(rules[i].why);
}

/* If the kernel refuses a batch, it is split in halves until the functions that cannot be hooked are found. */
struct batch {
	struct rd_attach *attach;
	enum rd_backend backend;
	enum rd_hook hook;
	bool *failed; /* per function */
	int last_error;
};

#define LOCKED_DOWN \
	"the kernel is locked down (lockdown=confidentiality), and lets no program read its memory: boot with lockdown=integrity"

#define NO_FILES "the limit of %lu open files is too low to attach"
#define FILES_LEAST 64 /* 11 programs, 9 maps, and what is open already */
#define UNKNOWN_THEN ": verbs, devices, QP numbers and most causes are unknown"

static void add_note(struct rd_attach *attach, int code, const char *object, const char *message, const char *hint)
{
	struct rd_err err = {};

	rd_err_set(&err, code, object, "%s", message);
	if (hint)
		rd_err_hint(&err, "%s", hint);
	rd_errlist_add(attach->notes, &err);
}

/* Why the kernel refused a program. Without a word of the verifier, `err` stays as it is: for missing permissions, the command adds
 * the hint. */
static void explain_refusal(const struct rd_attach *attach, const char *consequence, int code, struct rd_err *err)
{
	const struct rd_refusal *refused = &attach->refusal;
	char object[64], lockdown[128];

	/* "none [integrity] confidentiality"; not readable without securityfs. */
	rd_read_own("/sys/kernel/security/lockdown", lockdown, sizeof(lockdown));
	if (strstr(lockdown, "[confidentiality]")) {
		rd_err_hint(err, LOCKED_DOWN);
	} else if (*refused->reason) {
		snprintf(object, sizeof(object), "BPF program %s", refused->program);
		rd_err_set(err, code, object, "the verifier rejects %s%s", refused->reason, consequence);
		rd_err_hint(err,
			    strstr(refused->reason, " func ") || strstr(refused->reason, "cannot use helper") ?
				    "this kernel lacks a function that the program calls: update the kernel" :
				    "a fault of this build of rdmadiag: please report it, with rdmadiag --version -v, "
				    "uname -r and what -v prints");
	}
}

int rd_attach_open(struct rd_attach *attach, struct rd_fnset *set, const struct rd_session_opts *opts,
		   uint8_t *backends, struct rd_errlist *notes, struct rd_err *err)
{
	struct utsname build;
	struct rlimit files;
	char text[16], mode[128];
	const char *at = text;
	uint32_t type;
	int r = -ENOTSUP, refused = 0;

	*attach = (struct rd_attach){ .set = set, .opts = opts, .backends = backends, .notes = notes, .owner_map = -1 };
	attach->programs.ops = opts->query ? &rd_programs_query : opts->qp ? &rd_programs_qp : &rd_programs_errno;
	rd_read_own("/sys/bus/event_source/devices/kprobe/type", text, sizeof(text));
	attach->kprobe_type = rd_take_u32(&at, RD_DECIMAL, INT32_MAX, &type) < 0 ? -1 : (int)type;
	/* "none voluntary full (lazy)": the preemption mode is in parentheses. Only kernels built with PREEMPT_DYNAMIC have the file;
	 * for others the version of the build tells. */
	if (rd_read_own("/sys/kernel/debug/sched/preempt", mode, sizeof(mode)) == 0)
		attach->preemptible = uname(&build) < 0 || strstr(build.version, "PREEMPT");
	else
		attach->preemptible = !strstr(mode, "(none)") && !strstr(mode, "(voluntary)");
	attach->btf_fds = rd_alloc(set->n_modules, sizeof(*attach->btf_fds));
	for (size_t i = 0; i < set->n_modules; i++)
		attach->btf_fds[i] = -1;
	/* fexit and kprobe need one descriptor per function. */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
		attach->max_files = files.rlim_max;
		/* Where descriptors run out while libbpf loads, it may blame a program. */
		if (files.rlim_max < FILES_LEAST)
			return rd_err_set(err, EMFILE, "bpf", NO_FILES, attach->max_files);
	}
	/* lockdown=confidentiality refuses programs that read kernel memory; kernels without BTF refuse tracing programs. */
	static const struct {
		bool read_kernel, tracing, kprobes;
	} tries[] = { { true, true, true },  { false, true, true },  { true, false, true },
		      { true, true, false }, { false, true, false }, { false, false, true } };
	if (attach->programs.ops->brief) {
		attach->read_kernel = true;
		r = load_programs(attach, false, true, NULL);
	}
	for (size_t i = 0; i < RD_ARRAY_SIZE(tries) && !attach->programs.skel && r != -EMFILE; i++) {
		attach->read_kernel = tries[i].read_kernel;
		r = load_programs(attach, tries[i].tracing, tries[i].kprobes, i ? NULL : &attach->refusal);
		if (!i)
			refused = -r;
	}
	if (attach->programs.skel && opts->share)
		attach->owner_map = opts->share[RD_FD_OWNER];
	else if (attach->programs.skel)
		r = rd_attach_create_record(attach);
	attach->programs.fds[RD_FD_OWNER] = attach->owner_map;
	/* Templates of kprobes are attached directly. */
	for (size_t i = 0; attach->programs.skel && !r && i < RD_HOOK_COUNT; i++)
		if (attach->programs.kprobe[i] && bpf_program__fd(attach->programs.kprobe[i]) >= 0)
			r = bpf_prog_bind_map(bpf_program__fd(attach->programs.kprobe[i]), attach->owner_map, NULL);
	if (attach->programs.skel && r)
		return rd_err_set(err, -r, "bpf", "cannot bind the owner record to the programs, which --status needs");
	if (!attach->programs.skel) {
		if (r == -EMFILE)
			return rd_err_set(err, EMFILE, "bpf", NO_FILES, attach->max_files);
		rd_err_set(err, -r, "bpf", "the kernel rejected the tracing programs");
		explain_refusal(attach, "", refused, err);
		return r;
	}
	if (!attach->read_kernel && !opts->share) {
		struct rd_err note = {};

		rd_err_set(&note, refused, "kernel memory", "not readable by BPF programs" UNKNOWN_THEN);
		explain_refusal(attach, UNKNOWN_THEN, refused, &note);
		rd_errlist_add(attach->notes, &note);
	}
	r = attach->programs.ops->describe ? attach->programs.ops->describe(attach) : 0;
	if (r < 0)
		return rd_err_set(err, -r, "bpf", "cannot fill the map of functions");
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
	int r = attach_with(b->attach, b->backend, b->hook, fns, n);

	/* Further functions need more. */
	if (!r || r == -EMFILE)
		return r;
	if (n == 1) {
		b->failed[*fns] = true;
		b->last_error = -r;
		return 0;
	}
	r = tick(b->attach);
	if (!r)
		r = try_batch(b, fns, half);
	return r ? r : try_batch(b, fns + half, n - half);
}

/* Attaches one hook to those of `fns` that it applies to. */
static int attach_hook(struct batch *b, const uint32_t *fns, size_t n)
{
	_cleanup_free_ uint32_t *ours = rd_alloc(n, sizeof(*ours));
	struct rd_attach *attach = b->attach;
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (!b->failed[fns[i]] &&
		    attach->programs.ops->applies(attach, &attach->set->fns[fns[i]], b->backend, b->hook))
			ours[m++] = fns[i];
	for (size_t i = 0; i < m;) {
		/* A multi link covers functions of one BTF object (fexit) or of all (kprobe, unless hooks are to be released by module);
		 * the other backends hook one function at a time. */
		bool multi = b->backend == RD_BACKEND_KPROBE_MULTI, each = multi && attach->opts->service;
		size_t size = multi && !each ? m - i : 1;
		int r = tick(attach);

		while ((b->backend == RD_BACKEND_FEXIT_MULTI || each) && i + size < m &&
		       attach->set->fns[ours[i + size]].module == attach->set->fns[ours[i]].module)
			size++;
		if (!r)
			r = try_batch(b, ours + i, size);
		if (r)
			return r;
		i += size;
		if (at_exit(b->hook))
			attach->done += size;
	}
	return 0;
}

static size_t count_hooked(const struct rd_attach *attach)
{
	size_t n = 0;

	for (size_t i = 0; i < attach->set->n_fns; i++)
		n += attach->backends[i] != RD_BACKEND_NONE;
	return n;
}

/* Hooks all remaining functions that one backend can hook. A root needs both its hooks. */
static int attach_by(struct rd_attach *attach, enum rd_backend backend, bool *failed, int *last_error)
{
	static const enum rd_hook hooks[] = { RD_HOOK_ENTER_ROOT, RD_HOOK_OBJECT, RD_HOOK_LEAVE_ROOT, RD_HOOK_LEAVE };
	_cleanup_free_ uint32_t *fns = rd_alloc(attach->set->n_fns, sizeof(*fns));
	size_t n = 0;

	for (uint32_t i = 0; i < attach->set->n_fns; i++) {
		const struct rd_fn *fn = &attach->set->fns[i];

		failed[i] = false;
		if (fn->selected && !attach->backends[i] && fn->attachable & 1 << backend)
			fns[n++] = i;
	}
	for (size_t h = 0; n && h < RD_ARRAY_SIZE(hooks); h++) {
		struct batch b = { .attach = attach, .backend = backend, .hook = hooks[h], .failed = failed };
		bool object = hooks[h] == RD_HOOK_OBJECT && attach->programs.ops->object_optional;
		_cleanup_free_ bool *extra = object ? rd_alloc(attach->set->n_fns, sizeof(*extra)) : NULL;
		int r;

		if (object)
			b.failed = extra;
		r = attach_hook(&b, fns, n);
		if (r)
			return r;
		if (b.last_error)
			*last_error = b.last_error;
	}
	for (size_t i = 0; i < n; i++)
		if (!failed[fns[i]])
			attach->backends[fns[i]] = backend;
	attach->done = count_hooked(attach);
	return 0;
}

/* Hooks the functions whose arguments are noted, most of which are traced as well. Without these hooks, only some causes of
 * failures are unknown. */
static int attach_notes(struct rd_attach *attach, enum rd_backend backend, bool *noted)
{
	_cleanup_free_ uint32_t *fns = rd_alloc(attach->set->n_fns, sizeof(*fns));
	_cleanup_free_ bool *failed = rd_alloc(attach->set->n_fns, sizeof(*failed));
	struct batch b = { .attach = attach, .backend = backend, .hook = RD_HOOK_NOTE, .failed = failed };
	size_t n = 0;
	int r;

	for (uint32_t i = 0; i < attach->set->n_fns; i++) {
		const struct rd_fn *fn = &attach->set->fns[i];

		/* A traced function is noted with the backend that hooked it, which may have its arguments anyway. */
		if (fn->notes && !noted[i] && fn->attachable & 1 << backend &&
		    (!attach->backends[i] || attach->backends[i] == backend))
			fns[n++] = i;
	}
	r = n ? attach_hook(&b, fns, n) : 0;
	for (size_t i = 0; i < n; i++)
		noted[fns[i]] = !failed[fns[i]];
	return r;
}

/* Reports functions that could not be hooked although a backend should have worked; --list shows those that no backend can hook
 * (the compiler left no ftrace site). Functions of one name are adjacent only within a module, so a name is searched among the
 * reported ones. */
static void note_failed(struct rd_attach *attach, int last_error)
{
	char names[160] = "";
	size_t n = 0, reported = 0;
	char text[256];

	for (uint32_t i = 0; i < attach->set->n_fns; i++) {
		const struct rd_fn *fn = &attach->set->fns[i];

		if (!fn->selected || !fn->attachable || attach->backends[i])
			continue;
		n++;
		if (reported == 3 || strstr(names, fn->name))
			continue;
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%.48s", reported++ ? ", " : "",
			 fn->name);
	}
	if (!n)
		return;
	snprintf(text, sizeof(text), "%zu selected function%s could not be hooked (%s%s): missing from chains", n,
		 n > 1 ? "s" : "", names, n > reported ? " ..." : "");
	add_note(attach, last_error, "trace", text, "trace-errno --list shows the reason for each");
}

/* Hooks of the service hold modules for weeks. */
static void watch_unloads(struct rd_attach *attach)
{
	int prog = attach->programs.unload_asked ? bpf_program__fd(attach->programs.unload_asked) : -1;
	int r = prog < 0 ? -ENOTSUP : bpf_prog_bind_map(prog, attach->owner_map, NULL);

	if (!r)
		r = kprobe_event(attach, prog, false, "show_refcnt", 0, 0, RD_NO_MODULE);
	if (r)
		add_note(attach, -r, "trace", "cannot notice that a module is to be unloaded: its hooks keep it in use",
			 "rdmadiag trace-errno --detach-all, before it is unloaded");
}

int rd_attach_run(struct rd_attach *attach, char **reason, struct rd_err *err)
{
	size_t before = count_hooked(attach);
	_cleanup_free_ bool *failed = rd_alloc(attach->set->n_fns, sizeof(*failed));
	_cleanup_free_ bool *noted = rd_alloc(attach->set->n_fns, sizeof(*noted));
	enum rd_backend order[RD_BACKEND_COUNT];
	size_t selected = 0;
	int last_error = 0, r = 0;

	for (size_t i = 0; i < attach->set->n_fns; i++) {
		selected += attach->set->fns[i].selected;
		noted[i] = i < attach->opts->n_known;
	}
	attach->total = selected;
	choose_order(attach, selected, order, reason);
	for (size_t i = 0; order[i] != RD_BACKEND_NONE; i++) {
		if (!attach->works[order[i]])
			continue;
		r = attach_by(attach, order[i], failed, &last_error);
		if (!r)
			r = attach_notes(attach, order[i], noted);
		if (r == -EMFILE)
			return rd_err_set(err, EMFILE, "trace", NO_FILES, attach->max_files);
		if (r)
			return rd_err_set(err, -r, "trace", "%s",
					  r == -EINTR ? "cancelled while attaching" : "cannot attach");
	}
	if (attach->done == before) {
		rd_err_set(err, last_error ? last_error : ENOTSUP, "trace", "no function could be hooked with %s",
			   attach->opts->backend ? rd_backend_name(attach->opts->backend) : "any backend");
		/* For missing permissions, the command adds the hint. */
		if (last_error != EPERM && last_error != EACCES)
			rd_err_hint(err, "%s",
				    attach->opts->backend ?
					    "--backend auto selects a backend that this kernel supports" :
					    "boot a kernel with BTF (CONFIG_DEBUG_INFO_BTF) or kprobes");
		return -(last_error ? last_error : ENOTSUP);
	}
	note_failed(attach, last_error);
	if (attach->opts->share)
		return 0;
	/* The program that notes modules that are loaded. */
	if (attach->programs.loads) {
		int prog = bpf_program__fd(attach->programs.loads), link;

		r = bpf_prog_bind_map(prog, attach->owner_map, NULL);
		link = r ? r : bpf_raw_tracepoint_open("module_load", prog);
		if (link >= 0)
			keep_link(attach, link, RD_NO_MODULE);
		else
			r = link;
	}
	if (r)
		add_note(attach, -r, "trace", "cannot notice modules that are loaded during the trace", NULL);
	if (attach->opts->service && !attach->opts->qp)
		watch_unloads(attach);
	*attach->programs.on = true;
	rd_attach_update_record(attach, RD_HOLD_ON);
	return 0;
}

void rd_attach_add(struct rd_attach *attach, const int *fds, const uint32_t *modules, size_t n_links, size_t n_progs)
{
	for (size_t i = 0; i < n_links + n_progs; i++)
		(i < n_links ? keep_link : rd_attach_keep_prog)(attach, fds[i], modules[i]);
}

void rd_attach_close(struct rd_attach *attach)
{
	if (attach->programs.on)
		*attach->programs.on = false;
	if (attach->programs.skel && attach->programs.ops->ending)
		attach->programs.ops->ending(attach);
	if (attach->owner_map >= 0)
		rd_attach_update_record(attach, RD_HOLD_DETACHING);
	while (attach->n_links)
		close(attach->links[--attach->n_links].fd);
	free(attach->links);
	while (attach->n_progs)
		close(attach->progs[--attach->n_progs].fd);
	free(attach->progs);
	if (attach->btf_fds)
		for (size_t i = 0; i < attach->set->n_modules; i++)
			if (attach->btf_fds[i] >= 0)
				close(attach->btf_fds[i]);
	free(attach->btf_fds);
	unload(&attach->programs);
	forget_types(&attach->programs);
	if (attach->owner_map >= 0)
		close(attach->owner_map);
	free(attach->refusal.log);
	*attach = (struct rd_attach){ .owner_map = -1 };
}
