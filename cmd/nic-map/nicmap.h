/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of nic-map share. */
#ifndef RD_CMD_NICMAP_H
#define RD_CMD_NICMAP_H

#include "cmd/repeat.h"
#include "model/host/system.h"
#include "model/nicmap/nicmap.h"

#define NICMAP_INTERVAL 2 /* seconds, where none was said */

struct nicmap_opts {
	bool matrix, pairs, gids, assignment, stacks, fail, nccl_xml, check_env, compare, live;
	const char *path; /* accelerator; the NIC is the operand */
	const char *env, *env_file;
	const char *against; /* a log or a topology file */
	const char *profile;
	unsigned long pes; /* 0: one for each accelerator */
	unsigned long pid; /* 0: none */
	struct rd_repeat repeat;
};

/* A host as it was read, and what was concluded. */
struct nicmap {
	struct rd_host host;
	struct rd_system system; /* what of it says who offers accelerators' memory */
	struct rd_nicmap map;
	struct rd_report report;
	bool incomplete; /* reads failed: rows may be missing, and no verdict is more than unknown */
};

/* Everything that nic-map asks a host, and so what a bundle holds. -errno with err filled. */
int nicmap_read(struct rd_source *source, unsigned what, struct rd_host *host, struct rd_system *system,
		struct rd_errlist *errors, struct rd_err *err);

/* Reads `source` (a host, or a topology file) into `nm`, which is zeroed before. -errno with err filled. `nm` is to be
 * released in any case. */
int nicmap_load(const struct rd_ctx *ctx, struct rd_source *source, unsigned what, struct nicmap *nm,
		struct rd_err *err);
void nicmap_deinit(struct nicmap *nm);

/* The parts, each an exit code. */
int nicmap_show(struct rd_ctx *ctx, struct nicmap *nm);
int nicmap_show_path(struct rd_ctx *ctx, struct nicmap *nm, const char *gpu, const char *nic);
int nicmap_show_env(struct rd_ctx *ctx, struct nicmap *nm);
int nicmap_check_env(struct rd_ctx *ctx, struct nicmap *nm);
int nicmap_show_xml(struct rd_ctx *ctx, struct nicmap *nm);
int nicmap_against(struct rd_ctx *ctx, struct nicmap *nm);
int nicmap_compare(struct rd_ctx *ctx, struct nicmap *nm, int argc, char **argv);
int nicmap_live(struct rd_ctx *ctx);

/* Sets the report's status by its findings, unless reads failed. */
void nicmap_judge(struct nicmap *nm);

/* The same of what is judged, the first section alone, below a line that says what was found. `object`: what was looked at. */
int nicmap_print_judged(struct rd_ctx *ctx, struct nicmap *nm, const char *object);

/* Prints the sections of the report as tables, each under an empty line; with --json the document. */
int nicmap_print(struct rd_ctx *ctx, struct nicmap *nm, const struct rd_section *const *sections, size_t n);

#endif
