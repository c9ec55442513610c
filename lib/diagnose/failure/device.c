// SPDX-License-Identifier: GPL-2.0-or-later
/* Devices: resources that are used up, by the device or a control group; removal; failed commands of the firmware. */

#include "base/buf.h"
#include "base/fix.h"
#include "diagnose/shared/rule.h"

/* Resources of the device and memory of the host that are used up. */

static const struct {
	const char *verb;
	enum rd_res_kind kind;
	const char *attr, *what;
} kinds[] = {
	{ "ibv_create_qp?(_ex)", RD_RES_QP, "max_qp", "queue pairs" },
	{ "ibv_create_cq?(_ex)", RD_RES_CQ, "max_cq", "completion queues" },
	{ "ibv_reg?(_dmabuf)_mr", RD_RES_MR, "max_mr", "memory regions" },
	{ "ibv_alloc_pd", RD_RES_PD, "max_pd", "protection domains" },
	{ "ibv_create_srq", RD_RES_SRQ, "max_srq", "shared receive queues" },
};

/* The objects of the process that holds most of them. */
static void add_holders(const struct rd_failure *f, enum rd_res_kind kind, struct rd_explanation *ret)
{
	uint64_t own = 0;

	for (size_t i = 0; i < f->res.n_qps && kind == RD_RES_QP; i++)
		own += f->res.qps[i].owner.pid.known == RD_OK && f->res.qps[i].owner.pid.v == f->event->pid;
	for (size_t i = 0; i < f->res.n_objects; i++)
		own += f->res.objects[i].kind == kind && f->res.objects[i].owner.pid.known == RD_OK &&
		       f->res.objects[i].owner.pid.v == f->event->pid;
	rd_explain_fact(ret, "this process has %" PRIu64 " of them", own);
}

bool rd_find_exhausted(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_res_dev *dev = NULL;
	uint64_t most;

	for (size_t i = 0; !dev && f->event->ibdev && i < f->res.n_devs; i++)
		dev = strcmp(f->res.devs[i].name, f->event->ibdev) ? NULL : &f->res.devs[i];
	for (size_t i = 0; dev && i < RD_ARRAY_SIZE(kinds); i++) {
		if (!rd_is_verb(f->event, kinds[i].verb) || dev->used[kinds[i].kind].known != RD_OK ||
		    !rd_failure_attr(f, kinds[i].attr, &most))
			continue;
		if (dev->used[kinds[i].kind].v < most)
			return rd_explain_fact(looked, "%s has %" PRIu64 " %s of at most %" PRIu64, dev->name,
					       dev->used[kinds[i].kind].v, kinds[i].what, most);
		rd_explain(ret, "device-resources", rd_failure_in_driver(f) ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "%s has no %s left: %" PRIu64 " of %s %" PRIu64 " are in use", dev->name, kinds[i].what,
			   dev->used[kinds[i].kind].v, kinds[i].attr, most);
		add_holders(f, kinds[i].kind, ret);
		return rd_explain_fix(
			ret, "rdma resource show %s %s %s\n# end what holds them: the list names the processes",
			rd_res_kind_name(kinds[i].kind), kinds[i].kind == RD_RES_QP ? "link" : "dev", dev->name);
	}
	return false;
}

/* ENOMEM without another reason. A control group near its limit does not show that it is the reason: page cache fills it, and the
 * kernel counts each time that it had to free some of it. So this is never a cause, but the operator has to know it. */
bool rd_find_out_of_memory(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_memory_group *g = &f->memory.group;

	(void)ret;
	if (!g->path && !f->cgroups_v1)
		rd_explain_fact(looked, "no control group of the process limits its memory");
	if (!g->path || g->current.known != RD_OK || g->max.known != RD_OK)
		return false;
	rd_explain_fact(looked, "control group %s uses %s of %s memory, page cache included", g->path,
			RD_BYTES(g->current.v), RD_BYTES(g->max.v));
	if (g->failures.known == RD_OK && g->failures.v)
		rd_explain_fact(looked, "%s reached its limit %" PRIu64 " time%s since it was created", g->path,
				g->failures.v, g->failures.v == 1 ? "" : "s");
	return false;
}

/* Limits of the rdma controller of control groups: the kernel charges an object to the group of the process and to all groups above
 * it, and fails with EAGAIN if one of them is at its limit (kernel/cgroup/rdma.c). */

#define LASTS                                                                                          \
	"\n# lasts as long as the group: raise it also where the limits of the group are configured\n" \
	"# or free objects that are not needed"

struct resource {
	enum rd_rdma_resource id;
	const char *name; /* in rdma.max */
	const char *what;
};

