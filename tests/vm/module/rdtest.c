// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The driver that nobody has heard of: an RDMA device whose memory registration always fails, with an errno that nothing
 * else uses, two helper functions down. It has what it takes to be registered and opened, no more.
 * Writing 0 to the parameter `present` removes the device under its users, 1 brings it back.
 */
#include <linux/module.h>
#include <linux/version.h>
#include <rdma/ib_verbs.h>

/* Static, yet with a symbol, an own frame and the ordinary calling convention. */
#define RDTEST_HELPER static noinline __attribute__((noipa))

static struct ib_device *rdtest;
static bool present = true;
static DEFINE_MUTEX(rdtest_lock);

struct rdtest_ucontext {
	struct ib_ucontext base;
};

struct rdtest_pd {
	struct ib_pd base;
	atomic_t tries;
};

RDTEST_HELPER int rdtest_window_check(struct rdtest_pd *pd, u64 length)
{
	atomic_inc(&pd->tries);
	return length ? -EDOM : 0;
}

RDTEST_HELPER int rdtest_window_open(struct rdtest_pd *pd, u64 start, u64 length)
{
	int err = rdtest_window_check(pd, length);

	if (err)
		pr_debug("rdtest: no window at %llx\n", start);
	return err;
}

static struct ib_mr *rdtest_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr, int access,
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
					struct ib_dmah *dmah,
#endif
					struct ib_udata *udata)
{
	int err = rdtest_window_open(container_of(pd, struct rdtest_pd, base), start, length);

	return ERR_PTR(err ? err : -EOPNOTSUPP);
}

static int rdtest_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	return 0;
}

static int rdtest_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata)
{
	return 0;
}

static void rdtest_dealloc_ucontext(struct ib_ucontext *uctx)
{
}

/* With this, removing the device does not wait for its users; their next verb gets EIO. */
static void rdtest_disassociate_ucontext(struct ib_ucontext *uctx)
{
}

static int rdtest_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int rdtest_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int rdtest_query_device(struct ib_device *dev, struct ib_device_attr *attr, struct ib_udata *udata)
{
	memset(attr, 0, sizeof(*attr));
	attr->max_mr = 1;
	attr->max_pd = 16;
	attr->max_mr_size = U32_MAX;
	attr->page_size_cap = PAGE_SIZE;
	return 0;
}

static int rdtest_query_port(struct ib_device *dev, u32 port, struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	attr->max_mtu = attr->active_mtu = IB_MTU_1024;
	attr->active_width = IB_WIDTH_1X;
	attr->active_speed = IB_SPEED_SDR;
	attr->max_msg_sz = PAGE_SIZE;
	return 0;
}

static int rdtest_get_port_immutable(struct ib_device *dev, u32 port, struct ib_port_immutable *immutable)
{
	return 0;
}

static enum rdma_link_layer rdtest_get_link_layer(struct ib_device *dev, u32 port)
{
	return IB_LINK_LAYER_UNSPECIFIED;
}

static const struct ib_device_ops rdtest_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = 1,

	.alloc_pd = rdtest_alloc_pd,
	.alloc_ucontext = rdtest_alloc_ucontext,
	.dealloc_pd = rdtest_dealloc_pd,
	.dealloc_ucontext = rdtest_dealloc_ucontext,
	.dereg_mr = rdtest_dereg_mr,
	.disassociate_ucontext = rdtest_disassociate_ucontext,
	.get_link_layer = rdtest_get_link_layer,
	.get_port_immutable = rdtest_get_port_immutable,
	.query_device = rdtest_query_device,
	.query_port = rdtest_query_port,
	.reg_user_mr = rdtest_reg_user_mr,

	INIT_RDMA_OBJ_SIZE(ib_pd, rdtest_pd, base),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, rdtest_ucontext, base),
};

struct rdtest_device {
	struct ib_device base;
};

static int rdtest_add(void)
{
	struct rdtest_device *dev = ib_alloc_device(rdtest_device, base);
	int err;

	if (!dev)
		return -ENOMEM;
	dev->base.node_type = RDMA_NODE_UNSPECIFIED;
	dev->base.phys_port_cnt = 1;
	dev->base.num_comp_vectors = 1;
	dev->base.node_guid = cpu_to_be64(0x020000fffe7e5700);
	ib_set_device_ops(&dev->base, &rdtest_ops);
	err = ib_register_device(&dev->base, "rdtest%d", NULL);
	if (err) {
		ib_dealloc_device(&dev->base);
		return err;
	}
	rdtest = &dev->base;
	return 0;
}

static void rdtest_remove(void)
{
	if (!rdtest)
		return;
	ib_unregister_device(rdtest);
	ib_dealloc_device(rdtest);
	rdtest = NULL;
}

static int rdtest_set_present(const char *value, const struct kernel_param *param)
{
	int err = param_set_bool(value, param);

	/* Called for the command line too, before there is a module. */
	if (err || THIS_MODULE->state != MODULE_STATE_LIVE)
		return err;
	mutex_lock(&rdtest_lock);
	if (present && !rdtest)
		err = rdtest_add();
	else if (!present)
		rdtest_remove();
	mutex_unlock(&rdtest_lock);
	return err;
}

static const struct kernel_param_ops rdtest_present_ops = { .set = rdtest_set_present, .get = param_get_bool };
module_param_cb(present, &rdtest_present_ops, &present, 0644);

static int __init rdtest_init(void)
{
	return present ? rdtest_add() : 0;
}

static void __exit rdtest_exit(void)
{
	rdtest_remove();
}

module_init(rdtest_init);
module_exit(rdtest_exit);
MODULE_DESCRIPTION("RDMA driver for tests");
MODULE_LICENSE("GPL");
