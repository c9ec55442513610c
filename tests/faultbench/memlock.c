/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limit of pinned memory, in each way it can be met. Each registration counts whole pages, and memory that is
 * registered twice counts twice.
 */
#include "fault.h"
#include <sched.h>
#include <sys/resource.h>

static int limit_to(rlim_t bytes)
{
	struct rlimit limit = { bytes, bytes };

	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		return unready("setrlimit");
	truth("memlock_bytes", "%lu", (unsigned long)bytes);
	return 0;
}

/* `pinned`: what `requested` meets, both whole pages. */
static int reg_mr(struct env *env, char *addr, size_t length, size_t pinned, size_t requested)
{
	truth("address", "%p", addr);
	truth("length", "%zu", length);
	truth("pinned_bytes", "%zu", pinned);
	truth("requested_bytes", "%zu", requested);
	return ibv_reg_mr(env->pd, addr, length, IBV_ACCESS_LOCAL_WRITE) ? 0 : errno;
}

static int before(struct env *env, char *addr, size_t length)
{
	return ibv_reg_mr(env->pd, addr, length, IBV_ACCESS_LOCAL_WRITE) ? 0 : unready("ibv_reg_mr");
}

static int at_once(struct env *env)
{
	char *map = pages(32, PROT_READ | PROT_WRITE);

	if (!map || limit_to(16 * PAGE) || become_nobody())
		return -1;
	return reg_mr(env, map, 32 * PAGE, 0, 32 * PAGE);
}

static int by_one_page(struct env *env)
{
	char *map = pages(17, PROT_READ | PROT_WRITE);

	if (!map || limit_to(16 * PAGE) || become_nobody() || before(env, map, 16 * PAGE))
		return -1;
	return reg_mr(env, map + 16 * PAGE, 1, 16 * PAGE, PAGE);
}

static int by_sum(struct env *env)
{
	char *map = pages(20, PROT_READ | PROT_WRITE);

	if (!map || limit_to(16 * PAGE) || become_nobody() || before(env, map, 12 * PAGE))
		return -1;
	return reg_mr(env, map + 12 * PAGE, 8 * PAGE, 12 * PAGE, 8 * PAGE);
}

static int twice(struct env *env)
{
	char *map = pages(10, PROT_READ | PROT_WRITE);

	if (!map || limit_to(16 * PAGE) || become_nobody() || before(env, map, 10 * PAGE))
		return -1;
	return reg_mr(env, map, 10 * PAGE, 10 * PAGE, 10 * PAGE);
}

/* Two pages of bytes on three pages of memory, six times: 48 KiB of buffers, 72 KiB of pages. */
static int unaligned(struct env *env)
{
	char *map = pages(24, PROT_READ | PROT_WRITE);

	if (!map || limit_to(16 * PAGE) || become_nobody())
		return -1;
	for (int i = 0; i < 5; i++)
		if (before(env, map + i * 3 * PAGE + PAGE / 2, 2 * PAGE))
			return -1;
	return reg_mr(env, map + 15 * PAGE + PAGE / 2, 2 * PAGE, 15 * PAGE, 3 * PAGE);
}

static int zero(struct env *env)
{
	char *map = pages(1, PROT_READ | PROT_WRITE);

	if (!map || limit_to(0) || become_nobody())
		return -1;
	return reg_mr(env, map, PAGE, 0, PAGE);
}

/* Root of a user namespace has CAP_IPC_LOCK there, which is not the one that counts. */
static int in_user_namespace(struct env *env)
{
	char *map = pages(32, PROT_READ | PROT_WRITE);
	size_t limit = env->fault->arg * PAGE;

	if (!map || limit_to(limit))
		return -1;
	if (unshare(CLONE_NEWUSER))
		return unready("unshare");
	truth("user_namespace", "1");
	truth("cap_ipc_lock_in_namespace", "1");
	return reg_mr(env, map, 32 * PAGE, 0, 32 * PAGE);
}

const struct fault memlock_faults[] = {
	{ "memlock-at-once", "ibv_reg_mr", "memlock-limit", "twice the limit", PD, at_once, 0 },
	{ "memlock-by-sum", "ibv_reg_mr", "memlock-limit", "over the limit with what is registered already", PD, by_sum,
	  0 },
	{ "memlock-one-byte", "ibv_reg_mr", "memlock-limit", "one byte, the limit reached exactly", PD, by_one_page, 0 },
	{ "memlock-twice", "ibv_reg_mr", "memlock-limit", "the same memory again, which counts again", PD, twice, 0 },
	{ "memlock-unaligned", "ibv_reg_mr", "memlock-limit", "buffers below the limit, their pages above", PD,
	  unaligned, 0 },
	{ "memlock-userns", "ibv_reg_mr", "memlock-limit", "root of a user namespace", PD, in_user_namespace, 16 },
	{ "memlock-zero", "ibv_reg_mr", "memlock-zero", "a limit of 0", PD, zero, 0 },
	{ "memlock-zero-userns", "ibv_reg_mr", "memlock-zero", "a limit of 0, root of a user namespace", PD,
	  in_user_namespace, 0 },
	{ 0 },
};
