/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a running kernel says of itself: modules, symbols, its log; and the records of the BPF programs. */
#ifndef RD_COLLECT_KERNEL_H
#define RD_COLLECT_KERNEL_H

#include "model/host/system.h"
#include "model/trace/audit.h"
#include "model/trace/event.h"
#include "source/shared/source.h"

struct rd_kmod {
	char *name;
	struct rd_texts users; /* names of the modules that depend on it directly */
	bool out_of_tree;      /* taint flag O */
};

struct rd_kmods {
	struct rd_kmod *v;
	size_t n, cap;
};

/* From /proc/modules. */
int rd_kmods_read(struct rd_source *src, struct rd_kmods *ret, struct rd_err *err);
void rd_kmods_deinit(struct rd_kmods *mods);

/* Index of a module; -1 if it is not loaded. */
int rd_kmods_find(const struct rd_kmods *mods, const char *name);

/* Marks `start` and all that depend on it, directly or not, in marked[mods->n] (zeroed by the caller). */
void rd_kmods_mark_users(const struct rd_kmods *mods, int start, bool *marked);

/* The text of modules.dep, written by depmod, and its directory. */
struct rd_moddep {
	struct rd_bytes text;
	char *dir; /* "/lib/modules/6.12.1" */
};

/* -ENOENT if there is no directory for that kernel (as in most containers). */
int rd_moddep_read(struct rd_source *src, const char *release, struct rd_moddep *ret, struct rd_err *err);
void rd_moddep_deinit(struct rd_moddep *dep);

/* The nth (from 0) file of that module, in the order of modules.dep; "-" and "_" are the same. NULL after the
 * last. Caller frees. */
char *rd_moddep_path(const struct rd_moddep *dep, const char *name, size_t nth);

/* ---- function symbols of loaded modules, as listed by the kernel */

/* Text symbols in /proc/kallsyms of the modules for which `want` returns true; NULL: all that have an address, also those of the kernel
 * itself. Sorted by address. Reading it costs the kernel up to half a second
 * (it decompresses about 200,000 names), so it is used only for modules without a file. */
int rd_ksyms_read(struct rd_source *src, bool (*want)(void *arg, const char *module), void *arg, struct rd_ksyms *ret,
		  struct rd_err *err);

/* The same from available_filter_functions (in tracefs or debugfs): functions that ftrace can hook. No addresses. */
int rd_ksyms_read_filter(struct rd_source *src, bool (*want)(void *arg, const char *module), void *arg,
			 struct rd_ksyms *ret, struct rd_err *err);

/* ---- the document of trace-errno --audit, which serves as a baseline */

#define RD_AUDIT_SCHEMA "rdmadiag/trace-errno-audit/1"

/* -EBADMSG: not such a document, or a damaged one. -EFBIG: more than RD_AUDIT_FNS_MAX functions. Members that are not known are
 * skipped. The caller deinitialises *ret. */
int rd_audit_baseline_parse(const void *data, size_t size, struct rd_audit_set *ret, struct rd_err *err);

/*
 * Reads the kernel log from /dev/kmsg. For a log that is not readable it sets klog->known, and adds the reason to `errors` (may be
 * NULL). `klog` is zeroed by the caller, which must release it in any case.
 */
void rd_collect_klog(struct rd_source *src, struct rd_klog *klog, struct rd_errlist *errors);

/*
 * Parses records of /dev/kmsg (Documentation/ABI/testing/dev-kmsg): a line "level and facility, sequence number, microseconds,
 * flags;text", then lines " KEY=value". Takes ownership of `bytes`. Ignores lines that are not records.
 */
void rd_klog_parse(struct rd_bytes *bytes, struct rd_klog *klog);

/* ---- decodes records of the BPF programs, and adds what the host reports about process and device */

/* Cache: names of devices (kept after their removal) and paths of cgroups. Bounded. */
struct rd_trace_facts;

/* `src` must outlive it. */
struct rd_trace_facts *rd_trace_facts_create(struct rd_source *src);
void rd_trace_facts_destroy(struct rd_trace_facts *facts);

/*
 * Decodes one record (struct rd_rec of bpf/record.h) as untrusted input: every count is checked against `size`. Fills
 * the fields of the record (links as recorded, frames as addresses, ids of functions of `set`, else -1), and adds the path of the
 * cgroup and the name of the device. The caller frees *ret with rd_event_deinit. -EBADMSG.
 */
int rd_trace_event_decode(struct rd_trace_facts *facts, const void *data, size_t size, const struct rd_fnset *set,
			  struct rd_event *ret, struct rd_err *err);

