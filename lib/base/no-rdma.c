/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/no-rdma.h"

#include <errno.h>

static const char object[] = "/sys/class/infiniband";

int rd_no_rdma_stack(struct rd_err *err)
{
	rd_err_set(err, ENOENT, object, RD_NO_RDMA_STACK);
	rd_err_hint(err, "modprobe ib_core, or the driver of the NIC; or read another host: --from BUNDLE");
	return -ENOENT;
}

int rd_no_rdma_device(struct rd_err *err)
{
	rd_err_set(err, ENODEV, object, RD_NO_RDMA_DEVICE);
	rd_err_hint(
		err,
		"load the driver of the NIC, or add a software RDMA device: rdma link add rxe0 type rxe netdev eth0");
	return -ENODEV;
}
