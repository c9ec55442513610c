// SPDX-License-Identifier: GPL-2.0-or-later
/* Crash loops: programs that start again and fail in the same way. */
#include "analyse/trace/trace.h"

/* Job managers wait at most 5 minutes before they start a program again. */
#define FORGET_NS UINT64_C(900000000000)

/* Addresses, handles and file descriptors differ from start to start. */
static uint64_t key_of_failure(const struct rd_event *ev)
{
	uint64_t hash = rd_hash(RD_HASH, &ev->origin, sizeof(ev->origin));

	hash = rd_hash(hash, &ev->verb_key, sizeof(ev->verb_key));
	hash = rd_hash(hash, &ev->err, sizeof(ev->err));
	hash = rd_hash(hash, ev->ibdev ?: "", ev->ibdev ? strlen(ev->ibdev) : 0);
	for (size_t i = RD_REQ_LENGTH; i < RD_REQ_FIELDS; i++)
		if (i != RD_REQ_IOVA && i != RD_REQ_FD && i != RD_REQ_CM_ID && i != RD_REQ_DEST_QPN &&
		    ev->request.known[i])
			hash = rd_hash(hash, &ev->request.v[i], sizeof(ev->request.v[i]));
	return hash ?: 1;
}

static struct rd_program *find_program(struct rd_starts *starts, const struct rd_event *ev)
{
	uint64_t key = rd_hash(RD_HASH, ev->comm, strnlen(ev->comm, sizeof(ev->comm)));
	struct rd_program *oldest = starts->v;

	key = rd_hash(key, &ev->uid, sizeof(ev->uid));
	if (ev->job)
		key = rd_hash(key, ev->job, strlen(ev->job));
	key = key ?: 1;
	for (struct rd_program *p = starts->v; p < starts->v + RD_PROGRAMS; p++) {
		if (p->key == key && ev->at_ns < p->last_ns + FORGET_NS)
			return p;
		if (!p->key || p->last_ns < oldest->last_ns)
			oldest = p;
		if (p->key == key) {
			oldest = p;
			break;
		}
	}
	*oldest = (struct rd_program){ .key = key };
	return oldest;
}

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ?: "");
}

void rd_failure_count_name(const struct rd_event *ev, const struct rd_fnset *set, struct rd_failure_count *ret)
{
	const struct rd_fn *fn = ev->origin >= 0 && (size_t)ev->origin < set->n_fns ? &set->fns[ev->origin] : NULL;

	copy_text(ret->function, sizeof(ret->function), fn ? fn->name : NULL);
	copy_text(ret->module, sizeof(ret->module),
		  fn && fn->module < set->n_modules ? set->modules[fn->module].name : NULL);
	if (ev->verb)
		copy_text(ret->verb, sizeof(ret->verb), ev->verb);
	else if (ev->object)
		snprintf(ret->verb, sizeof(ret->verb), "%s.%s", ev->object, ev->method ?: "?");
	copy_text(ret->ibdev, sizeof(ret->ibdev), ev->ibdev);
	copy_text(ret->job, sizeof(ret->job), ev->job);
	ret->err = ev->err;
}

struct rd_crash_loop *rd_starts_add(struct rd_starts *starts, const struct rd_event *ev, const struct rd_fnset *set)
{
	uint64_t key = key_of_failure(ev);
	struct rd_program *p;
	struct rd_crash_loop *loop;

	if (!ev->moment.started_ns)
		return NULL;
	p = find_program(starts, ev);
	if (ev->moment.started_ns > p->last_ns || !p->starts)
		p->starts++;
	if (ev->at_ns > p->last_ns)
		p->last_ns = ev->at_ns;
	loop = p->v;
	for (struct rd_crash_loop *l = p->v; l < p->v + RD_LOOPS_OF_PROGRAM && loop->key != key; l++)
		if (l->key == key || l->last < loop->last)
			loop = l;
	if (loop->key != key) {
		*loop = (struct rd_crash_loop){ .key = key, .first = ev->time_ns, .first_start = p->starts };
		memcpy(loop->comm, ev->comm, sizeof(loop->comm));
		loop->comm[sizeof(loop->comm) - 1] = 0;
		rd_failure_count_name(ev, set, &loop->where);
	}
	if (loop->last_start != p->starts) {
		loop->where.count++;
		loop->gap_ns = ev->at_ns - loop->at_ns;
		loop->at_ns = ev->at_ns;
	}
	loop->last_start = p->starts;
	loop->starts = p->starts - loop->first_start + 1;
	loop->last = ev->time_ns;
	return loop;
}

bool rd_crash_loop_is(const struct rd_crash_loop *loop)
{
	return loop->where.count >= RD_LOOP_STARTS && loop->where.count * 2 >= loop->starts;
}
