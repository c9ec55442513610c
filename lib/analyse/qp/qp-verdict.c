// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/qp/qp-verdict.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/qp/qp-log.h"
#include "analyse/qp/qp-verdict-priv.h"
#include "analyse/qp/qp.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/rdma/qp-event.h"

void rd_qp_set(const struct rd_qp_judging *j, const struct rd_qp_one *one, enum rd_qp_verdict_kind kind,
	       enum rd_qp_advice advice, char *why)
{
	one->verdict->kind = kind;
	one->verdict->fix = rd_qp_views_keep(j->views, rd_qp_fix(j, one, advice));
	one->verdict->why = rd_qp_views_keep(j->views, why);
}

/* "for 12.3 s", "for at least 12.3 s", "for 10.0 to 12.3 s" */
static char *age_text(const struct rd_qp_past *past)
{
	switch (past->age_kind) {
	case RD_AGE_EXACT:
		return rd_text("for %.1f s", past->age_seconds.v);
	case RD_AGE_INTERVAL:
		return rd_text("for %.1f to %.1f s", past->age_seconds.v, past->age_max_seconds.v);
	case RD_AGE_AT_LEAST:
		return rd_text("for at least %.1f s", past->age_seconds.v);
	default:
		return rd_text("for an unknown time");
	}
}

static const char *state_name(const struct rd_qp *qp)
{
	const char *name = rd_qp_state_name(qp->state.v);

	return name ? name : "?";
}

static void judge_unreadable(const struct rd_qp_judging *j, const struct rd_qp_one *one)
{
	const struct rd_qp *qp = one->qp;
	const char *name = qp->query_errno ? rd_errno_name(qp->query_errno) : NULL;

	if (qp->query_errno && !rd_qp_query_failed(qp))
		return rd_qp_set(
			j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_DEVICE,
			rd_text("never moved to INIT; the kernel reports the state of such a QP only in its dump, which "
				"ended early"));
	rd_qp_set(j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_DEVICE,
		  rd_text("the device did not report the state of the QP%s%s%s", name ? " (" : "", name ? name : "",
			  name ? ")" : ""));
}

static bool is_for_too_long(const struct rd_qp_judging *j, const struct rd_qp_past *past)
{
	return past->age_kind != RD_AGE_UNKNOWN && past->age_seconds.v >= j->opts->stuck_seconds;
}

/* In RTR for long, without packets. A QP that only receives may stay in RTR for ever, and one that has received does not wait for
 * RTS; another one, whose process moved others to RTS, does. */
static void judge_silent_rtr(const struct rd_qp_judging *j, const struct rd_qp_one *one, const char *age)
{
	const struct rd_qp *qp = one->qp;

	bool received = one->past->best_per_second.known == RD_OK && one->past->best_per_second.v > 0;

	if (!received && qp->type.known == RD_OK && qp->type.v == RD_QPT_RC && qp->proc >= 0 && j->has_rts[qp->proc])
		return rd_qp_set(j, one, RD_QPV_STUCK, RD_QP_DO_STUCK,
				 rd_text("in RTR %s: no modify_qp call moved it to RTS, where other queue pairs of its "
					 "process are",
					 age));
	rd_qp_set(
		j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_RECEIVER,
		rd_text("in RTR %s%s: either a QP that only receives, or one that waits for its program to move it to RTS",
			age, one->past->psn_per_second.known == RD_OK ? ", no packet received" : ""));
}

