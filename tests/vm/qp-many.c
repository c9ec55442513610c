/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qp-many DEVICE N [GID [BYTE]]: N queue pairs of one process, every other one in INIT; says "ready" and stays until it is ended.
 * With an index of the GID table, all are RC in RTS, connected to that GID of the device, with BYTE as its last byte if given; what each is set to follows from its number,
 * qpn: remote QP 0x800000 + qpn, timeout 1 + qpn % 31, retry_cnt qpn % 8, rnr_retry qpn / 8 % 8, min_rnr_timer qpn % 32.
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int connect_qp(struct ibv_qp *qp, const union ibv_gid *gid, int index)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	int r = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = 0x800000 + qp->qp_num,
		.min_rnr_timer = qp->qp_num % 32,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh = { .dgid = *gid, .sgid_index = index } }
	};
	if (!r)
		r = ibv_modify_qp(qp, &attr,
				  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
				     .timeout = 1 + qp->qp_num % 31,
				     .retry_cnt = qp->qp_num % 8,
				     .rnr_retry = qp->qp_num / 8 % 8 };
	if (!r)
		r = ibv_modify_qp(qp, &attr,
				  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					  IBV_QP_MAX_QP_RD_ATOMIC);
	return r;
}

int main(int argc, char **argv)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	union ibv_gid gid = { 0 };
	struct ibv_pd *pd;
	struct ibv_cq *cq;

	for (int i = 0; argc >= 3 && devices && devices[i]; i++)
		if (strcmp(ibv_get_device_name(devices[i]), argv[1]) == 0)
			context = ibv_open_device(devices[i]);
	pd = context ? ibv_alloc_pd(context) : NULL;
	cq = context ? ibv_create_cq(context, 1, NULL, NULL, 0) : NULL;
	if (context && argc > 3)
		ibv_query_gid(context, 1, atoi(argv[3]), &gid);
	if (argc > 4)
		gid.raw[15] = (uint8_t)atoi(argv[4]);
	for (int i = 0; pd && cq && i < atoi(argv[2]); i++) {
		struct ibv_qp_init_attr init = {
			.send_cq = cq,
			.recv_cq = cq,
			.qp_type = argc > 3 || i % 3 ? IBV_QPT_RC : IBV_QPT_UD,
			.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 }
		};
		struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
		struct ibv_qp *qp = ibv_create_qp(pd, &init);
		int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

		mask |= init.qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
		if (!qp || (argc > 3 ? connect_qp(qp, &gid, atoi(argv[3])) : i % 2 && ibv_modify_qp(qp, &attr, mask))) {
			perror("qp-many");
			return 1;
		}
	}
	if (!pd || !cq) {
		perror("qp-many");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
