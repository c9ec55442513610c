// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbols of user stacks: the processes that are remembered, and the child of each, which parses its files. */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/environ.h"
#include "base/late.h"
#include "base/memory.h"
#include "bpf/record.h"
#include "source/opener/child.h"
#include "trace/symbols/ustack-priv.h"

/* libdw, loaded when user stacks are requested. */
/* clang-format off */
#define RD_LIBDW_CALLS(x) \
	x(dwfl_addrmodule) x(dwfl_begin) x(dwfl_lineinfo) x(dwfl_module_addrinfo) x(dwfl_module_build_id) \
	x(dwfl_module_getelf) x(dwfl_module_getsrc) x(dwfl_module_info) x(dwfl_report_end) x(dwfl_report_module)
/* clang-format on */
RD_LATE_DECLARE(rd_libdw, RD_LIBDW_CALLS);
RD_LATE_DEFINE(rd_libdw, RD_LIBDW_CALLS, RD_LIBDW)

/* Limit on allocations, including files read as a whole; libelf then reads in parts. */
#define DATA_MAX ((rlim_t)1 << 30)

struct file {
	int fd; /* -1: none, or libdw has it */
	bool requested;
	uint64_t size; /* when it was opened; 0: unknown */
};

static int parent;

static void send_kind(enum rd_namer_kind kind, const void *data, size_t size)
{
	struct rd_namer_head head = { .kind = kind, .size = (uint32_t)size };

	if (rd_write_all(parent, &head, sizeof(head)) < 0 || rd_write_all(parent, data, size) < 0)
		_exit(1);
}

static bool read_whole(void *to, size_t size)
{
	uint8_t *at = to;

	while (size > 0) {
		ssize_t n = read(parent, at, size);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		at += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

static int find_elf(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base, char **path, Elf **elf)
{
	struct file *file = *userdata;
	int fd = file->fd;

	(void)mod, (void)name, (void)base, (void)path, (void)elf;
	file->fd = -1;
	return fd;
}

static int receive_file(void)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {};
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr head = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control.space)
	};
	struct cmsghdr *c;
	int fd = -1;

	if (recvmsg(parent, &head, MSG_CMSG_CLOEXEC) != 1)
		_exit(0);
	c = CMSG_FIRSTHDR(&head);
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* Separate debug information, by build-id. A second request is for a file shared by several debug files (dwz), which has
 * a different build-id. */
