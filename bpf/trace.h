/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* What lib/trace tells the programs before it loads them. */
#ifndef RD_BPF_TRACE_H
#define RD_BPF_TRACE_H

#include "record.h"

#define RD_DEVS_MAX 16
#define RD_COUNTS_MAX 16384
#define RD_ANCESTORS_SEARCHED 32 /* generations between a traced command and its descendant */
#define RD_CGROUP_DEPTH 16

/* How a return value is read: enum rd_ret, folded. */
enum {
	RD_CLASS_NONE = 0,
	RD_CLASS_INT,
	RD_CLASS_WIDE,
	RD_CLASS_UNKNOWN,
};

/* enum rd_entry, as numbers: a compile-time check in lib/trace holds the two together. */
enum {
	RD_DOOR_NONE = 0,
	RD_DOOR_IOCTL,
	RD_DOOR_MMAP,
	RD_DOOR_OPEN,
	RD_DOOR_UCMA,
	RD_DOOR_HANDLER,
};

struct rd_trace_config {
	__u64 cgroup;		    /* 0: no such filter; likewise below */
	__u64 pidns_dev, pidns_ino; /* in which `pid` is a number */
	__u32 pid;
	__s32 err; /* positive */
	__u32 n_devs;
	__u32 devs[RD_DEVS_MAX];
	char comm[RD_COMM_LEN];
	char ibdev[64];
	__u8 match;	  /* only chains with a function that has RD_FN_MATCH */
	__u8 read_kernel; /* memory may be read. Where lockdown forbids the kernel's, libbpf gives up user memory too */
	__u8 kernel_stack, user_stack;
	__u8 descendants; /* only processes below the command */
	/* struct rd_offsets; -1: not known */
	__s32 qp_num, qp_port, ibdev_name, bundle_ufile, ufile_device, uverbs_dev_devt;
};

#endif
