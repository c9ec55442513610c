/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/trace/trace.h"
#include "collect/kernel/kernel.h"
#include "fake-host.h"

#include <linux/types.h>
#include <rdma/ib_user_verbs.h>

#include "bpf/record.h"

#define DEV(major, minor) ((major) << 20 | (minor))

static struct rd_fn fns[] = {
	{ .name = "ib_umem_get" },
	{ .name = "rxe_reg_user_mr" },
	{ .name = "ib_uverbs_reg_mr" },
};
static const struct rd_fnset three = { .fns = fns, .n_fns = 3 };

struct host {
	struct fake_host fake;
	struct rd_trace_facts *facts;
};

static uint64_t inode(const struct host *host, const char *path)
{
	uint64_t ino = 0;

	assert_int_equal(rd_stat(host->fake.source, RD_OP_INO, path, &ino, NULL), 0);
	return ino;
}

#define TASK "/system.slice/slurmstepd.scope/job_42/step_0/user/task_0"

static void host_open_v1(struct host *host)
{
	host->fake = fake_host_make();
	fake_host_text(&host->fake, "/sys/class/infiniband_verbs/abi_version", "6\n");
	fake_host_text(&host->fake, "/sys/class/infiniband_verbs/uverbs0/dev", "231:192\n");
	fake_host_text(&host->fake, "/sys/class/infiniband_verbs/uverbs0/ibdev", "rxe0\n");
	fake_host_text(&host->fake, "/proc/77/cgroup", "0::" TASK "\n");
	host->facts = rd_trace_facts_create(host->fake.source);
}

