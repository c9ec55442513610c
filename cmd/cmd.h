/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command is one table entry: its name, its options, its run function. getopt_long, --help, the completions and a test
 * against the man pages use the same tables. */
#ifndef RD_CMD_H
#define RD_CMD_H

#include "render/render.h"
#include "report/shared/report.h"
#include "source/shared/source.h"

#include <float.h>

/* Exit codes, as of monitoring plugins. */
enum rd_exit {
	RD_EXIT_OK = 0,
	RD_EXIT_WARNING = 1,
	RD_EXIT_CRITICAL = 2,
	RD_EXIT_UNKNOWN = 3,
};

/* External resources of an option or of the operands that a command without privileges cannot open itself. */
enum rd_needs {
	RD_NEEDS_NOTHING,
	RD_NEEDS_FOREIGN_FILE,	   /* to read an untrusted file: privileges are dropped first */
	RD_NEEDS_FOREIGN_BUNDLE,   /* the same for a file that may be an archive */
	RD_NEEDS_FOREIGN_OPERANDS, /* the same for the operands */
	RD_NEEDS_FOREIGN_TEXT,	   /* the operands are untrusted text; without any, standard input is */
	RD_NEEDS_OWN_FILE,	   /* to read a file of the user who runs the command */
	RD_NEEDS_OUTPUT,	   /* to write a file */
	RD_NEEDS_UPDATE,	   /* to add to a file again and again */
	RD_NEEDS_OUTPUT_OPERANDS,  /* the same for the operands */
	RD_NEEDS_NEW_FILE,	   /* the same; without operand, to create a file in the working directory */
	RD_NEEDS_TO_REPLACE,	   /* to replace such a file if it exists */
	RD_NEEDS_TERMINAL,	   /* to set up the terminal */
	RD_NEEDS_PORTS,		   /* to send datagrams from this host's ports */
};

/* How an option changes the struct of its table: the command's state, or struct rd_globals. */
enum rd_opt_kind {
	RD_OPT_GIVEN,	/* not at all: rd_opt_given returns whether it was given */
	RD_OPT_FLAG,	/* sets a bool */
	RD_OPT_TEXT,	/* stores its argument in a const char * that points into argv */
	RD_OPT_WORD,	/* the same; the argument must be one of the words in `complete` */
	RD_OPT_NUMBER,	/* stores an unsigned integer from `least` to `most` */
	RD_OPT_SECONDS, /* stores a double from `least` to `most` */
	RD_OPT_OWN,	/* calls `take` */
};

struct rd_opt {
	const char *name;     /* long name, without dashes */
	char letter;	      /* short name; 0: no short name */
	const char *arg;      /* name of its argument in help ("SECONDS"); NULL: no argument */
	const char *help;     /* one line, no full stop */
	const char *complete; /* completion of its argument: "file", "ibdev", "pid", "function", "errno", "user", "column",
			       * "rule", "counter", "qpn", or words separated by "|"; NULL: no completion */
	enum rd_needs needs; /* its argument is the name of the file */
	/* Set by one of the macros below. */
	enum rd_opt_kind kind;
	size_t offset;	    /* of the member */
	size_t size;	    /* of the integer */
	size_t known;	    /* offset of the `known` of an RD_FIELD, which is set to RD_OK; 0: not an RD_FIELD */
	double least, most; /* valid range of a number or of seconds, inclusive */
	/* -EINVAL with `err` filled if the argument is invalid; see rd_opt_refuse. */
	int (*take)(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err);
};

/* The offset of a member; fails to compile if the member has another type. */
#define RD_OPT_AT(of, member, type) offsetof(of, member) * (size_t) _Generic(((of *)NULL)->member, type : 1)

/* The size of an unsigned integer; fails to compile for other types. */
#define RD_OPT_SIZE(of, member)                                                                                 \
	sizeof(((of *)NULL)->member) * (size_t) _Generic(((of *)NULL)->member, unsigned char : 1, unsigned : 1, \
							 unsigned long : 1, unsigned long long : 1)

/* The end of a row: the member of `struct state` that the option sets, and how. */
#define RD_FLAG(state, member) .kind = RD_OPT_FLAG, .offset = RD_OPT_AT(struct state, member, bool)
#define RD_TEXT(state, member) .kind = RD_OPT_TEXT, .offset = RD_OPT_AT(struct state, member, const char *)
#define RD_WORD(state, member) .kind = RD_OPT_WORD, .offset = RD_OPT_AT(struct state, member, const char *)
#define RD_NUMBER(state, member, from, to)                                                                          \
	.kind = RD_OPT_NUMBER, .offset = offsetof(struct state, member), .size = RD_OPT_SIZE(struct state, member), \
	.least = (from), .most = (to)
/* The same for an RD_FIELD. */
#define RD_NUMBER_FIELD(state, member, from, to) \
	RD_NUMBER(state, member.v, from, to), .known = offsetof(struct state, member.known)
