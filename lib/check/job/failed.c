/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rule about failed calls that trace-errno --service saw in the last hour. It sees no call that succeeds: one failure is a note. */
#include "check/shared/rules.h"

#include <inttypes.h>

#include "model/trace/event.h"

static const char *subject_of(const struct rd_recent_failure *f)
{
	return *f->where.ibdev ? f->where.ibdev : "host";
}

static bool is_beside(const struct rd_recent_failure *a, const struct rd_recent_failure *b)
{
	return !b->loops && strcmp(a->where.ibdev, b->where.ibdev) == 0;
}

/* One for each device: the most frequent of its failures. */
static void judge_failure(const struct rd_recent *recent, size_t i, struct rd_check_out *out)
{
	const struct rd_recent_failure *v = recent->file->v;
	_cleanup_free_ char *text = rd_recent_text(recent, &v[i]);
	size_t more = 0;

	if (v[i].loops)
		return rd_check_warn(out, subject_of(&v[i]),
				     rd_text("%s; a crash loop: in %" PRIu64 " of its last %" PRIu64 " starts", text,
					     v[i].failed, v[i].starts),
				     rd_text("starts in which no call fails"));
	for (size_t k = 0; k < i; k++)
		if (is_beside(&v[i], &v[k]))
			return;
	for (size_t k = i + 1; k < recent->n; k++)
		more += is_beside(&v[i], &v[k]);
	rd_check_note(out, subject_of(&v[i]),
		      more ? rd_text("%s; and failures of %zu other kind%s", text, more, more == 1 ? "" : "s") :
			     RD_TAKE(text),
		      NULL, rd_dup("rdmadiag trace-errno --status"));
}

static void run_failed(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_recent *recent = in->recent;

	rd_check_skip(out, recent && recent->why ? recent->why : "failed calls were not read");
	if (recent && recent->known == RD_DENIED)
		rd_check_unknown(out, "host", recent->why);
	if (!recent || recent->known != RD_OK)
		return;
	rd_check_skip(out, "trace-errno --service has run for less than an hour");
	for (size_t i = 0; i < recent->n; i++)
		judge_failure(recent, i, out);
	if (!recent->n && recent->an_hour)
		rd_check_good(out, "host");
}

const struct rd_check rd_check_failed_calls = {
	.id = "failed-calls",
	.title = "Program starts again and again, and an RDMA call fails each time",
	.why = "its job does no work, and holds its nodes",
	.fix = "rdmadiag trace-errno --status\n"
	       "# the cause of the failure, and what to do, is in the log: journalctl -u rdmadiag-trace",
	.needs = "the failures of the last hour, from rdmadiag trace-errno --service",
	.run = run_failed,
};
