/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which counter is about what, and what moved on a port. */
#include "analyse/causes-priv.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

/* The first that fits counts. */
static const struct {
	enum rd_topic topic;
	const char *name; /* pattern */
} topics[] = {
	{ RD_TOPIC_LINK_DOWN, "link_downed" },
	{ RD_TOPIC_LINK_DOWN, "link_error_recovery" },
	{ RD_TOPIC_LINK_DOWN, "link_down_events*" },
	{ RD_TOPIC_LINK_DOWN, "carrier_down_count" },
	{ RD_TOPIC_BIT_ERROR, "symbol_error" },
	{ RD_TOPIC_BIT_ERROR, "port_rcv_errors" },
	{ RD_TOPIC_BIT_ERROR, "local_link_integrity_errors" },
	{ RD_TOPIC_BIT_ERROR, "rx_*symbol_err_phy" },
	{ RD_TOPIC_BIT_ERROR, "rx_crc_errors*" },
	{ RD_TOPIC_BIT_ERROR, "rx_fcs_err_frames" },
	{ RD_TOPIC_BIT_ERROR, "eth-phy-SymbolErrorDuringCarrier" },
	{ RD_TOPIC_BIT_ERROR, "eth-mac-FrameCheckSequenceErrors" },
	{ RD_TOPIC_BIT_ERROR, "fec-uncorrectable_blocks" },
	{ RD_TOPIC_BIT_ERROR, "CrcErr" },
	{ RD_TOPIC_CORRECTED, "rx_corrected_bits*" },
	{ RD_TOPIC_CORRECTED, "fec-corrected_bits" },
	{ RD_TOPIC_ICRC, "rx_icrc_encapsulated" },
	{ RD_TOPIC_ICRC, "RxICRCErr" },
	{ RD_TOPIC_ICRC, "CRC errors" },
	{ RD_TOPIC_PCI_STALL, "outbound_pci_stalled_??_events" },
	{ RD_TOPIC_PCI_ERROR, "outbound_pci_buffer_overflow" },
	{ RD_TOPIC_PCI_ERROR, "?x_pci_signal_integrity" },
	{ RD_TOPIC_PCI_ERROR, "res_*pci_err" },
	{ RD_TOPIC_PCI_ERROR, "PcieStatusErrInt" },
	{ RD_TOPIC_PCI_ERROR, "CcePciCrParErr" },
	{ RD_TOPIC_MODULE, "module_*" },
	{ RD_TOPIC_PAUSE_STORM, "tx_pause_storm_*_events" },
	{ RD_TOPIC_PAUSED_US, "tx_prio?_pause_duration" },
	{ RD_TOPIC_PAUSED_US, "pfc_pri?_tx_duration_us" },
	{ RD_TOPIC_PAUSED_US, "tx_global_pause_duration" },
	{ RD_TOPIC_HELD_US, "rx_prio?_pause_duration" },
	{ RD_TOPIC_HELD_US, "pfc_pri?_rx_duration_us" },
	{ RD_TOPIC_HELD_US, "rx_global_pause_duration" },
	{ RD_TOPIC_PAUSE_SENT, "tx_prio?_pause" },
	{ RD_TOPIC_PAUSE_SENT, "tx_pfc_ena_frames_pri?" },
	{ RD_TOPIC_PAUSE_SENT, "tx_priority_?_xo*" },
	{ RD_TOPIC_PAUSE_SENT, "tx_global_pause" },
	{ RD_TOPIC_PAUSE_SENT, "pause-tx_pause_frames" },
	{ RD_TOPIC_PAUSE_SENT, "pfc-requests-prio?" },
	{ RD_TOPIC_PAUSE_GOT, "pfc-indications-prio?" },
	{ RD_TOPIC_PAUSE_GOT, "rx_prio?_pause" },
	{ RD_TOPIC_PAUSE_GOT, "rx_pfc_ena_frames_pri?" },
	{ RD_TOPIC_PAUSE_GOT, "rx_priority_?_xo*" },
	{ RD_TOPIC_PAUSE_GOT, "rx_global_pause" },
	{ RD_TOPIC_PAUSE_GOT, "pause-rx_pause_frames" },
	{ RD_TOPIC_DROP, "rx_discards_phy" },
	{ RD_TOPIC_DROP, "rx_prio?_*discard*" },
	{ RD_TOPIC_DROP, "port_rcv_discards" },
	{ RD_TOPIC_DROP, "port_xmit_discards" },
	{ RD_TOPIC_DROP, "tx_discards_phy" },
	{ RD_TOPIC_DROP, "rx_roce_discard*" },
	{ RD_TOPIC_DROP, "rx_discard_packets_cos?" },
	{ RD_TOPIC_DROP, "rx_dropped.nic" },
	{ RD_TOPIC_DROP, "pkt_drops" },
	{ RD_TOPIC_TOO_LONG, "rx_oversize*" },
	{ RD_TOPIC_TOO_LONG, "eth-mac-FrameTooLongErrors" },
	{ RD_TOPIC_TOO_LONG, "rmon-etherStatsOversizePkts" },
	{ RD_TOPIC_NOT_SENT, "send_err" },
	{ RD_TOPIC_NOT_SENT, "tx_roce_error*" },
	{ RD_TOPIC_MARKED, "np_ecn_marked_roce_packets" },
	{ RD_TOPIC_MARKED, "RxECNMrkd" },
	{ RD_TOPIC_MARKED, "rx_ecn_marked_pkts" },
	{ RD_TOPIC_MARKED, "cc_rx_ce_pkts" },
	{ RD_TOPIC_CNP, "rp_cnp_handled" },
	{ RD_TOPIC_CNP, "cnpHandled" },
	{ RD_TOPIC_CNP, "rx_cnp_pkts" },
	{ RD_TOPIC_CNP, "received_cnps" },
	{ RD_TOPIC_CNP, "cc_rx_cnp_pkts" },
	{ RD_TOPIC_CNP_OWN, "roce_slow_restart_cnps" },
	{ RD_TOPIC_RESTART, "roce_adp_retrans_to" },
	{ RD_TOPIC_RESTART, "roce_slow_restart" },
	{ RD_TOPIC_RESTART, "roce_slow_restart_trans" },
	{ RD_TOPIC_WAIT, "port_xmit_wait" },
	{ RD_TOPIC_LOST, "out_of_sequence" },
	{ RD_TOPIC_LOST, "packet_seq_err" },
	{ RD_TOPIC_LOST, "out_of_seq_request" },
	{ RD_TOPIC_LOST, "rcvd_seq_err" },
	{ RD_TOPIC_LOST, "seq_err_naks_rcvd" },
	{ RD_TOPIC_LOST, "oos_drop_count" },
	{ RD_TOPIC_LOST, "rx_out_of_sequence" },
	{ RD_TOPIC_LOST, "*RetransSegs" },
	{ RD_TOPIC_LOST, "Nak Sequence Error" },
	{ RD_TOPIC_LOST, "Rcvd Out of order packets" },
	{ RD_TOPIC_LOST, "requester_oos_nak" },
	{ RD_TOPIC_LOST, "responder_oos" },
	{ RD_TOPIC_LOST, "retrans_pkts" },
	{ RD_TOPIC_LOST, "seq_naks" },
	{ RD_TOPIC_LOST, "rc_seqnak" },
	{ RD_TOPIC_LOST, "?q_num_oos" },
	{ RD_TOPIC_TIMEOUT, "local_ack_timeout_err" },
	{ RD_TOPIC_TIMEOUT, "to_retransmits" },
	{ RD_TOPIC_TIMEOUT, "completer_retry_err" },
	{ RD_TOPIC_TIMEOUT, "RTO" },
	{ RD_TOPIC_TIMEOUT, "requester_timeout" },
	{ RD_TOPIC_TIMEOUT, "rc_timeouts" },
	{ RD_TOPIC_TIMEOUT, "retrans_timeout_events" },
	{ RD_TOPIC_TIMEOUT, "unresponsive_remote_events" },
	{ RD_TOPIC_RETRIES, "req_transport_retries_exceeded" },
	{ RD_TOPIC_RETRIES, "max_retry_exceeded" },
	{ RD_TOPIC_RETRIES, "retry_exceeded_err" },
	{ RD_TOPIC_RETRIES, "requester_retries_exceeded" },
	{ RD_TOPIC_RETRIES, "sq_num_tree" },
	{ RD_TOPIC_RNR_END, "req_rnr_retries_exceeded" },
	{ RD_TOPIC_RNR_END, "retry_rnr_exceeded_err" },
	{ RD_TOPIC_RNR_END, "requester_rnr_nak_retries_exceeded" },
	{ RD_TOPIC_RNR_END, "sq_num_rree" },
	{ RD_TOPIC_RNR, "rnr_nak_retry_err" },
	{ RD_TOPIC_RNR, "out_of_buffer" },
	{ RD_TOPIC_RNR, "rcvd_rnr_err" },
	{ RD_TOPIC_RNR, "send_rnr_err" },
	{ RD_TOPIC_RNR, "rnr_naks*" },
	{ RD_TOPIC_RNR, "RNR *" },
	{ RD_TOPIC_RNR, "*_rnr_nak" },
	{ RD_TOPIC_RNR, "?q_num_rnr" },
	{ RD_TOPIC_RNR, "rx_drops" },
	{ RD_TOPIC_KEY, "*_remote_access_errors" },
	{ RD_TOPIC_KEY, "req_remote_invalid_request" },
	{ RD_TOPIC_KEY, "resp_local_length_error" },
	{ RD_TOPIC_KEY, "remote_access_err" },
	{ RD_TOPIC_KEY, "remote_invalid_req_err" },
	{ RD_TOPIC_KEY, "local_protection_err" },
	{ RD_TOPIC_KEY, "res_*rkey*" },
	{ RD_TOPIC_KEY, "res_*access*" },
	{ RD_TOPIC_KEY, "res_rx_range_err" },
	{ RD_TOPIC_KEY, "res_rx_no_perm" },
	{ RD_TOPIC_KEY, "nak_access_err" },
	{ RD_TOPIC_KEY, "nak_inv_req" },
	{ RD_TOPIC_KEY, "responder_rem_access_err" },
	{ RD_TOPIC_KEY, "responder_local_len_err" },
	{ RD_TOPIC_KEY, "requestor_local_prot_err" },
	{ RD_TOPIC_KEY, "?q_num_rae" },
	{ RD_TOPIC_KEY, "?q_num_rire" },
	{ RD_TOPIC_KEY, "?q_num_lpe" },
	{ RD_TOPIC_KEY, "?q_num_lle" },
	{ RD_TOPIC_KEY, "rdma_*_wr_err" },
	{ RD_TOPIC_FLUSH, "*_cqe_flush_error" },
	{ RD_TOPIC_FLUSH, "?q_num_wrfe" },
	{ RD_TOPIC_COMPLETION, "*_cqe_error" },
};