#define RD_SECONDS(state, member, from, to) \
	.kind = RD_OPT_SECONDS, .offset = RD_OPT_AT(struct state, member, double), .least = (from), .most = (to)
#define RD_TAKES(function) .kind = RD_OPT_OWN, .take = (function)

#define RD_ABOVE_0 DBL_MIN /* lower limit of seconds that only have to be above 0 */
#define RD_COUNT_MAX (1ul << 30)
#define RD_PID_MAX (1ul << 22)

enum rd_rule_kind {
	RD_ONE_OF = 1, /* at most one of `opts` */
	RD_EXCLUDES,   /* none of `opts` together with one of `with` */
	RD_REQUIRES,   /* each of `opts` requires one of `with` */
};

/* Options that exclude or require each other: long names without dashes, separated by a space; also global options. */
struct rd_opt_rule {
	enum rd_rule_kind kind;
	const char *opts, *with;
	const char *why;  /* appended to the message; NULL: no reason */
	const char *when; /* the rule applies only together with this option; NULL: always */
};

/* Values of the global options. */
struct rd_globals {
	bool json;
	bool verbose;
	bool help, version;
	const char *color; /* auto, always, never; NULL: not given */
	bool openmetrics;
	const char *textfile; /* a file to write metrics to; NULL: not given */
	const char *from;     /* a bundle to read instead of this host; NULL: this host */
	struct rd_table_style style;
	struct {
		const char *interval, *count;
		bool live;
	} early;	/* options of the command that stood before it */
	bool rows_only; /* -o, -n or -r: standard output has the rows and nothing else */
};

struct rd_ctx {
	struct rd_globals globals;
	struct rd_source *source; /* opened before run() */
	const struct rd_cmd *cmd;
	void *state;	/* the command's own options, cmd->state_size bytes, zeroed first */
	uint64_t given; /* one bit per row of cmd->opts; see rd_opt_given */
	uint64_t given_globals;
	const char *schema; /* of the JSON document; NULL: rdmadiag/<command>/1. A command may set it */
	bool lines;	    /* the output is a stream of JSON lines. A command may set it */
	bool dashes;	    /* the operands stand behind "--" */
	bool printed;	    /* the JSON document, or the last line of the stream, has been printed */
};

struct rd_cmd {
	const char *name;
	const char *summary;	   /* one line for the list of commands */
	const char *question;	   /* what makes somebody run it, for the program without a command; NULL: left out */
	const char *operands;	   /* "[-- COMMAND [ARG…]]" in the usage line; NULL: no operands */
	const struct rd_opt *opts; /* at most 64, terminated by a NULL name; NULL: no options */
	const struct rd_opt_rule *rules; /* terminated by a kind of 0; NULL: options can be combined freely */
	/* Replaces this command if the option `variant->option` is given: the same name with another table, state and run
	 * function. NULL: no variant. */
	const struct rd_cmd *variant;
	const char *option;		 /* of a variant: the option that selects it, a row in both tables */
	const char *description;	 /* paragraph for --help; NULL: no description */
	const char *examples;		 /* for --help; NULL: no examples */
	const struct rd_column *columns; /* columns for -o, for --help and completion; NULL: no table */
	size_t n_columns;
	bool hidden;
	bool live_only;	 /* works on the running kernel of this host: --from is refused */
	bool opens_from; /* opens the file of --from itself: ctx->source is always this host */
	bool topologies; /* a foreign file may be a topology file: libexpat is loaded before privileges are dropped */
	bool metrics;	 /* fills report->metrics if rd_metrics_wanted: --openmetrics and --textfile are accepted */
	enum rd_needs operand_needs; /* each operand is the name of a file */
	bool live_operand;	     /* the operand "live" means this host, which is read only then */
	bool starts_commands;	     /* runs command lines in processes of their own, which drop their privileges */
	bool runs_command;	     /* the operands are a command line: options of rdmadiag end at the first operand */
	size_t state_size;
	/* Checks operands, and options beyond the rules: -EINVAL with err filled. Opens nothing. NULL: no check. */
	int (*check)(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err);
	/* Reads through `source` everything that the command reads with any of its options, and prints nothing: `capture`
	 * calls it with a recording source. Read errors are not failures. NULL: the command reads nothing for a bundle. */
	int (*record)(struct rd_source *source, struct rd_err *err);
	/* Reads what run() reads of this host with these options: a command that parses foreign files has it read before, by the process that
	 * keeps its privileges. It must not parse those files. NULL: what `record` reads. */
	void (*read)(const struct rd_ctx *ctx, struct rd_source *source);
	/* Runs the command; returns the exit code. argv: the operands ("--" removed), NULL-terminated. */
	int (*run)(struct rd_ctx *ctx, int argc, char **argv);
};

/* Whether the command line has this option (long name without dashes) of the command or a global one. */
bool rd_opt_given(const struct rd_ctx *ctx, const char *name);

/* The devices of --device (NULL: not given) and of the operands, separated by commas; NULL: no device. Caller frees. PCI addresses, and
 * with `plain` also interfaces and ports, become names of RDMA devices, if there are such. -EINVAL with `err` filled for an operand
 * that is a bundle. */
