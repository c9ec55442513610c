// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/trace/origin.h"

#include <ctype.h>
#include <string.h>

#include "base/memory.h"

/* Functions of the RDMA core that only look up the object of a handle. */
static const char *const lookups[] = {
	"rdma_lookup_get_uobject",
	"uverbs_get_uobject_from_file",
	"lookup_get_idr_uobject",
	"lookup_get_fd_uobject",
};

static bool is_named(const struct rd_fn *fn, const char *name)
{
	size_t n = strcspn(fn->name, ".");

	return strlen(name) == n && !memcmp(name, fn->name, n);
}

static bool is_lookup(const struct rd_fn *fn)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(lookups); i++)
		if (is_named(fn, lookups[i]))
			return true;
	return false;
}

/* Whether the call destroys something: only then does it return the errno of a function that cleans up. */
static bool destroys(const struct rd_event *event)
{
	static const char *const words[] = { "DESTROY", "DEALLOC", "DEREG", "DETACH", "CLOSE", "FREE", "LEAVE" };

	for (size_t i = 0; event->method && i < RD_ARRAY_SIZE(words); i++)
		if (strstr(event->method, words[i]))
			return true;
	return false;
}

static bool all_found(const struct rd_event *event)
{
	for (size_t i = 0; i < event->moment.n_handles; i++) {
		const struct rd_moment_handle *h = &event->moment.handles[i];

		if (!h->looked_up || !h->found || h->locked)
			return false;
	}
	return event->moment.n_handles > 0;
}

static bool may_be_origin(const struct rd_event *event, const struct rd_fn *fn)
{
	switch (fn->rule) {
	case RD_RULE_REFCOUNT:
	case RD_RULE_DIAGNOSTIC:
	case RD_RULE_RETURN:
		return false;
	case RD_RULE_CLEANUP:
		return destroys(event);
	case RD_RULE_DATA_PATH:
		return !fn->member; /* the task of a queue returns its errors to no caller */
	default:
		return !is_lookup(fn) || !all_found(event);
	}
}

static bool is_traced(const struct rd_fn *fn)
{
	return fn->backend != RD_BACKEND_NONE;
}

static bool has_errno(const struct rd_fn *fn, int err)
{
	return !fn->calls_known || (uint32_t)err / 64 >= RD_ARRAY_SIZE(fn->errnos) ||
	       fn->errnos[err / 64] >> err % 64 & 1;
}

/*
 * Whether a function that is not traced can return this errno: its own code has it as a constant, or it calls something that is not
 * traced either and may return it. Driver functions called through pointers are traced or left out on their own account.
 */
struct errno_search {
	const struct rd_event *event;
	const struct rd_fnset *set;
	bool *seen;
	uint32_t *todo;
};

static bool can_return(const struct errno_search *s, uint32_t start)
{
	size_t n = 0;

	memset(s->seen, 0, s->set->n_fns * sizeof(*s->seen));
	s->todo[n++] = start;
	s->seen[start] = true;
	while (n) {
		const struct rd_fn *fn = &s->set->fns[s->todo[--n]];

		if (has_errno(fn, -s->event->err) || fn->outside ||
		    (fn->indirect && !s->set->modules[fn->module].has_ops))
			return true;
		for (uint32_t i = 0; i < fn->n_calls; i++) {
			uint32_t to = fn->calls[i];

			if (s->seen[to] || is_traced(&s->set->fns[to]) || !may_be_origin(s->event, &s->set->fns[to]))
				continue;
			s->seen[to] = true;
			s->todo[n++] = to;
		}
	}
	return false;
}

/* Whether `from` may have called `to`, directly or through others: one that returned no error may have kept it for later. */
static bool may_call(const struct errno_search *s, uint32_t from, uint32_t to)
{
	size_t n = 0;

	memset(s->seen, 0, s->set->n_fns * sizeof(*s->seen));
	s->todo[n++] = from;
	s->seen[from] = true;
	while (n) {
		const struct rd_fn *fn = &s->set->fns[s->todo[--n]];

		if (!fn->calls_known || fn->indirect || fn->outside)
			return true;
		for (uint32_t i = 0; i < fn->n_calls; i++) {
			uint32_t next = fn->calls[i];

			if (next == to)
				return true;
			if (s->seen[next])
				continue;
			s->seen[next] = true;
			s->todo[n++] = next;
		}
	}
	return false;
}

/*
 * A function with another errno that the next one cannot have called failed before it, and the kernel went on: the exits alone
 * look like a translated errno. Leaves such links out, with all before them.
 */
