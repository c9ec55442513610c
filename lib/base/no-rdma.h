/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said of a host that cannot be asked about RDMA, by all commands in the same words. */
#ifndef RD_NO_RDMA_H
#define RD_NO_RDMA_H

#include "base/err.h"

#define RD_NO_RDMA_STACK "this host has no RDMA stack"
#define RD_NO_RDMA_DEVICE "there is no RDMA device"
/* To whoever would look into modules: a stack that is built in is one, and no help. */
#define RD_NO_RDMA_MODULE "no RDMA module is loaded"

/* Nothing of RDMA is loaded. Fills `err` (may be NULL) with what to do about it; -ENOENT. */
int rd_no_rdma_stack(struct rd_err *err);

/* The stack is there, and no device is. The same; -ENODEV. */
int rd_no_rdma_device(struct rd_err *err);

#endif
