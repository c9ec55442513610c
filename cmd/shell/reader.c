/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <poll.h>
#include <readline/history.h>
#include <readline/readline.h>
#include <signal.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/shell/shell.h"

/* GNU Readline, loaded when somebody types. It is under the GPL, version 3 or later, and so is the running shell then: see LICENSE. */

/* Functions and variables; the table has their addresses. */
/* clang-format off */
#define RD_READLINE_CALLS(x) \
	x(add_history) x(append_history) x(history_truncate_file) x(read_history) x(rl_attempted_completion_function) \
	x(rl_attempted_completion_over) x(rl_bind_key) x(rl_callback_handler_install) x(rl_callback_handler_remove) \
	x(rl_callback_read_char) x(rl_catch_signals) x(rl_completer_quote_characters) x(rl_completer_word_break_characters) \
	x(rl_completion_append_character) x(rl_completion_matches) x(rl_crlf) x(rl_filename_completion_function) \
	x(rl_forced_update_display) x(rl_insert_text) x(rl_line_buffer) x(rl_on_new_line) x(rl_point) x(rl_readline_name) \
	x(rl_redisplay) x(rl_replace_line) x(stifle_history) x(using_history)
/* clang-format on */

RD_LATE_DECLARE(rd_readline, RD_READLINE_CALLS);

#define HISTORY_LINES 1000

RD_LATE_DEFINE(rd_readline, RD_READLINE_CALLS, RD_LIBREADLINE)

/* readline has no argument for its callbacks. */
static struct {
	struct shell_reader *reader;
	char *line; /* taken from readline */
	bool done;
	char **candidates; /* of the completion in progress */
	size_t n, next;
} typing;

static volatile sig_atomic_t caught;

static void note_signal(int number)
{
	caught = number;
}

/* ---- completion */

/* "word" of "word\tdescription". */
static char *next_candidate(const char *text, int state)
{
	if (state == 0)
		typing.next = 0;
	return typing.next < typing.n ? strdup(typing.candidates[typing.next++]) : NULL;
}

static char *before_cursor(void)
{
	return rd_dup_part(*rd_readline.rl_line_buffer, (size_t)*rd_readline.rl_point);
}

static char **complete_word(const char *text, int start, int end)
{
	_cleanup_free_ char *before = before_cursor(), *list = NULL;
	bool files = false;
	const char *at;
	char **matches;
	size_t cap = 0;

	list = typing.reader->complete(typing.reader->arg, before);
	/* Lines, cut off at the tab; ":file": names of files are to be added. */
	for (at = list; at && *at;) {
		_cleanup_free_ char *line = rd_next_part(&at, '\n');

		files |= strcmp(line, ":file") == 0;
		line[strcspn(line, "\t")] = '\0';
		if (*line && *line != ':')
			*RD_ADD(typing.candidates, typing.n, cap) = rd_dup(line);
	}
	*rd_readline.rl_attempted_completion_over = 1;
	*rd_readline.rl_completion_append_character = ' ';
	matches = rd_readline.rl_completion_matches(text, next_candidate);
	if (!matches && files)
		matches = rd_readline.rl_completion_matches(text, *rd_readline.rl_filename_completion_function);
	/* A list of columns may go on. */
	if (matches && matches[0] && !matches[1] && strchr(matches[0], ','))
		*rd_readline.rl_completion_append_character = '\0';
	for (size_t i = 0; i < typing.n; i++)
		free(typing.candidates[i]);
	free(typing.candidates);
	typing.candidates = NULL;
	typing.n = 0;
	return matches;
}

/* '?': what can follow, with descriptions. Where nothing can be completed it is a character like others. */
static int show_candidates(int count, int key)
{
	_cleanup_free_ char *before = before_cursor(), *list = typing.reader->complete(typing.reader->arg, before);
	const char *at = list;

	if (!list) {
		rd_readline.rl_insert_text("?");
		return 0;
	}
	rd_readline.rl_crlf();
	while (at && *at) {
		_cleanup_free_ char *line = rd_next_part(&at, '\n');
		size_t word = strcspn(line, "\t");

		if (*line == ':')
			printf("  the name of a %s\n", line + 1);
		else if (*line)
			printf("  %-24.*s %s\n", (int)word, line, line[word] ? line + word + 1 : "");
	}
	if (!*list)
		printf("  nothing is known that can follow\n");
	fflush(stdout);
	rd_readline.rl_on_new_line();
	rd_readline.rl_redisplay();
	return 0;
}

/* ---- history */

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

/* $XDG_STATE_HOME/rdmadiag/history, by default below ~/.local/state; the directory is made if it is missing. NULL: there is no home
 * directory, or it is not this user's. The caller frees it. */
