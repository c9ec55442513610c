/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command is one table entry: its name, its options, its run function. The same tables give getopt_long, --help, the
 * completions, the shell and a test against the man pages. */
#ifndef RD_CMD_H
#define RD_CMD_H

#include "base/base.h"
#include "base/err.h"
#include "base/memory.h"
#include "render/render.h"
#include "report/shared/report.h"
#include "source/shared/source.h"

#include <float.h>
#include <stddef.h>

/* Exit codes, as monitoring plugins have them. */
enum rd_exit {
	RD_EXIT_OK = 0,
	RD_EXIT_WARNING = 1,
	RD_EXIT_CRITICAL = 2,
	RD_EXIT_UNKNOWN = 3,
};

/* What an option or the operands need of the outside, which a command that has given up its privileges cannot get by itself. */
enum rd_needs {
	RD_NEEDS_NOTHING,
	RD_NEEDS_FOREIGN_FILE,	   /* to read what others may have written: privileges are given up before */
	RD_NEEDS_FOREIGN_BUNDLE,   /* the same of a file that may be an archive */
	RD_NEEDS_FOREIGN_OPERANDS, /* the same of the operands */
	RD_NEEDS_OWN_FILE,	   /* to read what whoever runs the command has written */
	RD_NEEDS_OUTPUT,	   /* to write a file */
	RD_NEEDS_NEW_FILE,   /* the same; where none is named, a file that is not there yet, in the working directory */
	RD_NEEDS_TO_REPLACE, /* such a file where it is there already */
	RD_NEEDS_PROCESS,    /* to read the environment and the mappings of a process */
	RD_NEEDS_TERMINAL,   /* to set up the terminal */
	RD_NEEDS_PORTS,	     /* to send datagrams from this host's ports */
};

/* What an option does to the struct that its table is about: the command's state, or struct rd_globals. */
enum rd_opt_kind {
	RD_OPT_GIVEN,	/* nothing: rd_opt_given says whether it was there */
	RD_OPT_FLAG,	/* sets a bool */
	RD_OPT_TEXT,	/* stores its argument in a const char *, which points into argv */
	RD_OPT_WORD,	/* the same; it must be one of the words in `complete` */
	RD_OPT_NUMBER,	/* stores an unsigned integer from `least` to `most` */
	RD_OPT_SECONDS, /* stores a double from `least` to `most` */
	RD_OPT_OWN,	/* calls `take` */
};

struct rd_opt {
	const char *name;     /* long name, without dashes */
	char letter;	      /* short name; 0: none */
	const char *arg;      /* what its argument is called in help ("SECONDS"); NULL: takes none */
	const char *help;     /* one line, no full stop */
	const char *complete; /* what completes its argument: "file", "ibdev", "pid", "function", "errno", "user", "column",
			       * or words separated by "|"; NULL: nothing */
	enum rd_needs needs; /* its argument names the file */
	/* A row has these by one of the macros below. */
	enum rd_opt_kind kind;
	size_t offset;	    /* of the member */
	size_t size;	    /* of the integer */
	size_t known;	    /* offset of the `known` of an RD_FIELD, which becomes RD_OK; 0: it is none */
	double least, most; /* of a number, or seconds; both may be given */
	/* -EINVAL with `err` filled if the argument is no good; see rd_opt_refuse. */
	int (*take)(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err);
};

/* A member's offset, and an error of the compiler where it is not of this type. */
#define RD_OPT_AT(of, member, type) offsetof(of, member) * (size_t) _Generic(((of *)NULL)->member, type : 1)

/* The size of an unsigned integer, likewise. */
#define RD_OPT_SIZE(of, member)                                                                                 \
	sizeof(((of *)NULL)->member) * (size_t) _Generic(((of *)NULL)->member, unsigned char : 1, unsigned : 1, \
							 unsigned long : 1, unsigned long long : 1)

/* The end of a row: which member of `struct state` the option sets, and how. */
#define RD_FLAG(state, member) .kind = RD_OPT_FLAG, .offset = RD_OPT_AT(struct state, member, bool)
#define RD_TEXT(state, member) .kind = RD_OPT_TEXT, .offset = RD_OPT_AT(struct state, member, const char *)
#define RD_WORD(state, member) .kind = RD_OPT_WORD, .offset = RD_OPT_AT(struct state, member, const char *)
#define RD_NUMBER(state, member, from, to)                                                                          \
	.kind = RD_OPT_NUMBER, .offset = offsetof(struct state, member), .size = RD_OPT_SIZE(struct state, member), \
	.least = (from), .most = (to)
