/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of ustack.h: the mappings of a process, and our child process that resolves its symbols. */
#ifndef RD_TRACE_USTACK_PRIV_H
#define RD_TRACE_USTACK_PRIV_H

#include "confine/confine.h"
#include "trace/symbols/ustack.h"

/* A file mapped by a process: one entry per load, with all segments of that load. */
struct rd_mapped {
	uint64_t start, end; /* of all of them */
	uint64_t first_end;  /* of the first */
	uint64_t offset;     /* of the first, in the file */
	uint64_t dev, ino;   /* as of stat, except on some file systems */
	bool code;	     /* has an executable segment */
	char *name;	     /* as in /proc/PID/maps: "/usr/lib/libc.so.6", "[vdso]" */
};

struct rd_maps {
	struct rd_mapped *v;
	size_t n, cap;
	bool ours; /* same mount namespace and root as ours: not in a container */
};

/* Ignores what exceeds some megabytes of maps, or some thousand files. -errno. */
int rd_maps_read(pid_t pid, struct rd_maps *ret);
void rd_maps_deinit(struct rd_maps *maps);
bool rd_maps_same(const struct rd_maps *a, const struct rd_maps *b);
/* NULL: no file is mapped there. */
const struct rd_mapped *rd_maps_find(const struct rd_maps *maps, uint64_t addr);

/* Opens a file that `pid` has mapped, for reading: the mapped file itself if the kernel permits it (map_files), else its path in
 * the root of the process; if the process has ended, its path in our root, if `ours` or if it is the same file. Does not open
 * devices, pipes and the like. -1: not accessible. */
int rd_maps_open(pid_t pid, const struct rd_mapped *file, bool ours);

/* Unmaps all shared mappings of this process. */
void rd_maps_unshare(void);

/* A child process that resolves symbols of one traced process, as seen from its parent. */
struct rd_namer {
	pid_t pid; /* 0: none */
	int pidfd; /* -1: not supported by the kernel */
	int sock;
	struct rd_confined confined;
};

/* -errno with `err` filled. Uses `maps` only while it starts. */
int rd_namer_start(struct rd_namer *namer, pid_t traced, const struct rd_maps *maps, struct rd_err *err);
void rd_namer_stop(struct rd_namer *namer);

/* Fills the frames. -ETIMEDOUT, -ECHILD, -EPROTO and others with `err` filled: the namer must not be used any more. */
int rd_namer_resolve(struct rd_namer *namer, struct rd_frame *frames, size_t n, struct rd_err *err);

/* Messages on the socket. A request is a uint32_t n and n addresses. The response is a RD_NAMER_NAMES or RD_NAMER_FAILED; other
 * messages may precede it. */
enum rd_namer_kind {
	RD_NAMER_READY,	 /* struct rd_confined */
	RD_NAMER_FAILED, /* struct rd_err */
	RD_NAMER_DEBUG,	 /* a build-id: requests its debug file; the parent sends a byte, with a descriptor if found */
	RD_NAMER_NAMES,	 /* struct rd_named for each address, each followed by its strings */
};

struct rd_namer_head {
	uint32_t kind, size; /* size: bytes that follow */
};

struct rd_named {
	uint64_t offset;
	int32_t line;		 /* 0: unknown */
	uint16_t function, file; /* bytes; 0: unknown */
};

#define RD_NAMED_TEXT 4096 /* maximum bytes of a name */
#define RD_BUILD_ID_MAX 64 /* bytes */

/* Runs the child. */
_Noreturn void rd_namer_serve(int sock, pid_t traced, const struct rd_maps *maps);

#endif
