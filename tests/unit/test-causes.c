/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From deltas to statements: the right one first, with the counters that say so. */
#include "unit.h"

#include "analyse/counters/counters.h"
#include "counter-table.h"

struct moved {
	const char *name;
	enum rd_counter_group group;
	uint64_t delta;
};

struct scene {
	struct rd_meanings meanings;
	struct rd_counter_set set;
	struct rd_counter_sample sample;
	struct rd_delta *deltas;
	struct rd_causes causes;
};

/* One port, in which these counters moved in `seconds`; by data/counters as it is shipped. */
static void scene_init(struct scene *scene, const char *driver, const char *link_layer, double seconds,
		       const struct moved *moved)
{
	struct rd_counter_port *port;
	struct rd_counted now;
	size_t n = 0;

	*scene = (struct scene){ 0 };
	counter_table_read(&scene->meanings);
	port = rd_counter_set_add_port(&scene->set);
	port->ibdev = strdup("mlx5_0");
	port->port = 1;
	port->netdev = strcmp(link_layer, "Ethernet") == 0 ? strdup("eth2") : NULL;
	port->driver = strdup(driver);
	port->link_layer = strdup(link_layer);
	for (; moved[n].name; n++)
		assert_non_null(rd_counter_set_add(&scene->set, 0, moved[n].group, moved[n].name));
	rd_meanings_apply(&scene->meanings, &scene->set);
	rd_counter_sample_fit(&scene->sample, &scene->set);
	scene->sample.states[0].there = true;
	scene->deltas = calloc(n + 1, sizeof(*scene->deltas));
	for (size_t i = 0; i < n; i++)
		scene->deltas[i] = (struct rd_delta){ moved[i].delta, RD_DELTA_EXACT, RD_NOTE_NONE };
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
static void expect(const char *driver, const char *link_layer, double seconds, const struct moved *moved,
		   const char *wanted)
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
	assert_string_equal(found, wanted);
	scene_deinit(&scene);
}

#define IB "InfiniBand"
#define ETH "Ethernet"
#define P RD_GROUP_PORT
#define H RD_GROUP_HW
#define E RD_GROUP_ETHTOOL

TEST(link_errors_are_judged_per_bit)
{
	/* 20 symbols damaged in a day at 400 Gbit/s (3.4e16 bits) are nothing; in a second they are a bad cable. */
	const struct moved day[] = { { "port_rcv_data", P, 1080000000000000u }, { "symbol_error", P, 20 }, { 0 } };
	const struct moved second[] = { { "port_rcv_data", P, 12500000000u }, { "symbol_error", P, 20 }, { 0 } };
	const struct moved unknown[] = { { "symbol_error", P, 20 }, { 0 } };

	expect("mlx5", IB, 86400, day, "");
	expect("mlx5", IB, 1, second, "bad-cable");
	expect("mlx5", IB, 1, unknown, "bad-cable");
}

TEST(corrected_bits_show_a_weak_signal)
{
	const struct moved weak[] = { { "rx_bits_phy", E, 400000000000u },
				      { "rx_corrected_bits_phy", E, 400000 },
				      { 0 } };
	const struct moved good[] = { { "rx_bits_phy", E, 400000000000u }, { "rx_corrected_bits_phy", E, 400 }, { 0 } };
	const struct moved of_unknown[] = { { "rx_corrected_bits_phy", E, 400000 }, { 0 } };

	expect("mlx5", ETH, 1, weak, "weak-signal");
	expect("mlx5", ETH, 1, good, "");
	expect("mlx5", ETH, 1, of_unknown, "");
}

TEST(a_link_that_flaps_is_told_from_one_that_went_down)
{
	const struct moved once[] = { { "link_downed", P, 1 }, { 0 } };
	const struct moved unsent[] = { { "link_downed", H, 1 }, { "send_err", H, 1 }, { 0 } };
	const struct moved often[] = { { "link_downed", P, 5 }, { "local_ack_timeout_err", H, 40 }, { 0 } };

	expect("mlx5", IB, 60, once, "link-down");
	expect("rxe", ETH, 60, unsent, "link-down");
	expect("mlx5", IB, 60, often, "link-flap ack-timeout");
}

