// SPDX-License-Identifier: GPL-2.0-or-later
#include "diagnose/failure/explain.h"

#include <fnmatch.h>

#include "base/buf.h"
#include "base/fix.h"
#include "diagnose/shared/rule.h"

/* include/linux/errno.h: those with which the kernel restarts a call, and ERESTART_RESTARTBLOCK */
static bool find_signal(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	(void)looked;
	if (rd_failure_in_driver(f) && f->event->origin_exact && f->event->err == -EINTR)
		return false;
	rd_explain(ret, "interrupted", f->read & RD_FACT_MEMORY ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "a signal interrupted the call: SIGKILL, or one that the program handles");
	rd_explain_fact(ret, "%s is returned to a call that a signal interrupts", rd_errno_name(-f->event->err));
	/* SIGKILL may be of a control group that has no memory left. */
	if (f->read & RD_FACT_MEMORY)
		rd_find_out_of_memory(f, ret, ret);
	return rd_explain_fix(
		ret,
		"dmesg | grep oom-kill\n# what is listed was ended because memory ran out; else it is no failure, or "
		"call it again, or block the signal (SA_RESTART does not help with each call)");
}

/* In this order: of several causes of the same confidence, the first is reported. */
static const struct rule {
	rd_cause_find *find;
	int errnos[8];	/* positive, ended by 0; empty: any */
	unsigned needs; /* enum rd_fact */
} rules[] = {
	{ rd_find_handle, { ENOENT, EINVAL }, 0 },
	{ rd_find_descriptors_invalid, { EBADF, EINVAL, ENOENT }, 0 },
	{ rd_find_create, { EINVAL, EPERM, ENOENT, EOPNOTSUPP }, 0 },
	{ rd_find_descriptors, { EMFILE }, 0 },
	{ rd_find_in_use, { EBUSY }, RD_FACT_OBJECTS },
	{ rd_find_memlock, { ENOMEM, EPERM }, 0 },
	{ rd_find_region, { EINVAL, EOPNOTSUPP, EACCES }, 0 },
	{ rd_find_mapping, { EFAULT }, 0 },
	{ rd_find_memory, { EFAULT, ENOMEM }, RD_FACT_MEMORY },
	{ rd_find_user_buffer, { EFAULT }, 0 },
	{ rd_find_ports, { EINVAL }, RD_FACT_DEVICE },
	{ rd_find_qp_transition, { EINVAL }, 0 },
	{ rd_find_gid,
	  { EINVAL, ENODATA, ENODEV, ENOENT, ETIMEDOUT, ENETUNREACH, EHOSTUNREACH },
	  RD_FACT_GID | RD_FACT_DEVICE | RD_FACT_NET },
	{ rd_find_qp_values, { EINVAL, EOPNOTSUPP, EPERM, ENOTSUP }, RD_FACT_LIMITS | RD_FACT_DEVICE },
	{ rd_find_queue_limits, { EINVAL, ENOMEM }, RD_FACT_LIMITS },
	{ rd_find_multicast, { EINVAL, ENOMEM, ENOENT }, RD_FACT_LIMITS },
	{ rd_find_cm_state, { 0 }, 0 },
	{ rd_find_cm_request, { EINVAL, ENOSYS, ENOENT }, 0 },
	{ rd_find_cm_device, { EINVAL }, 0 },
	{ rd_find_cm_address,
	  { EADDRINUSE, EADDRNOTAVAIL, ENODEV, EACCES, EAFNOSUPPORT },
	  RD_FACT_NET | RD_FACT_PATH | RD_FACT_CM_IDS },
	{ rd_find_path, { ETIMEDOUT, ENETUNREACH, EHOSTUNREACH, ENETDOWN, ENODEV, EINVAL, EACCES }, RD_FACT_PATH },
	{ rd_find_rdma_cgroup, { EAGAIN }, RD_FACT_CGROUP },
	{ rd_find_removed, { EIO, ENXIO, ENODEV, ENODATA, ENOENT, ETIMEDOUT }, RD_FACT_DEVICE },
	{ rd_find_core_checks, { EINVAL, EPROTONOSUPPORT, EACCES, ENOSYS, EPERM, ENFILE }, 0 },
	{ rd_find_support, { EOPNOTSUPP, EPROTONOSUPPORT, ENOTTY, 524 /* ENOTSUPP */ }, RD_FACT_DEVICE },
	{ rd_find_malformed, { ENOSPC, EMSGSIZE }, 0 },
	{ rd_find_exhausted, { ENOMEM, ENOSPC, EINVAL }, RD_FACT_LIMITS | RD_FACT_OBJECTS },
	{ rd_find_firmware, { 0 }, RD_FACT_LOG | RD_FACT_DEVICE },
	{ rd_find_out_of_memory, { ENOMEM, EINTR, 512, 513, 514, 516 }, RD_FACT_MEMORY },
	{ find_signal, { EINTR, 512, 513, 514, 516 }, 0 },
};

