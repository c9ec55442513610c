/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two ends of a connection, A (this process) and B (its child), that work until something goes wrong and then stay as they
 * are, so that others can look at them. With --alone, one end; the other one runs on another host. `qp-play --help` lists
 * the options. Says, a line each:
 *   A pid 812 qpn 17          both ends, once they exist
 *   A modify RTR ENODATA      a transition that failed; that end then stays where it is
 *   ready                     A has done its first work, or will do none
 *   A wc 12                   the first completion that failed, by number (enum ibv_wc_status)
 *   B event 3                 an asynchronous event, by number (enum ibv_event_type)
 * Build: cc -O2 -Wall -Wextra -o qp-play qp-play.c -libverbs
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define SIZE 65536
#define DEPTH 16

enum { A, B };
static const char *const names[] = { "A", "B" };
static const char *const states[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

struct options {
	const char *dev[2], *wait, *abort, *later, *host, *over, *shift;
	int gid[2], mtu[2], stop[2]; /* stop: the last state to go to */
	int timeout, retry, rnr, bytes, pause_ms, alone, many, psn_off, gid_said, cq, receives, port;
	bool send, both, uc, receive, access, bad_key, rest, peer_gid_zero, srq;
};

/* What the ends tell each other. */
struct hello {
	uint32_t qpn, psn, rkey;
	uint64_t addr;
	union ibv_gid gid;
};

struct end {
	int me, sock;
	const struct options *opt;
	struct ibv_context *ctx;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_srq *srq;
	struct hello mine, peer;
	int state;
	bool failed, outstanding;
};

static void say(const struct end *e, const char *fmt, ...)
{
	char line[160];
	int n = snprintf(line, sizeof(line), "%s ", names[e->me]);
	va_list ap;

	va_start(ap, fmt);
	n += vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	line[n++] = '\n';
	if (write(1, line, n) != n) /* one write: both ends share the pipe */
		exit(1);
}

static void give_up(const struct end *e, const char *what)
{
	say(e, "cannot %s: %s", what, strerror(errno));
	exit(1);
}

/* Whether what --no-receive, --bad-key and --rest say holds already. */
static bool is_later(const struct end *e)
{
	return !e->opt->later || !access(e->opt->later, F_OK);
}

static bool receives(const struct end *e)
{
	return (e->me == B || e->opt->both) && (e->opt->receive || !is_later(e));
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (size_t i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	return ctx;
}

static void make(struct end *e)
{
	struct ibv_qp_init_attr init = { .qp_type = e->opt->uc ? IBV_QPT_UC : IBV_QPT_RC,
					 .sq_sig_all = 1,
					 .cap = { DEPTH, DEPTH, 1, 1, 0 } };
	struct ibv_srq_init_attr srq = { .attr = { DEPTH, 1, 0 } };
	struct ibv_pd *pd;
	void *memory = aligned_alloc(4096, SIZE);
	int access = IBV_ACCESS_LOCAL_WRITE | (e->opt->access ? IBV_ACCESS_REMOTE_WRITE : 0);

	e->ctx = open_device(e->opt->dev[e->me]);
	if (!e->ctx || fcntl(e->ctx->async_fd, F_SETFL, O_NONBLOCK))
		give_up(e, "open the device");
	pd = ibv_alloc_pd(e->ctx);
	e->mr = pd && memory ? ibv_reg_mr(pd, memory, SIZE, access) : NULL;
	e->cq = e->mr ? ibv_create_cq(e->ctx, e->opt->cq, NULL, NULL, 0) : NULL;
	init.send_cq = init.recv_cq = e->cq;
	init.srq = e->srq = e->cq && e->opt->srq ? ibv_create_srq(pd, &srq) : NULL;
	e->qp = e->cq ? ibv_create_qp(pd, &init) : NULL;
	if (!e->qp)
		give_up(e, "make the queue pair");
	e->mine = (struct hello){ e->qp->qp_num, 100 + e->me, e->mr->rkey, (uintptr_t)e->mr->addr, { .raw = { 0 } } };
	ibv_query_gid(e->ctx, 1, e->opt->gid_said < 0 ? e->opt->gid[e->me] : e->opt->gid_said, &e->mine.gid);
	say(e, "pid %d qpn %u", getpid(), e->qp->qp_num);
}

static void meet(struct end *e)
{
	if (write(e->sock, &e->mine, sizeof(e->mine)) != sizeof(e->mine) ||
	    read(e->sock, &e->peer, sizeof(e->peer)) != sizeof(e->peer))
		give_up(e, "reach the other end");
}

static int modify(struct end *e, int to)
{
	const struct options *opt = e->opt;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET + to };
	int mask = IBV_QP_STATE, r;

	switch (to) {
	case 1:
		attr.port_num = 1;
		attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE; /* --no-access: the memory is what forbids it */
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
		break;
	case 2:
		attr.path_mtu = opt->mtu[e->me] == 256	? IBV_MTU_256 :
				opt->mtu[e->me] == 4096 ? IBV_MTU_4096 :
							  IBV_MTU_1024;
		attr.dest_qp_num = e->peer.qpn;
		attr.rq_psn = e->peer.psn + opt->psn_off;
		attr.max_dest_rd_atomic = 1;
		attr.min_rnr_timer = 12;
		attr.ah_attr = (struct ibv_ah_attr){
			.grh = { .dgid = e->peer.gid, .sgid_index = opt->gid[e->me], .hop_limit = 64 },
			.is_global = 1,
			.port_num = 1,
		};
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			IBV_QP_MIN_RNR_TIMER;
		if (opt->uc)
			mask &= ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
		break;
	case 3:
		attr.timeout = opt->timeout;
		attr.retry_cnt = opt->retry;
		attr.rnr_retry = opt->rnr;
		attr.sq_psn = e->mine.psn;
		attr.max_rd_atomic = 1;
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
		if (opt->uc)
			mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
		break;
	}
	r = ibv_modify_qp(e->qp, &attr, mask);
	if (r) {
		say(e, "modify %s %s", states[to], strerrorname_np(r));
		return -1;
	}
	e->state = to;
	return 0;
}

static void post_receive(struct end *e)
{
	struct ibv_sge sge = { (uintptr_t)e->mr->addr, e->opt->bytes, e->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (e->srq)
		ibv_post_srq_recv(e->srq, &wr, &bad);
	else
		ibv_post_recv(e->qp, &wr, &bad);
}

static void post_work(struct end *e)
{
	struct ibv_sge sge = { (uintptr_t)e->mr->addr, e->opt->bytes, e->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = e->opt->send ? IBV_WR_SEND : IBV_WR_RDMA_WRITE,
				  .wr.rdma = { e->peer.addr,
					       e->peer.rkey ^ (e->opt->bad_key && is_later(e) ? 0x55 : 0) } },
			   *bad;

	if (ibv_post_send(e->qp, &wr, &bad)) {
		say(e, "post failed");
		e->failed = true;
	}
}

/* Completions and events that have come; how many completions were good. */
static int look(struct end *e)
{
	struct ibv_async_event event;
	struct ibv_wc wc;
	int good = 0;

	/* --cq: what completes stays there. */
	while ((e->opt->cq == 4 * DEPTH || e->me == A || !is_later(e)) && ibv_poll_cq(e->cq, 1, &wc) > 0) {
		if (wc.status == IBV_WC_SUCCESS) {
			good += wc.opcode != IBV_WC_RECV;
			if (wc.opcode == IBV_WC_RECV && receives(e))
				post_receive(e);
			continue;
		}
		if (!e->failed)
			say(e, "wc %d", wc.status);
		e->failed = true;
	}
	while (!ibv_get_async_event(e->ctx, &event)) {
		say(e, "event %d", event.event_type);
		ibv_ack_async_event(&event);
	}
	return good;
}

static void work(struct end *e)
{
	bool works = (e->me == A || e->opt->both) && e->state == 3, told = false;
	int outstanding = 0;

	for (int i = 0; e->state >= 1 && receives(e) && i < e->opt->receives; i++)
		post_receive(e);
	for (;;) {
		if (e->me == B && e->opt->abort && e->state != IBV_QPS_ERR && !access(e->opt->abort, F_OK))
			modify(e, IBV_QPS_ERR);
		if (works && !e->failed && !outstanding && !(e->opt->rest && is_later(e))) {
			post_work(e);
			outstanding = 1;
		}
		if (look(e))
			outstanding = 0;
		if (e->me == A && !told && (!works || !outstanding || e->failed)) {
			told = true;
			say(e, "ready");
		}
		poll(NULL, 0, e->opt->pause_ms);
	}
}

/* Two queue pairs, each on a NIC of its own: the second one is used once the first one failed, or the program likes to. */
static void work_over(struct end *e)
{
	struct options opt = *e->opt;
	struct end other = { .me = e->me, .sock = e->sock, .opt = &opt }, *used = e;

	opt.dev[e->me] = opt.over;
	make(&other);
	meet(&other);
	for (int to = 1; to <= 3; to++)
		if (modify(&other, to))
			exit(1);
	meet(&other);
	for (bool outstanding = false, told = false;; poll(NULL, 0, opt.pause_ms)) {
		if (!outstanding && opt.shift && !e->failed)
			used = access(opt.shift, F_OK) ? e : &other;
		if (e->me == A && !outstanding && !used->failed) {
			post_work(used);
			outstanding = true;
		}
		if (look(used))
			outstanding = false;
		if (!told && e->me == A && !outstanding)
			told = true, say(e, "ready");
		if (used == e && e->failed)
			used = &other, outstanding = false;
	}
}

/* Many connections of one process; the last one goes as far as --stop-a and --stop-b say. */
static void play_many(const struct end *like)
{
	struct end *all = calloc(like->opt->many, sizeof(*all));
	int n = all ? like->opt->many : 0;
	bool told = false;

	for (int i = 0; i < n; i++) {
		all[i] = *like;
		make(&all[i]);
		meet(&all[i]);
		for (int to = 1; to <= (i + 1 < n ? 3 : like->opt->stop[like->me]); to++)
			if (modify(&all[i], to))
				exit(1);
	}
	for (meet(&all[0]);; poll(NULL, 0, like->opt->pause_ms)) {
		for (int i = 0; i < n; i++) {
			struct end *e = &all[i];

			if (e->me == A && e->state == 3 && !e->failed && !e->outstanding &&
			    !(e->opt->rest && is_later(e)))
				post_work(e), e->outstanding = true;
			if (look(e))
				e->outstanding = false;
		}
		if (like->me == A && !told && !all[0].outstanding)
			told = true, say(&all[0], "ready");
	}
}

static void play(struct end *e)
{
	if (e->opt->many)
		play_many(e);
	make(e);
	meet(e);
	if (e->opt->peer_gid_zero)
		memset(&e->peer.gid, 0, sizeof(e->peer.gid));
	for (int to = 1; to <= e->opt->stop[e->me]; to++) {
		while (to == 2 && e->opt->wait && access(e->opt->wait, F_OK))
			poll(NULL, 0, 20);
		if (modify(e, to))
			break;
	}
	meet(e); /* nobody sends before the other end has got as far as it will */
	if (e->opt->over)
		work_over(e);
	work(e);
}

static int state_of(const char *name)
{
	for (int i = 1; i < 4; i++)
		if (!strcmp(name, states[i]))
			return i;
	fprintf(stderr, "qp-play: %s is no state to stop in\n", name);
	exit(2);
}

enum {
	DEV_A,
	DEV_B,
	GID_A,
	GID_B,
	MTU_A,
	MTU_B,
	STOP_A,
	STOP_B,
	TIMEOUT,
	RETRY,
	RNR,
	BYTES,
	PAUSE,
	SEND,
	NO_RECEIVE,
	NO_ACCESS,
	WAIT,
	ABORT,
	ZERO_GID,
	BOTH,
	UC,
	BAD_KEY,
	REST,
	LATER,
	ALONE,
	HOST,
	OVER,
	SHIFT,
	MANY,
	PSN_OFF,
	GID_SAID,
	CQ,
	SRQ,
	RECEIVES,
	AT
};

static const struct option longs[] = {
	{ "dev-a", 1, NULL, DEV_A },	     { "dev-b", 1, NULL, DEV_B },   { "gid-a", 1, NULL, GID_A },
	{ "gid-b", 1, NULL, GID_B },	     { "mtu-a", 1, NULL, MTU_A },   { "mtu-b", 1, NULL, MTU_B },
	{ "stop-a", 1, NULL, STOP_A },	     { "stop-b", 1, NULL, STOP_B }, { "timeout", 1, NULL, TIMEOUT },
	{ "retry", 1, NULL, RETRY },	     { "rnr", 1, NULL, RNR },	    { "bytes", 1, NULL, BYTES },
	{ "pause", 1, NULL, PAUSE },	     { "send", 0, NULL, SEND },	    { "no-receive", 0, NULL, NO_RECEIVE },
	{ "no-access", 0, NULL, NO_ACCESS }, { "wait", 1, NULL, WAIT },	    { "abort", 1, NULL, ABORT },
	{ "zero-gid", 0, NULL, ZERO_GID },   { "both", 0, NULL, BOTH },	    { "uc", 0, NULL, UC },
	{ "bad-key", 0, NULL, BAD_KEY },     { "rest", 0, NULL, REST },	    { "later", 1, NULL, LATER },
	{ "alone", 1, NULL, ALONE },	     { "host", 1, NULL, HOST },	    { "over", 1, NULL, OVER },
	{ "shift", 1, NULL, SHIFT },	     { "many", 1, NULL, MANY },	    { "psn-off", 1, NULL, PSN_OFF },
	{ "gid-said", 1, NULL, GID_SAID },   { "cq", 1, NULL, CQ },	    { "srq", 0, NULL, SRQ },
	{ "receives", 1, NULL, RECEIVES },   { "port", 1, NULL, AT },	    { 0 },
};

static void usage(void)
{
	fprintf(stderr,
		"usage: qp-play [--dev-a D] [--gid-a N] [--mtu-a N] [--stop-a STATE] (and -b) [--timeout T]\n"
		"  [--retry N] [--rnr N] [--bytes N] [--pause MS] [--uc] [--send]\n"
		"  [--no-receive] [--no-access] [--bad-key] [--rest] [--zero-gid]\n"
		"  [--both]                     B sends to A, too\n"
		"  [--wait FILE]                FILE must be there before either end goes to RTR\n"
		"  [--abort FILE]               once FILE is there, B moves its queue pair to ERR\n"
		"  [--later FILE]               no receives, a wrong key, or no work (--rest) only once FILE is there\n"
		"  [--alone A|B --host ADDRESS] one end; B listens at ADDRESS, its own, and A connects to it\n"
		"  [--port N]                   of that connection (18600)\n"
		"  [--many N]                   so many queue pairs; --stop is that of the last one\n"
		"  [--psn-off N]                this end expects PSNs that are so much higher\n"
		"  [--gid-said N]               the other end is given this GID\n"
		"  [--srq] [--receives N]       a shared receive queue; so many receives are kept posted\n"
		"  [--cq N]                     a completion queue of N, which B no longer reads once --later holds\n"
		"  [--over D [--shift FILE]]    a second queue pair on D, for when the first one fails, or FILE is there\n");
	exit(2);
}

static void take(struct options *o, int opt)
{
	switch (opt) {
	case DEV_A:
	case DEV_B:
		o->dev[opt - DEV_A] = optarg;
		break;
	case GID_A:
	case GID_B:
		o->gid[opt - GID_A] = atoi(optarg);
		break;
	case MTU_A:
	case MTU_B:
		o->mtu[opt - MTU_A] = atoi(optarg);
		break;
	case STOP_A:
	case STOP_B:
		o->stop[opt - STOP_A] = state_of(optarg);
		break;
	case TIMEOUT:
		o->timeout = atoi(optarg);
		break;
	case RETRY:
		o->retry = atoi(optarg);
		break;
	case RNR:
		o->rnr = atoi(optarg);
		break;
	case BYTES:
		o->bytes = atoi(optarg);
		break;
	case PAUSE:
		o->pause_ms = atoi(optarg);
		break;
	case SEND:
		o->send = true;
		break;
	case NO_RECEIVE:
		o->receive = false;
		break;
	case NO_ACCESS:
		o->access = false;
		break;
	case WAIT:
		o->wait = optarg;
		break;
	case ABORT:
		o->abort = optarg;
		break;
	case ZERO_GID:
		o->peer_gid_zero = true;
		break;
	case BOTH:
		o->both = true;
		break;
	case UC:
		o->uc = true;
		break;
	case BAD_KEY:
		o->bad_key = true;
		break;
	case REST:
		o->rest = true;
		break;
	case LATER:
		o->later = optarg;
		break;
	case ALONE:
		o->alone = *optarg;
		break;
	case HOST:
		o->host = optarg;
		break;
	case OVER:
		o->over = optarg;
		break;
	case SHIFT:
		o->shift = optarg;
		break;
	case MANY:
		o->many = atoi(optarg);
		break;
	case PSN_OFF:
		o->psn_off = atoi(optarg);
		break;
	case GID_SAID:
		o->gid_said = atoi(optarg);
		break;
	case CQ:
		o->cq = atoi(optarg);
		break;
	case SRQ:
		o->srq = true;
		break;
	case RECEIVES:
		o->receives = atoi(optarg);
		break;
	case AT:
		o->port = atoi(optarg);
		break;
	default:
		usage();
	}
}

/* The connection over which the two ends meet when they are on two hosts. */
static int connected(const struct options *o)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(o->port) };
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (s < 0 || !o->host || inet_pton(AF_INET, o->host, &at.sin_addr) != 1)
		usage();
	if (o->alone == 'A') {
		while (connect(s, (struct sockaddr *)&at, sizeof(at)))
			poll(NULL, 0, 100);
		return s;
	}
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (bind(s, (struct sockaddr *)&at, sizeof(at)) || listen(s, 1)) {
		perror("qp-play");
		exit(1);
	}
	return accept(s, NULL, NULL);
}

int main(int argc, char **argv)
{
	struct options o = { .dev = { "rxe0", "rxe1" },
			     .gid = { 1, 1 },
			     .mtu = { 1024, 1024 },
			     .stop = { 3, 3 },
			     .timeout = 14,
			     .retry = 7,
			     .rnr = 7,
			     .bytes = 4096,
			     .pause_ms = 5,
			     .gid_said = -1,
			     .cq = 4 * DEPTH,
			     .receives = DEPTH,
			     .port = 18600,
			     .receive = true,
			     .access = true };
	struct end e = { .opt = &o };
	int socks[2], opt;

	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) >= 0)
		take(&o, opt);
	if (o.alone) {
		e.me = o.alone == 'A' ? A : B;
		e.sock = connected(&o);
		play(&e);
	}
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, socks))
		return 1;
	e.me = fork() ? A : B;
	e.sock = socks[e.me];
	close(socks[!e.me]);
	if (e.me == B)
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGCHLD, SIG_IGN);
	play(&e);
}
