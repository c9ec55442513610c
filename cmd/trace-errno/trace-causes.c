// SPDX-License-Identifier: GPL-2.0-or-later
/* The cause of a failed call: first from what the record of the event contains, then from what the host says. */
#include <time.h>

#include "base/memory.h"
#include "collect/failure/failure.h"
#include "diagnose/failure/explain.h"
#include "trace.h"

/* The host is read for at most this share of the time, so that many failures do not keep us from reading the events. */
#define READ_SHARE 4 /* one part in so many */
#define CREDIT_MAX_NS 2000000000
#define REUSE_NS 2000000000u

struct trace_causes {
	struct rd_failure_reader *reader;
	int64_t credit;	 /* ns that reading may take now */
	uint64_t earned; /* CLOCK_MONOTONIC, ns: up to when credit was earned */
	struct rd_failure last;
	uint64_t last_key, last_at; /* what `last` was read for (facts_key), and when; 0: nothing */
};

void trace_causes_create(struct trace *t)
{
	t->causes = rd_alloc(1, sizeof(*t->causes));
	t->causes->credit = CREDIT_MAX_NS;
	t->causes->reader = rd_failure_reader_create(t->ctx->source);
}

void trace_causes_destroy(struct trace_causes *causes)
{
	if (!causes)
		return;
	rd_failure_deinit(&causes->last);
	rd_failure_reader_destroy(causes->reader);
	free(causes);
}

static uint64_t now(const struct trace *t)
{
	return t->ctx->source->ops->now(t->ctx->source, CLOCK_MONOTONIC);
}

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
	const unsigned char *p = data;

	while (size--)
		hash = (hash ^ *p++) * 0x100000001b3; /* FNV-1a */
	return hash;
}

/* Of everything that decides which facts are read. */
static uint64_t facts_key(const struct rd_event *ev)
{
	static const enum rd_req_field fields[] = { RD_REQ_SGID_INDEX, RD_REQ_GID_INDEX, RD_REQ_PORT, RD_REQ_AV_PORT,
						    RD_REQ_ALT_AV_PORT };
	const struct rd_request *r = &ev->request;
	uint64_t hash = 0xcbf29ce484222325;

	hash = mix(hash, &ev->pid, sizeof(ev->pid));
	hash = mix(hash, &ev->dev, sizeof(ev->dev));
	hash = mix(hash, &ev->err, sizeof(ev->err));
	hash = mix(hash, &ev->verb_key, sizeof(ev->verb_key));
	if (ev->port.known == RD_OK)
		hash = mix(hash, &ev->port.v, sizeof(ev->port.v));
	for (size_t i = 0; i < RD_ARRAY_SIZE(fields); i++)
		if (rd_req_has(r, fields[i]))
			hash = mix(hash, &r->v[fields[i]], sizeof(r->v[0]));
	hash = mix(hash, r->gid, sizeof(r->gid));
	hash = mix(hash, r->src.addr, sizeof(r->src.addr));
	hash = mix(hash, r->dst.addr, sizeof(r->dst.addr));
	return hash;
}

static void earn(struct trace_causes *causes, uint64_t at)
{
	uint64_t share = (at - causes->earned) / READ_SHARE;

	causes->credit += share < CREDIT_MAX_NS ? (int64_t)share : CREDIT_MAX_NS;
	if (causes->credit > CREDIT_MAX_NS)
		causes->credit = CREDIT_MAX_NS;
	causes->earned = at;
}

/* What the host says now, or, with many failures of the same kind, said a moment ago; NULL: it cannot be read at this pace. */
static const struct rd_failure *read_facts(struct trace *t, const struct rd_failure *bare)
{
	struct trace_causes *causes = t->causes;
	uint64_t start = now(t), key = facts_key(bare->event);

	earn(causes, start);
	if (causes->credit > 0) {
		rd_failure_deinit(&causes->last);
		causes->last.event = bare->event;
		causes->last.set = bare->set;
		rd_failure_read(causes->reader, rd_explain_needs(bare), &causes->last, NULL);
		causes->last_key = key;
		causes->last_at = now(t);
		causes->credit -= (int64_t)(causes->last_at - start);
		return &causes->last;
	}
	if (!causes->last_at || causes->last_key != key || start - causes->last_at > REUSE_NS)
		return NULL;
	causes->last.event = bare->event;
	return &causes->last;
}

void trace_causes_find(struct trace *t, struct rd_event *ev)
{
	_cleanup_(rd_failure_deinit) struct rd_failure bare = { .event = ev, .set = &t->set };
	const struct rd_failure *failure;

	rd_explain_failure(&bare, &ev->why);
	if (ev->why.id && ev->why.confidence == RD_CONFIDENCE_HIGH)
		return;
	failure = read_facts(t, &bare);
	if (failure) {
		rd_explanation_deinit(&ev->why);
		rd_explain_failure(failure, &ev->why);
	} else if (!ev->why.id) {
		rd_explain_fact(&ev->why,
				"not read: the state of the host, because calls fail too fast to read it for each");
	}
	ev->why.in_haste = !failure;
}
