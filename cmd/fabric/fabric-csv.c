/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric-csv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/rfc3339.h"
#include "base/text.h"
#include "model/fabric/fabric.h"
#include "model/fabric/share.h"
#include "source/opener/new-file.h"
#include "source/opener/opener.h"

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

/* The fields that all rows of a sweep have in common. */
static void add_look(const struct fabric_csv *csv, uint64_t time_ns, struct rd_buf *out)
{
	const struct fabric_session *s = csv->s;
	const struct rd_fabric *fabric = &s->run.fabric;
	size_t selected = 0, fresh = 0;
	char time[RD_RFC3339_SIZE];

	for (size_t i = 0; i < fabric->n_ports; i++) {
		if (!fabric->ports[i].selected)
			continue;
		selected++;
		fresh += fabric->ports[i].fresh;
	}
	rd_rfc3339(time_ns, time);
	rd_buf_str(out, time);
	add_text(out, csv->host);
	if (s->shard >= 0)
		rd_buf_printf(out, ",%zd,%zu,0x%016" PRIx64 ",%zu", s->shard + 1, s->shards.n, s->shards.topology,
			      s->shards.ports);
	else
		rd_buf_str(out, ",,,,");
	rd_buf_printf(out, ",%zu,%zu", selected, fresh);
}

/* "PortRcvErrorDetails: ETIMEDOUT", as in the column error of the table. */
static void add_error(const struct rd_fabric_port *port, struct rd_buf *out)
{
	const char *attribute = port->fresh ? rd_pma_attribute_name(port->error_attribute) : NULL;
	const char *name = rd_errno_name(port->error);

	rd_buf_str(out, ",");
	if (!port->error && !port->error_status)
		return;
	if (attribute)
		rd_buf_printf(out, "%s: ", attribute);
	if (port->error_status)
		rd_buf_printf(out, "status 0x%04x", (unsigned)port->error_status);
	else
		rd_buf_str(out, name ? name : "unknown");
}

/* What was not read is an empty field, never 0. */
static void add_counters(const struct rd_fabric *fabric, const struct rd_fabric_port *port, struct rd_buf *out)
{
	struct rd_pma_value value;
	const char *separator = "";

	rd_buf_str(out, ",");
	for (size_t i = 0; i < RD_SHARE_COUNTERS; i++) {
		if (!rd_fabric_value(fabric, port, i, &value) || !rd_pma_saturated(&value))
			continue;
		rd_buf_printf(out, "%s%s", separator, rd_pma_counters[i].name);
		separator = " ";
	}
	for (size_t i = 0; i < RD_SHARE_COUNTERS; i++)
		if (i < fabric->n_values && rd_fabric_value(fabric, port, i, &value))
			rd_buf_printf(out, ",%" PRIu64, value.v);
		else
			rd_buf_str(out, ",");
	rd_buf_str(out, "\n");
}

static void add_row(const struct rd_fabric *fabric, const struct rd_fabric_port *port, uint64_t now_ns,
		    struct rd_buf *out)
{
	const struct rd_fabric_node *node = &fabric->nodes[port->node];
	const struct rd_fabric_port *peer = port->peer == RD_NONE ? NULL : &fabric->ports[port->peer];
	const char *speed = rd_link_speed_name(port->speed_active), *state = rd_link_state_name(port->state);

	rd_buf_printf(out, ",0x%016" PRIx64 ",%u", node->guid, port->number);
	add_text(out, rd_fabric_name(node));
	rd_buf_printf(out, ",%s,", rd_node_kind_name(node->kind) ? rd_node_kind_name(node->kind) : "");
	if (port->lid)
		rd_buf_printf(out, "%u", port->lid);
	rd_buf_printf(out, ",%s,", state ? state : "");
	if (port->width_active && speed)
		rd_buf_printf(out, "%ux %s", port->width_active, speed);
	if (peer)
		rd_buf_printf(out, ",0x%016" PRIx64 ",%u", fabric->nodes[peer->node].guid, peer->number);
	else
		rd_buf_str(out, ",,");
	rd_buf_printf(out, ",%d,", port->fresh);
	if (port->read_ns && now_ns >= port->read_ns)
		rd_buf_printf(out, "%.6f", (double)(now_ns - port->read_ns) / 1e9);
	add_error(port, out);
	add_counters(fabric, port, out);
}

/* Truncates the file to its last whole sweep. */
static void write_failed(struct fabric_csv *csv, int code)
{
	if (!csv->refused)
		rd_warn(csv->s->ctx, "%s: cannot write: %s; sweeps are dropped until writing succeeds", csv->path,
			rd_errno_text(code));
	csv->refused = true;
	csv->lost++;
	if (ftruncate(csv->fd, (off_t)csv->size) < 0 || lseek(csv->fd, (off_t)csv->size, SEEK_SET) < 0)
		rd_verbose(csv->s->ctx, "%s: cannot remove a partial sweep: %s", csv->path, rd_errno_text(errno));
}

static void write_sweep(struct fabric_csv *csv)
{
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
		write_failed(csv, -r);
		return;
	}
	csv->size += heading.len + csv->out.len;
	csv->sweeps++;
	if (csv->refused)
		rd_warn(csv->s->ctx, "%s: recording continues; %" PRIu64 " sweeps were lost", csv->path, csv->lost);
	csv->refused = false;
}

void fabric_csv_add(struct fabric_csv *csv, uint64_t time_ns)
{
	const struct rd_fabric *fabric = &csv->s->run.fabric;
	_cleanup_buf_ struct rd_buf look = { 0 };
	uint64_t now_ns = csv->s->run.mads->ops->now(csv->s->run.mads);

	csv->out.len = 0;
	add_look(csv, time_ns, &look);
	for (size_t i = 0; i < fabric->n_ports; i++) {
		if (!fabric->ports[i].selected)
			continue;
		rd_buf_add(&csv->out, look.data, look.len);
		add_row(fabric, &fabric->ports[i], now_ns, &csv->out);
	}
	if (csv->out.len > 0)
		write_sweep(csv);
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
