/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the bare programs and the benchmark share. */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <linux/types.h>

#define BARE_FRAMES 48		     /* as many as a record of the product may have */
#define BARE_RING (32 * 1024 * 1024) /* nothing is read while it is measured: all must fit */

struct bare_record {
	__u64 ip, cookie, time;
	__u32 pid, tid;
	char comm[16];
};

struct bare_stack {
	struct bare_record record;
	__u64 frames[BARE_FRAMES];
};

#endif
