/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/explain/report-explain.h"

/* Peers that are listed in text. */
#define PEERS_SHOWN 8

/* clang-format off */
const struct rd_column rd_explain_columns[RD_EXPLAIN_COLUMNS] = {
	{ "severity", "SEVERITY", RD_T_STR, "what the line means for jobs: critical, warning, note" },
	{ "id", "FORM", RD_T_STR, "form of the line" },
	{ "count", "COUNT", RD_T_UINT, "lines of this form about the same objects" },
	{ "first", "FIRST", RD_T_UINT, "number of the first of them in its file" },
	{ "file", NULL, RD_T_STR, "file of the line" },
	{ "about", "ABOUT", RD_T_STR, "objects and values in the first line", .fit = RD_FIT_TEXT },
	{ "meaning", "MEANING", RD_T_STR, "what it means", .fit = RD_FIT_TEXT },
	{ "text", NULL, RD_T_STR, "the first line" },
	{ "source", NULL, RD_T_STR, "project, versions, file and function that print it" },
	{ "consequence", NULL, RD_T_BOOL, "the line follows from an earlier failure" },
	{ "host", NULL, RD_T_STR, "host that printed it, by its prefix" },
	{ "objects", NULL, RD_T_OBJECT, "objects and values in the first line" },
	{ "codes", NULL, RD_T_ROWS, "what its status, errno, syndrome or event means" },
	{ "now", NULL, RD_T_STRS, "what this host has of these objects now" },
	{ "causes", NULL, RD_T_ROWS, "known causes" },
	{ "next", NULL, RD_T_STR, "the next step" },
};

static const struct rd_column cause_columns[] = {
	{ "id", NULL, RD_T_STR, "cause; of a rule of topo-check, its name" },
	{ "title", NULL, RD_T_STR, "what it is" },
	{ "tells", NULL, RD_T_STR, "what tells it from the others" },
	{ "thread", NULL, RD_T_STR, "where it was settled" },
	{ "here", NULL, RD_T_STR, "whether this host shows it: yes, no, unknown" },
	{ "evidence", NULL, RD_T_STR, "what shows it" },
};

static const struct rd_column code_columns[] = {
	{ "table", NULL, RD_T_STR, "kind of code: status, errno, vendor-mlx5 …" },
	{ "name", NULL, RD_T_STR, "its name" },
	{ "value", NULL, RD_T_UINT, "its number" },
	{ "meaning", NULL, RD_T_STR, "what it means" },
};

static const struct rd_column peer_columns[] = {
	{ "peer", "PEER", RD_T_STR, "address, or name" },
	{ "files", "FILES", RD_T_UINT, "files that name it" },
	{ "lines", "LINES", RD_T_UINT, "lines that name it" },
};

static const struct rd_column now_columns[] = { { "now", NULL, RD_T_STR, "a fact" } };

static const struct rd_column scalar_columns[] = {
	{ "lines_read", NULL, RD_T_UINT, "lines that were read" },
	{ "lines_unknown", NULL, RD_T_UINT, "lines of no known form" },
	{ "lines_dropped", NULL, RD_T_UINT, "recognized lines beyond the limit of different ones" },
};
/* clang-format on */

static struct rd_column object_columns[RD_LOG_FIELDS];

static const char *part_text(const struct rd_log_form *form, enum rd_log_part_kind kind)
{
	const struct rd_log_part *part = rd_log_part(form, kind, 0);

	return part ? part->v[0] : NULL;
}

static struct rd_section *objects_of(const struct rd_log_line *line)
{
	struct rd_section *section;
	struct rd_row *row;

