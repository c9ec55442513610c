/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pairs of counters, and what is named first; and that no counter is explained without being judged. */
#include "unit.h"

#include <inttypes.h>

#include "analyse/counters/counters.h"
#include "counter-table.h"

#define IB "InfiniBand"
#define ETH "Ethernet"

/* `counters`: "GROUP:NAME=BEFORE>AFTER", separated by ";". `first`: the id of the first finding that is a fault, NULL: none.
 * `not`: what must not be named at all. */
static const struct story {
	const char *driver, *layer;
	unsigned seconds;
	const char *counters, *first, *not ;
} stories[] = {
	/* Healthy. A RoCE network at work marks packets, sends CNPs and pause frames; good links have a few errors. */
	{ "mlx5", ETH, 60,
	  "port:port_rcv_packets=0>600000000;port:port_xmit_packets=0>600000000;hw:np_ecn_marked_roce_packets=5>90000;"
	  "hw:np_cnp_sent=5>90000;hw:rp_cnp_handled=9>80000;hw:rp_cnp_ignored=0>40",
	  NULL, "congestion" },
	{ "mlx5", ETH, 60,
	  "ethtool:rx_prio3_bytes=0>90000000000;ethtool:rx_prio3_pause=0>900;ethtool:rx_prio3_pause_duration=0>90000;"
	  "ethtool:tx_prio3_pause=3>500;ethtool:tx_prio3_pause_duration=0>50000;ethtool:rx_prio3_marked=0>12;"
	  "ethtool:rx_buffer_passed_thres_phy=4>9" },
	{ "mlx5", ETH, 60,
	  "ethtool:rx_bits_phy=0>24000000000000;ethtool:rx_corrected_bits_phy=0>240000;standard:fec-corrected_blocks=0>24000;"
	  "ethtool:rx_err_lane_0_phy=0>60000" },
	{ "mlx5", IB, 86400, "port:port_rcv_data=0>1080000000000000;port:symbol_error=0>20", NULL, "bad-cable" },
	{ "mlx5", IB, 86400,
	  "port:port_rcv_data=0>1080000000000000;port:port_rcv_remote_physical_errors=7>90;port:VL15_dropped=0>3;"
	  "port:port_rcv_switch_relay_errors=0>80",
	  NULL, "bad-cable" },
	{ "mlx5", IB, 60, "port:port_xmit_data=0>9000000000;port:port_xmit_wait=0>40000000" },
	/* Idle ports, whose links carry symbols all the same. */
	{ "mlx5", IB, 86400,
	  "port:port_rcv_data=0>40000;port:symbol_error=0>9;port:port_xmit_data=0>400;port:port_xmit_wait=0>900" },
	{ "bnxt_re", ETH, 60, "hw:rx_bytes=0>900000;hw:tx_bytes=0>900000;ethtool:rx_corrected_bits=0>40000" },
	{ "hfi1", IB, 86400, "port:port_rcv_data=0>0;hw:DcUnctblErr=0>4" },
	/* RDMA is on priority 3, and all else on priority 0. */
	{ "mlx5", ETH, 60,
	  "port:port_rcv_data=0>100000;port:port_xmit_data=0>100000;ethtool:rx_prio3_bytes=0>800000;"
	  "ethtool:rx_prio0_bytes=0>90000000000;ethtool:tx_prio3_pause=0>40;ethtool:rx_prio3_pause=0>20" },
	/* A few of very many packets. */
	{ "mlx5", ETH, 86400,
	  "port:port_rcv_packets=0>400000000000;port:port_xmit_packets=0>400000000000;hw:out_of_sequence=0>9;hw:packet_seq_err=0>9" },
	{ "irdma", ETH, 60, "hw:ip4OutPkts=0>9000000;hw:ip6OutPkts=0>0;hw:ip4InPkts=0>9000000;hw:tcpRetransSegs=0>90" },
	{ "cxgb4", ETH, 60, "hw:ip4OutSegs=0>900000;hw:ip6OutSegs=0>9;hw:ip4RetransSegs=0>90" },
	{ "efa", ETH, 60, "hw:tx_pkts=0>1000;hw:retrans_pkts=0>2", NULL, "packet-loss" },
	{ "bnxt_re", ETH, 60, "hw:rx_pkts=0>50;hw:rx_ecn_marked_pkts=0>1;hw:tx_pkts=0>5;hw:rx_cnp_pkts=0>1", NULL,
	  "congestion" },
	/* A second of a day. */
	{ "mlx5", ETH, 86400, "ethtool:outbound_pci_stalled_rd_events=0>1" },
	/* A timeout, or the wait for a receiver, now and then in a day of traffic. */
	{ "mlx5", ETH, 86400,
	  "port:port_rcv_packets=0>400000000000;port:port_xmit_packets=0>400000000000;hw:local_ack_timeout_err=0>2" },
	{ "mlx5", IB, 86400, "hw:rnr_nak_retry_err=0>9;hw:out_of_buffer=0>3" },
	/* A cable was pulled, and plugged again. */
	{ "mlx5", ETH, 3600, "ethtool:module_unplug=0>1" },
	/* 32 bits, at their end. */
	{ "mlx4", IB, 60,
	  "port:port_rcv_data=4294967000>4294967295;port:port_xmit_data=4294967200>4294967295;port:port_xmit_wait=0>90000000" },
	{ "mlx5", IB, 60, "port:excessive_buffer_overrun_errors=15>15;port:port_xmit_wait=4294967295>4294967295" },
	{ "mlx5", ETH, 60, "hw:duplicate_request=0>40;hw:req_cqe_error=0>64;hw:req_cqe_flush_error=0>64" },
	{ "mlx5", ETH, 60,
	  "ethtool:rx_out_of_buffer=0>900;netdev:rx_dropped=0>900;netdev:rx_missed_errors=0>9;ethtool:peer_ifindex=15>15;"
	  "ethtool:rx_steer_missed_packets=0>4000;netdev:carrier_up_count=15>15" },
	{ "mlx5", ETH, 60, "hw:vport_out_of_buffer=0>900;hw:vport_local_ack_timeout_err=0>9" },
	{ "bnxt_re", ETH, 60,
	  "hw:rx_pkts=0>600000000;hw:tx_pkts=0>600000000;hw:rx_ecn_marked_pkts=0>90000;hw:tx_cnp_pkts=0>90000;"
	  "hw:rx_cnp_pkts=0>70000;hw:pacing_alerts=0>40;hw:active_qps=12>255;hw:recoverable_errors=0>60;hw:dup_req=0>2",
	  NULL, "congestion" },
	{ "irdma", ETH, 60,
	  "hw:ip4InPkts=0>300000000;hw:ip6InPkts=0>300000000;hw:ip4OutPkts=0>600000000;hw:RxECNMrkd=0>90000;"
	  "hw:cnpHandled=0>90000;hw:cnpSent=0>9000;hw:ord limit count=0>65535;hw:ip4InReasmRqd=0>4" },
	{ "efa", ETH, 60,
	  "hw:tx_pkts=0>600000000;hw:tx_bytes=0>5000000000000;hw:retrans_pkts=0>60000;hw:retrans_bytes=0>500000000;"
	  "hw:keep_alive_rcvd=0>60;hw:submitted_cmds=3>9",
	  NULL, "packet-loss" },
	{ "mana", ETH, 60,
	  "hw:tx_packets=0>600000000;hw:rx_packets=0>600000000;hw:received_cnps=0>90000;hw:received_ecns=0>90000;"
	  "hw:rate_inc_events=0>4000;hw:num_qps_congested=0>15;hw:current_rate=0>255" },
	{ "ionic", ETH, 60,
	  "hw:rx_rdma_ucast_pkts=0>600000000;hw:tx_rdma_ucast_pkts=0>600000000;hw:rx_rdma_ecn_pkts=0>90000;"
	  "hw:tx_rdma_cnp_pkts=0>9000;hw:rx_rdma_cnp_pkts=0>9000;hw:tx_rdma_retx_pkts=0>60;ethtool:frames_rx_pripause=0>9" },
	{ "hns3", ETH, 60,
	  "hw:rx_pkt=0>600000000;hw:tx_pkt=0>600000000;hw:rx_cnp_pkt=0>9000;hw:ecn_db=0>9000;hw:cq_cqe=0>9" },
	{ "hfi1", IB, 60,
	  "port:port_rcv_packets=0>600000000;port:port_xmit_packets=0>600000000;hw:RcAcks=0>900;hw:DcTotCrc=0>40;"
	  "hw:DcRxReplay=0>40;hw:DcRcvFcn=0>900;hw:DcRcvBcn=0>900;hw:DmaWait=0>50000;hw:RcResend=0>20;hw:SwLinkUp=1>2" },
	{ "rxe", ETH, 60, "hw:sent_pkts=0>9000;hw:link_downed=255>255;hw:ack_deferred=0>255", NULL,
	  "counters-at-their-end" },
	{ "siw", ETH, 60, "netdev:rx_dropped=0>40;netdev:rx_bytes=0>9000000;netdev:tx_bytes=0>9000000" },
	{ "cxgb4", ETH, 60, "hw:ip4InSegs=0>900000;hw:ip4OutSegs=0>900000;hw:ip4OutRsts=0>4" },

	/* No more than a good link loses; and a path that loses more. */
	{ "mlx5", ETH, 86400, "port:port_rcv_packets=0>600000000000;ethtool:rx_discards_phy=0>3", NULL,
	  "drops-without-pfc" },
	{ "mlx5", ETH, 86400, "port:port_rcv_packets=0>600000000000;ethtool:rx_discards_phy=0>900",
	  "drops-without-pfc" },
	{ "mlx5", IB, 86400, "port:port_xmit_packets=0>600000000000;port:port_xmit_discards=0>2", NULL, "discards" },
	{ "mlx5", IB, 86400, "port:port_xmit_packets=0>600000000000;port:port_xmit_discards=0>900", "discards" },
	/* A frame of somebody's experiment; and what a peer with a larger MTU sends. */
	{ "mlx5", ETH, 60, "ethtool:rx_oversize_pkts_phy=0>1" },
	{ "mlx5", ETH, 60, "ethtool:rx_oversize_pkts_phy=0>8;hw:local_ack_timeout_err=0>8", "mtu-mismatch" },
	{ "mlx5", ETH, 60, "ethtool:rx_oversize_pkts_phy=0>90", "mtu-mismatch" },

	/* The link. What is discarded while it is down follows from that. */
	{ "mlx5", IB, 1, "port:port_rcv_data=0>12500000000;port:symbol_error=0>20", "bad-cable", "damaged-elsewhere" },
	{ "mlx5", IB, 1, "port:port_rcv_data=0>12500000000;port:port_rcv_remote_physical_errors=0>500",
	  "damaged-elsewhere", "bad-cable" },
	{ "mlx5", IB, 60, "port:port_rcv_data=0>4000;port:symbol_error=0>900", "bad-cable" },
	{ "mlx5", IB, 86400, "port:port_rcv_data=0>4000;port:symbol_error=0>9;port:link_error_recovery=0>1",
	  "bad-cable" },
	{ "mlx5", ETH, 86400, "ethtool:rx_bytes_phy=0>40000;ethtool:rx_crc_errors_phy=0>9", "bad-cable" },
	{ "bnxt_re", ETH, 60, "hw:rx_bytes=0>900000;ethtool:rx_corrected_bits=0>400000000", "weak-signal" },
	{ "mlx5", IB, 60, "port:port_xmit_data=0>400;port:port_xmit_wait=0>4000000000", "congestion" },
	{ "mlx5", IB, 86400, "port:port_xmit_data=0>400;port:port_xmit_wait=0>4294967295", "congestion" },
	{ "mlx4", IB, 60, "port:port_rcv_data=4294967000>4294967295;port:port_rcv_errors=0>40", "bad-cable" },
	{ "mlx5", ETH, 60,
	  "port:port_rcv_data=0>10000000000;ethtool:rx_prio0_bytes=0>90000000000;ethtool:rx_prio3_bytes=0>4000;ethtool:tx_prio3_pause=0>40",
	  "pfc-wrong-priority" },
	{ "mlx5", ETH, 60, "ethtool:rx_prio0_buf_discard=0>90;ethtool:tx_prio3_pause=0>40", "drops-without-pfc",
	  "drops-with-pfc" },
	{ "mlx5", ETH, 60, "ethtool:rx_prio3_buf_discard=0>90;ethtool:tx_prio3_pause=0>40", "drops-with-pfc" },
	/* What a port without RDMA traffic drops may be of virtual functions; but not what RDMA has itself. */
	{ "mlx5", ETH, 60,
	  "port:port_rcv_data=7>7;port:port_xmit_data=7>7;ethtool:rx_discards_phy=0>900;ethtool:rx_bytes_phy=0>90000000000",
	  "drops-without-rdma", "drops-without-pfc" },
	{ "mlx5", ETH, 60, "port:port_rcv_data=7>7;port:port_xmit_data=7>9000;ethtool:rx_discards_phy=0>900",
	  "drops-without-pfc" },
	{ "bnxt_re", ETH, 60, "hw:rx_bytes=7>7;hw:tx_bytes=7>7;hw:rx_roce_discard_pkts=0>900", "drops-without-pfc" },
	{ "mlx5", ETH, 60, "hw:rnr_nak_retry_err=0>1", "receiver-not-ready" },
	{ "mlx5", ETH, 3600, "ethtool:module_unplug=0>1;ethtool:link_down_events_phy=0>1", "link-down", "transceiver" },
	{ "mlx5", ETH, 60,
	  "port:port_rcv_packets=0>4000000000;port:port_xmit_packets=0>4000;hw:packet_seq_err=0>9;hw:out_of_sequence=0>1",
	  "packet-loss" },
	{ "bnxt_re", ETH, 60, "hw:rx_pkts=0>50;hw:rx_ecn_marked_pkts=0>9", "congestion" },
	{ "mlx5", ETH, 60, "ethtool:outbound_pci_stalled_wr_events=0>1", "pcie-backpressure" },
	{ "efa", ETH, 60, "hw:tx_pkts=0>1000;hw:retrans_pkts=0>20", "packet-loss" },
	{ "mlx5", IB, 60, "port:link_downed=1>4;port:port_xmit_discards=0>900;hw:local_ack_timeout_err=0>40",
	  "link-flap", "discards" },
	{ "mlx5", IB, 60, "port:link_downed=250>255", "link-flap", "counters-at-their-end" },
	{ "mlx5", IB, 60, "port:link_downed=255>255;port:excessive_buffer_overrun_errors=15>15",
	  "counters-at-their-end", "nothing-counted" },
	{ "mlx5", ETH, 60,
	  "ethtool:link_down_events_phy=0>1;ethtool:tx_discards_phy=0>900;netdev:carrier_down_count=0>1", "link-down",
	  "drops-without-pfc" },
	{ "mlx5", ETH, 60, "ethtool:tx_discards_phy=0>900;ethtool:tx_prio3_bytes=0>90000000", "discards",
	  "drops-without-pfc" },
	{ "mlx5", ETH, 60, "port:port_xmit_discards=0>900", "discards", "drops-without-pfc" },
	{ "mlx5", ETH, 1, "ethtool:rx_bits_phy=0>400000000000;ethtool:rx_corrected_bits_phy=0>4000000", "weak-signal",
	  "bad-cable" },
	{ "mlx5", ETH, 1,
	  "ethtool:rx_bits_phy=0>400000000000;ethtool:rx_crc_errors_phy=0>500;ethtool:rx_symbol_err_phy=7>7;"
	  "ethtool:rx_pcs_symbol_err_phy=7>7",
	  "damaged-elsewhere", "bad-cable" },
	{ "mlx5", ETH, 1,
	  "ethtool:rx_bits_phy=0>400000000000;ethtool:rx_crc_errors_phy=0>500;ethtool:rx_symbol_err_phy=7>7;"
	  "ethtool:rx_pcs_symbol_err_phy=7>900",
	  "bad-cable", "damaged-elsewhere" },
	{ "bnxt_re", ETH, 1, "hw:rx_bytes=0>50000000000;ethtool:rx_fcs_err_frames=0>500", "bad-cable",
	  "damaged-elsewhere" },
	{ "mlx5", IB, 60, "port:port_xmit_constraint_errors=0>9", "wrong-partition" },
	{ "hfi1", IB, 60, "hw:SwLinkDown=0>3;hw:XmitDscd=0>90", "link-flap", "discards" },
	{ "hfi1", IB, 1, "port:port_rcv_data=0>12500000000;hw:DcRmtPhyErr=0>500", "damaged-elsewhere", "bad-cable" },
	{ "hfi1", IB, 60, "hw:RxICrcErr=0>3", "icrc" },
	{ "ionic", ETH, 1, "ethtool:octets_rx_ok=0>50000000000;ethtool:frames_rx_stomped_crc=0>500",
	  "damaged-elsewhere", "bad-cable" },
	{ "rxe", ETH, 60, "hw:link_downed=250>300;hw:send_err=0>90", "link-flap", "not-sent" },
	/* Receiving, and what is lost on the path. */
	{ "mlx5", ETH, 60, "ethtool:rx_discards_phy=0>99;ethtool:tx_prio3_pause=0>9", "drops-with-pfc" },
	{ "mlx5", ETH, 60, "hw:out_of_buffer=4294967290>4", "receiver-not-ready" },
	{ "rxe", ETH, 60,
	  "hw:sent_pkts=0>90000;hw:rcvd_rnr_err=0>800;hw:rcvd_seq_err=0>790;hw:completer_retry_err=0>790",
	  "receiver-not-ready", "packet-loss" },
	{ "rxe", ETH, 60, "hw:rcvd_pkts=0>90000;hw:send_rnr_err=0>800;hw:out_of_seq_request=0>800",
	  "receiver-not-ready", "packet-loss" },
	{ "irdma", ETH, 60, "hw:RNR received=0>800;hw:Nak Sequence Error=0>790", "receiver-not-ready", "packet-loss" },
	{ "mlx5", ETH, 60, "hw:rnr_nak_retry_err=0>5;hw:packet_seq_err=0>4000", "packet-loss" },
	{ "ionic", ETH, 60, "hw:tx_rdma_ucast_pkts=0>90000;hw:tx_rdma_retx_pkts=0>800;hw:req_rx_rnr_retry_err=0>800",
	  "receiver-not-ready", "packet-loss" },
	{ "mlx5", ETH, 60, "hw:implied_nak_seq_err=0>40;hw:duplicate_request=0>40", "packet-loss" },
	{ "mlx5", ETH, 60, "hw:req_transport_retries_exceeded=0>4;hw:local_ack_timeout_err=0>28;hw:req_cqe_error=0>9",
	  "peer-gone", "work-failed" },
	{ "mlx5", ETH, 60, "port:port_rcv_packets=0>1000000;hw:np_ecn_marked_roce_packets=0>50000", "congestion" },
	{ "mlx4", IB, 60, "hw:sq_num_to=0>12", "ack-timeout" },
	{ "mlx4", IB, 60, "hw:sq_num_tree=0>1;hw:sq_num_to=0>7;hw:sq_num_wrfe=0>40", "peer-gone" },
	{ "mlx4", IB, 60, "hw:sq_num_lqpoe=0>2", "work-failed" },
	{ "mlx4", IB, 60, "hw:rq_num_udsdprd=0>90", "receiver-not-ready" },
	{ "bnxt_re", ETH, 60, "hw:missing_resp=0>9;hw:dup_req=0>9", "packet-loss" },
	{ "bnxt_re", ETH, 60, "hw:tx_roce_discards=0>90", "discards" },
	{ "bnxt_re", ETH, 60, "hw:max_retry_exceeded=0>1;hw:to_retransmits=0>7;hw:unrecoverable_err=0>1", "peer-gone",
	  "work-failed" },
	{ "bnxt_re", ETH, 60, "hw:local_qp_op_err=0>1;hw:unrecoverable_err=0>1", "work-failed" },
	{ "bnxt_re", ETH, 60, "hw:tx_pkts=0>1000000;hw:rp_cnp_handled=0>50000;hw:np_cnp_pkts=0>9", "congestion" },
	{ "irdma", ETH, 60, "hw:ip4InPkts=0>500000;hw:ip6InPkts=0>500000;hw:RxECNMrkd=0>30000", "congestion" },
	{ "irdma", ETH, 60, "hw:RTO=0>9;hw:cnpSent=0>9", "ack-timeout" },
	{ "irdma", ETH, 60, "hw:Nak Sequence Error Implied=0>9", "packet-loss" },
	{ "irdma", ETH, 60, "hw:CRC errors=0>9", "icrc" },
	{ "efa", ETH, 60, "hw:tx_pkts=0>1000000;hw:retrans_pkts=0>20000", "packet-loss" },
	{ "efa", ETH, 60, "hw:rdma_read_wr_err=0>9", "work-failed", "wrong-key" },
	{ "efa", ETH, 60, "hw:unresponsive_remote_events=0>9;hw:rdma_write_wr_err=0>9", "ack-timeout", "wrong-key" },
	{ "efa", ETH, 60, "hw:rx_drops=0>90", "receiver-not-ready" },
	{ "hns3", ETH, 60, "hw:tx_pkt=0>1000000;hw:rx_cnp_pkt=0>50000", "congestion" },
	{ "ionic", ETH, 60,
	  "hw:tx_rdma_ucast_pkts=0>229090159;hw:tx_rdma_retx_pkts=0>100971720;hw:req_rx_pkt_seq_err=0>1620000;"
	  "hw:resp_rx_dup_request=0>12",
	  "packet-loss" },
	{ "ionic", ETH, 60, "hw:req_tx_retry_excd_err=0>172;hw:tx_rdma_ack_timeout=0>1547;hw:req_rx_cqe_err=0>36",
	  "peer-gone", "work-failed" },
	{ "ionic", ETH, 60, "hw:resp_rx_outof_buf=0>9", "receiver-not-ready" },
	{ "mana", ETH, 60, "hw:requester_retries_exceeded=0>1;hw:requester_timeout=0>7;hw:total_fatal_error=0>1",
	  "peer-gone" },
	{ "mana", ETH, 60, "hw:nak_access_error=0>1", "wrong-key" },
	{ "erdma", ETH, 60, "hw:tx_bps_limit_drop_cnt=0>90", "rate-limit", "drops-without-pfc" },
	{ "cxgb4", ETH, 60, "hw:ip4OutSegs=0>9000;hw:ip6OutSegs=0>9;hw:ip4RetransSegs=0>90", "packet-loss" },
	{ "qib", IB, 60, "hw:other_naks=0>2", "work-failed" },
};

