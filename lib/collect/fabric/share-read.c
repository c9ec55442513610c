/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files about a network that is divided among hosts: documents of counters --fabric --json, and lists of hosts. */
#include <ctype.h>

#include "collect/fabric/fabric.h"
#include "source/bundle/json-read.h"

#define SCHEMA "rdmadiag/counters-fabric/1"
#define FINDINGS_MAX 10000

static bool parse_guid(const char *text, uint64_t *ret)
{
	return text && strncmp(text, "0x", 2) == 0 && rd_parse_uint(text + 2, RD_HEX, UINT64_MAX, ret) == 0;
}

/* A copy that lives as long as `files`; one for equal texts. NULL for NULL. */
static const char *keep_text(struct rd_share_files *files, const char *text)
{
	uint64_t hash = text ? rd_hash(RD_HASH, text, strlen(text)) : 0;

	if (!text)
		return NULL;
	for (size_t probe = 0, i; (i = rd_map_next(&files->by_text, hash, &probe)) != RD_MAP_END;)
		if (strcmp(files->texts.v[i], text) == 0)
			return files->texts.v[i];
	rd_map_put(&files->by_text, hash, files->texts.n);
	rd_texts_keep(&files->texts, text, strlen(text));
	return files->texts.v[files->texts.n - 1];
}

/* Drops the rows of shares that were replaced. */
static void drop_replaced(struct rd_share_files *files)
{
	_cleanup_free_ size_t *moved = rd_alloc(files->n + 1, sizeof(*moved));
	size_t n = 0, rows = 0;

	for (size_t i = 0; i < files->n; i++) {
		moved[i] = files->v[i].replaced ? RD_NONE : n;
		if (files->v[i].replaced)
			rd_findings_deinit(&files->v[i].findings);
		else
			files->v[n++] = files->v[i];
	}
	if (n == files->n)
		return;
	files->n = n;
	for (size_t i = 0; i < files->n_rows; i++) {
		if (moved[files->rows[i].share] == RD_NONE)
			continue;
		files->rows[rows] = files->rows[i];
		files->rows[rows].share = moved[files->rows[i].share];
		rows++;
	}
	files->n_rows = rows;
}

/* Begins a share; its rows follow. NULL: too many. */
static struct rd_share *begin_share(struct rd_share_files *files, const struct rd_share *share)
{
	size_t replaced = 0;

	if (files->sweeps++ >= RD_SHARE_SWEEPS_MAX)
		return NULL;
	for (size_t i = 0; i < files->n; i++)
		replaced += files->v[i].replaced ? files->v[i].found : 0;
	/* Not each time: a file may replace a share with every document. */
	if (2 * replaced > files->n_rows || files->n >= 2 * RD_SHARE_FILES_MAX)
		drop_replaced(files);
	if (files->n >= 2 * RD_SHARE_FILES_MAX)
		return NULL;
	*RD_ADD(files->v, files->n, files->cap) = *share;
	return &files->v[files->n - 1];
}

/* Adds a row to the latest share. -EFBIG: too many. */
static int add_row(struct rd_share_files *files, const struct rd_share_row *row)
{
	if (files->n_rows >= 2 * RD_SHARE_ROWS_MAX)
		return -EFBIG;
	*RD_ADD(files->rows, files->n_rows, files->cap_rows) = *row;
	files->rows[files->n_rows - 1].share = files->n - 1;
	files->v[files->n - 1].found++;
	return 0;
}

struct document {
	struct rd_json json;
	struct rd_share_files *files;
	struct rd_buf name, text; /* of the latest member */
	struct rd_share share;
	bool known, judged, too_many; /* has the schema, and findings; exceeds a bound */
	bool changes;		      /* lists only ports of which a value changed */
};

/* A string, or NULL for null; another type is an error. Valid until the next call. */
static const char *read_text(struct document *d)
{
	if (rd_json_peek(&d->json) == 'n') {
		rd_json_skip(&d->json);
		return NULL;
	}
	return rd_json_text(&d->json, &d->text) ? d->text.data : NULL;
}

/* A number up to `most`; false for null and other values. */
static bool read_number(struct document *d, uint64_t most, uint64_t *ret)
{
	struct rd_json ahead = d->json;

	if (rd_json_uint(&ahead, ret) && *ret <= most && !strchr(".eE", rd_json_peek(&ahead))) {
		d->json = ahead;
		return true;
	}
	rd_json_skip(&d->json);
	return false;
}

static uint64_t number_or_0(struct document *d, uint64_t most)
{
	uint64_t n;

	return read_number(d, most, &n) ? n : 0;
}

static bool read_flag(struct document *d)
{
	char c = rd_json_peek(&d->json);

	rd_json_skip(&d->json);
	return c == 't';
}

