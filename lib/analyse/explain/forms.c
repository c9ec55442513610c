/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/explain/log.h"

#include <ctype.h>
#include <strings.h>

#define FORMS_MAX 20000
/* The least literal text of a pattern: it is found by four of these bytes. */
#define LITERAL_LEAST 4

static const struct {
	const char *word;
	enum rd_log_part_kind kind;
} parts[] = {
	{ "source", RD_LOG_SOURCE }, { "match", RD_LOG_MATCH }, { "also", RD_LOG_ALSO },   { "means", RD_LOG_MEANS },
	{ "cause", RD_LOG_CAUSE },   { "next", RD_LOG_NEXT },	{ "alias", RD_LOG_ALIAS },
};

struct parser {
	struct rd_log_forms *forms;
	struct rd_errlist *notes;
	const char *name;
	unsigned number; /* of the line */
	bool skip;	 /* the stanza is not read: it is invalid, or its name is taken */
};

static void note_line(const struct parser *parser, const char *what, const char *text)
{
	struct rd_err err = { 0 };

	rd_err_set(&err, EINVAL, parser->name, "line %u: %s: %.80s", parser->number, what, text);
	rd_errlist_add(parser->notes, &err);
}

/* "ibdev", "syndrome:x", "vendor/vendor-mlx5"; in place. */
static bool parse_field(char *text, struct rd_log_piece *ret)
{
	char *table = strchr(text, '/'), *hex = strchr(text, ':');

	if (table)
		*table++ = '\0';
	if (hex)
		*hex++ = '\0';
	for (enum rd_log_field i = 0; i < RD_LOG_NAMES; i++)
		if (rd_log_fields[i].name && strcmp(rd_log_fields[i].name, text) == 0) {
			*ret = (struct rd_log_piece){ .field = i, .table = table, .hex = hex && strcmp(hex, "x") == 0 };
			return !hex || ret->hex;
		}
	return false;
}

static void add_piece(struct rd_log_pattern *pattern, struct rd_log_piece piece)
{
	*RD_ADD(pattern->v, pattern->n, pattern->cap) = piece;
	pattern->literal += piece.size;
}

/* Cuts `text` into literals and fields, in place: a "}" before a literal ends the name of a field. */
static bool parse_pattern(char *text, struct rd_log_pattern *ret)
{
	size_t longest = 0;

	while (*text) {
		struct rd_log_piece piece = { .text = text };
		bool before = ret->n && !ret->v[ret->n - 1].text;

		if (text[0] == '{' && text[1] != '{') {
			char *end = strchr(text, '}');

			if (!end)
				return false;
			*end = '\0';
			/* Behind another field there may be anything, but no further value. */
			if (!parse_field(text + 1, &piece) ||
			    (before && rd_log_fields[piece.field].class != RD_LOG_REST))
				return false;
			text = end + 1;
		} else {
			piece.text += text[0] == '{';
			text += 1 + (text[0] == '{');
			text += strcspn(text, "{");
			piece.size = (size_t)(text - piece.text);
			longest = piece.size > longest ? piece.size : longest;
		}
		add_piece(ret, piece);
	}
	return longest >= LITERAL_LEAST;
}

/* "ID | TITLE | WHAT TELLS IT | THREAD" */
static bool parse_cause(char *text, const char **ret)
{
	size_t n = 0;

	for (char *at = text, *next; at && n < 4; at = next) {
		next = strstr(at, " | ");
		if (next) {
			*next = '\0';
			next += 3;
		}
		ret[n++] = rd_trim(at);
	}
	return n >= 3 && *ret[0] && *ret[1];
}

/* The name or an alias of a code, as it stands. */
static void add_alias(struct rd_log_form *form, const char *text)
{
	struct rd_log_part *part = RD_ADD(form->parts, form->n, form->cap);

	*part = (struct rd_log_part){ .kind = RD_LOG_ALIAS, .v = { text } };
	add_piece(&part->pattern, (struct rd_log_piece){ .text = text, .size = strlen(text) });
}

static bool parse_part(struct rd_log_form *form, char *text)
{
	const char *word = rd_word(&text);
	struct rd_log_part part = { 0 };
	size_t i = 0;

	while (i < RD_ARRAY_SIZE(parts) && (!word || strcmp(parts[i].word, word) != 0))
		i++;
	text = rd_trim(text);
	if (i == RD_ARRAY_SIZE(parts) || !*text)
		return false;
	part.kind = parts[i].kind;
	if (part.kind == RD_LOG_ALIAS) {
		add_alias(form, text);
		return true;
	}
	if (part.kind == RD_LOG_CAUSE				  ? !parse_cause(text, part.v) :
	    part.kind == RD_LOG_MATCH || part.kind == RD_LOG_ALSO ? !parse_pattern(text, &part.pattern) :
								    false) {
		free(part.pattern.v);
		return false;
	}
	part.v[0] = part.v[0] ?: text;
	*RD_ADD(form->parts, form->n, form->cap) = part;
	return true;
}

static bool parse_severity(const char *word, enum rd_severity *ret)
{
	for (enum rd_severity i = RD_SEV_NOTE; i <= RD_SEV_CRITICAL; i++)
		if (word && strcmp(word, rd_severity_name(i)) == 0) {
			*ret = i;
			return i != RD_SEV_UNKNOWN;
		}
	return false;
}

