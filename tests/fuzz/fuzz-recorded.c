/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recorded trace: functions up to the first NUL, behind the line of this version; then events, which are judged; and its summary. */
#include "fuzz.h"

#include "analyse/trace/trace.h"
#include "collect/kernel/kernel.h"

static void take_summary(const uint8_t *data, size_t size, const struct rd_fnset *set)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 };
	_cleanup_free_ struct rd_origin_count *counts = NULL;
	_cleanup_bytes_ struct rd_bytes file = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_trace_summary sum;

	rd_bytes_copy(data, size, &file);
	if (rd_trace_summary_parse(&file, set, &sum, &counts, &notes, NULL) == 0)
		rd_trace_summary_pack(&sum, &notes, &out);
}

static void take_events(const uint8_t *at, const uint8_t *end, const struct rd_fnset *set)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	struct rd_trace_facts *facts;
	enum rd_host_read host;
	int r = 1;

	/* A host without devices and processes. */
	if (rd_source_live_open("/proc/self/fdinfo", &source, NULL) < 0)
		return;
	facts = rd_trace_facts_create(source);
	while (r > 0) {
		_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
		_cleanup_buf_ struct rd_buf out = { 0 };

		r = rd_trace_recorded_next(facts, &at, end, set, &ev, &host, NULL);
		if (r <= 0)
			break;
		rd_chain_settle(&ev, set);
		rd_verb_resolve(&ev, set);
		rd_origin_judge(&ev, set);
		rd_trace_recorded_pack(&ev, host, NULL, 0, &out);
	}
	rd_trace_facts_destroy(facts);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset set = { 0 };
	size_t functions = strnlen((const char *)data, size);
	_cleanup_buf_ struct rd_buf text = { 0 };

	take_summary(data, size, &set);
	rd_trace_functions_pack(&set, &text);
	rd_buf_add(&text, data, functions);
	rd_buf_add(&text, "", 1);
	if (rd_trace_functions_parse(text.data, &set, NULL) < 0)
		return;
	if (functions < size)
		take_events(data + functions + 1, data + size, &set);
}
