/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an analysis has to tell an operator, of whatever topic; a report makes findings of it. */
#ifndef RD_MODEL_REMARK_H
#define RD_MODEL_REMARK_H

#include "base/base.h"

/* Something to tell: what is wrong with whom, and what to do. */
enum rd_gravity { RD_REMARK_OK = 0, RD_REMARK_WARNING, RD_REMARK_CRITICAL, RD_REMARK_UNKNOWN };

struct rd_remark {
	const char *id; /* "nic-shared"; static */
	enum rd_gravity gravity;
	const char *title, *why;		   /* static */
	char *subject, *observed, *expected, *fix; /* owned; NULL: nothing to say */
};

struct rd_remarks {
	struct rd_remark *v;
	size_t n, cap;
};
void rd_remarks_deinit(struct rd_remarks *remarks);

/* Adds one; takes the owned texts over, also on failure. -ENOMEM also where `subject` is NULL. */
int rd_remark_add(struct rd_remarks *list, const struct rd_remark *remark);

/* Puts the worst first; those of the same gravity stay in their order. -ENOMEM. */
int rd_remarks_sort(struct rd_remarks *remarks);

#endif
