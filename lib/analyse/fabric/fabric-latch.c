/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/fabric/fabric-latch.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void latch_deinit(struct rd_fabric_latch *latch)
{
	RD_FREE(latch->subject, latch->observed, latch->fix);
}

void rd_fabric_latches_deinit(struct rd_fabric_latches *latches)
{
	for (size_t i = 0; i < latches->n; i++)
		latch_deinit(&latches->v[i]);
	free(latches->v);
	*latches = (struct rd_fabric_latches){ 0 };
}

static int compare_keys(const void *a, const void *b)
{
	const struct rd_fabric_latch *x = a, *y = b;

	return strcmp(x->id, y->id) ?: strcmp(x->subject, y->subject) ?: RD_CMP(x->severity, y->severity);
}

static void set_texts(struct rd_fabric_latch *latch, const struct rd_finding *finding)
{
	RD_FREE(latch->observed, latch->fix);
	latch->title = finding->title;
	latch->observed = rd_dup_if(finding->observed);
	latch->fix = rd_dup_if(finding->fix);
}

/* Adds a finding to the latch with its key among the first `n`, which are sorted, else as a new one at the end. */
static void add_finding(struct rd_fabric_latches *latches, size_t n, const struct rd_finding *finding, size_t rank,
			uint64_t now_ns)
{
	struct rd_fabric_latch key = { .id = finding->id,
				       .severity = finding->severity,
				       .subject = finding->subject ? finding->subject : (char[]){ "" } };
	struct rd_fabric_latch *latch = n ? bsearch(&key, latches->v, n, sizeof(key), compare_keys) : NULL;

	if (!latch) {
		latch = RD_ADD(latches->v, latches->n, latches->cap);
		*latch = key;
		latch->subject = rd_dup(key.subject);
	}
	set_texts(latch, finding);
	if (latch->current)
		return; /* another finding of this sweep has the same key: nodes can have the same name */
	latch->current = true;
	latch->cleared = false;
	latch->rank = rank;
	rd_latched_look(&latch->looks, now_ns);
}

/* Sorts by key, and merges new latches that have the same key. */
static void sort_by_key(struct rd_fabric_latches *latches)
{
	size_t n = 0;

	qsort(latches->v, latches->n, sizeof(*latches->v), compare_keys);
	for (size_t i = 0; i < latches->n; i++) {
		struct rd_fabric_latch *latch = &latches->v[i];

		if (n && compare_keys(&latches->v[n - 1], latch) == 0)
			latch_deinit(latch);
		else
			latches->v[n++] = *latch;
	}
	latches->n = n;
}

/* Those to keep come first. */
static int compare_worth(const void *a, const void *b)
{
	const struct rd_fabric_latch *x = a, *y = b;

	/* Of those found at the same time, the ones that are known longer: the set does not change from sweep to sweep. */
	return RD_FIRST(RD_CMP(y->severity, x->severity), RD_CMP(y->current, x->current),
			RD_CMP(y->looks.last_ns, x->looks.last_ns), RD_CMP(x->looks.first_ns, y->looks.first_ns),
			RD_CMP(x->rank, y->rank));
}

static void limit_number(struct rd_fabric_latches *latches)
{
	if (latches->n <= RD_LATCHES_MAX)
		return;
	qsort(latches->v, latches->n, sizeof(*latches->v), compare_worth);
	while (latches->n > RD_LATCHES_MAX) {
		latch_deinit(&latches->v[--latches->n]);
		latches->dropped++;
	}
	sort_by_key(latches);
}

/* That a node was silent is not over when it is gone. */
static void clear_silence_of_gone(struct rd_fabric_latches *latches)
{
	for (size_t i = 0; i < latches->n; i++) {
		struct rd_fabric_latch key = { .id = "fabric-agent-silent", .subject = latches->v[i].subject };

		if (!latches->v[i].current || strcmp(latches->v[i].id, "fabric-node-gone") != 0)
			continue;
		for (key.severity = RD_SEV_WARNING; key.severity <= RD_SEV_CRITICAL; key.severity++) {
			struct rd_fabric_latch *silent =
				bsearch(&key, latches->v, latches->n, sizeof(key), compare_keys);

			if (silent && !silent->current)
				silent->cleared = true;
		}
	}
}

void rd_fabric_latch(struct rd_fabric_latches *latches, const struct rd_findings *findings, uint64_t now_ns)
{
	size_t known = latches->n;

	rd_latched_look(&latches->looks, now_ns);
	for (size_t i = 0; i < known; i++)
		latches->v[i].current = false;
	for (size_t i = 0; i < findings->n; i++)
		if (findings->v[i].severity >= RD_SEV_WARNING && rd_finding_stands(&findings->v[i]))
			add_finding(latches, known, &findings->v[i], i, now_ns);
	if (latches->n > known)
		sort_by_key(latches);
	clear_silence_of_gone(latches);
	limit_number(latches);
}

void rd_fabric_latches_clear(struct rd_fabric_latches *latches)
{
	for (size_t i = 0; i < latches->n; i++)
		latches->v[i].cleared = !latches->v[i].current;
}

static int compare_harm(const void *a, const void *b)
{
	const struct rd_fabric_latch *x = *(const struct rd_fabric_latch *const *)a;
	const struct rd_fabric_latch *y = *(const struct rd_fabric_latch *const *)b;

	return RD_FIRST(RD_CMP(y->severity, x->severity), RD_CMP(y->current, x->current),
			x->current ? 0 : RD_CMP(y->looks.last_ns, x->looks.last_ns), RD_CMP(x->rank, y->rank),
			compare_keys(x, y));
}

const struct rd_fabric_latch **rd_fabric_latches_ranked(const struct rd_fabric_latches *latches)
{
	const struct rd_fabric_latch **ranked = rd_alloc(latches->n + 1, sizeof(*ranked));

	for (size_t i = 0; i < latches->n; i++)
		ranked[i] = &latches->v[i];
	qsort(ranked, latches->n, sizeof(*ranked), compare_harm);
	return ranked;
}

size_t rd_fabric_latches_count(const struct rd_fabric_latches *latches, enum rd_severity severity, bool current)
{
	size_t n = 0;

	for (size_t i = 0; i < latches->n; i++)
		n += latches->v[i].severity == severity && latches->v[i].current == current && !latches->v[i].cleared;
	return n;
}
