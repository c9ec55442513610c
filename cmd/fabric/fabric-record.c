/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric --record: rows for a database, or what changed. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/rfc3339.h"
#include "base/text.h"
#include "fabric-cmd.h"
#include "model/fabric/fabric.h"
#include "model/fabric/share.h"
#include "source/opener/new-file.h"
#include "source/opener/opener.h"

/* ---- FILE.csv */

bool fabric_csv_wanted(const char *path)
{
	size_t len = strlen(path);

	return len > 4 && strcmp(path + len - 4, ".csv") == 0;
}

static void add_heading(struct rd_buf *out)
{
	rd_buf_str(out, "time,host,share,shares,topology,all_ports,look_ports,look_fresh,node_guid,port,node"
			","
			"kind,lid,state,link,peer_guid,peer_port,fresh,age_seconds,error,saturated");
	for (size_t i = 0; i < RD_SHARE_COUNTERS; i++)
		rd_buf_printf(out, ",%s", rd_pma_counters[i].name);
	rd_buf_str(out, "\n");
}

/* Whether the open file is empty or a recording. */
static bool is_recording(int fd)
{
	_cleanup_buf_ struct rd_buf heading = { 0 };
	char head[1024];
	struct stat st;
	ssize_t n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? pread(fd, head, sizeof(head), 0) : -1;
	size_t size;

	add_heading(&heading);
	/* The columns of a later version follow those of this one. */
	size = heading.len - 1 < sizeof(head) ? heading.len - 1 : sizeof(head);
	return n == 0 || (n > 0 && (size_t)n >= size && memcmp(head, heading.data, size) == 0);
}

int fabric_csv_open(struct fabric_session *s, const char *path, struct fabric_csv *csv, struct rd_err *err)
{
	struct rd_report report;

	*csv = (struct fabric_csv){ .s = s, .path = path, .fd = rd_open_for_update(path, err) };
	if (csv->fd < 0)
		return csv->fd;
	if (!is_recording(csv->fd)) {
		rd_err_set(err, EEXIST, path, "not a recording of counters --fabric: not overwritten");
		rd_err_hint(err, "use another file name");
		return -EEXIST;
	}
	if (ftruncate(csv->fd, 0) < 0)
		return rd_err_set(err, errno, path, "cannot write");
	rd_output_init(s->ctx, &report);
	csv->host = report.host ? rd_text("%s", report.host) : NULL;
	rd_report_deinit(&report);
	return 0;
}

void fabric_csv_close(struct fabric_csv *csv)
{
	rd_buf_deinit(&csv->out);
	free(csv->host);
	if (csv->fd >= 0)
		close(csv->fd);
	csv->fd = -1;
}

/* ---- rotation */

/* Whether a full file may take this name. */
static bool is_free(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool fits;

	if (fd < 0)
		return errno == ENOENT;
	fits = is_recording(fd);
	close(fd);
	return fits;
}

/* FILE becomes FILE.1, FILE.1 becomes FILE.2, and so on. A process without privileges cannot rename. */
static int rename_files(const struct fabric_csv *csv)
{
	if (rd_opener_used())
		return -EPERM;
	for (unsigned i = FABRIC_CSV_KEPT; i > 0; i--) {
		_cleanup_free_ char *from = i == 1 ? rd_text("%s", csv->path) : rd_text("%s.%u", csv->path, i - 1);
		_cleanup_free_ char *to = rd_text("%s.%u", csv->path, i);

		if (!is_free(to))
			return -EEXIST;
		if (rename(from, to) < 0 && errno != ENOENT)
			return -errno;
	}
	return 0;
}

