/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source whose reads can be abandoned. A child process reads the guarded source. A child that blocks in the kernel can be neither
 * woken nor killed: it is left behind, without open files of ours, and another child continues after the request at which it
 * hangs.
 */
#include "source/guard/source-guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>

#include "base/map.h"
#include "source/opener/child.h"
#include "source/opener/input.h"
#include "source/opener/opener.h"
#include "source/shared/netlink.h"
#include "source/shared/redaction.h"

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

#define WAITING_MAX 64
#define ROOM ((uint64_t)64 << 20) /* a complete check of a large host needs a tenth of it */

/* Followed by `size` bytes and a NUL, or by the struct rd_err of a negative result; padded. */
struct answer {
	int64_t result;
	uint64_t number, size;
	uint8_t data[];
};

/*
 * Requests to a source with their replies, in memory that a reading child shares with its parent: replies that it got before it
 * hung are not lost, and the parent sees the request at which it hangs.
 */
struct arena {
	_Atomic uint64_t requested,
		replied; /* ends of the last request and of the last reply; replied >= requested: none is pending */
	_Atomic bool finished, dismissed; /* the child is done; the child exits after its next reply */
	_Alignas(8) uint8_t room[];
};

/* A request, once. */
struct entry {
	const struct rd_query *query; /* in one of the arenas */
	const struct answer *reply;   /* NULL: no reply yet */
	size_t stall;		      /* the reason why there is none; SIZE_MAX: unknown */
};

/* A reading child, and the state of its arena. */
struct requester {
	pid_t pid;
	int fd; /* a byte when it is done; end of file when it died */
	struct arena *arena;
	uint64_t at;
	int64_t since;		      /* time of its last reply */
	struct rd_child_state asleep; /* as it was when it had begun to sleep */
	size_t entry;		      /* the request at which it was abandoned */
};

struct guard {
	struct rd_source src;
	struct rd_source_ops ops;
	struct rd_source *inner; /* of a bundle: NULL but in a child that has opened it; NULL: another process reads */
	bool alone;		 /* this process reads itself, without a deadline */
	unsigned asked;		 /* parts that the other process has read */
	char *bundle;		 /* NULL: not a bundle */
	size_t sample;		 /* of the bundle */
	int64_t deadline_ms;
	struct entry *entries;
	size_t n, cap;
	struct rd_map map; /* entries by their query */
	struct arena **arenas;
	size_t n_arenas, cap_arenas;
	struct rd_bytes *logs; /* requests with replies that were read without an arena */
	size_t n_logs, cap_logs;
	struct rd_stalls stalls;
	struct arena *arena;		       /* in a child: its arena; NULL in the parent */
	struct requester waiting[WAITING_MAX]; /* abandoned children that may still reply */
	size_t n_waiting;
};

/* Milliseconds left. */
static int64_t time_left(const struct guard *guard)
{
	int64_t left = guard->deadline_ms - rd_monotonic_ms();

	return left > 0 ? left : 0;
}

static uint64_t padded(uint64_t size)
{
	return (size + 7) & ~(uint64_t)7;
}

/* In a child. A request is visible to the parent before it is made; NULL: no space left. */
static const struct rd_query *arena_ask(struct arena *arena, const struct rd_query *query)
{
	uint64_t at = arena->replied, size = padded(sizeof(*query) + query->size);
	struct rd_query *copy = (struct rd_query *)(arena->room + at);

	if (query->size > ROOM || ROOM - at < size + sizeof(struct answer) + sizeof(struct rd_err))
		return NULL;
	*copy = *query;
	copy->data = memcpy(copy + 1, query->data, query->size);
	arena->requested = at + size;
	return copy;
}

/* In a child: the reply to the last request, of `head->size` bytes. One that does not fit becomes -EFBIG. */
static const struct answer *arena_answer(struct arena *arena, const struct answer *head, const void *data,
					 const struct rd_err *err)
{
	uint64_t at = arena->requested;
	struct answer *reply = (struct answer *)(arena->room + at);

	*reply = *head;
	if (reply->result >= 0 && reply->size > ROOM - at - sizeof(*reply) - 1) {
		rd_err_set((struct rd_err *)reply->data, EFBIG, "reading", "reply of %llu bytes is too long",
			   (unsigned long long)head->size);
		reply->result = -EFBIG;
	} else if (reply->result < 0) {
		memcpy(reply->data, err, sizeof(*err));
	} else if (reply->size > 0) {
		memcpy(reply->data, data, reply->size);
	}
	if (reply->result < 0)
		reply->size = sizeof(*err);
	arena->replied = at + padded(sizeof(*reply) + reply->size + 1);
	return reply;
}

