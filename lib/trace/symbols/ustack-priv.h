/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of ustack.h: what a process has mapped, and the process of ours that names the functions in it. */
#ifndef RD_TRACE_USTACK_PRIV_H
#define RD_TRACE_USTACK_PRIV_H

#include "confine/confine.h"
#include "trace/symbols/ustack.h"

/* A file that a process has mapped: as often as it did, with all segments of one time. */
struct rd_mapped {
	uint64_t start, end; /* of all of them */
	uint64_t first_end;  /* of the first */
	uint64_t offset;     /* of the first, in the file */
	uint64_t dev, ino;   /* as stat has them; on some file systems not */
	bool code;	     /* some of it may be executed */
	char *name;	     /* as /proc/PID/maps has it: "/usr/lib/libc.so.6", "[vdso]" */
};

struct rd_maps {
	struct rd_mapped *v;
	size_t n, cap;
	bool ours; /* paths lead where they lead for us: no container */
};

/* What lies beyond some megabytes of maps, or a thousand files, is left out. -errno. */
int rd_maps_read(pid_t pid, struct rd_maps *ret);
void rd_maps_deinit(struct rd_maps *maps);
bool rd_maps_same(const struct rd_maps *a, const struct rd_maps *b);
/* NULL: no file is mapped there. */
const struct rd_mapped *rd_maps_find(const struct rd_maps *maps, uint64_t addr);

/* Opens a file that `pid` has mapped, for reading: the one that is mapped, whatever its path leads to by now, where the kernel
 * lets us; else by its path as the process sees it; where the process has ended, by ours if it is `ours`, or the same file.
 * Devices, pipes and the like are left alone. -1: it cannot be had. */
int rd_maps_open(pid_t pid, const struct rd_mapped *file, bool ours);

/* Takes out of this process what it shares with others. */
void rd_maps_unshare(void);

/* Our end of a process that names functions of one traced process. */
struct rd_namer {
	pid_t pid; /* 0: there is none */
	int pidfd; /* -1: the kernel gave none */
	int sock;
	struct rd_confined confined;
};

/* -errno with `err` filled. It reads `maps` once, while it starts. */
int rd_namer_start(struct rd_namer *namer, pid_t traced, const struct rd_maps *maps, struct rd_err *err);
void rd_namer_stop(struct rd_namer *namer);

/* Fills what is known of the frames. -ETIMEDOUT, -ECHILD, -EPROTO and others with `err` filled: it is of no more use. */
int rd_namer_ask(struct rd_namer *namer, struct rd_frame *frames, size_t n, struct rd_err *err);

/* What is said over the socket. A question is a uint32_t and so many addresses; an answer is one of these, and before it there
 * may be others. */
enum rd_namer_kind {
	RD_NAMER_READY,	 /* struct rd_confined */
	RD_NAMER_FAILED, /* struct rd_err */
	RD_NAMER_DEBUG, /* a build-id: asks for the file of its debug information; a byte comes back, and perhaps a descriptor */
	RD_NAMER_NAMES, /* struct rd_named for each address, each with its texts behind it */
};

struct rd_namer_head {
	uint32_t kind, size; /* bytes behind it */
};

struct rd_named {
	uint64_t offset;
	int32_t line;		 /* 0: not known */
	uint16_t function, file; /* bytes; 0: not known */
};

#define RD_NAMED_TEXT 4096 /* bytes of a name at most */
#define RD_BUILD_ID_MAX 64 /* bytes */

/* The other end. */
_Noreturn void rd_namer_serve(int sock, pid_t traced, const struct rd_maps *maps);

#endif
