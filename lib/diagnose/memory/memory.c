// SPDX-License-Identifier: GPL-2.0-or-later
/* Why pages of a range of addresses cannot be pinned: the mappings as they were when the call failed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "diagnose/shared/rule.h"

struct place {
	char at[RD_WORD_ADDRESS], start[RD_WORD_ADDRESS], offset[RD_BYTES_TEXT], length[RD_BYTES_TEXT];
	bool first; /* the problem is at the very start of the range */
};

static struct place place_of(const struct rd_request *request, uint64_t at)
{
	uint64_t start = request->v[RD_REQ_ADDRESS];
	struct place p = { .first = at <= start };

	rd_word_pointer(at, p.at);
	rd_word_pointer(start, p.start);
	rd_bytes_text(at > start ? at - start : 0, p.offset);
	rd_bytes_text(request->v[RD_REQ_LENGTH], p.length);
	return p;
}

static void add_mapping(const struct rd_mapping *m, struct rd_explanation *ret)
{
	bool named = m->has_file && m->name[0];
	/* Memory of devices and of the kernel itself may have no file. */
	const char *other = m->has_file || m->kind == RD_MAP_DEVICE ? "" : " anonymous";

	if (m->kind != RD_MAP_HOLE)
		rd_explain_fact(ret, "mapping: 0x%" PRIx64 "-0x%" PRIx64 " %s%s%s%s%s", m->start, m->end,
				m->kind == RD_MAP_NO_ACCESS ? m->writable ? "write-only" : "not readable" :
				m->writable		    ? "read-write" :
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
	static const char *const names[] = { "nvidia", "kfd", "renderD", "habanalabs", "gdrdrv" };

	for (size_t i = 0; m->has_file && i < RD_ARRAY_SIZE(names); i++)
		if (!strncmp(m->name, names[i], strlen(names[i])))
			return true;
	return false;
}

static void explain_accelerator(const struct rd_failure *f, const struct rd_mapping *m, const struct place *p,
				enum rd_confidence confidence, struct rd_explanation *ret)
{
	bool loaded = f->read & RD_FACT_MEMORY && f->memory.peer_module.known == RD_OK && f->memory.peer_module.v;

	if (!strcmp(m->name, "gdrdrv")) {
		rd_explain(ret, "memory-device-mapping", confidence,
			   "%s is a mapping of GPU memory for the CPU (gdrdrv), which cannot be registered", p->at);
		rd_explain_fix(ret, "# register the GPU pointer itself instead of the mapping for the CPU");
		return;
	}
	rd_explain(ret, "memory-gpu", confidence, "%s is memory of an accelerator (mapping of '%s'), which %s", p->at,
		   m->name,
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

static void explain_device(const struct rd_mapping *m, const struct place *p, enum rd_confidence confidence,
			   struct rd_explanation *ret)
{
	rd_explain(ret, "memory-device-mapping", confidence,
		   "%s is memory of a device%s%s%s, which has no pages that could be pinned", p->at,
		   m->name[0] ? " (mapping of '" : "", m->name, m->name[0] ? "')" : "");
	rd_explain_fix(ret, "# register memory of the host, or export the device's memory as DMA-BUF and use "
			    "ibv_reg_dmabuf_mr");
}

static void explain_hole(const struct place *p, enum rd_confidence confidence, struct rd_explanation *ret)
{
	if (p->first)
		rd_explain(ret, "memory-not-mapped", confidence, "address %s is not mapped", p->at);
	else
		rd_explain(ret, "memory-not-mapped", confidence,
			   "address %s is not mapped: %s after the start of the range of %s at %s", p->at, p->offset,
			   p->length, p->start);
	rd_explain_fix(ret, "# check address and length: the memory was freed or unmapped before, was never mapped, "
			    "or ends earlier");
}

static void explain_end(const struct rd_mapping *m, const struct place *p, enum rd_confidence confidence,
			struct rd_explanation *ret)
{
	char size[RD_BYTES_TEXT];

	rd_explain(ret, "memory-past-end-of-file", confidence,
		   "the mapping of '%s' is longer than the file (%s): there are no pages from %s on", m->name,
		   rd_bytes_text(m->file_size, size), p->at);
	rd_explain_fix(ret, "# enlarge the file before mapping it (ftruncate), or register only what it contains");
}

/* Whether the mapping permits execution was not read. */
static void explain_no_access(const struct rd_mapping *m, const struct place *p, struct rd_explanation *ret)
{
	rd_explain(ret, "memory-no-access", RD_CONFIDENCE_HIGH, "address %s is mapped, but not readable (%s)", p->at,
		   m->writable ? "PROT_WRITE without PROT_READ" : "PROT_NONE, or PROT_EXEC alone");
	rd_explain_fix(ret, "# mprotect it to PROT_READ | PROT_WRITE before\n# an address range that a GPU library "
			    "reserved needs nvidia_peermem or DMA-BUF");
}

static void explain_fault(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_mapping *m = &f->event->moment.fault;
	struct place p = place_of(&f->event->request, m->at);
	enum rd_confidence confidence = RD_CONFIDENCE_HIGH;

	if (m->kind == RD_MAP_HOLE)
		explain_hole(&p, confidence, ret);
	else if (is_accelerator(m))
		explain_accelerator(f, m, &p, confidence, ret);
	else if (m->kind == RD_MAP_DEVICE)
		explain_device(m, &p, confidence, ret);
	else if (m->kind == RD_MAP_PAST_END)
		explain_end(m, &p, confidence, ret);
	else if (m->kind == RD_MAP_NO_ACCESS)
		explain_no_access(m, &p, ret);
	else
		rd_explain(ret, "memory-read-only", confidence,
			   "address %s is mapped read-only, and the region needs write access (access flags 0x%" PRIx64
			   ")",
			   p.at, f->event->request.v[RD_REQ_ACCESS]);
	if (!ret->fix)
		rd_explain_fix(ret, "# map the memory with PROT_WRITE, or register it without IBV_ACCESS_LOCAL_WRITE "
				    "and remote write access");
	add_mapping(m, ret);
	add_range(&f->event->request, ret);
}

#define SECRETMEM_MAGIC 0x5345434d

/* memfd_secret(2): only the process itself can access it. */
static void explain_secret(const struct rd_failure *f, const struct rd_mapping *m, struct rd_explanation *ret)
{
	struct place p = place_of(&f->event->request, m->at);

	rd_explain(ret, "memory-secret", RD_CONFIDENCE_HIGH,
		   "%s is memory of memfd_secret, which the kernel never pins", p.at);
	rd_explain_fix(ret, "# use ordinary memory for buffers of RDMA");
	add_mapping(m, ret);
	add_range(&f->event->request, ret);
}

/* Since Linux 6.5 the kernel refuses long-term pins of pages that a file system writes back: it could not notice changes by the
 * device. Anonymous memory, tmpfs and hugetlbfs are not written back. */
static void explain_file(const struct rd_failure *f, const struct rd_mapping *m, struct rd_explanation *ret)
{
	struct place p = place_of(&f->event->request, m->at);

	rd_explain(
		ret, "memory-shared-file",
		f->memory.refuses_files.known == RD_OK ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		"%s is a writable shared mapping of the file '%s': %s not pin pages of files for long with write access",
		p.at, m->name,
		f->memory.refuses_files.known == RD_OK ? "this kernel does" : "kernels from Linux 6.5 on do");
	rd_explain_fix(ret, "# use anonymous memory, or a file on tmpfs (memfd_create, shm_open) or hugetlbfs\n# a "
			    "private mapping (MAP_PRIVATE) works, but does not write to the file");
}

/*
 * What can refuse a page when it is faulted in, and the mapping is good: its pool of huge pages, a control group, a file system that
 * is full, userfaultfd, a protection key. Each is said only with the numbers that show it; they may have changed since.
 */
static bool find_huge(const struct rd_failure *f, const struct rd_mapping *m, struct rd_explanation *ret,
		      struct rd_explanation *looked)
{
	const struct rd_fail_memory *mem = &f->memory;
	struct place p = place_of(&f->event->request, m->at);
	uint64_t size = m->block ? m->block : 2u << 20, length = f->event->request.v[RD_REQ_LENGTH];
	/* Pages that another mapping has reserved are free, and not for this one. */
	uint64_t spare = mem->huge_free.v > mem->huge_reserved.v ? mem->huge_free.v - mem->huge_reserved.v : 0;
	uint64_t wanted = length / size + (length % size != 0);
	char page[RD_BYTES_TEXT], most[RD_BYTES_TEXT], used[RD_BYTES_TEXT];
	const struct rd_memory_group *group = &mem->huge_group;
	struct rd_explanation *facts = ret;

	rd_bytes_text(size, page);
	if (group->path && group->failures.known == RD_OK && group->failures.v) {
		rd_explain(ret, "cgroup-huge-pages", RD_CONFIDENCE_MEDIUM,
			   "%s is a mapping of huge pages of %s, of which control group %s may have %s (hugetlb.max)",
			   p.at, page, group->path, rd_bytes_text(group->max.v, most));
		rd_explain_fact(ret, "%s has %s of them now, and reached its limit %" PRIu64 " time%s", group->path,
				rd_bytes_text(group->current.v, used), group->failures.v,
				group->failures.v == 1 ? "" : "s");
		rd_explain_fix(ret, "# raise hugetlb.max of %s (the limit of huge pages of the container)", group->path);
	} else if (m->reserved || mem->huge_free.known != RD_OK || spare >= wanted) {
		facts = looked;
		rd_explain_fact(looked, "%s is a mapping of huge pages of %s%s", p.at, page,
				m->reserved ? ", which were reserved for it" : "");
	} else {
		rd_explain(ret, "memory-huge-page",
			   !spare && f->event->err == -EFAULT ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "%s is a mapping of huge pages of %s without reservation (MAP_NORESERVE), and %s", p.at,
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

/* The kernel counts used pages by processor: a tmpfs of which less is left may be full. */
static bool is_full(const struct rd_mapping *m)
{
	return m->fs_size.known == RD_OK &&
	       m->fs_size.v - m->fs_used.v <= (m->fs_size.v / 32 > 1u << 20 ? m->fs_size.v / 32 : 1u << 20);
}

static bool find_refused(const struct rd_failure *f, const struct rd_mapping *m, struct rd_explanation *ret,
			 struct rd_explanation *looked)
{
	struct place p = place_of(&f->event->request, m->at);
	char size[RD_BYTES_TEXT], used[RD_BYTES_TEXT];

	if (m->watched) {
		rd_explain(
			ret, "memory-userfaultfd", RD_CONFIDENCE_MEDIUM,
			"%s is memory whose page faults a program handles itself (userfaultfd), and one of the kernel "
			"was not handled",
			p.at);
		rd_explain_fix(ret, "sysctl vm.unprivileged_userfaultfd\n# with 0, a userfaultfd of a process without "
				    "CAP_SYS_PTRACE handles no faults of the kernel\n# touch the memory before it is "
				    "registered, or unregister it from the userfaultfd");
	} else if (m->key) {
		rd_explain(
			ret, "memory-protection-key", RD_CONFIDENCE_MEDIUM,
			"%s is memory with protection key %u, which the thread that registers it may not have access to",
			p.at, m->key);
		rd_explain_fix(ret,
			       "# permit access in that thread before (pkey_set), or register memory without a key");
	} else if (is_full(m)) {
		rd_explain(
			ret, "memory-no-space", RD_CONFIDENCE_MEDIUM,
			"the tmpfs that holds '%s' is full: %s of %s are in use, and the range needs pages that are not "
			"there yet",
			m->name, rd_bytes_text(m->fs_used.v, used), rd_bytes_text(m->fs_size.v, size));
		rd_explain_fix(ret,
			       "df -h -t tmpfs\n# in the mount namespace of the process; remove what is left there, or "
			       "enlarge it: mount -o remount,size=, --shm-size of a container, an emptyDir of medium "
			       "Memory\n# allocate the file before it is mapped (posix_fallocate)");
	} else {
		rd_explain_fact(looked, "%s is a %s mapping of the file '%s'%s", p.at, m->shared ? "shared" : "private",
				m->name,
				m->magic == TMPFS_MAGIC ? " on tmpfs" :
							  ": its file system can refuse a page (no "
							  "space, quota, read error)");
		if (m->fs_size.known == RD_OK)
			rd_explain_fact(looked, "about %s of %s of the tmpfs are in use",
					rd_bytes_text(m->fs_used.v, used), rd_bytes_text(m->fs_size.v, size));
		return false;
	}
	return true;
}

/* Nothing is wrong with the range itself, and the function that pins pages failed. */
static bool find_special(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_moment *m = &f->event->moment;
	const struct rd_mapping *special = &m->special;
	bool fault = f->event->err == -EFAULT, found;

	if (!m->mapped_all || !special->kind || !rd_failure_origin_is(f, "*umem_get*"))
		return false;
	if (special->kind == RD_MAP_HUGE) {
		found = (fault || !special->reserved) && find_huge(f, special, ret, looked);
	} else if (fault && special->kind == RD_MAP_FILE && special->magic == SECRETMEM_MAGIC) {
		explain_secret(f, special, ret);
		return true;
	} else if (fault && special->kind == RD_MAP_FILE &&
		   (f->memory.refuses_files.known != RD_OK || f->memory.refuses_files.v)) {
		explain_file(f, special, ret);
		found = true;
	} else {
		found = fault && find_refused(f, special, ret, looked);
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
static bool find_mapping(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
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

const struct rd_cause_rule rd_cause_mapping = { .errnos = { EFAULT }, .find = find_mapping };

static bool find_memory(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_moment *m = &f->event->moment;
	bool pins = rd_failure_origin_is(f, "*umem*") || f->event->err == -EFAULT;
	char bytes[RD_BYTES_TEXT];

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
			rd_bytes_text(f->memory.corrupted.v, bytes));
	if (m->mapped_in_part && !m->mapped_all)
		rd_explain_fact(looked, "the range has many mappings: the first of them are ordinary memory");
	return false;
}

const struct rd_cause_rule rd_cause_memory = { .errnos = { EFAULT, ENOMEM },
					       .needs = RD_FACT_MEMORY,
					       .find = find_memory };
