/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/nccl/xml.h"

#include <errno.h>
#include <string.h>

#include "collect/nccl/libexpat.h"
#include "source/shared/source.h"

RD_LATE_DEFINE(rd_libexpat, RD_LIBEXPAT_CALLS, RD_LIBEXPAT)

struct reader {
	const struct rd_xml_ops *ops;
	void *arg;
	XML_Parser parser;
	const char *name;
	struct rd_err *err;
	size_t elements, depth;
	int r; /* below 0: parsing failed with this errno, and `err` is set */
};

/* libexpat may still call the end handler of an empty element. */
static void stop_parser(struct reader *xml, int r)
{
	xml->r = r;
	rd_libexpat.XML_StopParser(xml->parser, XML_FALSE);
}

static int set_bad_message(const struct reader *xml, const char *what)
{
	return rd_err_set(xml->err, EBADMSG, xml->name, "line %lu: %s",
			  (unsigned long)rd_libexpat.XML_GetCurrentLineNumber(xml->parser), what);
}

static int set_above_limit(const struct reader *xml, size_t most, const char *what)
{
	return rd_err_set(xml->err, E2BIG, xml->name, "line %lu: more than %zu %s",
			  (unsigned long)rd_libexpat.XML_GetCurrentLineNumber(xml->parser), most, what);
}

static int within_limits(const struct reader *xml, const char *name, const char *const *attrs)
{
	size_t n = 0;

	if (xml->elements > RD_XML_ELEMENTS)
		return set_above_limit(xml, RD_XML_ELEMENTS, "elements");
	if (xml->depth > RD_XML_DEPTH)
		return set_above_limit(xml, RD_XML_DEPTH, "nested elements");
	if (strlen(name) > RD_XML_NAME)
		return set_above_limit(xml, RD_XML_NAME, "bytes in a name");
	for (; attrs[2 * n]; n++) {
		if (n == RD_XML_ATTRS)
			return set_above_limit(xml, RD_XML_ATTRS, "attributes in an element");
		if (strlen(attrs[2 * n]) > RD_XML_NAME)
			return set_above_limit(xml, RD_XML_NAME, "bytes in a name");
		if (strlen(attrs[2 * n + 1]) > RD_XML_VALUE)
			return set_above_limit(xml, RD_XML_VALUE, "bytes in a value");
	}
	return 0;
}

static void XMLCALL on_start(void *arg, const XML_Char *name, const XML_Char **attrs)
{
	const struct rd_xml_element element = { name, attrs };
	struct reader *xml = arg;
	int r;

	if (xml->r < 0)
		return;
	xml->elements++;
	xml->depth++;
	r = within_limits(xml, name, attrs);
	if (!r)
		r = xml->ops->start(xml->arg, &element, xml->err);
	if (r < 0)
		stop_parser(xml, r);
}

static void XMLCALL on_end(void *arg, const XML_Char *name)
{
	struct reader *xml = arg;

	(void)name;
	if (xml->r < 0)
		return;
	xml->depth--;
	if (xml->ops->end)
		xml->ops->end(xml->arg);
}

static void XMLCALL on_doctype(void *arg, const XML_Char *name, const XML_Char *system, const XML_Char *public,
			       int has_internal)
{
	struct reader *xml = arg;

	(void)name;
	(void)system;
	(void)public;
	(void)has_internal;
	stop_parser(xml, set_bad_message(xml, "document type declarations (DOCTYPE) are not supported"));
}

static int parse_error(const struct reader *xml)
{
	enum XML_Error code = rd_libexpat.XML_GetErrorCode(xml->parser);
	const char *why = rd_libexpat.XML_ErrorString(code);

	if (xml->r < 0)
		return xml->r;
	if (code == XML_ERROR_NO_MEMORY)
		return rd_err_set(xml->err, ENOMEM, xml->name, "out of memory");
	return set_bad_message(xml, why ? why : "not XML");
}

int rd_xml_parse(const char *name, const char *text, size_t size, const struct rd_xml_ops *ops, void *arg,
		 struct rd_err *err)
{
	struct reader xml = { .ops = ops, .arg = arg, .name = name, .err = err };
	int r = rd_libexpat_load(name, err);

	if (r < 0)
		return r;
	/* libexpat stores each name, and all attributes of an element before it calls a handler: up to 14 bytes per byte of the file. */
	if (size > RD_SOURCE_XML_MAX)
		return rd_err_set(err, EFBIG, name, "XML file larger than %zu bytes", RD_SOURCE_XML_MAX);
	xml.parser = rd_libexpat.XML_ParserCreate(NULL);
	if (!xml.parser)
		return rd_err_set(err, ENOMEM, name, "out of memory");
	rd_libexpat.XML_SetUserData(xml.parser, &xml);
	rd_libexpat.XML_SetElementHandler(xml.parser, on_start, on_end);
	rd_libexpat.XML_SetStartDoctypeDeclHandler(xml.parser, on_doctype);
	if (rd_libexpat.XML_Parse(xml.parser, text, (int)size, XML_TRUE) != XML_STATUS_OK)
		r = parse_error(&xml);
	rd_libexpat.XML_ParserFree(xml.parser);
	return r;
}

const char *rd_xml_attr(const struct rd_xml_element *element, const char *name)
{
	for (const char *const *attr = element->attrs; *attr; attr += 2)
		if (strcmp(attr[0], name) == 0)
			return attr[1];
	return NULL;
}
