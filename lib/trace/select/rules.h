/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that are left out because of their name. Compares words between underscores, never the prefix of a driver. */
#ifndef RD_TRACE_RULES_H
#define RD_TRACE_RULES_H

#include "model/trace/fnset.h"

/* The rule that leaves a function of that name out, or RD_RULE_SELECTED if none does. The name may have a suffix added by the
 * compiler. Calls of such a function are not followed either. */
enum rd_rule rd_rules_name(const char *name);

/* The same for a member of struct ib_device_ops: whether its function is a root. */
enum rd_rule rd_rules_member(const char *member);

/* Whether a function that cleans up names a kind of object that programs create and destroy rarely, such as a queue pair: a hook
 * there costs nothing that matters. Memory regions, memory windows and address handles are not such objects. */
bool rd_rules_rare(const char *name);

/* Whether the name has a word for changing something. The only criterion without a call graph. */
bool rd_rules_changes(const char *name);

/* Length of the name without ".part.0", ".constprop.0", ".isra.0", ".cold" … */
size_t rd_rules_bare_length(const char *name);

#endif