static uint64_t hash_of(const struct rd_query *query)
{
	uint64_t hash = rd_hash(RD_HASH, &query->op, sizeof(query->op));

	hash = rd_hash(hash, &query->protocol, sizeof(query->protocol));
	return rd_hash(hash, query->data, query->size);
}

/* NULL: not requested yet. Valid until the next entry is added. */
static struct entry *find_entry(const struct guard *guard, const struct rd_query *query)
{
	uint64_t hash = hash_of(query);
	size_t i;

	for (size_t probe = 0; (i = rd_map_next(&guard->map, hash, &probe)) != RD_MAP_END;) {
		const struct rd_query *other = guard->entries[i].query;

		if (other->op == query->op && other->protocol == query->protocol && other->size == query->size &&
		    memcmp(other->data, query->data, query->size) == 0)
			return &guard->entries[i];
	}
	return NULL;
}

/* The entry of a request in an arena, added if it is missing. */
static struct entry *enter(struct guard *guard, const struct rd_query *query)
{
	struct entry *found = find_entry(guard, query);

	if (found)
		return found;
	rd_map_put(&guard->map, hash_of(query), guard->n);
	found = RD_ADD(guard->entries, guard->n, guard->cap);
	*found = (struct entry){ .query = query, .stall = SIZE_MAX };
	return found;
}

/* Whether another process reads, because this one dropped its privileges. */
static bool is_remote(const struct guard *guard)
{
	return !guard->inner && !guard->bundle;
}

static int get_inner(struct guard *guard, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	struct rd_source *bundle;
	int r = 0;

	/* In a child. */
	if (guard->bundle && !guard->inner) {
		r = rd_source_bundle_open(guard->bundle, &bundle, err);
		if (r < 0)
			return r;
		for (size_t i = 0; i < guard->sample && !r; i++)
			r = rd_source_bundle_next(bundle, err);
		if (r < 0)
			bundle->ops->close(bundle);
		else
			guard->inner = bundle;
	}
	if (!r && query->op == RD_OP_NOW)
		ret->number = guard->inner->ops->now(guard->inner, query->protocol);
	else if (!r && query->op != RD_OP_OPEN)
		r = guard->inner->ops->get(guard->inner, query, ret, err);
	return r;
}

/* In a child: makes a request and stores the reply. Does not return if there is no space left, or the child was dismissed. */
static struct entry *get_here(struct guard *guard, const struct rd_query *asked)
{
	const struct rd_query *query = arena_ask(guard->arena, asked);
	struct rd_reply got = { 0 };
	struct answer reply = { 0 };
	struct rd_err err = { 0 };
	struct entry *entry;
	int r;

	if (!query)
		_exit(0);
	r = get_inner(guard, query, &got, &err);
	reply = (struct answer){ r, got.number, r < 0 ? 0 : got.bytes.size };
	entry = enter(guard, query);
	entry->reply = arena_answer(guard->arena, &reply, got.bytes.data, &err);
	rd_bytes_deinit(&got.bytes);
	if (guard->arena->dismissed)
		_exit(0);
	return entry;
}

/* ---- requests with their replies, in memory of a process or on their way between two */

/* Appends one, as an arena has it. `reply` may have no data. */
static void log_add(struct rd_buf *log, const struct rd_query *query, const struct answer *reply, const void *data)
{
	static const uint8_t zeros[8];

	rd_buf_add(log, query, sizeof(*query));
	rd_buf_add(log, query->data, query->size);
	rd_buf_add(log, zeros, padded(query->size) - query->size);
	rd_buf_add(log, reply, sizeof(*reply));
	rd_buf_add(log, data, reply->size);
	rd_buf_add(log, zeros, padded(reply->size + 1) - reply->size);
}

