/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/host/attributes.h"

static const struct rd_fact *fact_of(const struct rd_change *change)
{
	return change->after ? change->after : change->before;
}

static unsigned weight_of(const struct rd_change *change)
{
	const struct rd_fact *fact = fact_of(change);
	/* Routes to containers are known by their interface. */
	const char *field = fact->area == RD_AREA_ROUTE ? fact->value : fact->field;
	unsigned weight = rd_attribute_find(fact->area, fact->subject, field)->weight;

	/* What was added is less significant than what was removed. */
	return weight == 100 && !change->before ? 95 : weight;
}

/* Highest weight first, then by name. */
static int compare(const void *pa, const void *pb)
{
	const struct rd_change *a = pa, *b = pb;

	return RD_CMP(b->weight, a->weight) ?: rd_fact_compare(fact_of(a), fact_of(b));
}

static int compare_facts(const void *a, const void *b)
{
	return rd_fact_compare(a, b);
}

static const struct rd_fact *find_fact(const struct rd_facts *facts, enum rd_area area, const char *subject,
				       const char *field)
{
	const struct rd_fact key = { .area = area, .subject = (char *)subject, .field = (char *)field };
	size_t at = rd_lower_bound(&key, facts->v, facts->n, sizeof(key), compare_facts);

	return at < facts->n && rd_fact_compare(&facts->v[at], &key) == 0 ? &facts->v[at] : NULL;
}

static bool has_subject(const struct rd_facts *facts, const char *subject)
{
	return find_fact(facts, RD_AREA_DEVICE, subject, "present");
}

static bool is_gpu(const struct rd_facts *facts, const char *subject)
{
	const struct rd_fact *class = find_fact(facts, RD_AREA_DEVICE, subject, "class");

	return class && class->value &&
	       (strncmp(class->value, "0x03", 4) == 0 || strncmp(class->value, "0x12", 4) == 0);
}

/* Whether the fact is the current link speed of a GPU, or of the port above it: some GPUs lower it when idle, so a change is
 * not significant. */
static bool is_idling(const struct rd_facts *facts, const struct rd_fact *fact)
{
	if (fact->area != RD_AREA_LINK || strcmp(fact->field, "current_link_speed") != 0)
		return false;
	if (is_gpu(facts, fact->subject))
		return true;
	for (size_t i = 0; i < facts->n; i++)
		if (facts->v[i].area == RD_AREA_DEVICE && strcmp(facts->v[i].field, "bridge") == 0 &&
		    strcmp(facts->v[i].value, fact->subject) == 0 && is_gpu(facts, facts->v[i].subject))
			return true;
	return false;
}

/* What is missing in one capture because it could not be read, or was not read by the version that made it, is not a change. */
static bool is_unread(const struct rd_change *change, const struct rd_facts *before, const struct rd_facts *after)
{
	const struct rd_fact *fact = fact_of(change);

	if (change->before && change->after)
		return !change->before->value || !change->after->value;
	return !fact->value || (change->before ? after : before)->partial[fact->area] ||
	       rd_attribute_find(fact->area, fact->subject, fact->field)->of != RD_OBJECT_FILE;
}

/* Whether the change only follows from its device (of "mlx5_0/1": "mlx5_0") being added or removed. */
static bool follows_from_device(const struct rd_facts *before, const struct rd_facts *after, const struct rd_fact *fact)
{
	_cleanup_free_ char *device = NULL;

	if (fact->area == RD_AREA_DEVICE && strcmp(fact->field, "present") == 0)
		return false;
	if (fact->area == RD_AREA_ROUTE || fact->area == RD_AREA_MODULE || fact->area == RD_AREA_HOST)
		return false;
	device = rd_dup_part(fact->subject, strcspn(fact->subject, "/"));
	return device && has_subject(before, device) != has_subject(after, device);
}

/* Whether the change only follows from its module being loaded or unloaded: version and parameters. */
static bool follows_from_module(const struct rd_change *change, const struct rd_facts *other)
{
	const struct rd_fact *fact = fact_of(change);

	if (fact->area != RD_AREA_MODULE || strcmp(fact->field, "loaded") == 0 ||
	    strcmp(fact->subject, "kernel") == 0 || (change->before && change->after))
		return false;
	return !find_fact(other, RD_AREA_MODULE, fact->subject, "loaded");
}

static void add_change(struct rd_changes *changes, const struct rd_facts *before, const struct rd_facts *after,
		       const struct rd_fact *old, const struct rd_fact *new)
{
	struct rd_change change = { .before = old, .after = new };

	if (follows_from_device(before, after, fact_of(&change)) ||
	    follows_from_module(&change, old ? after : before) || is_unread(&change, before, after))
		return;
	change.weight = is_idling(new ? after : before, fact_of(&change)) ? 15 : weight_of(&change);
	*RD_ADD(changes->v, changes->n, changes->cap) = change;
}

void rd_diff(const struct rd_facts *before, const struct rd_facts *after, struct rd_changes *ret)
{
	size_t i = 0, k = 0;

	while ((i < before->n || k < after->n)) {
		const struct rd_fact *old = i < before->n ? &before->v[i] : NULL;
		const struct rd_fact *new = k < after->n ? &after->v[k] : NULL;
		int order = !old ? 1 : !new ? -1 : rd_fact_compare(old, new);

		if (order < 0)
			add_change(ret, before, after, old, NULL);
		else if (order > 0)
			add_change(ret, before, after, NULL, new);
		else if (!old->value || !new->value || strcmp(old->value, new->value) != 0)
			add_change(ret, before, after, old, new);
		i += order <= 0;
		k += order >= 0;
	}
	if (ret->n > 0)
		qsort(ret->v, ret->n, sizeof(*ret->v), compare);
}
