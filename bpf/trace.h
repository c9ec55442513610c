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

struct rd_trace_config {
	__u64 cgroup;		    /* 0: no filter; likewise below */
	__u64 pidns_dev, pidns_ino; /* PID namespace of `pid` */
	__u32 pid;
	__s32 err; /* positive */
	__u32 n_devs;
	__u32 devs[RD_DEVS_MAX];
	char comm[RD_COMM_LEN];
	char ibdev[64];
	__u8 match;	  /* only chains that contain a function with RD_FN_MATCH */
	__u8 read_kernel; /* memory is readable. If lockdown forbids reading kernel memory, user memory is not read either */
	__u8 kernel_stack, user_stack;
	__u8 descendants; /* only processes below the command */
	/* struct rd_offsets; -1: unknown */
	__s32 qp_num, qp_port, ibdev_name, bundle_ufile, ufile_device, uverbs_dev_devt;
};

#endif
