/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/explain/log.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "analyse/explain/forms.h"
#include "analyse/explain/match.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/siphash.h"
#include "model/host/host.h"

/* A line with details follows the one that it belongs to at once, or after lines of other processes. */
#define DETAIL_WITHIN 8
#define ERRNO_MOST 133

/* Values that tell lines apart; the others are those of the first one. */
static const enum rd_log_field identity[] = { RD_LOG_IBDEV,   RD_LOG_PORT,	  RD_LOG_NETDEV, RD_LOG_PCI,
					      RD_LOG_STATUS,  RD_LOG_STATUS_NAME, RD_LOG_VENDOR, RD_LOG_ERRNO,
					      RD_LOG_ERRNAME, RD_LOG_SYNDROME,	  RD_LOG_CMD,	 RD_LOG_CMD_STATUS,
					      RD_LOG_EVENT,   RD_LOG_EVENT_N };

/* What names of devices begin with, before a digit or "_", and the table of the driver's vendor errors, if there is one and no network
 * interface has such a name. Devices may have other names. */
static const struct {
	const char *begin, *table;
} drivers[] = {
	{ "bnxt_re", "vendor-bnxt_re" },
	{ "efa", "vendor-efa" },
	{ "rdmap", "vendor-efa" },
	{ "erdma", "vendor-erdma" },
	{ "irdma", "vendor-irdma" },
	{ "hns_", "vendor-hns" },
	{ "ionic", "vendor-ionic" },
	{ "mana", "vendor-mana" },
	{ "rxe", "vendor-rxe" },
	{ "mlx5", NULL },
	{ "mlx4", NULL },
	{ "rocep", NULL },
	{ "roces", NULL },
	{ "roce", NULL },
	{ "ibp", NULL },
	{ "ibs", NULL },
	{ "siw", NULL },
	{ "hfi1", NULL },
};

/* NULL: not known. */
static const char *vendor_table(const char *ibdev)
{
	for (size_t i = 0; ibdev && i < RD_ARRAY_SIZE(drivers); i++)
		if (drivers[i].table && strncmp(ibdev, drivers[i].begin, strlen(drivers[i].begin)) == 0)
			return drivers[i].table;
	return NULL;
}

static void add_code(struct rd_log_line *line, const struct rd_log_form *code)
{
	size_t i = 0;

	while (i < RD_ARRAY_SIZE(line->codes) && line->codes[i] && line->codes[i] != code)
		i++;
	if (i < RD_ARRAY_SIZE(line->codes))
		line->codes[i] = code;
	/* The queue pair of a request that was flushed had failed before. */
	if (code->consequence && strcmp(code->table, "status") == 0)
		line->rank = RD_LOG_FOLLOWS;
}

static void look_up(const struct rd_log_forms *forms, const struct rd_log_value *value, struct rd_log_line *line)
{
	const char *table = value->table;
	_cleanup_free_ char *text = rd_dup_part(value->text, value->size);
	const struct rd_log_form *code;

	/* Most lines with vendor errors are of mlx5; what is shown names the driver. */
	if (table && strcmp(table, "vendor") == 0)
		table = vendor_table(line->values[RD_LOG_IBDEV]) ?: "vendor-mlx5";
	if (!table)
		return;
	code = value->number.known == RD_OK			? rd_log_code(forms, table, value->number.v) :
	       rd_log_fields[value->field].class == RD_LOG_REST ? rd_log_code_in(forms, table, text) :
								  rd_log_code_named(forms, table, text);
	if (code)
		add_code(line, code);
	else if (value->field < RD_LOG_FIELDS && value->number.known == RD_OK && rd_log_has_table(forms, table))
		line->not_public |= UINT64_C(1) << value->field;
}

/* "device driver", "device 3" and TCP ports are none: names of devices begin with a letter and have a digit, ports have 8 bits and begin
 * with 1. */
