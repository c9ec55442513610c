/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The children of the guard: reading in one, abandoning it, and the reason why it did not reply. */
#include "source-guard-priv.h"

#include "base/end.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "source/shared/netlink.h"

/* A child that sleeps in a request gets this part of the time left: several hanging reads do not use up all of it. */
#define PATIENCE_PART 8
#define PATIENCE_LEAST_MS 10
/* A child that runs, or waits for a CPU, gets this part: another child would not be faster. */
#define WORK_PART 2
/* Abandoned children get this part of the time that is left when everything else is read. */
#define SETTLE_PART 2
#define STEP_MS 25
/* Blocked: slept without interruption for at least this time, and this many times as long as another read took. */
#define BLOCKED_LEAST_MS 500
#define BLOCKED_TIMES 8

int64_t rd_guard_left(const struct guard *guard)
{
	int64_t left = guard->deadline_ms - rd_monotonic_ms();

	return left > 0 ? left : 0;
}

/* In a child. */
static int open_inner(struct guard *guard, struct rd_err *err)
{
	struct rd_source *bundle;
	int r = guard->inner ? 0 : rd_source_bundle_open(guard->bundle, &bundle, err);

	if (r < 0 || guard->inner)
		return r;
	for (size_t i = 0; i < guard->sample && !r; i++)
		r = rd_source_bundle_next(bundle, err);
	if (r < 0)
		bundle->ops->close(bundle);
	else
		guard->inner = bundle;
	return r;
}

static int forward_inner(struct guard *guard, const struct rd_request *request, struct rd_bytes *bytes,
			 uint64_t *number, struct rd_err *err)
{
	int r = open_inner(guard, err);

	return r < 0 ? r : rd_request_put(guard->inner, request, bytes, number, err);
}

struct rd_entry *rd_guard_ask_here(struct guard *guard, const struct rd_request *head, const void *data)
{
	const struct rd_request *request = rd_arena_ask(guard->arena, head, data);
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_reply reply = { 0 };
	struct rd_err err = { 0 };
	struct rd_entry *entry;

	if (!request)
		_exit(0);
	reply.result = forward_inner(guard, request, &bytes, &reply.number, &err);
	reply.size = reply.result < 0 ? 0 : bytes.size;
	entry = rd_replies_enter(&guard->replies, request);
	if (!entry)
		_exit(1);
	entry->reply = rd_arena_answer(guard->arena, &reply, bytes.data, &err);
	if (rd_arena_dismissed(guard->arena))
		_exit(0);
	return entry;
}

/* Takes over the new replies of the child. Returns its pending request; NULL: none. */
static const struct rd_request *take_replies(struct guard *guard, struct requester *requester)
{
	const struct rd_request *request = NULL;
	const struct rd_reply *reply = NULL;
	int r;

	while ((r = rd_arena_next(requester->arena, &requester->at, &request, &reply)) > 0) {
		struct rd_entry *entry = rd_replies_enter(&guard->replies, request);

		if (entry)
			entry->reply = reply;
	}
	return r == 0 ? request : NULL;
}

/* `buf` has RD_NLOBJECT bytes. */
static const char *object_of(const struct rd_request *request, char *buf)
{
	if (request->op != RD_OP_NETLINK)
		return (const char *)request->data;
	rd_nlrequest_name(request->protocol, request->data, request->size, buf);
	return buf;
}

static void note_stall(struct guard *guard, size_t i, struct rd_stall *stall, int code, const char *message)
{
	const struct rd_request *request = guard->replies.v[i].request;
	char buf[RD_NLOBJECT];

	rd_err_set(&stall->err, code, object_of(request, buf), "%s", message);
	guard->replies.v[i].stall = guard->stalls.n;
	rd_stalls_add(&guard->stalls, stall);
}

/* A child that ran out of memory is no evidence against the file it read. */
static void note_death(struct guard *guard, const struct requester *requester, size_t entry)
{
	struct rd_stall stall = { .kind = RD_STALL_DIED };

	if (rd_child_lacked_memory(requester->pid))
		rd_out_of_memory();
	note_stall(guard, entry, &stall, ECHILD, "the reading process died");
}

