/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Id, title, fix, severity and confidence of each cause. */
#include "analyse/counters/counters.h"

#include <ctype.h>

#include "analyse/shared/meaning.h"
#include "base/fix.h"

const struct rd_cause_words rd_cause_words[RD_CAUSE_IDS] = {
	[RD_CAUSE_BAD_CABLE] = { "bad-cable", "bad cable or transceiver: data received with errors",
				 "# clean and reseat the connector\n# then replace cable or transceiver\n# then try another port",
				 RD_SEV_CRITICAL, RD_CONFIDENCE_HIGH },
	[RD_CAUSE_ELSEWHERE] = { "damaged-elsewhere",
				 "packets received that were damaged on an earlier link: not the cable of this port",
				 "# look along the path for the port whose own link has errors: counters of the switches, on InfiniBand rdmadiag counters --fabric",
				 RD_SEV_WARNING, RD_CONFIDENCE_HIGH },
	[RD_CAUSE_PCIE_STALL] = { "pcie-backpressure", "PCI Express slows the NIC down",
				  "rdmadiag topo-check\n# topo-check checks link width and speed, relaxed ordering, ACS, NUMA nodes",
				  RD_SEV_WARNING, RD_CONFIDENCE_HIGH },
	[RD_CAUSE_LINK_FLAP] = { "link-flap", "link flaps: it goes down, or retrains, and comes back",
				 "dmesg -T | grep -iw link\n# check and replace cable and transceivers at both ends\n# times are in the kernel log and the switch log",
				 RD_SEV_CRITICAL, RD_CONFIDENCE_HIGH },
	[RD_CAUSE_LINK_DOWN] = { "link-down", "link went down, or retrained",
				 "dmesg -T | grep -iw link\n# unless it was maintenance, check cable and transceiver",
				 RD_SEV_WARNING, RD_CONFIDENCE_HIGH },
	[RD_CAUSE_PCIE_ERRORS] = { "pcie-errors", "PCI Express errors",
				   "dmesg -T | grep AER\n# reseat the card or riser", RD_SEV_CRITICAL,
				   RD_CONFIDENCE_HIGH },
	[RD_CAUSE_PAUSE_STORM] = { "pause-storm",
				   "this host pauses the network: it does not keep up with received traffic",
				   "rdmadiag topo-check\n# drain the host\n# topo-check checks PCI Express and memory\n# look for a hung receiving process or GPU",
				   RD_SEV_CRITICAL, RD_CONFIDENCE_HIGH },
	[RD_CAUSE_PAUSED] = { "paused-by-switch", "switch pauses this host for much of the time",
			      "# find the slow receiver: check the counters of the hosts that this host sends to",
			      RD_SEV_WARNING, RD_CONFIDENCE_MEDIUM },
	[RD_CAUSE_PFC_PRIORITY] = { "pfc-wrong-priority",
				    "PFC pauses a different priority than the one that carries the traffic",
				    "rdmadiag topo-check\n# map the DSCP or VLAN priority of RDMA traffic to the PFC priority, on host and switch",
				    RD_SEV_WARNING, RD_CONFIDENCE_MEDIUM },
	[RD_CAUSE_DROPS_NO_PFC] = { "drops-without-pfc",
				    "packets dropped on this host, for which no pause frames were sent",
				    "rdmadiag topo-check\n# enable PFC for the priority of RDMA traffic, on host and switch",
				    RD_SEV_CRITICAL, RD_CONFIDENCE_MEDIUM },
	[RD_CAUSE_DROPS_PFC] = { "drops-with-pfc", "packets dropped on this host although pause frames were sent",
				 "dcb buffer show dev IF\n# size the PFC headroom for the cable length: increase the receive buffer (mlnx_qos, devlink sb)\n# check the priority of the traffic",
				 RD_SEV_CRITICAL, RD_CONFIDENCE_MEDIUM },
	[RD_CAUSE_DROPS_OTHER] = { "drops-without-rdma",
				   "cannot determine whether packets of RDMA were dropped: this device counted none",
				   "# if the port has virtual functions, compare the counters in the guests or containers that have them",
				   RD_SEV_UNKNOWN, RD_CONFIDENCE_LOW },
	[RD_CAUSE_DISCARDS] = { "discards", "packets dropped before transmission or on reception",
				"# check that the port of the peer is up\n# if it is, look for congestion: on InfiniBand rdmadiag counters --fabric",
				RD_SEV_WARNING, RD_CONFIDENCE_MEDIUM },
	[RD_CAUSE_LIMITED] = { "rate-limit", "packets dropped above the limit of the instance",
			       "# send less, or use an instance with a higher limit", RD_SEV_WARNING,
			       RD_CONFIDENCE_HIGH },
	[RD_CAUSE_PARTITION] = { "wrong-partition", "packets discarded by the partition key check",
				 "# compare the partition keys (P_Keys) of this port and of its peers with the partitions of the subnet manager",
				 RD_SEV_WARNING, RD_CONFIDENCE_MEDIUM },
	[RD_CAUSE_MTU] = { "mtu-mismatch", "received frames longer than this port accepts",
			   "ip link show dev IF\n# set the same MTU on both ends and on the switch\n# no job may use the port meanwhile",
			   RD_SEV_CRITICAL, RD_CONFIDENCE_HIGH },
	[RD_CAUSE_MARKED] = { "congestion", "congestion: switches mark packets (ECN), senders slow down",
			      "# look for many senders to one receiver\n# on InfiniBand rdmadiag counters --fabric lists the busiest ports",
			      RD_SEV_WARNING, RD_CONFIDENCE_HIGH },
	[RD_CAUSE_CNP_UNCLEAR] = { "congestion",
				   "cannot determine whether there is congestion: unreachable peers cause CNPs, too",
				   "rdmadiag qp-state IBDEV\n# qp-state lists unreachable peers\n# check np_ecn_marked_roce_packets at the receivers",
				   RD_SEV_UNKNOWN, RD_CONFIDENCE_LOW },
	[RD_CAUSE_WAITING] = { "congestion", "congestion: port has data to send but no credits",
			       "rdmadiag counters --fabric\n# find the slow receiver or the saturated link",
			       RD_SEV_WARNING, RD_CONFIDENCE_LOW },
	[RD_CAUSE_LOSS] = { "packet-loss", "packets lost on the path",
			    "# look for drops and bad links along the path: switch counters, on InfiniBand rdmadiag counters --fabric\n# a few are normal with adaptive routing",
			    RD_SEV_WARNING, RD_CONFIDENCE_MEDIUM },
	[RD_CAUSE_UNORDERED] = { "packet-loss",
				 "cannot determine whether packets were lost: adaptive routing reorders them, too",
				 "# check packet_seq_err and local_ack_timeout_err at the senders, and whether switches route adaptively",
				 RD_SEV_UNKNOWN, RD_CONFIDENCE_LOW },
	[RD_CAUSE_TIMEOUT] = { "ack-timeout", "ACK timeouts: no ACK from remote QPs in time",
			       "rdmadiag qp-state IBDEV\n# check that the peers that qp-state lists are up, their ports ACTIVE and the path free of loss",
			       RD_SEV_WARNING, RD_CONFIDENCE_MEDIUM },
	[RD_CAUSE_RNR] = { "receiver-not-ready", "receivers post too few receive work requests (RNR NAK)",
			   "# check for a slow or hung receiving process\n# otherwise use deeper receive queues",
			   RD_SEV_WARNING, RD_CONFIDENCE_HIGH },
	[RD_CAUSE_WORK_FAILED] = { "work-failed", "work requests failed",
				   "rdmadiag qp-state IBDEV\nrdmadiag trace-errno --duration 60\n# find the first failed completion of the program",
				   RD_SEV_WARNING, RD_CONFIDENCE_LOW },
	[RD_CAUSE_WEAK_SIGNAL] = { "weak-signal", "weak signal: high bit error rate before FEC",
				   "# clean and reseat the connector\n# then replace cable or transceiver\n# then try another port",
				   RD_SEV_WARNING, RD_CONFIDENCE_MEDIUM },
	[RD_CAUSE_TRANSCEIVER] = { "transceiver", "transceiver fault",
				   "ethtool -m IF\n# replace the transceiver\n# ethtool -m shows its temperature and power",
				   RD_SEV_CRITICAL, RD_CONFIDENCE_HIGH },
	[RD_CAUSE_ICRC] = { "icrc", "packets corrupted between the end points, undetected by link-level CRC",
			    "# a switch or NIC corrupts data: find the path that the packets share, and replace the devices on it",
			    RD_SEV_CRITICAL, RD_CONFIDENCE_HIGH },
	[RD_CAUSE_NOT_SENT] = { "not-sent", "network interface could not send packets of the RDMA device",
				"ip -s link show dev IF\n# check that the interface is up and has the same MTU as the peer",
				RD_SEV_CRITICAL, RD_CONFIDENCE_HIGH },
	[RD_CAUSE_PEER_GONE] = { "peer-gone", "peer does not respond: transport retry count exceeded",
				 "rdmadiag qp-state IBDEV\n# check that host and process of the peers that qp-state lists are alive and their ports ACTIVE",
				 RD_SEV_CRITICAL, RD_CONFIDENCE_HIGH },
	[RD_CAUSE_RNR_END] = { "rnr-exceeded", "receiver not ready: RNR retry count exceeded",
			       "# post more receive work requests, or set rnr_retry to 7 (infinite)\n# check for a hung receiving process",
			       RD_SEV_CRITICAL, RD_CONFIDENCE_HIGH },
	[RD_CAUSE_KEY] = { "wrong-key", "wrong key, address or length: memory access refused",
			   "# check the program for deregistered regions, bounds and access flags\n# check the MTU of both ends",
			   RD_SEV_CRITICAL, RD_CONFIDENCE_MEDIUM },
};

