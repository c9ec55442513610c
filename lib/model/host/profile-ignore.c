/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of a profile that suppress findings: "ignore = RULE[@SUBJECT] until DATE reason". */
#include "model/host/profile.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

#define RULE_MAX 64

static bool is_rule(const char *rule)
{
	size_t n = strlen(rule);

	if (n == 0 || n > RULE_MAX)
		return false;
	for (; *rule; rule++)
		if (!islower((unsigned char)*rule) && !isdigit((unsigned char)*rule) && *rule != '-')
			return false;
	return true;
}

/* Days since 1970-01-01 in the Gregorian calendar: years are counted from March, so that the leap day is the last of one. */
static int64_t day_number(int64_t year, int64_t month, int64_t day)
{
	int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;

	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static bool parse_date(const char *text, int64_t *ret)
{
	static const char form[] = "dddd-dd-dd";
	static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	const char *at = text;
	unsigned year, month, day, last;

	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
			return false;
	if (rd_take_u32(&at, RD_DECIMAL, 9999, &year) < 0 || *at++ != '-' ||
	    rd_take_u32(&at, RD_DECIMAL, 12, &month) < 0 || *at++ != '-' ||
	    rd_take_u32(&at, RD_DECIMAL, 31, &day) < 0 || year < 1970 || month < 1)
		return false;
	last = days[month - 1] + (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
	if (day < 1 || day > last)
		return false;
	*ret = day_number(year, month, day);
	return true;
}

/* Cuts the text at its first word "until"; returns the rest, or NULL. Subjects contain blanks ("GPU 0000:1b:00.0"). */
static char *cut_until(char *text)
{
	static const char word[] = "until";

	for (char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
		char *end = at + strlen(word);

		if ((at == text || isspace((unsigned char)at[-1])) && (!*end || isspace((unsigned char)*end))) {
			*at = '\0';
			return end;
		}
	}
	return NULL;
}

const char *rd_ignore_parse(char *text, struct rd_ignore *ret)
{
	char *rest = cut_until(text), *what = rd_trim(text), *subject = strchr(what, '@'), *date, *reason;
	int64_t last;

	*ret = (struct rd_ignore){ 0 };
	if (subject)
		*subject++ = '\0';
	if (*what && !rest)
		return "no end date: expected 'until YYYY-MM-DD'";
	if (!is_rule(what))
		return "no rule: expected RULE or RULE@SUBJECT";
	if (subject && !*subject)
		return "nothing after @: expected a subject";
	date = rd_word(&rest);
	if (!date || !parse_date(date, &last))
		return "missing or invalid date after 'until': expected YYYY-MM-DD";
	reason = rd_trim(rest);
	if (!*reason)
		return "no reason after the date";
	*ret = (struct rd_ignore){
		.rule = rd_dup(what),
		.subject = rd_dup_if(subject),
		.until = rd_dup(date),
		.reason = rd_dup(reason),
		.last_day = last,
	};
	return NULL;
}

void rd_ignore_deinit(struct rd_ignore *ignore)
{
	RD_FREE(ignore->rule, ignore->subject, ignore->until, ignore->reason);
	*ignore = (struct rd_ignore){ 0 };
}

int64_t rd_profile_day(uint64_t realtime_ns)
{
	return (int64_t)(realtime_ns / 1000000000u / 86400u);
}

bool rd_ignore_over(const struct rd_ignore *ignore, int64_t day)
{
	return day > ignore->last_day;
}

/* Ports are written mlx5_0/1. Profiles may also have the form of libraries and earlier versions, mlx5_0:1. */
static bool subject_matches(const char *pattern, const char *subject)
{
	_cleanup_free_ char *colon = rd_dup(subject);
	char *slash = strchr(colon, '/');

	if (slash)
		*slash = ':';
	return rd_profile_matches(pattern, subject) || rd_profile_matches(pattern, colon);
}

const struct rd_ignore *rd_profile_ignored(const struct rd_profile *profile, const char *id, const char *subject,
					   int64_t day)
{
	for (size_t i = 0; profile && i < profile->n_ignores; i++) {
		const struct rd_ignore *ignore = &profile->ignores[i];

		if (!rd_ignore_over(ignore, day) && strcmp(ignore->rule, id) == 0 &&
		    (!ignore->subject || subject_matches(ignore->subject, subject ? subject : "")))
			return ignore;
	}
	return NULL;
}

int rd_profile_check_ignores(const struct rd_profile *profile, bool (*exists)(const char *id), const char *name,
			     struct rd_err *err)
{
	for (size_t i = 0; i < profile->n_ignores; i++) {
		const struct rd_ignore *ignore = &profile->ignores[i];

		if (exists(ignore->rule))
			continue;
		rd_err_set(err, EINVAL, name, "line %u: unknown rule '%s'", ignore->line, ignore->rule);
		rd_err_hint(err, "list all rules: rdmadiag topo-check --list");
		return -EINVAL;
	}
	return 0;
}
