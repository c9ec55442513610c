/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/select/select.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/no-rdma.h"
#include "trace/select/sel.h"

static void sel_deinit(struct rd_sel *sel, size_t n_modules)
{
	for (size_t i = 0; i < n_modules; i++) {
		rd_elf_deinit(&sel->mods[i].elf);
		rd_btf_deinit(&sel->mods[i].btf);
		rd_bytes_deinit(&sel->mods[i].file);
		free(sel->mods[i].fn_of);
	}
	free(sel->mods);
	btf__free(sel->base);
	rd_kmods_deinit(&sel->kmods);
	rd_moddep_deinit(&sel->dep);
	rd_ksyms_deinit(&sel->ksyms);
	rd_ksyms_deinit(&sel->filter);
	free(sel->edges);
	free(sel->takes);
	free(sel->edge_first);
	free(sel->excluded);
	free(sel->excluded_rule);
}

/* From types and functions that the kernel has only if it was configured with the backend. Attaching does not depend on it. */
static uint8_t find_backends(const struct btf *base)
{
	static const struct {
		enum rd_backend backend;
		const char *name;
		uint32_t kind;
	} signs[] = {
		{ RD_BACKEND_FEXIT, "register_ftrace_direct", BTF_KIND_FUNC },
		{ RD_BACKEND_FEXIT_MULTI, "bpf_tracing_multi_link", BTF_KIND_STRUCT },
		{ RD_BACKEND_KPROBE_MULTI, "bpf_kprobe_multi_link", BTF_KIND_STRUCT },
		{ RD_BACKEND_KPROBE, "trace_kprobe", BTF_KIND_STRUCT },
	};
	uint8_t found = 0;

	if (!base)
		return UINT8_MAX;
	for (size_t i = 0; i < RD_ARRAY_SIZE(signs); i++)
		if (btf__find_by_name_kind(base, signs[i].name, signs[i].kind) > 0)
			found |= (uint8_t)(1u << signs[i].backend);
	return found;
}

/* Reads what all modules need. Only the list of modules is mandatory. */
static int read_common(struct rd_sel *sel)
{
	struct rd_err err = { 0 };
	int rc;

	rc = rd_kmods_read(sel->src, &sel->kmods, sel->err);
	if (rc)
		return rc;
	rc = rd_read_textf(sel->src, &sel->set->kernel, &err, "/proc/sys/kernel/osrelease");
	if (!rc)
		rc = rd_moddep_read(sel->src, sel->set->kernel, &sel->dep, &err);
	if (rc == -ENOMEM)
		return rd_err_set(sel->err, ENOMEM, NULL, "cannot select the functions to trace");
	if (rc) {
		rd_err_hint(&err, "in a container, mount the host's /lib/modules");
		rd_errlist_add(sel->notes, &err);
	}
	rc = rd_btf_read_base(sel->src, &sel->base, &err);
	if (rc == -ENOMEM)
		return rd_err_set(sel->err, ENOMEM, NULL, "cannot select the functions to trace");
	if (rc)
		rd_errlist_add(sel->notes, &err);
	sel->set->backends = find_backends(sel->base);
	return 0;
}

static int no_rdma(struct rd_sel *sel)
{
	struct rd_names names = { 0 };
	bool built_in = !rd_list_dir(sel->src, "/sys/module/ib_core", &names, NULL);

	rd_names_deinit(&names);
	rd_err_set(sel->err, ENODEV, "ib_core",
		   built_in ? "RDMA is built into this kernel; only modules can be traced" : RD_NO_RDMA_MODULE);
	if (!built_in)
		rd_err_hint(sel->err, "load a driver, for example: modprobe rdma_rxe");
	return -ENODEV;
}

static int load_rdma(struct rd_sel *sel)
{
	int core = rd_kmods_find(&sel->kmods, "ib_core"), rc;
	_cleanup_free_ bool *rdma = NULL;

	if (core < 0)
		return no_rdma(sel);
	rdma = rd_alloc(sel->kmods.n, sizeof(*rdma));
	rd_kmods_mark_users(&sel->kmods, core, rdma);
	rc = rd_sel_load_modules(sel, rdma, true);
	if (!rc)
		rd_sel_find_drivers(sel);
	return rc;
}

static bool has_module(const struct rd_fnset *set, const char *name)
{
	for (size_t i = 0; i < set->n_modules; i++)
		if (!strcmp(set->modules[i].name, name))
			return true;
	return false;
}

/*
 * A module that an RDMA driver depends on is the core driver of that vendor if it has device drivers itself; others (tunnels,
 * libraries) are common kernel code.
 */
