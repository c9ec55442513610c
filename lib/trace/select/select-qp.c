// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/select/select.h"

#include "trace/select/sel.h"

/* Members of struct ib_qp_attr, as in include/rdma/ib_verbs.h. */
static const char *const attr_paths[RD_QPA_COUNT] = {
	[RD_QPA_STATE] = "qp_state",
	[RD_QPA_CUR_STATE] = "cur_qp_state",
	[RD_QPA_PATH_MTU] = "path_mtu",
	[RD_QPA_DEST_QPN] = "dest_qp_num",
	[RD_QPA_RQ_PSN] = "rq_psn",
	[RD_QPA_SQ_PSN] = "sq_psn",
	[RD_QPA_FLOW_LABEL] = "ah_attr.grh.flow_label",
	[RD_QPA_AH_TYPE] = "ah_attr.type",
	[RD_QPA_PORT] = "port_num",
	[RD_QPA_TIMEOUT] = "timeout",
	[RD_QPA_RETRY_CNT] = "retry_cnt",
	[RD_QPA_RNR_RETRY] = "rnr_retry",
	[RD_QPA_MIN_RNR_TIMER] = "min_rnr_timer",
	[RD_QPA_MAX_RD_ATOMIC] = "max_rd_atomic",
	[RD_QPA_MAX_DEST_RD_ATOMIC] = "max_dest_rd_atomic",
	[RD_QPA_SGID_INDEX] = "ah_attr.grh.sgid_index",
	[RD_QPA_HOP_LIMIT] = "ah_attr.grh.hop_limit",
	[RD_QPA_TRAFFIC_CLASS] = "ah_attr.grh.traffic_class",
	[RD_QPA_SL] = "ah_attr.sl",
	[RD_QPA_AH_FLAGS] = "ah_attr.ah_flags",
};

/* From the BTF of ib_core. False: it does not describe a queue pair. */
static bool read_layouts(const struct rd_btf *btf, struct rd_qp_config *cfg)
{
	uint32_t attr = rd_btf_find_struct(btf, "ib_qp_attr"), qp = rd_btf_find_struct(btf, "ib_qp");
	uint32_t device = rd_btf_find_struct(btf, "ib_device");
	uint32_t event = rd_btf_find_struct(btf, "ib_event");

	for (size_t i = 0; i < RD_QPA_COUNT; i++)
		cfg->attr[i] = rd_sel_offset(btf, attr, attr_paths[i], i < RD_QPA_ENUMS ? 4 : 1);
	cfg->dgid = rd_sel_offset(btf, attr, "ah_attr.grh.dgid", 16);
	cfg->dlid = rd_sel_offset(btf, attr, "ah_attr.ib.dlid", 2);
	cfg->qp_num = rd_sel_offset(btf, qp, "qp_num", 4);
	cfg->qp_type = rd_sel_offset(btf, qp, "qp_type", 4);
	cfg->qp_device = rd_sel_offset(btf, qp, "device", 8);
	cfg->ibdev_name = rd_sel_offset(btf, device, "name", 64);
	cfg->ibdev_index = rd_sel_offset(btf, device, "index", 4);
	cfg->event_device = rd_sel_offset(btf, event, "device", 8);
	cfg->event_element = rd_sel_offset(btf, event, "element", 8);
	cfg->event_code = rd_sel_offset(btf, event, "event", 4);
	return cfg->attr[RD_QPA_STATE] >= 0 && cfg->qp_num >= 0;
}

static int report_no_layout(struct rd_err *err)
{
	return rd_err_set(err, ENOTSUP, "ib_core", "no BTF with the layout of a queue pair in this module");
}

static int core_layouts(struct rd_sel *sel, void *arg)
{
	for (size_t m = 0; m < sel->set->n_modules; m++) {
		if (strcmp(sel->set->modules[m].name, "ib_core") != 0)
			continue;
		if (sel->set->modules[m].has_btf && read_layouts(&sel->mods[m].btf, arg))
			return 0;
		report_no_layout(sel->err);
		return rd_err_hint(sel->err, "qp-state -i without --trace shows changes between two samples");
	}
	return rd_err_set(sel->err, ENODEV, "ib_core", RD_NO_RDMA_MODULE);
}

