// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Errnos that have no reason, for one call of one process. `verb`: "PID OPERATION ERRNO" lets this operation of `device`
 * fail in the driver's place. `probe`: "PID FUNCTION ERRNO" lets a kernel function return at its entry, with this errno.
 * After that call everything is as it was.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/version.h>
#include <rdma/ib_verbs.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define DMAH struct ib_dmah *dmah,
#define DMAH_ARG dmah,
#else
#define DMAH
#define DMAH_ARG
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define CQ_UDATA uverbs_attr_bundle
#else
#define CQ_UDATA ib_udata
#endif

/* Where functions are traced with their arguments alone, that is all there is to change. */
#if defined(CONFIG_ARM64) && LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define SAVED 0
#define GO(fregs, to) ftrace_regs_set_instruction_pointer(fregs, to)
#else
#define SAVED FTRACE_OPS_FL_SAVE_REGS
#define GO(fregs, to) instruction_pointer_set(ftrace_get_regs(fregs), to)
#endif

static char *device = "rxe0";
module_param(device, charp, 0444);

static struct ib_device *target;
static struct ib_device_ops real;
static int op_pid, op_error;
static DEFINE_MUTEX(op_lock);

/* An operation's parameters and arguments: it fails once, and is the driver's own again. */
#define FBFAULT(type, op, params, args, fail)                   \
	static type fbfault_##op params                         \
	{                                                       \
		if (task_tgid_nr(current) != READ_ONCE(op_pid)) \
			return real.op args;                    \
		WRITE_ONCE(op_pid, 0);                          \
		WRITE_ONCE(target->ops.op, real.op);            \
		return fail(-(long)op_error);                   \
	}

FBFAULT(struct ib_mr *, reg_user_mr,
	(struct ib_pd * pd, u64 start, u64 length, u64 virt_addr, int access, DMAH struct ib_udata *udata),
	(pd, start, length, virt_addr, access, DMAH_ARG udata), ERR_PTR)
FBFAULT(int, alloc_pd, (struct ib_pd * pd, struct ib_udata *udata), (pd, udata), (int))
FBFAULT(int, dealloc_pd, (struct ib_pd * pd, struct ib_udata *udata), (pd, udata), (int))
FBFAULT(int, create_cq, (struct ib_cq * cq, const struct ib_cq_init_attr *attr, struct CQ_UDATA *udata),
	(cq, attr, udata), (int))
FBFAULT(int, create_srq, (struct ib_srq * srq, struct ib_srq_init_attr *attr, struct ib_udata *udata),
	(srq, attr, udata), (int))
FBFAULT(int, create_qp, (struct ib_qp * qp, struct ib_qp_init_attr *attr, struct ib_udata *udata), (qp, attr, udata),
	(int))
FBFAULT(int, modify_qp, (struct ib_qp * qp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata),
	(qp, attr, mask, udata), (int))
FBFAULT(int, query_qp, (struct ib_qp * qp, struct ib_qp_attr *attr, int mask, struct ib_qp_init_attr *init),
	(qp, attr, mask, init), (int))
FBFAULT(int, destroy_qp, (struct ib_qp * qp, struct ib_udata *udata), (qp, udata), (int))
FBFAULT(int, create_user_ah, (struct ib_ah * ah, struct rdma_ah_init_attr *attr, struct ib_udata *udata),
	(ah, attr, udata), (int))
FBFAULT(int, attach_mcast, (struct ib_qp * qp, union ib_gid *gid, u16 lid), (qp, gid, lid), (int))
FBFAULT(int, alloc_mw, (struct ib_mw * mw, struct ib_udata *udata), (mw, udata), (int))

