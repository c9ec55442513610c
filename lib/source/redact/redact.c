/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Originals and their pseudonyms: hash tables of entries and of words, and the key. */
#include "source/redact/redact.h"

#include <ctype.h>
#include <strings.h>
#include <sys/random.h>

#include "source/opener/input.h"
#include "source/record/record.h"

#define WORD_MAX 255
#define ENTRIES_MAX ((size_t)1 << 20)

void rd_redact_deinit(struct rd_redact *redact)
{
	for (size_t i = 0; i < redact->n_words; i++)
		RD_FREE(redact->words[i].in, redact->words[i].out);
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

static void mark(struct rd_redact *redact, uint8_t first, uint8_t second)
{
	redact->begins[first << 5 | second >> 3] |= (uint8_t)(1u << second % 8);
}

static void enter(struct rd_redact *redact, enum rd_secret kind, const uint8_t *in, const uint8_t *out, size_t size)
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
		mark(redact, in[0], in[1]);
		mark(redact, in[size - 1], in[size - 2]);
	}
}

bool rd_redact_known(const struct rd_redact *redact, enum rd_secret kind, const uint8_t *in, size_t size, uint8_t *out)
{
	const struct rd_secret_entry *entry = find_entry(redact, &redact->by_in, kind, in, size);

	if (entry)
		memcpy(out, entry->out, size);
	return entry;
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
static void enter_word(struct rd_redact *redact, const char *in, size_t size, char *out, enum rd_word_kind kind)
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

static bool all_are(const uint8_t *bytes, size_t size, uint8_t value)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

/* Fills the last `n` bytes of a pseudonym with a unique value, and stores it. */
static void add_pseudonym(struct rd_redact *redact, enum rd_secret kind, const uint8_t *in, uint8_t *out, size_t size,
			  size_t n)
{
	uint8_t seed[3 + 16] = { (uint8_t)kind, (uint8_t)size };

	memcpy(seed + 3, in, size);
	do {
		uint64_t hash = rd_siphash(&redact->key, seed, 3 + size);

		for (size_t i = 0; i < n; i++, hash >>= 8)
			out[size - 1 - i] = (uint8_t)hash;
		if (++seed[2] == 0) {
			redact->failed = true;
			return;
		}
	} while (find_entry(redact, &redact->by_out, kind, out, size));
	enter(redact, kind, in, out, size);
}

/* Replaces bytes by their pseudonym, which has the same beginning as others of its kind, and `n` bytes of its own. */
static void replace(struct rd_redact *redact, enum rd_secret kind, uint8_t *bytes, size_t size,
		    const uint8_t *beginning, size_t n)
{
	uint8_t out[16];

	if (rd_redact_known(redact, kind, bytes, size, bytes))
		return;
	memcpy(out, beginning, size - n);
	add_pseudonym(redact, kind, bytes, out, size, n);
	memcpy(bytes, out, size);
}

/* 02:… is a locally administered address, not assigned by a vendor. Of a multicast address, the first bytes are its kind. */
static void redact_mac(struct rd_redact *redact, uint8_t *mac)
{
	static const uint8_t beginning[] = { 0x02, 0x72 };

	if (!all_are(mac, 6, 0) && !all_are(mac, 6, 0xff))
		replace(redact, RD_SECRET_MAC, mac, 6, mac[0] & 1 ? mac : beginning, mac[0] & 1 ? 3 : 4);
}

/* A GUID is often a MAC with two bytes inserted in its middle: ff:fe (EUI-64, with the second lowest bit of the first byte
 * inverted) or 03:00. Its pseudonym is derived from that of the MAC in the same way. */
static bool guid_of_mac(struct rd_redact *redact, const uint8_t *guid, uint8_t *out)
{
	bool eui = guid[3] == 0xff && guid[4] == 0xfe;
	uint8_t mac[6] = { guid[0], guid[1], guid[2], guid[5], guid[6], guid[7] };

	if (!eui && (guid[3] != 3 || guid[4] != 0))
		return false;
	if (eui)
		mac[0] ^= 2;
	redact_mac(redact, mac);
	if (eui)
		mac[0] ^= 2;
	memcpy(out, mac, 3);
	memcpy(out + 3, guid + 3, 2);
	memcpy(out + 5, mac + 3, 3);
	return true;
}

void rd_redact_guid(struct rd_redact *redact, uint8_t *guid)
{
	static const uint8_t beginning[] = { 0x02, 0x72, 0x01 };
	uint8_t out[8];

	if (all_are(guid, 8, 0) || all_are(guid, 8, 0xff) || rd_redact_known(redact, RD_SECRET_GUID, guid, 8, guid))
		return;
	if (!guid_of_mac(redact, guid, out)) {
		replace(redact, RD_SECRET_GUID, guid, 8, beginning, 5);
		return;
	}
	enter(redact, RD_SECRET_GUID, guid, out, 8);
	memcpy(guid, out, 8);
}

void rd_redact_uuid(struct rd_redact *redact, uint8_t *uuid)
{
	/* 00000000-7264-4000-8000-…, the rest is generated */
	static const uint8_t beginning[10] = { 0, 0, 0, 0, 0x72, 0x64, 0x40, 0, 0x80 };

	if (!all_are(uuid, 16, 0))
		replace(redact, RD_SECRET_UUID, uuid, 16, beginning, 6);
}

/* A keyed permutation of byte values that depends on the preceding bytes; 0 and 255 are kept. So pseudonyms are unique, and a
 * network has the same pseudonym in every bundle of that key. */
static uint8_t shuffled(const struct rd_redact *redact, const uint8_t *in, size_t at)
{
	uint8_t value = in[at], seed[6] = { (uint8_t)at };

	if (value == 0 || value == 255)
		return value;
	memcpy(seed + 1, in, at);
	do {
		for (uint8_t round = 0; round < 4; round++) {
			uint8_t low = value & 15;

			seed[4] = round;
			seed[5] = low;
			value = (uint8_t)(low << 4 | ((value >> 4 ^ rd_siphash(&redact->key, seed, sizeof(seed))) & 15));
		}
	} while (value == 0 || value == 255);
	return value;
}

/* 240 and up are reserved addresses. Each well-known private range has one. */
static uint8_t first_octet(const struct rd_redact *redact, uint8_t in)
{
	static const uint8_t private[] = { 10, 172, 192, 100 };
	const uint8_t *found = memchr(private, in, sizeof(private));

	return (uint8_t)(found ? 240 + (uint64_t)(found - private) :
				 RD_REDACT_PUBLIC + rd_siphash(&redact->key, &in, 1) % 11);
}

/* The next byte of a pseudonym: hosts of one network stay in one network. */
static void redact_octet(struct rd_redact *redact, size_t at, const uint8_t *in, uint8_t *out)
{
	enum rd_secret kind = (enum rd_secret)(RD_SECRET_IP4_1 + at);
	uint8_t whole[4];

	if (rd_redact_known(redact, kind, in, at + 1, whole)) {
		out[at] = whole[at];
		return;
	}
	out[at] = at ? shuffled(redact, in, at) : first_octet(redact, in[0]);
	/* Two public ranges can get the same first byte. */
	for (int tries = 0; at && find_entry(redact, &redact->by_out, kind, out, at + 1); tries++) {
		if (tries == 256)
			redact->failed = true;
		if (redact->failed)
			return;
		out[at]++;
	}
	enter(redact, kind, in, out, at + 1);
}

/* The first two bytes are replaced and the last two kept, so that every netmask in use within a network keeps its
 * meaning. Of link-local addresses, whose first two bytes are fixed, the last two are replaced. */
void rd_redact_ip4(struct rd_redact *redact, uint8_t *ip)
{
	uint8_t out[4] = { 0 };
	bool link_local = ip[0] == 169 && ip[1] == 254;

	/* "Any", loopback, multicast, netmasks and broadcast do not identify a host. */
	if (ip[0] == 0 || ip[0] == 127 || ip[0] >= 224)
		return;
	memcpy(out, ip, 4);
	for (size_t at = link_local ? 2 : 0; at < (link_local ? 4 : 2); at++)
		redact_octet(redact, at, ip, out);
	memcpy(ip, out, 4);
}

void rd_redact_ip6(struct rd_redact *redact, uint8_t *ip)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	static const uint8_t solicited[13] = { 0xff, 0x02, [11] = 1, [12] = 0xff }, beginning[] = { 0xfd, 0x72, 0x64 };
	uint8_t in[16], known[16];

	memcpy(in, ip, 16);
	if (memcmp(ip, mapped, 12) == 0) {
		rd_redact_ip4(redact, ip + 12);
	} else if (memcmp(ip, solicited, 13) == 0) {
		/* The solicited-node group is derived from the last three bytes of an address. */
		memset(ip + 13, 0, 3);
	} else if (ip[0] != 0xff && !(all_are(ip, 15, 0) && ip[15] <= 1)) {
		if (!all_are(ip, 8, 0) && (ip[0] != 0xfe || (ip[1] & 0xc0) != 0x80))
			replace(redact, RD_SECRET_PREFIX, ip, 8, beginning, 5);
		rd_redact_guid(redact, ip + 8);
	}
	if (memcmp(in, ip, 16) != 0 && !rd_redact_known(redact, RD_SECRET_IP6, in, 16, known))
		enter(redact, RD_SECRET_IP6, in, ip, 16);
}

