// SPDX-License-Identifier: GPL-2.0-or-later
/* The verdict on each queue pair: by what its device lost, by its packets, by its state. */
#include "analyse/qp/qp-verdict.h"

#include "analyse/qp/qp-verdict-priv.h"
#include "analyse/qp/qp.h"
#include "base/err.h"
#include "base/text.h"
#include "model/rdma/qp.h"

/* Evidence by topic, else by name; a retrained link (topic "link-down") did not go down. */
static const struct {
	enum rd_topic topic;
	enum rd_qp_count what;
} topics[] = {
	{ RD_TOPIC_TIMEOUT, RD_QPC_RETRIES },	{ RD_TOPIC_RETRIES, RD_QPC_EXHAUSTED },
	{ RD_TOPIC_RNR_GOT, RD_QPC_RNR },	{ RD_TOPIC_RNR_END, RD_QPC_RNR_EXHAUSTED },
	{ RD_TOPIC_RNR, RD_QPC_RNR_SENT },	{ RD_TOPIC_LOST, RD_QPC_OUT_OF_ORDER },
	{ RD_TOPIC_PACKETS_SENT, RD_QPC_SENT }, { RD_TOPIC_PACKETS_GOT, RD_QPC_GOT },
};
static const struct {
	const char *name;
	enum rd_qp_count what;
} names[] = {
	{ "duplicate_request", RD_QPC_DUPLICATES },
	{ "retrans_pkts", RD_QPC_NAKS },
	{ "link_downed", RD_QPC_LINK_DOWNED },
};

/* RD_QPC_N: not evidence. */
static enum rd_qp_count count_of(enum rd_topic topic, const char *name)
{
	if (topic == RD_TOPIC_LOST && rd_counts_requests(name))
		return RD_QPC_NAKS;
	for (size_t i = 0; i < RD_ARRAY_SIZE(topics); i++)
		if (topics[i].topic == topic)
			return topics[i].what;
	for (size_t i = 0; i < RD_ARRAY_SIZE(names); i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].what;
	return RD_QPC_N;
}

static bool has_counter(const struct rd_qp_counters *counters, const char *name)
{
	for (size_t i = 0; i < counters->n; i++)
		if (strcmp(counters->v[i].name, name) == 0)
			return true;
	return false;
}

void rd_qp_counters_find(const struct rd_meanings *meanings, struct rd_qp_counters *ret)
{
	for (size_t i = 0; i < meanings->n; i++) {
		const char *name = meanings->v[i].name;
		enum rd_qp_count what = count_of(meanings->v[i].topic, name);

		if (what == RD_QPC_N || strpbrk(name, "*[/") || has_counter(ret, name))
			continue;
		*RD_ADD(ret->v, ret->n, ret->cap) = (struct rd_qp_counter){ what, name };
	}
}

/*
 * A bit error rate of 1e-12 loses one packet of 4 KiB in 3e7; congestion that a lossless or a well-tuned lossy network allows loses
 * fewer than one in 1e4. At one in 1e3, a device that goes back to the lost packet (IBTA vol. 1, 9.7.2) retransmits a noticeable
 * part of all packets.
 */
#define HARMLESS_SHARE 1e-3

/* The share is above `HARMLESS_SHARE`, and not by chance: by two standard deviations of a Poisson distribution, so by at least five
 * events. */
static bool is_too_many(uint64_t events, uint64_t packets)
{
	double beyond = (double)events - HARMLESS_SHARE * (double)packets;

	return beyond > 0 && beyond * beyond > 4.0 * (double)events;
}

/* Too few to exclude a burst, but a share that a healthy path never loses: this is how a slow job shows a loss of 20 %, and how lost
 * ACKs look, of which there are fewer than packets. */
static bool is_suspect(uint64_t events, uint64_t packets)
{
	return events > 1 && (double)events > 5 * HARMLESS_SHARE * (double)packets;
}

static bool is_counted(const struct rd_qp_judging *j, int dev, enum rd_qp_count what)
{
	return j->opts->since && j->opts->since[dev].v[what].known == RD_OK;
}

uint64_t rd_qp_since(const struct rd_qp_judging *j, int dev, enum rd_qp_count what)
{
	return is_counted(j, dev, what) ? j->opts->since[dev].v[what].v : 0;
}

static uint64_t since(const struct rd_qp_one *one, enum rd_qp_count what)
{
	return rd_qp_since(one->j, one->qp->dev, what);
}

/* Whether it is known what all queue pairs of the device transferred. */
static bool lists_all_packets(const struct rd_qp_judging *j, int dev)
{
	return !j->devices[dev].unclear && !j->devices[dev].unlisted && !rd_res_dev_hides_qps(&j->res->devs[dev]);
}

/* Packets that the device sent or received; 0: unknown. Without such a counter, what the queue pairs in the list transferred, if
 * the list is complete. */
static uint64_t packets_of(const struct rd_qp_judging *j, int dev, enum rd_qp_count what)
{
	if (is_counted(j, dev, what))
		return rd_qp_since(j, dev, what);
	return lists_all_packets(j, dev) ? (uint64_t)j->devices[dev].packets : 0;
}

/* Packets behind one that found no receive work request are out of sequence: that is one NAK for each RNR NAK. */
static uint64_t besides(uint64_t events, uint64_t rnr_naks)
{
	return events > rnr_naks ? events - rnr_naks : 0;
}

static bool is_of_requester(enum rd_qp_loss_kind kind)
{
	return kind == RD_QP_LOSS_SENT || kind == RD_QP_LOSS_UNACKED || kind == RD_QP_LOSS_REFUSED;
}