/* Seconds; negative: unknown. */
static double read_seconds(struct document *d)
{
	const char *at, *end;
	char number[32] = "";
	double seconds = -1;

	rd_json_peek(&d->json);
	at = d->json.at;
	if (rd_json_skip(&d->json)) {
		end = d->json.at;
		if ((size_t)(end - at) < sizeof(number))
			memcpy(number, at, (size_t)(end - at));
	}
	return rd_parse_real(number, 0, 1e9, &seconds) == 0 ? seconds : -1;
}

static bool is(const struct document *d, const char *name)
{
	return strcmp(d->name.data, name) == 0;
}

/* Whether there is an object; another value is skipped. */
static bool enter_object(struct document *d)
{
	return rd_json_peek(&d->json) == '{' ? rd_json_enter(&d->json, '{') : rd_json_skip(&d->json) && false;
}

/* A member of a port. The age is kept in read_ns until the time of the document is known. */
static void read_port_member(struct document *d, struct rd_share_row *row, bool *port, bool *guid)
{
	uint64_t n;
	double age;

	if (is(d, "node_guid")) {
		*guid = parse_guid(read_text(d), &row->guid);
	} else if (is(d, "port")) {
		*port = read_number(d, 255, &n);
		row->port = *port ? (unsigned)n : 0;
	} else if (is(d, "node")) {
		row->node = keep_text(d->files, read_text(d));
	} else if (is(d, "error")) {
		row->error = keep_text(d->files, read_text(d));
	} else if (is(d, "kind")) {
		row->kind = rd_fabric_number_of(rd_node_kind_name, RD_NODE_ROUTER, read_text(d)) ?: RD_NODE_CA;
	} else if (is(d, "state")) {
		row->state = rd_fabric_number_of(rd_link_state_name, RD_LINK_ACTIVE, read_text(d));
	} else if (is(d, "link")) {
		const char *text = read_text(d);
		uint64_t width;

		if (text && rd_take_uint(&text, RD_DECIMAL, 12, &width) >= 0 && strncmp(text, "x ", 2) == 0) {
			row->speed = rd_fabric_number_of(rd_link_speed_name, RD_SPEEDS - 1, text + 2);
			row->width = row->speed ? (unsigned)width : 0;
		}
	} else if (is(d, "lid")) {
		row->lid = (uint16_t)number_or_0(d, 65535);
	} else if (is(d, "fresh")) {
		row->fresh = read_flag(d);
	} else if (is(d, "age_seconds")) {
		age = read_seconds(d);
		row->read_ns = age < 0 ? UINT64_MAX : (uint64_t)(age * 1e9);
	} else if (is(d, "peer")) {
		for (bool object = enter_object(d); object && rd_json_member(&d->json, &d->name);)
			if (is(d, "port"))
				row->peer_port = (unsigned)number_or_0(d, 255);
			else if (!is(d, "node_guid"))
				rd_json_skip(&d->json);
			else if (!parse_guid(read_text(d), &row->peer_guid))
				row->peer_guid = 0;
	} else if (is(d, "counters")) {
		for (bool object = enter_object(d); object && rd_json_member(&d->json, &d->name);) {
			size_t counter = rd_pma_find_counter(d->name.data);

			if (counter >= RD_SHARE_COUNTERS)
				rd_json_skip(&d->json);
			else
				*(read_number(d, UINT64_MAX, &row->values[counter]) ? &row->known : &row->nulls) |=
					UINT64_C(1) << counter;
		}
	} else {
		rd_json_skip(&d->json);
	}
}

static void read_ports(struct document *d)
{
	rd_json_enter(&d->json, '[');
	while (rd_json_element(&d->json)) {
		struct rd_share_row row = { .kind = RD_NODE_CA, .read_ns = UINT64_MAX };
		bool port = false, guid = false;

		rd_json_enter(&d->json, '{');
		while (rd_json_member(&d->json, &d->name))
			read_port_member(d, &row, &port, &guid);
		if (d->json.failed || !port || !guid) {
			d->json.failed = true;
			return;
		}
		if (add_row(d->files, &row) < 0) {
			d->too_many = d->json.failed = true;
			return;
		}
	}
}

static enum rd_severity severity_of(const char *text)
{
	for (unsigned severity = RD_SEV_CRITICAL; text && severity >= RD_SEV_UNKNOWN; severity--)
		if (strcmp(text, rd_severity_name((enum rd_severity)severity)) == 0)
			return (enum rd_severity)severity;
	return RD_SEV_NOTE;
}

static void read_owned(struct document *d, char **to)
{
	free(*to);
	*to = rd_dup_if(read_text(d));
}

/* What to do is one text again: commands, and advice behind a mark (base/fix.h). */
static void read_fix(struct document *d, const char *mark, struct rd_finding *f)
{
	_cleanup_free_ char *before = f->fix;
	const char *text = read_text(d);

	f->fix = text ? rd_text("%s%s%s%s", before ? before : "", before ? "\n" : "", mark, text) : rd_dup_if(before);
}

