// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace.h"

#include <errno.h>
#include <fnmatch.h>

int trace_match_functions(const struct rd_fnset *set, const char *glob, bool **ret, struct rd_err *err)
{
	_cleanup_free_ bool *match = rd_alloc(set->n_fns + 1, sizeof(*match));
	size_t n = 0;

	for (size_t i = 0; i < set->n_fns; i++)
		n += match[i] = !fnmatch(glob, set->fns[i].name, 0);
	if (!n) {
		rd_err_set(err, ENOENT, "--function", "no function of the loaded RDMA modules matches '%s'", glob);
		rd_err_hint(err, RD_PROGRAM " trace-errno --list");
		return -ENOENT;
	}
	*ret = RD_TAKE(match);
	return 0;
}

/* Functions without a hook never appear in a chain: a filter that matches only those would show nothing. */
static int check_hooked(const struct rd_fnset *set, const bool *match, const char *glob, struct rd_err *err)
{
	const struct rd_fn *left_out = NULL;

	for (size_t i = 0; i < set->n_fns; i++) {
		if (match[i] && set->fns[i].selected)
			return 0;
		if (match[i] && !left_out)
			left_out = &set->fns[i];
	}
	rd_err_set(err, ENOENT, "--function", "%s is not traced (%s: %s)", left_out ? left_out->name : glob,
		   left_out ? rd_rule_name(left_out->rule) : "?", left_out ? rd_rule_reason(left_out->rule) : "?");
	rd_err_hint(err, RD_PROGRAM " trace-errno --list --function '%s'", glob);
	return -ENOENT;
}

static int filter_device(struct trace *t, struct rd_session_opts *ret, struct rd_err *err)
{
	const char *device = t->opts->device;
	char known[200];

	ret->devs[0] = rd_trace_facts_dev(t->facts, device);
	if (!ret->devs[0]) {
		rd_trace_facts_list(t->facts, known, sizeof(known));
		return rd_err_set(err, ENODEV, "--device", "no RDMA device '%s' (available: %s)", device, known);
	}
	ret->n_devs = 1;
	ret->ibdev = device;
	return 0;
}

static int filter_pid(struct trace *t, struct rd_session_opts *ret, struct rd_err *err)
{
	_cleanup_free_ char *comm = NULL;

	if (rd_read_textf(t->ctx->source, &comm, NULL, "/proc/%u/comm", t->opts->pid))
		return rd_err_set(err, ESRCH, "--pid", "no process %u", t->opts->pid);
	ret->pid = t->opts->pid;
	return 0;
}

int trace_filters(struct trace *t, struct rd_session_opts *ret, bool **match, struct rd_err *err)
{
	const struct trace_opts *o = t->opts;
	int r = 0;

	/* "auto" does not parse, and leaves RD_BACKEND_NONE. */
	if (o->backend)
		rd_backend_parse(o->backend, &ret->backend);
	ret->seconds = o->duration;
	ret->ring_bytes = (uint32_t)o->ring;
	ret->kernel_stack = o->stack && !o->summary;
	ret->user_stack = o->user_stack && !o->summary;
	ret->comm = o->comm;
	ret->err = o->err;
	if (o->pid)
		r = filter_pid(t, ret, err);
	if (!r && o->cgroup)
		r = rd_trace_facts_cgroup(t->facts, o->cgroup, &ret->cgroup_id, err);
	if (!r && o->device)
		r = filter_device(t, ret, err);
	if (!r && o->function)
		r = trace_match_functions(&t->set, o->function, match, err);
	if (!r && o->function)
		r = check_hooked(&t->set, *match, o->function, err);
	ret->fn_match = *match;
	return r;
}
