/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics of an interface: those of the driver (ioctl), and the standard ones of the kernel (netlink). */
#include "collect/counters/counters-priv.h"
#include "collect/net/netstate.h"
#include "collect/shared/nlattr.h"

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>

#define LANES_MAX 16
#define NAMES_MAX 65536 /* of a driver; mlx5 with 256 queues has 12,000 */
#define STATS_GROUPS                                                                                \
	(1u << ETHTOOL_STATS_ETH_PHY | 1u << ETHTOOL_STATS_ETH_MAC | 1u << ETHTOOL_STATS_ETH_CTRL | \
	 1u << ETHTOOL_STATS_RMON)
/* Far more statistics than any group has. */
#define STATS_MAX 64

/* Names as printed by ethtool(8), after the name of the group. */
static const char *const eth_phy[STATS_MAX] = {
	[ETHTOOL_A_STATS_ETH_PHY_5_SYM_ERR] = "eth-phy-SymbolErrorDuringCarrier",
};
static const char *const eth_mac[STATS_MAX] = {
	[ETHTOOL_A_STATS_ETH_MAC_2_TX_PKT] = "eth-mac-FramesTransmittedOK",
	[ETHTOOL_A_STATS_ETH_MAC_3_SINGLE_COL] = "eth-mac-SingleCollisionFrames",
	[ETHTOOL_A_STATS_ETH_MAC_4_MULTI_COL] = "eth-mac-MultipleCollisionFrames",
	[ETHTOOL_A_STATS_ETH_MAC_5_RX_PKT] = "eth-mac-FramesReceivedOK",
	[ETHTOOL_A_STATS_ETH_MAC_6_FCS_ERR] = "eth-mac-FrameCheckSequenceErrors",
	[ETHTOOL_A_STATS_ETH_MAC_7_ALIGN_ERR] = "eth-mac-AlignmentErrors",
	[ETHTOOL_A_STATS_ETH_MAC_8_TX_BYTES] = "eth-mac-OctetsTransmittedOK",
	[ETHTOOL_A_STATS_ETH_MAC_9_TX_DEFER] = "eth-mac-FramesWithDeferredXmissions",
	[ETHTOOL_A_STATS_ETH_MAC_10_LATE_COL] = "eth-mac-LateCollisions",
	[ETHTOOL_A_STATS_ETH_MAC_11_XS_COL] = "eth-mac-FramesAbortedDueToXSColls",
	[ETHTOOL_A_STATS_ETH_MAC_12_TX_INT_ERR] = "eth-mac-FramesLostDueToIntMACXmitError",
	[ETHTOOL_A_STATS_ETH_MAC_13_CS_ERR] = "eth-mac-CarrierSenseErrors",
	[ETHTOOL_A_STATS_ETH_MAC_14_RX_BYTES] = "eth-mac-OctetsReceivedOK",
	[ETHTOOL_A_STATS_ETH_MAC_15_RX_INT_ERR] = "eth-mac-FramesLostDueToIntMACRcvError",
	[ETHTOOL_A_STATS_ETH_MAC_18_TX_MCAST] = "eth-mac-MulticastFramesXmittedOK",
	[ETHTOOL_A_STATS_ETH_MAC_19_TX_BCAST] = "eth-mac-BroadcastFramesXmittedOK",
	[ETHTOOL_A_STATS_ETH_MAC_20_XS_DEFER] = "eth-mac-FramesWithExcessiveDeferral",
	[ETHTOOL_A_STATS_ETH_MAC_21_RX_MCAST] = "eth-mac-MulticastFramesReceivedOK",
	[ETHTOOL_A_STATS_ETH_MAC_22_RX_BCAST] = "eth-mac-BroadcastFramesReceivedOK",
	[ETHTOOL_A_STATS_ETH_MAC_23_IR_LEN_ERR] = "eth-mac-InRangeLengthErrors",
	[ETHTOOL_A_STATS_ETH_MAC_24_OOR_LEN] = "eth-mac-OutOfRangeLengthField",
	[ETHTOOL_A_STATS_ETH_MAC_25_TOO_LONG_ERR] = "eth-mac-FrameTooLongErrors",
};
static const char *const eth_ctrl[STATS_MAX] = {
	[ETHTOOL_A_STATS_ETH_CTRL_3_TX] = "eth-ctrl-MACControlFramesTransmitted",
	[ETHTOOL_A_STATS_ETH_CTRL_4_RX] = "eth-ctrl-MACControlFramesReceived",
	[ETHTOOL_A_STATS_ETH_CTRL_5_RX_UNSUP] = "eth-ctrl-UnsupportedOpcodesReceived",
};
static const char *const rmon[STATS_MAX] = {
	[ETHTOOL_A_STATS_RMON_UNDERSIZE] = "rmon-etherStatsUndersizePkts",
	[ETHTOOL_A_STATS_RMON_OVERSIZE] = "rmon-etherStatsOversizePkts",
	[ETHTOOL_A_STATS_RMON_FRAG] = "rmon-etherStatsFragments",
	[ETHTOOL_A_STATS_RMON_JABBER] = "rmon-etherStatsJabbers",
};
static const char *const pause_stats[STATS_MAX] = {
	[ETHTOOL_A_PAUSE_STAT_TX_FRAMES] = "pause-tx_pause_frames",
	[ETHTOOL_A_PAUSE_STAT_RX_FRAMES] = "pause-rx_pause_frames",
};
static const char *const fec_stats[] = {
	[ETHTOOL_A_FEC_STAT_CORRECTED] = "fec-corrected_blocks",
	[ETHTOOL_A_FEC_STAT_UNCORR] = "fec-uncorrectable_blocks",
	[ETHTOOL_A_FEC_STAT_CORR_BITS] = "fec-corrected_bits",
};
static const char *const *const groups[] = {
	[ETHTOOL_STATS_ETH_PHY] = eth_phy,
	[ETHTOOL_STATS_ETH_MAC] = eth_mac,
	[ETHTOOL_STATS_ETH_CTRL] = eth_ctrl,
	[ETHTOOL_STATS_RMON] = rmon,
};

