/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/counters/counters.h"

#include <fnmatch.h>
#include <math.h>

#define LINES_MAX 10000

enum measure { VALUE, DELTA, PER_SECOND, PER_BIT, PER_PACKET, MEASURES };
static const char *const measures[MEASURES] = {
	[VALUE] = "value",     [DELTA] = "delta",	    [PER_SECOND] = "per_second",
	[PER_BIT] = "per_bit", [PER_PACKET] = "per_packet",
};

struct rd_threshold {
	const char *name, *why;
	enum measure measure;
	double limit;
	enum rd_severity severity;
};

void rd_thresholds_deinit(struct rd_thresholds *thresholds)
{
	rd_texts_deinit(&thresholds->texts);
	free(thresholds->v);
	*thresholds = (struct rd_thresholds){ 0 };
}

static bool parse_line(char *line, struct rd_threshold *ret)
{
	enum { NAME, MEASURE, LIMIT, SEVERITY, WORDS };
	char *words[WORDS];

	if (rd_words(&line, words, WORDS) < WORDS)
		return false;
	*ret = (struct rd_threshold){ .name = words[NAME], .measure = MEASURES, .limit = INFINITY };
	for (int i = 0; i < MEASURES; i++)
		if (strcmp(words[MEASURE], measures[i]) == 0)
			ret->measure = (enum measure)i;
	if (strcmp(words[SEVERITY], "warning") == 0)
		ret->severity = RD_SEV_WARNING;
	else if (strcmp(words[SEVERITY], "critical") == 0)
		ret->severity = RD_SEV_CRITICAL;
	ret->why = rd_trim(line);
	if (strcmp(words[LIMIT], "-") != 0 && rd_parse_real(words[LIMIT], 0, INFINITY, &ret->limit) != 0)
		return false;
	return ret->measure != MEASURES && ret->severity != RD_SEV_NOTE;
}

int rd_thresholds_parse(const char *name, const char *text, size_t size, struct rd_thresholds *ret, struct rd_err *err)
{
	size_t before = ret->n;
	struct rd_lines lines;
	char *line;
	int r = rd_lines_init_table(&lines, &ret->texts, "limits", name, text, size, err);

	if (r < 0)
		return r;
	while ((line = rd_lines_next(&lines))) {
		struct rd_threshold one;

		if (!parse_line(line, &one))
			return rd_lines_err(&lines, err, EINVAL,
					    " is not NAME value|delta|per_second|per_bit|per_packet LIMIT "
					    "warning|critical why");
		/* Removes those of the first `before` limits that `one` replaces. */
		for (size_t i = before; i-- > 0;) {
			const struct rd_threshold *old = &ret->v[i];

			if (old->measure != one.measure || old->severity != one.severity ||
			    strcmp(old->name, one.name) != 0)
				continue;
			memmove(&ret->v[i], &ret->v[i + 1], (--ret->n - i) * sizeof(one));
			before--;
		}
		if (ret->n == LINES_MAX)
			return rd_err_set(err, EFBIG, name, "more than %d limits", LINES_MAX);
		*RD_ADD(ret->v, ret->n, ret->cap) = one;
	}
	if (ret->n == 0)
		return rd_err_set(err, EINVAL, name, "file has no limits");
	return 0;
}

bool rd_thresholds_compare(const struct rd_thresholds *thresholds)
{
	for (size_t i = 0; i < thresholds->n; i++)
		if (thresholds->v[i].measure != VALUE)
			return true;
	return false;
}

/* False: the measure is unknown. */
static bool measure_of(enum measure measure, const struct rd_counter_value *value, const struct rd_delta *delta,
		       const struct rd_moved *moved, double *ret)
{
	double by = measure == PER_SECOND ? moved->seconds :
		    measure == PER_BIT	  ? (double)moved->bits_in :
		    measure == PER_PACKET ? (double)moved->packets_in :
					    1;

	if (measure == VALUE) {
		*ret = (double)value->v;
		return value->known == RD_OK;
	}
	if (!delta || delta->kind == RD_DELTA_UNKNOWN)
		return false;
	/* No increase is 0 by any measure. */
	*ret = delta->v == 0 ? 0 : (double)delta->v / by;
	return delta->v == 0 || by > 0;
}

static void judge_one(const struct rd_thresholds *thresholds, const struct rd_counted *now,
		      const struct rd_delta *deltas, const struct rd_moved *moved, size_t i,
		      struct rd_findings *findings)
{
	const struct rd_counter_value *value = &now->sample->values[i];
	const struct rd_threshold *over = NULL;
	double measured = 0, at;
	bool unread = false;

	for (size_t t = 0; t < thresholds->n; t++) {
		const struct rd_threshold *one = &thresholds->v[t];

		if (isinf(one->limit) || fnmatch(one->name, now->set->counters[i].name, 0) != 0)
			continue;
		/* A counter that the device lacks, or that is disabled, does not count as unreadable. */
		unread |= value->known != RD_OK && value->code && value->code != RD_COUNTER_NO_NUMBER &&
			  value->code != RD_COUNTER_OFF && value->code != EOPNOTSUPP && value->code != ENOENT;
		if ((one->measure != VALUE && !deltas) ||
		    !measure_of(one->measure, value, deltas ? &deltas[i] : NULL, moved, &at))
			continue;
		if (at > one->limit && (!over || one->severity > over->severity)) {
			over = one;
			measured = at;
		}
	}
	if (over || unread) {
		const struct rd_counter *counter = &now->set->counters[i];
		struct rd_finding it = { .id = over ? "threshold" : "threshold-unknown",
					 .severity = over ? over->severity : RD_SEV_UNKNOWN,
					 .title = over ? "above its limit" : "limit not checked: counter not readable" };
		_cleanup_free_ char *label = rd_counter_port_label(&now->set->ports[counter->port]);

		it.subject = rd_text("%s %s", label, counter->name);
		if (over) {
			it.observed = rd_text("%s %g", measures[over->measure], measured);
			it.expected = rd_text("at most %g", over->limit);
			it.fix = *over->why ? rd_text("# %s", over->why) : NULL;
		} else if (now->sample->values[i].code) {
			it.observed = rd_text("%s", rd_errno_name(now->sample->values[i].code) ?
							    rd_errno_name(now->sample->values[i].code) :
							    "?");
		}
		rd_finding_add(findings, &it);
	}
}

void rd_thresholds_judge(const struct rd_thresholds *thresholds, const struct rd_counted *now,
			 const struct rd_delta *deltas, double seconds, struct rd_findings *findings)
{
	_cleanup_free_ struct rd_delta *none = deltas ? NULL : rd_alloc(now->set->n + 1, sizeof(*none));

	for (size_t at = 0; at < now->set->n;) {
		struct rd_moved moved = { 0 };
		size_t first = at;

		rd_moved_gather(now, deltas ?: none, seconds, &at, &moved);
		for (size_t i = first; i < at; i++)
			if (now->set->counters[i].group != RD_GROUP_QP)
				judge_one(thresholds, now, deltas, &moved, i, findings);
	}
}
