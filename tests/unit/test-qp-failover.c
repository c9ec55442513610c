/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qp-host.h"

#include "analyse/qp/qp-failover.h"
#include "analyse/qp/qp.h"

/* What is looked at before it runs: routes, and the environment of each process; and what is then known and found. */
struct surroundings {
	bool readable;
	int route;
	unsigned routes;
	const char *env;
	size_t size;
	struct rd_failover_paths paths;
	struct rd_findings findings;
};

/* A process with a queue pair on each of two NICs, sampled every second. */
struct job {
	struct host h;
	struct rd_failover *f;
	struct {
		const struct rd_failover_event *v;
		size_t n;
	} events; /* of the last sample */
	struct rd_host host;
	struct rd_nicmap map;
	struct rd_res_port ports[2];
	struct rd_qp_note notes[2];
	double gbps[2];
	uint64_t second;
	struct surroundings around;
};

/* A second later: packets per second on each NIC. */
static void sample(struct job *job, double first, double second)
{
	struct host *h = &job->h;
	const double rates[] = { first, second };

	for (size_t i = 0; i < h->res.n_qps && i < 2; i++) {
		RD_SET(h->past[i].psn_per_second, rates[i]);
		job->gbps[i] = rates[i] / 1000;
	}
	job->events.v = rd_failover_update(
		job->f, &(struct rd_failover_sample){ &h->views, job->gbps, &job->host, &job->map, ++job->second * S },
		&job->events.n);
}

static void samples(struct job *job, int n, double first, double second)
{
	while (n--)
		sample(job, first, second);
}

/* In none of them anything happens. */
static void quiet(struct job *job, int n, double first, double second)
{
	while (n--) {
		sample(job, first, second);
		assert_int_equal(job->events.n, 0);
	}
}

static void begin(struct job *job)
{
	struct host *h = &job->h;

	*job = (struct job){ .f = rd_failover_create(), .second = 100 };
	host_init(h);
	for (int d = 0; d < 2; d++) {
		struct rd_qp *qp = put(h, 17 + d, RD_QPS_RTS);

		h->devs[d].index = 1 - d; /* not the order of names */
		qp->dev = d;
		qp->proc = 0;
		RD_SET(qp->owner.pid, 700);
		job->ports[d] = (struct rd_res_port){ .dev = d, .num = 1 };
		RD_SET(job->ports[d].state, 4);
	}
	h->procs[0].pid = 700;
	h->res.ports = job->ports;
	h->res.n_ports = 2;
	h->past[0].seen = rd_alloc(1, sizeof(*h->past[0].seen));
	RD_SET(h->past[0].seen->timeout, 17);
	RD_SET(h->past[0].seen->retry_cnt, 6);
	memcpy(h->past[0].seen->dgid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x09\x02\x02", 16);
	h->past[0].seen->has_dgid = true;
	quiet(job, 4, 1000, 0);
}

static void forget(struct surroundings *around)
{
	free(around->paths.v);
	rd_findings_deinit(&around->findings);
}

static void release(struct job *job)
{
	forget(&job->around);
	rd_failover_destroy(job->f);
	job->h.views.notes = NULL;
	job->h.res.n_qps = RD_ARRAY_SIZE(job->h.qps); /* also those that a test took away */
	host_deinit(&job->h);
}

#define JOB_TEST(name) TEST_BEGUN(name, struct job, job, begin, release)

/* Requires this one finding in the end (NULL: none), and begins again. */
static void ends(struct job *job, const char *id)
{
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };

	rd_failover_findings(job->f, &findings);
	assert_int_equal(findings.n, id != NULL);
	if (id)
		assert_string_equal(findings.v[0].id, id);
	release(job);
	begin(job);
}

static const struct rd_failover_event *event(const struct job *job, enum rd_failover_kind kind)
{
	for (size_t i = 0; i < job->events.n; i++)
		if (job->events.v[i].kind == kind)
			return &job->events.v[i];
	fail_msg("no such event");
	return NULL;
}

/* A second later this has happened. */
static const struct rd_failover_event *happens(struct job *job, double first, double second, enum rd_failover_kind kind)
{
	sample(job, first, second);
	return event(job, kind);
}