static uint64_t max_of(const struct rd_rdma_cgroup *g, const struct resource *r)
{
	return g->of[r->id].max.known == RD_OK ? g->of[r->id].max.v : UINT64_MAX;
}

/* Groups that limit the resource: the first one at its limit now, else the first one. */
struct limiting {
	const struct rd_rdma_cgroup *group;
	size_t n;
	bool known, full;
	uint64_t now;
};

static struct limiting find_groups(const struct rd_failure *f, const struct resource *r)
{
	struct limiting ret = { 0 };

	for (size_t i = 0; i < f->n_cgroups; i++) {
		const struct rd_rdma_cgroup *g = &f->cgroups[i];
		uint64_t max = max_of(g, r), now = g->of[r->id].now.v;
		bool known = g->of[r->id].now.known == RD_OK, full = known && now >= max;

		if (max == UINT64_MAX)
			continue;
		if (!ret.n++ || (full && !ret.full)) {
			ret.group = g;
			ret.known = known;
			ret.full = full;
			ret.now = now;
		}
	}
	return ret;
}

/* None of several groups is at its limit any more: objects of a process that has ended are no longer counted. */
static void explain_several(const struct rd_failure *f, const struct resource *r, enum rd_confidence confidence,
			    struct rd_explanation *ret)
{
	_cleanup_buf_ struct rd_buf groups = { 0 }, files = { 0 };
	bool plain = true;

	for (size_t i = 0; i < f->n_cgroups; i++) {
		uint64_t max = max_of(&f->cgroups[i], r);
		const char *path = f->cgroups[i].path;

		if (max == UINT64_MAX)
			continue;
		plain &= rd_word_is_plain(path);
		rd_buf_printf(&groups, "%s%s allows %" PRIu64, groups.len ? " and " : "", path, max);
		rd_buf_printf(&files, " /sys/fs/cgroup%s/rdma.max", strcmp(path, "/") ? path : "");
	}
	rd_explain(ret, "cgroup-rdma-limit", confidence,
		   "a control group of the process was at its limit of %s on %s: %s; which one was full is not known",
		   r->what, f->event->ibdev, groups.data);
	rd_explain_fix(ret, "%secho \"%s %s=max\" | tee%s" LASTS, plain ? "" : "# ", f->event->ibdev, r->name,
		       files.data);
}

static void explain_one(const struct rd_failure *f, const struct resource *r, const struct limiting *l, bool charges,
			struct rd_explanation *ret)
{
	const char *path = l->group->path;
	uint64_t max = max_of(l->group, r);

	if (l->full || !l->known)
		rd_explain(ret, "cgroup-rdma-limit", charges ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "control group %s is at its limit of %" PRIu64 " %s on %s (rdma.max)", path, max, r->what,
			   f->event->ibdev);
	else
		rd_explain(ret, "cgroup-rdma-limit", RD_CONFIDENCE_MEDIUM,
			   "control group %s was at its limit of %s on %s (rdma.max): now it allows %" PRIu64
			   " and has %" PRIu64
			   " in use; its limit may have been changed since, or its objects were freed",
			   path, r->what, f->event->ibdev, max, l->now);
	rd_explain_fix(ret, "%secho \"%s %s=max\" > /sys/fs/cgroup%s/rdma.max" LASTS,
		       rd_word_is_plain(path) ? "" : "# ", f->event->ibdev, r->name, strcmp(path, "/") ? path : "");
}

bool rd_find_rdma_cgroup(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	static const struct resource resources[] = { { RD_RDMA_OBJECTS, "hca_object", "RDMA objects" },
						     { RD_RDMA_HANDLES, "hca_handle", "open devices" } };
	const struct resource r = resources[rd_is_verb(f->event, "ibv_open_device")];
	bool charge = rd_failure_origin_is(f, "*rdmacg*");
	bool charges = charge || rd_failure_origin_is(f, "alloc_begin_idr_uobject") ||
		       (!rd_failure_in_driver(f) && rd_failure_origin_is(f, "@(*ucontext*|*GET_CONTEXT*)"));
	struct limiting limiting;

	/* It fails for no other reason, and the groups of version 1 are not those of the event. */
	if (f->cgroups_v1 && charge && f->event->origin_exact) {
		rd_explain(ret, "cgroup-rdma-limit", RD_CONFIDENCE_MEDIUM,
			   "a control group of version 1 is at its limit of %s on %s (rdma.max)", r.what,
			   f->event->ibdev ?: "the device");
		return rd_explain_fix(
			ret,
			"grep rdma /proc/%u/cgroup\n# names the group: raise %s in its rdma.max, below the mount of "
			"the rdma controller, or in a group above it",
			f->event->pid, r.name);
	}
	if (f->cgroups_known != RD_OK || f->cgroups_v1)
		return false;
	limiting = find_groups(f, &r);
	if (!limiting.n)
		return rd_explain_fact(looked, "no control group of the process (%s) limits %s of %s", f->event->cgroup,
				       r.name, f->event->ibdev);
	if (!charges && !limiting.full)
		return false;
	if (limiting.n > 1 && !limiting.full)
		explain_several(f, &r, charge ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM, ret);
	else
		explain_one(f, &r, &limiting, charges, ret);
	for (size_t i = 0; i < f->n_cgroups; i++) {
		const struct rd_rdma_cgroup *g = &f->cgroups[i];
		uint64_t max = max_of(g, &r), now = g->of[r.id].now.v;

		if (max != UINT64_MAX && g->of[r.id].now.known == RD_OK)
			rd_explain_fact(ret, "%s: %s of %s is %" PRIu64 ", in use %" PRIu64, g->path, r.name,
					f->event->ibdev, max, now);
		else if (max != UINT64_MAX)
			rd_explain_fact(ret, "%s: %s of %s is %" PRIu64, g->path, r.name, f->event->ibdev, max);
	}
	rd_explain_fact(ret, "control group of the process: %s", f->event->cgroup);
	return true;
}