/* The same of an RD_FIELD. */
#define RD_NUMBER_FIELD(state, member, from, to) \
	RD_NUMBER(state, member.v, from, to), .known = offsetof(struct state, member.known)
#define RD_SECONDS(state, member, from, to) \
	.kind = RD_OPT_SECONDS, .offset = RD_OPT_AT(struct state, member, double), .least = (from), .most = (to)
#define RD_TAKES(function) .kind = RD_OPT_OWN, .take = (function)

#define RD_ABOVE_0 DBL_MIN /* the least of seconds that may be as few as one likes, but not none */
#define RD_COUNT_MAX (1ul << 30)
#define RD_PID_MAX (1ul << 22)

enum rd_rule_kind {
	RD_ONE_OF = 1, /* at most one of `opts` */
	RD_EXCLUDES,   /* none of `opts` together with one of `with` */
	RD_REQUIRES,   /* each of `opts` needs one of `with` */
};

/* What does not go together. Options by their long names, without dashes, a blank between them; global ones, too. */
struct rd_opt_rule {
	enum rd_rule_kind kind;
	const char *opts, *with;
	const char *why;  /* said behind it; NULL: nothing */
	const char *when; /* holds where this option is given, too; NULL: always */
};

/* What the global options said. */
struct rd_globals {
	bool json;
	bool verbose;
	bool help, version;
	const char *color; /* auto, always, never; NULL: not said */
	bool openmetrics;
	const char *textfile; /* a file to write metrics to; NULL: none */
	const char *from;     /* a bundle to read instead of this host; NULL: this host */
	struct rd_table_style style;
};

struct rd_ctx {
	struct rd_globals globals;
	struct rd_source *source; /* opened before run() */
	const struct rd_cmd *cmd;
	void *state;	/* the command's own options, of cmd->state_size bytes, zeroed before */
	uint64_t given; /* a bit for each row of cmd->opts; see rd_opt_given */
	uint64_t given_globals;
	const char *schema;  /* of the JSON document; NULL: rdmadiag/<command>/1. A command may set it */
	bool lines;	     /* the output is a stream of JSON lines. A command may set it */
	bool answered;	     /* what ends the JSON output has been printed */
	int64_t deadline_ms; /* on CLOCK_MONOTONIC, by which a file is to be written; 0: none. A command may set it */
};

struct rd_cmd {
	const char *name;
	const char *summary;		 /* one line for the list of commands */
	const char *operands;		 /* "[-- COMMAND [ARG…]]" in the usage line; NULL: none */
	const struct rd_opt *opts;	 /* 64 at most, ended by a NULL name; NULL: none */
	const struct rd_opt_rule *rules; /* ended by a kind of 0; NULL: all options go together */
	/* What one of its options makes of the command: another table, state and work behind the same name. NULL: nothing. */
	const struct rd_cmd *variant;
	const char *option;		 /* of a variant: which option that is, a row in both tables */
	const char *description;	 /* paragraph for --help; NULL: none */
	const char *examples;		 /* for --help; NULL: none */
	const struct rd_column *columns; /* what -o can name, for --help and completion; NULL: no table */
	size_t n_columns;
	bool hidden;
	bool live_only;	 /* looks at this host's running kernel: no bundle can answer */
	bool opens_from; /* opens what --from names by itself: ctx->source is this host in any case */
	bool topologies; /* what is foreign may be a topology file: libexpat is loaded before privileges are given up */
	bool metrics; /* fills report->metrics when rd_metrics_wanted says so: --openmetrics and --textfile are taken */
	enum rd_needs operand_needs; /* each of them names a file, also without an option that says so */
	bool live_operand;	     /* but "live" stands for this host, which is read for no other reason */
	bool runs_command;	     /* the operands are a command line: our options end at the first of them */
	size_t state_size;
	/* Refuses operands, and what the rules cannot say of options: -EINVAL with err filled. Opens nothing. NULL: all goes. */
	int (*check)(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err);
	/* Reads through `source` all that the command reads with any of its options, and prints nothing: `capture` calls it
	 * with a source that records. What cannot be read is no failure here. NULL: nothing that a bundle holds. */
	int (*record)(struct rd_source *source, struct rd_err *err);
	/* Does the work; returns the exit code. argv: the operands ("--" removed), NULL-terminated. */
	int (*run)(struct rd_ctx *ctx, int argc, char **argv);
};

