/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conclusions from the kernel's RDMA resource tracking: connections, peers, missing entries, resources that run out. */
#ifndef RD_ANALYSE_QP_H
#define RD_ANALYSE_QP_H

#include "model/rdma/qp-view.h"
#include "model/shared/finding.h"

/* Links each QP to its rdma_cm connection, and takes the peer's GID from the connection where its address is a GID
 * (RoCE, AF_IB); and to what its device or driver reports. */
void rd_qp_link(struct rd_qp_views *views);

/* Whether a QP of this type has one peer once connected. */
bool rd_qp_is_connected_type(const struct rd_qp *qp);

/* The GID of the peer; if unknown, the destination address of the connection, IPv4 as ::ffff:a.b.c.d. False: both unknown. */
bool rd_qp_peer(const struct rd_qp_views *views, size_t i, uint8_t ret[16]);

/* An address as 16 bytes: on RoCE, the GID; IPv4 as ::ffff:a.b.c.d. */
void rd_qp_address(const struct rd_sockaddr *addr, uint8_t ret[16]);

/* The IP address in a GID of RoCE. `ret`: 46 bytes. */
void rd_qp_gid_ip(const uint8_t gid[16], char *ret);

/* In SQE or ERR; false if the state is unknown. */
bool rd_qp_has_failed(const struct rd_qp *qp);

/* The device failed to report the state. (With EAGAIN the device was not queried.) */
bool rd_qp_query_failed(const struct rd_qp *qp);

/*
 * Programs can create queue pairs of this device that the kernel does not track (mlx5: through DEVX, as UCX's DC transport,
 * DOCA and NVSHMEM's IBGDA do). Conclusions from the absence of a QP must take this into account.
 */
bool rd_res_dev_hides_qps(const struct rd_res_dev *dev);

/* Whether the device is soft-RoCE, which retries forever with retry_cnt 7. */
bool rd_res_dev_is_rxe(const struct rd_res_dev *dev);

/* Findings about entries missing from the list (other namespaces, dumps that ended early, devices that did not respond) and,
 * from the summary, about resources that are nearly exhausted. */
void rd_res_findings(const struct rd_res *res, struct rd_findings *findings);

#endif
