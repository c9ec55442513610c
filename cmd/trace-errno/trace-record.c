// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --record: each event that is shown is a sample of a bundle, with what the host said about it; the first has what was read before,
 * the last one the summary. --from: the way back, through the same code.
 */

#include "source/record/record.h"
#include "trace.h"

#define EVENTS_MAX 250 /* each with the kernel log, perhaps */

/* ---- recording */

struct rd_source *trace_record_start(struct trace *t)
{
	static const char *const paths[] = { "/proc/sys/kernel/hostname", "/proc/sys/kernel/osrelease" };

	t->recorder = rd_source_record_open(t->ctx->source);
	for (size_t i = 0; i < RD_ARRAY_SIZE(paths); i++) {
		_cleanup_bytes_ struct rd_bytes bytes = { 0 };

		rd_read_file(t->recorder, paths[i], &bytes, NULL);
	}
	return t->recorder;
}

bool trace_record_full(const struct trace *t)
{
	return t->record_failed || t->recorded >= EVENTS_MAX;
}

static void record_file(struct trace *t, const char *path, const struct rd_buf *file)
{
	t->record_failed |= rd_source_record_file(t->recorder, path, file->len ? file->data : "", file->len, NULL) < 0;
}

void trace_record_next(struct trace *t)
{
	size_t functions = rd_session_info(t->session)->functions;
	_cleanup_buf_ struct rd_buf file = { 0 };

	t->record_failed |= rd_source_record_next(t->recorder, NULL) < 0;
	if (functions == t->recorded_functions)
		return;
	t->recorded_functions = functions;
	rd_trace_functions_pack(&t->set, &file);
	record_file(t, TRACE_FUNCTIONS, &file);
}

void trace_record_event(struct trace *t, const struct rd_event *ev)
{
	_cleanup_buf_ struct rd_buf file = { 0 };

	rd_trace_recorded_pack(ev, t->host, t->raw, t->raw_size, &file);
	record_file(t, TRACE_EVENTS, &file);
	t->recorded++;
}

int trace_record_save(struct trace *t, const struct rd_trace_summary *sum, struct rd_err *err)
{
	_cleanup_(rd_recording_deinit) struct rd_recording recording = { 0 };
	_cleanup_buf_ struct rd_buf file = { 0 };
	int r;

	trace_record_next(t);
	t->recorded_at = t->recorder->ops->now(t->recorder, CLOCK_REALTIME);
	record_file(t, TRACE_EVENTS, &file); /* not those of the sample before */
	rd_trace_summary_pack(sum, &t->notes, &file);
	record_file(t, TRACE_SUMMARY, &file);
	if (trace_record_full(t))
		rd_warn(t->ctx, "%s: the trace was ended after %llu events, because no more can be recorded",
			t->opts->record, (unsigned long long)t->recorded);
	r = rd_source_record_take(t->recorder, &recording, err);
	return r ?: rd_record_save(&recording, RD_VERSION, t->opts->record, true, NULL, err);
}

/* ---- replaying */

static int replay_sample(struct trace *t, size_t *functions, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes text = { 0 }, events = { 0 };
	struct rd_source *src = t->ctx->source;
	const uint8_t *at, *end;
	int r;

	/* It only grows. */
	if (!rd_read_file(src, TRACE_FUNCTIONS, &text, NULL) && text.size != *functions) {
		*functions = text.size;
		rd_fnset_deinit(&t->set);
		r = rd_trace_functions_parse((char *)text.data, &t->set, err);
		if (r)
			return r;
	}
	if (rd_read_file(src, TRACE_EVENTS, &events, NULL))
		return 0;
	at = events.data;
	end = at + events.size;
	do {
		_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };

		r = rd_trace_recorded_next(t->facts, &at, end, &t->set, &ev, &t->host, err);
		if (r > 0) {
			trace_names_judge(t, &ev);
			r = trace_show(t, &ev) ?: 1;
		}
	} while (r > 0);
	return r;
}

int trace_replay(struct trace *t, struct rd_err *err)
{
	struct rd_source *src = t->ctx->source;
	size_t functions = 0;
	int r;

	t->replayed = true;
	r = trace_names_create(t, err);
	if (r)
		return r;
	trace_causes_create(t, src);
	do
		r = replay_sample(t, &functions, err);
	while (!r && !rd_source_bundle_next(src, NULL));
	if (!r && !functions) {
		rd_err_set(err, ENOENT, t->ctx->globals.from, "has no recorded trace");
		return rd_err_hint(err, RD_PROGRAM " trace-errno --record trace.tar.zst");
	}
	return r == -EPIPE ? 0 : r;
}
