/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/shared/report.h"

#include "base/buf.h"
#include "base/fix.h"
#include "model/host/host.h"

struct rd_section *rd_section_create(const char *key, const struct rd_column *columns, size_t n_columns)
{
	struct rd_section *section = rd_alloc(1, sizeof(*section));

	section->key = key;
	section->columns = columns;
	section->n_columns = n_columns;
	return section;
}

static void row_init(struct rd_row *row, const struct rd_section *section)
{
	*row = (struct rd_row){ .cells = rd_alloc(section->n_columns, sizeof(*row->cells)),
				.n_cells = section->n_columns };
	for (size_t c = 0; c < section->n_columns; c++)
		row->cells[c].type = section->columns[c].type;
}

struct rd_section *rd_section_create_made(const char *key, const struct rd_column *columns, size_t n_columns, size_t n,
					  rd_row_fn *make, void *arg)
{
	struct rd_section *section = rd_section_create(key, columns, n_columns);

	section->n = n;
	section->make = make;
	section->arg = arg;
	section->made = rd_alloc(1, sizeof(*section->made));
	row_init(section->made, section);
	return section;
}

static void cell_deinit(struct rd_cell *cell)
{
	if (cell->type >= RD_T_OBJECT)
		rd_section_destroy(cell->sub);
	else if (cell->type == RD_T_STR && !cell->borrowed)
		free(cell->s);
}

static void row_deinit(struct rd_row *row)
{
	for (size_t c = 0; c < row->n_cells; c++)
		cell_deinit(&row->cells[c]);
	free(row->cells);
}

/* Makes the section one whose rows are stored. */
static void forget_maker(struct rd_section *section)
{
	if (section->made)
		row_deinit(section->made);
	RD_FREE(section->made, section->arg);
	section->made = NULL;
	section->arg = NULL;
	section->make = NULL;
}

void rd_section_destroy(struct rd_section *section)
{
	if (!section)
		return;
	for (size_t i = 0; section->rows && i < section->n; i++)
		row_deinit(&section->rows[i]);
	forget_maker(section);
	RD_FREE(section->rows, section);
}

const struct rd_row *rd_section_row(const struct rd_section *section, size_t i)
{
	struct rd_row *row = section->made;

	if (!section->make)
		return &section->rows[i];
	for (size_t c = 0; c < row->n_cells; c++) {
		struct rd_cell *cell = &row->cells[c];

		cell_deinit(cell);
		*cell = (struct rd_cell){ .type = cell->type };
	}
	row->severity = 0;
	section->make(section->arg, i, row);
	return row;
}

void rd_section_store(struct rd_section *section)
{
	if (!section->make)
		return;
	rd_reserve(&section->rows, &section->cap, section->n, sizeof(*section->rows));
	for (size_t i = 0; i < section->n; i++) {
		row_init(&section->rows[i], section);
		section->make(section->arg, i, &section->rows[i]);
		for (size_t c = 0; c < section->rows[i].n_cells; c++) {
			struct rd_cell *cell = &section->rows[i].cells[c];

			if (cell->borrowed)
				cell->s = rd_dup(cell->s);
			cell->borrowed = false;
		}
	}
	forget_maker(section);
}

struct rd_row *rd_section_add(struct rd_section *section)
{
	struct rd_row *row = RD_ADD(section->rows, section->n, section->cap);

	row_init(row, section);
	return row;
}

void rd_row_set(struct rd_row *row, size_t column, struct rd_cell value)
{
	static const unsigned fits[RD_T_SPARK + 1] = {
		[RD_T_STR] = 1u << RD_T_STR,
		[RD_T_UINT] = 1u << RD_T_UINT | 1u << RD_T_TIME,
		[RD_T_INT] = 1u << RD_T_INT,
		[RD_T_DOUBLE] = 1u << RD_T_DOUBLE | 1u << RD_T_SHARE,
		[RD_T_BOOL] = 1u << RD_T_BOOL,
		[RD_T_ROWS] = 1u << RD_T_OBJECT | 1u << RD_T_ROWS | 1u << RD_T_MAP | 1u << RD_T_STRS | 1u << RD_T_SPARK,
	};
	struct rd_cell *cell = column < row->n_cells ? &row->cells[column] : NULL;

	if (!cell || !(fits[value.type] & 1u << cell->type)) {
		if (value.type == RD_T_ROWS)
			rd_section_destroy(value.sub);
		return;
	}
	cell_deinit(cell);
	if (value.type == RD_T_STR && value.s && !value.borrowed)
		value.s = rd_dup(value.s);
	value.type = cell->type;
	*cell = value;
}

void rd_row_put(struct rd_row *row, const struct rd_cell *cells, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (cells[i].known == RD_OK)
			rd_row_set(row, i, cells[i]);
}

