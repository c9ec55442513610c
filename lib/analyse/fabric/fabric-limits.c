/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads tables of thresholds. */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "analyse/fabric/fabric-judge.h"
#include "base/lines.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

#define BLANKS " \t\r"
#define WAIT_PERCENT "XmitWaitPercent"

void rd_fabric_limits_init(struct rd_fabric_limits *limits)
{
	limits->v = rd_alloc(rd_pma_n_counters + 1, sizeof(*limits->v));
	for (size_t i = 0; i <= rd_pma_n_counters; i++)
		limits->v[i] = (struct rd_fabric_limit){ -1, -1, -1 };
}

void rd_fabric_limits_deinit(struct rd_fabric_limits *limits)
{
	free(limits->v);
	*limits = (struct rd_fabric_limits){ 0 };
}

/* "-", or a number that is not negative. */
static bool take_limit(const char *word, double *ret)
{
	*ret = -1;
	return word && (strcmp(word, "-") == 0 || rd_parse_real(word, 0, 1e18, ret) == 0);
}

/* Sets the limit for all counters that match the pattern; false: none matches. */
static bool set_limit(struct rd_fabric_limits *limits, const char *pattern, const struct rd_fabric_limit *limit,
		      bool total_only)
{
	const char *star = strchr(pattern, '*');
	bool any = false;

	/* Many stars cost fnmatch a lot of time. */
	if (star && (star = strchr(star + 1, '*')) && strchr(star + 1, '*'))
		return false;
	for (size_t i = 0; i <= rd_pma_n_counters; i++) {
		const char *name = i == rd_pma_n_counters ? WAIT_PERCENT : rd_pma_counters[i].name;

		if (fnmatch(pattern, name, 0) != 0)
			continue;
		any = true;
		if (total_only)
			limits->v[i].total = limit->total;
		else
			limits->v[i] = *limit;
	}
	return any;
}

static const char *take_line(char *line, struct rd_fabric_limits *limits)
{
	struct rd_fabric_limit limit = { -1, -1, -1 };
	char *name, *equals, *rest = line;

	rest[strcspn(rest, "#")] = '\0';
	name = strsep(&rest, BLANKS);
	equals = strchr(name, '=');
	if (equals) {
		*equals = '\0';
		if (!take_limit(equals + 1, &limit.total) || (rest && rest[strspn(rest, BLANKS)]))
			return "expected NAME=TOTAL";
	} else {
		double *const values[] = { &limit.total, &limit.warning, &limit.critical };

		for (size_t i = 0; i < RD_ARRAY_SIZE(values); i++) {
			rest = rest ? rest + strspn(rest, BLANKS) : NULL;
			if (!take_limit(strsep(&rest, BLANKS), values[i]))
				return "expected COUNTER TOTAL WARNING CRITICAL, each a number or -";
		}
		if (rest && rest[strspn(rest, BLANKS)])
			return "expected COUNTER TOTAL WARNING CRITICAL, found more fields";
	}
	return set_limit(limits, name, &limit, equals != NULL) ? NULL :
								 "unknown counter, or a pattern with more than two '*'";
}

int rd_fabric_limits_parse(const char *name, const char *text, size_t size, struct rd_fabric_limits *limits,
			   struct rd_err *err)
{
	_cleanup_(rd_texts_deinit) struct rd_texts texts = { 0 };
	struct rd_lines lines;
	char *line;
	int r = rd_lines_init_table(&lines, &texts, "thresholds", name, text, size, err);

	while (!r && (line = rd_lines_next(&lines))) {
		const char *wrong = take_line(line, limits);

		if (wrong) {
			r = rd_lines_err(&lines, err, EBADMSG, ": %s", wrong);
			rd_err_hint(err,
				    "counter names are those of the specification: SymbolErrorCounter, PortRcvErrors");
		}
	}
	return r;
}
