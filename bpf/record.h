/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Shared by the BPF programs and user space: the record of one failed call, the keys of the counts, the limits.
 * A reader treats a record as untrusted input, and checks sizes and counts against the received bytes.
 */
#ifndef RD_BPF_RECORD_H
#define RD_BPF_RECORD_H

#include <linux/types.h>

#define RD_CHAIN_MAX 24	  /* failed exits kept per call; real chains have up to 12 */
#define RD_CHAIN_SLOTS 32 /* array size: a power of two, so that a mask bounds an index */
#define RD_STACK_MAX 48	  /* frames of a stack */
#define RD_STACK_SLOTS 64
#define RD_EARLIER 3 /* branches before the last one that are kept to find the origin */
#define RD_COMM_LEN 16
#define RD_NO_FN 0xffffffffu

/* A function exit that returned an errno. In order of time: innermost first. */
struct rd_rec_link {
	__u32 fn;    /* index in the function set: the attach cookie */
	__s16 err;   /* negative errno */
	__u16 flags; /* RD_LINK_* */
};
/* This exit does not enclose the previous one: the kernel ignored an earlier failure, or is cleaning up after it. */
#define RD_LINK_BRANCH 1

/* Which verb. kind << 32 | object << 16 | method; for WRITE, UCMA and FOP the low 32 bits are the command or entry. */
enum rd_verb_kind {
	RD_VERB_NONE = 0,     /* the header is not readable */
	RD_VERB_IOCTL,	      /* object and method of an uverbs ioctl */
	RD_VERB_INVOKE_WRITE, /* ioctl INVOKE_WRITE: a legacy write command (enum ib_uverbs_write_cmds) */
	RD_VERB_WRITE,	      /* write(2): low 32 bits are the function id of the write handler */
	RD_VERB_UCMA,	      /* rdma_ucm command (enum in rdma_user_cm.h) */
	RD_VERB_FOP,	      /* open, mmap: enum rd_entry */
};
#define RD_VERB(kind, low) ((__u64)(kind) << 32 | (__u32)(low))

struct rd_rec {
	__u64 time;   /* CLOCK_MONOTONIC, ns, when the root returned */
	__u64 cgroup; /* id in the unified hierarchy */
	__u64 verb;
	__u32 pid; /* in the PID namespace of the command; 0: not visible there */
	__u32 tid;
	__u32 uid;
	__u32 root;   /* function id */
	__u32 origin; /* function id: first function of the chain that led to `err`; see find_origin() in trace.bpf.c */
	__u32 dev;    /* kernel dev_t (major << 20 | minor) of the character device; 0: unknown */
	__u32 chain_id;	 /* a hash of the chain */
	__u32 qpn;	 /* valid with RD_REC_QPN */
	__u16 port;	 /* valid with RD_REC_PORT */
	__s16 err;	 /* return value of the root: negative errno */
	__u16 n_chain;	 /* links that follow in chain */
	__u16 dropped;	 /* exits that did not fit into the chain */
	__u16 flags;	 /* RD_REC_* */
	__u16 n_kstack;	 /* frames that follow the chain; 8 bytes each */
	__u16 n_user;	 /* 1: a struct rd_rec_user and its stack are last */
	__u16 num_attrs; /* of the ioctl header; 0 for other entry points */
	__u16 n_moment;	 /* 1: a struct rd_rec_moment follows the stack */
	__u16 n_request; /* bytes of a struct rd_rec_request that follow it; 0: the request is not readable */
	char comm[RD_COMM_LEN];
	char ibdev[64]; /* name read from a struct ib_device argument; empty: unknown, use dev */
	struct rd_rec_link chain[RD_CHAIN_SLOTS];
	/* __u64 kstack[n_kstack]; struct rd_rec_moment; struct rd_rec_request; struct rd_rec_user */
};
#define RD_REC_QPN 1
#define RD_REC_PORT 2

/* An object that the request refers to, as the kernel has it when the call fails. */
struct rd_rec_handle {
	__u32 handle; /* as in the request */
	__u32 number; /* QP number, or the number of other objects in RDMA netlink */
	__s32 users;  /* of the object: it cannot be destroyed while there are any */
	__u16 type;   /* UVERBS_OBJECT_* */
	__u8 port;    /* of a queue pair; 0: it was never in INIT */
	__u8 flags;   /* RD_HANDLE_* */
	__u32 detail; /* of a queue pair: its type, enum ib_qp_type */
};
#define RD_HANDLE_LOOKED_UP 1 /* the table of handles was read; else nothing is known but the handle */
#define RD_HANDLE_FOUND 2     /* an object has this handle: type is valid */
#define RD_HANDLE_NUMBER 4    /* number is valid */
#define RD_HANDLE_USERS 8     /* users is valid */
#define RD_HANDLE_PORT 16     /* port is valid */
#define RD_HANDLE_LOCKED 32   /* another call uses it exclusively */
#define RD_HANDLE_DETAIL 64   /* detail is valid */

