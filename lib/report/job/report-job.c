/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/job/report-job.h"

#include "base/buf.h"
#include "base/fix.h"

static const struct rd_column can_columns[] = {
	{ "result", "RESULT", RD_T_STR, "pass, skip, warn, fail, unknown", 0, false },
	{ "id", "ID", RD_T_STR, "what was judged", 0, false },
	{ "subject", "SUBJECT", RD_T_STR, "device or limit", 0, false },
	{ "observed", "OBSERVED", RD_T_STR, "what was found", 0, false },
	{ "expected", NULL, RD_T_STR, "what it should be", 0, false },
	{ "fix", NULL, RD_T_STR, "commands", 0, false },
	{ "advice", NULL, RD_T_STR, "what else to do", 0, false },
};

static const struct rd_column nic_columns[] = {
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	{ "port", "PORT", RD_T_UINT, "its port", 0, false },
	{ "qps", "QPS", RD_T_UINT, "connected queue pairs of the process", 0, false },
	{ "peers", "PEERS", RD_T_UINT, "their different known peers", 0, false },
	{ "share", "SHARE", RD_T_SHARE, "of the connected queue pairs of the process", 0, false },
};

static const struct rd_column socket_columns[] = {
	{ "connections", NULL, RD_T_UINT, "TCP connections to other hosts", 0, false },
	{ "bytes", NULL, RD_T_UINT, "sent and received over them", 0, false },
	{ "qp_peer_bytes", NULL, RD_T_UINT, "of these, with peers of its queue pairs", 0, false },
	{ "local_bytes", NULL, RD_T_UINT, "over connections inside the host", 0, false },
};

static const struct rd_column library_columns[] = {
	{ "name", NULL, RD_T_STR, "library", 0, false },
	{ "version", NULL, RD_T_STR, "as its file's name or its Python package has it", 0, false },
	{ "path", NULL, RD_T_STR, "file, as its process sees it", 0, false },
};

static const struct rd_column env_columns[] = {
	{ "name", NULL, RD_T_STR, "variable", 0, false },
	{ "value", NULL, RD_T_STR, "its value", 0, false },
};

struct rd_section *rd_report_job_can(const struct rd_job_view *view)
{
	struct rd_section *section = RD_SECTION("can", can_columns);

	for (size_t i = 0; i < view->can.n; i++) {
		const struct rd_finding *finding = &view->can.v[i];
		struct rd_row *row = RD_ROW(section, RD_STR(rd_severity_result(finding->severity)), RD_STR(finding->id),
					    RD_STR(finding->subject), RD_STR(finding->observed),
					    RD_STR(finding->expected));

		rd_row_fix(row, 5, finding->fix);
		row->severity = finding->severity;
	}
	return section;
}

static struct rd_section *nics_of(const struct rd_job_view *view)
{
	struct rd_section *section = RD_SECTION("nics", nic_columns);
	size_t all = 0;

	for (size_t i = 0; i < view->n_nics; i++)
		all += view->nics[i].qps;
	for (size_t i = 0; i < view->n_nics; i++) {
		const struct rd_job_nic *nic = &view->nics[i];

		RD_ROW(section, RD_STR(nic->ibdev), RD_UINT(nic->port), RD_UINT(nic->qps),
		       nic->peers ? RD_UINT(nic->peers) : RD_UNKNOWN_CELL, RD_DOUBLE((double)nic->qps / (double)all));
	}
	return section;
}

static struct rd_section *sockets_of(const struct rd_job_sockets *sockets)
{
	struct rd_section *section = RD_SECTION("sockets", socket_columns);

	if (sockets->known)
		RD_ROW(section, RD_UINT(sockets->connections), RD_UINT(sockets->bytes), RD_UINT(sockets->to_qp_peers),
		       RD_UINT(sockets->local_bytes));
	else
		rd_section_add(section);
	return section;
}

