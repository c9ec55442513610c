/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries of a process. The virtual files are described in source.h, at RD_SOURCE_LIBS. */
#ifndef RD_SOURCE_PROC_LIBS_H
#define RD_SOURCE_PROC_LIBS_H

#include "base/buf.h"
#include "source/shared/source.h"

/* In a child, which is abandoned after a second: the memory map of a process can be locked for as long as the process hangs. */
int rd_proc_libs_read(const char *path, struct rd_bytes *ret, struct rd_err *err);

/* Adds the lines of the file, from the text of /proc/PID/maps. */
void rd_proc_libs_print(const char *maps, struct rd_buf *out);

#endif
