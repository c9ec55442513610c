/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/render.h"

#include <math.h>

#include "base/fix.h"

/* Writer of a document. */
struct json {
	struct rd_buf *out;
	bool lines;	/* indented: one member per line */
	bool first;	/* the next element is the first of its object or list */
	unsigned depth; /* of nesting */
};

static void begin_line(const struct json *json)
{
	if (!json->lines)
		return;
	rd_buf_str(json->out, "\n");
	for (unsigned i = 0; i < json->depth; i++)
		rd_buf_str(json->out, "  ");
}

/* Before each member of an object, each value of a list. */
static void next(struct json *json)
{
	if (!json->first)
		rd_buf_str(json->out, ",");
	json->first = false;
	begin_line(json);
}

static void enter(struct json *json, const char *bracket)
{
	rd_buf_str(json->out, bracket);
	json->first = true;
	json->depth++;
}

static void leave(struct json *json, const char *bracket)
{
	json->depth--;
	if (!json->first)
		begin_line(json);
	rd_buf_str(json->out, bracket);
	json->first = false;
}

/* Number of bytes that need no escaping. */
static size_t plain(const char *s)
{
	static const bool is[UINT8_MAX + 1] = { [' ' ... '"' - 1] = true,
						['"' + 1 ... '\\' - 1] = true,
						['\\' + 1 ... '~'] = true };
	size_t n = 0;

	while (is[(uint8_t)s[n]])
		n++;
	return n;
}

/* JSON is UTF-8, foreign text may not be: invalid bytes become \xNN, visible to a reader. DEL, C1 controls and bidirectional
 * marks would be valid, but affect a terminal, and are escaped. */
static void put_string(struct json *json, const char *s)
{
	struct rd_buf *out = json->out;
	size_t left = strlen(s);

	rd_buf_str(out, "\"");
	for (size_t n; left > 0; s += n, left -= n) {
		uint32_t c = 0;

		n = plain(s);
		if (n > 0) {
			rd_buf_add(out, s, n);
			continue;
		}
		n = rd_utf8_next(s, left, &c);
		if (n == 0) {
			rd_buf_printf(out, "\\\\x%02x", (uint8_t)*s);
			n = 1;
		} else if (rd_unsafe(c) || c == '"' || c == '\\') {
			static const char of[] = "\b\t\n\f\r\"\\", is[] = "btnfr\"\\";
			const char *found = c < 0x80 ? strchr(of, (int)c) : NULL;

			if (found)
				rd_buf_printf(out, "\\%c", is[found - of]);
			else if (c > 0xffff)
				rd_buf_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
			else
				rd_buf_printf(out, "\\u%04x", c);
		} else {
			rd_buf_add(out, s, n);
		}
	}
	rd_buf_str(out, "\"");
}

static void put_key(struct json *json, const char *name)
{
	next(json);
	put_string(json, name);
	rd_buf_str(json->out, json->lines ? ": " : ":");
}

static void put_text(struct json *json, const char *s)
{
	if (s)
		put_string(json, s);
	else
		rd_buf_str(json->out, "null");
}

static void put_time(struct json *json, uint64_t ns)
{
	char text[RD_RFC3339_SIZE];

	put_text(json, rd_rfc3339(ns, text) < 0 ? NULL : text);
}

static void put_double(struct json *json, double value, int decimals)
{
	static const char zero[] = "0.0000";

	/* The age of most queue pairs of one sample. */
	if (value == 0 && !signbit(value) && decimals > 0 && decimals <= 4)
		rd_buf_add(json->out, zero, 2 + (size_t)decimals);
	else if (isfinite(value))
		rd_buf_printf(json->out, "%.*f", decimals, value);
	else
		rd_buf_str(json->out, "null");
}

static void put_section(struct json *json, const struct rd_section *section, enum rd_type type);

