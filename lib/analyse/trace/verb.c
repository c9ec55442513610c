// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Numbers from the UAPI headers ib_user_ioctl_cmds.h and rdma_user_cm.h as of Linux 7.x. They are stable ABI,
 * and are copied here because the headers of the build host may be older than the running kernel.
 */
#include "analyse/trace/verb.h"

#include <linux/types.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "bpf/record.h"
#include "model/trace/request.h"

struct named_object {
	const char *name;
	uint16_t id;
};

struct named_method {
	uint16_t object, id;
	const char *name;
	const char *verb; /* NULL: does not correspond to a single verb */
};

struct named_ucma {
	const char *name;
	const char *verb;
};

static const struct named_object objects[];
static const struct named_method methods[];
static const struct named_ucma ucma_commands[];
static const size_t n_objects, n_methods, n_ucma_commands;

static void copy_name(char *dst, size_t size, const char *src)
{
	snprintf(dst, size, "%s", src ? src : "");
}

static void name_ioctl(uint32_t low, struct rd_verb *ret)
{
	uint16_t object = low >> 16, method = low & 0xffff;

	snprintf(ret->object, sizeof(ret->object), "0x%x", object);
	snprintf(ret->method, sizeof(ret->method), "0x%x", method);
	for (size_t i = 0; i < n_objects; i++)
		if (objects[i].id == object)
			copy_name(ret->object, sizeof(ret->object), objects[i].name);
	for (size_t i = 0; i < n_methods; i++) {
		if (methods[i].object != object || methods[i].id != method)
			continue;
		copy_name(ret->method, sizeof(ret->method), methods[i].name);
		copy_name(ret->verb, sizeof(ret->verb), methods[i].verb);
	}
}

static void name_command(const struct rd_command *command, const char *door, struct rd_verb *ret)
{
	copy_name(ret->object, sizeof(ret->object), command->object);
	snprintf(ret->method, sizeof(ret->method), "%s:%s%s", door, command->extended ? "EX_" : "", command->name);
	copy_name(ret->verb, sizeof(ret->verb), command->verb);
}

static void name_invoke_write(uint32_t low, struct rd_verb *ret)
{
	const struct rd_command *command = rd_command_find(low);

	if (command) {
		name_command(command, "INVOKE_WRITE", ret);
		return;
	}
	copy_name(ret->object, sizeof(ret->object), "DEVICE");
	snprintf(ret->method, sizeof(ret->method), "INVOKE_WRITE:%s0x%x", low & RD_COMMAND_EXTENDED ? "EX_" : "",
		 low & ~RD_COMMAND_EXTENDED);
}

static void name_write(uint32_t low, const struct rd_fnset *set, struct rd_verb *ret)
{
	const char *function = set && low < set->n_fns ? set->fns[low].name : NULL;

	const struct rd_command *command = function ? rd_command_of_handler(function) : NULL;

	if (command) {
		name_command(command, "WRITE", ret);
		return;
	}
	copy_name(ret->object, sizeof(ret->object), "DEVICE");
	copy_name(ret->method, sizeof(ret->method), "WRITE");
}

static void name_ucma(uint32_t low, struct rd_verb *ret)
{
	copy_name(ret->object, sizeof(ret->object), "RDMA_CM");
	snprintf(ret->method, sizeof(ret->method), "0x%x", low);
	if (low >= n_ucma_commands)
		return;
	copy_name(ret->method, sizeof(ret->method), ucma_commands[low].name);
	copy_name(ret->verb, sizeof(ret->verb), ucma_commands[low].verb);
}

static void name_fop(uint32_t low, struct rd_verb *ret)
{
	copy_name(ret->object, sizeof(ret->object), "DEVICE");
	switch (low) {
	case RD_ENTRY_UVERBS_OPEN:
		copy_name(ret->method, sizeof(ret->method), "OPEN");
		copy_name(ret->verb, sizeof(ret->verb), "ibv_open_device");
		break;
	case RD_ENTRY_UVERBS_MMAP:
		/* Drivers map doorbells and queues while opening a device or creating a CQ, QP or SRQ. */
		copy_name(ret->method, sizeof(ret->method), "MMAP");
		break;
	default:
		break;
	}
}

void rd_verb_name(uint64_t key, const struct rd_fnset *set, struct rd_verb *ret)
{
	uint32_t low = (uint32_t)key;

	memset(ret, 0, sizeof(*ret));
	switch (key >> 32) {
	case RD_VERB_IOCTL:
		name_ioctl(low, ret);
		break;
	case RD_VERB_INVOKE_WRITE:
		name_invoke_write(low, ret);
		break;
	case RD_VERB_WRITE:
		name_write(low, set, ret);
		break;
	case RD_VERB_UCMA:
		name_ucma(low, ret);
		break;
	case RD_VERB_FOP:
		name_fop(low, ret);
		break;
	default:
		break;
	}
}

