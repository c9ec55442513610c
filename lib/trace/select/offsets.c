/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offsets in structures of the RDMA core, from the BTF of the loaded modules, and functions whose arguments are worth noting. */
#include <string.h>

#include "trace/select/sel.h"

#define MODIFY_QP_IS_OK "ib_modify_qp_is_ok"

int rd_sel_member_offset(const struct rd_btf *btf, uint32_t type, const char *name, struct rd_btf_member *ret)
{
	*ret = (struct rd_btf_member){ 0 };
	return type && rd_btf_member(btf, type, name, ret) ? ret->offset : -1;
}

/* Offset of a member of a member: "res.id". */
static int offset_within(const struct rd_btf *btf, uint32_t type, const char *outer, const char *inner)
{
	struct rd_btf_member m;
	int at = rd_sel_member_offset(btf, type, outer, &m), within;

	if (at < 0)
		return -1;
	within = rd_sel_member_offset(btf, m.type, inner, &m);
	return within < 0 ? -1 : at + within;
}

static void find_qp_and_device(const struct rd_btf *btf, struct rd_offsets *off)
{
	uint32_t qp = rd_btf_find_struct(btf, "ib_qp"), dev = rd_btf_find_struct(btf, "ib_device");
	struct rd_btf_member m;

	if (off->qp_num < 0 && qp) {
		off->qp_num = rd_sel_member_offset(btf, qp, "qp_num", &m);
		off->qp_port = rd_sel_member_offset(btf, qp, "port", &m);
		off->qp_type = rd_sel_member_offset(btf, qp, "qp_type", &m);
		off->qp_device = rd_sel_member_offset(btf, qp, "device", &m);
	}
	if (off->ibdev_name < 0 && dev)
		off->ibdev_name = rd_sel_member_offset(btf, dev, "name", &m);
}

/* From the bundle of attributes that handlers get to the file of the process, its device and its table of objects. */
static void find_file(const struct rd_btf *btf, struct rd_offsets *off)
{
	uint32_t bundle = rd_btf_find_struct(btf, "uverbs_attr_bundle"), file, uobject;
	struct rd_btf_member m;

	if (off->uverbs_dev_devt >= 0 || !bundle)
		return;
	off->bundle_in = offset_within(btf, bundle, "ucore", "inbuf");
	off->bundle_in_len = offset_within(btf, bundle, "ucore", "inlen");
	off->bundle_ufile = rd_sel_member_offset(btf, bundle, "ufile", &m);
	file = rd_btf_pointee(btf, m.type);
	off->ufile_idr = offset_within(btf, file, "idr", "xa_head");
	off->ufile_device = rd_sel_member_offset(btf, file, "device", &m);
	off->uverbs_dev_devt = offset_within(btf, rd_btf_pointee(btf, m.type), "dev", "devt");
	rd_sel_member_offset(btf, bundle, "uobject", &m);
	uobject = rd_btf_pointee(btf, m.type);
	off->uobject_object = rd_sel_member_offset(btf, uobject, "object", &m);
	off->uobject_usecnt = rd_sel_member_offset(btf, uobject, "usecnt", &m);
	off->uobject_api = rd_sel_member_offset(btf, uobject, "uapi_object", &m);
	off->api_id = rd_sel_member_offset(btf, rd_btf_pointee(btf, m.type), "id", &m);
}

static void find_objects(const struct rd_btf *btf, struct rd_offsets *off)
{
	static const struct {
		unsigned type; /* UVERBS_OBJECT_* */
		const char *name;
	} objects[] = {
		{ 1, "ib_pd" }, { 3, "ib_cq" }, { 5, "ib_srq" }, { 7, "ib_mr" }, { 10, "ib_xrcd" }, { 12, "ib_wq" },
	};
	uint32_t qp = rd_btf_find_struct(btf, "ib_qp");
	struct rd_btf_member m;

	for (size_t i = 0; i < RD_ARRAY_SIZE(objects); i++) {
		uint32_t type = rd_btf_find_struct(btf, objects[i].name);
		struct rd_object_offsets *o = &off->objects[objects[i].type];

		if (o->number >= 0 || o->users >= 0)
			continue;
		o->number = offset_within(btf, type, "res", "id");
		o->users = rd_sel_member_offset(btf, type, "usecnt", &m);
	}
	if (off->objects[4].number < 0) {
		off->objects[4].number = rd_sel_member_offset(btf, qp, "qp_num", &m);
		off->objects[4].users = rd_sel_member_offset(btf, qp, "usecnt", &m);
	}
}

/* The private part of a rdma_cm_id begins with it. */
static void find_cm_state(const struct rd_btf *btf, struct rd_offsets *off)
{
	uint32_t type = rd_btf_find_struct(btf, "rdma_id_private");
	struct rd_btf_member m;

	if (off->cm_state < 0 && type && !rd_sel_member_offset(btf, type, "id", &m))
		off->cm_state = rd_sel_member_offset(btf, type, "state", &m);
}

static void mark_noted(struct rd_sel *sel)
{
	for (size_t i = 0; i < sel->set->n_fns; i++) {
		struct rd_fn *fn = &sel->set->fns[i];
		const struct rd_module *module = &sel->set->modules[fn->module];

		if (!module->rdma || module->has_ops || !fn->attachable)
			continue;
		if (!strcmp(fn->name, MODIFY_QP_IS_OK))
			fn->notes |= RD_NOTE_QP;
		else if (fn->selected && fn->btf_id && sel->set->off.cm_state >= 0 &&
			 rd_btf_takes_first(&sel->mods[fn->module].btf, fn->btf_id, "rdma_cm_id"))
			fn->notes |= RD_NOTE_CM;
	}
}

/* Only the modules of the RDMA core have the layout of its structures. */
void rd_sel_find_offsets(struct rd_sel *sel)
{
	static const char *const cores[] = { "ib_core", "ib_uverbs", "rdma_cm" };
	struct rd_offsets *off = &sel->set->off;

	rd_offsets_init(off);
	for (size_t i = 0; i < RD_ARRAY_SIZE(cores); i++)
		for (size_t m = 0; m < sel->set->n_modules; m++) {
			const struct rd_btf *btf = &sel->mods[m].btf;

			if (!sel->set->modules[m].has_btf || strcmp(sel->set->modules[m].name, cores[i]) != 0)
				continue;
			find_qp_and_device(btf, off);
			find_file(btf, off);
			find_objects(btf, off);
			find_cm_state(btf, off);
		}
	mark_noted(sel);
}
