/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of librdmacm. Conditions are those of drivers/infiniband/core/cma.c and ucma.c. Private to lib/diagnose/connect. */
#ifndef RD_DIAGNOSE_CM_H
#define RD_DIAGNOSE_CM_H

#include "diagnose/shared/rule.h"

/* enum rdma_cm_state of the kernel */
enum {
	CM_IDLE,
	CM_ADDR_QUERY,
	CM_ADDR_RESOLVED,
	CM_ROUTE_QUERY,
	CM_ROUTE_RESOLVED,
	CM_CONNECT,
	CM_DISCONNECT,
	CM_ADDR_BOUND,
	CM_LISTEN,
	CM_DEVICE_REMOVAL,
	CM_DESTROYING,
};

/* Whether the call is one of librdmacm. */
bool rd_is_cm(const struct rd_event *event);

/* Adds which rdma_cm_id it is. */
void rd_cm_add_id(const struct rd_failure *failure, struct rd_explanation *ret);

/* fe80::/10: says nothing without its interface, sin6_scope_id. */
bool rd_is_link_local(const struct rd_req_address *address);

#endif