/* Increases of the counters of a port, by topic. */

int rd_priority_of(const char *name)
{
	const char *at = strstr(name, "pri");

	while (at && *at && !isdigit((unsigned char)*at))
		at++;
	if (!at || *at < '0' || *at > '7' || isdigit((unsigned char)at[1]))
		return -1;
	return *at - '0';
}

static void add_evidence(struct rd_moved_topic *topic, uint32_t counter, const struct rd_delta *delta)
{
	struct rd_evidence evidence = { counter, delta->v, delta->kind == RD_DELTA_AT_LEAST };
	size_t at = topic->n;

	if (delta->v > topic->most)
		topic->most = delta->v;
	/* The largest first; if there is no space, the smallest is left out. */
	while (at > 0 && topic->evidence[at - 1].delta < evidence.delta)
		at--;
	if (at == RD_ARRAY_SIZE(topic->evidence))
		return;
	if (topic->n < RD_ARRAY_SIZE(topic->evidence))
		topic->n++;
	memmove(&topic->evidence[at + 1], &topic->evidence[at], (topic->n - at - 1) * sizeof(evidence));
	topic->evidence[at] = evidence;
}

/* Several counters may count the same data: the largest is used; parts of a total are added up. */
static void add_load(uint64_t *to, uint64_t value, const struct rd_meaning *about)
{
	*to = about->parts > 1 ? *to + value : value > *to ? value : *to;
}