static void drop_strangers(struct rd_event *event, const struct errno_search *s)
{
	for (size_t i = event->n_chain; i-- > 1;) {
		const struct rd_link *link = &event->chain[i], *below = link - 1;

		if (link->err == below->err || link->fn < 0 || below->fn < 0 || (size_t)link->fn >= s->set->n_fns ||
		    (size_t)below->fn >= s->set->n_fns || may_call(s, (uint32_t)link->fn, (uint32_t)below->fn))
			continue;
		memmove(event->chain, link, (event->n_chain - i) * sizeof(*link));
		event->n_chain -= i;
		event->origin = event->chain[0].fn;
		return;
	}
}

/* The function of a write(2) command that an ioctl carries: it is called through a table. -1: not such a call, or it is traced. */
static int command_function(const struct rd_event *event, const struct rd_fnset *set)
{
	static const char carried[] = "INVOKE_WRITE:";
	char name[64] = "ib_uverbs_";
	size_t n = strlen(name);
	int fn;

	if (!event->method || strncmp(event->method, carried, strlen(carried)) != 0)
		return -1;
	for (const char *p = event->method + strlen(carried); *p && n < sizeof(name) - 1; p++)
		name[n++] = (char)tolower((unsigned char)*p);
	name[n] = '\0';
	fn = rd_fnset_find(set, name);
	return fn >= 0 && !is_traced(&set->fns[fn]) ? fn : -1;
}

static void add_below(struct rd_event *event, size_t *cap, uint32_t fn)
{
	rd_reserve(&event->below, cap, event->n_below + 1, sizeof(*event->below));
	event->below[event->n_below++] = fn;
	event->origin_exact = false;
}

void rd_origin_judge(struct rd_event *event, const struct rd_fnset *set)
{
	_cleanup_free_ uint32_t *todo = rd_alloc(set->n_fns + 1, sizeof(*todo));
	_cleanup_free_ bool *seen = rd_alloc(set->n_fns + 1, sizeof(*seen));
	const struct errno_search search = { event, set, seen, todo };
	const int command = command_function(event, set);
	const struct rd_fn *fn;
	size_t cap = 0;

	event->n_below = 0;
	event->origin_exact = false;
	if (event->origin < 0 || (size_t)event->origin >= set->n_fns)
		return;
	drop_strangers(event, &search);
	fn = &set->fns[event->origin];
	event->origin_exact = fn->calls_known;
	for (uint32_t i = 0; i < fn->n_calls; i++) {
		uint32_t to = fn->calls[i];

		if (is_traced(&set->fns[to]) || !may_be_origin(event, &set->fns[to]) || !can_return(&search, to))
			continue;
		add_below(event, &cap, to);
	}
	if (command >= 0 && strstr(fn->name, "INVOKE_WRITE") && can_return(&search, (uint32_t)command))
		add_below(event, &cap, (uint32_t)command);
}

size_t rd_origin_deepen(const struct rd_event *event, const struct rd_fnset *set, bool *add)
{
	_cleanup_free_ uint32_t *todo = rd_alloc(set->n_fns + 1, sizeof(*todo));
	_cleanup_free_ bool *seen = rd_alloc(set->n_fns + 1, sizeof(*seen));
	size_t n_todo = 0, n = 0;

	for (size_t i = 0; i < event->n_below; i++) {
		todo[n_todo++] = event->below[i];
		seen[event->below[i]] = true;
	}
	for (uint32_t i = 0; n_todo && i < set->n_fns; i++) {
		const struct rd_fn *fn = &set->fns[i];

		if (fn->member && !seen[i] && may_be_origin(event, fn) && set->modules[fn->module].rdma &&
		    (fn->rule == RD_RULE_CLEANUP || !set->modules[fn->module].has_ops)) {
			todo[n_todo++] = i;
			seen[i] = true;
		}
	}
	while (n_todo) {
		uint32_t id = todo[--n_todo];
		const struct rd_fn *fn = &set->fns[id];

		if (!is_traced(fn) && fn->attachable) {
			n += !add[id];
			add[id] = true;
		}
		for (uint32_t i = 0; i < fn->n_calls; i++) {
			uint32_t to = fn->calls[i];

			if (seen[to] || is_traced(&set->fns[to]) || !may_be_origin(event, &set->fns[to]))
				continue;
			seen[to] = true;
			todo[n_todo++] = to;
		}
	}
	return n;
}
