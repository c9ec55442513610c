// SPDX-License-Identifier: GPL-2.0-or-later
/* User stacks: the processes that are remembered, and the child of each, which parses its files, unwinds and resolves symbols. */
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/environ.h"
#include "bpf/record.h"
#include "source/opener/child.h"
#include "trace/symbols/ustack-priv.h"

/* libdw, loaded when user stacks are requested. */
/* clang-format off */
#define RD_LIBDW_CALLS(x) \
	x(dwarf_cfi_addrframe) x(dwfl_addrmodule) x(dwfl_attach_state) x(dwfl_begin) x(dwfl_frame_pc) x(dwfl_getthread_frames) \
	x(dwfl_lineinfo) x(dwfl_module_addrinfo) x(dwfl_module_build_id) x(dwfl_module_dwarf_cfi) x(dwfl_module_eh_cfi) \
	x(dwfl_module_getelf) x(dwfl_module_getsrc) x(dwfl_module_info) x(dwfl_report_end) x(dwfl_report_module) \
	x(dwfl_thread_state_register_pc) x(dwfl_thread_state_registers)
/* clang-format on */
RD_LATE_DECLARE(rd_libdw, RD_LIBDW_CALLS);
RD_LATE_DEFINE(rd_libdw, RD_LIBDW_CALLS, RD_LIBDW)

/* Limit on allocations, including files read as a whole; libelf then reads in parts. */
#define DATA_MAX ((rlim_t)1 << 30)

struct file {
	int fd;	  /* -1: none, or libdw has it */
	int code; /* the same file, for us; -1: none */
	bool requested;
};

/* Where struct rd_rec_user has the registers, by their numbers in DWARF. */
struct machine {
	unsigned bits;
	int n; /* registers */
	uint8_t pc, sp;
	uint8_t regs[33];
};

#if defined(__x86_64__)
static const struct machine amd64 = { 64, 17, 16, 19, { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16 } };
static const struct machine i386 = { 32, 9, 16, 19, { 10, 11, 12, 5, 19, 4, 13, 14, 16 } };

static const struct machine *machine_of(const struct rd_rec_user *user)
{
	/* The selector of the code segment: __USER32_CS, also as Xen has it. */
	return (user->regs[17] & 0xfff) == 0x23 ? &i386 : &amd64;
}

/* call REL32; or call of a register or of memory: 0xff /2, whose length is in the byte behind it. */
static bool ends_in_call(const uint8_t *end, size_t n)
{
	if (n >= 5 && end[-5] == 0xe8)
		return true;
	for (size_t length = 2; length <= 7 && length <= n; length++) {
		const uint8_t *at = end - length, mod = at[1] >> 6, rm = at[1] & 7;
		bool sib = mod != 3 && rm == 4;
		size_t wanted = 2 + sib + (mod == 1 ? 1 : mod == 2 ? 4 : 0);

		if (at[0] != 0xff || (at[1] >> 3 & 7) != 2)
			continue;
		if (mod == 0 && (rm == 5 || (sib && length == 7 && (at[2] & 7) == 5)))
			wanted += 4;
		if (wanted == length)
			return true;
	}
	return false;
}
#elif defined(__aarch64__)
static const struct machine arm64 = {
	64, 32, 32, 31, { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
			  16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 }
};

static const struct machine *machine_of(const struct rd_rec_user *user)
{
	return user->regs[33] & 0x10 ? NULL : &arm64; /* PSR_MODE32_BIT */
}

/* BL; BLR, also with authentication of the pointer. */
static bool ends_in_call(const uint8_t *end, size_t n)
{
	uint32_t word;

	if (n < sizeof(word))
		return false;
	memcpy(&word, end - sizeof(word), sizeof(word));
	return (word & 0xfc000000) == 0x94000000 || (word & 0xfefff000) == 0xd63f0000;
}
#else
#define machine_of(user) NULL
#define ends_in_call(end, n) false
#endif

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

	file->fd = -1;
	return fd;
}

/* Separate debug information, by build-id. A second request is for a file shared by several debug files (dwz), which has
 * a different build-id. */
