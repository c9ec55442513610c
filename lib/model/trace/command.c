// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/trace/command.h"

#include <ctype.h>
#include <string.h>

static const struct rd_command commands[];
static const size_t n_commands;

const struct rd_command *rd_command_find(uint32_t number)
{
	bool extended = number & RD_COMMAND_EXTENDED;

	for (size_t i = 0; i < n_commands; i++)
		if (commands[i].id == (number & ~RD_COMMAND_EXTENDED) && commands[i].extended == extended)
			return &commands[i];
	return NULL;
}

static bool is_handler(const struct rd_command *command, const char *function)
{
	static const char prefix[] = "ib_uverbs_";
	const char *want = command->handler ? command->handler : command->name;

	if (strncmp(function, prefix, sizeof(prefix) - 1) != 0)
		return false;
	function += sizeof(prefix) - 1;
	if (command->extended) {
		if (strncmp(function, "ex_", 3) != 0)
			return false;
		function += 3;
	}
	while (*want && tolower((unsigned char)*want) == *function)
		want++, function++;
	return !*want && (!*function || *function == '.');
}

const struct rd_command *rd_command_of_handler(const char *function)
{
	for (size_t i = 0; i < n_commands; i++)
		if (is_handler(&commands[i], function))
			return &commands[i];
	return NULL;
}

/* clang-format off */
static const struct rd_command commands[] = {
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
/* clang-format on */