/* Where an errno can come from: modules, and the functions that pin memory. */
enum { UVERBS = 1, CORE = 2, PIN = 4, CM = 8, DRIVER = 16, ANY = 31 };

/* From where a cause can come: a rule that looks at values alone finds it elsewhere, too, where the values do not matter. The first row
 * that matches counts. */
static const struct reach {
	const char *id; /* a pattern */
	unsigned from;
} reaches[] = {
	{ "@(memlock-*|memory-*|range-*|cgroup-huge-pages)", PIN | DRIVER },
	{ "iova-offset", UVERBS | CORE | DRIVER },
	{ "@(handle-*|context-state|cgroup-rdma-limit)", UVERBS | CORE },
	{ "@(object-in-use|access-flags|capability-missing|port-number|limit-exceeded|grh-missing)",
	  UVERBS | CORE | DRIVER },
	{ "descriptors-exhausted", UVERBS | CORE | CM },
	{ "@(qp-*|gid-*|user-buffer)", UVERBS | CORE | CM | DRIVER },
	{ "@(no-route|neighbour-unreachable|interface-down|address-*)", CORE | CM },
	{ "@(privileged-port|ports-exhausted|cm-id-*)", CM },
	{ "private-data-too-long", CM | DRIVER },
	{ "*", ANY },
};

/* Where the origin is, and what it calls: if it is not exact, the errno may be from there. */
static unsigned places_of(const struct rd_failure *f)
{
	static const struct {
		const char *module;
		unsigned place, below;
	} modules[] = { { "ib_uverbs", UVERBS, ANY },
			{ "ib_uverbs_support", UVERBS, ANY },
			{ "ib_core", CORE, CORE | PIN | DRIVER },
			{ "rdma_ucm", CM, ANY },
			{ "rdma_cm", CM, CM | CORE | DRIVER },
			{ "ib_cm", CM, CM | CORE | DRIVER },
			{ "iw_cm", CM, CM | CORE | DRIVER } };
	int origin = f->event->origin;

	if (origin < 0 || (size_t)origin >= f->set->n_fns)
		return ANY;
	if (rd_failure_origin_is(f, "*umem*get*"))
		return PIN;
	for (size_t i = 0; i < RD_ARRAY_SIZE(modules); i++)
		if (!strcmp(f->set->modules[f->set->fns[origin].module].name, modules[i].module))
			return f->event->origin_exact ? modules[i].place : modules[i].below;
	return f->event->origin_exact ? DRIVER : DRIVER | CORE | PIN;
}

static bool can_come_from(const char *id, unsigned places)
{
	size_t i = 0;

	while (fnmatch(reaches[i].id, id, FNM_EXTMATCH) != 0)
		i++;
	return reaches[i].from & places;
}

static bool applies(const struct rule *rule, const struct rd_failure *f)
{
	if (!rule->errnos[0])
		return true;
	for (size_t i = 0; i < RD_ARRAY_SIZE(rule->errnos) && rule->errnos[i]; i++)
		if (rule->errnos[i] == -f->event->err)
			return true;
	return false;
}

unsigned rd_explain_needs(const struct rd_failure *f)
{
	unsigned needs = 0;

	for (size_t i = 0; i < RD_ARRAY_SIZE(rules); i++)
		if (applies(&rules[i], f))
			needs |= rules[i].needs;
	return needs;
}