static void exhaust(struct job *job)
{
	RD_SET(job->h.qps[0].state, RD_QPS_ERR);
	job->h.verdict[0].kind = RD_QPV_EXHAUSTED;
	job->h.verdict[0].cause = RD_QP_CAUSE_RETRIES;
}

JOB_TEST(a_path_dies_and_its_traffic_moves)
{
	const struct rd_failover_event *e;

	quiet(job, 4, 3, 0); /* retransmissions advance the PSN, too */
	exhaust(job);
	sample(job, 0, 0);
	assert_int_equal(job->events.n, 1);
	e = event(job, RD_FAILOVER_DIED);
	assert_string_equal(e->ibdev, "mlx5_0");
	assert_int_equal(e->lqpn, 17);
	assert_true(e->has_peer && e->qps == 1 && e->pid == 700);
	assert_true(e->detected.v > 3.9 && e->detected.v < 4.1 && e->detected_max > 5.9 && e->detected_max < 6.1);
	assert_true(e->least.v > 3.7 && e->least.v < 3.8 && e->most.v > 15 && e->most.v < 15.1);
	assert_non_null(strstr(e->text, "to 10.9.2.2 died 4.0 to 6.0 s"));
	assert_null(strstr(e->text, "sooner"));
	sample(job, 0, 900);
	assert_int_equal(job->events.n, 1);
	e = event(job, RD_FAILOVER_MOVED);
	assert_string_equal(e->to, "mlx5_1");
	assert_true(e->lqpn == 18 && e->after.v > 5.9 && e->after.v < 6.1);
	assert_true(e->gbps.v == 0.9 && e->gbps_before.v == 1);
	assert_int_equal(e->expected_backup.known, RD_ABSENT);
	quiet(job, 1, 0, 900);
	ends(job, "failover-moved");
}

/* With 34 s of silence, an average that decays has forgotten what was lost. */
JOB_TEST(what_was_lost_is_known_after_a_long_silence)
{
	job->h.past[0].seen->timeout.v = 20;
	samples(job, 34, 0, 0);
	exhaust(job);
	/* A few packets of others are not what moved. */
	sample(job, 0, 20);
	assert_int_equal(job->events.n, 1);
	happens(job, 0, 600, RD_FAILOVER_MOVED);
	ends(job, "failover-moved");
}

JOB_TEST(traffic_may_move_without_a_failure)
{
	quiet(job, 20, 0, 1000);
	/* Nor is its own closing a failure. */
	RD_SET(job->h.qps[0].state, RD_QPS_ERR);
	job->h.verdict[0].kind = RD_QPV_FLUSHED;
	quiet(job, 1, 0, 1000);
	ends(job, NULL);
}

JOB_TEST(retries_that_succeed_are_no_failure)
{
	job->h.verdict[0].kind = RD_QPV_RETRYING;
	sample(job, 0, 0);
	sample(job, 0, 0);
	job->h.verdict[0].kind = RD_QPV_OK;
	sample(job, 1000, 0);
	quiet(job, 1, 1000, 1000);
	/* Nor is one that was closed, after its peer on this host was. */
	job->h.verdict[1].kind = RD_QPV_CUT_OFF;
	sample(job, 1000, 0);
	job->h.res.n_qps = 1;
	quiet(job, 1, 1000, 1000);
	ends(job, NULL);
}

/* The program, too, may have a timer: it destroys what retries, or uses the other NIC meanwhile. */
JOB_TEST(a_program_may_be_faster_than_the_timers)
{
	job->h.past[0].seen->timeout.v = 20;
	job->h.views.notes = job->notes; /* one of the queue pairs of the device retransmits */
	job->notes[0].retries = true;
	quiet(job, 1, 0, 0);
	sample(job, 0, 1000);
	assert_int_equal(job->events.n, 2);
	assert_non_null(strstr(event(job, RD_FAILOVER_DIED)->text, "sooner"));
	event(job, RD_FAILOVER_MOVED);
	ends(job, "failover-moved");
	job->ports[0].state.v = 1;
	sample(job, 0, 0);
	job->h.qps[0] = job->h.qps[1];
	job->h.v[0].past = job->h.v[1].past;
	job->h.res.n_qps = 1;
	assert_int_equal(happens(job, 0, 0, RD_FAILOVER_DIED)->lqpn, 17);
	ends(job, "failover-none");
}