/* A mapping in the range of addresses of the request. `others`: further ones may be refused, too, for other reasons. */
struct rd_rec_mapping {
	__u64 start, end, flags; /* VM_* of the kernel */
	__u64 at;		 /* first address of the range to which `what` applies */
	__u64 file_size, inode;	 /* of the mapped file */
	__u64 magic;		 /* of its file system: <linux/magic.h> */
	__u32 dev, rdev;	 /* kernel dev_t: of the file system; of a device file */
	__u16 mode;		 /* of the file; 0: no file */
	__u16 what;		 /* enum rd_mapping_what */
	__u32 others;
	__u64 block;		  /* bytes: of the file system; of hugetlbfs the size of a huge page */
	__u64 fs_blocks, fs_used; /* pages of a tmpfs, about; 0: it has no limit */
	char name[32];		  /* of the file, without directories */
};
enum rd_mapping_what {
	RD_MAPPING_NONE = 0,  /* not looked at */
	RD_MAPPING_HOLE,      /* nothing is mapped; only `at` is valid */
	RD_MAPPING_NO_ACCESS, /* mapped without access (PROT_NONE) */
	RD_MAPPING_READ_ONLY, /* and the request needs write access */
	RD_MAPPING_DEVICE,    /* device memory: VM_IO or VM_PFNMAP */
	RD_MAPPING_PAST_END,  /* beyond the end of the mapped file */
	RD_MAPPING_FILE,      /* writable shared mapping of a file: some kernels do not pin it */
	RD_MAPPING_HUGE,      /* huge pages */
	RD_MAPPING_OTHER,     /* of a file, userfaultfd or a protection key: a page fault can be refused */
};

#define RD_HANDLES_MAX 4

/* The caller and its request when the call failed. */
struct rd_rec_moment {
	__u64 memlock, nofile; /* soft limits: RLIMIT_MEMLOCK in bytes, RLIMIT_NOFILE */
	__u64 pinned, locked;  /* pages: pinned_vm, locked_vm */
	__u64 caps;	       /* effective capabilities */
	__u64 started;	       /* CLOCK_MONOTONIC, ns: when the process started */
	__u32 user_ns_level;   /* 0: the initial user namespace, to which capabilities must belong */
	__u32 net_ns;	       /* inode number of the network namespace */
	__u32 next_fd;	       /* all lower descriptors are in use */
	__u32 known;	       /* RD_MOMENT_*: what was read */
	/* Arguments of ib_modify_qp_is_ok() and the state of the rdma_cm_id when the call began. */
	__u32 qp_mask;
	__u8 qp_cur, qp_next, qp_type, cm_state;
	/* The range of addresses that was looked at. */
	__u64 address, length;
	__u16 n_handles;
	__u16 mapped;	     /* RD_MAPPED_* */
	__u16 response_what; /* enum rd_mapping_what: why the response cannot be written; only for EFAULT */
	__u16 fd_what;	     /* enum rd_caller_fd: of the file descriptor that the request names */
	__u64 response;	     /* address of the buffer for it */
	char fd_name[32];    /* with RD_CALLER_FD_OPEN: of the file, without directories */
	struct rd_rec_handle handles[RD_HANDLES_MAX];
	/* The first mapping that cannot be pinned, and the first that is unusual. */
	struct rd_rec_mapping fault, special;
};
enum rd_caller_fd {
	RD_CALLER_FD_UNKNOWN = 0, /* the request names none, or it could not be looked at */
	RD_CALLER_FD_CLOSED,
	RD_CALLER_FD_OPEN,
};
#define RD_MOMENT_LIMITS 1 /* memlock, nofile */
#define RD_MOMENT_MEMORY 2 /* pinned, locked */
#define RD_MOMENT_CREDS 4  /* caps, user_ns_level */
#define RD_MOMENT_NET 8
#define RD_MOMENT_FILES 16
#define RD_MOMENT_QP 32	 /* qp_* */
#define RD_MOMENT_CM 64	 /* cm_state */
#define RD_MAPPED_ALL 1	 /* the whole range is mapped, and nothing in it is a fault */
#define RD_MAPPED_MORE 2 /* too many mappings: the range was looked at in part */

/* The request in user memory, for calls whose request could be read. An ioctl: header, attributes, and the data that some of the
 * attributes point to. Other calls: `raw`, the command without its header. */
#define RD_REQUEST_ATTRS 16
#define RD_REQUEST_BLOCKS 3
#define RD_REQUEST_BLOCK_SLOTS 4
#define RD_REQUEST_BLOCK 144
#define RD_REQUEST_RAW 320

struct rd_rec_attr {
	__u16 id, len, flags, reserved;
	__u64 data;
};

struct rd_rec_block {
	__u16 attr; /* index of its attribute */
	__u16 len;  /* bytes that were read */
	__u32 pad;
	__u8 bytes[RD_REQUEST_BLOCK];
};

struct rd_rec_request {
	__u16 n_attrs, n_blocks;
	__u16 n_raw;	 /* valid bytes of raw */
	__u16 truncated; /* 1: there were more attributes */
	union {
		struct {
			struct rd_rec_attr attrs[RD_REQUEST_ATTRS];
			struct rd_rec_block blocks[RD_REQUEST_BLOCKS];
		};
		__u8 raw[RD_REQUEST_RAW];
	};
};

