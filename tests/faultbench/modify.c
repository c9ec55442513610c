/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ibv_modify_qp() without a path: states, attributes that are missing or too many, values.
 */
#include "fault.h"

static const char *const state_names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

static int modify(struct env *env, struct ibv_qp *qp, const struct step *step)
{
	struct ibv_qp_attr now = { .qp_state = qp->state };

	truth("qpn", "%u", qp->qp_num);
	truth("state", "%s", state_names[now.qp_state]);
	if (step->mask & IBV_QP_STATE)
		truth("new_state", "%s", state_names[step->attr.qp_state]);
	truth("attr_mask", "0x%x", step->mask);
	return take(qp, step);
}

/* To `arg`, with all attributes that this state wants. */
static int to(struct env *env)
{
	struct step step = { .attr = { .qp_state = env->fault->arg }, .mask = IBV_QP_STATE };

	if (env->fault->arg == IBV_QPS_INIT)
		step = step_init(env);
	else if (env->fault->arg == IBV_QPS_RTR)
		step = step_rtr(env, env->opt.peer);
	else if (env->fault->arg == IBV_QPS_RTS)
		step = step_rts();
	return modify(env, env->qp, &step);
}

static int from_error(struct env *env)
{
	struct step error = { .attr = { .qp_state = IBV_QPS_ERR }, .mask = IBV_QP_STATE };

	if (take(env->qp, &error))
		return unready("ibv_modify_qp");
	return to(env);
}

static struct step next_step(struct env *env)
{
	return env->fault->needs == QP	    ? step_init(env) :
	       env->fault->needs == QP_INIT ? step_rtr(env, env->opt.peer) :
					      step_rts();
}

/* The step to the next state without `arg`. */
static int missing(struct env *env)
{
	struct step step = next_step(env);

	step.mask &= ~env->fault->arg;
	truth("missing_mask", "0x%x", env->fault->arg);
	return modify(env, env->qp, &step);
}

/* A UD queue pair to INIT: `arg` is left out, or there as well. */
static int ud_init(struct env *env)
{
	struct ibv_qp *qp = create_qp(env, IBV_QPT_UD);
	struct step step = step_ud_init(env);
	bool extra = !(step.mask & env->fault->arg);

	if (!qp)
		return unready("ibv_create_qp");
	step.mask ^= env->fault->arg;
	truth(extra ? "extra_mask" : "missing_mask", "0x%x", env->fault->arg);
	return modify(env, qp, &step);
}

/* The step to the next state with `arg` too. */
static int too_much(struct env *env)
{
	struct step step = next_step(env);

	step.mask |= env->fault->arg;
	step.attr.path_mtu = IBV_MTU_1024;
	truth("extra_mask", "0x%x", env->fault->arg);
	return modify(env, env->qp, &step);
}

/* Q_Keys with the highest bit set are for privileged programs. */
static int ud_controlled_qkey(struct env *env)
{
	struct ibv_qp *qp = create_qp(env, IBV_QPT_UD);
	struct step step = step_ud_init(env);

	if (!qp || become_nobody())
		return -1;
	step.attr.qkey = 0x80010000;
	truth("qkey", "0x80010000");
	return take(qp, &step);
}

/* Attributes that belong to the step, with values that do not. */
static int port(struct env *env)
{
	struct step step = step_init(env);

	step.attr.port_num = env->fault->arg;
	truth("port", "%d", env->fault->arg);
	truth("ports", "1");
	return modify(env, env->qp, &step);
}

static int path_port(struct env *env)
{
	struct step step = step_rtr(env, env->opt.peer);

	step.attr.ah_attr.port_num = env->fault->arg;
	truth("port", "%d", env->fault->arg);
	truth("ports", "1");
	return modify(env, env->qp, &step);
}

static int access_flags(struct env *env)
{
	struct step step = step_init(env);

	step.attr.qp_access_flags = env->fault->arg;
	truth("access", "0x%x", env->fault->arg);
	return modify(env, env->qp, &step);
}

static int mtu(struct env *env)
{
	struct step step = step_rtr(env, env->opt.peer);

	step.attr.path_mtu = env->fault->arg;
	truth("path_mtu", "%d", env->fault->arg);
	truth("max_mtu", "%d", IBV_MTU_4096);
	return modify(env, env->qp, &step);
}

static int requester(struct env *env)
{
	struct step step = step_rts();

	if (env->fault->arg == IBV_QP_TIMEOUT) {
		step.attr.timeout = 40;
		truth("timeout", "40");
	} else {
		step.attr.max_rd_atomic = 255;
		truth("max_rd_atomic", "255");
		truth("max_qp_rd_atom", "%d", env->attr.max_qp_rd_atom);
	}
	return modify(env, env->qp, &step);
}

/* What the program believes the state to be. */
static int current_state(struct env *env)
{
	struct step step = {
		.attr = { .qp_state = IBV_QPS_RTS, .cur_qp_state = env->fault->arg },
		.mask = IBV_QP_STATE | IBV_QP_CUR_STATE,
	};

	truth("cur_qp_state", "%s", state_names[env->fault->arg]);
	return modify(env, env->qp, &step);
}

static int no_such_state(struct env *env)
{
	struct step step = { .attr = { .qp_state = 12 }, .mask = IBV_QP_STATE };

	truth("qpn", "%u", env->qp->qp_num);
	truth("new_state", "12");
	return take(env->qp, &step);
}

