// SPDX-License-Identifier: GPL-2.0-or-later
/* EFAULT that is not about the memory of a region: the kernel could not read the request, or write the response. */
#include <stdio.h>

#include "diagnose/shared/rule.h"

static bool find_user_buffer(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_moment *m = &f->event->moment;
	bool response = m->response.kind != RD_MAP_NONE, core = !rd_failure_in_driver(f);
	char at[RD_WORD_ADDRESS];

	(void)looked;
	if (rd_failure_origin_is(f, "*umem*"))
		return false;
	if (response) {
		rd_explain(ret, "user-buffer", RD_CONFIDENCE_HIGH, "the buffer for the response, at %s, is %s",
			   rd_word_pointer(m->response.at, at),
			   m->response.kind == RD_MAP_HOLE ? "not mapped" : "not writable");
	} else if (core && !f->event->request.readable && f->event->verb_key) {
		rd_explain(ret, "user-buffer", RD_CONFIDENCE_MEDIUM,
			   "the memory that holds the request is not readable");
	} else if (core && f->event->origin_exact) {
		rd_explain(
			ret, "user-buffer", RD_CONFIDENCE_HIGH,
			"the kernel could not read the request, write the response, or access a buffer that the request "
			"points to");
	} else if (core || (f->event->origin_exact && !rd_req_has(&f->event->request, RD_REQ_ADDRESS))) {
		rd_explain(
			ret, "user-buffer", RD_CONFIDENCE_MEDIUM,
			"the kernel could not access the request, the response, or a buffer that the request points to");
	} else {
		return false;
	}
	rd_explain_fix(ret, "# the library or program passes the kernel a bad pointer: an object that was freed, or "
			    "memory protected against writing");
	return true;
}

const struct rd_cause_rule rd_cause_user_buffer = { .errnos = { EFAULT }, .find = find_user_buffer };
