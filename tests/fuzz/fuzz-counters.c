/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A saved sample (--since), the table of meanings and a table of limits. What is a sample is compared with itself, and
 * judged. */
#include "fuzz.h"

#include "analyse/counters/counters.h"
#include "analyse/shared/meaning.h"
#include "collect/counters/counters.h"

static void judge(const struct rd_counter_set *set, const struct rd_counter_sample *sample)
{
	static const char limits[] = "* delta 0 critical x\n* value 3 warning x\n* per_bit 0 critical x\n";
	const struct rd_counted moment = { set, sample };
	struct rd_delta *deltas = calloc(set->n + 1, sizeof(*deltas));
	struct rd_thresholds thresholds = { 0 };
	struct rd_causes causes = { 0 };
	struct rd_counter_set copy = *set; /* another set by address: it is searched */
	const struct rd_counted before = { &copy, sample };

	if (!deltas)
		abort();
	rd_deltas(&before, &moment, deltas);
	rd_causes_find(&before, &moment, deltas, 1, &causes);
	if (rd_thresholds_parse("limits", limits, sizeof(limits) - 1, &thresholds, NULL) == 0)
		rd_thresholds_judge(&thresholds, &moment, deltas, 1, &causes.findings);
	rd_thresholds_deinit(&thresholds);
	rd_causes_deinit(&causes);
	free(deltas);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = text_of(data, size);
	struct rd_counter_sample sample = { 0 };
	struct rd_thresholds thresholds = { 0 };
	struct rd_meanings meanings = { 0 };
	struct rd_counter_set set = { 0 };
	struct rd_errlist notes = { 0 };

	rd_meanings_parse("seed", text, size, &meanings, &notes, NULL);
	rd_thresholds_parse("seed", text, size, &thresholds, NULL);
	rd_thresholds_parse("more", text, size, &thresholds, NULL);
	if (rd_counters_saved("seed", text, size, &set, &sample, NULL) == 0) {
		rd_meanings_apply(&meanings, &set);
		judge(&set, &sample);
	}
	rd_counter_sample_deinit(&sample);
	rd_counter_set_deinit(&set);
	rd_thresholds_deinit(&thresholds);
	rd_meanings_deinit(&meanings);
	rd_errlist_deinit(&notes);
}