static void take_load(struct rd_moved *moved, const struct rd_counter *counter, uint64_t delta)
{
	const struct rd_meaning *about = counter->about;
	/* Bits per unit; 0: not a unit of data. */
	unsigned bits = strcmp(about->unit, "4-octets") == 0 ? 32 :
			strcmp(about->unit, "bytes") == 0    ? 8 :
			strcmp(about->unit, "bits") == 0     ? 1 :
							       0;
	bool of_rdma = counter->group <= RD_GROUP_OPTIONAL;
	int priority = about->topic == RD_TOPIC_PRIORITY_DATA ? rd_priority_of(counter->name) : -1;

	if ((about->topic == RD_TOPIC_DATA_GOT || about->topic == RD_TOPIC_LINE_GOT) && bits &&
	    delta < UINT64_MAX / bits)
		add_load(&moved->bits_in, delta * bits, about);
	if (about->topic == RD_TOPIC_DATA_SENT && bits == 32)
		moved->words_out = delta;
	if ((about->topic == RD_TOPIC_DATA_SENT || about->topic == RD_TOPIC_DATA_GOT) && of_rdma)
		moved->rdma_bytes += delta / 8 * bits;
	if (about->topic == RD_TOPIC_PACKETS_GOT && of_rdma)
		add_load(&moved->packets_in, delta, about);
	if (about->topic == RD_TOPIC_PACKETS_SENT && of_rdma)
		add_load(&moved->packets_out, delta, about);
	if (priority >= 0)
		moved->bytes_of[priority] += delta;
}

/* What one direction loses says nothing about RNR NAKs of the other. */
static void add_side(struct rd_moved *moved, const struct rd_counter *counter, enum rd_topic topic, uint64_t delta)
{
	enum rd_topic of = counter->about->topic;
	bool requester = of == RD_TOPIC_RNR_GOT || of == RD_TOPIC_REPLY_LOST || rd_counts_requests(counter->name);
	uint64_t *side = topic == RD_TOPIC_RNR	? &moved->naks[requester] :
			 topic == RD_TOPIC_LOST ? &moved->gaps[requester] :
						  NULL;

	if (side && *side < delta)
		*side = delta;
}

static void take_one(struct rd_moved *moved, const struct rd_counter *counter, uint32_t index,
		     const struct rd_delta *delta)
{
	enum rd_topic topic;
	int priority;

	if (!counter->about)
		return;
	if (counter->meaning && counter->meaning->role == RD_ROLE_LOAD) {
		if (delta->note != RD_NOTE_SATURATED)
			take_load(moved, counter, delta->v);
		return;
	}
	topic = counter->about->topic == RD_TOPIC_RNR_GOT    ? RD_TOPIC_RNR :
		counter->about->topic == RD_TOPIC_CNP_ALL    ? RD_TOPIC_CNP :
		counter->about->topic == RD_TOPIC_REPLY_LOST ? RD_TOPIC_LOST :
							       counter->about->topic;
	add_evidence(&moved->topics[topic], index, delta);
	add_side(moved, counter, topic, delta->v);
	priority = topic == RD_TOPIC_PAUSE_SENT || topic == RD_TOPIC_PAUSE_GOT ? rd_priority_of(counter->name) : -1;
	if (priority >= 0)
		moved->pause_of[priority] += delta->v;
}

void rd_moved_gather(const struct rd_counted *now, const struct rd_delta *deltas, double seconds, size_t *at,
		     struct rd_moved *moved)
{
	const struct rd_counter_set *set = now->set;
	uint32_t port = set->counters[*at].port;

	moved->port = port;
	moved->of = &set->ports[port];
	moved->seconds = seconds;
	for (; *at < set->n && set->counters[*at].port == port; ++*at) {
		const struct rd_counter *counter = &set->counters[*at];
		const struct rd_delta *delta = &deltas[*at];

		if (delta->note >= RD_NOTE_REBOOT && delta->note <= RD_NOTE_GONE && delta->note != RD_NOTE_NEW)
			moved->note = delta->note;
		moved->reset |= delta->note == RD_NOTE_RESET;
		if (delta->v == 0 && rd_counter_saturated(counter, &now->sample->values[*at]))
			add_evidence(&moved->saturated, (uint32_t)*at,
				     &(struct rd_delta){ now->sample->values[*at].v, RD_DELTA_AT_LEAST, 0 });
		/* Queue pairs bound to a counter are included in the counters of the port. */
		if (delta->kind == RD_DELTA_UNKNOWN || counter->group == RD_GROUP_QP)
			continue;
		moved->compared = true;
		moved->rdma_counted |= counter->group <= RD_GROUP_OPTIONAL && counter->about &&
				       counter->about->topic == RD_TOPIC_DATA_GOT;
		if (delta->v == 0 && counter->about && counter->about->topic == RD_TOPIC_BIT_ERROR)
			moved->no_symbols |= strcmp(counter->about->unit, "symbols") == 0;
		if (delta->v)
			take_one(moved, counter, (uint32_t)*at, delta);
	}
}

/* Bit error rates. After FEC InfiniBand and Ethernet allow at most 1e-12; good links are 1,000 times better. Before FEC,
 * clouds that run their own fabrics take links out of use above 1e-7; above about 2e-4 the FEC of 50 Gbit/s lanes (RS-544)
 * fails. */
#define BER_BAD 1e-12
#define BER_POOR 1e-14
#define RAW_BER_BAD 1e-5
#define RAW_BER_POOR 1e-7
/* Errors needed for a reliable rate; fewer may be chance. */
#define ERRORS_SURE 10
/* Shares of packets and of time. */
#define MARKED_MUCH 0.01
#define PAUSED_MUCH 0.3
#define PAUSED_SOME 0.05
#define STALLED_MUCH 0.3
#define STALLED_SOME 0.001
#define WAITED_SOME 0.001
/* Networks that drop packets when they are congested (EFA, iWARP) retransmit a few all the time. */
#define RETRANSMITTED_MUCH 0.001
/* Packets of 4 KiB that a good link loses (BER_POOR). */
#define LOST_FEW 3e-10
#define RNR_LONGEST 0.65536 /* seconds: min_rnr_timer 0 */

/* What judges look at, and where they add causes. */
struct judging {
	const struct rd_counted *now;
	const struct rd_moved *moved; /* of a port */
	struct rd_causes *causes;
	double line_bits; /* received, with or without data; 0: unknown */
};

