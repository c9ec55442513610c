// SPDX-License-Identifier: GPL-2.0-or-later
/* Attaches the hooks: each function with the first backend that can hook it. */
#include "trace/attach/attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "base/memory.h"
#include "base/number.h"
#include "source/shared/source.h"

/* If the kernel refuses a batch, it is split in halves until the functions that cannot be hooked are found. */
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

static int read_kprobe_type(void)
{
	char text[16];
	const char *at = text;
	uint32_t type;

	rd_read_own("/sys/bus/event_source/devices/kprobe/type", text, sizeof(text));
	return rd_take_u32(&at, RD_DECIMAL, INT32_MAX, &type) < 0 ? -1 : (int)type;
}

/* "none voluntary full (lazy)": the preemption mode is in parentheses. Only kernels built with PREEMPT_DYNAMIC have the file; for
 * others the version of the build tells. */
static bool read_preemptible(void)
{
	struct utsname build;
	char text[128];

	if (rd_read_own("/sys/kernel/debug/sched/preempt", text, sizeof(text)) == 0)
		return uname(&build) < 0 || strstr(build.version, "PREEMPT");
	return !strstr(text, "(none)") && !strstr(text, "(voluntary)");
}

#define LOCKED_DOWN \
	"the kernel is locked down (lockdown=confidentiality), and lets no program read its memory: boot with lockdown=integrity"

#define NO_FILES "the limit of %lu open files is too low to attach"
#define FILES_LEAST 64 /* 11 programs, 9 maps, and what is open already */
#define UNKNOWN_THEN ": verbs, devices, QP numbers and most causes are unknown"

/* "none [integrity] confidentiality"; not readable without securityfs. */
static bool is_confidential(void)
{
	char text[128];

	rd_read_own("/sys/kernel/security/lockdown", text, sizeof(text));
	return strstr(text, "[confidentiality]");
}

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
	char object[64];

	if (is_confidential()) {
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
	struct rlimit files;
	int r = -ENOTSUP, refused = 0;

	*attach = (struct rd_attach){ .set = set, .opts = opts, .backends = backends, .notes = notes, .owner_map = -1 };
	attach->programs.ops = opts->qp ? &rd_programs_qp : &rd_programs_errno;
	attach->kprobe_type = read_kprobe_type();
	attach->preemptible = read_preemptible();
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
	if (attach->programs.skel && !r)
		r = rd_attach_bind_templates(attach);
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
	int r = kinds[b->backend](b->attach, b->hook, fns, n);

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

/* The number of functions in one call of the backend: a multi link covers functions of one BTF object (fexit) or of all
 * (kprobe); the other backends hook one function at a time. */
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
	_cleanup_free_ uint32_t *ours = rd_alloc(n, sizeof(*ours));
	struct rd_attach *attach = b->attach;
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (!b->failed[fns[i]] &&
		    attach->programs.ops->applies(attach, &attach->set->fns[fns[i]], b->backend, b->hook))
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

/* Lets the programs of a new trace run. */
static void switch_on(struct rd_attach *attach)
{
	int r = attach->programs.loads ? rd_attach_loads(attach) : 0;

	if (r)
		add_note(attach, -r, "trace", "cannot notice modules that are loaded during the trace", NULL);
	*attach->programs.on = true;
	rd_attach_update_record(attach, RD_HOLD_ON);
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
	rd_attach_choose(attach, selected, order, reason);
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
	if (!attach->opts->share)
		switch_on(attach);
	return 0;
}

void rd_attach_add(struct rd_attach *attach, const int *fds, size_t n_links, size_t n_progs)
{
	for (size_t i = 0; i < n_links; i++)
		rd_attach_keep_link(attach, fds[i]);
	for (size_t i = 0; i < n_progs; i++)
		rd_attach_keep_prog(attach, fds[n_links + i]);
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