/* Takes over the request at `at`, and its reply; of a request that is known already the first reply stays. Returns where the next begins. */
static size_t take_one(struct guard *guard, uint8_t *data, size_t at)
{
	struct rd_query *query = (struct rd_query *)(data + at);
	const uint8_t *behind = (const uint8_t *)(query + 1) + padded(query->size);
	const struct answer *reply = (const struct answer *)behind;
	struct entry *entry;

	query->data = query + 1;
	entry = enter(guard, query);
	entry->reply = entry->reply ? entry->reply : reply;
	return (size_t)(behind - data) + sizeof(*reply) + padded(reply->size + 1);
}

/* Takes ownership of the log. */
static void log_take(struct guard *guard, struct rd_bytes log)
{
	*RD_ADD(guard->logs, guard->n_logs, guard->cap_logs) = log;
	for (size_t at = 0; at < log.size;)
		at = take_one(guard, log.data, at);
}

static struct entry *get_alone(struct guard *guard, const struct rd_query *query)
{
	struct rd_buf log = RD_BUF_CHECKED;
	struct rd_reply got = { 0 };
	struct rd_err err = { 0 };
	int r = get_inner(guard, query, &got, &err);
	const struct answer reply = { r, got.number, r < 0 ? sizeof(err) : got.bytes.size };

	log_add(&log, query, &reply, r < 0 ? (void *)&err : got.bytes.data);
	rd_bytes_deinit(&got.bytes);
	if (log.failed)
		rd_buf_deinit(&log);
	else
		log_take(guard, (struct rd_bytes){ (uint8_t *)log.data, log.len });
	return find_entry(guard, query);
}

/* Followed by the requests, then by those without reply. */
struct pack {
	uint64_t log, stalls, replied;
};

void rd_source_guard_pack(struct rd_source *src, struct rd_buf *out)
{
	const struct guard *guard = (struct guard *)src;
	struct pack head = { .stalls = guard->stalls.n, .replied = guard->stalls.replied };
	size_t at = out->len;

	rd_buf_add(out, &head, sizeof(head));
	for (size_t i = 0; i < guard->n; i++) {
		const struct entry *entry = &guard->entries[i];
		const struct rd_err *why = entry->stall < guard->stalls.n ? &guard->stalls.v[entry->stall].err : NULL;
		_cleanup_bytes_ struct rd_bytes bytes = { 0 };
		struct answer reply = { why ? -why->code : -ETIMEDOUT, 0, why ? sizeof(*why) : 0 };

		if (!entry->reply && !why)
			continue;
		if (entry->reply)
			reply = *entry->reply;
		rd_bytes_copy(entry->reply ? (void *)entry->reply->data : (void *)why, reply.size, &bytes);
		/* Memory keys: no parser needs them. */
		if (reply.result >= 0 && entry->query->op == RD_OP_NETLINK)
			rd_scrub_messages(entry->query->protocol, &bytes);
		log_add(out, entry->query, &reply, bytes.data);
	}
	head.log = out->len - at - sizeof(head);
	rd_buf_add(out, guard->stalls.v, guard->stalls.n * sizeof(*guard->stalls.v));
	if (!out->failed)
		memcpy(out->data + at, &head, sizeof(head));
}

/* Has the process that kept its privileges read these parts. */
static void fetch(struct guard *guard, unsigned parts)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_bytes log = { 0 };
	const struct rd_stall *stalls;
	struct pack head;

	parts &= ~guard->asked;
	if (!guard->alone && time_left(guard) == 0)
		return;
	guard->asked |= parts;
	if (!parts || rd_opener_record(parts, (unsigned)time_left(guard), &bytes, NULL) < 0 || bytes.size < sizeof(head))
		return;
	memcpy(&head, bytes.data, sizeof(head));
	rd_bytes_copy(bytes.data + sizeof(head), head.log, &log);
	stalls = (const struct rd_stall *)(bytes.data + sizeof(head) + head.log);
	for (size_t i = 0; i < head.stalls; i++)
		rd_stalls_add(&guard->stalls, &stalls[i]);
	guard->stalls.replied += head.replied;
	log_take(guard, log);
}

/* Takes over the new replies of the child. Returns its pending request; NULL: none. */
static const struct rd_query *take_replies(struct guard *guard, struct requester *requester)
{
	struct arena *arena = requester->arena;

	while (requester->at < arena->replied)
		requester->at = take_one(guard, arena->room, requester->at);
	return requester->at < arena->requested ? (struct rd_query *)(arena->room + requester->at) : NULL;
}

