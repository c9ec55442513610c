// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a hook adds to a call, in instructions: for a machine whose time stamp counter counts them (QEMU's -icount with
 * shift=0 and one processor). A pair of verbs that succeeds and a verb that fails are done over and over, without hooks,
 * with bare programs and with ours on the same functions; the first quartile of the time stamps' differences repeats
 * exactly where the mean does not (timer ticks, tables that grow).
 *
 * Prints lines of words for report.py.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <x86intrin.h>

#include "bench.h"
#include "bpf/record.h"
#include "hits.h"
#include "peer.h"
#include "yardstick.h"

#define ITERATIONS 800
#define WARM_UP 50
/* A driver that numbers its objects upwards in a radix tree pays for each level of it: from 4096 on there are three, and
 * there are no more before 262144. */
#define BEYOND_LEVELS 4200
#define NOWHERE ((void *)0x8000) /* below vm.mmap_min_addr: nothing is ever mapped there */
#define RING_BYTES (4 * 1024 * 1024)

struct verbs {
	struct ibv_pd *pd;
	void *memory;
};

struct path {
	const char *name;
	void (*work)(void *arg);
	bool fails;
};

struct bench {
	struct verbs verbs;
	struct rd_fnset set;
	const struct path *path;
	unsigned *hits;
};

static void succeed(void *arg)
{
	struct verbs *v = arg;
	struct ibv_mr *mr = ibv_reg_mr(v->pd, v->memory, 4096, IBV_ACCESS_LOCAL_WRITE);

	if (!mr || ibv_dereg_mr(mr))
		bench_fail("ibv_reg_mr", errno);
}

static void fail(void *arg)
{
	struct verbs *v = arg;

	if (ibv_reg_mr(v->pd, NOWHERE, 4096, IBV_ACCESS_LOCAL_WRITE) || errno != EFAULT)
		bench_fail("ibv_reg_mr of nothing", errno);
}

static const struct path paths[] = { { "ok", succeed, false }, { "fail", fail, true } };

static void open_verbs(struct verbs *v)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;

	v->pd = context ? ibv_alloc_pd(context) : NULL;
	if (!v->pd)
		bench_fail("no RDMA device", errno);
	v->memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (v->memory == MAP_FAILED)
		bench_fail("memory", errno);
	for (int i = 0; i < BEYOND_LEVELS; i++)
		succeed(v);
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t measure(struct bench *b)
{
	static uint64_t deltas[ITERATIONS];

	for (int i = 0; i < WARM_UP; i++)
		b->path->work(&b->verbs);
	for (int i = 0; i < ITERATIONS; i++) {
		uint64_t before = __rdtsc();

		b->path->work(&b->verbs);
		deltas[i] = __rdtsc() - before;
	}
	qsort(deltas, ITERATIONS, sizeof(deltas[0]), ascending);
	return deltas[ITERATIONS / 4];
}

static void print(const struct bench *b, const char *backend, const char *what, uint64_t value)
{
	printf("cost %s %s %s %llu\n", backend, b->path->name, what, (unsigned long long)value);
	fflush(stdout);
}

/* As rd_select left it. */
static bool is_selected(const struct rd_fn *fn)
{
	return fn->rule == RD_RULE_SELECTED || fn->rule == RD_RULE_ENTRY;
}

/* All backends are put on the same functions: those of the selection that the work passes and that every way can take. */
static void choose_functions(struct bench *b, bool roots)
{
	unsigned all = 1 << RD_BACKEND_FEXIT | 1 << RD_BACKEND_KPROBE;

	for (size_t i = 0; i < b->set.n_fns; i++) {
		struct rd_fn *fn = &b->set.fns[i];

		fn->selected = is_selected(fn) && b->hits[i] && (fn->attachable & all) == all &&
			       (roots || fn->entry == RD_ENTRY_NONE);
	}
}

static void print_calls(struct bench *b)
{
	uint64_t inner = 0, roots = 0;

	choose_functions(b, true);
	for (size_t i = 0; i < b->set.n_fns; i++) {
		const struct rd_fn *fn = &b->set.fns[i];

		if (!fn->selected)
			continue;
		*(fn->entry == RD_ENTRY_NONE ? &inner : &roots) += b->hits[i];
		fprintf(stderr, "hooked %s %s %s %u\n", b->path->name, fn->name,
			fn->entry == RD_ENTRY_NONE ? "inner" : "root", b->hits[i]);
	}
	print(b, "all", "inner", inner);
	print(b, "all", "roots", roots);
}

/* False: this kernel has no such hooks. */
static bool cost_bare(struct bench *b, enum rd_backend backend, enum yard_kind kind, const char *name)
{
	struct yardstick *yard = yardstick_create(&b->set, backend, kind);
	size_t records;

	if (!yard)
		return false;
	print(b, rd_backend_name(backend), name, measure(b));
	records = yardstick_records(yard);
	if (kind == YARD_RECORD && !strcmp(name, "record"))
		print(b, rd_backend_name(backend), "failing", records / (ITERATIONS + WARM_UP));
	yardstick_destroy(yard);
	return true;
}

/* What the records held, of the last one: a wrong trace would cost what it likes. */
static int read_record(void *arg, void *data, size_t size)
{
	if (size >= offsetof(struct rd_rec, chain))
		memcpy(arg, data, size < sizeof(struct rd_rec) ? size : sizeof(struct rd_rec));
	return 0;
}

