/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles: expected values, and findings that they ignore. */
#include "model/host/profile.h"

#include <ctype.h>
#include <stdarg.h>
#include <time.h>

#include "base/text.h"

/* Lines of a profile that suppress findings: "ignore = RULE[@SUBJECT] until DATE reason". */

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

static bool parse_date(const char *text, int64_t *ret)
{
	struct tm tm = { 0 };
	char again[16];
	int64_t begin;

	if (!strptime(text, "%Y-%m-%d", &tm))
		return false;
	/* A day that its month lacks becomes one of the next month. */
	begin = timegm(&tm);
	*ret = begin / 86400;
	return begin >= 0 && strftime(again, sizeof(again), "%Y-%m-%d", &tm) && strcmp(again, text) == 0;
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

static const char *rd_ignore_parse(char *text, struct rd_ignore *ret)
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

/* Parses the right side of "ignore =", in place; returns NULL, or the error (static). The texts are copies; release them with
 * the profile. The caller sets `line`. */
static void rd_ignore_deinit(struct rd_ignore *ignore)
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
		    (!ignore->subject || subject_matches(ignore->subject, subject ?: "")))
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
		return rd_err_hint(err, "list all rules: rdmadiag topo-check --list");
	}
	return 0;
}

#define TEXT_MAX ((size_t)4 << 20)
#define LINES_MAX 65536
#define LIKE_MAX 1024 /* lines with "*", each of which is compared with all lines of a host; also "ignore" lines */
#define KEY_MAX 200
#define VALUE_MAX 1000
#define LINES_LIKE "example: nic.mlx5_0.rate_gbps = 400; write a profile with: rdmadiag topo-check --learn"

void rd_profile_deinit(struct rd_profile *profile)
{
	for (size_t i = 0; i < profile->n; i++)
		RD_FREE(profile->v[i].key, profile->v[i].value);
	free(profile->v);
	for (size_t i = 0; i < profile->n_ignores; i++)
		rd_ignore_deinit(&profile->ignores[i]);
	free(profile->ignores);
	*profile = (struct rd_profile){ 0 };
}

static void add_line(struct rd_profile *profile, const char *key, const char *value)
{
	*RD_ADD(profile->v, profile->n, profile->cap) = (struct rd_profile_line){ rd_dup(key), rd_dup_if(value) };
}

void rd_profile_add(struct rd_profile *profile, const char *key, const char *value)
{
	if (value)
		add_line(profile, key, value);
}

void rd_profile_add_unknown(struct rd_profile *profile, const char *key)
{
	add_line(profile, key, NULL);
}

const char *rd_profile_get(const struct rd_profile *profile, const char *key)
{
	for (size_t i = 0; profile && i < profile->n; i++)
		if (strcmp(profile->v[i].key, key) == 0)
			return profile->v[i].value;
	return NULL;
}

bool rd_profile_requires(const struct rd_profile *profile, const char *id)
{
	char key[KEY_MAX];
	const char *value;

	snprintf(key, sizeof(key), "rule.%s", id);
	value = rd_profile_get(profile, key);
	return value && strcmp(value, "required") == 0;
}