static void replace(char **dst, const char *text)
{
	free(*dst);
	*dst = *text ? rd_dup(text) : NULL;
}

void rd_verb_resolve(struct rd_event *event, const struct rd_fnset *set)
{
	struct rd_verb verb;

	rd_verb_name(event->verb_key, set, &verb);
	replace(&event->object, verb.object);
	replace(&event->method, verb.method);
	replace(&event->verb, verb.verb);
}

enum {
	OBJ_DEVICE,
	OBJ_PD,
	OBJ_COMP_CHANNEL,
	OBJ_CQ,
	OBJ_QP,
	OBJ_SRQ,
	OBJ_AH,
	OBJ_MR,
	OBJ_MW,
	OBJ_FLOW,
	OBJ_XRCD,
	OBJ_RWQ_IND_TBL,
	OBJ_WQ,
	OBJ_FLOW_ACTION,
	OBJ_DM,
	OBJ_COUNTERS,
	OBJ_ASYNC_EVENT,
	OBJ_DMAH,
	OBJ_DMABUF,
	OBJ_COMP_CNTR,
};

/* clang-format off */
static const struct named_object objects[] = {
	{ "DEVICE", OBJ_DEVICE },
	{ "PD", OBJ_PD },
	{ "COMP_CHANNEL", OBJ_COMP_CHANNEL },
	{ "CQ", OBJ_CQ },
	{ "QP", OBJ_QP },
	{ "SRQ", OBJ_SRQ },
	{ "AH", OBJ_AH },
	{ "MR", OBJ_MR },
	{ "MW", OBJ_MW },
	{ "FLOW", OBJ_FLOW },
	{ "XRCD", OBJ_XRCD },
	{ "RWQ_IND_TBL", OBJ_RWQ_IND_TBL },
	{ "WQ", OBJ_WQ },
	{ "FLOW_ACTION", OBJ_FLOW_ACTION },
	{ "DM", OBJ_DM },
	{ "COUNTERS", OBJ_COUNTERS },
	{ "ASYNC_EVENT", OBJ_ASYNC_EVENT },
	{ "DMAH", OBJ_DMAH },
	{ "DMABUF", OBJ_DMABUF },
	{ "COMP_CNTR", OBJ_COMP_CNTR },
};
static const size_t n_objects = RD_ARRAY_SIZE(objects);