/* With the names of the port. */
static char *fix_for(const struct rd_counter_port *port, const char *fix)
{
	return rd_fix_fill(fix, (struct rd_fix_word[]){ { "IBDEV", port->ibdev }, { "IF", port->netdev } }, 2);
}

static uint64_t most(const struct judging *j, enum rd_topic topic)
{
	return j->moved->topics[topic].most;
}

/* "link_downed 3, link_error_recovery at least 1": the counters of up to two topics that increased most. */
static char *deltas_text(const struct judging *j, enum rd_topic a, enum rd_topic b)
{
	const enum rd_topic topics[] = { a, b };
	char text[512] = "";
	size_t used = 0;

	for (size_t t = 0; t < RD_ARRAY_SIZE(topics); t++)
		for (size_t i = 0; i < j->moved->topics[topics[t]].n && i < 3; i++) {
			const struct rd_evidence *e = &j->moved->topics[topics[t]].evidence[i];

			if (used < sizeof(text))
				used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s%" PRIu64,
							 used ? ", " : "", j->now->set->counters[e->counter].name,
							 e->at_least ? "at least " : "", e->delta);
		}
	return rd_text("%s", text);
}

/* Adds a cause with the evidence of up to three topics; takes ownership of `observed`, NULL: deltas_text of the first two. */
static void add_cause_as(const struct judging *j, const struct rd_cause_words *of, char *observed, enum rd_topic a,
			 enum rd_topic b, enum rd_topic c)
{
	const enum rd_topic topics[] = { a, b, c };
	struct rd_cause *cause = RD_ADD(j->causes->v, j->causes->n, j->causes->cap);

	*cause = (struct rd_cause){ .id = of->id,
				    .title = of->title,
				    .fix = fix_for(j->moved->of, of->fix),
				    .severity = of->severity,
				    .confidence = of->confidence,
				    .port = j->moved->port,
				    .observed = observed ?: deltas_text(j, a, b) };
	for (size_t t = 0; t < RD_ARRAY_SIZE(topics); t++)
		for (size_t i = 0; i < j->moved->topics[topics[t]].n; i++)
			if (cause->n_evidence < RD_ARRAY_SIZE(cause->evidence))
				cause->evidence[cause->n_evidence++] = j->moved->topics[topics[t]].evidence[i];
}

static void add_cause(const struct judging *j, enum rd_cause_id id, char *observed, enum rd_topic a, enum rd_topic b,
		      enum rd_topic c)
{
	add_cause_as(j, &rd_cause_words[id], observed, a, b, c);
}

/* Fewer than so many are less of a fault. */
static void add_unless_few(const struct judging *j, enum rd_cause_id id, enum rd_topic topic, uint64_t many,
			   enum rd_severity severity)
{
	struct rd_cause_words of = rd_cause_words[id];

	if (most(j, topic) < many)
		of.severity = severity;
	if (most(j, topic))
		add_cause_as(j, &of, NULL, topic, 0, 0);
}

static void judge_link(const struct judging *j)
{
	uint64_t times = most(j, RD_TOPIC_LINK_DOWN);

	if (times)
		add_cause(j, times >= 3 ? RD_CAUSE_LINK_FLAP : RD_CAUSE_LINK_DOWN, NULL, RD_TOPIC_LINK_DOWN, 0, 0);
}

/* Ethernet frames with a CRC error although no symbol of this link was damaged: a cut-through switch forwards frames that it
 * received damaged. */
static bool is_forwarded(const struct judging *j)
{
	const struct rd_moved_topic *topic = &j->moved->topics[RD_TOPIC_BIT_ERROR];

	for (size_t i = 0; i < topic->n; i++)
		if (strcmp(j->now->set->counters[topic->evidence[i].counter].about->unit, "frames") != 0)
			return false;
	return topic->n > 0 && j->moved->no_symbols;
}

/* Bits that its link carried, if it was up all the time. */
static double bits_on_line(const struct rd_counted *before, const struct rd_counted *now, const struct rd_moved *moved)
{
	size_t at = before ? rd_counted_port(before->set, moved->of->ibdev, moved->of->port) : SIZE_MAX;

	if (at == SIZE_MAX || moved->of->rate_gbps.known != RD_OK || moved->topics[RD_TOPIC_LINK_DOWN].most ||
	    strcmp(before->sample->states[at].state, "ACTIVE") != 0 ||
	    strcmp(now->sample->states[moved->port].state, "ACTIVE") != 0)
		return 0;
	return moved->of->rate_gbps.v * 1e9 * moved->seconds;
}

/* The highest of its counters: frames and packets consist of data, but symbols between them can be damaged, too. *bits: what it was
 * divided by; *unknown: whether that is unknown of one. */
static double bit_error_rate(const struct judging *j, double line, double *bits, bool *unknown)
{
	const struct rd_moved_topic *topic = &j->moved->topics[RD_TOPIC_BIT_ERROR];
	double ret = 0;

	for (size_t i = 0; i < topic->n; i++) {
		const char *unit = j->now->set->counters[topic->evidence[i].counter].about->unit;
		bool of_data = strcmp(unit, "frames") == 0 || strcmp(unit, "packets") == 0;
		double in = of_data ? (double)j->moved->bits_in : line;

		*unknown |= in <= 0;
		if (in <= 0 || (double)topic->evidence[i].delta / in <= ret)
			continue;
		ret = (double)topic->evidence[i].delta / in;
		*bits = in;
	}
	return ret;
}

