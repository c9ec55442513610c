// SPDX-License-Identifier: GPL-2.0-or-later
#include "traced.h"

#include <elf.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "source/opener/child.h"

#ifdef __x86_64__
#define PC 16
#define SP 19
#else
#define PC 32
#define SP 31
#endif

__attribute__((noinline)) int traced_below(int depth)
{
	volatile int more = depth ? traced_below(depth - 1) : pause();

	return more + 1;
}

pid_t traced_start(int depth)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			traced_below(depth);
	}
	return pid;
}

void traced_end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

struct rd_rec_user *traced_copy(pid_t pid)
{
	struct rd_rec_user *user = rd_alloc(1, sizeof(*user) + RD_USER_PARTS * RD_USER_PART);
	struct iovec regs = { user->regs, sizeof(user->regs) }, from, to;
	struct rd_child_state state = { 0 };

	while (!state.known || state.state != 'S') {
		rd_child_look(pid, &state);
		usleep(1000);
	}
	assert_int_equal(ptrace(PTRACE_ATTACH, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &regs), 0);
	user->end = RD_USER_LIMIT;
	while (user->size < RD_USER_PARTS * RD_USER_PART) {
		uint64_t at = user->regs[SP] + user->size;

		from = (struct iovec){ (void *)(uintptr_t)at, RD_USER_PART - at % RD_USER_PART };
		if (from.iov_len > RD_USER_PARTS * RD_USER_PART - user->size)
			from.iov_len = RD_USER_PARTS * RD_USER_PART - user->size;
		to = (struct iovec){ (uint8_t *)(user + 1) + user->size, from.iov_len };
		if (process_vm_readv(pid, &to, 1, &from, 1, 0) != (ssize_t)from.iov_len) {
			user->end = RD_USER_PAGED_OUT;
			break;
		}
		user->size += (__u32)from.iov_len;
	}
	assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	return user;
}

uint64_t *traced_pc(struct rd_rec_user *user)
{
	return (uint64_t *)&user->regs[PC];
}

struct rd_ustack *traced_ustack(void)
{
	struct rd_ustack *us = NULL;
	struct rd_err err = { 0 };

	if (rd_ustack_create(&us, &err) < 0)
		SKIP("no libdw");
	return us;
}

struct rd_event traced_resolve(struct rd_ustack *us, pid_t pid, const struct rd_rec_user *user, int wanted)
{
	size_t size = sizeof(*user) + user->size;
	struct rd_event ev = { .pid = (uint32_t)pid, .user = rd_alloc(1, size) };
	struct rd_err err = { 0 };

	memcpy(ev.user, user, size);
	assert_int_equal(rd_ustack_resolve(us, &ev, &err), wanted);
	ASSERT_EACH(IS(err.code, -wanted), IS(ev.user == NULL, true));
	return ev;
}

size_t traced_find(const struct rd_event *ev, const char *function)
{
	size_t i = 0;

	while (i < ev->n_ustack && (!ev->ustack[i].function || strcmp(ev->ustack[i].function, function) != 0))
		i++;
	return i;
}
