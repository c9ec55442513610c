/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From deltas to statements: the right one first, with the counters that say so. */
#include "unit.h"

#include <inttypes.h>

#include "analyse/counters/counters.h"
#include "counter-table.h"

struct scene {
	struct rd_meanings meanings;
	struct rd_counter_set set;
	struct rd_counter_sample sample;
	struct rd_delta *deltas;
	struct rd_causes causes;
};

/* One port, in which these counters moved in `seconds`: "GROUP:NAME=BY", separated by ";"; by data/counters as it is shipped. */
static void scene_init(struct scene *scene, const char *driver, const char *link_layer, double seconds,
		       const char *moved)
{
	_cleanup_free_ char *text = strdup(moved);
	struct rd_counter_port *port;
	struct rd_counted now;
	uint64_t by[8];
	size_t n = 0;

	*scene = (struct scene){ 0 };
	counter_table_read(&scene->meanings);
	port = rd_counter_set_add_port(&scene->set);
	port->ibdev = strdup("mlx5_0");
	port->port = 1;
	port->netdev = strcmp(link_layer, "Ethernet") == 0 ? strdup("eth2") : NULL;
	port->driver = strdup(driver);
	port->link_layer = strdup(link_layer);
	for (char *rest = text, *part; (part = strsep(&rest, ";")); n++) {
		char group[16], name[64];

		assert_true(n < RD_ARRAY_SIZE(by));
		assert_int_equal(sscanf(part, "%15[^:]:%63[^=]=%" SCNu64, group, name, &by[n]), 3);
		assert_true(rd_counter_group_parse(group) >= 0);
		rd_counter_set_add(&scene->set, 0, (enum rd_counter_group)rd_counter_group_parse(group), name);
	}
	rd_meanings_apply(&scene->meanings, &scene->set);
	rd_counter_sample_fit(&scene->sample, &scene->set);
	scene->sample.states[0].there = true;
	scene->deltas = calloc(n + 1, sizeof(*scene->deltas));
	for (size_t i = 0; i < n; i++)
		scene->deltas[i] = (struct rd_delta){ by[i], RD_DELTA_EXACT, RD_NOTE_NONE };
	now = (struct rd_counted){ &scene->set, &scene->sample };
	rd_causes_find(NULL, &now, scene->deltas, seconds, &scene->causes);
}

static void scene_deinit(struct scene *scene)
{
	rd_causes_deinit(&scene->causes);
	free(scene->deltas);
	rd_counter_sample_deinit(&scene->sample);
	rd_counter_set_deinit(&scene->set);
	rd_meanings_deinit(&scene->meanings);
}

/* The ids of the causes, in their order: "link-flap peer-gone". */
static void expect(const char *driver, const char *link_layer, double seconds, const char *moved, const char *wanted)
{
	char found[256] = "";
	struct scene scene;

	scene_init(&scene, driver, link_layer, seconds, moved);
	for (size_t i = 0; i < scene.causes.n; i++) {
		if (i)
			strcat(found, " ");
		strcat(found, scene.causes.v[i].id);
		assert_true(scene.causes.v[i].n_evidence > 0);
		assert_true(*scene.causes.v[i].observed);
	}
	if (strcmp(found, wanted) != 0)
		fail_msg("%s %s: \"%s\", not \"%s\"", driver, moved, found, wanted);
	scene_deinit(&scene);
}

#define IB "InfiniBand"
#define ETH "Ethernet"