/* What to look at next where no cause is found: the first row of the errno. */
static void add_next(const struct rd_failure *f, struct rd_explanation *ret)
{
	static const struct {
		int err; /* 0: any */
		bool cm;
		const char *command;
	} nexts[] = {
		{ EADDRNOTAVAIL, true, "ip address" },	      { ENODEV, true, "rdmadiag nic-map --gids" },
		{ EBUSY, false, "rdma resource show" },	      { ETIMEDOUT, false, "ip neigh" },
		{ EMFILE, false, "sysctl fs.file-nr" },	      { ENODATA, false, "rdmadiag nic-map --gids" },
		{ ENODEV, false, "rdmadiag nic-map --gids" }, { ENETUNREACH, false, "ip route show table all" },
		{ EHOSTUNREACH, false, "ip neigh" },	      { EOPNOTSUPP, false, "rdma dev show -d" },
		{ EACCES, true, "ip route show table all" },  { EAGAIN, false, "grep -rs hca_ /sys/fs/cgroup" },
		{ 0, true, "rdma resource show cm_id" },      { 0, false, "dmesg | tail -n 50" },
	};
	bool cm = f->event->object && !strcmp(f->event->object, "RDMA_CM");
	size_t i = 0;

	/* Drivers have timeouts of their own: those of commands; and no limits of control groups. */
	while ((nexts[i].cm && !cm) || (nexts[i].err && nexts[i].err != -f->event->err) ||
	       ((nexts[i].err == ETIMEDOUT || nexts[i].err == EAGAIN) && rd_failure_in_driver(f)))
		i++;
	if (f->other_net_ns && !strncmp(nexts[i].command, "ip ", 3))
		rd_explain_fix(ret, "nsenter -t %u -n %s", f->event->pid, nexts[i].command);
	else
		rd_explain_fix(ret, "%s", nexts[i].command);
}

/* What would have been looked at. */
static void add_unread(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_event *ev = f->event;
	unsigned needs = rd_explain_needs(f) & f->read;

	if (!ev->request.readable)
		rd_explain_fact(ret, "not read: the request of the call");
	if (rd_req_has(&ev->request, RD_REQ_ADDRESS) && !ev->moment.mapped_all && !ev->moment.fault.kind &&
	    !ev->moment.mapped_in_part && rd_failure_origin_is(f, "*umem*"))
		rd_explain_fact(ret, "not read: the mappings of the range");
	if (needs & RD_FACT_LIMITS && ev->ibdev && !f->n_attrs)
		rd_explain_fact(ret, "not read: the limits of %s", ev->ibdev);
	if (needs & (RD_FACT_MEMORY | RD_FACT_CGROUP) && f->cgroups_v1)
		rd_explain_fact(ret, "not looked at: control groups of version 1");
	if (!f->read)
		return;
	if (rd_failure_in_driver(f))
		rd_explain_fact(ret, "not looked at: conditions of the driver");
	else if (!ret->n_evidence)
		rd_explain_fact(ret, "no known reason for this errno of %s holds", rd_word_call(ev));
}

void rd_explain_failure(const struct rd_failure *f, struct rd_explanation *ret)
{
	struct rd_explanation looked = { 0 };
	unsigned places = places_of(f);

	for (size_t i = 0; i < RD_ARRAY_SIZE(rules); i++) {
		struct rd_explanation one = { 0 };

		if (!applies(&rules[i], f) || rules[i].needs & ~f->read)
			continue;
		if (!rules[i].find(f, &one, &looked) || (ret->id && one.confidence <= ret->confidence) ||
		    !can_come_from(one.id, places)) {
			rd_explanation_deinit(&one);
			continue;
		}
		rd_explanation_deinit(ret);
		*ret = one;
		if (ret->confidence == RD_CONFIDENCE_HIGH)
			break;
	}
	if (ret->id) {
		rd_explanation_deinit(&looked);
	} else {
		rd_explanation_deinit(ret);
		*ret = looked;
		add_unread(f, ret);
		add_next(f, ret);
	}
	/* Rules look at where the errno is from. */
	if (f->event->rival.known != RD_OK || f->event->rival.v < 0 || (size_t)f->event->rival.v >= f->set->n_fns)
		return;
	if (ret->confidence == RD_CONFIDENCE_HIGH)
		ret->confidence = RD_CONFIDENCE_MEDIUM;
	rd_explain_fact(ret, "%s failed with the same errno later in the call: in a cleanup, or as the reason",
			f->set->fns[f->event->rival.v].name);
}

char *rd_explain_line(const struct rd_explanation *e)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	_cleanup_free_ char *fix = rd_fix_line(e->fix);

	if (e->id)
		return fix ? rd_text("%s: %s", e->cause, fix) : rd_text("%s", e->cause);
	if (!e->n_evidence && !e->fix)
		return NULL;
	rd_buf_str(&out, "cannot tell");
	for (size_t i = 0; i < e->n_evidence; i++)
		rd_buf_printf(&out, "%s%s", i ? "; " : "; looked at: ", e->evidence[i]);
	if (fix)
		rd_buf_printf(&out, "; check: %s", fix);
	return rd_text("%s", out.data);
}
