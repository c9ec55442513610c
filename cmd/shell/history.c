/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/shell/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/shell/readline.h"

/* Makes a directory and those above it. */
static int make_directories(const char *path)
{
	_cleanup_free_ char *part = rd_dup(path);

	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0700) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(part, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

/* With sudo -E, or su, the directory of another user: files of root in it would be in the way. */
static bool is_own(const char *directory)
{
	struct stat st;

	return stat(directory, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

char *shell_history_file(void)
{
	const char *state = secure_getenv("XDG_STATE_HOME"), *home = secure_getenv("HOME");
	_cleanup_free_ char *directory = NULL;

	if (state && *state == '/')
		directory = rd_text("%s/rdmadiag", state);
	else if (home && *home == '/' && is_own(home))
		directory = rd_text("%s/.local/state/rdmadiag", home);
	if (!directory || make_directories(directory) < 0 || !is_own(directory))
		return NULL;
	return rd_text("%s/history", directory);
}

void shell_history_add(const char *file, int n)
{
	/* It may hold names of jobs and hosts. */
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), r = fd < 0 ? errno : 0;

	if (fd >= 0) {
		close(fd);
		r = rd_readline.append_history(n, file);
	}
	if (!r)
		r = rd_readline.history_truncate_file(file, SHELL_HISTORY_LINES);
	if (r)
		rd_warn(NULL, "%s: the history cannot be written: %s", file, rd_errno_text(r));
}