/* State of a walk over a reply: adds a counter for each statistic (sample NULL), or fills in its value. */
struct walk {
	struct rd_counter_reader *reader;
	struct rd_counter_read *read;
	struct rd_counter_sample *sample;
	uint32_t hint;
};

static void take_stat(struct walk *walk, const char *name, uint64_t value)
{
	struct rd_counter_value *slot;

	if (!walk->sample) {
		rd_counter_read_add(walk->reader, RD_GROUP_STANDARD, name, walk->read->object);
		return;
	}
	slot = rd_counter_slot(walk->reader, walk->read, walk->sample, name, &walk->hint);
	if (slot)
		*slot = (struct rd_counter_value){ value, RD_OK, 0 };
}

static void take_stats_of(struct walk *walk, const struct nlattr *nest, const char *const *names)
{
	const struct nlattr *stat = NULL;
	uint64_t value;

	while (rd_nla_next_nested(nest, &stat)) {
		unsigned type = mnl_attr_get_type(stat);

		if (type < STATS_MAX && names[type] && rd_nla_uint(stat, &value))
			take_stat(walk, names[type], value);
	}
}

/* One bucket of frame sizes. */
static void take_bucket(struct walk *walk, const struct nlattr *nest, const char *direction)
{
	static const uint8_t policy[] = { [ETHTOOL_A_STATS_GRP_HIST_BKT_LOW] = MNL_TYPE_U32,
					  [ETHTOOL_A_STATS_GRP_HIST_BKT_HI] = MNL_TYPE_U32,
					  [ETHTOOL_A_STATS_GRP_HIST_VAL] = MNL_TYPE_U64 };
	const struct nlattr *of[RD_ARRAY_SIZE(policy)];
	char name[80];

	rd_nla_nested(nest, policy, RD_ARRAY_SIZE(policy), of);
	if (!of[ETHTOOL_A_STATS_GRP_HIST_BKT_LOW] || !of[ETHTOOL_A_STATS_GRP_HIST_BKT_HI] ||
	    !of[ETHTOOL_A_STATS_GRP_HIST_VAL])
		return;
	snprintf(name, sizeof(name), "rmon-%s-etherStatsPkts%uto%uOctets", direction,
		 mnl_attr_get_u32(of[ETHTOOL_A_STATS_GRP_HIST_BKT_LOW]),
		 mnl_attr_get_u32(of[ETHTOOL_A_STATS_GRP_HIST_BKT_HI]));
	take_stat(walk, name, mnl_attr_get_u64(of[ETHTOOL_A_STATS_GRP_HIST_VAL]));
}

