// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/trace/failure.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

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
	free(f->memory.cgroup);
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

bool rd_failure_origin_is(const struct rd_failure *f, const char *pattern)
{
	char name[256];
	int origin = f->event->origin;

	if (origin < 0 || (size_t)origin >= f->set->n_fns)
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(f->set->fns[origin].name, "."), f->set->fns[origin].name);
	return !fnmatch(pattern, name, 0);
}

bool rd_failure_in_driver(const struct rd_failure *f)
{
	static const char *const core[] = { "ib_core", "ib_uverbs", "ib_cm", "iw_cm", "rdma_cm", "rdma_ucm", "ib_umad" };
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