int rd_select_query(struct rd_source *src, struct rd_fnset *set, struct rd_query_config *ret, struct rd_err *err)
{
	static const char name[] = "ib_query_qp";
	struct rd_query_config cfg = { 0 };
	struct rd_btf base = { 0 }, btf = { 0 };
	int r = rd_btf_read_base(src, &base, err);

	if (!r)
		r = rd_btf_read_module(src, &base, "ib_core", &btf, err);
	if (!r && !(read_layouts(&btf, &cfg.qp) && cfg.qp.qp_type >= 0 && cfg.qp.qp_device >= 0 &&
		    cfg.qp.ibdev_index >= 0 && rd_btf_find_func(&btf, name)))
		r = report_no_layout(err);
	if (!r) {
		uint32_t attr = rd_btf_find_struct(&btf, "ib_qp_attr");

		cfg.attr_size = (uint32_t)rd_btf_size(&btf, attr);
		cfg.path_mig = rd_sel_offset(&btf, attr, "path_mig_state", 4);
		cfg.alt_dgid = rd_sel_offset(&btf, attr, "alt_ah_attr.grh.dgid", 16);
		cfg.alt_dlid = rd_sel_offset(&btf, attr, "alt_ah_attr.ib.dlid", 2);
		/* One byte, or since Linux 5.13 four, of which the first is read: all architectures are little-endian. */
		cfg.alt_port = rd_sel_offset(&btf, attr, "alt_port_num", 0);
		cfg.alt_timeout = rd_sel_offset(&btf, attr, "alt_timeout", 1);
		*ret = cfg;
		*set = (struct rd_fnset){ .backends = UINT8_MAX };
		*RD_ADD(set->modules, set->n_modules, set->cap_modules) =
			(struct rd_module){ .name = rd_dup("ib_core"), .rdma = true, .has_btf = true };
		/* With its module: the kernel would otherwise search the symbols of all modules for each hook. */
		*RD_ADD(set->fns, set->n_fns, set->cap_fns) = (struct rd_fn){ .name = rd_dup("ib_core:ib_query_qp"),
									      .btf_id = rd_btf_find_func(&btf, name),
									      .attachable = UINT8_MAX,
									      .selected = true };
	}
	rd_btf_deinit(&btf);
	rd_btf_deinit(&base);
	return r;
}

/* Selects the function for this role, if it can be hooked and its arguments match as far as BTF describes them. */
static bool watch_function(struct rd_fnset *set, struct rd_qp_watch *w, int fn, enum rd_qp_role role)
{
	struct rd_fn *f = fn < 0 ? NULL : &set->fns[fn];

	if (!f || !f->attachable || !f->btf_id)
		return false;
	if ((role == RD_QP_ROLE_MODIFY || role == RD_QP_ROLE_DESTROY) && f->qp_arg != 0)
		return false;
	f->selected = true;
	w->roles[fn] = (uint8_t)role;
	return true;
}

static bool watch_name(struct rd_fnset *set, struct rd_qp_watch *w, const char *name, enum rd_qp_role role)
{
	return watch_function(set, w, rd_fnset_find(set, name), role);
}

/* The functions that perform transitions, from the choice that covers the most callers. */
static bool watch_modify(struct rd_fnset *set, struct rd_qp_watch *w, unsigned choice)
{
	bool any;

	switch (choice) {
	case 0: /* common to calls of programs and of the kernel itself */
		return watch_name(set, w, "_ib_modify_qp", RD_QP_ROLE_MODIFY);
	case 1:
		any = watch_name(set, w, "ib_modify_qp_with_udata", RD_QP_ROLE_MODIFY);
		return watch_name(set, w, "ib_modify_qp", RD_QP_ROLE_MODIFY) || any;
	default:
		any = false;
		for (size_t i = 0; i < set->n_roots; i++)
			if (!strcmp(set->roots[i].via, "ib_device_ops.modify_qp"))
				any |= watch_function(set, w, (int)set->roots[i].fn, RD_QP_ROLE_MODIFY);
		return any;
	}
}

bool rd_qp_watch_choose(struct rd_fnset *set, struct rd_qp_watch *w, unsigned *choice)
{
	for (; *choice < RD_QP_CHOICES; ++*choice) {
		for (size_t i = 0; i < set->n_fns; i++)
			set->fns[i].selected = false;
		memset(w->roles, 0, set->n_fns);
		if (!watch_modify(set, w, *choice))
			continue;
		watch_name(set, w, "ib_create_qp_user", RD_QP_ROLE_CREATE);
		watch_name(set, w, "ib_destroy_qp_user", RD_QP_ROLE_DESTROY);
		if (w->cfg.event_code < 0 || w->cfg.event_element < 0 || w->cfg.event_device < 0)
			return true;
		/* Newer kernels pass all events through a function of the core, which calls the older one. */
		if (!watch_name(set, w, "__ib_qp_event_handler", RD_QP_ROLE_EVENT))
			watch_name(set, w, "ib_uverbs_qp_event_handler", RD_QP_ROLE_EVENT);
		/* Changes of the GID table call the function that notifies the clients directly. */
		if (!watch_name(set, w, "ib_dispatch_event_clients", RD_QP_ROLE_DISPATCH))
			watch_name(set, w, "ib_dispatch_event", RD_QP_ROLE_DISPATCH);
		return true;
	}
	return false;
}

bool rd_qp_watch_has(const struct rd_fnset *set, const struct rd_qp_watch *w, enum rd_qp_role role)
{
	for (size_t i = 0; i < set->n_fns; i++)
		if (w->roles[i] == role && set->fns[i].backend != RD_BACKEND_NONE)
			return true;
	return false;
}

int rd_select_qp(struct rd_source *src, struct rd_fnset *set, struct rd_qp_watch *ret, struct rd_errlist *notes,
		 struct rd_err *err)
{
	struct rd_qp_watch w = { 0 };
	int r;

	memset(w.cfg.attr, 0xff, sizeof(w.cfg.attr));
	w.cfg.qp_num = -1;
	r = rd_select_then(src, set, notes, err, core_layouts, &w.cfg);
	if (r)
		return r;
	w.roles = rd_alloc(set->n_fns, sizeof(*w.roles));
	*ret = w;
	return 0;
}

void rd_qp_watch_deinit(struct rd_qp_watch *w)
{
	free(w->roles);
	w->roles = NULL;
}
