/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/redact.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void rd_redact_deinit(struct rd_redact *redact)
{
	for (size_t i = 0; i < redact->n_words; i++) {
		free(redact->words[i].in);
		free(redact->words[i].out);
	}
	free(redact->words);
	free(redact->entries);
	*redact = (struct rd_redact){ 0 };
}

static const struct rd_secret_entry *find(const struct rd_redact *redact, enum rd_secret kind, const uint8_t *in,
					  size_t size)
{
	for (size_t i = 0; i < redact->n_entries; i++) {
		const struct rd_secret_entry *entry = &redact->entries[i];

		if (entry->kind == kind && entry->size == size && memcmp(entry->in, in, size) == 0)
			return entry;
	}
	return NULL;
}

static size_t count(const struct rd_redact *redact, enum rd_secret kind)
{
	size_t n = 0;

	for (size_t i = 0; i < redact->n_entries; i++)
		n += redact->entries[i].kind == kind;
	return n;
}

static void add(struct rd_redact *redact, enum rd_secret kind, const uint8_t *in, const uint8_t *out, size_t size)
{
	struct rd_secret_entry *entry;

	if (rd_grow(&redact->entries, &redact->cap_entries, redact->n_entries + 1, sizeof(*entry)) < 0) {
		redact->failed = true;
		return;
	}
	entry = &redact->entries[redact->n_entries++];
	*entry = (struct rd_secret_entry){ .kind = kind, .size = size };
	memcpy(entry->in, in, size);
	memcpy(entry->out, out, size);
}

bool rd_redact_known(const struct rd_redact *redact, enum rd_secret kind, const uint8_t *in, size_t size, uint8_t *out)
{
	const struct rd_secret_entry *entry = find(redact, kind, in, size);

	if (entry)
		memcpy(out, entry->out, size);
	return entry;
}

static bool all_are(const uint8_t *bytes, size_t size, uint8_t value)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

/* `out` ends in the number of the secret among its kind. */
static void number(uint8_t *out, size_t size, size_t n)
{
	for (size_t i = 0; i < 3; i++, n >>= 8)
		out[size - 1 - i] = (uint8_t)n;
}

/* 02:… is an address that nobody's vendor gave out. */
void rd_redact_mac(struct rd_redact *redact, uint8_t *mac)
{
	uint8_t out[6] = { 0x02, 0x72, 0x64 };

	if (all_are(mac, 6, 0) || all_are(mac, 6, 0xff))
		return;
	if (rd_redact_known(redact, RD_SECRET_MAC, mac, 6, mac))
		return;
	if (mac[0] & 1) /* a group, whose first bytes say which kind */
		memcpy(out, mac, 3);
	number(out, 6, count(redact, RD_SECRET_MAC) + 1);
	add(redact, RD_SECRET_MAC, mac, out, 6);
	memcpy(mac, out, 6);
}

/* A GUID is often a MAC with two bytes in its middle: ff:fe (EUI-64, the second lowest bit of the first byte then turned
 * round) or 03:00. Its stand-in is made of the MAC's in the same way. */
static bool guid_of_mac(struct rd_redact *redact, const uint8_t *guid, uint8_t *out)
{
	bool eui = guid[3] == 0xff && guid[4] == 0xfe;
	uint8_t mac[6] = { guid[0], guid[1], guid[2], guid[5], guid[6], guid[7] };

	if (!eui && (guid[3] != 3 || guid[4] != 0))
		return false;
	if (eui)
		mac[0] ^= 2;
	rd_redact_mac(redact, mac);
	if (eui)
		mac[0] ^= 2;
	memcpy(out, mac, 3);
	memcpy(out + 3, guid + 3, 2);
	memcpy(out + 5, mac + 3, 3);
	return true;
}

void rd_redact_guid(struct rd_redact *redact, uint8_t *guid)
{
	uint8_t out[8] = { 0x02, 0x72, 0x64, 0x01 };

	if (all_are(guid, 8, 0) || all_are(guid, 8, 0xff))
		return;
	if (rd_redact_known(redact, RD_SECRET_GUID, guid, 8, guid))
		return;
	if (!guid_of_mac(redact, guid, out))
		number(out, 8, count(redact, RD_SECRET_GUID) + 1);
	add(redact, RD_SECRET_GUID, guid, out, 8);
	memcpy(guid, out, 8);
}

static void redact_prefix(struct rd_redact *redact, uint8_t *prefix)
{
	uint8_t out[8] = { 0xfd, 0x72, 0x64 };

	if (all_are(prefix, 8, 0) || prefix[0] == 0xff || (prefix[0] == 0xfe && (prefix[1] & 0xc0) == 0x80))
		return;
	if (rd_redact_known(redact, RD_SECRET_PREFIX, prefix, 8, prefix))
		return;
	number(out, 8, count(redact, RD_SECRET_PREFIX) + 1);
	add(redact, RD_SECRET_PREFIX, prefix, out, 8);
	memcpy(prefix, out, 8);
}

void rd_redact_uuid(struct rd_redact *redact, uint8_t *uuid)
{
	/* 00000000-7264-4000-8000-000000000001 */
	uint8_t out[16] = { 0, 0, 0, 0, 0x72, 0x64, 0x40, 0, 0x80 };

	if (all_are(uuid, 16, 0) || rd_redact_known(redact, RD_SECRET_UUID, uuid, 16, uuid))
		return;
	number(out, 16, count(redact, RD_SECRET_UUID) + 1);
	add(redact, RD_SECRET_UUID, uuid, out, 16);
	memcpy(uuid, out, 16);
}

