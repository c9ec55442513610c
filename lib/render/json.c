/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/render.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rfc3339.h"

static void json_freep(json_object **object)
{
	json_object_put(*object);
}

/* JSON is UTF-8, foreign text need not be: bytes that are not become \xNN, and a reader sees that they were odd. */
static json_object *json_text(const char *s)
{
	_cleanup_buf_ struct rd_buf buf = { 0 };
	size_t size;

	if (!s)
		return NULL;
	size = strlen(s);
	rd_buf_add(&buf, "", 0);
	while (size > 0) {
		uint32_t c;
		size_t n = rd_utf8_next(s, size, &c);

		if (n > 0) {
			rd_buf_add(&buf, s, n);
		} else {
			n = 1;
			rd_buf_printf(&buf, "\\x%02x", (uint8_t)*s);
		}
		s += n;
		size -= n;
	}
	return json_object_new_string_len(buf.data, (int)buf.len);
}

static json_object *json_time(uint64_t ns)
{
	char text[RD_RFC3339_SIZE];

	return rd_rfc3339(ns, text) < 0 ? NULL : json_object_new_string(text);
}

static json_object *json_double(double value, int decimals)
{
	char text[400];

	if (!isfinite(value))
		return NULL;
	snprintf(text, sizeof(text), "%.*f", decimals, value);
	return json_object_new_double_s(value, text);
}

static json_object *json_section(const struct rd_section *section, enum rd_type type);

/* NULL, which json-c prints as null, where the value is not known. */
static json_object *json_cell(const struct rd_column *column, const struct rd_cell *cell)
{
	if (cell->known != RD_OK)
		return NULL;
	switch (cell->type) {
	case RD_T_STR:
		return json_text(cell->s);
	case RD_T_UINT:
		return json_object_new_uint64(cell->u);
	case RD_T_INT:
		return json_object_new_int64(cell->i);
	case RD_T_DOUBLE:
		return json_double(cell->d, column->decimals);
	case RD_T_SHARE:
		return json_double(cell->d, 4);
	case RD_T_BOOL:
		return json_object_new_boolean(cell->b);
	case RD_T_TIME:
		return json_time(cell->u);
	case RD_T_OBJECT:
	case RD_T_ROWS:
	case RD_T_MAP:
	case RD_T_STRS:
	case RD_T_SPARK:
		return cell->sub ? json_section(cell->sub, cell->type) : NULL;
	}
	return NULL;
}

static void json_add_cells(json_object *object, const struct rd_section *section, const struct rd_row *row)
{
	for (size_t c = 0; c < section->n_columns; c++)
		json_object_object_add(object, section->columns[c].key, json_cell(&section->columns[c], &row->cells[c]));
}

static json_object *json_row(const struct rd_section *section, const struct rd_row *row)
{
	json_object *object = json_object_new_object();

	json_add_cells(object, section, row);
	return object;
}

static json_object *json_map(const struct rd_section *section)
{
	json_object *object = json_object_new_object();

	for (size_t i = 0; i < section->n && section->n_columns >= 2; i++) {
		const struct rd_cell *cells = section->rows[i].cells;

		if (cells[0].type == RD_T_STR && cells[0].known == RD_OK)
			json_object_object_add(object, cells[0].s, json_cell(&section->columns[1], &cells[1]));
	}
	return object;
}

static json_object *json_section(const struct rd_section *section, enum rd_type type)
{
	json_object *list;

	if (type == RD_T_OBJECT)
		return section->n > 0 ? json_row(section, &section->rows[0]) : NULL;
	if (type == RD_T_MAP)
		return json_map(section);
	list = json_object_new_array();
	for (size_t i = 0; i < section->n; i++) {
		const struct rd_row *row = &section->rows[i];

		if (type == RD_T_ROWS)
			json_object_array_add(list, json_row(section, row));
		else if (section->n_columns > 0)
			json_object_array_add(list, json_cell(&section->columns[0], &row->cells[0]));
	}
	return list;
}

