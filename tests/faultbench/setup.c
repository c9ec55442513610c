/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the faults work with: a device and its objects, a network interface of our own, files of the kernel.
 */
#include "fault.h"
#include <grp.h>
#include <stdarg.h>

/* From a list that is kept; NULL: none has this name. */
struct ibv_device *find_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			return list[i];
	return NULL;
}

static struct ibv_context *open_named(const char *name)
{
	struct ibv_device *dev = find_device(name);

	return dev ? ibv_open_device(dev) : NULL;
}

int open_device(struct env *env, const char *name)
{
	env->dev = name;
	env->ctx = open_named(name);
	if (!env->ctx || ibv_query_device(env->ctx, &env->attr))
		return unready(name);
	return 0;
}

struct ibv_context *open_again(struct env *env)
{
	struct ibv_context *ctx = open_named(env->dev);

	if (!ctx)
		unready(env->dev);
	return ctx;
}

int need(struct env *env, enum needs what)
{
	if (what >= CONTEXT && !env->ctx && open_device(env, env->dev))
		return -1;
	if (what >= PD && !env->pd) {
		env->pd = ibv_alloc_pd(env->ctx);
		if (!env->pd)
			return unready("ibv_alloc_pd");
	}
	if (what >= CQ && !env->cq) {
		env->cq = ibv_create_cq(env->ctx, 64, NULL, NULL, 0);
		if (!env->cq)
			return unready("ibv_create_cq");
	}
	if (what >= QP && !env->qp) {
		env->qp = create_qp(env, IBV_QPT_RC);
		if (!env->qp)
			return unready("ibv_create_qp");
	}
	return what > QP ? to_state(env, env->qp, what) : 0;
}

/* What a process may do is asked when the file is opened, for some commands: see ib_safe_file_access() in the kernel. */
int become_nobody(void)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		return unready("setuid");
	return 0;
}

int shell(const char *format, ...)
{
	char command[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	errno = 0;
	return system(command) ? unready(command) : 0;
}

int write_file(const char *text, const char *format, ...)
{
	char path[256];
	va_list args;
	int fd, saved;
	bool good;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return unready(path);
	good = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	saved = errno;
	close(fd);
	errno = saved;
	return good ? 0 : unready(path);
}

/* By sysfs, since a query of an index without a GID would be a failing verb. */
int read_gid(const char *dev, long index, union ibv_gid *gid)
{
	char path[256], text[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gids/%ld", dev, index);
	file = fopen(path, "re");
	if (file && !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	text[strcspn(text, "\n")] = '\0';
	if (inet_pton(AF_INET6, text, gid) != 1)
		return unready(path);
	for (int i = 0; i < 16; i++)
		if (gid->raw[i])
			return 0;
	errno = ENODATA;
	return -1;
}

void truth_gid(const char *key, const union ibv_gid *gid)
{
	char text[INET6_ADDRSTRLEN];

	truth(key, "%s", inet_ntop(AF_INET6, gid->raw, text, sizeof(text)));
}

void *pages(size_t count, int prot)
{
	char *map = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	memset(map, 1, count * PAGE);
	if (mprotect(map, count * PAGE, prot))
		return NULL;
	return map;
}

void *before_hole(size_t bytes)
{
	char *map = pages(2, PROT_READ | PROT_WRITE);

	if (!map || munmap(map + PAGE, PAGE))
		return NULL;
	return map + PAGE - bytes;
}

/* An interface (dummy, which needs no neighbours) with an address, and soft-RoCE on it, for what we then break. Nothing
 * is cleaned up after a fault, so it is made anew. */
int private_device(struct env *env, bool with_rdma)
{
	union ibv_gid gid;

	if (shell("modprobe dummy numdummies=0; ip link del " PRIVATE_NETDEV " 2>/dev/null; "
		  "ip link add " PRIVATE_NETDEV " type dummy && "
		  "sysctl -qw net.ipv6.conf." PRIVATE_NETDEV ".accept_dad=0 && "
		  "ip address add " PRIVATE_IP "/24 dev " PRIVATE_NETDEV " && ip link set " PRIVATE_NETDEV " up"))
		return -1;
	if (!with_rdma)
		return 0;
	if (shell("rdma link add " PRIVATE_DEV " type rxe netdev " PRIVATE_NETDEV))
		return -1;
	for (int tenths = 0; tenths < 100; tenths++) {
		if (!read_gid(PRIVATE_DEV, 1, &gid) && gid.raw[10] == 0xff)
			return 0;
		usleep(100000);
	}
	return unready(PRIVATE_DEV " has no GID");
}