static void read_findings(struct document *d)
{
	d->judged = true;
	rd_json_enter(&d->json, '[');
	while (rd_json_element(&d->json)) {
		struct rd_finding finding = { .severity = RD_SEV_NOTE };

		rd_json_enter(&d->json, '{');
		while (rd_json_member(&d->json, &d->name))
			if (is(d, "id"))
				finding.id = keep_text(d->files, read_text(d));
			else if (is(d, "severity"))
				finding.severity = severity_of(read_text(d));
			else if (is(d, "node_guid"))
				parse_guid(read_text(d), &finding.node_guid);
			else if (is(d, "port"))
				finding.port = (unsigned)number_or_0(d, 255);
			else if (is(d, "harm"))
				finding.harm = (double)number_or_0(d, (uint64_t)1 << 53);
			else if (is(d, "title"))
				finding.title = keep_text(d->files, read_text(d));
			else if (is(d, "why"))
				finding.why = keep_text(d->files, read_text(d));
			else if (is(d, "subject"))
				read_owned(d, &finding.subject);
			else if (is(d, "observed"))
				read_owned(d, &finding.observed);
			else if (is(d, "expected"))
				read_owned(d, &finding.expected);
			else if (is(d, "fix"))
				read_fix(d, "", &finding);
			else if (is(d, "advice"))
				read_fix(d, "# ", &finding);
			else
				rd_json_skip(&d->json);
		if (!finding.id || !finding.title || d->share.findings.n >= FINDINGS_MAX)
			d->json.failed = true;
		finding.id = finding.id ? finding.id : "";
		finding.title = finding.title ? finding.title : "";
		rd_finding_add(&d->share.findings, &finding);
	}
}

static void read_members(struct document *d)
{
	const char *text;

	rd_json_enter(&d->json, '{');
	while (rd_json_member(&d->json, &d->name)) {
		if (is(d, "schema")) {
			text = read_text(d);
			d->known = text && strcmp(text, SCHEMA) == 0;
			if (!d->known)
				return;
		} else if (is(d, "host")) {
			d->share.host = keep_text(d->files, read_text(d));
		} else if (is(d, "time")) {
			d->share.time_ns = rd_rfc3339_parse(read_text(d));
		} else if (is(d, "changes_only")) {
			d->changes = read_flag(d);
		} else if (is(d, "shard")) {
			uint64_t n;

			for (bool object = enter_object(d); object && rd_json_member(&d->json, &d->name);) {
				if (is(d, "index"))
					d->share.index = (unsigned)number_or_0(d, 1000000);
				else if (is(d, "of"))
					d->share.of = (unsigned)number_or_0(d, 1000000);
				else if (is(d, "all_ports") && read_number(d, UINT32_MAX, &n))
					RD_SET(d->share.all_ports, n);
				else if (is(d, "topology") && parse_guid(read_text(d), &n))
					RD_SET(d->share.topology, n);
				else if (!is(d, "all_ports") && !is(d, "topology"))
					rd_json_skip(&d->json);
			}
			if (d->share.index > d->share.of)
				d->json.failed = true;
		} else if (is(d, "sweep")) {
			rd_json_enter(&d->json, '{');
			while (rd_json_member(&d->json, &d->name))
				if (is(d, "ports"))
					d->share.ports = (size_t)number_or_0(d, RD_SHARE_ROWS_MAX);
				else
					rd_json_skip(&d->json);
		} else if (is(d, "ports")) {
			read_ports(d);
		} else if (is(d, "findings")) {
			read_findings(d);
		} else {
			rd_json_skip(&d->json);
		}
	}
}

/* Completes the latest share, which has only changes and whose rows begin at `row`, by what it does not say of the ports of the one
 * before. Both have them in the same order, and so has the result. */
static bool complete(struct document *d, size_t share, size_t row)
{
	struct rd_share_files *files = d->files;
	size_t n = files->n_rows - row, at = 0;
	_cleanup_free_ struct rd_share_row *changes = rd_alloc(n + 1, sizeof(*changes));

	memcpy(changes, files->rows + row, n * sizeof(*changes));
	files->n_rows = row;
	files->v[files->n - 1].found = 0;
	for (size_t i = 0; i < row; i++) {
		struct rd_share_row whole = files->rows[i], *new = &changes[at];
		bool changed = at < n && whole.guid == new->guid &&whole.port == new->port;

		if (whole.share != share)
			continue;
		whole.fresh = changed ? new->fresh : true;
		whole.error = changed ? new->error : NULL;
		whole.read_ns = changed ? new->read_ns : d->share.time_ns;
		if (changed)
			whole.known = (whole.known & ~new->nulls) | new->known;
		for (size_t k = 0; changed && k < RD_SHARE_COUNTERS; k++)
			if (new->known >> k & 1)
				whole.values[k] = new->values[k];
		at += changed;
		if (add_row(files, &whole) < 0) {
			d->too_many = true;
			return false;
		}
	}
	return at == n;
}