/* With the unified hierarchy of control groups. */
static void host_open(struct host *host)
{
	host_open_v1(host);
	fake_host_text(&host->fake, "/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
	fake_host_text(&host->fake, "/sys/fs/cgroup/system.slice/memory.max", "max\n");
	fake_host_run(&host->fake, "mkdir -p sys/fs/cgroup" TASK);
	rd_trace_facts_destroy(host->facts);
	host->facts = rd_trace_facts_create(host->fake.source);
}

static void host_close(struct host *host)
{
	rd_trace_facts_destroy(host->facts);
	fake_host_deinit(&host->fake);
}

static const char stack[24] = "the words of a stack";

/* A record as the programs send it: cut off behind the links in use, frames behind them, and then what the caller and its request
 * were. */
struct bytes {
	size_t size;
	uint8_t data[sizeof(struct rd_rec) + RD_STACK_MAX * 8 + sizeof(struct rd_rec_user) + sizeof(stack) +
		     sizeof(struct rd_rec_moment) + sizeof(struct rd_rec_request)];
};

static struct rd_rec_moment moment;
static struct rd_rec_user user;
static struct rd_rec_request request;

static struct rd_rec example(void)
{
	struct rd_rec rec = {
		.time = 5,
		.verb = RD_VERB(RD_VERB_INVOKE_WRITE, 9),
		.pid = 77,
		.tid = 78,
		.uid = 1000,
		.root = 2,
		.origin = 0,
		.dev = DEV(231, 192),
		.qpn = 17,
		.port = 1,
		.err = -14,
		.n_chain = 3,
		.flags = RD_REC_QPN | RD_REC_PORT,
		.num_attrs = 3,
		.comm = "trainer",
		.chain = { { 0, -14, 0 }, { 1, -14, RD_LINK_BRANCH }, { 2, -14, 0 } },
	};

	return rec;
}

static void encode(const struct rd_rec *rec, struct bytes *ret)
{
	size_t at = offsetof(struct rd_rec, chain) + rec->n_chain * sizeof(rec->chain[0]);

	memcpy(ret->data, rec, at);
	for (unsigned i = 0; i < rec->n_kstack; i++) {
		uint64_t addr = 0x1000 + i;

		memcpy(ret->data + at, &addr, sizeof(addr));
		at += sizeof(addr);
	}
	if (rec->n_moment) {
		memcpy(ret->data + at, &moment, sizeof(moment));
		at += sizeof(moment);
	}
	memcpy(ret->data + at, &request, rec->n_request);
	at += rec->n_request;
	if (rec->n_user) {
		memcpy(ret->data + at, &user, sizeof(user));
		memcpy(ret->data + at + sizeof(user), stack, sizeof(stack));
		at += sizeof(user) + sizeof(stack);
	}
	ret->size = at;
}

/* The caller may lock 64 KiB, and registers two pages, of which the second is not mapped. */
static struct rd_rec example_with_request(void)
{
	const struct ib_uverbs_reg_mr cmd = { .start = 0x7000, .length = 0x2000, .pd_handle = 6, .access_flags = 1 };
	struct rd_rec rec = example();

	moment = (struct rd_rec_moment){
		.known = RD_MOMENT_LIMITS,
		.memlock = 65536,
		.nofile = 1024,
		.n_handles = 1,
		.handles = { { .handle = 6, .type = 1, .flags = RD_HANDLE_LOOKED_UP | RD_HANDLE_FOUND } },
		.fault = { .what = RD_MAPPING_HOLE, .at = 0x8000 },
	};
	request = (struct rd_rec_request){
		.n_attrs = 1,
		.n_blocks = 1,
		.attrs = { { .len = sizeof(cmd), .data = 0x5000 } },
		.blocks = { { .attr = 0, .len = sizeof(cmd) } },
	};
	memcpy(request.blocks[0].bytes, &cmd, sizeof(cmd));
	rec.n_kstack = 1;
	rec.n_moment = 1;
	rec.n_request = offsetof(struct rd_rec_request, blocks) + sizeof(request.blocks[0]);
	return rec;
}

static int decode(struct host *host, const struct rd_rec *rec, struct rd_event *ret)
{
	static struct bytes bytes;
	struct rd_err err = { 0 };

	encode(rec, &bytes);
	return rd_trace_event_decode(host->facts, bytes.data, bytes.size, &three, ret, &err);
}

#define HOST_TEST(name) TEST_BEGUN(name, struct host, host, host_open, host_close)

HOST_TEST(a_record_becomes_an_event)
{
	_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
	struct rd_rec rec = example();

	rec.n_kstack = 2;
	rec.n_user = 1;
	user = (struct rd_rec_user){ .regs = { 17 }, .size = sizeof(stack), .end = RD_USER_LIMIT };
	assert_int_equal(decode(host, &rec, &ev), 0);
	ASSERT_EACH(IS(ev.pid, 77), IS(ev.tid, 78), IS(ev.uid, 1000));
	ASSERT_EACH(READS(ev.comm, "trainer"), READS(ev.ibdev, "rxe0"), READS(ev.cgroup, TASK));
	ASSERT_EACH(IS(ev.qpn.known, RD_OK), IS(ev.qpn.v, 17), IS(ev.port.v, 1), IS(ev.err, -14), IS(ev.num_attrs, 3),
		    IS(ev.n_chain, 3));
	ASSERT_EACH(IS(ev.chain[1].branch, true), IS(ev.n_kstack, 2));
	ASSERT_EACH(IS(ev.kstack[1].addr, 0x1001), IS(ev.n_ustack, 0));
	ASSERT_EACH(IS(ev.user->regs[0], 17), IS(ev.user->size, sizeof(stack)));
	assert_memory_equal(ev.user + 1, stack, sizeof(stack));
	rd_event_deinit(&ev);
	/* What is not there is not read. */
	user.size = UINT32_MAX;
	assert_int_equal(decode(host, &rec, &ev), 0);
	assert_int_equal(ev.user->size, sizeof(stack));
}

HOST_TEST(caller_and_request_are_behind_the_stacks)
{
	_cleanup_(rd_event_deinit) struct rd_event ev = { 0 }, alone = { 0 };
	struct rd_rec rec = example_with_request();

	rec.time = 123456;
	assert_int_equal(decode(host, &rec, &ev), 0);
	ASSERT_EACH(IS(ev.at_ns, 123456), IS(ev.kstack[0].addr, 0x1000), IS(ev.moment.memlock.known, RD_OK),
		    IS(ev.moment.memlock.v, 65536), IS(ev.moment.nofile.v, 1024),
		    IS(ev.moment.fault.kind, RD_MAPPING_HOLE), IS(ev.moment.fault.at, 0x8000),
		    IS(ev.moment.n_handles, 1));
	ASSERT_EACH(IS(ev.moment.handles[0].found, true), IS(ev.request.readable, true),
		    IS(ev.request.v[RD_REQ_ADDRESS], 0x7000), IS(ev.request.v[RD_REQ_H_PD], 6));

	/* Without one of them the other is in its place. */
	rec.n_moment = 0;
	assert_int_equal(decode(host, &rec, &alone), 0);
	ASSERT_EACH(IS(alone.moment.memlock.known, RD_ABSENT), IS(alone.moment.n_handles, 0));
	assert_int_equal(alone.request.v[RD_REQ_LENGTH], 0x2000);
	rd_event_deinit(&alone);
	rec.n_moment = 1;
	rec.n_request = 0;
	assert_int_equal(decode(host, &rec, &alone), 0);
	ASSERT_EACH(IS(alone.moment.memlock.v, 65536), IS(alone.request.readable, false),
		    IS(rd_req_has(&alone.request, RD_REQ_ADDRESS), false));
}

HOST_TEST(a_write_is_decoded_by_the_name_of_its_handler)
{
	const struct ib_uverbs_reg_mr cmd = { .start = 0x7000, .length = 0x2000, .pd_handle = 6, .access_flags = 1 };
	struct rd_rec rec = example_with_request();

	request = (struct rd_rec_request){ .n_raw = sizeof(cmd) };
	memcpy(request.raw, &cmd, sizeof(cmd));
	rec.n_request = offsetof(struct rd_rec_request, raw) + RD_REQUEST_RAW;
	for (uint32_t fn = 0; fn < 5; fn++) {
		_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };

		rec.verb = RD_VERB(RD_VERB_WRITE, fn);
		assert_int_equal(decode(host, &rec, &ev), 0);
		ASSERT_EACH(IS(ev.request.readable, fn == 2), IS(ev.request.v[RD_REQ_ADDRESS], fn == 2 ? 0x7000 : 0));
	}
}

