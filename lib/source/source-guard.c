/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source whose reads can be given up. A child process asks the guarded source; one that is held up in the kernel cannot be
 * woken, and not even killed: it is left behind, with nothing of ours open, and another one goes on behind the question at
 * which it hangs.
 */
#include "source-guard-priv.h"

#include <errno.h>
#include <string.h>

#include "source/netlink.h"

static struct guard *guard_of(struct rd_source *src)
{
	return (struct guard *)src;
}

struct one {
	const struct rd_question *head;
	const void *data;
};

static void ask_one(struct rd_source *src, void *arg)
{
	const struct one *one = arg;

	if (!rd_answers_find(&guard_of(src)->answers, one->head, one->data))
		rd_guard_ask_here(guard_of(src), one->head, one->data);
}

/* Behind the deadline. Told once: who was slow without ever being given up has not answered either. */
static int not_asked(struct guard *guard, const char *object, struct rd_err *err)
{
	struct rd_stall stall = { .kind = RD_STALL_UNASKED };

	rd_err_set(&stall.err, ETIMEDOUT, object, "not asked: the deadline had passed");
	if (!rd_stalls_first(&guard->stalls, RD_STALL_UNASKED))
		rd_stalls_add(&guard->stalls, &stall);
	if (err)
		*err = stall.err;
	return -ETIMEDOUT;
}

static int no_answer(const struct guard *guard, const struct rd_entry *entry, const char *object, struct rd_err *err)
{
	if (entry->stall == SIZE_MAX || entry->stall >= guard->stalls.n)
		return rd_err_set(err, ETIMEDOUT, object, "gave no answer in time");
	if (err)
		*err = guard->stalls.v[entry->stall].err;
	return -guard->stalls.v[entry->stall].err.code;
}

static int tell(const struct rd_answer *answer, const char *object, struct rd_bytes *ret, uint64_t *number,
		struct rd_err *err)
{
	if (answer->result < 0) {
		if (err)
			memcpy(err, answer->data, sizeof(*err));
		return (int)answer->result;
	}
	if (number)
		*number = answer->number;
	if (!ret)
		return 0;
	ret->data = malloc(answer->size + 1);
	if (!ret->data)
		return rd_err_set(err, ENOMEM, object, "no memory for the answer");
	memcpy(ret->data, answer->data, answer->size);
	ret->data[answer->size] = '\0';
	ret->size = answer->size;
	return 0;
}

static int ask(struct rd_source *src, const struct rd_question *head, const char *object, const void *data,
	       struct rd_bytes *ret, uint64_t *number, struct rd_err *err)
{
	struct guard *guard = guard_of(src);
	struct rd_entry *entry = rd_answers_find(&guard->answers, head, data);

	if (!entry && guard->arena)
		entry = rd_guard_ask_here(guard, head, data);
	if (!entry) {
		if (rd_guard_left(guard) == 0)
			return not_asked(guard, object, err);
		rd_source_guard_ahead(src, ask_one, &(struct one){ head, data });
		entry = rd_answers_find(&guard->answers, head, data);
	}
	if (!entry)
		return rd_err_set(err, ECHILD, object, "cannot be asked: no process, or no memory for it");
	return entry->answer ? tell(entry->answer, object, ret, number, err) : no_answer(guard, entry, object, err);
}

static int ask_path(struct rd_source *src, enum rd_op op, const char *path, struct rd_bytes *ret, uint64_t *number,
		    struct rd_err *err)
{
	struct rd_question question = { .op = op, .size = strlen(path) + 1 };

	return ask(src, &question, path, path, ret, number, err);
}

static int guard_read_file(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	return ask_path(src, RD_OP_READ, path, ret, NULL, err);
}

static int guard_list_dir(struct rd_source *src, const char *path, struct rd_names *ret, struct rd_err *err)
{
	_cleanup_names_ struct rd_names names = { 0 };
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int r = ask_path(src, RD_OP_LIST, path, &bytes, NULL, err);

	for (size_t at = 0; !r && at < bytes.size; at += strlen((char *)bytes.data + at) + 1) {
		if (rd_grow(&names.v, &names.cap, names.n + 1, sizeof(*names.v)) == 0)
			names.v[names.n] = strdup((char *)bytes.data + at);
		if (names.n == names.cap || !names.v[names.n])
			return rd_err_set(err, ENOMEM, path, "no memory for its names");
		names.n++;
	}
	if (r < 0)
		return r;
	*ret = names;
	names = (struct rd_names){ 0 };
	return 0;
}

static int guard_read_link(struct rd_source *src, const char *path, char **ret, struct rd_err *err)
{
	struct rd_bytes bytes = { 0 };
	int r = ask_path(src, RD_OP_LINK, path, &bytes, NULL, err);

	if (r == 0)
		*ret = (char *)bytes.data;
	return r;
}

static int guard_stat_rdev(struct rd_source *src, const char *path, uint64_t *ret, struct rd_err *err)
{
	return ask_path(src, RD_OP_RDEV, path, NULL, ret, err);
}

static int guard_stat_ino(struct rd_source *src, const char *path, uint64_t *ret, struct rd_err *err)
{
	return ask_path(src, RD_OP_INO, path, NULL, ret, err);
}

static int guard_stat_mode(struct rd_source *src, const char *path, uint64_t *ret, struct rd_err *err)
{
	return ask_path(src, RD_OP_MODE, path, NULL, ret, err);
}

static int guard_netlink(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
			 struct rd_err *err)
{
	struct rd_question question = { .op = RD_OP_NETLINK, .protocol = protocol, .size = size };
	int r = rd_nlrequest_check(request, size, err);

	return r < 0 ? r : ask(src, &question, "netlink", request, ret, NULL, err);
}

static int guard_drain_events(struct rd_source *src, rd_event_fn *fn, void *arg, struct rd_err *err)
{
	(void)src;
	(void)fn;
	(void)arg;
	return rd_err_set(err, ENODATA, "events", "not to be had under a deadline");
}

/* Of a bundle it is as it was recorded. */
static uint64_t guard_now(struct rd_source *src, int clock)
{
	struct rd_question question = { .op = RD_OP_NOW, .protocol = clock, .size = 1 };
	struct guard *guard = guard_of(src);
	uint64_t now = 0;

	if (!guard->bundle)
		return guard->inner->ops->now(guard->inner, clock);
	ask(src, &question, guard->bundle, "", NULL, &now, NULL);
	return now;
}

/* The next sample is looked at by children to come. */
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
	rd_answers_deinit(&guard->answers);
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
	guard->ops = (struct rd_source_ops){
		.name = inner ? inner->ops->name : "bundle",
		.read_file = guard_read_file,
		.list_dir = guard_list_dir,
		.read_link = guard_read_link,
		.stat_rdev = guard_stat_rdev,
		.stat_ino = guard_stat_ino,
		.stat_mode = guard_stat_mode,
		.netlink = guard_netlink,
		.drain_events = guard_drain_events,
		.now = guard_now,
		.next = bundle ? guard_next : NULL,
		.close = guard_close,
	};
	guard->src.ops = &guard->ops;
	guard->inner = inner;
	*ret = &guard->src;
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
	guard->stalls.answered = 0;
	for (size_t i = 0; i < guard->answers.n; i++)
		guard->stalls.answered += guard->answers.v[i].answer != NULL;
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
	return guard_of(src)->bundle ? ask_path(src, RD_OP_OPEN, guard_of(src)->bundle, NULL, NULL, err) : 0;
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
