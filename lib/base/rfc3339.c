/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/rfc3339.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/number.h"

int rd_rfc3339(uint64_t ns, char ret[RD_RFC3339_SIZE])
{
	time_t seconds = ns / 1000000000u;
	char date[32];
	struct tm tm;

	ret[0] = '\0';
	if (!gmtime_r(&seconds, &tm) || !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm))
		return -EOVERFLOW;
	snprintf(ret, RD_RFC3339_SIZE, "%s.%06uZ", date, (unsigned)(ns % 1000000000u / 1000));
	return 0;
}

uint64_t rd_rfc3339_parse(const char *text)
{
	struct tm tm = { 0 };
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	double fraction = 0;
	time_t seconds;

	if (!rest)
		return 0;
	if (*rest == '.')
		rd_take_real(&rest, &fraction);
	seconds = timegm(&tm);
	if (strcmp(rest, "Z") != 0 || seconds <= 0 || seconds > 10000000000 || fraction >= 1)
		return 0;
	return (uint64_t)seconds * 1000000000u + (uint64_t)(fraction * 1e9);
}
