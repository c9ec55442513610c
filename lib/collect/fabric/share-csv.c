/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of counters --fabric in CSV (RFC 4180). */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/rfc3339.h"
#include "collect/fabric/share-read.h"

#define FIELDS_MAX 128

struct csv {
	const char *name, *at, *end;
	size_t line, rows;  /* lines and records begun */
	struct rd_buf text; /* of the fields of a record, each with its NUL */
	size_t starts[FIELDS_MAX];
	size_t n;
	size_t column[RD_SHARE_COLUMNS + RD_SHARE_COUNTERS]; /* where it is; FIELDS_MAX: nowhere */
};

/* Reads a field; its end in *csv->at. False: not as RFC 4180 has it. */
static bool read_field(struct csv *csv)
{
	bool quoted = csv->at < csv->end && *csv->at == '"';

	if (csv->n >= FIELDS_MAX)
		return false;
	csv->starts[csv->n++] = csv->text.len;
	csv->at += quoted;
	for (; csv->at < csv->end; csv->at++) {
		if (*csv->at == '\0')
			return false;
		if (quoted && *csv->at == '"') {
			if (csv->at + 1 >= csv->end || csv->at[1] != '"')
				break;
			csv->at++;
		} else if (!quoted && strchr(",\r\n", *csv->at)) {
			break;
		} else if (!quoted && *csv->at == '"') {
			return false;
		}
		csv->line += *csv->at == '\n';
		rd_buf_add(&csv->text, csv->at, 1);
	}
	rd_buf_add(&csv->text, "", 1);
	if (!quoted)
		return true;
	return csv->at < csv->end && *csv->at++ == '"';
}

/* Reads a record: 1, 0 at the end, -EBADMSG. */
static int read_record(struct csv *csv)
{
	csv->text.len = 0;
	csv->n = 0;
	if (csv->at >= csv->end)
		return 0;
	csv->line++;
	do {
		if (csv->n > 0)
			csv->at++;
		if (!read_field(csv))
			return -EBADMSG;
	} while (csv->at < csv->end && *csv->at == ',');
	if (csv->at < csv->end && *csv->at == '\r')
		csv->at++;
	/* The recorder ends each line: one that does not end is not whole. */
	return csv->at < csv->end && *csv->at++ == '\n' ? 1 : -EBADMSG;
}

/* NULL: empty, or no such column. */
static const char *field(const struct csv *csv, size_t column)
{
	size_t at = csv->column[column];

	return at < csv->n && csv->text.data[csv->starts[at]] ? csv->text.data + csv->starts[at] : NULL;
}

static const char *column_name(size_t column)
{
	return column < RD_SHARE_COLUMNS ? rd_share_columns[column] : rd_pma_counters[column - RD_SHARE_COLUMNS].name;
}

/* Finds the columns by their names, so that a recording of another version is read. */
static bool read_heading(struct csv *csv)
{
	for (size_t c = 0; c < RD_ARRAY_SIZE(csv->column); c++) {
		csv->column[c] = FIELDS_MAX;
		for (size_t i = 0; i < csv->n; i++)
			if (strcmp(csv->text.data + csv->starts[i], column_name(c)) == 0)
				csv->column[c] = i;
	}
	return csv->column[RD_SHARE_TIME] < FIELDS_MAX && csv->column[RD_SHARE_HOST] < FIELDS_MAX &&
	       csv->column[RD_SHARE_GUID] < FIELDS_MAX && csv->column[RD_SHARE_PORT] < FIELDS_MAX &&
	       csv->column[RD_SHARE_FRESH] < FIELDS_MAX;
}

static bool is_heading(const struct csv *csv)
{
	return csv->n > 0 && strcmp(csv->text.data, rd_share_columns[RD_SHARE_TIME]) == 0;
}

/* An empty field leaves 0. */
static bool read_number(const struct csv *csv, size_t column, uint64_t most, uint64_t *ret)
{
	const char *text = field(csv, column);

	*ret = 0;
	return !text || rd_parse_uint(text, RD_DECIMAL, most, ret) == 0;
}

static bool read_share(const struct csv *csv, struct rd_share *share)
{
	uint64_t index, of, ports, all;
	const char *topology = field(csv, RD_SHARE_TOPOLOGY);

	*share = (struct rd_share){ .file = csv->name, .host = field(csv, RD_SHARE_HOST) };
	share->time_ns = rd_rfc3339_parse(field(csv, RD_SHARE_TIME));
	if (!share->host || !share->time_ns || !read_number(csv, RD_SHARE_INDEX, 1000000, &index) ||
	    !read_number(csv, RD_SHARE_OF, 1000000, &of) || index > of ||
	    !read_number(csv, RD_SHARE_LOOK_PORTS, RD_SHARE_ROWS_MAX, &ports) ||
	    !read_number(csv, RD_SHARE_ALL_PORTS, UINT32_MAX, &all))
		return false;
	share->index = (unsigned)index;
	share->of = (unsigned)of;
	share->ports = (size_t)ports;
	if (field(csv, RD_SHARE_ALL_PORTS))
		RD_SET(share->all_ports, all);
	if (topology && rd_share_guid(topology, &all))
		RD_SET(share->topology, all);
	return true;
}

