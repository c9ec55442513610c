/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what hosts read of their shares: documents of counters --fabric --json, one or several lines of them, and recordings in CSV.
 * The files are foreign input. */
#ifndef RD_COLLECT_SHARE_READ_H
#define RD_COLLECT_SHARE_READ_H

#include "base/err.h"
#include "model/fabric/share.h"

/*
 * Adds the shares of a file: of each host and share the latest sweep. -EBADMSG with the line or what is wrong, -EFBIG above
 * RD_SHARE_ROWS_MAX ports, RD_SHARE_FILES_MAX shares or RD_SHARE_SWEEPS_MAX sweeps in all. While a file is read, replaced shares
 * and their ports may take as much memory again.
 */
#define RD_SHARE_ROWS_MAX 400000 /* of the largest networks, each port three times: 150 MB */
#define RD_SHARE_FILES_MAX 4096
#define RD_SHARE_SWEEPS_MAX 400000 /* four days of one a second */
int rd_share_read(const char *name, const char *text, size_t size, struct rd_share_files *files, struct rd_err *err);

/* ---- for share-json.c and share-csv.c */

int rd_share_read_json(const char *name, const char *text, size_t size, struct rd_share_files *files,
		       struct rd_err *err);
int rd_share_read_csv(const char *name, const char *text, size_t size, struct rd_share_files *files, struct rd_err *err);

/* Marks the older one of this share and an earlier one of the same file, host and share as replaced. */
void rd_share_replace(struct rd_share_files *files, struct rd_share *share);

/* Begins a share; its rows follow. Replaces as rd_share_replace. NULL: too many. */
struct rd_share *rd_share_begin(struct rd_share_files *files, const struct rd_share *share);

/* Adds a row to the latest share. -EFBIG: too many. */
int rd_share_add(struct rd_share_files *files, const struct rd_share_row *row);

/* A copy that lives as long as `files`; one for equal texts. NULL for NULL. */
const char *rd_share_keep(struct rd_share_files *files, const char *text);

bool rd_share_guid(const char *text, uint64_t *ret);
void rd_share_link(const char *text, struct rd_share_row *row);
unsigned rd_share_state_of(const char *text);
enum rd_node_kind rd_share_kind_of(const char *text);

#endif
