// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two devices of an unknown driver, after tests/vm/module/rdtest.c: fbdrv0 registers memory, and fbib0 has
 * an InfiniBand port and queue pairs. The parameter `error` makes memory registration of fbdrv0 fail with this errno, two
 * helper functions down, for no reason; with 0 it pins the memory as any driver does. With `path` from 1 on the function
 * fbdrv_slot_open (13: fbdrv_slot_enable) fails with `error` instead, and a later one does so too, in a cleanup (1 to 11) or not
 * (12, 13). Writing 0 to `present` removes the devices under their users, 1 brings them back.
 */
#include <linux/module.h>
#include <linux/version.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

/* Static, yet with a symbol, an own frame and the ordinary calling convention. */
#define FBDRV_HELPER static noinline __attribute__((noipa))

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define DMAH struct ib_dmah *dmah,
#else
#define DMAH
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define umem_get ib_umem_get_va
#else
#define umem_get ib_umem_get
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define CQ_UDATA struct uverbs_attr_bundle *attrs
#define DMABUF_UDATA struct uverbs_attr_bundle *attrs
#else
#define CQ_UDATA struct ib_udata *udata
#define DMABUF_UDATA struct ib_udata *udata
#endif

#define FBDRV_PKEYS 1
#define FBDRV_GIDS 4

static int error;
module_param(error, int, 0644);
static int path;
module_param(path, int, 0644);
static bool present = true;
static DEFINE_MUTEX(fbdrv_lock);
static struct ib_device *fbdrv, *fbib;

struct fbdrv_ucontext {
	struct ib_ucontext base;
};

struct fbdrv_pd {
	struct ib_pd base;
	atomic_t tries;
};

struct fbdrv_cq {
	struct ib_cq base;
};

struct fbdrv_qp {
	struct ib_qp base;
	enum ib_qp_state state;
};

struct fbdrv_mr {
	struct ib_mr base;
	struct ib_umem *umem;
};

FBDRV_HELPER int fbdrv_window_check(struct fbdrv_pd *pd, u64 length)
{
	atomic_inc(&pd->tries);
	return length ? -READ_ONCE(error) : 0;
}

FBDRV_HELPER int fbdrv_window_open(struct fbdrv_pd *pd, u64 start, u64 length)
{
	int err = fbdrv_window_check(pd, length);

	if (err)
		pr_debug("fbdrv: no window at %llx\n", start);
	return err;
}

/* Functions that fail, one by one or through one another, with names by which they are selected without a file of the module */

FBDRV_HELPER int fbdrv_slot_open(struct fbdrv_pd *pd)
{
	atomic_inc(&pd->tries);
	return -READ_ONCE(error);
}

FBDRV_HELPER int fbdrv_slot_open_all(struct fbdrv_pd *pd)
{
	int err = fbdrv_slot_open(pd);

	atomic_inc(&pd->tries);
	return err;
}

/* The first that fails, with an errno that the caller changes */
FBDRV_HELPER int fbdrv_slot_exec(struct fbdrv_pd *pd)
{
	atomic_inc(&pd->tries);
	return -EBUSY;
}

FBDRV_HELPER int fbdrv_slot_setup_busy(struct fbdrv_pd *pd)
{
	int err = fbdrv_slot_exec(pd);

	return err ? -READ_ONCE(error) : 0;
}

FBDRV_HELPER int fbdrv_slot_config(struct fbdrv_pd *pd)
{
	atomic_dec(&pd->tries);
	return -READ_ONCE(error);
}

FBDRV_HELPER int fbdrv_slot_config_all(struct fbdrv_pd *pd)
{
	int err = fbdrv_slot_config(pd);

	atomic_dec(&pd->tries);
	return err;
}

FBDRV_HELPER void fbdrv_slot_config_quietly(struct fbdrv_pd *pd)
{
	fbdrv_slot_config(pd);
	atomic_dec(&pd->tries);
}

