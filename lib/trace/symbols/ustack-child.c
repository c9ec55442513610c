// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The child: a process that parses the files of one traced process, which are untrusted. It opens them, drops all privileges, and
 * parses. There is one child per traced process, so that files of one process cannot affect the symbols of another.
 */
#include "trace/symbols/ustack-priv.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/environ.h"
#include "base/memory.h"
#include "bpf/record.h"
#include "source/opener/child.h"
#include "trace/symbols/libdw.h"

RD_LATE_DEFINE(rd_libdw, RD_LIBDW_CALLS, RD_LIBDW)

/* Limit on allocations, including files read as a whole; libelf then reads in parts. */
#define DATA_MAX ((rlim_t)1 << 30)

struct file {
	int fd; /* -1: none, or libdw has it */
	bool requested;
	uint64_t size; /* when it was opened; 0: unknown */
};

static int sock;

static void send_kind(enum rd_namer_kind kind, const void *data, size_t size)
{
	struct rd_namer_head head = { .kind = kind, .size = (uint32_t)size };

	if (rd_write_all(sock, &head, sizeof(head)) < 0 || rd_write_all(sock, data, size) < 0)
		_exit(1);
}

static bool read_whole(void *to, size_t size)
{
	uint8_t *at = to;

	while (size > 0) {
		ssize_t n = read(sock, at, size);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		at += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

static void set_limits(void)
{
	const struct rlimit none = { 0 };
	struct rlimit files = { 0 };

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	setrlimit(RLIMIT_CORE, &none);
#ifndef RD_SANITIZED /* the shadow memory of sanitizers is larger than any limit */
	setrlimit(RLIMIT_DATA, &(struct rlimit){ DATA_MAX, DATA_MAX });
#endif
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

	if (recvmsg(sock, &head, MSG_CMSG_CLOEXEC) != 1)
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

static Dwfl *report(const struct rd_maps *maps, struct file *files)
{
	Dwfl *dwfl = rd_libdw.dwfl_begin(&callbacks);

	for (size_t i = 0; dwfl && i < maps->n; i++) {
		const struct rd_mapped *mapped = &maps->v[i];
		Dwfl_Module *mod = rd_libdw.dwfl_report_module(dwfl, mapped->name, mapped->start, mapped->end);
		void **userdata = NULL;

		if (mod && rd_libdw.dwfl_module_info(mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL) && userdata)
			*userdata = &files[i];
	}
	return dwfl && rd_libdw.dwfl_report_end(dwfl, NULL, NULL) == 0 ? dwfl : NULL;
}

static uint16_t size_of(const char *text)
{
	return text ? (uint16_t)strnlen(text, RD_NAMED_TEXT) : 0;
}

static bool is_past_end(const struct rd_maps *maps, const struct file *files, uint64_t addr)
{
	const struct rd_area *area = rd_maps_code(maps, addr);
	uint64_t size = area && area->file >= 0 ? files[area->file].size : 0;

	return size && rd_area_past_end(area, size, addr);
}

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
	named.function = size_of(function);
	named.file = size_of(file);
	rd_buf_add(out, &named, sizeof(named));
	rd_buf_add(out, function, named.function);
	rd_buf_add(out, file, named.file);
}

static void handle_request(Dwfl *dwfl, const struct rd_maps *maps, const struct file *files)
{
	_cleanup_buf_ struct rd_buf out = RD_BUF_CHECKED;
	uint64_t addrs[RD_STACK_MAX];
	uint32_t n;

	/* Read the request completely: responses to our own requests follow it on the socket. */
	if (!read_whole(&n, sizeof(n)) || n > RD_STACK_MAX || !read_whole(addrs, n * sizeof(*addrs)))
		_exit(0);
	for (uint32_t i = 0; i < n; i++)
		name_address(dwfl, addrs[i], is_past_end(maps, files, addrs[i] - 1), &out);
	if (out.failed)
		_exit(1);
	send_kind(RD_NAMER_NAMES, out.data, out.len);
}

static _Noreturn void fail(struct rd_err *err)
{
	send_kind(RD_NAMER_FAILED, err, sizeof(*err));
	_exit(1);
}

_Noreturn void rd_namer_serve(int fd, pid_t traced, const struct rd_maps *maps)
{
	struct rd_err err = { 0 };
	struct file *files = rd_alloc(maps->n + 1, sizeof(*files));
	Dwfl *dwfl;

	sock = fd;
	rd_environ_hide();
	/* The parser must not have descriptors of hooks, or shared pages that the BPF programs read. */
	rd_child_close_others();
	rd_maps_unshare();
	set_limits();
	for (size_t i = 0; i < maps->n; i++)
		files[i].fd = maps->v[i].code ? rd_maps_open(traced, &maps->v[i], maps->ours, &files[i].size) : -1;
	if (rd_confine(0, NULL, &err) < 0)
		fail(&err);
	send_kind(RD_NAMER_READY, rd_confined(), sizeof(*rd_confined()));
	dwfl = report(maps, files);
	if (!dwfl) {
		rd_err_set(&err, ENOMEM, "user stacks", "no memory to resolve them");
		fail(&err);
	}
	for (;;)
		handle_request(dwfl, maps, files);
}
