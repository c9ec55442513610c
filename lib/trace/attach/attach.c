// SPDX-License-Identifier: GPL-2.0-or-later
/* Attaches the hooks: each function with the first backend that can hook it, and the record of who owns them. */
#include "trace/attach/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "source/shared/source.h"

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

static void set_order(enum rd_backend order[RD_BACKEND_COUNT], enum rd_backend a, enum rd_backend b, enum rd_backend c,
		      enum rd_backend d)
{
	order[0] = a;
	order[1] = b;
	order[2] = c;
	order[3] = d;
	order[4] = RD_BACKEND_NONE;
}

/* The order in which backends are tried for a function, terminated by RD_BACKEND_NONE, and why (caller frees `reason`). */
static void choose_order(const struct rd_attach *attach, size_t functions, enum rd_backend order[RD_BACKEND_COUNT],
			 char **reason)
{
	double wait = (double)functions * (FEXIT_ATTACH + FEXIT_DETACH), seconds = attach->opts->seconds;
	const bool *works = attach->works;
	char text[256];

	if (attach->opts->backend != RD_BACKEND_NONE) {
		set_order(order, attach->opts->backend, RD_BACKEND_NONE, RD_BACKEND_NONE, RD_BACKEND_NONE);
		snprintf(text, sizeof(text), "%s, as requested", rd_backend_name(attach->opts->backend));
	} else if (works[RD_BACKEND_FEXIT_MULTI] && attach->opts->kernel_stack) {
		/* On kernels with this backend, the registers that kprobe-multi passes do not lead to the caller. */
		set_order(order, RD_BACKEND_FEXIT_MULTI, RD_BACKEND_FEXIT, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_KPROBE);
		snprintf(text, sizeof(text), "fexit-multi: provides the complete kernel stack");
	} else if (works[RD_BACKEND_KPROBE_MULTI] && attach->preemptible) {
		set_order(order, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_FEXIT_MULTI, RD_BACKEND_FEXIT, RD_BACKEND_KPROBE);
		snprintf(text, sizeof(text),
			 "kprobe-multi: fexit costs less per call, but misses calls under load on a preemptible kernel");
	} else if (works[RD_BACKEND_KPROBE] && attach->preemptible) {
		set_order(order, RD_BACKEND_KPROBE, RD_BACKEND_FEXIT_MULTI, RD_BACKEND_FEXIT, RD_BACKEND_NONE);
		snprintf(text, sizeof(text),
			 "kprobe: fexit costs less per call, but misses calls under load on a preemptible kernel; this kernel "
			 "has no kprobe-multi");
	} else if (works[RD_BACKEND_FEXIT_MULTI]) {
		set_order(order, RD_BACKEND_FEXIT_MULTI, RD_BACKEND_FEXIT, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_KPROBE);
		snprintf(text, sizeof(text), "fexit-multi: lowest cost per call, and one link per module");
	} else if (works[RD_BACKEND_KPROBE_MULTI] && works[RD_BACKEND_FEXIT] && functions > FEW &&
		   !attach->opts->endless && (seconds <= 0 || wait > seconds * SHARE)) {
		set_order(order, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_FEXIT, RD_BACKEND_KPROBE, RD_BACKEND_NONE);
		snprintf(
			text, sizeof(text),
			"kprobe-multi: fexit costs less per call, but takes about %.0f s to attach and detach %zu functions%s",
			wait, functions, seconds > 0 ? ", much of the duration" : "");
	} else if (works[RD_BACKEND_FEXIT]) {
		set_order(order, RD_BACKEND_FEXIT, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_KPROBE, RD_BACKEND_NONE);
		snprintf(text, sizeof(text), "fexit: lowest cost per call%s",
			 works[RD_BACKEND_KPROBE_MULTI] ? ", and the trace is long, without end, or has few functions" :
							  "");
	} else if (works[RD_BACKEND_KPROBE_MULTI]) {
		set_order(order, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_KPROBE, RD_BACKEND_NONE, RD_BACKEND_NONE);
		snprintf(text, sizeof(text), "kprobe-multi: this kernel does not support fexit programs");
	} else {
		set_order(order, RD_BACKEND_KPROBE, RD_BACKEND_NONE, RD_BACKEND_NONE, RD_BACKEND_NONE);
		snprintf(text, sizeof(text), "kprobe: this kernel supports no faster backend");
	}
	*reason = strdup(text);
}