static void rotate(struct fabric_csv *csv)
{
	unsigned mb = csv->s->cmd->record_mb ? csv->s->cmd->record_mb : FABRIC_CSV_MB;
	struct rd_err err = { 0 };
	int r, fd;

	if (csv->unrotated || csv->size == 0 || csv->size + csv->out.len <= (uint64_t)mb << 20)
		return;
	r = rename_files(csv);
	fd = r < 0 ? r : rd_open_for_update(csv->path, &err);
	if (fd < 0) {
		rd_warn(csv->s->ctx, "%s: cannot begin a new file: %s; the file grows", csv->path, rd_errno_text(-fd));
		csv->unrotated = true;
		return;
	}
	close(csv->fd);
	csv->fd = fd;
	csv->size = 0;
}

/* ---- rows */

/* A field of RFC 4180: quoted if it has a separator, a quote or a line break. Other control characters are escaped. */
static void add_text(struct rd_buf *out, const char *text)
{
	_cleanup_buf_ struct rd_buf safe = { 0 };

	rd_buf_str(out, ",");
	if (!text || !*text)
		return;
	rd_buf_safe(&safe, text, strlen(text));
	if (!strpbrk(safe.data, ",\"\r\n")) {
		rd_buf_str(out, safe.data);
		return;
	}
	rd_buf_str(out, "\"");
	for (const char *c = safe.data; *c; c++)
		rd_buf_printf(out, *c == '"' ? "\"\"" : "%c", *c);
	rd_buf_str(out, "\"");
}

void fabric_csv_add(struct fabric_csv *csv, uint64_t time_ns)
{
	const struct rd_fabric *fabric = &csv->s->run.fabric;
	_cleanup_buf_ struct rd_buf look = { 0 };
	uint64_t now_ns = csv->s->run.mads->ops->now(csv->s->run.mads);
	const struct fabric_session *s;
	size_t selected = 0, fresh = 0;
	char time[RD_RFC3339_SIZE];

	csv->out.len = 0;
	/* The fields that all rows of a sweep have in common. */
	s = csv->s;
	for (size_t i = 0; i < fabric->n_ports; i++) {
		if (!fabric->ports[i].selected)
			continue;
		selected++;
		fresh += fabric->ports[i].fresh;
	}
	rd_rfc3339(time_ns, time);
	rd_buf_str(&look, time);
	add_text(&look, csv->host);
	if (s->shard >= 0)
		rd_buf_printf(&look, ",%zd,%zu,0x%016" PRIx64 ",%zu", s->shard + 1, s->shards.n, s->shards.topology,
			      s->shards.ports);
	else
		rd_buf_str(&look, ",,,,");
	rd_buf_printf(&look, ",%zu,%zu", selected, fresh);
	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];
		const struct rd_fabric_node *node = &fabric->nodes[port->node];
		const struct rd_fabric_port *peer = port->peer == RD_NONE ? NULL : &fabric->ports[port->peer];
		const char *speed = rd_link_speed_name(port->speed_active), *state = rd_link_state_name(port->state);
		struct rd_pma_value value;
		const char *separator;

		if (!port->selected)
			continue;
		rd_buf_add(&csv->out, look.data, look.len);
		rd_buf_printf(&csv->out, ",0x%016" PRIx64 ",%u", node->guid, port->number);
		add_text(&csv->out, rd_fabric_name(node));
		rd_buf_printf(&csv->out, ",%s,", rd_node_kind_name(node->kind) ? rd_node_kind_name(node->kind) : "");
		if (port->lid)
			rd_buf_printf(&csv->out, "%u", port->lid);
		rd_buf_printf(&csv->out, ",%s,", state ? state : "");
		if (port->width_active && speed)
			rd_buf_printf(&csv->out, "%ux %s", port->width_active, speed);
		if (peer)
			rd_buf_printf(&csv->out, ",0x%016" PRIx64 ",%u", fabric->nodes[peer->node].guid, peer->number);
		else
			rd_buf_str(&csv->out, ",,");
		rd_buf_printf(&csv->out, ",%d,", port->fresh);
		if (port->read_ns && now_ns >= port->read_ns)
			rd_buf_printf(&csv->out, "%.6f", (double)(now_ns - port->read_ns) / 1e9);
		rd_buf_str(&csv->out, ",");
		rd_fabric_read_error(port, &csv->out);
		/* What was not read is an empty field, never 0. */
		separator = "";
		rd_buf_str(&csv->out, ",");
		for (size_t c = 0; c < RD_SHARE_COUNTERS; c++) {
			if (!rd_fabric_value(fabric, port, c, &value) || !rd_pma_saturated(&value))
				continue;
			rd_buf_printf(&csv->out, "%s%s", separator, rd_pma_counters[c].name);
			separator = " ";
		}
		for (size_t c = 0; c < RD_SHARE_COUNTERS; c++)
			if (c < fabric->n_values && rd_fabric_value(fabric, port, c, &value))
				rd_buf_printf(&csv->out, ",%" PRIu64, value.v);
			else
				rd_buf_str(&csv->out, ",");
		rd_buf_str(&csv->out, "\n");
	}
	if (csv->out.len > 0) {
		_cleanup_buf_ struct rd_buf heading = { 0 };
		int r = 0;

		rotate(csv);
		if (csv->size == 0) {
			add_heading(&heading);
			r = rd_write_all(csv->fd, heading.data, heading.len);
		}
		if (r >= 0)
			r = rd_write_all(csv->fd, csv->out.data, csv->out.len);
		if (r < 0) {
			/* Truncates the file to its last whole sweep. */
			if (!csv->refused)
				rd_warn(csv->s->ctx, "%s: cannot write: %s; sweeps are dropped until writing succeeds",
					csv->path, rd_errno_text(-r));
			csv->refused = true;
			csv->lost++;
			if (ftruncate(csv->fd, (off_t)csv->size) < 0 || lseek(csv->fd, (off_t)csv->size, SEEK_SET) < 0)
				rd_verbose(csv->s->ctx, "%s: cannot remove a partial sweep: %s", csv->path,
					   rd_errno_text(errno));
			return;
		}
		csv->size += heading.len + csv->out.len;
		csv->sweeps++;
		if (csv->refused)
			rd_warn(csv->s->ctx, "%s: recording continues; %" PRIu64 " sweeps were lost", csv->path,
				csv->lost);
		csv->refused = false;
	}
}

