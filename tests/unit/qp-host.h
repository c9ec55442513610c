/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A host of two devices whose queue pairs are judged. */
#ifndef RD_UNIT_QP_HOST_H
#define RD_UNIT_QP_HOST_H

#include "unit.h"

#include "analyse/qp/qp-verdict.h"

#define S UINT64_C(1000000000)

struct host {
	struct rd_res res;
	struct rd_res_dev devs[2];
	struct rd_qp qps[8];
	struct rd_qp_view v[8]; /* of each, with: */
	struct rd_qp_link link[8];
	struct rd_qp_past past[8];
	struct rd_qp_verdict verdict[8];
	struct rd_proc procs[2];
	struct rd_qp_views views;
	struct rd_qp_counts since[2];
	struct rd_klog klog;
	struct rd_krecord lines[4];
	struct rd_qp_judge judge;
};

static inline void host_init(struct host *h)
{
	*h = (struct host){ .devs = { { .name = (char *)"mlx5_0" }, { .name = (char *)"mlx5_1" } } };
	h->res.devs = h->devs;
	h->res.n_devs = 2;
	h->res.qps = h->qps;
	h->res.procs = h->procs;
	h->res.n_procs = RD_ARRAY_SIZE(h->procs);
	for (size_t i = 0; i < RD_ARRAY_SIZE(h->v); i++) {
		h->link[i].cm_id = -1;
		h->v[i] = (struct rd_qp_view){ &h->link[i], &h->past[i], &h->verdict[i] };
	}
	h->views = (struct rd_qp_views){ .res = &h->res, .v = h->v };
	h->klog.known = RD_OK;
	h->klog.v = h->lines;
	h->judge = (struct rd_qp_judge){ .stuck_seconds = 10, .mono_ns = 100 * S };
}

static inline struct rd_qp *put(struct host *h, uint32_t lqpn, uint8_t state)
{
	struct rd_qp *qp = &h->qps[h->res.n_qps++];

	RD_SET(qp->lqpn, lqpn);
	qp->proc = -1;
	RD_SET(qp->type, RD_QPT_RC);
	RD_SET(qp->state, state);
	return qp;
}

static inline struct rd_qp_past *past_of(struct host *h, const struct rd_qp *qp)
{
	return &h->past[qp - h->qps];
}

static inline void age(struct host *h, const struct rd_qp *qp, enum rd_age_kind kind, double seconds, double most)
{
	struct rd_qp_past *past = past_of(h, qp);

	past->age_kind = kind;
	RD_SET(past->age_seconds, seconds);
	if (kind != RD_AGE_AT_LEAST)
		RD_SET(past->age_max_seconds, most);
}

static inline void two_looks(struct host *h, double seconds)
{
	h->judge.since = h->since;
	h->judge.seconds = seconds;
	for (size_t d = 0; d < RD_ARRAY_SIZE(h->since); d++)
		RD_SET(h->since[d].v[RD_QPC_RETRIES], 0);
	for (size_t i = 0; i < h->res.n_qps; i++)
		RD_SET(h->past[i].psn_per_second, 0);
}

static inline void judge(struct host *h)
{
	rd_qp_judge(&h->views, &h->judge);
	/* As a track keeps it from look to look. */
	for (size_t i = 0; i < h->res.n_qps; i++) {
		h->past[i] = *h->v[i].past;
		h->past[i].cause = h->v[i].verdict->cause;
		h->v[i].past = &h->past[i];
	}
}

/* Fails with the name of the row of a table, or "". A verdict with "!" in front is one that it must not be. */
static inline void is_in(const char *row, const struct rd_qp_verdict *verdict, const char *name, const char *reason)
{
	const char *given = rd_qp_verdicts[verdict->kind].name;

	if ((strcmp(given, name + (*name == '!')) == 0) == (*name == '!'))
		fail_msg("%s: %s, not %s: %s", row, given, name, verdict->why);
	if (reason && (!verdict->why || !strstr(verdict->why, reason)))
		fail_msg("%s: \"%s\" is not in \"%s\"", row, reason, verdict->why);
	/* Whatever it is, it ends with what to run. */
	if (!verdict->fix ||
	    !(strstr(verdict->fix, "rdmadiag ") || strstr(verdict->fix, "dmesg") || strstr(verdict->fix, "ip link")))
		fail_msg("%s: nothing to run in \"%s\"", row, verdict->fix);
}

static inline void is(const struct rd_qp_verdict *verdict, const char *name, const char *reason)
{
	is_in("", verdict, name, reason);
}