/* In INIT or RTR: connecting, or stuck. */
static void judge_connecting(const struct rd_qp_judging *j, const struct rd_qp_one *one)
{
	const struct rd_qp_past *past = one->past;
	bool bounded = past->age_max_seconds.known == RD_OK && past->age_max_seconds.v < j->opts->stuck_seconds;
	const char *name = past->last_err ? rd_errno_name(past->last_err) : NULL;
	_cleanup_free_ char *age = age_text(past);
	const char *state = state_name(one->qp);

	if (is_for_too_long(j, past) && name)
		return rd_qp_set(j, one, RD_QPV_STUCK, RD_QP_DO_STUCK,
				 rd_text("in %s %s: the last modify_qp failed with %s", state, age, name));
	if (is_for_too_long(j, past) && one->qp->state.v == RD_QPS_RTR)
		return judge_silent_rtr(j, one, age);
	if (is_for_too_long(j, past))
		return rd_qp_set(j, one, RD_QPV_STUCK, RD_QP_DO_STUCK,
				 rd_text("in %s %s: no modify_qp call moved it to the next state", state, age));
	if (name)
		return rd_qp_set(j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_STUCK,
				 rd_text("in %s %s; modify_qp failed with %s; the program may retry", state, age, name));
	if (bounded)
		return rd_qp_set(j, one, RD_QPV_OK, RD_QP_DO_LATER, rd_text("connecting: in %s %s", state, age));
	rd_qp_set(j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_LATER,
		  rd_text("in %s %s: connecting, or stuck after %.0f s", state, age, j->opts->stuck_seconds));
}

/* It can receive, and moves on to RTS if it is to send. */
static void judge_rtr(const struct rd_qp_judging *j, const struct rd_qp_one *one)
{
	const struct rd_qp *qp = one->qp;
	bool unclear = one->past->psn_fell && one->past->psn_per_second.known != RD_OK;

	if (rd_qp_is_connected_type(qp) && (unclear || rd_qp_is_moving(j, qp, one->past)))
		return rd_qp_judge_ready(j, one);
	if (rd_qp_is_connected_type(qp) && rd_qp_judge_unready(j, one))
		return;
	if (qp->type.known == RD_OK && qp->type.v == RD_QPT_XRC_TGT)
		return rd_qp_set(j, one, RD_QPV_OK, RD_QP_DO_RECEIVER,
				 rd_text("in RTR, the final state of an XRC target QP"));
	judge_connecting(j, one);
}

/* In the interval in which the QP failed, its device counted at least as many exceeded retry counts as failed QPs; otherwise the
 * cause that an earlier sample found. */
static enum rd_qp_cause cause_of(const struct rd_qp_judging *j, const struct rd_qp_one *one)
{
	size_t failed = j->devices[one->qp->dev].failed;

	if (!one->past->fresh || one->past->moved_by_call || one->qp->state.v != RD_QPS_ERR)
		return one->past->cause;
	if (rd_qp_since(j, one->qp->dev, RD_QPC_EXHAUSTED) >= failed)
		return RD_QP_CAUSE_RETRIES;
	if (rd_qp_since(j, one->qp->dev, RD_QPC_RNR_EXHAUSTED) >= failed)
		return RD_QP_CAUSE_RNR;
	return one->past->cause;
}

/* A kernel log line that names the QP is better evidence than counters of the whole device. */
static void judge_logged(const struct rd_qp_judging *j, const struct rd_qp_one *one, const char *age)
{
	const char *line = one->line->text, *status = rd_qp_log_status(line);
	enum rd_qp_cause cause = rd_qp_log_cause(line);

	if (cause == RD_QP_CAUSE_NONE)
		cause = one->verdict->cause;
	rd_qp_set(j, one, cause ? RD_QPV_EXHAUSTED : RD_QPV_FAILED,
		  cause == RD_QP_CAUSE_RNR ? RD_QP_DO_RNR :
		  cause			   ? RD_QP_DO_PEER :
					     RD_QP_DO_CAUSE,
		  rd_text("in %s %s; kernel log: %.160s%s%s%s", state_name(one->qp), age, line,
			  status ? " (IBV_WC_" : "", status ? status : "", status ? ")" : ""));
}