TEST(flushed_requests_are_no_cause)
{
	const struct moved flushed[] = { { "req_cqe_error", H, 500 }, { "req_cqe_flush_error", H, 500 }, { 0 } };
	const struct moved first[] = { { "req_cqe_error", H, 501 }, { "req_cqe_flush_error", H, 500 }, { 0 } };
	const struct moved gone[] = { { "req_cqe_error", H, 501 },
				      { "req_cqe_flush_error", H, 500 },
				      { "req_transport_retries_exceeded", H, 1 },
				      { "local_ack_timeout_err", H, 8 },
				      { 0 } };

	expect("mlx5", ETH, 60, flushed, "");
	expect("mlx5", ETH, 60, first, "work-failed");
	expect("mlx5", ETH, 60, gone, "peer-gone");
}

TEST(flow_control_is_understood)
{
	const struct moved storm[] = { { "tx_pause_storm_warning_events", E, 2 }, { 0 } };
	const struct moved holds[] = { { "tx_prio3_pause_duration", E, 5000000 }, { 0 } };
	const struct moved held[] = { { "rx_prio3_pause_duration", E, 2000000 }, { "rx_prio3_bytes", E, 900 }, { 0 } };
	const struct moved wrong[] = {
		{ "rx_prio3_pause", E, 200 }, { "rx_prio0_bytes", E, 90000000 }, { "rx_prio3_bytes", E, 0 }, { 0 }
	};
	const struct moved lossy[] = { { "rx_discards_phy", E, 99 }, { "rx_prio0_bytes", E, 90000000 }, { 0 } };
	const struct moved small[] = { { "rx_discards_phy", E, 99 }, { "tx_prio3_pause", E, 9 }, { 0 } };

	expect("mlx5", ETH, 10, storm, "pause-storm");
	expect("mlx5", ETH, 10, holds, "pause-storm");
	expect("mlx5", ETH, 10, held, "paused-by-switch");
	expect("mlx5", ETH, 10, wrong, "pfc-wrong-priority");
	expect("mlx5", ETH, 10, lossy, "drops-without-pfc");
	expect("mlx5", ETH, 10, small, "drops-with-pfc");
}

/* The counter and the clock are not read at the same time. */
TEST(no_port_is_paused_for_longer_than_the_interval)
{
	const struct moved held[] = { { "rx_prio3_pause_duration", E, 10100000 }, { 0 } };
	struct scene scene;

	scene_init(&scene, "mlx5", ETH, 10, held);
	assert_string_equal(scene.causes.v[0].observed, "paused for 100 % of the time");
	scene_deinit(&scene);
}

TEST(congestion_needs_many_marks)
{
	const struct moved many[] = { { "port_rcv_packets", P, 1000000 },
				      { "np_ecn_marked_roce_packets", H, 50000 },
				      { 0 } };
	const struct moved few[] = { { "port_rcv_packets", P, 1000000 },
				     { "np_ecn_marked_roce_packets", H, 50 },
				     { 0 } };
	const struct moved wait[] = { { "port_xmit_data", P, 1000 }, { "port_xmit_wait", P, 90000 }, { 0 } };

	expect("mlx5", ETH, 10, many, "congestion");
	expect("mlx5", ETH, 10, few, "");
	expect("mlx5", IB, 10, wait, "congestion");
}

/* A command whose names are unknown is advice. */
TEST(fixes_have_the_names_of_the_port)
{
	const struct moved unsent[] = { { "send_err", H, 5 }, { 0 } };
	struct scene scene;

	scene_init(&scene, "rxe", ETH, 10, unsent);
	assert_int_equal(strncmp(scene.causes.v[0].fix, "ip -s link show dev eth2\n# ", 27), 0);
	scene_deinit(&scene);
	scene_init(&scene, "rxe", IB, 10, unsent);
	assert_int_equal(strncmp(scene.causes.v[0].fix, "# ip -s link show dev IF\n# ", 27), 0);
	scene_deinit(&scene);
}

