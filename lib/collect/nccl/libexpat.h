/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libexpat, loaded when an XML file is read. */
#ifndef RD_COLLECT_LIBEXPAT_H
#define RD_COLLECT_LIBEXPAT_H

#include <expat.h>

#include "base/late.h"

/* clang-format off */
#define RD_LIBEXPAT_CALLS(x) \
	x(XML_ErrorString) x(XML_GetCurrentLineNumber) x(XML_GetErrorCode) x(XML_Parse) x(XML_ParserCreate) \
	x(XML_ParserFree) x(XML_SetElementHandler) x(XML_SetStartDoctypeDeclHandler) x(XML_SetUserData) \
	x(XML_StopParser)
/* clang-format on */

/* XML_GetCurrentLineNumber64, which replaces one of them, is not in the libraries of older hosts. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
RD_LATE_DECLARE(rd_libexpat, RD_LIBEXPAT_CALLS);
#pragma GCC diagnostic pop

#endif