static void put_cell(struct json *json, const struct rd_column *column, const struct rd_cell *cell)
{
	if (cell->known != RD_OK) {
		rd_buf_str(json->out, "null");
		return;
	}
	switch (cell->type) {
	case RD_T_STR:
		put_text(json, cell->s);
		break;
	case RD_T_UINT:
		rd_buf_uint(json->out, cell->u);
		break;
	case RD_T_INT:
		rd_buf_printf(json->out, "%" PRIi64, cell->i);
		break;
	case RD_T_DOUBLE:
		put_double(json, cell->d, column->decimals);
		break;
	case RD_T_SHARE:
		put_double(json, cell->d, 4);
		break;
	case RD_T_BOOL:
		rd_buf_str(json->out, cell->b ? "true" : "false");
		break;
	case RD_T_TIME:
		put_time(json, cell->u);
		break;
	default:
		put_section(json, cell->sub, cell->type);
	}
}

/* What is before the cells of each row, the same for all: ",", a new line, the key. */
struct keys {
	struct rd_buf text;
	size_t *ends; /* of each column */
};

/* `keys` NULL: this is the only row. */
static void put_cells(struct json *json, const struct rd_section *section, const struct rd_row *row,
		      const struct keys *keys)
{
	for (size_t c = 0; c < section->n_columns; c++) {
		size_t start = keys && c ? keys->ends[c - 1] : 0;

		if (section->sparse && row->cells[c].known != RD_OK)
			continue;
		if (keys) {
			start += json->first; /* without the comma */
			rd_buf_add(json->out, keys->text.data + start, keys->ends[c] - start);
			json->first = false;
		} else {
			put_key(json, section->columns[c].key);
		}
		put_cell(json, &section->columns[c], &row->cells[c]);
	}
}

static void put_row(struct json *json, const struct rd_section *section, const struct rd_row *row,
		    const struct keys *keys)
{
	enter(json, "{");
	put_cells(json, section, row, keys);
	leave(json, "}");
}

static void put_list(struct json *json, const struct rd_section *section, bool objects)
{
	struct keys keys = { .ends = rd_alloc(section->n_columns + 1, sizeof(*keys.ends)) };
	bool many = objects && section->n > 1;
	struct json each = { .out = &keys.text, .lines = json->lines, .depth = json->depth + 2 };

	for (size_t c = 0; many && c < section->n_columns; c++) {
		put_key(&each, section->columns[c].key);
		keys.ends[c] = keys.text.len;
	}
	enter(json, "[");
	for (size_t i = 0; i < section->n; i++) {
		const struct rd_row *row = rd_section_row(section, i);

		next(json);
		if (objects)
			put_row(json, section, row, many ? &keys : NULL);
		else
			put_cell(json, &section->columns[0], &row->cells[0]);
	}
	leave(json, "]");
	rd_buf_deinit(&keys.text);
	free(keys.ends);
}

static void put_section(struct json *json, const struct rd_section *section, enum rd_type type)
{
	if (type == RD_T_MAP) {
		enter(json, "{");
		for (size_t i = 0; i < section->n && section->n_columns >= 2; i++) {
			const struct rd_cell *cells = rd_section_row(section, i)->cells;

			if (cells[0].type != RD_T_STR || cells[0].known != RD_OK)
				continue;
			put_key(json, cells[0].s);
			put_cell(json, &section->columns[1], &cells[1]);
		}
		leave(json, "}");
	} else if (type != RD_T_OBJECT)
		put_list(json, section, type == RD_T_ROWS);
	else if (section->n > 0)
		put_row(json, section, rd_section_row(section, 0), NULL);
	else
		rd_buf_str(json->out, "null");
}

static void put_member(struct json *json, const char *name, const char *text)
{
	put_key(json, name);
	put_text(json, text);
}

