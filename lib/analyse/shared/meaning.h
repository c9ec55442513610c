/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Meanings of counters, from a table that a site can extend (data/counters). */
#ifndef RD_ANALYSE_MEANING_H
#define RD_ANALYSE_MEANING_H

#include "base/text.h"
#include "model/counters/counter.h"

struct rd_meanings {
	struct rd_texts texts; /* the fields of the lines point into these */
	struct rd_meaning *v;
	size_t n, cap;
};

/*
 * Parses `text` (`size` bytes). A line holds
 *     NAME DRIVER UNIT OVERFLOW ROLE[:TOPIC] SUM MEANING, to the end of the line
 * NAME and DRIVER are shell patterns ("?" matches a blank in a name; the kernel's own interface statistics have the driver
 * "netdev"); OVERFLOW is 64-bit, gauge, -,
 * saturates:BITS or wraps:BITS; ROLE is load, cause, consequence, sign or -; TOPIC is - or a word of
 * rd_topic_parse (topics of load only with role load, and with "/2" appended if two counters make the whole); SUM is sum or -.
 * A line that begins with a blank continues the line above. Empty lines and lines that begin with # are comments. `name` is
 * for messages: an invalid line is ignored and noted. Lines of a table parsed earlier take precedence. -EFBIG with `err`
 * filled.
 */
int rd_meanings_parse(const char *name, const char *text, size_t size, struct rd_meanings *ret,
		      struct rd_errlist *notes, struct rd_err *err);
void rd_meanings_deinit(struct rd_meanings *meanings);

/* The first matching line; NULL: none. `driver` NULL matches every line. Owned by the table. */
const struct rd_meaning *rd_meaning_find(const struct rd_meanings *meanings, const char *name, const char *driver);

/*
 * Sets meaning, overflow and bits of every counter, and the topic from the first matching line that has the topic field: a
 * site's line without it keeps the topic. If no line matches the driver, the topic is found by name alone: soft-RoCE has the
 * statistics of the NIC below it. The table must outlive the set.
 */
void rd_meanings_apply(const struct rd_meanings *meanings, struct rd_counter_set *set);

/* Whether a counter of topic "lost" is one of requesters; others are of responders. */
bool rd_counts_requests(const char *name);

#endif
