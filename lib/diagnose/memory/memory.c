// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory that cannot be registered: the limit of locked memory, mappings, and requests that the core refuses. */
#include <fnmatch.h>
#include <linux/capability.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fix.h"
#include "diagnose/shared/rule.h"

/*
 * The limit of locked memory, as __ib_umem_get_va() (ib_umem_get() before Linux 7.1) applies it: the pages pinned by the process and
 * those of the request together must not exceed RLIMIT_MEMLOCK, unless the process has CAP_IPC_LOCK in the initial user namespace.
 */

#define ALMOST (16u << 20) /* queues of a device pin a few megabytes at most */

/* Whether the limit does not apply; says so. */
static bool may_exceed(const struct rd_moment *m, struct rd_explanation *looked)
{
	bool cap = m->caps.known == RD_OK && m->caps.v >> CAP_IPC_LOCK & 1;

	if (cap && m->user_ns_level.known == RD_OK && !m->user_ns_level.v) {
		rd_explain_fact(looked, "CAP_IPC_LOCK is effective: RLIMIT_MEMLOCK does not apply");
		return true;
	}
	return m->caps.known != RD_OK;
}

static void add_facts(const struct rd_moment *m, struct rd_explanation *ret)
{
	rd_explain_fact(ret, "RLIMIT_MEMLOCK of the process (soft limit): %s", RD_BYTES(m->memlock.v));
	rd_explain_fact(ret, "pinned by the process (VmPin) before this call: %s", RD_BYTES(m->pinned.v));
	rd_explain_fact(ret,
			m->caps.v >> CAP_IPC_LOCK & 1 ?
				"CAP_IPC_LOCK is effective only in a user namespace: the kernel does not accept it" :
				"CAP_IPC_LOCK is not effective");
}

/* UNIT: its name */
#define UNIT_FIX                                                                                   \
	"mkdir -p /etc/systemd/system/UNIT.d\n"                                                    \
	"printf '[Service]\\nLimitMEMLOCK=infinity\\n' >/etc/systemd/system/UNIT.d/memlock.conf\n" \
	"systemctl daemon-reload && systemctl restart UNIT\n# the restart interrupts UNIT"
#define SLURM_FIX \
	"\n# running jobs go on, with the old limit\n# also PropagateResourceLimitsExcept=MEMLOCK in slurm.conf"

/* Where the limit is set: the unit or container that the control group names. Units of a user are not the system's. */
static bool add_fix(const struct rd_event *ev, struct rd_explanation *ret)
{
	const char *path = ev->cgroup ?: "", *slash = strrchr(path, '/'), *unit = slash ? slash + 1 : path;
	bool slurm = strstr(path, "slurmstepd");
	_cleanup_free_ char *fix = NULL;
	size_t n = strlen(unit);

	if (strstr(path, "kubepods") || strstr(path, "docker") || strstr(path, "libpod") ||
	    strstr(path, "cri-containerd"))
		return rd_explain_fix(ret,
				      "# raise the limit of the container: LimitMEMLOCK=infinity in the unit of the "
				      "container runtime (containerd.service, docker.service), or --ulimit memlock=-1\n"
				      "# then recreate the container");
	if (slurm || (n > 8 && !strcmp(unit + n - 8, ".service") && !strstr(path, "/user@") && rd_word_is_plain(unit))) {
		fix = rd_fix_fill(UNIT_FIX, &(struct rd_fix_word){ "UNIT", slurm ? "slurmd.service" : unit }, 1);
		return rd_explain_fix(ret, "%s%s", fix, slurm ? SLURM_FIX : "");
	}
	return rd_explain_fix(ret,
			      "prlimit -p %u -lunlimited\n# only while it runs\n# also where it is launched: memlock in "
			      "/etc/security/limits.conf for logins, LimitMEMLOCK=infinity for a systemd unit\n"
			      "# ulimit -l shows it",
			      ev->pid);
}

static bool find_zero(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;

	if (m->memlock.v)
		return false;
	rd_explain(ret, "memlock-zero",
		   rd_failure_origin_is(f, "*umem_get*") ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "RLIMIT_MEMLOCK is 0: the process may not pin any memory");
	add_facts(m, ret);
	return add_fix(f->event, ret);
}

/* The pages of the request are known for memory regions. */
static bool find_exceeded(const struct rd_failure *f, uint64_t pages, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;
	uint64_t page = rd_moment_page(m), limit = m->memlock.v / page, pinned = m->pinned.v / page;
	uint64_t length = f->event->request.v[RD_REQ_LENGTH];

	if (pages > UINT64_MAX / page - pinned || pinned + pages <= limit)
		return false;
	rd_explain(
		ret, "memlock-limit", rd_failure_origin_is(f, "*umem_get*") ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		"the process may pin %s of memory (RLIMIT_MEMLOCK); %s are pinned and %s more were requested: %s too much",
		RD_BYTES(m->memlock.v), RD_BYTES(m->pinned.v), RD_BYTES(pages * page),
		RD_BYTES((pinned + pages - limit) * page));
	add_facts(m, ret);
	rd_explain_fact(ret, "requested: %" PRIu64 " byte%s at 0x%" PRIx64 ", %" PRIu64 " page%s", length,
			length == 1 ? "" : "s", f->event->request.v[RD_REQ_ADDRESS], pages, pages == 1 ? "" : "s");
	return add_fix(f->event, ret);
}

