// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/trace/chain.h"

#include <string.h>

#include "base/memory.h"
#include "bpf/record.h"

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

/* The latest of the last few branches before `end` whose last link has `err`; its end in *ret. */
static bool find_branch(const struct rd_link *links, size_t end, int err, size_t *ret)
{
	for (int i = 0; end && i < RD_EARLIER; i++) {
		if (links[end - 1].err == err) {
			*ret = end;
			return true;
		}
		end = branch_start(links, end);
	}
	return false;
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
static size_t append_branch(struct rd_link *out, size_t n, const struct rd_link *links, size_t end)
{
	size_t start = branch_start(links, end), run = run_start(links, start, end);

	n = append(out, n, links, start, run, true);
	return append(out, n, links, run, end, false);
}

/* links[n-1] is the root. Returns the number of links in `out`, which has n + 1 elements. */
static size_t settle(const struct rd_event *event, const struct rd_link *links, size_t n, struct rd_link *out)
{
	size_t start = branch_start(links, n), run = run_start(links, start, n), earlier, taken;

	if (run > start && find_branch(links, start, links[n - 1].err, &earlier)) {
		taken = append_branch(out, 0, links, earlier);
		return append(out, taken, links, run, n, false);
	}
	if (run > start && event->dropped && event->origin >= 0 && event->origin != links[start].fn) {
		out[0] = (struct rd_link){ .fn = event->origin, .err = links[n - 1].err };
		return append(out, 1, links, run, n, false);
	}
	return append_branch(out, 0, links, n);
}

/* Copies the links with a valid errno, with the root last. */
static size_t valid_links(const struct rd_event *event, struct rd_link *out)
{
	bool branch = false;
	size_t n = 0;

	for (size_t i = 0; i < event->n_chain; i++) {
		branch |= event->chain[i].branch;
		if (event->chain[i].err >= 0)
			continue;
		out[n] = event->chain[i];
		out[n++].branch = branch;
		branch = false;
	}
	if (!n || out[n - 1].fn != event->root || out[n - 1].err != event->err)
		out[n++] = (struct rd_link){ .fn = event->root, .err = event->err };
	return n;
}

void rd_chain_settle(struct rd_event *event)
{
	struct rd_link *links = rd_alloc(2 * (event->n_chain + 2), sizeof(*links)), *out;
	size_t n;

	n = valid_links(event, links);
	out = links + event->n_chain + 2;
	n = settle(event, links, n, out);
	memmove(links, out, n * sizeof(*links));

	free(event->chain);
	event->chain = links;
	event->n_chain = n;
	event->origin = links[0].fn;
}
