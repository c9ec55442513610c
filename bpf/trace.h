/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Configuration of the BPF programs, set by lib/trace before loading. */
#ifndef RD_BPF_TRACE_H
#define RD_BPF_TRACE_H

#include "record.h"

#define RD_DEVS_MAX 16
#define RD_COUNTS_MAX 16384
#define RD_ANCESTORS_SEARCHED 32 /* maximum generations between a traced command and its descendant */
#define RD_CGROUP_DEPTH 16

/* How an errno is recognized in a return value: classes of enum rd_ret. */
enum {
	RD_CLASS_NONE = 0,
	RD_CLASS_INT,
	RD_CLASS_WIDE,
	RD_CLASS_UNKNOWN,
};

/* Entry points: numbers for enum rd_entry. */
enum {
	RD_ROOT_NONE = 0,
	RD_ROOT_IOCTL,
	RD_ROOT_MMAP,
	RD_ROOT_OPEN,
	RD_ROOT_UCMA,
	RD_ROOT_HANDLER,
};

/* A value that the request does not contain. */
#define RD_NO_VALUE (~0ull)

/* A failure that is expected from healthy programs: of this call and this errno, if every function of the chain returned it, and
 * the first one is `origin`. */
struct rd_benign_key {
	__u64 verb; /* 0: any */
	__u32 origin;
	__s32 err; /* negative */
};

/* Value in the map of benign failures: attributes of the ioctl, 0 for any, or: */
#define RD_BENIGN_VERB_UNKNOWN 0xffffffff /* only if the verb could not be read */

#define RD_BENIGN_MAX 1024
#define RD_LAYOUTS_MAX 256

/* Modules loaded since the programs were attached; shared with user space. */
struct rd_module_loads {
	__u64 n;
	__u64 at; /* CLOCK_MONOTONIC, ns: of the last */
};

/* Modules that somebody wants to unload; likewise. The newest is names[(n - 1) % RD_UNLOADS]. */
#define RD_UNLOADS 8
#define RD_UNLOAD_NAME 64
struct rd_module_unloads {
	__u64 n;
	char names[RD_UNLOADS][RD_UNLOAD_NAME];
};

struct rd_trace_config {
	__u64 cgroup;		    /* 0: no filter; likewise below */
	__u64 pidns_dev, pidns_ino; /* PID namespace of `pid` */
	__u32 pid;
	__s32 err;	 /* positive */
	__u32 page_size; /* bytes */
	__u32 n_devs;
	__u32 devs[RD_DEVS_MAX];
	char comm[RD_COMM_LEN];
	char ibdev[64];
	__u8 match;	  /* only chains that contain a function with RD_FN_MATCH */
	__u8 read_kernel; /* memory is readable. If lockdown forbids reading kernel memory, user memory is not read either */
	__u8 kernel_stack, user_stack;
	__u8 descendants; /* only processes below the command */
	__u8 drop_benign; /* count failures in the map of benign ones, and do not report them */
	struct rd_offsets off;
};

#endif
