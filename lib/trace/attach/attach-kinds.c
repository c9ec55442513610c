// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the programs of a trace, and hooks entry and exit of kernel functions with them, by four backends. */
/*
 * The types of the functions in a BPF program. With them the verifier checks a global function once for each program instead of at
 * each call, which takes a tenth of the time: it matters for fexit, of which each function gets a copy of its own. libbpf passes
 * them only to the handlers of a section, when it loads a program.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "base/memory.h"
#include "trace/attach/attach.h"

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

	(void)cookie;
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

void rd_programs_forget_types(struct rd_programs *programs)
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

int rd_programs_load(struct rd_attach *attach, bool tracing, bool kprobes, struct rd_refusal *refusal)
{
	static bool registered;
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = keep);
	char *log = refusal ? calloc(1, RD_VERIFIER_LOG) : NULL;
	int r;

	/* Once: the removal of the last handler makes libbpf before 1.3 use freed memory. */
	for (size_t i = 0; i < RD_ARRAY_SIZE(sections) && !registered; i++)
		libbpf_register_prog_handler(sections[i].name, sections[i].type, sections[i].attach, &opts);
	registered = true;
	rd_programs_forget_types(&attach->programs);
	loading = &attach->programs;
	loading_name[0] = 0;
	r = attach->programs.ops->load(attach, tracing, kprobes, log);
	loading = NULL;
	if (r && log && *log) {
		snprintf(refusal->program, sizeof(refusal->program), "%s", loading_name);
		refusal->log = RD_TAKE(log);
		rd_refusal_explain(refusal);
	}
	free(log);
	return r;
}