int fabric_csv_finish(struct fabric_csv *csv, struct rd_err *err)
{
	if (fsync(csv->fd) < 0)
		return rd_err_set(err, errno, csv->path, "cannot write");
	if (csv->lost)
		return rd_err_set(err, ENOSPC, csv->path, "%" PRIu64 " of %" PRIu64 " sweeps could not be written",
				  csv->lost, csv->lost + csv->sweeps);
	rd_warn(csv->s->ctx, "%s: %" PRIu64 " sweeps", csv->path, csv->sweeps);
	return 0;
}

/* ---- FILE.jsonl */

int fabric_record_open(struct rd_ctx *ctx, const char *path, struct fabric_record *record, struct rd_err *err)
{
	*record = (struct fabric_record){ 0 };
	return record_file_open(ctx, path, &record->to, err);
}

void fabric_record_close(struct fabric_record *record)
{
	for (size_t i = 0; i < record->n; i++) {
		free(record->ports[i].device);
		free(record->ports[i].tracks);
	}
	free(record->ports);
	record_file_close(&record->to);
	*record = (struct fabric_record){ .to.fd = -1 };
}

static uint64_t key_of(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	return rd_hash(rd_hash(RD_HASH, &fabric->nodes[port->node].guid, sizeof(uint64_t)), &port->number,
		       sizeof(port->number));
}

/* Octets of a MAD on the link that data counters count, in their unit of four: LRH, BTH, DETH, 256 octets and ICRC. */
#define MAD_DATA ((8 + 12 + 8 + 256 + 4) / 4)
/* SMPs of a walk to one adapter: NodeInfo, NodeDescription, PortInfo, extended speeds, NodeInfo by LID; each tried three times. */
#define WALK_MADS 15

