// SPDX-License-Identifier: GPL-2.0-or-later
/* The chain of the failed functions of one call, and whether its first function is the origin of the errno. */
#include "analyse/trace/trace.h"

#include <ctype.h>
#include <fnmatch.h>

#include "base/buf.h"
#include "bpf/record.h"

/* --- the chain --- */

static bool is_traced(const struct rd_fn *fn)
{
	return fn->backend != RD_BACKEND_NONE;
}

/* Functions that are still to be looked at, of a search along calls. */
struct search {
	const struct rd_fnset *set;
	bool *seen;
	uint32_t *todo;
	size_t n;
};

static void begin_search(struct search *s, uint32_t from)
{
	memset(s->seen, 0, s->set->n_fns * sizeof(*s->seen));
	s->todo[0] = from;
	s->n = 1;
	s->seen[from] = true;
}

static void add_to_search(struct search *s, uint32_t fn)
{
	if (!s->seen[fn])
		s->todo[s->n++] = fn;
	s->seen[fn] = true;
}

/* Whether `from` may have called `to`, directly or through others: one that returned no error may have kept it for later. */
static bool may_call(struct search *s, uint32_t from, uint32_t to)
{
	begin_search(s, from);
	while (s->n) {
		const struct rd_fn *fn = &s->set->fns[s->todo[--s->n]];

		for (uint32_t i = 0; i < fn->n_calls; i++)
			if (fn->calls[i] == to)
				return true;
		if (!fn->calls_known || fn->indirect || fn->outside)
			return true;
		for (uint32_t i = 0; i < fn->n_calls; i++)
			add_to_search(s, fn->calls[i]);
	}
	return false;
}

/* Whether what `to` returned can have been returned to `from`: no function that is traced, and returned no errno, is between them. */
static bool may_get(struct search *s, uint32_t from, uint32_t to)
{
	begin_search(s, from);
	while (s->n) {
		const struct rd_fn *fn = &s->set->fns[s->todo[--s->n]];

		if (!fn->calls_known || (fn->indirect && s->set->fns[to].taken))
			return true;
		for (uint32_t i = 0; i < fn->n_calls; i++) {
			if (fn->calls[i] == to)
				return true;
			if (!is_traced(&s->set->fns[fn->calls[i]]))
				add_to_search(s, fn->calls[i]);
		}
	}
	return false;
}

static bool is_known(const struct search *s, const struct rd_link *link)
{
	return s->set && link->fn >= 0 && (size_t)link->fn < s->set->n_fns;
}

/* First link of the branch that ends before `end` (> 0). */
static size_t branch_start(const struct rd_link *links, size_t end)
{
	size_t i = end - 1;

	while (i && !links[i].branch)
		i--;
	return i;
}

/* First link, at or after `start`, of the run before `end`: the links with the errno of the last one. */
static size_t run_start(const struct rd_link *links, size_t start, size_t end)
{
	size_t i = end - 1;

	while (i > start && links[i - 1].err == links[end - 1].err)
		i--;
	return i;
}

static size_t append(struct rd_link *out, size_t n, const struct rd_link *links, size_t start, size_t end,
		     bool translated)
{
	for (size_t i = start; i < end; i++) {
		out[n] = links[i];
		out[n].branch = false;
		out[n++].translated = translated;
	}
	return n;
}

/* One branch: the translated links, then the run it ends with. */
static size_t append_branch(struct rd_link *out, const struct rd_link *links, size_t end)
{
	size_t start = branch_start(links, end), run = run_start(links, start, end);

	return append(out, append(out, 0, links, start, run, true), links, run, end, false);
}

/* The first link from `at` on whose function can have got the errno of `link`; n: none. */
static size_t find_join(struct search *s, const struct rd_link *link, const struct rd_link *links, size_t at, size_t n)
{
	for (; at < n; at++)
		if (!is_known(s, link) || !is_known(s, &links[at]) ||
		    may_get(s, (uint32_t)links[at].fn, (uint32_t)link->fn))
			break;
	return at;
}

/* links[n-1] is the root. Returns the number of links in `out`, which has n + 1 elements. */
static size_t settle(struct rd_event *event, struct search *s, const struct rd_link *links, size_t n,
		     struct rd_link *out)
{
	size_t start = branch_start(links, n), run = run_start(links, start, n), end = start, first = 0, join = n, at;
	size_t later = run > start ? run : start + 1 < n ? start + 1 : start;
	int origin;