void rd_redact_hardware(struct rd_redact *redact, uint8_t *address, size_t size)
{
	if (size == 6)
		redact_mac(redact, address);
	else if (size == 20)
		rd_redact_ip6(redact, address + 4);
}

uint64_t rd_redact_number(struct rd_redact *redact, const char *text, size_t size)
{
	static const uint8_t beginning[3];
	uint64_t hash = rd_siphash(&redact->key, text, size), number = 0;
	uint8_t bytes[8];

	memcpy(bytes, &hash, sizeof(bytes));
	replace(redact, RD_SECRET_TEXT, bytes, 8, beginning, 5);
	for (size_t i = 3; i < 8; i++)
		number = number << 8 | bytes[i];
	return number;
}

void rd_redact_whole(struct rd_redact *redact, const char *prefix, const char *text, size_t size, struct rd_buf *out)
{
	rd_buf_printf(out, "%s%010llx", prefix, (unsigned long long)rd_redact_number(redact, text, size));
}

/* Of the same length as the original, so that it fits into fixed-size fields; short ones become longer. */
static void add_word(struct rd_redact *redact, const char *in, size_t size, const char *prefix, enum rd_word_kind kind)
{
	_cleanup_free_ char *folded = rd_dup_part(in, size);
	_cleanup_buf_ struct rd_buf out = { 0 };

	if (rd_redact_find_word(redact, in, size))
		return;
	for (char *c = folded; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	rd_redact_whole(redact, prefix, folded, size, &out);
	while (out.len < size)
		rd_buf_add(&out, "x", 1);
	enter_word(redact, in, size, RD_TAKE(out.data), kind);
}

void rd_redact_add_host(struct rd_redact *redact, const char *name)
{
	size_t size = strlen(name), first = strcspn(name, ".");

	if (!size || strcmp(name, "(none)") == 0 || (first == 9 && strncasecmp(name, "localhost", 9) == 0))
		return;
	add_word(redact, name, size, "host", RD_WORD_HOST);
	if (first && first < size)
		add_word(redact, name, first, "host", RD_WORD_HOST);
	/* The domain, unless it is just "local" or "lan". */
	if (first < size && strchr(name + first + 1, '.'))
		add_word(redact, name + first + 1, size - first - 1, "domain", RD_WORD_HOST);
}

void rd_redact_add_user(struct rd_redact *redact, const char *name, size_t size)
{
	if (size > 1)
		add_word(redact, name, size, "user", RD_WORD_HOST);
}

void rd_redact_add_serial(struct rd_redact *redact, const char *serial)
{
	static const char *const none[] = {
		"none", "unknown", "not specified", "to be filled by o.e.m.", "n/a", "default string", "0"
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(none); i++)
		if (strcasecmp(serial, none[i]) == 0)
			return;
	/* A single character would match everywhere. */
	if (strlen(serial) > 1)
		add_word(redact, serial, strlen(serial), "seri", RD_WORD_SERIAL);
}

void rd_redact_add_name(struct rd_redact *redact, const char *name)
{
	if (*name && !rd_redact_find_word(redact, name, strlen(name)))
		enter_word(redact, name, strlen(name), NULL, RD_WORD_NAME);
}

#define KEY_MIN 16
#define KEY_MAX 4096

int rd_redact_key_make_up(struct rd_sipkey *ret, struct rd_err *err)
{
	if (getrandom(ret->k, sizeof(ret->k), 0) != sizeof(ret->k))
		return rd_err_set(err, errno, "getrandom", "cannot generate a key for pseudonyms");
	return 0;
}

int rd_redact_key_read(const char *path, struct rd_sipkey *ret, struct rd_err *err)
{
	_cleanup_(rd_input_close) struct rd_input input;
	int opened = rd_input_open(path, &input, err), r = opened || !S_ISDIR(input.mode) ? opened : -EISDIR;
	uint8_t bytes[KEY_MAX + 1];
	struct rd_sipkey first;
	ssize_t size = r < 0 ? -1 : read(input.fd, bytes, KEY_MAX);

	if (size < 0) {
		r = rd_err_set(err, r < 0 ? -r : errno, path, "cannot read the key");
		return r == -ENOENT ? rd_err_hint(err, "(umask 077; head -c 32 /dev/urandom > %s)", path) : r;
	}
	if (size < KEY_MIN)
		return rd_err_set(err, EINVAL, path, "a key must have at least %d bytes; this file has %zd", KEY_MIN,
				  size);
	/* Derives the sixteen key bytes of the hash from all bytes of the file. */
	memcpy(first.k, bytes, sizeof(first.k));
	for (uint8_t i = 0; i < 2; i++) {
		bytes[size] = i;
		ret->k[i] = rd_siphash(&first, bytes, (size_t)size + 1);
	}
	explicit_bzero(bytes, sizeof(bytes));
	return 0;
}