static void put_finding(struct json *json, const struct rd_finding *finding)
{
	_cleanup_free_ char *fix = rd_fix_commands(finding->fix), *advice = rd_fix_advice(finding->fix);

	enter(json, "{");
	put_member(json, "id", finding->id);
	put_member(json, "severity", rd_severity_name(finding->severity));
	put_member(json, "subject", finding->subject);
	if (finding->node_guid) {
		put_key(json, "node_guid");
		rd_buf_printf(json->out, "\"0x%016" PRIx64 "\"", finding->node_guid);
		put_key(json, "port");
		rd_buf_printf(json->out, finding->port ? "%u" : "null", finding->port);
	}
	if (finding->harm > 0) {
		put_key(json, "harm");
		rd_buf_printf(json->out, "%.0f", finding->harm);
	}
	put_member(json, "title", finding->title);
	put_member(json, "observed", finding->observed);
	put_member(json, "expected", finding->expected);
	put_member(json, "why", finding->why);
	put_member(json, "fix", fix);
	put_member(json, "advice", advice);
	put_key(json, "caused_by");
	if (finding->caused_by.id) {
		enter(json, "{");
		put_member(json, "id", finding->caused_by.id);
		put_member(json, "subject", finding->caused_by.subject);
		leave(json, "}");
	} else {
		put_text(json, NULL);
	}
	put_member(json, "muted", finding->muted);
	leave(json, "}");
}

static void put_report(struct json *json, const struct rd_report *report, const char *version)
{
	enter(json, "{");
	put_member(json, "schema", report->schema);
	put_member(json, "version", version);
	put_member(json, "host", report->host);
	put_key(json, "time");
	if (report->time)
		put_time(json, report->time);
	else
		put_text(json, NULL);
	put_member(json, "source", report->source);
	if (report->read_at.known == RD_OK) {
		put_key(json, "read_at");
		put_time(json, report->read_at.v);
	}
	if (report->scalars && report->scalars->n > 0)
		put_cells(json, report->scalars, rd_section_row(report->scalars, 0), NULL);
	for (size_t i = 0; i < report->n_sections; i++) {
		put_key(json, report->sections[i]->key);
		put_list(json, report->sections[i], true);
	}
	/* As they are counted in texts and metrics: without consequences, and without what a profile mutes. */
	put_key(json, "counts");
	enter(json, "{");
	for (enum rd_severity j = RD_SEV_CRITICAL; j >= RD_SEV_NOTE; j--) {
		put_key(json, rd_severity_name(j));
		rd_buf_printf(json->out, "%zu", rd_findings_count(&report->findings, j));
	}
	leave(json, "}");
	put_key(json, "findings");
	enter(json, "[");
	for (size_t j = 0; j < report->findings.n; j++) {
		next(json);
		put_finding(json, &report->findings.v[j]);
	}
	leave(json, "]");
	put_key(json, "errors");
	enter(json, "[");
	for (size_t k = 0; k < report->errors.n; k++) {
		const struct rd_err *err = &report->errors.v[k];

		next(json);
		enter(json, "{");
		put_member(json, "object", err->object[0] ? err->object : NULL);
		put_member(json, "errno", err->code ? rd_errno_name(err->code) : NULL);
		put_member(json, "message", err->message);
		put_member(json, "hint", err->hint[0] ? err->hint : NULL);
		leave(json, "}");
	}
	leave(json, "]");
	put_key(json, "status");
	rd_buf_printf(json->out, "%d", report->status);
	leave(json, "}");
	rd_buf_str(json->out, "\n");
}

void rd_render_json(const struct rd_report *report, const char *version, struct rd_buf *out)
{
	put_report(&(struct json){ .out = out, .lines = true }, report, version);
}

void rd_render_json_line(const struct rd_report *report, const char *version, struct rd_buf *out)
{
	put_report(&(struct json){ .out = out }, report, version);
}

void rd_render_json_row(const struct rd_section *section, size_t row, struct rd_buf *out)
{
	put_row(&(struct json){ .out = out }, section, rd_section_row(section, row), NULL);
	rd_buf_str(out, "\n");
}
