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

/* Executable memory, also without a file: generated code. */
struct rd_area {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	int file;	 /* index into the files; -1: none */
};

struct rd_maps {
	struct rd_mapped *v;
	size_t n, cap;
	struct rd_area *areas; /* in order of addresses */
	size_t n_areas, cap_areas;
	bool complete; /* what is not in `areas` was not executable */
	bool ours;     /* same mount namespace and root as ours: not in a container */
};

/* Ignores what exceeds some megabytes of maps, or some thousand files: then they are not `complete`. -errno. */
int rd_maps_read(pid_t pid, struct rd_maps *ret);
/* The same for the text of /proc/PID/maps, which it changes. `whole`: the text was not truncated. */
void rd_maps_parse(char *text, bool whole, struct rd_maps *ret);
/* Whether a process has mappings: one that has ended, but still has its PID, has none. */
bool rd_maps_any(pid_t pid);
void rd_maps_deinit(struct rd_maps *maps);
/* NULL: no executable memory is known there. */
const struct rd_area *rd_maps_code(const struct rd_maps *maps, uint64_t addr);
/* Opens a file that `pid` has mapped, for reading: the mapped file itself if the kernel permits it (map_files), else its path in
 * the root of the process; if the process has ended, its path in our root, if `ours` or if it is the same file. Does not open
 * devices, pipes and the like. The vdso is copied from memory. -1: not accessible. */
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

/* Messages on the socket. A request is a struct rd_rec_user and its stack. The response is a RD_NAMER_FRAMES or RD_NAMER_FAILED; other
 * messages may precede it. */
enum rd_namer_kind {
	RD_NAMER_READY,	 /* struct rd_confined */
	RD_NAMER_FAILED, /* struct rd_err */
	RD_NAMER_DEBUG,	 /* a build-id: requests its debug file; the parent sends a byte, with a descriptor if found */
	RD_NAMER_FRAMES, /* uint32_t, enum rd_ustack_end; struct rd_named for each frame, each followed by its strings */
};

struct rd_namer_head {
	uint32_t kind, size; /* size: bytes that follow */
};

struct rd_named {
	uint64_t addr, offset;
	int32_t line;		 /* 0: unknown */
	uint16_t function, file; /* bytes; 0: unknown */
};

/* Why a stack ends. */
enum rd_ustack_end {
	RD_END_NONE = 0, /* the first function of the thread was reached */
	RD_END_COPY,	 /* the copy of the stack is shorter: enum rd_user_end has the reason */
	RD_END_ELSEWHERE,
	RD_END_NO_CODE,
	RD_END_NO_CALL,
	RD_END_NO_INFO,
	RD_END_GENERATED,
	RD_END_NO_FILE,
	RD_END_BROKEN,
	RD_END_FRAMES,
	RD_END_MACHINE,
	RD_END_NO_MAPS, /* this one and the next: stated by the parent */
	RD_END_NO_CHILD,
	RD_ENDS
};

#define RD_USER_FRAMES 128
#define RD_NAMED_TEXT 4096 /* maximum bytes of a name */
#define RD_BUILD_ID_MAX 64 /* bytes */

#endif
