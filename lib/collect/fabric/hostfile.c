/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "collect/fabric/topology.h"

#define HOSTS_MAX 1000000

void rd_hostfile_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

/* RFC 1123, and underscores, which some sites use. */
static bool is_host(const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)word[i]) && !strchr(".-_", word[i]))
			return false;
	return len > 0 && len <= 253;
}

int rd_hostfile_parse(const char *name, const char *text, size_t size, char ***ret, size_t *n, struct rd_err *err)
{
	char **names = NULL;
	size_t count = 0, cap = 0, line = 0;
	int r = 0;

	for (const char *at = text, *end = text + size; !r && at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at)), *word = at;
		const char *line_end = stop ? stop : end;
		size_t len = 0;

		line++;
		at = stop ? stop + 1 : end;
		while (word < line_end && isspace((unsigned char)*word))
			word++;
		while (word + len < line_end && !isspace((unsigned char)word[len]) && word[len] != '#')
			len++;
		if (len == 0)
			continue;
		if (!is_host(word, len)) {
			r = rd_err_set(err, EBADMSG, name, "line %zu: invalid host name", line);
			rd_err_hint(
				err,
				"one host name per line; to expand a Slurm host list: scontrol show hostnames LIST > FILE");
		} else if (count >= HOSTS_MAX) {
			r = rd_err_set(err, EFBIG, name, "more than %d hosts", HOSTS_MAX);
		} else {
			*RD_ADD(names, count, cap) = rd_dup_part(word, len);
		}
	}
	if (!r && count == 0)
		r = rd_err_set(err, ENODATA, name, "no host names");
	if (r) {
		rd_hostfile_free(names, count);
		return r;
	}
	*ret = names;
	*n = count;
	return 0;
}
