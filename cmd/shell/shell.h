/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the shell, and how it runs commands. */
#ifndef RD_SHELL_H
#define RD_SHELL_H

#include <sys/types.h>
#include <termios.h>

#include "base/err.h"
#include "cmd/shell/line.h"
#include "cmd/shell/numbered.h"

/* A process that has dropped its privileges and read a bundle, and runs the commands that need nothing else. */
struct shell_holder {
	pid_t pid; /* and its process group; 0: none */
	int sock;
};

struct shell {
	char *bundle; /* in use, as the user named it; owned. NULL: this host */
	struct shell_holder holder;
	bool stale; /* the holder: a command of it was killed */
	struct shell_findings findings;
	char *source;	      /* the command line that printed the findings; owned, NULL: none */
	bool terminal;	      /* somebody types the lines; commands run in process groups of their own */
	struct termios modes; /* of the terminal, before a command */
};

/*
 * Runs a command line in a process of its own, reads its findings, and waits for its end. `out`: its standard output. With `filter`,
 * what it prints passes the filters of the line first. Returns its exit code; 3 if it was killed.
 */
int shell_run(struct shell *shell, const struct shell_line *line, int out);

/* Runs `complete -- WORDS` on what is in use; its output is added to `ret`. */
void shell_complete(struct shell *shell, const struct shell_line *line, struct rd_buf *ret);

/* Uses a bundle, which is read now, or this host (NULL). -errno: it has been reported, and what was in use stays so. */
int shell_use(struct shell *shell, const char *path);

void shell_deinit(struct shell *shell);

/* The process of a command, or of a holder: signals and process group. */
void shell_child_begin(const struct shell *shell);

/* Makes a process group the one that gets what is typed, Ctrl-C included. The shell's own: with the modes of before the command. */
void shell_give_terminal(const struct shell *shell, pid_t group);

/* holder.c: starts one, which reads the bundle; meanwhile it has the terminal. -EBADMSG: it could not read it, and has reported why;
 * -EINTR: ended by a signal; another -errno: not started. */
int shell_holder_start(struct shell *shell, const char *path, struct shell_holder *ret);
void shell_holder_end(struct shell_holder *holder);

/* Passes a command line and two descriptors on. False: the holder has ended. */
bool shell_holder_send(struct shell_holder *holder, char *const *words, int out, int findings);

/* The exit code of that command; -1: the holder has ended. */
int shell_holder_wait(struct shell_holder *holder);

#endif