/* The next byte of a stand-in: hosts of one network stay in one, 0 and 255 stay what they are. */
static void redact_octet(struct rd_redact *redact, size_t at, const uint8_t *in, uint8_t *out)
{
	enum rd_secret kind = (enum rd_secret)(RD_SECRET_IP4_1 + at);
	uint8_t whole[4];
	size_t n = 0;

	if (rd_redact_known(redact, kind, in, at + 1, whole)) {
		out[at] = whole[at];
		return;
	}
	for (size_t i = 0; i < redact->n_entries; i++) {
		const struct rd_secret_entry *entry = &redact->entries[i];

		n += entry->kind == kind && memcmp(entry->out, out, at) == 0 && entry->out[at] != 0 &&
		     entry->out[at] != 255;
	}
	if (at == 0)
		out[at] = (uint8_t)(240 + n % 15); /* a range that is given out to nobody */
	else if (in[at] == 0 || in[at] == 255)
		out[at] = in[at];
	else
		out[at] = (uint8_t)(1 + n % 254);
	add(redact, kind, in, out, at + 1);
}

/* The first two bytes get a stand-in and the last two stay: then every netmask that is in use within a network still
 * means what it meant. Of link-local addresses, whose first two say nothing, the last two are replaced. */
void rd_redact_ip4(struct rd_redact *redact, uint8_t *ip)
{
	uint8_t out[4] = { 0 };
	bool link_local = ip[0] == 169 && ip[1] == 254;

	/* "Any", loopback, groups, netmasks and broadcast say nothing about a host. */
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
	static const uint8_t solicited[13] = { 0xff, 0x02, [11] = 1, [12] = 0xff };
	uint8_t in[16];

	memcpy(in, ip, 16);
	if (memcmp(ip, mapped, 12) == 0) {
		rd_redact_ip4(redact, ip + 12);
	} else if (memcmp(ip, solicited, 13) == 0) {
		/* The group is made of the last three bytes of an address. */
		memset(ip + 13, 0, 3);
	} else if (ip[0] != 0xff && !(all_are(ip, 15, 0) && ip[15] <= 1)) {
		redact_prefix(redact, ip);
		rd_redact_guid(redact, ip + 8);
	}
	if (memcmp(in, ip, 16) != 0 && !find(redact, RD_SECRET_IP6, in, 16))
		add(redact, RD_SECRET_IP6, in, ip, 16);
}

void rd_redact_hardware(struct rd_redact *redact, uint8_t *address, size_t size)
{
	if (size == 6)
		rd_redact_mac(redact, address);
	else if (size == 20)
		rd_redact_ip6(redact, address + 4);
}

static void add_word(struct rd_redact *redact, const char *in, const char *kind, size_t n, bool host)
{
	struct rd_secret_word word = { .in = strdup(in), .host = host };
	size_t size = strlen(in), at;

	/* As long as the original, so that it fits where lengths are given. */
	if (!word.in || asprintf(&word.out, "%.*s%zu", (int)(size > 4 ? 4 : 1), kind, n) < 0)
		word.out = NULL;
	if (word.out && strlen(word.out) < size) {
		char *longer = realloc(word.out, size + 1);

		if (longer) {
			memset(longer + strlen(longer) + 1, 0, size - strlen(longer));
			for (at = strlen(longer); at < size; at++)
				longer[at] = 'x';
		}
		word.out = longer ? longer : word.out;
	}
	if (!word.in || !word.out ||
	    rd_grow(&redact->words, &redact->cap_words, redact->n_words + 1, sizeof(word)) < 0) {
		free(word.in);
		free(word.out);
		redact->failed = true;
		return;
	}
	for (at = redact->n_words++; at > 0 && strlen(redact->words[at - 1].in) < size; at--)
		redact->words[at] = redact->words[at - 1];
	redact->words[at] = word;
}

static const struct rd_secret_word *find_word(const struct rd_redact *redact, const char *in)
{
	for (size_t i = 0; i < redact->n_words; i++)
		if (strcasecmp(redact->words[i].in, in) == 0)
			return &redact->words[i];
	return NULL;
}

void rd_redact_add_host(struct rd_redact *redact, const char *name)
{
	_cleanup_free_ char *first = strndup(name, strcspn(name, "."));

	if (!first) {
		redact->failed = true;
		return;
	}
	if (!*name || strcmp(name, "(none)") == 0 || strcasecmp(first, "localhost") == 0)
		return;
	if (!find_word(redact, name))
		add_word(redact, name, "host", ++redact->n_hosts, true);
	if (*first && !find_word(redact, first))
		add_word(redact, first, "host", ++redact->n_hosts, true);
}

void rd_redact_add_serial(struct rd_redact *redact, const char *serial)
{
	static const char *const none[] = {
		"none", "unknown", "not specified", "to be filled by o.e.m.", "n/a", "default string", "0"
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(none); i++)
		if (strcasecmp(serial, none[i]) == 0)
			return;
	/* One character could be anything, everywhere. */
	if (strlen(serial) > 1 && !find_word(redact, serial))
		add_word(redact, serial, "serial", ++redact->n_serials, false);
}

const char *rd_redact_command(struct rd_redact *redact, const char *command)
{
	if (!*command)
		return "";
	if (!find_word(redact, command))
		add_word(redact, command, "cmd-", ++redact->n_commands, false);
	return find_word(redact, command) ? find_word(redact, command)->out : "";
}