/* The memory of a queue is pinned by the driver, which alone knows how much that is. */
static bool find_almost(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;

	if (!rd_failure_origin_is(f, "*umem_get*") || m->memlock.v == UINT64_MAX ||
	    (m->memlock.v > m->pinned.v && m->memlock.v - m->pinned.v > ALMOST))
		return false;
	rd_explain(ret, "memlock-limit", RD_CONFIDENCE_MEDIUM,
		   "the process may pin %s of memory (RLIMIT_MEMLOCK), and %s are pinned: the queue needs more",
		   RD_BYTES(m->memlock.v), RD_BYTES(m->pinned.v));
	add_facts(m, ret);
	return add_fix(f->event, ret);
}

/* enum ib_uverbs_access_flags */
#define ON_DEMAND 64u

/* enum ib_mr_rereg_flags */
#define REREG_TRANSLATION 1u

/* The range is pinned: not one that is paged on demand, nor a DMA-BUF, nor that of a region whose translation stays. */
static bool is_pinned(const struct rd_request *r)
{
	return !(rd_req_has(r, RD_REQ_ACCESS) && r->v[RD_REQ_ACCESS] & ON_DEMAND) && !rd_req_has(r, RD_REQ_FD) &&
	       (!rd_req_has(r, RD_REQ_REREG) || r->v[RD_REQ_REREG] & REREG_TRANSLATION);
}

bool rd_find_memlock(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_moment *m = &f->event->moment;
	const struct rd_request *request = &f->event->request;
	bool range = rd_req_has(request, RD_REQ_ADDRESS) && rd_req_has(request, RD_REQ_LENGTH);
	uint64_t page = rd_moment_page(m), offset = request->v[RD_REQ_ADDRESS] % page;
	uint64_t pages = (offset + request->v[RD_REQ_LENGTH] + page - 1) / page;

	if (m->memlock.known != RD_OK || m->pinned.known != RD_OK || (range && !is_pinned(request)) ||
	    may_exceed(m, looked))
		return false;
	if (f->event->err == -EPERM)
		return range && find_zero(f, ret);
	if (range ? find_exceeded(f, pages, ret) : find_almost(f, ret))
		return true;
	return rd_explain_fact(looked, "RLIMIT_MEMLOCK is %s, and %s are pinned: not exceeded%s",
			       RD_BYTES(m->memlock.v), RD_BYTES(m->pinned.v), range ? " by the request" : "");
}

/* Why pages of a range of addresses cannot be pinned: the mappings as they were when the call failed. */

static void add_mapping(const struct rd_mapping *m, struct rd_explanation *ret)
{
	bool named = m->has_file && m->name[0];
	/* Memory of devices and of the kernel itself may have no file. */
	const char *other = m->has_file || m->kind == RD_MAPPING_DEVICE ? "" : " anonymous";

	if (m->kind != RD_MAPPING_HOLE)
		rd_explain_fact(ret, "mapping: 0x%" PRIx64 "-0x%" PRIx64 " %s%s%s%s%s", m->start, m->end,
				m->kind == RD_MAPPING_NO_ACCESS ? m->writable ? "write-only" : "not readable" :
				m->writable			? "read-write" :
								  "read-only",
				m->shared ? " shared" : " private", named ? " of '" : other, named ? m->name : "",
				named ? "'" : "");
}

static void add_range(const struct rd_request *request, struct rd_explanation *ret)
{
	uint64_t length = request->v[RD_REQ_LENGTH];

	rd_explain_fact(ret, "request: %" PRIu64 " byte%s at 0x%" PRIx64 ", access flags 0x%" PRIx64, length,
			length == 1 ? "" : "s", request->v[RD_REQ_ADDRESS], request->v[RD_REQ_ACCESS]);
}

/* Address ranges that CUDA reserves, and its device files. */
static bool is_accelerator(const struct rd_mapping *m)
{
	return m->has_file && !fnmatch("@(nvidia|kfd|renderD|habanalabs|gdrdrv)*", m->name, FNM_EXTMATCH);
}