	/* The first of the last few branches that ends with the errno of the root, and where it joins the last one. The programs that
	 * count failures by origin keep as many. */
	for (int i = 0; end && i < RD_EARLIER; i++, end = branch_start(links, end)) {
		at = find_join(s, &links[end - 1], links, later, n);
		if (links[end - 1].err != links[n - 1].err || at == n)
			continue;
		first = end;
		join = at;
	}
	origin = links[first ? branch_start(links, first) : start].fn;
	/* Any other one that ends with it, of all that were recorded, may be the origin as well. */
	for (end = start; end; end = branch_start(links, end))
		if (links[end - 1].err == links[n - 1].err && links[branch_start(links, end)].fn != origin &&
		    find_join(s, &links[end - 1], links, later, n) < n)
			RD_SET(event->rival, links[branch_start(links, end)].fn);
	if (first && run == start && start + 1 < n && links[start].fn != origin)
		RD_SET(event->rival, links[start].fn);
	if (!first && run == start && event->dropped && event->origin >= 0 && event->origin != origin)
		RD_SET(event->rival, event->origin);
	if (first)
		return append(out, append_branch(out, links, first), links, join, n, false);
	if (run > start && event->dropped && event->origin >= 0 && event->origin != links[start].fn) {
		out[0] = (struct rd_link){ .fn = event->origin, .err = links[n - 1].err };
		return append(out, 1, links, run, n, false);
	}
	return append_branch(out, links, n);
}

/* Copies the links with a valid errno, with the root last. What cannot have called the one before it begins a branch, too. */
static size_t valid_links(const struct rd_event *event, struct search *s, struct rd_link *out)
{
	bool branch = false;
	size_t n = 0;

	for (size_t i = 0; i < event->n_chain; i++) {
		branch |= event->chain[i].branch;
		if (event->chain[i].err >= 0)
			continue;
		out[n] = event->chain[i];
		out[n].branch = branch || (n && is_known(s, &out[n]) && is_known(s, &out[n - 1]) &&
					   !may_call(s, (uint32_t)out[n].fn, (uint32_t)out[n - 1].fn));
		n++;
		branch = false;
	}
	if (!n || out[n - 1].fn != event->root || out[n - 1].err != event->err)
		out[n++] = (struct rd_link){ .fn = event->root, .err = event->err };
	return n;
}

void rd_chain_settle(struct rd_event *event, const struct rd_fnset *set)
{
	struct rd_link *links = rd_alloc(2 * (event->n_chain + 2), sizeof(*links)), *out;
	_cleanup_free_ uint32_t *todo = rd_alloc(set ? set->n_fns + 1 : 1, sizeof(*todo));
	_cleanup_free_ bool *seen = rd_alloc(set ? set->n_fns + 1 : 1, sizeof(*seen));
	struct search search = { set, seen, todo, 0 };
	size_t n, stack = 0; /* the link at which the kernel stack was taken */

	event->rival.known = RD_ABSENT;
	for (size_t i = 1; i < event->n_chain; i++)
		if (event->chain[i].branch && event->chain[i].err != event->chain[i - 1].err)
			stack = i;
	stack = event->n_chain ? (size_t)event->chain[stack].fn : SIZE_MAX;
	n = valid_links(event, &search, links);
	out = links + event->n_chain + 2;
	n = settle(event, &search, links, n, out);
	memmove(links, out, n * sizeof(*links));

	free(event->chain);
	event->chain = links;
	event->n_chain = n;
	event->origin = links[0].fn;
	/* The stack of another function would mislead. */
	if ((size_t)event->origin != stack)
		event->n_kstack = 0;
}

/* --- its origin --- */

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
		/* Whether the call destroys something: only then does it return the errno of a function that cleans up. */
		return event->method &&
		       !fnmatch("*@(DESTROY|DEALLOC|DEREG|DETACH|CLOSE|FREE|LEAVE)*", event->method, FNM_EXTMATCH);
	case RD_RULE_DATA_PATH:
		return !fn->member; /* the task of a queue returns its errors to no caller */
	default:
		/* Functions of the RDMA core that only look up the object of a handle. */
		return fnmatch("@(rdma_lookup_get_uobject|uverbs_get_uobject_from_file|lookup_get_@(idr|fd)_uobject)?(.*)",
			       fn->name, FNM_EXTMATCH) ||
		       !all_found(event);
	}
}

static bool has_errno(const struct rd_fn *fn, int err)
{
	return !fn->calls_known || (uint32_t)err / 64 >= RD_ARRAY_SIZE(fn->errnos) ||
	       fn->errnos[err / 64] >> err % 64 & 1;
}

/* Functions that are not traced, and may have returned the errno. */
static void add_callees(const struct rd_event *event, struct search *s, const struct rd_fn *fn)
{
	for (uint32_t i = 0; i < fn->n_calls; i++)
		if (!is_traced(&s->set->fns[fn->calls[i]]) && may_be_origin(event, &s->set->fns[fn->calls[i]]))
			add_to_search(s, fn->calls[i]);
}

