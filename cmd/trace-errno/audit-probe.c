// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "probe.h"
#include "trace.h"

/* Failures of the process that calls, in order. */
struct seen {
	struct event {
		int err; /* positive */
		char *verb, *origin, *module;
		bool exact;
	} * v;
	size_t n, cap;
};

static void take_event(void *arg, struct trace *t, struct rd_event *ev)
{
	struct seen *seen = arg;
	struct event *to;

	if (ev->origin < 0 || (size_t)ev->origin >= t->set.n_fns)
		return;
	to = RD_ADD(seen->v, seen->n, seen->cap);
	*to = (struct event){
		.err = -ev->err,
		.verb = rd_dup_if(ev->verb),
		.origin = rd_dup(t->set.fns[ev->origin].name),
		.module = rd_dup(t->set.modules[t->set.fns[ev->origin].module].name),
		.exact = ev->origin_exact,
	};
}

/* Each call that failed is the next event with its errno: the calls are made one after the other. */
static void match(struct seen *seen, const struct probe_result *results, size_t n, struct rd_audit_probe *ret)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		struct rd_audit_probe *probe = &ret[results[i].probe % PROBES];
		size_t next = at;

		probe->err = results[i].err;
		while (next < seen->n && seen->v[next].err != results[i].err)
			next++;
		if (results[i].err <= 0 || next == seen->n)
			continue;
		probe->seen = true;
		probe->exact = seen->v[next].exact;
		probe->verb = RD_TAKE(seen->v[next].verb);
		probe->origin = RD_TAKE(seen->v[next].origin);
		probe->module = RD_TAKE(seen->v[next].module);
		at = next + 1;
	}
}

static void seen_deinit(struct seen *seen)
{
	for (size_t i = 0; i < seen->n; i++) {
		free(seen->v[i].verb);
		free(seen->v[i].origin);
		free(seen->v[i].module);
	}
	free(seen->v);
}

/* The device of --device, or the first of this host. Caller frees. */
static char *choose_device(struct rd_ctx *ctx, const char *wanted, struct rd_err *err)
{
	_cleanup_names_ struct rd_names names = { 0 };

	if (wanted)
		return rd_dup(wanted);
	if (rd_list_dir(ctx->source, "/sys/class/infiniband", &names, err))
		return NULL;
	if (!names.n) {
		rd_err_set(err, ENODEV, "/sys/class/infiniband", "no RDMA device to make calls on");
		rd_err_hint(err, "rdma link add rxe0 type rxe netdev eth0 makes one of soft-RoCE");
		return NULL;
	}
	return rd_dup(names.v[0]);
}

static int results_of(int fd, struct probe_result *ret)
{
	ssize_t n = read(fd, ret, PROBES * sizeof(*ret));

	return n < 0 ? 0 : (int)(n / (ssize_t)sizeof(*ret));
}

int audit_probe(struct rd_ctx *ctx, struct rd_fnset *set, const char *wanted, struct rd_audit_probe *ret,
		struct rd_err *err)
{
	_cleanup_free_ char *device = choose_device(ctx, wanted, err);
	/* No causes are looked for, and nothing is dropped. */
	const struct trace_opts opts = { .summary = true, .benign = true };
	_cleanup_(seen_deinit) struct seen seen = { 0 };
	struct trace t = {
		.ctx = ctx, .opts = &opts, .signals = -1, .child = TRACE_CHILD_INIT, .sink = take_event, .sink_arg = &seen
	};
	struct probe_result results[PROBES] = { 0 };
	char path[64], *argv[] = { "/proc/self/exe", "probe-calls", device, path, NULL };
	int fds[2], r;

	if (!device)
		return -err->code;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return rd_err_set(err, errno, "pipe", "cannot make calls");
	/* The process that calls inherits no descriptors. */
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fds[1]);
	for (size_t i = 0; i < PROBES; i++)
		ret[i] = (struct rd_audit_probe){ .name = rd_dup(probe_names[i]), .err = -1 };
	t.set = *set;
	t.facts = rd_trace_facts_create(ctx->source);
	r = trace_run(&t, argv, err);
	*set = t.set;
	t.set = (struct rd_fnset){ 0 };
	if (!r && (!WIFEXITED(t.child.status) || WEXITSTATUS(t.child.status)))
		r = rd_err_set(err, EIO, device, "the calls could not be made");
	if (!r)
		match(&seen, results, (size_t)results_of(fds[0], results), ret);
	trace_deinit(&t);
	close(fds[0]);
	close(fds[1]);
	return r;
}