static bool is_core_driver(const struct rd_sel *sel, const struct rd_kmod *mod)
{
	struct rd_names names = { 0 };
	bool below = false, drives;
	char path[160];

	if (has_module(sel->set, mod->name))
		return false;
	for (size_t i = 0; i < sel->set->n_modules && !below; i++)
		below = sel->set->modules[i].has_ops && rd_kmod_used_by(mod, sel->set->modules[i].name);
	if (!below)
		return false;
	snprintf(path, sizeof(path), "/sys/module/%s/drivers", mod->name);
	drives = !rd_list_dir(sel->src, path, &names, NULL) && names.n;
	rd_names_deinit(&names);
	return drives;
}

static int load_core_drivers(struct rd_sel *sel)
{
	_cleanup_free_ bool *lower = rd_alloc(sel->kmods.n, sizeof(*lower));

	for (size_t i = 0; i < sel->kmods.n; i++)
		lower[i] = is_core_driver(sel, &sel->kmods.v[i]);
	return rd_sel_load_modules(sel, lower, false);
}

/* Without the edges of functions that were removed. Returns their number. */
static size_t move_edges(struct rd_sel_edge *v, size_t n, const uint32_t *moved)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		const struct rd_sel_edge edge = { moved[v[i].from], moved[v[i].to] };

		if (edge.from != UINT32_MAX && edge.to != UINT32_MAX)
			v[kept++] = edge;
	}
	return kept;
}

/* Removes functions of core drivers that are not reachable from verbs. The order is kept, so indices only decrease. */
static void drop_unreached(struct rd_sel *sel)
{
	struct rd_fnset *set = sel->set;
	_cleanup_free_ uint32_t *moved = rd_alloc(set->n_fns, sizeof(*moved));
	uint32_t n = 0;

	for (size_t i = 0; i < set->n_fns; i++) {
		if (!set->modules[set->fns[i].module].rdma && !set->fns[i].n_roots) {
			free(set->fns[i].name);
			free(set->fns[i].roots);
			moved[i] = UINT32_MAX;
			continue;
		}
		moved[i] = n;
		set->fns[n++] = set->fns[i];
	}
	set->n_fns = n;
	for (size_t i = 0; i < set->n_roots; i++)
		set->roots[i].fn = moved[set->roots[i].fn];
	sel->n_edges = move_edges(sel->edges, sel->n_edges, moved);
	sel->n_takes = move_edges(sel->takes, sel->n_takes, moved);
	for (size_t m = 0; m < set->n_modules; m++)
		for (size_t i = 0; i < sel->mods[m].elf.n_funcs; i++)
			sel->mods[m].fn_of[i] = moved[sel->mods[m].fn_of[i]];
}

int rd_select_then(struct rd_source *src, struct rd_fnset *ret, struct rd_errlist *notes, struct rd_err *err,
		   rd_sel_then_fn *then, void *arg)
{
	struct rd_fnset set = { 0 };
	struct rd_sel sel = { .src = src, .set = &set, .notes = notes, .err = err };
	int rc;

	rc = read_common(&sel);
	if (!rc)
		rc = load_rdma(&sel);
	if (!rc)
		rc = load_core_drivers(&sel);
	if (!rc) {
		for (uint32_t m = 0; m < set.n_modules; m++)
			rd_sel_add_functions(&sel, m);
		rd_sel_build_graph(&sel);
		rd_sel_find_roots(&sel);
		rd_sel_add_alone(&sel);
		rd_sel_judge(&sel);
		rd_sel_find_offsets(&sel);
		drop_unreached(&sel);
		rd_sel_note_calls(&sel);
	}
	if (!rc && then)
		rc = then(&sel, arg);
	sel_deinit(&sel, set.n_modules);
	if (rc) {
		rd_fnset_deinit(&set);
		return rc;
	}
	*ret = set;
	return 0;
}

int rd_select(struct rd_source *src, struct rd_fnset *ret, struct rd_errlist *notes, struct rd_err *err)
{
	return rd_select_then(src, ret, notes, err, NULL, NULL);
}

int rd_select_news(struct rd_source *src, const struct rd_fnset *set, struct rd_names *ret, struct rd_err *err)
{
	_cleanup_(rd_kmods_deinit) struct rd_kmods mods = { 0 };
	_cleanup_free_ bool *rdma = NULL;
	int r = rd_kmods_read(src, &mods, err), core = r ? -1 : rd_kmods_find(&mods, "ib_core");

	if (r || core < 0)
		return r;
	rdma = rd_alloc(mods.n, sizeof(*rdma));
	rd_kmods_mark_users(&mods, core, rdma);
	for (size_t i = 0; i < mods.n; i++) {
		if (!rdma[i] || rd_fnset_module(set, mods.v[i].name, rd_sel_instance(src, mods.v[i].name)) >= 0)
			continue;
		*RD_ADD(ret->v, ret->n, ret->cap) = rd_dup(mods.v[i].name);
	}
	return 0;
}