int rd_attach_create_record(struct rd_attach *attach)
{
	struct rd_hold_record *owner = &attach->owner;
	struct timespec now = { 0 };
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
	clock_gettime(CLOCK_REALTIME, &now);
	owner->since = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	snprintf(owner->what, sizeof(owner->what), "%s", attach->opts->qp ? "qp-state" : "trace-errno");
	/* The holder was forked without exec: its command line is that of the command. */
	n = rd_read_own("/proc/self/cmdline", owner->command, sizeof(owner->command));
	for (size_t i = 0; i + 1 < n; i++)
		if (!owner->command[i])
			owner->command[i] = ' ';
	return bpf_map_update_elem(fd, &zero, owner, BPF_ANY);
}

int rd_attach_bind_record(const struct rd_attach *attach, int prog)
{
	return bpf_prog_bind_map(prog, attach->owner_map, NULL);
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
	*ret = (struct rd_attach_counts){ .all_runs = !attach->progs_closed };
	for (size_t i = 0; i < attach->n_progs; i++)
		ret->all_runs &= add_prog(attach->progs[i], ret);
	/* The templates, which perf events share. */
	for (size_t i = 0; i < RD_HOOK_COUNT; i++)
		if (attach->programs.kprobe[i] && bpf_program__fd(attach->programs.kprobe[i]) >= 0)
			ret->all_runs &= add_prog(bpf_program__fd(attach->programs.kprobe[i]), ret);
	ret->all_missed = ret->all_runs;
	for (size_t i = 0; i < attach->n_links; i++)
		ret->all_missed &= add_link(attach->links[i], ret);
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
	attach->programs.ops = opts->qp ? &rd_programs_qp : &rd_programs_errno;
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
	for (size_t i = 0; i < RD_ARRAY_SIZE(tries) && !attach->programs.skel && r != -EMFILE; i++) {
		attach->read_kernel = tries[i].read_kernel;
		r = rd_programs_load(attach, tries[i].tracing, tries[i].kprobes, i ? NULL : &attach->refusal);
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
			r = rd_attach_bind_record(attach, bpf_program__fd(attach->programs.kprobe[i]));
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
	r = attach->programs.ops->describe(attach);
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
	int r = rd_attach_with(b->attach, b->backend, b->hook, fns, n);

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
		/* A multi link covers functions of one BTF object (fexit) or of all (kprobe); the other backends hook one function at
		 * a time. */
		size_t size = b->backend == RD_BACKEND_KPROBE_MULTI ? m - i : 1;
		int r = tick(attach);

		while (b->backend == RD_BACKEND_FEXIT_MULTI && i + size < m &&
		       attach->set->fns[ours[i + size]].module == attach->set->fns[ours[i]].module)
			size++;
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

int rd_attach_run(struct rd_attach *attach, char **reason, struct rd_err *err)
{
	size_t before = count_hooked(attach);
	_cleanup_free_ bool *failed = rd_alloc(attach->set->n_fns, sizeof(*failed));
	_cleanup_free_ bool *noted = rd_alloc(attach->set->n_fns, sizeof(*noted));
	enum rd_backend order[RD_BACKEND_COUNT];
	size_t selected = 0;
	int last_error = 0, r;

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
	r = attach->programs.loads ? rd_attach_loads(attach) : 0;
	if (r)
		add_note(attach, -r, "trace", "cannot notice modules that are loaded during the trace", NULL);
	*attach->programs.on = true;
	rd_attach_update_record(attach, RD_HOLD_ON);
	return 0;
}

void rd_attach_add(struct rd_attach *attach, const int *fds, size_t n_links, size_t n_progs)
{
	for (size_t i = 0; i < n_links + n_progs; i++)
		(i < n_links ? rd_attach_keep_link : rd_attach_keep_prog)(attach, fds[i]);
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
		close(attach->links[--attach->n_links]);
	free(attach->links);
	while (attach->n_progs)
		close(attach->progs[--attach->n_progs]);
	free(attach->progs);
	if (attach->btf_fds)
		for (size_t i = 0; i < attach->set->n_modules; i++)
			if (attach->btf_fds[i] >= 0)
				close(attach->btf_fds[i]);
	free(attach->btf_fds);
	if (attach->programs.skel)
		attach->programs.ops->unload(attach->programs.skel);
	rd_programs_forget_types(&attach->programs);
	if (attach->owner_map >= 0)
		close(attach->owner_map);
	free(attach->refusal.log);
	*attach = (struct rd_attach){ .owner_map = -1 };
}