static bool is_possible(const struct rd_log_value *value)
{
	switch (value->field) {
	case RD_LOG_IBDEV:
		for (size_t i = 0; i < value->size && isalpha((unsigned char)value->text[0]); i++)
			if (isdigit((unsigned char)value->text[i]))
				return true;
		return false;
	case RD_LOG_PCI: /* 0000:81:00.0, 81:00.0, 0000:81:00 */
		return memchr(value->text, ':', value->size) &&
		       (memchr(value->text, '.', value->size) ||
			memrchr(value->text, ':', value->size) != memchr(value->text, ':', value->size));
	case RD_LOG_GUID:
		return value->size >= 8;
	case RD_LOG_ERRNO: /* as the kernel returns them in pointers */
		return value->number.v <= 4095;
	case RD_LOG_NETDEV: /* where others print it, RDMA drivers print the name of their device; "interface is down" */
		return !vendor_table(value->text) && strncmp(value->text, "is ", 3) != 0;
	case RD_LOG_PORT:
		return value->number.v && value->number.v <= UINT8_MAX;
	case RD_LOG_QPN:
	case RD_LOG_RQPN:
		return value->text[0] != '-' && value->number.v <= 0xffffff;
	default:
		return true;
	}
}

/* The first value of a field stays. */
static void take_values(const struct rd_log_match *match, struct rd_log_line *line)
{
	for (size_t i = 0; i < match->n; i++) {
		const struct rd_log_value *value = &match->v[i];

		if (value->field >= RD_LOG_FIELDS || line->values[value->field] || !is_possible(value))
			continue;
		line->values[value->field] = rd_dup_part(value->text, value->size);
		if (value->number.known == RD_OK)
			RD_SET(line->numbers[value->field], value->number.v);
	}
}

static void take(const struct rd_log_forms *forms, const struct rd_log_match *match, struct rd_log_line *line)
{
	take_values(match, line);
	for (size_t i = 0; i < match->n; i++)
		look_up(forms, &match->v[i], line);
}

static void set_value(struct rd_log_line *line, enum rd_log_field field, const char *text, size_t size, uint64_t number)
{
	line->values[field] = rd_dup_part(text, size);
	if (rd_log_fields[field].class == RD_LOG_NUMBER)
		RD_SET(line->numbers[field], number);
}

/* A word that can only be the name of a device: "mlx5_0", "rocep33s0f1"; IPoIB interfaces have such names, too. */
static void find_device(struct rd_log_line *line)
{
	const char *netdev = line->values[RD_LOG_NETDEV];

	for (const char *at = line->text; *at && !line->values[RD_LOG_IBDEV]; at++) {
		if (at > line->text && (isalnum((unsigned char)at[-1]) || strchr("_.-/", at[-1])))
			continue;
		for (size_t i = 0; i < RD_ARRAY_SIZE(drivers) && !line->values[RD_LOG_IBDEV]; i++) {
			size_t begin = strlen(drivers[i].begin), size = begin;

			if (strncmp(at, drivers[i].begin, begin) != 0 ||
			    (!isdigit((unsigned char)at[begin]) && at[begin - 1] != '_' && at[begin] != '_') ||
			    (netdev && strncmp(at, netdev, strlen(netdev)) == 0))
				continue;
			while (isalnum((unsigned char)at[size]) || at[size] == '_')
				size++;
			if (isdigit((unsigned char)at[size - 1]) && size > begin)
				set_value(line, RD_LOG_IBDEV, at, size, 0);
		}
	}
}

/* "0000:81:00.0", with its domain (else it may be a time), if the line has one such address. */
static void find_pci(struct rd_log_line *line)
{
	const char *found = NULL;
	char address[2][16] = { "" };

	for (const char *at = line->text; (at = strchr(at, '.')); at++) {
		const char *begin = at;
		struct rd_pci pci;

		while (begin > line->text && (isxdigit((unsigned char)begin[-1]) || begin[-1] == ':'))
			begin--;
		begin += strspn(begin, ":");
		snprintf(address[1], sizeof(address[1]), "%.*s", (int)(at - begin) + 2, begin);
		if (!isdigit((unsigned char)at[1]) || isalnum((unsigned char)at[2]) || strcspn(address[1], ":") < 4 ||
		    rd_pci_parse(address[1], &pci) < 0)
			continue;
		if (found && strcmp(address[0], address[1]) != 0)
			return;
		found = begin;
		memcpy(address[0], address[1], sizeof(address[0]));
	}
	if (found)
		set_value(line, RD_LOG_PCI, found, strlen(address[0]), 0);
}