/* Name of the RDMA device behind an uverbs character device (kernel dev_t: major << 20 | minor); NULL if there is none.
 * Valid until the facts are destroyed. */
const char *rd_trace_facts_ibdev(struct rd_trace_facts *facts, uint32_t dev);

/* Kernel dev_t of the uverbs device of an RDMA device; 0 if there is none. */
uint32_t rd_trace_facts_dev(struct rd_trace_facts *facts, const char *ibdev);

/* The id of a cgroup, given by its path below the mount point of the unified hierarchy ("/system.slice/x.service"), with or without
 * the mount point. */
int rd_trace_facts_cgroup(struct rd_trace_facts *facts, const char *path, uint64_t *ret, struct rd_err *err);

/* Writes the names of all known RDMA devices to `buf`, separated by commas; "none" if there are none. */
void rd_trace_facts_list(struct rd_trace_facts *facts, char *buf, size_t size);

/* ---- a recorded trace (RD_SOURCE_TRACE); what is read back is untrusted input */

/* The modules and functions by which events are decoded and judged. */
void rd_trace_functions_pack(const struct rd_fnset *set, struct rd_buf *out);
/* Ends lines of `text`, a NUL-terminated file, in place. -EBADMSG: damaged, or of another version. The caller deinitialises *ret. */
int rd_trace_functions_parse(char *text, struct rd_fnset *ret, struct rd_err *err);

/* Appends an event, with its record as it came from the programs; `host` as RD_HOST_JUDGED: with its cause. */
void rd_trace_recorded_pack(const struct rd_event *event, enum rd_host_read host, const void *data, size_t size,
			    struct rd_buf *out);
/*
 * As rd_trace_event_decode, for the event at `*at`, and goes behind it. It has the time, the names and the cause that were recorded.
 * 1: decoded; 0: `*at` is the end; -EBADMSG. event->why.id refers to the bytes.
 */
int rd_trace_recorded_next(struct rd_trace_facts *facts, const uint8_t **at, const uint8_t *end,
			   const struct rd_fnset *set, struct rd_event *ret, enum rd_host_read *host,
			   struct rd_err *err);

void rd_trace_summary_pack(const struct rd_trace_summary *summary, const struct rd_errlist *notes, struct rd_buf *out);
/* Refers to texts in `file`, which is changed. -EBADMSG. *counts, which ret->counts refers to, is freed by the caller in any case. */
int rd_trace_summary_parse(struct rd_bytes *file, const struct rd_fnset *set, struct rd_trace_summary *ret,
			   struct rd_origin_count **counts, struct rd_errlist *notes, struct rd_err *err);

/* ---- the failures of the last hour (RD_SOURCE_RECENT), untrusted input. The caller deinitialises *ret. */
void rd_collect_recent(struct rd_source *src, struct rd_recent *ret);

/* ---- the parts of a record */

/* Converts the struct rd_rec_moment of bpf/record.h at `data` (of its size, not necessarily aligned). Values out of range are
 * unknown. */
void rd_moment_decode(const void *data, struct rd_moment *ret);

/* ---- the request, which the BPF programs copied from user memory */

/* Where a field of a request stands. */
struct rd_req_place {
	uint8_t field; /* enum rd_req_field */
	uint8_t size;  /* bytes; 16: the GID; 0: end of the list */
	uint16_t at;   /* byte offset in a command; attribute id of an ioctl */
	uint16_t in;   /* ioctl: offset in the data of an attribute that is a struct; else 0 */
	bool pointed;  /* ioctl: the attribute is such a struct */
};
#define RD_REQ_GID 0xff /* field of a place: the GID */
#define RD_REQ_SRC 0xfe /* a struct sockaddr, size as for the others */
#define RD_REQ_DST 0xfd

/*
 * Decodes the struct rd_rec_request in `data` (untrusted: every count and offset is checked against `size`). `key` is the verb of
 * the record, `set` names write handlers (may be NULL). A request that is cut short or of an unknown layout leaves fields unknown.
 */
void rd_request_decode(uint64_t key, const struct rd_fnset *set, const void *data, size_t size, struct rd_request *ret);

/* The layout of a verb, including write handlers of `set`. NULL: unknown. */
const struct rd_req_place *rd_request_layout(uint64_t key, const struct rd_fnset *set);

/* The verbs with a known layout, except write handlers, in no order. False after the last. */
bool rd_request_layout_at(size_t i, uint64_t *key);

#endif
