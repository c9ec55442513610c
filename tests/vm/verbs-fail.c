/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fails RDMA verbs on purpose, one way per case, and says what errno the program saw. `verbs-fail --help` lists the
 * cases. Build: cc -O2 -Wall -Wextra -o verbs-fail verbs-fail.c -libverbs -lrdmacm -pthread
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#define PAGE sysconf(_SC_PAGESIZE)
/* Below every mapping of a position-independent program, above vm.mmap_min_addr. */
#define UNMAPPED ((void *)(1UL << 20))

enum needs { NOTHING, CONTEXT, PD };
enum modify { MISSING_ATTR = 1, RTR_UNREACHABLE, RTR_EMPTY_GID, RTR_REMOVED };

struct options {
	const char *dev, *cmd, *peer;
	long memlock, uid, gid_index, repeat, threads;
};

struct test;

/* What a case works with; made once, used by all threads. */
struct env {
	struct options opt;
	const struct test *test;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
};

struct test {
	const char *name, *verb, *what;
	enum needs needs;
	/* Either gives the errno, 0 if nothing failed, -1 if it could not get as far as its verb. */
	int (*run)(struct env *env);
	int (*run_cm)(struct rdma_cm_id *id, struct env *env);
	enum modify how;
};

static int unready(const char *what)
{
	fprintf(stderr, "verbs-fail: %s: %s\n", what, strerror(errno));
	return -1;
}

/* Memory registration */

static int reg_mr(struct env *env, void *addr, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(env->pd, addr, len, access);
	int err = mr ? 0 : errno;

	if (mr)
		ibv_dereg_mr(mr);
	return err;
}

static int run_reg_mr_unmapped(struct env *env)
{
	return reg_mr(env, UNMAPPED, PAGE, IBV_ACCESS_LOCAL_WRITE);
}

static int run_reg_mr_mapped(struct env *env, size_t len, int prot)
{
	void *map = mmap(NULL, len, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	if (map == MAP_FAILED)
		return unready("mmap");
	err = reg_mr(env, map, len, IBV_ACCESS_LOCAL_WRITE);
	munmap(map, len);
	return err;
}

static int run_reg_mr_readonly(struct env *env)
{
	return run_reg_mr_mapped(env, PAGE, PROT_READ);
}

static int run_reg_mr_memlock(struct env *env)
{
	long bytes = env->opt.memlock < 0 ? 16 * PAGE : env->opt.memlock;
	struct rlimit limit = { bytes, bytes };

	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		return unready("setrlimit");
	return run_reg_mr_mapped(env, bytes + 16 * PAGE, PROT_READ | PROT_WRITE);
}

/* The legacy way into the kernel: a command by write(2), which no ioctl hook sees. */
static int run_write(struct env *env)
{
	struct ib_uverbs_reg_mr_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_reg_mr cmd;
	} msg = {
		.hdr = { IB_USER_VERBS_CMD_REG_MR, sizeof(msg) / 4, sizeof(resp) / 4 },
		.cmd = {
			.response = (uintptr_t)&resp,
			.start = (uintptr_t)UNMAPPED,
			.hca_va = (uintptr_t)UNMAPPED,
			.length = PAGE,
			.pd_handle = env->pd->handle,
			.access_flags = IBV_ACCESS_LOCAL_WRITE,
		},
	};

	return write(env->ctx->cmd_fd, &msg, sizeof(msg)) < 0 ? errno : 0;
}

/* A device that goes away between opening it and the verb. */

static bool gid_is_there(struct env *env)
{
	char path[256], gid[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gids/%ld", ibv_get_device_name(env->ctx->device),
		 env->opt.gid_index);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(gid, sizeof(gid), file))
		gid[0] = '\0';
	fclose(file);
	return strspn(gid, "0:\n") < strlen(gid);
}

/* Whatever removes a soft-RoCE device sleeps until its last user has gone, so it runs beside us. Until then most verbs
 * still work; what needs the network interface fails, from the moment when the GIDs are gone. */
