// SPDX-License-Identifier: GPL-2.0-or-later
/* The cause of a failed call: first from what the record of the event contains, then from what the host says. */

#include "collect/failure/failure.h"
#include "diagnose/failure/explain.h"
#include "trace.h"

/* The host is read for at most this share of the time, so that many failures do not keep us from reading the events; and for each kind
 * of failure of a process for this share, so that none takes the causes from the others. */
#define READ_SHARE 4 /* one part in so many */
#define KIND_SHARE 16
#define CREDIT_MAX_NS 2000000000
#define KIND_CREDIT_MAX_NS 250000000
#define REUSE_NS 2000000000u
#define LATE_NS 2000000000u /* of an event that waited as long, others may get lost */
#define KINDS 64

/* Time that reading may take. */
struct budget {
	int64_t credit;	 /* ns */
	uint64_t earned; /* CLOCK_MONOTONIC, ns: up to when credit was earned */
};

/* Failures of one process, in the same call with the same errno. */
struct kind {
	uint64_t key, seen; /* CLOCK_MONOTONIC, ns: when the last one was judged; 0: unused */
	struct budget budget;
	struct rd_failure last;
	uint64_t last_key, last_at; /* what `last` was read for (facts_key), and when; 0: nothing */
};

struct trace_causes {
	struct rd_failure_reader *reader;
	struct budget budget; /* of all kinds together */
	struct kind kinds[KINDS];
};

void trace_causes_create(struct trace *t, struct rd_source *facts)
{
	t->causes = rd_alloc(1, sizeof(*t->causes));
	t->causes->budget.credit = CREDIT_MAX_NS;
	t->causes->reader = rd_failure_reader_create(facts);
}

void trace_causes_destroy(struct trace_causes *causes)
{
	if (!causes)
		return;
	for (size_t i = 0; i < KINDS; i++)
		rd_failure_deinit(&causes->kinds[i].last);
	rd_failure_reader_destroy(causes->reader);
	free(causes);
}

/* Of everything that decides which facts are read. *kind: of the kind alone. */
static uint64_t facts_key(const struct rd_event *ev, uint64_t *kind)
{
	static const enum rd_req_field fields[] = { RD_REQ_SGID_INDEX, RD_REQ_GID_INDEX, RD_REQ_PORT, RD_REQ_AV_PORT,
						    RD_REQ_ALT_AV_PORT };
	const struct rd_request *r = &ev->request;
	uint64_t hash = RD_HASH;

	hash = rd_hash(hash, &ev->pid, sizeof(ev->pid));
	hash = rd_hash(hash, &ev->dev, sizeof(ev->dev));
	hash = rd_hash(hash, &ev->err, sizeof(ev->err));
	hash = rd_hash(hash, &ev->verb_key, sizeof(ev->verb_key));
	*kind = hash;
	/* Pools of huge pages have a size each. */
	hash = rd_hash(hash, &ev->moment.special.kind, sizeof(ev->moment.special.kind));
	hash = rd_hash(hash, &ev->moment.special.block, sizeof(ev->moment.special.block));
	if (ev->port.known == RD_OK)
		hash = rd_hash(hash, &ev->port.v, sizeof(ev->port.v));
	for (size_t i = 0; i < RD_ARRAY_SIZE(fields); i++)
		if (rd_req_has(r, fields[i]))
			hash = rd_hash(hash, &r->v[fields[i]], sizeof(r->v[0]));
	hash = rd_hash(hash, r->gid, sizeof(r->gid));
	hash = rd_hash(hash, r->src.addr, sizeof(r->src.addr));
	return rd_hash(hash, r->dst.addr, sizeof(r->dst.addr));
}

static void earn(struct budget *b, uint64_t at, unsigned share, int64_t most)
{
	uint64_t part = (at - b->earned) / share;

	b->credit += part < (uint64_t)most ? (int64_t)part : most;
	if (b->credit > most)
		b->credit = most;
	b->earned = at;
}

/* A new kind takes the place of the one that was seen longest ago. */
static struct kind *find_kind(struct trace_causes *causes, uint64_t key, uint64_t at)
{
	struct kind *kind = &causes->kinds[0];

	for (size_t i = 0; i < KINDS && !(kind->seen && kind->key == key); i++)
		if ((causes->kinds[i].seen && causes->kinds[i].key == key) || causes->kinds[i].seen < kind->seen)
			kind = &causes->kinds[i];
	if (!kind->seen || kind->key != key) {
		rd_failure_deinit(&kind->last);
		*kind = (struct kind){ .key = key, .budget = { KIND_CREDIT_MAX_NS, at } };
	}
	kind->seen = at;
	return kind;
}

/* What the host says now, or, with many failures of the same kind, said a moment ago; NULL: it cannot be read at this pace. */
static const struct rd_failure *read_facts(struct trace *t, const struct rd_failure *bare)
{
	struct trace_causes *causes = t->causes;
	uint64_t start = trace_now(t), key, facts = facts_key(bare->event, &key);
	struct kind *kind = find_kind(causes, key, start);
	unsigned needs = rd_explain_needs(bare);
	int64_t least;

	earn(&causes->budget, start, READ_SHARE, CREDIT_MAX_NS);
	earn(&kind->budget, start, KIND_SHARE, KIND_CREDIT_MAX_NS);
	/* What fails rarely is read for even if all the time was used for what fails often, as long as the events do not wait. */
	least = kind->budget.credit <= KIND_CREDIT_MAX_NS / 2 ? 0 :
		start - bare->event->at_ns < LATE_NS	      ? INT64_MIN :
								-CREDIT_MAX_NS;
	if (!t->replayed)
		t->host = kind->budget.credit > 0 && causes->budget.credit > least ? RD_HOST_READ :
			  kind->last_at && kind->last_key == facts && start - kind->last_at <= REUSE_NS ?
										     RD_HOST_KEPT :
										     RD_HOST_NOT_READ;
	if (t->host == RD_HOST_READ) {
		rd_failure_deinit(&kind->last);
		kind->last.event = bare->event;
		kind->last.set = bare->set;
		if (t->record)
			t->record(t->sink_arg, bare->event, needs);
		rd_failure_read(causes->reader, needs, &kind->last, NULL);
		kind->last_key = facts;
		kind->last_at = trace_now(t);
		kind->budget.credit -= (int64_t)(kind->last_at - start);
		causes->budget.credit -= (int64_t)(kind->last_at - start);
		if (causes->budget.credit < -CREDIT_MAX_NS)
			causes->budget.credit = -CREDIT_MAX_NS;
		return &kind->last;
	}
	if (t->host == RD_HOST_NOT_READ)
		return NULL;
	kind->last.event = bare->event;
	return &kind->last;
}

void trace_causes_find(struct trace *t, struct rd_event *ev)
{
	_cleanup_(rd_failure_deinit) struct rd_failure bare = { .event = ev, .set = &t->set };
	const struct rd_failure *failure;

	if (!t->replayed)
		t->host = RD_HOST_NOT_READ;
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