static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base, const char *path,
			  const char *link, GElf_Word crc, char **ret)
{
	struct file *file = *userdata;
	const unsigned char *id = NULL;
	char text[2 * RD_BUILD_ID_MAX + 1] = "";
	GElf_Addr at;
	int n = file->requested ? 0 : rd_libdw.dwfl_module_build_id(mod, &id, &at);

	(void)name, (void)base, (void)path, (void)link, (void)crc, (void)ret;
	file->requested = true;
	if (n <= 0 || n > RD_BUILD_ID_MAX)
		return -1;
	for (int i = 0; i < n; i++) {
		text[2 * i] = "0123456789abcdef"[id[i] >> 4];
		text[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
	}
	send_kind(RD_NAMER_DEBUG, text, 2 * (size_t)n);
	return receive_file();
}

/* Finds only files of this host; the functions of libdw would also query debuginfod servers. */
static const Dwfl_Callbacks callbacks = { .find_elf = find_elf, .find_debuginfo = find_debuginfo };

static void name_address(Dwfl *dwfl, uint64_t addr, bool past_end, struct rd_buf *out)
{
	Dwfl_Module *mod = rd_libdw.dwfl_addrmodule(dwfl, addr);
	const char *function = NULL, *file = NULL;
	struct rd_named named = { .offset = addr, .past_end = past_end };
	Dwarf_Addr bias = 0, low = 0;
	GElf_Off offset = 0;
	Dwfl_Line *line;
	GElf_Sym sym;

	if (mod) {
		rd_libdw.dwfl_module_info(mod, NULL, &low, NULL, NULL, NULL, NULL, NULL);
		/* A return address points behind its call, which may be the last instruction of the function. */
		function = rd_libdw.dwfl_module_addrinfo(mod, addr - 1, &offset, &sym, NULL, NULL, NULL);
		named.offset = function ? offset + 1 : addr - (rd_libdw.dwfl_module_getelf(mod, &bias) ? bias : low);
		line = rd_libdw.dwfl_module_getsrc(mod, addr - 1);
		file = line ? rd_libdw.dwfl_lineinfo(line, NULL, &named.line, NULL, NULL, NULL) : NULL;
	}
	named.function = function ? (uint16_t)strnlen(function, RD_NAMED_TEXT) : 0;
	named.file = file ? (uint16_t)strnlen(file, RD_NAMED_TEXT) : 0;
	rd_buf_add(out, &named, sizeof(named));
	rd_buf_add(out, function, named.function);
	rd_buf_add(out, file, named.file);
}

static _Noreturn void serve_parent(int fd, pid_t traced, const struct rd_maps *maps)
{
	const struct rlimit none = { 0 };
	struct rlimit limit = { 0 };
	struct rd_err err = { 0 };
	struct file *files = rd_alloc(maps->n + 1, sizeof(*files));
	Dwfl *dwfl = NULL;

	parent = fd;
	rd_environ_hide();
	/* The parser must not have descriptors of hooks, or shared pages that the BPF programs read. */
	rd_child_close_others();
	rd_maps_unshare();
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	setrlimit(RLIMIT_CORE, &none);
#ifndef RD_SANITIZED /* the shadow memory of sanitizers is larger than any limit */
	setrlimit(RLIMIT_DATA, &(struct rlimit){ DATA_MAX, DATA_MAX });
#endif
	for (size_t i = 0; i < maps->n; i++)
		files[i].fd = maps->v[i].code ? rd_maps_open(traced, &maps->v[i], maps->ours, &files[i].size) : -1;
	if (rd_confine(0, NULL, &err) == 0) {
		send_kind(RD_NAMER_READY, rd_confined(), sizeof(*rd_confined()));
		dwfl = rd_libdw.dwfl_begin(&callbacks);
		for (size_t i = 0; dwfl && i < maps->n; i++) {
			const struct rd_mapped *mapped = &maps->v[i];
			Dwfl_Module *mod = rd_libdw.dwfl_report_module(dwfl, mapped->name, mapped->start, mapped->end);
			void **userdata = NULL;

			if (mod && rd_libdw.dwfl_module_info(mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL) &&
			    userdata)
				*userdata = &files[i];
		}
		if (dwfl && rd_libdw.dwfl_report_end(dwfl, NULL, NULL) != 0)
			dwfl = NULL;
		if (!dwfl)
			rd_err_set(&err, ENOMEM, "user stacks", "no memory to resolve them");
	}
	if (!dwfl) {
		send_kind(RD_NAMER_FAILED, &err, sizeof(err));
		_exit(1);
	}
	for (;;) {
		_cleanup_buf_ struct rd_buf out = RD_BUF_CHECKED;
		uint64_t addrs[RD_STACK_MAX];
		uint32_t n;

		/* Read the request completely: responses to our own requests follow it on the socket. */
		if (!read_whole(&n, sizeof(n)) || n > RD_STACK_MAX || !read_whole(addrs, n * sizeof(*addrs)))
			_exit(0);
		for (uint32_t i = 0; i < n; i++) {
			const struct rd_area *area = rd_maps_code(maps, addrs[i] - 1);
			uint64_t size = area && area->file >= 0 ? files[area->file].size : 0;

			name_address(dwfl, addrs[i], size && rd_area_past_end(area, size, addrs[i] - 1), &out);
		}
		if (out.failed)
			_exit(1);
		send_kind(RD_NAMER_NAMES, out.data, out.len);
	}
}

/* The privileged parent: starts the child, opens debug files for it, and treats its output as untrusted. */

#define LIMIT_MS 5000 /* an idle host needs 0.1 s for the debug information of libc */
#define FRAMES_MAX RD_STACK_MAX
#define RESPONSE_MAX (FRAMES_MAX * (sizeof(struct rd_named) + 2 * RD_NAMED_TEXT))

/* -errno with `err` filled. Uses `maps` only while it starts. */
static void stop_namer(struct rd_namer *namer)
{
	if (!namer->pid)
		return;
	if (namer->pidfd >= 0) {
		syscall(SYS_pidfd_send_signal, namer->pidfd, SIGKILL, NULL, 0);
		close(namer->pidfd);
	}
	close(namer->sock);
	*namer = (struct rd_namer){ .pidfd = -1, .sock = -1 };
}

static int send_file(int sock, int fd)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(fd))];
	} control = {};
	struct iovec byte = { .iov_base = (char[]){ 0 }, .iov_len = 1 };
	struct msghdr head = { .msg_iov = &byte, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (fd >= 0) {
		head.msg_control = control.space;
		head.msg_controllen = sizeof(control.space);
		c = CMSG_FIRSTHDR(&head);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(sock, &head, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int parse_names(struct rd_frame *frames, size_t *n, const char *data, size_t size)
{
	size_t end = *n;

	for (size_t i = 0; i < *n; i++) {
		struct rd_named named;

		if (size < sizeof(named))
			return -EPROTO;
		memcpy(&named, data, sizeof(named));
		data += sizeof(named);
		size -= sizeof(named);
		if ((size_t)named.function + named.file > size)
			return -EPROTO;
		if (named.past_end && i > 0 && i < end)
			end = i;
		frames[i].offset = named.offset;
		frames[i].function = named.function ? rd_dup_part(data, named.function) : NULL;
		frames[i].file = named.file ? rd_dup_part(data + named.function, named.file) : NULL;
		if (frames[i].file)
			RD_SET(frames[i].line, named.line);
		data += named.function + named.file;
		size -= (size_t)named.function + named.file;
	}
	*n = end;
	return size ? -EPROTO : 0;
}

/* Receives one message. 1: more messages follow. */
static int receive_message(struct rd_namer *namer, int64_t deadline, struct rd_frame *frames, size_t *n,
			   struct rd_err *err)
{
	_cleanup_close_ int debug = -1;
	_cleanup_free_ char *data = NULL;
	char path[64 + 2 * RD_BUILD_ID_MAX];
	struct rd_namer_head head;
	struct rd_err failure;
	int r = rd_child_read(namer->sock, deadline, &head, sizeof(head));

	if (r < 0)
		return r;
	if (head.size > RESPONSE_MAX)
		return -EPROTO;
	data = rd_alloc(1, (size_t)head.size + 1);
	r = rd_child_read(namer->sock, deadline, data, head.size);
	if (r < 0)
		return r;
	switch (head.kind) {
	case RD_NAMER_READY:
		if (head.size != sizeof(namer->confined))
			return -EPROTO;
		memcpy(&namer->confined, data, head.size);
		return 1;
	case RD_NAMER_DEBUG:
		/* Only files below the directory of debug files, which root owns: the name is checked. */
		if (head.size >= 4 && head.size <= 2 * RD_BUILD_ID_MAX &&
		    strspn(data, "0123456789abcdef") == head.size) {
			snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", data, data + 2);
			debug = open(path, O_RDONLY | O_CLOEXEC);
		}
		r = send_file(namer->sock, debug);
		return r < 0 ? r : 1;
	case RD_NAMER_FAILED:
		if (head.size != sizeof(failure))
			return -EPROTO;
		memcpy(&failure, data, head.size);
		failure.object[sizeof(failure.object) - 1] = failure.message[sizeof(failure.message) - 1] =
			failure.hint[sizeof(failure.hint) - 1] = '\0';
		*err = failure;
		return failure.code > 0 ? -failure.code : -EPROTO;
	case RD_NAMER_NAMES:
		return parse_names(frames, n, data, head.size);
	default:
		return -EPROTO;
	}
}

/* Fills the frames. `*n` becomes the number of frames before the first, except frame 0, that is beyond the end of its file; those
 * behind it are filled as well. -ETIMEDOUT, -ECHILD, -EPROTO and others with `err` filled: the namer must not be used any more. */
static int query_namer(struct rd_namer *namer, struct rd_frame *frames, size_t *n, struct rd_err *err)
{
	int64_t deadline = rd_monotonic_ms() + LIMIT_MS;
	size_t sent = *n < FRAMES_MAX ? *n : FRAMES_MAX, real = sent;
	struct {
		uint32_t n;
		uint64_t addrs[FRAMES_MAX];
	} __attribute__((packed)) request = { .n = (uint32_t)sent };
	int r;

	for (size_t i = 0; i < sent; i++)
		request.addrs[i] = frames[i].addr;
	/* Fits into the socket buffer, which is empty between requests. */
	r = send(namer->sock, &request, sizeof(request.n) + sent * sizeof(*request.addrs),
		 MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ?
		    -errno :
		    0;
	*err = (struct rd_err){ 0 };
	do {
		r = r < 0 ? r : receive_message(namer, deadline, frames, &real, err);
	} while (r > 0 && rd_monotonic_ms() < deadline);
	if (r > 0)
		r = -ETIMEDOUT;
	if (r == 0 && real < sent)
		*n = real;
	if (r < 0 && !err->code)
		rd_err_set(err, -r, "user stacks", "%s",
			   r == -ETIMEDOUT	       ? "the process that resolves symbols timed out" :
			   r == -ECHILD || r == -EPIPE ? "the process that resolves symbols ended" :
							 "invalid response of the process that resolves symbols");
	return r;
}

#define PROCESSES 16   /* cached at a time */
#define HANGS_MAX 3    /* each delays the trace for some seconds */
#define CHANGES_MAX 64 /* of the files of a process: each requires a new child */

#define NOT_CODE "the next frame is not in executable memory: code without frame pointers hides its callers"
/* The mappings are as of an earlier frame: the process has ended, or changes them all the time. */
#define WAS_NOT_CODE "the next frame was not in executable memory when the mappings were last read"
#define PAST_END "the next frame is beyond the end of its file: code without frame pointers hides its callers"

struct process {
	uint32_t pid; /* 0: unused */
	int pidfd;    /* -1: not supported by the kernel */
	uint64_t used;
	struct rd_maps maps;
	unsigned changes;
	struct rd_namer namer;
	bool given_up; /* symbols are not resolved any more */
};

struct rd_ustack {
	struct process processes[PROCESSES];
	uint64_t clock; /* counts requests; the least recently used process is evicted */
	unsigned hangs;
	struct rd_confined confined;
};

static void process_forget(struct process *p)
{
	stop_namer(&p->namer);
	rd_maps_deinit(&p->maps);
	if (p->pidfd >= 0)
		close(p->pidfd);
	*p = (struct process){ .pidfd = -1 };
}

int rd_ustack_create(struct rd_ustack **ret, struct rd_err *err)
{
	/* Loaded here, so that each child inherits it. */
	char **whole = rd_environ_hide();
	int r = rd_libdw_load("user stacks", err);
	struct rd_ustack *us;

	rd_environ_show(whole);
	if (r < 0)
		return r;
	us = rd_alloc(1, sizeof(*us));
	for (size_t i = 0; i < PROCESSES; i++)
		us->processes[i].pidfd = -1;
	*ret = us;
	return 0;
}

void rd_ustack_destroy(struct rd_ustack *us)
{
	if (!us)
		return;
	for (size_t i = 0; i < PROCESSES; i++)
		process_forget(&us->processes[i]);
	free(us);
}

const struct rd_confined *rd_ustack_confined(const struct rd_ustack *us)
{
	return &us->confined;
}

static struct process *process_of(struct rd_ustack *us, uint32_t pid)
{
	struct process *oldest = &us->processes[0], *p = NULL;

	for (size_t i = 0; i < PROCESSES && !p; i++) {
		if (us->processes[i].pid == pid)
			p = &us->processes[i];
		else if (us->processes[i].used < oldest->used)
			oldest = &us->processes[i];
	}
	/* Whether the PID was reused by a new process. What is cached of an ended process stays valid. */
	if (p && (p->pidfd < 0 || poll(&(struct pollfd){ .fd = p->pidfd, .events = POLLIN }, 1, 0) > 0) &&
	    rd_maps_any((pid_t)pid)) {
		process_forget(p);
		oldest = p;
		p = NULL;
	}
	if (!p) {
		p = oldest;
		process_forget(p);
		p->pid = pid;
		p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
		rd_maps_read((pid_t)pid, &p->maps);
	}
	p->used = ++us->clock;
	return p;
}

/* Files that were mapped since then need a new child, which has not parsed anything yet. Returns whether the maps are current. */
static bool reread_maps(struct process *p)
{
	struct rd_maps maps;
	bool same;

	if (rd_maps_read((pid_t)p->pid, &maps) < 0)
		return false;
	same = rd_maps_same(&maps, &p->maps);
	/* Of a process that is ending, only a part can be read. */
	if ((!same && p->changes == CHANGES_MAX) || (p->maps.complete && !maps.complete)) {
		rd_maps_deinit(&maps);
		return false;
	}
	if (!same) {
		stop_namer(&p->namer);
		p->changes++;
	}
	rd_maps_deinit(&p->maps);
	p->maps = maps;
	return true;
}

/* Frame 0 is the instruction pointer. The others are return addresses: these point behind a call, which may be the last instruction
 * of the mapping. */
static const struct rd_area *area_of(const struct process *p, const struct rd_frame *frames, size_t i)
{
	return rd_maps_code(&p->maps, frames[i].addr - (i > 0));
}

static void drop_frames(struct rd_frame *frames, size_t *n, size_t keep, const char *why, struct rd_ustack_cut *cut)
{
	if (keep >= *n)
		return;
	for (size_t i = keep; i < *n; i++) {
		free(frames[i].function);
		free(frames[i].object);
		free(frames[i].file);
		frames[i] = (struct rd_frame){ .addr = frames[i].addr };
	}
	*cut = (struct rd_ustack_cut){ .dropped = cut->dropped + *n - keep, .why = why };
	*n = keep;
}

int rd_ustack_resolve(struct rd_ustack *us, uint32_t pid, struct rd_frame *frames, size_t *n, struct rd_ustack_cut *cut,
		      struct rd_err *err)
{
	struct process *p = *n ? process_of(us, pid) : NULL;
	size_t first = 0, keep;	   /* first: that is not in executable memory */
	bool current, any = false; /* any: is in a file that may have symbols */
	char what[40];
	pid_t child;
	int sock, r = 0;

	*cut = (struct rd_ustack_cut){ 0 };
	if (!p)
		return 0;
	/* The mappings may have changed since they were read. Frame 0 stays in any case. */
	while (first < *n && area_of(p, frames, first))
		first++;
	current = first == *n || reread_maps(p);
	if (p->maps.complete) {
		for (first = 1; first < *n && area_of(p, frames, first);)
			first++;
		drop_frames(frames, n, first, current ? NOT_CODE : WAS_NOT_CODE, cut);
	}
	/* Object and offset are from the maps of the kernel. */
	for (size_t i = 0; i < *n; i++) {
		const struct rd_area *area = area_of(p, frames, i);
		const struct rd_mapped *mapped = area && area->file >= 0 ? &p->maps.v[area->file] : NULL;

		if (!mapped)
			continue;
		frames[i].object = rd_dup(mapped->name);
		frames[i].offset = frames[i].addr - mapped->start;
		any |= *mapped->name == '/';
	}
	if (!any || p->given_up || us->hangs >= HANGS_MAX)
		return 0;
	keep = *n;
	if (!p->namer.pid) {
		snprintf(what, sizeof(what), "user stacks of PID %u", p->pid);
		r = rd_child_start_talk(what, &child, &sock, err);
		if (r == 0)
			serve_parent(sock, (pid_t)p->pid, &p->maps);
		/* The pidfd ensures that stop_namer does not signal a process with a reused PID. */
		if (r > 0)
			p->namer = (struct rd_namer){ .pid = child,
						      .pidfd = (int)syscall(SYS_pidfd_open, child, 0),
						      .sock = sock };
	}
	if (r >= 0)
		r = query_namer(&p->namer, frames, &keep, err);
	if (p->namer.confined.active)
		us->confined = p->namer.confined;
	drop_frames(frames, n, keep, PAST_END, cut);
	if (!r)
		return 0;
	stop_namer(&p->namer);
	p->given_up = true;
	us->hangs += r == -ETIMEDOUT;
	snprintf(err->object, sizeof(err->object), "user stacks of PID %u", p->pid);
	rd_err_hint(err,
		    us->hangs == HANGS_MAX ? "all further user stacks are shown without names" : "shown without names");
	return r;
}