/* Returns the origin. */
static uint32_t print_record(struct bench *b, enum rd_backend backend, struct rd_session *session, bool stack)
{
	struct rd_rec rec = {};
	struct ring_buffer *ring = ring_buffer__new(rd_session_ring_fd(session), read_record, &rec, NULL);
	unsigned branches = 0;

	if (!ring)
		bench_fail("ring", errno);
	ring_buffer__consume(ring);
	ring_buffer__free(ring);
	for (size_t i = 0; i < rec.n_chain && i < RD_CHAIN_SLOTS; i++)
		branches += rec.chain[i].flags & RD_LINK_BRANCH;
	if (stack)
		print(b, rd_backend_name(backend), "frames", rec.n_kstack);
	else
		print(b, rd_backend_name(backend), "chain", rec.n_chain);
	print(b, rd_backend_name(backend), stack ? "branches-stack" : "branches", branches);
	return rec.origin;
}

/* Returns the origin of what failed. */
static uint32_t cost_ours(struct bench *b, enum rd_backend backend, bool stack, const char *name)
{
	struct rd_session_opts opts = { .backend = backend, .ring_bytes = RING_BYTES, .kernel_stack = stack };
	size_t before = bench_bpf_objects();
	struct rd_session *session;
	struct rd_trace_totals totals;
	struct rd_err err = {};
	uint64_t expected = b->path->fails ? ITERATIONS + WARM_UP : 0;
	uint32_t origin = 0;
	bool roots = false;

	for (size_t i = 0; i < b->set.n_fns; i++)
		roots = roots || (b->set.fns[i].selected && b->set.fns[i].entry != RD_ENTRY_NONE);
	if (rd_session_start(&b->set, &opts, &session, NULL, &err))
		bench_fail_err(&err);
	print(b, rd_backend_name(backend), name, measure(b));
	if (rd_session_totals(session, &totals, &err))
		bench_fail_err(&err);
	if (roots && (totals.events != expected || totals.delivered != expected))
		fprintf(stderr, "bench: %s %s %s: %llu events, %llu delivered, %llu expected\n", b->path->name,
			rd_backend_name(backend), name, (unsigned long long)totals.events,
			(unsigned long long)totals.delivered, (unsigned long long)expected);
	if (b->path->fails)
		origin = print_record(b, backend, session, stack);
	rd_session_stop(session);
	rd_session_destroy(session);
	bench_wait_gone(before);
	return origin;
}

/* What one stack from the origin costs: the other functions keep a hook, as hooks lengthen the stack. */
static void cost_one_stack(struct bench *b, enum rd_backend backend, uint32_t origin)
{
	struct yardstick *others;

	b->set.fns[origin].selected = false;
	others = yardstick_create(&b->set, backend, YARD_CHECK);
	if (!others)
		bench_fail("yardstick", ENOTSUP);
	for (size_t i = 0; i < b->set.n_fns; i++)
		b->set.fns[i].selected = i == origin;
	cost_bare(b, backend, YARD_RECORD, "record-origin");
	cost_bare(b, backend, YARD_STACK, "stack-origin");
	yardstick_destroy(others);
}

static void cost_backend(struct bench *b, enum rd_backend backend)
{
	choose_functions(b, true);
	if (!cost_bare(b, backend, YARD_CHECK, "check")) {
		print(b, rd_backend_name(backend), "absent", 1);
		return;
	}
	cost_ours(b, backend, false, "ours");
	if (b->path->fails) {
		cost_bare(b, backend, YARD_RECORD, "record");
		cost_one_stack(b, backend, cost_ours(b, backend, true, "ours-stack"));
		return;
	}
	choose_functions(b, false);
	cost_bare(b, backend, YARD_CHECK, "check-inner");
	cost_ours(b, backend, false, "ours-inner");
}

/* bpftrace and ours, as it comes, on the same functions: all of the way that bpftrace takes. */
static void cost_peer(struct bench *b)
{
	struct rd_session_opts opts = { .ring_bytes = RING_BYTES };
	size_t before = bench_bpf_objects(), n = 0;
	struct rd_session *session;
	struct rd_err err = {};
	struct peer *peer;

	choose_functions(b, true);
	for (size_t i = 0; i < b->set.n_fns; i++)
		n += b->set.fns[i].selected &= peer_takes(&b->set.fns[i]);
	peer = peer_start(&b->set);
	if (!peer) {
		print(b, "peer", "absent", 1);
		return;
	}
	print(b, "peer", "functions", n);
	print(b, "peer", "bpftrace", measure(b));
	peer_stop(peer);
	bench_wait_gone(before);
	if (rd_session_start(&b->set, &opts, &session, NULL, &err))
		bench_fail_err(&err);
	for (int i = RD_BACKEND_FEXIT; i < RD_BACKEND_COUNT; i++)
		if (rd_session_info(session)->per_backend[i])
			print(b, "peer", rd_backend_name(i), rd_session_info(session)->per_backend[i]);
	print(b, "peer", "ours", measure(b));
	rd_session_stop(session);
	rd_session_destroy(session);
	bench_wait_gone(before);
}

int main(void)
{
	struct bench b = {};

	open_verbs(&b.verbs);
	bench_select(&b.set);
	for (size_t p = 0; p < RD_ARRAY_SIZE(paths); p++) {
		b.path = &paths[p];
		for (size_t i = 0; i < b.set.n_fns; i++)
			b.set.fns[i].selected = is_selected(&b.set.fns[i]);
		b.hits = hits_count(&b.set, b.path->work, &b.verbs);
		print_calls(&b);
		print(&b, "none", "untraced", measure(&b));
		for (enum rd_backend backend = RD_BACKEND_FEXIT; backend < RD_BACKEND_COUNT; backend++)
			cost_backend(&b, backend);
		cost_peer(&b);
		print(&b, "none", "untraced-again", measure(&b));
		free(b.hits);
	}
	rd_fnset_deinit(&b.set);
	return 0;
}