static void explain_accelerator(const struct rd_failure *f, const struct rd_mapping *m, struct rd_explanation *ret)
{
	const char *at = RD_WORD_POINTER(m->at);
	bool loaded = f->read & RD_FACT_MEMORY && f->memory.peer_module.known == RD_OK && f->memory.peer_module.v;

	if (!strcmp(m->name, "gdrdrv")) {
		rd_explain(ret, "memory-device-mapping", RD_CONFIDENCE_HIGH,
			   "%s is a mapping of GPU memory for the CPU (gdrdrv), which cannot be registered", at);
		rd_explain_fix(ret, "# register the GPU pointer itself instead of the mapping for the CPU");
		return;
	}
	rd_explain(ret, "memory-gpu", RD_CONFIDENCE_HIGH, "%s is memory of an accelerator (mapping of '%s'), which %s",
		   at, m->name,
		   loaded ? "the module for it did not accept" :
			    "needs nvidia_peermem or DMA-BUF; the module is not loaded");
	if (f->read & RD_FACT_MEMORY)
		rd_explain_fact(ret, "nvidia_peermem is %sloaded", loaded ? "" : "not ");
	rd_explain_fix(ret,
		       loaded ? "# memory of the CUDA VMM allocator cannot be pinned by address: use cudaMalloc, or "
				"register it as DMA-BUF (ibv_reg_dmabuf_mr)" :
		       strncmp(m->name, "nvidia", 6) != 0 ?
				"# register the memory as DMA-BUF (ibv_reg_dmabuf_mr)" :
				"modprobe nvidia_peermem\n# until the next boot; also in /etc/modules-load.d/\n# or "
				"register the memory as DMA-BUF (ibv_reg_dmabuf_mr)");
}

static void explain_fault(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_mapping *m = &f->event->moment.fault;
	uint64_t start = f->event->request.v[RD_REQ_ADDRESS];
	enum rd_confidence sure = RD_CONFIDENCE_HIGH;
	const char *at = RD_WORD_POINTER(m->at);

	if (m->kind == RD_MAPPING_HOLE) {
		if (m->at <= start)
			rd_explain(ret, "memory-not-mapped", sure, "address %s is not mapped", at);
		else
			rd_explain(ret, "memory-not-mapped", sure,
				   "address %s is not mapped: %s after the start of the range of %s at 0x%" PRIx64, at,
				   RD_BYTES(m->at - start), RD_BYTES(f->event->request.v[RD_REQ_LENGTH]), start);
		rd_explain_fix(ret, "# check address and length: the memory was freed or unmapped before, was never "
				    "mapped, or ends earlier\n# MADV_DONTFORK hides it from a forked process");
	} else if (is_accelerator(m)) {
		explain_accelerator(f, m, ret);
	} else if (m->kind == RD_MAPPING_DEVICE) {
		rd_explain(ret, "memory-device-mapping", sure,
			   "%s is memory of a device%s%s%s, which has no pages that could be pinned", at,
			   m->name[0] ? " (mapping of '" : " or of the kernel itself", m->name, m->name[0] ? "')" : "");
		rd_explain_fix(ret, "# register memory of the host, or export the device's memory as DMA-BUF and use "
				    "ibv_reg_dmabuf_mr");
	} else if (m->kind == RD_MAPPING_PAST_END) {
		rd_explain(ret, "memory-past-end-of-file", sure,
			   "the mapping of '%s' is longer than the file (%s): there are no pages from %s on", m->name,
			   RD_BYTES(m->file_size), at);
		rd_explain_fix(ret,
			       "# enlarge the file before mapping it (ftruncate), or register only what it contains");
	} else if (m->kind == RD_MAPPING_NO_ACCESS) {
		/* Whether the mapping permits execution was not read. */
		rd_explain(ret, "memory-no-access", sure, "address %s is mapped, but not readable (%s)", at,
			   m->writable ? "PROT_WRITE without PROT_READ" : "PROT_NONE, or PROT_EXEC alone");
		rd_explain_fix(ret, "# mprotect it to PROT_READ | PROT_WRITE before\n# an address range that a GPU "
				    "library reserved needs nvidia_peermem or DMA-BUF");
	} else {
		rd_explain(ret, "memory-read-only", sure,
			   "address %s is mapped read-only, and the region needs write access (access flags 0x%" PRIx64
			   ")",
			   at, f->event->request.v[RD_REQ_ACCESS]);
		rd_explain_fix(ret, "# map the memory with PROT_WRITE, or register it without IBV_ACCESS_LOCAL_WRITE "
				    "and remote write access");
	}
	add_mapping(m, ret);
	add_range(&f->event->request, ret);
}

#define SECRETMEM_MAGIC 0x5345434d

/*
 * What can refuse a page when it is faulted in, and the mapping is good: its pool of huge pages, a control group, a file system that
 * is full, userfaultfd, a protection key. Each is said only with the numbers that show it; they may have changed since.
 */
static bool find_huge(const struct rd_failure *f, const struct rd_mapping *m, struct rd_explanation *ret,
		      struct rd_explanation *looked)
{
	const struct rd_fail_memory *mem = &f->memory;
	const char *at = RD_WORD_POINTER(m->at);
	uint64_t size = m->block ?: 2u << 20;
	const char *page = RD_BYTES(size);
	uint64_t end = f->event->request.v[RD_REQ_ADDRESS] + f->event->request.v[RD_REQ_LENGTH];
	uint64_t length = (end < m->end ? end : m->end) - m->at;
	/* Pages that another mapping has reserved are free, and not for this one. */
	uint64_t spare = mem->huge_free.v > mem->huge_reserved.v ? mem->huge_free.v - mem->huge_reserved.v : 0;
	uint64_t wanted = length / size + (length % size != 0);
	const struct rd_memory_group *group = &mem->huge_group;
	struct rd_explanation *facts = ret;

