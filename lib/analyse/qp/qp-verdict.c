// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/qp/qp-verdict.h"

#include "analyse/qp/qp-log.h"
#include "analyse/qp/qp.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/rdma/qp-event.h"

#define NEXT_STUCK                                                                                                          \
	"run rdmadiag trace-errno to see why a transition fails; run rdmadiag qp-state on the remote host to see what the " \
	"remote QP waits for"
#define NEXT_PATH \
	"run rdmadiag counters -i 1 on both hosts; run rdmadiag topo-check; check the network path to the peer"
#define NEXT_CAUSE "check dmesg on both hosts; run rdmadiag qp-state --trace while you reproduce the failure"
#define NEXT_RNR                                                                                                              \
	"the remote program posts no receive work requests: run rdmadiag qp-state --by pid on the remote host, then inspect " \
	"the stack of the program"
#define NEXT_SAMPLE_TWICE "run rdmadiag qp-state -i 1 -c 2"
#define NEXT_PROGRAM "check the log of the program that owns the QP; run rdmadiag qp-state on the remote host"
#define NEXT_DEVICE "check dmesg: does the device still respond to its driver? devlink health show"
#define NEXT_IDLE                                                                                                                 \
	"no work request is outstanding here; if the job hangs, inspect the stack of the program that owns the QP (gdb -p PID); " \
	"run rdmadiag qp-state -i 1 -c 2 on the remote host"
#define NEXT_WORKS "no action needed; rdmadiag counters -i 1 shows the traffic of the port"
#define NEXT_REQUESTER "run rdmadiag qp-state on the remote host, which is the requester"
#define NEXT_LATER "run rdmadiag qp-state -i 5"

/* More packets than this in one interval are progress: a retransmission advances the PSN, too (soft-RoCE of 6.1). */
#define PACKETS_STALLED 1.5

/* Of one device, between the two samples. */
struct device {
	size_t failed;	/* queue pairs that entered ERR */
	size_t stalled; /* queue pairs in RTS that can retransmit: those without packets */
	size_t others;	/* those with packets, or with unknown progress */
};

struct judge {
	const struct rd_res *res;
	const struct rd_qp_judge *opts;
	struct device *devices;
};

/* The queue pair to judge. */
struct one {
	const struct rd_qp *qp;
	const struct rd_qp_past *past;
	const struct rd_krecord *line; /* of the kernel log; NULL: no line names this queue pair */
	struct rd_qp_verdict *verdict;
};

static bool is_stalled(const struct judge *j, const struct rd_qp_past *past)
{
	return past->psn_per_second.known == RD_OK && past->psn_per_second.v * j->opts->seconds < PACKETS_STALLED;
}

static uint64_t since(const struct judge *j, const struct rd_qp *qp, enum rd_qp_count what)
{
	const struct rd_qp_counts *counts = j->opts->since ? &j->opts->since[qp->dev] : NULL;

	return counts && counts->v[what].known == RD_OK ? counts->v[what].v : 0;
}

/* Takes ownership of `why`. */
static void set_verdict(const struct one *one, enum rd_qp_verdict_kind kind, const char *fix, char *why)
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
		return rd_text("for an unknown time");
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
		return set_verdict(
			one, RD_QPV_CANNOT_TELL, NEXT_DEVICE,
			rd_text("never moved to INIT; the kernel reports the state of such a QP only in its dump, which "
				"ended early"));
	set_verdict(one, RD_QPV_CANNOT_TELL, NEXT_DEVICE,
		    rd_text("the device did not report the state of the QP%s%s%s", name ? " (" : "", name ? name : "",
			    name ? ")" : ""));
}

static bool is_for_too_long(const struct judge *j, const struct rd_qp_past *past)
{
	return past->age_kind != RD_AGE_UNKNOWN && past->age_seconds.v >= j->opts->stuck_seconds;
}