TEST(every_driver_has_its_words)
{
	const struct moved rxe[] = { { "retry_exceeded_err", H, 1 }, { "completer_retry_err", H, 7 }, { 0 } };
	const struct moved rxe_rnr[] = { { "rcvd_rnr_err", H, 3 }, { "retry_rnr_exceeded_err", H, 1 }, { 0 } };
	const struct moved rxe_loss[] = { { "rcvd_seq_err", H, 3 }, { 0 } };
	const struct moved both_ways[] = { { "packet_seq_err", H, 30 }, { "out_of_buffer", H, 90 }, { 0 } };
	const struct moved one_way[] = { { "out_of_sequence", H, 30 }, { "out_of_buffer", H, 90 }, { 0 } };
	const struct moved rxe_mtu[] = { { "send_err", H, 52810 }, { 0 } };
	const struct moved irdma[] = { { "RNR received", H, 3 }, { 0 } };
	const struct moved irdma_loss[] = { { "Rcvd Out of order packets", H, 3 }, { 0 } };
	const struct moved bnxt[] = { { "seq_err_naks_rcvd", H, 3 }, { "res_rkey_mismatch", H, 1 }, { 0 } };
	const struct moved hfi[] = { { "RxICrcErr", H, 3 }, { 0 } };
	const struct moved efa[] = { { "unresponsive_remote_events", H, 3 }, { 0 } };
	const struct moved pci[] = { { "outbound_pci_stalled_wr_events", E, 8 }, { 0 } };
	const struct moved icrc[] = { { "rx_icrc_encapsulated", H, 8 }, { 0 } };

	expect("rxe", ETH, 10, rxe, "peer-gone");
	expect("rxe", ETH, 10, rxe_rnr, "rnr-exceeded");
	expect("rxe", ETH, 10, rxe_loss, "packet-loss");
	/* RNR NAKs of what this host receives explain no loss of what it sends. */
	expect("mlx5", ETH, 10, both_ways, "receiver-not-ready packet-loss");
	expect("mlx5", ETH, 10, one_way, "receiver-not-ready");
	expect("rxe", ETH, 10, rxe_mtu, "not-sent");
	expect("irdma", ETH, 10, irdma, "receiver-not-ready");
	expect("irdma", ETH, 10, irdma_loss, "packet-loss");
	expect("bnxt_re", ETH, 10, bnxt, "wrong-key packet-loss");
	expect("hfi1", IB, 10, hfi, "icrc");
	expect("efa", ETH, 10, efa, "ack-timeout");
	expect("mlx5", ETH, 10, pci, "pcie-backpressure");
	expect("mlx5", ETH, 10, icrc, "icrc");
}

TEST(quiet_counters_say_what_they_do_not_see)
{
	const struct moved load[] = { { "port_rcv_packets", P, 1000000 }, { 0 } };
	_cleanup_(scene_deinit) struct scene scene;

	scene_init(&scene, "mlx5", ETH, 10, load);
	assert_int_equal(scene.causes.n, 0);
	assert_int_equal(scene.causes.findings.n, 1);
	assert_string_equal(scene.causes.findings.v[0].id, "nothing-counted");
	assert_non_null(strstr(scene.causes.findings.v[0].observed, "DEVX"));
}

TEST(priorities_are_read_off_names)
{
	assert_int_equal(rd_priority_of("rx_prio3_pause"), 3);
	assert_int_equal(rd_priority_of("rx_pfc_ena_frames_pri7"), 7);
	assert_int_equal(rd_priority_of("rx_prio12_x"), -1);
	assert_int_equal(rd_priority_of("rx_prio"), -1);
	assert_int_equal(rd_priority_of("rx_bytes"), -1);
}

static bool says(const struct moved *moved, enum rd_cause_id id);

