/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reader for small XML files that hold elements and attributes: no entities but the five that XML itself has, no
 * document types, no namespaces, text between elements is passed over. Memory is what the caller keeps; a file that asks
 * for more than the limits is refused.
 */
#ifndef RD_COLLECT_XML_H
#define RD_COLLECT_XML_H

#include "base/base.h"
#include "base/err.h"

#define RD_XML_DEPTH 64
#define RD_XML_ATTRS 32
#define RD_XML_ELEMENTS 65536

struct rd_xml_attr {
	char name[32];
	char value[256];
};

struct rd_xml_element {
	char name[32];
	struct rd_xml_attr attrs[RD_XML_ATTRS];
	size_t n_attrs;
};

struct rd_xml_ops {
	int (*start)(void *arg, const struct rd_xml_element *element, struct rd_err *err);
	int (*end)(void *arg, struct rd_err *err);
};

/* -EBADMSG for what is no such file, -E2BIG above a limit; else what the callbacks return. */
int rd_xml_parse(const char *name, const char *text, size_t size, const struct rd_xml_ops *ops, void *arg,
		 struct rd_err *err);

/* NULL if there is none. */
const char *rd_xml_attr(const struct rd_xml_element *element, const char *name);

#endif