/* NULL: none are known, as without BTF. */
static const struct rd_program_types *types_of(const struct rd_programs *programs, const struct bpf_program *prog)
{
	for (size_t i = 0; i < programs->n_types; i++)
		if (programs->types[i].prog == prog)
			return &programs->types[i];
	return NULL;
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

int rd_programs_autoload(struct bpf_program *const programs[RD_HOOK_COUNT], bool tracing)
{
	for (size_t i = 0; i < RD_HOOK_COUNT; i++) {
		int r;

		if (!programs[i])
			continue;
		bpf_program__set_autoload(programs[i], true);
		/* Any function of vmlinux: a template is never attached. */
		r = tracing ? bpf_program__set_attach_target(programs[i], 0, "bpf_fentry_test1") : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

int rd_programs_run(const struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(bpf_program__fd(program), &opts);
}

void rd_attach_keep_link(struct rd_attach *attach, int fd)
{
	*RD_ADD(attach->links, attach->n_links, attach->cap_links) = fd;
}

/* Descriptors of programs are needed only to read their counters: if descriptors are scarce, links take precedence. */
void rd_attach_keep_prog(struct rd_attach *attach, int fd)
{
	if (attach->n_progs >= attach->max_files / 3) {
		attach->progs_closed = true;
		close(fd);
		return;
	}
	*RD_ADD(attach->progs, attach->n_progs, attach->cap_progs) = fd;
}

/* Takes ownership of a link and, unless `link` is an error, of its program. 0 or -errno. */
static int keep_both(struct rd_attach *attach, int link, int *prog)
{
	if (link < 0)
		return link;
	rd_attach_keep_link(attach, link);
	rd_attach_keep_prog(attach, RD_TAKE_FD(*prog));
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
	const struct rd_program_types *types = types_of(&attach->programs, prog);
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = type, .attach_btf_id = btf_id,
		    .attach_btf_obj_fd = btf_fd > 0 ? (__u32)btf_fd : 0);

	int fd, r;

	if (!prog || bpf_program__fd(prog) < 0)
		return -ENOTSUP;
	if (types) {
		opts.prog_btf_fd = (__u32)types->btf;
		opts.func_info = types->func_info;
		opts.func_info_cnt = types->n;
		opts.func_info_rec_size = types->size;
	}
	fd = bpf_prog_load(kprobe ? BPF_PROG_TYPE_KPROBE : BPF_PROG_TYPE_TRACING, bpf_program__name(prog), "GPL",
			   bpf_program__insns(prog), bpf_program__insn_cnt(prog), &opts);
	r = fd < 0 ? fd : rd_attach_bind_record(attach, fd);
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
	return keep_both(attach, link, &prog);
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
	return keep_both(attach, link_multi(prog, type, ids, cookies, n), &prog);
}

/* By address if all addresses are known, because several functions can have the same name. */
static int attach_kprobe_multi(struct rd_attach *attach, enum rd_hook hook, const uint32_t *fns, size_t n)
{
	_cleanup_free_ const char **names = rd_alloc(n, sizeof(*names));
	_cleanup_free_ unsigned long *addrs = rd_alloc(n, sizeof(*addrs));
	_cleanup_free_ __u64 *cookies = rd_alloc(n, sizeof(*cookies));
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
	}
	LIBBPF_OPTS(bpf_link_create_opts, opts, .kprobe_multi.cnt = (__u32)n, .kprobe_multi.cookies = cookies,
		    .kprobe_multi.flags = at_exit(hook) ? BPF_F_KPROBE_MULTI_RETURN : 0);
	if (by_addr)
		opts.kprobe_multi.addrs = addrs;
	else
		opts.kprobe_multi.syms = names;
	link = bpf_link_create(prog, 0, BPF_TRACE_KPROBE_MULTI, &opts);
	return keep_both(attach, link, &prog);
}

/* Through a perf event, which is removed with its file descriptor; an entry in kprobe_events of tracefs would outlive us. */
static int kprobe_one(struct rd_attach *attach, enum rd_hook hook, uint32_t id)
{
	const struct rd_fn *fn = &attach->set->fns[id];
	struct perf_event_attr attr = { .size = sizeof(attr), .type = (__u32)attach->kprobe_type };
	_cleanup_close_ int event = -1;
	int prog = attach->programs.kprobe[hook] ? bpf_program__fd(attach->programs.kprobe[hook]) : -1, link;

	if (attach->kprobe_type < 0 || prog < 0)
		return -ENOTSUP;
	attr.config = at_exit(hook) ? 1 : 0; /* bit "retprobe" of the kprobe event source */
	if (fn->addr)
		attr.config2 = fn->addr;
	else
		attr.config1 = (__u64)(uintptr_t)fn->name;
	event = (int)syscall(__NR_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -errno;
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = id);
	link = bpf_link_create(prog, event, BPF_PERF_EVENT, &opts);
	if (link < 0)
		return link;
	if (ioctl(event, PERF_EVENT_IOC_ENABLE, 0) < 0) {
		int r = -errno;

		close(link);
		return r;
	}
	rd_attach_keep_link(attach, link); /* the link holds the event */
	return 0;
}

int rd_attach_with(struct rd_attach *attach, enum rd_backend backend, enum rd_hook hook, const uint32_t *fns, size_t n)
{
	size_t before = attach->n_links;
	int r = 0;

	if (backend == RD_BACKEND_FEXIT_MULTI)
		return attach_fexit_multi(attach, hook, fns, n);
	if (backend == RD_BACKEND_KPROBE_MULTI)
		return attach_kprobe_multi(attach, hook, fns, n);
	for (size_t i = 0; !r && i < n; i++)
		r = backend == RD_BACKEND_FEXIT ? fexit_one(attach, hook, fns[i]) : kprobe_one(attach, hook, fns[i]);
	while (r && attach->n_links > before)
		close(attach->links[--attach->n_links]);
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
	if (kprobes) {
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

int rd_attach_loads(struct rd_attach *attach)
{
	int prog = bpf_program__fd(attach->programs.loads), r = rd_attach_bind_record(attach, prog), link;

	if (r)
		return r;
	link = bpf_raw_tracepoint_open("module_load", prog);
	if (link < 0)
		return link;
	rd_attach_keep_link(attach, link);
	return 0;
}