	/* That it reached the limit once says nothing of this call: its pages have to be too many now. */
	if (group->path && group->failures.known == RD_OK && group->failures.v && group->max.known == RD_OK &&
	    group->current.known == RD_OK && group->current.v + wanted * size > group->max.v) {
		rd_explain(ret, "cgroup-huge-pages", RD_CONFIDENCE_MEDIUM,
			   "%s is a mapping of huge pages of %s, of which control group %s may have %s (hugetlb.max)",
			   at, page, group->path, RD_BYTES(group->max.v));
		rd_explain_fact(ret, "%s has %s of them now, and reached its limit %" PRIu64 " time%s", group->path,
				RD_BYTES(group->current.v), group->failures.v, group->failures.v == 1 ? "" : "s");
		rd_explain_fix(ret, "# raise hugetlb.max of %s (the limit of huge pages of the container)", group->path);
	} else if (m->reserved || mem->huge_free.known != RD_OK || spare >= wanted) {
		facts = looked;
		rd_explain_fact(looked, "%s is a mapping of huge pages of %s%s", at, page,
				m->reserved ? ", which were reserved for it" :
				m->shared   ? ", of a hugetlbfs that may be full (df)" :
					      "");
	} else {
		rd_explain(ret, "memory-huge-page",
			   !spare && f->event->err == -EFAULT ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "%s is a mapping of huge pages of %s without reservation (MAP_NORESERVE, fork), and %s", at,
			   page, spare ? "too few are free" : "no huge page is free");
		rd_explain_fix(
			ret,
			size == 2u << 20 ?
				"sysctl vm.nr_hugepages=%" PRIu64
				"\n# until the next boot; also in /etc/sysctl.d/\n# do not map them with MAP_NORESERVE" :
				"# reserve %" PRIu64 " pages of that size at boot (hugepagesz=, hugepages=)\n"
				"# do not map them with MAP_NORESERVE",
			mem->huge_total.v + wanted - spare);
	}
	if (mem->huge_free.known == RD_OK)
		rd_explain_fact(facts,
				"huge pages of %s: %" PRIu64 " of %" PRIu64 " free, %" PRIu64
				" of these reserved; the range has %" PRIu64,
				page, mem->huge_free.v, mem->huge_total.v, mem->huge_reserved.v, wanted);
	return facts == ret;
}

#define TMPFS_MAGIC 0x01021994

/* Whether a tmpfs may have had too little space for `length` bytes. The kernel counts used pages by processor: what it says is left may
 * be off by some of them. */
static bool is_full(const struct rd_mapping *m, uint64_t length)
{
	uint64_t left = m->fs_size.v - m->fs_used.v, off = m->fs_size.v / 32;

	off = off < 1u << 20 ? 1u << 20 : off > 128u << 20 ? 128u << 20 : off;
	return m->fs_size.known == RD_OK && left <= off && (left < length || left <= 1u << 20);
}

static bool find_refused(const struct rd_mapping *m, uint64_t length, struct rd_explanation *ret,
			 struct rd_explanation *looked)
{
	const char *at = RD_WORD_POINTER(m->at);

	/* The numbers show it; that a page was refused by the program, or by the key, they do not. */
	if (is_full(m, length)) {
		rd_explain(
			ret, "memory-no-space", RD_CONFIDENCE_MEDIUM,
			"the tmpfs that holds '%s' is full: %s of %s are in use, and the range needs pages that are not "
			"there yet",
			m->name, RD_BYTES(m->fs_used.v), RD_BYTES(m->fs_size.v));
		rd_explain_fix(ret,
			       "df -h -t tmpfs\n# in the mount namespace of the process; remove what is left there, or "
			       "enlarge it: mount -o remount,size=, --shm-size of a container, an emptyDir of medium "
			       "Memory\n# allocate the file before it is mapped (posix_fallocate)");
	} else if (m->watched) {
		rd_explain(
			ret, "memory-userfaultfd", RD_CONFIDENCE_MEDIUM,
			"%s is memory whose page faults a program handles itself (userfaultfd), and one of the kernel "
			"was not handled",
			at);
		rd_explain_fix(ret, "sysctl vm.unprivileged_userfaultfd\n# with 0, a userfaultfd of a process without "
				    "CAP_SYS_PTRACE handles no faults of the kernel\n# touch the memory before it is "
				    "registered, or unregister it from the userfaultfd");
	} else if (m->guarded) {
		rd_explain(ret, "memory-no-access", RD_CONFIDENCE_MEDIUM,
			   "%s is memory in which pages were made guards (MADV_GUARD_INSTALL), which no access reaches",
			   at);
		rd_explain_fix(ret, "# register only what is between guards: stacks of threads begin with some, and "
				    "allocators set them");
	} else if (m->key) {
		rd_explain(
			ret, "memory-protection-key", RD_CONFIDENCE_MEDIUM,
			"%s is memory with protection key %u, which the thread that registers it may not have access to",
			at, m->key);
		rd_explain_fix(ret,
			       "# permit access in that thread before (pkey_set), or register memory without a key");
	} else {
		rd_explain_fact(looked, "%s is a %s mapping of the file '%s'%s", at, m->shared ? "shared" : "private",
				m->name,
				m->magic == TMPFS_MAGIC ? " on tmpfs" :
							  ": its file system can refuse a page (no "
							  "space, quota, read error)");
		if (m->fs_size.known == RD_OK)
			rd_explain_fact(looked, "about %s of %s of the tmpfs are in use", RD_BYTES(m->fs_used.v),
					RD_BYTES(m->fs_size.v));
		return false;
	}
	return true;
}