	for (size_t i = 0; i < RD_LOG_FIELDS; i++)
		object_columns[i] =
			(struct rd_column){ .key = rd_log_fields[i].key,
					    .type = rd_log_fields[i].class == RD_LOG_NUMBER ? RD_T_UINT : RD_T_STR };
	section = RD_SECTION("objects", object_columns);
	row = rd_section_add(section);
	for (size_t i = 0; i < RD_LOG_FIELDS; i++)
		if (object_columns[i].type == RD_T_STR)
			rd_row_set(row, i, RD_STR(line->values[i]));
		else if (line->numbers[i].known == RD_OK)
			rd_row_set(row, i, RD_UINT(line->numbers[i].v));
	return section;
}

/* "ibdev mlx5_4, lqpn 2512 (0x9d0), peer 192.0.2.36" */
static void add_objects(const struct rd_log_line *line, struct rd_buf *out)
{
	for (size_t i = 0, n = 0; i < RD_LOG_FIELDS; i++) {
		const char *value = line->values[i];
		bool hex = line->numbers[i].known == RD_OK && strncmp(value, "0x", 2) == 0 && i <= RD_LOG_RQPN;

		if (!value)
			continue;
		rd_buf_printf(out, "%s%s ", n++ ? ", " : "", rd_log_fields[i].key);
		if (hex)
			rd_buf_printf(out, "%" PRIu64 " (", line->numbers[i].v);
		rd_buf_safe(out, value, strlen(value));
		rd_buf_str(out, hex ? ")" : "");
	}
}

static void add_code_row(const struct rd_log_form *code, struct rd_section *section)
{
	RD_ROW(section, RD_STR(code->table), RD_STR(code->id), RD_UINT_OF(code->value),
	       RD_STR(part_text(code, RD_LOG_MEANS)));
}

/* The form of a line may be a code itself. */
static struct rd_section *codes_of(const struct rd_log_line *line)
{
	struct rd_section *section = RD_SECTION("codes", code_columns);

	if (line->form->table)
		add_code_row(line->form, section);
	for (size_t i = 0; i < RD_ARRAY_SIZE(line->codes) && line->codes[i]; i++)
		add_code_row(line->codes[i], section);
	return section;
}

static struct rd_section *causes_of(const struct rd_log_join *join)
{
	struct rd_section *section = RD_SECTION("causes", cause_columns);

	for (size_t i = 0; i < join->n; i++) {
		const struct rd_log_cause *cause = &join->causes[i];
		const char *const *v = cause->part->v;

		RD_ROW(section, RD_STR(v[0]), RD_STR(v[1]), RD_STR(v[2]), RD_STR(v[3]),
		       RD_STR(cause->here.known != RD_OK ? "unknown" :
			      cause->here.v		 ? "yes" :
							   "no"),
		       RD_STR(cause->evidence));
	}
	return section;
}

static struct rd_section *now_of(const struct rd_log_join *join)
{
	struct rd_section *section = RD_SECTION("now", now_columns);

	for (size_t i = 0; i < join->facts.n; i++)
		RD_ROW(section, RD_STR(join->facts.v[i]));
	return section;
}

static void add_row(const struct rd_log_line *line, const struct rd_log_join *join, struct rd_section *section)
{
	const struct rd_log_form *form = line->form;
	_cleanup_buf_ struct rd_buf about = { 0 };
	struct rd_row *row;

	add_objects(line, &about);
	row = RD_ROW(section, RD_STR(rd_severity_name(form->severity)), RD_STR(form->id), RD_UINT(line->count),
		     line->number ? RD_UINT(line->number) : RD_UNKNOWN_CELL, RD_STR(line->file), RD_STR(about.data),
		     RD_STR(part_text(form, RD_LOG_MEANS)), RD_STR(line->text), RD_STR(part_text(form, RD_LOG_SOURCE)),
		     RD_BOOL(line->rank == RD_LOG_FOLLOWS), RD_STR(line->host), RD_SUB(objects_of(line)),
		     RD_SUB(codes_of(line)), RD_SUB(now_of(join)), RD_SUB(causes_of(join)), RD_STR(join->next));
	row->severity = form->severity;
}