static void assert_refused_if_shorter(struct host *host, const struct rd_rec *rec)
{
	static struct bytes bytes;
	_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
	struct rd_err err = { 0 };

	encode(rec, &bytes);
	for (size_t size = 0; size < bytes.size; size++) {
		/* Right behind the allocation an access would be seen by the sanitizer. */
		_cleanup_free_ uint8_t *exact = malloc(size + 1);

		assert_non_null(exact);
		memcpy(exact, bytes.data, size);
		assert_int_equal(rd_trace_event_decode(host->facts, exact, size, &three, &ev, &err), -EBADMSG);
	}
	assert_int_equal(rd_trace_event_decode(host->facts, bytes.data, bytes.size, &three, &ev, &err), 0);
}

HOST_TEST(counts_that_do_not_fit_the_size_are_refused)
{
	struct rd_event ev = { 0 };
	struct rd_err err = { 0 };
	struct rd_rec rec = example();

	rec.n_kstack = 1;
	assert_refused_if_shorter(host, &rec);
	rec = example_with_request();
	assert_refused_if_shorter(host, &rec);
	rec.n_moment = 0;
	assert_refused_if_shorter(host, &rec);
	for (int i = 0; i < 4; i++) {
		rec = example();
		if (i == 0)
			rec.n_request = 0xffff;
		else if (i == 1)
			rec.n_chain = 0xffff;
		else if (i == 2)
			rec.n_kstack = 0xffff;
		else
			rec.err = 0;
		assert_int_equal(rd_trace_event_decode(host->facts, &rec, sizeof(rec), &three, &ev, &err), -EBADMSG);
	}
}

HOST_TEST(functions_that_do_not_exist_and_text_without_end)
{
	_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
	struct rd_rec rec = example();

	rec.root = 3;
	rec.origin = RD_NO_FN;
	rec.chain[0].fn = 0x80000000u;
	memset(rec.comm, 'x', sizeof(rec.comm));
	memset(rec.ibdev, 'y', sizeof(rec.ibdev));
	assert_int_equal(decode(host, &rec, &ev), 0);
	ASSERT_EACH(IS(ev.root, -1), IS(ev.origin, -1), IS(ev.chain[0].fn, -1), IS(strlen(ev.comm), 15),
		    IS(strlen(ev.ibdev), 64));
}