/* Nothing is wrong with the range itself, and the function that pins pages failed. */
static bool find_special(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_moment *m = &f->event->moment;
	const struct rd_mapping *special = &m->special;
	bool fault = f->event->err == -EFAULT, found = true;
	int refuses = f->memory.refuses_files.known != RD_OK ? -1 : f->memory.refuses_files.v;

	if (!m->mapped_all || !special->kind || !rd_failure_origin_is(f, "*umem_get*"))
		return false;
	if (special->others && special->kind != RD_MAPPING_FILE) {
		rd_explain_fact(looked,
				"several mappings of the range can be refused (files, huge pages, userfaultfd, keys)");
		add_mapping(special, looked);
		return false;
	}
	if (special->kind == RD_MAPPING_HUGE && !special->watched) {
		found = (fault || !special->reserved) && find_huge(f, special, ret, looked);
	} else if (fault && special->kind == RD_MAPPING_FILE && special->magic == SECRETMEM_MAGIC) {
		/* memfd_secret(2): only the process itself can access it. */
		rd_explain(ret, "memory-secret", RD_CONFIDENCE_HIGH,
			   "0x%" PRIx64 " is memory of memfd_secret, which the kernel never pins", special->at);
		rd_explain_fix(ret, "# use ordinary memory for buffers of RDMA");
	} else if (fault && special->kind == RD_MAPPING_FILE && refuses != 0) {
		/* Since Linux 6.5 the kernel refuses long-term pins of pages that a file system writes back: it could not notice
		 * changes by the device. Anonymous memory, tmpfs and hugetlbfs are not written back. */
		rd_explain(ret, "memory-shared-file", refuses > 0 ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "0x%" PRIx64
			   " is a writable shared mapping of the file '%s': %s not pin pages of files for long "
			   "with write access",
			   special->at, special->name,
			   refuses > 0 ? "this kernel does" : "kernels from Linux 6.5 on do");
		rd_explain_fix(ret,
			       "# use anonymous memory, or a file on tmpfs (memfd_create, shm_open) or hugetlbfs\n# a "
			       "private mapping (MAP_PRIVATE) works, but does not write to the file");
	} else {
		found = fault && find_refused(special, f->event->request.v[RD_REQ_LENGTH], ret, looked);
	}
	if (found) {
		add_mapping(special, ret);
		add_range(&f->event->request, ret);
	}
	return found;
}

static bool has_range(const struct rd_failure *f)
{
	return rd_req_has(&f->event->request, RD_REQ_ADDRESS) && rd_req_has(&f->event->request, RD_REQ_LENGTH);
}

/* A driver may return EFAULT for another reason. */
static void judge_fault(const struct rd_failure *f, struct rd_explanation *ret)
{
	explain_fault(f, ret);
	if (f->event->err != -EFAULT || !rd_failure_origin_is(f, "*umem*"))
		ret->confidence = RD_CONFIDENCE_MEDIUM;
}

/* What the record of the call alone shows. */
bool rd_find_mapping(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_mapping *fault = &f->event->moment.fault;

	(void)looked;
	if (!has_range(f))
		return false;
	if (!fault->kind || is_accelerator(fault))
		return false;
	judge_fault(f, ret);
	return true;
}

bool rd_find_memory(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_moment *m = &f->event->moment;
	bool pins = rd_failure_origin_is(f, "*umem*") || f->event->err == -EFAULT;

	if (!pins || !has_range(f))
		return false;
	/* The kernel never returns ENOMEM for a mapping; a module for memory of accelerators may. */
	if (m->fault.kind && is_accelerator(&m->fault)) {
		judge_fault(f, ret);
		return true;
	}
	if (find_special(f, ret, looked))
		return true;
	if (m->mapped_all && !m->special.kind)
		rd_explain_fact(looked,
				"the range 0x%" PRIx64 " to 0x%" PRIx64
				" is mapped with the access that the region needs, and is ordinary memory",
				f->event->request.v[RD_REQ_ADDRESS],
				f->event->request.v[RD_REQ_ADDRESS] + f->event->request.v[RD_REQ_LENGTH]);
	if (f->event->err == -EFAULT && f->memory.corrupted.known == RD_OK && f->memory.corrupted.v)
		rd_explain_fact(
			looked,
			"%s of this host were taken out of use after memory errors (HardwareCorrupted): a page of "
			"the range may be among them",
			RD_BYTES(f->memory.corrupted.v));
	if (m->mapped_in_part && !m->mapped_all)
		rd_explain_fact(looked, "the range has many mappings: the first of them are ordinary memory");
	return false;
}

