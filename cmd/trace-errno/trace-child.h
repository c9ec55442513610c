/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The traced command: the user it runs as, and what it inherits. */
#ifndef RD_CMD_TRACE_CHILD_H
#define RD_CMD_TRACE_CHILD_H

#include <pwd.h>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <termios.h>

#include "base/err.h"

/* A user of this host, as in passwd(5). */
struct trace_user {
	struct passwd entry; /* its texts are the C library's: no other user is looked up meanwhile */
	gid_t *groups;
	int n_groups;
};

/* By name, or, if no user has that name, by decimal user ID. -errno with err filled. */
int trace_user_find(const char *name, struct trace_user *ret, struct rd_err *err);
void trace_user_deinit(struct trace_user *user);

struct trace_command {
	char **argv;
	const struct trace_user *user; /* NULL: our own, in our session */
	bool keep_privs;	       /* setuid programs and file capabilities still work */
};

struct trace_child {
	pid_t pid;  /* the command, or runuser, which started it; 0: none */
	int go;	    /* closed: the child ends; a byte: it executes the command */
	int failed; /* carries the reason why the command could not be executed */
	bool ended;
	int status;	      /* as of waitpid */
	bool session;	      /* it has its own, and `pid` its own process group unless: */
	bool terminal;	      /* it has its own terminal, and ours is raw */
	struct termios modes; /* of ours before that */
};

#define TRACE_CHILD_INIT               \
	{                              \
		.go = -1, .failed = -1 \
	}

/* -errno with err filled. The command is not executed before trace_child_go. */
int trace_child_start(struct trace_child *child, const struct trace_command *command, struct rd_err *err);
int trace_child_go(struct trace_child *child, const char *name, struct rd_err *err);
/* Reaps all children that have ended, including the command. */
void trace_child_reap(struct trace_child *child);
/* Handles a signal that we received while the command runs. */
void trace_child_signal(struct trace_child *child, const struct signalfd_siginfo *info);
/* A raw terminal shows lines of ours as stairs: it translates newlines while they are written. Returns whether it did before. */
bool trace_child_translate(const struct trace_child *child, bool translate);
/* As a shell reports it: the exit status, or 128 + the signal. */
int trace_child_exit_code(const struct trace_child *child);
void trace_child_deinit(struct trace_child *child);

#endif
