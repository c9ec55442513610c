/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions are left out by what they are called. Words between underscores count, never a driver's prefix. */
#ifndef RD_TRACE_RULES_H
#define RD_TRACE_RULES_H

#include "model/trace/fnset.h"

/* The rule that leaves a function of that name out, or RD_RULE_SELECTED if none does. The name may carry a compiler's
 * suffix. What such a function calls is not followed either. */
enum rd_rule rd_rules_name(const char *name);

/* The same for a member of struct ib_device_ops: whether what it points to is a root. */
enum rd_rule rd_rules_member(const char *member);

/* Whether the name has a word for changing something. All there is to go by where no call graph can be had. */
bool rd_rules_changes(const char *name);

/* Length of the name without ".part.0", ".constprop.0", ".isra.0", ".cold" … */
size_t rd_rules_bare_length(const char *name);

#endif
