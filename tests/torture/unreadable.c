/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unreadable [-s SEED,ONE_IN] HOST: makes every read that the rules of a recorded host depend on fail, one at a time with each
 * errno that says "could not look" rather than "is not there", all of a folder together with EACCES, and all files of one with EIO,
 * and holds the result against that of the whole host:
 *
 *   - no finding may be new or worse than before, unless its severity is unknown;
 *   - a rule that found a fault must not pass now;
 *   - the number of ports must not be smaller without saying so.
 *
 * The same where a file has contents that the kernel never prints: these are not known either.
 *
 * Prints a line for each violation, and at the end "HOST: FACTS facts, RUNS runs, BAD worse". Exit status 1 if there were any.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/checks/checks.h"
#include "collect/shared/sysfs.h"

static const int codes[] = { EACCES, EIO, EMFILE, ENFILE, ENOMEM, ENOBUFS, ETIMEDOUT };

/* In place of what a file has; a code of its own for each, beyond those of errno. */
static const char *const contents[] = { "", "\n", "garbage\n", "-7\n" };
#define GARBAGE 4096

enum op { OP_READ, OP_LIST, OP_LINK, OP_RDEV, OP_INO, OP_MODE, OP_NETLINK };
static const char *const op_names[] = { "read", "list", "readlink", "rdev", "inode", "mode", "netlink" };

struct fact {
	enum op op;
	uint64_t key;
	char *what;
};

/* Asks `inner`; counts the facts asked for, or fails one of them. */
struct failing {
	struct rd_source src;
	struct rd_source_ops ops;
	struct rd_source *inner;
	struct fact *facts;
	size_t n, cap;
	bool counting;
	uint64_t fail;
	const char *below; /* all that is in this folder fails, and with EACCES the folder itself; NULL: one read */
	int code;
};

static uint64_t key_of(enum op op, const void *data, size_t size)
{
	char c = (char)op;

	return rd_hash(rd_hash(RD_HASH, &c, 1), data, size);
}

static bool is_to_fail(const struct failing *failing, const char *what, uint64_t key)
{
	size_t n = failing->below ? strlen(failing->below) : 0;

	if (!failing->below)
		return key == failing->fail;
	return strncmp(what, failing->below, n) == 0 && (what[n] == '/' || (!what[n] && failing->code == EACCES));
}

static int meet(struct rd_source *src, enum op op, const char *what, const void *data, size_t size, struct rd_err *err)
{
	struct failing *failing = (struct failing *)src;
	uint64_t key = key_of(op, data, size);

	if (!failing->counting && !is_to_fail(failing, what, key))
		return 0;
	if (!failing->counting)
		return failing->code >= GARBAGE ? 1 : rd_err_set(err, failing->code, what, "made to fail");
	for (size_t i = 0; i < failing->n; i++)
		if (failing->facts[i].key == key)
			return 0;
	if (rd_grow(&failing->facts, &failing->cap, failing->n + 1, sizeof(*failing->facts)) < 0)
		exit(2);
	failing->facts[failing->n++] = (struct fact){ op, key, strdup(what) };
	return 0;
}

#define INNER ((struct failing *)src)->inner
static int failing_get(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	const uint8_t *bytes = query->data;
	const char *text;
	char what[96];
	int r;

	if (query->op == RD_OP_NETLINK) {
		size_t n = (size_t)snprintf(what, sizeof(what), "%d:", query->protocol);

		for (size_t i = 4; i < query->size && i < 36; i++)
			n += (size_t)snprintf(what + n, sizeof(what) - n, "%02x", bytes[i]);
		r = meet(src, OP_NETLINK, what, query->data, query->size, err);
	} else {
		r = meet(src, (enum op)query->op, query->data, query->data, query->size - 1, err);
	}
	if (r < 0)
		return r;
	if (r == 0 || query->op != RD_OP_READ)
		return INNER->ops->get(INNER, query, ret, err);
	text = contents[((struct failing *)src)->code - GARBAGE];
	return rd_bytes_copy(text, strlen(text), &ret->bytes);
}

static uint64_t failing_now(struct rd_source *src, int clock)
{
	return INNER->ops->now(INNER, clock);
}

static const struct rd_source_ops failing_ops = {
	.get = failing_get,
	.now = failing_now,
};

/* What the rules say of the host as `failing` shows it. */
static void look(struct failing *failing, struct check_result *result)
{
	static const struct rd_cmd cmd = { .name = "check" };
	struct rd_ctx ctx = { .globals.from = "recording", .source = &failing->src, .cmd = &cmd };
	struct rd_err err = { 0 };

	*result = (struct check_result){ 0 };
	if (checks_load(&ctx, &failing->src, 0, &result->checks, &err) < 0) {
		/* No verdict at all: exit 3. */
		return;
	}
	rd_checks_run(&result->checks.in, NULL, &result->checks.findings);
}