/* How much was carried, in what unit. Several may count the same: the largest is taken. */
static const struct {
	const char *name;
	unsigned bits; /* received, a unit of the counter */
} carried[] = {
	{ "port_rcv_data", 32 }, { "rx_bits_phy", 1 }, { "eth-mac-OctetsReceivedOK", 8 },
	{ "rx_bytes_phy", 8 },	 { "rcvd_bytes", 8 },  { "RxWords", 32 },
	{ "rx_bytes", 8 },
};

enum rd_topic rd_topic_of(const char *name)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(topics); i++)
		if (fnmatch(topics[i].name, name, 0) == 0)
			return topics[i].topic;
	return RD_TOPIC_NONE;
}

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
	/* The largest first; what does not fit is the smallest. */
	while (at > 0 && topic->evidence[at - 1].delta < evidence.delta)
		at--;
	if (at == RD_ARRAY_SIZE(topic->evidence))
		return;
	if (topic->n < RD_ARRAY_SIZE(topic->evidence))
		topic->n++;
	memmove(&topic->evidence[at + 1], &topic->evidence[at], (topic->n - at - 1) * sizeof(evidence));
	topic->evidence[at] = evidence;
}

static void larger(uint64_t *to, uint64_t value)
{
	if (value > *to)
		*to = value;
}