struct scene {
	struct rd_counter_set set;
	struct rd_counter_sample before, now;
	struct rd_delta *deltas;
	struct rd_causes causes;
};

static void scene_init(struct scene *scene, const char *driver, const char *layer)
{
	struct rd_counter_port *port;

	*scene = (struct scene){ 0 };
	port = rd_counter_set_add_port(&scene->set);
	port->ibdev = strdup("a_0");
	port->port = 1;
	port->netdev = strcmp(layer, ETH) == 0 ? strdup("eth2") : NULL;
	port->driver = strdup(driver);
	port->link_layer = strdup(layer);
	RD_SET(port->rate_gbps, 400.0);
}

static void take_sample(struct scene *scene, struct rd_counter_sample *sample, unsigned second, const uint64_t *values)
{
	rd_counter_sample_fit(sample, &scene->set);
	sample->states[0].there = true;
	strcpy(sample->states[0].state, "ACTIVE");
	sample->realtime_ns = sample->monotonic_ns = (second + 1) * UINT64_C(1000000000);
	strcpy(sample->boot_id, "a");
	for (size_t i = 0; i < scene->set.n; i++)
		sample->values[i] = (struct rd_counter_value){ .v = values[i], .known = RD_OK };
}

static void scene_judge(struct scene *scene, const struct rd_meanings *meanings, unsigned seconds,
			const uint64_t *before, const uint64_t *now)
{
	const struct rd_counted a = { &scene->set, &scene->before }, b = { &scene->set, &scene->now };

	rd_meanings_apply(meanings, &scene->set);
	take_sample(scene, &scene->before, 0, before);
	take_sample(scene, &scene->now, seconds, now);
	scene->deltas = calloc(scene->set.n + 1, sizeof(*scene->deltas));
	rd_deltas(&a, &b, scene->deltas);
	rd_causes_find(&a, &b, scene->deltas, seconds, &scene->causes);
}