/* Requests for memory regions and windows that the RDMA core refuses, as ib_uverbs_reg_mr(), ib_check_mr_access() and
 * __ib_umem_get_va() check them. */

/* enum ib_uverbs_access_flags; IB_UVERBS_ACCESS_OPTIONAL_RANGE is ignored where it is not supported. */
#define LOCAL_WRITE 1u
#define REMOTE_WRITE 2u
#define REMOTE_ATOMIC 8u
#define MW_BIND 16u
#define ACCESS_KNOWN 0x3ffu
#define ACCESS_OPTIONAL 0x3ff00000u
#define ACCESS_ZERO_BASED 0x20u
#define ACCESS_HUGETLB 0x80u
#define ACCESS_FLUSH_GLOBAL 0x100u
#define ACCESS_FLUSH_PERSISTENT 0x200u

/* What regions of DMA-BUF memory may have: local write, remote read, write and atomics, relaxed ordering. */
#define DMABUF_KNOWN (0xfu | 1u << 20)

/* enum ib_mr_rereg_flags: translation, protection domain, access. */
#define REREG_KNOWN 7u
#define REREG_ACCESS 4u

/* On-demand paging of the whole address space: address 0 and the greatest length. */
static bool is_implicit(const struct rd_request *r)
{
	return r->v[RD_REQ_ACCESS] & ON_DEMAND && !r->v[RD_REQ_ADDRESS] && r->v[RD_REQ_LENGTH] == UINT64_MAX;
}

static void add_request(const struct rd_request *r, struct rd_explanation *ret)
{
	rd_explain_fact(ret, "request: address 0x%" PRIx64 ", length %" PRIu64 ", iova 0x%" PRIx64,
			r->v[RD_REQ_ADDRESS], r->v[RD_REQ_LENGTH], r->v[RD_REQ_IOVA]);
}

static bool find_offset(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	uint64_t address = r->v[RD_REQ_ADDRESS], iova = r->v[RD_REQ_IOVA], page = rd_moment_page(&f->event->moment);

	if (address % page == iova % page)
		return false;
	rd_explain(ret, "iova-offset", RD_CONFIDENCE_HIGH,
		   "iova 0x%" PRIx64 " and address 0x%" PRIx64 " have different offsets in their page: 0x%" PRIx64
		   " and 0x%" PRIx64,
		   iova, address, iova % page, address % page);
	add_request(r, ret);
	return rd_explain_fix(ret, "# choose an iova with the same offset in its page as the address");
}

static bool find_range(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	uint64_t address = r->v[RD_REQ_ADDRESS], length = r->v[RD_REQ_LENGTH];
	uint64_t page = rd_moment_page(&f->event->moment);

	if (!length) {
		/* Inside of a page the kernel pins that page; drivers may refuse such a region. */
		rd_explain(ret, "range-empty", address % page ? RD_CONFIDENCE_MEDIUM : RD_CONFIDENCE_HIGH,
			   "the length of the range is 0");
		rd_explain_fix(ret, "# register at least one byte");
	} else if (is_implicit(r)) {
		return false;
	} else if (address + length < address || address + length > UINT64_MAX - page) {
		rd_explain(ret, "range-overflow", RD_CONFIDENCE_HIGH,
			   "address 0x%" PRIx64 " plus length 0x%" PRIx64 " (%" PRIu64
			   " bytes) exceeds the address space",
			   address, length, length);
		rd_explain_fix(ret, "# check how the length is calculated: a negative number became a large one");
	} else if (length / page > UINT32_MAX) {
		rd_explain(ret, "range-overflow", RD_CONFIDENCE_HIGH,
			   "the range has %" PRIu64 " pages, and the kernel registers at most %u at once",
			   length / page, UINT32_MAX);
		rd_explain_fix(ret, "# check how the length is calculated, or register the range in parts");
	} else {
		return false;
	}
	add_request(r, ret);
	return true;
}

/* The core refuses flags that it does not know; Linux 6.2 was the first to know those for flushing. On-demand paging it refuses for
 * devices that do not have it. */
static bool find_newer(const struct rd_failure *f, struct rd_explanation *ret)
{
	uint64_t access = f->event->request.v[RD_REQ_ACCESS],
		 newer = access & (ACCESS_FLUSH_GLOBAL | ACCESS_FLUSH_PERSISTENT);

	if (!newer || access & ON_DEMAND || !rd_failure_origin_is(f, "ib_uverbs_*reg_mr"))
		return false;
	rd_explain(ret, "access-flags", RD_CONFIDENCE_MEDIUM,
		   "the access flags 0x%" PRIx64 " contain 0x%" PRIx64 ", which this kernel does not know", access,
		   newer);
	return rd_explain_fix(ret,
			      "# register the memory without them (IBV_ACCESS_FLUSH_GLOBAL, _FLUSH_PERSISTENT), or "
			      "update the kernel to 6.2 or later");
}