/* The adapter's port at an end of the link, to whose LID all of our MADs on the link go; NULL: others can pass, too. */
static const struct rd_fabric_port *adapter_at(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	const struct rd_fabric_port *peer = port->peer == RD_NONE ? NULL : &fabric->ports[port->peer];
	const struct rd_fabric_port *self = fabric->self == RD_NONE ? NULL : &fabric->ports[fabric->self];

	if (port == self || peer == self || !self)
		return NULL;
	if (fabric->nodes[port->node].kind == RD_NODE_CA)
		return port;
	return peer && fabric->nodes[peer->node].kind == RD_NODE_CA ? peer : NULL;
}

/* Adds our own MADs of the latest sweep, and of a walk before it, that can have passed the port; returns those since the reading
 * before its values. */
static uint64_t count_own(const struct fabric_record *record, struct fabric_recorded *to,
			  const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	const struct rd_fabric_port *adapter = adapter_at(fabric, port);
	bool walked = fabric->discovered_ns != record->discovered_ns;
	uint64_t start = to->passed, own;

	if (adapter)
		to->passed += adapter->mads + (walked ? WALK_MADS : 0);
	else
		to->passed += fabric->sweep.sent + (walked ? fabric->walk.sent : 0);
	own = to->passed - to->passed_before;
	if (port->fresh)
		to->passed_before = start;
	return own;
}

static bool is_traffic(size_t counter)
{
	return rd_pma_counters[counter].kind == RD_PMA_DATA || rd_pma_counters[counter].kind == RD_PMA_PACKETS;
}

/* Whether an increase is more than our own MADs. */
static bool has_moved(size_t counter, uint64_t delta, uint64_t own)
{
	if (!is_traffic(counter))
		return delta > 0;
	return delta > (rd_pma_counters[counter].kind == RD_PMA_DATA ? own * MAD_DATA : own);
}

/* What is to be written of a counter. */
struct change {
	bool known, has_delta, moved;
	struct rd_pma_value value;
	uint64_t delta;
	double seconds;
};

static bool is_written(const struct fabric_track *track, const struct change *change, size_t counter)
{
	if (!change->known)
		return track->written && track->known;
	if (change->moved)
		return true;
	if (!track->written)
		return change->value.v > 0 && !is_traffic(counter);
	if (!track->known || track->increased || change->value.v < track->value)
		return true;
	return change->value.v != track->value && !is_traffic(counter);
}

static void add_point(struct fabric_record *record, struct fabric_recorded *to, const struct rd_fabric *fabric,
		      const struct rd_fabric_port *port, size_t counter, uint64_t own, uint64_t time_ns)
{
	struct change change = { 0 };

	change.known = rd_fabric_value(fabric, port, counter, &change.value);
	/* A counter that a sweep by need left out is not missing. */
	if (!change.known && !port->error)
		return;
	change.has_delta = change.known && rd_fabric_delta(fabric, port, counter, &change.delta, &change.seconds);
	change.moved = change.has_delta && has_moved(counter, change.delta, own);
	if (is_written(&to->tracks[counter], &change, counter)) {
		struct fabric_track *track = &to->tracks[counter];
		struct rd_point point = { .time_ns = time_ns };
		struct rd_series series;
		uint64_t base;

		*track = (struct fabric_track){ track->defined, true, change.known, change.moved, change.value.v };
		if (change.known) {
			RD_SET(point.count, change.value.v);
			point.at_least = rd_pma_saturated(&change.value);
		} else {
			point.note = "not read";
		}
		if (change.has_delta) {
			RD_SET(point.delta, change.delta);
			RD_SET(point.per_second, (double)change.delta / change.seconds);
		}
		if (!rd_series_shows(record->to.format, &point))
			return;
		if (to->first == RD_NONE)
			to->first = counter;
		base = RECORD_FIRST_ID + (uint64_t)to->id * record->n_values;
		series = (struct rd_series){
			.id = base + counter,
			.first = base + (to->first == RD_NONE ? counter : to->first),
			.device = to->device,
			.group = "fabric",
			.name = rd_pma_counters[counter].name,
			.port = port->number,
		};
		if (!track->defined) {
			rd_series_define(record->to.format, &series, &record->to.out);
			track->defined = true;
			record->series++;
		}
		rd_series_point(record->to.format, &series, &point, &record->to.out);
	}
}