/* The responder of a job that lost both links: its queue pair does not fail. */
JOB_TEST(a_responder_without_a_link)
{
	job->ports[0].state.v = 1;
	quiet(job, 15, 0, 0);
	sample(job, 0, 0);
	assert_int_equal(job->events.n, 1);
	assert_string_equal(event(job, RD_FAILOVER_DIED)->ibdev, "mlx5_0");
	ends(job, "failover-none");
	/* The link is back before the other end gave up; there were no packets before it went down. */
	job->ports[0].state.v = 1;
	sample(job, 0, 0);
	job->ports[0].state.v = 4;
	samples(job, 20, 0, 0);
	ends(job, NULL);
	sample(job, 0, 0);
	job->ports[0].state.v = 1;
	samples(job, 20, 0, 0);
	ends(job, NULL);
}

/* iWARP has a link in INIT: its interface has IPv6 addresses only. InfiniBand in INIT waits for a subnet manager. */
JOB_TEST(a_pause_of_iwarp_without_ipv4)
{
	for (int ib = 0; ib < 2; ib++) {
		job->h.devs[0].protocol = (char *)(ib ? "ib" : "iw");
		job->ports[0].state.v = 2;
		samples(job, 20, 0, 0);
		ends(job, ib ? "failover-none" : NULL);
	}
}

/* Of a backup: the time since its last packet is that of no packet. */
JOB_TEST(a_path_dies_that_had_no_packet)
{
	const struct rd_failover_event *e;

	RD_SET(job->h.qps[1].state, RD_QPS_ERR);
	job->ports[1].state.v = 1;
	e = happens(job, 1000, 0, RD_FAILOVER_DIED);
	assert_int_equal(e->detected.known, RD_ABSENT);
	assert_non_null(strstr(e->text, " died without a packet since this began, first: QP 18;"));
}

JOB_TEST(a_nic_comes_back_and_its_traffic_stays)
{
	RD_SET(job->h.qps[0].state, RD_QPS_ERR); /* at once, for want of a route */
	job->h.verdict[0].kind = RD_QPV_FAILED;
	job->ports[0].state.v = 1;
	sample(job, 0, 1000);
	assert_int_equal(job->events.n, 2);
	sample(job, 0, 1000);
	job->ports[0].state.v = 4;
	assert_false(happens(job, 0, 1000, RD_FAILOVER_BACK)->rebuilt);
	quiet(job, 9, 0, 1000);
	assert_true(happens(job, 0, 1000, RD_FAILOVER_STAYS)->gbps_before.v == 1);
	/* At last it is rebuilt, and used. */
	job->h.qps[0].lqpn.v = 16;
	job->h.qps[0].state.v = RD_QPS_RTS;
	job->h.verdict[0].kind = RD_QPV_OK;
	sample(job, 1000, 0);
	quiet(job, 1, 1000, 0);
	ends(job, "failover-returned");
}

static int route(void *arg, const struct rd_gid *own, const uint8_t peer[16])
{
	struct surroundings *of = arg;

	assert_true(own->index == 3 && peer[12] == 10);
	of->routes++;
	return of->route;
}

static char *variables(void *arg, uint32_t pid, size_t *size)
{
	struct surroundings *of = arg;
	char *ret = of->env ? malloc(of->size + 1) : NULL;

	assert_int_equal(pid, 700);
	if (ret) {
		memcpy(ret, of->env, of->size);
		ret[of->size] = '\0';
	}
	*size = of->size;
	return ret;
}

