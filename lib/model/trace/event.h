/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One failed verb, decoded: the record, joined with what the host reports about its process and device. */
#ifndef RD_MODEL_EVENT_H
#define RD_MODEL_EVENT_H

#include "model/shared/finding.h"
#include "model/trace/fnset.h"
#include "model/trace/request.h"

/* ---- why it failed, with the values that show it */

#define RD_EVIDENCE_MAX 16

/* Instead of a cause. */
#define RD_CANNOT_TELL "cannot tell"

struct rd_explanation {
	const char *id;			 /* "memlock-limit"; static; NULL: the cause cannot be determined */
	char *cause;			 /* owned: one sentence with values; NULL: as for id */
	enum rd_confidence confidence;	 /* of a cause: how sure it is that this made the call fail */
	char *evidence[RD_EVIDENCE_MAX]; /* owned: facts that show it; without a cause, what was looked at */
	size_t n_evidence;
	char *fix;     /* owned: what to do (base/fix.h); NULL: nothing is known */
	bool in_haste; /* judged without the state of the host: failures came too fast to read it for each */
};

void rd_explanation_deinit(struct rd_explanation *explanation);

/* Sets the cause; replaces one that was set before, and its evidence. */
void rd_explain(struct rd_explanation *explanation, const char *id, enum rd_confidence confidence, const char *fmt, ...)
	RD_PRINTF(4, 5);
/* Adds a fact; beyond RD_EVIDENCE_MAX and repeated ones are left out. Returns false: a rule that ends with what it looked at has found no
 * cause. */
bool rd_explain_fact(struct rd_explanation *explanation, const char *fmt, ...) RD_PRINTF(2, 3);
/* Sets what to do. Returns true: a rule that ends with it has found the cause. */
bool rd_explain_fix(struct rd_explanation *explanation, const char *fmt, ...) RD_PRINTF(2, 3);

/* A number of bytes for a sentence: "64 KiB", "3 bytes". `ret`: RD_BYTES_TEXT bytes; returned. RD_BYTES has a place for it that lasts as
 * long as the block. */
#define RD_BYTES_TEXT 40
#define RD_BYTES(bytes) rd_bytes_text(bytes, (char[RD_BYTES_TEXT]){ 0 })
const char *rd_bytes_text(uint64_t bytes, char *ret);

/* ---- the moment of the failure
 *
 * What the kernel knew of the caller, its memory and its objects when the call failed. Read by the BPF programs, before the call
 * returned: a moment later the process may have ended. */

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

struct rd_mapping {
	enum rd_mapping_what kind;
	uint64_t at;			 /* first address of the range to which `kind` applies */
	uint64_t start, end;		 /* of the mapping; not of a hole */
	bool writable, shared, reserved; /* reserved: false with MAP_NORESERVE, and of private huge pages after fork */
	bool has_file, watched, guarded; /* watched: by userfaultfd; guarded: pages of it may be guards */
	bool others;			 /* the range has further ones, whose pages can be refused for other reasons */
	uint8_t key;			 /* protection key; 0: none */
	uint16_t mode;			 /* of the file: S_IF* */
	uint64_t file_size, inode, magic;
	uint32_t rdev;			     /* of a device file: kernel dev_t */
	uint64_t block;			     /* of the file system; of huge pages their size */
	RD_FIELD(uint64_t) fs_size, fs_used; /* of a tmpfs with a limit, about */
	char name[32];			     /* of the file, without directories */
};

struct rd_moment {
	uint64_t page_size;		    /* bytes; 0: unknown, see rd_moment_page */
	uint64_t started_ns;		    /* CLOCK_MONOTONIC: when the process started; 0: unknown */
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
	struct rd_mapping special;  /* the first that not every kernel pins: RD_MAPPING_FILE, RD_MAPPING_HUGE */
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
	return moment->page_size ?: 4096;
}

/* ---- the event */

struct rd_link {
	int fn;		 /* function id; -1: unknown */
	int err;	 /* negative errno */
	bool branch;	 /* as recorded: this exit does not enclose the one before it. Not set in a settled chain */
	bool translated; /* part of an inner run: a caller returned a different errno */
};

struct rd_frame {
	uint64_t addr;
	char *function;	 /* NULL: unknown */
	char *object;	 /* module, or path of the file; NULL: unknown */
	uint64_t offset; /* into the function if it is known, else into the object */
	RD_FIELD(int) line;
	char *file;
};