static json_object *json_finding(const struct rd_finding *finding)
{
	json_object *object = json_object_new_object(), *cause;

	json_object_object_add(object, "id", json_text(finding->id));
	json_object_object_add(object, "severity", json_text(rd_severity_name(finding->severity)));
	json_object_object_add(object, "subject", json_text(finding->subject));
	json_object_object_add(object, "title", json_text(finding->title));
	json_object_object_add(object, "observed", json_text(finding->observed));
	json_object_object_add(object, "expected", json_text(finding->expected));
	json_object_object_add(object, "why", json_text(finding->why));
	json_object_object_add(object, "fix", json_text(finding->fix));
	cause = finding->caused_by.id ? json_object_new_object() : NULL;
	if (cause) {
		json_object_object_add(cause, "id", json_text(finding->caused_by.id));
		json_object_object_add(cause, "subject", json_text(finding->caused_by.subject));
	}
	json_object_object_add(object, "caused_by", cause);
	json_object_object_add(object, "muted", json_text(finding->muted));
	return object;
}

static json_object *json_findings(const struct rd_report *report)
{
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < report->findings.n; i++)
		json_object_array_add(list, json_finding(&report->findings.v[i]));
	return list;
}

static json_object *json_errors(const struct rd_report *report)
{
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < report->errors.n; i++) {
		const struct rd_err *err = &report->errors.v[i];
		json_object *object = json_object_new_object();

		json_object_object_add(object, "object", json_text(err->object[0] ? err->object : NULL));
		json_object_object_add(object, "errno", json_text(err->code ? rd_errno_name(err->code) : NULL));
		json_object_object_add(object, "message", json_text(err->message));
		json_object_object_add(object, "hint", json_text(err->hint[0] ? err->hint : NULL));
		json_object_array_add(list, object);
	}
	return list;
}

static json_object *json_head(const struct rd_report *report, const char *version)
{
	json_object *doc = json_object_new_object();

	json_object_object_add(doc, "schema", json_text(report->schema));
	json_object_object_add(doc, "version", json_text(version));
	json_object_object_add(doc, "host", json_text(report->host));
	json_object_object_add(doc, "time", report->time ? json_time(report->time) : NULL);
	json_object_object_add(doc, "source", json_text(report->source));
	if (report->read_at.known == RD_OK)
		json_object_object_add(doc, "read_at", json_time(report->read_at.v));
	if (report->scalars && report->scalars->n > 0)
		json_add_cells(doc, report->scalars, &report->scalars->rows[0]);
	return doc;
}

static void json_add_tail(json_object *doc, const struct rd_report *report)
{
	json_object_object_add(doc, "findings", json_findings(report));
	json_object_object_add(doc, "errors", json_errors(report));
	json_object_object_add(doc, "status", json_object_new_int(report->status));
}

/* A code point as JSON escapes it: above U+FFFF as a pair of surrogates. */
static void add_escape(struct rd_buf *out, uint32_t c)
{
	if (c > 0xffff)
		rd_buf_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
	else
		rd_buf_printf(out, "\\u%04x", c);
}

/* json-c leaves DEL, the C1 controls and the marks that turn text round as they are, which is valid JSON and steers a
 * terminal all the same. They stand inside strings only: all else that json-c writes is printable ASCII, and lines, which
 * are moved to the right. */
static void add_json_safely(struct rd_buf *out, const char *text, size_t size, int indent)
{
	size_t start = 0, n;

	for (size_t i = 0; i < size; i += n) {
		uint32_t c = 0;

		n = rd_utf8_next(text + i, size - i, &c);
		if (n == 0) {
			n = 1;
			continue;
		}
		if (c == '\n' ? !indent : !rd_unsafe(c))
			continue;
		rd_buf_add(out, text + start, i - start);
		if (c == '\n')
			rd_buf_printf(out, "\n%*s", indent, "");
		else
			add_escape(out, c);
		start = i + n;
	}
	rd_buf_add(out, text + start, size - start);
}

static int add_json(struct rd_buf *out, json_object *object, int flags)
{
	const char *text = json_object_to_json_string_ext(object, flags | JSON_C_TO_STRING_NOSLASHESCAPE);

	if (!text)
		return -ENOMEM;
	add_json_safely(out, text, strlen(text), 0);
	rd_buf_str(out, "\n");
	return out->failed ? -ENOMEM : 0;
}

