// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Numbers from the UAPI headers ib_user_ioctl_cmds.h, ib_user_verbs.h and rdma_user_cm.h as of Linux 7.x. They are stable ABI,
 * and are copied here because the headers of the build host may be older than the running kernel.
 */
#include "analyse/trace/verb.h"

#include <ctype.h>
#include <linux/types.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "bpf/record.h"

/* ib_user_verbs.h: marks a command of the extended numbering in INVOKE_WRITE. */
#define WRITE_CMD_EXTENDED 0x80000000u

struct named_object {
	const char *name;
	uint16_t id;
};

struct named_method {
	uint16_t object, id;
	const char *name;
	const char *verb; /* NULL: does not correspond to a single verb */
};

struct named_command {
	uint8_t id;
	bool extended;
	const char *name;
	const char *object;
	const char *verb;
	const char *handler; /* after "ib_uverbs_"; NULL: the name in lower case, after "ex_" where extended */
};

struct named_ucma {
	const char *name;
	const char *verb;
};

static const struct named_object objects[];
static const struct named_method methods[];
static const struct named_command commands[];
static const struct named_ucma ucma_commands[];
static const size_t n_objects, n_methods, n_commands, n_ucma_commands;

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

static void name_command(const struct named_command *command, const char *door, struct rd_verb *ret)
{
	copy_name(ret->object, sizeof(ret->object), command->object);
	snprintf(ret->method, sizeof(ret->method), "%s:%s%s", door, command->extended ? "EX_" : "", command->name);
	copy_name(ret->verb, sizeof(ret->verb), command->verb);
}

static void name_invoke_write(uint32_t low, struct rd_verb *ret)
{
	bool extended = low & WRITE_CMD_EXTENDED;
	uint32_t id = low & ~WRITE_CMD_EXTENDED;

	for (size_t i = 0; i < n_commands; i++)
		if (commands[i].id == id && commands[i].extended == extended) {
			name_command(&commands[i], "INVOKE_WRITE", ret);
			return;
		}
	copy_name(ret->object, sizeof(ret->object), "DEVICE");
	snprintf(ret->method, sizeof(ret->method), "INVOKE_WRITE:%s0x%x", extended ? "EX_" : "", id);
}

/* Whether `function` is the kernel handler of this command. It may have a suffix added by the compiler (.isra.0). */
static bool is_handler(const struct named_command *command, const char *function)
{
	static const char prefix[] = "ib_uverbs_";
	const char *want = command->handler ? command->handler : command->name;

	if (strncmp(function, prefix, sizeof(prefix) - 1))
		return false;
	function += sizeof(prefix) - 1;
	if (command->extended) {
		if (strncmp(function, "ex_", 3))
			return false;
		function += 3;
	}
	while (*want && tolower((unsigned char)*want) == *function)
		want++, function++;
	return !*want && (!*function || *function == '.');
}

