/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: what repeated sweeps found, and when. */
#include "report/fabric/report-fabric.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/number.h"

enum {
	LA_ID,
	LA_SEVERITY,
	LA_CURRENT,
	LA_FIRST,
	LA_LAST,
	LA_LOOKS,
	LA_SUBJECT,
	LA_TITLE,
	LA_OBSERVED,
	LA_FIX,
	LA_ADVICE,
	LA_COLUMNS,
};
static const struct rd_column latch_columns[LA_COLUMNS];

enum { SEEN_STATE, SEEN_LAST, SEEN_LOOKS, SEEN_SUBJECT, SEEN_PORT, SEEN_OBSERVED, SEEN_COLUMNS };
static const struct rd_column seen_columns[SEEN_COLUMNS];

void rd_report_fabric_latched(struct rd_report *report, const struct rd_fabric_latch *const *ranked, size_t n)
{
	struct rd_section *section = rd_section_create("latched", latch_columns, LA_COLUMNS);

	for (size_t i = 0; i < n; i++) {
		const struct rd_fabric_latch *latch = ranked[i];
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, LA_ID, latch->id);
		rd_row_str(row, LA_SEVERITY, rd_severity_name(latch->severity));
		rd_row_bool(row, LA_CURRENT, latch->current);
		rd_row_uint(row, LA_FIRST, latch->looks.first_ns);
		rd_row_uint(row, LA_LAST, latch->looks.last_ns);
		rd_row_uint(row, LA_LOOKS, latch->looks.n);
		rd_row_str(row, LA_SUBJECT, latch->subject);
		rd_row_str(row, LA_TITLE, latch->title);
		rd_row_str(row, LA_OBSERVED, latch->observed);
		rd_row_fix(row, LA_FIX, latch->fix);
	}
	rd_report_add(report, section);
}

/* The wall clock of the local time zone. */
static void set_clock(struct rd_row *row, size_t column, uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000u);
	char text[16];
	struct tm tm;

	if (localtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%H:%M:%S", &tm))
		rd_row_str(row, column, text);
}

/* Of a cable, "leaf3 port 17, to node5 port 1", the end that is named first: there is no room for both. The number has a column of
 * its own, as names may be shortened. */
static void set_near_end(struct rd_row *row, const char *subject)
{
	const char *to = strstr(subject, ", to "), *at;
	_cleanup_free_ char *end = rd_dup_part(subject, to ? (size_t)(to - subject) : strlen(subject));
	char *guid = strstr(end, " (0x");
	uint32_t number;

	if (guid && end[strlen(end) - 1] == ')')
		*guid = '\0'; /* behind the name of a node */
	for (at = end + strlen(end); at > end && at[-1] != ' ';)
		at--;
	if (at - end > 6 && strncmp(at - 6, " port ", 6) == 0 && rd_parse_u32(at, RD_DECIMAL, 255, &number) == 0) {
		rd_row_uint(row, SEEN_PORT, number);
		end[at - end - 6] = '\0';
	}
	rd_row_str(row, SEEN_SUBJECT, end);
}

struct rd_section *rd_report_fabric_seen(const struct rd_fabric_latch *const *ranked, size_t n)
{
	struct rd_section *section = rd_section_create("seen", seen_columns, SEEN_COLUMNS);

	for (size_t i = 0; i < n; i++) {
		const struct rd_fabric_latch *latch = ranked[i];
		struct rd_row *row;
		char state[32];

		if (latch->cleared)
			continue;
		row = rd_section_add(section);
		snprintf(state, sizeof(state), "%s%s", latch->current ? "" : "was ", rd_severity_name(latch->severity));
		rd_row_str(row, SEEN_STATE, state);
		set_clock(row, SEEN_LAST, latch->looks.last_ns);
		rd_row_uint(row, SEEN_LOOKS, latch->looks.n);
		set_near_end(row, latch->subject);
		rd_row_str(row, SEEN_OBSERVED, latch->observed ? latch->observed : latch->title);
		rd_row_severity(row, latch->severity);
		row->over = !latch->current;
	}
	return section;
}

/* clang-format off */
static const struct rd_column latch_columns[LA_COLUMNS] = {
	[LA_ID] = { .key = "id", .type = RD_T_STR, .help = "kind of finding" },
	[LA_SEVERITY] = { .key = "severity", .type = RD_T_STR, .help = "warning, critical" },
	[LA_CURRENT] = { .key = "current", .type = RD_T_BOOL, .help = "found by the latest sweep" },
	[LA_FIRST] = { .key = "first_seen", .type = RD_T_TIME, .help = "first sweep that found it" },
	[LA_LAST] = { .key = "last_seen", .type = RD_T_TIME, .help = "last sweep that found it" },
	[LA_LOOKS] = { .key = "looks", .type = RD_T_UINT, .help = "number of sweeps that found it" },
	[LA_SUBJECT] = { .key = "subject", .type = RD_T_STR, .help = "node, port or cable" },
	[LA_TITLE] = { .key = "title", .type = RD_T_STR, .help = "fault" },
	[LA_OBSERVED] = { .key = "observed", .type = RD_T_STR, .help = "values of the last sweep that found it" },
	[LA_FIX] = { .key = "fix", .type = RD_T_STR, .help = "commands that fix it" },
	[LA_ADVICE] = { .key = "advice", .type = RD_T_STR, .help = "what else to do" },
};

static const struct rd_column seen_columns[SEEN_COLUMNS] = {
	[SEEN_STATE] = { .key = "state", .title = "FINDING", .type = RD_T_STR, .help = "severity; was: no longer found" },
	[SEEN_LAST] = { .key = "last_seen", .title = "LAST", .type = RD_T_STR, .help = "last sweep that found it", .spare = 1 },
	[SEEN_LOOKS] = { .key = "looks", .title = "SWEEPS", .type = RD_T_UINT, .help = "number of sweeps that found it", .spare = 2 },
	[SEEN_SUBJECT] = { .key = "subject", .title = "WHERE", .type = RD_T_STR, .help = "node or port", .fit = RD_FIT_NAME },
	[SEEN_PORT] = { .key = "port", .title = "PORT", .type = RD_T_UINT, .help = "port number" },
	[SEEN_OBSERVED] = { .key = "observed", .title = "WHAT", .type = RD_T_STR, .help = "values, else the fault", .fit = RD_FIT_TEXT },
};
/* clang-format on */
