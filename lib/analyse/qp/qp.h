/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What follows from the kernel's account of RDMA resources: connections, peers, what is missing from it, what runs out. */
#ifndef RD_ANALYSE_QP_H
#define RD_ANALYSE_QP_H

#include "model/rdma/qp-view.h"
#include "model/shared/finding.h"

/* Joins each QP with the connection that it belongs to, and takes the peer's GID from that where its address is a GID
 * (RoCE, AF_IB). */
void rd_qp_link(struct rd_qp_views *views);

/* Whether a QP of this type has one peer, once connected. */
bool rd_qp_is_connected_type(const struct rd_qp *qp);

/* The GID at the other end, or where that is not known the address that its connection was made to, IPv4 as ::ffff:a.b.c.d.
 * False: neither is known. */
bool rd_qp_peer(const struct rd_qp_views *views, size_t i, uint8_t ret[16]);

/* SQE or ERR; false where the state is not known. */
bool rd_qp_has_failed(const struct rd_qp *qp);

/* Its device did not say what state it is in. (Of one with EAGAIN it was not asked.) */
bool rd_qp_query_failed(const struct rd_qp *qp);

/*
 * Programs can make queue pairs of this device that the kernel keeps no account of (mlx5: by DEVX, as UCX's DC transport,
 * DOCA and NVSHMEM's IBGDA do). What concludes from a QP's absence has to say so.
 */
bool rd_res_dev_hides_qps(const struct rd_res_dev *dev);

/* A device's soft-RoCE driver takes retry_cnt 7 for "for ever". */
bool rd_res_dev_is_rxe(const struct rd_res_dev *dev);

/* What is missing from the listing and why: other namespaces, dumps that broke off, devices that did not answer. And, from
 * the summary, what is about to run out. */
void rd_res_findings(const struct rd_res *res, struct rd_findings *findings);

#endif