static void name_write(uint32_t low, const struct rd_fnset *set, struct rd_verb *ret)
{
	const char *function = set && low < set->n_fns ? set->fns[low].name : NULL;

	copy_name(ret->object, sizeof(ret->object), "DEVICE");
	copy_name(ret->method, sizeof(ret->method), "WRITE");
	for (size_t i = 0; function && i < n_commands; i++)
		if (is_handler(&commands[i], function)) {
			name_command(&commands[i], "WRITE", ret);
			return;
		}
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

static const struct named_command commands[] = {
	{ 0, false, "GET_CONTEXT", "DEVICE", "ibv_open_device", NULL },
	{ 1, false, "QUERY_DEVICE", "DEVICE", "ibv_query_device", NULL },
	{ 2, false, "QUERY_PORT", "DEVICE", "ibv_query_port", NULL },
	{ 3, false, "ALLOC_PD", "PD", "ibv_alloc_pd", NULL },
	{ 4, false, "DEALLOC_PD", "PD", "ibv_dealloc_pd", NULL },
	{ 5, false, "CREATE_AH", "AH", "ibv_create_ah", NULL },
	{ 6, false, "MODIFY_AH", "AH", NULL, NULL },
	{ 7, false, "QUERY_AH", "AH", NULL, NULL },
	{ 8, false, "DESTROY_AH", "AH", "ibv_destroy_ah", NULL },
	{ 9, false, "REG_MR", "MR", "ibv_reg_mr", NULL },
	{ 10, false, "REG_SMR", "MR", NULL, NULL },
	{ 11, false, "REREG_MR", "MR", "ibv_rereg_mr", NULL },
	{ 12, false, "QUERY_MR", "MR", NULL, NULL },
	{ 13, false, "DEREG_MR", "MR", "ibv_dereg_mr", NULL },
	{ 14, false, "ALLOC_MW", "MW", "ibv_alloc_mw", NULL },
	{ 15, false, "BIND_MW", "MW", "ibv_bind_mw", NULL },
	{ 16, false, "DEALLOC_MW", "MW", "ibv_dealloc_mw", NULL },
	{ 17, false, "CREATE_COMP_CHANNEL", "COMP_CHANNEL", "ibv_create_comp_channel", NULL },
	{ 18, false, "CREATE_CQ", "CQ", "ibv_create_cq", NULL },
	{ 19, false, "RESIZE_CQ", "CQ", "ibv_resize_cq", NULL },
	{ 20, false, "DESTROY_CQ", "CQ", "ibv_destroy_cq", NULL },
	{ 21, false, "POLL_CQ", "CQ", "ibv_poll_cq", NULL },
	{ 22, false, "PEEK_CQ", "CQ", NULL, NULL },
	{ 23, false, "REQ_NOTIFY_CQ", "CQ", "ibv_req_notify_cq", NULL },
	{ 24, false, "CREATE_QP", "QP", "ibv_create_qp", NULL },
	{ 25, false, "QUERY_QP", "QP", "ibv_query_qp", NULL },
	{ 26, false, "MODIFY_QP", "QP", "ibv_modify_qp", NULL },
	{ 27, false, "DESTROY_QP", "QP", "ibv_destroy_qp", NULL },
	{ 28, false, "POST_SEND", "QP", "ibv_post_send", NULL },
	{ 29, false, "POST_RECV", "QP", "ibv_post_recv", NULL },
	{ 30, false, "ATTACH_MCAST", "QP", "ibv_attach_mcast", NULL },
	{ 31, false, "DETACH_MCAST", "QP", "ibv_detach_mcast", NULL },
	{ 32, false, "CREATE_SRQ", "SRQ", "ibv_create_srq", NULL },
	{ 33, false, "MODIFY_SRQ", "SRQ", "ibv_modify_srq", NULL },
	{ 34, false, "QUERY_SRQ", "SRQ", "ibv_query_srq", NULL },
	{ 35, false, "DESTROY_SRQ", "SRQ", "ibv_destroy_srq", NULL },
	{ 36, false, "POST_SRQ_RECV", "SRQ", "ibv_post_srq_recv", NULL },
	{ 37, false, "OPEN_XRCD", "XRCD", "ibv_open_xrcd", NULL },
	{ 38, false, "CLOSE_XRCD", "XRCD", "ibv_close_xrcd", NULL },
	{ 39, false, "CREATE_XSRQ", "SRQ", "ibv_create_srq_ex", NULL },
	{ 40, false, "OPEN_QP", "QP", "ibv_open_qp", NULL },
	{ 1, true, "QUERY_DEVICE", "DEVICE", "ibv_query_device_ex", NULL },
	{ 18, true, "CREATE_CQ", "CQ", "ibv_create_cq_ex", NULL },
	{ 24, true, "CREATE_QP", "QP", "ibv_create_qp_ex", NULL },
	{ 26, true, "MODIFY_QP", "QP", "ibv_modify_qp", NULL }, /* used by the library for masks of more than 20 bits */
	{ 50, true, "CREATE_FLOW", "FLOW", "ibv_create_flow", NULL },
	{ 51, true, "DESTROY_FLOW", "FLOW", "ibv_destroy_flow", NULL },
	{ 52, true, "CREATE_WQ", "WQ", "ibv_create_wq", NULL },
	{ 53, true, "MODIFY_WQ", "WQ", "ibv_modify_wq", NULL },
	{ 54, true, "DESTROY_WQ", "WQ", "ibv_destroy_wq", NULL },
	{ 55, true, "CREATE_RWQ_IND_TBL", "RWQ_IND_TBL", "ibv_create_rwq_ind_table", "create_rwq_ind_table" },
	{ 56, true, "DESTROY_RWQ_IND_TBL", "RWQ_IND_TBL", "ibv_destroy_rwq_ind_table", "destroy_rwq_ind_table" },
	{ 57, true, "MODIFY_CQ", "CQ", "ibv_modify_cq", NULL },
};
static const size_t n_commands = RD_ARRAY_SIZE(commands);

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