static void scene_deinit(struct scene *scene)
{
	rd_causes_deinit(&scene->causes);
	free(scene->deltas);
	rd_counter_sample_deinit(&scene->before);
	rd_counter_sample_deinit(&scene->now);
	rd_counter_set_deinit(&scene->set);
}

/* The first finding that is a fault or cannot be determined; "": none. */
static const char *first_fault(const struct scene *scene)
{
	for (size_t i = 0; i < scene->causes.findings.n; i++)
		if (scene->causes.findings.v[i].severity >= RD_SEV_UNKNOWN)
			return scene->causes.findings.v[i].id;
	return "";
}

static bool is_named(const struct scene *scene, const char *id)
{
	for (size_t i = 0; id && i < scene->causes.findings.n; i++)
		if (strcmp(scene->causes.findings.v[i].id, id) == 0)
			return true;
	return false;
}

static void tell(const struct rd_meanings *meanings, const struct story *story)
{
	uint64_t before[16], now[16];
	_cleanup_(scene_deinit) struct scene scene;
	char *text = strdup(story->counters), *rest = text, *part;

	scene_init(&scene, story->driver, story->layer);
	for (size_t n = 0; (part = strsep(&rest, ";")); n++) {
		char *name = strchr(part, ':'), *value = name ? strchr(name, '=') : NULL;

		ASSERT_EACH(IS(value != NULL, true), IS(n < 16, true));
		*name++ = *value++ = '\0';
		assert_int_equal(sscanf(value, "%" SCNu64 ">%" SCNu64, &before[n], &now[n]), 2);
		assert_true(rd_counter_group_parse(part) >= 0);
		rd_counter_set_add(&scene.set, 0, (enum rd_counter_group)rd_counter_group_parse(part), name);
	}
	scene_judge(&scene, meanings, story->seconds, before, now);
	if (strcmp(first_fault(&scene), story->first ? story->first : "") != 0)
		fail_msg("%s %s: named '%s', not '%s'", story->driver, story->counters, first_fault(&scene),
			 story->first ? story->first : "");
	if (is_named(&scene, story->not ))
		fail_msg("%s %s: named '%s'", story->driver, story->counters, story->not );
	free(text);
}