/*
 * Whether a function that is not traced can return this errno: its own code has it as a constant, or it calls something that is not
 * traced either and may return it. Driver functions called through pointers are traced or left out on their own account.
 */
static bool can_return(const struct rd_event *event, struct search *s, uint32_t start)
{
	begin_search(s, start);
	while (s->n) {
		const struct rd_fn *fn = &s->set->fns[s->todo[--s->n]];

		if (has_errno(fn, -event->err) || fn->outside || (fn->indirect && !s->set->modules[fn->module].has_ops))
			return true;
		add_callees(event, s, fn);
	}
	return false;
}

/* The function of a write(2) command that an ioctl carries: it is called through a table. -1: not such a call, or it is traced. */
static int command_function(const struct rd_event *event, const struct rd_fnset *set)
{
	static const char carried[] = "INVOKE_WRITE:";
	char name[64] = "ib_uverbs_";
	size_t n = strlen(name);
	int fn;

	if (!event->method || !rd_starts_with(event->method, carried))
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
	struct search search = { set, seen, todo, 0 };
	const int command = command_function(event, set);
	const struct rd_fn *fn;
	size_t cap = 0;

	event->n_below = 0;
	event->origin_exact = false;
	if (event->origin < 0 || (size_t)event->origin >= set->n_fns)
		return;
	fn = &set->fns[event->origin];
	event->origin_exact = fn->calls_known && event->rival.known != RD_OK;
	for (uint32_t i = 0; i < fn->n_calls; i++) {
		uint32_t to = fn->calls[i];

		if (is_traced(&set->fns[to]) || !may_be_origin(event, &set->fns[to]) || !can_return(event, &search, to))
			continue;
		add_below(event, &cap, to);
	}
	if (command >= 0 && strstr(fn->name, "INVOKE_WRITE") && can_return(event, &search, (uint32_t)command))
		add_below(event, &cap, (uint32_t)command);
}

char *rd_origin_untraced(const struct rd_event *event, const struct rd_fnset *set)
{
	_cleanup_free_ bool *selected = rd_alloc(set->n_modules + 1, sizeof(*selected)),
			    *traced = rd_alloc(set->n_modules + 1, sizeof(*traced));
	const struct rd_fn *origin =
		event->origin >= 0 && (size_t)event->origin < set->n_fns ? &set->fns[event->origin] : NULL;
	/* The only ones that call the operations of a device. */
	static const char *const callers[] = { "ib_core", "ib_uverbs", "iw_cm" };
	struct rd_buf names = { 0 };
	size_t of = 0;

	while (origin && of < RD_ARRAY_SIZE(callers) && strcmp(callers[of], set->modules[origin->module].name) != 0)
		of++;
	if (!origin || of == RD_ARRAY_SIZE(callers) || (origin->calls_known && !origin->indirect))
		return NULL;
	for (size_t i = 0; i < set->n_fns; i++) {
		selected[set->fns[i].module] |= set->fns[i].selected;
		traced[set->fns[i].module] |= is_traced(&set->fns[i]);
	}
	for (size_t m = 0; m < set->n_modules; m++)
		if (set->modules[m].rdma && selected[m] && !traced[m])
			rd_buf_printf(&names, "%s%s", names.len ? ", " : "", set->modules[m].name);
	return names.data;
}

size_t rd_origin_deepen(const struct rd_event *event, const struct rd_fnset *set, bool *add)
{
	_cleanup_free_ uint32_t *todo = rd_alloc(set->n_fns + 1, sizeof(*todo));
	_cleanup_free_ bool *seen = rd_alloc(set->n_fns + 1, sizeof(*seen));
	struct search s = { set, seen, todo, 0 };
	size_t n = 0;

	for (size_t i = 0; i < event->n_below; i++)
		add_to_search(&s, event->below[i]);
	for (uint32_t i = 0; s.n && i < set->n_fns; i++) {
		const struct rd_fn *fn = &set->fns[i];

		if (fn->member && may_be_origin(event, fn) && set->modules[fn->module].rdma &&
		    (fn->rule == RD_RULE_CLEANUP || !set->modules[fn->module].has_ops))
			add_to_search(&s, i);
	}
	while (s.n) {
		uint32_t id = todo[--s.n];
		const struct rd_fn *fn = &set->fns[id];

		if (!is_traced(fn) && fn->attachable) {
			n += !add[id];
			add[id] = true;
		}
		add_callees(event, &s, fn);
	}
	return n;
}
