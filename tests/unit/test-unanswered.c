/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads that were given up: whatever a host leaves unanswered makes rules unknown, and never says that something is wrong. */
#include "unit.h"

#include "cmd/checks/checks.h"
#include "fake-host.h"

/* A source that does not answer questions number `first` to `last`. */
struct deaf {
	struct rd_source source;
	struct rd_source *of;
	unsigned n, first, last;
	char asked[256];
};

static bool is_deaf(struct rd_source *src, const char *what)
{
	struct deaf *deaf = (struct deaf *)src;
	bool now = deaf->n >= deaf->first && deaf->n <= deaf->last;

	if (deaf->n++ == deaf->first)
		snprintf(deaf->asked, sizeof(deaf->asked), "%s", what);
	return now;
}

static int deaf_get(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	struct rd_source *of = ((struct deaf *)src)->of;
	const char *what = query->op == RD_OP_NETLINK ? "netlink" : query->data;

	if (is_deaf(src, what))
		return rd_err_set(err, ETIMEDOUT, what, "gave no answer in time");
	return of->ops->get(of, query, ret, err);
}

static uint64_t deaf_now(struct rd_source *src, int clock)
{
	struct rd_source *of = ((struct deaf *)src)->of;

	return of->ops->now(of, clock);
}

static const struct rd_source_ops deaf_ops = {
	.name = "bundle",
	.get = deaf_get,
	.now = deaf_now,
};

static const struct rd_cmd cmd = { .name = "check" };

/* Asks everything; how many questions that were. What rules find wrong is added to `faults`, a line each. */
static unsigned look(struct rd_source *host, unsigned first, unsigned last, struct rd_buf *faults)
{
	struct deaf deaf = { .source = { .ops = &deaf_ops }, .of = host, .first = first, .last = last };
	struct rd_ctx ctx = { .cmd = &cmd, .schema = "check", .source = &deaf.source };
	struct rd_stall stall = { .kind = RD_STALL_BLOCKED };
	struct rd_stalls stalls = { 0 };
	struct checks checks = { 0 };

	assert_int_equal(checks_load(&ctx, &deaf.source, 0, &checks, NULL), 0);
	rd_err_set(&stall.err, ETIMEDOUT, deaf.asked, "gave no answer in time");
	if (deaf.asked[0])
		rd_stalls_add(&stalls, &stall);
	checks.in.stalls = &stalls;
	rd_checks_run(&checks.in, NULL, &checks.findings);
	for (size_t i = 0; i < checks.findings.n; i++) {
		const struct rd_finding *finding = &checks.findings.v[i];

		if (finding->severity >= RD_SEV_WARNING && strcmp(finding->id, "host-answers") != 0)
			rd_buf_printf(faults, "%s %s\n", finding->id, finding->subject);
	}
	checks_deinit(&checks);
	rd_stalls_deinit(&stalls);
	return deaf.n;
}

/* From any question on nothing is answered, or only that one is not. */
static void no_fault_is_found_but_those_that_are_there(struct rd_source *host, unsigned step)
{
	_cleanup_buf_ struct rd_buf real = { 0 };
	unsigned n = look(host, UINT32_MAX, UINT32_MAX, &real);

	assert_true(n > 100);
	for (unsigned i = 0; i < 2 * n; i += step) {
		_cleanup_buf_ struct rd_buf faults = { 0 };
		char *rest, *line;

		look(host, i / 2, i % 2 ? i / 2 : UINT32_MAX, &faults);
		for (rest = faults.data; rest && (line = strsep(&rest, "\n"));)
			if (*line && !(real.data && strstr(real.data, line)))
				fail_msg("question %u unanswered%s: %s", i / 2, i % 2 ? "" : " and all after it", line);
	}
}

TEST(a_recorded_host_is_never_called_broken_for_not_answering)
{
	static const char *const bundles[] = { "pair-a", "half-b" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(bundles); i++) {
		_cleanup_(rd_source_closep) struct rd_source *host = NULL;
		char path[64];

		snprintf(path, sizeof(path), "tests/bundles/%s.tar.zst", bundles[i]);
		assert_int_equal(rd_source_bundle_open(path, &host, NULL), 0);
		no_fault_is_found_but_those_that_are_there(host, 7);
	}
}

TEST(nor_is_a_host_with_accelerators)
{
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();

	assert_int_equal(fake_host_run(&fake, "\"$OLDPWD\"/tests/bench/nic-map-tree . 2 3 20"), 0);
#ifdef __SANITIZE_ADDRESS__ /* a read takes ten times as long: each fifth of them */
	no_fault_is_found_but_those_that_are_there(fake.source, 5);
#else
	no_fault_is_found_but_those_that_are_there(fake.source, 1);
#endif
}