struct rd_row *rd_section_put(struct rd_section *section, const struct rd_cell *cells, size_t n)
{
	struct rd_row *row = rd_section_add(section);

	rd_row_put(row, cells, n);
	return row;
}

void rd_row_fix(struct rd_row *row, size_t column, const char *fix)
{
	_cleanup_free_ char *commands = rd_fix_commands(fix), *advice = rd_fix_advice(fix);

	rd_row_set(row, column, RD_STR(commands));
	rd_row_set(row, column + 1, RD_STR(advice));
}

void rd_report_init(struct rd_report *report, const char *schema)
{
	*report = (struct rd_report){ .schema = schema };
}

void rd_report_deinit(struct rd_report *report)
{
	RD_FREE(report->host, report->headline, report->perfdata);
	rd_texts_deinit(&report->notes);
	rd_section_destroy(report->scalars);
	for (size_t i = 0; i < report->n_sections; i++)
		rd_section_destroy(report->sections[i]);
	free(report->sections);
	rd_findings_deinit(&report->findings);
	rd_errlist_deinit(&report->errors);
	rd_metrics_deinit(&report->metrics);
	*report = (struct rd_report){ 0 };
}

struct rd_section *rd_report_add(struct rd_report *report, struct rd_section *section)
{
	return *RD_ADD(report->sections, report->n_sections, report->cap_sections) = section;
}

struct rd_section *rd_report_take(struct rd_report *report, size_t i)
{
	struct rd_section *section = report->sections[i], **rest = report->sections + i;

	memmove(rest, rest + 1, (--report->n_sections - i) * sizeof(*rest));
	return section;
}

void rd_report_note(struct rd_report *report, const char *fmt, ...)
{
	struct rd_texts *notes = &report->notes;
	va_list ap;

	va_start(ap, fmt);
	*RD_ADD(notes->v, notes->n, notes->cap) = rd_vtext(fmt, ap);
	va_end(ap);
}

static void set_gid(struct rd_row *row, size_t column, const uint8_t *raw,
		    void (*text_of)(const struct rd_gid *, char *))
{
	struct rd_gid gid;
	char text[64];

	memcpy(gid.raw, raw, sizeof(gid.raw));
	text_of(&gid, text);
	rd_row_set(row, column, RD_STR(text));
}

void rd_row_gid(struct rd_row *row, size_t column, const uint8_t *raw)
{
	set_gid(row, column, raw, rd_gid_text);
}

void rd_row_gid_ip(struct rd_row *row, size_t column, const uint8_t *raw)
{
	set_gid(row, column, raw, rd_gid_ip);
}

void rd_report_add_findings(struct rd_report *report, const struct rd_findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		rd_finding_copy(&report->findings, &findings->v[i]);
}

int rd_report_judge(const struct rd_report *report)
{
	enum rd_severity worst = rd_findings_worst(&report->findings);

	return worst == RD_SEV_CRITICAL ? 2 : worst == RD_SEV_WARNING ? 1 : 0;
}

char *rd_findings_alarm(const struct rd_findings *findings, enum rd_severity *ret_severity)
{
	const struct rd_finding *worst = NULL;
	struct rd_buf out = { 0 };

	for (size_t i = 0; i < findings->n; i++) {
		const struct rd_finding *f = &findings->v[i];

		if (rd_finding_stands(f) && f->severity >= RD_SEV_WARNING && (!worst || f->severity > worst->severity))
			worst = f;
	}
	if (!worst)
		return NULL;
	*ret_severity = worst->severity;
	rd_buf_printf(&out, "%s: ", rd_severity_name(worst->severity));
	if (worst->subject)
		rd_buf_safe(&out, worst->subject, strlen(worst->subject));
	rd_buf_printf(&out, "%s%s", worst->subject ? ": " : "", worst->title);
	rd_buf_part(&out, "; ", worst->observed);
	return out.data;
}

static const struct rd_column backend_columns[] = {
	{ "backend", "BACKEND", RD_T_STR, "backend that hooks the functions", 0, false },
	{ "functions", "FUNCTIONS", RD_T_UINT, "hooked functions", 0, false },
};

struct rd_section *rd_report_backends(const size_t per_backend[RD_BACKEND_COUNT])
{
	struct rd_section *section = RD_SECTION("backends", backend_columns);

	for (int b = RD_BACKEND_NONE + 1; b < RD_BACKEND_COUNT; b++)
		if (per_backend[b])
			RD_ROW(section, RD_STR(rd_backend_name(b)), RD_UINT(per_backend[b]));
	return section;
}

const char *rd_errno_word(int err, char *digits)
{
	snprintf(digits, RD_ERRNO_WORD, "%d", -err);
	return rd_errno_name(err) ? rd_errno_name(err) : digits;
}
