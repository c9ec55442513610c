/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "analyse/explain/log.h"
#include "diagnose/explain/log-join.h"

/* The first half is a table (sites write some), all of it a log. */
void fuzz_one(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = malloc(size / 2 + 1);
	struct rd_log_forms forms = { 0 };
	struct rd_log log = { 0 };
	struct rd_errlist notes = { 0 };
	struct rd_log_reader reader = { .forms = &forms, .log = &log };

	if (!text)
		return;
	memcpy(text, data, size / 2);
	text[size / 2] = '\0';
	rd_log_forms_parse("seed", text, size / 2, &forms, &notes, NULL);
	rd_log_forms_index(&forms);
	rd_log_begin(&reader, "log");
	rd_log_feed(&reader, (const char *)data, size / 3);
	rd_log_feed(&reader, (const char *)data + size / 3, size - size / 3);
	rd_log_end(&reader);
	rd_log_add_word(&reader, text);
	rd_log_sort(&log);
	rd_log_join(&log, NULL);
	rd_log_deinit(&log);
	rd_log_forms_deinit(&forms);
	rd_errlist_deinit(&notes);
}
