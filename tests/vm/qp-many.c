/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qp-many DEVICE N: N queue pairs of one process, every other one in INIT; says "ready" and stays until it is ended. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	struct ibv_pd *pd;
	struct ibv_cq *cq;

	for (int i = 0; argc == 3 && devices && devices[i]; i++)
		if (strcmp(ibv_get_device_name(devices[i]), argv[1]) == 0)
			context = ibv_open_device(devices[i]);
	pd = context ? ibv_alloc_pd(context) : NULL;
	cq = context ? ibv_create_cq(context, 1, NULL, NULL, 0) : NULL;
	for (int i = 0; pd && cq && i < atoi(argv[2]); i++) {
		struct ibv_qp_init_attr init = {
			.send_cq = cq,
			.recv_cq = cq,
			.qp_type = i % 3 ? IBV_QPT_RC : IBV_QPT_UD,
			.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 }
		};
		struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
		struct ibv_qp *qp = ibv_create_qp(pd, &init);
		int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

		mask |= init.qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
		if (!qp || (i % 2 && ibv_modify_qp(qp, &attr, mask))) {
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
