/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small XML files of elements and attributes, parsed by libexpat. Document types are rejected, so there are only XML's five
 * predefined entities and nothing external; no namespaces; text between elements is ignored. A file above the limits is
 * rejected.
 */
#ifndef RD_COLLECT_XML_H
#define RD_COLLECT_XML_H

#include "base/base.h"
#include "base/err.h"

#define RD_XML_DEPTH 64
#define RD_XML_ATTRS 32
#define RD_XML_ELEMENTS 65536
#define RD_XML_NAME 31	 /* bytes of a name */
#define RD_XML_VALUE 255 /* bytes of a value */

struct rd_xml_element {
	const char *name;
	const char *const *attrs; /* name, value, ...; NULL-terminated */
};

/* Called while the file is parsed; the arguments are valid only during the call. `end` (may be NULL) is not called for an element whose
 * `start` failed. */
struct rd_xml_ops {
	int (*start)(void *arg, const struct rd_xml_element *element, struct rd_err *err);
	void (*end)(void *arg);
};

/* -EBADMSG if it is not such a file, -EFBIG or -E2BIG above a limit, -EOPNOTSUPP without libexpat, or what the callbacks return. */
int rd_xml_parse(const char *name, const char *text, size_t size, const struct rd_xml_ops *ops, void *arg,
		 struct rd_err *err);

/* NULL: no such attribute. */
const char *rd_xml_attr(const struct rd_xml_element *element, const char *name);

#endif
