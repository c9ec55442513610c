/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Originals and their pseudonyms: hash tables of entries and of words. */
#include "base/memory.h"
#include "source/redact/redact.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX 255
#define ENTRIES_MAX ((size_t)1 << 20)

void rd_redact_deinit(struct rd_redact *redact)
{
	for (size_t i = 0; i < redact->n_words; i++) {
		free(redact->words[i].in);
		free(redact->words[i].out);
	}
	free(redact->words);
	rd_map_deinit(&redact->words_by_text);
	free(redact->entries);
	rd_map_deinit(&redact->by_in);
	rd_map_deinit(&redact->by_out);
	*redact = (struct rd_redact){ 0 };
}

static uint64_t hash_of(const struct rd_redact *redact, enum rd_secret kind, const uint8_t *bytes, size_t size)
{
	uint8_t all[2 + 16] = { (uint8_t)kind, (uint8_t)size };

	memcpy(all + 2, bytes, size);
	return rd_siphash(&redact->key, all, 2 + size);
}

/* Finds an entry by its original (`by_in`) or by its pseudonym (`by_out`). */
static const struct rd_secret_entry *find_entry(const struct rd_redact *redact, const struct rd_map *map,
						enum rd_secret kind, const uint8_t *bytes, size_t size)
{
	uint64_t hash = hash_of(redact, kind, bytes, size);
	size_t i;

	for (size_t probe = 0; (i = rd_map_next(map, hash, &probe)) != RD_MAP_END;) {
		const struct rd_secret_entry *entry = &redact->entries[i];

		if (entry->kind == kind && entry->size == size &&
		    memcmp(map == &redact->by_out ? entry->out : entry->in, bytes, size) == 0)
			return entry;
	}
	return NULL;
}

static unsigned pair(uint8_t first, uint8_t second)
{
	return (unsigned)first << 8 | second;
}

bool rd_redact_may_begin(const struct rd_redact *redact, const uint8_t *bytes)
{
	unsigned at = pair(bytes[0], bytes[1]);

	return redact->begins[at / 8] >> at % 8 & 1;
}

static void mark(struct rd_redact *redact, unsigned at)
{
	redact->begins[at / 8] |= (uint8_t)(1u << at % 8);
}

void rd_redact_enter(struct rd_redact *redact, enum rd_secret kind, const uint8_t *in, const uint8_t *out, size_t size)
{
	struct rd_secret_entry entry = { .kind = kind, .size = (uint8_t)size };

	memcpy(entry.in, in, size);
	memcpy(entry.out, out, size);
	if (redact->n_entries == ENTRIES_MAX) {
		redact->failed = true;
		return;
	}
	rd_map_put(&redact->by_in, hash_of(redact, kind, in, size), redact->n_entries);
	rd_map_put(&redact->by_out, hash_of(redact, kind, out, size), redact->n_entries);
	*RD_ADD(redact->entries, redact->n_entries, redact->cap_entries) = entry;
	if (size > 4) {
		mark(redact, pair(in[0], in[1]));
		mark(redact, pair(in[size - 1], in[size - 2]));
	}
}

bool rd_redact_known(const struct rd_redact *redact, enum rd_secret kind, const uint8_t *in, size_t size, uint8_t *out)
{
	const struct rd_secret_entry *entry = find_entry(redact, &redact->by_in, kind, in, size);

	if (entry)
		memcpy(out, entry->out, size);
	return entry;
}

bool rd_redact_taken(const struct rd_redact *redact, enum rd_secret kind, const uint8_t *out, size_t size)
{
	return find_entry(redact, &redact->by_out, kind, out, size);
}

static uint64_t word_hash(const struct rd_redact *redact, const char *text, size_t size)
{
	char folded[WORD_MAX] = "";

	for (size_t i = 0; i < size; i++)
		folded[i] = (char)tolower((unsigned char)text[i]);
	return rd_siphash(&redact->key, folded, size);
}

const struct rd_secret_word *rd_redact_find_word(const struct rd_redact *redact, const char *text, size_t size)
{
	uint64_t hash;
	size_t i;

	if (size > WORD_MAX || !redact->has_length[size])
		return NULL;
	hash = word_hash(redact, text, size);
	for (size_t probe = 0; (i = rd_map_next(&redact->words_by_text, hash, &probe)) != RD_MAP_END;) {
		const char *in = redact->words[i].in;

		if (strncasecmp(in, text, size) == 0 && !in[size])
			return &redact->words[i];
	}
	return NULL;
}

/* Takes ownership of `out`; NULL: the word identifies nothing and is kept. */
void rd_redact_enter_word(struct rd_redact *redact, const char *in, size_t size, char *out, enum rd_word_kind kind)
{
	if (size > WORD_MAX || redact->n_words == ENTRIES_MAX) {
		free(out);
		redact->failed = true;
		return;
	}
	rd_map_put(&redact->words_by_text, word_hash(redact, in, size), redact->n_words);
	*RD_ADD(redact->words, redact->n_words, redact->cap_words) =
		(struct rd_secret_word){ .in = rd_dup_part(in, size), .out = out, .kind = kind };
	redact->has_length[size] = true;
	if (size > redact->longest)
		redact->longest = size;
}