static void take_group(struct walk *walk, const struct nlattr *group)
{
	const char *const *names = NULL;
	const struct nlattr *attr = NULL;
	uint64_t id;

	/* The kernel sends the id of the group before its statistics. */
	while (rd_nla_next_nested(group, &attr))
		switch (mnl_attr_get_type(attr)) {
		case ETHTOOL_A_STATS_GRP_ID:
			names = rd_nla_uint(attr, &id) && id < RD_ARRAY_SIZE(groups) ? groups[id] : NULL;
			break;
		case ETHTOOL_A_STATS_GRP_STAT:
			if (names)
				take_stats_of(walk, attr, names);
			break;
		case ETHTOOL_A_STATS_GRP_HIST_RX:
			take_bucket(walk, attr, "rx");
			break;
		case ETHTOOL_A_STATS_GRP_HIST_TX:
			take_bucket(walk, attr, "tx");
			break;
		}
}

/* An array of u64: the total first, then optionally the values of each lane. */
static void take_fec(struct walk *walk, const struct nlattr *stats)
{
	const struct nlattr *attr = NULL;

	while (rd_nla_next_nested(stats, &attr)) {
		unsigned type = mnl_attr_get_type(attr);
		size_t n = mnl_attr_get_payload_len(attr) / sizeof(uint64_t);

		if (type >= RD_ARRAY_SIZE(fec_stats) || !fec_stats[type])
			continue;
		for (size_t i = 0; i < n && i <= LANES_MAX; i++) {
			char name[64];
			uint64_t value;

			memcpy(&value, (uint8_t *)mnl_attr_get_payload(attr) + i * sizeof(value), sizeof(value));
			snprintf(name, sizeof(name), i ? "%s-lane%zu" : "%s", fec_stats[type], i - 1);
			take_stat(walk, name, value);
		}
	}
}

static void take_message(void *arg, uint8_t command, const void *attrs, size_t size)
{
	struct walk *walk = arg;
	const struct nlattr *attr = NULL;

	while (rd_nla_next(attrs, size, &attr)) {
		unsigned type = mnl_attr_get_type(attr);

		if (walk->read->how == RD_HOW_STATS && type == ETHTOOL_A_STATS_GRP)
			take_group(walk, attr);
		else if (walk->read->how == RD_HOW_PAUSE && type == ETHTOOL_A_PAUSE_STATS)
			take_stats_of(walk, attr, pause_stats);
		else if (walk->read->how == RD_HOW_FEC && type == ETHTOOL_A_FEC_STATS)
			take_fec(walk, attr);
	}
}

static int request_standard(struct rd_counter_reader *reader, enum rd_counter_how how, const char *netdev,
			    struct rd_bytes *ret)
{
	bool stats = how == RD_HOW_STATS;
	uint8_t command = stats		      ? ETHTOOL_MSG_STATS_GET :
			  how == RD_HOW_PAUSE ? ETHTOOL_MSG_PAUSE_GET :
						ETHTOOL_MSG_FEC_GET;

	return rd_ethtool_query(reader->fs.src, reader->ethtool, command, netdev, !stats, stats ? STATS_GROUPS : 0, ret,
				NULL);
}

static void find_standard(struct rd_counter_reader *reader, enum rd_counter_how how, uint32_t port, const char *netdev)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct walk walk = { .reader = reader };

	if (!reader->ethtool || request_standard(reader, how, netdev, &reply) < 0)
		return;
	walk.read = rd_counter_read_begin(reader, how, port, netdev);
	rd_genl_each(&reply, take_message, &walk);
	rd_counter_read_end(reader);
}

