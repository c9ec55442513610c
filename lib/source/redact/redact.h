/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stand-ins for what identifies a host and those it talks to. The same original has the same stand-in wherever and in
 * whatever form it stands; what an address tells about topology (loopback, link-local, same network, made of that MAC)
 * the stand-in tells too. Stand-ins come from ranges in which no real host has its addresses.
 */
#ifndef RD_REDACT_H
#define RD_REDACT_H

#include "base/buf.h"
#include "base/siphash.h"

enum rd_secret {
	RD_SECRET_MAC,	  /* 6 bytes */
	RD_SECRET_GUID,	  /* 8 bytes, also interface identifiers of IPv6 and of GIDs */
	RD_SECRET_PREFIX, /* 8 bytes: networks of IPv6, subnets of InfiniBand */
	RD_SECRET_UUID,	  /* 16 bytes */
	RD_SECRET_IP4_1,  /* the beginning of an address, of 1 to 4 bytes */
	RD_SECRET_IP4_2,
	RD_SECRET_IP4_3,
	RD_SECRET_IP4_4,
	RD_SECRET_TEXT, /* 8 bytes, the hash of it */
	RD_SECRET_IP6,	/* 16 bytes whole, so that they are known when they stand somewhere without colons */
};

struct rd_secret_entry {
	enum rd_secret kind;
	uint8_t size;
	uint8_t in[16], out[16];
};

enum rd_word_kind {
	RD_WORD_HOST,
	RD_WORD_SERIAL,
	RD_WORD_NAME, /* of a device of this host, which stays as it is */
};

/* A host's name, a serial number, the name of a device. */
struct rd_secret_word {
	char *in, *out; /* out NULL: it stays */
	enum rd_word_kind kind;
};

struct rd_redact {
	struct rd_sipkey key; /* stand-ins are hashes under it; set before all else */
	struct rd_secret_entry *entries;
	size_t n_entries, cap_entries;
	uint32_t *in_slots, *out_slots; /* hash tables of entries */
	size_t n_slots;
	uint8_t begins[8192]; /* a bit for each two bytes that an entry begins with, read forwards or backwards */
	struct rd_secret_word *words;
	size_t n_words, cap_words;
	uint32_t *word_slots; /* a hash table of words, whatever their case */
	size_t n_word_slots, longest;
	bool has_length[256];	      /* some word is so long */
	size_t log_kept, log_dropped; /* lines of the kernel log */
	bool failed;		      /* out of memory, or more than there is room for: nothing may be written */
};

void rd_redact_deinit(struct rd_redact *redact);

/* The tables behind it (redact-table.c). */
void rd_redact_enter(struct rd_redact *redact, enum rd_secret kind, const uint8_t *in, const uint8_t *out, size_t size);
bool rd_redact_taken(const struct rd_redact *redact, enum rd_secret kind, const uint8_t *out, size_t size);
bool rd_redact_may_begin(const struct rd_redact *redact, const uint8_t *bytes); /* two bytes of no text */
void rd_redact_enter_word(struct rd_redact *redact, const char *in, size_t size, char *out, enum rd_word_kind kind);
const struct rd_secret_word *rd_redact_find_word(const struct rd_redact *redact, const char *text, size_t size);

/* In place. */
void rd_redact_guid(struct rd_redact *redact, uint8_t *guid);
void rd_redact_uuid(struct rd_redact *redact, uint8_t *uuid);
void rd_redact_ip4(struct rd_redact *redact, uint8_t *ip);
void rd_redact_ip6(struct rd_redact *redact, uint8_t *ip); /* also a GID */
/* By its length: a MAC, or IPoIB's 20 bytes, which end in a GID. Others are left. */
void rd_redact_hardware(struct rd_redact *redact, uint8_t *address, size_t size);

/* The stand-in of bytes that were seen before as such; false if they were not. */
bool rd_redact_known(const struct rd_redact *redact, enum rd_secret kind, const uint8_t *in, size_t size, uint8_t *out);

/* Takes note of words that are to be replaced wherever they stand. */
void rd_redact_add_host(struct rd_redact *redact, const char *name);
void rd_redact_add_serial(struct rd_redact *redact, const char *serial);

/* Takes note of the name of a device of this host: of an interface, of an RDMA device. It stays. */
void rd_redact_add_name(struct rd_redact *redact, const char *name);
bool rd_redact_is_name(const struct rd_redact *redact, const char *text, size_t size);

/* What stands for a text that is not looked for anywhere else: a number of 40 bits, no other text's; and, added, PREFIX ("cmd-",
 * "name-") and its ten digits. */
uint64_t rd_redact_number(struct rd_redact *redact, const char *text, size_t size);
void rd_redact_whole(struct rd_redact *redact, const char *prefix, const char *text, size_t size, struct rd_buf *out);

/* The name of a user, where it is known to be one. */
void rd_redact_add_user(struct rd_redact *redact, const char *name, size_t size);

/*
 * What people name (redact-names.c). All add the text with stand-ins: of /proc/PID/comm; of a path of control groups, in which
 * what says that there is a job, a pod, a container stays; of /proc/PID/cgroup; of a variable of an environment, whose
 * value stays unless it is a path or a free choice; of /proc/PID/maps; of a node's description.
 */
void rd_redact_program(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out);
void rd_redact_groups(struct rd_redact *redact, const char *path, size_t size, struct rd_buf *out);
void rd_redact_cgroup_file(struct rd_redact *redact, const char *text, struct rd_buf *out);
void rd_redact_variable(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out);
void rd_redact_maps(const char *text, struct rd_buf *out);
void rd_redact_node_desc(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out);

/* Adds the lines that begin with one of these (NULL behind the last). */
void rd_redact_keep_lines(const char *text, const char *const *beginnings, struct rd_buf *out);

enum rd_redact_flags {
	RD_REDACT_VERSIONS = 1, /* four numbers with dots are a version here, not an address */
	RD_REDACT_PATH = 2,	/* a name in a path: a folder that every host has keeps its name */
};

/* Adds the text with stand-ins in it. */
void rd_redact_text(struct rd_redact *redact, const char *text, size_t size, unsigned flags, struct rd_buf *out);

/* Adds the kernel's command line: what decides about PCI, NUMA and RDMA stays. */
void rd_redact_kernel_command(struct rd_redact *redact, const char *text, struct rd_buf *out);

/* Adds the kernel log, as /dev/kmsg has it: of what the kernel wrote the lines that have a form (base/klog-form.h), of each
 * what names nobody; all other lines are counted and dropped. */
void rd_redact_kmsg(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out);

/* Replaces in place what is known, in bytes that are no text. */
void rd_redact_bytes(const struct rd_redact *redact, uint8_t *data, size_t size);

/* Replaces in place in netlink messages; `protocol` as the bundle names it ("route"). */
void rd_redact_messages(struct rd_redact *redact, const char *protocol, uint8_t *data, size_t size);

#endif
