/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conclusions about queue pairs, groups of them, their flows, and the counters that are evidence. */
#include "model/rdma/qp-view.h"

static const struct rd_qp_link no_link = { .cm_id = -1 };
static const struct rd_qp_past no_past;
static const struct rd_qp_verdict no_verdict;

const struct rd_qp_verdict_type rd_qp_verdicts[RD_QPV_N] = {
	[RD_QPV_NONE] = { NULL, { .severity = RD_SEV_UNKNOWN } },
	[RD_QPV_FAILED] = { "failed",
			    { "qp-failed", "queue pairs are in ERR or SQE",
			      "a queue pair in ERR or SQE transfers no data until its program recreates the connection",
			      RD_SEV_CRITICAL } },
	[RD_QPV_EXHAUSTED] = { "retries-exhausted",
			       { "qp-retries-exhausted",
				 "retry count exceeded (IBV_WC_RETRY_EXC_ERR or IBV_WC_RNR_RETRY_EXC_ERR)",
				 "the remote QP sent no ACK, or only RNR NAKs, until the transport or RNR retry count was exceeded",
				 RD_SEV_CRITICAL } },
	[RD_QPV_CUT_OFF] = { "cut-off",
			     { "qp-cut-off", "queue pairs can reach no remote QP",
			       "the job hangs: what is posted is retransmitted until the retry count is exceeded, or forever; datagrams are lost",
			       RD_SEV_WARNING } },
	[RD_QPV_STUCK] = { "stuck",
			   { "qp-stuck", "queue pairs are stuck in INIT, RTR or SQD",
			     "a job hangs until all its connections are established", RD_SEV_WARNING } },
	[RD_QPV_RETRYING] = { "retrying",
			      { "qp-retrying", "retransmitting; no ACK from the remote QP",
				"the program gets no error until the retry count is exceeded, which may never happen",
				RD_SEV_WARNING } },
	[RD_QPV_NO_RECEIVES] = { "no-receives",
				 { "qp-no-receives", "a program posts no receive work requests",
				   "the sender waits until receive work requests are posted, with rnr_retry 7 forever",
				   RD_SEV_WARNING } },
	[RD_QPV_SLOW] = { "slow",
			  { "qp-slow", "packets of queue pairs are lost, or refused by the receiver",
			    "a lost packet delays all packets behind it, and after an ACK timeout by milliseconds to seconds",
			    RD_SEV_WARNING } },
	[RD_QPV_FLUSHED] = { "flushed",
			     { .severity = RD_SEV_NOTE } }, /* programs do so when they close or abort a connection */
	[RD_QPV_IDLE] = { "idle", { .severity = RD_SEV_NOTE } },
	[RD_QPV_RECEIVING] = { "receiving", { .severity = RD_SEV_NOTE } },
	[RD_QPV_OK] = { "ok", { .severity = RD_SEV_NOTE } },
	[RD_QPV_CANNOT_TELL] = { "cannot-tell", { .severity = RD_SEV_UNKNOWN } },
};

void rd_qp_views_init(struct rd_qp_views *views, const struct rd_res *res)
{
	*views = (struct rd_qp_views){ .res = res, .v = rd_alloc(res->n_qps + 1, sizeof(*views->v)) };
	for (size_t i = 0; i < res->n_qps; i++)
		views->v[i] = (struct rd_qp_view){ &no_link, &no_past, &no_verdict };
}

void rd_qp_views_deinit(struct rd_qp_views *views)
{
	for (size_t d = 0; views->notes && d < views->res->n_devs; d++)
		RD_FREE(views->notes[d].why, views->notes[d].fix);
	for (size_t i = 0; i < views->n_owned; i++)
		free(views->owned[i]);
	RD_FREE(views->notes, views->gone, views->owned, views->v);
	*views = (struct rd_qp_views){ 0 };
}

static void own(struct rd_qp_views *views, void *allocated)
{
	*RD_ADD(views->owned, views->n_owned, views->cap_owned) = allocated;
}

/* One of those set last that is equal, or NULL and the place of a new one. */
static const void *find_recent(struct rd_qp_views *views, const void *from, size_t size, size_t *at)
{
	*at = rd_hash(RD_HASH, from, size) % RD_QP_RECENT;
	for (size_t way = 0; way < RD_QP_RECENT_WAYS; way++)
		if (views->recent[*at][way].size == size && memcmp(views->recent[*at][way].v, from, size) == 0)
			return views->recent[*at][way].v;
	return NULL;
}

static const void *keep(struct rd_qp_views *views, void *allocated, size_t size, size_t at)
{
	own(views, allocated);
	memmove(&views->recent[at][1], &views->recent[at][0], sizeof(views->recent[at]) - sizeof(views->recent[at][0]));
	views->recent[at][0].v = allocated;
	views->recent[at][0].size = size;
	return allocated;
}