/* Looks, and returns the first path. */
static const struct rd_failover_path *look_before(struct job *job)
{
	const bool chosen[8] = { true, true, true };
	struct surroundings *around = &job->around;

	forget(around);
	around->paths = (struct rd_failover_paths){ 0 };
	around->findings = (struct rd_findings){ 0 };
	rd_failover_before(&(struct rd_failover_sample){ &job->h.views, NULL, &job->host, &job->map, 0,
							 around->readable ? route : NULL,
							 around->readable ? variables : NULL, around },
			   chosen, &around->paths, &around->findings);
	return around->paths.v;
}

/* The finding, or NULL. */
static const struct rd_finding *found(const struct job *job, const char *id)
{
	const struct rd_findings *findings = &job->around.findings;

	for (size_t i = 0; i < findings->n; i++)
		if (strcmp(findings->v[i].id, id) == 0)
			return &findings->v[i];
	return NULL;
}

/* Queue pair 30, another one on the first NIC, in a state; it and that of the second NIC were seen like the first. */
static void put_third(struct job *job, uint8_t state)
{
	put(&job->h, 30, state);
	job->h.qps[2] = job->h.qps[0];
	job->h.qps[2].lqpn.v = 30;
	for (int i = 1; i < 3; i++) {
		job->h.past[i].seen = rd_alloc(1, sizeof(struct rd_qp_seen));
		*job->h.past[i].seen = *job->h.past[0].seen;
	}
}

JOB_TEST(what_there_is_before_is_compared)
{
	const struct rd_failover_path *paths = look_before(job);
	const struct rd_findings *findings = &job->around.findings;

	assert_int_equal(job->around.paths.n, 2);
	assert_string_equal(paths[0].backup, "mlx5_1");
	assert_true(paths[0].peers.known == RD_OK && paths[0].peers.v == 1);
	assert_true(paths[0].most.v > 15 && paths[0].most.v < 15.1);
	assert_true(paths[1].peers.known == RD_ABSENT && paths[1].most.known == RD_ABSENT);
	for (size_t i = 0; i < findings->n; i++)
		assert_string_equal(findings->v[i].id, "failover-unknown");
	assert_int_equal(findings->n, 3);
	/* Fewer peers than without, and one that is cut off. */
	put_third(job, RD_QPS_RTS);
	job->h.past[2].seen->dgid[15] = 3;
	job->h.past[1].seen->timeout.v = 0;
	job->h.verdict[1].trouble = true;
	job->h.verdict[1].why = "its peer does not respond";
	look_before(job);
	assert_int_equal(findings->n, 3);
	assert_string_equal(findings->v[0].id, "failover-unusable");
	assert_string_equal(findings->v[0].observed, "1 of 1 on mlx5_1: its peer does not respond");
	ASSERT_EACH(READS(findings->v[1].id, "failover-peers"), READS(findings->v[1].observed, "2 peers, 1 via mlx5_1"));
	ASSERT_EACH(READS(findings->v[2].id, "failover-undetected"),
		    READS(findings->v[2].subject, "mlx5_1 process 700"));
	ends(job, NULL);
}

/* Queue pairs that only receive have no timeout set: that is not one that is off. */
JOB_TEST(receivers_do_not_retry)
{
	put_third(job, RD_QPS_RTR);
	job->h.past[2].seen->timeout.v = 0;
	for (int i = 0; i < 3; i++) {
		job->h.qps[2].state.v = i ? RD_QPS_RTS : RD_QPS_RTR;
		job->h.qps[2].type.v = i == 1 ? RD_QPT_XRC_TGT : RD_QPT_RC;
		assert_true(look_before(job)->most.known == (i == 2 ? RD_ABSENT : RD_OK));
		assert_int_equal(job->around.findings.n, i == 2);
		assert_int_equal(rd_qp_timeouts(&job->h.views, 2).timeout.known, i == 2 ? RD_OK : RD_ABSENT);
	}
	assert_string_equal(job->around.findings.v[0].id, "failover-undetected");
	ends(job, NULL);
}

