/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dumps of queue pairs by their device (RDMA_NLDEV_CMD_RES_QP_GET_RAW). */
#include <errno.h>

#include "collect/rdma/nldev-priv.h"

/* Each request makes the firmware run one command, as the kernel does for each queue pair that it lists. */
#define DUMPS_MAX 16384
/* A device that fails this often in a row is not queried further. */
#define FAILURES_MAX 16

struct dump {
	const struct rd_res_dev *dev;
	struct rd_qp *qp;
	bool used;
};

static int take_dump(void *arg, const struct rd_nldev_attrs *attrs)
{
	const struct nlattr *raw = attrs->v[RDMA_NLDEV_ATTR_RES_RAW], *index = attrs->v[RDMA_NLDEV_ATTR_DEV_INDEX];
	struct dump *dump = arg;

	if (raw && index && mnl_attr_get_u32(index) == dump->dev->index)
		dump->used = rd_mlx5_take_context(mnl_attr_get_payload(raw), mnl_attr_get_payload_len(raw), dump->dev,
						  dump->qp);
	return 0;
}

/* Before RTR, a queue pair has no peer and no timeouts. The kernel accepts a request only with the port. */
static bool has_context(const struct rd_qp *qp)
{
	bool connected = qp->type.known == RD_OK && (qp->type.v == RD_QPT_RC || qp->type.v == RD_QPT_UC ||
						     qp->type.v == RD_QPT_XRC_INI || qp->type.v == RD_QPT_XRC_TGT);

	return connected && qp->state.known == RD_OK && qp->state.v >= RD_QPS_RTR && qp->lqpn.known == RD_OK &&
	       qp->port.known == RD_OK;
}

/* 0, or the -errno with which the device or its driver refused. */
static int request_dump(struct rd_source *src, struct rd_res_dev *dev, struct rd_qp *qp)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct dump dump = { .dev = dev, .qp = qp };
	int r = rd_nldev_query_qp(src, RDMA_NLDEV_CMD_RES_QP_GET_RAW, dev->index, qp->port.v, qp->lqpn.v, &reply);

	dev->dumps.requested++;
	if (r < 0) {
		dev->dumps.code = -r;
		return r;
	}
	rd_nldev_each(&reply, RDMA_NLDEV_CMD_RES_QP_GET_RAW, take_dump, &dump);
	dev->dumps.used += dump.used;
	return 0;
}

/* Whether further requests would fail the same way: no privilege; no such command, driver or firmware. */
static bool is_refusal(const struct rd_res_dev *dev, int r, unsigned failures)
{
	return r == -EPERM || r == -EOPNOTSUPP || (r == -EINVAL && dev->dumps.requested == 1) ||
	       failures >= FAILURES_MAX;
}

static int dump_device(struct rd_source *src, struct rd_res *res, int dev, const bool *wanted, struct rd_errlist *errors)
{
	struct rd_res_dev *of = &res->devs[dev];
	unsigned failures = 0;
	struct rd_err err;

	for (size_t i = 0; i < res->n_qps; i++) {
		int r;

		if (res->qps[i].dev != dev || (wanted && !wanted[i]) || !has_context(&res->qps[i]))
			continue;
		if (of->dumps.requested == DUMPS_MAX) {
			rd_err_set(&err, E2BIG, of->name, "only the first %u queue pairs were dumped", DUMPS_MAX);
			rd_err_hint(&err, "select queue pairs, for example with --pid or --job");
			rd_errlist_add(errors, &err);
			break;
		}
		r = request_dump(src, of, &res->qps[i]);
		if (r == -ENOMEM)
			return r;
		/* A queue pair may end meanwhile; a bundle contains only what was recorded. */
		failures = r < 0 && r != -ENOENT && r != -EAGAIN ? failures + 1 : 0;
		if (r < 0 && is_refusal(of, r, failures))
			break;
	}
	return 0;
}

int rd_collect_qp_dumps(struct rd_source *src, struct rd_res *res, const bool *wanted, struct rd_errlist *errors)
{
	int r = 0;

	for (size_t d = 0; d < res->n_devs && !r; d++)
		if (rd_res_dev_dumps_qps(&res->devs[d]))
			r = dump_device(src, res, (int)d, wanted, errors);
	return r;
}
