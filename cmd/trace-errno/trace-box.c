// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The black box of --service: the failures that were logged last, and what queue pairs did, in memory of a fixed size that outlives the
 * worker; and, in that of the worker, the counters of ports of some minutes ago. Some time after something happened the worker packs
 * them as a bundle; the supervisor, which parses nothing, writes it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <time.h>

#include "collect/counters/counters.h"
#include "collect/rdma/rdma.h"
#include "source/bundle/libarchive.h"
#include "source/guard/source-guard.h"
#include "source/record/record.h"
#include "trace.h"

#define AFTER_NS UINT64_C(2000000000) /* what follows from what happened is in the bundle, too */
#define A_DAY 20
#define DAY_NS UINT64_C(86400000000000)
#define COUNTERS_NS UINT64_C(300000000000) /* between readings of counters */
#define COUNTERS_MS 2000		   /* for one: a driver in trouble may not reply */
#define KEPT 20
#define NAME RD_PROGRAM "-black-box-"

int trace_box_start(struct trace_box *box, const struct trace *t, struct rd_err *err)
{
	_cleanup_free_ char *whole = NULL;

	if (!t->opts->black_box)
		return 0;
	if (access(t->opts->black_box, W_OK | X_OK) < 0)
		return rd_err_set(err, errno, t->opts->black_box, "cannot write black boxes");
	whole = rd_whole_path(t->opts->black_box);
	snprintf(box->path, sizeof(box->path), "%s/", whole ? whole : t->opts->black_box);
	box->wanted = t->opts->freeze_on ? t->opts->freeze_on | 1u << TRACE_FREEZE_ASKED : ~0u;
	return rd_libarchive_load("black box", err);
}

/* ---- what is kept: of two halves, the older one is emptied when the newer one is full */

static void keep(struct trace_lane *lane, const struct rd_buf *entry)
{
	if (lane->used[lane->newer] + entry->len > sizeof(lane->v[0])) {
		lane->newer = !lane->newer;
		lane->used[lane->newer] = 0;
	}
	if (entry->failed || entry->len > sizeof(lane->v[0]))
		return;
	memcpy(lane->v[lane->newer] + lane->used[lane->newer], entry->data, entry->len);
	lane->used[lane->newer] += entry->len;
}

void trace_box_failure(struct trace_box *box, const struct trace *t, const struct rd_event *ev)
{
	_cleanup_buf_ struct rd_buf entry = { 0 };

	if (!box->wanted)
		return;
	rd_trace_recorded_pack(ev, RD_HOST_JUDGED, t->raw, t->raw_size, &entry);
	keep(&box->failures, &entry);
}

void trace_box_qp(struct trace_box *box, const struct rd_qp_event *ev, const void *raw)
{
	enum { QP_FATAL = 1, QP_REQ_ERR, QP_ACCESS_ERR, DEVICE_FATAL = 8, PORT_ERR = 10 }; /* enum ib_event_type */
	_cleanup_buf_ struct rd_buf entry = { 0 };

	if (!box->wanted)
		return;
	rd_qp_event_pack(ev, raw, &entry);
	keep(&box->qps, &entry);
	if (ev->code.known != RD_OK)
		return;
	if (ev->what == RD_QP_ASYNC && ev->code.v >= QP_FATAL && ev->code.v <= QP_ACCESS_ERR)
		trace_box_trigger(box, TRACE_FREEZE_QP_ERR, ev->mono_ns);
	else if (ev->what == RD_QP_DEVICE && ev->code.v == DEVICE_FATAL)
		trace_box_trigger(box, TRACE_FREEZE_ASYNC_FATAL, ev->mono_ns);
	else if (ev->what == RD_QP_DEVICE && ev->code.v == PORT_ERR)
		trace_box_trigger(box, TRACE_FREEZE_LINK_DOWN, ev->mono_ns);
}

int trace_box_trigger(struct trace_box *box, enum trace_freeze what, uint64_t now)
{
	if (box->wanted >> what & 1 && !box->due)
		box->due = now + (what == TRACE_FREEZE_ASKED ? 0 : AFTER_NS);
	return 0;
}

/* ---- counters and links of ports, and the name of the host */

static void read_counters(struct rd_source *source, void *unused)
{
	_cleanup_(rd_counter_reader_destroyp) struct rd_counter_reader *reader = NULL;
	_cleanup_(rd_counter_sample_deinit) struct rd_counter_sample sample = { 0 };
	_cleanup_free_ char *name = NULL;
	struct rd_err err = { 0 };
	int rdma_error;

	rd_read_textf(source, &name, NULL, "/proc/sys/kernel/hostname");
	if (!rd_counter_reader_create(source, RD_COUNTERS_ALL, &reader, &rdma_error, NULL, &err))
		rd_counter_reader_sample(reader, &sample);
}

void trace_box_record_counters(struct rd_source *live, struct rd_buf *out)
{
	_cleanup_(rd_source_closep) struct rd_source *guard = rd_source_guard_open(live, COUNTERS_MS);

	rd_source_guard_ahead(guard, read_counters, NULL);
	rd_source_guard_pack(guard, out);
}