static bool find_access(const struct rd_failure *f, struct rd_explanation *ret)
{
	uint64_t access = f->event->request.v[RD_REQ_ACCESS],
		 unknown = access & ~(uint64_t)(ACCESS_KNOWN | ACCESS_OPTIONAL);

	if (access & (REMOTE_WRITE | REMOTE_ATOMIC) && !(access & LOCAL_WRITE)) {
		rd_explain(ret, "access-flags", RD_CONFIDENCE_HIGH,
			   "%s requires IBV_ACCESS_LOCAL_WRITE, which is missing in the access flags 0x%" PRIx64,
			   access & REMOTE_WRITE ? "IBV_ACCESS_REMOTE_WRITE" : "IBV_ACCESS_REMOTE_ATOMIC", access);
		return rd_explain_fix(ret, "# add IBV_ACCESS_LOCAL_WRITE");
	}
	if (!unknown)
		return find_newer(f, ret);
	rd_explain(ret, "access-flags", RD_CONFIDENCE_MEDIUM,
		   "the access flags 0x%" PRIx64 " contain 0x%" PRIx64 ", which is not defined", access, unknown);
	return rd_explain_fix(ret,
			      "# use only enum ibv_access_flags\n# a library that is newer than the kernel may know "
			      "more of them");
}

/* A driver that supports on-demand paging may return EINVAL for another reason, and so may what it calls in the core. */
static bool find_on_demand(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	bool refused = f->event->err == -EOPNOTSUPP || (!rd_failure_in_driver(f) && !rd_failure_origin_is(f, "*umem*"));

	if (!(r->v[RD_REQ_ACCESS] & ON_DEMAND) || (!refused && !is_implicit(r)))
		return false;
	rd_explain(ret, "odp-unsupported", refused ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   is_implicit(r) ?
			   "on-demand paging of the whole address space was requested (IBV_ACCESS_ON_DEMAND), which "
			   "%s does not support" :
			   "on-demand paging was requested (IBV_ACCESS_ON_DEMAND), which %s does not support for this "
			   "region",
		   f->event->ibdev ?: "the device");
	rd_explain_fact(ret, "request: access flags 0x%" PRIx64, f->event->request.v[RD_REQ_ACCESS]);
	return rd_explain_fix(ret,
			      "# register the memory without IBV_ACCESS_ON_DEMAND\n# ibv_devinfo -v shows odp_caps of "
			      "the device");
}

/* Access flags that only some drivers know. Each that the request has may be the one; which a driver knows is not known here. */
static bool find_optional(const struct rd_failure *f, struct rd_explanation *ret)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} flags[] = { { ACCESS_ZERO_BASED, "IBV_ACCESS_ZERO_BASED" },
		      { ACCESS_HUGETLB, "IBV_ACCESS_HUGETLB" },
		      { ACCESS_FLUSH_GLOBAL, "IBV_ACCESS_FLUSH_GLOBAL" },
		      { ACCESS_FLUSH_PERSISTENT, "IBV_ACCESS_FLUSH_PERSISTENT" } };
	uint64_t access = f->event->request.v[RD_REQ_ACCESS];
	_cleanup_buf_ struct rd_buf names = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < RD_ARRAY_SIZE(flags); i++)
		if (access & flags[i].flag)
			rd_buf_printf(&names, "%s%s", n++ ? " or " : "", flags[i].name);
	if (!n || !rd_failure_in_driver(f) || !f->event->origin_exact)
		return false;
	rd_explain(ret, "access-flags", RD_CONFIDENCE_MEDIUM,
		   "the driver of %s probably does not support %s, which %s in the access flags 0x%" PRIx64,
		   f->event->ibdev ?: "the device", names.data, n == 1 ? "is" : "are", access);
	return rd_explain_fix(ret, "# register the memory without %s", n == 1 ? "it" : "them");
}

/* Flushing to persistent memory: the memory itself must be persistent. */
static bool find_persistent(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;
	uint64_t access = f->event->request.v[RD_REQ_ACCESS];

	if (!(access & ACCESS_FLUSH_PERSISTENT) || !m->mapped_all || m->special.kind == RD_MAPPING_FILE ||
	    !(rd_failure_in_driver(f) || rd_failure_origin_is(f, "*umem*")))
		return false;
	rd_explain(ret, "memory-not-persistent", RD_CONFIDENCE_MEDIUM,
		   "IBV_ACCESS_FLUSH_PERSISTENT requires persistent memory, and the range is ordinary memory");
	rd_explain_fact(ret, "request: access flags 0x%" PRIx64, access);
	return rd_explain_fix(ret, "# register a mapping of persistent memory (DAX), or leave the flag out");
}

static bool find_rereg(const struct rd_failure *f, struct rd_explanation *ret)
{
	uint64_t flags = f->event->request.v[RD_REQ_REREG];

	if (f->event->err != -EINVAL || !rd_req_has(&f->event->request, RD_REQ_REREG) ||
	    (flags && !(flags & ~(uint64_t)REREG_KNOWN)))
		return false;
	rd_explain(ret, "attribute-value", RD_CONFIDENCE_HIGH,
		   flags ? "the flags 0x%" PRIx64 " contain one that is not defined" :
			   "the flags are 0x%" PRIx64 ": nothing is to be changed",
		   flags);
	return rd_explain_fix(ret, "# set IBV_REREG_MR_CHANGE_TRANSLATION, _PD or _ACCESS, as needed");
}

