// SPDX-License-Identifier: GPL-2.0-or-later
#include "diagnose/failure/explain.h"

#include <string.h>

#include "base/buf.h"
#include "base/fix.h"
#include "base/text.h"
#include "diagnose/shared/rule.h"

/* In this order: of several causes of the same confidence, the first is reported. */
static const struct rd_cause_rule *const rules[] = {
	&rd_cause_handle,	 &rd_cause_descriptors_invalid,
	&rd_cause_create,	 &rd_cause_descriptors,
	&rd_cause_in_use,	 &rd_cause_memlock,
	&rd_cause_region,	 &rd_cause_mapping,
	&rd_cause_memory,	 &rd_cause_user_buffer,
	&rd_cause_ports,	 &rd_cause_qp_transition,
	&rd_cause_gid,		 &rd_cause_qp_values,
	&rd_cause_queue_limits,	 &rd_cause_multicast,
	&rd_cause_cm_state,	 &rd_cause_cm_request,
	&rd_cause_cm_device,	 &rd_cause_cm_address,
	&rd_cause_path,		 &rd_cause_rdma_cgroup,
	&rd_cause_removed,	 &rd_cause_core_checks,
	&rd_cause_support,	 &rd_cause_malformed,
	&rd_cause_exhausted,	 &rd_cause_firmware,
	&rd_cause_out_of_memory,
};

static bool applies(const struct rd_cause_rule *rule, const struct rd_failure *f)
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
		if (applies(rules[i], f))
			needs |= rules[i]->needs;
	return needs;
}

void rd_explain_failure(const struct rd_failure *f, struct rd_explanation *ret)
{
	struct rd_explanation looked = { 0 };

	for (size_t i = 0; i < RD_ARRAY_SIZE(rules); i++) {
		struct rd_explanation one = { 0 };

		if (!applies(rules[i], f) || rules[i]->needs & ~f->read)
			continue;
		if (!rules[i]->find(f, &one, &looked) || (ret->id && one.confidence <= ret->confidence)) {
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
