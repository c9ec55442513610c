/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User stacks, where a file has taken over what parses it: this program has a libdw of its own, which does what the first frame's
 * address says, and tells as a function's name what came of it.
 */
#include "unit.h"

#include <elfutils/libdwfl.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/late.h"
#include <linux/types.h>

#include "bpf/record.h"
#include "trace/symbols/ustack-priv.h"

enum fault { ATTACK = 1, HANG, DIE, LONG, TOO_MUCH, TOO_LITTLE, UNKNOWN_KIND, ASK_DEBUG, END_NOW, UNKNOWN_END, GOOD };

static struct file {
	int fd;
} * files[64];
static void *shared;
static int secret;
static pid_t attacked;

static const char *result(long r)
{
	return r < 0 ? rd_errno_name(errno) : "done";
}

static long connect_somewhere(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(9),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	return fd < 0 ? fd : connect(fd, (struct sockaddr *)&to, sizeof(to));
}

static const char *attack(void)
{
	static char text[512];
	char *const argv[] = { "true", NULL };
	int n = 0;

#define TRY(name, call) n += snprintf(text + n, sizeof(text) - (size_t)n, "%s:%s ", name, result((long)(call)))
	TRY("shadow", open("/etc/shadow", O_RDONLY));
	TRY("read", open("/etc/passwd", O_RDONLY));
	TRY("write", open("/tmp/rd-ustack-fault", O_WRONLY | O_CREAT, 0600));
	TRY("exec", execv("/bin/true", argv));
	TRY("fork", fork());
	TRY("connect", connect_somewhere());
	TRY("kill", kill(attacked, SIGTERM));
	TRY("ptrace", ptrace(PTRACE_ATTACH, attacked, NULL, NULL));
	TRY("type", ioctl(STDIN_FILENO, TIOCSTI, "x"));
	TRY("root", setuid(0));
	TRY("secret", read(secret, text + 500, 1));
	TRY("shared", syscall(SYS_rt_sigprocmask, SIG_BLOCK, shared, NULL, 8));
	return text;
}

/* The only socket that is open. */
static int own_end(void)
{
	struct stat st;
	int fd = STDERR_FILENO + 1;

	while (fd < 1024 && (fstat(fd, &st) < 0 || !S_ISSOCK(st.st_mode)))
		fd++;
	return fd;
}

static void say(const void *data, size_t size)
{
	if (write(own_end(), data, size) != (ssize_t)size)
		_exit(1);
}

static void say_head(uint32_t kind, uint32_t size)
{
	struct rd_namer_head head = { kind, size };

	say(&head, sizeof(head));
}

static const char *long_name(void)
{
	static char text[2 * RD_NAMED_TEXT];

	memset(text, 'x', sizeof(text) - 1);
	return text;
}

/* By a build-id that would lead out of the folder: no file comes back. */
static const char *ask_debug(void)
{
	char byte = 1;

	say_head(RD_NAMER_DEBUG, 10);
	say("../../../x", 10);
	return read(own_end(), &byte, 1) == 1 && !byte ? "refused" : "?";
}

/* A stack that begins elsewhere, after which nothing more is to be said. */
static void end_now(void)
{
	const struct {
		uint32_t end;
		struct rd_named named;
	} __attribute__((packed)) says = { RD_END_NONE, { .addr = 1 } };

	say_head(RD_NAMER_FRAMES, sizeof(says));
	say(&says, sizeof(says));
}

/* No frame, and a reason that does not exist. */
static void say_unknown_end(void)
{
	const uint32_t end = RD_ENDS;

	say_head(RD_NAMER_FRAMES, sizeof(end));
	say(&end, sizeof(end));
}

static const char *do_fault(enum fault fault)
{
	switch (fault) {
	case ATTACK:
		return attack();
	case HANG:
		for (;;)
			pause();
	case DIE:
		raise(SIGKILL);
		return NULL;
	case LONG:
		return long_name();
	case TOO_MUCH:
		say_head(RD_NAMER_FRAMES, UINT32_MAX);
		return NULL;
	case TOO_LITTLE:
		say_head(RD_NAMER_FRAMES, 0);
		return NULL;
	case UNKNOWN_KIND:
		say_head(4711, 0);
		return NULL;
	case ASK_DEBUG:
		return ask_debug();
	case END_NOW:
		end_now();
		return NULL;
	case UNKNOWN_END:
		say_unknown_end();
		return NULL;
	default:
		return "good";
	}
}

/* libdw, as far as it is called. */
Dwfl *dwfl_begin(const Dwfl_Callbacks *callbacks)
{
	return (Dwfl *)callbacks;
}

Dwfl_Module *dwfl_report_module(Dwfl *dwfl, const char *name, GElf_Addr start, GElf_Addr end)
{
	return (Dwfl_Module *)dwfl;
}

