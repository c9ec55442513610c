/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can become of an answer. */
#ifndef RD_FUZZ_MUTATE_H
#define RD_FUZZ_MUTATE_H

#include "mutant.h"

/* Of text the parts are words and lines, of a list names, of netlink messages. */
enum verb {
	V_ERRNO,  /* refused */
	V_EMPTY,  /* nothing is left */
	V_CUT,	  /* ends early */
	V_TOKEN,  /* all of it is something hostile */
	V_WORD,	  /* one word is */
	V_INSERT, /* something hostile more */
	V_BYTES,  /* all of it is bytes of the input */
	V_PUT,	  /* bytes of the input over what was there */
	V_NUMBER, /* an odd number, in binary */
	V_FLIP,	  /* one bit */
	V_DROP,	  /* one part less */
	V_REPEAT, /* one part many times */
	V_SWAP,	  /* another question's answer */
	VERBS,
};

struct change {
	enum verb verb;
	uint8_t pick; /* which token, errno, number */
	uint16_t at;  /* where */
	const uint8_t *data;
	size_t size;
};

void change_read(struct reader *input, struct change *ret);

/* Makes of it a failure that says nothing of what is there. */
void change_refuse(struct change *change);

/* An errno that reading a host can meet, positive. */
int change_errno(const struct change *change);
uint64_t change_number(const struct change *change);

/* V_ERRNO and V_SWAP leave these as they are. */
void change_bytes(const struct change *change, struct rd_bytes *bytes);
void change_messages(const struct change *change, struct rd_bytes *bytes);

/* `add_alias` is told of names that the host does not have, and whose answers they are to get. A name of one of many is that
 * name, `many` and a number. */
void change_names(const struct change *change, char many, void (*add_alias)(const char *name, const char *of),
		  struct rd_texts *names);

#endif
