/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the packets that a device lost are too many to be harmless. */
#include "analyse/qp/qp-verdict-priv.h"

#include "analyse/qp/qp.h"
#include "base/text.h"

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

uint64_t rd_qp_since(const struct rd_qp_judging *j, int dev, enum rd_qp_count what)
{
	return rd_qp_is_counted(j, dev, what) ? j->opts->since[dev].v[what].v : 0;
}

bool rd_qp_is_counted(const struct rd_qp_judging *j, int dev, enum rd_qp_count what)
{
	return j->opts->since && j->opts->since[dev].v[what].known == RD_OK;
}

/* Packets that the device sent or received; 0: unknown. Without such a counter, what the queue pairs in the list transferred, if
 * the list is complete. */
static uint64_t packets_of(const struct rd_qp_judging *j, int dev, enum rd_qp_count what)
{
	const struct rd_qp_device *device = &j->devices[dev];

	if (rd_qp_is_counted(j, dev, what))
		return rd_qp_since(j, dev, what);
	if (device->unclear || device->unlisted || rd_res_dev_hides_qps(&j->res->devs[dev]))
		return 0;
	return (uint64_t)device->packets;
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
		{ RD_QP_LOSS_AGAIN, rd_qp_since(j, dev, RD_QPC_DUPLICATES), got, false },
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

struct rd_qp_loss rd_qp_loss_of(const struct rd_qp_judging *j, int dev, bool requester)
{
	return find_loss(j, dev, requester, is_too_many);
}

struct rd_qp_loss rd_qp_loss_suspect(const struct rd_qp_judging *j, int dev, bool requester)
{
	return find_loss(j, dev, requester, is_suspect);
}

/* So many events would have been expected in the packets that flowed since: then it is over. */
#define EXPECTED_SURE 5

void rd_qp_keep_doubts(const struct rd_qp_judging *j)
{
	for (size_t d = 0; j->opts->doubts && d < j->res->n_devs; d++) {
		struct rd_qp_doubt *doubt = &j->opts->doubts[d];
		struct rd_qp_loss loss = rd_qp_loss_of(j, (int)d, true);

		if (loss.kind == RD_QP_LOSS_NONE)
			loss = rd_qp_loss_suspect(j, (int)d, true);
		if (loss.kind != RD_QP_LOSS_NONE && loss.kind != RD_QP_LOSS_UNORDERED && loss.packets) {
			*doubt = (struct rd_qp_doubt){ .loss = loss };
			continue;
		}
		doubt->packets += packets_of(j, (int)d, is_of_requester(doubt->loss.kind) ? RD_QPC_SENT : RD_QPC_GOT);
		if ((double)doubt->packets * (double)doubt->loss.events >= EXPECTED_SURE * (double)doubt->loss.packets)
			*doubt = (struct rd_qp_doubt){ 0 };
	}
}

struct rd_qp_loss rd_qp_loss_before(const struct rd_qp_judging *j, int dev, bool requester)
{
	const struct rd_qp_doubt *doubt = j->opts->doubts ? &j->opts->doubts[dev] : NULL;

	if (!doubt || !doubt->packets || (!requester && is_of_requester(doubt->loss.kind)))
		return (struct rd_qp_loss){ 0 };
	return doubt->loss;
}

char *rd_qp_loss_text(const struct rd_qp_judging *j, int dev, const struct rd_qp_loss *loss)
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