static int wait_until_removed(struct env *env)
{
	if (!env->opt.cmd) {
		puts("ready: remove the device");
		fflush(stdout);
	} else if (fork() == 0) {
		execl("/bin/sh", "sh", "-c", env->opt.cmd, NULL);
		_exit(127);
	}
	for (int tenths = 0; tenths < (env->opt.cmd ? 200 : 6000); tenths++) {
		if (!gid_is_there(env))
			return 0;
		usleep(100000);
	}
	errno = ETIMEDOUT;
	return unready("the device stays");
}

/* Queues */

static int run_create_cq_limit(struct env *env)
{
	struct ibv_device_attr attr;
	struct ibv_cq *cq;
	int err;

	if (ibv_query_device(env->ctx, &attr))
		return unready("ibv_query_device");
	cq = ibv_create_cq(env->ctx, attr.max_cqe + 1, NULL, NULL, 0);
	err = cq ? 0 : errno;
	if (cq)
		ibv_destroy_cq(cq);
	return err;
}

static struct ibv_qp *create_qp(struct env *env, struct ibv_cq *cq, int max_send_wr)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = max_send_wr, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(env->pd, &attr);
}

static int run_create_qp_limit(struct env *env)
{
	struct ibv_cq *cq = ibv_create_cq(env->ctx, 1, NULL, NULL, 0);
	struct ibv_device_attr attr;
	struct ibv_qp *qp;
	int err;

	if (!cq || ibv_query_device(env->ctx, &attr))
		return unready("ibv_create_cq");
	qp = create_qp(env, cq, attr.max_qp_wr + 1);
	err = qp ? 0 : errno;
	if (qp)
		ibv_destroy_qp(qp);
	ibv_destroy_cq(cq);
	return err;
}

static int to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int to_rtr(struct env *env, struct ibv_qp *qp, int gid_index)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = 17,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh = { .hop_limit = 4, .sgid_index = gid_index } },
	};

	/* An IPv4 address as a GID: ::ffff:a.b.c.d */
	attr.ah_attr.grh.dgid.raw[10] = attr.ah_attr.grh.dgid.raw[11] = 0xff;
	if (inet_pton(AF_INET, env->opt.peer ? env->opt.peer : "10.9.0.77", &attr.ah_attr.grh.dgid.raw[12]) != 1)
		return -1;
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

/* ibv_modify_qp() returns the errno. */
static int run_modify_qp(struct env *env)
{
	enum modify how = env->test->how;
	struct ibv_qp_attr only_state = { .qp_state = IBV_QPS_INIT };
	struct ibv_cq *cq = ibv_create_cq(env->ctx, 1, NULL, NULL, 0);
	struct ibv_qp *qp = cq ? create_qp(env, cq, 1) : NULL;
	int err;

	if (!qp)
		return unready("ibv_create_qp");
	if (how == MISSING_ATTR)
		err = ibv_modify_qp(qp, &only_state, IBV_QP_STATE);
	else if (to_init(qp))
		err = unready("ibv_modify_qp to INIT");
	else if (how == RTR_REMOVED && wait_until_removed(env))
		err = -1;
	else
		err = to_rtr(env, qp, how == RTR_EMPTY_GID ? 200 : env->opt.gid_index);
	ibv_destroy_qp(qp);
	ibv_destroy_cq(cq);
	return err;
}

/* Connection manager */

static int cm_bind_in_use(struct rdma_cm_id *id, struct env *env)
{
	struct sockaddr_in own = { .sin_family = AF_INET };
	struct rdma_cm_id *second = NULL;
	union ibv_gid gid;
	int err;

	/* A second bind to the wildcard address would give EADDRNOTAVAIL. */
	if (ibv_query_gid(env->ctx, 1, env->opt.gid_index, &gid))
		return unready("ibv_query_gid");
	memcpy(&own.sin_addr, &gid.raw[12], 4);
	if (rdma_bind_addr(id, (struct sockaddr *)&own))
		return unready("rdma_bind_addr");
	own.sin_port = rdma_get_src_port(id);
	if (rdma_create_id(id->channel, &second, NULL, RDMA_PS_TCP))
		return unready("rdma_create_id");
	err = rdma_bind_addr(second, (struct sockaddr *)&own) ? errno : 0;
	rdma_destroy_id(second);
	return err;
}