/* "rc = -107", "failed (-22)": a negative number in the range of errnos, by itself. With -1 most functions only say that they failed. */
static void find_errno(struct rd_log_line *line)
{
	for (const char *at = line->text; (at = strchr(at, '-')) && !line->values[RD_LOG_ERRNO]; at++) {
		const char *end = at + 1;
		uint64_t number;

		if (at == line->text || !strchr(" (=:[", at[-1]) ||
		    rd_take_uint(&end, RD_DECIMAL, ERRNO_MOST, &number) < 0 || number <= 1 ||
		    (*end && !strchr(" )],;.", *end)))
			continue;
		set_value(line, RD_LOG_ERRNO, at, (size_t)(end - at), number);
	}
}

static bool has_code(const struct rd_log_line *line, const char *table)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(line->codes) && line->codes[i]; i++)
		if (strstr(line->codes[i]->table, table))
			return true;
	return false;
}

/* What a line has besides the values of its form: the device, its PCI address, and the errno, whose text `code` (NULL: none) may be in it. */
static void find_more(const struct rd_log_forms *forms, const struct rd_log_form *code, struct rd_log_line *line)
{
	if (!line->values[RD_LOG_IBDEV])
		find_device(line);
	if (!line->values[RD_LOG_PCI])
		find_pci(line);
	/* One of several values of a kind may be known. */
	for (size_t i = 0; i < RD_LOG_FIELDS; i++)
		if (rd_log_fields[i].table && has_code(line, rd_log_fields[i].table))
			line->not_public &= ~(UINT64_C(1) << i);
	if (has_code(line, "errno"))
		return;
	find_errno(line);
	if (!code && line->numbers[RD_LOG_ERRNO].known == RD_OK)
		code = rd_log_code(forms, "errno", line->numbers[RD_LOG_ERRNO].v);
	if (!code || line->form == code)
		return;
	add_code(line, code);
	if (!line->values[RD_LOG_ERRNO] && code->value.known == RD_OK) {
		_cleanup_free_ char *number = rd_text("%u", (unsigned)code->value.v);

		set_value(line, RD_LOG_ERRNO, number, strlen(number), code->value.v);
	}
}