/* Windows of type 1 and 2; UVERBS: enum ibv_mw_type. */
static bool find_window(const struct rd_failure *f, struct rd_explanation *ret)
{
	uint64_t type = f->event->request.v[RD_REQ_MW_TYPE];

	if (!rd_req_has(&f->event->request, RD_REQ_MW_TYPE) || type == 1 || type == 2)
		return false;
	rd_explain(ret, "attribute-value", RD_CONFIDENCE_HIGH, "type %" PRIu64 " of the memory window does not exist",
		   type);
	return rd_explain_fix(ret, "# use IBV_MW_TYPE_1 or IBV_MW_TYPE_2");
}

/* Changing a region: what is not to be changed is not looked at. */
static bool is_changed(const struct rd_request *r, uint64_t what)
{
	return !rd_req_has(r, RD_REQ_REREG) || r->v[RD_REQ_REREG] & what;
}

/* ib_umem_check_rereg(): pages that were not pinned for writing cannot be written to under new flags. */
static bool find_not_writable(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	uint64_t access = r->v[RD_REQ_ACCESS];
	bool check = rd_failure_origin_is(f, "ib_umem_check_rereg");

	if (!rd_req_has(r, RD_REQ_REREG) || !(r->v[RD_REQ_REREG] & REREG_ACCESS) ||
	    !(access & (LOCAL_WRITE | REMOTE_WRITE | REMOTE_ATOMIC | MW_BIND)) || (!check && !rd_failure_in_driver(f)))
		return false;
	rd_explain(ret, "access-flags", check ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "the access flags 0x%" PRIx64
		   " require write access to the memory, without which the region was registered",
		   access);
	rd_explain_fact(ret, "request: flags 0x%" PRIx64 " (IBV_REREG_MR_CHANGE_ACCESS is in them)", r->v[RD_REQ_REREG]);
	return rd_explain_fix(ret, "# register the memory again, with IBV_ACCESS_LOCAL_WRITE");
}

/* Flags that regions of DMA-BUF memory cannot have: uverbs_get_flags32() in the handler of REG_DMABUF_MR, before the driver. */
static bool find_dmabuf(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	uint64_t access = r->v[RD_REQ_ACCESS], unknown = access & ~(uint64_t)DMABUF_KNOWN;

	if (!rd_is_verb(f->event, "ibv_reg_dmabuf_mr") || !rd_req_has(r, RD_REQ_ACCESS) || rd_failure_in_driver(f) ||
	    rd_failure_origin_is(f, "*umem*"))
		return false;
	if (!unknown)
		return find_access(f, ret);
	rd_explain(ret, "access-flags", RD_CONFIDENCE_HIGH,
		   "the access flags 0x%" PRIx64 " contain 0x%" PRIx64 ", which regions of DMA-BUF memory cannot have",
		   access, unknown);
	return rd_explain_fix(ret, "# use only IBV_ACCESS_LOCAL_WRITE, _REMOTE_READ, _REMOTE_WRITE, _REMOTE_ATOMIC and "
				   "_RELAXED_ORDERING");
}

/* The values of the request, which EINVAL may be about. */
static bool find_values(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;

	/* In the order of the kernel: the page offset, access flags, and what pinning checks. */
	if (is_changed(r, REREG_TRANSLATION) && find_offset(f, ret))
		return true;
	if (is_changed(r, REREG_ACCESS) && !rd_failure_origin_is(f, "*umem*get*") &&
	    (find_access(f, ret) || find_on_demand(f, ret)))
		return true;
	if (is_changed(r, REREG_TRANSLATION) && find_range(f, ret))
		return true;
	return is_changed(r, REREG_ACCESS) &&
	       (find_access(f, ret) || find_on_demand(f, ret) || find_persistent(f, ret));
}

bool rd_find_region(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_request *r = &f->event->request;
	bool whole = rd_req_has(r, RD_REQ_ADDRESS) && rd_req_has(r, RD_REQ_LENGTH) && rd_req_has(r, RD_REQ_IOVA) &&
		     rd_req_has(r, RD_REQ_ACCESS);

	if (f->event->err == -EINVAL && (find_window(f, ret) || find_dmabuf(f, ret)))
		return true;
	if (!rd_is_verb(f->event, "ibv_?(re)reg_mr") || !whole)
		return false;
	if (f->event->err == -EACCES)
		return find_not_writable(f, ret);
	if (find_rereg(f, ret))
		return true;
	if (f->event->err == -EINVAL && find_values(f, ret))
		return true;
	if (f->event->err != -EINVAL)
		return is_changed(r, REREG_ACCESS) && (find_on_demand(f, ret) || find_optional(f, ret));
	return rd_explain_fact(looked, "range, iova and access flags (0x%" PRIx64 ") of the request are valid",
			       r->v[RD_REQ_ACCESS]);
}