/* The answer comes at once where there is no route, as an event where the peer is silent. */
static int cm_resolve(struct rdma_cm_id *id, struct env *env)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(1) };
	struct rdma_cm_event *event;
	int err;

	if (inet_pton(AF_INET, env->opt.peer ? env->opt.peer : "203.0.113.1", &to.sin_addr) != 1)
		return unready(env->opt.peer);
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000))
		return errno;
	if (rdma_get_cm_event(id->channel, &event))
		return unready("rdma_get_cm_event");
	err = -event->status;
	rdma_ack_cm_event(event);
	return err;
}

static int cm_disconnect(struct rdma_cm_id *id, struct env *env)
{
	return rdma_disconnect(id) ? errno : 0;
}

static void on_alarm(int sig)
{
}

static int cm_interrupted(struct rdma_cm_id *id, struct env *env)
{
	struct sigaction action = { .sa_handler = on_alarm }; /* no SA_RESTART */
	struct itimerval soon = { .it_value = { .tv_usec = 200000 } };
	struct rdma_cm_event *event;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	return rdma_get_cm_event(id->channel, &event) ? errno : 0;
}

static int on_cm_id(struct env *env)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id = NULL;
	int err;

	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return unready("rdma_create_id");
	err = env->test->run_cm(id, env);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return err;
}

/* Twins: failures that share function and errno with those that every healthy program has, and are real. */

/* INVOKE_WRITE with only the command's number. libibverbs sends this once per device, for QUERY_DEVICE, and takes ENOSPC
 * for "this kernel has the ioctl interface"; any other command, or an argument with it, is somebody's mistake. */
static int invoke_write(struct env *env, uint64_t command, bool with_argument)
{
	uint64_t too_short = 0;
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[2];
	} msg = {
		.hdr = {
			.length = sizeof(msg) - (with_argument ? 0 : sizeof(msg.attr[1])),
			.object_id = UVERBS_OBJECT_DEVICE,
			.method_id = UVERBS_METHOD_INVOKE_WRITE,
			.num_attrs = with_argument ? 2 : 1,
			.driver_id = RDMA_DRIVER_RXE,
		},
		.attr = {
			{ .attr_id = UVERBS_ATTR_WRITE_CMD, .len = sizeof(command), .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = command },
			{ .attr_id = UVERBS_ATTR_CORE_OUT, .len = sizeof(too_short), .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = (uintptr_t)&too_short },
		},
	};

	return ioctl(env->ctx->cmd_fd, RDMA_VERBS_IOCTL, &msg) ? errno : 0;
}

static int run_twin_command(struct env *env)
{
	return invoke_write(env, IB_USER_VERBS_CMD_REG_MR, false);
}

static int run_twin_response(struct env *env)
{
	return invoke_write(env, IB_USER_VERBS_CMD_QUERY_DEVICE, true);
}

static int run_query_gid_empty(struct env *env)
{
	struct ibv_gid_entry entry;

	return ibv_query_gid_ex(env->ctx, 1, 200, &entry, 0);
}