#define PRETTY (JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE)

/* Text that is the same in JSON. */
static bool is_plain(const char *s)
{
	for (; *s; s++)
		if (*s < 0x20 || *s > 0x7e || *s == '"' || *s == '\\')
			return false;
	return true;
}

static int add_object(struct rd_buf *out, json_object *object, int indent)
{
	const char *text = json_object_to_json_string_ext(object, PRETTY);

	if (text)
		add_json_safely(out, text, strlen(text), indent);
	json_object_put(object);
	return text ? 0 : -ENOMEM;
}

/* A large section has a million cells: the plain ones are written as they are, without an object for each. */
static int add_cell(struct rd_buf *out, const struct rd_column *column, const struct rd_cell *cell, int indent)
{
	if (cell->known != RD_OK) {
		rd_buf_str(out, "null");
	} else if (cell->type == RD_T_UINT) {
		rd_buf_uint(out, cell->u);
	} else if (cell->type == RD_T_BOOL) {
		rd_buf_str(out, cell->b ? "true" : "false");
	} else if (cell->type == RD_T_STR && cell->s && is_plain(cell->s)) {
		rd_buf_str(out, "\"");
		rd_buf_str(out, cell->s);
		rd_buf_str(out, "\"");
	} else {
		return add_object(out, json_cell(column, cell), indent);
	}
	return 0;
}

/* As json-c would print it two levels down. */
static int add_rows(struct rd_buf *out, const struct rd_section *section)
{
	int r = 0;

	for (size_t i = 0; i < section->n && !r; i++) {
		rd_buf_str(out, i ? ",\n    {" : "\n    {");
		for (size_t c = 0; c < section->n_columns && !r; c++) {
			rd_buf_str(out, c ? ",\n      \"" : "\n      \"");
			rd_buf_str(out, section->columns[c].key);
			rd_buf_str(out, "\": ");
			r = add_cell(out, &section->columns[c], &section->rows[i].cells[c], 6);
		}
		rd_buf_str(out, "\n    }");
	}
	return r;
}

int rd_render_json(const struct rd_report *report, const char *version, struct rd_buf *out)
{
	_cleanup_(json_freep) json_object *head = json_head(report, version), *tail = json_object_new_object();
	const char *text;

	if (!head || !tail)
		return -ENOMEM;
	text = json_object_to_json_string_ext(head, PRETTY);
	if (!text)
		return -ENOMEM;
	/* Without the brace that ends it, and the line before that. */
	add_json_safely(out, text, strlen(text) - 2, 0);
	for (size_t i = 0; i < report->n_sections; i++) {
		rd_buf_printf(out, ",\n  \"%s\": [", report->sections[i]->key);
		if (add_rows(out, report->sections[i]) < 0)
			return -ENOMEM;
		rd_buf_str(out, "\n  ]");
	}
	json_add_tail(tail, report);
	text = json_object_to_json_string_ext(tail, PRETTY);
	if (!text)
		return -ENOMEM;
	rd_buf_str(out, ",");
	add_json_safely(out, text + 1, strlen(text + 1), 0);
	rd_buf_str(out, "\n");
	return out->failed ? -ENOMEM : 0;
}

int rd_render_json_line(const struct rd_report *report, const char *version, struct rd_buf *out)
{
	_cleanup_(json_freep) json_object *doc = NULL;

	doc = json_head(report, version);
	for (size_t i = 0; i < report->n_sections; i++)
		json_object_object_add(doc, report->sections[i]->key, json_section(report->sections[i], RD_T_ROWS));
	json_add_tail(doc, report);
	return add_json(out, doc, JSON_C_TO_STRING_PLAIN);
}

int rd_render_json_row(const struct rd_section *section, size_t row, struct rd_buf *out)
{
	_cleanup_(json_freep) json_object *object = NULL;

	if (row >= section->n)
		return -EINVAL;
	object = json_row(section, &section->rows[row]);
	return add_json(out, object, JSON_C_TO_STRING_PLAIN);
}