/* In INIT or RTR: connecting, or stuck. */
static void judge_connecting(const struct judge *j, const struct one *one)
{
	const struct rd_qp *qp = one->qp;
	const struct rd_qp_past *past = one->past;
	bool bounded = past->age_max_seconds.known == RD_OK && past->age_max_seconds.v < j->opts->stuck_seconds;
	const char *name = past->last_err ? rd_errno_name(past->last_err) : NULL;
	_cleanup_free_ char *age = age_text(past);
	const char *state = state_name(qp);

	if (qp->state.v == RD_QPS_RTR && qp->type.known == RD_OK && qp->type.v == RD_QPT_XRC_TGT)
		return set_verdict(one, RD_QPV_OK, NEXT_REQUESTER,
				   rd_text("in RTR, the final state of an XRC target QP"));
	if (is_for_too_long(j, past) && name)
		return set_verdict(one, RD_QPV_STUCK, NEXT_STUCK,
				   rd_text("in %s %s: the last modify_qp failed with %s", state, age, name));
	if (is_for_too_long(j, past))
		return set_verdict(one, RD_QPV_STUCK, NEXT_STUCK,
				   rd_text("in %s %s: no modify_qp call moved it to the next state%s", state, age,
					   qp->state.v == RD_QPS_RTR ? " (a QP that only receives may stay in RTR)" :
								       ""));
	if (name)
		return set_verdict(one, RD_QPV_CANNOT_TELL, NEXT_STUCK,
				   rd_text("in %s %s; modify_qp failed with %s; the program may retry", state, age,
					   name));
	if (bounded)
		return set_verdict(one, RD_QPV_OK, NEXT_LATER, rd_text("connecting: in %s %s", state, age));
	set_verdict(one, RD_QPV_CANNOT_TELL, NEXT_LATER,
		    rd_text("in %s %s: counts as stuck after %.0f s", state, age, j->opts->stuck_seconds));
}

/* In the interval in which the QP failed, its device counted at least as many exceeded retry counts as failed QPs; otherwise the
 * cause that an earlier sample found. */
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

/* A kernel log line that names the QP is better evidence than counters of the whole device. */
static void judge_logged(const struct one *one, const char *age)
{
	const char *line = one->line->text, *status = rd_qp_log_status(line);
	enum rd_qp_cause cause = rd_qp_log_cause(line);

	if (cause == RD_QP_CAUSE_NONE)
		cause = one->verdict->cause;
	set_verdict(one, cause ? RD_QPV_EXHAUSTED : RD_QPV_FAILED,
		    cause == RD_QP_CAUSE_RNR ? NEXT_RNR :
		    cause		     ? NEXT_PATH :
					       NEXT_CAUSE,
		    rd_text("in %s %s; kernel log: %.160s%s%s%s", state_name(one->qp), age, line,
			    status ? " (IBV_WC_" : "", status ? status : "", status ? ")" : ""));
}