static void leave(struct requester *requester)
{
	close(requester->fd);
	rd_child_leave(requester->pid);
}

enum end { END_DONE, END_DEATH, END_GIVEN_UP };

/* After a byte, or the end of the stream. */
static enum end how_it_ended(const struct requester *requester)
{
	return rd_arena_finished(requester->arena) ? END_DONE : END_DEATH;
}

/* Waits until the child is done, or has not replied for too long. */
static enum end follow(const struct guard *guard, struct requester *requester)
{
	struct pollfd wait = { .fd = requester->fd, .events = POLLIN };
	int64_t left = rd_guard_left(guard), slept_since = 0;
	uint64_t replied = 0;

	requester->since = rd_monotonic_ms();
	for (;;) {
		struct rd_child_state state;
		uint64_t progress;
		int64_t now, patience;

		if (poll(&wait, 1, rd_guard_left(guard) < STEP_MS ? (int)rd_guard_left(guard) + 1 : STEP_MS) > 0)
			return how_it_ended(requester);
		now = rd_monotonic_ms();
		progress = rd_arena_replied(requester->arena);
		if (now >= guard->deadline_ms)
			return END_GIVEN_UP;
		if (progress != replied) {
			replied = progress;
			requester->since = now;
			left = rd_guard_left(guard);
			requester->asleep.known = false;
			continue;
		}
		rd_child_look(requester->pid, &state);
		if (!rd_child_slept(&requester->asleep, &state)) {
			requester->asleep = state;
			slept_since = now;
		}
		patience = left / PATIENCE_PART > PATIENCE_LEAST_MS ? left / PATIENCE_PART : PATIENCE_LEAST_MS;
		if ((state.known ? now - slept_since : now - requester->since) >= patience ||
		    now - requester->since >= left / WORK_PART)
			return END_GIVEN_UP;
	}
}

/* The child keeps its request, and may still complete it. */
static void give_up(struct guard *guard, struct requester *requester)
{
	const struct rd_request *request;
	struct rd_entry *entry;

	rd_arena_dismiss(requester->arena);
	request = take_replies(guard, requester);
	entry = request ? rd_replies_enter(&guard->replies, request) : NULL;
	if (!entry || guard->n_waiting == RD_WAITING_MAX)
		return leave(requester);
	requester->entry = (size_t)(entry - guard->replies.v);
	guard->waiting[guard->n_waiting++] = *requester;
}

/* 1; 0 in the child; -errno. */
static int start(struct guard *guard, struct requester *requester)
{
	int r;

	*requester = (struct requester){ .arena = rd_replies_add_arena(&guard->replies) };
	if (!requester->arena)
		return -ENOMEM;
	r = rd_child_start("reading", &requester->pid, &requester->fd, NULL);
	if (r == 0)
		guard->arena = requester->arena;
	return r;
}

/* Runs one child for the requests of `fn` without reply. Returns whether another one must continue after it. */
static bool run_child(struct guard *guard, rd_guard_fn *fn, void *arg)
{
	const struct rd_request *request;
	struct rd_entry *entry;
	struct requester requester;
	enum end end;
	int r = start(guard, &requester);

	if (r == 0) {
		fn(&guard->forwarder.src, arg);
		rd_arena_finish(guard->arena);
		rd_write_all(requester.fd, "", 1);
		_exit(0);
	}
	if (r < 0)
		return false;
	end = follow(guard, &requester);
	if (end == END_GIVEN_UP) {
		give_up(guard, &requester);
		return guard->n_waiting < RD_WAITING_MAX && rd_guard_left(guard) > 0;
	}
	request = take_replies(guard, &requester);
	entry = end == END_DEATH && request ? rd_replies_enter(&guard->replies, request) : NULL;
	if (entry)
		note_death(guard, &requester, (size_t)(entry - guard->replies.v));
	leave(&requester);
	return end == END_DEATH && (entry || requester.at > 0) && rd_guard_left(guard) > 0;
}

