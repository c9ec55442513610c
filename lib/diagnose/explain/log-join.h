/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the objects of lines of a log with what a host has of them now. */
#ifndef RD_DIAGNOSE_LOG_JOIN_H
#define RD_DIAGNOSE_LOG_JOIN_H

#include "model/explain/explain.h"
#include "model/host/netstate.h"
#include "model/rdma/qp.h"
#include "model/trace/event.h"

struct rd_log_here {
	const char *name; /* of the host; NULL: unknown */
	const struct rd_host *host;
	const struct rd_netstate *net;
	const struct rd_res *res;	    /* NULL: not read */
	const struct rd_recent *recent;	    /* failed calls of the last hour */
	const struct rd_findings *findings; /* of all rules */
};

/*
 * Sets the joins of the log: for each line its objects, the causes of its form and codes, each with whether the host shows it, and the next
 * step. Lines that another host printed, or about devices that this host does not have, are compared with nothing. `here` NULL: none is.
 */
void rd_log_join(struct rd_log *log, const struct rd_log_here *here);

#endif
