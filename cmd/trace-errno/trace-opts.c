// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/number.h"
#include "cmd/opts.h"
#include "trace.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RING_MIN (4 * 1024u)
#define RING_MAX (1024u * 1024 * 1024)
#define COMM_MAX 15 /* the kernel keeps no more of a thread's name */

static int parse_seconds(const char *option, const char *arg, double *ret, struct rd_err *err)
{
	if (rd_parse_real(arg, 0, 1e8, ret) < 0 || *ret == 0)
		return rd_err_set(err, EINVAL, option, "\"%s\" is not a number of seconds", arg);
	return 0;
}

/* Seconds, or 0 for no limit. */
static int parse_unread(const char *arg, double *ret, struct rd_err *err)
{
	*ret = 0;
	return strcmp(arg, "0") ? parse_seconds("--max-unread", arg, ret, err) : 0;
}

/* Of one processor; more than one is possible, as the programs run on all. */
static int parse_percent(const char *arg, double *ret, struct rd_err *err)
{
	const char *at = arg;
	double v;

	if (rd_take_real(&at, &v) < 0 || (*at && strcmp(at, "%") != 0) || v == 0 || v > 1e6)
		return rd_err_set(err, EINVAL, "--max-cpu", "\"%s\" is no percentage of one processor above 0", arg);
	*ret = v;
	return 0;
}

/* The kernel takes powers of two; what lies between is rounded up. */
static int parse_size(const char *arg, uint64_t *ret, struct rd_err *err)
{
	uint64_t v = 0, unit = 1, size = RING_MIN;
	const char *end = arg;

	rd_take_uint(&end, RD_DECIMAL, RING_MAX, &v);
	if (v && (*end == 'k' || *end == 'K'))
		unit = 1024, end++;
	else if (v && (*end == 'm' || *end == 'M'))
		unit = 1024 * 1024, end++;
	if (*end || !v || v > RING_MAX / unit)
		return rd_err_set(err, EINVAL, "--buffer", "\"%s\" is not a size from 4k to 1024m", arg);
	while (size < v * unit)
		size *= 2;
	*ret = size;
	return 0;
}

static int parse_errno(const char *arg, int *ret, struct rd_err *err)
{
	int code = rd_errno_parse(arg);

	if (code <= 0 || code > 4095)
		return rd_err_set(err, EINVAL, "--errno", "\"%s\" is no errno; give a name such as ENOMEM, or a number",
				  arg);
	*ret = code;
	return 0;
}

static int parse_backend(const char *arg, enum rd_backend *ret, struct rd_err *err)
{
	if (!strcmp(arg, "auto")) {
		*ret = RD_BACKEND_NONE;
		return 0;
	}
	if (rd_backend_parse(arg, ret) || *ret == RD_BACKEND_NONE)
		return rd_err_set(err, EINVAL, "--backend",
				  "\"%s\" is none of auto, fexit, fexit-multi, kprobe-multi, kprobe", arg);
	return 0;
}

static bool is(const struct rd_opt *opt, const char *name)
{
	return !strcmp(opt->name, name);
}

/* Those that only say yes, and those whose text is looked at later. */
static bool take_plain(struct trace_opts *o, const struct rd_opt *opt, const char *arg)
{
	const struct {
		const char *name;
		bool *flag;
		const char **text;
	} plain[] = {
		{ "keep-privs", &o->keep_privs, NULL },
		{ "benign", &o->benign, NULL },
		{ "stack", &o->stack, NULL },
		{ "user-stack", &o->user_stack, NULL },
		{ "summary", &o->summary, NULL },
		{ "list", &o->list, NULL },
		{ "status", &o->status, NULL },
		{ "detach-all", &o->detach_all, NULL },
		{ "run-stats", &o->run_stats, NULL },
		{ "user", NULL, &o->user },
		{ "comm", NULL, &o->comm },
		{ "cgroup", NULL, &o->cgroup },
		{ "device", NULL, &o->device },
		{ "function", NULL, &o->function },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(plain); i++) {
		if (!is(opt, plain[i].name))
			continue;
		if (plain[i].flag)
			*plain[i].flag = true;
		else
			*plain[i].text = arg;
		return true;
	}
	return false;
}

int trace_option(struct rd_ctx *ctx, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct trace_opts *o = ctx->state;
	unsigned long v = 0;
	int r = 0;

	if (take_plain(o, opt, arg))
		return 0;
	if (is(opt, "duration"))
		return parse_seconds("--duration", arg, &o->duration, err);
	if (is(opt, "events"))
		return rd_opt_number("--events", arg, 1, ULONG_MAX, &o->events, err);
	if (is(opt, "max-hooks"))
		return rd_opt_number("--max-hooks", arg, 1, RD_COUNT_MAX, &o->max_hooks, err);
	if (is(opt, "max-cpu"))
		return parse_percent(arg, &o->max_cpu, err);
	if (is(opt, "max-unread")) {
		o->max_unread_given = true;
		return parse_unread(arg, &o->max_unread, err);
	}
	if (is(opt, "errno"))
		return parse_errno(arg, &o->err, err);
	if (is(opt, "backend"))
		return parse_backend(arg, &o->backend, err);
	if (is(opt, "buffer"))
		return parse_size(arg, &o->ring, err);
	r = rd_opt_number("--pid", arg, 1, RD_PID_MAX, &v, err);
	o->pid = (uint32_t)v;
	return r;
}

int trace_opts_check(const struct trace_opts *o, bool metrics, int argc, struct rd_err *err)
{
	if (metrics && !o->summary) {
		rd_err_set(err, EINVAL, "--openmetrics, --textfile",
			   "a stream of events has no metrics, their counts have");
		rd_err_hint(err, "--summary");
		return -EINVAL;
	}
	if (o->user && !argc)
		return rd_err_set(err, EINVAL, "--user", "there is no COMMAND to run as %s", o->user);
	if (o->keep_privs && !o->user)
		return rd_err_set(err, EINVAL, "--keep-privs", "without --user, COMMAND keeps them in any case");
	if (o->status || o->detach_all) {
		if (argc || o->summary || o->list || (o->status && o->detach_all))
			return rd_err_set(err, EINVAL, o->detach_all ? "--detach-all" : "--status",
					  "traces nothing, and goes with no other option of this command");
		return 0;
	}
	if (o->list && (argc || o->summary))
		return rd_err_set(err, EINVAL, "--list", "traces nothing; it goes with --function only");
	if (o->comm && (!*o->comm || strlen(o->comm) > COMM_MAX))
		return rd_err_set(err, EINVAL, "--comm", "\"%s\" cannot be a thread's name: they have 1 to %d bytes",
				  o->comm, COMM_MAX);
	if (o->function && !*o->function)
		return rd_err_set(err, EINVAL, "--function", "the pattern is empty");
	return 0;
}