/* Devices that were removed or reset under a program that has them open: ib_uverbs_get_ucontext_file(), rdma_lookup_get_uobject(). */

bool rd_find_removed(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const char *dev = f->event->ibdev ?: "the device";
	bool core = rd_failure_origin_is(f, "@(ib_uverbs_@(get_ucontext_file|ioctl|cmd_verbs|mmap|open)|"
					    "rdma_lookup_get_uobject|alloc_begin_*)");
	bool gone = f->dev.known == RD_ABSENT, usual = f->event->err == -EIO || f->event->err == -ENXIO;

	/* Its port cannot be read any more. */
	bool going = f->dev.known == RD_OK && (f->event->err == -ENODEV || f->event->err == -ENODATA) && f->dev.port &&
		     !f->dev.state && !f->dev.netdev;

	if (!gone && !going && (!core || !usual)) {
		if (f->event->ibdev && f->dev.known == RD_OK)
			rd_explain_fact(looked, "%s is present, port %u is %s", dev, f->dev.port,
					f->dev.state ?: "unknown");
		return false;
	}
	/* A device with a new name fails for its own reasons, and is missed as well. */
	rd_explain(ret, "device-removed", gone && core && usual ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "%s was %s while the program had it open", dev,
		   gone && !(core && usual) ? "removed, reset or renamed" : "removed or reset");
	rd_explain_fact(ret, "%s is %s /sys/class/infiniband now%s", dev, gone ? "not in" : "in",
			going ? ", but its port has neither interface nor state" : "");
	return rd_explain_fix(ret, "dmesg | tail -n 100\n# the log shows why it was removed\n"
				   "# the program has to close the device and open it again");
}

/* While a device is being removed its GIDs, ports and resources go first: calls then fail with the errno of what they miss. */
/*
 * Errors of firmware commands, as drivers report them in the kernel log. What is known here of a driver was read from its messages
 * in public reports; no rule of this file has run on such a device.
 *
 * mlx5_core: "FUNCTION:803:(pid 4721): CREATE_MKEY(0x200) op_mod(0x0) failed, status limits exceeded(0x8), syndrome
 * (0x59c8a4), err(-12)". The process is that of the call; err is its errno. Older versions lack "err" and the function.
 */

#define WORD_LONGEST 63

#define MOST \
	"rdma resource show IBDEV\n# end the processes that hold most: rdma resource show qp, cq, mr, pd, srq or ctx"

/* What a status of a command means for the operator. */
static const struct status {
	const char *command; /* prefix; "": any */
	const char *status;
	const char *id, *what, *fix;
} statuses[] = {
	{ "CREATE_MKEY", "limits exceeded", "device-resources", "the adapter has no memory keys left",
	  "rdma resource show mr dev IBDEV\n# end the processes with most regions, or bound the registration cache" },
	{ "CREATE_QP", "limits exceeded", "device-resources", "the adapter has no queue pairs left",
	  "rdma resource show qp link IBDEV\n# end the processes with most queue pairs\n# the limit can be lower than max_qp" },
	{ "ALLOC_UAR", "limits exceeded", "device-resources", "the adapter has no doorbell pages (UAR) left",
	  "rdma resource show ctx dev IBDEV\n# open the device in fewer processes, or enlarge the BAR (PF_LOG_BAR_SIZE of mlxconfig)" },
	{ "", "limits exceeded", "device-resources", "a limit of the adapter is reached", MOST },
	{ "", "no resources", "device-resources", "the adapter has no resources left for the command", MOST },
	{ "", "bad parameter", "firmware-status", "the firmware refused a parameter of the command",
	  "# check the attributes of the call\n# the vendor can tell the meaning of the syndrome" },
	{ "", "bad system state", "firmware-status", "the adapter is in a bad state",
	  "dmesg -T | grep ADDRESS\ndevlink dev reload pci/ADDRESS\n# no job may use IBDEV meanwhile\n"
	  "# if the reload fails, reset the device or reboot" },
	{ "", "", "firmware-status", "the firmware refused the command",
	  "# the vendor can tell the meaning of the syndrome" },
};