FBDRV_HELPER int fbdrv_slot_modify(struct fbdrv_pd *pd)
{
	atomic_dec(&pd->tries);
	return -READ_ONCE(error);
}

FBDRV_HELPER int fbdrv_slot_enable(struct fbdrv_pd *pd)
{
	atomic_inc(&pd->tries);
	return -READ_ONCE(error);
}

/* It failed, and does not matter. */
FBDRV_HELPER int fbdrv_slot_open_if(struct fbdrv_pd *pd)
{
	fbdrv_slot_open(pd);
	atomic_inc(&pd->tries);
	return 0;
}

FBDRV_HELPER int fbdrv_slot_open_or_config(struct fbdrv_pd *pd)
{
	int err = fbdrv_slot_open(pd);

	if (err)
		goto out;
	return 0;
out:
	fbdrv_slot_config(pd);
	return err;
}

FBDRV_HELPER int fbdrv_slots_open(struct fbdrv_pd *pd, int path)
{
	int err;

	switch (path) {
	case 1:
	case 3:
	case 5:
	case 6:
	case 7:
	case 11:
	case 12:
		err = fbdrv_slot_open(pd);
		break;
	case 2:
	case 4:
		err = fbdrv_slot_open_all(pd);
		break;
	case 8:
		err = fbdrv_slot_setup_busy(pd);
		break;
	case 13:
		fbdrv_slot_open_if(pd);
		return fbdrv_slot_enable(pd);
	default:
		err = fbdrv_slot_open_or_config(pd);
	}
	if (err)
		goto out;
	return 0;
out:
	switch (path) {
	case 1:
	case 4:
	case 8:
		fbdrv_slot_config(pd);
		break;
	case 2:
	case 5:
		fbdrv_slot_config_all(pd);
		break;
	case 3:
		fbdrv_slot_config_quietly(pd);
		break;
	case 6:
	case 10:
		fbdrv_slot_config(pd);
		fbdrv_slot_modify(pd);
		break;
	case 7:
		fbdrv_slot_exec(pd);
		fbdrv_slot_modify(pd);
		break;
	case 11:
		fbdrv_slot_config_all(pd);
		fbdrv_slot_exec(pd);
		fbdrv_slot_config_quietly(pd);
		break;
	case 12: /* a second attempt */
		return fbdrv_slot_enable(pd);
	}
	return err;
}

static struct ib_mr *fbdrv_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr, int access,
				       DMAH struct ib_udata *udata)
{
	struct fbdrv_pd *own = container_of(pd, struct fbdrv_pd, base);
	int err = path ? fbdrv_slots_open(own, path) : fbdrv_window_open(own, start, length);
	struct fbdrv_mr *mr;

	if (err)
		return ERR_PTR(err);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = umem_get(pd->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		err = PTR_ERR(mr->umem);
		kfree(mr);
		return ERR_PTR(err);
	}
	mr->base.lkey = mr->base.rkey = 0x1234;
	return &mr->base;
}

static struct ib_mr *fbdrv_reg_user_mr_dmabuf(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr, int fd,
					      int access, DMAH DMABUF_UDATA)
{
	struct ib_umem_dmabuf *umem = ib_umem_dmabuf_get_pinned(pd->device, start, length, fd, access);

	if (IS_ERR(umem))
		return ERR_CAST(umem);
	ib_umem_release(&umem->umem);
	return ERR_PTR(-EOPNOTSUPP);
}

static int fbdrv_dereg_mr(struct ib_mr *base, struct ib_udata *udata)
{
	struct fbdrv_mr *mr = container_of(base, struct fbdrv_mr, base);

	ib_umem_release(mr->umem);
	kfree(mr);
	return 0;
}

static int fbdrv_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata)
{
	return 0;
}

static void fbdrv_dealloc_ucontext(struct ib_ucontext *uctx)
{
}

