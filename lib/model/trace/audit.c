// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/trace/audit.h"

void rd_audit_probe_deinit(struct rd_audit_probe *probe)
{
	RD_FREE(probe->name, probe->verb, probe->origin, probe->module);
	*probe = (struct rd_audit_probe){ 0 };
}

void rd_audit_set_deinit(struct rd_audit_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		RD_FREE(set->fns[i].function, set->fns[i].module, set->fns[i].via);
		for (uint32_t c = 0; c < set->fns[i].n_calls; c++)
			free(set->fns[i].calls[c]);
		free(set->fns[i].calls);
	}
	for (size_t i = 0; i < set->n_modules; i++)
		RD_FREE(set->modules[i].name, set->modules[i].version);
	for (size_t i = 0; i < set->n_probes; i++)
		rd_audit_probe_deinit(&set->probes[i]);
	RD_FREE(set->probes, set->fns, set->modules, set->kernel, set->version);
	*set = (struct rd_audit_set){ 0 };
}

int rd_audit_module_find(const struct rd_audit_set *set, const char *name)
{
	for (size_t i = 0; i < set->n_modules; i++)
		if (!strcmp(set->modules[i].name, name))
			return (int)i;
	return -1;
}

const char *rd_change_name(enum rd_audit_kind change)
{
	static const char *const names[RD_CHANGES] = {
		[RD_CHANGE_LOST_HOOK] = "lost-hook",
		[RD_CHANGE_LEFT_OUT] = "left-out",
		[RD_CHANGE_INLINED] = "inlined",
		[RD_CHANGE_REMOVED] = "removed",
		[RD_CHANGE_RENAMED] = "renamed",
		[RD_CHANGE_MOVED] = "moved",
		[RD_CHANGE_HOOK] = "hooks",
		[RD_CHANGE_ERRNOS] = "errnos",
		[RD_CHANGE_ADDED] = "added",
		[RD_CHANGE_REACHED] = "newly-reached",
		[RD_CHANGE_MODULE_GONE] = "module-gone",
		[RD_CHANGE_MODULE_NEW] = "module-new",
	};

	return names[change];
}

void rd_audit_deinit(struct rd_audit *audit)
{
	for (size_t i = 0; i < audit->n; i++)
		free(audit->v[i].detail);
	free(audit->v);
	rd_texts_deinit(&audit->missing);
	rd_texts_deinit(&audit->unequal);
	rd_texts_deinit(&audit->stripped);
	*audit = (struct rd_audit){ 0 };
}
