// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/trace/event.h"

#include <fnmatch.h>
#include <stdarg.h>

#include "model/trace/failure.h"

static void frames_free(struct rd_frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++)
		RD_FREE(frames[i].function, frames[i].object, frames[i].file);
	free(frames);
}

void rd_event_deinit(struct rd_event *event)
{
	RD_FREE(event->cgroup, event->job, event->ibdev, event->object, event->method, event->verb, event->chain,
		event->below, event->below_modules, event->hint, event->user);
	rd_explanation_deinit(&event->why);
	frames_free(event->kstack, event->n_kstack);
	frames_free(event->ustack, event->n_ustack);
	memset(event, 0, sizeof(*event));
}

void rd_explanation_deinit(struct rd_explanation *e)
{
	for (size_t i = 0; i < e->n_evidence; i++)
		free(e->evidence[i]);
	RD_FREE(e->cause, e->fix);
	*e = (struct rd_explanation){ 0 };
}

void rd_explain(struct rd_explanation *e, const char *id, enum rd_confidence confidence, const char *fmt, ...)
{
	va_list ap;

	rd_explanation_deinit(e);
	e->id = id;
	e->confidence = confidence;
	va_start(ap, fmt);
	e->cause = rd_vtext(fmt, ap);
	va_end(ap);
}

bool rd_explain_fact(struct rd_explanation *e, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = rd_vtext(fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < e->n_evidence; i++)
		if (!strcmp(e->evidence[i], text))
			return false;
	if (e->n_evidence < RD_EVIDENCE_MAX)
		e->evidence[e->n_evidence++] = RD_TAKE(text);
	return false;
}

bool rd_explain_fix(struct rd_explanation *e, const char *fmt, ...)
{
	va_list ap;

	free(e->fix);
	va_start(ap, fmt);
	e->fix = rd_vtext(fmt, ap);
	va_end(ap);
	return true;
}

const char *rd_bytes_text(uint64_t bytes, char *ret)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	size_t unit = 0;

	if (bytes == UINT64_MAX) {
		snprintf(ret, RD_BYTES_TEXT, "unlimited");
		return ret;
	}
	if (bytes < 1024 || bytes % 1024) {
		snprintf(ret, RD_BYTES_TEXT, "%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
		return ret;
	}
	bytes /= 1024;
	while (unit + 1 < RD_ARRAY_SIZE(units) && bytes >= 1024 && !(bytes % 1024)) {
		bytes /= 1024;
		unit++;
	}
	snprintf(ret, RD_BYTES_TEXT, "%" PRIu64 " %s", bytes, units[unit]);
	return ret;
}

void rd_failure_deinit(struct rd_failure *f)
{
	RD_FREE(f->dev.link_layer, f->dev.state, f->dev.phys_state, f->dev.driver, f->dev.pci, f->dev.netdev,
		f->gid.netdev, f->gid_before.netdev);
	rd_netstate_deinit(&f->net);
	rd_res_deinit(&f->res);
	for (size_t i = 0; i < f->n_cgroups; i++)
		free(f->cgroups[i].path);
	free(f->cgroups);
	rd_klog_deinit(&f->log);
	RD_FREE(f->memory.group.path, f->memory.huge_group.path);
	*f = (struct rd_failure){ 0 };
}

bool rd_failure_attr(const struct rd_failure *f, const char *name, uint64_t *ret)
{
	for (size_t i = 0; i < f->n_attrs; i++)
		if (!strcmp(f->attrs[i].name, name)) {
			*ret = f->attrs[i].value;
			return true;
		}
	return false;
}

void rd_recent_deinit(struct rd_recent *recent)
{
	free(recent->file);
	*recent = (struct rd_recent){ 0 };
}

char *rd_recent_text(const struct rd_recent *recent, const struct rd_recent_failure *f)
{
	uint64_t ago = recent->now_ns > f->last_ns ? (recent->now_ns - f->last_ns) / 1000000000u : 0;
	const char *name = rd_errno_name(-f->where.err);
	_cleanup_free_ char *pid = f->pid ? rd_text(" (pid %u)", f->pid) : rd_dup("");

	return rd_text("%s of %s%s failed with %s%s%s, %" PRIu64 " time%s in the last hour, last %" PRIu64
		       " %s ago%s%s",
		       *f->where.verb ? f->where.verb : "a call", *f->comm ? f->comm : "an unknown program", pid,
		       name ? name : "an unknown errno", *f->where.function ? " in " : "", f->where.function,
		       f->where.count, f->where.count == 1 ? "" : "s", ago < 120 ? ago : ago / 60,
		       ago < 120 ? "s" : "min", *f->cause ? ": " : "", f->cause);
}

bool rd_failure_origin_is(const struct rd_failure *f, const char *pattern)
{
	char name[256];
	int origin = f->event->origin;

	if (origin < 0 || (size_t)origin >= f->set->n_fns)
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(f->set->fns[origin].name, "."), f->set->fns[origin].name);
	return !fnmatch(pattern, name, FNM_EXTMATCH);
}

bool rd_failure_in_driver(const struct rd_failure *f)
{
	static const char *const core[] = { "ib_core", "ib_uverbs", "ib_uverbs_support", "ib_cm",
					    "iw_cm",   "rdma_cm",   "rdma_ucm",		 "ib_umad" };
	int origin = f->event->origin;
	const struct rd_module *module;

	if (origin < 0 || (size_t)origin >= f->set->n_fns)
		return true;
	module = &f->set->modules[f->set->fns[origin].module];
	for (size_t i = 0; i < RD_ARRAY_SIZE(core); i++)
		if (!strcmp(module->name, core[i]))
			return false;
	return true;
}