struct rd_event {
	uint64_t time_ns;  /* CLOCK_REALTIME */
	uint32_t pid, tid; /* in our PID namespace; 0: not visible there */
	uint32_t uid;
	char comm[16];
	char *cgroup;	    /* path below the unified hierarchy's mount; NULL: unknown */
	char *job;	    /* "slurm:1234.0", "kubernetes:<pod uid>"; NULL: none known */
	char *ibdev;	    /* NULL: none, or unknown */
	uint64_t verb_key;  /* RD_VERB_*: see bpf/record.h */
	uint16_t num_attrs; /* of an uverbs ioctl: attributes in its header; 0: none, or not an ioctl */
	uint32_t dev;	    /* kernel dev_t of the character device; 0: unknown */
	uint64_t cgroup_id;
	char *object; /* "QP", "0x1003" if it has no name; NULL: unknown */
	char *method; /* "QP_CREATE", "INVOKE_WRITE:MODIFY_QP" */
	char *verb;   /* "ibv_modify_qp", "rdma_bind_addr"; NULL: unknown */
	RD_FIELD(uint32_t) qpn;
	RD_FIELD(uint32_t) port;
	int err;	   /* negative errno, as the root returned it */
	int root;	   /* function id; -1: unknown */
	int origin;	   /* likewise: chain[0].fn, even if a caller returned a different errno */
	uint32_t chain_id; /* of the chain as recorded: that of its count (struct rd_count) */
	/* Whether the origin itself produced the errno: no function that it calls and that is not traced can have returned it. */
	bool origin_exact;
	RD_FIELD(int)
	rival; /* function id: it returned this errno later in the call, in a cleanup perhaps, or as the reason */
	uint32_t *below; /* function ids: those that can have; empty also if the calls of the origin are unknown */
	size_t n_below;
	char *below_modules; /* likewise: names of modules that are not traced, or not yet; NULL: none */
	struct rd_link *chain; /* as recorded: in order of time. Settled (rd_chain_settle): innermost first; translated runs
				* before the final one */
	size_t n_chain;
	unsigned dropped; /* exits that did not fit into the record */
	uint64_t at_ns;	  /* CLOCK_MONOTONIC: when the call returned */
	struct rd_moment moment;
	struct rd_request request;
	struct rd_frame *kstack, *ustack;
	size_t n_kstack, n_ustack;
	struct rd_rec_user *user;  /* what the user stack is unwound from, with its copy behind it; NULL: none */
	const char *ustack_end;	   /* why the user stack ends before its last frame; NULL: it does not. Static */
	const char *benign;	   /* why the failure is expected from healthy programs; NULL: it is not. Static */
	struct rd_explanation why; /* of a failure that is not benign */
	char *hint;		   /* the cause, or what to check next, on one line; NULL: nothing is known */
};

void rd_event_deinit(struct rd_event *event);

/* Failures that are expected from healthy programs: of this call, with this errno from this function. */
struct rd_benign_rule {
	uint64_t verb;	    /* RD_VERB_*; 0: any */
	int origin;	    /* function id */
	int err;	    /* negative errno */
	unsigned num_attrs; /* of an uverbs ioctl; 0: any */
	bool unknown_verb;  /* only if the verb could not be read */
};

/* ---- what trace-errno --service keeps: flat, of bounded size, shared by its processes */

/* Failures that have everything but the process in common. Texts are cut; empty: unknown. */
struct rd_failure_count {
	char function[64], module[56], verb[48], ibdev[64], job[80];
	int err; /* negative errno */
	uint64_t count;
};

/* A program that starts again and again, and fails in the same way each time. */
struct rd_crash_loop {
	uint64_t key;		       /* of origin, call, error and values of the request; 0: unused */
	struct rd_failure_count where; /* .count: starts in which it failed like this */
	char comm[16];
	uint64_t starts;      /* since the first of these: those in which any call failed */
	uint64_t first, last; /* CLOCK_REALTIME, ns: of the failures */
	uint64_t at_ns,
		gap_ns; /* CLOCK_MONOTONIC: of the first failure in the latest of these starts; since that of the one before */
	uint64_t reported; /* .where.count when it was reported; 0: it was not */
	uint64_t first_start, last_start;
	char cause[256]; /* empty: unknown */
};

