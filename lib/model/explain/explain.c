/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/explain/explain.h"

/* clang-format off */
const struct rd_log_field_type rd_log_fields[RD_LOG_NAMES] = {
	[RD_LOG_IBDEV] = { "ibdev", "ibdev", NULL, RD_LOG_WORD },
	[RD_LOG_PORT] = { "port", "port", NULL, RD_LOG_NUMBER },
	[RD_LOG_NETDEV] = { "netdev", "netdev", NULL, RD_LOG_WORD },
	[RD_LOG_PCI] = { "pci", "pci", NULL, RD_LOG_ADDRESS },
	[RD_LOG_QPN] = { "qpn", "lqpn", NULL, RD_LOG_NUMBER },
	[RD_LOG_RQPN] = { "rqpn", "rqpn", NULL, RD_LOG_NUMBER },
	[RD_LOG_GID] = { "gid", "gid", NULL, RD_LOG_ADDRESS },
	[RD_LOG_PGID] = { "pgid", "peer_gid", NULL, RD_LOG_ADDRESS },
	[RD_LOG_PEER] = { "peer", "peer", NULL, RD_LOG_HOST },
	[RD_LOG_STATUS] = { "status", "status", "status", RD_LOG_NUMBER },
	[RD_LOG_STATUS_NAME] = { "status_name", "status_name", "status", RD_LOG_WORD },
	[RD_LOG_VENDOR] = { "vendor", "vendor_err", "vendor", RD_LOG_NUMBER },
	[RD_LOG_ERRNO] = { "errno", "errno", "errno", RD_LOG_NUMBER },
	[RD_LOG_ERRNAME] = { "errname", "errno_name", "errno", RD_LOG_WORD },
	[RD_LOG_SYNDROME] = { "syndrome", "syndrome", "syndrome", RD_LOG_NUMBER },
	[RD_LOG_CMD] = { "cmd", "command", NULL, RD_LOG_WORD },
	[RD_LOG_CMD_STATUS] = { "cmd_status", "command_status", "cmd_status", RD_LOG_NUMBER },
	[RD_LOG_OPCODE] = { "opcode", "opcode", NULL, RD_LOG_NUMBER },
	[RD_LOG_EVENT] = { "event", "event", "event", RD_LOG_WORD },
	[RD_LOG_EVENT_N] = { "event_n", "event_number", "event", RD_LOG_NUMBER },
	[RD_LOG_SGID_INDEX] = { "sgid_index", "sgid_index", NULL, RD_LOG_NUMBER },
	[RD_LOG_CQN] = { "cqn", "cqn", NULL, RD_LOG_NUMBER },
	[RD_LOG_SRQN] = { "srqn", "srqn", NULL, RD_LOG_NUMBER },
	[RD_LOG_LKEY] = { "lkey", "lkey", NULL, RD_LOG_NUMBER },
	[RD_LOG_RKEY] = { "rkey", "rkey", NULL, RD_LOG_NUMBER },
	[RD_LOG_ADDR] = { "addr", "address", NULL, RD_LOG_NUMBER },
	[RD_LOG_LEN] = { "len", "length_bytes", NULL, RD_LOG_NUMBER },
	[RD_LOG_MTU] = { "mtu", "mtu_bytes", NULL, RD_LOG_NUMBER },
	[RD_LOG_LID] = { "lid", "lid", NULL, RD_LOG_NUMBER },
	[RD_LOG_PLID] = { "plid", "peer_lid", NULL, RD_LOG_NUMBER },
	[RD_LOG_GUID] = { "guid", "guid", NULL, RD_LOG_ADDRESS },
	[RD_LOG_PID] = { "pid", "pid", NULL, RD_LOG_NUMBER },
	[RD_LOG_COMM] = { "comm", "comm", NULL, RD_LOG_WORD },
	[RD_LOG_OP_MOD] = { "op_mod", "op_mod", NULL, RD_LOG_NUMBER },
	[RD_LOG_LIB] = { "lib", "library", NULL, RD_LOG_WORD },
	[RD_LOG_TEXT] = { "text", "detail", NULL, RD_LOG_REST },
	[RD_LOG_STATUS_TEXT] = { "status_text", NULL, "status", RD_LOG_REST },
	[RD_LOG_ERRNO_TEXT] = { "errno_text", NULL, "errno", RD_LOG_REST },
	[RD_LOG_EVENT_TEXT] = { "event_text", NULL, "event", RD_LOG_REST },
	[RD_LOG_N] = { "n", NULL, NULL, RD_LOG_NUMBER },
	[RD_LOG_W] = { "w", NULL, NULL, RD_LOG_WORD },
	[RD_LOG_ANY] = { "...", NULL, NULL, RD_LOG_REST },
};
/* clang-format on */

const struct rd_log_part *rd_log_part(const struct rd_log_form *form, enum rd_log_part_kind kind, size_t from)
{
	for (size_t i = from; i < form->n; i++)
		if (form->parts[i].kind == kind)
			return &form->parts[i];
	return NULL;
}

void rd_log_forms_deinit(struct rd_log_forms *forms)
{
	for (size_t i = 0; i < forms->n; i++) {
		for (size_t k = 0; k < forms->v[i].n; k++)
			free(forms->v[i].parts[k].pattern.v);
		free(forms->v[i].parts);
	}
	RD_FREE(forms->v, forms->index);
	rd_texts_deinit(&forms->texts);
	*forms = (struct rd_log_forms){ 0 };
}

static void line_deinit(struct rd_log_line *line)
{
	for (size_t i = 0; i < RD_LOG_FIELDS; i++)
		free(line->values[i]);
	RD_FREE(line->text, line->host);
}

static void join_deinit(struct rd_log_join *join)
{
	for (size_t i = 0; i < join->n; i++)
		free(join->causes[i].evidence);
	RD_FREE(join->causes, join->next);
	rd_texts_deinit(&join->facts);
}

void rd_log_deinit(struct rd_log *log)
{
	for (size_t i = 0; i < log->n; i++) {
		line_deinit(&log->v[i]);
		if (log->joins)
			join_deinit(&log->joins[i]);
	}
	for (size_t i = 0; i < log->n_peers; i++)
		free(log->peers[i].name);
	RD_FREE(log->v, log->peers, log->joins);
	rd_map_deinit(&log->map);
	*log = (struct rd_log){ 0 };
}
