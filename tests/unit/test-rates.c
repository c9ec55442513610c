/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/counters/counters.h"
#include "counter-table.h"

/* A host of two ports, each with its data counters. */
struct host {
	struct rd_meanings meanings;
	struct rd_counter_set set;
	struct rd_counter_sample now;
	struct rd_delta deltas[16];
	struct rd_rates rates;
	struct rd_findings findings; /* of remarks_of */
};

static void add(struct host *host, uint32_t port, enum rd_counter_group group, const char *name)
{
	assert_non_null(rd_counter_set_add(&host->set, port, group, name));
}

static void begin(struct host *host, size_t ports)
{
	static const char *const names[] = { "mlx5_0", "mlx5_1", "mlx5_2" };

	*host = (struct host){ 0 };
	counter_table_read(&host->meanings);
	for (size_t p = 0; p < ports; p++) {
		struct rd_counter_port *port = rd_counter_set_add_port(&host->set);

		port->ibdev = strdup(names[p]);
		port->port = 1;
		RD_SET(port->rate_gbps, 100);
	}
}

static void ready(struct host *host)
{
	rd_meanings_apply(&host->meanings, &host->set);
	rd_rates_init(&host->rates, &host->set);
	rd_counter_sample_fit(&host->now, &host->set);
	for (size_t p = 0; p < host->set.n_ports; p++) {
		host->now.states[p].there = true;
		strcpy(host->now.states[p].state, "ACTIVE");
	}
}

static void end(struct host *host)
{
	rd_findings_deinit(&host->findings);
	rd_rates_deinit(&host->rates);
	rd_counter_sample_deinit(&host->now);
	rd_counter_set_deinit(&host->set);
	rd_meanings_deinit(&host->meanings);
}

static void moved(struct host *host, size_t counter, uint64_t delta)
{
	host->deltas[counter] = (struct rd_delta){ .v = delta, .kind = RD_DELTA_EXACT };
}

static size_t remarks_of(struct host *host)
{
	rd_findings_deinit(&host->findings);
	rd_rates_update(&host->rates, &host->set, host->deltas, 1);
	rd_rates_findings(&host->rates, &host->set, &host->now, &host->findings);
	return host->findings.n;
}

#define HOST_TEST(name) TEST_ON(name, struct host, host, { 0 }, end)

HOST_TEST(data_counters_count_four_octets)
{
	begin(host, 1);
	add(host, 0, RD_GROUP_NETDEV, "tx_bytes");
	add(host, 0, RD_GROUP_PORT, "port_xmit_data");
	ready(host);
	moved(host, 0, 1);
	moved(host, 1, 1250000000);
	rd_rates_update(&host->rates, &host->set, host->deltas, 2);
	assert_true(host->rates.ports[0].tx_gbps.v > 19.99 && host->rates.ports[0].tx_gbps.v < 20.01);
	assert_true(host->rates.ports[0].tx_share.v > 0.199 && host->rates.ports[0].tx_share.v < 0.201);
	assert_string_equal(host->rates.ports[0].counted_by->name, "port_xmit_data");
	assert_int_equal(host->rates.ports[0].rx_gbps.known, RD_ABSENT);
	/* What the port does not say, the interface may. */
	host->deltas[1].kind = RD_DELTA_UNKNOWN;
	rd_rates_update(&host->rates, &host->set, host->deltas, 2);
	assert_string_equal(host->rates.ports[0].counted_by->name, "tx_bytes");
}

HOST_TEST(more_than_is_known_gives_no_rate)
{
	begin(host, 1);
	add(host, 0, RD_GROUP_PORT, "port_xmit_data");
	ready(host);
	moved(host, 0, 1000);
	host->deltas[0].kind = RD_DELTA_AT_LEAST;
	rd_rates_update(&host->rates, &host->set, host->deltas, 1);
	assert_int_equal(host->rates.ports[0].tx_gbps.known, RD_ABSENT);
	assert_int_equal(host->rates.ports[0].tx_share.known, RD_ABSENT);
}

HOST_TEST(both_halves_of_a_sum_are_needed)
{
	begin(host, 2);
	add(host, 0, RD_GROUP_HW, "ip4OutOctets");
	add(host, 0, RD_GROUP_HW, "ip6OutOctets");
	add(host, 1, RD_GROUP_HW, "ip4OutOctets");
	ready(host);
	moved(host, 0, 500000000);
	moved(host, 1, 250000000);
	moved(host, 2, 250000000);
	rd_rates_update(&host->rates, &host->set, host->deltas, 1);
	assert_true(host->rates.ports[0].tx_gbps.v > 5.99 && host->rates.ports[0].tx_gbps.v < 6.01);
	assert_int_equal(host->rates.ports[1].tx_gbps.known, RD_ABSENT);
}