static const struct rd_finding *find(const struct rd_findings *findings, const struct rd_finding *like)
{
	for (size_t i = 0; i < findings->n; i++)
		if (strcmp(findings->v[i].id, like->id) == 0 &&
		    strcmp(findings->v[i].subject ? findings->v[i].subject : "", like->subject ? like->subject : "") ==
			    0)
			return &findings->v[i];
	return NULL;
}

static bool doubts(const struct rd_findings *findings, const char *id)
{
	for (size_t i = 0; i < findings->n; i++)
		if (strcmp(findings->v[i].id, id) == 0 && findings->v[i].severity >= RD_SEV_UNKNOWN)
			return true;
	return false;
}

static bool is_alarm(const struct rd_finding *finding)
{
	return finding->severity >= RD_SEV_WARNING;
}

static const char *name_of(int code)
{
	static const char *const names[] = { "empty", "newline", "garbage", "-7" };

	return code < GARBAGE ? rd_errno_name(code) : names[code - GARBAGE];
}

static size_t say(const struct fact *fact, int code, const char *how, const struct rd_finding *finding)
{
	printf("%s %s %s: %s %s %s: %s\n", op_names[fact->op], fact->what, name_of(code), how, finding->id,
	       finding->subject ? finding->subject : "", finding->observed ? finding->observed : "");
	return 1;
}

static size_t compare(const struct check_result *whole, const struct check_result *without, const struct fact *fact,
		      int code)
{
	const struct rd_findings *before = &whole->checks.findings, *after = &without->checks.findings;
	struct rd_check_numbers had, have;
	size_t bad = 0;

	for (size_t i = 0; i < after->n; i++) {
		const struct rd_finding *same = is_alarm(&after->v[i]) ? find(before, &after->v[i]) : &after->v[i];

		if (!same || same->severity < after->v[i].severity)
			bad += say(fact, code, same ? "WORSE" : "NEW", &after->v[i]);
	}
	if (after->n == 0)
		return bad;
	for (size_t i = 0; i < before->n; i++)
		if (is_alarm(&before->v[i]) && !find(after, &before->v[i]) && !doubts(after, before->v[i].id))
			bad += say(fact, code, "LOST", &before->v[i]);
	check_count(whole, &had);
	check_count(without, &have);
	if (have.ports < had.ports && !have.at_least) {
		printf("%s %s %s: PORTS %zu of %zu\n", op_names[fact->op], fact->what, name_of(code), have.ports,
		       had.ports);
		bad++;
	}
	return bad;
}

/* A process may call itself anything. */
static bool has_format(const struct fact *fact)
{
	return fact->op == OP_READ && strcmp(rd_basename(fact->what), "comm") != 0;
}

static size_t fail_each(struct failing *failing, const struct check_result *whole, unsigned seed, unsigned one_in,
			size_t *runs)
{
	size_t bad = 0;

	for (size_t i = 0; i < failing->n; i++) {
		/* After the codes: the folder may not be searched, or its files cannot be read; then contents. */
		for (size_t c = 0; c < RD_ARRAY_SIZE(codes) + 2 + RD_ARRAY_SIZE(contents); c++) {
			bool folder = c == RD_ARRAY_SIZE(codes) || c == RD_ARRAY_SIZE(codes) + 1;
			bool text = c > RD_ARRAY_SIZE(codes) + 1;
			struct check_result without;

			if ((folder && failing->facts[i].op != OP_LIST) || (text && !has_format(&failing->facts[i])) ||
			    (one_in > 1 && rand_r(&seed) % one_in))
				continue;
			failing->fail = failing->facts[i].key;
			failing->below = folder ? failing->facts[i].what : NULL;
			failing->code = text   ? GARBAGE + (int)(c - RD_ARRAY_SIZE(codes) - 2) :
					folder ? (c == RD_ARRAY_SIZE(codes) ? EACCES : EIO) :
						 codes[c];
			look(failing, &without);
			bad += compare(whole, &without, &failing->facts[i], failing->code);
			check_result_deinit(&without);
			++*runs;
		}
	}
	return bad;
}

int main(int argc, char **argv)
{
	struct failing failing = { .ops = failing_ops, .counting = true };
	unsigned seed = 1, one_in = 1;
	struct rd_err err = { 0 };
	struct check_result whole;
	size_t bad, runs = 0;
	int opt;

	while ((opt = getopt(argc, argv, "s:")) != -1)
		if (opt != 's' || sscanf(optarg, "%u,%u", &seed, &one_in) != 2)
			return 2;
	if (optind + 1 != argc || rd_source_bundle_open(argv[optind], &failing.inner, &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.object, err.message);
		return 2;
	}
	failing.ops.name = failing.inner->ops->name;
	failing.src.ops = &failing.ops;
	look(&failing, &whole);
	failing.counting = false;
	bad = fail_each(&failing, &whole, seed, one_in, &runs);
	printf("%s: %zu facts, %zu runs, %zu worse\n", rd_basename(argv[optind]), failing.n, runs, bad);
	check_result_deinit(&whole);
	for (size_t i = 0; i < failing.n; i++)
		free(failing.facts[i].what);
	free(failing.facts);
	rd_source_closep(&failing.inner);
	return bad > 0;
}