int dwfl_report_end(Dwfl *dwfl, int (*removed)(Dwfl_Module *, void *, const char *, Dwarf_Addr, void *), void *arg)
{
	return 0;
}

const char *dwfl_module_info(Dwfl_Module *mod, void ***userdata, Dwarf_Addr *start, Dwarf_Addr *end, Dwarf_Addr *dwbias,
			     Dwarf_Addr *symbias, const char **mainfile, const char **debugfile)
{
	static size_t n;

	if (userdata)
		*userdata = (void **)&files[n++ % RD_ARRAY_SIZE(files)];
	return "a module";
}

Dwfl_Module *dwfl_addrmodule(Dwfl *dwfl, Dwarf_Addr addr)
{
	return (Dwfl_Module *)dwfl;
}

static uint64_t base(void)
{
	return (uint64_t)(uintptr_t)qsort;
}

const char *dwfl_module_addrinfo(Dwfl_Module *mod, GElf_Addr addr, GElf_Off *offset, GElf_Sym *sym, GElf_Word *section,
				 Elf **elf, Dwarf_Addr *bias)
{
	*offset = 0;
	return do_fault((enum fault)(addr - base()));
}

int dwfl_module_build_id(Dwfl_Module *mod, const unsigned char **bits, GElf_Addr *vaddr)
{
	return 0;
}

Elf *dwfl_module_getelf(Dwfl_Module *mod, GElf_Addr *bias)
{
	return NULL;
}

Dwfl_Line *dwfl_module_getsrc(Dwfl_Module *mod, Dwarf_Addr addr)
{
	return NULL;
}

const char *dwfl_lineinfo(Dwfl_Line *line, Dwarf_Addr *addr, int *number, int *column, Dwarf_Word *mtime,
			  Dwarf_Word *length)
{
	return NULL;
}

/* The stack has two frames: the instruction pointer, and where a call of this program returns to. */
static const Dwfl_Thread_Callbacks *thread_callbacks;
static Dwarf_Addr pcs[2];

bool dwfl_attach_state(Dwfl *dwfl, Elf *elf, pid_t pid, const Dwfl_Thread_Callbacks *called, void *arg)
{
	thread_callbacks = called;
	return true;
}

void dwfl_thread_state_register_pc(Dwfl_Thread *thread, Dwarf_Word pc)
{
	pcs[0] = pc;
}

bool dwfl_thread_state_registers(Dwfl_Thread *thread, int first, unsigned n, const Dwarf_Word *regs)
{
	return n > 0;
}

int dwfl_getthread_frames(Dwfl *dwfl, pid_t tid, int (*callback)(Dwfl_Frame *, void *), void *arg)
{
	int r = DWARF_CB_OK;

	thread_callbacks->set_initial_registers((Dwfl_Thread *)dwfl, NULL);
	for (size_t i = 0; i < RD_ARRAY_SIZE(pcs) && r == DWARF_CB_OK; i++)
		r = callback((Dwfl_Frame *)&pcs[i], arg);
	return r;
}

bool dwfl_frame_pc(Dwfl_Frame *frame, Dwarf_Addr *pc, bool *exact)
{
	*pc = *(Dwarf_Addr *)frame;
	*exact = false;
	return true;
}

Dwarf_CFI *dwfl_module_eh_cfi(Dwfl_Module *mod, Dwarf_Addr *bias)
{
	*bias = 0;
	return (Dwarf_CFI *)mod;
}

Dwarf_CFI *dwfl_module_dwarf_cfi(Dwfl_Module *mod, Dwarf_Addr *bias)
{
	return dwfl_module_eh_cfi(mod, bias);
}

int dwarf_cfi_addrframe(Dwarf_CFI *cfi, Dwarf_Addr addr, Dwarf_Frame **frame)
{
	*frame = NULL;
	return 0;
}

__attribute__((noinline)) static Dwarf_Addr called_from(void)
{
	return (Dwarf_Addr)(uintptr_t)__builtin_return_address(0);
}

static struct rd_ustack *us;
static pid_t pids[4];

static int begin(void **state)
{
	us = NULL;
	pcs[1] = called_from();
	if (rd_ustack_create(&us, NULL) < 0)
		return 1;
	for (size_t i = 0; i < RD_ARRAY_SIZE(pids); i++) {
		pids[i] = fork();
		while (pids[i] == 0)
			pause();
	}
	return 0;
}

