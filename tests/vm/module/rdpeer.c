// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A device with queue pairs of its own, in RTS: RC number 0x101, XRC_INI 0x102, UC 0x103, RC 0x104 with an alternate path. It claims to be
 * of the driver `driver` (enum rdma_driver_id), and its query_qp writes only the members of `writes`: 1 peer, 2 path MTU, 4 timeout
 * and retry counts, 8 min_rnr_timer, 16 alternate path; what else there is holds poison, as what a driver leaves holds the queue pair
 * before. With `thread`, a kernel thread queries all of them, one after the other.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/version.h>
#include <rdma/ib_verbs.h>

static uint driver = RDMA_DRIVER_MLX5, writes = 31;
static bool thread;
module_param(driver, uint, 0444);
module_param(writes, uint, 0644);
module_param(thread, bool, 0444);

static const enum ib_qp_type types[] = { IB_QPT_RC, IB_QPT_XRC_INI, IB_QPT_UC, IB_QPT_RC };
#define QPS ARRAY_SIZE(types)

static struct ib_device *rdpeer;
static struct ib_pd *pd;
static struct ib_cq *cq;
static struct ib_qp *qps[QPS];
static struct task_struct *task;

static int rdpeer_zero(void)
{
	return 0;
}

static int rdpeer_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata)
{
	return -EOPNOTSUPP;
}

static void rdpeer_dealloc_ucontext(struct ib_ucontext *uctx)
{
}

static int rdpeer_alloc_pd(struct ib_pd *new, struct ib_udata *udata)
{
	return rdpeer_zero();
}

static int rdpeer_dealloc_pd(struct ib_pd *old, struct ib_udata *udata)
{
	return rdpeer_zero();
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
static int rdpeer_create_cq(struct ib_cq *new, const struct ib_cq_init_attr *attr, struct uverbs_attr_bundle *attrs)
#else
static int rdpeer_create_cq(struct ib_cq *new, const struct ib_cq_init_attr *attr, struct ib_udata *udata)
#endif
{
	return rdpeer_zero();
}

static int rdpeer_destroy_cq(struct ib_cq *old, struct ib_udata *udata)
{
	return rdpeer_zero();
}

static int rdpeer_create_qp(struct ib_qp *new, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	static u32 next = 0x101;

	new->qp_num = next++;
	new->port = 1;
	return 0;
}

static int rdpeer_destroy_qp(struct ib_qp *old, struct ib_udata *udata)
{
	return rdpeer_zero();
}

static void fill_path(struct rdma_ah_attr *ah, u16 lid, u8 last)
{
	union ib_gid gid = { .raw = { 0xfe, 0x80, [15] = last } };

	memset(ah, 0, sizeof(*ah));
	ah->type = RDMA_AH_ATTR_TYPE_IB;
	rdma_ah_set_dlid(ah, lid);
	rdma_ah_set_grh(ah, &gid, 0x12345, 3, 7, 96);
}

/* Of the first one: peer fe80::11, LID 0x11, timeout 1 …; and so on. */
static int rdpeer_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_qp_init_attr *init)
{
	u8 n = qp->qp_num & 15;

	memset(attr, 0xa5, sizeof(*attr));
	attr->qp_state = attr->cur_qp_state = IB_QPS_RTS;
	attr->path_mig_state = IB_MIG_ARMED;
	attr->dest_qp_num = 0x200 + n;
	attr->sq_psn = 1000 + n;
	attr->rq_psn = 2000 + n;
	if (writes & 1)
		fill_path(&attr->ah_attr, 0x10 + n, 0x10 + n);
	if (writes & 2)
		attr->path_mtu = IB_MTU_2048;
	if (writes & 4) {
		attr->timeout = n;
		attr->retry_cnt = n + 1;
		attr->rnr_retry = n + 2;
	}
	if (writes & 8)
		attr->min_rnr_timer = n + 20;
	if (writes & 16) {
		fill_path(&attr->alt_ah_attr, 0x20 + n, 0x20 + n);
		attr->alt_port_num = n == 4;
		attr->alt_timeout = n;
	}
	return 0;
}

static int rdpeer_query_device(struct ib_device *dev, struct ib_device_attr *attr, struct ib_udata *udata)
{
	memset(attr, 0, sizeof(*attr));
	attr->max_qp = 16;
	attr->max_pd = 16;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	return 0;
}

static int rdpeer_query_port(struct ib_device *dev, u32 port, struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	attr->max_mtu = attr->active_mtu = IB_MTU_2048;
	attr->gid_tbl_len = attr->pkey_tbl_len = 1;
	attr->lid = 1;
	return 0;
}