/* Errors per bit received: one error per second at full rate differs from one per week. */
static void judge_bits(const struct judging *j)
{
	uint64_t errors = most(j, RD_TOPIC_BIT_ERROR), corrected = most(j, RD_TOPIC_CORRECTED);
	double got = (double)j->moved->bits_in, line = j->line_bits > got ? j->line_bits : got, bits = 0;
	bool unknown = false;
	double ber = bit_error_rate(j, line, &bits, &unknown), raw = line > 0 ? (double)corrected / line : 0;
	struct rd_cause_words of = rd_cause_words[RD_CAUSE_BAD_CABLE];
	_cleanup_free_ char *what = deltas_text(j, RD_TOPIC_BIT_ERROR, 0);
	char *observed = NULL;

	if (errors && ber > BER_POOR) {
		of.severity = ber > BER_BAD && errors > 2 ? RD_SEV_CRITICAL : RD_SEV_WARNING;
		of.confidence = errors >= ERRORS_SURE ? RD_CONFIDENCE_HIGH :
				errors > 2	      ? RD_CONFIDENCE_MEDIUM :
							RD_CONFIDENCE_LOW;
		observed = rd_text("%s in %.3g bits: bit error rate %.1e, good links have less than %.0e", what, bits,
				   ber, BER_POOR);
		if (is_forwarded(j)) {
			of = rd_cause_words[RD_CAUSE_ELSEWHERE];
			of.confidence = RD_CONFIDENCE_MEDIUM;
		}
	} else if (errors && unknown) {
		of.severity = RD_SEV_WARNING;
		of.confidence = RD_CONFIDENCE_LOW;
		observed = rd_text("%s; number of bits received is unknown", what);
	} else if (corrected && raw > RAW_BER_POOR) {
		of = rd_cause_words[RD_CAUSE_WEAK_SIGNAL];
		of.severity = raw > RAW_BER_BAD ? RD_SEV_CRITICAL : RD_SEV_WARNING;
		observed = rd_text("%" PRIu64 " bits corrected in %.3g: bit error rate %.1e before FEC, good "
				   "links have less than %.0e",
				   corrected, line, raw, RAW_BER_POOR);
	} else {
		return;
	}
	add_cause_as(j, &of, observed, RD_TOPIC_BIT_ERROR, RD_TOPIC_CORRECTED, 0);
}

/* Judged per bit received, too: each link of the path may have the few errors that a good link has. */
static void judge_remote(const struct judging *j)
{
	struct rd_cause_words of = rd_cause_words[RD_CAUSE_ELSEWHERE];
	uint64_t damaged = most(j, RD_TOPIC_REMOTE);

	if (!damaged || (j->moved->bits_in && (double)damaged / (double)j->moved->bits_in <= BER_POOR))
		return;
	if (!j->moved->bits_in)
		of.confidence = RD_CONFIDENCE_LOW;
	add_cause_as(j, &of, NULL, RD_TOPIC_REMOTE, 0, 0);
}

static void judge_pci(const struct judging *j)
{
	struct rd_cause_words of = rd_cause_words[RD_CAUSE_PCIE_STALL];
	uint64_t stalled = most(j, RD_TOPIC_PCI_STALL);

	if ((double)stalled > STALLED_SOME * j->moved->seconds) {
		if (j->moved->seconds > 0 && (double)stalled / j->moved->seconds > STALLED_MUCH)
			of.severity = RD_SEV_CRITICAL;
		add_cause_as(j, &of,
			     rd_text("%" PRIu64 " s of %.0f s stalled for lack of PCI Express credits", stalled,
				     j->moved->seconds),
			     RD_TOPIC_PCI_STALL, 0, 0);
	}
	/* Links recover from a few. */
	add_unless_few(j, RD_CAUSE_PCIE_ERRORS, RD_TOPIC_PCI_ERROR, ERRORS_SURE, RD_SEV_WARNING);
}

/* The priority with the largest value; -1: all are 0. */
static int busiest(const uint64_t *of)
{
	int found = -1;

	for (int p = 0; p < 8; p++)
		if (of[p] && (found < 0 || of[p] > of[found]))
			found = p;
	return found;
}

static void judge_pause(const struct judging *j)
{
	uint64_t paused = most(j, RD_TOPIC_PAUSE_SENT_TIME), held = most(j, RD_TOPIC_PAUSE_GOT_TIME);
	double us = j->moved->seconds * 1e6;
	int pausing = busiest(j->moved->pause_of), carrying = busiest(j->moved->bytes_of);

	if (most(j, RD_TOPIC_PAUSE_STORM) || (us > 0 && (double)paused > PAUSED_MUCH * us))
		add_cause(j, RD_CAUSE_PAUSE_STORM, NULL, RD_TOPIC_PAUSE_STORM, RD_TOPIC_PAUSE_SENT_TIME,
			  RD_TOPIC_PAUSE_SENT);
	if (us > 0 && (double)held > PAUSED_SOME * us)
		add_cause(j, RD_CAUSE_PAUSED,
			  rd_text("paused for %.0f %% of the time", (double)held < us ? 100 * (double)held / us : 100),
			  RD_TOPIC_PAUSE_GOT_TIME, RD_TOPIC_PAUSE_GOT, 0);
	/* The priority that carries most may be that of other traffic than RDMA, which needs no PFC. */
	if (pausing >= 0 && carrying >= 0 && pausing != carrying &&
	    j->moved->bytes_of[pausing] <
		    (j->moved->rdma_counted && j->moved->rdma_bytes < j->moved->bytes_of[carrying] ?
			     j->moved->rdma_bytes :
			     j->moved->bytes_of[carrying]) /
			    100)
		add_cause(j, RD_CAUSE_PFC_PRIORITY,
			  rd_text("pause frames on priority %d, traffic on priority %d", pausing, carrying),
			  RD_TOPIC_PAUSE_SENT, RD_TOPIC_PAUSE_GOT, 0);
}

static bool is_ethernet(const struct judging *j)
{
	return j->moved->of->link_layer && strcmp(j->moved->of->link_layer, "Ethernet") == 0;
}

