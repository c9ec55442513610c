/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel knew of the caller, its memory and its objects when the call failed. Read by the BPF programs, before the call
 * returned: a moment later the process may have ended. */
#ifndef RD_MODEL_MOMENT_H
#define RD_MODEL_MOMENT_H

#include "base/base.h"

#define RD_MOMENT_HANDLES 4

/* Numbers of uverbs objects (UVERBS_OBJECT_*) that rules speak of. */
enum {
	RD_OBJ_PD = 1,
	RD_OBJ_CQ = 3,
	RD_OBJ_QP = 4,
	RD_OBJ_SRQ = 5,
	RD_OBJ_AH = 6,
	RD_OBJ_MR = 7,
	RD_OBJ_MW = 8,
	RD_OBJ_FLOW = 9,
	RD_OBJ_XRCD = 10,
	RD_OBJ_RWQ = 11,
	RD_OBJ_WQ = 12,
};

/* An object that the request names by its handle. */
struct rd_moment_handle {
	uint32_t handle;
	bool looked_up;		    /* the table of the process was read */
	bool found;		    /* there is an object with this handle */
	bool locked;		    /* another call uses it exclusively */
	uint16_t type;		    /* if found: RD_OBJ_* or another UVERBS_OBJECT_* */
	RD_FIELD(uint32_t) number;  /* QP number; of other objects the number in rdma resource */
	RD_FIELD(int32_t) users;    /* objects that use it */
	RD_FIELD(uint8_t) port;	    /* of a queue pair: 0 before it was in INIT */
	RD_FIELD(uint32_t) qp_type; /* of a queue pair: enum rd_qp_type */
};

enum rd_mapping_kind {
	RD_MAP_NONE,	  /* nothing of this kind was found */
	RD_MAP_HOLE,	  /* not mapped */
	RD_MAP_NO_ACCESS, /* mapped without access (PROT_NONE) */
	RD_MAP_READ_ONLY, /* mapped read-only, and write access is needed */
	RD_MAP_DEVICE,	  /* memory of a device: VM_IO or VM_PFNMAP */
	RD_MAP_PAST_END,  /* beyond the end of the mapped file */
	RD_MAP_FILE,	  /* writable shared mapping of a file that is written back */
	RD_MAP_HUGE,	  /* huge pages */
	RD_MAP_KINDS,
};

struct rd_mapping {
	enum rd_mapping_kind kind;
	uint64_t at;			 /* first address of the range to which `kind` applies */
	uint64_t start, end;		 /* of the mapping; not of a hole */
	bool writable, shared, reserved; /* reserved: false with MAP_NORESERVE */
	bool has_file;
	uint16_t mode; /* of the file: S_IF* */
	uint64_t file_size, inode, magic;
	uint32_t rdev; /* of a device file: kernel dev_t */
	char name[32]; /* of the file, without directories */
};

struct rd_moment {
	uint64_t page_size;		    /* bytes; 0: unknown, see rd_moment_page */
	RD_FIELD(uint64_t) memlock, nofile; /* soft limits: bytes, descriptors; UINT64_MAX: unlimited */
	RD_FIELD(uint64_t) pinned, locked;  /* bytes: VmPin, VmLck */
	RD_FIELD(uint64_t) caps;	    /* effective capabilities, bit per number */
	RD_FIELD(uint32_t) user_ns_level;   /* 0: the initial user namespace */
	RD_FIELD(uint32_t) net_ns;	    /* inode number of the network namespace */
	RD_FIELD(uint32_t) next_fd;	    /* all lower descriptors are in use */
	/* The state of the queue pair and what the transition asks for, as passed to ib_modify_qp_is_ok(). */
	struct {
		bool known;
		uint8_t cur, next, type; /* enum ib_qp_state, enum ib_qp_type of the kernel */
		uint32_t mask;		 /* enum ib_qp_attr_mask */
	} qp;
	RD_FIELD(uint8_t) cm_state; /* of the rdma_cm_id: enum rdma_cm_state */
	/* The range of addresses of the request, if its mappings were looked at. */
	bool mapped_all;	    /* all of it is mapped, and nothing keeps it from being pinned that is known here */
	bool mapped_in_part;	    /* too many mappings: only the first were looked at */
	struct rd_mapping fault;    /* the first that cannot be pinned */
	struct rd_mapping special;  /* the first that not every kernel pins: RD_MAP_FILE, RD_MAP_HUGE */
	struct rd_mapping response; /* of the buffer for the response, if it cannot be written */
	/* The file descriptor that the request names. RD_ABSENT: not open; RD_OK: `fd_name` is the name of its file, without directories:
	 * "rdma_cm", "dmabuf", "[infinibandevent]". */
	enum rd_known fd_known;
	char fd_name[32];
	struct rd_moment_handle handles[RD_MOMENT_HANDLES];
	size_t n_handles;
};

/* The size of a page, of which limits and mappings are multiples: 16 or 64 KiB on some kernels of arm64. */
static inline uint64_t rd_moment_page(const struct rd_moment *moment)
{
	return moment->page_size ? moment->page_size : 4096;
}

#endif