static struct rd_qp_loss find_loss(const struct rd_qp_judging *j, int dev, bool requester,
				   bool (*is_loss)(uint64_t events, uint64_t packets))
{
	uint64_t sent = packets_of(j, dev, RD_QPC_SENT), got = packets_of(j, dev, RD_QPC_GOT);
	uint64_t refused = rd_qp_since(j, dev, RD_QPC_RNR), unposted = rd_qp_since(j, dev, RD_QPC_RNR_SENT);
	uint64_t naks = besides(rd_qp_since(j, dev, RD_QPC_NAKS), refused);
	uint64_t unordered = besides(rd_qp_since(j, dev, RD_QPC_OUT_OF_ORDER), unposted);
	bool in_order = rd_res_dev_is_rxe(&j->res->devs[dev]);
	/* soft-RoCE counts what it retransmits after a NAK as a timeout. */
	uint64_t timeouts = besides(rd_qp_since(j, dev, RD_QPC_RETRIES), in_order ? refused : 0);
	const struct rd_qp_loss found[] = {
		{ RD_QP_LOSS_SENT, naks > refused ? naks : 0, sent, false },
		{ RD_QP_LOSS_RECEIVED, in_order && unordered > unposted ? unordered : 0, got, false },
		{ RD_QP_LOSS_UNPOSTED, unposted, got, true },
		{ RD_QP_LOSS_REFUSED, refused, sent, true },
		{ RD_QP_LOSS_AGAIN, rd_qp_since(j, dev, RD_QPC_DUPLICATES), got, true },
		{ naks ? RD_QP_LOSS_SENT : RD_QP_LOSS_UNACKED, naks + timeouts, sent, true },
		/* Adaptive routing reorders packets that NICs put in order again; Ethernet below soft-RoCE does not. */
		{ RD_QP_LOSS_UNORDERED, unordered, got, false },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(found); i++) {
		if ((requester || !is_of_requester(found[i].kind)) && is_loss(found[i].events, found[i].packets)) {
			struct rd_qp_loss ret = found[i];

			ret.seconds = j->opts->seconds;
			if (ret.kind == RD_QP_LOSS_SENT)
				ret.events = naks + timeouts;
			return ret;
		}
	}
	return (struct rd_qp_loss){ 0 };
}

/* So many events would have been expected in the packets that flowed since: then it is over. */
#define EXPECTED_SURE 5

static void keep_doubts(const struct rd_qp_judging *j)
{
	for (size_t d = 0; j->opts->doubts && d < j->res->n_devs; d++) {
		struct rd_qp_doubt *doubt = &j->opts->doubts[d];
		struct rd_qp_loss loss = find_loss(j, (int)d, true, is_too_many);
		enum rd_qp_count what = is_of_requester(doubt->loss.kind) ? RD_QPC_SENT : RD_QPC_GOT;

		if (loss.kind == RD_QP_LOSS_NONE)
			loss = find_loss(j, (int)d, true, is_suspect);
		if (loss.kind != RD_QP_LOSS_NONE && loss.kind != RD_QP_LOSS_UNORDERED && loss.packets) {
			*doubt = (struct rd_qp_doubt){ .loss = loss };
			continue;
		}
		doubt->packets += packets_of(j, (int)d, what);
		/* Where they are not counted, time stands for them. */
		if (!is_counted(j, (int)d, what) && !lists_all_packets(j, (int)d))
			doubt->seconds += j->opts->seconds;
		if ((double)doubt->packets * (double)doubt->loss.events >= EXPECTED_SURE * (double)doubt->loss.packets ||
		    doubt->seconds * (double)doubt->loss.events >= EXPECTED_SURE * doubt->loss.seconds)
			*doubt = (struct rd_qp_doubt){ 0 };
	}
}

static struct rd_qp_loss loss_before(const struct rd_qp_judging *j, int dev, bool requester)
{
	const struct rd_qp_doubt *doubt = j->opts->doubts ? &j->opts->doubts[dev] : NULL;

	if (!doubt || (!doubt->packets && doubt->seconds <= 0) || (!requester && is_of_requester(doubt->loss.kind)))
		return (struct rd_qp_loss){ 0 };
	return doubt->loss;
}

static char *loss_text(const struct rd_qp_judging *j, int dev, const struct rd_qp_loss *loss)
{
	static const struct {
		const char *share, *events, *packets;
	} words[] = {
		[RD_QP_LOSS_NONE] = { "", "", "" },
		[RD_QP_LOSS_RECEIVED] = { "lost", "out of sequence", "received" },
		[RD_QP_LOSS_AGAIN] = { "received again", "duplicate requests", "received" },
		[RD_QP_LOSS_SENT] = { "retransmitted", "NAKs and ACK timeouts", "sent" },
		[RD_QP_LOSS_UNACKED] = { "not acknowledged in time", "ACK timeouts", "sent" },
		[RD_QP_LOSS_REFUSED] = { "refused", "RNR NAKs received", "sent" },
		[RD_QP_LOSS_UNPOSTED] = { "refused", "RNR NAKs sent", "received" },
		[RD_QP_LOSS_UNORDERED] = { "out of sequence", "lost on the way or reordered by adaptive routing",
					   "received" },
	};
	const char *ibdev = j->res->devs[dev].name, *share = words[loss->kind].share;
	const char *events = words[loss->kind].events, *packets = words[loss->kind].packets;
	double percent = loss->packets ? 100.0 * (double)loss->events / (double)loss->packets : 0;

	if (!loss->packets)
		return rd_text("packets %s: %llu %s in %.1f s; %s does not count packets (device-wide)", share,
			       (unsigned long long)loss->events, events, loss->seconds, ibdev);
	return rd_text("%.*f %% of packets %s: %llu %s, %llu packets %s by %s in %.1f s (device-wide)", percent < 10,
		       percent < 100 ? percent : 100.0, share, (unsigned long long)loss->events, events,
		       (unsigned long long)loss->packets, packets, ibdev, loss->seconds);
}