static struct rd_section *libraries_of(const struct rd_job_proc *proc)
{
	struct rd_section *section = RD_SECTION("libraries", library_columns);

	for (size_t i = 0; i < proc->libs.n; i++) {
		const char *path = proc->libs.v[i], *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
		_cleanup_free_ char *copy = rd_text("%.*s", (int)strcspn(name, "."), name),
				    *version = rd_job_lib_version(proc, path);

		RD_ROW(section, RD_STR(copy), RD_STR(version), RD_STR(path));
	}
	return section;
}

static struct rd_section *env_of(const struct rd_job_proc *proc)
{
	struct rd_section *section = RD_SECTION("env", env_columns);

	for (size_t i = 0; i < proc->env.n; i++) {
		const char *equals = strchr(proc->env.v[i], '=');
		_cleanup_free_ char *name = NULL;

		if (!equals)
			continue;
		name = rd_dup_part(proc->env.v[i], (size_t)(equals - proc->env.v[i]));
		RD_ROW(section, RD_STR(name), RD_STR(equals + 1));
	}
	return section;
}

static void add_process(struct rd_section *section, const struct rd_job_view *view)
{
	static const char *const asked[] = { NULL, "rdma", "tcp" };
	const struct rd_job_proc *proc = view->proc;
	struct rd_row *row;
	size_t qps = 0;

	for (size_t i = 0; i < view->n_nics; i++)
		qps += view->nics[i].qps;
	row = RD_ROW(section, proc->here ? RD_UNKNOWN_CELL : RD_UINT(proc->pid), RD_STR(proc->comm), RD_STR(proc->job),
		     RD_STR(asked[view->asked]), RD_STR(view->asked_by), RD_STR(rd_job_verdict_name(view->verdict)),
		     RD_BOOL_OF(view->able), proc->here ? RD_UNKNOWN_CELL : RD_UINT(qps), RD_STR(view->reason),
		     RD_STR(view->runtime), RD_SUB(rd_report_job_can(view)), RD_SUB(nics_of(view)),
		     RD_SUB(sockets_of(&view->sockets)), RD_SUB(libraries_of(proc)), RD_SUB(env_of(proc)));
	row->severity = view->severity;
}

static char *subject_of(const struct rd_job_proc *proc)
{
	return proc->here ? rd_text("a process started here") : rd_text("%s, process %u", proc->comm ?: "?", proc->pid);
}

static const char *answer_of(const struct rd_job_view *view)
{
	bool unable = view->obstacle && view->obstacle->severity == RD_SEV_CRITICAL;

	if (view->verdict != RD_JOB_IDLE || (!view->proc->here && !(unable && view->severity == RD_SEV_CRITICAL)))
		return rd_job_verdict_name(view->verdict);
	return unable			       ? "cannot use RDMA" :
	       view->asked == RD_JOB_ASKED_TCP ? "uses TCP" :
	       view->able.known != RD_OK       ? "cannot tell whether RDMA can be used" :
						 "can use RDMA";
}

char *rd_report_job_line(const struct rd_job_view *view)
{
	_cleanup_free_ char *subject = subject_of(view->proc);
	_cleanup_free_ char *fix = rd_fix_line(view->fix);
	_cleanup_free_ char *text =
		rd_text("%s: %s: %s%s%s", subject, answer_of(view), view->reason, fix ? "; fix: " : "", fix ?: "");

	return rd_safe(text);
}