static void judge_by_count(const struct rd_qp_judging *j, const struct rd_qp_one *one, const char *age)
{
	const char *ibdev = j->res->devs[one->qp->dev].name, *state = state_name(one->qp);

	if (one->verdict->cause == RD_QP_CAUSE_RETRIES)
		return rd_qp_set(
			j, one, RD_QPV_EXHAUSTED, RD_QP_DO_PEER,
			rd_text("in %s %s; transport retry count exceeded (IBV_WC_RETRY_EXC_ERR): %s counted it when the QP "
				"failed (device-wide)",
				state, age, ibdev));
	rd_qp_set(
		j, one, RD_QPV_EXHAUSTED, RD_QP_DO_RNR,
		rd_text("in %s %s; RNR retry count exceeded (IBV_WC_RNR_RETRY_EXC_ERR): %s counted it when the QP failed "
			"(device-wide)",
			state, age, ibdev));
}

static void judge_failed(const struct rd_qp_judging *j, const struct rd_qp_one *one)
{
	_cleanup_free_ char *age = age_text(one->past);
	const char *state = state_name(one->qp), *name;

	one->verdict->cause = cause_of(j, one);
	if (one->line)
		return judge_logged(j, one, age);
	if (one->verdict->cause != RD_QP_CAUSE_NONE)
		return judge_by_count(j, one, age);
	if (one->past->moved_by_call)
		return rd_qp_set(j, one, RD_QPV_FLUSHED, RD_QP_DO_PROGRAM,
				 rd_text("in %s %s: its program moved it there; posted work requests were flushed",
					 state, age));
	if (one->past->last_event.known == RD_OK) {
		name = rd_ib_event_name(one->past->last_event.v);
		return rd_qp_set(j, one, RD_QPV_FAILED, RD_QP_DO_CAUSE,
				 rd_text("in %s %s; the device reported %s", state, age,
					 name ? name : "an unknown event"));
	}
	rd_qp_set(j, one, RD_QPV_FAILED, RD_QP_DO_CAUSE, rd_text("in %s %s; cause unknown", state, age));
}

static void judge_drained(const struct rd_qp_judging *j, const struct rd_qp_one *one)
{
	_cleanup_free_ char *age = age_text(one->past);

	if (is_for_too_long(j, one->past))
		return rd_qp_set(j, one, RD_QPV_STUCK, RD_QP_DO_PROGRAM,
				 rd_text("in SQD %s: its program has not resumed the send queue", age));
	rd_qp_set(j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_LATER,
		  rd_text("in SQD %s: its program is draining the send queue", age));
}

static void judge_one(const struct rd_qp_judging *j, const struct rd_qp_one *one)
{
	if (one->qp->state.known != RD_OK || one->qp->dev < 0)
		return judge_unreadable(j, one);
	switch (one->qp->state.v) {
	case RD_QPS_RESET:
		return rd_qp_set(j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_PROGRAM,
				 rd_text("in RESET: created, not used yet"));
	case RD_QPS_INIT:
		return judge_connecting(j, one);
	case RD_QPS_RTR:
		return judge_rtr(j, one);
	case RD_QPS_RTS:
		return rd_qp_judge_ready(j, one);
	case RD_QPS_SQD:
		return judge_drained(j, one);
	case RD_QPS_SQE:
	case RD_QPS_ERR:
		return judge_failed(j, one);
	default:
		return judge_unreadable(j, one);
	}
}

static void count_qp(const struct rd_qp_judging *j, const struct rd_qp *qp, const struct rd_qp_past *past)
{
	struct rd_qp_device *device = &j->devices[qp->dev];
	bool moving = rd_qp_is_moving(j, qp, past), rts = qp->state.v == RD_QPS_RTS;

	if (qp->state.v == RD_QPS_ERR && past->fresh && !past->moved_by_call)
		device->failed++;
	if (!rts && qp->state.v != RD_QPS_RTR)
		return;
	if (!rd_qp_is_connected_type(qp)) {
		device->unrelated += !qp->owner.kernel;
		return;
	}
	if (rts && past->psn_per_second.known != RD_OK)
		device->unclear++;
	else
		++*(moving ? &device->moving : &device->waiting);
	if (past->psn_per_second.known == RD_OK)
		device->packets += past->psn_per_second.v * j->opts->seconds;
	if (rts && past->psn_per_second.known == RD_OK && rd_qp_can_retransmit(qp))
		++*(moving ? &device->senders : &device->stalled);
	if (rts && qp->type.v == RD_QPT_RC && qp->proc >= 0)
		j->has_rts[qp->proc] = true;
}

