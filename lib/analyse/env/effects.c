/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The set of environment variables. Names and values point into the texts they were parsed from, which the set owns. */
#include <errno.h>
#include <string.h>

#include "analyse/env/env-names.h"
#include "analyse/env/envcheck.h"
#include "base/memory.h"
#include "base/text.h"

/* -E2BIG: too many variables, or the value is too long. */
static int add_effect(struct rd_effects *effects, const char *name, const char *value)
{
	if (effects->n >= RD_EFFECTS_MAX || strlen(value) >= RD_EFFECT_BYTES)
		return -E2BIG;
	rd_reserve(&effects->v, &effects->cap, effects->n + 1, sizeof(*effects->v));
	effects->v[effects->n] = (struct rd_effect){ .name = name, .value = value };
	rd_env_name_known(name, &effects->v[effects->n].library, NULL);
	effects->n++;
	return 0;
}

/* Takes ownership of the text. */
static void keep_text(struct rd_effects *effects, char *text)
{
	*RD_ADD(effects->texts, effects->n_texts, effects->cap_texts) = text;
}

static char *skip_blanks(char *at)
{
	return at + strspn(at, " \t");
}

/* Ends a value as a shell does: a quoted one at its closing quote if a blank or the end follows, any other at a comment;
 * trailing blanks are removed. */
static char *parse_value(char *value)
{
	char *end = *value == '"' || *value == '\'' ? strchr(value + 1, *value) : NULL;
	size_t n;

	if (end && (!end[1] || strchr(" \t\r", end[1]))) {
		*end = '\0';
		return value + 1;
	}
	end = strstr(value, " #");
	if (end)
		*end = '\0';
	n = strlen(value);
	while (n > 0 && strchr(" \t\r", value[n - 1]))
		value[--n] = '\0';
	return value;
}

/* Splits "NAME=VALUE" in place and returns the name; NULL for a comment or any other line. */
static char *split_assignment(char *line, bool shell, char **value)
{
	char *name = shell ? skip_blanks(line) : line, *end = strchr(name, '=');

	if (shell && (strncmp(name, "export ", 7) == 0 || strncmp(name, "export\t", 7) == 0))
		name = skip_blanks(name + 7);
	else if (shell && strncmp(name, "declare -x ", 11) == 0)
		name = skip_blanks(name + 11);
	if (!end || end < name || *name == '#')
		return NULL;
	*end = '\0';
	*value = shell ? parse_value(end + 1) : end + 1;
	return name;
}

int rd_effects_own(struct rd_effects *effects, char *text, size_t size, char separator)
{
	char *stop = text + size;
	int r = 0;

	keep_text(effects, text);
	while (text < stop && !r) {
		char *next = memchr(text, separator, stop - text), *value, *name;

		next = next ? next : stop;
		*next = '\0';
		name = split_assignment(text, separator == '\n', &value);
		if (name && rd_env_name_known(name, NULL, NULL) != RD_ENV_NAME_FOREIGN)
			r = add_effect(effects, name, value);
		else
			effects->foreign += name != NULL;
		text = next + 1;
	}
	return r;
}

int rd_effects_take(const char *line, size_t size, struct rd_effects *effects)
{
	char *copy = rd_dup_part(line, size), *value, *name = split_assignment(copy, true, &value);

	if (name && rd_env_name_known(name, NULL, NULL) != RD_ENV_NAME_FOREIGN) {
		keep_text(effects, RD_TAKE(copy));
		return add_effect(effects, name, value);
	}
	effects->foreign += name != NULL;
	free(copy);
	return 0;
}

struct indexed_effect {
	struct rd_effect effect;
	size_t at;
};

static int compare_by_name(const void *a, const void *b)
{
	const struct indexed_effect *x = a, *y = b;

	return strcmp(x->effect.name, y->effect.name) ?: RD_CMP(x->at, y->at);
}

void rd_effects_sort(struct rd_effects *effects)
{
	_cleanup_free_ struct indexed_effect *places = NULL;
	size_t n = 0;

	if (effects->sorted == effects->n)
		return;
	places = rd_alloc(effects->n, sizeof(*places));
	for (size_t i = 0; i < effects->n; i++)
		places[i] = (struct indexed_effect){ effects->v[i], i };
	qsort(places, effects->n, sizeof(*places), compare_by_name);
	for (size_t i = 0; i < effects->n; i++) {
		bool again = n > 0 && strcmp(effects->v[n - 1].name, places[i].effect.name) == 0;

		if (again) {
			struct rd_effect *out = effects->first_wins ? &places[i].effect : &effects->v[n - 1];

			RD_FREE(out->selects, out->effect);
			n -= !effects->first_wins;
		}
		if (!again || !effects->first_wins)
			effects->v[n++] = places[i].effect;
	}
	effects->n = effects->sorted = n;
}

static int compare_name(const void *effect, const void *name)
{
	return strcmp(((const struct rd_effect *)effect)->name, name);
}

struct rd_effect *rd_effects_find(const struct rd_effects *effects, const char *name)
{
	size_t at = rd_lower_bound(name, effects->v, effects->n, sizeof(*effects->v), compare_name);

	return at < effects->n && strcmp(effects->v[at].name, name) == 0 ? &effects->v[at] : NULL;
}

const char *rd_effects_get(const struct rd_effects *effects, const char *name)
{
	const struct rd_effect *effect = rd_effects_find(effects, name);

	return effect ? effect->value : NULL;
}