/* Both NICs carry traffic, as of a job that stripes. The one that is left cannot carry more than before. */
JOB_TEST(a_striped_job_resumes_with_half_the_rate)
{
	samples(job, 4, 1000, 1000);
	samples(job, 4, 0, 0);
	exhaust(job);
	happens(job, 0, 0, RD_FAILOVER_DIED);
	assert_true(happens(job, 0, 1000, RD_FAILOVER_MOVED)->gbps.v == 1 && job->events.v[0].gbps_before.v == 1);
	ends(job, "failover-moved");
	/* The other one had half a second more: nothing died. */
	samples(job, 4, 1000, 1000);
	job->h.views.notes = job->notes;
	job->notes[0].retries = true;
	sample(job, 0, 0);
	quiet(job, 1, 0, 1000);
	job->notes[0].retries = false;
	quiet(job, 1, 1000, 1000);
	ends(job, NULL);
	/* The backup of a slower kind has less than half. */
	exhaust(job);
	sample(job, 0, 0);
	happens(job, 0, 300, RD_FAILOVER_MOVED);
	ends(job, "failover-moved");
}

JOB_TEST(a_nic_that_flaps_is_not_back)
{
	/* Twice within a second, with and without a sample of it. */
	job->h.verdict[0].kind = RD_QPV_RETRYING;
	sample(job, 100, 0);
	job->h.verdict[0].kind = RD_QPV_OK;
	sample(job, 1000, 0);
	job->ports[0].state.v = 1;
	sample(job, 200, 0);
	job->ports[0].state.v = 4;
	samples(job, 20, 1000, 0);
	assert_int_equal(job->events.n, 0);
	ends(job, NULL);
	/* After its traffic moved it has a link for five seconds, then none again. */
	exhaust(job);
	job->ports[0].state.v = 1;
	sample(job, 0, 1000);
	job->ports[0].state.v = 4;
	happens(job, 0, 1000, RD_FAILOVER_BACK);
	samples(job, 4, 0, 1000);
	job->ports[0].state.v = 1;
	quiet(job, 20, 0, 1000);
	job->ports[0].state.v = 4;
	happens(job, 0, 1000, RD_FAILOVER_BACK);
	samples(job, 10, 0, 1000);
	event(job, RD_FAILOVER_STAYS);
	ends(job, "failover-stays");
}

JOB_TEST(only_one_of_two_processes_fails_over)
{
	job->h.procs[1].pid = 701;
	for (int d = 0; d < 2; d++) {
		struct rd_qp *qp = put(&job->h, 40 + d, RD_QPS_RTS);

		qp->dev = d;
		qp->proc = 1;
		RD_SET(qp->owner.pid, 701);
	}
	RD_SET(job->h.past[2].psn_per_second, 500);
	samples(job, 4, 1000, 0);
	exhaust(job);
	sample(job, 0, 0);
	assert_int_equal(job->events.n, 1);
	assert_int_equal(event(job, RD_FAILOVER_DIED)->pid, 700);
	sample(job, 0, 900);
	assert_int_equal(job->events.n, 1);
	assert_int_equal(event(job, RD_FAILOVER_MOVED)->pid, 700);
	samples(job, 20, 0, 900);
	assert_int_equal(job->events.n, 0);
	ends(job, "failover-moved");
}

/* A job is cancelled: its peers end first, it retries for a moment, and ends. */
JOB_TEST(a_process_that_ends_while_it_retries)
{
	job->h.verdict[0].kind = RD_QPV_RETRYING;
	sample(job, 0, 0);
	job->h.res.n_qps = 0;
	quiet(job, 1, 0, 0);
	ends(job, NULL);
	/* Without a link it is another matter. */
	job->ports[0].state.v = 1;
	sample(job, 0, 0);
	job->h.res.n_qps = 0;
	happens(job, 0, 0, RD_FAILOVER_DIED);
	ends(job, "failover-none");
	/* So is one that ends after its path died. */
	exhaust(job);
	happens(job, 0, 0, RD_FAILOVER_DIED);
	job->h.res.n_qps = 0;
	quiet(job, 1, 0, 0);
	ends(job, "failover-none");
}