/* Puts ours in the place of the operation `name`, and the driver's own in that of all others. */
static int fbfault_swap(const char *name)
{
	int err = -ENOENT;

#define SWAP(op)                                                           \
	do {                                                               \
		bool ours = !strcmp(name, #op);                            \
                                                                           \
		WRITE_ONCE(target->ops.op, ours ? fbfault_##op : real.op); \
		if (ours)                                                  \
			err = 0;                                           \
	} while (0)
	SWAP(reg_user_mr);
	SWAP(alloc_pd);
	SWAP(dealloc_pd);
	SWAP(create_cq);
	SWAP(create_srq);
	SWAP(create_qp);
	SWAP(modify_qp);
	SWAP(query_qp);
	SWAP(destroy_qp);
	SWAP(create_user_ah);
	SWAP(attach_mcast);
	SWAP(alloc_mw);
	return err;
}

static int fbfault_set_verb(const char *value, const struct kernel_param *param)
{
	char name[32];
	int pid, err = -ENODEV;

	mutex_lock(&op_lock);
	WRITE_ONCE(op_pid, 0);
	if (target && sscanf(value, "%d %31s %d", &pid, name, &op_error) == 3)
		err = fbfault_swap(name);
	if (!err)
		WRITE_ONCE(op_pid, pid);
	mutex_unlock(&op_lock);
	return err;
}

static const struct kernel_param_ops fbfault_verb_ops = { .set = fbfault_set_verb };
module_param_cb(verb, &fbfault_verb_ops, NULL, 0200);

/* Functions of the kernel */

static char function[64];
static int probe_pid, probe_error;
static bool probed;
static DEFINE_MUTEX(probe_lock);

/* Runs in the function's place, with its arguments. */
static long fbfault_return(void)
{
	return -(long)READ_ONCE(probe_error);
}

static void notrace fbfault_entry(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
				  struct ftrace_regs *fregs)
{
	if (task_tgid_nr(current) != READ_ONCE(probe_pid))
		return;
	WRITE_ONCE(probe_pid, 0);
	GO(fregs, (unsigned long)fbfault_return);
}

/* No kprobe: one that changes the flow of a function is left out where a tracer hooks the same function. */
static struct ftrace_ops fbfault_hook = {
	.func = fbfault_entry,
	.flags = SAVED | FTRACE_OPS_FL_IPMODIFY,
};

static void fbfault_unhook(void)
{
	if (probed)
		unregister_ftrace_function(&fbfault_hook);
	probed = false;
}

static int fbfault_set_probe(const char *value, const struct kernel_param *param)
{
	int err, pid;

	mutex_lock(&probe_lock);
	WRITE_ONCE(probe_pid, 0);
	fbfault_unhook();
	err = sscanf(value, "%d %63s %d", &pid, function, &probe_error) == 3 ? 0 : -EINVAL;
	if (!err)
		err = ftrace_set_filter(&fbfault_hook, function, strlen(function), 1);
	if (!err)
		err = register_ftrace_function(&fbfault_hook);
	if (!err) {
		probed = true;
		WRITE_ONCE(probe_pid, pid);
	}
	mutex_unlock(&probe_lock);
	return err;
}

static const struct kernel_param_ops fbfault_probe_ops = { .set = fbfault_set_probe };
module_param_cb(probe, &fbfault_probe_ops, NULL, 0200);

static int fbfault_add(struct ib_device *dev)
{
	if (strcmp(dev_name(&dev->dev), device))
		return -EOPNOTSUPP;
	mutex_lock(&op_lock);
	real = dev->ops;
	target = dev;
	mutex_unlock(&op_lock);
	return 0;
}

static void fbfault_remove(struct ib_device *dev, void *data)
{
	mutex_lock(&op_lock);
	fbfault_swap("");
	target = NULL;
	mutex_unlock(&op_lock);
}

static struct ib_client fbfault_client = { .name = "fbfault", .add = fbfault_add, .remove = fbfault_remove };

static int __init fbfault_init(void)
{
	return ib_register_client(&fbfault_client);
}

static void __exit fbfault_exit(void)
{
	fbfault_unhook();
	ib_unregister_client(&fbfault_client);
}

module_init(fbfault_init);
module_exit(fbfault_exit);
MODULE_DESCRIPTION("Errnos without a reason, for tests");
MODULE_LICENSE("GPL");
