/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selection of rules. */
#include <errno.h>
#include <string.h>

#include "cmd/opts.h"
#include "topo.h"

int topo_no_such_rule(const char *option, const char *id, struct rd_err *err)
{
	size_t best = SIZE_MAX, at = 0;

	for (size_t i = 0; i < rd_n_checks; i++) {
		size_t distance = rd_name_distance(id, rd_checks[i]->id);

		if (distance < best) {
			best = distance;
			at = i;
		}
	}
	rd_err_set(err, EINVAL, option, "unknown rule '%s'", id);
	if (best <= 3)
		rd_err_hint(err, "%s %s; list of rules: rdmadiag topo-check --list", option, rd_checks[at]->id);
	else
		rd_err_hint(err, "rdmadiag topo-check --list");
	return -EINVAL;
}

/* Sets `ret` to `value` for the rules in a comma-separated list. */
static int mark_rules(const char *option, const char *list, bool value, bool *ret, struct rd_err *err)
{
	_cleanup_free_ char *copy = rd_dup(list);
	char *rest = copy, *id;

	while ((id = strsep(&rest, ","))) {
		size_t i = 0;

		while (i < rd_n_checks && strcmp(rd_checks[i]->id, id) != 0)
			i++;
		if (i == rd_n_checks)
			return topo_no_such_rule(option, id, err);
		ret[i] = value;
	}
	return 0;
}

int topo_choose(const struct topo_opts *opts, bool *ret, struct rd_err *err)
{
	int r = 0;

	for (size_t i = 0; i < rd_n_checks; i++)
		ret[i] = !opts->only;
	if (opts->only)
		r = mark_rules("--only", opts->only, true, ret, err);
	if (!r && opts->skip)
		r = mark_rules("--skip", opts->skip, false, ret, err);
	return r;
}
