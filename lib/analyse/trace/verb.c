// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Numbers from the UAPI headers ib_user_ioctl_cmds.h and rdma_user_cm.h as of Linux 7.x. They are stable ABI,
 * and are copied here because the headers of the build host may be older than the running kernel.
 */
#include "analyse/trace/trace.h"

#include <linux/types.h>

#include "bpf/record.h"

/* clang-format off */
/* Objects and their methods, by number. */
static const struct {
	const char *name;
	struct {
		const char *name;
		const char *verb; /* NULL: does not correspond to a single verb */
	} methods[9];
} objects[] = {
	{ "DEVICE", {
		{ "INVOKE_WRITE" },
		{ "INFO_HANDLES" },
		{ "QUERY_PORT", "ibv_query_port" },
		{ "GET_CONTEXT", "ibv_open_device" },
		{ "QUERY_CONTEXT", "ibv_import_device" },
		{ "QUERY_GID_TABLE", "ibv_query_gid_table" },
		{ "QUERY_GID_ENTRY", "ibv_query_gid_ex" },
		{ "QUERY_PORT_SPEED", "ibv_query_port_speed" },
		{ "QUERY_COMP_CNTR_CAPS", "ibv_query_comp_cntr_caps" },
	} },
	{ "PD", { { "PD_DESTROY", "ibv_dealloc_pd" } } },
	{ "COMP_CHANNEL" },
	{ "CQ", {
		{ "CQ_CREATE", "ibv_create_cq" },
		{ "CQ_DESTROY", "ibv_destroy_cq" },
	} },
	{ "QP", {
		{ "QP_CREATE", "ibv_create_qp" },
		{ "QP_DESTROY", "ibv_destroy_qp" },
		{ "QP_ATTACH_COMP_CNTR", "ibv_qp_attach_comp_cntr" },
	} },
	{ "SRQ", {
		{ "SRQ_CREATE", "ibv_create_srq" },
		{ "SRQ_DESTROY", "ibv_destroy_srq" },
	} },
	{ "AH", { { "AH_DESTROY", "ibv_destroy_ah" } } },
	{ "MR", {
		{ "DM_MR_REG", "ibv_reg_dm_mr" },
		{ "MR_DESTROY", "ibv_dereg_mr" },
		{ "ADVISE_MR", "ibv_advise_mr" },
		{ "QUERY_MR", "ibv_import_mr" },
		{ "REG_DMABUF_MR", "ibv_reg_dmabuf_mr" },
		{ "REG_MR", "ibv_reg_mr" },
	} },
	{ "MW", { { "MW_DESTROY", "ibv_dealloc_mw" } } },
	{ "FLOW", { { "FLOW_DESTROY", "ibv_destroy_flow" } } },
	{ "XRCD", { { "XRCD_DESTROY", "ibv_close_xrcd" } } },
	{ "RWQ_IND_TBL", { { "RWQ_IND_TBL_DESTROY", "ibv_destroy_rwq_ind_table" } } },
	{ "WQ", {
		{ "WQ_CREATE", "ibv_create_wq" },
		{ "WQ_DESTROY", "ibv_destroy_wq" },
	} },
	{ "FLOW_ACTION", {
		{ "FLOW_ACTION_ESP_CREATE", "ibv_create_flow_action_esp" },
		{ "FLOW_ACTION_DESTROY", "ibv_destroy_flow_action" },
		{ "FLOW_ACTION_ESP_MODIFY", "ibv_modify_flow_action_esp" },
	} },
	{ "DM", {
		{ "DM_ALLOC", "ibv_alloc_dm" },
		{ "DM_FREE", "ibv_free_dm" },
	} },
	{ "COUNTERS", {
		{ "COUNTERS_CREATE", "ibv_create_counters" },
		{ "COUNTERS_DESTROY", "ibv_destroy_counters" },
		{ "COUNTERS_READ", "ibv_read_counters" },
	} },
	{ "ASYNC_EVENT", { { "ASYNC_EVENT_ALLOC", "ibv_open_device" } } },
	{ "DMAH", {
		{ "DMAH_ALLOC", "ibv_alloc_dmah" },
		{ "DMAH_FREE", "ibv_dealloc_dmah" },
	} },
	{ "DMABUF", { { "DMABUF_ALLOC" } } },
	{ "COMP_CNTR", {
		{ "COMP_CNTR_CREATE", "ibv_create_comp_cntr" },
		{ "COMP_CNTR_DESTROY", "ibv_destroy_comp_cntr" },
		{ "COMP_CNTR_MODIFY" }, /* set and inc, of completions and of errors */
		{ "COMP_CNTR_READ" },
	} },
};

/* By number. The library itself issues QUERY and QUERY_ROUTE after several of its calls. */
static const struct {
	const char *name, *verb;
} ucma_commands[] = {
	{ "CREATE_ID", "rdma_create_id" },
	{ "DESTROY_ID", "rdma_destroy_id" },
	{ "BIND_IP", "rdma_bind_addr" },
	{ "RESOLVE_IP", "rdma_resolve_addr" },
	{ "RESOLVE_ROUTE", "rdma_resolve_route" },
	{ "QUERY_ROUTE" },
	{ "CONNECT", "rdma_connect" },
	{ "LISTEN", "rdma_listen" },
	{ "ACCEPT", "rdma_accept" },
	{ "REJECT", "rdma_reject" },
	{ "DISCONNECT", "rdma_disconnect" },
	{ "INIT_QP_ATTR", "rdma_init_qp_attr" },
	{ "GET_EVENT", "rdma_get_cm_event" },
	{ "GET_OPTION" },
	{ "SET_OPTION", "rdma_set_option" },
	{ "NOTIFY", "rdma_notify" },
	{ "JOIN_IP_MCAST", "rdma_join_multicast" },
	{ "LEAVE_MCAST", "rdma_leave_multicast" },
	{ "MIGRATE_ID", "rdma_migrate_id" },
	{ "QUERY" },
	{ "BIND", "rdma_bind_addr" },
	{ "RESOLVE_ADDR", "rdma_resolve_addr" },
	{ "JOIN_MCAST", "rdma_join_multicast" },
	{ "RESOLVE_IB_SERVICE", "rdma_resolve_addrinfo" },
	{ "WRITE_CM_EVENT", "rdma_write_cm_event" },
};
/* clang-format on */

static void copy_name(char *dst, size_t size, const char *src)
{
	snprintf(dst, size, "%s", src ?: "");
}

static void name_ioctl(uint32_t low, struct rd_verb *ret)
{
	uint16_t object = low >> 16, method = low & 0xffff;

	snprintf(ret->object, sizeof(ret->object), "0x%x", object);
	snprintf(ret->method, sizeof(ret->method), "0x%x", method);
	if (object >= RD_ARRAY_SIZE(objects))
		return;
	copy_name(ret->object, sizeof(ret->object), objects[object].name);
	if (method >= RD_ARRAY_SIZE(objects[object].methods) || !objects[object].methods[method].name)
		return;
	copy_name(ret->method, sizeof(ret->method), objects[object].methods[method].name);
	copy_name(ret->verb, sizeof(ret->verb), objects[object].methods[method].verb);
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
		copy_name(ret->object, sizeof(ret->object), "RDMA_CM");
		snprintf(ret->method, sizeof(ret->method), "0x%x", low);
		if (low < RD_ARRAY_SIZE(ucma_commands)) {
			copy_name(ret->method, sizeof(ret->method), ucma_commands[low].name);
			copy_name(ret->verb, sizeof(ret->verb), ucma_commands[low].verb);
		}
		break;
	case RD_VERB_FOP:
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
