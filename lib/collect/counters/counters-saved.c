/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/counters/counters.h"

#include <math.h>

#include "collect/counters/counters-priv.h"
#include "source/bundle/json-read.h"

#define TEXT_MAX ((size_t)64 << 20)
#define PORTS_MAX 4096 /* the same limit as for a live host */

/* The value of a member, if it has one of these types. */
struct cell {
	enum { NOTHING, TEXT, NUMBER, FLAG } kind;
	struct rd_buf text;
	uint64_t number; /* 0 or 1 for a flag */
};

/* Members of the rows of counters and ports. */
enum { IBDEV, PORT, NETDEV, GROUP, NAME, COUNTER, VALUE, STATE, GUID, DRIVER, PRESENT, INSTANCE, CELLS };

static const char *const keys[CELLS] = {
	[IBDEV] = "ibdev", [PORT] = "port",	  [NETDEV] = "netdev",	 [GROUP] = "group",
	[NAME] = "name",   [COUNTER] = "counter", [VALUE] = "value",	 [STATE] = "state",
	[GUID] = "guid",   [DRIVER] = "driver",	  [PRESENT] = "present", [INSTANCE] = "instance",
};

struct row {
	struct cell cells[CELLS];
};

static void row_deinit(struct row *row)
{
	for (size_t i = 0; i < CELLS; i++)
		rd_buf_deinit(&row->cells[i].text);
}

/* Negative numbers, numbers that are too large and fractions are not accepted. */
static bool read_number(struct rd_json *json, uint64_t *ret)
{
	struct rd_json ahead = *json;

	if (!rd_json_uint(&ahead, ret) || strchr(".eE", rd_json_peek(&ahead)))
		return false;
	*json = ahead;
	return true;
}

static void read_cell(struct rd_json *json, struct cell *cell)
{
	char c = rd_json_peek(json);

	cell->kind = NOTHING;
	if (c == '"') {
		cell->kind = rd_json_text(json, &cell->text) ? TEXT : NOTHING;
		return;
	}
	if (read_number(json, &cell->number)) {
		cell->kind = NUMBER;
		return;
	}
	if (!rd_json_skip(json) || (c != 't' && c != 'f'))
		return;
	cell->kind = FLAG;
	cell->number = c == 't';
}

/* Reads the cells of the next row of an array; false at its end. An element that is not an object has no cells. */
static bool next_row(struct rd_json *json, struct rd_buf *name, struct row *row)
{
	if (!rd_json_element(json))
		return false;
	for (size_t i = 0; i < CELLS; i++)
		row->cells[i].kind = NOTHING;
	if (rd_json_peek(json) != '{')
		return rd_json_skip(json);
	rd_json_enter(json, '{');
	while (rd_json_member(json, name)) {
		size_t i = 0;

		while (i < CELLS && strcmp(keys[i], name->data) != 0)
			i++;
		if (i < CELLS)
			read_cell(json, &row->cells[i]);
		else
			rd_json_skip(json);
	}
	return !json->failed;
}

/* NULL if not a string. */
static const char *text_of(const struct row *row, size_t i)
{
	return row->cells[i].kind == TEXT ? row->cells[i].text.data : NULL;
}

/* 0 if not a number, or above `most`. */
static uint64_t number_of(const struct row *row, size_t i, uint64_t most)
{
	const struct cell *cell = &row->cells[i];

	return cell->kind == NUMBER && cell->number <= most ? cell->number : 0;
}

/* Index of the port, added if missing; -EFBIG above the limit. */
static int64_t port_of(struct rd_counter_set *set, const char *ibdev, unsigned num)
{
	struct rd_counter_port *port;

	/* Rows are sorted by port: search from the last. */
	for (size_t i = set->n_ports; i-- > 0;)
		if (set->ports[i].port == num && strcmp(set->ports[i].ibdev, ibdev) == 0)
			return (int64_t)i;
	if (set->n_ports >= PORTS_MAX)
		return -EFBIG;
	port = rd_counter_set_add_port(set);
	port->port = num;
	port->ibdev = rd_dup(ibdev);
	return (int64_t)set->n_ports - 1;
}

/* -EBADMSG if the row does not describe a counter. */
static int take_counter(const struct row *row, struct rd_counter_set *set)
{
	const char *ibdev = text_of(row, IBDEV), *group = text_of(row, GROUP), *name = text_of(row, NAME);
	int kind = group ? rd_counter_group_parse(group) : -1;
	struct rd_counter *counter;
	int64_t port;

	if (!ibdev || !*ibdev || !name || !*name || kind < 0)
		return -EBADMSG;
	if (set->n >= RD_COUNTERS_MAX)
		return -EFBIG;
	port = port_of(set, ibdev, (unsigned)number_of(row, PORT, 255));
	if (port < 0)
		return (int)port;
	counter = rd_counter_set_add(set, (uint32_t)port, (enum rd_counter_group)kind, name);
	counter->counter = (uint32_t)number_of(row, COUNTER, UINT32_MAX);
	/* Rows of the port's own counters also name its first interface. */
	if (kind == RD_GROUP_ETHTOOL || kind == RD_GROUP_STANDARD || kind == RD_GROUP_NETDEV)
		counter->netdev = rd_dup_if(text_of(row, NETDEV));
	return 0;
}

/* In two passes: the second reads the values, for which space is allocated when all counters are known. */
static int take_counters(struct rd_json rows, struct rd_counter_set *set, struct rd_counter_sample *sample)
{
	_cleanup_(row_deinit) struct row row = { 0 };
	_cleanup_buf_ struct rd_buf name = RD_BUF_CHECKED;
	struct rd_json again = rows;
	int r = 0;

	rd_json_enter(&rows, '[');
	while (!r && next_row(&rows, &name, &row))
		r = take_counter(&row, set);
	if (r < 0)
		return r;
	rd_counter_sample_fit(sample, set);
	rd_json_enter(&again, '[');
	for (size_t i = 0; i < sample->n && next_row(&again, &name, &row); i++)
		if (row.cells[VALUE].kind == NUMBER)
			RD_SET(sample->values[i], row.cells[VALUE].number);
	return 0;
}

