/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs, and the attributes that take an RC queue pair from state to state.
 */
#include "fault.h"

struct ibv_qp *create_qp(struct env *env, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = env->cq,
		.recv_cq = env->cq,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = type,
	};

	return ibv_create_qp(env->pd, &attr);
}

/* An IPv4 address as a GID: ::ffff:a.b.c.d */
int ipv4_gid(const char *address, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	gid->raw[10] = gid->raw[11] = 0xff;
	return inet_pton(AF_INET, address, &gid->raw[12]) == 1 ? 0 : unready(address);
}

struct step step_init(struct env *env)
{
	return (struct step){
		.attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 },
		.mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	};
}

struct step step_ud_init(struct env *env)
{
	return (struct step){
		.attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11111111 },
		.mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
	};
}

struct step step_rtr(struct env *env, const char *peer)
{
	struct step step = {
		.attr = {
			.qp_state = IBV_QPS_RTR,
			.path_mtu = IBV_MTU_1024,
			.dest_qp_num = 17,
			.max_dest_rd_atomic = 1,
			.min_rnr_timer = 12,
			.ah_attr = {
				.is_global = 1,
				.port_num = 1,
				.grh = { .hop_limit = 4, .sgid_index = env->opt.gid_index },
			},
		},
		.mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	};

	if (ipv4_gid(peer, &step.attr.ah_attr.grh.dgid))
		step.mask = 0;
	return step;
}

struct step step_rts(void)
{
	return (struct step){
		.attr = { .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1 },
		.mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			IBV_QP_MAX_QP_RD_ATOMIC,
	};
}

/* ibv_modify_qp() returns the errno. */
int take(struct ibv_qp *qp, const struct step *step)
{
	struct ibv_qp_attr attr = step->attr;

	return ibv_modify_qp(qp, &attr, step->mask);
}

int to_state(struct env *env, struct ibv_qp *qp, enum needs state)
{
	const struct step steps[] = { step_init(env), step_rtr(env, env->opt.peer), step_rts() };

	for (int i = 0; i < (int)state - (int)QP; i++) {
		errno = take(qp, &steps[i]);
		if (errno)
			return unready("ibv_modify_qp");
	}
	return 0;
}
