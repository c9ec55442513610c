// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/qp-verdict.h"

#include <errno.h>
#include <string.h>

#include "analyse/qp-log.h"
#include "analyse/qp.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/qp-event.h"

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
	struct rd_res *res;
	const struct rd_qp_judge *opts;
	struct device *devices;
	const struct rd_krecord **lines; /* per queue pair; NULL: there is no log */
};

static bool stands_still(const struct judge *j, const struct rd_qp *qp)
{
	return qp->psn_per_second.known == RD_OK && qp->psn_per_second.v * j->opts->seconds < PACKETS_STILL;
}

static uint64_t since(const struct judge *j, const struct rd_qp *qp, enum rd_qp_count what)
{
	const struct rd_qp_counts *counts = j->opts->since ? &j->opts->since[qp->dev] : NULL;

	return counts && counts->v[what].known == RD_OK ? counts->v[what].v : 0;
}

static int say(struct rd_qp *qp, enum rd_qp_verdict_kind verdict, const char *fix, char *why)
{
	free(qp->why);
	qp->verdict = verdict;
	qp->fix = fix;
	qp->why = why;
	return why ? 0 : -ENOMEM;
}

/* "for 12.3 s", "for at least 12.3 s", "for 10.0 to 12.3 s" */
static char *age_text(const struct rd_qp *qp)
{
	switch (qp->age_kind) {
	case RD_AGE_EXACT:
		return rd_text("for %.1f s", qp->age_seconds.v);
	case RD_AGE_INTERVAL:
		return rd_text("for %.1f to %.1f s", qp->age_seconds.v, qp->age_max_seconds.v);
	case RD_AGE_AT_LEAST:
		return rd_text("for at least %.1f s", qp->age_seconds.v);
	default:
		return rd_text("since nobody knows when");
	}
}

static const char *state_name(const struct rd_qp *qp)
{
	const char *name = rd_qp_state_name(qp->state.v);

	return name ? name : "?";
}

static int judge_unreadable(struct rd_qp *qp)
{
	const char *name = qp->query_errno ? rd_errno_name(qp->query_errno) : NULL;

	if (qp->query_errno && !rd_qp_query_failed(qp))
		return say(
			qp, RD_QPV_CANNOT_TELL, NEXT_DEVICE,
			rd_text("it was never moved to INIT; the kernel shows the state of such in its list only, which "
				"broke off"));
	return say(qp, RD_QPV_CANNOT_TELL, NEXT_DEVICE,
		   rd_text("its device did not say what state it is in%s%s%s", name ? " (" : "", name ? name : "",
			   name ? ")" : ""));
}

/* On its way to RTS, or not. */
static int judge_connecting(const struct judge *j, struct rd_qp *qp)
{
	bool long_enough = qp->age_kind != RD_AGE_UNKNOWN && qp->age_seconds.v >= j->opts->stuck_seconds;
	bool bounded = qp->age_max_seconds.known == RD_OK && qp->age_max_seconds.v < j->opts->stuck_seconds;
	const char *name = qp->last_err ? rd_errno_name(qp->last_err) : NULL;
	_cleanup_free_ char *age = age_text(qp);
	const char *state = state_name(qp);

	if (!age)
		return -ENOMEM;
	if (qp->state.v == RD_QPS_RTR && qp->type.known == RD_OK && qp->type.v == RD_QPT_XRC_TGT)
		return say(qp, RD_QPV_OK, NEXT_OTHER_END, rd_text("in RTR, as the target of an XRC connection stays"));
	if (long_enough && name)
		return say(qp, RD_QPV_STUCK, NEXT_STUCK,
			   rd_text("in %s %s: modify_qp last failed with %s", state, age, name));
	if (long_enough)
		return say(qp, RD_QPV_STUCK, NEXT_STUCK,
			   rd_text("in %s %s: nobody has moved it on%s", state, age,
				   qp->state.v == RD_QPS_RTR ? " (one that only receives may stay so)" : ""));
	if (name)
		return say(qp, RD_QPV_CANNOT_TELL, NEXT_STUCK,
			   rd_text("in %s %s; modify_qp failed with %s, and may be tried again", state, age, name));
	if (bounded)
		return say(qp, RD_QPV_OK, NEXT_LATER, rd_text("on its way: in %s %s", state, age));
	return say(qp, RD_QPV_CANNOT_TELL, NEXT_LATER,
		   rd_text("in %s %s: whether it is stuck shows after %.0f s", state, age, j->opts->stuck_seconds));
}

