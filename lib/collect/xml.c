/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/xml.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct reader {
	const char *at, *end;
	size_t line;
	const char *name;
	struct rd_err *err;
};

static int broken(struct reader *xml, int code, const char *what)
{
	return rd_err_set(xml->err, code, xml->name, "line %zu: %s", xml->line, what);
}

static void step(struct reader *xml, size_t n)
{
	for (; n > 0 && xml->at < xml->end; n--)
		xml->line += *xml->at++ == '\n';
}

static bool starts(const struct reader *xml, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(xml->end - xml->at) >= n && memcmp(xml->at, word, n) == 0;
}

static bool skip_past(struct reader *xml, const char *word)
{
	const char *found = memmem(xml->at, xml->end - xml->at, word, strlen(word));

	if (!found)
		return false;
	step(xml, found - xml->at + strlen(word));
	return true;
}

static void skip_blanks(struct reader *xml)
{
	while (xml->at < xml->end && isspace((unsigned char)*xml->at))
		step(xml, 1);
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.' || c == ':';
}

static int read_name(struct reader *xml, char *ret, size_t size)
{
	size_t n = 0;

	while (xml->at < xml->end && is_name_char(*xml->at)) {
		if (n + 1 >= size)
			return broken(xml, E2BIG, "a name is too long");
		ret[n++] = *xml->at;
		step(xml, 1);
	}
	ret[n] = '\0';
	return n ? 0 : broken(xml, EBADMSG, "a name is missing");
}

static char read_char(struct reader *xml)
{
	static const struct {
		const char *text;
		char c;
	} entities[] = { { "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' }, { "&apos;", '\'' } };
	char c;

	for (size_t i = 0; *xml->at == '&' && i < RD_ARRAY_SIZE(entities); i++)
		if (starts(xml, entities[i].text)) {
			step(xml, strlen(entities[i].text));
			return entities[i].c;
		}
	c = *xml->at;
	step(xml, 1);
	return c;
}

static int read_value(struct reader *xml, char *ret, size_t size)
{
	char quote = xml->at < xml->end ? *xml->at : '\0';
	size_t n = 0;

	if (quote != '"' && quote != '\'')
		return broken(xml, EBADMSG, "a value without quotes");
	step(xml, 1);
	while (xml->at < xml->end && *xml->at != quote) {
		char c = read_char(xml);

		if (c == '\0' || n + 1 >= size)
			return broken(xml, c ? E2BIG : EBADMSG, c ? "a value is too long" : "a NUL in a value");
		ret[n++] = c;
	}
	ret[n] = '\0';
	if (xml->at == xml->end)
		return broken(xml, EBADMSG, "a value does not end");
	step(xml, 1);
	return 0;
}

static int read_attrs(struct reader *xml, struct rd_xml_element *element)
{
	int r;

	element->n_attrs = 0;
	for (;;) {
		struct rd_xml_attr *attr = &element->attrs[element->n_attrs];

		skip_blanks(xml);
		if (xml->at == xml->end)
			return broken(xml, EBADMSG, "an element does not end");
		if (*xml->at == '/' || *xml->at == '>')
			return 0;
		if (element->n_attrs == RD_XML_ATTRS)
			return broken(xml, E2BIG, "an element has too many attributes");
		r = read_name(xml, attr->name, sizeof(attr->name));
		if (r < 0)
			return r;
		skip_blanks(xml);
		if (!starts(xml, "="))
			return broken(xml, EBADMSG, "an attribute without a value");
		step(xml, 1);
		skip_blanks(xml);
		r = read_value(xml, attr->value, sizeof(attr->value));
		if (r < 0)
			return r;
		element->n_attrs++;
	}
}

/* Comments and processing instructions. 1: one was passed over. */
static int skip_other(struct reader *xml)
{
	if (starts(xml, "<!--"))
		return skip_past(xml, "-->") ? 1 : broken(xml, EBADMSG, "a comment does not end");
	if (starts(xml, "<?"))
		return skip_past(xml, "?>") ? 1 : broken(xml, EBADMSG, "an instruction does not end");
	if (starts(xml, "<!"))
		return broken(xml, EBADMSG, "document types are not read");
	return 0;
}

/* Names of open elements, to match the ends with. */
struct open_elements {
	char names[RD_XML_DEPTH][32];
	size_t n;
};

static int read_end(struct reader *xml, struct open_elements *open)
{
	char name[32];
	int r;

	step(xml, 2);
	r = read_name(xml, name, sizeof(name));
	if (r < 0)
		return r;
	skip_blanks(xml);
	if (!starts(xml, ">") || open->n == 0 || strcmp(open->names[open->n - 1], name) != 0)
		return broken(xml, EBADMSG, "an end that belongs to no element");
	step(xml, 1);
	open->n--;
	return 0;
}

/* *closed: it is empty, and ended at once. */
static int read_start(struct reader *xml, struct open_elements *open, struct rd_xml_element *element, bool *closed)
{
	int r;

	step(xml, 1);
	r = read_name(xml, element->name, sizeof(element->name));
	if (r >= 0)
		r = read_attrs(xml, element);
	if (r < 0)
		return r;
	*closed = *xml->at == '/';
	step(xml, *closed);
	if (!starts(xml, ">"))
		return broken(xml, EBADMSG, "an element does not end");
	step(xml, 1);
	if (*closed)
		return 0;
	if (open->n == RD_XML_DEPTH)
		return broken(xml, E2BIG, "elements are nested too deep");
	memcpy(open->names[open->n++], element->name, sizeof(element->name));
	return 0;
}

int rd_xml_parse(const char *name, const char *text, size_t size, const struct rd_xml_ops *ops, void *arg,
		 struct rd_err *err)
{
	struct reader xml = { .at = text, .end = text + size, .line = 1, .name = name, .err = err };
	struct open_elements open = { 0 };
	struct rd_xml_element element;
	size_t elements = 0;

	for (;;) {
		const char *next = memchr(xml.at, '<', xml.end - xml.at);
		bool closed = true;
		int r;

		if (!next)
			break;
		step(&xml, next - xml.at);
		r = skip_other(&xml);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		if (starts(&xml, "</")) {
			r = read_end(&xml, &open);
		} else {
			if (elements++ == RD_XML_ELEMENTS)
				return broken(&xml, E2BIG, "too many elements");
			r = read_start(&xml, &open, &element, &closed);
			if (r >= 0)
				r = ops->start(arg, &element, err);
		}
		if (r >= 0 && closed)
			r = ops->end(arg, err);
		if (r < 0)
			return r;
	}
	if (elements == 0 || open.n > 0)
		return broken(&xml, EBADMSG, elements ? "the file ends within an element" : "no element in it");
	return 0;
}

const char *rd_xml_attr(const struct rd_xml_element *element, const char *name)
{
	for (size_t i = 0; i < element->n_attrs; i++)
		if (strcmp(element->attrs[i].name, name) == 0)
			return element->attrs[i].value;
	return NULL;
}
