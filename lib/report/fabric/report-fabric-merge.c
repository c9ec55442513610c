/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric --merge: the shares, and what they cover. */
#include "report/fabric/report-fabric.h"

enum { CO_SHARES, CO_MISSING, CO_PORTS, CO_FRESH, CO_UNREAD, CO_UNCOVERED, CO_DUPLICATES, CO_COLUMNS };
enum { TOP_COVERAGE, TOP_OLDEST, TOP_NEWEST, TOP_SKEW, TOP_TOPOLOGY, TOP_COLUMNS };
enum { SH_HOST, SH_INDEX, SH_OF, SH_TIME, SH_BEHIND, SH_PORTS, SH_FOUND, SH_TOPOLOGY, SH_FILE, SH_COLUMNS };

static const struct rd_column coverage_columns[CO_COLUMNS], top_columns[TOP_COLUMNS], share_columns[SH_COLUMNS];

static struct rd_section *make_coverage(const struct rd_merge *merge)
{
	struct rd_section *section = rd_section_create("coverage", coverage_columns, CO_COLUMNS);
	struct rd_row *row = rd_section_add(section);

	if (merge->shares > 0) {
		rd_row_uint(row, CO_SHARES, merge->shares);
		rd_row_uint(row, CO_MISSING, merge->missing);
	}
	rd_row_uint(row, CO_PORTS, merge->ports);
	rd_row_uint(row, CO_FRESH, merge->fresh);
	rd_row_uint(row, CO_UNREAD, merge->ports - merge->fresh);
	if (merge->uncovered.known)
		rd_row_uint(row, CO_UNCOVERED, merge->uncovered.v);
	rd_row_uint(row, CO_DUPLICATES, merge->duplicates);
	return section;
}

static struct rd_section *make_shares(const struct rd_share_files *files, const struct rd_merge *merge)
{
	struct rd_section *section = rd_section_create("shares", share_columns, SH_COLUMNS);

	for (size_t i = 0; i < files->n; i++) {
		const struct rd_share *share = &files->v[i];
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, SH_HOST, share->host);
		if (share->index > 0) {
			rd_row_uint(row, SH_INDEX, share->index);
			rd_row_uint(row, SH_OF, share->of);
		}
		rd_row_uint(row, SH_TIME, share->time_ns);
		rd_row_double(row, SH_BEHIND, (double)(merge->newest_ns - share->time_ns) / 1e9);
		rd_row_uint(row, SH_PORTS, share->ports);
		rd_row_uint(row, SH_FOUND, share->found);
		if (share->topology.known)
			rd_row_hex64(row, SH_TOPOLOGY, share->topology.v);
		rd_row_str(row, SH_FILE, share->file);
	}
	return section;
}

void rd_report_fabric_merge(struct rd_report *report, const struct rd_share_files *files, const struct rd_merge *merge)
{
	struct rd_section *top = rd_section_create("merge", top_columns, TOP_COLUMNS);
	struct rd_row *row = rd_section_add(top);

	rd_row_sub(row, TOP_COVERAGE, make_coverage(merge));
	rd_row_uint(row, TOP_OLDEST, merge->oldest_ns);
	rd_row_uint(row, TOP_NEWEST, merge->newest_ns);
	rd_row_double(row, TOP_SKEW, (double)(merge->newest_ns - merge->oldest_ns) / 1e9);
	if (merge->shares > 0)
		rd_row_hex64(row, TOP_TOPOLOGY, merge->topology);
	report->scalars = top;
	rd_report_add(report, make_shares(files, merge));
}

/* clang-format off */
static const struct rd_column coverage_columns[CO_COLUMNS] = {
	[CO_SHARES] = { .key = "shares", .type = RD_T_UINT, .help = "shares into which the ports are divided" },
	[CO_MISSING] = { .key = "shares_missing", .type = RD_T_UINT, .help = "of these, shares that no file has" },
	[CO_PORTS] = { .key = "ports", .type = RD_T_UINT, .help = "ports in the files, each once" },
	[CO_FRESH] = { .key = "fresh", .type = RD_T_UINT, .help = "of these, read by the latest sweep of their host" },
	[CO_UNREAD] = { .key = "unread", .type = RD_T_UINT, .help = "of these, not read by it" },
	[CO_UNCOVERED] = { .key = "ports_missing", .type = RD_T_UINT, .help = "ports of the missing shares" },
	[CO_DUPLICATES] = { .key = "duplicates", .type = RD_T_UINT, .help = "readings that were dropped, because another file has a newer one of the port" },
};

static const struct rd_column top_columns[TOP_COLUMNS] = {
	[TOP_COVERAGE] = { .key = "coverage", .type = RD_T_OBJECT, .help = "what the files cover" },
	[TOP_OLDEST] = { .key = "oldest", .type = RD_T_TIME, .help = "time of the oldest share" },
	[TOP_NEWEST] = { .key = "newest", .type = RD_T_TIME, .help = "time of the newest share" },
	[TOP_SKEW] = { .key = "skew_seconds", .type = RD_T_DOUBLE, .help = "between these", .decimals = 3 },
	[TOP_TOPOLOGY] = { .key = "topology", .type = RD_T_STR, .help = "hash of the topology of most shares" },
};

static const struct rd_column share_columns[SH_COLUMNS] = {
	[SH_HOST] = { .key = "host", .title = "HOST", .type = RD_T_STR, .help = "host that read the share" },
	[SH_INDEX] = { .key = "index", .title = "SHARE", .type = RD_T_UINT, .help = "number of the share, from 1" },
	[SH_OF] = { .key = "of", .title = "OF", .type = RD_T_UINT, .help = "number of shares" },
	[SH_TIME] = { .key = "time", .title = "TIME", .type = RD_T_TIME, .help = "time of the sweep, by the clock of the host" },
	[SH_BEHIND] = { .key = "behind_seconds", .title = "BEHIND", .type = RD_T_DOUBLE, .help = "before the newest share", .decimals = 3 },
	[SH_PORTS] = { .key = "ports", .title = "PORTS", .type = RD_T_UINT, .help = "ports of the share" },
	[SH_FOUND] = { .key = "found", .title = "FOUND", .type = RD_T_UINT, .help = "ports in the file" },
	[SH_TOPOLOGY] = { .key = "topology", .title = "TOPOLOGY", .type = RD_T_STR, .help = "hash of what was divided" },
	[SH_FILE] = { .key = "file", .title = "FILE", .type = RD_T_STR, .help = "name of the file" },
};
/* clang-format on */