static const struct test tests[] = {
	{ "reg-mr-unmapped", "ibv_reg_mr", "memory that is not mapped", PD, .run = run_reg_mr_unmapped },
	{ "reg-mr-readonly", "ibv_reg_mr", "local write to a read-only mapping", PD, .run = run_reg_mr_readonly },
	{ "reg-mr-memlock", "ibv_reg_mr", "more than RLIMIT_MEMLOCK (not for root: --uid)", PD,
	  .run = run_reg_mr_memlock },
	{ "create-cq-limit", "ibv_create_cq", "more entries than the device's max_cqe", CONTEXT,
	  .run = run_create_cq_limit },
	{ "create-qp-limit", "ibv_create_qp", "more work requests than max_qp_wr", PD, .run = run_create_qp_limit },
	{ "modify-qp-missing-attr", "ibv_modify_qp", "to INIT without a port", PD, .run = run_modify_qp,
	  .how = MISSING_ATTR },
	{ "modify-qp-rtr-unreachable", "ibv_modify_qp", "a GID nobody answers for", PD, .run = run_modify_qp,
	  .how = RTR_UNREACHABLE },
	{ "modify-qp-rtr-empty-gid", "ibv_modify_qp", "an own GID index without a GID (twin of devinfo's ENODATA)", PD,
	  .run = run_modify_qp, .how = RTR_EMPTY_GID },
	{ "rdma-bind-in-use", "rdma_bind_addr", "a port that is taken", CONTEXT, .run_cm = cm_bind_in_use },
	{ "rdma-resolve-nowhere", "rdma_resolve_addr", "an address without a route", NOTHING, .run_cm = cm_resolve },
	{ "rdma-disconnect-idle", "rdma_disconnect", "never connected (twin of the EINVAL in rping's disconnect)",
	  NOTHING, .run_cm = cm_disconnect },
	{ "removed-device", "ibv_modify_qp", "to RTR after --cmd COMMAND, or somebody, removed the interface", PD,
	  .run = run_modify_qp, .how = RTR_REMOVED },
	{ "burst", "ibv_reg_mr", "reg-mr-unmapped by 8 threads, 2500 times each", PD, .run = run_reg_mr_unmapped },
	{ "write2", "write(REG_MR)", "reg-mr-unmapped by write(2) instead of ioctl(2)", PD, .run = run_write },
	{ "twin-enospc-command", "ioctl(REG_MR)", "no arguments (twin of the ENOSPC at device open)", CONTEXT,
	  .run = run_twin_command },
	{ "twin-enospc-response", "ioctl(QUERY_DEVICE)", "that command, its response too short", CONTEXT,
	  .run = run_twin_response },
	{ "twin-enodata-query", "ibv_query_gid_ex", "a GID index without a GID", CONTEXT, .run = run_query_gid_empty },
	{ "twin-eintr-get-event", "rdma_get_cm_event", "a signal while waiting (twin of rping's end)", NOTHING,
	  .run_cm = cm_interrupted },
};

#define NTESTS (sizeof(tests) / sizeof(tests[0]))

/* Running them */

static int open_device(struct env *env)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; list && list[i] && !env->ctx; i++) {
		if (!env->opt.dev || !strcmp(ibv_get_device_name(list[i]), env->opt.dev))
			env->ctx = ibv_open_device(list[i]);
	}
	if (list)
		ibv_free_device_list(list);
	if (!env->ctx)
		return unready(env->opt.dev ? env->opt.dev : "no RDMA device");
	env->pd = env->test->needs == PD ? ibv_alloc_pd(env->ctx) : NULL;
	return env->test->needs == PD && !env->pd ? unready("ibv_alloc_pd") : 0;
}

/* A thread's result: the errno that every one of its calls gave, else -1. */
static void *worker(void *arg)
{
	struct env *env = arg;
	int first = 0;

	for (int i = 0; i < env->opt.repeat; i++) {
		int err = env->test->run ? env->test->run(env) : on_cm_id(env);

		if (i && err != first)
			return (void *)-1L;
		first = err;
	}
	return (void *)(long)first;
}

static int run_threads(struct env *env)
{
	pthread_t threads[256];
	long result = 0;
	void *one;

	for (int i = 0; i < env->opt.threads; i++) {
		if (pthread_create(&threads[i], NULL, worker, env))
			return unready("pthread_create");
	}
	for (int i = 0; i < env->opt.threads; i++) {
		pthread_join(threads[i], &one);
		if (i && (long)one != result)
			one = (void *)-1L;
		result = (long)one;
	}
	return result;
}

