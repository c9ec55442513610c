/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that exclude or require each other. */
#include "base/text.h"
#include "opts.h"

#include <errno.h>

/* The first name of the list at `*at` that was given; `*at` moves past it. NULL: none was given. Caller frees. */
static char *next_given(const struct rd_ctx *ctx, const char **at)
{
	char *name;

	while ((name = rd_next_part(at, ' ')) && !rd_opt_given(ctx, name))
		free(name);
	return name;
}

/* "--a, --b or --c" */
static void add_alternatives(const char *list, struct rd_buf *out)
{
	const char *at = list;

	while (at) {
		bool first = at == list;
		_cleanup_free_ char *name = rd_next_part(&at, ' ');

		rd_buf_printf(out, "%s--%s", first ? "" : at ? ", " : " or ", name);
	}
}

static bool violates_one_of(const struct rd_ctx *ctx, const struct rd_opt_rule *rule, struct rd_buf *out)
{
	const char *at = rule->opts;
	_cleanup_free_ char *first = next_given(ctx, &at), *second = next_given(ctx, &at);

	if (!second)
		return false;
	rd_buf_printf(out, "--%s and --%s are mutually exclusive", first, second);
	return true;
}

static bool violates_pair(const struct rd_ctx *ctx, const struct rd_opt_rule *rule, struct rd_buf *out)
{
	const char *at = rule->opts, *others = rule->with;
	_cleanup_free_ char *opt = next_given(ctx, &at), *other = next_given(ctx, &others);

	if (!opt || (rule->kind == RD_EXCLUDES) != (other != NULL))
		return false;
	rd_buf_printf(out, "--%s%s%s ", opt, rule->when ? " with --" : "", rule->when ? rule->when : "");
	if (rule->kind == RD_EXCLUDES) {
		rd_buf_printf(out, "and --%s are mutually exclusive", other);
	} else {
		rd_buf_str(out, "requires ");
		add_alternatives(rule->with, out);
	}
	return true;
}

int rd_opt_rules_check(const struct rd_ctx *ctx, struct rd_err *err)
{
	for (const struct rd_opt_rule *rule = ctx->cmd->rules; rule && rule->kind; rule++) {
		_cleanup_buf_ struct rd_buf text = { 0 };

		if (rule->when && !rd_opt_given(ctx, rule->when))
			continue;
		if (!(rule->kind == RD_ONE_OF ? violates_one_of : violates_pair)(ctx, rule, &text))
			continue;
		return rd_err_set(err, EINVAL, ctx->cmd->name, "%s%s%s", text.data, rule->why ? ": " : "",
				  rule->why ? rule->why : "");
	}
	return 0;
}
