/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Datagrams of a recording. A bundle has them as files: RD_MAD_PORTS, and below RD_MAD_DIR a folder for each port that asked
 * with what it was answered. */
#ifndef RD_MAD_RECORD_H
#define RD_MAD_RECORD_H

#include "base/buf.h"
#include "source/shared/mad.h"

#define RD_MAD_DIR "/mad"
#define RD_MAD_PORTS RD_MAD_DIR "/ports"

/* "/mad/mlx5_0-1/answers" */
#define RD_MAD_PATH_MAX 128
int rd_mad_path(const char *ibdev, unsigned port, char buf[RD_MAD_PATH_MAX], struct rd_err *err);

/* Called when a recorded port is closed; `log` is all that was answered, of this port since it was opened. */
typedef void rd_mad_kept_fn(void *arg, struct rd_buf *log);

/* Takes `inner` over on success. Answers go to `log`, which stays the caller's. */
int rd_mads_record(struct rd_mads *inner, struct rd_buf *log, rd_mad_kept_fn *kept, void *arg, struct rd_mads **ret,
		   struct rd_err *err);

/*
 * A port that tells what the bytes of such a log say; takes `file` over. Its clock begins at now_ns and goes on as answers
 * come; what was not recorded is not answered. -EBADMSG for bytes that are none.
 */
int rd_mads_tell(struct rd_bytes *file, const char *name, uint64_t now_ns, struct rd_mads **ret, struct rd_err *err);

#endif