/* Pause frames were sent for what was dropped: of its priority, or either has none. */
static bool pauses_drops(const struct judging *j)
{
	const struct rd_moved_topic *drops = &j->moved->topics[RD_TOPIC_DROP],
				    *sent = &j->moved->topics[RD_TOPIC_PAUSE_SENT];
	const struct rd_counter *counters = j->now->set->counters;

	for (size_t d = 0; d < drops->n; d++)
		for (size_t s = 0; s < sent->n; s++) {
			int dropped = rd_priority_of(counters[drops->evidence[d].counter].name);
			int paused = rd_priority_of(counters[sent->evidence[s].counter].name);

			if (dropped < 0 || paused < 0 || dropped == paused)
				return true;
		}
	return false;
}

/* Counters of all that the port carries, where RDMA carried nothing. But those of a physical function count its virtual ones, too. */
static bool may_be_of_others(const struct judging *j)
{
	const struct rd_moved_topic *drops = &j->moved->topics[RD_TOPIC_DROP];

	for (size_t d = 0; d < drops->n; d++)
		if (j->now->set->counters[drops->evidence[d].counter].group <= RD_GROUP_OPTIONAL)
			return false;
	return j->moved->rdma_counted && !j->moved->rdma_bytes;
}

static void judge_drops(const struct judging *j)
{
	enum rd_cause_id of = !is_ethernet(j)	  ? RD_CAUSE_DISCARDS :
			      may_be_of_others(j) ? RD_CAUSE_DROPS_OTHER :
			      pauses_drops(j)	  ? RD_CAUSE_DROPS_PFC :
						    RD_CAUSE_DROPS_NO_PFC;

	if ((double)most(j, RD_TOPIC_DROP) > LOST_FEW * (double)j->moved->packets_in)
		add_cause(j, of, NULL, RD_TOPIC_DROP, 0, RD_TOPIC_PAUSE_SENT);
	/* A few frames that nothing waited for are of another program's broadcast, say. */
	add_unless_few(j, RD_CAUSE_MTU, RD_TOPIC_TOO_LONG,
		       most(j, RD_TOPIC_TIMEOUT) || most(j, RD_TOPIC_RETRIES) ? 0 : ERRORS_SURE, RD_SEV_NOTE);
}

/* CNPs from the network. A counter of topic cnp-all (mlx5's rp_cnp_handled) includes those that a slow restart generates
 * (cnp-own, roce_slow_restart_cnps): 9 to 13 for each peer that dies, without any marked packet (measured on ConnectX-5 and 6).
 * Queue pairs created by verbs count both alike; those of the vendor's interface (DEVX) only cnp-all, so the remainder may be
 * theirs: `unclear`. */
static uint64_t cnps_of(const struct judging *j, uint64_t *unclear)
{
	const struct rd_moved_topic *topic = &j->moved->topics[RD_TOPIC_CNP];
	bool lost = most(j, RD_TOPIC_TIMEOUT) || most(j, RD_TOPIC_RETRIES) || most(j, RD_TOPIC_RESTART);
	uint64_t own = most(j, RD_TOPIC_CNP_OWN), sure = 0;

	*unclear = 0;
	for (size_t i = 0; i < topic->n; i++) {
		uint64_t n = topic->evidence[i].delta;

		if (j->now->set->counters[topic->evidence[i].counter].about->topic == RD_TOPIC_CNP_ALL) {
			n = n > own ? n - own : 0;
			if (lost) {
				*unclear = n;
				continue;
			}
		}
		sure = n > sure ? n : sure;
	}
	return sure;
}

/* More than so many, and not by chance: by two standard deviations of a Poisson distribution. */
static bool is_beyond(double events, double most)
{
	return events > most && (events - most) * (events - most) > 4 * events;
}

static void judge_congestion(const struct judging *j)
{
	uint64_t in = most(j, RD_TOPIC_MARKED), wait = most(j, RD_TOPIC_WAIT), unclear;
	uint64_t cnp = cnps_of(j, &unclear);
	double got = MARKED_MUCH * (double)j->moved->packets_in, sent = MARKED_MUCH * (double)j->moved->packets_out;

	if ((got > 0 && is_beyond((double)in, got)) || (sent > 0 && is_beyond((double)cnp, sent)))
		add_cause(j, RD_CAUSE_MARKED, NULL, RD_TOPIC_MARKED, RD_TOPIC_CNP, 0);
	else if (sent > 0 && is_beyond((double)unclear, sent))
		add_cause(j, RD_CAUSE_CNP_UNCLEAR, NULL, RD_TOPIC_CNP, RD_TOPIC_CNP_OWN, RD_TOPIC_RESTART);
	/* The device defines the length of a tick; on most it is the time of one word. A port that is idle waits for its few packets. */
	else if (wait && j->moved->words_out && wait > j->moved->words_out &&
		 (j->moved->topics[RD_TOPIC_WAIT].evidence[0].at_least ||
		  (double)wait > WAITED_SOME * j->line_bits / 32))
		add_cause(j, RD_CAUSE_WAITING,
			  rd_text("%s %" PRIu64 " ticks, %" PRIu64 " words of 4 octets sent",
				  j->now->set->counters[j->moved->topics[RD_TOPIC_WAIT].evidence[0].counter].name, wait,
				  j->moved->words_out),
			  RD_TOPIC_WAIT, 0, 0);
}