static uint64_t hash_of(const struct rd_log_line *line)
{
	struct rd_sipkey key;
	uint64_t ret;

	rd_sipkey_of_process(&key);
	ret = rd_siphash(&key, &line->form, sizeof(line->form));
	for (size_t i = 0; i < RD_ARRAY_SIZE(identity); i++) {
		const char *value = line->values[identity[i]];

		key.k[0] ^= ret;
		ret = rd_siphash(&key, value ? value : "", value ? strlen(value) + 1 : 0);
	}
	return ret;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same(const struct rd_log_line *a, const struct rd_log_line *b)
{
	bool same = a->form == b->form && same_text(a->host, b->host) && same_text(a->file, b->file);

	for (size_t i = 0; i < RD_ARRAY_SIZE(identity) && same; i++)
		same = same_text(a->values[identity[i]], b->values[identity[i]]);
	return same;
}

static void line_free(struct rd_log_line *line)
{
	for (size_t i = 0; i < RD_LOG_FIELDS; i++)
		free(line->values[i]);
	RD_FREE(line->text, line->host);
}

static void count_peer(struct rd_log_reader *reader, const struct rd_log_line *line)
{
	const char *name = line->values[RD_LOG_PEER] ? line->values[RD_LOG_PEER] : line->values[RD_LOG_PGID];
	struct rd_log *log = reader->log;
	struct rd_log_peer *peer = NULL;

	if (!name)
		return;
	for (size_t i = 0; i < log->n_peers && !peer; i++)
		if (strcmp(log->peers[i].name, name) == 0)
			peer = &log->peers[i];
	if (!peer && log->n_peers < RD_LOG_PEERS) {
		peer = RD_ADD(log->peers, log->n_peers, log->cap_peers);
		*peer = (struct rd_log_peer){ .name = rd_dup(name) };
	}
	if (peer) {
		peer->lines++;
		peer->files |= UINT64_C(1) << (reader->files < 64 ? reader->files : 63);
	}
}

/* Takes ownership of the line's texts. */
static void add_line(struct rd_log_reader *reader, struct rd_log_line *line)
{
	struct rd_log *log = reader->log;
	uint64_t hash = hash_of(line);
	size_t probe = 0, same;

	count_peer(reader, line);
	do
		same = rd_map_next(&log->map, hash, &probe);
	while (same != RD_MAP_END && !is_same(&log->v[same], line));
	if (same != RD_MAP_END || log->n == RD_LOG_MAX) {
		++*(same != RD_MAP_END ? &log->v[same].count : &log->dropped);
		line_free(line);
		reader->last = 0;
		return;
	}
	rd_map_put(&log->map, hash, log->n);
	*RD_ADD(log->v, log->n, log->cap) = *line;
	reader->last = log->n;
	reader->last_number = reader->number;
}

static bool add_detail(struct rd_log_reader *reader, const struct rd_log_match *match)
{
	if (!match->form->detail || !reader->last || reader->number - reader->last_number > DETAIL_WITHIN)
		return false;
	take(reader->forms, match, &reader->log->v[reader->last - 1]);
	return true;
}

static void read_line(struct rd_log_reader *reader, const char *text)
{
	struct rd_log_line line = { .file = reader->file, .number = reader->number, .count = 1 };
	struct rd_log_match match;
	const char *host;
	size_t size;

	if (!rd_log_match(reader->forms, text, &match)) {
		reader->log->unknown += text[strspn(text, " \t\r")] != '\0';
		return;
	}
	if (add_detail(reader, &match))
		return;
	line.form = match.form;
	line.text = rd_dup(text);
	size = rd_log_host(text, &host);
	line.host = size ? rd_dup_part(host, size) : NULL;
	take(reader->forms, &match, &line);
	find_more(reader->forms, match.err, &line);
	add_line(reader, &line);
}

/* A line without its newline. */
static void end_line(struct rd_log_reader *reader, const char *text, size_t size)
{
	size_t kept = size < RD_LOG_LINE_MAX ? size : RD_LOG_LINE_MAX;
	char line[RD_LOG_LINE_MAX + 1];

	reader->log->cut += kept < size;
	while (kept && text[kept - 1] == '\r')
		kept--;
	for (size_t i = 0; i < kept; i++)
		line[i] = text[i] ? text[i] : '?';
	line[kept] = '\0';
	read_line(reader, line);
}

/* Whole lines; those in which no form can be are only counted. */
static void read_lines(struct rd_log_reader *reader, const char *text, size_t size)
{
	while (size > 0) {
		size_t at = rd_log_skip(reader->forms, text, size), skipped = 0;
		const char *begin = memrchr(text, '\n', at), *end;

		begin = at == size ? text + size : begin ? begin + 1 : text;
		for (const char *c = text; c < begin; c++)
			skipped += *c == '\n';
		reader->number += skipped;
		reader->log->unknown += skipped;
		if (at == size)
			return;
		reader->number++;
		end = memchr(text + at, '\n', size - at);
		end_line(reader, begin, (size_t)(end - begin));
		size -= (size_t)(end + 1 - text);
		text = end + 1;
	}
}

void rd_log_begin(struct rd_log_reader *reader, const char *file)
{
	reader->files += reader->file && file;
	reader->file = file;
	reader->number = 0;
	reader->last = 0;
}

static void keep_part(struct rd_log_reader *reader, const char *text, size_t size)
{
	size_t room = reader->part.len < RD_LOG_LINE_MAX + 1 ? RD_LOG_LINE_MAX + 1 - reader->part.len : 0;

	rd_buf_add(&reader->part, text, size < room ? size : room);
}

/* The last line of a file may have no newline. */
static void end_part(struct rd_log_reader *reader)
{
	if (reader->part.len) {
		reader->number++;
		end_line(reader, reader->part.data, reader->part.len);
	}
	rd_buf_deinit(&reader->part);
}

void rd_log_feed(struct rd_log_reader *reader, const char *text, size_t size)
{
	const char *first = memchr(text, '\n', size), *last = memrchr(text, '\n', size);

	if (!first) {
		keep_part(reader, text, size);
		return;
	}
	if (reader->part.len) {
		keep_part(reader, text, (size_t)(first - text));
		end_part(reader);
		size -= (size_t)(first + 1 - text);
		text = first + 1;
	}
	if (last >= text)
		read_lines(reader, text, (size_t)(last + 1 - text));
	keep_part(reader, last + 1, size - (size_t)(last + 1 - text));
}

void rd_log_end(struct rd_log_reader *reader)
{
	end_part(reader);
	reader->log->lines += reader->number;
}

static int compare_lines(const void *a, const void *b)
{
	const struct rd_log_line *x = a, *y = b;

	return x->rank != y->rank ? (int)x->rank - (int)y->rank : (x->order > y->order) - (x->order < y->order);
}

static int compare_peers(const void *a, const void *b)
{
	const struct rd_log_peer *x = a, *y = b;
	int files = __builtin_popcountll(y->files) - __builtin_popcountll(x->files);

	return files ? files : (x->lines < y->lines) - (x->lines > y->lines);
}

/* The field with this name in patterns or documents; RD_LOG_FIELDS: none. */
static enum rd_log_field find_field(const char *name, size_t size)
{
	enum rd_log_field i = 0;

	while (i < RD_LOG_FIELDS &&
	       !(strncmp(rd_log_fields[i].name, name, size) == 0 && !rd_log_fields[i].name[size]) &&
	       !(strncmp(rd_log_fields[i].key, name, size) == 0 && !rd_log_fields[i].key[size]))
		i++;
	return i;
}

bool rd_log_add_word(struct rd_log_reader *reader, const char *word)
{
	const char *is = strchr(word, '=');
	struct rd_log_line line = { .count = 1 };
	struct rd_log_value value = { .field = RD_LOG_FIELDS };

	if (is) {
		value.field = find_field(word, (size_t)(is - word));
		if (value.field == RD_LOG_FIELDS || !rd_log_fields[value.field].table)
			return false;
		value.table = rd_log_fields[value.field].table;
		value.text = is + 1;
		value.size = strlen(is + 1);
		rd_log_take_number(is + 1, &value);
		look_up(reader->forms, &value, &line);
		line.form = line.codes[0];
		line.codes[0] = NULL;
	} else {
		line.form = rd_log_form_named(reader->forms, word);
	}
	if (!line.form)
		return false;
	line.text = rd_dup(word);
	*RD_ADD(reader->log->v, reader->log->n, reader->log->cap) = line;
	return true;
}

char *rd_log_fill(const struct rd_log_line *line, const char *text)
{
	_cleanup_buf_ struct rd_buf buf = { 0 };

	for (const char *open; (open = strchr(text, '{'));) {
		size_t size = strcspn(open + 1, "}");
		enum rd_log_field field = find_field(open + 1, size);

		rd_buf_add(&buf, text, (size_t)(open - text));
		if (field == RD_LOG_FIELDS || !open[1 + size] || !line->values[field])
			return NULL;
		if (field == RD_LOG_QPN || field == RD_LOG_RQPN)
			rd_buf_uint(&buf, line->numbers[field].v);
		else
			rd_buf_str(&buf, line->values[field]);
		text = open + size + 2;
	}
	rd_buf_str(&buf, text);
	return RD_TAKE(buf.data);
}

void rd_log_sort(struct rd_log *log)
{
	for (size_t i = 0; i < log->n; i++) {
		struct rd_log_line *line = &log->v[i];

		if (line->form->consequence)
			line->rank = RD_LOG_FOLLOWS;
		else if (line->rank == RD_LOG_FAILURE && line->form->severity == RD_SEV_NOTE)
			line->rank = RD_LOG_NOTE;
		line->order = i;
	}
	if (log->n)
		qsort(log->v, log->n, sizeof(*log->v), compare_lines);
	if (log->n_peers)
		qsort(log->peers, log->n_peers, sizeof(*log->peers), compare_peers);
}
