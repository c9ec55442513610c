// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/qp/qp-verdict.h"

#include "analyse/qp/qp-log.h"
#include "analyse/qp/qp.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/rdma/qp-event.h"

#define NEXT_STUCK \
	"rdmadiag trace-errno shows why a transition fails; rdmadiag qp-state at the other end, what it waits for"
#define NEXT_PATH \
	"rdmadiag counters -i 1 on both ends; rdmadiag topo-check: is the path to that peer the one that is broken?"
#define NEXT_CAUSE "dmesg at both ends; rdmadiag qp-state --trace while it is done again"
#define NEXT_RNR "the program at the other end posts no receives: rdmadiag qp-state --by pid there, then its stack"
#define NEXT_LOOK_TWICE "rdmadiag qp-state -i 1 -c 2"
#define NEXT_PROGRAM "the log of the program that owns it; rdmadiag qp-state at the other end"
#define NEXT_DEVICE "dmesg: does the device still answer its driver? devlink health show"
#define NEXT_IDLE                                                                                                 \
	"if its job hangs, nobody has posted anything here: the stack of the program that owns it (gdb -p PID); " \
	"rdmadiag qp-state -i 1 -c 2 at the other end"
#define NEXT_WORKS "rdmadiag counters -i 1: what its port carries; nothing needs to be done"
#define NEXT_OTHER_END "rdmadiag qp-state at the other end, which does the sending"
#define NEXT_LATER "rdmadiag qp-state -i 5"

/* More than this in one interval is progress: a packet that is sent again moves the number, too (soft-RoCE of 6.1). */
#define PACKETS_STILL 1.5

/* Of one device, between the two looks. */
struct device {
	size_t failed; /* queue pairs that came into ERR */
	size_t still;  /* of those in RTS that can send again, the ones of which no packet moved */
	size_t others; /* the ones of which packets moved, or of which that is not known */
};

struct judge {
	const struct rd_res *res;
	const struct rd_qp_judge *opts;
	struct device *devices;
};

/* The one that is judged. */
struct one {
	const struct rd_qp *qp;
	const struct rd_qp_past *past;
	const struct rd_krecord *line; /* of the log; NULL: none is about it */
	struct rd_qp_verdict *verdict;
};

static bool stands_still(const struct judge *j, const struct rd_qp_past *past)
{
	return past->psn_per_second.known == RD_OK && past->psn_per_second.v * j->opts->seconds < PACKETS_STILL;
}

static uint64_t since(const struct judge *j, const struct rd_qp *qp, enum rd_qp_count what)
{
	const struct rd_qp_counts *counts = j->opts->since ? &j->opts->since[qp->dev] : NULL;

	return counts && counts->v[what].known == RD_OK ? counts->v[what].v : 0;
}

/* Takes `why`. */
static void say(const struct one *one, enum rd_qp_verdict_kind kind, const char *fix, char *why)
{
	free(one->verdict->why);
	one->verdict->kind = kind;
	one->verdict->fix = fix;
	one->verdict->why = why;
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
		return rd_text("since nobody knows when");
	}
}

static const char *state_name(const struct rd_qp *qp)
{
	const char *name = rd_qp_state_name(qp->state.v);

	return name ? name : "?";
}

static void judge_unreadable(const struct one *one)
{
	const struct rd_qp *qp = one->qp;
	const char *name = qp->query_errno ? rd_errno_name(qp->query_errno) : NULL;

	if (qp->query_errno && !rd_qp_query_failed(qp))
		return say(
			one, RD_QPV_CANNOT_TELL, NEXT_DEVICE,
			rd_text("it was never moved to INIT; the kernel shows the state of such in its list only, which "
				"broke off"));
	say(one, RD_QPV_CANNOT_TELL, NEXT_DEVICE,
	    rd_text("its device did not say what state it is in%s%s%s", name ? " (" : "", name ? name : "",
		    name ? ")" : ""));
}

static bool is_for_too_long(const struct judge *j, const struct rd_qp_past *past)
{
	return past->age_kind != RD_AGE_UNKNOWN && past->age_seconds.v >= j->opts->stuck_seconds;
}

/* On its way to RTS, or not. */
static void judge_connecting(const struct judge *j, const struct one *one)
{
	const struct rd_qp *qp = one->qp;
	const struct rd_qp_past *past = one->past;
	bool bounded = past->age_max_seconds.known == RD_OK && past->age_max_seconds.v < j->opts->stuck_seconds;
	const char *name = past->last_err ? rd_errno_name(past->last_err) : NULL;
	_cleanup_free_ char *age = age_text(past);
	const char *state = state_name(qp);

	if (qp->state.v == RD_QPS_RTR && qp->type.known == RD_OK && qp->type.v == RD_QPT_XRC_TGT)
		return say(one, RD_QPV_OK, NEXT_OTHER_END, rd_text("in RTR, as the target of an XRC connection stays"));
	if (is_for_too_long(j, past) && name)
		return say(one, RD_QPV_STUCK, NEXT_STUCK,
			   rd_text("in %s %s: modify_qp last failed with %s", state, age, name));
	if (is_for_too_long(j, past))
		return say(one, RD_QPV_STUCK, NEXT_STUCK,
			   rd_text("in %s %s: nobody has moved it on%s", state, age,
				   qp->state.v == RD_QPS_RTR ? " (one that only receives may stay so)" : ""));
	if (name)
		return say(one, RD_QPV_CANNOT_TELL, NEXT_STUCK,
			   rd_text("in %s %s; modify_qp failed with %s, and may be tried again", state, age, name));
	if (bounded)
		return say(one, RD_QPV_OK, NEXT_LATER, rd_text("on its way: in %s %s", state, age));
	say(one, RD_QPV_CANNOT_TELL, NEXT_LATER,
	    rd_text("in %s %s: whether it is stuck shows after %.0f s", state, age, j->opts->stuck_seconds));
}

