/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dump of a queue pair of mlx5 (RDMA_NLDEV_CMD_RES_QP_GET_RAW), as the firmware writes it: segments, one of which
 * (PRM_QUERY_QP) has the reply to the command QUERY_QP. Layouts: the structures resource_dump_*_segment, query_qp_out, qpc and ads
 * of the kernel's include/linux/mlx5/, the header whose name ends with _ifc.h.
 * Never run on a device. Nothing else knows these layouts.
 */
#ifndef RD_SOURCE_MLX5_DUMP_H
#define RD_SOURCE_MLX5_DUMP_H

#include "base/base.h"

/* Fields of the queue pair context, and of its primary address path. */
enum rd_mlx5_qpc_field {
	RD_MLX5_STATE,
	RD_MLX5_ST,
	RD_MLX5_MTU,
	RD_MLX5_REMOTE_QPN,
	RD_MLX5_RETRY_COUNT,
	RD_MLX5_RNR_RETRY,
	RD_MLX5_CUR_RNR_RETRY,
	RD_MLX5_CUR_RETRY_COUNT,
	RD_MLX5_NEXT_SEND_PSN,
	RD_MLX5_LAST_ACKED_PSN,
	RD_MLX5_MIN_RNR_NAK,
	RD_MLX5_NEXT_RCV_PSN,
	RD_MLX5_GRH,
	RD_MLX5_RLID,
	RD_MLX5_ACK_TIMEOUT,
	RD_MLX5_SRC_ADDR_INDEX,
	RD_MLX5_HOP_LIMIT,
	RD_MLX5_TCLASS,
	RD_MLX5_FLOW_LABEL,
	RD_MLX5_UDP_SPORT,
	RD_MLX5_SL,
	RD_MLX5_QPC_FIELDS,
};

/* Places of addresses within the context, in bytes: GID and MAC address of the remote end, of both paths. */
enum {
	RD_MLX5_GID_AT = 40,
	RD_MLX5_MAC_AT = 62,
	RD_MLX5_SECOND_GID_AT = 84,
	RD_MLX5_SECOND_MAC_AT = 106,
};

/* Bytes of the context that are used; the whole context has 232. */
#define RD_MLX5_QPC_USED 152

/* Finds the context of a queue pair in a dump. Returns its place, at least RD_MLX5_QPC_USED bytes before the end of the dump, and
 * sets the number of the queue pair that the dump is about; 0: not found. */
size_t rd_mlx5_find_qpc(const uint8_t *dump, size_t size, uint32_t *qpn);

/* `qpc`: RD_MLX5_QPC_USED bytes. */
uint32_t rd_mlx5_get(const uint8_t *qpc, enum rd_mlx5_qpc_field field);

#endif
