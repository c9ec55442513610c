/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts by somebody who did not write the rules: healthy hosts that look broken, broken ones that look healthy. */
#include "qp-host.h"

#include <sys/socket.h>

#include "analyse/qp/qp-track.h"
#include "analyse/qp/qp.h"

static void start(struct host *h, double seconds)
{
	host_init(h);
	h->devs[0].name = (char *)"rxe0";
	h->devs[1].name = (char *)"rxe1";
	h->judge.since = h->since;
	h->judge.seconds = seconds;
	for (size_t d = 0; d < 2; d++)
		for (int i = 0; i < RD_QPC_N; i++)
			RD_SET(h->since[d].v[i], 0);
}

static struct rd_qp *add(struct host *h, uint32_t lqpn, uint8_t state, double rate)
{
	struct rd_qp *qp = put(h, lqpn, state);

	RD_SET(past_of(h, qp)->psn_per_second, rate);
	RD_SET(qp->port, 1);
	return qp;
}

static void count(struct host *h, enum rd_qp_count what, uint64_t n)
{
	RD_SET(h->since[0].v[what], n);
}

static const char *name(struct host *h, size_t i)
{
	return rd_qp_verdict_name(h->v[i].verdict->kind);
}

static void not_(struct host *h, size_t i, const char *wrong)
{
	assert_string_not_equal(name(h, i), wrong);
}

struct ports {
	struct rd_res_port ports[3];
	struct rd_qp_port more[3];
	struct rd_qp_gid gids[4];
	struct rd_qp_ports all;
};

static const uint8_t gid_1[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [13] = 9, [15] = 1 };

/* Ports 1 and 2 of the first device; 10.9.0.1 is on port 1. */
static void set_ports(struct host *h, struct ports *p, unsigned n)
{
	*p = (struct ports){ 0 };
	h->devs[0].protocol = (char *)"roce";
	h->devs[0].n_ports = n;
	for (unsigned i = 0; i < n; i++) {
		p->ports[i] = (struct rd_res_port){ .num = i + 1, .netdev = (char *)(i ? "v1" : "v0") };
		RD_SET(p->ports[i].state, 4);
		p->more[i] = (struct rd_qp_port){ .num = i + 1, .at = i, .gids_complete = true };
	}
	p->gids[0] = (struct rd_qp_gid){ .port = 1, .here = true };
	memcpy(p->gids[0].raw, gid_1, 16);
	p->all = (struct rd_qp_ports){ .v = p->more, .n = n, .gids = p->gids, .n_gids = 1 };
	h->res.ports = p->ports;
	h->res.n_ports = n;
	h->judge.ports = &p->all;
}

static void connect_qp(struct host *h, size_t i, uint32_t rqpn, const uint8_t *to)
{
	RD_SET(h->qps[i].rqpn, rqpn);
	h->past[i].seen = rd_alloc(1, sizeof(struct rd_qp_seen));
	h->past[i].seen->has_sgid = h->past[i].seen->has_dgid = true;
	memcpy(h->past[i].seen->sgid, gid_1, 16);
	memcpy(h->past[i].seen->dgid, to, 16);
}

/* Healthy: a keepalive in 60 s whose ACK was late once. */
static void one_timeout_of_a_keepalive(void **state)
{
	struct host h;

	start(&h, 60);
	add(&h, 17, RD_QPS_RTS, 1 / 60.0);
	count(&h, RD_QPC_RETRIES, 1);
	judge(&h);
	not_(&h, 0, "retrying");
	/* Sent before the first sample, acknowledged after a timeout in the interval: 59 s without another. */
	RD_SET(h.past[0].psn_per_second, 0);
	judge(&h);
	not_(&h, 0, "retrying");
	host_deinit(&h);
}

/* Healthy: a receive-only QP in RTR that has received before, of a server that also has clients in RTS. */
static void receiver_that_pauses(void **state)
{
	struct host h;

	start(&h, 2);
	add(&h, 17, RD_QPS_RTR, 0)->proc = 1;
	age(&h, &h.qps[0], RD_AGE_AT_LEAST, 60, 0);
	RD_SET(h.past[0].best_per_second, 50000);
	add(&h, 18, RD_QPS_RTS, 100)->proc = 1;
	judge(&h);
	not_(&h, 0, "stuck");
	host_deinit(&h);
}