/* It falls off the bus, and its queue pairs with it. */
JOB_TEST(a_device_that_is_gone)
{
	struct rd_res_dev both[2];

	memcpy(both, job->h.devs, sizeof(both));
	job->h.devs[0] = job->h.devs[1];
	job->h.res.n_devs = 1;
	job->h.qps[0] = job->h.qps[1];
	job->h.qps[0].dev = 0;
	job->h.v[0].past = job->h.v[1].past;
	job->h.res.n_qps = job->h.res.n_ports = 1;
	job->ports[0] = job->ports[1];
	job->ports[0].dev = 0;
	assert_string_equal(happens(job, 0, 0, RD_FAILOVER_DIED)->ibdev, "mlx5_0");
	RD_SET(job->h.past[1].psn_per_second, 900);
	job->gbps[0] = 0.9;
	job->events.v = rd_failover_update(job->f,
					   &(struct rd_failover_sample){ &job->h.views, job->gbps, &job->host,
									 &job->map, ++job->second * S },
					   &job->events.n);
	assert_string_equal(event(job, RD_FAILOVER_MOVED)->to, "mlx5_1");
	memcpy(job->h.devs, both, sizeof(both));
	job->h.res.n_qps = job->h.res.n_devs = 2;
	ends(job, "failover-moved");
}

/* Each fails by itself, and they share a card. */
JOB_TEST(two_ports_of_one_device)
{
	struct rd_pci pci = { 0 };
	struct rd_ibdev ibdev = { .name = "mlx5_0" };
	struct rd_port ports[] = { { .num = 1 }, { .num = 2 } };
	int used = 0;
	struct rd_choice choice = { .ports = &used, .n_ports = 1, .backup = 1, .library_backup = -1 };
	const struct rd_failover_path *paths;
	const struct rd_failover_event *e;

	job->host = (struct rd_host){
		.ibdevs = &ibdev, .n_ibdevs = 1, .ports = ports, .n_ports = 2, .pcis = &pci, .n_pcis = 1
	};
	job->map.nccl = (struct rd_choices){ .v = &choice, .n = 1 };
	job->h.qps[1].dev = 0;
	for (uint32_t i = 0; i < 2; i++) {
		job->ports[i].dev = 0;
		job->ports[i].num = i + 1;
		RD_SET(job->h.qps[i].port, i + 1);
	}
	paths = look_before(job);
	assert_int_equal(job->around.paths.n, 2);
	ASSERT_EACH(READS(paths[0].ibdev, "mlx5_0/1"), READS(paths[0].backup, "mlx5_0/2"),
		    READS(paths[0].shared, "card"));
	assert_true(paths[0].expected_backup.v && !found(job, "failover-no-backup") && found(job, "failover-shared"));
	rd_failover_destroy(job->f);
	job->f = rd_failover_create();
	quiet(job, 4, 1000, 0);
	job->ports[0].state.v = 1; /* the other port has a link */
	quiet(job, 1, 0, 0);
	exhaust(job);
	job->h.verdict[0].cause = 0;
	assert_string_equal(happens(job, 0, 0, RD_FAILOVER_DIED)->ibdev, "mlx5_0/1");
	e = happens(job, 0, 900, RD_FAILOVER_MOVED);
	assert_string_equal(e->to, "mlx5_0/2");
	assert_true(e->expected_backup.v && e->gbps.known == RD_ABSENT && e->gbps_before.known == RD_ABSENT);
	job->ports[0].state.v = 4;
	happens(job, 0, 900, RD_FAILOVER_BACK);
	ends(job, "failover-moved");
}

/* mlx5_2 is what nic-map names. */
JOB_TEST(traffic_moves_to_a_nic_that_is_not_planned)
{
	struct rd_ibdev ibdevs[] = { { .name = "mlx5_0", .pci = -1 },
				     { .name = "mlx5_1", .pci = -1 },
				     { .name = "mlx5_2", .pci = -1 } };
	struct rd_port ports[] = { { .ibdev = 0, .num = 1 }, { .ibdev = 1, .num = 1 }, { .ibdev = 2, .num = 1 } };
	int used = 0;
	struct rd_choice choice = { .ports = &used, .n_ports = 1, .backup = 2, .library_backup = -1 };
	const struct rd_failover_event *e;

	job->host = (struct rd_host){ .ibdevs = ibdevs, .n_ibdevs = 3, .ports = ports, .n_ports = 3 };
	job->map.nccl = (struct rd_choices){ .v = &choice, .n = 1 };
	exhaust(job);
	sample(job, 0, 0);
	e = happens(job, 0, 900, RD_FAILOVER_MOVED);
	assert_true(e->expected_backup.known == RD_OK && !e->expected_backup.v);
	assert_non_null(strstr(e->text, "not the backup that nic-map names"));
	ends(job, "failover-moved");
}