/* In the interval in which it failed its device counted that as many gave up. */
static void find_cause(const struct judge *j, struct rd_qp *qp)
{
	size_t failed = j->devices[qp->dev].failed;

	if (!qp->fresh || qp->moved_by_call || qp->state.v != RD_QPS_ERR)
		return;
	if (since(j, qp, RD_QPC_EXHAUSTED) >= failed)
		qp->cause = RD_QP_CAUSE_RETRIES;
	else if (since(j, qp, RD_QPC_RNR_EXHAUSTED) >= failed)
		qp->cause = RD_QP_CAUSE_RNR;
}

/* A line of its own says more than what its device counts. */
static int judge_logged(struct rd_qp *qp, const char *line, const char *age)
{
	enum rd_qp_cause cause = rd_qp_log_cause(line);
	const char *status = rd_qp_log_status(line);

	if (cause == RD_QP_CAUSE_NONE)
		cause = qp->cause;
	return say(qp, cause ? RD_QPV_EXHAUSTED : RD_QPV_FAILED,
		   cause == RD_QP_CAUSE_RNR ? NEXT_RNR :
		   cause		    ? NEXT_PATH :
					      NEXT_CAUSE,
		   rd_text("in %s %s; kernel log: %.160s%s%s%s", state_name(qp), age, line, status ? " (" : "",
			   status ? status : "", status ? ")" : ""));
}