/* Healthy: the other port of a dual-port device lost its link. */
static void other_port_went_down(void **state)
{
	struct ports p;
	struct host h;

	start(&h, 60);
	set_ports(&h, &p, 2);
	RD_SET(p.ports[1].state, 1);
	add(&h, 17, RD_QPS_RTS, 0);
	count(&h, RD_QPC_LINK_DOWNED, 1);
	judge(&h);
	assert_null(strstr(h.v[0].verdict->fix, "cable"));
	host_deinit(&h);
}

/* Healthy: both ends on one device; packets loop back in it, with or without a link. */
static void loopback_without_a_link(void **state)
{
	struct ports p;
	struct host h;

	start(&h, 2);
	set_ports(&h, &p, 1);
	RD_SET(h.devs[0].driver_id, RD_DRIVER_RXE);
	RD_SET(p.ports[0].state, 1);
	add(&h, 17, RD_QPS_RTS, 0);
	add(&h, 18, RD_QPS_RTS, 0);
	connect_qp(&h, 0, 18, gid_1);
	connect_qp(&h, 1, 17, gid_1);
	judge(&h);
	not_(&h, 0, "cut-off");
	host_deinit(&h);
}

/* Healthy: it migrated to port 2; the recorder has the GID of its first path. */
static void migrated_to_another_port(void **state)
{
	static const uint8_t far[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [13] = 9, [15] = 77 };
	struct ports p;
	struct host h;

	start(&h, 2);
	set_ports(&h, &p, 2);
	RD_SET(p.ports[0].state, 1);
	add(&h, 17, RD_QPS_RTS, 0);
	RD_SET(h.qps[0].port, 2);
	RD_SET(h.qps[0].path_mig, 0);
	connect_qp(&h, 0, 18, far);
	judge(&h);
	not_(&h, 0, "cut-off");
	host_deinit(&h);
}

/* Healthy: 8 busy queue pairs with adaptive routing, on mlx5: no finding, nothing slow. */
static void adaptive_routing_busy(void **state)
{
	struct rd_findings findings = { 0 };
	struct host h;

	start(&h, 60);
	h.devs[0].name = (char *)"mlx5_0";
	RD_SET(h.devs[0].driver_id, RD_DRIVER_MLX5);
	for (uint32_t i = 0; i < 8; i++)
		add(&h, 17 + i, RD_QPS_RTS, 100000);
	count(&h, RD_QPC_SENT, 24000000);
	count(&h, RD_QPC_GOT, 24000000);
	count(&h, RD_QPC_OUT_OF_ORDER, 2000000);
	count(&h, RD_QPC_RETRIES, 3);
	judge(&h);
	rd_qp_verdict_findings(&h.views, NULL, &findings);
	assert_int_equal(findings.n, 0);
	rd_findings_deinit(&findings);
	host_deinit(&h);
}

/* Two samples of a track. */
static void sample(struct rd_qp_track *track, struct host *h, uint64_t ns)
{
	for (size_t i = 0; i < h->res.n_qps; i++)
		h->past[i] = (struct rd_qp_past){ 0 };
	rd_qp_track_sample(track, &h->views, ns, ns);
}

/* Broken: it connected between the samples, so its PSNs jumped; its peer never answered. */
static void connected_to_nobody(void **state)
{
	struct rd_qp_track *track = rd_qp_track_create();
	struct host h;

	start(&h, 2);
	add(&h, 17, RD_QPS_INIT, 0);
	RD_SET(h.qps[0].sq_psn, 0);
	RD_SET(h.qps[0].rq_psn, 0);
	sample(track, &h, 100 * S);
	RD_SET(h.qps[0].state, RD_QPS_RTS);
	RD_SET(h.qps[0].rqpn, 18);
	RD_SET(h.qps[0].sq_psn, 0x3a1b2c);
	RD_SET(h.qps[0].rq_psn, 0x123456);
	sample(track, &h, 102 * S);
	judge(&h);
	rd_qp_track_destroy(track);
	not_(&h, 0, "ok");
	host_deinit(&h);
}

