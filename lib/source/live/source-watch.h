/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_SOURCE_WATCH_H
#define RD_SOURCE_WATCH_H

#include "source/shared/source.h"

/*
 * A source that asks `inner` (which stays the caller's, and open for as long) and keeps which reads failed without an answer,
 * as rd_could_not_look() has it. No events and no management datagrams.
 */
int rd_source_watch_open(struct rd_source *inner, struct rd_source **ret, struct rd_err *err);

/* These reads, in their order: path ("netlink rdma, request 5121" for a netlink request) and errno. The list becomes the caller's. */
struct rd_errlist rd_source_watch_take(struct rd_source *src);

#endif