static int alternate_path(struct env *env)
{
	struct step step = step_rtr(env, env->opt.peer);

	step.attr.alt_ah_attr = step.attr.ah_attr;
	step.attr.alt_port_num = 1;
	step.mask |= IBV_QP_ALT_PATH;
	truth("extra_mask", "0x%x", IBV_QP_ALT_PATH);
	return modify(env, env->qp, &step);
}

const struct fault modify_faults[] = {
	{ "modify-reset-rtr", "ibv_modify_qp", "qp-state", "from RESET to RTR", QP, to, IBV_QPS_RTR },
	{ "modify-reset-rts", "ibv_modify_qp", "qp-state", "from RESET to RTS", QP, to, IBV_QPS_RTS },
	{ "modify-init-rts", "ibv_modify_qp", "qp-state", "from INIT to RTS", QP_INIT, to, IBV_QPS_RTS },
	{ "modify-rtr-init", "ibv_modify_qp", "qp-state", "from RTR back to INIT", QP_RTR, to, IBV_QPS_INIT },
	{ "modify-rts-init", "ibv_modify_qp", "qp-state", "from RTS to INIT, without RESET", QP_RTS, to, IBV_QPS_INIT },
	{ "modify-rts-rtr", "ibv_modify_qp", "qp-state", "from RTS back to RTR", QP_RTS, to, IBV_QPS_RTR },
	{ "modify-init-sqd", "ibv_modify_qp", "qp-state", "from INIT to SQD", QP_INIT, to, IBV_QPS_SQD },
	{ "modify-err-rts", "ibv_modify_qp", "qp-state", "from ERR to RTS", QP_RTS, from_error, IBV_QPS_RTS },
	{ "modify-cur-state", "ibv_modify_qp", "qp-state", "says INIT, the state is RTS", QP_RTS, current_state,
	  IBV_QPS_INIT },
	{ "modify-cur-state-sqe", "ibv_modify_qp", "qp-state", "says SQE, the state is RTS", QP_RTS, current_state,
	  IBV_QPS_SQE },
	{ "modify-state-12", "ibv_modify_qp", "attribute-value", "a state that does not exist", QP, no_such_state, 0 },
	{ "init-no-access", "ibv_modify_qp", "qp-attribute-missing", "to INIT without access flags", QP, missing,
	  IBV_QP_ACCESS_FLAGS },
	{ "init-no-port", "ibv_modify_qp", "qp-attribute-missing", "to INIT without a port", QP, missing, IBV_QP_PORT },
	{ "init-ud-qkey-controlled", "ibv_modify_qp", "capability-missing", "a controlled Q_Key, by nobody", CQ,
	  ud_controlled_qkey, 0 },
	{ "init-ud-no-qkey", "ibv_modify_qp", "qp-attribute-missing", "UD to INIT without a Q_Key", CQ, ud_init,
	  IBV_QP_QKEY },
	{ "rtr-no-rnr-timer", "ibv_modify_qp", "qp-attribute-missing", "to RTR without the RNR timer", QP_INIT, missing,
	  IBV_QP_MIN_RNR_TIMER },
	{ "rtr-no-path", "ibv_modify_qp", "qp-attribute-missing", "to RTR without an address", QP_INIT, missing,
	  IBV_QP_AV },
	{ "rts-no-psn", "ibv_modify_qp", "qp-attribute-missing", "to RTS without a PSN", QP_RTR, missing,
	  IBV_QP_SQ_PSN },
	{ "rts-no-timeout", "ibv_modify_qp", "qp-attribute-missing", "to RTS without a timeout", QP_RTR, missing,
	  IBV_QP_TIMEOUT },
	{ "init-qkey", "ibv_modify_qp", "qp-attribute-not-allowed", "RC to INIT with a Q_Key", QP, too_much,
	  IBV_QP_QKEY },
	{ "init-ud-access", "ibv_modify_qp", "qp-attribute-not-allowed", "UD to INIT with access flags", CQ, ud_init,
	  IBV_QP_ACCESS_FLAGS },
	{ "rtr-timeout", "ibv_modify_qp", "qp-attribute-not-allowed", "to RTR with a timeout", QP_INIT, too_much,
	  IBV_QP_TIMEOUT },
	{ "rts-mtu", "ibv_modify_qp", "qp-attribute-not-allowed", "to RTS with a path MTU", QP_RTR, too_much,
	  IBV_QP_PATH_MTU },
	{ "init-port-9", "ibv_modify_qp", "port-number", "port 9 of one", QP, port, 9 },
	{ "init-port-0", "ibv_modify_qp", "port-number", "port 0", QP, port, 0 },
	{ "rtr-port-9", "ibv_modify_qp", "port-number", "a path from port 9", QP_INIT, path_port, 9 },
	{ "rtr-port-0", "ibv_modify_qp", "port-number", "a path from port 0", QP_INIT, path_port, 0 },
	{ "init-access", "ibv_modify_qp", "access-flags", "an access flag that does not exist", QP, access_flags,
	  1 << 15 },
	{ "rtr-mtu-9", "ibv_modify_qp", "attribute-value", "path MTU 9", QP_INIT, mtu, 9 },
	{ "rts-atomics", "ibv_modify_qp", "limit-exceeded", "255 reads at once", QP_RTR, requester,
	  IBV_QP_MAX_QP_RD_ATOMIC },
	{ "rts-timeout-40", "ibv_modify_qp", "attribute-value", "timeout 40", QP_RTR, requester, IBV_QP_TIMEOUT },
	{ "rtr-alternate-path", "ibv_modify_qp", "not-supported", "an alternate path, on RoCE", QP_INIT, alternate_path,
	  0 },
	{ 0 },
};