/* More packets than this in one interval are progress: a retransmission advances the PSN, too (soft-RoCE of 6.1). */
#define PACKETS_STALLED 1.5

bool rd_qp_can_retransmit(const struct rd_qp *qp)
{
	return rd_qp_is_connected_type(qp) && qp->type.v != RD_QPT_UC;
}

bool rd_qp_is_stalled(const struct rd_qp_judging *j, const struct rd_qp *qp, const struct rd_qp_past *past)
{
	/* A queue pair in RTR sends nothing, so a single packet is one received. */
	double least = qp->state.v == RD_QPS_RTR ? 0.5 : PACKETS_STALLED;

	return past->psn_per_second.known == RD_OK && past->psn_per_second.v * j->opts->seconds < least;
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
	       device->unrelated + device->ipoib + rd_res_dev_hides_qps(&j->res->devs[dev]);
}

/* No other queue pair of the device can have lost these packets. */
static bool is_of_this_one(const struct rd_qp_judging *j, int dev, const struct rd_qp_loss *loss)
{
	const struct rd_qp_device *device = &j->devices[dev];
	size_t others = device->failed + device->unclear + device->unlisted;

	if (loss->kind == RD_QP_LOSS_UNPOSTED)
		return count_responders(j, dev) == 1 && loss->packets > 0;
	/* A peer that has no ACK repeats its request without progress. */
	if (loss->by_stalled)
		others += is_of_requester(loss->kind) ? device->stalled : device->waiting;
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
static void judge_undisturbed(const struct rd_qp_one *one, bool requester)
{
	struct rd_qp_loss now = find_loss(one->j, one->qp->dev, requester, is_suspect);
	struct rd_qp_loss loss = now.packets ? now : loss_before(one->j, one->qp->dev, requester);
	_cleanup_free_ char *rate = rate_text(one->past);
	_cleanup_free_ char *text = loss.packets ? loss_text(one->j, one->qp->dev, &loss) : NULL;
	bool counted = is_counted(one->j, one->qp->dev, RD_QPC_RETRIES) ||
		       is_counted(one->j, one->qp->dev, RD_QPC_NAKS) ||
		       is_counted(one->j, one->qp->dev, RD_QPC_OUT_OF_ORDER);
	const char *unknown = counted ? "" : "; losses are not counted by ";

	if (text)
		return rd_qp_set(one, RD_QPV_CANNOT_TELL, RD_QP_DO_LONGER, "%s; too few to %s: %s", rate,
				 now.packets ? "judge" : "show that a loss is over", text);
	if (one->qp->state.v == RD_QPS_RTR)
		return rd_qp_set(one, RD_QPV_RECEIVING, RD_QP_DO_NOTHING, "in RTR; receives %s%s%s", rate, unknown,
				 counted ? "" : one->ibdev);
	/* It sends to a peer that is dead just as well. */
	if (!requester)
		return rd_qp_set(one, RD_QPV_CANNOT_TELL, RD_QP_DO_PEER,
				 "%s; UC has no ACKs: unknown whether what it sends arrives", rate);
	rd_qp_set(one, RD_QPV_OK, RD_QP_DO_NOTHING, "%s%s%s", rate, unknown, counted ? "" : one->ibdev);
}

/* Packets were sent, none was received, ACKs included, and an ACK timeout expired: the first one to a peer that is dead. Ports do not
 * count packets that stay within the device: then this queue pair has more than the device sent. */
static bool is_unacknowledged(const struct rd_qp_judging *j, const struct rd_qp *qp, const struct rd_qp_past *past)
{
	double packets = past->psn_per_second.v * j->opts->seconds;

	return qp->state.v == RD_QPS_RTS && rd_qp_can_retransmit(qp) && rd_qp_since(j, qp->dev, RD_QPC_RETRIES) &&
	       /* PSNs and counters are not read at the same time. */
	       (double)rd_qp_since(j, qp->dev, RD_QPC_SENT) >= packets / 2 && is_counted(j, qp->dev, RD_QPC_GOT) &&
	       !rd_qp_since(j, qp->dev, RD_QPC_GOT);
}

static void judge_unacknowledged(const struct rd_qp_one *one)
{
	size_t candidates = count_requesters(one->device);
	unsigned long long timeouts = since(one, RD_QPC_RETRIES);
	_cleanup_free_ char *rate = rate_text(one->past);

	rd_qp_set(one, candidates == 1 ? RD_QPV_RETRYING : RD_QPV_CANNOT_TELL, RD_QP_DO_PEER,
		  "%s, but %s received no packet in %.1f s, no ACK either, and counted %llu ACK timeout%s (device-wide)",
		  rate, one->ibdev, one->s, timeouts, timeouts == 1 ? "" : "s");
}

/* It has packets: are too many of them lost? */
static void judge_moving(const struct rd_qp_one *one)
{
	bool requester = one->qp->state.v != RD_QPS_RTR && rd_qp_can_retransmit(one->qp);
	struct rd_qp_loss loss = find_loss(one->j, one->qp->dev, requester, is_too_many);
	_cleanup_free_ char *rate = rate_text(one->past);
	_cleanup_free_ char *text = NULL;

	if (loss.kind == RD_QP_LOSS_NONE)
		return judge_undisturbed(one, requester);
	text = loss_text(one->j, one->qp->dev, &loss);
	if (loss.kind != RD_QP_LOSS_UNORDERED && is_of_this_one(one->j, one->qp->dev, &loss))
		return rd_qp_set(one, RD_QPV_SLOW, advice_of(&loss), "%s; %s", text, rate);
	/* All that it sent may be retransmissions. */
	if (loss.kind == RD_QP_LOSS_UNACKED && one->past->psn_per_second.v * one->s <= (double)loss.events)
		return rd_qp_set(one, RD_QPV_CANNOT_TELL, RD_QP_DO_PEER,
				 "%s, not more than were retransmitted by this or another queue pair: %s", rate, text);
	rd_qp_set(one, RD_QPV_CANNOT_TELL, advice_of(&loss), "%s; of this or another queue pair: %s", rate, text);
}

/* RNR NAKs: whose program posts no receives? False: there are none. */
static bool judge_unready(const struct rd_qp_one *one)
{
	bool sends = one->qp->state.v == RD_QPS_RTS && rd_qp_can_retransmit(one->qp);
	unsigned long long got = sends ? since(one, RD_QPC_RNR) : 0;
	unsigned long long sent = rd_qp_can_retransmit(one->qp) ? since(one, RD_QPC_RNR_SENT) : 0;
	size_t n = got ? count_requesters(one->device) : count_responders(one->j, one->qp->dev);

	/* Receive work requests may have been posted at once. */
	if ((got ?: sent) == 1)
		rd_qp_set(
			one, RD_QPV_CANNOT_TELL, got ? RD_QP_DO_RNR : RD_QP_DO_POST,
			"no packet in %.1f s; %s %s one RNR NAK, with or without success of the next try (device-wide)",
			one->s, one->ibdev, got ? "received" : "sent");
	else if (got && n > 1)
		rd_qp_set(
			one, RD_QPV_CANNOT_TELL, RD_QP_DO_RNR,
			"no packet in %.1f s; %s received %llu RNR NAKs in that time, for this or another of its %zu queue pairs (device-wide)",
			one->s, one->ibdev, got, n);
	else if (got || sent)
		rd_qp_set(
			one, n == 1 ? RD_QPV_NO_RECEIVES : RD_QPV_CANNOT_TELL, got ? RD_QP_DO_RNR : RD_QP_DO_POST,
			"no packet in %.1f s; %s %s %llu RNR NAKs%s: %s (device-wide)", one->s, one->ibdev,
			got ? "received" : "sent", got ?: sent, n == 1 ? "" : " in that time",
			got ? "the remote QP is not ready to receive, its program posts no receive work requests" :
			n == 1 ?
			      "the program of this QP posts no receive work requests" :
			      "the program of this or of another of its queue pairs posts too few receive work requests");
	return got || sent;
}

/* Fewer ACK timeouts may be what a healthy path of another queue pair loses. */
#define TIMEOUTS_SURE 4

/* How many queue pairs without packets what the device retransmitted can be of; 0: others can have caused it, too. A path that loses
 * packets of those that have some shows it by NAKs, and by more than a harmless share. */
static size_t count_silent(const struct rd_qp_judging *j, int dev)
{
	const struct rd_qp_device *device = &j->devices[dev];
	enum rd_qp_loss_kind lost = find_loss(j, dev, true, is_too_many).kind;

	if (device->failed || device->unclear || device->unlisted)
		return 0;
	if (device->senders &&
	    (rd_qp_since(j, dev, RD_QPC_RETRIES) < TIMEOUTS_SURE || !is_counted(j, dev, RD_QPC_NAKS) ||
	     rd_qp_since(j, dev, RD_QPC_NAKS) || (lost != RD_QP_LOSS_NONE && lost != RD_QP_LOSS_UNORDERED) ||
	     find_loss(j, dev, true, is_suspect).kind == RD_QP_LOSS_UNACKED))
		return 0;
	return device->stalled;
}

/* Whether one queue pair can have as many ACK timeouts in the interval: devices let them run up to four times as long. */
static bool can_time_out(const struct rd_qp_one *one, double timeouts)
{
	const struct rd_qp_seen attrs = rd_qp_attributes(&one->j->views->v[one->i]);
	struct rd_timeouts set = { .timeout = { attrs.timeout.v, attrs.timeout.known } };
	struct rd_giveup giveup = rd_qp_giveup(set);
	double most = giveup.ack_timeout.known == RD_OK ? one->s / giveup.ack_timeout.v : timeouts;

	return !giveup.ack_for_ever && timeouts <= most + 1 && timeouts + 1 >= most / 4;
}

static enum rd_qp_advice note_device(const struct rd_qp_judging *j, int dev, struct rd_qp_note *note)
{
	const struct rd_qp_device *device = &j->devices[dev];
	struct rd_qp_loss loss = find_loss(j, dev, true, is_too_many);
	unsigned long long retries = rd_qp_since(j, dev, RD_QPC_RETRIES), got = rd_qp_since(j, dev, RD_QPC_RNR);
	unsigned long long sent = rd_qp_since(j, dev, RD_QPC_RNR_SENT);
	const char *ibdev = j->res->devs[dev].name;
	size_t silent = count_silent(j, dev);
	double s = j->opts->seconds;

	note->of_requester = true;
	if (device->moving && loss.kind != RD_QP_LOSS_NONE && loss.kind != RD_QP_LOSS_UNORDERED && loss.packets) {
		note->why = loss_text(j, dev, &loss);
		note->of_requester = is_of_requester(loss.kind);
		return advice_of(&loss);
	}
	if (!device->senders && device->stalled && got > 1) {
		note->why = rd_text("%s received %llu RNR NAKs in %.1f s, for those without packets (device-wide)",
				    ibdev, got, s);
		return RD_QP_DO_RNR;
	}
	if (!device->moving && device->waiting && sent > 1) {
		note->why = rd_text("%s sent %llu RNR NAKs in %.1f s, without progress (device-wide)", ibdev, sent, s);
		note->of_requester = false;
		return got > 1 ? RD_QP_DO_RNR : RD_QP_DO_POST;
	}
	/* A single one beside others with packets has its verdict: it was, or it cannot have been. */
	note->retries = retries > 1 && silent && !(device->senders && silent == 1);
	if (note->retries)
		note->why = rd_text("%s retransmitted %llu times in %.1f s, for those without packets (device-wide)",
				    ibdev, retries, s);
	return RD_QP_DO_PEER;
}

/* Timeouts of the same request are at most so far apart: four times what NCCL sets by itself (IBTA vol. 1, 9.7.6.1.3). */
#define RETRIES_APART 20

/* No packet: no work posted, or no packet gets through? */
static void judge_stalled(const struct rd_qp_one *one)
{
	/* A queue pair with packets may be the one that retransmits, too; one of UC is not. */
	size_t candidates = count_requesters(one->device);
	unsigned long long retries = since(one, RD_QPC_RETRIES);
	bool lately = one->past->retried_seconds.known == RD_OK && one->past->retried_seconds.v < RETRIES_APART;
	unsigned long long before = lately ? one->past->retried : 0;
	unsigned long long again = since(one, RD_QPC_DUPLICATES);
	uint64_t got = packets_of(one->j, one->qp->dev, RD_QPC_GOT);

	if (judge_unready(one))
		return;
	/* The remote QP has no ACK for what arrived before: it is not idle. */
	if (rd_qp_can_retransmit(one->qp) && again > 1 && !retries &&
	    (!one->device->moving || (got && is_too_many(again, got))))
		return rd_qp_set(
			one, RD_QPV_CANNOT_TELL, RD_QP_DO_LATE,
			"no new packet in %.1f s; %s received %llu duplicate requests: of this or another of its queue pairs, ACKs do not arrive (device-wide)",
			one->s, one->ibdev, again);
	if (!rd_qp_can_retransmit(one->qp))
		return rd_qp_set(one, RD_QPV_IDLE, RD_QP_DO_IDLE,
				 "no packet in %.1f s; UC queue pairs do not retransmit", one->s);
	if (!is_counted(one->j, one->qp->dev, RD_QPC_RETRIES))
		return rd_qp_set(one, RD_QPV_CANNOT_TELL, RD_QP_DO_PEER,
				 "no packet in %.1f s; retransmissions of %s are not counted", one->s, one->ibdev);
	if (!retries && before)
		return rd_qp_set(
			one, RD_QPV_CANNOT_TELL, RD_QP_DO_PEER,
			"no packet in %.1f s; %s retransmitted %llu time%s before, after the last packet (device-wide)",
			one->s, one->ibdev, before, before == 1 ? "" : "s");
	if (!retries)
		return rd_qp_set(one, RD_QPV_IDLE, RD_QP_DO_IDLE, "no packet in %.1f s; %s did not retransmit", one->s,
				 one->ibdev);
	if (candidates == 1 && !(one->past->psn_per_second.v > 0))
		one->verdict->retried = (uint32_t)(retries + before);
	/* Of a request that was sent before, and acknowledged since. */
	if (retries + before == 1)
		return rd_qp_set(one, RD_QPV_CANNOT_TELL, RD_QP_DO_PEER,
				 "no packet in %.1f s; %s retransmitted once, with or without success (device-wide)",
				 one->s, one->ibdev);
	if (candidates > 1 && (count_silent(one->j, one->qp->dev) != 1 || !can_time_out(one, (double)retries)))
		return rd_qp_set(
			one, RD_QPV_CANNOT_TELL, RD_QP_DO_PEER,
			"no packet in %.1f s; %s retransmitted in that time, for this or another of its %zu queue pairs",
			one->s, one->ibdev, candidates);
	rd_qp_set(one, RD_QPV_RETRYING, RD_QP_DO_PEER,
		  "no packet in %.1f s; %s retransmitted %llu times %s, without progress%s (device-wide)", one->s,
		  one->ibdev, retries > 1 ? retries : retries + before,
		  retries > 1 ? "in that time" : "after the last packet",
		  candidates > 1 ? "; all its other queue pairs have packets" : "");
}

/* PSNs have 24 bits. Half of them: packets can be shorter than the path MTU, and links be bonded. Much shorter ones are counted. */
#define PSN_HALF (1u << 23)

/* Of RoCE on an Ethernet of 1500 bytes: where the path MTU is unknown, so that packets may be as short. */
#define MTU_UNKNOWN 1024

static bool may_have_wrapped(const struct rd_qp_judging *j, size_t i)
{
	const struct rd_qp_seen attrs = rd_qp_attributes(&j->views->v[i]);
	double mtu = attrs.path_mtu.known == RD_OK && attrs.path_mtu.v ? attrs.path_mtu.v : MTU_UNKNOWN;
	const struct rd_qp_port *port = rd_qp_port_of(j, &j->res->qps[i]);

	if (rd_qp_since(j, j->res->qps[i].dev, RD_QPC_SENT) > PSN_HALF ||
	    rd_qp_since(j, j->res->qps[i].dev, RD_QPC_GOT) > PSN_HALF)
		return true;
	return !port || port->rate_gbps.known != RD_OK ||
	       port->rate_gbps.v * 1e9 / 8 / mtu * j->opts->seconds > PSN_HALF;
}

static void judge_ready(const struct rd_qp_one *one)
{
	if (!rd_qp_is_connected_type(one->qp))
		return rd_qp_set(one, RD_QPV_OK, RD_QP_DO_NOTHING,
				 "in RTS; this type has no connection that could fail");
	if (one->past->psn_per_second.known != RD_OK && one->past->psn_fell)
		return rd_qp_set(
			one, RD_QPV_CANNOT_TELL, RD_QP_DO_CLOSER,
			"in %s; its PSN fell in %.1f s: either it retransmits, or it has sent or received more packets than a PSN counts (2^24)",
			rd_qp_state_name(one->qp->state.v), one->s);
	if (one->past->psn_per_second.known != RD_OK && one->qp->sq_psn.known != RD_OK && one->qp->rq_psn.known != RD_OK)
		return rd_qp_set(one, RD_QPV_CANNOT_TELL, RD_QP_DO_NOTHING,
				 "in RTS; its driver reports no PSNs, so it is unknown whether packets flow");
	if (one->past->psn_per_second.known != RD_OK)
		return rd_qp_set(one, RD_QPV_CANNOT_TELL, RD_QP_DO_TWICE,
				 "in RTS; one sample does not show whether packets flow");
	/* PSNs advance when packets are retransmitted. */
	if (rd_qp_is_moving(one->j, one->qp, one->past) && is_unacknowledged(one->j, one->qp, one->past))
		return judge_unacknowledged(one);
	if (rd_qp_is_moving(one->j, one->qp, one->past))
		return judge_moving(one);
	judge_stalled(one);
}

void rd_qp_set(const struct rd_qp_one *one, enum rd_qp_verdict_kind kind, enum rd_qp_advice advice, const char *why, ...)
{
	va_list ap;

	/* Most of thousands have the same one. */
	va_start(ap, why);
	one->verdict->why = strchr(why, '%') ? rd_qp_views_keep(one->j->views, rd_vtext(why, ap)) : why;
	va_end(ap);
	one->verdict->kind = kind;
	one->verdict->fix = rd_qp_fix(one, advice);
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

	return name ?: "?";
}

static void judge_unreadable(const struct rd_qp_one *one)
{
	const struct rd_qp *qp = one->qp;
	const char *name = qp->query_errno ? rd_errno_name(qp->query_errno) : NULL;

	if (qp->query_errno && !rd_qp_query_failed(qp))
		return rd_qp_set(
			one, RD_QPV_CANNOT_TELL, RD_QP_DO_DEVICE,
			"never moved to INIT; the kernel reports the state of such a QP only in its dump, which ended early");
	rd_qp_set(one, RD_QPV_CANNOT_TELL, RD_QP_DO_DEVICE, "the device did not report the state of the QP%s%s%s",
		  name ? " (" : "", name ?: "", name ? ")" : "");
}

static bool is_for_too_long(const struct rd_qp_judging *j, const struct rd_qp_past *past)
{
	return past->age_kind != RD_AGE_UNKNOWN && past->age_seconds.v >= j->opts->stuck_seconds;
}

/* In RTR for long, without packets. A QP that only receives may stay in RTR for ever, and one that has received does not wait for
 * RTS; another one, whose process moved others to RTS, does. */
static void judge_silent_rtr(const struct rd_qp_one *one, const char *age)
{
	const struct rd_qp *qp = one->qp;

	bool received = one->past->best_per_second.known == RD_OK && one->past->best_per_second.v > 0;

	if (!received && qp->type.known == RD_OK && qp->type.v == RD_QPT_RC && qp->proc >= 0 &&
	    one->j->has_rts[qp->proc])
		return rd_qp_set(
			one, RD_QPV_STUCK, RD_QP_DO_STUCK,
			"in RTR %s: no modify_qp call moved it to RTS, where other queue pairs of its process are",
			age);
	rd_qp_set(one, RD_QPV_CANNOT_TELL, RD_QP_DO_RECEIVER,
		  "in RTR %s%s: either a QP that only receives, or one that waits for its program to move it to RTS",
		  age, one->past->psn_per_second.known == RD_OK ? ", no packet received" : "");
}

/* In INIT or RTR: connecting, or stuck. */
static void judge_connecting(const struct rd_qp_one *one)
{
	const struct rd_qp_past *past = one->past;
	bool bounded = past->age_max_seconds.known == RD_OK && past->age_max_seconds.v < one->j->opts->stuck_seconds;
	const char *name = past->last_err ? rd_errno_name(past->last_err) : NULL;
	_cleanup_free_ char *age = age_text(past);
	const char *state = state_name(one->qp);

	if (is_for_too_long(one->j, past) && name)
		return rd_qp_set(one, RD_QPV_STUCK, RD_QP_DO_STUCK, "in %s %s: the last modify_qp failed with %s",
				 state, age, name);
	if (is_for_too_long(one->j, past) && one->qp->state.v == RD_QPS_RTR)
		return judge_silent_rtr(one, age);
	/* It waits for no peer: programs open more of them than they use. */
	if (is_for_too_long(one->j, past) && one->qp->type.known == RD_OK && !rd_qp_is_connected_type(one->qp))
		return rd_qp_set(one, RD_QPV_CANNOT_TELL, RD_QP_DO_PROGRAM,
				 "in %s %s: this type has no connection; not used, or its program hangs", state, age);
	/* As that of a server that has one, until its client comes. */
	if (is_for_too_long(one->j, past) && one->qp->proc >= 0 && one->j->n_qps[one->qp->proc] == 1)
		return rd_qp_set(
			one, RD_QPV_CANNOT_TELL, RD_QP_DO_STUCK,
			"in %s %s, the only queue pair of its process: a server that waits for a client, or stuck",
			state, age);
	if (is_for_too_long(one->j, past))
		return rd_qp_set(one, RD_QPV_STUCK, RD_QP_DO_STUCK,
				 "in %s %s: no modify_qp call moved it to the next state", state, age);
	if (name)
		return rd_qp_set(one, RD_QPV_CANNOT_TELL, RD_QP_DO_STUCK,
				 "in %s %s; modify_qp failed with %s; the program may retry", state, age, name);
	if (bounded)
		return rd_qp_set(one, RD_QPV_OK, RD_QP_DO_LATER, "connecting: in %s %s", state, age);
	rd_qp_set(one, RD_QPV_CANNOT_TELL, RD_QP_DO_LATER, "in %s %s: connecting, or stuck after %.0f s", state, age,
		  one->j->opts->stuck_seconds);
}

/* It can receive, and moves on to RTS if it is to send. */
static void judge_rtr(const struct rd_qp_one *one)
{
	const struct rd_qp *qp = one->qp;
	bool unclear = one->past->psn_fell && one->past->psn_per_second.known != RD_OK;

	if (rd_qp_is_connected_type(qp) && (unclear || rd_qp_is_moving(one->j, qp, one->past)))
		return judge_ready(one);
	if (rd_qp_is_connected_type(qp) && judge_unready(one))
		return;
	if (qp->type.known == RD_OK && qp->type.v == RD_QPT_XRC_TGT)
		return rd_qp_set(one, RD_QPV_OK, RD_QP_DO_RECEIVER, "in RTR, the final state of an XRC target QP");
	/* The final state of a DC target, too, whose type the kernel calls DRIVER. */
	if (qp->type.known == RD_OK && !rd_qp_is_connected_type(qp) && !one->past->last_err)
		return rd_qp_set(one, RD_QPV_OK, RD_QP_DO_NOTHING,
				 "in RTR: it can receive; this type has no connection that could fail");
	judge_connecting(one);
}

/* In the interval in which the QP failed, its device counted at least as many exceeded retry counts as failed QPs; otherwise the
 * cause that an earlier sample found. */
static enum rd_qp_cause cause_of(const struct rd_qp_one *one)
{
	/* One that is not listed, or no longer exists, may have failed, too. */
	size_t failed = one->device->failed + one->device->unlisted;

	if (!one->past->fresh || one->past->moved_by_call || one->qp->state.v != RD_QPS_ERR ||
	    !rd_qp_can_retransmit(one->qp))
		return one->past->cause;
	if (since(one, RD_QPC_EXHAUSTED) >= failed)
		return RD_QP_CAUSE_RETRIES;
	if (since(one, RD_QPC_RNR_EXHAUSTED) >= failed)
		return RD_QP_CAUSE_RNR;
	return one->past->cause;
}

/* A kernel log line that names the QP is better evidence than counters of the whole device. */
static void judge_logged(const struct rd_qp_one *one, const char *age)
{
	const char *line = one->line->text, *status = rd_qp_log_status(line);
	enum rd_qp_cause cause = rd_qp_log_cause(line);

	if (cause == RD_QP_CAUSE_NONE)
		cause = one->verdict->cause;
	rd_qp_set(one, cause ? RD_QPV_EXHAUSTED : RD_QPV_FAILED,
		  cause == RD_QP_CAUSE_RNR ? RD_QP_DO_RNR :
		  cause			   ? RD_QP_DO_PEER :
					     RD_QP_DO_CAUSE,
		  "in %s %s; kernel log: %.160s%s%s%s", state_name(one->qp), age, line, status ? " (IBV_WC_" : "",
		  status ?: "", status ? ")" : "");
}

static void judge_failed(const struct rd_qp_one *one)
{
	_cleanup_free_ char *age = age_text(one->past);
	const char *state = state_name(one->qp), *event = NULL;
	bool retries;

	one->verdict->cause = cause_of(one);
	retries = one->verdict->cause == RD_QP_CAUSE_RETRIES;
	if (one->line)
		return judge_logged(one, age);
	if (one->verdict->cause != RD_QP_CAUSE_NONE)
		return rd_qp_set(one, RD_QPV_EXHAUSTED, retries ? RD_QP_DO_PEER : RD_QP_DO_RNR,
				 "in %s %s; %s: %s counted it when the QP failed (device-wide)", state, age,
				 retries ? "transport retry count exceeded (IBV_WC_RETRY_EXC_ERR)" :
					   "RNR retry count exceeded (IBV_WC_RNR_RETRY_EXC_ERR)",
				 one->ibdev);
	if (one->past->moved_by_call)
		return rd_qp_set(one, RD_QPV_FLUSHED, RD_QP_DO_PROGRAM,
				 "in %s %s: its program moved it there; posted work requests were flushed", state, age);
	if (one->past->last_event.known == RD_OK)
		event = rd_ib_event_name(one->past->last_event.v) ?: "an unknown event";
	rd_qp_set(one, RD_QPV_FAILED, RD_QP_DO_CAUSE, "in %s %s; %s%s", state, age,
		  event ? "the device reported " : "cause unknown", event ?: "");
}

static void judge_drained(const struct rd_qp_one *one)
{
	_cleanup_free_ char *age = age_text(one->past);

	if (is_for_too_long(one->j, one->past))
		return rd_qp_set(one, RD_QPV_STUCK, RD_QP_DO_PROGRAM,
				 "in SQD %s: its program has not resumed the send queue", age);
	rd_qp_set(one, RD_QPV_CANNOT_TELL, RD_QP_DO_LATER, "in SQD %s: its program is draining the send queue", age);
}

static void judge_one(const struct rd_qp_one *one)
{
	if (one->qp->state.known != RD_OK || one->qp->dev < 0)
		return judge_unreadable(one);
	switch (one->qp->state.v) {
	case RD_QPS_RESET:
		return rd_qp_set(one, RD_QPV_CANNOT_TELL, RD_QP_DO_PROGRAM, "in RESET: created, not used yet");
	case RD_QPS_INIT:
		return judge_connecting(one);
	case RD_QPS_RTR:
		return judge_rtr(one);
	case RD_QPS_RTS:
		return judge_ready(one);
	case RD_QPS_SQD:
		return judge_drained(one);
	case RD_QPS_SQE:
	case RD_QPS_ERR:
		return judge_failed(one);
	default:
		return judge_unreadable(one);
	}
}

static void count_qp(const struct rd_qp_judging *j, const struct rd_qp *qp, const struct rd_qp_past *past)
{
	struct rd_qp_device *device = &j->devices[qp->dev];
	bool moving = rd_qp_is_moving(j, qp, past), rts = qp->state.v == RD_QPS_RTS;

	if (qp->proc >= 0)
		j->n_qps[qp->proc]++;
	if (qp->state.v == RD_QPS_ERR && past->fresh)
		++*(past->moved_by_call ? &device->unclear : &device->failed);
	if (!rts && qp->state.v != RD_QPS_RTR)
		return;
	if (!rd_qp_is_connected_type(qp)) {
		device->unrelated += !qp->owner.kernel;
		device->ipoib += qp->owner.kernel && strcmp(qp->owner.kernel, "ib_ipoib") == 0;
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

int rd_qp_compare_neighbours(const void *a, const void *b)
{
	const struct rd_neigh *x = *(const struct rd_neigh *const *)a, *y = *(const struct rd_neigh *const *)b;

	return x->v6 != y->v6 ? (int)x->v6 - (int)y->v6 : memcmp(x->addr, y->addr, x->v6 ? 16 : 4);
}

void rd_qp_judge(struct rd_qp_views *views, const struct rd_qp_judge *opts)
{
	const struct rd_res *res = views->res;
	_cleanup_free_ struct rd_qp_device *devices = rd_alloc(res->n_devs + 1, sizeof(*devices));
	_cleanup_free_ bool *has_rts = rd_alloc(res->n_procs + 1, sizeof(*has_rts));
	_cleanup_free_ size_t *n_qps = rd_alloc(res->n_procs + 1, sizeof(*n_qps));
	_cleanup_free_ const struct rd_krecord **lines = NULL;
	_cleanup_free_ const struct rd_neigh **neighs =
		rd_alloc((opts->net ? opts->net->n_neighs : 0) + 1, sizeof(*neighs));
	struct rd_qp_judging j = { .views = views,
				   .res = res,
				   .opts = opts,
				   .devices = devices,
				   .has_rts = has_rts,
				   .n_qps = n_qps,
				   .neighs = neighs };

	if (opts->klog && opts->klog->known == RD_OK)
		lines = rd_qp_log_join(opts->klog, views, opts->mono_ns);
	for (size_t i = 0; opts->net && i < opts->net->n_neighs; i++)
		neighs[j.n_neighs++] = &opts->net->neighs[i];
	rd_sort(neighs, j.n_neighs, sizeof(*neighs), rd_qp_compare_neighbours);
	/* Where a PSN may have wrapped, the packets between two samples are unknown, not none. */
	for (size_t i = 0; i < j.res->n_qps; i++) {
		const struct rd_qp *qp = &j.res->qps[i];
		struct rd_qp_past past = *j.views->v[i].past;

		if (!past.psn_fell || qp->dev < 0 || qp->state.known != RD_OK || !rd_qp_is_stalled(&j, qp, &past) ||
		    !may_have_wrapped(&j, i))
			continue;
		past.psn_per_second.known = RD_ABSENT;
		rd_qp_views_set_past(j.views, i, &past);
	}
	count_devices(&j);
	keep_doubts(&j);
	for (size_t i = 0; i < res->n_qps; i++) {
		const struct rd_qp_past *past = views->v[i].past;
		struct rd_qp_verdict verdict = { .cause = past->cause };
		int dev = res->qps[i].dev;
		struct rd_qp_one one = { .j = &j,
					 .ibdev = dev < 0 ? NULL : res->devs[dev].name,
					 .device = dev < 0 ? NULL : &devices[dev],
					 .s = opts->seconds,
					 .i = i,
					 .qp = &res->qps[i],
					 .past = past,
					 .line = lines ? lines[i] : NULL,
					 .verdict = &verdict };

		judge_one(&one);
		rd_qp_judge_trouble(&one);
		rd_qp_judge_stopped(&one);
		rd_qp_views_set_verdict(views, i, &verdict);
	}
	for (size_t d = 0; d < j.res->n_devs; d++) {
		struct rd_qp_note note = { 0 };
		enum rd_qp_advice advice = note_device(&j, (int)d, &note);

		if (!note.why)
			continue;
		note.fix = rd_qp_device_fix(j.res->devs[d].name, advice);
		rd_qp_views_note(j.views, d, &note);
	}
}
