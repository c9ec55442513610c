/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queue pairs that can transfer data: do they? */
#include "analyse/qp/qp-verdict-priv.h"

#include "analyse/qp/qp-timeout.h"
#include "analyse/qp/qp.h"
#include "base/memory.h"
#include "base/text.h"

/* More packets than this in one interval are progress: a retransmission advances the PSN, too (soft-RoCE of 6.1). */
#define PACKETS_STALLED 1.5

bool rd_qp_can_retransmit(const struct rd_qp *qp)
{
	return rd_qp_is_connected_type(qp) && qp->type.v != RD_QPT_UC;
}

/* A queue pair in RTR sends nothing, so a single packet is one received. */
static double least_packets(const struct rd_qp *qp)
{
	return qp->state.v == RD_QPS_RTR ? 0.5 : PACKETS_STALLED;
}

bool rd_qp_is_stalled(const struct rd_qp_judging *j, const struct rd_qp *qp, const struct rd_qp_past *past)
{
	return past->psn_per_second.known == RD_OK && past->psn_per_second.v * j->opts->seconds < least_packets(qp);
}

bool rd_qp_is_moving(const struct rd_qp_judging *j, const struct rd_qp *qp, const struct rd_qp_past *past)
{
	return past->psn_per_second.known == RD_OK && !rd_qp_is_stalled(j, qp, past);
}

/* Queue pairs that can have retransmitted, or received RNR NAKs. */
static size_t count_requesters(const struct rd_qp_device *device)
{
	return device->stalled + device->senders + device->failed + device->unclear + device->unlisted;
}

/* Queue pairs that can have sent RNR NAKs. */
static size_t count_responders(const struct rd_qp_judging *j, int dev)
{
	const struct rd_qp_device *device = &j->devices[dev];

	return device->waiting + device->moving + device->failed + device->unclear + device->unlisted +
	       device->unrelated + rd_res_dev_hides_qps(&j->res->devs[dev]);
}

/* No other queue pair of the device can have lost these packets. */
static bool is_of_this_one(const struct rd_qp_judging *j, int dev, const struct rd_qp_loss *loss)
{
	const struct rd_qp_device *device = &j->devices[dev];
	size_t others = device->failed + device->unclear + device->unlisted;

	if (loss->kind == RD_QP_LOSS_UNPOSTED)
		return count_responders(j, dev) == 1 && loss->packets > 0;
	if (loss->by_stalled)
		others += device->stalled;
	return device->moving == 1 && others == 0 && loss->packets > 0;
}

static enum rd_qp_advice advice_of(const struct rd_qp_loss *loss)
{
	switch (loss->kind) {
	case RD_QP_LOSS_UNPOSTED:
		return RD_QP_DO_POST;
	case RD_QP_LOSS_REFUSED:
		return RD_QP_DO_RNR;
	case RD_QP_LOSS_AGAIN:
	case RD_QP_LOSS_UNACKED:
		return RD_QP_DO_LATE;
	default:
		return RD_QP_DO_LOSS;
	}
}

/* A rate below this share of its own best is mentioned. It is no verdict: programs compute between transfers. */
#define RATE_FELL 0.25

/* "120 packets per second", "12 packets per second (1200 before)" */
static char *rate_text(const struct rd_qp_past *past)
{
	double rate = past->psn_per_second.v, best = past->best_per_second.v;
	_cleanup_free_ char *text = rate < 1000 ? rd_text("%.3g packets per second", rate) :
						  rd_text("%.0f packets per second", rate);

	if (past->best_per_second.known == RD_OK && rate < RATE_FELL * best)
		return rd_text("%s (%.0f before)", text, best);
	return RD_TAKE(text);
}

