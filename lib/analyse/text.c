/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/text.h"

#include <stdarg.h>
#include <stdio.h>

char *rd_text(const char *fmt, ...)
{
	char *text;
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = vasprintf(&text, fmt, ap);
	va_end(ap);
	return r < 0 ? NULL : text;
}