static void take_load(struct rd_moved *moved, const struct rd_counter *counter, uint64_t delta)
{
	const char *name = counter->name;
	int priority = strstr(name, "_prio") ? rd_priority_of(name) : -1;

	for (size_t i = 0; i < RD_ARRAY_SIZE(carried); i++)
		if (strcmp(carried[i].name, name) == 0 && delta < UINT64_MAX / carried[i].bits)
			larger(&moved->bits_in, delta * carried[i].bits);
	if (strcmp(name, "port_xmit_data") == 0)
		moved->words_out = delta;
	if (strcmp(name, "port_rcv_packets") == 0 || strcmp(name, "rcvd_pkts") == 0 || strcmp(name, "rx_pkts") == 0)
		larger(&moved->packets_in, delta);
	if (strcmp(name, "port_xmit_packets") == 0 || strcmp(name, "sent_pkts") == 0 || strcmp(name, "tx_pkts") == 0)
		larger(&moved->packets_out, delta);
	if (priority >= 0 && strcmp(name + strlen(name) - 6, "_bytes") == 0)
		moved->bytes_of[priority] += delta;
}

static void take_one(struct rd_moved *moved, const struct rd_counter *counter, uint32_t index,
		     const struct rd_delta *delta)
{
	enum rd_topic topic;
	int priority;

	if (counter->meaning && counter->meaning->role == RD_ROLE_LOAD) {
		take_load(moved, counter, delta->v);
		return;
	}
	topic = rd_topic_of(counter->name);
	if (topic == RD_TOPIC_NONE)
		return;
	add_evidence(&moved->topics[topic], index, delta);
	priority = topic == RD_TOPIC_PAUSE_SENT || topic == RD_TOPIC_PAUSE_GOT ? rd_priority_of(counter->name) : -1;
	if (priority >= 0)
		moved->pause_of[priority] += delta->v;
}

void rd_moved_gather(const struct rd_moment *now, const struct rd_delta *deltas, double seconds, size_t *at,
		     struct rd_moved *moved)
{
	const struct rd_counter_set *set = now->set;
	uint32_t port = set->counters[*at].port;

	moved->port = port;
	moved->seconds = seconds;
	for (; *at < set->n && set->counters[*at].port == port; ++*at) {
		const struct rd_counter *counter = &set->counters[*at];
		const struct rd_delta *delta = &deltas[*at];

		if (delta->note >= RD_NOTE_REBOOT && delta->note <= RD_NOTE_GONE && delta->note != RD_NOTE_NEW)
			moved->note = delta->note;
		moved->reset |= delta->note == RD_NOTE_RESET;
		/* Queue pairs that are bound to a counter are counted for the port, too. */
		if (delta->kind == RD_DELTA_UNKNOWN || counter->group == RD_GROUP_QP)
			continue;
		moved->compared = true;
		if (delta->note == RD_NOTE_SATURATED && delta->v == 0)
			add_evidence(&moved->stuck, (uint32_t)*at, delta);
		if (delta->v)
			take_one(moved, counter, (uint32_t)*at, delta);
	}
}