TEST(the_cause_of_each_story_is_named_first)
{
	_cleanup_(rd_meanings_deinit) struct rd_meanings meanings = { 0 };

	counter_table_read(&meanings);
	for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
		tell(&meanings, &stories[i]);
}

/* A name that the pattern matches. */
static void name_of(const char *pattern, char *ret)
{
	for (; *pattern; pattern++)
		if (strncmp(pattern, "[0-9]", 5) == 0) {
			*ret++ = '4';
			pattern += 4;
		} else {
			*ret++ = *pattern == '?' ? '4' : *pattern == '*' ? 'x' : *pattern;
		}
	*ret = '\0';
}

/* Why a row is not judged; NULL: it does not say so. */
static const char *reason_of(const struct rd_meaning *row)
{
	const char *at = strstr(row->text, "Not judged: ");

	return at && strlen(at) > 20 ? at : NULL;
}

static const char *check_row(const struct rd_meaning *row, const struct scene *scene)
{
	bool named = *first_fault(scene);

	if (scene->set.counters[0].meaning != row)
		return "an earlier row has all its counters";
	switch (row->role) {
	case RD_ROLE_LOAD:
		return named ? "traffic is named as a fault" : NULL;
	case RD_ROLE_FOLLOWS:
		return named != (row->topic == RD_TOPIC_REMOTE) ? "only damage elsewhere is named of consequences" :
								  NULL;
	case RD_ROLE_CAUSE:
		if (named == !!reason_of(row))
			return named ? "is judged, and says that it is not" : "is not judged, and does not say why";
		return NULL;
	default:
		if (named)
			return "a few of a sign are named as a fault";
		if (!row->topic == !reason_of(row))
			return row->topic ? "is judged, and says that it is not" :
					    "is not judged, and does not say why";
		return NULL;
	}
}