/* Whether the command line has this option (its long name, without dashes), of the command or a global one. */
bool rd_opt_given(const struct rd_ctx *ctx, const char *name);

/* What --device (NULL: not given) and the operands name, with commas between; NULL: nothing. Caller frees. */
char *rd_devices(const char *list, char *const *operands);

/* For `take`: which of the words in `complete` the argument is, the first being 0; -EINVAL with `err` filled if it is not one. */
int rd_opt_word(const struct rd_opt *opt, const char *arg, struct rd_err *err);

/* For `take`: fills `err` with the option and what is wrong with its argument; -EINVAL. */
int rd_opt_refuse(const struct rd_opt *opt, struct rd_err *err, const char *fmt, ...) RD_PRINTF(3, 4);

extern const struct rd_cmd *const rd_commands[]; /* in the order of help; NULL-terminated */
extern const struct rd_opt rd_global_opts[];

/* "rdmadiag: object: message: errno text (ENAME)" on standard error, and the hint on a second line; all escaped. With
 * --json also the document (or the stream's last line) that says so, unless ctx->answered. `ctx` may be NULL. Returns
 * RD_EXIT_UNKNOWN, so that a command can `return rd_fail(ctx, &err)`. */
int rd_fail(struct rd_ctx *ctx, const struct rd_err *err);

/* The same for a command line that is no good: without errno, and with a hint at --help where `err` has none. */
int rd_fail_usage(const struct rd_cmd *cmd, const struct rd_err *err);

/*
 * Whether reads of sysfs failed that rows of the report rest on; `listings`: folders and links only. Then says so on standard
 * error, with the first of them, and sets the report's status to RD_EXIT_UNKNOWN.
 */
bool rd_answer_incomplete(const struct rd_ctx *ctx, struct rd_report *report, bool listings);

/* Fills `err` with why a host shows no RDMA device. `error`: rdma_error of struct rd_host. */
void rd_no_rdma(int error, struct rd_err *err);

/* A remark on standard error that does not end the run. */
void rd_warn(const struct rd_ctx *ctx, const char *fmt, ...) RD_PRINTF(2, 3);

/* A line for each error behind the first `from`. */
void rd_warn_errors(const struct rd_ctx *ctx, const struct rd_errlist *errors, size_t from);

/* As rd_warn, only with -v. */
void rd_verbose(const struct rd_ctx *ctx, const char *fmt, ...) RD_PRINTF(2, 3);

/* Writes everything to standard output, unbuffered. -errno on failure, which main remembers: a command just stops. -EPIPE
 * when the reader has gone (not an error for the user). */
int rd_out(const struct rd_buf *buf);

/* Fills what every document begins with: host, time, source, and schema as ctx has it. */
void rd_answer_init(const struct rd_ctx *ctx, struct rd_report *report);

/* Prints the report as the globals ask: a JSON document (a line if ctx->lines), a page of metrics, or the first section as
 * a table; with --textfile its metrics go there, and no table is printed. Returns report->status, or RD_EXIT_UNKNOWN with
 * a message printed. */
int rd_answer_print(struct rd_ctx *ctx, const struct rd_report *report);

/* Prints sections as tables, one behind the other, the findings and what to do about them below; -o names columns of the
 * first. NULL report: tables alone. Returns report->status, or RD_EXIT_UNKNOWN with a message printed. */
int rd_answer_tables(struct rd_ctx *ctx, const struct rd_report *report, const struct rd_section *const *sections,
		     size_t n);

/* Adds the findings and what to do about them. */
void rd_answer_findings(const struct rd_ctx *ctx, const struct rd_report *report, struct rd_buf *out);

/* The section of this key; NULL: it has none. */
const struct rd_section *rd_report_section(const struct rd_report *report, const char *key);

/* Whether report->metrics is going to be read. */
static inline bool rd_metrics_wanted(const struct rd_ctx *ctx)
{
	return ctx->globals.openmetrics || ctx->globals.textfile;
}

/* With --textfile: writes the report's metrics there. rd_answer_print does so, too; this is for commands that print in
 * their own way. 0 or -errno with `err` filled. */
int rd_answer_textfile(const struct rd_ctx *ctx, const struct rd_report *report, struct rd_err *err);

#define RD_PROGRAM "rdmadiag"

/*
 * main ignores SIGPIPE and SIGXFSZ, so that writing to a closed pipe, or beyond the limit on the size of files, is an
 * error like any other. What a command starts must have both back: signal(SIGPIPE, SIG_DFL) between fork and exec.
 */

#endif