/* Names of a driver; some have leading blanks, which are dropped. */
static void find_driver(struct rd_counter_reader *reader, uint32_t port, const char *netdev)
{
	_cleanup_bytes_ struct rd_bytes strings = { 0 };
	char path[64], name[ETH_GSTRING_LEN + 1];

	snprintf(path, sizeof(path), RD_SOURCE_ETHTOOL "/%s/strings", netdev);
	if (rd_read_file(reader->fs.src, path, &strings, NULL) < 0)
		return;
	rd_counter_read_begin(reader, RD_HOW_IOCTL, port, netdev);
	for (size_t at = 0; at + ETH_GSTRING_LEN <= strings.size && at < NAMES_MAX * ETH_GSTRING_LEN;
	     at += ETH_GSTRING_LEN) {
		memcpy(name, strings.data + at, ETH_GSTRING_LEN);
		name[ETH_GSTRING_LEN] = '\0';
		rd_counter_read_add(reader, RD_GROUP_ETHTOOL, name + strspn(name, " "), netdev);
	}
	rd_counter_read_end(reader);
}

/* Pause frames by priority, named as in the kernel: requests were sent, indications received. */
static void take_pfc(struct walk *walk, const struct rd_dcb *dcb)
{
	char name[40];

	for (int p = 0; p < RD_PRIOS; p++) {
		snprintf(name, sizeof(name), "pfc-requests-prio%d", p);
		take_stat(walk, name, dcb->pfc.requests[p]);
		snprintf(name, sizeof(name), "pfc-indications-prio%d", p);
		take_stat(walk, name, dcb->pfc.indications[p]);
	}
}

void rd_counters_find_ethtool(struct rd_counter_reader *reader, uint32_t port, const char *netdev)
{
	static const enum rd_counter_how hows[] = { RD_HOW_STATS, RD_HOW_PAUSE, RD_HOW_FEC };
	struct walk walk = { .reader = reader };
	struct rd_dcb dcb = { 0 };

	if (reader->groups & 1u << RD_GROUP_ETHTOOL)
		find_driver(reader, port, netdev);
	if (!(reader->groups & 1u << RD_GROUP_STANDARD))
		return;
	for (size_t i = 0; i < RD_ARRAY_SIZE(hows); i++)
		find_standard(reader, hows[i], port, netdev);
	rd_collect_dcb(&reader->fs, netdev, &dcb);
	if (dcb.pfc.known != RD_OK)
		return;
	walk.read = rd_counter_read_begin(reader, RD_HOW_PFC, port, netdev);
	take_pfc(&walk, &dcb);
	rd_counter_read_end(reader);
}

static void read_driver(struct rd_counter_reader *reader, struct rd_counter_read *read, struct rd_counter_sample *sample)
{
	_cleanup_bytes_ struct rd_bytes stats = { 0 };
	char path[64];
	int r;

	snprintf(path, sizeof(path), RD_SOURCE_ETHTOOL "/%s/stats", read->object);
	r = rd_read_file(reader->fs.src, path, &stats, NULL);
	if (r < 0) {
		rd_counter_read_failed(read, sample, -r);
		return;
	}
	/* The number of statistics changes with the number of queues, and indices shift. */
	if (stats.size / sizeof(uint64_t) != read->n) {
		reader->changed = true;
		rd_counter_read_failed(read, sample, ESTALE);
		return;
	}
	for (uint32_t i = 0; i < read->n; i++) {
		struct rd_counter_value *value = &sample->values[read->first + i];

		memcpy(&value->v, stats.data + i * sizeof(uint64_t), sizeof(uint64_t));
		value->known = RD_OK;
	}
}

void rd_counters_read_ethtool(struct rd_counter_reader *reader, struct rd_counter_read *read,
			      struct rd_counter_sample *sample)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct walk walk = { reader, read, sample, 0 };
	int r;

	if (read->how == RD_HOW_IOCTL) {
		read_driver(reader, read, sample);
		return;
	}
	if (read->how == RD_HOW_PFC) {
		struct rd_dcb dcb = { 0 };

		rd_collect_dcb(&walk.reader->fs, walk.read->object, &dcb);
		if (dcb.pfc.known == RD_OK)
			take_pfc(&walk, &dcb);
		else
			rd_counter_read_failed(walk.read, walk.sample, ENODATA);
		return;
	}
	r = request_standard(reader, read->how, read->object, &reply);
	rd_counter_read_failed(read, sample, r < 0 ? -r : ENODATA);
	if (r == 0)
		rd_genl_each(&reply, take_message, &walk);
}