/* Failures of one kind, as the service leaves them for other commands. */
struct rd_recent_failure {
	uint64_t key;		       /* 0: unused */
	struct rd_failure_count where; /* .count: in the last hour; set by a reader */
	char comm[16];		       /* empty: unknown */
	char cause[256];	       /* of the latest that was looked into; empty: none was */
	uint32_t pid;		       /* of the latest; 0: unknown */
	uint32_t minutes[60];	       /* how many, by minute of CLOCK_MONOTONIC, modulo 60 */
	uint64_t last_ns;	       /* CLOCK_MONOTONIC */
	/* The crash loop that it belongs to: starts that failed like this, of how many, and its times; failed 0: none. */
	uint64_t failed, starts, at_ns, gap_ns;
	bool loops; /* whether it is still expected to start again and fail; set by a reader */
};

#define RD_RECENT_MAX 64 /* those that are seen longest ago are forgotten */
#define RD_RECENT_MAGIC "rdmadiag recent"
#define RD_RECENT_VERSION 1

/* The file RD_SOURCE_RECENT. Foreign input to a reader. */
struct rd_recent_file {
	char magic[16];
	uint32_t version, size;
	uint64_t since_ns, written_ns, until_ns; /* CLOCK_MONOTONIC: traced since; when it is out of date */
	char box[4096]; /* the black box written last; before the first its directory, ending in a slash; empty: there is none */
	struct rd_recent_failure v[RD_RECENT_MAX];
};

/* What a reader knows of it. */
struct rd_recent {
	enum rd_known known;	     /* RD_ABSENT: no service runs, or none was recorded; RD_DENIED: not readable */
	const char *why;	     /* if not RD_OK; static */
	uint64_t now_ns;	     /* CLOCK_MONOTONIC */
	struct rd_recent_file *file; /* owned; NULL unless RD_OK */
	bool an_hour;		     /* it has traced for that long */
	size_t n;		     /* of file->v: those with failures in the last hour, most first */
};
void rd_recent_deinit(struct rd_recent *recent);

/* "ibv_reg_mr of trainer (pid 4711) failed with ENOMEM in ib_umem_get, 7 times in the last hour, last 3 min ago: CAUSE". Caller frees. */
char *rd_recent_text(const struct rd_recent *recent, const struct rd_recent_failure *failure);

/* A row of the counts kept in the kernel, which does not know which function calls which: calls with the same chain have one
 * origin, which may be another one (rd_chain_settle). */
struct rd_count {
	int origin; /* function id */
	uint32_t chain_id;
	uint64_t verb; /* RD_VERB_*: see bpf/record.h */
	uint32_t dev;
	int err;
	uint64_t count;
};

struct rd_trace_totals {
	uint64_t events, delivered, lost, uncounted;
	uint64_t benign; /* failures that were only counted: not among the events */
	RD_FIELD(uint64_t)
	missed; /* calls for which the kernel could not run the hook; unknown if it does not report all of them */
	uint64_t missed_at_least; /* lower bound of missed */
	RD_FIELD(uint64_t)
	run_ns; /* CPU time of the programs on all CPUs; unknown unless run statistics were on all the time */
};

/* Why the hooks were detached before the command requested it. */
enum rd_early_end {
	RD_EARLY_END_NOT = 0,
	RD_EARLY_END_DIED,     /* the holder process died */
	RD_EARLY_END_DETACHED, /* requested: --detach-all, SIGTERM */
	RD_EARLY_END_UNREAD,   /* events were not read for too long */
	RD_EARLY_END_CPU,      /* the programs used more CPU than --max-cpu */
};

/* Failures per origin, verb, device and error. */
struct rd_origin_count {
	int fn;					    /* function id; -1: unknown */
	const char *object, *method, *verb, *ibdev; /* NULL: unknown */
	int err;				    /* negative errno */
	uint64_t count;
	uint64_t benign; /* part of count that is benign */
};

struct rd_trace_summary {
	double seconds;
	size_t per_backend[RD_BACKEND_COUNT]; /* functions */
	size_t functions;
	struct rd_trace_totals totals;
	uint64_t benign, hidden; /* events that are benign; delivered ones that were not shown */
	enum rd_early_end early_end;
	const struct rd_origin_count *counts;
	size_t n_counts;
};

/* ---- a recorded trace */

/* What of the host the cause of an event was found with. */
enum rd_host_read {
	RD_HOST_NOT_READ,
	RD_HOST_READ,	/* for this event */
	RD_HOST_KEPT,	/* for an earlier one of its kind */
	RD_HOST_JUDGED, /* the cause is recorded, not the host */
};

#endif
