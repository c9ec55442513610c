/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source whose reads can be abandoned. A child process reads the guarded source. A child that blocks in the kernel can be neither
 * woken nor killed: it is left behind, without open files of ours, and another child continues after the request at which it
 * hangs.
 */
#include "source-guard-priv.h"

#include <errno.h>
#include <string.h>

static struct guard *guard_of(struct rd_source *src)
{
	return (struct guard *)src;
}

struct one {
	const struct rd_request *head;
	const void *data;
};

static void forward_one(struct rd_source *src, void *arg)
{
	const struct one *one = arg;

	if (!rd_replies_find(&guard_of(src)->replies, one->head, one->data))
		rd_guard_ask_here(guard_of(src), one->head, one->data);
}

/* After the deadline. Recorded once, also for readers that were slow without being abandoned. */
static int not_asked(struct guard *guard, const char *object, struct rd_err *err)
{
	struct rd_stall stall = { .kind = RD_STALL_UNASKED };

	rd_err_set(&stall.err, ETIMEDOUT, object, "not read: the deadline had passed");
	if (!rd_stalls_first(&guard->stalls, RD_STALL_UNASKED))
		rd_stalls_add(&guard->stalls, &stall);
	if (err)
		*err = stall.err;
	return -ETIMEDOUT;
}

static int no_answer(const struct guard *guard, const struct rd_entry *entry, const char *object, struct rd_err *err)
{
	if (entry->stall == SIZE_MAX || entry->stall >= guard->stalls.n)
		return rd_err_set(err, ETIMEDOUT, object, "no reply within the deadline");
	if (err)
		*err = guard->stalls.v[entry->stall].err;
	return -guard->stalls.v[entry->stall].err.code;
}

static int copy_reply(const struct rd_reply *reply, const char *object, struct rd_bytes *ret, uint64_t *number,
		      struct rd_err *err)
{
	if (reply->result < 0) {
		if (err)
			memcpy(err, reply->data, sizeof(*err));
		return (int)reply->result;
	}
	if (number)
		*number = reply->number;
	if (!ret)
		return 0;
	ret->data = malloc(reply->size + 1);
	if (!ret->data)
		return rd_err_set(err, ENOMEM, object, "no memory for the reply");
	memcpy(ret->data, reply->data, reply->size);
	ret->data[reply->size] = '\0';
	ret->size = reply->size;
	return 0;
}

static int request_once(struct rd_forwarder *forwarder, const struct rd_request *head, const char *object,
			const void *data, struct rd_bytes *ret, uint64_t *number, struct rd_err *err)
{
	struct guard *guard = guard_of(&forwarder->src);
	struct rd_entry *entry = rd_replies_find(&guard->replies, head, data);

	if (!entry && guard->arena)
		entry = rd_guard_ask_here(guard, head, data);
	if (!entry) {
		if (rd_guard_left(guard) == 0)
			return not_asked(guard, object, err);
		rd_source_guard_ahead(&forwarder->src, forward_one, &(struct one){ head, data });
		entry = rd_replies_find(&guard->replies, head, data);
	}
	if (!entry && rd_guard_left(guard) == 0)
		return not_asked(guard, object, err);
	if (!entry)
		return rd_err_set(err, ECHILD, object, "cannot read: no process or no memory available for it");
	return entry->reply ? copy_reply(entry->reply, object, ret, number, err) : no_answer(guard, entry, object, err);
}

/* Of a bundle: the recorded time. */
static uint64_t guard_now(struct rd_source *src, int clock)
{
	struct rd_request request = { .op = RD_OP_NOW, .protocol = clock, .size = 1 };
	struct guard *guard = guard_of(src);
	uint64_t now = 0;

	if (!guard->bundle)
		return guard->inner->ops->now(guard->inner, clock);
	request_once(&guard->forwarder, &request, guard->bundle, "", NULL, &now, NULL);
	return now;
}

/* Children started from now on read the next sample. */
static int guard_next(struct rd_source *src, struct rd_err *err)
{
	struct guard *guard = guard_of(src);
	int r;

	guard->sample++;
	rd_source_guard_renew(src, guard->stalls.limit_ms);
	r = rd_source_guard_ready(src, err);
	if (r < 0)
		guard->sample--;
	return r;
}

static void forget(struct guard *guard)
{
	rd_replies_deinit(&guard->replies);
	rd_stalls_deinit(&guard->stalls);
}

static void guard_close(struct rd_source *src)
{
	struct guard *guard = guard_of(src);

	forget(guard);
	free(guard->bundle);
	free(guard);
}

static int open_guard(struct rd_source *inner, const char *bundle, unsigned limit_ms, struct rd_source **ret,
		      struct rd_err *err)
{
	struct guard *guard = calloc(1, sizeof(*guard));

	if (guard && bundle)
		guard->bundle = strdup(bundle);
	if (!guard || (bundle && !guard->bundle)) {
		free(guard);
		return rd_err_set(err, ENOMEM, "reading", "no memory for a source");
	}
	rd_forwarder_init(&guard->forwarder, inner ? inner->ops->name : "bundle");
	guard->forwarder.forward = request_once;
	guard->forwarder.ops.now = guard_now;
	guard->forwarder.ops.next = bundle ? guard_next : NULL;
	guard->forwarder.ops.close = guard_close;
	guard->inner = inner;
	*ret = &guard->forwarder.src;
	rd_source_guard_renew(*ret, limit_ms);
	return 0;
}

int rd_source_guard_open(struct rd_source *inner, unsigned limit_ms, struct rd_source **ret, struct rd_err *err)
{
	return open_guard(inner, NULL, limit_ms, ret, err);
}

int rd_source_guard_open_bundle(const char *path, unsigned limit_ms, struct rd_source **ret, struct rd_err *err)
{
	return open_guard(NULL, path, limit_ms, ret, err);
}

void rd_source_guard_ahead(struct rd_source *src, rd_guard_fn *fn, void *arg)
{
	struct guard *guard = guard_of(src);

	rd_guard_ask(guard, fn, arg);
	guard->stalls.replied = 0;
	for (size_t i = 0; i < guard->replies.n; i++)
		guard->stalls.replied += guard->replies.v[i].reply != NULL;
}

void rd_source_guard_renew(struct rd_source *src, unsigned limit_ms)
{
	struct guard *guard = guard_of(src);

	forget(guard);
	guard->stalls.limit_ms = limit_ms;
	guard->deadline_ms = rd_monotonic_ms() + limit_ms;
}

unsigned rd_source_guard_left(const struct rd_source *src)
{
	return (unsigned)rd_guard_left((const struct guard *)src);
}

int rd_source_guard_ready(struct rd_source *src, struct rd_err *err)
{
	struct guard *guard = guard_of(src);
	struct rd_request request = { .op = RD_OP_OPEN };

	if (!guard->bundle)
		return 0;
	request.size = strlen(guard->bundle) + 1;
	return request_once(&guard->forwarder, &request, guard->bundle, guard->bundle, NULL, NULL, err);
}

const struct rd_stalls *rd_source_guard_stalls(const struct rd_source *src)
{
	return &((const struct guard *)src)->stalls;
}

void rd_source_guard_join(struct rd_source *src, const struct rd_source *other)
{
	const struct rd_stalls *stalls = rd_source_guard_stalls(other);

	for (size_t i = 0; i < stalls->n; i++)
		rd_stalls_add(&guard_of(src)->stalls, &stalls->v[i]);
}