/* In the interval in which it failed its device counted that as many gave up; else what an earlier look found stands. */
static enum rd_qp_cause cause_of(const struct judge *j, const struct one *one)
{
	size_t failed = j->devices[one->qp->dev].failed;

	if (!one->past->fresh || one->past->moved_by_call || one->qp->state.v != RD_QPS_ERR)
		return one->past->cause;
	if (since(j, one->qp, RD_QPC_EXHAUSTED) >= failed)
		return RD_QP_CAUSE_RETRIES;
	if (since(j, one->qp, RD_QPC_RNR_EXHAUSTED) >= failed)
		return RD_QP_CAUSE_RNR;
	return one->past->cause;
}

/* A line of its own says more than what its device counts. */
static void judge_logged(const struct one *one, const char *age)
{
	const char *line = one->line->text, *status = rd_qp_log_status(line);
	enum rd_qp_cause cause = rd_qp_log_cause(line);

	if (cause == RD_QP_CAUSE_NONE)
		cause = one->verdict->cause;
	say(one, cause ? RD_QPV_EXHAUSTED : RD_QPV_FAILED,
	    cause == RD_QP_CAUSE_RNR ? NEXT_RNR :
	    cause		     ? NEXT_PATH :
				       NEXT_CAUSE,
	    rd_text("in %s %s; kernel log: %.160s%s%s%s", state_name(one->qp), age, line, status ? " (" : "",
		    status ? status : "", status ? ")" : ""));
}

static void judge_by_count(const struct judge *j, const struct one *one, const char *age)
{
	const char *ibdev = j->res->devs[one->qp->dev].name, *state = state_name(one->qp);

	if (one->verdict->cause == RD_QP_CAUSE_RETRIES)
		return say(one, RD_QPV_EXHAUSTED, NEXT_PATH,
			   rd_text("in %s %s; when it failed, %s counted that it gave up sending again (device-wide)",
				   state, age, ibdev));
	say(one, RD_QPV_EXHAUSTED, NEXT_RNR,
	    rd_text("in %s %s; when it failed, %s counted that it gave up on a receiver that was not ready "
		    "(device-wide)",
		    state, age, ibdev));
}

static void judge_failed(const struct judge *j, const struct one *one)
{
	_cleanup_free_ char *age = age_text(one->past);
	const char *state = state_name(one->qp), *name;

	one->verdict->cause = cause_of(j, one);
	if (one->line)
		return judge_logged(one, age);
	if (one->verdict->cause != RD_QP_CAUSE_NONE)
		return judge_by_count(j, one, age);
	if (one->past->moved_by_call)
		return say(one, RD_QPV_FLUSHED, NEXT_PROGRAM,
			   rd_text("its program moved it to %s itself (%s): what was posted was flushed", state, age));
	if (one->past->last_event.known == RD_OK) {
		name = rd_ib_event_name(one->past->last_event.v);
		return say(one, RD_QPV_FAILED, NEXT_CAUSE,
			   rd_text("in %s %s; the device reported %s", state, age, name ? name : "an event of no name"));
	}
	say(one, RD_QPV_FAILED, NEXT_CAUSE, rd_text("in %s %s; what brought it there was not seen", state, age));
}

/* UC knows no acknowledgement: what is lost is lost. */
static bool can_send_again(const struct rd_qp *qp)
{
	return rd_qp_is_connected_type(qp) && qp->type.v != RD_QPT_UC;
}

static bool is_counted(const struct judge *j, const struct rd_qp *qp, enum rd_qp_count what)
{
	return j->opts->since && j->opts->since[qp->dev].v[what].known == RD_OK;
}

/* Its device sent again, while no packet of this one moved. */
static void judge_retrying(const struct judge *j, const struct one *one, uint64_t retries, uint64_t rnr)
{
	const struct device *device = &j->devices[one->qp->dev];
	size_t meant = device->still + device->others + device->failed;
	const char *ibdev = j->res->devs[one->qp->dev].name;
	double s = j->opts->seconds;

	/* What moves may be what was lost and sent again, too. */
	if (meant > 1)
		return say(
			one, RD_QPV_CANNOT_TELL, NEXT_PATH,
			rd_text("no packet in %.1f s; %s sent again in that time, for this or another of its %zu queue pairs",
				s, ibdev, meant));
	if (rnr)
		return say(
			one, RD_QPV_RETRYING, NEXT_RNR,
			rd_text("no packet in %.1f s; %s was told %llu times that the receiver is not ready (device-wide)",
				s, ibdev, (unsigned long long)rnr));
	say(one, RD_QPV_RETRYING, NEXT_PATH,
	    rd_text("no packet in %.1f s; %s sent again %llu times in that time (device-wide)", s, ibdev,
		    (unsigned long long)retries));
}

