/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric --record: a row for each port and sweep for databases, or the documents of --json. */
#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

#include "fabric.h"
#include "source/opener/opener.h"

#define FILES_KEPT 4 /* full files: FILE.1, the newest, to FILE.4 */
#define FILE_MB 128  /* of a file, unless --record-size is given */

static void add_heading(struct rd_buf *out)
{
	rd_buf_str(out, "time,host,share,shares,topology,all_ports,look_ports,look_fresh,node_guid,port,node"
			","
			"kind,lid,state,link,peer_guid,peer_port,fresh,age_seconds,error,saturated");
	for (size_t i = 0; i < RD_SHARE_COUNTERS; i++)
		rd_buf_printf(out, ",%s", rd_pma_counters[i].name);
	rd_buf_str(out, "\n");
}

/* Whether the open file is empty or a recording in this format. */
static bool is_recording(const struct fabric_record *record, int fd)
{
	_cleanup_buf_ struct rd_buf heading = { 0 };
	char head[1024];
	struct stat st;
	ssize_t n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? pread(fd, head, sizeof(head), 0) : -1;
	size_t size;

	if (record->rows)
		add_heading(&heading);
	else
		rd_buf_printf(&heading, "{\"schema\":\"%s\",", record->s->ctx->schema);
	/* The columns of a later version follow those of this one. */
	size = heading.len - 1 < sizeof(head) ? heading.len - 1 : sizeof(head);
	return n == 0 || (n > 0 && (size_t)n >= size && memcmp(head, heading.data, size) == 0);
}

int fabric_record_open(struct fabric_session *s, const char *path, struct fabric_record *record, struct rd_err *err)
{
	const char *suffix = strrchr(path, '.');
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };

	*record = (struct fabric_record){ .s = s, .path = path, .fd = -1 };
	record->rows = suffix && strcasecmp(suffix, ".csv") == 0;
	if (!record->rows && (!suffix || (strcasecmp(suffix, ".jsonl") != 0 && strcasecmp(suffix, ".ndjson") != 0))) {
		rd_err_set(err, EINVAL, "--record", "unknown format of '%s'", path);
		return rd_err_hint(err, "use a name that ends in .csv or .jsonl");
	}
	record->fd = rd_open_for_update(path, err);
	if (record->fd < 0)
		return record->fd;
	if (!is_recording(record, record->fd)) {
		rd_err_set(err, EEXIST, path, "not a recording of counters --fabric in this format: not overwritten");
		return rd_err_hint(err, "use another file name");
	}
	rd_output_init(s->ctx, &report);
	record->host = rd_dup_if(report.host);
	return 0;
}

void fabric_record_close(struct fabric_record *record)
{
	rd_buf_deinit(&record->out);
	free(record->host);
	if (record->fd >= 0)
		close(record->fd);
	record->fd = -1;
}

/* ---- rotation */

/* Whether a full file may take this name. */
static bool is_free(const struct fabric_record *record, const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool fits;

	if (fd < 0)
		return errno == ENOENT;
	fits = is_recording(record, fd);
	close(fd);
	return fits;
}

/* FILE becomes FILE.1, FILE.1 becomes FILE.2, and so on. A process without privileges cannot rename. */
static int rename_files(const struct fabric_record *record)
{
	if (rd_opener_used())
		return -EPERM;
	for (unsigned i = FILES_KEPT; i > 0; i--) {
		_cleanup_free_ char *from = i == 1 ? rd_text("%s", record->path) :
						     rd_text("%s.%u", record->path, i - 1);
		_cleanup_free_ char *to = rd_text("%s.%u", record->path, i);

		if (!is_free(record, to))
			return -EEXIST;
		if (rename(from, to) < 0 && errno != ENOENT)
			return -errno;
	}
	return 0;
}

/* Begins a new file, and leaves the latest sweep out of the old one. */
static bool rotate(struct fabric_record *record)
{
	struct rd_err err = { 0 };
	int r = rename_files(record), fd;

	fd = r < 0 ? r : rd_open_for_update(record->path, &err);
	if (fd < 0) {
		rd_warn(record->s->ctx, "%s: cannot begin a new file: %s; the file grows", record->path,
			rd_errno_text(-fd));
		record->unrotated = true;
		return false;
	}
	if (ftruncate(record->fd, (off_t)record->size) < 0)
		rd_verbose(record->s->ctx, "%s: cannot truncate: %s", record->path, rd_errno_text(errno));
	close(record->fd);
	record->fd = fd;
	record->size = 0;
	return true;
}

/* ---- rows */