/* Topics that are each a cause by themselves. */
static void judge_plain(const struct judging *j)
{
	static const struct {
		enum rd_topic topic, with;
		enum rd_cause_id of;
	} rules[] = {
		{ RD_TOPIC_MODULE, 0, RD_CAUSE_TRANSCEIVER },
		{ RD_TOPIC_ICRC, 0, RD_CAUSE_ICRC },
		{ RD_TOPIC_NOT_SENT, 0, RD_CAUSE_NOT_SENT },
		{ RD_TOPIC_DISCARDED, 0, RD_CAUSE_DISCARDS },
		{ RD_TOPIC_LIMITED, 0, RD_CAUSE_LIMITED },
		{ RD_TOPIC_PARTITION, 0, RD_CAUSE_PARTITION },
		{ RD_TOPIC_RETRIES, RD_TOPIC_TIMEOUT, RD_CAUSE_PEER_GONE },
		{ RD_TOPIC_RNR_END, RD_TOPIC_RNR, RD_CAUSE_RNR_END },
		{ RD_TOPIC_KEY, 0, RD_CAUSE_KEY },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(rules); i++) {
		/* Consequences of a link that went down. */
		bool follows = rules[i].of == RD_CAUSE_NOT_SENT || rules[i].of == RD_CAUSE_PEER_GONE ||
			       rules[i].of == RD_CAUSE_DISCARDS;

		double few = rules[i].of == RD_CAUSE_DISCARDS ? LOST_FEW * (double)j->moved->packets_out : 0;

		if ((double)most(j, rules[i].topic) > few && !(follows && most(j, RD_TOPIC_LINK_DOWN)))
			add_cause(j, rules[i].of, NULL, rules[i].topic, rules[i].with, 0);
	}
}

/* Packets that good links lose, of the direction that has fewer. */
static double few_of(const struct rd_moved *moved)
{
	return LOST_FEW * (double)(moved->packets_in < moved->packets_out ? moved->packets_in : moved->packets_out);
}

/* More than that; packets that are retransmitted after an RNR NAK are not lost. */
static bool is_lossy(const struct rd_moved *moved, bool requester)
{
	return moved->gaps[requester] > moved->naks[requester] && (double)moved->gaps[requester] > few_of(moved);
}

/* Topics that are a cause only if no cause above explains them. */
static void judge_transport(const struct judging *j)
{
	struct rd_cause_words timeout = rd_cause_words[RD_CAUSE_TIMEOUT], rnr = rd_cause_words[RD_CAUSE_RNR];
	const struct rd_moved *moved = j->moved;
	size_t before = j->causes->n;
	double much = RETRANSMITTED_MUCH * (double)moved->packets_out;
	/* Packets behind one that found no receive work request are out of sequence, and retransmitted. */
	uint64_t gaps = most(j, RD_TOPIC_LOST), naks = most(j, RD_TOPIC_RNR);
	/* These adapters count what adaptive routing reordered, and put it in order again. */
	bool reorders = moved->of->driver &&
			(strcmp(moved->of->driver, "mlx5") == 0 || strcmp(moved->of->driver, "ionic") == 0);
	bool resent = much > 0 && is_beyond((double)most(j, RD_TOPIC_RETRANSMITTED), much + (double)naks);

	/* Loss, RNR NAKs, or a link that was down, cause timeouts. */
	if (gaps || naks || most(j, RD_TOPIC_LINK_DOWN) || most(j, RD_TOPIC_NOT_SENT))
		timeout.confidence = RD_CONFIDENCE_LOW;
	if (gaps > 2 * naks)
		rnr.confidence = RD_CONFIDENCE_MEDIUM;
	if (is_lossy(moved, true) || resent || (is_lossy(moved, false) && !reorders))
		add_cause(j, RD_CAUSE_LOSS, NULL, RD_TOPIC_LOST, RD_TOPIC_RETRANSMITTED, 0);
	else if (is_lossy(moved, false))
		add_cause(j, RD_CAUSE_UNORDERED, NULL, RD_TOPIC_LOST, 0, 0);
	/* The last packet of a message leaves no gap. */
	if ((double)most(j, RD_TOPIC_TIMEOUT) > few_of(moved) && !most(j, RD_TOPIC_RETRIES))
		add_cause_as(j, &timeout, NULL, RD_TOPIC_TIMEOUT, 0, 0);
	/* However long each has delayed its sender. */
	if ((double)naks * RNR_LONGEST > STALLED_SOME * moved->seconds && !most(j, RD_TOPIC_RNR_END))
		add_cause_as(j, &rnr, NULL, RD_TOPIC_RNR, 0, 0);
	/* Flushed completions are consequences; the rest failed by themselves. */
	if (most(j, RD_TOPIC_COMPLETION) > most(j, RD_TOPIC_FLUSH) && before == j->causes->n &&
	    !most(j, RD_TOPIC_RETRIES) && !most(j, RD_TOPIC_KEY) && !most(j, RD_TOPIC_RNR_END))
		add_cause(j, RD_CAUSE_WORK_FAILED, NULL, RD_TOPIC_COMPLETION, RD_TOPIC_FLUSH, 0);
}

/* Reports why the counters of a port could not be compared. */
static void judge_note(const struct rd_counter_port *port, enum rd_delta_note note, struct rd_findings *findings)
{
	static const struct {
		struct rd_finding finding;
		const char *fix;
	} notes[] = {
		[RD_NOTE_REBOOT] = { { "rebooted", "host was rebooted: earlier increases are unknown",
				       .severity = RD_SEV_UNKNOWN },
				     "# compare with a sample taken since this boot" },
		[RD_NOTE_REPLACED] = { { "device-replaced", "different device under this name: its GUID differs",
					 .severity = RD_SEV_WARNING },
				       "# compare with a sample taken from this device" },
		[RD_NOTE_RELOADED] = { { "driver-reloaded",
					 "device was registered again (driver reloaded): its counters restarted",
					 .severity = RD_SEV_WARNING },
				       "dmesg -T | grep IBDEV\n# the kernel log has the time, unless it was maintenance" },
		[RD_NOTE_GONE] = { { "device-gone", "device is missing", .severity = RD_SEV_CRITICAL },
				   "rdmadiag nic-map\nlspci\ndmesg -T | grep -iE 'pci|remov|fatal'\n# search the kernel log for removal, a fatal error or a lost PCI device" },
	};

	if (note < RD_ARRAY_SIZE(notes) && notes[note].fix)
		rd_finding_put(findings, &notes[note].finding, rd_counter_port_label(port), NULL,
			       fix_for(port, notes[note].fix));
}