/* A network that routes adaptively reorders packets; a sender that gets NAKs, or responses that are missing, shows a loss. */
TEST(reordered_packets_may_not_be_lost)
{
	const struct moved reordered[] = { { "port_rcv_packets", P, 1000000 },
					   { "port_xmit_packets", P, 1000000 },
					   { "out_of_sequence", H, 50000 },
					   { 0 } };
	const struct moved lost[] = { { "out_of_sequence", H, 50000 }, { "packet_seq_err", H, 3 }, { 0 } };
	const struct moved missing[] = { { "out_of_sequence", H, 50000 }, { "implied_nak_seq_err", H, 3 }, { 0 } };

	assert_true(says(reordered, RD_CAUSE_UNORDERED));
	assert_false(says(reordered, RD_CAUSE_LOSS));
	assert_true(says(lost, RD_CAUSE_LOSS));
	assert_true(says(missing, RD_CAUSE_LOSS));
}

/* Those of AMD spray packets themselves. */
TEST(sprayed_packets_may_not_be_lost)
{
	const struct moved sprayed[] = { { "rx_rdma_ucast_pkts", H, 1000000 },
					 { "tx_rdma_ucast_pkts", H, 1000000 },
					 { "resp_rx_outouf_seq", H, 50000 },
					 { 0 } };
	struct scene scene;

	scene_init(&scene, "ionic", ETH, 60, sprayed);
	assert_int_equal(scene.causes.n, 1);
	assert_string_equal(scene.causes.v[0].title, rd_cause_words[RD_CAUSE_UNORDERED].title);
	scene_deinit(&scene);
}

static bool says(const struct moved *moved, enum rd_cause_id id)
{
	struct scene scene;
	bool said = false;

	scene_init(&scene, "mlx5", ETH, 60, moved);
	for (size_t i = 0; i < scene.causes.n; i++)
		said |= strcmp(scene.causes.v[i].title, rd_cause_words[id].title) == 0;
	scene_deinit(&scene);
	return said;
}

/* Peers that died make the NIC lower its rate by itself, in counters that congestion moves as well. */
TEST(a_peer_that_is_gone_is_no_congestion)
{
	const struct moved verbs[] = { { "port_xmit_packets", P, 1000 },
				       { "rp_cnp_handled", H, 132 },
				       { "roce_slow_restart_cnps", H, 132 },
				       { "local_ack_timeout_err", H, 96 },
				       { 0 } };
	const struct moved quiet[] = { { "port_xmit_packets", P, 1000 },
				       { "rp_cnp_handled", H, 132 },
				       { "roce_slow_restart_cnps", H, 132 },
				       { 0 } };
	const struct moved devx[] = {
		{ "port_xmit_packets", P, 1000 }, { "rp_cnp_handled", H, 132 }, { "roce_adp_retrans_to", H, 12 }, { 0 }
	};
	const struct moved congested[] = { { "port_xmit_packets", P, 1000000 },
					   { "rp_cnp_handled", H, 50000 },
					   { "roce_slow_restart_cnps", H, 132 },
					   { 0 } };
	const struct moved received[] = { { "port_xmit_packets", P, 1000000 },
					  { "rp_cnp_handled", H, 50000 },
					  { "cc_rx_cnp_pkts", H, 50000 },
					  { "local_ack_timeout_err", H, 96 },
					  { 0 } };
	const struct moved marked[] = { { "port_rcv_packets", P, 1000000 },
					{ "np_ecn_marked_roce_packets", H, 50000 },
					{ "local_ack_timeout_err", H, 96 },
					{ 0 } };

	assert_false(says(verbs, RD_CAUSE_MARKED));
	assert_false(says(verbs, RD_CAUSE_CNP_UNCLEAR));
	assert_true(says(verbs, RD_CAUSE_TIMEOUT));
	assert_false(says(quiet, RD_CAUSE_MARKED));
	assert_false(says(devx, RD_CAUSE_MARKED));
	assert_true(says(devx, RD_CAUSE_CNP_UNCLEAR));
	assert_true(says(congested, RD_CAUSE_MARKED));
	assert_true(says(received, RD_CAUSE_MARKED));
	assert_true(says(marked, RD_CAUSE_MARKED));
}