static int end(void **state)
{
	rd_ustack_destroy(us);
	for (size_t i = 0; i < RD_ARRAY_SIZE(pids); i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		continue;
	return 0;
}

static int resolve(pid_t pid, uint64_t pc, struct rd_event *ev)
{
	struct rd_err err = { 0 };
	int r;

	*ev = (struct rd_event){ .pid = (uint32_t)pid, .user = calloc(1, sizeof(*ev->user)) };
#ifdef __x86_64__
	ev->user->regs[16] = pc;
#else
	ev->user->regs[32] = pc;
#endif
	r = rd_ustack_resolve(us, ev, &err);
	assert_int_equal(err.code, -r);
	return r;
}

/* What the name of the first frame came to be; NULL: none. The caller frees it. */
static char *ask(pid_t pid, enum fault fault, int r)
{
	_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };

	assert_int_equal(resolve(pid, base() + fault, &ev), r);
	assert_true(ev.n_ustack > 0);
	/* What the kernel said is there in any case. */
	for (size_t i = 0; i < ev.n_ustack; i++) {
		assert_non_null(ev.ustack[i].object);
		assert_true(ev.ustack[i].offset > 0 || ev.ustack[i].function);
		assert_null(ev.ustack[i].file);
	}
	assert_int_equal(ev.ustack[0].addr, base() + fault);
	assert_int_equal(ev.n_ustack, ev.ustack_end ? 1 : 2);
	return ev.ustack[0].function ? strdup(ev.ustack[0].function) : NULL;
}

TEST_WITH(whoever_parses_can_do_nothing, begin, end)
{
	_cleanup_free_ char *said = NULL;
	static const char *const tried[] = { "shadow",	"read", "write",  "exec", "fork",
					     "connect", "kill", "ptrace", "type", "root" };
	char wanted[32];
	int fd;

#ifdef RD_SANITIZED
	SKIP("sanitizers leave out seccomp");
#endif
	fd = open("/etc/passwd", O_RDONLY);
	secret = fcntl(fd, F_DUPFD, 900);
	close(fd);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	attacked = pids[3];
	said = ask(pids[0], ATTACK, 0);
	close(secret);
	assert_non_null(said);
	print_message("# %s\n", said);
	for (size_t i = 0; i < RD_ARRAY_SIZE(tried); i++) {
		snprintf(wanted, sizeof(wanted), "%s:EPERM ", tried[i]);
		assert_non_null(strstr(said, wanted));
	}
	ASSERT_HAS(said, "secret:EBADF ", "shared:EFAULT ");
	assert_int_equal(waitpid(attacked, NULL, WNOHANG), 0);
	munmap(shared, 4096);
}

TEST_WITH(one_that_dies_costs_its_own_names_only, begin, end)
{
	_cleanup_free_ char *good = NULL;

	assert_null(ask(pids[0], DIE, -ECHILD));
	assert_null(ask(pids[0], GOOD, 0));
	good = ask(pids[1], GOOD, 0);
	assert_string_equal(good, "good");
}

TEST_WITH(what_hangs_is_given_up_and_three_times_only, begin, end)
{
	_cleanup_free_ char *good = ask(pids[3], GOOD, 0);

	assert_string_equal(good, "good");
	for (size_t i = 0; i < 3; i++)
		assert_null(ask(pids[i], HANG, -ETIMEDOUT));
	assert_null(ask(pids[0], HANG, 0));
	assert_null(ask(pids[3], GOOD, 0));
}

TEST_WITH(answers_are_foreign, begin, end)
{
	_cleanup_free_ char *name = ask(pids[0], LONG, 0), *refused = ask(pids[0], ASK_DEBUG, 0);

	ASSERT_EACH(IS(strlen(name), RD_NAMED_TEXT), READS(refused, "refused"));
	assert_null(ask(pids[0], TOO_MUCH, -EPROTO));
	assert_null(ask(pids[1], TOO_LITTLE, -EPROTO));
	assert_null(ask(pids[2], UNKNOWN_KIND, -EPROTO));
	assert_null(ask(pids[3], UNKNOWN_END, -EPROTO));
}

TEST_WITH(whoever_parses_cannot_take_away_the_first_frame, begin, end)
{
	assert_null(ask(pids[0], END_NOW, -EPROTO));
}

/* Maps this program once more for each byte that comes, and says where. */
static _Noreturn void map_again_and_again(int in, int out)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	char byte;
	void *at;

	while (read(in, &byte, 1) == 1) {
		at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (write(out, &at, sizeof(at)) != sizeof(at))
			break;
	}
	_exit(0);
}

/* Each time another process has to read the files, which is work that a traced process can make. */
TEST_WITH(maps_that_change_are_followed_so_many_times, begin, end)
{
	int in[2], out[2];
	unsigned known = 0;
	pid_t pid;

	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (pid == 0) {
		close(in[1]);
		map_again_and_again(in[0], out[1]);
	}
	for (unsigned i = 0; i < 80; i++) {
		_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
		uint64_t at;

		assert_int_equal(write(in[1], "", 1), 1);
		assert_int_equal(read(out[0], &at, sizeof(at)), sizeof(at));
		assert_int_equal(resolve(pid, at, &ev), 0);
		known += ev.ustack[0].object != NULL;
	}
	close(in[1]);
	assert_true(known >= 64 && known < 70);
}
