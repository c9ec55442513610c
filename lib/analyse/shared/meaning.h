/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What counters mean, from a table that the people who run clusters can extend (data/counters). */
#ifndef RD_ANALYSE_MEANING_H
#define RD_ANALYSE_MEANING_H

#include "base/err.h"
#include "base/text.h"
#include "model/counters/counter.h"

struct rd_meanings {
	struct rd_texts texts; /* what the lines' fields point into */
	struct rd_meaning *v;
	size_t n, cap;
};

/*
 * Parses `text` (`size` bytes). A line holds
 *     NAME DRIVER UNIT OVERFLOW ROLE[:TOPIC] SUM what it means, to the end of the line
 * NAME and DRIVER are patterns as of a shell (in a name with blanks, "?" stands for one; statistics of the kernel's own for an
 * interface have the driver "netdev"); OVERFLOW is 64-bit, gauge, -,
 * saturates:BITS or wraps:BITS; ROLE is load, cause, consequence, sign or -; TOPIC is - or one of
 * rd_topic_parse, those of load for load only and these with "/2" behind them where two counters make the whole; SUM is sum or -. A line that begins
 * with a blank continues the text above it. Lines that begin with # and empty ones are comments. `name` is for messages: a line
 * that is no good is left out and noted. What a table parsed before has comes first. -EFBIG with `err` filled.
 */
int rd_meanings_parse(const char *name, const char *text, size_t size, struct rd_meanings *ret,
		      struct rd_errlist *notes, struct rd_err *err);
void rd_meanings_deinit(struct rd_meanings *meanings);

/* The first line that fits; NULL if none does. `driver` NULL fits every line. Owned by the table. */
const struct rd_meaning *rd_meaning_find(const struct rd_meanings *meanings, const char *name, const char *driver);

/*
 * Gives every counter of the set its meaning, overflow and bits, and the topic of the first line with one that fits: so a
 * line of a site that has none leaves the topic as it was. Where no line fits the driver it is taken by the name alone, since
 * soft-RoCE has the statistics of whatever NIC it sits on. The table must outlive the set.
 */
void rd_meanings_apply(const struct rd_meanings *meanings, struct rd_counter_set *set);

#endif