static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base, const char *path,
			  const char *link, GElf_Word crc, char **ret)
{
	struct file *file = *userdata;
	const unsigned char *id = NULL;
	char text[2 * RD_BUILD_ID_MAX + 1] = "", byte;
	int fds[RD_FDS_MAX];
	size_t n_fds;
	GElf_Addr at;
	int n = file->requested ? 0 : rd_libdw.dwfl_module_build_id(mod, &id, &at);

	file->requested = true;
	if (n <= 0 || n > RD_BUILD_ID_MAX)
		return -1;
	for (int i = 0; i < n; i++) {
		text[2 * i] = "0123456789abcdef"[id[i] >> 4];
		text[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
	}
	send_kind(RD_NAMER_DEBUG, text, 2 * (size_t)n);
	if (rd_recv_fds(parent, &byte, 1, fds, &n_fds) != 1)
		_exit(0);
	return n_fds == 1 ? fds[0] : -1;
}

/* Finds only files of this host; the functions of libdw would also query debuginfod servers. */
static const Dwfl_Callbacks callbacks = { .find_elf = find_elf, .find_debuginfo = find_debuginfo };

static Dwfl *dwfl;

/* `addr`: of the instruction, or of the byte before a return address. */
static void name_address(Dwfl_Module *mod, uint64_t addr, struct rd_named named, struct rd_buf *out)
{
	const char *function = NULL, *file = NULL;
	Dwarf_Addr bias = 0, low = 0;
	GElf_Off offset = 0;
	Dwfl_Line *line;
	GElf_Sym sym;

	if (mod) {
		rd_libdw.dwfl_module_info(mod, NULL, &low, NULL, NULL, NULL, NULL, NULL);
		function = rd_libdw.dwfl_module_addrinfo(mod, addr, &offset, &sym, NULL, NULL, NULL);
		named.offset = function ? offset + named.addr - addr :
					  named.addr - (rd_libdw.dwfl_module_getelf(mod, &bias) ? bias : low);
		line = rd_libdw.dwfl_module_getsrc(mod, addr);
		file = line ? rd_libdw.dwfl_lineinfo(line, NULL, &named.line, NULL, NULL, NULL) : NULL;
	}
	named.function = function ? (uint16_t)strnlen(function, RD_NAMED_TEXT) : 0;
	named.file = file ? (uint16_t)strnlen(file, RD_NAMED_TEXT) : 0;
	rd_buf_add(out, &named, sizeof(named));
	rd_buf_add(out, function, named.function);
	rd_buf_add(out, file, named.file);
}

/* The stack that is being unwound. */
static struct unwinding {
	const struct rd_maps *maps;
	const struct file *files;
	const struct machine *machine;
	struct {
		struct rd_rec_user head;
		uint8_t stack[RD_USER_PARTS * RD_USER_PART];
	} user;
	size_t n; /* frames */
	enum rd_ustack_end end, fault;
	struct rd_buf *out;
} now;

/* A return address that was signed (pointer authentication of arm64) without its signature; any other value as it is. The signature is
 * above the bits of addresses, of which a kernel has 36 to 52. */
static uint64_t unsigned_address(uint64_t value)
{
#ifdef __aarch64__
	for (unsigned bits = 52; bits >= 36 && !rd_maps_code(now.maps, value); bits--)
		if (rd_maps_code(now.maps, value & ((UINT64_C(1) << bits) - 1)))
			return value & ((UINT64_C(1) << bits) - 1);
#endif
	return value;
}

static pid_t next_thread(Dwfl *of, void *arg, void **thread)
{
	pid_t pid = *thread ? 0 : 1;

	*thread = arg;
	return pid;
}

static bool get_thread(Dwfl *of, pid_t tid, void *arg, void **thread)
{
	*thread = arg;
	return true;
}

/* A word of the process. */
static bool read_memory(Dwfl *of, Dwarf_Addr addr, Dwarf_Word *ret, void *arg)
{
	uint64_t sp = now.user.head.regs[now.machine->sp], size = now.user.head.size, at = addr - sp;
	size_t word = now.machine->bits / 8;

	if (at >= size || size - at < word) {
		now.fault = addr >= sp && at < (UINT64_C(1) << 30) ? RD_END_COPY : RD_END_ELSEWHERE;
		return false;
	}
	*ret = 0;
	memcpy(ret, now.user.stack + at, word);
	*ret = unsigned_address(*ret);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	Dwarf_Word regs[RD_ARRAY_SIZE(now.machine->regs)];

	for (int i = 0; i < now.machine->n; i++)
		regs[i] = unsigned_address(now.user.head.regs[now.machine->regs[i]]);
	rd_libdw.dwfl_thread_state_register_pc(thread, now.user.head.regs[now.machine->pc]);
	return rd_libdw.dwfl_thread_state_registers(thread, 0, (unsigned)now.machine->n, regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = { .next_thread = next_thread,
							.get_thread = get_thread,
							.memory_read = read_memory,
							.set_initial_registers = set_registers };

static bool has_unwind_info(Dwfl_Module *mod, Dwarf_Addr addr)
{
	Dwarf_Addr bias = 0;
	Dwarf_Frame *frame = NULL;
	Dwarf_CFI *cfi = rd_libdw.dwfl_module_eh_cfi(mod, &bias);
	bool found = cfi && rd_libdw.dwarf_cfi_addrframe(cfi, addr - bias, &frame) == 0;

	if (!found) {
		cfi = rd_libdw.dwfl_module_dwarf_cfi(mod, &bias);
		found = cfi && rd_libdw.dwarf_cfi_addrframe(cfi, addr - bias, &frame) == 0;
	}
	free(frame);
	return found;
}

/* Whether a return address can be one; code that is in no file that we have is not looked at. */
static bool follows_call(const struct rd_area *area, uint64_t addr)
{
	uint8_t code[7];
	size_t n = addr - area->start < sizeof(code) ? addr - area->start : sizeof(code);
	int fd = area->file >= 0 ? now.files[area->file].code : -1;

	return fd < 0 || (pread(fd, code, n, (off_t)(area->offset + (addr - area->start) - n)) == (ssize_t)n &&
			  ends_in_call(code + n, n));
}

/* libdw follows frame pointers where there is no unwind information, and then leaves out frames: it must not get there. */
static int add_frame(Dwfl_Frame *frame, void *arg)
{
	const struct rd_area *area;
	Dwarf_Addr pc, addr;
	bool exact = false;
	Dwfl_Module *mod;

	now.end = RD_END_BROKEN;
	now.fault = RD_END_NONE;
	if (!rd_libdw.dwfl_frame_pc(frame, &pc, &exact))
		return DWARF_CB_ABORT;
	/* A return address points behind its call, which may be the last instruction of the function. */
	exact |= !now.n;
	addr = pc - !exact;
	area = rd_maps_code(now.maps, addr);
	now.end = !area && now.n		    ? RD_END_NO_CODE :
		  !exact && !follows_call(area, pc) ? RD_END_NO_CALL :
		  now.n == RD_USER_FRAMES	    ? RD_END_FRAMES :
						      RD_END_NONE;
	if (now.end)
		return DWARF_CB_ABORT;
	mod = area && area->file >= 0 ? rd_libdw.dwfl_addrmodule(dwfl, addr) : NULL;
	name_address(mod, addr, (struct rd_named){ .addr = pc, .offset = pc }, now.out);
	now.n++;
	now.end = !area				 ? RD_END_NO_CODE :
		  !mod				 ? RD_END_GENERATED :
		  now.files[area->file].code < 0 ? RD_END_NO_FILE :
		  has_unwind_info(mod, addr)	 ? RD_END_NONE :
						   RD_END_NO_INFO;
	return now.end ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/* The response to one request. */
static void unwind(struct rd_buf *out)
{
	uint32_t end = RD_END_MACHINE;
	int r;

	rd_buf_add(out, &end, sizeof(end));
	now.machine = machine_of(&now.user.head);
	now.out = out;
	now.n = 0;
	now.end = now.fault = RD_END_NONE;
	if (now.machine) {
		r = rd_libdw.dwfl_getthread_frames(dwfl, 1, add_frame, NULL);
		/* libdw takes a caller that cannot be read for the end. */
		end = now.end ? now.end : now.fault ? now.fault : r < 0 ? RD_END_BROKEN : RD_END_NONE;
	}
	if (out->data)
		memcpy(out->data, &end, sizeof(end));
}

static _Noreturn void serve_parent(int fd, pid_t traced, const struct rd_maps *maps)
{
	const struct rlimit none = { 0 };
	struct rlimit limit = { 0 };
	struct rd_err err = { 0 };
	struct file *files = rd_alloc(maps->n + 1, sizeof(*files));

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
		files[i].fd = maps->v[i].code ? rd_maps_open(traced, &maps->v[i], maps->ours) : -1;
	for (size_t i = 0; i < maps->n; i++)
		files[i].code = files[i].fd >= 0 ? dup(files[i].fd) : -1;
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
		/* Without any file, it cannot know the machine: then each stack ends at once. */
		if (dwfl && rd_libdw.dwfl_report_end(dwfl, NULL, NULL) == 0)
			rd_libdw.dwfl_attach_state(dwfl, NULL, 1, &thread_callbacks, NULL);
		else
			dwfl = NULL;
		if (!dwfl)
			rd_err_set(&err, ENOMEM, "user stacks", "no memory to resolve them");
	}
	if (!dwfl) {
		send_kind(RD_NAMER_FAILED, &err, sizeof(err));
		_exit(1);
	}
	now.maps = maps;
	now.files = files;
	for (;;) {
		_cleanup_buf_ struct rd_buf out = RD_BUF_CHECKED;

		/* Read the request completely: responses to our own requests follow it on the socket. */
		if (!read_whole(&now.user.head, sizeof(now.user.head)) || now.user.head.size > sizeof(now.user.stack) ||
		    !read_whole(now.user.stack, now.user.head.size))
			_exit(0);
		unwind(&out);
		if (out.failed)
			_exit(1);
		send_kind(RD_NAMER_FRAMES, out.data, out.len);
	}
}

/* The privileged parent: starts the child, opens debug files for it, and treats its output as untrusted. */

#define LIMIT_MS 10000 /* an idle host needs 0.1 s for the debug information of libc */
#define RESPONSE_MAX (sizeof(uint32_t) + RD_USER_FRAMES * (sizeof(struct rd_named) + 2 * RD_NAMED_TEXT))

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

static int parse_frames(struct rd_event *ev, uint32_t *end, const char *data, size_t size)
{
	if (size < sizeof(*end))
		return -EPROTO;
	memcpy(end, data, sizeof(*end));
	data += sizeof(*end);
	size -= sizeof(*end);
	for (size_t i = 0; size > 0; i++) {
		struct rd_frame *frame = &ev->ustack[i];
		struct rd_named named;

		if (size < sizeof(named) || i == RD_USER_FRAMES)
			return -EPROTO;
		memcpy(&named, data, sizeof(named));
		data += sizeof(named);
		size -= sizeof(named);
		/* The first is known. */
		if ((size_t)named.function + named.file > size || (i == 0 && named.addr != frame->addr))
			return -EPROTO;
		ev->n_ustack = i + 1;
		RD_FREE(frame->function, frame->file);
		frame->addr = named.addr;
		frame->offset = named.offset;
		frame->function = named.function ? rd_dup_part(data, named.function) : NULL;
		frame->file = named.file ? rd_dup_part(data + named.function, named.file) : NULL;
		if (frame->file)
			RD_SET(frame->line, named.line);
		data += named.function + named.file;
		size -= (size_t)named.function + named.file;
	}
	return *end < RD_ENDS ? 0 : -EPROTO;
}

/* Receives one message. 1: more messages follow. */
static int receive_message(struct rd_namer *namer, int64_t deadline, struct rd_event *ev, uint32_t *end,
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
		r = rd_send_fds(namer->sock, "", 1, &debug, debug >= 0);
		return r < 0 ? r : 1;
	case RD_NAMER_FAILED:
		if (head.size != sizeof(failure))
			return -EPROTO;
		memcpy(&failure, data, head.size);
		failure.object[sizeof(failure.object) - 1] = failure.message[sizeof(failure.message) - 1] =
			failure.hint[sizeof(failure.hint) - 1] = '\0';
		*err = failure;
		return failure.code > 0 ? -failure.code : -EPROTO;
	case RD_NAMER_FRAMES:
		return parse_frames(ev, end, data, head.size);
	default:
		return -EPROTO;
	}
}

/* Adds the frames and why they end. -ETIMEDOUT, -ECHILD, -EPROTO and others with `err` filled: the namer must not be used any more. */
static int query_namer(struct rd_namer *namer, struct rd_event *ev, uint32_t *end, struct rd_err *err)
{
	int64_t deadline = rd_monotonic_ms() + LIMIT_MS;
	size_t size = sizeof(*ev->user) + ev->user->size;
	/* Fits into the socket buffer, which is empty between requests. */
	ssize_t sent = send(namer->sock, ev->user, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	int r = sent < 0 ? -errno : (size_t)sent < size ? -EAGAIN : 0;

	*err = (struct rd_err){ 0 };
	do {
		r = r < 0 ? r : receive_message(namer, deadline, ev, end, err);
	} while (r > 0 && rd_monotonic_ms() < deadline);
	if (r > 0)
		r = -ETIMEDOUT;
	if (r < 0 && !err->code)
		rd_err_set(err, -r, "user stacks", "%s",
			   r == -ETIMEDOUT	       ? "the process that unwinds them timed out" :
			   r == -ECHILD || r == -EPIPE ? "the process that unwinds them ended" :
							 "invalid response of the process that unwinds them");
	return r;
}

#define PROCESSES 16   /* cached at a time */
#define HANGS_MAX 3    /* each delays the trace for some seconds */
#define CHANGES_MAX 64 /* of the files of a process: each requires a new child */

static const char *const copy_ends[] = {
	[RD_USER_PAGED_OUT] = "the next part of the stack was not in memory",
	[RD_USER_LIMIT] = "the stack is deeper than the 64 KiB that are copied",
	[RD_USER_NO_ROOM] = "the ring buffer had no room for a copy of the stack: calls fail too fast (--buffer)",
	[RD_USER_LOCKED] = "the kernel forbids to read memory (lockdown)",
};
_Static_assert(RD_USER_PARTS *RD_USER_PART == 64 << 10, "as in the text");

static const char *const ends[] = {
	[RD_END_ELSEWHERE] = "the caller is not on this stack, but in other memory, which is not copied",
	[RD_END_NO_CODE] = "the next return address is not in executable memory",
	[RD_END_NO_CALL] = "no call instruction is in front of the next return address",
	[RD_END_NO_INFO] = "the file has no unwind information (.eh_frame) for this code",
	[RD_END_GENERATED] = "generated code has no unwind information",
	[RD_END_NO_FILE] = "the file of this code cannot be read",
	[RD_END_BROKEN] = "the unwind information of this code leads no further",
	[RD_END_FRAMES] = "there are more than 128 frames",
	[RD_END_MACHINE] = "programs of this machine cannot be unwound",
	[RD_END_NO_MAPS] = "the mappings of the process are not readable: it has ended, or belongs to another user",
	[RD_END_NO_CHILD] = "the process that unwinds the stacks of this program ended, or timed out",
};
_Static_assert(RD_ARRAY_SIZE(ends) == RD_ENDS && RD_USER_FRAMES == 128, "a text for each");

struct process {
	uint32_t pid; /* 0: unused */
	int pidfd;    /* -1: not supported by the kernel */
	uint64_t used;
	struct rd_maps maps;
	unsigned changes;
	struct rd_namer namer;
	bool stale;    /* it does not know all of the executable memory */
	bool given_up; /* no stacks are unwound any more */
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

	for (size_t i = 0; i < PROCESSES && !p; i++)
		if (us->processes[i].pid == pid)
			p = &us->processes[i];
		else if (us->processes[i].used < oldest->used)
			oldest = &us->processes[i];
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
	}
	p->used = ++us->clock;
	return p;
}

/* Whether the files are the same. The areas may differ. */
static bool same_maps(const struct rd_maps *a, const struct rd_maps *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++)
		same = a->v[i].start == b->v[i].start && a->v[i].end == b->v[i].end && a->v[i].ino == b->v[i].ino &&
		       a->v[i].code == b->v[i].code && strcmp(a->v[i].name, b->v[i].name) == 0;
	return same;
}

/* Files that were mapped since then need a new child, which has not parsed anything yet. */
static void reread_maps(struct process *p)
{
	struct rd_maps maps;
	bool same;

	if (rd_maps_read((pid_t)p->pid, &maps) < 0)
		return;
	same = same_maps(&maps, &p->maps);
	/* Of a process that is ending, only a part can be read. */
	if ((!same && p->changes == CHANGES_MAX) || (p->maps.complete && !maps.complete)) {
		rd_maps_deinit(&maps);
		return;
	}
	if (!same) {
		stop_namer(&p->namer);
		p->changes++;
	}
	p->stale |= maps.n_areas != p->maps.n_areas ||
		    memcmp(maps.areas, p->maps.areas, maps.n_areas * sizeof(*maps.areas)) != 0;
	rd_maps_deinit(&p->maps);
	p->maps = maps;
}

/* Object and offset are from the maps of the kernel; what the child said of an offset stays. */
static void place_frames(const struct process *p, struct rd_event *ev)
{
	for (size_t i = 0; i < ev->n_ustack; i++) {
		struct rd_frame *frame = &ev->ustack[i];
		const struct rd_area *area = rd_maps_code(&p->maps, frame->addr - (i > 0));

		if (!area || area->file < 0)
			continue;
		frame->object = rd_dup(p->maps.v[area->file].name);
		if (frame->offset == frame->addr)
			frame->offset = frame->addr - p->maps.v[area->file].start;
	}
}

static int unwind_in_child(struct process *p, struct rd_event *ev, uint32_t *end, struct rd_err *err)
{
	char what[40];
	pid_t child;
	int sock, r;

	snprintf(what, sizeof(what), "user stacks of PID %u", p->pid);
	for (;; p->changes++) {
		r = p->namer.pid ? 1 : rd_child_start(what, true, &child, &sock, err);
		if (r == 0)
			serve_parent(sock, (pid_t)p->pid, &p->maps);
		if (r > 0 && !p->namer.pid) {
			p->stale = false;
			/* The pidfd ensures that stop_namer does not signal a process with a reused PID. */
			p->namer = (struct rd_namer){ child, (int)syscall(SYS_pidfd_open, child, 0), sock, { 0 } };
		}
		if (r > 0)
			r = query_namer(&p->namer, ev, end, err);
		/* Code that was generated since it started. */
		if (r < 0 || *end != RD_END_NO_CODE || !p->stale || p->changes == CHANGES_MAX)
			return r;
		stop_namer(&p->namer);
	}
}

int rd_ustack_resolve(struct rd_ustack *us, struct rd_event *ev, struct rd_err *err)
{
	_cleanup_free_ struct rd_rec_user *user = ev->user;
	const struct machine *machine = user ? machine_of(user) : NULL;
	struct process *p;
	uint32_t end = RD_END_NO_CHILD;
	int r = 0;

	if (user && (user->end == RD_USER_LOCKED || !machine))
		ev->ustack_end = user->end == RD_USER_LOCKED ? copy_ends[RD_USER_LOCKED] : ends[RD_END_MACHINE];
	if (!user || ev->ustack_end) {
		ev->user = NULL;
		return 0;
	}
	ev->ustack = rd_alloc(RD_USER_FRAMES, sizeof(*ev->ustack));
	ev->ustack[0].addr = ev->ustack[0].offset = user->regs[machine->pc];
	ev->n_ustack = 1;
	p = process_of(us, ev->pid);
	reread_maps(p);
	if (!p->maps.n)
		end = RD_END_NO_MAPS;
	else if (!p->given_up && us->hangs < HANGS_MAX)
		r = unwind_in_child(p, ev, &end, err);
	if (p->namer.confined.active)
		us->confined = p->namer.confined;
	if (r < 0) {
		stop_namer(&p->namer);
		p->given_up = true;
		us->hangs += r == -ETIMEDOUT;
		snprintf(err->object, sizeof(err->object), "user stacks of PID %u", p->pid);
		rd_err_hint(err, us->hangs == HANGS_MAX ? "of all further user stacks, only the first frame is shown" :
							  "only the first frame is shown");
		end = RD_END_NO_CHILD;
	}
	place_frames(p, ev);
	ev->ustack_end = end != RD_END_COPY		      ? ends[end] :
			 user->end < RD_ARRAY_SIZE(copy_ends) ? copy_ends[user->end] :
								ends[RD_END_BROKEN];
	ev->user = NULL;
	return r;
}