/* It has packets, and no loss that is certain. */
static void judge_undisturbed(const struct rd_qp_judging *j, const struct rd_qp_one *one, bool requester)
{
	struct rd_qp_loss now = rd_qp_loss_suspect(j, one->qp->dev, requester);
	struct rd_qp_loss loss = now.packets ? now : rd_qp_loss_before(j, one->qp->dev, requester);
	_cleanup_free_ char *rate = rate_text(one->past);
	_cleanup_free_ char *text = loss.packets ? rd_qp_loss_text(j, one->qp->dev, &loss) : NULL;
	bool counted = rd_qp_is_counted(j, one->qp->dev, RD_QPC_RETRIES) ||
		       rd_qp_is_counted(j, one->qp->dev, RD_QPC_NAKS) ||
		       rd_qp_is_counted(j, one->qp->dev, RD_QPC_OUT_OF_ORDER);
	const char *ibdev = j->res->devs[one->qp->dev].name, *unknown = counted ? "" : "; losses are not counted by ";

	if (text)
		return rd_qp_set(j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_LONGER,
				 rd_text("%s; too few to %s: %s", rate,
					 now.packets ? "judge" : "show that a loss is over", text));
	if (one->qp->state.v == RD_QPS_RTR)
		return rd_qp_set(j, one, RD_QPV_RECEIVING, RD_QP_DO_NOTHING,
				 rd_text("in RTR; receives %s%s%s", rate, unknown, counted ? "" : ibdev));
	rd_qp_set(j, one, RD_QPV_OK, RD_QP_DO_NOTHING, rd_text("%s%s%s", rate, unknown, counted ? "" : ibdev));
}

/* Packets were sent, none was received, ACKs included, and an ACK timeout expired: the first one to a peer that is dead. Ports do not
 * count packets that stay within the device: then this queue pair has more than the device sent. */
static bool is_unacknowledged(const struct rd_qp_judging *j, const struct rd_qp *qp, const struct rd_qp_past *past)
{
	double packets = past->psn_per_second.v * j->opts->seconds;

	return qp->state.v == RD_QPS_RTS && rd_qp_can_retransmit(qp) && rd_qp_since(j, qp->dev, RD_QPC_RETRIES) &&
	       /* PSNs and counters are not read at the same time. */
	       (double)rd_qp_since(j, qp->dev, RD_QPC_SENT) >= packets / 2 &&
	       rd_qp_is_counted(j, qp->dev, RD_QPC_GOT) && !rd_qp_since(j, qp->dev, RD_QPC_GOT);
}

static void judge_unacknowledged(const struct rd_qp_judging *j, const struct rd_qp_one *one)
{
	size_t candidates = count_requesters(&j->devices[one->qp->dev]);
	unsigned long long timeouts = rd_qp_since(j, one->qp->dev, RD_QPC_RETRIES);
	const char *ibdev = j->res->devs[one->qp->dev].name;
	_cleanup_free_ char *rate = rate_text(one->past);

	rd_qp_set(j, one, candidates == 1 ? RD_QPV_RETRYING : RD_QPV_CANNOT_TELL, RD_QP_DO_PEER,
		  rd_text("%s, but %s received no packet in %.1f s, no ACK either, and counted %llu ACK timeout%s "
			  "(device-wide)",
			  rate, ibdev, j->opts->seconds, timeouts, timeouts == 1 ? "" : "s"));
}

/* It has packets: are too many of them lost? */
static void judge_moving(const struct rd_qp_judging *j, const struct rd_qp_one *one)
{
	bool requester = one->qp->state.v != RD_QPS_RTR && rd_qp_can_retransmit(one->qp);
	struct rd_qp_loss loss = rd_qp_loss_of(j, one->qp->dev, requester);
	_cleanup_free_ char *rate = rate_text(one->past);
	_cleanup_free_ char *text = NULL;

	if (loss.kind == RD_QP_LOSS_NONE)
		return judge_undisturbed(j, one, requester);
	text = rd_qp_loss_text(j, one->qp->dev, &loss);
	if (loss.kind != RD_QP_LOSS_UNORDERED && is_of_this_one(j, one->qp->dev, &loss))
		return rd_qp_set(j, one, RD_QPV_SLOW, advice_of(&loss), rd_text("%s; %s", text, rate));
	rd_qp_set(j, one, RD_QPV_CANNOT_TELL, advice_of(&loss),
		  rd_text("%s; of this or another queue pair: %s", rate, text));
}

static void judge_refused(const struct rd_qp_judging *j, const struct rd_qp_one *one, unsigned long long got)
{
	size_t candidates = count_requesters(&j->devices[one->qp->dev]);
	const char *ibdev = j->res->devs[one->qp->dev].name;
	double s = j->opts->seconds;

	if (candidates == 1)
		return rd_qp_set(j, one, RD_QPV_NO_RECEIVES, RD_QP_DO_RNR,
				 rd_text("no packet in %.1f s; %s received %llu RNR NAKs: the remote QP is not ready to "
					 "receive, its program posts no receive work requests (device-wide)",
					 s, ibdev, got));
	rd_qp_set(j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_RNR,
		  rd_text("no packet in %.1f s; %s received %llu RNR NAKs in that time, for this or another of its %zu "
			  "queue pairs (device-wide)",
			  s, ibdev, got, candidates));
}

