// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/qp/qp-verdict-priv.h"
#include "analyse/qp/qp.h"
#include "base/klog-form.h"

#include <ctype.h>

#define NUMBERS_MAX 4
#define LINES_MAX 20000 /* newest lines only, counted by sequence number, including lines that are missing here */
/* A driver may log shortly before or after a sample sees the new state. */
#define SLACK_S 2.0
/* The clock of the log is not corrected by NTP, as that of processes is. */
#define DRIFT_PPM 50

/* enum ibv_wc_status */
static const char *const statuses[] = {
	"SUCCESS",	    "LOC_LEN_ERR",	 "LOC_QP_OP_ERR",     "LOC_EEC_OP_ERR",
	"LOC_PROT_ERR",	    "WR_FLUSH_ERR",	 "MW_BIND_ERR",	      "BAD_RESP_ERR",
	"LOC_ACCESS_ERR",   "REM_INV_REQ_ERR",	 "REM_ACCESS_ERR",    "REM_OP_ERR",
	"RETRY_EXC_ERR",    "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR",  "REM_INV_RD_REQ_ERR",
	"REM_ABORT_ERR",    "INV_EECN_ERR",	 "INV_EEC_STATE_ERR", "FATAL_ERR",
	"RESP_TIMEOUT_ERR", "GENERAL_ERR",
};
#define STATUS_RETRY_EXC 12
#define STATUS_RNR_RETRY_EXC 13

static int status_of(const char *text)
{
	const char *at = strcasestr(text, "error status");
	uint32_t v;

	if (!at)
		return -1;
	at += strlen("error status");
	at += strspn(at, " =:");
	return rd_take_u32(&at, RD_DECIMAL, RD_ARRAY_SIZE(statuses) - 1, &v) < 0 ? -1 : (int)v;
}

const char *rd_qp_log_status(const char *text)
{
	int status = status_of(text);

	return status < 0 ? NULL : statuses[status];
}

enum rd_qp_cause rd_qp_log_cause(const char *text)
{
	int status = status_of(text);

	if (status >= 0)
		return status == STATUS_RETRY_EXC     ? RD_QP_CAUSE_RETRIES :
		       status == STATUS_RNR_RETRY_EXC ? RD_QP_CAUSE_RNR :
							RD_QP_CAUSE_NONE;
	if (!strcasestr(text, "retry") || (!strcasestr(text, "exceed") && !strcasestr(text, "exhaust")))
		return RD_QP_CAUSE_NONE;
	return strcasestr(text, "rnr") ? RD_QP_CAUSE_RNR : RD_QP_CAUSE_RETRIES;
}

static bool names_device(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = text; (at = strstr(at, name)); at++)
		if ((at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
		    !isalnum((unsigned char)at[len]) && at[len] != '_')
			return true;
	return false;
}

/* Numbers are reused: a line that is older than the process is about another queue pair, whatever else is known of its age. */
static bool recent_enough(const struct rd_res *res, const struct rd_qp *qp, const struct rd_qp_past *past,
			  uint64_t line_ns, uint64_t now_ns)
{
	double ago = now_ns > line_ns ? (double)(now_ns - line_ns) / 1e9 : 0;
	uint64_t slack = now_ns / 1000000 * DRIFT_PPM;

	if (qp->proc >= 0 && res->procs[qp->proc].start_ns.known == RD_OK &&
	    line_ns + slack < res->procs[qp->proc].start_ns.v)
		return false;
	return past->age_max_seconds.known != RD_OK || ago <= past->age_max_seconds.v + SLACK_S + (double)slack / 1e9;
}

/* The only line that names a failed queue pair, and a failure, has the time of that. */
static void date_failure(struct rd_qp_views *views, size_t i, const struct rd_krecord *line, uint64_t mono_ns)
{
	struct rd_qp_past past = *views->v[i].past;
	double ago = mono_ns > line->time_ns ? (double)(mono_ns - line->time_ns) / 1e9 : 0;
	double off = (double)mono_ns * DRIFT_PPM / 1e15; /* seconds */

	if (!rd_qp_has_failed(&views->res->qps[i]) || past.age_kind == RD_AGE_EXACT || past.moved_by_call ||
	    !strcasestr(line->text, "err") || (past.age_seconds.known == RD_OK && ago + SLACK_S < past.age_seconds.v))
		return;
	past.age_kind = off > SLACK_S ? RD_AGE_INTERVAL : RD_AGE_EXACT;
	RD_SET(past.age_seconds, off > SLACK_S ? (ago > off ? ago - off : 0) : ago);
	RD_SET(past.age_max_seconds, off > SLACK_S ? ago + off : ago);
	rd_qp_views_set_past(views, i, &past);
}

const struct rd_krecord **rd_qp_log_join(const struct rd_klog *klog, struct rd_qp_views *views, uint64_t mono_ns)
{
	const struct rd_res *res = views->res;
	const struct rd_krecord **ret = NULL;
	_cleanup_free_ uint8_t *lines = NULL;

	for (size_t i = klog->n; i > 0 && klog->v[klog->n - 1].seq - klog->v[i - 1].seq < LINES_MAX; i--) {
		const struct rd_krecord *line = &klog->v[i - 1];
		uint32_t numbers[NUMBERS_MAX];
		size_t n;

		/* User programs can write anything to the log (/dev/kmsg): only lines of the kernel count. */
		if (line->facility != RD_KLOG_KERN || !line->form)
			continue;
		n = rd_klog_qps(line->text, numbers, NUMBERS_MAX);
		for (size_t d = 0; n && d < res->n_devs; d++) {
			if (!names_device(line->text, res->devs[d].name))
				continue;
			for (size_t k = 0; k < n; k++) {
				size_t at = rd_res_find_qp(res, (int)d, numbers[k]);

				if (at == res->n_qps ||
				    !recent_enough(res, &res->qps[at], views->v[at].past, line->time_ns, mono_ns))
					continue;
				if (!ret) {
					ret = rd_alloc(res->n_qps, sizeof(const struct rd_krecord *));
					lines = rd_alloc(res->n_qps, sizeof(*lines));
				}
				lines[at] += lines[at] < 2;
				ret[at] = ret[at] ?: line;
			}
		}
	}
	for (size_t i = 0; lines && i < res->n_qps; i++)
		if (lines[i] == 1)
			date_failure(views, i, ret[i], mono_ns);
	return ret;
}
