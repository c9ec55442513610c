/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Datagrams of a recording. In a bundle they are files: RD_MAD_PORTS, and below RD_MAD_DIR a directory with the responses for
 * each port that sent requests. */
#ifndef RD_MAD_RECORD_H
#define RD_MAD_RECORD_H

#include "source/shared/mad.h"

#define RD_MAD_DIR "/mad"
#define RD_MAD_PORTS RD_MAD_DIR "/ports"

/* "/mad/mlx5_0-1/answers" */
#define RD_MAD_PATH_MAX 128
int rd_mad_path(const char *ibdev, unsigned port, char buf[RD_MAD_PATH_MAX], struct rd_err *err);

/* Called when a recorded port is closed; `log` has all responses since it was opened. */
typedef void rd_mad_kept_fn(void *arg, struct rd_buf *log);

/* Takes ownership of `inner`. Responses are added to `log`, which the caller keeps. */
struct rd_mads *rd_mads_record(struct rd_mads *inner, struct rd_buf *log, rd_mad_kept_fn *kept, void *arg);

/*
 * A port that replays such a log; takes ownership of `file`. Its clock begins at now_ns and advances with the responses;
 * requests that were not recorded time out. -EBADMSG for an invalid log.
 */
int rd_mads_tell(struct rd_bytes *file, const char *name, uint64_t now_ns, struct rd_mads **ret, struct rd_err *err);

#endif
