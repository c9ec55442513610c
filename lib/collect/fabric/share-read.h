/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what hosts read of their shares: documents of counters --fabric --json, one or several lines of them. The files are foreign
 * input. */
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
void rd_share_files_deinit(struct rd_share_files *files);

/* Parses a host file, as used by MPI: the first word of each line; "#" begins a comment. The caller frees the list with
 * rd_hostfile_free. -EBADMSG for an invalid host name, -EFBIG above a million, -ENODATA if there are none. */
int rd_hostfile_parse(const char *name, const char *text, size_t size, char ***ret, size_t *n, struct rd_err *err);
void rd_hostfile_free(char **names, size_t n);

#endif