static int rdpeer_get_port_immutable(struct ib_device *dev, u32 port, struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	immutable->gid_tbl_len = immutable->pkey_tbl_len = 1;
	return 0;
}

static int rdpeer_query_gid(struct ib_device *dev, u32 port, int index, union ib_gid *gid)
{
	*gid = (union ib_gid){ .raw = { 0xfe, 0x80, [15] = 1 } };
	return 0;
}

static int rdpeer_query_pkey(struct ib_device *dev, u32 port, u16 index, u16 *pkey)
{
	*pkey = 0xffff;
	return 0;
}

static enum rdma_link_layer rdpeer_get_link_layer(struct ib_device *dev, u32 port)
{
	return IB_LINK_LAYER_INFINIBAND;
}

static struct ib_device_ops rdpeer_ops = {
	.owner = THIS_MODULE,
	.uverbs_abi_ver = 1,

	.alloc_pd = rdpeer_alloc_pd,
	.alloc_ucontext = rdpeer_alloc_ucontext,
	.create_cq = rdpeer_create_cq,
	.create_qp = rdpeer_create_qp,
	.dealloc_pd = rdpeer_dealloc_pd,
	.dealloc_ucontext = rdpeer_dealloc_ucontext,
	.destroy_cq = rdpeer_destroy_cq,
	.destroy_qp = rdpeer_destroy_qp,
	.get_link_layer = rdpeer_get_link_layer,
	.get_port_immutable = rdpeer_get_port_immutable,
	.query_device = rdpeer_query_device,
	.query_gid = rdpeer_query_gid,
	.query_pkey = rdpeer_query_pkey,
	.query_port = rdpeer_query_port,
	.query_qp = rdpeer_query_qp,

	.size_ib_pd = sizeof(struct ib_pd),
	.size_ib_cq = sizeof(struct ib_cq),
	.size_ib_qp = sizeof(struct ib_qp),
	.size_ib_ucontext = sizeof(struct ib_ucontext),
};

static int query_all(void *unused)
{
	while (!kthread_should_stop()) {
		for (size_t i = 0; i < QPS; i++) {
			struct ib_qp_init_attr init;
			struct ib_qp_attr attr;

			ib_query_qp(qps[i], &attr, 0, &init);
		}
		usleep_range(20, 50);
	}
	return 0;
}

static void remove_all(void)
{
	if (task)
		kthread_stop(task);
	for (size_t i = 0; i < QPS; i++)
		if (!IS_ERR_OR_NULL(qps[i]))
			ib_destroy_qp(qps[i]);
	if (!IS_ERR_OR_NULL(cq))
		ib_free_cq(cq);
	if (!IS_ERR_OR_NULL(pd))
		ib_dealloc_pd(pd);
	ib_unregister_device(rdpeer);
	ib_dealloc_device(rdpeer);
}

struct rdpeer_device {
	struct ib_device base;
};

static int __init rdpeer_init(void)
{
	struct rdpeer_device *dev = ib_alloc_device(rdpeer_device, base);
	int err;

	if (!dev)
		return -ENOMEM;
	rdpeer = &dev->base;
	rdpeer->node_type = RDMA_NODE_IB_CA;
	rdpeer->phys_port_cnt = 1;
	rdpeer->num_comp_vectors = 1;
	rdpeer->node_guid = cpu_to_be64(0x020000fffe7e5701);
	rdpeer_ops.driver_id = driver;
	ib_set_device_ops(rdpeer, &rdpeer_ops);
	err = ib_register_device(rdpeer, "rdpeer%d", NULL);
	if (err) {
		ib_dealloc_device(rdpeer);
		return err;
	}
	pd = ib_alloc_pd(rdpeer, 0);
	cq = IS_ERR(pd) ? NULL : ib_alloc_cq(rdpeer, NULL, 16, 0, IB_POLL_DIRECT);
	for (size_t i = 0; !IS_ERR_OR_NULL(cq) && i < QPS; i++) {
		struct ib_qp_init_attr init = { .send_cq = cq,
						.recv_cq = types[i] == IB_QPT_XRC_INI ? NULL : cq,
						.qp_type = types[i],
						.cap = { .max_send_wr = 1, .max_send_sge = 1 } };

		qps[i] = ib_create_qp(pd, &init);
	}
	for (size_t i = 0; i < QPS; i++)
		if (IS_ERR_OR_NULL(qps[i])) {
			remove_all();
			return -EINVAL;
		}
	if (thread)
		task = kthread_run(query_all, NULL, "rdpeer");
	return 0;
}

static void __exit rdpeer_exit(void)
{
	remove_all();
}

module_init(rdpeer_init);
module_exit(rdpeer_exit);
MODULE_DESCRIPTION("RDMA device that leaves parts of its queries, for tests");
MODULE_LICENSE("GPL");