static void judge_unposted(const struct rd_qp_judging *j, const struct rd_qp_one *one, unsigned long long sent)
{
	const char *ibdev = j->res->devs[one->qp->dev].name;
	double s = j->opts->seconds;

	if (count_responders(j, one->qp->dev) == 1)
		return rd_qp_set(j, one, RD_QPV_NO_RECEIVES, RD_QP_DO_POST,
				 rd_text("no packet in %.1f s; %s sent %llu RNR NAKs: the program of this QP posts no "
					 "receive work requests (device-wide)",
					 s, ibdev, sent));
	rd_qp_set(
		j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_POST,
		rd_text("no packet in %.1f s; %s sent %llu RNR NAKs in that time: the program of this or of another of its "
			"queue pairs posts too few receive work requests (device-wide)",
			s, ibdev, sent));
}

bool rd_qp_judge_unready(const struct rd_qp_judging *j, const struct rd_qp_one *one)
{
	bool sends = one->qp->state.v == RD_QPS_RTS && rd_qp_can_retransmit(one->qp);
	uint64_t got = sends ? rd_qp_since(j, one->qp->dev, RD_QPC_RNR) : 0;
	uint64_t sent = rd_qp_can_retransmit(one->qp) ? rd_qp_since(j, one->qp->dev, RD_QPC_RNR_SENT) : 0;

	if (got)
		judge_refused(j, one, got);
	else if (sent)
		judge_unposted(j, one, sent);
	return got || sent;
}

/* Its device has no new ACK for what it sent: it is not idle, whatever the device counts. */
static void judge_waiting(const struct rd_qp_judging *j, const struct rd_qp_one *one)
{
	const struct rd_qp *qp = one->qp;
	uint32_t n = rd_qp_unacknowledged(qp), first = (qp->sq_psn.v - n) & 0xffffff;
	_cleanup_free_ char *rate = rd_qp_is_moving(j, qp, one->past) ? rate_text(one->past) : rd_dup("no packet");

	rd_qp_set(
		j, one, one->past->retry_changed ? RD_QPV_RETRYING : RD_QPV_CANNOT_TELL, RD_QP_DO_PEER,
		rd_text("%s in %.1f s; waits for the ACK of PSN %u: at least %u packet%s sent, none acknowledged in that "
			"time%s",
			rate, j->opts->seconds, first, n, n == 1 ? "" : "s",
			one->past->retry_changed ? "; its retry count changed" : ""));
}

/* Fewer ACK timeouts may be what a healthy path of another queue pair loses. */
#define TIMEOUTS_SURE 4

/* How many queue pairs without packets what the device retransmitted can be of; 0: others can have caused it, too. A path that loses
 * packets of those that have some shows it by NAKs, and by more than a harmless share. */
static size_t count_silent(const struct rd_qp_judging *j, int dev)
{
	const struct rd_qp_device *device = &j->devices[dev];
	enum rd_qp_loss_kind lost = rd_qp_loss_of(j, dev, true).kind;

	if (device->failed || device->unclear || device->unlisted)
		return 0;
	if (device->senders &&
	    (rd_qp_since(j, dev, RD_QPC_RETRIES) < TIMEOUTS_SURE || !rd_qp_is_counted(j, dev, RD_QPC_NAKS) ||
	     rd_qp_since(j, dev, RD_QPC_NAKS) || (lost != RD_QP_LOSS_NONE && lost != RD_QP_LOSS_UNORDERED) ||
	     rd_qp_loss_suspect(j, dev, true).kind == RD_QP_LOSS_UNACKED))
		return 0;
	return device->stalled;
}

/* Whether one queue pair can have as many ACK timeouts in the interval: devices let them run up to four times as long. */
static bool can_time_out(const struct rd_qp_judging *j, const struct rd_qp_one *one, double timeouts)
{
	const struct rd_qp_seen attrs = rd_qp_attributes(&j->views->v[one->i]);
	struct rd_timeouts set = { .timeout = { attrs.timeout.v, attrs.timeout.known } };
	struct rd_giveup giveup = rd_qp_giveup(&set);
	double most = giveup.ack_timeout.known == RD_OK ? j->opts->seconds / giveup.ack_timeout.v : timeouts;

	return !giveup.ack_for_ever && timeouts <= most + 1 && timeouts + 1 >= most / 4;
}

