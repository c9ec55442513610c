/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_FUZZ_H
#define RD_FUZZ_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each fuzz-*.c feeds these bytes to one parser. They are aligned as malloc does, and nothing lies behind them. */
void fuzz_one(const uint8_t *data, size_t size);

/* They with a NUL behind them. */
static inline char *text_of(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	return text;
}

#endif
