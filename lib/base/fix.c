/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/fix.h"

#include <ctype.h>

#include "base/buf.h"
#include "base/text.h"

#define ADVICE "# "

static char *lines_of(const char *fix, bool commands, bool advice, const char *separator)
{
	struct rd_buf out = { 0 };
	const char *line;
	size_t size;

	while (rd_next_line(&fix, &line, &size)) {
		size_t mark = rd_starts_with(line, ADVICE) ? strlen(ADVICE) : 0;

		if (mark ? !advice : !commands)
			continue;
		rd_buf_str(&out, out.len ? separator : "");
		rd_buf_add(&out, line + mark, size - mark);
	}
	return out.data;
}

char *rd_fix_commands(const char *fix)
{
	return lines_of(fix, true, false, "\n");
}

char *rd_fix_advice(const char *fix)
{
	return lines_of(fix, false, true, "; ");
}

char *rd_fix_line(const char *fix)
{
	return lines_of(fix, true, true, "; ");
}

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == ':' || c == '-';
}

static size_t name_size(const char *text)
{
	size_t n = 0;

	while (in_name(text[n]))
		n++;
	return n;
}

/* The word that begins here, at the beginning of a name. */
static const struct rd_fix_word *word_at(const char *line, size_t at, const struct rd_fix_word *words, size_t n)
{
	size_t size = 0;

	while (isupper((unsigned char)line[at + size]))
		size++;
	if (size == 0 || (at > 0 && (isalnum((unsigned char)line[at - 1]) || line[at - 1] == '_')) ||
	    isalnum((unsigned char)line[at + size]) || line[at + size] == '_')
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (strlen(words[i].word) == size && strncmp(words[i].word, line + at, size) == 0)
			return &words[i];
	return NULL;
}

char *rd_fix_fill(const char *fix, const struct rd_fix_word *words, size_t n)
{
	struct rd_buf out = { 0 };
	const char *line;
	size_t size;

	while (rd_next_line(&fix, &line, &size)) {
		_cleanup_buf_ struct rd_buf filled = { 0 };
		bool whole = true;

		for (size_t i = 0; i < size; i++) {
			const struct rd_fix_word *word = word_at(line, i, words, n);
			/* No name of a host runs as a command, "$(reboot)", is an option, or begins a line. */
			bool plain = word && (word->value && *word->value && *word->value != '-' &&
					      !word->value[name_size(word->value)]);

			whole &= !word || plain;
			if (plain) {
				rd_buf_str(&filled, word->value);
				i += strlen(word->word) - 1;
			} else {
				rd_buf_add(&filled, line + i, 1);
			}
		}
		rd_buf_printf(&out, "%s%s%s", out.len ? "\n" : "", whole || rd_starts_with(line, ADVICE) ? "" : ADVICE,
			      filled.data);
	}
	return out.data;
}

/* Text with each whole name replaced. */
static char *with_variable(const char *text, const char *name, size_t size)
{
	struct rd_buf out = { 0 };

	for (size_t i = 0; text[i];)
		if ((i == 0 || !in_name(text[i - 1])) && name_size(text + i) == size &&
		    strncmp(text + i, name, size) == 0) {
			rd_buf_str(&out, "$i");
			i += size;
		} else if (text[i] == '\n') {
			rd_buf_str(&out, "; ");
			i++;
		} else {
			rd_buf_add(&out, text + i++, 1);
		}
	return out.data;
}

/* NULL: they differ in more than a name. */
static char *loop_of(char *const *v, size_t n)
{
	size_t begin = strlen(v[0]);
	_cleanup_free_ char *body = NULL;
	struct rd_buf out = { 0 };

	/* Where the names begin in which texts differ. */
	for (size_t i = 1, k; i < n; i++) {
		for (k = 0; k < begin && v[i][k] == v[0][k];)
			k++;
		begin = k;
	}
	while (begin > 0 && in_name(v[0][begin - 1]))
		begin--;
	rd_buf_str(&out, "for i in");
	for (size_t i = 0; i < n; i++) {
		const char *name = v[i] + begin;
		size_t size = name_size(name);
		_cleanup_free_ char *same = size && !strpbrk(v[i], "$'") ? with_variable(v[i], name, size) : NULL;

		if (!same || (body && strcmp(body, same) != 0)) {
			free(out.data);
			return NULL;
		}
		rd_buf_printf(&out, " %.*s", (int)size, name);
		if (!body)
			body = RD_TAKE(same);
	}
	rd_buf_printf(&out, "; do %s; done", body);
	return out.data;
}

char *rd_fix_join(const char *const *fixes, size_t n)
{
	char **v = rd_alloc(n + 1, sizeof(*v)), *loop = NULL;
	struct rd_buf out = { 0 };
	size_t kinds = 0;

	for (size_t i = 0; i < n; i++) {
		bool known = false;

		v[kinds] = rd_fix_commands(fixes[i]);
		for (size_t k = 0; k < kinds && v[kinds]; k++)
			known |= strcmp(v[k], v[kinds]) == 0;
		if (known)
			free(v[kinds]);
		else if (v[kinds])
			kinds++;
	}
	if (kinds > 1)
		loop = loop_of(v, kinds);
	for (size_t i = 0; i < kinds; i++) {
		if (!loop)
			rd_buf_printf(&out, "%s%s", i ? "\n" : "", v[i]);
		free(v[i]);
	}
	free(v);
	return loop ?: out.data;
}
