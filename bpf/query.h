/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Shared by the programs that look at ib_query_qp and user space: what a driver filled in for a queue pair. The map RD_QUERY_MAP has
 * an entry for each that its thread queried, by struct rd_qp_key. A reader treats it as untrusted input.
 */
#ifndef RD_BPF_QUERY_H
#define RD_BPF_QUERY_H

#include "bpf/qp.h"

#define RD_QUERY_MAP "rdmadiag_query"
#define RD_QUERY_VERSION 1
#define RD_QUERY_ENTRIES_MAX 262144 /* 50 MB; more queue pairs than that have no peer */

/* Set before the programs are loaded. Offsets in struct ib_qp_attr as in struct rd_qp_config. */
struct rd_query_config {
	struct rd_qp_config qp;
	__s32 path_mig, alt_dgid, alt_dlid, alt_port, alt_timeout;
	__u32 thread;		/* whose queries are looked at, in this PID namespace: */
	__u64 ns_dev, ns_inode; /* st_dev and st_ino of /proc/self/ns/pid */
};

/* Members are as the memory had them: only some of them were written by the driver. */
struct rd_query_value {
	struct rd_qp_value qp; /* version: RD_QUERY_VERSION; time: when the query returned */
	__u32 path_mig;
	__u16 alt_dlid;
	__u8 alt_port, alt_timeout;
	__u8 alt_dgid[16];
};
/* More of rd_query_value.qp.known. */
#define RD_QUERY_HAS_MIG (1ull << 41)
#define RD_QUERY_HAS_ALT (1ull << 42)

#endif
