/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A terminal of the tests' own, a shell with job control on it, and what trace-errno does about a command in it. */
#ifndef RD_OUTER_TTY_H
#define RD_OUTER_TTY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct outer {
	int master;  /* of the terminal */
	int orders;  /* to its shell: a byte, as its command fg */
	int reports; /* from its shell */
	pid_t shell;
	char seen[1 << 21]; /* all that the terminal was sent, ended by 0 */
	size_t n;
};

/* The shell's job was stopped, or has ended. */
struct report {
	pid_t job;
	int status; /* as waitpid has it */
	int typed;  /* bytes that whoever reads the terminal next finds there */
	bool cooked;
};

struct job {
	const char *command; /* for sh -c */
	const char *play; /* instead of a command: a role of this test program, which it plays when it is run as "play ROLE" */
	bool shared;		   /* the command shares our session */
	bool background;	   /* the shell starts it with & */
	bool says;		   /* writes a line of its own once the command runs */
	bool dies;		   /* finds that there is no memory once the command runs */
	int input, output, errors; /* instead of the terminal where they are not 0 */
};

/* Brings a terminal up, 80 columns wide, and has its shell run the job. */
void outer_start(struct outer *outer, const struct job *job);
/* What is still running gets SIGHUP. */
void outer_end(struct outer *outer);
void outer_type(struct outer *outer, const char *keys);
/* Waits until the terminal was sent this text, and forgets all up to its end; false: it does not come in a minute. */
bool outer_shows(struct outer *outer, const char *text);
/* Continues a stopped job in the foreground. */
void outer_continue(struct outer *outer);
/* The shell's next report; fails the test if none comes. */
struct report outer_report(struct outer *outer);
/* The same for one that says that the job has ended: the status as a shell has it. Keeps what the terminal is sent. */
int outer_status(struct outer *outer);
bool outer_is_cooked(const struct outer *outer);

/* A copy of this program, which everybody may run; NULL: there is none. Removed by outer_remove_player. */
const char *outer_player(void);
void outer_remove_player(void);

#endif