/* Greedy backtracking over one star at a time: linear in the text per star. */
bool rd_profile_matches(const char *pattern, const char *key)
{
	const char *star = NULL, *from = NULL;

	while (*key)
		if (*pattern == '*') {
			star = pattern++;
			from = key;
		} else if (*pattern == *key) {
			pattern++;
			key++;
		} else if (star) {
			pattern = star + 1;
			key = ++from;
		} else {
			return false;
		}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool is_key(const char *key)
{
	size_t n = strlen(key);

	if (n == 0 || n > KEY_MAX || !strchr(key, '.'))
		return false;
	for (; *key; key++)
		if (!isalnum((unsigned char)*key) && !strchr("._-:*@/", *key))
			return false;
	return true;
}

/* Whether a value is printable and not too long. */
static bool is_value(const char *value)
{
	_cleanup_free_ char *safe = rd_safe(value);

	return strlen(value) <= VALUE_MAX && strcmp(safe, value) == 0;
}

static int parse_ignore(char *value, const struct rd_lines *lines, struct rd_profile *ret, struct rd_err *err)
{
	struct rd_ignore ignore;
	const char *wrong = is_value(value) ? rd_ignore_parse(value, &ignore) : "not printable, or too long";

	if (wrong) {
		rd_lines_err(lines, err, EINVAL, ": %s", wrong);
		return rd_err_hint(err,
				   "example: ignore = pcie-link-width@0000:1b:00.0 until 2026-12-31 card is ordered");
	}
	ignore.line = lines->number;
	if (ret->n_ignores == LIKE_MAX) {
		rd_ignore_deinit(&ignore);
		return rd_lines_err(lines, err, E2BIG, ": too many 'ignore' lines: at most %d", LIKE_MAX);
	}
	*RD_ADD(ret->ignores, ret->n_ignores, ret->cap_ignores) = ignore;
	return 0;
}

static int parse_line(char *line, const struct rd_lines *lines, struct rd_profile *ret, struct rd_err *err)
{
	char *value = strchr(line, '='), *key;

	if (lines->number > LINES_MAX)
		return rd_err_set(err, E2BIG, lines->name, "too many lines: at most %u", LINES_MAX);
	if (value)
		*value++ = '\0';
	key = rd_trim(line);
	if (value && strcmp(key, "ignore") == 0)
		return parse_ignore(rd_trim(value), lines, ret, err);
	value = value ? rd_trim(value) : NULL;
	if (!value || !is_key(key) || !is_value(value)) {
		rd_lines_err(lines, err, EINVAL, ": expected 'key = value'");
		return rd_err_hint(err, LINES_LIKE);
	}
	if (strchr(key, '*') && ret->n_like++ == LIKE_MAX)
		return rd_lines_err(lines, err, E2BIG, ": too many lines with '*': at most %d", LIKE_MAX);
	rd_profile_add(ret, key, value);
	return 0;
}

int rd_profile_parse(const char *text, size_t size, const char *name, struct rd_profile *ret, struct rd_err *err)
{
	_cleanup_(rd_texts_deinit) struct rd_texts texts = { 0 };
	struct rd_profile profile = { 0 };
	struct rd_lines lines;
	char *line;
	int r = 0;

	if (size > TEXT_MAX)
		return rd_err_set(err, E2BIG, name, "too large for a profile: %zu bytes, at most %zu", size, TEXT_MAX);
	if (memchr(text, '\0', size))
		return rd_err_set(err, EINVAL, name, "not a profile: contains a NUL byte");
	rd_lines_init(&lines, &texts, name, text, size);
	while (!r && (line = rd_lines_next(&lines)))
		r = parse_line(line, &lines, &profile, err);
	if (!r && (profile.n > 0 || profile.n_ignores > 0)) {
		*ret = profile;
		return 0;
	}
	rd_profile_deinit(&profile);
	if (r)
		return r;
	rd_err_set(err, EINVAL, name, "not a profile: contains no 'key = value' line");
	return rd_err_hint(err, LINES_LIKE);
}

void rd_profile_write(const struct rd_profile *profile, struct rd_buf *out)
{
	for (size_t i = 0; i < profile->n; i++) {
		const struct rd_profile_line *line = &profile->v[i];

		/* Names and versions are foreign input: only valid keys and values are written. */
		if (line->value && is_key(line->key) && is_value(line->value))
			rd_buf_printf(out, "%s = %s\n", line->key, line->value);
	}
	for (size_t i = 0; i < profile->n_ignores; i++) {
		const struct rd_ignore *ignore = &profile->ignores[i];

		rd_buf_printf(out, "ignore = %s%s%s until %s %s\n", ignore->rule, ignore->subject ? "@" : "",
			      ignore->subject ?: "", ignore->until, ignore->reason);
	}
}