static bool run_test(const struct test *test, struct options opt)
{
	struct env env = { .opt = opt, .test = test };
	bool burst = !strcmp(test->name, "burst");
	int err;

	env.opt.repeat = opt.repeat ? opt.repeat : burst ? 2500 : 1;
	env.opt.threads = opt.threads ? opt.threads : burst ? 8 : 1;
	err = test->needs == NOTHING ? 0 : open_device(&env);
	/* A single call stays in the main thread, where a tracer's user stack and comm are plainest. */
	if (!err)
		err = env.opt.threads == 1 ? (int)(long)worker(&env) : run_threads(&env);
	if (err > 0)
		printf("%s: %s (%s)", test->verb, strerror(err), strerrorname_np(err));
	else
		printf("%s: %s", test->verb, err ? "could not be tried, or calls differed" : "did not fail");
	if (env.opt.repeat * env.opt.threads > 1)
		printf(", %ld times", env.opt.repeat * env.opt.threads);
	puts("");
	fflush(stdout);
	if (env.pd)
		ibv_dealloc_pd(env.pd);
	if (env.ctx)
		ibv_close_device(env.ctx);
	return err > 0;
}

static int usage(FILE *to)
{
	fprintf(to, "Usage: verbs-fail CASE... [OPTION]...      Exit status 0: every case failed with an errno\n\n"
		    "  --dev NAME      RDMA device (first)          --repeat N    calls per thread (1)\n"
		    "  --gid-index N   own GID, IPv4 (1)            --threads N   threads (1)\n"
		    "  --peer ADDRESS  for rtr-unreachable and resolve\n"
		    "  --memlock BYTES RLIMIT_MEMLOCK (65536)       --uid N       become that user first\n"
		    "  --cmd COMMAND   what removes the device\n\n");
	for (size_t i = 0; i < NTESTS; i++)
		fprintf(to, "  %-26s %s: %s\n", tests[i].name, tests[i].verb, tests[i].what);
	fprintf(to, "  %-26s all but reg-mr-memlock, removed-device and burst\n", "all");
	return to == stdout ? 0 : 2;
}

static bool in_all(const struct test *test)
{
	return test->run != run_reg_mr_memlock && test->how != RTR_REMOVED && strcmp(test->name, "burst");
}

static int run_named(const char *name, struct options opt)
{
	bool all = !strcmp(name, "all"), found = false, good = true;

	for (size_t i = 0; i < NTESTS; i++) {
		if (all ? !in_all(&tests[i]) : strcmp(tests[i].name, name))
			continue;
		found = true;
		good = run_test(&tests[i], opt) && good;
	}
	if (!found) {
		fprintf(stderr, "verbs-fail: unknown case '%s' (see --help)\n", name);
		return 2;
	}
	return good ? 0 : 1;
}

/* Every option has a value: text, or a number. */
static bool set_option(struct options *opt, const char *name, const char *value)
{
	const struct {
		const char *name, **text;
		long *number;
	} known[] = {
		{ "--dev", &opt->dev, NULL },	      { "--cmd", &opt->cmd, NULL },
		{ "--peer", &opt->peer, NULL },	      { "--repeat", NULL, &opt->repeat },
		{ "--threads", NULL, &opt->threads }, { "--gid-index", NULL, &opt->gid_index },
		{ "--uid", NULL, &opt->uid },	      { "--memlock", NULL, &opt->memlock },
	};

	for (size_t i = 0; value && i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(name, known[i].name))
			continue;
		if (known[i].text)
			*known[i].text = value;
		else
			*known[i].number = atol(value);
		return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct options opt = { .memlock = -1, .uid = -1, .gid_index = 1 };
	const char *names[64];
	int count = 0, worst = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help"))
			return usage(stdout);
		if (argv[i][0] != '-' && count < 64)
			names[count++] = argv[i];
		else if (set_option(&opt, argv[i], argv[i + 1]))
			i++;
		else
			return usage(stderr);
	}
	if (!count || opt.repeat < 0 || opt.threads < 0 || opt.threads > 256)
		return usage(stderr);
	if (opt.uid >= 0 && (setgroups(0, NULL) || setgid(opt.uid) || setuid(opt.uid)))
		return unready("setuid"), 2;
	for (int i = 0; i < count; i++) {
		int status = run_named(names[i], opt);

		worst = status > worst ? status : worst;
	}
	return worst;
}
