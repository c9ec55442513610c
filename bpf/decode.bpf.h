/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verb, device and queue pair of a call: read only after the call has failed. */
#ifndef RD_BPF_DECODE_H
#define RD_BPF_DECODE_H

#include "request.bpf.h"
#include "thread.bpf.h"

static __always_inline void note_qp(struct rd_rec *rec, const void *qp)
{
	__u32 qpn;

	if (!cfg.read_kernel || cfg.off.qp_num < 0 || rec->flags & RD_REC_QPN || !qp)
		return;
	if (bpf_probe_read_kernel(&qpn, sizeof(qpn), qp + cfg.off.qp_num))
		return;
	rec->qpn = qpn;
	rec->flags |= RD_REC_QPN;
	if (cfg.off.qp_port >= 0) {
		__u32 port = 0;

		/* u32 in struct ib_qp since 5.13; 0 until the QP was moved to INIT. */
		if (!bpf_probe_read_kernel(&port, sizeof(port), qp + cfg.off.qp_port) && port) {
			rec->port = port;
			rec->flags |= RD_REC_PORT;
		}
	}
}

static __always_inline void note_device(struct rd_rec *rec, const void *device)
{
	if (!cfg.read_kernel || cfg.off.ibdev_name < 0 || rec->ibdev[0] || !device)
		return;
	bpf_probe_read_kernel_str(rec->ibdev, sizeof(rec->ibdev), device + cfg.off.ibdev_name);
}

static __always_inline __u32 inode_device(struct inode *inode)
{
	__u32 dev = 0;

	if (cfg.read_kernel)
		bpf_core_read(&dev, sizeof(dev), &inode->i_rdev);
	return dev;
}

static __always_inline __u32 file_device(struct file *file)
{
	struct inode *inode = NULL;

	if (!cfg.read_kernel || bpf_core_read(&inode, sizeof(inode), &file->f_inode))
		return 0;
	return inode_device(inode);
}

static __always_inline __u32 bundle_device(__u64 bundle)
{
	void *file = NULL, *device = NULL;
	__u32 dev = 0;

	if (!cfg.read_kernel || cfg.off.bundle_ufile < 0 || cfg.off.ufile_device < 0 || cfg.off.uverbs_dev_devt < 0)
		return 0;
	if (bpf_probe_read_kernel(&file, sizeof(file), (void *)bundle + cfg.off.bundle_ufile) ||
	    bpf_probe_read_kernel(&device, sizeof(device), file + cfg.off.ufile_device))
		return 0;
	bpf_probe_read_kernel(&dev, sizeof(dev), device + cfg.off.uverbs_dev_devt);
	return dev;
}

/* User memory may be read even where kernel memory may not. */
static __always_inline void decode(struct thread *t, __u32 entry)
{
	struct rd_rec *rec = &t->rec;

	rec->verb = 0;
	rec->num_attrs = 0;
	rec->dev = 0;
	t->request.n_attrs = 0;
	t->request.n_blocks = 0;
	t->request.n_raw = 0;
	t->request.truncated = 0;
	switch (entry) {
	case RD_ROOT_IOCTL:
		rec->dev = file_device((struct file *)t->args[0]);
		copy_ioctl(t);
		break;
	case RD_ROOT_UCMA:
		rec->dev = file_device((struct file *)t->args[0]);
		copy_ucma(t);
		break;
	case RD_ROOT_HANDLER:
		rec->dev = bundle_device(t->args[0]);
		rec->verb = RD_VERB(RD_VERB_WRITE, rec->root);
		copy_write(t);
		break;
	case RD_ROOT_MMAP:
		rec->dev = file_device((struct file *)t->args[0]);
		rec->verb = RD_VERB(RD_VERB_FOP, entry);
		break;
	case RD_ROOT_OPEN:
		rec->dev = inode_device((struct inode *)t->args[0]);
		rec->verb = RD_VERB(RD_VERB_FOP, entry);
		break;
	}
}

#endif