/* Of each row one counter, which increased by 1,000, and nothing else. */
TEST(each_counter_that_is_explained_is_judged_or_says_why_not)
{
	_cleanup_(rd_meanings_deinit) struct rd_meanings meanings = { 0 };
	char name[128], driver[128];
	unsigned wrong = 0;

	counter_table_read(&meanings);
	for (size_t i = 0; i < meanings.n; i++) {
		const uint64_t before[1] = { 0 }, now[1] = { 1000 };
		const struct rd_meaning *row = &meanings.v[i];
		bool of_netdev = strcmp(row->driver, "netdev") == 0;
		struct scene scene;
		const char *what;

		name_of(row->name, name);
		name_of(row->driver, driver);
		scene_init(&scene, driver, ETH);
		rd_counter_set_add(&scene.set, 0, of_netdev ? RD_GROUP_NETDEV : RD_GROUP_HW, name);
		scene_judge(&scene, &meanings, 60, before, now);
		what = check_row(row, &scene);
		if (what) {
			print_error("data/counters: %s %s: %s (%s)\n", row->name, row->driver, what,
				    first_fault(&scene));
			wrong++;
		}
		scene_deinit(&scene);
	}
	ASSERT_EACH(IS(meanings.n > 400, true), IS(wrong, 0));
}