struct report {
	char command[WORD_LONGEST + 1], status[WORD_LONGEST + 1], syndrome[WORD_LONGEST + 1];
	bool has_pid, has_err;
	uint32_t pid, err;
};

/* Copies what stands between two texts. */
static bool take_between(const char *text, const char *before, const char *after, char *ret)
{
	const char *start = strstr(text, before), *end;

	start = start ? start + strlen(before) : NULL;
	end = start ? strstr(start, after) : NULL;
	if (!end || end - start > WORD_LONGEST)
		return false;
	memcpy(ret, start, (size_t)(end - start));
	ret[end - start] = '\0';
	return true;
}

static bool take_number(const char *text, const char *before, uint32_t *ret)
{
	const char *at = strstr(text, before);

	at = at ? at + strlen(before) : NULL;
	return at && rd_take_u32(&at, RD_DECIMAL, UINT32_MAX, ret) == 0;
}

/* "COMMAND(0x200) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x59c8a4)" */
static bool parse_report(const char *text, struct report *ret)
{
	const char *op = strstr(text, " op_mod("), *start;

	*ret = (struct report){ .command = "" };
	if (!op || !take_between(op, "status ", "(", ret->status) || !take_between(op, "syndrome (", ")", ret->syndrome))
		return false;
	for (start = op; start > text && start[-1] != ' '; start--)
		;
	snprintf(ret->command, sizeof(ret->command), "%.*s", (int)strcspn(start, "("), start);
	ret->has_pid = take_number(text, "(pid ", &ret->pid);
	ret->has_err = take_number(op, "err(-", &ret->err);
	return true;
}

static const struct status *find_status(const struct report *report)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(statuses); i++)
		if (rd_starts_with(report->command, statuses[i].command) &&
		    rd_starts_with(report->status, statuses[i].status))
			return &statuses[i];
	return NULL;
}

bool rd_find_firmware(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_krecord *other = NULL;

	if (!f->dev.pci) /* a soft device has none */
		return false;
	if (f->log.known == RD_DENIED)
		return rd_explain_fact(
			looked, "the kernel log is not readable (dmesg_restrict): messages of the driver are unknown");
	for (size_t i = f->log.n; i-- > f->log_first;) {
		const struct rd_krecord *record = &f->log.v[i];
		_cleanup_free_ char *fix = NULL;
		const struct status *status;
		struct report report;
		const char *pci = rd_krecord_pci(record);

		/* A message of this device, since the call began, and with the errno of the call. */
		if (record->facility != RD_KLOG_KERN || !parse_report(record->text, &report) ||
		    (pci && strcmp(pci, f->dev.pci) != 0) || (report.has_err && (int)report.err != -f->event->err))
			continue;
		/* The pid in a message is that of the initial namespace. Of several processes that fail at once each has its own
		 * message; if ours is not among them, we are in another namespace, or the firmware is not the cause. Nor is it of a call
		 * in which the driver did not fail. */
		if ((report.has_pid && f->event->tid && report.pid != f->event->tid) ||
		    (f->event->origin_exact && !rd_failure_in_driver(f))) {
			other = record;
			continue;
		}
		status = find_status(&report);
		rd_explain(ret, status->id, report.has_pid && f->event->tid ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "%s: firmware command %s failed with status \"%s\", syndrome %s", status->what,
			   report.command, report.status, report.syndrome);
		rd_explain_fact(ret, "kernel log: %.200s", record->text);
		fix = rd_fix_fill(status->fix,
				  (struct rd_fix_word[]){ { "ADDRESS", f->dev.pci }, { "IBDEV", f->event->ibdev } }, 2);
		return rd_explain_fix(ret, "%s", fix);
	}
	if (other)
		rd_explain_fact(looked, "kernel log, of another call, or seen from another PID namespace: %.200s",
				other->text);
	else if (f->log_first < f->log.n)
		rd_explain_fact(
			looked,
			"%zu kernel message%s since two seconds before the call: none reports a firmware command of the "
			"device",
			f->log.n - f->log_first, f->log.n - f->log_first == 1 ? "" : "s");
	else
		rd_explain_fact(looked, "the kernel logged nothing since two seconds before the call");
	return false;
}