static int judge_failed(const struct judge *j, struct rd_qp *qp, const struct rd_krecord *line)
{
	const char *ibdev = j->res->devs[qp->dev].name, *state = state_name(qp), *name;
	_cleanup_free_ char *age = age_text(qp);

	if (!age)
		return -ENOMEM;
	find_cause(j, qp);
	if (line)
		return judge_logged(qp, line->text, age);
	if (qp->cause == RD_QP_CAUSE_RETRIES)
		return say(qp, RD_QPV_EXHAUSTED, NEXT_PATH,
			   rd_text("in %s %s; when it failed, %s counted that it gave up sending again (device-wide)",
				   state, age, ibdev));
	if (qp->cause == RD_QP_CAUSE_RNR)
		return say(
			qp, RD_QPV_EXHAUSTED, NEXT_RNR,
			rd_text("in %s %s; when it failed, %s counted that it gave up on a receiver that was not ready "
				"(device-wide)",
				state, age, ibdev));
	if (qp->moved_by_call)
		return say(qp, RD_QPV_FLUSHED, NEXT_PROGRAM,
			   rd_text("its program moved it to %s itself (%s): what was posted was flushed", state, age));
	if (qp->last_event.known == RD_OK) {
		name = rd_ib_event_name(qp->last_event.v);
		return say(qp, RD_QPV_FAILED, NEXT_CAUSE,
			   rd_text("in %s %s; the device reported %s", state, age, name ? name : "an event of no name"));
	}
	return say(qp, RD_QPV_FAILED, NEXT_CAUSE, rd_text("in %s %s; what brought it there was not seen", state, age));
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

/* No packet has moved: nothing to do, or nothing gets through? */
static int judge_still(const struct judge *j, struct rd_qp *qp)
{
	uint64_t retries = since(j, qp, RD_QPC_RETRIES), rnr = since(j, qp, RD_QPC_RNR);
	const struct device *device = &j->devices[qp->dev];
	size_t meant = device->still + device->others + device->failed;
	const char *ibdev = j->res->devs[qp->dev].name;
	double s = j->opts->seconds;

	if (!can_send_again(qp))
		return say(qp, RD_QPV_IDLE, NEXT_IDLE,
			   rd_text("no packet in %.1f s; a queue pair of UC sends nothing again", s));
	if (!is_counted(j, qp, RD_QPC_RETRIES))
		return say(qp, RD_QPV_CANNOT_TELL, NEXT_PATH,
			   rd_text("no packet in %.1f s, and what %s sends again was not counted", s, ibdev));
	if (!retries && !rnr)
		return say(qp, RD_QPV_IDLE, NEXT_IDLE,
			   rd_text("no packet in %.1f s, and %s sent nothing again", s, ibdev));
	/* What moves may be what was lost and sent again, too. */
	if (meant > 1)
		return say(
			qp, RD_QPV_CANNOT_TELL, NEXT_PATH,
			rd_text("no packet in %.1f s; %s sent again in that time, for this or another of its %zu queue pairs",
				s, ibdev, meant));
	if (rnr)
		return say(
			qp, RD_QPV_RETRYING, NEXT_RNR,
			rd_text("no packet in %.1f s; %s was told %llu times that the receiver is not ready (device-wide)",
				s, ibdev, (unsigned long long)rnr));
	return say(qp, RD_QPV_RETRYING, NEXT_PATH,
		   rd_text("no packet in %.1f s; %s sent again %llu times in that time (device-wide)", s, ibdev,
			   (unsigned long long)retries));
}

static int judge_ready(const struct judge *j, struct rd_qp *qp)
{
	if (!rd_qp_is_connected_type(qp))
		return say(qp, RD_QPV_OK, NEXT_WORKS, rd_text("in RTS; it has no connection that could fail"));
	if (qp->psn_per_second.known != RD_OK)
		return say(qp, RD_QPV_CANNOT_TELL, NEXT_LOOK_TWICE,
			   rd_text("in RTS; one look does not show whether packets move"));
	if (!stands_still(j, qp))
		return say(qp, RD_QPV_OK, NEXT_WORKS, rd_text("%.3g packets a second", qp->psn_per_second.v));
	return judge_still(j, qp);
}

static int judge_drained(const struct judge *j, struct rd_qp *qp)
{
	_cleanup_free_ char *age = age_text(qp);

	if (!age)
		return -ENOMEM;
	if (qp->age_kind != RD_AGE_UNKNOWN && qp->age_seconds.v >= j->opts->stuck_seconds)
		return say(qp, RD_QPV_STUCK, NEXT_PROGRAM,
			   rd_text("in SQD %s: its program holds the send queue back", age));
	return say(qp, RD_QPV_CANNOT_TELL, NEXT_LATER, rd_text("in SQD %s: its program drains the send queue", age));
}

static int judge_one(const struct judge *j, struct rd_qp *qp, const struct rd_krecord *line)
{
	if (qp->state.known != RD_OK || qp->dev < 0)
		return judge_unreadable(qp);
	switch (qp->state.v) {
	case RD_QPS_RESET:
		return say(qp, RD_QPV_CANNOT_TELL, NEXT_PROGRAM,
			   rd_text("in RESET: it was made, and not yet put to use"));
	case RD_QPS_INIT:
	case RD_QPS_RTR:
		return judge_connecting(j, qp);
	case RD_QPS_RTS:
		return judge_ready(j, qp);
	case RD_QPS_SQD:
		return judge_drained(j, qp);
	case RD_QPS_SQE:
	case RD_QPS_ERR:
		return judge_failed(j, qp, line);
	default:
		return judge_unreadable(qp);
	}
}

static void survey(struct judge *j)
{
	for (size_t i = 0; i < j->res->n_qps; i++) {
		const struct rd_qp *qp = &j->res->qps[i];

		if (qp->dev < 0 || qp->state.known != RD_OK)
			continue;
		if (qp->state.v == RD_QPS_ERR && qp->fresh && !qp->moved_by_call)
			j->devices[qp->dev].failed++;
		if (qp->state.v == RD_QPS_RTS && can_send_again(qp))
			++*(stands_still(j, qp) ? &j->devices[qp->dev].still : &j->devices[qp->dev].others);
	}
}

int rd_qp_judge(struct rd_res *res, const struct rd_qp_judge *opts)
{
	_cleanup_free_ struct device *devices = rd_alloc(res->n_devs + 1, sizeof(*devices));
	_cleanup_free_ const struct rd_krecord **lines = rd_alloc(res->n_qps + 1, sizeof(*lines));
	struct judge j = { .res = res, .opts = opts, .devices = devices, .lines = lines };
	int r = 0;

	if (opts->klog && opts->klog->known == RD_OK)
		rd_qp_log_join(opts->klog, res, opts->mono_ns, lines);
	survey(&j);
	for (size_t i = 0; !r && i < res->n_qps; i++)
		r = judge_one(&j, &res->qps[i], lines[i]);
	return r;
}

/* What each verdict is worth; what is a note, or not known, is no finding. */
static const struct {
	enum rd_severity severity;
	const char *id, *title, *why;
} worth[RD_QPV_N] = {
	[RD_QPV_NONE] = { .severity = RD_SEV_UNKNOWN },
	[RD_QPV_FAILED] = { RD_SEV_CRITICAL, "qp-failed", "queue pairs have failed",
			    "a queue pair in ERR or SQE moves no data until its program makes the connection anew" },
	[RD_QPV_EXHAUSTED] = { RD_SEV_CRITICAL, "qp-retries-exhausted", "queue pairs have given up sending again",
			       "the other end did not answer for as long as timeout and retries allowed" },
	[RD_QPV_STUCK] = { RD_SEV_WARNING, "qp-stuck", "queue pairs are stuck on the way to being connected",
			   "a job whose connections are not all made stands still" },
	[RD_QPV_RETRYING] = { RD_SEV_WARNING, "qp-retrying", "packets are sent again and none arrives",
			      "the program sees nothing of this until the retries are exhausted, which may be never" },
	[RD_QPV_FLUSHED] = { .severity = RD_SEV_NOTE }, /* programs do so when they close, or give up */
	[RD_QPV_IDLE] = { .severity = RD_SEV_NOTE },
	[RD_QPV_OK] = { .severity = RD_SEV_NOTE },
	[RD_QPV_CANNOT_TELL] = { .severity = RD_SEV_UNKNOWN },
};

enum rd_severity rd_qp_verdict_severity(enum rd_qp_verdict_kind kind)
{
	return kind < RD_QPV_N ? worth[kind].severity : RD_SEV_UNKNOWN;
}

static void judge_on(const struct rd_res *res, const bool *chosen, size_t dev, enum rd_qp_verdict_kind kind,
		     struct rd_findings *findings)
{
	struct rd_finding finding = { .id = worth[kind].id,
				      .severity = worth[kind].severity,
				      .title = worth[kind].title,
				      .why = worth[kind].why };
	const struct rd_qp *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < res->n_qps; i++) {
		const struct rd_qp *qp = &res->qps[i];

		if (qp->dev != (int)dev || (chosen && !chosen[i]) || qp->verdict != kind)
			continue;
		if (!n++)
			first = qp;
	}
	if (!n)
		return;
	finding.subject =
		n == 1 ? rd_text("%s qpn %u", res->devs[dev].name, first->lqpn.v) :
			 rd_text("%s, %zu queue pairs, the first is qpn %u", res->devs[dev].name, n, first->lqpn.v);
	finding.observed = rd_text("%s", first->why);
	finding.fix = rd_text("%s", first->fix);
	rd_finding_add(findings, &finding);
}

void rd_qp_verdict_findings(const struct rd_res *res, const bool *chosen, struct rd_findings *findings)
{
	for (enum rd_qp_verdict_kind kind = RD_QPV_NONE; kind < RD_QPV_N; kind++)
		for (size_t dev = 0; worth[kind].id && dev < res->n_devs; dev++)
			judge_on(res, chosen, dev, kind, findings);
}
