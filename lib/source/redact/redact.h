/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pseudonyms for data that identify a host and its peers. The same original has the same pseudonym everywhere and in every
 * notation; topological properties of an address (loopback, link-local, same network, derived from that MAC) are preserved.
 * Pseudonyms are from address ranges that real hosts do not use.
 */
#ifndef RD_REDACT_H
#define RD_REDACT_H

#include "base/buf.h"
#include "base/map.h"
#include "base/siphash.h"
#include "base/text.h"

enum rd_secret {
	RD_SECRET_MAC,	  /* 6 bytes */
	RD_SECRET_GUID,	  /* 8 bytes, also interface identifiers of IPv6 and of GIDs */
	RD_SECRET_PREFIX, /* 8 bytes: networks of IPv6, subnets of InfiniBand */
	RD_SECRET_UUID,	  /* 16 bytes */
	RD_SECRET_IP4_1,  /* the beginning of an address, of 1 to 4 bytes */
	RD_SECRET_IP4_2,
	RD_SECRET_IP4_3,
	RD_SECRET_IP4_4,
	RD_SECRET_TEXT, /* 8 bytes, the hash of the text */
	RD_SECRET_IP6,	/* 16 bytes, to recognise the address also without colons */
};

/* The lowest first byte of the pseudonym of a public IPv4 address. */
#define RD_REDACT_PUBLIC 244

struct rd_secret_entry {
	enum rd_secret kind;
	uint8_t size;
	uint8_t in[16], out[16];
};

enum rd_word_kind {
	RD_WORD_HOST,
	RD_WORD_SERIAL,
	RD_WORD_NAME, /* the name of a device of this host, which is kept */
};

/* A host name, a serial number, a device name. */
struct rd_secret_word {
	char *in, *out; /* out NULL: kept unchanged */
	enum rd_word_kind kind;
};

struct rd_redact {
	struct rd_sipkey key; /* of the hashes that are pseudonyms; set first */
	struct rd_secret_entry *entries;
	size_t n_entries, cap_entries;
	struct rd_map by_in, by_out; /* entries by original and by pseudonym */
	uint8_t begins[8192];	     /* a bit for each value of the first two bytes of an entry, in both byte orders */
	struct rd_secret_word *words;
	size_t n_words, cap_words;
	struct rd_map words_by_text; /* case-insensitive */
	size_t longest;
	bool has_length[256];	      /* there is a word of this length */
	size_t log_kept, log_dropped; /* lines of the kernel log */
	bool failed;		      /* above the limits: the recording must not be written */
};

void rd_redact_deinit(struct rd_redact *redact);

const struct rd_secret_word *rd_redact_find_word(const struct rd_redact *redact, const char *text, size_t size);

/* In place. */
void rd_redact_guid(struct rd_redact *redact, uint8_t *guid);
void rd_redact_uuid(struct rd_redact *redact, uint8_t *uuid);
void rd_redact_ip4(struct rd_redact *redact, uint8_t *ip);
void rd_redact_ip6(struct rd_redact *redact, uint8_t *ip); /* also a GID */
/* By length: a MAC, or the 20 bytes of an IPoIB address, which end in a GID. Others are not changed. */
void rd_redact_hardware(struct rd_redact *redact, uint8_t *address, size_t size);

/* The pseudonym of bytes that are known as this kind; false: not known. */
bool rd_redact_known(const struct rd_redact *redact, enum rd_secret kind, const uint8_t *in, size_t size, uint8_t *out);

/* Adds words that are replaced everywhere. */
void rd_redact_add_host(struct rd_redact *redact, const char *name);
void rd_redact_add_serial(struct rd_redact *redact, const char *serial);

/* Adds the name of a network interface or RDMA device of this host, which is kept. */
void rd_redact_add_name(struct rd_redact *redact, const char *name);

/* The pseudonym of a text that is not searched for elsewhere: a unique 40-bit number; and, added to `out`, PREFIX ("cmd-",
 * "name-") with its ten digits. */
uint64_t rd_redact_number(struct rd_redact *redact, const char *text, size_t size);
void rd_redact_whole(struct rd_redact *redact, const char *prefix, const char *text, size_t size, struct rd_buf *out);

/* The name of a known user. */
void rd_redact_add_user(struct rd_redact *redact, const char *name, size_t size);

/*
 * Names given by people (redact-text.c). All add the redacted text: of a control group path, in which the markers of jobs, pods
 * and containers are kept; of an environment variable, whose value is kept unless it is a path or free text; of a node description.
 */
void rd_redact_groups(struct rd_redact *redact, const char *path, size_t size, struct rd_buf *out);
void rd_redact_variable(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out);
void rd_redact_node_desc(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out);

enum rd_redact_flags {
	RD_REDACT_VERSIONS = 1, /* four numbers with dots are a version, not an address */
	RD_REDACT_PATH = 2,	/* a path component: directories that exist on every host keep their names */
};

/* Adds the redacted text. */
void rd_redact_text(struct rd_redact *redact, const char *text, size_t size, unsigned flags, struct rd_buf *out);

/* Adds the kernel log, in the format of /dev/kmsg: of kernel lines of a known form (base/klog-form.h) the parts that identify no
 * host or user; all other lines are counted and dropped. */
void rd_redact_kmsg(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out);

/* Adds the file of the maps "rdmadiag_qps" (RD_SOURCE_MAPS), which hold the addresses of peers: those of this layout, up to the first one
 * that has another one. */
void rd_redact_qps(struct rd_redact *redact, const uint8_t *data, size_t size, bool query, struct rd_buf *out);

/* Redacts netlink messages in place; `protocol`: its name in the bundle ("route"). */
void rd_redact_messages(struct rd_redact *redact, const char *protocol, uint8_t *data, size_t size);

#endif