void rd_report_explain(struct rd_report *report, const struct rd_log *log)
{
	struct rd_section *lines = rd_report_add(report, RD_SECTION("lines", rd_explain_columns));
	struct rd_section *peers = rd_report_add(report, RD_SECTION("peers", peer_columns));

	report->scalars =
		RD_OBJECT("scalars", scalar_columns, RD_UINT(log->lines), RD_UINT(log->unknown), RD_UINT(log->dropped));
	for (size_t i = 0; i < log->n; i++)
		add_row(&log->v[i], &log->joins[i], lines);
	for (size_t i = 0; i < log->n_peers; i++)
		RD_ROW(peers, RD_STR(log->peers[i].name), RD_UINT((uint64_t)__builtin_popcountll(log->peers[i].files)),
		       RD_UINT(log->peers[i].lines));
}

static void add_line(struct rd_buf *out, const char *what, const char *text)
{
	rd_buf_printf(out, "  %s: ", what);
	rd_buf_safe(out, text, strlen(text));
	rd_buf_str(out, "\n");
}

/* "job.log:17" */
static void add_place(const struct rd_log_line *line, struct rd_buf *out)
{
	if (line->file)
		rd_buf_safe(out, line->file, strlen(line->file));
	rd_buf_printf(out, "%s%zu", line->file ? ":" : "line ", line->number);
}

static void add_codes(const struct rd_log_line *line, struct rd_buf *out)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(line->codes) && line->codes[i]; i++) {
		const struct rd_log_form *code = line->codes[i];

		rd_buf_printf(out, "  %s ", code->table);
		if (code->value.known == RD_OK)
			rd_buf_printf(out, "%" PRIu64 " ", code->value.v);
		rd_buf_printf(out, "(%s): %s\n", code->id, part_text(code, RD_LOG_MEANS) ?: "");
	}
	for (size_t i = 0; i < RD_LOG_FIELDS; i++)
		if (line->not_public >> i & 1) {
			rd_buf_printf(out, "  %s ", rd_log_fields[i].key);
			rd_buf_safe(out, line->values[i], strlen(line->values[i]));
			rd_buf_str(out, ": its meaning is not public\n");
		}
}

static void add_cause(const struct rd_log_cause *cause, bool verbose, struct rd_buf *out)
{
	const char *const *v = cause->part->v;

	if (cause->here.known == RD_OK && !cause->here.v && !verbose)
		return;
	rd_buf_printf(out, "  %s: %s [%s]",
		      cause->here.known != RD_OK ? "possible cause" :
		      cause->here.v		 ? "cause that this host shows" :
						   "cause that this host excludes",
		      v[1], v[0]);
	if (cause->evidence) {
		rd_buf_str(out, ": ");
		rd_buf_safe(out, cause->evidence, strlen(cause->evidence));
	} else if (*v[2]) {
		rd_buf_printf(out, "; what tells: %s", v[2]);
	}
	if (v[3] && verbose)
		rd_buf_printf(out, " (%s)", v[3]);
	rd_buf_str(out, "\n");
}

static bool same_cause(const struct rd_log_cause *a, const struct rd_log_cause *b)
{
	return a->part == b->part && a->here.known == b->here.known && a->here.v == b->here.v && !a->evidence &&
	       !b->evidence;
}

/* The first line with the same codes and causes, of which nothing is known for either alone; `at`: this one. */
static size_t find_alike(const struct rd_log *log, size_t at)
{
	const struct rd_log_line *line = &log->v[at];
	const struct rd_log_join *join = &log->joins[at];

	for (size_t i = 0, k = 0; i < at && join->n > 1 && !line->not_public; i++, k = 0) {
		if (log->v[i].not_public || memcmp(log->v[i].codes, line->codes, sizeof(line->codes)))
			continue;
		while (k < join->n && k < log->joins[i].n && same_cause(&log->joins[i].causes[k], &join->causes[k]))
			k++;
		if (k == join->n && k == log->joins[i].n)
			return i;
	}
	return at;
}