/* Facts about a port besides its name. */
static void take_port(const struct row *row, struct rd_counter_set *set, struct rd_counter_sample *sample)
{
	const char *ibdev = text_of(row, IBDEV), *state = text_of(row, STATE);
	const struct cell *there = &row->cells[PRESENT];

	for (size_t p = 0; ibdev && p < set->n_ports; p++) {
		struct rd_counter_port *port = &set->ports[p];

		if (port->port != number_of(row, PORT, 255) || strcmp(port->ibdev, ibdev) != 0 || port->guid ||
		    port->driver)
			continue;
		sample->states[p].there = there->kind != FLAG || there->number;
		sample->states[p].instance = number_of(row, INSTANCE, UINT64_MAX);
		snprintf(sample->states[p].state, sizeof(sample->states[p].state), "%s", state ? state : "");
		port->guid = rd_dup_if(text_of(row, GUID));
		port->driver = rd_dup_if(text_of(row, DRIVER));
		return;
	}
}

static void take_ports(struct rd_json rows, struct rd_counter_set *set, struct rd_counter_sample *sample)
{
	_cleanup_(row_deinit) struct row row = { 0 };
	_cleanup_buf_ struct rd_buf name = RD_BUF_CHECKED;

	rd_json_enter(&rows, '[');
	for (size_t i = 0; i < PORTS_MAX && next_row(&rows, &name, &row); i++)
		take_port(&row, set, sample);
}

/* Top-level members of a document; for arrays, their start. */
struct document {
	struct cell schema, boot_id, time;
	struct rd_json counters, ports;
	bool has_counters, has_ports;
	double monotonic;
};

static void document_deinit(struct document *document)
{
	rd_buf_deinit(&document->schema.text);
	rd_buf_deinit(&document->boot_id.text);
	rd_buf_deinit(&document->time.text);
}

static bool read_array(struct rd_json *json, struct rd_json *ret)
{
	bool is = rd_json_peek(json) == '[';

	*ret = *json;
	rd_json_skip(json);
	return is;
}

static void read_document(struct rd_json *json, struct document *document)
{
	_cleanup_buf_ struct rd_buf name = RD_BUF_CHECKED;

	rd_json_enter(json, '{');
	while (rd_json_member(json, &name))
		if (strcmp(name.data, "schema") == 0)
			read_cell(json, &document->schema);
		else if (strcmp(name.data, "boot_id") == 0)
			read_cell(json, &document->boot_id);
		else if (strcmp(name.data, "time") == 0)
			read_cell(json, &document->time);
		else if (strcmp(name.data, "monotonic_seconds") == 0) {
			char text[32];
			const char *from;
			double seconds;

			rd_json_peek(json);
			from = json->at;
			rd_json_skip(json);
			snprintf(text, sizeof(text), "%.*s", (int)(json->at - from), from);
			from = text;
			document->monotonic = rd_take_real(&from, &seconds) < 0 ? 0 : seconds;
		} else if (strcmp(name.data, "counters") == 0)
			document->has_counters = read_array(json, &document->counters);
		else if (strcmp(name.data, "ports") == 0)
			document->has_ports = read_array(json, &document->ports);
		else
			rd_json_skip(json);
}

static int take_document(const struct document *document, struct rd_counter_set *set, struct rd_counter_sample *sample)
{
	const struct cell *schema = &document->schema;
	int r;

	if (schema->kind != TEXT || strncmp(schema->text.data, "rdmadiag/counters/", 18) != 0 || !document->has_counters)
		return -EBADMSG;
	r = take_counters(document->counters, set, sample);
	if (r < 0)
		return r;
	sample->realtime_ns = document->time.kind == TEXT ? rd_rfc3339_parse(document->time.text.data) : 0;
	if (document->boot_id.kind == TEXT)
		snprintf(sample->boot_id, sizeof(sample->boot_id), "%s", document->boot_id.text.data);
	if (isfinite(document->monotonic) && document->monotonic > 0 && document->monotonic < 1e9)
		sample->monotonic_ns = (uint64_t)(document->monotonic * 1e9);
	for (size_t i = 0; i < sample->n_ports; i++)
		sample->states[i].there = true; /* unless section ports differs */
	if (document->has_ports)
		take_ports(document->ports, set, sample);
	return 0;
}

int rd_counters_saved(const char *name, const char *text, size_t size, struct rd_counter_set *set,
		      struct rd_counter_sample *sample, struct rd_err *err)
{
	_cleanup_(document_deinit) struct document document = { 0 };
	struct rd_json json;
	int r = -EBADMSG;

	if (size > TEXT_MAX)
		return rd_err_set(err, EFBIG, name, "file too large: a saved sample has at most %zu bytes", TEXT_MAX);
	rd_json_init(&json, text, size);
	read_document(&json, &document);
	if (!rd_json_end(&json))
		rd_err_set(err, EBADMSG, name, "%s", json.at == json.end ? "truncated sample" : "not a JSON document");
	else if ((r = take_document(&document, set, sample)) == -EBADMSG)
		rd_err_set(err, EBADMSG, name, "not a saved sample of counters");
	if (r == -EBADMSG)
		return rd_err_hint(err, "create one with rdmadiag counters --save FILE");
	if (r == -EFBIG)
		return rd_err_set(err, EFBIG, name, "more than %d ports or %zu counters", PORTS_MAX, RD_COUNTERS_MAX);
	return r;
}