static char *history_file(void)
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

/* ---- lines */

static void take_line(char *line)
{
	typing.line = line;
	typing.done = true;
	rd_readline.rl_callback_handler_remove();
}

void shell_reader_open(struct shell_reader *reader, bool terminal)
{
	static char blanks[] = " \t\n|>", quotes[] = "'\"";
	struct rd_err err;

	if (!terminal)
		return;
	if (rd_readline_load("shell", &err) < 0) {
		rd_warn(NULL, "%s; lines are read without completion and history", err.message);
		return;
	}
	reader->edits = true;
	typing.reader = reader;
	*rd_readline.rl_readline_name = RD_PROGRAM;
	*rd_readline.rl_catch_signals = 0;
	*rd_readline.rl_completer_word_break_characters = blanks;
	*rd_readline.rl_completer_quote_characters = quotes;
	*rd_readline.rl_attempted_completion_function = complete_word;
	rd_readline.rl_bind_key('?', show_candidates);
	rd_readline.using_history();
	rd_readline.stifle_history(HISTORY_LINES);
	reader->history = history_file();
	if (reader->history)
		rd_readline.read_history(reader->history);
}

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

static void catch_signals(struct sigaction before[])
{
	struct sigaction action = { .sa_handler = note_signal };

	caught = 0;
	for (size_t i = 0; i < RD_ARRAY_SIZE(ends); i++)
		sigaction(ends[i], &action, &before[i]);
}

static void release_signals(const struct sigaction before[])
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(ends); i++)
		sigaction(ends[i], &before[i], NULL);
}

static enum shell_read edit_line(struct shell_reader *reader, const char *prompt, char **ret)
{
	struct sigaction before[RD_ARRAY_SIZE(ends)];
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	catch_signals(before);
	typing.done = false;
	typing.line = NULL;
	rd_readline.rl_callback_handler_install(prompt, take_line);
	while (!typing.done && !caught)
		if (poll(&input, 1, -1) > 0)
			rd_readline.rl_callback_read_char();
	/* It is shown where it was typed, as in other shells. */
	if (caught == SIGINT)
		(void)!write(STDOUT_FILENO, "^C\n", 3);
	if (!typing.done)
		rd_readline.rl_callback_handler_remove();
	release_signals(before);
	if (caught == SIGINT) {
		free(typing.line);
		return SHELL_READ_INTERRUPTED;
	}
	if (caught || !typing.line) {
		if (!caught)
			(void)!write(STDOUT_FILENO, "\n", 1);
		return SHELL_READ_END;
	}
	*ret = typing.line;
	if (**ret && **ret != ' ') {
		rd_readline.add_history(*ret);
		reader->new_lines++;
	}
	return SHELL_READ_LINE;
}

/* Without readline. The terminal itself lets a line be corrected. */
static enum shell_read plain_line(const char *prompt, char **ret)
{
	struct sigaction before[RD_ARRAY_SIZE(ends)];
	size_t cap = 0;
	ssize_t n;

	caught = 0;
	if (prompt) {
		(void)!write(STDERR_FILENO, prompt, strlen(prompt));
		catch_signals(before);
	}
	n = getline(ret, &cap, stdin);
	if (prompt)
		release_signals(before);
	if (n >= 0 && !caught)
		return SHELL_READ_LINE;
	free(*ret);
	*ret = NULL;
	if (prompt)
		(void)!write(STDERR_FILENO, "\n", 1);
	if (caught != SIGINT)
		return SHELL_READ_END;
	clearerr(stdin);
	return SHELL_READ_INTERRUPTED;
}

enum shell_read shell_reader_next(struct shell_reader *reader, const char *prompt, char **ret)
{
	*ret = NULL;
	return reader->edits ? edit_line(reader, prompt, ret) : plain_line(prompt, ret);
}

void shell_reader_close(struct shell_reader *reader)
{
	if (reader->history && reader->new_lines > 0) {
		/* Adds the last `n` lines of readline's list. A file that cannot be written is reported once, and loses nothing else. */
		/* It may hold names of jobs and hosts. */
		int fd = open(reader->history, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600),
		    r = fd < 0 ? errno : 0;

		if (fd >= 0) {
			close(fd);
			r = rd_readline.append_history(reader->new_lines, reader->history);
		}
		if (!r)
			r = rd_readline.history_truncate_file(reader->history, HISTORY_LINES);
		if (r)
			rd_warn(NULL, "%s: the history cannot be written: %s", reader->history, rd_errno_text(r));
	}
	free(reader->history);
	reader->history = NULL;
}