/* The backup dies, too, after it took over; and the first one again, after it was rebuilt. */
JOB_TEST(a_second_failure)
{
	struct rd_findings findings = { 0 };

	exhaust(job);
	sample(job, 0, 0);
	samples(job, 4, 0, 900);
	RD_SET(job->h.qps[1].state, RD_QPS_ERR);
	job->h.verdict[1].cause = RD_QP_CAUSE_RETRIES;
	assert_string_equal(happens(job, 0, 0, RD_FAILOVER_DIED)->ibdev, "mlx5_1");
	rd_failover_findings(job->f, &findings);
	assert_int_equal(findings.n, 2);
	assert_int_equal(rd_findings_count(&findings, RD_SEV_CRITICAL), 1);
	rd_findings_deinit(&findings);
	job->h.qps[0].lqpn.v = 16;
	job->h.qps[0].state.v = RD_QPS_RTS;
	job->h.verdict[0].kind = RD_QPV_OK;
	job->h.verdict[0].cause = 0;
	sample(job, 1000, 0);
	sample(job, 1000, 0);
	exhaust(job);
	assert_string_equal(happens(job, 0, 0, RD_FAILOVER_DIED)->ibdev, "mlx5_0");
}

JOB_TEST(routes_of_both_paths_before)
{
	struct rd_gid gid = { .index = 3, .type = RD_GID_ROCE_V2 };
	struct rd_ibdev ibdevs[] = { { .name = "mlx5_0", .pci = -1 }, { .name = "mlx5_1", .pci = -1 } };
	struct rd_port ports[] = { { .ibdev = 0, .num = 1, .gids = &gid, .n_gids = 1 },
				   { .ibdev = 1, .num = 1, .gids = &gid, .n_gids = 1 } };
	struct surroundings *of = &job->around;
	const struct rd_failover_path *paths;

	job->host = (struct rd_host){ .ibdevs = ibdevs, .n_ibdevs = 2, .ports = ports, .n_ports = 2 };
	of->readable = true;
	of->route = 1;
	/* Its GID is not known. */
	paths = look_before(job);
	assert_true(of->routes == 0 && paths[0].unrouted.known == RD_ABSENT);
	/* Two queue pairs to one peer are one route. */
	RD_SET(job->h.past[0].seen->sgid_index, 3);
	put_third(job, RD_QPS_RTS);
	for (int i = 0; i < 3; i++)
		RD_SET(job->h.qps[i].port, 1);
	paths = look_before(job);
	assert_int_equal(of->routes, 2);
	assert_true(paths[0].unrouted.known == RD_OK && paths[0].unrouted.v == 0);
	assert_null(found(job, "failover-route"));
	/* The routes of another network namespace are not those from here. */
	ports[0].netns_other = ports[1].foreign_gids = true;
	assert_true(look_before(job)->unrouted.known == RD_ABSENT && of->routes == 2);
	ports[0].netns_other = ports[1].foreign_gids = false;
	of->route = 0;
	job->h.past[2].seen->dgid[15] = 3;
	paths = look_before(job);
	assert_true(paths[0].unrouted.v == 2 && paths[1].unrouted.v == 1);
	assert_non_null(found(job, "failover-route"));
	assert_string_equal(found(job, "failover-route")->observed, "2 of 2 peers, first: 10.9.2.2");
	assert_int_equal(found(job, "failover-route")->severity, RD_SEV_WARNING);
	/* Without IP addresses, or with another GID at this index by now, there is no route to look up. */
	of->routes = 0;
	of->route = -1;
	gid.raw[0] = 1;
	job->h.past[1].seen->has_sgid = true;
	paths = look_before(job);
	assert_int_equal(of->routes, 2);
	assert_true(paths[0].unrouted.known == RD_ABSENT && paths[0].unrouted.v == 0);
	assert_null(found(job, "failover-route"));
	gid.type = RD_GID_ROCE_V1;
	paths = look_before(job);
	assert_int_equal(of->routes, 2);
	ends(job, NULL);
}