/* Broken: likewise, connected again with another remote QP. */
static void reconnected_to_nobody(void **state)
{
	struct rd_qp_track *track = rd_qp_track_create();
	struct host h;

	start(&h, 2);
	add(&h, 17, RD_QPS_RTS, 0);
	RD_SET(h.qps[0].rqpn, 18);
	RD_SET(h.qps[0].sq_psn, 1000);
	RD_SET(h.qps[0].rq_psn, 1000);
	sample(track, &h, 100 * S);
	RD_SET(h.qps[0].rqpn, 99);
	RD_SET(h.qps[0].sq_psn, 0x3a1b2c);
	RD_SET(h.qps[0].rq_psn, 0x123456);
	sample(track, &h, 102 * S);
	judge(&h);
	rd_qp_track_destroy(track);
	not_(&h, 0, "ok");
	host_deinit(&h);
}

/* Healthy: at 400 Gbit/s, a PSN wraps every 1.4 s, and may seem to have fallen a little: no packet, and the device retransmits for
 * another one. Broken: in 0.1 s, or on a slow link, it cannot have wrapped. */
static void psns_that_wrap(void **state)
{
	struct rd_qp_track *track = rd_qp_track_create();
	struct ports p;
	struct host h;

	start(&h, 2);
	set_ports(&h, &p, 1);
	RD_SET(p.more[0].rate_gbps, 400);
	add(&h, 17, RD_QPS_RTS, 0);
	RD_SET(h.qps[0].sq_psn, 50000);
	sample(track, &h, 100 * S);
	RD_SET(h.qps[0].sq_psn, 49000);
	sample(track, &h, 102 * S);
	count(&h, RD_QPC_RETRIES, 3);
	judge(&h);
	is(h.v[0].verdict, "cannot-tell", "its PSN fell in 2.0 s");
	assert_non_null(strstr(h.v[0].verdict->fix, "-i 0.1"));
	RD_SET(h.past[0].psn_per_second, 0);
	h.judge.seconds = 0.1;
	judge(&h);
	is(h.v[0].verdict, "retrying", "retransmitted 3 times");
	h.judge.seconds = 2;
	p.more[0].rate_gbps.v = 10;
	judge(&h);
	is(h.v[0].verdict, "retrying", "retransmitted 3 times");
	p.more[0].rate_gbps.known = RD_ABSENT;
	judge(&h);
	is(h.v[0].verdict, "cannot-tell", "its PSN fell");
	/* A receiver in RTR does not wait for RTS. */
	age(&h, &h.qps[0], RD_AGE_AT_LEAST, 60, 0);
	RD_SET(h.qps[0].state, RD_QPS_RTR);
	h.qps[0].proc = 1;
	add(&h, 18, RD_QPS_RTS, 100)->proc = 1;
	judge(&h);
	is(h.v[0].verdict, "cannot-tell", "in RTR; its PSN fell");
	rd_qp_track_destroy(track);
	host_deinit(&h);
}

/* Broken: UC needs no ACK to send, so packets prove nothing about a port that is down. */
static void uc_through_a_port_that_is_down(void **state)
{
	struct ports p;
	struct host h;

	start(&h, 2);
	set_ports(&h, &p, 1);
	RD_SET(p.ports[0].state, 1);
	add(&h, 17, RD_QPS_RTS, 1000)->type.v = RD_QPT_UC;
	judge(&h);
	not_(&h, 0, "ok");
	host_deinit(&h);
}

/* Healthy: its peer is on the same device, which needs no link for that: in another network namespace; an address that another device
 * has, too; in no list. */
static void loopback_that_is_not_proven(void **state)
{
	struct ports p;
	struct host h;

	start(&h, 2);
	set_ports(&h, &p, 1);
	RD_SET(p.ports[0].state, 1);
	add(&h, 17, RD_QPS_RTS, 1000);
	connect_qp(&h, 0, 99, gid_1);
	p.gids[0].here = false;
	for (int i = 0; i < 2; i++) {
		judge(&h);
		is(h.v[0].verdict, "cannot-tell", "port rxe0/1 is DOWN");
		p.gids[0].here = true;
		p.gids[1] = p.gids[0];
		p.gids[1].dev = 1;
		p.all.n_gids = 2;
	}
	h.past[0].psn_per_second.v = 0;
	judge(&h);
	not_(&h, 0, "cut-off");
	h.past[0].psn_per_second.v = 1000;
	h.past[0].seen->has_dgid = false;
	RD_SET(h.devs[0].used[RD_RES_QP], 2);
	h.devs[0].listed[RD_RES_QP] = 1;
	judge(&h);
	not_(&h, 0, "cut-off");
	RD_SET(h.qps[0].type, RD_QPT_UD);
	judge(&h);
	not_(&h, 0, "cut-off");
	host_deinit(&h);
}