/* Where the programs find the range and the handles in the request of a verb: attribute ids of an ioctl, byte offsets of other
 * calls. RD_NOWHERE: the request has none. */
#define RD_NOWHERE 0xffff
struct rd_rec_layout {
	__u16 address, length, access;
	__u16 handles[RD_HANDLES_MAX];
	__u16 fd;
};

/* What a stack of the program is unwound from. `size` bytes of the stack follow, from the stack pointer upwards. */
#define RD_USER_REGS 34	  /* the longest of them: struct user_pt_regs of arm64 */
#define RD_USER_PART 4096 /* bytes: copied at a time */
#define RD_USER_PARTS 16  /* at most */
struct rd_rec_user {
	__u64 regs[RD_USER_REGS]; /* struct pt_regs, as the architecture has it in the headers for user space */
	__u32 size;
	__u32 end; /* enum rd_user_end */
};
/* Why the copy ends. */
enum rd_user_end {
	RD_USER_PAGED_OUT = 0, /* behind it, nothing is mapped, or not in memory */
	RD_USER_LIMIT,	       /* it is as long as it may be */
	RD_USER_NO_ROOM,       /* the ring buffer had none for the stack */
	RD_USER_LOCKED,	       /* the kernel forbids to read memory: nothing is valid */
};

/* Exact counts, kept in the kernel even if the ring buffer is full. */
struct rd_count_key {
	__u64 verb;
	__u32 origin;
	__u32 dev;
	__s32 err;	/* negative */
	__u32 chain_id; /* with it, who knows which function calls which can correct the origin */
};

/* Properties of a function for the programs, packed into 32 bits: RD_CLASS_* and RD_ROOT_* (trace.h), argument indices of a
 * struct ib_qp and a struct ib_device (15: none), and RD_FN_MATCH if --function matches it. */
#define RD_FN_INFO(ret_class, root, qp_arg, dev_arg, match)                                                   \
	((__u32)(ret_class) | (__u32)(root) << 8 | (__u32)((qp_arg)&15) << 16 | (__u32)((dev_arg)&15) << 20 | \
	 (match ? RD_FN_MATCH : 0))
#define RD_FN_NOTE_QP (1u << 29) /* ib_modify_qp_is_ok(): its arguments are noted */
#define RD_FN_NOTE_CM (1u << 30) /* the first argument is a struct rdma_cm_id: its state is noted */
#define RD_FN_RET(info) ((info)&0xff)
#define RD_FN_ENTRY(info) ((info) >> 8 & 0xff)
#define RD_FN_QP_ARG(info) ((info) >> 16 & 15)
#define RD_FN_DEV_ARG(info) ((info) >> 20 & 15)
#define RD_FN_MATCH (1u << 31)
#define RD_FN_NO_ARG 15

/* Per CPU. Sums: events == delivered + lost. */
struct rd_totals {
	__u64 events;	 /* failed roots that passed the filters */
	__u64 delivered; /* in the ring buffer */
	__u64 lost;	 /* ring buffer was full */
	__u64 benign;	 /* failed roots that were dropped because they are expected from healthy programs */
	__u64 uncounted; /* map of counts was full: missing from by_origin */
	__u64 no_state;	 /* could not allocate the state of a thread: its call was not traced */
	__u64 no_exit;	 /* a root was entered without an exit of the previous one: an exit hook was missed */
	__u64 no_entry;	 /* a root returned without an entry: an entry hook was missed */
};

/* Numbers of uverbs objects, UVERBS_OBJECT_*: from DEVICE to COMP_CNTR. */
#define RD_OBJECTS 20
#define RD_OBJECT_SLOTS 32
#define RD_OBJECT_QP 4

/* Offsets in kernel structures in bytes, from the BTF of the module that defines them (never of another build). -1: unknown. */
struct rd_offsets {
	__s32 qp_num, qp_port, qp_device, qp_type; /* struct ib_qp: qp_num, port, device, qp_type */
	__s32 ibdev_name;			   /* struct ib_device: name[64] */
	__s32 bundle_ufile;			   /* struct uverbs_attr_bundle: ufile */
	__s32 bundle_in, bundle_in_len;		   /* the same: ucore.inbuf, ucore.inlen */
	__s32 ufile_device, ufile_idr;		   /* struct ib_uverbs_file: device, idr.xa_head */
	__s32 uverbs_dev_devt;			   /* struct ib_uverbs_device: dev.devt */
	__s32 uobject_api, uobject_object;	   /* struct ib_uobject: uapi_object, object */
	__s32 uobject_usecnt;			   /* the same: usecnt; -1 in it: locked */
	__s32 api_id;				   /* struct uverbs_api_object: id */
	__s32 cm_state;				   /* struct rdma_id_private: state, counted from its rdma_cm_id */
	struct {
		__s32 number, users; /* struct ib_qp: qp_num, usecnt; struct ib_pd …: res.id, usecnt */
	} objects[RD_OBJECT_SLOTS];
};

#endif