static bool read_counters(const struct csv *csv, struct rd_share_row *row)
{
	const char *saturated = field(csv, RD_SHARE_SATURATED);

	for (size_t i = 0; i < RD_SHARE_COUNTERS; i++) {
		size_t len = strlen(rd_pma_counters[i].name);

		if (!read_number(csv, RD_SHARE_COLUMNS + i, UINT64_MAX, &row->values[i]))
			return false;
		if (field(csv, RD_SHARE_COLUMNS + i))
			row->known |= UINT64_C(1) << i;
		for (const char *s = saturated; s && *s; s += strcspn(s, " "), s += strspn(s, " "))
			if (strncmp(s, rd_pma_counters[i].name, len) == 0 && strchr(" ", s[len]))
				row->saturated |= UINT64_C(1) << i;
	}
	return true;
}

static bool read_row(struct csv *csv, struct rd_share_files *files, uint64_t time_ns, struct rd_share_row *row)
{
	const char *age = field(csv, RD_SHARE_AGE), *fresh = field(csv, RD_SHARE_FRESH);
	uint64_t port, lid, peer_port;
	double seconds;

	*row = (struct rd_share_row){ 0 };
	if (!rd_share_guid(field(csv, RD_SHARE_GUID), &row->guid) || !field(csv, RD_SHARE_PORT) ||
	    !read_number(csv, RD_SHARE_PORT, 255, &port) || !read_number(csv, RD_SHARE_LID, 65535, &lid) ||
	    !read_number(csv, RD_SHARE_PEER_PORT, 255, &peer_port) || !fresh || !read_counters(csv, row))
		return false;
	if (age && rd_parse_real(age, 0, 1e9, &seconds) < 0)
		return false;
	if (age && (uint64_t)(seconds * 1e9) < time_ns)
		row->read_ns = time_ns - (uint64_t)(seconds * 1e9);
	row->fresh = strcmp(fresh, "1") == 0;
	row->port = (unsigned)port;
	row->lid = (uint16_t)lid;
	row->peer_port = (unsigned)peer_port;
	row->kind = rd_share_kind_of(field(csv, RD_SHARE_KIND));
	row->state = rd_share_state_of(field(csv, RD_SHARE_STATE));
	rd_share_link(field(csv, RD_SHARE_LINK), row);
	if (!rd_share_guid(field(csv, RD_SHARE_PEER_GUID), &row->peer_guid))
		row->peer_guid = 0;
	row->node = rd_share_keep(files, field(csv, RD_SHARE_NODE));
	row->error = rd_share_keep(files, field(csv, RD_SHARE_ERROR));
	return true;
}

/* Whether the row continues the latest share. */
static bool continues(const struct rd_share_files *files, size_t before, const struct rd_share *share)
{
	const struct rd_share *last = files->n > before ? &files->v[files->n - 1] : NULL;

	return last && last->time_ns == share->time_ns && last->index == share->index && last->of == share->of &&
	       strcmp(last->host, share->host) == 0;
}

static int add_record(struct csv *csv, struct rd_share_files *files, size_t before)
{
	struct rd_share_row row;
	struct rd_share share;

	if (!read_share(csv, &share) || !read_row(csv, files, share.time_ns, &row))
		return -EBADMSG;
	if (!continues(files, before, &share)) {
		share.host = rd_share_keep(files, share.host);
		if (!rd_share_begin(files, &share))
			return -EFBIG;
	}
	return rd_share_add(files, &row);
}

int rd_share_read_csv(const char *name, const char *text, size_t size, struct rd_share_files *files, struct rd_err *err)
{
	struct csv csv = { .name = name, .at = text, .end = text + size };
	size_t before = files->n;
	int r = read_record(&csv);

	if (r == 1 && (!is_heading(&csv) || !read_heading(&csv)))
		r = -EBADMSG;
	while (r == 1) {
		r = read_record(&csv);
		if (r == 1 && is_heading(&csv))
			r = read_heading(&csv) ? 1 : -EBADMSG;
		else if (r == 1)
			r = add_record(&csv, files, before) ?: 1;
	}
	rd_buf_deinit(&csv.text);
	if (r == -EBADMSG) {
		rd_err_set(err, EBADMSG, name,
			   "line %zu: not a document of counters --fabric --json, and not a recording of it", csv.line);
		rd_err_hint(
			err,
			"give the output of counters --fabric --shards FILE --json, or the file of --record FILE.csv");
	}
	return r;
}