static enum rd_qp_advice note_device(const struct rd_qp_judging *j, int dev, char **why)
{
	const struct rd_qp_device *device = &j->devices[dev];
	struct rd_qp_loss loss = rd_qp_loss_of(j, dev, true);
	unsigned long long retries = rd_qp_since(j, dev, RD_QPC_RETRIES), got = rd_qp_since(j, dev, RD_QPC_RNR);
	unsigned long long sent = rd_qp_since(j, dev, RD_QPC_RNR_SENT);
	const char *ibdev = j->res->devs[dev].name;
	double s = j->opts->seconds;

	if (device->moving && loss.kind != RD_QP_LOSS_NONE && loss.kind != RD_QP_LOSS_UNORDERED && loss.packets) {
		*why = rd_qp_loss_text(j, dev, &loss);
		return advice_of(&loss);
	}
	if (!device->senders && device->stalled && got > 1)
		*why = rd_text("%s received %llu RNR NAKs in %.1f s, for those without packets (device-wide)", ibdev,
			       got, s);
	else if (!device->moving && device->waiting && sent > 1)
		*why = rd_text("%s sent %llu RNR NAKs in %.1f s, without progress (device-wide)", ibdev, sent, s);
	else if (retries > 1 && count_silent(j, dev))
		*why = rd_text("%s retransmitted %llu times in %.1f s, for those without packets (device-wide)", ibdev,
			       retries, s);
	return got > 1 ? RD_QP_DO_RNR : sent > 1 ? RD_QP_DO_POST : RD_QP_DO_PEER;
}

void rd_qp_note_devices(const struct rd_qp_judging *j)
{
	for (size_t d = 0; d < j->res->n_devs; d++) {
		struct rd_qp_note note = { 0 };
		enum rd_qp_advice advice = note_device(j, (int)d, &note.why);

		if (!note.why)
			continue;
		note.fix = rd_qp_device_fix(j->res->devs[d].name, advice);
		rd_qp_views_note(j->views, d, &note);
	}
}

/* Timeouts of the same request are at most so far apart: four times what NCCL sets by itself (IBTA vol. 1, 9.7.6.1.3). */
#define RETRIES_APART 20

/* No packet: no work posted, or no packet gets through? */
static void judge_stalled(const struct rd_qp_judging *j, const struct rd_qp_one *one)
{
	/* A queue pair with packets may be the one that retransmits, too; one of UC is not. */
	size_t candidates = count_requesters(&j->devices[one->qp->dev]);
	unsigned long long retries = rd_qp_since(j, one->qp->dev, RD_QPC_RETRIES);
	bool lately = one->past->retried_seconds.known == RD_OK && one->past->retried_seconds.v < RETRIES_APART;
	unsigned long long before = lately ? one->past->retried : 0;
	unsigned long long again = rd_qp_since(j, one->qp->dev, RD_QPC_DUPLICATES);
	const char *ibdev = j->res->devs[one->qp->dev].name;
	double s = j->opts->seconds;

	if (rd_qp_judge_unready(j, one))
		return;
	if (one->past->unacked)
		return judge_waiting(j, one);
	/* The remote QP has no ACK for what arrived before: it is not idle. */
	if (rd_qp_can_retransmit(one->qp) && again > 1 && !retries && !j->devices[one->qp->dev].moving)
		return rd_qp_set(
			j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_LATE,
			rd_text("no new packet in %.1f s; %s received %llu duplicate requests: of this or another of its "
				"queue pairs, ACKs do not arrive (device-wide)",
				s, ibdev, again));
	if (!rd_qp_can_retransmit(one->qp))
		return rd_qp_set(j, one, RD_QPV_IDLE, RD_QP_DO_IDLE,
				 rd_text("no packet in %.1f s; UC queue pairs do not retransmit", s));
	if (!rd_qp_is_counted(j, one->qp->dev, RD_QPC_RETRIES))
		return rd_qp_set(j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_PEER,
				 rd_text("no packet in %.1f s; retransmissions of %s are not counted", s, ibdev));
	if (!retries && before)
		return rd_qp_set(
			j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_PEER,
			rd_text("no packet in %.1f s; %s retransmitted %llu time%s before, after the last packet "
				"(device-wide)",
				s, ibdev, before, before == 1 ? "" : "s"));
	if (!retries)
		return rd_qp_set(j, one, RD_QPV_IDLE, RD_QP_DO_IDLE,
				 rd_text("no packet in %.1f s; %s did not retransmit", s, ibdev));
	if (candidates == 1 && !(one->past->psn_per_second.v > 0))
		one->verdict->retried = (uint32_t)(retries + before);
	/* Of a request that was sent before, and acknowledged since. */
	if (retries + before == 1)
		return rd_qp_set(
			j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_PEER,
			rd_text("no packet in %.1f s; %s retransmitted once, with or without success (device-wide)", s,
				ibdev));
	if (candidates > 1 && (count_silent(j, one->qp->dev) != 1 || !can_time_out(j, one, (double)retries)))
		return rd_qp_set(
			j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_PEER,
			rd_text("no packet in %.1f s; %s retransmitted in that time, for this or another of its "
				"%zu queue pairs",
				s, ibdev, candidates));
	rd_qp_set(j, one, RD_QPV_RETRYING, RD_QP_DO_PEER,
		  rd_text("no packet in %.1f s; %s retransmitted %llu times %s, without progress%s (device-wide)", s,
			  ibdev, retries > 1 ? retries : retries + before,
			  retries > 1 ? "in that time" : "after the last packet",
			  candidates > 1 ? "; all its other queue pairs have packets" : ""));
}