static void add_finding(struct rd_report *report, const struct rd_job_view *view)
{
	static const struct {
		const char *id, *title, *why;
	} kinds[] = {
		[RD_JOB_CANNOT_TELL] = { "job-unknown", "Carrier of the process's traffic cannot be determined", NULL },
		[RD_JOB_IDLE] = { "job-cannot", "Process cannot use RDMA",
				  "a library that finds no RDMA device uses TCP without a message, or ends" },
		[RD_JOB_TCP] = { "job-tcp", "TCP carries the traffic of the process",
				 "TCP takes processor time and reaches a fraction of the rate of the NICs" },
		[RD_JOB_MIXED] = { "job-mixed", "RDMA and TCP both carry data to the same peers",
				   "some transfers fell back to TCP" },
		[RD_JOB_UNEVEN] = { "job-uneven", "Processes use few of the NICs that they could use",
				    "the other NICs are idle" },
	};
	struct rd_finding kind = { kinds[view->verdict].id, kinds[view->verdict].title, kinds[view->verdict].why,
				   view->severity };

	if (view->severity < RD_SEV_UNKNOWN || !kind.id)
		return;
	if (view->verdict == RD_JOB_IDLE && view->severity == RD_SEV_UNKNOWN)
		kind.title = "Whether the process can use RDMA cannot be determined";
	else if (view->verdict == RD_JOB_IDLE && view->severity == RD_SEV_WARNING)
		kind.title = "Process can use RDMA, but is likely to fail";
	rd_finding_put(&report->findings, &kind, subject_of(view->proc), rd_dup(view->reason), rd_dup_if(view->fix));
}

const struct rd_job_view *rd_report_job_worst(const struct rd_job_view *views, size_t n)
{
	const struct rd_job_view *worst = n ? &views[0] : NULL;

	for (size_t i = 1; i < n; i++)
		if (views[i].severity > worst->severity ||
		    (views[i].severity == worst->severity && worst->verdict == RD_JOB_IDLE))
			worst = &views[i];
	return worst;
}

void rd_report_job(struct rd_report *report, const struct rd_job_view *views, size_t n)
{
	struct rd_section *section = RD_SECTION("processes", rd_job_columns);
	const struct rd_job_view *worst = rd_report_job_worst(views, n);
	bool unknown = false;

	for (size_t i = 0; i < n; i++) {
		add_process(section, &views[i]);
		add_finding(report, &views[i]);
		unknown |= views[i].severity == RD_SEV_UNKNOWN;
	}
	rd_report_add(report, section);
	report->status = rd_report_judge(report);
	if (!report->status && unknown)
		report->status = 3;
	if (worst) {
		_cleanup_free_ char *line = rd_report_job_line(worst);

		report->headline = n == 1 ? RD_TAKE(line) : rd_text("%zu processes; %s", n, line);
	}
}

const struct rd_column rd_job_columns[RD_JOB_COLUMNS] = {
	{ "pid", "PID", RD_T_UINT, "process; none: one that is started here", 0, false },
	{ "comm", "COMM", RD_T_STR, "its name", 0, false },
	{ "job", "JOB", RD_T_STR, "job of the workload manager", 0, true },
	{ "asked", "ASKED", RD_T_STR, "what its variables request: rdma, tcp", 0, false },
	{ "asked_by", "ASKED_BY", RD_T_STR, "the variable that requests it", 0, true },
	{ "verdict", "VERDICT", RD_T_STR, "what carries its traffic: rdma, tcp, mixed, uneven, host, idle, cannot-tell",
	  0, false },
	{ "able", "ABLE", RD_T_BOOL, "whether it can use an RDMA device", 0, false },
	{ "qps", "QPS", RD_T_UINT, "its connected queue pairs", 0, false },
	{ "reason", "REASON", RD_T_STR, "why", 0, false },
	{ "runtime", "RUNTIME", RD_T_STR, "what runs it, by its control group", 0, true },
	{ "can", NULL, RD_T_ROWS, "what it needs for RDMA, judged", 0, false },
	{ "nics", NULL, RD_T_ROWS, "ports that carry its queue pairs", 0, false },
	{ "sockets", NULL, RD_T_OBJECT, "its TCP connections", 0, false },
	{ "libraries", NULL, RD_T_ROWS, "transport libraries that it has mapped", 0, false },
	{ "env", NULL, RD_T_MAP, "its variables of communication libraries", 0, false },
};
