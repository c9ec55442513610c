/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small XML files that hold elements and attributes, read by libexpat: no document types, and so no entities but the five that
 * XML itself has and nothing from outside; no namespaces; text between elements is passed over. A file that asks for more than
 * the limits is refused.
 */
#ifndef RD_COLLECT_XML_H
#define RD_COLLECT_XML_H

#include "base/base.h"
#include "base/err.h"

#define RD_XML_DEPTH 64
#define RD_XML_ATTRS 32
#define RD_XML_ELEMENTS 65536
#define RD_XML_NAME 31	 /* bytes of a name */
#define RD_XML_VALUE 255 /* of a value */

struct rd_xml_element {
	const char *name;
	const char *const *attrs; /* name, value, and so on; ended by NULL */
};

/* Both are called while the file is read; what they are given does not outlive the call. Of an element for which `start` fails
 * there is no end. */
struct rd_xml_ops {
	int (*start)(void *arg, const struct rd_xml_element *element, struct rd_err *err);
	int (*end)(void *arg, struct rd_err *err);
};

/* -EBADMSG for what is no such file, -EFBIG or -E2BIG above a limit, -EOPNOTSUPP without libexpat; else what the callbacks return. */
int rd_xml_parse(const char *name, const char *text, size_t size, const struct rd_xml_ops *ops, void *arg,
		 struct rd_err *err);

/* NULL if there is none. */
const char *rd_xml_attr(const struct rd_xml_element *element, const char *name);

#endif
