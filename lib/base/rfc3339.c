/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/rfc3339.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

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
