// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What another driver does when its device is in trouble: as long as this is loaded, one queue pair of `device` cannot be
 * queried, and what is written to the parameter `log` goes to the kernel log as an error of the kernel's own. Nobody may be
 * querying when it is unloaded.
 */
#include <linux/module.h>
#include <rdma/ib_verbs.h>

static char *device = "rxe0";
module_param(device, charp, 0444);
static uint qpn; /* 0: none */
module_param(qpn, uint, 0644);
static int error = EIO;
module_param(error, int, 0644);

static int (*query_qp)(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_qp_init_attr *init);

static int rdfault_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_qp_init_attr *init)
{
	return qpn && qp->qp_num == qpn ? -error : query_qp(qp, attr, mask, init);
}

/* Byte for byte, as a driver prints what it was given. */
static int rdfault_log(const char *text, const struct kernel_param *param)
{
	printk(KERN_ERR "%s\n", text);
	return 0;
}

static const struct kernel_param_ops rdfault_log_ops = { .set = rdfault_log };
module_param_cb(log, &rdfault_log_ops, NULL, 0200);

static int rdfault_add(struct ib_device *dev)
{
	if (strcmp(dev_name(&dev->dev), device))
		return -EOPNOTSUPP;
	query_qp = dev->ops.query_qp;
	WRITE_ONCE(dev->ops.query_qp, rdfault_query_qp);
	return 0;
}

static void rdfault_remove(struct ib_device *dev, void *data)
{
	WRITE_ONCE(dev->ops.query_qp, query_qp);
}

static struct ib_client rdfault_client = { .name = "rdfault", .add = rdfault_add, .remove = rdfault_remove };

static int __init rdfault_init(void)
{
	return ib_register_client(&rdfault_client);
}

static void __exit rdfault_exit(void)
{
	ib_unregister_client(&rdfault_client);
}

module_init(rdfault_init);
module_exit(rdfault_exit);
MODULE_DESCRIPTION("Faults of an RDMA device, for tests");
MODULE_LICENSE("GPL");
