/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a call of modify_qp costs, and a pair of reg_mr and dereg_mr, in instructions: for a machine whose time stamp counter
 * counts them (QEMU's -icount with shift=0 and one processor). Takes one queue pair of the first device round and round: INIT,
 * RTR (to itself), RTS, RESET. Prints the first quartile of each call, which repeats exactly where the mean does not: "modify
 * STATE INSTRUCTIONS", "modify MR INSTRUCTIONS".
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#define ROUNDS 400
#define WARM_UP 20
#define CALLS 5
#define MR 4 /* the last one, no state */

static const char *const names[CALLS] = { "INIT", "RTR", "RTS", "RESET", "MR" };

static _Noreturn void give_up(const char *what)
{
	fprintf(stderr, "qp-modify: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct ibv_qp *make(union ibv_gid *gid)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_cq *cq = pd ? ibv_create_cq(context, 16, NULL, NULL, 0) : NULL;
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 } };
	struct ibv_qp *qp = cq ? ibv_create_qp(pd, &init) : NULL;

	if (!qp || ibv_query_gid(context, 1, 1, gid))
		give_up("no queue pair");
	return qp;
}

static uint64_t call(struct ibv_qp *qp, int i, const union ibv_gid *gid)
{
	static const int states[MR] = { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_RESET };
	static const int masks[MR] = {
		IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			IBV_QP_MAX_QP_RD_ATOMIC,
		IBV_QP_STATE,
	};
	struct ibv_qp_attr attr = {
		.qp_state = states[i],
		.port_num = 1,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp->qp_num,
		.max_dest_rd_atomic = 1,
		.max_rd_atomic = 1,
		.timeout = 14,
		.ah_attr = { .grh = { .dgid = *gid, .sgid_index = 1, .hop_limit = 64 }, .is_global = 1, .port_num = 1 }
	};
	uint64_t before = __rdtsc();

	if (ibv_modify_qp(qp, &attr, masks[i]))
		give_up(names[i]);
	return __rdtsc() - before;
}

static uint64_t register_memory(struct ibv_pd *pd)
{
	static char memory[4096];
	uint64_t before = __rdtsc();
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);

	if (!mr || ibv_dereg_mr(mr))
		give_up(names[MR]);
	return __rdtsc() - before;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int main(void)
{
	static uint64_t taken[CALLS][ROUNDS];
	union ibv_gid gid;
	struct ibv_qp *qp = make(&gid);

	for (int round = -WARM_UP; round < ROUNDS; round++)
		for (int i = 0; i < CALLS; i++) {
			uint64_t t = i == MR ? register_memory(qp->pd) : call(qp, i, &gid);

			if (round >= 0)
				taken[i][round] = t;
		}
	for (int i = 0; i < CALLS; i++) {
		qsort(taken[i], ROUNDS, sizeof(taken[i][0]), ascending);
		printf("modify %s %llu\n", names[i], (unsigned long long)taken[i][ROUNDS / 4]);
	}
	return 0;
}