static void count_devices(const struct rd_qp_judging *j)
{
	for (size_t i = 0; i < j->res->n_qps; i++)
		if (j->res->qps[i].dev >= 0 && j->res->qps[i].state.known == RD_OK)
			count_qp(j, &j->res->qps[i], j->views->v[i].past);
	for (size_t d = 0; d < j->res->n_devs; d++) {
		const struct rd_res_dev *dev = &j->res->devs[d];

		if (dev->used[RD_RES_QP].known == RD_OK && dev->used[RD_RES_QP].v > dev->listed[RD_RES_QP])
			j->devices[d].unlisted = dev->used[RD_RES_QP].v - dev->listed[RD_RES_QP];
		if (j->views->gone)
			j->devices[d].unlisted += j->views->gone[d];
	}
}

/* Where a PSN may have wrapped, the packets between two samples are unknown, not none. */
static void doubt_psns(const struct rd_qp_judging *j)
{
	for (size_t i = 0; i < j->res->n_qps; i++) {
		const struct rd_qp *qp = &j->res->qps[i];
		struct rd_qp_past past = *j->views->v[i].past;

		if (!past.psn_fell || qp->dev < 0 || qp->state.known != RD_OK || !rd_qp_is_stalled(j, qp, &past) ||
		    !rd_qp_may_have_wrapped(j, i))
			continue;
		past.psn_per_second.known = RD_ABSENT;
		rd_qp_views_set_past(j->views, i, &past);
	}
}

static int compare_neighbours(const void *a, const void *b)
{
	const struct rd_neigh *x = *(const struct rd_neigh *const *)a, *y = *(const struct rd_neigh *const *)b;

	return x->v6 != y->v6 ? (int)x->v6 - (int)y->v6 : memcmp(x->addr, y->addr, x->v6 ? 16 : 4);
}

static void sort_neighbours(struct rd_qp_judging *j, const struct rd_neigh **ret)
{
	j->neighs = ret;
	for (size_t i = 0; j->opts->net && i < j->opts->net->n_neighs; i++)
		ret[j->n_neighs++] = &j->opts->net->neighs[i];
	qsort(ret, j->n_neighs, sizeof(*ret), compare_neighbours);
}

void rd_qp_judge(struct rd_qp_views *views, const struct rd_qp_judge *opts)
{
	const struct rd_res *res = views->res;
	_cleanup_free_ struct rd_qp_device *devices = rd_alloc(res->n_devs + 1, sizeof(*devices));
	_cleanup_free_ bool *has_rts = rd_alloc(res->n_procs + 1, sizeof(*has_rts));
	_cleanup_free_ const struct rd_krecord **lines = NULL;
	_cleanup_free_ const struct rd_neigh **neighs =
		rd_alloc((opts->net ? opts->net->n_neighs : 0) + 1, sizeof(*neighs));
	struct rd_qp_judging j = { .views = views, .res = res, .opts = opts, .devices = devices, .has_rts = has_rts };

	if (opts->klog && opts->klog->known == RD_OK)
		lines = rd_qp_log_join(opts->klog, views, opts->mono_ns);
	sort_neighbours(&j, neighs);
	doubt_psns(&j);
	count_devices(&j);
	rd_qp_keep_doubts(&j);
	for (size_t i = 0; i < res->n_qps; i++) {
		const struct rd_qp_past *past = views->v[i].past;
		struct rd_qp_verdict verdict = { .cause = past->cause };
		struct rd_qp_one one = {
			.i = i, .qp = &res->qps[i], .past = past, .line = lines ? lines[i] : NULL, .verdict = &verdict
		};

		judge_one(&j, &one);
		rd_qp_judge_trouble(&j, &one);
		rd_qp_judge_stopped(&j, &one);
		rd_qp_views_set_verdict(views, i, &verdict);
	}
	rd_qp_note_devices(&j);
}