/* Handles output of an abandoned child: true if it is a reply. */
static bool take_late_reply(struct guard *guard, size_t i)
{
	struct requester requester = guard->waiting[i];
	bool replied;

	guard->waiting[i] = guard->waiting[--guard->n_waiting];
	take_replies(guard, &requester);
	replied = guard->replies.v[requester.entry].reply;
	if (!replied)
		note_death(guard, &requester, requester.entry);
	leave(&requester);
	return replied;
}

/* Waits for abandoned children. True as soon as one replied: its reply may lead to further requests. */
static bool settle(struct guard *guard)
{
	int64_t until = rd_monotonic_ms() + rd_guard_left(guard) / SETTLE_PART;

	while (guard->n_waiting > 0) {
		struct pollfd waits[RD_WAITING_MAX];
		int64_t left = until - rd_monotonic_ms();

		for (size_t i = 0; i < guard->n_waiting; i++)
			waits[i] = (struct pollfd){ .fd = guard->waiting[i].fd, .events = POLLIN };
		if (poll(waits, guard->n_waiting, left > 0 ? (int)left : 0) <= 0)
			return false;
		for (size_t i = guard->n_waiting; i-- > 0;)
			if (waits[i].revents && take_late_reply(guard, i))
				return true;
	}
	return false;
}

/* The time in milliseconds in which another process starts, reads and replies; more than `limit`: it did not. */
static int64_t other_read_ms(int64_t limit)
{
	int64_t begin = rd_monotonic_ms();
	struct rd_child_state state;
	struct pollfd wait;
	pid_t child;
	int r = rd_child_start("reading", &child, &wait.fd, NULL);

	if (r < 0)
		return INT64_MAX;
	if (r == 0) {
		rd_child_look(getpid(), &state);
		rd_write_all(wait.fd, "", 1);
		_exit(0);
	}
	wait.events = POLLIN;
	r = poll(&wait, 1, (int)limit);
	close(wait.fd);
	rd_child_leave(child);
	return r == 1 ? rd_monotonic_ms() - begin : INT64_MAX;
}

static void judge(struct guard *guard, const struct requester *requester, int64_t other_ms)
{
	struct rd_stall stall = { .kind = RD_STALL_UNSURE, .ms = (unsigned)(rd_monotonic_ms() - requester->since) };
	struct rd_child_state now;
	char message[200];

	rd_child_look(requester->pid, &now);
	if (requester->asleep.known ? rd_child_ran(&requester->asleep, &now) : now.known)
		stall.kind = RD_STALL_SLOW;
	else if (rd_child_slept(&requester->asleep, &now) && stall.ms >= BLOCKED_LEAST_MS &&
		 other_ms <= stall.ms / BLOCKED_TIMES)
		stall.kind = RD_STALL_BLOCKED;
	if (stall.kind == RD_STALL_BLOCKED)
		snprintf(message, sizeof(message), "blocked for %u ms (state %c%s%s), while another read took %d ms",
			 stall.ms, now.state, now.place[0] ? ", in " : "", now.place, (int)other_ms);
	else
		snprintf(message, sizeof(message), "no reply within %u ms%s", stall.ms,
			 stall.kind == RD_STALL_SLOW ? ": the reading process was running or waiting for a CPU" : "");
	note_stall(guard, requester->entry, &stall, ETIMEDOUT, message);
}

static void conclude(struct guard *guard)
{
	int64_t patience = rd_guard_left(guard) / PATIENCE_PART;
	int64_t other_ms =
		guard->n_waiting ? other_read_ms(patience > PATIENCE_LEAST_MS ? patience : PATIENCE_LEAST_MS) : 0;

	for (size_t i = 0; i < guard->n_waiting; i++) {
		struct requester *requester = &guard->waiting[i];

		take_replies(guard, requester);
		if (!guard->replies.v[requester->entry].reply)
			judge(guard, requester, other_ms);
		leave(requester);
	}
	guard->n_waiting = 0;
}

void rd_guard_ask(struct guard *guard, rd_guard_fn *fn, void *arg)
{
	do {
		while (run_child(guard, fn, arg))
			continue;
	} while (settle(guard));
	conclude(guard);
}
