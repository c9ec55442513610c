/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of the process and of its control group.
 */
#include "fault.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Descriptors: as many as are open, and `more`. */
static int limit_descriptors(int more)
{
	int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct rlimit limit = { lowest + more, lowest + more };

	close(lowest);
	if (setrlimit(RLIMIT_NOFILE, &limit))
		return unready("setrlimit");
	truth("nofile", "%d", lowest + more);
	return 0;
}

/* One descriptor, for the device; the one for its events is the next. */
static int no_descriptor_for_events(struct env *env)
{
	struct ibv_device *dev = find_device(env->dev);

	if (!dev || limit_descriptors(1))
		return unready(env->dev);
	return ibv_open_device(dev) ? 0 : errno;
}

static int no_descriptor_for_channel(struct env *env)
{
	if (limit_descriptors(0))
		return -1;
	return ibv_create_comp_channel(env->ctx) ? 0 : errno;
}

/* Control groups (version 2) */

#define CGROUPS "/sys/fs/cgroup"

static char parent[64], own[96];

/* /faultbench-PID, and /faultbench-PID/own below it. NULL leaves a limit as it is. */
static int make_groups(struct env *env, const char *parent_limit, const char *own_limit)
{
	char text[128];

	snprintf(parent, sizeof(parent), "/faultbench-%d", getpid());
	snprintf(own, sizeof(own), "%s/own", parent);
	if (write_file("+rdma", CGROUPS "/cgroup.subtree_control"))
		return -1;
	snprintf(text, sizeof(text), CGROUPS "%s", parent);
	if (mkdir(text, 0755) || write_file("+rdma", CGROUPS "%s/cgroup.subtree_control", parent))
		return unready(text);
	snprintf(text, sizeof(text), CGROUPS "%s", own);
	if (mkdir(text, 0755))
		return unready(text);
	if (parent_limit) {
		snprintf(text, sizeof(text), "%s %s", env->dev, parent_limit);
		if (write_file(text, CGROUPS "%s/rdma.max", parent))
			return -1;
	}
	if (own_limit) {
		snprintf(text, sizeof(text), "%s %s", env->dev, own_limit);
		if (write_file(text, CGROUPS "%s/rdma.max", own))
			return -1;
	}
	return 0;
}

static int enter(const char *group)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	return write_file(pid, CGROUPS "%s/cgroup.procs", group);
}

static void truth_group(const char *group, const char *resource, int max)
{
	truth("cgroup", "%s", group);
	truth("own_cgroup", "%s", own);
	truth("resource", "%s", resource);
	truth("max", "%d", max);
	truth("current", "%d", max);
}

/* Three objects where two are allowed: PD and CQ, and the memory of the call. */
static int third_object(struct env *env, const char *group)
{
	char *map = pages(1, PROT_READ | PROT_WRITE);

	if (!map || need(env, CQ))
		return -1;
	truth_group(group, "hca_object", 2);
	if (!strcmp(env->fault->verb, "ibv_create_qp"))
		return create_qp(env, IBV_QPT_RC) ? 0 : errno;
	return ibv_reg_mr(env->pd, map, PAGE, IBV_ACCESS_LOCAL_WRITE) ? 0 : errno;
}

static int own_limit(struct env *env)
{
	if (make_groups(env, NULL, "hca_object=2") || enter(own))
		return -1;
	return third_object(env, own);
}

static int parents_limit(struct env *env)
{
	if (make_groups(env, "hca_object=2", NULL) || enter(own))
		return -1;
	return third_object(env, parent);
}

/* Another process below the same parent has it all. */
static int siblings(struct env *env)
{
	char sibling[128], done = 0;
	int ready[2];

	if (make_groups(env, "hca_object=2", NULL) || pipe(ready))
		return -1;
	snprintf(sibling, sizeof(sibling), CGROUPS "%s/sibling", parent);
	if (mkdir(sibling, 0755))
		return unready(sibling);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		done = !enter(sibling + strlen(CGROUPS)) && !need(env, CQ);
		if (write(ready[1], &done, 1) == 1)
			pause();
		_exit(1);
	}
	if (read(ready[0], &done, 1) != 1 || !done || enter(own) || need(env, CONTEXT))
		return unready("sibling");
	truth_group(parent, "hca_object", 2);
	truth("own_current", "0");
	return ibv_alloc_pd(env->ctx) ? 0 : errno;
}

/* Handles: contexts of the device. `arg`: how many are allowed. */
static int handles(struct env *env)
{
	char limit[32];
	struct ibv_device *dev = find_device(env->dev);

	snprintf(limit, sizeof(limit), "hca_handle=%d", env->fault->arg);
	if (!dev || make_groups(env, NULL, limit) || enter(own))
		return -1;
	for (int i = 0; i < env->fault->arg; i++)
		if (!ibv_open_device(dev))
			return unready(env->dev);
	truth_group(own, "hca_handle", env->fault->arg);
	return ibv_open_device(dev) ? 0 : errno;
}

const struct fault limit_faults[] = {
	{ "open-no-descriptor", "ibv_open_device", "descriptors-exhausted", "no descriptor left for its events",
	  NOTHING, no_descriptor_for_events, 0 },
	{ "channel-no-descriptor", "ibv_create_comp_channel", "descriptors-exhausted", "no descriptor left", CONTEXT,
	  no_descriptor_for_channel, 0 },
	{ "cgroup-own", "ibv_reg_mr", "cgroup-rdma-limit", "a third object, the own group allows two", NOTHING,
	  own_limit, 0 },
	{ "cgroup-own-qp", "ibv_create_qp", "cgroup-rdma-limit", "a third object, the own group allows two", NOTHING,
	  own_limit, 0 },
	{ "cgroup-parent", "ibv_reg_mr", "cgroup-rdma-limit", "a third object, the parent group allows two", NOTHING,
	  parents_limit, 0 },
	{ "cgroup-sibling", "ibv_alloc_pd", "cgroup-rdma-limit", "a first object, a sibling has all of the parent's",
	  NOTHING, siblings, 0 },
	{ "cgroup-handle", "ibv_open_device", "cgroup-rdma-limit", "a second context, one is allowed", NOTHING, handles,
	  1 },
	{ "cgroup-no-handle", "ibv_open_device", "cgroup-rdma-limit", "a context, none is allowed", NOTHING, handles,
	  0 },
	{ 0 },
};
