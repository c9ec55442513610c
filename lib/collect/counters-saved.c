/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/counters-saved.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "collect/counters-priv.h"

#define TEXT_MAX ((size_t)64 << 20)
#define DEPTH_MAX 16
#define PORTS_MAX 4096 /* what is read of a live host, too */
/* What json-c takes for a value and for an object or a list, and how much for a document: the counters of a host with 16 NICs
 * take 130 MB. */
#define VALUE_BYTES 128
#define OBJECT_BYTES 768
#define DOCUMENT_BYTES ((size_t)192 << 20)

static void put(struct json_object **object)
{
	json_object_put(*object);
}
#define _cleanup_json_ _cleanup_(put)

static struct json_object *member(struct json_object *object, const char *key, enum json_type type)
{
	struct json_object *value = NULL;

	if (!json_object_is_type(object, json_type_object) || !json_object_object_get_ex(object, key, &value))
		return NULL;
	return json_object_is_type(value, type) ? value : NULL;
}

/* Text of a member, without NUL in it; NULL if it is none. */
static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value = member(object, key, json_type_string);

	if (!value || strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value))
		return NULL;
	return json_object_get_string(value);
}

static bool number_of(struct json_object *object, const char *key, uint64_t most, uint64_t *ret)
{
	struct json_object *value = member(object, key, json_type_int);

	/* json-c makes 0 of a negative number that is asked for as unsigned. */
	if (!value || (json_object_get_int64(value) < 0))
		return false;
	*ret = json_object_get_uint64(value);
	return *ret <= most;
}

/* "2026-01-02T03:04:05.678901Z" */
static uint64_t time_of(const char *text)
{
	struct tm tm = { 0 };
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	double fraction = 0;
	time_t seconds;

	if (!rest)
		return 0;
	if (*rest == '.')
		fraction = strtod(rest, NULL);
	seconds = timegm(&tm);
	return seconds <= 0 || fraction < 0 || fraction >= 1 ?
		       0 :
		       (uint64_t)seconds * 1000000000u + (uint64_t)(fraction * 1e9);
}

static bool copy(char **to, const char *from)
{
	*to = rd_dup_if(from);
	return !from || *to;
}

/* The port called so, made if it is not there; -ENOMEM, or -EFBIG above the limit. */
static int64_t port_of(struct rd_counter_set *set, const char *ibdev, unsigned num)
{
	struct rd_counter_port *port;

	/* They come in order: the one wanted is most often the last. */
	for (size_t i = set->n_ports; i-- > 0;)
		if (set->ports[i].port == num && strcmp(set->ports[i].ibdev, ibdev) == 0)
			return (int64_t)i;
	if (set->n_ports >= PORTS_MAX)
		return -EFBIG;
	port = rd_counter_set_add_port(set);
	if (!port)
		return -ENOMEM;
	port->port = num;
	if (!copy(&port->ibdev, ibdev)) {
		set->n_ports--;
		return -ENOMEM;
	}
	return (int64_t)set->n_ports - 1;
}

/* -EBADMSG for what is no counter. */
static int take_counter(struct json_object *row, struct rd_counter_set *set)
{
	const char *ibdev = text_of(row, "ibdev"), *group = text_of(row, "group"), *name = text_of(row, "name");
	const char *netdev = text_of(row, "netdev");
	int kind = group ? rd_counter_group_parse(group) : -1;
	struct rd_counter *counter;
	uint64_t num = 0, bound = 0;
	int64_t port;

	number_of(row, "port", 255, &num);
	number_of(row, "counter", UINT32_MAX, &bound);
	if (!ibdev || !*ibdev || !name || !*name || kind < 0)
		return -EBADMSG;
	port = port_of(set, ibdev, (unsigned)num);
	if (port < 0)
		return (int)port;
	counter = rd_counter_set_add(set, (uint32_t)port, (enum rd_counter_group)kind, name);
	if (!counter)
		return -ENOMEM;
	counter->counter = (uint32_t)bound;
	/* The port's first interface is named with its own counters, too. */
	if (kind == RD_GROUP_ETHTOOL || kind == RD_GROUP_STANDARD || kind == RD_GROUP_NETDEV)
		return copy(&counter->netdev, netdev) ? 0 : -ENOMEM;
	return 0;
}

static int take_counters(struct json_object *rows, struct rd_counter_set *set)
{
	size_t n = json_object_array_length(rows);
	int r = n > RD_COUNTERS_MAX ? -EFBIG : 0;

	for (size_t i = 0; !r && i < n; i++)
		r = take_counter(json_object_array_get_idx(rows, i), set);
	return r;
}

