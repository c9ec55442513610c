/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What loggers put around a line: the host that printed it before its text, and the escapes of JSON. */
#include <ctype.h>

#include "analyse/explain/log.h"

#define DIGITS "0123456789"

/* Characters of a GID that is printed in full. */
#define GID_LEAST 39

/* A name is within so many characters. */
#define NAME_WITHIN 80

/* Letters, digits, "_.-", of which the last two end no name. */
static size_t name_size(const char *at)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || (at[n] && strchr("_.-", at[n])))
		n++;
	while (n && strchr(".-", at[n - 1]))
		n--;
	return n;
}

/* Of the name before ":digits", and not of a time. */
static size_t name_before_digits(const char *at, size_t *ret)
{
	size_t n = name_size(at);

	*ret = at[n] == ':' ? strspn(at + n + 1, DIGITS) : 0;
	return strspn(at, DIGITS ".-T") >= n ? 0 : n;
}

/* "name:digits:digits", "name:digits :digits"; behind a third colon are digits, too, unlike in "libfabric:10:20:efa:". A PCI address and
 * "2025-01-11_10:12:33.1" go on with a point. */
static size_t before_ids(const char *at)
{
	size_t digits, n = name_before_digits(at, &digits);
	const char *rest = at + n + 1 + digits;

	/* a GID */
	if (!n || !digits || strspn(at, "0123456789abcdef:") >= GID_LEAST)
		return 0;
	rest += *rest == ' ';
	if (rest[0] != ':' || !isdigit((unsigned char)rest[1]))
		return 0;
	rest += 1 + strspn(rest + 1, DIGITS);
	return rest[0] == '.' || (rest[0] == ':' && !isdigit((unsigned char)rest[1])) ? 0 : n;
}

/* Open MPI: "name:12345]", of five digits or more, unlike the lines of a file; "name][[". */
static size_t in_brackets(const char *at)
{
	size_t digits, n = name_before_digits(at, &digits);

	return n && ((digits >= 5 && at[n + 1 + digits] == ']') || strncmp(at + n, "][[", 3) == 0) ? n : 0;
}

/* "kernel:" or "program[12]:"; if not strict, "program:", too. */
static bool is_tag(const char *at, bool strict)
{
	size_t n = name_size(at);

	if (!isalpha((unsigned char)at[0]))
		return false;
	if (at[n] == '[')
		return isdigit((unsigned char)at[n + 1]);
	return at[n] == ':' && (!strict || strncmp(at, "kernel:", 7) == 0);
}

/* "Nov 28 10:00:00 host tag:", or a time of RFC 3339 and " host tag:". With a comma (dmesg) or Z (logs of containers) such a time is most
 * often followed by no host. */
static size_t of_syslog(const char *line, const char **ret)
{
	const char *at = line;
	bool strict = false;
	size_t n;

	if (isupper((unsigned char)at[0]) && isalpha((unsigned char)at[1]) && isalpha((unsigned char)at[2]) &&
	    at[3] == ' ') {
		at += 3 + strspn(at + 3, " ");
		at += strspn(at, DIGITS);
		at += strspn(at, " ");
		if (strspn(at, DIGITS ":") != 8)
			return 0;
		at += 8;
	} else if (strspn(at, DIGITS "-") == 10 && at[10] == 'T') {
		n = strspn(at, DIGITS "-T:.,+Z");
		strict = memchr(at, ',', n) || at[n - 1] == 'Z';
		at += n;
	}
	if (at == line || *at != ' ')
		return 0;
	*ret = ++at;
	n = name_size(at);
	return n && at[n] == ' ' && is_tag(at + n + 1, strict) ? n : 0;
}

/* "host: [  12.345678] ", as pdsh shows a line of the kernel. */
static size_t of_pdsh(const char *line)
{
	size_t n = name_size(line);
	const char *at = line + n;

	if (strncmp(at, ": [", 3) != 0 || strncmp(line, "kernel:", 7) == 0 || strspn(line, DIGITS) >= n)
		return 0;
	at += 3 + strspn(at + 3, " ");
	return isdigit((unsigned char)*at) && at[strspn(at, DIGITS)] == '.' ? n : 0;
}

size_t rd_log_host(const char *line, const char **ret)
{
	/* the priority of syslog: "<4>" */
	size_t priority = *line == '<' ? strspn(line + 1, DIGITS) : 0, n;

	if (priority && line[1 + priority] == '>')
		line += priority + 2;
	n = of_syslog(line, ret);

	if (!n) {
		n = of_pdsh(line);
		*ret = line;
	}
	for (const char *at = line; !n && at - line < NAME_WITHIN && *at; at++) {
		/* mpirun: "[1,23]<stdout>:name", torchrun: "[default3]:name" */
		bool begin = at == line || strchr(" |\"", at[-1]) ||
			     (at - line > 1 && at[-1] == ':' && strchr(">]", at[-2]));

		*ret = at;
		if (begin || strchr("[>", at[-1]))
			n = before_ids(at);
		if (!n && *at == '[' && begin) {
			n = in_brackets(at + 1);
			*ret = at + 1;
		}
	}
	return n;
}

char rd_log_char(const char *text, size_t size, size_t *used)
{
	/* Each is followed by what it stands for; a newline ends the text. */
	static const char *const JSON[] = { "\\u003c<", "\\u003e>", "\\u0026&", "\\u0027'", "\\\"\"", "\\n\" " };

	for (size_t i = 0; *text == '\\' && i < RD_ARRAY_SIZE(JSON); i++) {
		*used = strlen(JSON[i]) - 1;
		if (*used <= size && !memcmp(text, JSON[i], *used))
			return JSON[i][*used];
	}
	*used = 1;
	return *text;
}
