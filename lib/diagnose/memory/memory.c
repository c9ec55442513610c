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
		ret, "memory-shared-file", RD_CONFIDENCE_HIGH,
		"%s is a writable shared mapping of the file '%s': this kernel does not pin pages of files for long with write "
		"access",
		p.at, m->name);
	rd_explain_fix(ret, "# use anonymous memory, or a file on tmpfs (memfd_create, shm_open) or hugetlbfs\n# a "
			    "private mapping (MAP_PRIVATE) works, but does not write to the file");
	add_mapping(m, ret);
	add_range(&f->event->request, ret);
}

#define HUGE_PAGE (2u << 20)

static void explain_huge(const struct rd_failure *f, const struct rd_mapping *m, struct rd_explanation *ret)
{
	struct place p = place_of(&f->event->request, m->at);
	bool none = f->memory.huge_free.known == RD_OK && !f->memory.huge_free.v;
	/* Pages that were reserved are not missing: that none is free means that they are in use, by this mapping perhaps. */
	bool sure = none && !m->reserved && f->event->err == -EFAULT;

	rd_explain(ret, "memory-huge-page", sure ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "%s is a mapping of huge pages%s, and %s", p.at,
		   m->reserved ? "" : " without reservation (MAP_NORESERVE)",
		   none ? "no huge page is free" : "not all of them could be allocated");
	if (f->memory.huge_free.known == RD_OK && f->memory.huge_total.known == RD_OK)
		rd_explain_fact(ret, "huge pages of 2 MiB: %" PRIu64 " of %" PRIu64 " free", f->memory.huge_free.v,
				f->memory.huge_total.v);
	add_mapping(m, ret);
	add_range(&f->event->request, ret);
	rd_explain_fix(ret,
		       "sysctl vm.nr_hugepages=%" PRIu64
		       "\n# until the next boot; also in /etc/sysctl.d/\n# do not map them with MAP_NORESERVE",
		       (f->memory.huge_total.known == RD_OK ? f->memory.huge_total.v : 0) +
			       f->event->request.v[RD_REQ_LENGTH] / HUGE_PAGE + 1);
}

/* A shared file mapping fails only where the kernel refuses to pin it, and the record does not say which kernel that is. So this is
 * said only if the function that pins pages failed, and nothing else is wrong with the range. */
static bool find_file(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;

	if (!m->mapped_all || m->special.kind != RD_MAP_FILE || f->event->err != -EFAULT ||
	    !rd_failure_origin_is(f, "*umem_get*"))
		return false;
	if (m->special.magic == SECRETMEM_MAGIC)
		explain_secret(f, &m->special, ret);
	else
		explain_file(f, &m->special, ret);
	return true;
}

static bool find_huge(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;

	if (!m->mapped_all || m->special.kind != RD_MAP_HUGE || !rd_failure_origin_is(f, "*umem_get*") ||
	    (m->special.reserved && f->event->err != -EFAULT))
		return false;
	explain_huge(f, &m->special, ret);
	return true;
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
		return find_file(f, ret);
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
	if (find_huge(f, ret))
		return true;
	if (m->mapped_all)
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