/* Two are kept, so that one is older than what is to be explained. */
static void keep_counters(struct trace_readings *readings, uint64_t now)
{
	if (now < readings->due)
		return;
	readings->due = now + COUNTERS_NS;
	rd_source_closep(&readings->v[0]);
	readings->v[0] = readings->v[1];
	readings->fetch(readings->arg);
	readings->v[1] = rd_source_record_open(readings->host);
	read_counters(readings->v[1], NULL);
}

/* ---- the bundle */

/* Of two samples: the counters before, with all events; the counters now. */
static int record(struct trace *t, const struct trace_box *box, struct trace_readings *readings, struct rd_buf *bundle,
		  struct rd_err *err)
{
	const struct {
		const char *path;
		const struct trace_lane *lane;
	} files[] = { { TRACE_EVENTS, &box->failures }, { RD_SOURCE_QP_EVENTS, &box->qps }, { TRACE_FUNCTIONS } };
	_cleanup_(rd_source_closep) struct rd_source *recorder = RD_TAKE(readings->v[!readings->v[0]]);
	_cleanup_(rd_recording_deinit) struct rd_recording recording = { 0 };
	int r = 0;

	for (size_t i = 0; !r && i < RD_ARRAY_SIZE(files); i++) {
		const struct trace_lane *lane = files[i].lane;
		_cleanup_buf_ struct rd_buf file = { 0 };

		if (lane)
			rd_buf_add(&file, lane->v[!lane->newer], lane->used[!lane->newer]);
		if (lane)
			rd_buf_add(&file, lane->v[lane->newer], lane->used[lane->newer]);
		else
			rd_trace_functions_pack(&t->set, &file);
		r = rd_source_record_file(recorder, files[i].path, file.len ? file.data : "", file.len, err);
	}
	r = r ?: rd_source_record_next(recorder, err) ?: rd_source_record_file(recorder, TRACE_EVENTS, "", 0, err);
	if (r < 0)
		return r;
	readings->fetch(readings->arg);
	read_counters(recorder, NULL);
	readings->due = readings->v[1] ? readings->due : 0;
	r = rd_source_record_take(recorder, &recording, err);
	return r ?: rd_record_pack(&recording, RD_VERSION, "bundle.tar.zst", bundle, err);
}

void trace_box_pack(struct trace *t, struct trace_box *box, struct trace_readings *readings, uint64_t now)
{
	_cleanup_buf_ struct rd_buf bundle = { 0 };
	struct rd_err err = { 0 };

	if (!box->wanted)
		return;
	keep_counters(readings, now);
	if (!box->due || now < box->due || __atomic_load_n(&box->size, __ATOMIC_ACQUIRE))
		return;
	box->due = 0;
	if (now - box->day > DAY_NS || !box->day) {
		box->day = now;
		box->today = 0;
	}
	if (box->today++ >= A_DAY)
		return;
	if (record(t, box, readings, &bundle, &err) < 0 || bundle.len > sizeof(box->bundle)) {
		rd_warn(t->ctx, "black box: %s: %s", err.object, err.message);
		return;
	}
	memcpy(box->bundle, bundle.data, bundle.len);
	__atomic_store_n(&box->size, bundle.len, __ATOMIC_RELEASE);
}

/* ---- the supervisor */

static int is_ours(const struct dirent *entry)
{
	return rd_starts_with(entry->d_name, NAME);
}

/* The names are in the order of time. */
static void remove_oldest(int dir, const char *path)
{
	struct dirent **names;
	int n = scandir(path, &names, is_ours, alphasort);

	for (int i = 0; i < n; i++) {
		if (i + KEPT < n)
			unlinkat(dir, names[i]->d_name, 0);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

void trace_box_write(const struct trace *t, struct trace_box *box, uint64_t realtime)
{
	size_t size = __atomic_load_n(&box->size, __ATOMIC_ACQUIRE), done = 0;
	_cleanup_close_ int dir = -1, fd = -1;
	time_t seconds = (time_t)(realtime / 1000000000u);
	char name[64] = "", *at;
	struct tm tm;
	ssize_t n = -1;

	if (!size || size > sizeof(box->bundle))
		return;
	if (gmtime_r(&seconds, &tm))
		strftime(name, sizeof(name), NAME "%Y%m%dT%H%M%SZ.tar.zst", &tm);
	dir = open(t->opts->black_box, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = dir < 0 ? -1 : openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	while (fd >= 0 && done < size && (n = write(fd, box->bundle + done, size - done)) > 0)
		done += (size_t)n;
	if (done < size) {
		rd_warn(t->ctx, "black box: %s/%s: cannot write: %s", t->opts->black_box, name, rd_errno_text(errno));
		if (fd >= 0)
			unlinkat(dir, name, 0);
	} else {
		rd_warn(t->ctx, "black box: %s/%s", t->opts->black_box, name);
		at = strrchr(box->path, '/') + 1;
		snprintf(at, (size_t)(box->path + sizeof(box->path) - at), "%s", name);
		__atomic_store_n(&box->written, true, __ATOMIC_RELEASE);
		remove_oldest(dir, t->opts->black_box);
	}
	__atomic_store_n(&box->size, 0, __ATOMIC_RELEASE);
}