TEST(counters_of_a_port_lead_to_its_cause_or_to_none)
{
	/* Link errors are judged per bit. */
	/* 20 symbols damaged in a day at 400 Gbit/s (3.4e16 bits) are nothing; in a second they are a bad cable. */

	expect("mlx5", IB, 86400, "port:port_rcv_data=1080000000000000;port:symbol_error=20", "");
	expect("mlx5", IB, 1, "port:port_rcv_data=12500000000;port:symbol_error=20", "bad-cable");
	expect("mlx5", IB, 1, "port:symbol_error=20", "bad-cable");
	/* Corrected bits show a weak signal. */
	expect("mlx5", ETH, 1, "ethtool:rx_bits_phy=400000000000;ethtool:rx_corrected_bits_phy=400000", "weak-signal");
	expect("mlx5", ETH, 1, "ethtool:rx_bits_phy=400000000000;ethtool:rx_corrected_bits_phy=400", "");
	expect("mlx5", ETH, 1, "ethtool:rx_corrected_bits_phy=400000", "");
	/* A link that flaps is another fault than one that went down. */
	expect("mlx5", IB, 60, "port:link_downed=1", "link-down");
	expect("rxe", ETH, 60, "hw:link_downed=1;hw:send_err=1", "link-down");
	expect("mlx5", IB, 60, "port:link_downed=5;hw:local_ack_timeout_err=40", "link-flap ack-timeout");
	/* Flushed requests are no cause. */
	expect("mlx5", ETH, 60, "hw:req_cqe_error=500;hw:req_cqe_flush_error=500", "");
	expect("mlx5", ETH, 60, "hw:req_cqe_error=501;hw:req_cqe_flush_error=500", "work-failed");
	expect("mlx5", ETH, 60,
	       "hw:req_cqe_error=501;hw:req_cqe_flush_error=500;hw:req_transport_retries_exceeded=1;hw:local_ack_timeout_err=8",
	       "peer-gone");
	/* Flow control is understood. */
	expect("mlx5", ETH, 10, "ethtool:tx_pause_storm_warning_events=2", "pause-storm");
	expect("mlx5", ETH, 10, "ethtool:tx_prio3_pause_duration=5000000", "pause-storm");
	expect("mlx5", ETH, 10, "ethtool:rx_prio3_pause_duration=2000000;ethtool:rx_prio3_bytes=900",
	       "paused-by-switch");
	expect("mlx5", ETH, 10, "ethtool:rx_prio3_pause=200;ethtool:rx_prio0_bytes=90000000;ethtool:rx_prio3_bytes=0",
	       "pfc-wrong-priority");
	expect("mlx5", ETH, 10, "ethtool:rx_discards_phy=99;ethtool:rx_prio0_bytes=90000000", "drops-without-pfc");
	expect("mlx5", ETH, 10, "ethtool:rx_discards_phy=99;ethtool:tx_prio3_pause=9", "drops-with-pfc");
}

/* The counter and the clock are not read at the same time. */
TEST(no_port_is_paused_for_longer_than_the_interval)
{
	struct scene scene;

	scene_init(&scene, "mlx5", ETH, 10, "ethtool:rx_prio3_pause_duration=10100000");
	assert_string_equal(scene.causes.v[0].observed, "paused for 100 % of the time");
	scene_deinit(&scene);
}

TEST(congestion_needs_many_marks)
{
	expect("mlx5", ETH, 10, "port:port_rcv_packets=1000000;hw:np_ecn_marked_roce_packets=50000", "congestion");
	expect("mlx5", ETH, 10, "port:port_rcv_packets=1000000;hw:np_ecn_marked_roce_packets=50", "");
	expect("mlx5", IB, 10, "port:port_xmit_data=1000;port:port_xmit_wait=90000", "congestion");
}

/* A command whose names are unknown is advice. */
TEST(fixes_have_the_names_of_the_port)
{
	struct scene scene;

	scene_init(&scene, "rxe", ETH, 10, "hw:send_err=5");
	assert_int_equal(strncmp(scene.causes.v[0].fix, "ip -s link show dev eth2\n# ", 27), 0);
	scene_deinit(&scene);
	scene_init(&scene, "rxe", IB, 10, "hw:send_err=5");
	assert_int_equal(strncmp(scene.causes.v[0].fix, "# ip -s link show dev IF\n# ", 27), 0);
	scene_deinit(&scene);
}

TEST(every_driver_has_its_words)
{
	expect("rxe", ETH, 10, "hw:retry_exceeded_err=1;hw:completer_retry_err=7", "peer-gone");
	expect("rxe", ETH, 10, "hw:rcvd_rnr_err=3;hw:retry_rnr_exceeded_err=1", "rnr-exceeded");
	expect("rxe", ETH, 10, "hw:rcvd_seq_err=3", "packet-loss");
	/* RNR NAKs of what this host receives explain no loss of what it sends. */
	expect("mlx5", ETH, 10, "hw:packet_seq_err=30;hw:out_of_buffer=90", "receiver-not-ready packet-loss");
	expect("mlx5", ETH, 10, "hw:out_of_sequence=30;hw:out_of_buffer=90", "receiver-not-ready");
	expect("rxe", ETH, 10, "hw:send_err=52810", "not-sent");
	expect("irdma", ETH, 10, "hw:RNR received=3", "receiver-not-ready");
	expect("irdma", ETH, 10, "hw:Rcvd Out of order packets=3", "packet-loss");
	expect("bnxt_re", ETH, 10, "hw:seq_err_naks_rcvd=3;hw:res_rkey_mismatch=1", "wrong-key packet-loss");
	expect("hfi1", IB, 10, "hw:RxICrcErr=3", "icrc");
	expect("efa", ETH, 10, "hw:unresponsive_remote_events=3", "ack-timeout");
	expect("mlx5", ETH, 10, "ethtool:outbound_pci_stalled_wr_events=8", "pcie-backpressure");
	expect("mlx5", ETH, 10, "hw:rx_icrc_encapsulated=8", "icrc");
}