static void judge_by_count(const struct judge *j, const struct one *one, const char *age)
{
	const char *ibdev = j->res->devs[one->qp->dev].name, *state = state_name(one->qp);

	if (one->verdict->cause == RD_QP_CAUSE_RETRIES)
		return set_verdict(
			one, RD_QPV_EXHAUSTED, NEXT_PATH,
			rd_text("in %s %s; transport retry count exceeded (IBV_WC_RETRY_EXC_ERR): %s counted it when the QP "
				"failed (device-wide)",
				state, age, ibdev));
	set_verdict(
		one, RD_QPV_EXHAUSTED, NEXT_RNR,
		rd_text("in %s %s; RNR retry count exceeded (IBV_WC_RNR_RETRY_EXC_ERR): %s counted it when the QP failed "
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
		return set_verdict(one, RD_QPV_FLUSHED, NEXT_PROGRAM,
				   rd_text("in %s %s: its program moved it there; posted work requests were flushed",
					   state, age));
	if (one->past->last_event.known == RD_OK) {
		name = rd_ib_event_name(one->past->last_event.v);
		return set_verdict(one, RD_QPV_FAILED, NEXT_CAUSE,
				   rd_text("in %s %s; the device reported %s", state, age,
					   name ? name : "an unknown event"));
	}
	set_verdict(one, RD_QPV_FAILED, NEXT_CAUSE, rd_text("in %s %s; cause unknown", state, age));
}

/* UC has no acknowledgements: a lost packet stays lost. */
static bool can_retransmit(const struct rd_qp *qp)
{
	return rd_qp_is_connected_type(qp) && qp->type.v != RD_QPT_UC;
}

static bool is_counted(const struct judge *j, const struct rd_qp *qp, enum rd_qp_count what)
{
	return j->opts->since && j->opts->since[qp->dev].v[what].known == RD_OK;
}

/* The device retransmitted while this queue pair had no packets. */
static void judge_retrying(const struct judge *j, const struct one *one, uint64_t retries, uint64_t rnr)
{
	const struct device *device = &j->devices[one->qp->dev];
	size_t candidates = device->stalled + device->others + device->failed;
	const char *ibdev = j->res->devs[one->qp->dev].name;
	double s = j->opts->seconds;

	/* A queue pair with packets may be the one that retransmits, too. */
	if (candidates > 1)
		return set_verdict(
			one, RD_QPV_CANNOT_TELL, NEXT_PATH,
			rd_text("no packet in %.1f s; %s retransmitted in that time, for this or another of its %zu queue pairs",
				s, ibdev, candidates));
	if (rnr)
		return set_verdict(
			one, RD_QPV_RETRYING, NEXT_RNR,
			rd_text("no packet in %.1f s; %s received %llu RNR NAKs: the remote QP is not ready to receive (device-wide)",
				s, ibdev, (unsigned long long)rnr));
	set_verdict(
		one, RD_QPV_RETRYING, NEXT_PATH,
		rd_text("no packet in %.1f s; %s retransmitted %llu times in that time, without progress (device-wide)",
			s, ibdev, (unsigned long long)retries));
}

/* No packet: no work posted, or no packet gets through? */
static void judge_stalled(const struct judge *j, const struct one *one)
{
	uint64_t retries = since(j, one->qp, RD_QPC_RETRIES), rnr = since(j, one->qp, RD_QPC_RNR);
	const char *ibdev = j->res->devs[one->qp->dev].name;
	double s = j->opts->seconds;

	if (!can_retransmit(one->qp))
		return set_verdict(one, RD_QPV_IDLE, NEXT_IDLE,
				   rd_text("no packet in %.1f s; UC queue pairs do not retransmit", s));
	if (!is_counted(j, one->qp, RD_QPC_RETRIES))
		return set_verdict(one, RD_QPV_CANNOT_TELL, NEXT_PATH,
				   rd_text("no packet in %.1f s; retransmissions of %s are not counted", s, ibdev));
	if (!retries && !rnr)
		return set_verdict(one, RD_QPV_IDLE, NEXT_IDLE,
				   rd_text("no packet in %.1f s; %s did not retransmit", s, ibdev));
	judge_retrying(j, one, retries, rnr);
}

static void judge_ready(const struct judge *j, const struct one *one)
{
	if (!rd_qp_is_connected_type(one->qp))
		return set_verdict(one, RD_QPV_OK, NEXT_WORKS,
				   rd_text("in RTS; this type has no connection that could fail"));
	if (one->past->psn_per_second.known != RD_OK)
		return set_verdict(one, RD_QPV_CANNOT_TELL, NEXT_SAMPLE_TWICE,
				   rd_text("in RTS; one sample does not show whether packets flow"));
	if (!is_stalled(j, one->past))
		return set_verdict(one, RD_QPV_OK, NEXT_WORKS,
				   rd_text("%.3g packets per second", one->past->psn_per_second.v));
	judge_stalled(j, one);
}

static void judge_drained(const struct judge *j, const struct one *one)
{
	_cleanup_free_ char *age = age_text(one->past);

	if (is_for_too_long(j, one->past))
		return set_verdict(one, RD_QPV_STUCK, NEXT_PROGRAM,
				   rd_text("in SQD %s: its program has not resumed the send queue", age));
	set_verdict(one, RD_QPV_CANNOT_TELL, NEXT_LATER,
		    rd_text("in SQD %s: its program is draining the send queue", age));
}

static void judge_one(const struct judge *j, const struct one *one)
{
	if (one->qp->state.known != RD_OK || one->qp->dev < 0)
		return judge_unreadable(one);
	switch (one->qp->state.v) {
	case RD_QPS_RESET:
		return set_verdict(one, RD_QPV_CANNOT_TELL, NEXT_PROGRAM, rd_text("in RESET: created, not used yet"));
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

static void count_devices(struct judge *j, const struct rd_qp_views *views)
{
	for (size_t i = 0; i < j->res->n_qps; i++) {
		const struct rd_qp_past *past = &views->v[i].past;
		const struct rd_qp *qp = &j->res->qps[i];

		if (qp->dev < 0 || qp->state.known != RD_OK)
			continue;
		if (qp->state.v == RD_QPS_ERR && past->fresh && !past->moved_by_call)
			j->devices[qp->dev].failed++;
		if (qp->state.v == RD_QPS_RTS && can_retransmit(qp))
			++*(is_stalled(j, past) ? &j->devices[qp->dev].stalled : &j->devices[qp->dev].others);
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
	count_devices(&j, views);
	for (size_t i = 0; i < res->n_qps; i++) {
		struct rd_qp_view *view = &views->v[i];
		struct one one = {
			.qp = &res->qps[i], .past = &view->past, .line = lines[i], .verdict = &view->verdict
		};

		view->verdict.cause = view->past.cause;
		judge_one(&j, &one);
	}
}
