// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests for memory regions and windows that the RDMA core refuses, as ib_uverbs_reg_mr(), ib_check_mr_access() and
 * __ib_umem_get_va() check them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "diagnose/shared/rule.h"

/* enum ib_uverbs_access_flags; IB_UVERBS_ACCESS_OPTIONAL_RANGE is ignored where it is not supported. */
#define LOCAL_WRITE 1u
#define REMOTE_WRITE 2u
#define REMOTE_ATOMIC 8u
#define MW_BIND 16u
#define ON_DEMAND 64u
#define ACCESS_KNOWN 0x3ffu
#define ACCESS_OPTIONAL 0x3ff00000u
#define ACCESS_HUGETLB 0x80u
#define ACCESS_FLUSH_GLOBAL 0x100u
#define ACCESS_FLUSH_PERSISTENT 0x200u

/* enum ib_mr_rereg_flags: translation, protection domain, access. */
/* What regions of DMA-BUF memory may have: local write, remote read, write and atomics, relaxed ordering. */
#define DMABUF_KNOWN (0xfu | 1u << 20)

#define REREG_KNOWN 7u
#define REREG_TRANSLATION 1u
#define REREG_ACCESS 4u

static bool is_region(const struct rd_event *ev)
{
	return rd_is_verb(ev, "ibv_reg_mr") || rd_is_verb(ev, "ibv_rereg_mr");
}

/* On-demand paging of the whole address space: address 0 and the greatest length. */
static bool is_implicit(const struct rd_request *r)
{
	return r->v[RD_REQ_ACCESS] & ON_DEMAND && !r->v[RD_REQ_ADDRESS] && r->v[RD_REQ_LENGTH] == UINT64_MAX;
}

static void add_range(const struct rd_request *r, struct rd_explanation *ret)
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
	rd_explain_fix(ret, "# choose an iova with the same offset in its page as the address");
	add_range(r, ret);
	return true;
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
	add_range(r, ret);
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
	rd_explain_fix(ret, "# register the memory without them (IBV_ACCESS_FLUSH_GLOBAL, _FLUSH_PERSISTENT), or "
			    "update the kernel to 6.2 or later");
	return true;
}

static bool find_access(const struct rd_failure *f, struct rd_explanation *ret)
{
	uint64_t access = f->event->request.v[RD_REQ_ACCESS],
		 unknown = access & ~(uint64_t)(ACCESS_KNOWN | ACCESS_OPTIONAL);

	if (access & (REMOTE_WRITE | REMOTE_ATOMIC) && !(access & LOCAL_WRITE)) {
		rd_explain(ret, "access-flags", RD_CONFIDENCE_HIGH,
			   "%s requires IBV_ACCESS_LOCAL_WRITE, which is missing in the access flags 0x%" PRIx64,
			   access & REMOTE_WRITE ? "IBV_ACCESS_REMOTE_WRITE" : "IBV_ACCESS_REMOTE_ATOMIC", access);
		rd_explain_fix(ret, "# add IBV_ACCESS_LOCAL_WRITE");
		return true;
	}
	if (!unknown)
		return find_newer(f, ret);
	rd_explain(ret, "access-flags", RD_CONFIDENCE_MEDIUM,
		   "the access flags 0x%" PRIx64 " contain 0x%" PRIx64 ", which is not defined", access, unknown);
	rd_explain_fix(ret, "# use only enum ibv_access_flags\n# a library that is newer than the kernel may know "
			    "more of them");
	return true;
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
		   f->event->ibdev ? f->event->ibdev : "the device");
	rd_explain_fact(ret, "request: access flags 0x%" PRIx64, f->event->request.v[RD_REQ_ACCESS]);
	rd_explain_fix(ret, "# register the memory without IBV_ACCESS_ON_DEMAND\n# ibv_devinfo -v shows odp_caps of "
			    "the device");
	return true;
}

/* Access flags that only some drivers know. Each that the request has may be the one; which a driver knows is not known here. */
static bool find_optional(const struct rd_failure *f, struct rd_explanation *ret)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} flags[] = { { ACCESS_HUGETLB, "IBV_ACCESS_HUGETLB" },
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
		   f->event->ibdev ? f->event->ibdev : "the device", names.data, n == 1 ? "is" : "are", access);
	rd_explain_fix(ret, "# register the memory without %s", n == 1 ? "it" : "them");
	return true;
}

/* Flushing to persistent memory: the memory itself must be persistent. */
static bool find_persistent(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;
	uint64_t access = f->event->request.v[RD_REQ_ACCESS];

	if (!(access & ACCESS_FLUSH_PERSISTENT) || !m->mapped_all || m->special.kind == RD_MAP_FILE ||
	    !(rd_failure_in_driver(f) || rd_failure_origin_is(f, "*umem*")))
		return false;
	rd_explain(ret, "memory-not-persistent", RD_CONFIDENCE_MEDIUM,
		   "IBV_ACCESS_FLUSH_PERSISTENT requires persistent memory, and the range is ordinary memory");
	rd_explain_fact(ret, "request: access flags 0x%" PRIx64, access);
	rd_explain_fix(ret, "# register a mapping of persistent memory (DAX), or leave the flag out");
	return true;
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
	rd_explain_fix(ret, "# set IBV_REREG_MR_CHANGE_TRANSLATION, _PD or _ACCESS, as needed");
	return true;
}

/* Windows of type 1 and 2; UVERBS: enum ibv_mw_type. */
static bool find_window(const struct rd_failure *f, struct rd_explanation *ret)
{
	uint64_t type = f->event->request.v[RD_REQ_MW_TYPE];

	if (!rd_req_has(&f->event->request, RD_REQ_MW_TYPE) || type == 1 || type == 2)
		return false;
	rd_explain(ret, "attribute-value", RD_CONFIDENCE_HIGH, "type %" PRIu64 " of the memory window does not exist",
		   type);
	rd_explain_fix(ret, "# use IBV_MW_TYPE_1 or IBV_MW_TYPE_2");
	return true;
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
	rd_explain_fix(ret, "# register the memory again, with IBV_ACCESS_LOCAL_WRITE");
	return true;
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
	rd_explain_fix(ret, "# use only IBV_ACCESS_LOCAL_WRITE, _REMOTE_READ, _REMOTE_WRITE, _REMOTE_ATOMIC and "
			    "_RELAXED_ORDERING");
	return true;
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

static bool find_region(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_request *r = &f->event->request;
	bool whole = rd_req_has(r, RD_REQ_ADDRESS) && rd_req_has(r, RD_REQ_LENGTH) && rd_req_has(r, RD_REQ_IOVA) &&
		     rd_req_has(r, RD_REQ_ACCESS);

	if (f->event->err == -EINVAL && (find_window(f, ret) || find_dmabuf(f, ret)))
		return true;
	if (!is_region(f->event) || !whole)
		return false;
	if (f->event->err == -EACCES)
		return find_not_writable(f, ret);
	if (find_rereg(f, ret))
		return true;
	if (f->event->err == -EINVAL && find_values(f, ret))
		return true;
	if (f->event->err != -EINVAL)
		return is_changed(r, REREG_ACCESS) && (find_on_demand(f, ret) || find_optional(f, ret));
	rd_explain_fact(looked, "range, iova and access flags (0x%" PRIx64 ") of the request are valid",
			r->v[RD_REQ_ACCESS]);
	return false;
}

const struct rd_cause_rule rd_cause_region = { .errnos = { EINVAL, EOPNOTSUPP, EACCES }, .find = find_region };