/* Whatever the bytes: an error or an event, and no access outside of them (SAN=1 watches). */
HOST_TEST(damaged_records_do_no_harm)
{
	static struct bytes bytes;
	struct rd_rec rec = example_with_request();

	rec.pid = 4711;
	srandom(1);
	for (int i = 0; i < 20000; i++) {
		_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
		struct rd_err err = { 0 };
		_cleanup_free_ uint8_t *exact = NULL;
		size_t size;

		encode(&rec, &bytes);
		size = random() % 4 ? bytes.size : (size_t)random() % bytes.size;
		for (int n = random() % 8; n >= 0; n--)
			bytes.data[random() % bytes.size] = (uint8_t)random();
		exact = malloc(size + 1);
		assert_non_null(exact);
		memcpy(exact, bytes.data, size);
		if (rd_trace_event_decode(host->facts, exact, size, &three, &ev, &err))
			continue;
		assert_in_range(ev.n_chain, 0, RD_CHAIN_SLOTS);
		assert_in_range(ev.n_kstack, 0, RD_STACK_MAX);
		assert_in_range(ev.moment.n_handles, 0, RD_MOMENT_HANDLES);
		assert_in_range(ev.moment.fault.kind, 0, RD_MAPPING_OTHER);
		assert_in_range(strlen(ev.moment.fault.name), 0, sizeof(ev.moment.fault.name) - 1);
		assert_true(ev.request.readable || !rd_req_has(&ev.request, RD_REQ_ADDRESS));
		rd_chain_settle(&ev, NULL);
		assert_true(ev.n_chain > 0);
	}
}

HOST_TEST(what_the_record_does_not_say_is_unknown)
{
	_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
	struct rd_rec rec = example();

	rec.flags = 0;
	rec.dev = 0;
	rec.pid = 78; /* has gone */
	assert_int_equal(decode(host, &rec, &ev), 0);
	assert_int_not_equal(ev.qpn.known, RD_OK);
	assert_int_not_equal(ev.port.known, RD_OK);
	ASSERT_EACH(IS(ev.ibdev == NULL, true), IS(ev.cgroup == NULL, true));
	rd_event_deinit(&ev);

	/* On its way to be created a queue pair has no number. */
	rec = example();
	rec.qpn = 0;
	assert_int_equal(decode(host, &rec, &ev), 0);
	assert_int_not_equal(ev.qpn.known, RD_OK);
}

HOST_TEST(a_device_keeps_its_name_after_it_has_gone)
{
	char list[64];
	uint64_t id;
	struct rd_err err = { 0 };

	assert_string_equal(rd_trace_facts_ibdev(host->facts, DEV(231, 192)), "rxe0");
	assert_null(rd_trace_facts_ibdev(host->facts, DEV(231, 193)));
	assert_int_equal(rd_trace_facts_dev(host->facts, "rxe0"), DEV(231, 192));
	assert_int_equal(rd_trace_facts_dev(host->facts, "rxe1"), 0);
	rd_trace_facts_list(host->facts, list, sizeof(list));
	assert_string_equal(list, "rxe0");
	fake_host_remove(&host->fake, "/sys/class/infiniband_verbs/uverbs0/dev");
	assert_string_equal(rd_trace_facts_ibdev(host->facts, DEV(231, 192)), "rxe0");

	assert_int_equal(rd_trace_facts_cgroup(host->facts, "/sys/fs/cgroup/system.slice", &id, &err), 0);
	assert_int_equal(id, inode(host, "/sys/fs/cgroup/system.slice"));
	assert_int_equal(rd_trace_facts_cgroup(host->facts, "system.slice/", &id, &err), 0);
	assert_int_equal(rd_trace_facts_cgroup(host->facts, "/nowhere", &id, &err), -ENOENT);
}

/* Of a process in a different PID namespace the record has the number 0. */
HOST_TEST(a_process_that_is_not_visible_is_not_looked_up_by_number)
{
	_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
	struct rd_rec rec = example();

	fake_host_text(&host->fake, "/proc/0/cgroup", "0::/nowhere\n");
	rec.pid = rec.tid = 0;
	assert_int_equal(decode(host, &rec, &ev), 0);
	ASSERT_EACH(IS(ev.pid, 0), IS(ev.cgroup == NULL, true));
	rd_event_deinit(&ev);
	rec.cgroup = inode(host, "/sys/fs/cgroup/system.slice");
	assert_int_equal(decode(host, &rec, &ev), 0);
	assert_string_equal(ev.cgroup, "/system.slice");
}

/* In a container, /proc has the numbers that the record has, too. */
TEST_BEGUN(numbers_are_those_of_our_own_namespace, struct host, host, host_open_v1, host_close)
{
	_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
	struct rd_rec rec = example();

	fake_host_text(&host->fake, "/proc/self/ns/mnt", "");
	assert_int_equal(fake_host_run(&host->fake, "ln -s 'pid:[4026532000]' proc/self/ns/pid"), 0);
	rd_trace_facts_destroy(host->facts);
	host->facts = rd_trace_facts_create(host->fake.source);
	assert_int_equal(decode(host, &rec, &ev), 0);
	assert_string_equal(ev.cgroup, TASK);
}