/* Reads a document; its rows are added to a share that is completed afterwards. */
static bool read_document(struct document *d, const char *name)
{
	struct rd_share *share;
	size_t begun, row, before = RD_NONE;

	d->share = (struct rd_share){ .file = name, .host = "" };
	if (!begin_share(d->files, &d->share)) {
		d->too_many = true;
		return false;
	}
	begun = d->files->n - 1;
	row = d->files->n_rows;
	d->known = d->judged = d->changes = false;
	read_members(d);
	share = &d->files->v[begun];
	d->share.found = share->found;
	*share = d->share;
	if (d->json.failed || !d->known || !d->judged || !share->time_ns || !share->host || !share->host[0])
		return false;
	for (size_t i = row; i < d->files->n_rows; i++) {
		struct rd_share_row *r = &d->files->rows[i];

		r->read_ns = r->read_ns <= share->time_ns ? share->time_ns - r->read_ns : 0;
	}
	/* Marks the older one of this share and an earlier one of the same file, host and share as replaced. */
	for (size_t i = 0; i < d->files->n; i++) {
		struct rd_share *old = &d->files->v[i];

		if (old != share && !old->replaced && old->index == share->index && old->of == share->of &&
		    old->file == share->file && strcmp(old->host, share->host) == 0) {
			*(old->time_ns > share->time_ns ? &share->replaced : &old->replaced) = true;
			before = i;
		}
	}
	return !d->changes || (before != RD_NONE && complete(d, before, row));
}

int rd_share_read(const char *name, const char *text, size_t size, struct rd_share_files *files, struct rd_err *err)
{
	struct document d = { .files = files };
	size_t before = files->n;
	bool good = true;

	rd_json_init(&d.json, text, size);
	while (good && rd_json_peek(&d.json) == '{')
		good = read_document(&d, name);
	good &= rd_json_peek(&d.json) == '\0' && d.json.at == d.json.end;
	rd_buf_deinit(&d.name);
	rd_buf_deinit(&d.text);
	drop_replaced(files);
	if (d.too_many || (good && (files->n > RD_SHARE_FILES_MAX || files->n_rows > RD_SHARE_ROWS_MAX)))
		return rd_err_set(err, EFBIG, name, "more than %d ports, %d shares or %d sweeps in all",
				  RD_SHARE_ROWS_MAX, RD_SHARE_FILES_MAX, RD_SHARE_SWEEPS_MAX);
	if (good)
		return files->n == before ? rd_err_set(err, ENODATA, name, "no sweep in this file") : 0;
	rd_err_set(err, EBADMSG, name, "byte %zu: not a whole document of counters --fabric --json",
		   (size_t)(d.json.at - text));
	return rd_err_hint(err, "write it again on that host: counters --fabric --shards FILE --json");
}

void rd_share_files_deinit(struct rd_share_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		rd_findings_deinit(&files->v[i].findings);
	RD_FREE(files->v, files->rows);
	rd_map_deinit(&files->by_text);
	rd_texts_deinit(&files->texts);
	*files = (struct rd_share_files){ 0 };
}

/* ---- lists of hosts */

#define HOSTS_MAX 1000000

/* RFC 1123, and underscores, which some sites use. */
static bool is_host(const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)word[i]) && !strchr(".-_", word[i]))
			return false;
	return len > 0 && len <= 253;
}

int rd_hostfile_parse(const char *name, const char *text, size_t size, struct rd_texts *ret, struct rd_err *err)
{
	size_t line = 0;

	for (const char *at = text, *end = text + size; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at)), *word = at;
		const char *line_end = stop ? stop : end;
		size_t len = 0;

		line++;
		at = stop ? stop + 1 : end;
		while (word < line_end && isspace((unsigned char)*word))
			word++;
		while (word + len < line_end && !isspace((unsigned char)word[len]) && word[len] != '#')
			len++;
		if (len == 0)
			continue;
		if (!is_host(word, len)) {
			rd_err_set(err, EBADMSG, name, "line %zu: invalid host name", line);
			return rd_err_hint(
				err,
				"one host name per line; to expand a Slurm host list: scontrol show hostnames LIST > FILE");
		}
		if (ret->n >= HOSTS_MAX)
			return rd_err_set(err, EFBIG, name, "more than %d hosts", HOSTS_MAX);
		rd_texts_keep(ret, word, len);
	}
	return ret->n == 0 ? rd_err_set(err, ENODATA, name, "no host names") : 0;
}