/* With this, removing the device does not wait for its users; their next verb gets EIO. */
static void fbdrv_disassociate_ucontext(struct ib_ucontext *uctx)
{
}

static int fbdrv_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int fbdrv_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int fbdrv_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr, CQ_UDATA)
{
	cq->cqe = attr->cqe;
	return 0;
}

static int fbdrv_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	return 0;
}

static int fbdrv_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	qp->qp_num = 4242;
	return 0;
}

static int fbdrv_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	return 0;
}

/* What drivers of InfiniBand devices do here, the core does not. */
static int fbdrv_modify_qp(struct ib_qp *base, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct fbdrv_qp *qp = container_of(base, struct fbdrv_qp, base);
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : qp->state;

	if (!ib_modify_qp_is_ok(qp->state, next, base->qp_type, mask))
		return -EINVAL;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index >= FBDRV_PKEYS)
		return -EINVAL;
	qp->state = next;
	return 0;
}

static int fbdrv_query_qp(struct ib_qp *base, struct ib_qp_attr *attr, int mask, struct ib_qp_init_attr *init)
{
	attr->qp_state = container_of(base, struct fbdrv_qp, base)->state;
	return 0;
}

static int fbdrv_query_device(struct ib_device *dev, struct ib_device_attr *attr, struct ib_udata *udata)
{
	memset(attr, 0, sizeof(*attr));
	attr->max_mr = 16;
	attr->max_pd = 16;
	attr->max_qp = attr->max_cq = attr->max_cqe = attr->max_qp_wr = 64;
	attr->max_send_sge = attr->max_recv_sge = 4;
	attr->max_pkeys = FBDRV_PKEYS;
	attr->max_mr_size = U32_MAX;
	attr->page_size_cap = PAGE_SIZE;
	return 0;
}

static int fbdrv_query_port(struct ib_device *dev, u32 port, struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	attr->max_mtu = attr->active_mtu = IB_MTU_1024;
	attr->active_width = IB_WIDTH_1X;
	attr->active_speed = IB_SPEED_SDR;
	attr->max_msg_sz = PAGE_SIZE;
	return 0;
}

static int fbib_query_port(struct ib_device *dev, u32 port, struct ib_port_attr *attr)
{
	attr->pkey_tbl_len = FBDRV_PKEYS;
	attr->gid_tbl_len = FBDRV_GIDS;
	attr->lid = 7;
	return fbdrv_query_port(dev, port, attr);
}

static int fbdrv_query_pkey(struct ib_device *dev, u32 port, u16 index, u16 *pkey)
{
	*pkey = 0xffff;
	return 0;
}

static int fbdrv_query_gid(struct ib_device *dev, u32 port, int index, union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (!index) {
		gid->global.subnet_prefix = cpu_to_be64(0xfe80000000000000ULL);
		gid->global.interface_id = dev->node_guid;
	}
	return 0;
}

static int fbdrv_get_port_immutable(struct ib_device *dev, u32 port, struct ib_port_immutable *immutable)
{
	return 0;
}

static int fbib_get_port_immutable(struct ib_device *dev, u32 port, struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	immutable->pkey_tbl_len = FBDRV_PKEYS;
	immutable->gid_tbl_len = FBDRV_GIDS;
	return 0;
}

static enum rdma_link_layer fbdrv_get_link_layer(struct ib_device *dev, u32 port)
{
	return IB_LINK_LAYER_UNSPECIFIED;
}

static enum rdma_link_layer fbib_get_link_layer(struct ib_device *dev, u32 port)
{
	return IB_LINK_LAYER_INFINIBAND;
}