/* No packet has moved: nothing to do, or nothing gets through? */
static void judge_still(const struct judge *j, const struct one *one)
{
	uint64_t retries = since(j, one->qp, RD_QPC_RETRIES), rnr = since(j, one->qp, RD_QPC_RNR);
	const char *ibdev = j->res->devs[one->qp->dev].name;
	double s = j->opts->seconds;

	if (!can_send_again(one->qp))
		return say(one, RD_QPV_IDLE, NEXT_IDLE,
			   rd_text("no packet in %.1f s; a queue pair of UC sends nothing again", s));
	if (!is_counted(j, one->qp, RD_QPC_RETRIES))
		return say(one, RD_QPV_CANNOT_TELL, NEXT_PATH,
			   rd_text("no packet in %.1f s, and what %s sends again was not counted", s, ibdev));
	if (!retries && !rnr)
		return say(one, RD_QPV_IDLE, NEXT_IDLE,
			   rd_text("no packet in %.1f s, and %s sent nothing again", s, ibdev));
	judge_retrying(j, one, retries, rnr);
}

static void judge_ready(const struct judge *j, const struct one *one)
{
	if (!rd_qp_is_connected_type(one->qp))
		return say(one, RD_QPV_OK, NEXT_WORKS, rd_text("in RTS; it has no connection that could fail"));
	if (one->past->psn_per_second.known != RD_OK)
		return say(one, RD_QPV_CANNOT_TELL, NEXT_LOOK_TWICE,
			   rd_text("in RTS; one look does not show whether packets move"));
	if (!stands_still(j, one->past))
		return say(one, RD_QPV_OK, NEXT_WORKS, rd_text("%.3g packets a second", one->past->psn_per_second.v));
	judge_still(j, one);
}

static void judge_drained(const struct judge *j, const struct one *one)
{
	_cleanup_free_ char *age = age_text(one->past);

	if (is_for_too_long(j, one->past))
		return say(one, RD_QPV_STUCK, NEXT_PROGRAM,
			   rd_text("in SQD %s: its program holds the send queue back", age));
	say(one, RD_QPV_CANNOT_TELL, NEXT_LATER, rd_text("in SQD %s: its program drains the send queue", age));
}

static void judge_one(const struct judge *j, const struct one *one)
{
	if (one->qp->state.known != RD_OK || one->qp->dev < 0)
		return judge_unreadable(one);
	switch (one->qp->state.v) {
	case RD_QPS_RESET:
		return say(one, RD_QPV_CANNOT_TELL, NEXT_PROGRAM,
			   rd_text("in RESET: it was made, and not yet put to use"));
	case RD_QPS_INIT:
	case RD_QPS_RTR:
		return judge_connecting(j, one);
	case RD_QPS_RTS:
		return judge_ready(j, one);
	case RD_QPS_SQD:
		return judge_drained(j, one);
	case RD_QPS_SQE:
	case RD_QPS_ERR:
		return judge_failed(j, one);
	default:
		return judge_unreadable(one);
	}
}

static void survey(struct judge *j, const struct rd_qp_views *views)
{
	for (size_t i = 0; i < j->res->n_qps; i++) {
		const struct rd_qp_past *past = &views->v[i].past;
		const struct rd_qp *qp = &j->res->qps[i];

		if (qp->dev < 0 || qp->state.known != RD_OK)
			continue;
		if (qp->state.v == RD_QPS_ERR && past->fresh && !past->moved_by_call)
			j->devices[qp->dev].failed++;
		if (qp->state.v == RD_QPS_RTS && can_send_again(qp))
			++*(stands_still(j, past) ? &j->devices[qp->dev].still : &j->devices[qp->dev].others);
	}
}

void rd_qp_judge(struct rd_qp_views *views, const struct rd_qp_judge *opts)
{
	const struct rd_res *res = views->res;
	_cleanup_free_ struct device *devices = rd_alloc(res->n_devs + 1, sizeof(*devices));
	_cleanup_free_ const struct rd_krecord **lines = rd_alloc(res->n_qps + 1, sizeof(*lines));
	struct judge j = { .res = res, .opts = opts, .devices = devices };

	if (opts->klog && opts->klog->known == RD_OK)
		rd_qp_log_join(opts->klog, views, opts->mono_ns, lines);
	survey(&j, views);
	for (size_t i = 0; i < res->n_qps; i++) {
		struct rd_qp_view *view = &views->v[i];
		struct one one = {
			.qp = &res->qps[i], .past = &view->past, .line = lines[i], .verdict = &view->verdict
		};

		view->verdict.cause = view->past.cause;
		judge_one(&j, &one);
	}
}
