/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of nic-map. */
#ifndef RD_CMD_NICMAP_H
#define RD_CMD_NICMAP_H

#include "cmd/repeat.h"
#include "model/host/system.h"
#include "model/nicmap/nicmap.h"

#define NICMAP_INTERVAL 2 /* seconds, default */

struct nicmap_opts {
	bool matrix, pairs, gids, assignment, stacks, fail, nccl_xml, check_env, compare, live;
	const char *devices; /* see rd_selection_make; NULL: all */
	const char *path;    /* accelerator; the NIC is the operand */
	const char *env, *env_file;
	const char *against; /* a log or a topology file */
	const char *profile;
	unsigned long pes; /* 0: one for each accelerator */
	unsigned long pid; /* 0: none */
	struct rd_repeat repeat;
};

/* A host and the conclusions about it. */
struct nicmap {
	struct rd_host host;
	struct rd_system system; /* modules and features that give NICs access to accelerator memory */
	struct rd_nicmap map;
	struct rd_selection shown; /* rows and findings: these NICs */
	struct rd_report report;
	bool incomplete; /* reads failed: rows may be missing, and verdicts are at most unknown */
};

/* NULL for a topology file: it has no modules. */
static inline const struct rd_system *nicmap_system(const struct nicmap *nm)
{
	return nm->host.from_topology_file ? NULL : &nm->system;
}

/* Reads `source` (a host, or a topology file) into `nm`, which is zeroed first. -errno with err filled. Release `nm` in any
 * case. */
int nicmap_load(const struct rd_ctx *ctx, struct rd_source *source, unsigned what, struct nicmap *nm,
		struct rd_err *err);
void nicmap_deinit(struct nicmap *nm);

/* Modes of nic-map. Each returns an exit code. */
int nicmap_show_env(struct rd_ctx *ctx, struct nicmap *nm);
int nicmap_check_env(struct rd_ctx *ctx, struct nicmap *nm);
int nicmap_against(struct rd_ctx *ctx, struct nicmap *nm);
int nicmap_compare(struct rd_ctx *ctx, struct nicmap *nm, int argc, char **argv);

/* Sets the report's status from its findings; unknown if reads failed. */
void nicmap_judge(struct nicmap *nm);

/* Prints the sections of the report as tables, each under an empty line; with --json the document. */
int nicmap_print(struct rd_ctx *ctx, struct nicmap *nm, const struct rd_section *const *sections, size_t n);

#endif
