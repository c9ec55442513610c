/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lookup of commands by name, and names nearest to a mistyped one. */
#include "base/text.h"
#include "opts.h"

#include <errno.h>
#include <string.h>

#define NAME_MAX_LEN 31

size_t rd_name_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	size_t d[NAME_MAX_LEN + 1][NAME_MAX_LEN + 1];

	if (la > NAME_MAX_LEN || lb > NAME_MAX_LEN)
		return SIZE_MAX;
	for (size_t i = 0; i <= la; i++)
		for (size_t j = 0; j <= lb; j++) {
			size_t best;

			if (i == 0 || j == 0) {
				d[i][j] = i + j;
				continue;
			}
			best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			if (d[i - 1][j] + 1 < best)
				best = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < best)
				best = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	return d[la][lb];
}

const struct rd_cmd *rd_cmd_find(const char *name)
{
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++)
		if (strcmp((*cmd)->name, name) == 0)
			return *cmd;
	return NULL;
}

static const struct rd_cmd *nearest_command(const char *name)
{
	const struct rd_cmd *near = NULL;
	size_t least = 4;

	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++) {
		size_t distance = rd_name_distance(name, (*cmd)->name);

		if (!(*cmd)->hidden && distance < least && distance < strlen(name)) {
			least = distance;
			near = *cmd;
		}
	}
	return near;
}

int rd_cmd_choose(const char *name, const struct rd_cmd **ret, struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf names = { 0 };
	const struct rd_cmd *near, *exact = rd_cmd_find(name);
	size_t n = 0, size = strlen(name);

	*ret = exact;
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd && size && !exact; cmd++)
		if (!(*cmd)->hidden && strncmp((*cmd)->name, name, size) == 0) {
			rd_buf_printf(&names, "%s%s", n++ ? ", " : "", (*cmd)->name);
			*ret = *cmd;
		}
	if (exact || n == 1)
		return 0;
	*ret = NULL;
	if (n > 1)
		return rd_err_set(err, EINVAL, NULL, "ambiguous command '%s': %s", name, names.data);
	rd_err_set(err, EINVAL, NULL, "unknown command '%s'", name);
	near = nearest_command(name);
	if (near)
		rd_err_hint(err, RD_PROGRAM " %s", near->name);
	return -EINVAL;
}

char *rd_devices(const char *list, char *const *operands)
{
	char *names = rd_dup_if(list);

	for (; *operands; operands++) {
		char *more = names ? rd_text("%s,%s", names, *operands) : rd_dup(*operands);

		free(names);
		names = more;
	}
	return names;
}