/* Marks whether the port was read. Traces, which show rates, do not need the first event of each port. */
static void mark_reading(struct fabric_record *record, struct fabric_recorded *to, const struct rd_fabric_port *port,
			 uint64_t time_ns)
{
	struct rd_point total = { .time_ns = time_ns };
	bool was_told = to->told != UNTOLD;

	if (!port->selected || port->presence == RD_PORT_GONE || (was_told && (to->told == TOLD_READ) == port->fresh))
		return;
	to->told = port->fresh ? TOLD_READ : TOLD_UNREAD;
	RD_SET(total.count, 0);
	if (was_told || !port->fresh || rd_series_shows(record->to.format, &total))
		rd_series_mark(record->to.format, time_ns, to->device, port->number, port->fresh ? "read" : "not read",
			       &record->to.out);
}

void fabric_record_add(struct fabric_record *record, const struct rd_fabric *fabric, uint64_t time_ns)
{
	size_t known = record->n;

	/* Adds ports that were not in an earlier sweep. */
	record->n_values = fabric->n_values;
	for (size_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].selected &&
		    !rd_find_u64(record->ports, known, sizeof(*record->ports), key_of(fabric, &fabric->ports[i]))) {
			const struct rd_fabric_port *port = &fabric->ports[i];
			const struct rd_fabric_node *node = &fabric->nodes[port->node];
			struct fabric_recorded *new;

			rd_reserve(&record->ports, &record->cap, record->n + 1, sizeof(*record->ports));
			new = &record->ports[record->n];
			*new = (struct fabric_recorded){
				.key = key_of(fabric, port),
				.id = record->n,
				.first = RD_NONE,
				.device = rd_text("%s 0x%016" PRIx64, rd_fabric_name(node), node->guid),
				.tracks = rd_alloc(record->n_values + 1, sizeof(*new->tracks)),
			};
			record->n++;
		}
	if (record->n > known)
		qsort(record->ports, record->n, sizeof(*record->ports), rd_compare_u64);
	record_file_begin(&record->to, time_ns);
	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];
		struct fabric_recorded *to =
			rd_find_u64(record->ports, record->n, sizeof(*record->ports), key_of(fabric, port));
		uint64_t own;
		static const char *const words[] = {
			[RD_PORT_PRESENT] = "present again",
			[RD_PORT_NEW] = "new",
			[RD_PORT_REPLACED] = "replaced",
			[RD_PORT_MOVED] = "LID changed",
			[RD_PORT_GONE] = "gone",
			[RD_PORT_UNREACHED] = "not reached",
		};

		if (!to)
			continue;
		own = count_own(record, to, fabric, port);
		if (to->presence != port->presence &&
		    (port->presence != RD_PORT_PRESENT || to->presence == RD_PORT_GONE))
			rd_series_mark(record->to.format, time_ns, to->device, port->number, words[port->presence],
				       &record->to.out);
		to->presence = port->presence;
		mark_reading(record, to, port, time_ns);
		for (size_t k = 0; port->fresh && k < record->n_values; k++)
			add_point(record, to, fabric, port, k, own, time_ns);
	}
	record->discovered_ns = fabric->discovered_ns;
	if (record_file_write(&record->to))
		return;
	for (size_t i = 0; i < record->n; i++) {
		record->ports[i].first = RD_NONE;
		record->ports[i].told = UNTOLD;
		memset(record->ports[i].tracks, 0, record->n_values * sizeof(*record->ports[i].tracks));
	}
}

int fabric_record_finish(struct fabric_record *record, struct rd_err *err)
{
	return record_file_finish(&record->to, record->series, err);
}
