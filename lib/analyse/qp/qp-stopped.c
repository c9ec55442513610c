// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/qp/qp-stopped.h"

#include <ctype.h>
#include <string.h>

#include "analyse/qp/qp-verdict-priv.h"
#include "analyse/qp/qp.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

#define PACKETS_MOVING 2 /* in the interval: more than qp-verdict-ready.c takes for none */

void rd_qp_procs_that_may_stop(const struct rd_qp_views *views, double seconds, bool *ret)
{
	const struct rd_res *res = views->res;

	memset(ret, 0, res->n_procs * sizeof(*ret));
	for (size_t i = 0; i < res->n_qps; i++) {
		const struct rd_qp *qp = &res->qps[i];
		const struct rd_qp_past *past = views->v[i].past;
		bool moving = past->psn_per_second.known == RD_OK && past->psn_per_second.v * seconds >= PACKETS_MOVING;

		if (qp->proc >= 0 && !moving && rd_qp_is_connected_type(qp))
			ret[qp->proc] = true;
	}
}

static bool is_frozen(const struct rd_proc *proc)
{
	return proc->frozen.known == RD_OK && proc->frozen.v;
}

static bool is_stopped(const struct rd_proc *proc)
{
	if (is_frozen(proc))
		return true;
	return proc->state.known == RD_OK && (proc->state.v == 'T' || proc->state.v == 't');
}

/* "process 235 (python)". It is part of a text that is pasted into a shell: no names with characters that one interprets. */
static char *name_of(const struct rd_proc *proc)
{
	for (const char *at = proc->comm; at && *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("._-:/ ", *at))
			return rd_text("process %u", proc->pid);
	return proc->comm && *proc->comm ? rd_text("process %u (%s)", proc->pid, proc->comm) :
					   rd_text("process %u", proc->pid);
}

/* A debugger would wait for a frozen process without end: without the lines that start one. Caller frees. */
static char *without_debugger(const char *fix)
{
	struct rd_buf ret = { 0 };

	for (const char *at = fix; *at;) {
		size_t n = strcspn(at, "\n"), whole = n + (at[n] == '\n');

		if (strncmp(at, "gdb ", 4) != 0)
			rd_buf_add(&ret, at, whole);
		at += whole;
	}
	return ret.data ? ret.data : rd_dup("");
}

/* Adds a stopped process to the verdict: what stopped it, and what to do, before all else. */
static void add_stopped(const struct rd_qp_judging *j, const struct rd_qp_one *one, const struct rd_proc *proc,
			const char *whose)
{
	_cleanup_free_ char *name = name_of(proc), *by = NULL, *fix = NULL, *rest = NULL;
	struct rd_qp_verdict *verdict = one->verdict;

	rest = is_frozen(proc) ? without_debugger(verdict->fix) : rd_dup(verdict->fix);
	if (is_frozen(proc)) {
		by = rd_dup("");
		fix = rd_text(
			"cat /proc/%u/cgroup\n# %s is in a frozen control group: write 0 to cgroup.freeze of that, or of one above "
			"it\n# not if a scheduler suspended its job",
			proc->pid, name);
	} else if (proc->state.v == 'T') {
		by = rd_dup("");
		fix = rd_text("kill -CONT %u\n# %s is stopped\n# no kill -CONT if a scheduler suspended its job",
			      proc->pid, name);
	} else if (proc->tracer.known == RD_OK && proc->tracer.v) {
		by = rd_text(" by its tracer, process %u", proc->tracer.v);
		fix = rd_text("ps -p %u\n# %s is stopped%s: detach it", proc->tracer.v, name, by);
	} else {
		by = rd_dup(" by its tracer");
		fix = rd_text("grep TracerPid /proc/%u/status\n# %s is stopped%s: detach it", proc->pid, name, by);
	}
	verdict->fix = rd_qp_views_keep(j->views, rd_text("%s\n%s", fix, rest));
	verdict->why = rd_qp_views_keep(j->views, rd_text("%s; %s %s is %s%s", verdict->why, whose, name,
							  is_frozen(proc) ? "frozen" : "stopped", by));
}

/* Connected or connecting, and neither proof nor a failure explains why it has no packets. */
static bool may_wait(const struct rd_qp_judging *j, const struct rd_qp_one *one)
{
	const struct rd_qp *qp = one->qp;

	return qp->dev >= 0 && qp->state.known == RD_OK && rd_qp_is_connected_type(qp) && qp->state.v >= RD_QPS_INIT &&
	       qp->state.v <= RD_QPS_SQD && one->verdict->kind != RD_QPV_CUT_OFF && !rd_qp_is_moving(j, qp, one->past);
}

void rd_qp_judge_stopped(const struct rd_qp_judging *j, const struct rd_qp_one *one)
{
	int own = one->qp->proc, peer = -1, dev;
	size_t at;

	if (!may_wait(j, one))
		return;
	rd_qp_local_peer(j, one, &dev, &at);
	if (dev >= 0 && at < j->res->n_qps)
		peer = j->res->qps[at].proc;
	if (peer >= 0 && peer != own && is_stopped(&j->res->procs[peer]))
		add_stopped(j, one, &j->res->procs[peer], "of its remote QP,");
	if (own >= 0 && is_stopped(&j->res->procs[own]))
		add_stopped(j, one, &j->res->procs[own], "its");
}
