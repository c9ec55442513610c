/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kernel that is not booted: what was read of it. Private to unbooted*.c. */
#ifndef RD_TRACE_UNBOOTED_PRIV_H
#define RD_TRACE_UNBOOTED_PRIV_H

#include "source/shared/source.h"

/* A part of a module file. */
struct part {
	const uint8_t *data;
	size_t size;
};

struct kmod {
	char *name;
	char *path;
	bool hidden;
	int rank;	      /* of the path, among modules of the same name */
	struct rd_bytes file; /* unpacked */
	struct part modinfo, btf, build_id;
};

struct unbooted {
	struct rd_source source;
	struct rd_errlist *notes;
	struct kmod *mods;
	size_t n_mods, cap_mods;
	struct rd_bytes image; /* compressed */
	char *image_path;
	struct rd_bytes btf; /* of vmlinux */
	char *release;
	/* While reading: */
	int input;    /* rank of the path that is being read */
	bool missing; /* only modules that others depend on and that are not there yet */
};

/* Replies as a host would. */
extern const struct rd_source_ops rd_unbooted_ops;

void rd_unbooted_close(struct rd_source *src);

/* The module of that name, of `len` bytes; NULL: not found. */
struct kmod *rd_unbooted_find(struct unbooted *u, const char *name, size_t len);

/* The value of a field of .modinfo ("name=value", each ended by NUL), the first after *at; NULL: not found. */
const char *rd_unbooted_next_info(const struct kmod *mod, const char *field, size_t *at);

/* The first value of a field; "": not found. */
const char *rd_unbooted_info(const struct kmod *mod, const char *field);

/* Whether the comma-separated list contains the name. */
bool rd_unbooted_lists(const char *list, const char *name);

#endif
