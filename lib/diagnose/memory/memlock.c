// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The limit of locked memory, as __ib_umem_get_va() (ib_umem_get() before Linux 7.1) applies it: the pages pinned by the process and
 * those of the request together must not exceed RLIMIT_MEMLOCK, unless the process has CAP_IPC_LOCK in the initial user namespace.
 */
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "base/fix.h"
#include "diagnose/shared/rule.h"

#define ALMOST (16u << 20) /* queues of a device pin a few megabytes at most */

static uint64_t pages_of(uint64_t address, uint64_t length, uint64_t page)
{
	return (address % page + length + page - 1) / page;
}

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
	char limit[RD_BYTES_TEXT], pinned[RD_BYTES_TEXT];

	rd_explain_fact(ret, "RLIMIT_MEMLOCK of the process (soft limit): %s", rd_bytes_text(m->memlock.v, limit));
	rd_explain_fact(ret, "pinned by the process (VmPin) before this call: %s", rd_bytes_text(m->pinned.v, pinned));
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
static void add_fix(const struct rd_event *ev, struct rd_explanation *ret)
{
	const char *path = ev->cgroup ? ev->cgroup : "", *slash = strrchr(path, '/'), *unit = slash ? slash + 1 : path;
	bool slurm = strstr(path, "slurmstepd");
	_cleanup_free_ char *fix = NULL;
	size_t n = strlen(unit);

	if (strstr(path, "kubepods") || strstr(path, "docker") || strstr(path, "libpod") ||
	    strstr(path, "cri-containerd")) {
		rd_explain_fix(ret, "# raise the limit of the container: LimitMEMLOCK=infinity in the unit of the "
				    "container runtime (containerd.service, docker.service), or --ulimit memlock=-1\n"
				    "# then recreate the container");
	} else if (slurm ||
		   (n > 8 && !strcmp(unit + n - 8, ".service") && !strstr(path, "/user@") && rd_word_is_plain(unit))) {
		fix = rd_fix_fill(UNIT_FIX, &(struct rd_fix_word){ "UNIT", slurm ? "slurmd.service" : unit }, 1);
		rd_explain_fix(ret, "%s%s", fix, slurm ? SLURM_FIX : "");
	} else {
		rd_explain_fix(
			ret,
			"prlimit -p %u -lunlimited\n# only while it runs\n# also where it is launched: memlock in "
			"/etc/security/limits.conf for logins, LimitMEMLOCK=infinity for a systemd unit\n"
			"# ulimit -l shows it",
			ev->pid);
	}
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
	add_fix(f->event, ret);
	return true;
}

/* The pages of the request are known for memory regions. */
static bool find_exceeded(const struct rd_failure *f, uint64_t pages, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;
	uint64_t page = rd_moment_page(m), limit = m->memlock.v / page, pinned = m->pinned.v / page;
	uint64_t length = f->event->request.v[RD_REQ_LENGTH];
	char a[RD_BYTES_TEXT], b[RD_BYTES_TEXT], c[RD_BYTES_TEXT], d[RD_BYTES_TEXT];

	if (pages > UINT64_MAX / page - pinned || pinned + pages <= limit)
		return false;
	rd_explain(
		ret, "memlock-limit", rd_failure_origin_is(f, "*umem_get*") ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		"the process may pin %s of memory (RLIMIT_MEMLOCK); %s are pinned and %s more were requested: %s too much",
		rd_bytes_text(m->memlock.v, a), rd_bytes_text(m->pinned.v, b), rd_bytes_text(pages * page, c),
		rd_bytes_text((pinned + pages - limit) * page, d));
	add_facts(m, ret);
	rd_explain_fact(ret, "requested: %" PRIu64 " byte%s at 0x%" PRIx64 ", %" PRIu64 " page%s", length,
			length == 1 ? "" : "s", f->event->request.v[RD_REQ_ADDRESS], pages, pages == 1 ? "" : "s");
	add_fix(f->event, ret);
	return true;
}

/* The memory of a queue is pinned by the driver, which alone knows how much that is. */
static bool find_almost(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;
	char a[RD_BYTES_TEXT], b[RD_BYTES_TEXT];

	if (!rd_failure_origin_is(f, "*umem_get*") || m->memlock.v == UINT64_MAX ||
	    (m->memlock.v > m->pinned.v && m->memlock.v - m->pinned.v > ALMOST))
		return false;
	rd_explain(ret, "memlock-limit", RD_CONFIDENCE_MEDIUM,
		   "the process may pin %s of memory (RLIMIT_MEMLOCK), and %s are pinned: the queue needs more",
		   rd_bytes_text(m->memlock.v, a), rd_bytes_text(m->pinned.v, b));
	add_facts(m, ret);
	add_fix(f->event, ret);
	return true;
}

static bool find_memlock(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_moment *m = &f->event->moment;
	const struct rd_request *request = &f->event->request;
	bool range = rd_req_has(request, RD_REQ_ADDRESS) && rd_req_has(request, RD_REQ_LENGTH);
	char limit[RD_BYTES_TEXT], pinned[RD_BYTES_TEXT];
	uint64_t pages = range ? pages_of(request->v[RD_REQ_ADDRESS], request->v[RD_REQ_LENGTH],
					  rd_moment_page(&f->event->moment)) :
				 0;

	if (m->memlock.known != RD_OK || m->pinned.known != RD_OK || may_exceed(m, looked))
		return false;
	if (f->event->err == -EPERM)
		return range && find_zero(f, ret);
	if (range ? find_exceeded(f, pages, ret) : find_almost(f, ret))
		return true;
	rd_explain_fact(looked, "RLIMIT_MEMLOCK is %s, and %s are pinned: not exceeded%s",
			rd_bytes_text(m->memlock.v, limit), rd_bytes_text(m->pinned.v, pinned),
			range ? " by the request" : "");
	return false;
}

const struct rd_cause_rule rd_cause_memlock = { .errnos = { ENOMEM, EPERM }, .find = find_memlock };
