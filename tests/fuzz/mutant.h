/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host whose answers are not what they were: a source that asks another one and changes what it says, as the bytes of an
 * input tell it to. Asked the same again it says the same. It keeps what a source promises (names are sorted, netlink messages
 * whole) and nothing else: contents, names, targets, numbers, errnos and clocks are the input's to choose.
 */
#ifndef RD_FUZZ_MUTANT_H
#define RD_FUZZ_MUTANT_H

#include "source/shared/source.h"

/* Bytes of an input that are read from the front; behind the end all are 0. */
struct reader {
	const uint8_t *data;
	size_t size;
};

static inline uint8_t reader_byte(struct reader *reader)
{
	return reader->size ? reader->size--, *reader->data++ : 0;
}

static inline uint16_t reader_short(struct reader *reader)
{
	uint16_t low = reader_byte(reader);

	return (uint16_t)(low | reader_byte(reader) << 8);
}

/* What there is to change is found by asking once without changes. */
struct questions;
struct questions *questions_create(void);

/* Sources that are opened from here on note what they are asked. */
void mutant_watch(struct questions *questions);

/* Sources that are opened from here on, until mutant_end, change what `questions` holds as the input says, and have
 * `samples` samples more than one. `refuse`: whatever it says, what it is about is refused or fails, nothing else. */
void mutant_begin(struct questions *questions, struct reader *input, unsigned samples, bool refuse);
void mutant_end(void);

/* `inner` is closed with it if `owned`. NULL when out of memory. */
struct rd_source *mutant_open(struct rd_source *inner, bool owned);

bool is_mutant(const struct rd_source *source);

/* As rd_source_bundle_next, of a mutant. */
int mutant_next(struct rd_source *source, struct rd_err *err);

#endif
