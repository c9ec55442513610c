/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What lines of logs mean: the table of forms (data/explain), and the lines that were recognized. */
#ifndef RD_MODEL_EXPLAIN_H
#define RD_MODEL_EXPLAIN_H

#include "base/map.h"
#include "base/text.h"
#include "model/shared/finding.h"

/* Values in a line. The first ones are objects, in the order of documents. */
enum rd_log_field {
	RD_LOG_IBDEV,
	RD_LOG_PORT,
	RD_LOG_NETDEV,
	RD_LOG_PCI,
	RD_LOG_QPN,
	RD_LOG_RQPN,
	RD_LOG_GID,
	RD_LOG_PGID,
	RD_LOG_PEER,
	RD_LOG_STATUS,
	RD_LOG_STATUS_NAME,
	RD_LOG_VENDOR,
	RD_LOG_ERRNO,
	RD_LOG_ERRNAME,
	RD_LOG_SYNDROME,
	RD_LOG_CMD,
	RD_LOG_CMD_STATUS,
	RD_LOG_OPCODE,
	RD_LOG_EVENT,
	RD_LOG_EVENT_N,
	RD_LOG_SGID_INDEX,
	RD_LOG_CQN,
	RD_LOG_SRQN,
	RD_LOG_LKEY,
	RD_LOG_RKEY,
	RD_LOG_ADDR,
	RD_LOG_LEN,
	RD_LOG_MTU,
	RD_LOG_LID,
	RD_LOG_PLID,
	RD_LOG_GUID,
	RD_LOG_PID,
	RD_LOG_COMM,
	RD_LOG_OP_MOD,
	RD_LOG_LIB,
	RD_LOG_TEXT,
	RD_LOG_FIELDS,
	/* Only in patterns: looked up among the names of a code, or not kept. */
	RD_LOG_STATUS_TEXT = RD_LOG_FIELDS,
	RD_LOG_ERRNO_TEXT,
	RD_LOG_EVENT_TEXT,
	RD_LOG_N,
	RD_LOG_W,
	RD_LOG_ANY,
	RD_LOG_NAMES,
};

enum rd_log_class { RD_LOG_NUMBER, RD_LOG_WORD, RD_LOG_ADDRESS, RD_LOG_HOST, RD_LOG_REST };

/* As in patterns; the key in documents and in text, NULL: not shown; the table of codes in which it is looked up, NULL: none. */
struct rd_log_field_type {
	const char *name, *key, *table;
	enum rd_log_class class;
};
extern const struct rd_log_field_type rd_log_fields[RD_LOG_NAMES];

/* A literal text, or a field. */
struct rd_log_piece {
	const char *text; /* literal; NULL: a field */
	size_t size;
	enum rd_log_field field;
	bool hex;	   /* digits without 0x */
	const char *table; /* of codes; NULL: the field's */
};

struct rd_log_pattern {
	struct rd_log_piece *v;
	size_t n, cap;
	size_t literal; /* bytes of all literals */
};

enum rd_log_part_kind {
	RD_LOG_SOURCE,
	RD_LOG_MATCH,
	RD_LOG_ALSO,
	RD_LOG_MEANS,
	RD_LOG_CAUSE,
	RD_LOG_NEXT,
	RD_LOG_ALIAS
};

struct rd_log_part {
	enum rd_log_part_kind kind;
	const char *v[4]; /* a cause: id, title, what tells it from others, thread; else one text. NULL: none */
	struct rd_log_pattern pattern; /* of MATCH and ALSO */
};

/* A form of lines, or a code: the meaning of a number or name. */
struct rd_log_form {
	const char *id;	   /* of a code: its name */
	const char *table; /* of a code; NULL: a form */
	RD_FIELD(uint64_t) value;
	enum rd_severity severity;
	bool consequence;     /* follows from an earlier failure */
	bool detail, general; /* adds objects to the line before it; of a line that no other form is of */
	bool step;	      /* goes before any other */
	struct rd_log_part *parts;
	size_t n, cap;
};

struct rd_log_forms {
	struct rd_texts texts; /* all texts point into them */
	struct rd_log_form *v;
	size_t n, cap;
	struct rd_log_index *index; /* see analyse/explain/log.c; NULL: not made */
};

/* The first part of a kind that is not before `from`; NULL: none. */
const struct rd_log_part *rd_log_part(const struct rd_log_form *form, enum rd_log_part_kind kind, size_t from);

/* A recognized line, and others of the same form about the same objects. */
struct rd_log_line {
	const struct rd_log_form *form;
	char *text;		     /* the first line */
	char *values[RD_LOG_FIELDS]; /* NULL: not in it */
	RD_FIELD(uint64_t) numbers[RD_LOG_FIELDS];
	const struct rd_log_form *codes[4]; /* of its fields; NULL: no more */
	uint64_t not_public;		    /* bit per field whose value has a table, but no code */
	const char *file;		    /* NULL: an operand, or standard input */
	size_t number, count, order;	    /* of the first line in its file; of all; among all */
	/* In the order in which lines are shown: failures, what follows from one, and the others. */
	enum rd_log_rank { RD_LOG_FAILURE, RD_LOG_FOLLOWS, RD_LOG_NOTE } rank;
	char *host; /* that printed it, by its prefix; NULL: unknown */
};

/* A cause, and whether this host shows it. */
struct rd_log_cause {
	const struct rd_log_part *part;
	RD_FIELD(bool) here; /* not known: undecided */
	char *evidence;	     /* owned; NULL: none */
};

/* What this host has of the objects of a line. */
struct rd_log_join {
	struct rd_log_cause *causes;
	size_t n, cap;
	struct rd_texts facts; /* "queue pair 77: RTS, python3 (1234)" */
	char *next;	       /* owned; NULL: none */
};

struct rd_log_peer {
	char *name;
	size_t lines;
	uint64_t files; /* bit per file */
};

struct rd_log {
	struct rd_log_line *v; /* by rank, then in the order of their first lines */
	size_t n, cap;
	struct rd_map map;
	struct rd_log_peer *peers;
	size_t n_peers, cap_peers;
	size_t lines, unknown;	   /* read; matched by no form */
	size_t dropped;		   /* recognized, but beyond RD_LOG_MAX kinds */
	size_t cut;		   /* longer than a line may be: only their beginning was read */
	struct rd_log_join *joins; /* one per line; NULL: not compared with a host */
};

/* Different lines of one log: more are counted only. */
#define RD_LOG_MAX 2000
#define RD_LOG_PEERS 4096

void rd_log_forms_deinit(struct rd_log_forms *forms);
void rd_log_deinit(struct rd_log *log);

#endif