static void add_explained(const struct rd_log *log, size_t at, bool verbose, struct rd_buf *out)
{
	const struct rd_log_line *line = &log->v[at];
	const struct rd_log_join *join = &log->joins[at];
	size_t alike = find_alike(log, at);
	const char *means = part_text(line->form, RD_LOG_MEANS), *source = part_text(line->form, RD_LOG_SOURCE);
	_cleanup_buf_ struct rd_buf about = { 0 }, place = { 0 };

	add_objects(line, &about);
	rd_buf_printf(out, "%s%s: %s", rd_severity_name(line->form->severity),
		      line->rank == RD_LOG_FOLLOWS ? ", follows" : "", means ?: line->form->id);
	if (about.len)
		rd_buf_printf(out, " [%s]", about.data);
	rd_buf_str(out, "\n");
	if (!join->n && line->form->severity > RD_SEV_NOTE)
		add_line(out, "cause", join->next ? "cannot tell; look at the next step" : "cannot tell");
	if (join->next)
		add_line(out, "next", join->next);
	if (alike < at) {
		add_place(&log->v[alike], &place);
		add_line(out, "codes and possible causes as of", place.data);
		rd_buf_deinit(&place);
	} else {
		add_codes(line, out);
		for (size_t i = 0; i < join->n; i++)
			add_cause(&join->causes[i], verbose, out);
	}
	for (size_t i = 0; i < join->facts.n; i++)
		add_line(out, "now", join->facts.v[i]);
	if (line->count > 1)
		rd_buf_printf(&place, "first of %zu such lines, ", line->count);
	add_place(line, &place);
	if (log->lines > 1)
		add_line(out, place.data, line->text);
	if (verbose && source)
		add_line(out, "printed by", source);
}

static void add_peers(const struct rd_log *log, size_t files, struct rd_buf *out)
{
	rd_buf_str(out, "\npeers that these lines name: ");
	for (size_t i = 0; i < log->n_peers && i < PEERS_SHOWN; i++) {
		rd_buf_str(out, i ? ", " : "");
		rd_buf_safe(out, log->peers[i].name, strlen(log->peers[i].name));
		rd_buf_printf(out, " (%zu lines", log->peers[i].lines);
		if (files > 1)
			rd_buf_printf(out, ", %d of %zu files", __builtin_popcountll(log->peers[i].files), files);
		rd_buf_str(out, ")");
	}
	if (log->n_peers > PEERS_SHOWN)
		rd_buf_printf(out, " and %zu more", log->n_peers - PEERS_SHOWN);
	rd_buf_str(out, "\n");
	if (files > 1)
		rd_buf_str(out, "which host failed first: cannot tell, the clocks of the hosts are not known\n");
}

void rd_report_explain_text(const struct rd_log *log, size_t files, bool verbose, struct rd_buf *out)
{
	static const char *const headings[] = {
		[RD_LOG_FOLLOWS] = "\nWhat follows from an earlier failure:\n", [RD_LOG_NOTE] = "\nOther lines:\n"
	};

	for (size_t i = 0; i < log->n; i++) {
		if (i)
			rd_buf_str(out, log->v[i].rank == log->v[i - 1].rank ? "\n" : headings[log->v[i].rank]);
		add_explained(log, i, verbose, out);
	}
	if (log->n && log->v[0].rank == RD_LOG_FOLLOWS)
		rd_buf_str(out,
			   "\nThe first failure is not in these lines: look at earlier ones, and at the peers' logs\n");
	if (log->n_peers && (files > 1 || log->n_peers > 1))
		add_peers(log, files, out);
	if (log->lines > 1)
		rd_buf_printf(out, "\n%zu lines read, %zu of no known form%s\n", log->lines, log->unknown,
			      log->dropped ? "; more different lines than are kept: the last ones are missing" : "");
}