static void make_rows(struct fabric_record *record)
{
	const struct fabric_session *s = record->s;
	const struct rd_fabric *fabric = &s->run.fabric;
	_cleanup_buf_ struct rd_buf look = { 0 };
	uint64_t now_ns = s->run.mads->ops->now(s->run.mads);
	struct rd_fabric_tally tally = rd_fabric_count_ports(fabric);
	char time[RD_RFC3339_SIZE];

	/* The fields that all rows of a sweep have in common. */
	rd_rfc3339(s->ctx->source->ops->now(s->ctx->source, CLOCK_REALTIME), time);
	rd_buf_printf(&look, "%s,", time);
	rd_buf_csv(&look, record->host);
	if (s->shard >= 0)
		rd_buf_printf(&look, ",%zd,%zu,0x%016" PRIx64 ",%zu", s->shard + 1, s->shards.n, s->shards.topology,
			      s->shards.ports);
	else
		rd_buf_str(&look, ",,,,");
	rd_buf_printf(&look, ",%zu,%zu", tally.selected, tally.fresh);
	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];
		const struct rd_fabric_node *node = &fabric->nodes[port->node];
		const struct rd_fabric_port *peer = port->peer == RD_NONE ? NULL : &fabric->ports[port->peer];
		const char *speed = rd_link_speed_name(port->speed_active), *state = rd_link_state_name(port->state);
		struct rd_pma_value value;
		const char *separator;

		if (!port->selected)
			continue;
		rd_buf_add(&record->out, look.data, look.len);
		rd_buf_printf(&record->out, ",0x%016" PRIx64 ",%u,", node->guid, port->number);
		rd_buf_csv(&record->out, rd_fabric_name(node));
		rd_buf_printf(&record->out, ",%s,", rd_node_kind_name(node->kind) ? rd_node_kind_name(node->kind) : "");
		if (port->lid)
			rd_buf_printf(&record->out, "%u", port->lid);
		rd_buf_printf(&record->out, ",%s,", state ?: "");
		if (port->width_active && speed)
			rd_buf_printf(&record->out, "%ux %s", port->width_active, speed);
		if (peer)
			rd_buf_printf(&record->out, ",0x%016" PRIx64 ",%u", fabric->nodes[peer->node].guid,
				      peer->number);
		else
			rd_buf_str(&record->out, ",,");
		rd_buf_printf(&record->out, ",%d,", port->fresh);
		if (port->read_ns && now_ns >= port->read_ns)
			rd_buf_printf(&record->out, "%.6f", (double)(now_ns - port->read_ns) / 1e9);
		rd_buf_str(&record->out, ",");
		rd_fabric_read_error(port, &record->out);
		/* What was not read is an empty field, never 0. */
		separator = "";
		rd_buf_str(&record->out, ",");
		for (size_t c = 0; c < RD_SHARE_COUNTERS; c++) {
			if (!rd_fabric_value(fabric, port, c, &value) || !rd_pma_saturated(&value))
				continue;
			rd_buf_printf(&record->out, "%s%s", separator, rd_pma_counters[c].name);
			separator = " ";
		}
		for (size_t c = 0; c < RD_SHARE_COUNTERS; c++)
			if (c < fabric->n_values && rd_fabric_value(fabric, port, c, &value))
				rd_buf_printf(&record->out, ",%" PRIu64, value.v);
			else
				rd_buf_str(&record->out, ",");
		rd_buf_str(&record->out, "\n");
	}
}

/* Of record->out: writes a piece of the sweep. */
static void write_piece(const struct rd_buf *out)
{
	struct fabric_record *record = (struct fabric_record *)(uintptr_t)out;

	if (record->error >= 0)
		record->error = rd_write_all(record->fd, out->data, out->len);
	record->added += out->len;
}

static void write_sweep(struct fabric_record *record)
{
	record->out.take = write_piece;
	record->added = 0;
	/* An earlier recording goes when there is a sweep to take its place. */
	record->error = record->size == 0 && ftruncate(record->fd, 0) < 0 ? -errno : 0;
	if (record->rows) {
		if (record->size == 0)
			add_heading(&record->out);
		make_rows(record);
	} else {
		_cleanup_(rd_report_deinit) struct rd_report report = { 0 };

		/* A document of changes needs the one before it, in the same file. */
		if (record->size == 0 || record->refused)
			record->documented_ns = 0;
		fabric_session_report(record->s, NULL, NULL, &record->documented_ns, &report);
		rd_render_json_line(&report, RD_VERSION, &record->out);
	}
	write_piece(&record->out);
	record->out.len = 0;
}

void fabric_record_add(struct fabric_record *record)
{
	unsigned mb = record->s->cmd->record_mb ?: FILE_MB;

	write_sweep(record);
	if (record->error >= 0 && !record->unrotated && record->size > 0 &&
	    record->size + record->added > (uint64_t)mb << 20 && rotate(record))
		write_sweep(record);
	if (record->error < 0) {
		/* Truncates the file to its last whole sweep. */
		if (!record->refused)
			rd_warn(record->s->ctx, "%s: cannot write: %s; sweeps are dropped until writing succeeds",
				record->path, rd_errno_text(-record->error));
		record->refused = true;
		record->lost++;
		if (ftruncate(record->fd, (off_t)record->size) < 0 ||
		    lseek(record->fd, (off_t)record->size, SEEK_SET) < 0)
			rd_verbose(record->s->ctx, "%s: cannot remove a partial sweep: %s", record->path,
				   rd_errno_text(errno));
		return;
	}
	record->size += record->added;
	record->sweeps++;
	if (record->refused)
		rd_warn(record->s->ctx, "%s: recording continues; %" PRIu64 " sweeps were lost", record->path,
			record->lost);
	record->refused = false;
}

int fabric_record_finish(struct fabric_record *record, struct rd_err *err)
{
	if (fsync(record->fd) < 0)
		return rd_err_set(err, errno, record->path, "cannot write");
	if (record->lost)
		return rd_err_set(err, ENOSPC, record->path, "%" PRIu64 " of %" PRIu64 " sweeps could not be written",
				  record->lost, record->lost + record->sweeps);
	rd_warn(record->s->ctx, "%s: %" PRIu64 " sweeps", record->path, record->sweeps);
	return 0;
}
