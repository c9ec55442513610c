/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of all commands about a host without RDMA. */
#ifndef RD_NO_RDMA_H
#define RD_NO_RDMA_H

#include "base/err.h"

#define RD_NO_RDMA_STACK "there is no RDMA stack"
#define RD_NO_RDMA_DEVICE "there is no RDMA device"
/* For commands that read modules: they cannot use a built-in stack. */
#define RD_NO_RDMA_MODULE "no RDMA module is loaded"

/* The RDMA stack is not loaded. Fills `err` (may be NULL) with a hint; -ENOENT. */
int rd_no_rdma_stack(struct rd_err *err);

/* The stack is loaded, but there is no device. The same; -ENODEV. */
int rd_no_rdma_device(struct rd_err *err);

#endif