/* Broken: from one port of its device to the other one, over a link that is down. */
static void to_the_other_port(void **state)
{
	struct ports p;
	struct host h;

	start(&h, 60);
	set_ports(&h, &p, 2);
	p.gids[1] = p.gids[0];
	p.gids[1].raw[15] = 2;
	p.gids[1].port = 2;
	p.all.n_gids = 2;
	RD_SET(p.ports[0].state, 1);
	add(&h, 17, RD_QPS_RTS, 1000);
	add(&h, 18, RD_QPS_RTS, 1000)->port.v = 2;
	connect_qp(&h, 0, 18, p.gids[1].raw);
	connect_qp(&h, 1, 17, gid_1);
	judge(&h);
	not_(&h, 0, "ok");
	host_deinit(&h);
}

/* Broken: without a subnet manager, a port of InfiniBand stays in INIT after its link came back, and discards all data packets. */
static void a_port_without_a_subnet_manager(void **state)
{
	struct ports p;
	struct host h;

	start(&h, 60);
	set_ports(&h, &p, 1);
	h.devs[0].protocol = (char *)"ib";
	RD_SET(p.ports[0].state, 2);
	add(&h, 17, RD_QPS_RTS, 1000);
	RD_SET(h.qps[0].rqpn, 99);
	judge(&h);
	is(h.v[0].verdict, "cut-off", "port rxe0/1 is INIT");
	/* Healthy: iWARP without an IPv4 address. */
	h.devs[0].protocol = (char *)"iw";
	judge(&h);
	is(h.v[0].verdict, "ok", "1000 packets");
	host_deinit(&h);
}

/* Healthy: ports do not count packets that stay within the device; those that they count are of others. */
static void packets_that_are_not_counted(void **state)
{
	struct host h;

	start(&h, 2);
	add(&h, 17, RD_QPS_RTS, 5000);
	count(&h, RD_QPC_SENT, 3);
	count(&h, RD_QPC_RETRIES, 1);
	judge(&h);
	not_(&h, 0, "retrying");
	host_deinit(&h);
}

/* Healthy: packets are shorter than the path MTU, so a link that is not fully used suffices for more than a PSN counts. */
static void short_packets_that_wrap(void **state)
{
	struct rd_qp_track *track = rd_qp_track_create();
	struct ports p;
	struct host h;

	start(&h, 2);
	set_ports(&h, &p, 1);
	RD_SET(p.more[0].rate_gbps, 25);
	add(&h, 17, RD_QPS_RTS, 0);
	RD_SET(h.qps[0].sq_psn, 50000);
	sample(track, &h, 100 * S);
	RD_SET(h.qps[0].sq_psn, 49000);
	sample(track, &h, 102 * S);
	count(&h, RD_QPC_SENT, 16776216);
	count(&h, RD_QPC_GOT, 400000);
	count(&h, RD_QPC_RETRIES, 2);
	judge(&h);
	is(h.v[0].verdict, "cannot-tell", "its PSN fell");
	rd_qp_track_destroy(track);
	host_deinit(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_timeout_of_a_keepalive),
		TEST(receiver_that_pauses),
		TEST(other_port_went_down),
		TEST(loopback_without_a_link),
		TEST(migrated_to_another_port),
		TEST(adaptive_routing_busy),
		TEST(connected_to_nobody),
		TEST(reconnected_to_nobody),
		TEST(uc_through_a_port_that_is_down),
		TEST(psns_that_wrap),
		TEST(loopback_that_is_not_proven),
		TEST(to_the_other_port),
		TEST(a_port_without_a_subnet_manager),
		TEST(packets_that_are_not_counted),
		TEST(short_packets_that_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
