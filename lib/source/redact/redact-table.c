/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Originals and their pseudonyms: hash tables of entries and of words. */
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
	free(redact->word_slots);
	free(redact->entries);
	free(redact->in_slots);
	free(redact->out_slots);
	*redact = (struct rd_redact){ 0 };
}

static uint64_t hash_of(const struct rd_redact *redact, enum rd_secret kind, const uint8_t *bytes, size_t size)
{
	uint8_t all[2 + 16] = { (uint8_t)kind, (uint8_t)size };

	memcpy(all + 2, bytes, size);
	return rd_siphash(&redact->key, all, 2 + size);
}

/* The slot of an entry, or the free slot for it; slots contain index + 1. `out`: look up by pseudonym. */
static size_t slot_of(const struct rd_redact *redact, const uint32_t *slots, bool out, enum rd_secret kind,
		      const uint8_t *bytes, size_t size)
{
	size_t mask = redact->n_slots - 1, at = hash_of(redact, kind, bytes, size) & mask;

	for (; slots[at]; at = (at + 1) & mask) {
		const struct rd_secret_entry *entry = &redact->entries[slots[at] - 1];

		if (entry->kind == kind && entry->size == size && memcmp(out ? entry->out : entry->in, bytes, size) == 0)
			break;
	}
	return at;
}

static bool slots_grow(struct rd_redact *redact)
{
	size_t n = redact->n_slots ? 2 * redact->n_slots : 1024;
	uint32_t *in = calloc(n, sizeof(*in)), *out = calloc(n, sizeof(*out));

	if (!in || !out) {
		free(in);
		free(out);
		return false;
	}
	free(redact->in_slots);
	free(redact->out_slots);
	redact->in_slots = in;
	redact->out_slots = out;
	redact->n_slots = n;
	for (uint32_t i = 0; i < redact->n_entries; i++) {
		const struct rd_secret_entry *entry = &redact->entries[i];

		in[slot_of(redact, in, false, entry->kind, entry->in, entry->size)] = i + 1;
		out[slot_of(redact, out, true, entry->kind, entry->out, entry->size)] = i + 1;
	}
	return true;
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
	struct rd_secret_entry *entry;

	if (redact->n_entries == ENTRIES_MAX ||
	    (2 * (redact->n_entries + 1) > redact->n_slots && !slots_grow(redact)) ||
	    rd_grow(&redact->entries, &redact->cap_entries, redact->n_entries + 1, sizeof(*entry)) < 0) {
		redact->failed = true;
		return;
	}
	entry = &redact->entries[redact->n_entries++];
	*entry = (struct rd_secret_entry){ .kind = kind, .size = (uint8_t)size };
	memcpy(entry->in, in, size);
	memcpy(entry->out, out, size);
	if (size > 4) {
		mark(redact, pair(in[0], in[1]));
		mark(redact, pair(in[size - 1], in[size - 2]));
	}
	redact->in_slots[slot_of(redact, redact->in_slots, false, kind, in, size)] = (uint32_t)redact->n_entries;
	redact->out_slots[slot_of(redact, redact->out_slots, true, kind, out, size)] = (uint32_t)redact->n_entries;
}

bool rd_redact_known(const struct rd_redact *redact, enum rd_secret kind, const uint8_t *in, size_t size, uint8_t *out)
{
	uint32_t found = redact->n_slots ? redact->in_slots[slot_of(redact, redact->in_slots, false, kind, in, size)] :
					   0;

	if (found)
		memcpy(out, redact->entries[found - 1].out, size);
	return found;
}

bool rd_redact_taken(const struct rd_redact *redact, enum rd_secret kind, const uint8_t *out, size_t size)
{
	return redact->n_slots && redact->out_slots[slot_of(redact, redact->out_slots, true, kind, out, size)];
}

static uint64_t word_hash(const struct rd_redact *redact, const char *text, size_t size)
{
	char folded[WORD_MAX];

	for (size_t i = 0; i < size; i++)
		folded[i] = (char)tolower((unsigned char)text[i]);
	return rd_siphash(&redact->key, folded, size);
}

static size_t word_slot(const struct rd_redact *redact, const char *text, size_t size)
{
	size_t mask = redact->n_word_slots - 1, at = word_hash(redact, text, size) & mask;

	for (; redact->word_slots[at]; at = (at + 1) & mask) {
		const char *in = redact->words[redact->word_slots[at] - 1].in;

		if (strncasecmp(in, text, size) == 0 && !in[size])
			break;
	}
	return at;
}

static bool word_slots_grow(struct rd_redact *redact)
{
	size_t n = redact->n_word_slots ? 2 * redact->n_word_slots : 256;
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return false;
	free(redact->word_slots);
	redact->word_slots = slots;
	redact->n_word_slots = n;
	for (uint32_t i = 0; i < redact->n_words; i++)
		slots[word_slot(redact, redact->words[i].in, strlen(redact->words[i].in))] = i + 1;
	return true;
}

const struct rd_secret_word *rd_redact_find_word(const struct rd_redact *redact, const char *text, size_t size)
{
	uint32_t found;

	if (size > WORD_MAX || !redact->has_length[size] || !redact->n_word_slots)
		return NULL;
	found = redact->word_slots[word_slot(redact, text, size)];
	return found ? &redact->words[found - 1] : NULL;
}

/* Takes ownership of `out`; NULL: the word identifies nothing and is kept. */
void rd_redact_enter_word(struct rd_redact *redact, const char *in, size_t size, char *out, enum rd_word_kind kind)
{
	struct rd_secret_word word = { .in = strndup(in, size), .out = out, .kind = kind };

	if (!word.in || size > WORD_MAX || redact->n_words == ENTRIES_MAX ||
	    (2 * (redact->n_words + 1) > redact->n_word_slots && !word_slots_grow(redact)) ||
	    rd_grow(&redact->words, &redact->cap_words, redact->n_words + 1, sizeof(word)) < 0) {
		free(word.in);
		free(word.out);
		redact->failed = true;
		return;
	}
	redact->words[redact->n_words++] = word;
	redact->word_slots[word_slot(redact, in, size)] = (uint32_t)redact->n_words;
	redact->has_length[size] = true;
	if (size > redact->longest)
		redact->longest = size;
}