/* Two samples; the devices have counted nothing, and can count everything. */
static inline void start(struct host *h, double seconds)
{
	host_init(h);
	h->judge.since = h->since;
	h->judge.seconds = seconds;
	for (size_t d = 0; d < 2; d++)
		for (int i = 0; i < RD_QPC_N; i++)
			RD_SET(h->since[d].v[i], 0);
}

/* The same of soft-RoCE, all of whose queue pairs are listed. */
static inline void start_soft(struct host *h, double seconds)
{
	start(h, seconds);
	h->devs[0].name = (char *)"rxe0";
	h->devs[1].name = (char *)"rxe1";
}

static inline struct rd_qp *add(struct host *h, uint32_t lqpn, uint8_t state, double packets_per_second)
{
	struct rd_qp *qp = put(h, lqpn, state);

	RD_SET(past_of(h, qp)->psn_per_second, packets_per_second);
	RD_SET(qp->port, 1);
	return qp;
}

/* Queue pairs from 17 on, by type (where it is not RC), state and packets per second: "rts 1000, uc rts 0". */
static inline struct host *listed(struct host *h, const char *text)
{
	for (const char *at = text; at; at = strchr(at, ','), at = at ? at + 1 : NULL) {
		bool ud = strncmp(at += strspn(at, " "), "ud ", 3) == 0, uc = strncmp(at, "uc ", 3) == 0;
		char word[8] = "";
		unsigned state = 0;
		double rate = 0;
		struct rd_qp *qp;

		assert_int_equal(sscanf(at + (ud || uc ? 3 : 0), "%7s %lf", word, &rate), 2);
		while (state < RD_QPS_N && strcasecmp(rd_qp_state_name(state), word) != 0)
			state++;
		assert_true(state < RD_QPS_N);
		qp = add(h, 17 + (uint32_t)h->res.n_qps, (uint8_t)state, rate);
		RD_SET(qp->type, ud ? RD_QPT_UD : uc ? RD_QPT_UC : RD_QPT_RC);
	}
	return h;
}

/* What the first device counted between the samples: "naks 20, retries 10". */
static inline struct host *counted(struct host *h, const char *text)
{
	static const char *const names[RD_QPC_N] = {
		"retries",    "exhausted", "rnr",  "rnr-exhausted", "naks",	   "out-of-order",
		"duplicates", "rnr-sent",  "sent", "got",	    "link-downed",
	};

	for (const char *at = text; at; at = strchr(at, ','), at = at ? at + 1 : NULL) {
		unsigned long long n = 0;
		char word[20] = "";
		int what = 0;

		assert_int_equal(sscanf(at, " %19s %llu", word, &n), 2);
		while (what < RD_QPC_N && strcmp(names[what], word) != 0)
			what++;
		assert_true(what < RD_QPC_N);
		RD_SET(h->since[0].v[what], n);
	}
	return h;
}

/* Judges, and requires this of queue pair `i`. */
static inline void judged(struct host *h, size_t i, const char *name, const char *reason)
{
	judge(h);
	is(h->v[i].verdict, name, reason);
}

static inline void judged_not(struct host *h, size_t i, const char *name)
{
	judge(h);
	assert_string_not_equal(rd_qp_verdicts[h->v[i].verdict->kind].name, name);
}

static inline void host_deinit(struct host *h)
{
	struct rd_qp_view *v = rd_alloc(h->res.n_qps + 1, sizeof(*v));

	for (size_t i = 0; i < h->res.n_qps; i++)
		free(h->past[i].seen);
	/* The views own their array. */
	memcpy(v, h->v, h->res.n_qps * sizeof(*v));
	h->views.v = v;
	rd_qp_views_deinit(&h->views);
}

/* An interval: queue pairs and counts as above, and what is concluded about queue pair `of` (0: the first). */
struct qp_case {
	const char *name;
	double seconds;
	const char *qps, *counts;
	const char *verdict, *reason; /* the latter NULL: any */
	size_t of;
};

static inline void judge_cases(const struct qp_case *cases, size_t n, void (*begin)(struct host *h, double seconds))
{
	for (size_t i = 0; i < n; i++) {
		struct host h;

		begin(&h, cases[i].seconds);
		judge(counted(listed(&h, cases[i].qps), cases[i].counts));
		is_in(cases[i].name, h.v[cases[i].of].verdict, cases[i].verdict, cases[i].reason);
		host_deinit(&h);
	}
}

#define HOST_TEST(name) TEST_ON(name, struct host, h, { 0 }, host_deinit)

#endif