static void take_values(struct json_object *rows, struct rd_counter_sample *sample)
{
	for (size_t i = 0; i < sample->n; i++) {
		struct rd_counter_value *value = &sample->values[i];

		if (number_of(json_object_array_get_idx(rows, i), "value", UINT64_MAX, &value->v))
			value->known = RD_OK;
	}
}

/* What is known of the ports beyond their names. */
static int take_ports(struct json_object *rows, struct rd_counter_set *set, struct rd_counter_sample *sample)
{
	size_t n = rows ? json_object_array_length(rows) : 0;

	for (size_t i = 0; i < sample->n_ports; i++)
		sample->states[i].there = true; /* unless they say otherwise */
	for (size_t i = 0; i < n && i < PORTS_MAX; i++) {
		struct json_object *row = json_object_array_get_idx(rows, i), *there;
		const char *ibdev = text_of(row, "ibdev"), *state = text_of(row, "state");
		uint64_t num = 0;

		number_of(row, "port", 255, &num);
		for (size_t p = 0; ibdev && p < set->n_ports; p++) {
			struct rd_counter_port *port = &set->ports[p];

			if (port->port != num || strcmp(port->ibdev, ibdev) != 0 || port->guid || port->driver)
				continue;
			there = member(row, "present", json_type_boolean);
			sample->states[p].there = !there || json_object_get_boolean(there);
			number_of(row, "instance", UINT64_MAX, &sample->states[p].instance);
			snprintf(sample->states[p].state, sizeof(sample->states[p].state), "%s", state ? state : "");
			if (!copy(&port->guid, text_of(row, "guid")) || !copy(&port->driver, text_of(row, "driver")))
				return -ENOMEM;
			break;
		}
	}
	return 0;
}

static int take_document(struct json_object *document, struct rd_counter_set *set, struct rd_counter_sample *sample)
{
	struct json_object *rows = member(document, "counters", json_type_array), *monotonic;
	const char *schema = text_of(document, "schema"), *boot = text_of(document, "boot_id");
	double seconds;
	int r;

	if (!schema || strncmp(schema, "rdmadiag/counters/", 18) != 0 || !rows)
		return -EBADMSG;
	r = take_counters(rows, set);
	if (r < 0)
		return r;
	rd_counter_sample_fit(sample, set);
	take_values(rows, sample);
	sample->realtime_ns = time_of(text_of(document, "time"));
	snprintf(sample->boot_id, sizeof(sample->boot_id), "%s", boot ? boot : "");
	if (json_object_object_get_ex(document, "monotonic_seconds", &monotonic)) {
		seconds = json_object_get_double(monotonic);
		if (isfinite(seconds) && seconds > 0 && seconds < 1e9)
			sample->monotonic_ns = (uint64_t)(seconds * 1e9);
	}
	return take_ports(member(document, "ports", json_type_array), set, sample);
}

/* How much memory its tree takes, and perhaps some more. */
static size_t tree_bytes(const char *text, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++)
		n += text[i] == ',' ? VALUE_BYTES : text[i] == '{' || text[i] == '[' ? OBJECT_BYTES : 0;
	return n;
}

int rd_counters_saved(const char *name, const char *text, size_t size, struct rd_counter_set *set,
		      struct rd_counter_sample *sample, struct rd_err *err)
{
	struct json_tokener *tokener;
	_cleanup_json_ struct json_object *document = NULL;
	enum json_tokener_error why;
	int r = -EBADMSG;

	if (size > TEXT_MAX || tree_bytes(text, size) > DOCUMENT_BYTES)
		return rd_err_set(err, EFBIG, name, "more bytes or values than the counters of any host are saved in");
	tokener = json_tokener_new_ex(DEPTH_MAX);
	if (!tokener)
		return rd_err_set(err, ENOMEM, name, "no memory to read it");
	document = json_tokener_parse_ex(tokener, text, (int)size);
	why = json_tokener_get_error(tokener);
	json_tokener_free(tokener);
	if (!document || why != json_tokener_success)
		rd_err_set(err, EBADMSG, name, "is no %s: %s",
			   why == json_tokener_continue ? "whole sample" : "JSON document",
			   why == json_tokener_continue ? "it ends too early" : json_tokener_error_desc(why));
	else if ((r = take_document(document, set, sample)) == -EBADMSG)
		rd_err_set(err, EBADMSG, name, "is no saved sample of counters");
	if (r == -EBADMSG) {
		rd_err_hint(err, "make one: rdmadiag counters --save FILE");
		return r;
	}
	if (r == -EFBIG)
		return rd_err_set(err, EFBIG, name, "has more than %d ports or %zu counters", PORTS_MAX,
				  RD_COUNTERS_MAX);
	return r < 0 ? rd_err_set(err, -r, name, "cannot keep it") : 0;
}