/* PSNs have 24 bits. Half of them: packets can be shorter than the path MTU, and links be bonded. Much shorter ones are counted. */
#define PSN_HALF (1u << 23)

/* Of RoCE on an Ethernet of 1500 bytes: where the path MTU is unknown, so that packets may be as short. */
#define MTU_UNKNOWN 1024

bool rd_qp_may_have_wrapped(const struct rd_qp_judging *j, size_t i)
{
	const struct rd_qp_seen attrs = rd_qp_attributes(&j->views->v[i]);
	double mtu = attrs.path_mtu.known == RD_OK && attrs.path_mtu.v ? attrs.path_mtu.v : MTU_UNKNOWN;
	const struct rd_res_port *unused;
	const struct rd_qp_port *port = rd_qp_port_of(j, &j->res->qps[i], &unused);

	if (rd_qp_since(j, j->res->qps[i].dev, RD_QPC_SENT) > PSN_HALF ||
	    rd_qp_since(j, j->res->qps[i].dev, RD_QPC_GOT) > PSN_HALF)
		return true;
	return !port || port->rate_gbps.known != RD_OK ||
	       port->rate_gbps.v * 1e9 / 8 / mtu * j->opts->seconds > PSN_HALF;
}

void rd_qp_judge_ready(const struct rd_qp_judging *j, const struct rd_qp_one *one)
{
	if (!rd_qp_is_connected_type(one->qp))
		return rd_qp_set(j, one, RD_QPV_OK, RD_QP_DO_NOTHING,
				 rd_text("in RTS; this type has no connection that could fail"));
	if (one->past->psn_per_second.known != RD_OK && one->past->psn_fell)
		return rd_qp_set(
			j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_CLOSER,
			rd_text("in %s; its PSN fell in %.1f s: either it retransmits, or it has sent or received "
				"more packets than a PSN counts (2^24)",
				rd_qp_state_name(one->qp->state.v), j->opts->seconds));
	if (one->past->psn_per_second.known != RD_OK && rd_qp_unacknowledged(one->qp))
		return rd_qp_set(
			j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_TWICE,
			rd_text("in RTS; one sample does not show whether packets flow; not acknowledged yet: at least %u",
				rd_qp_unacknowledged(one->qp)));
	if (one->past->psn_per_second.known != RD_OK)
		return rd_qp_set(j, one, RD_QPV_CANNOT_TELL, RD_QP_DO_TWICE,
				 rd_text("in RTS; one sample does not show whether packets flow"));
	/* PSNs advance when packets are retransmitted. */
	if (rd_qp_is_moving(j, one->qp, one->past) && one->past->unacked && one->past->retry_changed)
		return judge_waiting(j, one);
	if (rd_qp_is_moving(j, one->qp, one->past) && is_unacknowledged(j, one->qp, one->past))
		return judge_unacknowledged(j, one);
	if (rd_qp_is_moving(j, one->qp, one->past))
		return judge_moving(j, one);
	judge_stalled(j, one);
}
