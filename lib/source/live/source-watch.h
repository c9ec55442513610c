/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_SOURCE_WATCH_H
#define RD_SOURCE_WATCH_H

#include "source/shared/source.h"

/*
 * A source that reads `inner` (which the caller keeps, open as long) and records the reads that failed without a reply in the sense
 * of rd_could_not_look(). No events and no management datagrams.
 */
struct rd_source *rd_source_watch_open(struct rd_source *inner);

/* These reads, in order: path ("netlink rdma, request 5121" for a netlink request) and errno. The caller owns the list. */
struct rd_errlist rd_source_watch_take(struct rd_source *src);

#endif