static void note_stall(struct guard *guard, size_t i, struct rd_stall *stall, int code, const char *message)
{
	char buf[RD_NLOBJECT];

	rd_err_set(&stall->err, code, rd_query_object(guard->entries[i].query, buf), "%s", message);
	guard->entries[i].stall = guard->stalls.n;
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

/* Waits until the child is done, or has not replied for too long. */
static enum end follow(const struct guard *guard, struct requester *requester)
{
	struct pollfd wait = { .fd = requester->fd, .events = POLLIN };
	int64_t left = time_left(guard), slept_since = 0;
	uint64_t replied = 0;

	requester->since = rd_monotonic_ms();
	for (;;) {
		struct rd_child_state state;
		uint64_t progress;
		int64_t now, patience;

		if (poll(&wait, 1, time_left(guard) < STEP_MS ? (int)time_left(guard) + 1 : STEP_MS) > 0)
			return requester->arena->finished ? END_DONE : END_DEATH;
		now = rd_monotonic_ms();
		progress = requester->arena->replied;
		if (now >= guard->deadline_ms)
			return END_GIVEN_UP;
		if (progress != replied) {
			replied = progress;
			requester->since = now;
			left = time_left(guard);
			requester->asleep.known = false;
			continue;
		}
		rd_child_look(requester->pid, &state);
		if (!rd_child_slept(&requester->asleep, &state)) {
			requester->asleep = state;
			slept_since = now;
		}
		/* A bundle is in memory: its reader does not wait for anything. */
		patience = guard->bundle			    ? left :
			   left / PATIENCE_PART > PATIENCE_LEAST_MS ? left / PATIENCE_PART :
								      PATIENCE_LEAST_MS;
		if ((state.known ? now - slept_since : now - requester->since) >= patience ||
		    now - requester->since >= left / WORK_PART)
			return END_GIVEN_UP;
	}
}

/* The child keeps its request, and may still complete it. */
static void give_up(struct guard *guard, struct requester *requester)
{
	const struct rd_query *query;
	struct entry *entry;

	requester->arena->dismissed = true;
	query = take_replies(guard, requester);
	entry = query ? enter(guard, query) : NULL;
	if (!entry || guard->n_waiting == WAITING_MAX)
		return leave(requester);
	requester->entry = (size_t)(entry - guard->entries);
	guard->waiting[guard->n_waiting++] = *requester;
}

/* 1; 0 in the child; -errno. */
static int start(struct guard *guard, struct requester *requester)
{
	int r;

	/* Pages are allocated when they are written. */
	*requester = (struct requester){ .arena = mmap(NULL, sizeof(struct arena) + ROOM, PROT_READ | PROT_WRITE,
						       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) };
	if (requester->arena == MAP_FAILED)
		return -ENOMEM;
	*RD_ADD(guard->arenas, guard->n_arenas, guard->cap_arenas) = requester->arena;
	r = rd_child_start("reading", false, &requester->pid, &requester->fd, NULL);
	if (r != 0)
		return r;
	guard->arena = requester->arena;
	/* Ends with its parent, which may have dropped its privileges: then PR_SET_PDEATHSIG has no effect. */
	if (fcntl(requester->fd, F_SETOWN, getpid()) == 0 && fcntl(requester->fd, F_SETSIG, SIGKILL) == 0)
		fcntl(requester->fd, F_SETFL, O_WRONLY | O_ASYNC);
	return 0;
}

/* Runs one child for the requests of `fn` without reply. Returns whether another one must continue after it. */
static bool run_child(struct guard *guard, rd_guard_fn *fn, void *arg)
{
	const struct rd_query *query;
	struct entry *entry;
	struct requester requester;
	enum end end;
	int r = start(guard, &requester);

	if (r == 0) {
		fn(&guard->src, arg);
		guard->arena->finished = true;
		rd_write_all(requester.fd, "", 1);
		_exit(0);
	}
	if (r < 0)
		return false;
	end = follow(guard, &requester);
	if (end == END_GIVEN_UP) {
		give_up(guard, &requester);
		return guard->n_waiting < WAITING_MAX && time_left(guard) > 0;
	}
	query = take_replies(guard, &requester);
	entry = end == END_DEATH && query ? enter(guard, query) : NULL;
	if (entry)
		note_death(guard, &requester, (size_t)(entry - guard->entries));
	leave(&requester);
	return end == END_DEATH && (entry || requester.at > 0) && time_left(guard) > 0;
}

/* Handles output of an abandoned child: true if it is a reply. */
static bool take_late_reply(struct guard *guard, size_t i)
{
	struct requester requester = guard->waiting[i];
	bool replied;

	guard->waiting[i] = guard->waiting[--guard->n_waiting];
	take_replies(guard, &requester);
	replied = guard->entries[requester.entry].reply;
	if (!replied)
		note_death(guard, &requester, requester.entry);
	leave(&requester);
	return replied;
}

/* Waits for abandoned children. True as soon as one replied: its reply may lead to further requests. */
static bool settle(struct guard *guard)
{
	int64_t until = rd_monotonic_ms() + time_left(guard) / SETTLE_PART;

	while (guard->n_waiting > 0) {
		struct pollfd waits[WAITING_MAX];
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
	int r = rd_child_start("reading", false, &child, &wait.fd, NULL);

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
	int64_t patience = time_left(guard) / PATIENCE_PART;
	int64_t other_ms =
		guard->n_waiting ? other_read_ms(patience > PATIENCE_LEAST_MS ? patience : PATIENCE_LEAST_MS) : 0;

	for (size_t i = 0; i < guard->n_waiting; i++) {
		struct requester *requester = &guard->waiting[i];

		take_replies(guard, requester);
		if (!guard->entries[requester->entry].reply)
			judge(guard, requester, other_ms);
		leave(requester);
	}
	guard->n_waiting = 0;
}

void rd_source_guard_ahead(struct rd_source *src, rd_guard_fn *fn, void *arg)
{
	struct guard *guard = (struct guard *)src;

	if (is_remote(guard)) {
		fetch(guard, RD_OPENER_OWN | RD_OPENER_HOST);
		return;
	}
	if (guard->alone) {
		fn(src, arg);
		return;
	}
	do {
		while (run_child(guard, fn, arg))
			continue;
	} while (settle(guard));
	conclude(guard);
	guard->stalls.replied = 0;
	for (size_t i = 0; i < guard->n; i++)
		guard->stalls.replied += guard->entries[i].reply != NULL;
}

static void get_one(struct rd_source *src, void *arg)
{
	if (!find_entry((struct guard *)src, arg))
		get_here((struct guard *)src, arg);
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

static int guard_get(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	static const unsigned parts[] = { RD_OPENER_OWN, RD_OPENER_HOST };
	struct guard *guard = (struct guard *)src;
	struct entry *entry = find_entry(guard, query);
	const char *object = query->op == RD_OP_NETLINK ? "netlink" :
			     query->op == RD_OP_NOW	? guard->bundle :
							  query->data;
	const struct answer *reply;

	if (!entry && is_remote(guard)) {
		int r = query->op == RD_OP_READ ? rd_input_read(query->data, &ret->bytes, err) : -ENXIO;

		if (r != -ENXIO)
			return r;
		/* What the other process read. */
		for (size_t i = 0; i < RD_ARRAY_SIZE(parts) && !entry; i++) {
			fetch(guard, parts[i]);
			entry = find_entry(guard, query);
		}
		if (!entry && !guard->alone && time_left(guard) == 0)
			return not_asked(guard, object, err);
		if (!entry)
			return rd_err_set(err, EPERM, object,
					  "a process that dropped its privileges must not read this");
	}
	if (!entry && guard->alone && guard->inner)
		entry = get_alone(guard, query);
	if (!entry && guard->arena)
		entry = get_here(guard, query);
	if (!entry && time_left(guard) > 0) {
		rd_source_guard_ahead(src, get_one, (void *)query);
		entry = find_entry(guard, query);
	}
	if (!entry && time_left(guard) == 0)
		return not_asked(guard, object, err);
	if (!entry)
		return rd_err_set(err, ECHILD, object, "cannot read: no process or no memory available for it");
	reply = entry->reply;
	if (!reply && entry->stall >= guard->stalls.n)
		return rd_err_set(err, ETIMEDOUT, object, "no reply within the deadline");
	if (!reply || reply->result < 0) {
		const struct rd_err *why = reply ? (const struct rd_err *)reply->data :
						   &guard->stalls.v[entry->stall].err;

		if (err)
			*err = *why;
		return reply ? (int)reply->result : -why->code;
	}
	ret->number = reply->number;
	return rd_bytes_copy(reply->data, reply->size, &ret->bytes);
}

/* Of a bundle: the recorded time. */
static uint64_t guard_now(struct rd_source *src, int clock)
{
	const struct rd_query query = { .op = RD_OP_NOW, .protocol = clock, .size = 1, .data = "" };
	struct guard *guard = (struct guard *)src;
	struct rd_reply reply = { 0 };

	if (is_remote(guard))
		return rd_clock_ns(clock);
	if (!guard->bundle)
		return guard->inner->ops->now(guard->inner, clock);
	guard_get(src, &query, &reply, NULL);
	rd_bytes_deinit(&reply.bytes);
	return reply.number;
}

/* Children started from now on read the next sample. */
static int guard_next(struct rd_source *src, struct rd_err *err)
{
	struct guard *guard = (struct guard *)src;
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
	for (size_t i = 0; i < guard->n_arenas; i++)
		munmap(guard->arenas[i], sizeof(struct arena) + ROOM);
	for (size_t i = 0; i < guard->n_logs; i++)
		rd_bytes_deinit(&guard->logs[i]);
	rd_map_deinit(&guard->map);
	guard->n = guard->n_arenas = guard->n_logs = guard->asked = 0;
	rd_stalls_deinit(&guard->stalls);
}

static void guard_close(struct rd_source *src)
{
	struct guard *guard = (struct guard *)src;

	forget(guard);
	RD_FREE(guard->entries, guard->arenas, guard->logs, guard->bundle, guard);
}

static struct rd_source *open_guard(struct rd_source *inner, const char *bundle, unsigned limit_ms)
{
	struct guard *guard = rd_alloc(1, sizeof(*guard));

	guard->ops = (struct rd_source_ops){
		.name = bundle ? "bundle" :
			inner  ? inner->ops->name :
				 "live",
		.get = guard_get,
		.now = guard_now,
		.next = bundle ? guard_next : NULL,
		.close = guard_close,
	};
	guard->src.ops = &guard->ops;
	guard->inner = inner;
	guard->bundle = rd_dup_if(bundle);
	rd_source_guard_renew(&guard->src, limit_ms);
	return &guard->src;
}

struct rd_source *rd_source_guard_open(struct rd_source *inner, unsigned limit_ms)
{
	return open_guard(rd_opener_used() ? NULL : inner, NULL, limit_ms);
}

struct rd_source *rd_source_guard_open_alone(struct rd_source *inner)
{
	struct rd_source *source = open_guard(inner, NULL, 0);

	((struct guard *)source)->alone = true;
	return source;
}

struct rd_source *rd_source_guard_open_bundle(const char *path, unsigned limit_ms)
{
	return open_guard(NULL, path, limit_ms);
}

void rd_source_guard_renew(struct rd_source *src, unsigned limit_ms)
{
	struct guard *guard = (struct guard *)src;

	forget(guard);
	guard->stalls.limit_ms = limit_ms;
	guard->deadline_ms = rd_monotonic_ms() + limit_ms;
}

unsigned rd_source_guard_left(const struct rd_source *src)
{
	return (unsigned)time_left((const struct guard *)src);
}

int rd_source_guard_ready(struct rd_source *src, struct rd_err *err)
{
	const char *bundle = ((struct guard *)src)->bundle;
	const struct rd_query query = { .op = RD_OP_OPEN, .size = bundle ? strlen(bundle) + 1 : 0, .data = bundle };
	struct rd_reply reply = { 0 };
	int r = bundle ? guard_get(src, &query, &reply, err) : 0;

	rd_bytes_deinit(&reply.bytes);
	return r;
}

const struct rd_stalls *rd_source_guard_stalls(const struct rd_source *src)
{
	return &((const struct guard *)src)->stalls;
}

void rd_source_guard_join(struct rd_source *src, const struct rd_source *other)
{
	const struct rd_stalls *stalls = rd_source_guard_stalls(other);

	for (size_t i = 0; i < stalls->n; i++)
		rd_stalls_add(&((struct guard *)src)->stalls, &stalls->v[i]);
}