static const struct ib_device_ops fbdrv_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = 1,

	.alloc_pd = fbdrv_alloc_pd,
	.alloc_ucontext = fbdrv_alloc_ucontext,
	.dealloc_pd = fbdrv_dealloc_pd,
	.dealloc_ucontext = fbdrv_dealloc_ucontext,
	.dereg_mr = fbdrv_dereg_mr,
	.disassociate_ucontext = fbdrv_disassociate_ucontext,
	.get_link_layer = fbdrv_get_link_layer,
	.get_port_immutable = fbdrv_get_port_immutable,
	.query_device = fbdrv_query_device,
	.query_port = fbdrv_query_port,
	.reg_user_mr = fbdrv_reg_user_mr,
	.reg_user_mr_dmabuf = fbdrv_reg_user_mr_dmabuf,

	INIT_RDMA_OBJ_SIZE(ib_pd, fbdrv_pd, base),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, fbdrv_ucontext, base),
};

static const struct ib_device_ops fbib_ops = {
	.create_cq = fbdrv_create_cq,
	.create_qp = fbdrv_create_qp,
	.destroy_cq = fbdrv_destroy_cq,
	.destroy_qp = fbdrv_destroy_qp,
	.get_link_layer = fbib_get_link_layer,
	.get_port_immutable = fbib_get_port_immutable,
	.modify_qp = fbdrv_modify_qp,
	.query_gid = fbdrv_query_gid,
	.query_pkey = fbdrv_query_pkey,
	.query_port = fbib_query_port,
	.query_qp = fbdrv_query_qp,

	INIT_RDMA_OBJ_SIZE(ib_cq, fbdrv_cq, base),
	INIT_RDMA_OBJ_SIZE(ib_qp, fbdrv_qp, base),
};

struct fbdrv_device {
	struct ib_device base;
};

static struct ib_device *fbdrv_add(const char *name, bool ib)
{
	struct fbdrv_device *dev = ib_alloc_device(fbdrv_device, base);
	int err;

	if (!dev)
		return NULL;
	dev->base.node_type = ib ? RDMA_NODE_IB_CA : RDMA_NODE_UNSPECIFIED;
	dev->base.phys_port_cnt = 1;
	dev->base.num_comp_vectors = 1;
	dev->base.node_guid = cpu_to_be64(0x020000fffefb0000 + ib);
	/* Of what is set twice the first counts. */
	if (ib)
		ib_set_device_ops(&dev->base, &fbib_ops);
	ib_set_device_ops(&dev->base, &fbdrv_ops);
	err = ib_register_device(&dev->base, name, NULL);
	if (err) {
		pr_err("fbdrv: %s: %d\n", name, err);
		ib_dealloc_device(&dev->base);
		return NULL;
	}
	return &dev->base;
}

static void fbdrv_remove(struct ib_device **dev)
{
	if (!*dev)
		return;
	ib_unregister_device(*dev);
	ib_dealloc_device(*dev);
	*dev = NULL;
}

static void fbdrv_set(bool to)
{
	if (to && !fbdrv)
		fbdrv = fbdrv_add("fbdrv%d", false);
	if (to && !fbib)
		fbib = fbdrv_add("fbib%d", true);
	if (!to) {
		fbdrv_remove(&fbdrv);
		fbdrv_remove(&fbib);
	}
}

static int fbdrv_set_present(const char *value, const struct kernel_param *param)
{
	int err = param_set_bool(value, param);

	/* Called for the command line too, before there is a module. */
	if (err || THIS_MODULE->state != MODULE_STATE_LIVE)
		return err;
	mutex_lock(&fbdrv_lock);
	fbdrv_set(present);
	mutex_unlock(&fbdrv_lock);
	return 0;
}

static const struct kernel_param_ops fbdrv_present_ops = { .set = fbdrv_set_present, .get = param_get_bool };
module_param_cb(present, &fbdrv_present_ops, &present, 0644);

static int __init fbdrv_init(void)
{
	fbdrv_set(present);
	return 0;
}

static void __exit fbdrv_exit(void)
{
	fbdrv_set(false);
}

module_init(fbdrv_init);
module_exit(fbdrv_exit);
MODULE_DESCRIPTION("RDMA driver for tests");
MODULE_LICENSE("GPL");