TEST(quiet_counters_say_what_they_do_not_see)
{
	_cleanup_(scene_deinit) struct scene scene;

	scene_init(&scene, "mlx5", ETH, 10, "port:port_rcv_packets=1000000");
	ASSERT_EACH(IS(scene.causes.n, 0), IS(scene.causes.findings.n, 1));
	assert_string_equal(scene.causes.findings.v[0].id, "nothing-counted");
	assert_non_null(strstr(scene.causes.findings.v[0].observed, "DEVX"));
}

TEST(priorities_are_read_off_names)
{
	ASSERT_EACH(IS(rd_priority_of("rx_prio3_pause"), 3), IS(rd_priority_of("rx_pfc_ena_frames_pri7"), 7),
		    IS(rd_priority_of("rx_prio12_x"), -1), IS(rd_priority_of("rx_prio"), -1),
		    IS(rd_priority_of("rx_bytes"), -1));
}

static bool says(const char *moved, enum rd_cause_id id)
{
	struct scene scene;
	bool said = false;

	scene_init(&scene, "mlx5", ETH, 60, moved);
	for (size_t i = 0; i < scene.causes.n; i++)
		said |= strcmp(scene.causes.v[i].title, rd_cause_words[id].title) == 0;
	scene_deinit(&scene);
	return said;
}

/* A network that routes adaptively reorders packets; a sender that gets NAKs, or responses that are missing, shows a loss. */
TEST(reordered_packets_may_not_be_lost)
{
	static const char reordered[] =
		"port:port_rcv_packets=1000000;port:port_xmit_packets=1000000;hw:out_of_sequence=50000";

	ASSERT_EACH(IS(says(reordered, RD_CAUSE_UNORDERED), true), IS(says(reordered, RD_CAUSE_LOSS), false));
	assert_true(says("hw:out_of_sequence=50000;hw:packet_seq_err=3", RD_CAUSE_LOSS));
	assert_true(says("hw:out_of_sequence=50000;hw:implied_nak_seq_err=3", RD_CAUSE_LOSS));
}

/* Those of AMD spray packets themselves. */
TEST(sprayed_packets_may_not_be_lost)
{
	struct scene scene;

	scene_init(&scene, "ionic", ETH, 60,
		   "hw:rx_rdma_ucast_pkts=1000000;hw:tx_rdma_ucast_pkts=1000000;hw:resp_rx_outouf_seq=50000");
	assert_int_equal(scene.causes.n, 1);
	assert_string_equal(scene.causes.v[0].title, rd_cause_words[RD_CAUSE_UNORDERED].title);
	scene_deinit(&scene);
}

/* Peers that died make the NIC lower its rate by itself, in counters that congestion moves as well. */
TEST(a_peer_that_is_gone_is_no_congestion)
{
	static const char verbs[] =
		"port:port_xmit_packets=1000;hw:rp_cnp_handled=132;hw:roce_slow_restart_cnps=132;hw:local_ack_timeout_err=96";
	static const char devx[] = "port:port_xmit_packets=1000;hw:rp_cnp_handled=132;hw:roce_adp_retrans_to=12";

	ASSERT_EACH(IS(says(verbs, RD_CAUSE_MARKED), false), IS(says(verbs, RD_CAUSE_CNP_UNCLEAR), false),
		    IS(says(verbs, RD_CAUSE_TIMEOUT), true));
	assert_false(says("port:port_xmit_packets=1000;hw:rp_cnp_handled=132;hw:roce_slow_restart_cnps=132",
			  RD_CAUSE_MARKED));
	ASSERT_EACH(IS(says(devx, RD_CAUSE_MARKED), false), IS(says(devx, RD_CAUSE_CNP_UNCLEAR), true));
	assert_true(says("port:port_xmit_packets=1000000;hw:rp_cnp_handled=50000;hw:roce_slow_restart_cnps=132",
			 RD_CAUSE_MARKED));
	assert_true(says(
		"port:port_xmit_packets=1000000;hw:rp_cnp_handled=50000;hw:cc_rx_cnp_pkts=50000;hw:local_ack_timeout_err=96",
		RD_CAUSE_MARKED));
	assert_true(says("port:port_rcv_packets=1000000;hw:np_ecn_marked_roce_packets=50000;hw:local_ack_timeout_err=96",
			 RD_CAUSE_MARKED));
}