/* "form ID SEVERITY [consequence|detail|general|step]", "code TABLE VALUE NAME SEVERITY [consequence]" */
static bool parse_head(char *text, struct rd_log_form *ret)
{
	char *words[6] = { 0 };
	size_t n = rd_words(&text, words, RD_ARRAY_SIZE(words)), severity = 2;
	uint64_t value;

	if (n < 3 || *rd_trim(text))
		return false;
	ret->id = words[1];
	if (strcmp(words[0], "code") == 0) {
		severity = 4;
		ret->table = words[1];
		ret->id = words[3];
		if (rd_parse_uint(words[2], strncmp(words[2], "0x", 2) ? RD_DECIMAL : RD_HEX, UINT64_MAX, &value) == 0)
			RD_SET(ret->value, value);
		else if (strcmp(words[2], "-") != 0)
			return false;
	} else if (strcmp(words[0], "form") != 0) {
		return false;
	}
	if (n > severity + 1) {
		ret->consequence = strcmp(words[severity + 1], "consequence") == 0;
		ret->detail = strcmp(words[severity + 1], "detail") == 0;
		ret->general = strcmp(words[severity + 1], "general") == 0;
		ret->step = strcmp(words[severity + 1], "step") == 0;
		if (n > severity + 2 || !(ret->consequence || ret->detail || ret->general || ret->step))
			return false;
	}
	return parse_severity(words[severity], &ret->severity);
}

/* The same name, and of codes the same table and value. */
static bool is_taken(const struct rd_log_forms *forms, const struct rd_log_form *form)
{
	for (const struct rd_log_form *had = forms->v; had < forms->v + forms->n; had++)
		if (strcmp(had->id, form->id) == 0 && !had->table == !form->table &&
		    (!form->table || (strcmp(had->table, form->table) == 0 && had->value.v == form->value.v)))
			return true;
	return false;
}

int rd_log_forms_parse(const char *name, const char *text, size_t size, struct rd_log_forms *ret,
		       struct rd_errlist *notes, struct rd_err *err)
{
	struct parser parser = { .forms = ret, .notes = notes, .name = name, .skip = true };
	char *rest, *line;

	if (size > RD_TABLE_BYTES)
		return rd_err_set(err, EFBIG, name, "larger than the limit of %zu bytes for a table", RD_TABLE_BYTES);
	rest = rd_texts_keep(&ret->texts, text, size);
	while ((line = strsep(&rest, "\n"))) {
		struct rd_log_forms *forms = parser.forms;
		struct rd_log_form form = { 0 };

		parser.number++;
		if (*line == '#' || !*rd_trim(line))
			continue;
		if (*line == '\t' || *line == ' ') {
			if (!parser.skip && !(forms->n && parse_part(&forms->v[forms->n - 1], rd_trim(line))))
				note_line(&parser, "not a line of a form", line);
			continue;
		}
		parser.skip = !parse_head(line, &form) || forms->n == FORMS_MAX;
		if (parser.skip)
			note_line(&parser, "expected \"form ID SEVERITY\" or \"code TABLE VALUE NAME SEVERITY\"", line);
		parser.skip |= parser.skip || is_taken(forms, &form);
		if (!parser.skip && form.table)
			add_alias(&form, form.id);
		if (!parser.skip)
			*RD_ADD(forms->v, forms->n, forms->cap) = form;
	}
	return 0;
}

/* Whether the form is a code of the table; of any one if that is NULL. */
static bool is_of_table(const struct rd_log_form *form, const char *table)
{
	return form->table && (!table || strcmp(form->table, table) == 0);
}

bool rd_log_has_table(const struct rd_log_forms *forms, const char *table)
{
	for (size_t i = 0; i < forms->n; i++)
		if (is_of_table(&forms->v[i], table))
			return true;
	return false;
}

const struct rd_log_form *rd_log_code(const struct rd_log_forms *forms, const char *table, uint64_t value)
{
	for (size_t i = 0; i < forms->n; i++)
		if (forms->v[i].value.known == RD_OK && forms->v[i].value.v == value && is_of_table(&forms->v[i], table))
			return &forms->v[i];
	return NULL;
}

const struct rd_log_form *rd_log_code_named(const struct rd_log_forms *forms, const char *table, const char *name)
{
	for (const struct rd_log_form *form = forms->v; form < forms->v + forms->n; form++)
		for (size_t k = 0; k < form->n && is_of_table(form, table); k++)
			if (form->parts[k].kind == RD_LOG_ALIAS && strcasecmp(form->parts[k].v[0], name) == 0)
				return form;
	return NULL;
}

/* Whether `text` has it, not within a longer word; ignoring case. */
static bool has_words(const char *text, const char *words)
{
	size_t size = strlen(words);

	for (const char *at = text; (at = strcasestr(at, words)); at++)
		if ((at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
		    !(isalnum((unsigned char)at[size]) || at[size] == '_'))
			return true;
	return false;
}

const struct rd_log_form *rd_log_code_in(const struct rd_log_forms *forms, const char *table, const char *text)
{
	const struct rd_log_form *found = NULL;
	size_t longest = 0;

	for (const struct rd_log_form *form = forms->v; form < forms->v + forms->n; form++)
		for (size_t k = 0; k < form->n && is_of_table(form, table); k++)
			if (form->parts[k].kind == RD_LOG_ALIAS && strlen(form->parts[k].v[0]) > longest &&
			    has_words(text, form->parts[k].v[0])) {
				found = form;
				longest = strlen(form->parts[k].v[0]);
			}
	return found;
}

const struct rd_log_form *rd_log_form_named(const struct rd_log_forms *forms, const char *name)
{
	for (size_t i = 0; i < forms->n; i++)
		if (!forms->v[i].table && strcmp(forms->v[i].id, name) == 0)
			return &forms->v[i];
	return rd_log_code_named(forms, NULL, name);
}