/* "link_downed at least 255": those of faults, or if there are none, the others. */
static char *saturated_text(const struct judging *j, bool faults)
{
	char text[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < j->moved->saturated.n && used < sizeof(text); i++) {
		const struct rd_evidence *e = &j->moved->saturated.evidence[i];
		const struct rd_counter *counter = &j->now->set->counters[e->counter];

		if ((counter->about && counter->meaning->role == RD_ROLE_CAUSE) == faults)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s at least %" PRIu64,
						 used ? ", " : "", counter->name, e->delta);
	}
	return used ? rd_text("%s", text) : NULL;
}

/* Counters at their maximum show no increase, however often the fault happens. */
static void judge_saturated(const struct judging *j, bool notes, struct rd_findings *findings)
{
	static const struct rd_finding fault = {
		"counters-at-their-end", "error counters at their maximum: what happens now is not counted",
		"such a counter stays at its maximum until it is reset: it hides a link that goes down during this job",
		RD_SEV_WARNING
	};
	static const struct rd_finding note = { "counters-at-their-end", "saturated counters: they no longer count",
						.severity = RD_SEV_NOTE };
	const struct rd_counter_port *port = j->moved->of;
	char *faults = saturated_text(j, true), *observed = faults || !notes ? faults : saturated_text(j, false);

	if (observed)
		rd_finding_put(
			findings, faults ? &fault : &note, rd_counter_port_label(port), observed,
			is_ethernet(j) || !port->ibdev ?
				rd_dup("# reload the driver to reset them\n# no job may use the device meanwhile\n"
				       "# then compare two samples: an increase is a fault of today") :
				rd_text("perfquery -C %s -P %u -R\n"
					"# then compare two samples: an increase is a fault of today",
					port->ibdev, port->port));
}

static int compare_causes(const void *a, const void *b)
{
	const struct rd_cause *x = a, *y = b;

	return RD_FIRST(RD_CMP(y->severity, x->severity), RD_CMP(y->confidence, x->confidence),
			x->n_evidence && y->n_evidence ? RD_CMP(y->evidence[0].delta, x->evidence[0].delta) : 0,
			RD_CMP(x->port, y->port));
}

void rd_saturated_find(const struct rd_counted *now, const bool *wanted, struct rd_findings *findings)
{
	_cleanup_free_ struct rd_delta *none = rd_alloc(now->set->n + 1, sizeof(*none));

	for (size_t at = 0; at < now->set->n;) {
		struct rd_moved moved = { 0 };

		rd_moved_gather(now, none, 0, &at, &moved);
		if (wanted[moved.port])
			judge_saturated(&(struct judging){ now, &moved, NULL }, false, findings);
	}
}

void rd_causes_find(const struct rd_counted *before, const struct rd_counted *now, const struct rd_delta *deltas,
		    double seconds, struct rd_causes *ret)
{
	_cleanup_(rd_findings_deinit) struct rd_findings saturated = { 0 };
	bool compared = false;

	*ret = (struct rd_causes){ 0 };
	/* Ports that were present before and are missing now. */
	for (size_t b = 0; before && b < before->set->n_ports; b++) {
		const struct rd_counter_port *was = &before->set->ports[b];

		if (was->port && before->sample->states[b].there &&
		    rd_counted_port(now->set, was->ibdev, was->port) == SIZE_MAX)
			judge_note(was, RD_NOTE_GONE, &ret->findings);
	}
	for (size_t at = 0; at < now->set->n;) {
		struct rd_moved moved = { 0 };
		struct judging j = { now, &moved, ret };

		rd_moved_gather(now, deltas, seconds, &at, &moved);
		compared |= moved.compared;
		j.line_bits = bits_on_line(before, now, &moved);
		judge_note(moved.of, moved.note, &ret->findings);
		judge_link(&j);
		judge_bits(&j);
		judge_remote(&j);
		judge_pci(&j);
		judge_pause(&j);
		judge_drops(&j);
		judge_plain(&j);
		judge_congestion(&j);
		judge_transport(&j);
		judge_saturated(&j, true, &saturated);
	}
	rd_sort(ret->v, ret->n, sizeof(*ret->v), compare_causes);
	for (size_t i = 0; i < ret->n; i++) {
		const struct rd_cause *cause = &ret->v[i];
		const struct rd_finding kind = { cause->id, cause->title, NULL, cause->severity };

		rd_finding_put(&ret->findings, &kind, rd_counter_port_label(&now->set->ports[cause->port]),
			       rd_text("%s (confidence %s)", cause->observed, rd_confidence_name(cause->confidence)),
			       rd_dup(cause->fix));
	}
	if (compared && ret->findings.n == 0 && rd_findings_worst(&saturated) < RD_SEV_WARNING) {
		/* Quiet counters do not prove that the host is healthy. */
		struct rd_finding kind = {
			"nothing-counted",
			"no counter indicates a fault; this does not rule out faults that counters do not show", NULL,
			RD_SEV_NOTE
		};
		bool devx = false;

		for (size_t i = 0; i < now->set->n_ports; i++)
			devx |= now->set->ports[i].driver && strcmp(now->set->ports[i].driver, "mlx5") == 0;
		if (devx)
			kind.why = "queue pairs created through the vendor's interface (DEVX: NVSHMEM IBGDA, NCCL's "
				   "device-initiated networking) are not counted in groups hw and optional";
		rd_finding_put(&ret->findings, &kind, rd_dup("all ports"),
			       devx ? rd_dup("queue pairs of the vendor's interface (DEVX) are not counted") : NULL,
			       rd_dup("# if a job hangs nevertheless: rdmadiag qp-state, rdmadiag trace-errno"));
	}
	for (size_t i = 0; i < saturated.n; i++) {
		rd_finding_add(&ret->findings, &saturated.v[i]);
		saturated.v[i] = (struct rd_finding){ 0 }; /* moved to ret */
	}
}