/* Two ports with one counter each, some seconds of 40 Gbit/s on the first. */
static void begin_loaded(struct host *host, uint64_t second)
{
	begin(host, 2);
	add(host, 0, RD_GROUP_PORT, "port_xmit_data");
	add(host, 1, RD_GROUP_PORT, "port_xmit_data");
	ready(host);
	moved(host, 0, 1250000000);
	moved(host, 1, second);
	for (int i = 0; i < 4; i++)
		assert_int_equal(remarks_of(host), 0);
}

HOST_TEST(a_loss_is_told_once_with_its_heir)
{
	begin_loaded(host, 0);
	moved(host, 0, 0);
	moved(host, 1, 1250000000);
	strcpy(host->now.states[0].state, "DOWN");
	assert_int_equal(remarks_of(host), 1);
	ASSERT_EACH(READS(host->findings.v[0].subject, "mlx5_0/1"), IS(host->findings.v[0].severity, RD_SEV_CRITICAL));
	ASSERT_HAS(host->findings.v[0].observed, "DOWN", "mlx5_1/1 took");
	assert_int_equal(remarks_of(host), 0);
	/* It comes back, and is lost again. */
	moved(host, 0, 1250000000);
	for (int i = 0; i < 4; i++)
		assert_int_equal(remarks_of(host), 0);
	moved(host, 0, 0);
	assert_int_equal(remarks_of(host), 1);
}

HOST_TEST(a_job_that_pauses_loses_nothing)
{
	begin_loaded(host, 1250000000);
	moved(host, 0, 0);
	moved(host, 1, 0);
	assert_int_equal(remarks_of(host), 0);
}

/* The counters of one port are reset, by perfquery -R or its driver. */
HOST_TEST(a_port_whose_rate_is_unknown_lost_nothing)
{
	begin_loaded(host, 1250000000);
	host->deltas[0] = (struct rd_delta){ 4000, RD_DELTA_AT_LEAST, RD_NOTE_RESET };
	assert_int_equal(remarks_of(host), 0);
	host->deltas[0] = (struct rd_delta){ 0, RD_DELTA_UNKNOWN, RD_NOTE_UNREAD };
	assert_int_equal(remarks_of(host), 0);
	/* One that is missing has none to be compared, either. */
	host->now.states[0].there = false;
	host->deltas[0].note = RD_NOTE_GONE;
	assert_int_equal(remarks_of(host), 1);
}

/* iWARP has INIT for an interface with IPv6 addresses only; InfiniBand for a port that passes no packets. */
HOST_TEST(a_pause_of_iwarp_without_ipv4)
{
	begin_loaded(host, 0);
	host->set.ports[0].link_layer = strdup("Ethernet");
	strcpy(host->now.states[0].state, "INIT");
	moved(host, 0, 0);
	assert_int_equal(remarks_of(host), 0);
	strcpy(host->set.ports[0].link_layer, "InfiniBa");
	assert_int_equal(remarks_of(host), 1);
}

static void silence(struct host *host, int seconds)
{
	moved(host, 0, 0);
	for (int i = 0; i < seconds; i++)
		remarks_of(host);
}

/* 34 s is the shortest time that NCCL's timers take to report a dead path. */
HOST_TEST(a_takeover_after_silence_is_told)
{
	begin_loaded(host, 0);
	silence(host, 34);
	assert_int_equal(host->findings.n, 0);
	moved(host, 1, 1250000000);
	assert_int_equal(remarks_of(host), 1);
	assert_non_null(strstr(host->findings.v[0].observed, "mlx5_1/1 took over"));
	/* Nothing says that the silence was a failure. */
	assert_int_equal(host->findings.v[0].severity, RD_SEV_NOTE);
	assert_int_equal(remarks_of(host), 0);
}

HOST_TEST(a_takeover_from_a_port_that_is_down_is_told_beside_it)
{
	begin_loaded(host, 0);
	strcpy(host->now.states[0].state, "DOWN");
	silence(host, 1);
	assert_int_equal(host->findings.n, 1);
	assert_null(strstr(host->findings.v[0].observed, "took over"));
	silence(host, 34);
	assert_int_equal(host->findings.n, 0);
	moved(host, 1, 1250000000);
	assert_int_equal(remarks_of(host), 1);
	ASSERT_EACH(HAS(host->findings.v[0].observed, "mlx5_1/1 took over"),
		    IS(host->findings.v[0].severity, RD_SEV_CRITICAL));
	assert_int_equal(remarks_of(host), 0);
}

HOST_TEST(what_was_silent_for_longer_than_timers_is_forgotten)
{
	begin_loaded(host, 0);
	silence(host, 200);
	moved(host, 1, 1250000000);
	assert_int_equal(remarks_of(host), 0);
}
