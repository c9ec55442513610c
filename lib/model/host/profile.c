/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/host/profile.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/lines.h"
#include "base/memory.h"
#include "base/text.h"

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

void rd_profile_addf(struct rd_profile *profile, const char *key, const char *fmt, ...)
{
	_cleanup_free_ char *value = NULL;
	va_list ap;

	va_start(ap, fmt);
	value = rd_vtext(fmt, ap);
	va_end(ap);
	rd_profile_add(profile, key, value);
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

	while (*key) {
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
		rd_err_hint(err, "example: ignore = pcie-link-width@0000:1b:00.0 until 2026-12-31 card is "
				 "ordered");
		return -EINVAL;
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
		rd_err_hint(err, LINES_LIKE);
		return -EINVAL;
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
	rd_err_hint(err, LINES_LIKE);
	return -EINVAL;
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
			      ignore->subject ? ignore->subject : "", ignore->until, ignore->reason);
	}
}