int rd_devices(const struct rd_ctx *ctx, const char *list, char *const *operands, bool plain, char **ret,
	       struct rd_err *err);

/* For `take`: the index of the argument among the words in `complete`; -EINVAL with `err` filled if it is not among them. */
int rd_opt_word(const struct rd_opt *opt, const char *arg, struct rd_err *err);

/* For `take`: fills `err` with the option as object and the given message; -EINVAL. */
int rd_opt_refuse(const struct rd_opt *opt, struct rd_err *err, const char *fmt, ...) RD_PRINTF(3, 4);

extern const struct rd_cmd *const rd_commands[]; /* in the order of help; NULL-terminated */
extern const struct rd_opt rd_global_opts[];

/* "rdmadiag: object: message: errno text (ENAME)" on standard error, and the hint on a second line; all escaped. With
 * --json also the document (or the last line of the stream) with the error, unless ctx->printed. `ctx` may be NULL. Returns
 * RD_EXIT_UNKNOWN, so that a command can `return rd_fail(ctx, &err)`. */
int rd_fail(struct rd_ctx *ctx, const struct rd_err *err);

/* The same for an invalid command line: without errno, and with a hint at --help unless `err` has a hint. */
int rd_fail_usage(const struct rd_cmd *cmd, const struct rd_err *err);

/*
 * Whether reads of sysfs failed that rows of the report depend on; `listings`: only directories and links count. If so, prints
 * the first error on standard error and sets the status of the report to RD_EXIT_UNKNOWN.
 */
bool rd_output_incomplete(const struct rd_ctx *ctx, struct rd_report *report, bool listings);

/* Fills `err` with the reason why a host has no RDMA device. `error`: rdma_error of struct rd_host. */
void rd_no_rdma(const struct rd_ctx *ctx, int error, struct rd_err *err);

/* A message on standard error that does not end the run. */
void rd_warn(const struct rd_ctx *ctx, const char *fmt, ...) RD_PRINTF(2, 3);

/* One line per error, from index `from` on. */
void rd_warn_errors(const struct rd_ctx *ctx, const struct rd_errlist *errors, size_t from);

/* As rd_warn, but only with -v. */
void rd_verbose(const struct rd_ctx *ctx, const char *fmt, ...) RD_PRINTF(2, 3);
void rd_verbose_line(void *ctx, const char *line);

/* Writes the whole buffer to standard output, unbuffered. -errno on failure, which main reports: a command just stops. -EPIPE
 * if the reader closed the pipe (not an error for the user). */
int rd_out(const struct rd_buf *buf);

/* Fills the head of a document: host, time, source, and the schema of ctx. */
void rd_output_init(const struct rd_ctx *ctx, struct rd_report *report);

/* Prints the report in the format of the globals: a JSON document (a line if ctx->lines), metrics, or the first section as
 * a table; with --textfile writes its metrics there and prints no table. Returns report->status, or RD_EXIT_UNKNOWN with
 * a message printed. */
int rd_output_print(struct rd_ctx *ctx, const struct rd_report *report);

/* Prints the headline, sections as tables, one after the other, the findings and their fixes, then the notes; -o applies to the
 * first table. Of rows only, findings go to standard error. NULL report: tables only. Returns report->status, or RD_EXIT_UNKNOWN with a message printed. */
int rd_output_tables(struct rd_ctx *ctx, const struct rd_report *report, const struct rd_section *const *sections,
		     size_t n);

/* Adds the findings and their fixes. */
void rd_output_findings(const struct rd_ctx *ctx, const struct rd_report *report, struct rd_buf *out);
/* Writes what belongs beside rows: to standard output, or to standard error where standard output has rows only. */
void rd_out_beside(const struct rd_ctx *ctx, const struct rd_buf *buf);

/* The section with this key; NULL: not found. */
const struct rd_section *rd_report_section(const struct rd_report *report, const char *key);

/* Whether report->metrics will be used. */
static inline bool rd_metrics_wanted(const struct rd_ctx *ctx)
{
	return ctx->globals.openmetrics || ctx->globals.textfile;
}

/* With --textfile: writes the report's metrics there. rd_output_print does so, too; this is for commands with their own
 * output. 0 or -errno with `err` filled. */
int rd_output_textfile(const struct rd_ctx *ctx, const struct rd_report *report, struct rd_err *err);

#define RD_PROGRAM "rdmadiag"

/*
 * main ignores SIGPIPE and SIGXFSZ, so that writing to a closed pipe, or beyond the file size limit, returns an error.
 * Restore both for child programs: signal(SIGPIPE, SIG_DFL) between fork and exec.
 */

/* The errno of the first failed write to standard output; 0: no write failed. */
int rd_out_failure(void);

/* A buffer for output of any size: what exceeds a piece is written at once, the rest by rd_out at the end. Errors that prevent
 * output must come before its first piece. */
struct rd_buf rd_out_pieces(void);

#endif
