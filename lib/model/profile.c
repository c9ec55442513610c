/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/profile.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define TEXT_MAX ((size_t)4 << 20)
#define LINES_MAX 65536
#define KEY_MAX 200
#define VALUE_MAX 1000

void rd_profile_deinit(struct rd_profile *profile)
{
	for (size_t i = 0; i < profile->n; i++) {
		free(profile->v[i].key);
		free(profile->v[i].value);
	}
	free(profile->v);
	*profile = (struct rd_profile){ 0 };
}

void rd_profile_add(struct rd_profile *profile, const char *key, const char *value)
{
	struct rd_profile_line line;

	if (!value)
		return;
	line = (struct rd_profile_line){ strdup(key), strdup(value) };
	if (line.key && line.value && rd_grow(&profile->v, &profile->cap, profile->n + 1, sizeof(*profile->v)) == 0) {
		profile->v[profile->n++] = line;
		return;
	}
	free(line.key);
	free(line.value);
	profile->failed = true;
}

void rd_profile_addf(struct rd_profile *profile, const char *key, const char *fmt, ...)
{
	_cleanup_free_ char *value = NULL;
	va_list ap;

	va_start(ap, fmt);
	value = rd_vtext(fmt, ap);
	va_end(ap);
	profile->failed |= !value;
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

/* Greedy backtracking over one star at a time: linear in the text for each star. */
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

/* What a terminal may be given as it is, and a line takes. */
static bool is_value(const char *value)
{
	_cleanup_free_ char *safe = rd_safe(value);

	return safe && strlen(value) <= VALUE_MAX && strcmp(safe, value) == 0;
}

static int parse_line(char *line, struct rd_profile *ret)
{
	char *value = strchr(line, '='), *key;

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	key = rd_trim(line);
	value = rd_trim(value);
	if (!is_key(key) || !is_value(value))
		return -EINVAL;
	rd_profile_add(ret, key, value);
	return ret->failed ? -ENOMEM : 0;
}

int rd_profile_parse(const char *text, size_t size, const char *name, struct rd_profile *ret, struct rd_err *err)
{
	_cleanup_free_ char *copy = NULL;
	struct rd_profile profile = { 0 };
	char *rest, *line;
	unsigned n = 0;
	int r = 0;

	if (size > TEXT_MAX)
		return rd_err_set(err, E2BIG, name, "no profile is as large as %zu bytes", size);
	if (memchr(text, '\0', size))
		return rd_err_set(err, EINVAL, name, "no profile: it has a NUL byte");
	copy = strndup(text, size);
	if (!copy)
		return rd_err_set(err, ENOMEM, name, "no memory for a profile");
	rest = copy;
	while (!r && (line = rd_line(&rest, &n)))
		r = n > LINES_MAX ? -E2BIG : parse_line(line, &profile);
	if (!r && profile.n > 0) {
		*ret = profile;
		return 0;
	}
	rd_profile_deinit(&profile);
	if (r && r != -EINVAL)
		return rd_err_set(err, -r, name, "cannot take line %u", n);
	if (r)
		rd_err_set(err, EINVAL, name, "line %u is no \"key = value\"", n);
	else
		rd_err_set(err, EINVAL, name, "no profile: there is no \"key = value\" in it");
	rd_err_hint(err, "lines are like \"nic.mlx5_0.rate_gbps = 400\"; rdmadiag topo-check --learn writes them");
	return -EINVAL;
}

void rd_profile_write(const struct rd_profile *profile, struct rd_buf *out)
{
	for (size_t i = 0; i < profile->n; i++) {
		const struct rd_profile_line *line = &profile->v[i];

		/* Names and versions come from elsewhere: a line stays a line, and a key a key. */
		if (is_key(line->key) && is_value(line->value))
			rd_buf_printf(out, "%s = %s\n", line->key, line->value);
	}
}
