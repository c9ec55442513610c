// SPDX-License-Identifier: GPL-2.0-or-later
/* Limits of the rdma controller of control groups: the kernel charges an object to the group of the process and to all groups above
 * it, and fails with EAGAIN if one of them is at its limit (kernel/cgroup/rdma.c). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "diagnose/shared/rule.h"

#define LASTS                                                                                          \
	"\n# lasts as long as the group: raise it also where the limits of the group are configured\n" \
	"# or free objects that are not needed"

struct resource {
	bool handles;
	const char *name; /* in rdma.max */
	const char *what;
};

static uint64_t max_of(const struct rd_rdma_cgroup *g, const struct resource *r)
{
	if (r->handles)
		return g->max_handles.known == RD_OK ? g->max_handles.v : UINT64_MAX;
	return g->max_objects.known == RD_OK ? g->max_objects.v : UINT64_MAX;
}

static bool current_of(const struct rd_rdma_cgroup *g, const struct resource *r, uint64_t *ret)
{
	*ret = r->handles ? g->handles.v : g->objects.v;
	return (r->handles ? g->handles.known : g->objects.known) == RD_OK;
}

static void add_groups(const struct rd_failure *f, const struct resource *r, struct rd_explanation *ret)
{
	for (size_t i = 0; i < f->n_cgroups; i++) {
		const struct rd_rdma_cgroup *g = &f->cgroups[i];
		uint64_t max = max_of(g, r), now = 0;
		bool known = current_of(g, r, &now);

		if (max != UINT64_MAX && known)
			rd_explain_fact(ret, "%s: %s of %s is %" PRIu64 ", in use %" PRIu64, g->path, r->name,
					f->event->ibdev, max, now);
		else if (max != UINT64_MAX)
			rd_explain_fact(ret, "%s: %s of %s is %" PRIu64, g->path, r->name, f->event->ibdev, max);
	}
}

/* Groups that limit the resource: the first one at its limit now, else the first one. */
struct limiting {
	const struct rd_rdma_cgroup *group;
	size_t n;
	bool known, full;
	uint64_t now;
};

static struct limiting find_groups(const struct rd_failure *f, const struct resource *r)
{
	struct limiting ret = { 0 };

	for (size_t i = 0; i < f->n_cgroups; i++) {
		const struct rd_rdma_cgroup *g = &f->cgroups[i];
		uint64_t max = max_of(g, r), now = 0;
		bool known = current_of(g, r, &now), full = known && now >= max;

		if (max == UINT64_MAX)
			continue;
		if (!ret.n++ || (full && !ret.full)) {
			ret.group = g;
			ret.known = known;
			ret.full = full;
			ret.now = now;
		}
	}
	return ret;
}

/* None of several groups is at its limit any more: objects of a process that has ended are no longer counted. */
static void explain_several(const struct rd_failure *f, const struct resource *r, enum rd_confidence confidence,
			    struct rd_explanation *ret)
{
	_cleanup_buf_ struct rd_buf groups = { 0 }, files = { 0 };
	bool plain = true;

	for (size_t i = 0; i < f->n_cgroups; i++) {
		uint64_t max = max_of(&f->cgroups[i], r);
		const char *path = f->cgroups[i].path;

		if (max == UINT64_MAX)
			continue;
		plain &= rd_word_is_plain(path);
		rd_buf_printf(&groups, "%s%s allows %" PRIu64, groups.len ? " and " : "", path, max);
		rd_buf_printf(&files, " /sys/fs/cgroup%s/rdma.max", strcmp(path, "/") ? path : "");
	}
	rd_explain(ret, "cgroup-rdma-limit", confidence,
		   "a control group of the process was at its limit of %s on %s: %s; which one was full is not known",
		   r->what, f->event->ibdev, groups.data);
	rd_explain_fix(ret, "%secho \"%s %s=max\" | tee%s" LASTS, plain ? "" : "# ", f->event->ibdev, r->name,
		       files.data);
}

static void explain_one(const struct rd_failure *f, const struct resource *r, const struct limiting *l, bool charges,
			struct rd_explanation *ret)
{
	const char *path = l->group->path;
	uint64_t max = max_of(l->group, r);

	if (l->full || !l->known)
		rd_explain(ret, "cgroup-rdma-limit", charges ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "control group %s is at its limit of %" PRIu64 " %s on %s (rdma.max)", path, max, r->what,
			   f->event->ibdev);
	else
		rd_explain(ret, "cgroup-rdma-limit", RD_CONFIDENCE_MEDIUM,
			   "control group %s was at its limit of %s on %s (rdma.max): now it allows %" PRIu64
			   " and has %" PRIu64
			   " in use; its limit may have been changed since, or its objects were freed",
			   path, r->what, f->event->ibdev, max, l->now);
	rd_explain_fix(ret, "%secho \"%s %s=max\" > /sys/fs/cgroup%s/rdma.max" LASTS,
		       rd_word_is_plain(path) ? "" : "# ", f->event->ibdev, r->name, strcmp(path, "/") ? path : "");
}

static bool find_rdma_cgroup(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	/* A handle is an open device; all other objects are counted together. */
	const struct resource r = rd_is_verb(f->event, "ibv_open_device") ?
					  (struct resource){ true, "hca_handle", "open devices" } :
					  (struct resource){ false, "hca_object", "RDMA objects" };
	bool charge = rd_failure_origin_is(f, "*rdmacg*");
	bool charges = charge || rd_failure_origin_is(f, "alloc_begin_idr_uobject") ||
		       (!rd_failure_in_driver(f) &&
			(rd_failure_origin_is(f, "*ucontext*") || rd_failure_origin_is(f, "*GET_CONTEXT*")));
	struct limiting limiting;

	if (f->cgroups_known != RD_OK || f->cgroups_v1)
		return false;
	limiting = find_groups(f, &r);
	if (!limiting.n) {
		rd_explain_fact(looked, "no control group of the process (%s) limits %s of %s", f->event->cgroup,
				r.name, f->event->ibdev);
		return false;
	}
	if (!charges && !limiting.full)
		return false;
	if (limiting.n > 1 && !limiting.full)
		explain_several(f, &r, charge ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM, ret);
	else
		explain_one(f, &r, &limiting, charges, ret);
	add_groups(f, &r, ret);
	rd_explain_fact(ret, "control group of the process: %s", f->event->cgroup);
	return true;
}

const struct rd_cause_rule rd_cause_rdma_cgroup = { .errnos = { EAGAIN },
						    .needs = RD_FACT_CGROUP,
						    .find = find_rdma_cgroup };
