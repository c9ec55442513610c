/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/environ.h"

#include <string.h>
#include <sys/auxv.h>

#include "base/base.h"

/* None of them can select a file: glibc and ncurses refuse values with a slash. */
static const char *const harmless[] = { "LANG=", "LANGUAGE=", "LC_ALL=", "LC_CTYPE=", "TERM=", "COLUMNS=", "LINES=" };

static char *shown[RD_ARRAY_SIZE(harmless) + 1];

static char *find_variable(const char *name)
{
	for (char **variable = environ; *variable; variable++)
		if (strncmp(*variable, name, strlen(name)) == 0)
			return *variable;
	return NULL;
}

char **rd_environ_hide(void)
{
	char **whole = environ;
	size_t n = 0;

	if (!getauxval(AT_SECURE) || !environ)
		return whole;
	for (size_t i = 0; i < RD_ARRAY_SIZE(harmless); i++) {
		shown[n] = find_variable(harmless[i]);
		n += shown[n] != NULL;
	}
	shown[n] = NULL;
	environ = shown;
	return whole;
}

void rd_environ_show(char **whole)
{
	environ = whole;
}