/* `before`: that of the queue pair before it, which mostly is equal. */
static const void *share(struct rd_qp_views *views, const void *before, const void *from, size_t size)
{
	size_t at;
	const void *recent = memcmp(before, from, size) == 0 ? before : find_recent(views, from, size, &at);

	return recent ?: keep(views, memcpy(rd_alloc(1, size), from, size), size, at);
}

void rd_qp_views_set_link(struct rd_qp_views *views, size_t i, const struct rd_qp_link *link)
{
	views->v[i].link = share(views, views->v[i ? i - 1 : 0].link, link, sizeof(*link));
}

void rd_qp_views_set_past(struct rd_qp_views *views, size_t i, const struct rd_qp_past *past)
{
	if (past->seen && past->seen != views->v[i].past->seen)
		own(views, past->seen);
	views->v[i].past = share(views, views->v[i ? i - 1 : 0].past, past, sizeof(*past));
}

void rd_qp_views_set_verdict(struct rd_qp_views *views, size_t i, const struct rd_qp_verdict *verdict)
{
	views->v[i].verdict = share(views, views->v[i ? i - 1 : 0].verdict, verdict, sizeof(*verdict));
}

const char *rd_qp_views_keep(struct rd_qp_views *views, char *text)
{
	size_t at, size = strlen(text) + 1;
	const char *recent = find_recent(views, text, size, &at);

	if (!recent)
		return keep(views, text, size, at);
	free(text);
	return recent;
}

void rd_qp_views_note(struct rd_qp_views *views, size_t dev, const struct rd_qp_note *note)
{
	if (!views->notes)
		views->notes = rd_alloc(views->res->n_devs + 1, sizeof(*views->notes));
	RD_FREE(views->notes[dev].why, views->notes[dev].fix);
	views->notes[dev] = *note;
}

const uint8_t *rd_qp_peer_gid(const struct rd_qp_view *view)
{
	if (view->past->seen && view->past->seen->has_dgid)
		return view->past->seen->dgid;
	if (view->link->has_gid)
		return view->link->gid;
	return view->link->context && view->link->context->attrs.has_dgid ? view->link->context->attrs.dgid : NULL;
}

static enum rd_peer_source source_of(const struct rd_qp_context *context)
{
	return context->queried ? RD_PEER_KERNEL_QUERY : RD_PEER_DRIVER;
}

struct rd_qp_seen rd_qp_attributes(const struct rd_qp_view *view)
{
	struct rd_qp_seen ret = view->link->context ? view->link->context->attrs : (struct rd_qp_seen){ 0 };

	if (view->past->seen)
		rd_qp_seen_merge(&ret, view->past->seen);
	return ret;
}

enum rd_peer_source rd_qp_timeout_source(const struct rd_qp_view *view)
{
	if (view->past->seen && view->past->seen->timeout.known == RD_OK)
		return RD_PEER_RECORDER;
	if (view->link->context && view->link->context->attrs.timeout.known == RD_OK)
		return source_of(view->link->context);
	return RD_PEER_UNKNOWN;
}

enum rd_peer_source rd_qp_peer_source(const struct rd_res *res, const struct rd_qp_view *view)
{
	if (view->past->seen && view->past->seen->has_dgid)
		return RD_PEER_RECORDER;
	/* On InfiniBand, the address of a connection is one of IPoIB: a GID from the device is more. */
	if (!view->link->has_gid && view->link->context && view->link->context->attrs.has_dgid)
		return source_of(view->link->context);
	if (view->link->cm_id >= 0 && res->cm_ids[view->link->cm_id].dst.family)
		return RD_PEER_RDMA_CM;
	return RD_PEER_UNKNOWN;
}

const char *rd_peer_source_name(enum rd_peer_source source)
{
	static const char *const names[] = { NULL, "recorder", "rdma_cm", "kernel-query", "driver" };

	return source < RD_ARRAY_SIZE(names) ? names[source] : NULL;
}

void rd_qp_groups_deinit(struct rd_qp_groups *groups)
{
	for (size_t i = 0; i < groups->n; i++)
		RD_FREE(groups->v[i].label, groups->v[i].peers);
	free(groups->v);
	*groups = (struct rd_qp_groups){ 0 };
}

void rd_spreads_deinit(struct rd_spreads *spreads)
{
	for (size_t i = 0; i < spreads->n_collisions; i++)
		free(spreads->collisions[i].lqpns);
	RD_FREE(spreads->collisions, spreads->flows, spreads->v);
	*spreads = (struct rd_spreads){ 0 };
}

void rd_qp_counters_deinit(struct rd_qp_counters *counters)
{
	free(counters->v);
	*counters = (struct rd_qp_counters){ 0 };
}