JOB_TEST(the_watchdog_of_its_library)
{
	static const struct {
		const char *env;
		size_t size;
		double seconds; /* 0: unknown */
		bool late;
	} cases[] = {
		{ NULL, 0, 0, false },
#define ENV(text, ...) { text, sizeof(text), __VA_ARGS__ }
		ENV("HOME=/\0NCCL_IB_TIMEOUT=20", 0, false),
		ENV("A=1\0TORCHELASTIC_RUN_ID=x", 600, false),
		ENV("TORCH_NCCL_BLOCKING_WAIT=1\0DEEPSPEED_TIMEOUT=1", 60, true),
		ENV("DEEPSPEED_TIMEOUT=30\0TORCHELASTIC_RUN_ID=x", 1800, false),
		ENV("TORCHELASTIC_RUN_ID=x\0TORCH_NCCL_ASYNC_ERROR_HANDLING=0\0TORCH_NCCL_X=1", 0, false),
		ENV("TORCHELASTIC_RUN_ID=x\0DEEPSPEED_TIMEOUT=1e3", 0, false),
	};
	const struct rd_failover_path *path;

	job->around.readable = true;
	job->h.past[0].seen->timeout.v = 22; /* at least 120 s */
	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		job->around.env = cases[i].env;
		job->around.size = cases[i].size;
		path = look_before(job);
		if (path->watchdog.known != (cases[i].seconds > 0 ? RD_OK : RD_ABSENT) ||
		    (cases[i].seconds > 0 && path->watchdog.v != cases[i].seconds))
			fail_msg("row %zu: %g", i, path->watchdog.v);
		if ((found(job, "failover-late") != NULL) != cases[i].late)
			fail_msg("row %zu: late", i);
	}
	ends(job, NULL);
}

#define MANY 1030

TEST(what_is_too_much_to_watch_is_counted)
{
	struct rd_res_dev dev = { .name = "mlx5_0" };
	struct rd_proc proc = { 0 };
	struct rd_res res = { .devs = &dev, .n_devs = 1, .n_qps = MANY, .procs = &proc, .n_procs = 1 };
	struct rd_failover *f = rd_failover_create();
	struct rd_findings findings = { 0 };
	struct rd_host host = { 0 };
	struct rd_nicmap map = { 0 };
	struct rd_qp_views views;
	const double gbps = -1;
	size_t n;

	res.qps = calloc(MANY, sizeof(*res.qps));
	for (uint32_t i = 0; i < MANY; i++) {
		RD_SET(res.qps[i].lqpn, i);
		RD_SET(res.qps[i].owner.pid, i + 1);
		RD_SET(res.qps[i].state, RD_QPS_RTS);
		RD_SET(res.qps[i].type, RD_QPT_RC);
	}
	rd_qp_views_init(&views, &res);
	for (uint64_t second = 1; second < 3; second++)
		rd_failover_update(f, &(struct rd_failover_sample){ &views, &gbps, &host, &map, second * S }, &n);
	rd_failover_findings(f, &findings);
	assert_int_equal(findings.n, 1);
	assert_int_equal(findings.v[0].severity, RD_SEV_UNKNOWN);
	assert_string_equal(findings.v[0].observed, "6 queue pairs of more than 1024 NICs of processes");
	rd_findings_deinit(&findings);
	/* Those of processes that ended make room. */
	res.n_qps = 3;
	rd_failover_update(f, &(struct rd_failover_sample){ &views, &gbps, &host, &map, 3 * S }, &n);
	rd_failover_findings(f, &findings);
	assert_int_equal(findings.n, 0);
	rd_failover_destroy(f);
	res.n_qps = MANY;
	rd_qp_views_deinit(&views);
	free(res.qps);
}