static const struct named_method methods[] = {
	{ OBJ_DEVICE, 0, "INVOKE_WRITE", NULL },
	{ OBJ_DEVICE, 1, "INFO_HANDLES", NULL },
	{ OBJ_DEVICE, 2, "QUERY_PORT", "ibv_query_port" },
	{ OBJ_DEVICE, 3, "GET_CONTEXT", "ibv_open_device" },
	{ OBJ_DEVICE, 4, "QUERY_CONTEXT", "ibv_import_device" },
	{ OBJ_DEVICE, 5, "QUERY_GID_TABLE", "ibv_query_gid_table" },
	{ OBJ_DEVICE, 6, "QUERY_GID_ENTRY", "ibv_query_gid_ex" },
	{ OBJ_DEVICE, 7, "QUERY_PORT_SPEED", "ibv_query_port_speed" },
	{ OBJ_DEVICE, 8, "QUERY_COMP_CNTR_CAPS", "ibv_query_comp_cntr_caps" },
	{ OBJ_PD, 0, "PD_DESTROY", "ibv_dealloc_pd" },
	{ OBJ_CQ, 0, "CQ_CREATE", "ibv_create_cq" },
	{ OBJ_CQ, 1, "CQ_DESTROY", "ibv_destroy_cq" },
	{ OBJ_QP, 0, "QP_CREATE", "ibv_create_qp" },
	{ OBJ_QP, 1, "QP_DESTROY", "ibv_destroy_qp" },
	{ OBJ_QP, 2, "QP_ATTACH_COMP_CNTR", "ibv_qp_attach_comp_cntr" },
	{ OBJ_SRQ, 0, "SRQ_CREATE", "ibv_create_srq" },
	{ OBJ_SRQ, 1, "SRQ_DESTROY", "ibv_destroy_srq" },
	{ OBJ_AH, 0, "AH_DESTROY", "ibv_destroy_ah" },
	{ OBJ_MR, 0, "DM_MR_REG", "ibv_reg_dm_mr" },
	{ OBJ_MR, 1, "MR_DESTROY", "ibv_dereg_mr" },
	{ OBJ_MR, 2, "ADVISE_MR", "ibv_advise_mr" },
	{ OBJ_MR, 3, "QUERY_MR", "ibv_import_mr" },
	{ OBJ_MR, 4, "REG_DMABUF_MR", "ibv_reg_dmabuf_mr" },
	{ OBJ_MR, 5, "REG_MR", "ibv_reg_mr" },
	{ OBJ_MW, 0, "MW_DESTROY", "ibv_dealloc_mw" },
	{ OBJ_FLOW, 0, "FLOW_DESTROY", "ibv_destroy_flow" },
	{ OBJ_XRCD, 0, "XRCD_DESTROY", "ibv_close_xrcd" },
	{ OBJ_RWQ_IND_TBL, 0, "RWQ_IND_TBL_DESTROY", "ibv_destroy_rwq_ind_table" },
	{ OBJ_WQ, 0, "WQ_CREATE", "ibv_create_wq" },
	{ OBJ_WQ, 1, "WQ_DESTROY", "ibv_destroy_wq" },
	{ OBJ_FLOW_ACTION, 0, "FLOW_ACTION_ESP_CREATE", "ibv_create_flow_action_esp" },
	{ OBJ_FLOW_ACTION, 1, "FLOW_ACTION_DESTROY", "ibv_destroy_flow_action" },
	{ OBJ_FLOW_ACTION, 2, "FLOW_ACTION_ESP_MODIFY", "ibv_modify_flow_action_esp" },
	{ OBJ_DM, 0, "DM_ALLOC", "ibv_alloc_dm" },
	{ OBJ_DM, 1, "DM_FREE", "ibv_free_dm" },
	{ OBJ_COUNTERS, 0, "COUNTERS_CREATE", "ibv_create_counters" },
	{ OBJ_COUNTERS, 1, "COUNTERS_DESTROY", "ibv_destroy_counters" },
	{ OBJ_COUNTERS, 2, "COUNTERS_READ", "ibv_read_counters" },
	{ OBJ_ASYNC_EVENT, 0, "ASYNC_EVENT_ALLOC", "ibv_open_device" },
	{ OBJ_DMAH, 0, "DMAH_ALLOC", "ibv_alloc_dmah" },
	{ OBJ_DMAH, 1, "DMAH_FREE", "ibv_dealloc_dmah" },
	{ OBJ_DMABUF, 0, "DMABUF_ALLOC", NULL },
	{ OBJ_COMP_CNTR, 0, "COMP_CNTR_CREATE", "ibv_create_comp_cntr" },
	{ OBJ_COMP_CNTR, 1, "COMP_CNTR_DESTROY", "ibv_destroy_comp_cntr" },
	{ OBJ_COMP_CNTR, 2, "COMP_CNTR_MODIFY", NULL }, /* set and inc, of completions and of errors */
	{ OBJ_COMP_CNTR, 3, "COMP_CNTR_READ", NULL },
};
static const size_t n_methods = RD_ARRAY_SIZE(methods);

/* By number. The library itself issues QUERY and QUERY_ROUTE after several of its calls. */
static const struct named_ucma ucma_commands[] = {
	{ "CREATE_ID", "rdma_create_id" },
	{ "DESTROY_ID", "rdma_destroy_id" },
	{ "BIND_IP", "rdma_bind_addr" },
	{ "RESOLVE_IP", "rdma_resolve_addr" },
	{ "RESOLVE_ROUTE", "rdma_resolve_route" },
	{ "QUERY_ROUTE", NULL },
	{ "CONNECT", "rdma_connect" },
	{ "LISTEN", "rdma_listen" },
	{ "ACCEPT", "rdma_accept" },
	{ "REJECT", "rdma_reject" },
	{ "DISCONNECT", "rdma_disconnect" },
	{ "INIT_QP_ATTR", "rdma_init_qp_attr" },
	{ "GET_EVENT", "rdma_get_cm_event" },
	{ "GET_OPTION", NULL },
	{ "SET_OPTION", "rdma_set_option" },
	{ "NOTIFY", "rdma_notify" },
	{ "JOIN_IP_MCAST", "rdma_join_multicast" },
	{ "LEAVE_MCAST", "rdma_leave_multicast" },
	{ "MIGRATE_ID", "rdma_migrate_id" },
	{ "QUERY", NULL },
	{ "BIND", "rdma_bind_addr" },
	{ "RESOLVE_ADDR", "rdma_resolve_addr" },
	{ "JOIN_MCAST", "rdma_join_multicast" },
	{ "RESOLVE_IB_SERVICE", "rdma_resolve_addrinfo" },
	{ "WRITE_CM_EVENT", "rdma_write_cm_event" },
};
static const size_t n_ucma_commands = RD_ARRAY_SIZE(ucma_commands);
/* clang-format on */
