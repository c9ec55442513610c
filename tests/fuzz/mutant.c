/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mutant.h"
#include "tests/source-parts.h"

#include "base/buf.h"
#include "mutate.h"
#include "source/bundle/tree.h"
#include "source/shared/netlink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>

#define CHANGES_MAX 24
#define ALIASES_MAX 32
#define MANY_MAX 12
#define MANY '~' /* "mlx5_0~17": one of many names for mlx5_0 */

/* RDEV to MODE: in the order of enum rd_op. Seeds of the corpus go by these numbers. */
enum ask { READ, LIST, LINK, RDEV, INO, MODE, NETLINK, CLOCK };

struct question {
	uint64_t key;  /* first: for rd_find_u64 */
	uint64_t kind; /* the same for all of one name: "state" of every port */
	enum ask ask;
	char *path; /* READ and LINK */
};

struct questions {
	struct question *v;
	size_t n, cap;
};

/* Which questions a change is about. */
enum scope {
	THIS,
	ALIKE,
	LATER,	/* THIS, in samples behind the first and in the second of two hosts */
	OTHERS, /* what was not asked before */
};

struct chosen {
	enum scope scope;
	const struct question *question;
	struct change change;
};

static struct {
	struct questions *watched, *known;
	struct chosen changes[CHANGES_MAX];
	size_t n;
	unsigned samples, opened;
	struct alias {
		char *name, *of;
	} aliases[ALIASES_MAX];
	size_t n_aliases;
} now;

struct mutant {
	struct rd_source src;
	struct rd_source *inner;
	struct questions *watched;
	bool owned, second;
	unsigned sample;
};

static struct mutant *mutant_of(struct rd_source *src)
{
	return (struct mutant *)src;
}

struct questions *questions_create(void)
{
	return calloc(1, sizeof(struct questions));
}

static int compare(const void *a, const void *b)
{
	const struct question *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* Sorted, each once. */
static void settle(struct questions *questions)
{
	size_t n = 0;

	if (questions->n)
		qsort(questions->v, questions->n, sizeof(*questions->v), compare);
	for (size_t i = 0; i < questions->n; i++)
		if (n && questions->v[n - 1].key == questions->v[i].key)
			free(questions->v[i].path);
		else
			questions->v[n++] = questions->v[i];
	questions->n = n;
}

void mutant_watch(struct questions *questions)
{
	now.watched = questions;
}

void mutant_begin(struct questions *questions, struct reader *input, unsigned samples, bool refuse)
{
	now.watched = NULL;
	now.known = questions;
	now.samples = samples;
	now.opened = 0; /* the command as the host is may have run since mutant_end */
	settle(questions);
	while (input->size > 0 && now.n < CHANGES_MAX && questions->n > 0) {
		struct chosen *chosen = &now.changes[now.n++];

		chosen->scope = reader_byte(input) % (OTHERS + 1);
		chosen->question = &questions->v[reader_short(input) % questions->n];
		change_read(input, &chosen->change);
		/* Many of everything would be more than any host can hold. */
		if (chosen->scope != THIS && chosen->change.verb == V_REPEAT)
			chosen->change.pick %= MANY_MAX;
		if (refuse)
			change_refuse(&chosen->change);
	}
}

void mutant_end(void)
{
	for (size_t i = 0; i < now.n_aliases; i++) {
		free(now.aliases[i].name);
		free(now.aliases[i].of);
	}
	memset(&now, 0, sizeof(now));
}

static void watch(struct questions *questions, const struct question *question, const char *path)
{
	struct question *added;

	if (rd_grow(&questions->v, &questions->cap, questions->n + 1, sizeof(*questions->v)) < 0)
		return;
	added = &questions->v[questions->n++];
	*added = *question;
	added->path = question->ask == READ || question->ask == LINK ? strdup(path) : NULL;
}

/* A file of the checkout is the same wherever that lies. */
static const char *without_checkout(const char *path)
{
	static char here[4096];
	static size_t size;

	if (!size)
		size = getcwd(here, sizeof(here)) ? strlen(here) : 1;
	return strncmp(path, here, size) == 0 ? path + size : path;
}

static struct question about(enum ask ask, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	uint64_t hash = rd_hash(RD_HASH, &ask, sizeof(ask));

	path = without_checkout(path);
	return (struct question){ rd_hash(hash, path, strlen(path)), rd_hash(hash, name, strlen(name)), ask, NULL };
}

/* Requests of one kind begin alike: type, flags, and a family's command. */
static struct question about_request(int protocol, const void *request, size_t size)
{
	uint64_t hash = rd_hash(RD_HASH, &protocol, sizeof(protocol));
	const struct nlmsghdr *head = request;
	size_t kind = protocol == NETLINK_GENERIC && size > NLMSG_HDRLEN ? 1 : 0;

	return (struct question){
		rd_hash(hash, request, size),
		rd_hash(rd_hash(hash, &head->nlmsg_type, 2), (const char *)request + NLMSG_HDRLEN, kind), NETLINK, NULL
	};
}

static bool fits(const struct mutant *mutant, const struct chosen *chosen, const struct question *question)
{
	switch (chosen->scope) {
	case LATER:
		return (mutant->sample > 0 || mutant->second) && chosen->question->key == question->key;
	case ALIKE:
		return chosen->question->kind == question->kind;
	case OTHERS:
		return chosen->question->ask == question->ask &&
		       !rd_find_u64(now.known->v, now.known->n, sizeof(*now.known->v), question->key);
	default:
		return chosen->question->key == question->key;
	}
}

/* The next change to this question from `*at` on; NULL behind the last. */
static const struct change *next_change(struct mutant *mutant, const struct question *question, size_t *at)
{
	while (*at < now.n) {
		const struct chosen *chosen = &now.changes[(*at)++];

		if (fits(mutant, chosen, question))
			return &chosen->change;
	}
	return NULL;
}

static bool is_changed(struct mutant *mutant, const struct question *question, const char *path)
{
	size_t at = 0;

	if (mutant->watched)
		watch(mutant->watched, question, path);
	return next_change(mutant, question, &at) != NULL;
}

/* Where the member of that name, which the host does not have, gets its answers from. */
static const char *behind(const char *name, size_t size, size_t *ret)
{
	const char *many = memrchr(name, MANY, size);

	for (size_t i = 0; i < now.n_aliases; i++)
		if (strncmp(now.aliases[i].name, name, size) == 0 && !now.aliases[i].name[size]) {
			*ret = strlen(now.aliases[i].of);
			return now.aliases[i].of;
		}
	*ret = many && many > name ? (size_t)(many - name) : size;
	return name;
}

static char *place(const char *path)
{
	struct rd_buf out = { 0 };

	while (*path) {
		size_t size = strcspn(path, "/"), known;
		const char *name = behind(path, size, &known);

		rd_buf_add(&out, name, known);
		path += size;
		if (*path == '/') {
			rd_buf_str(&out, "/");
			path++;
		}
	}
	return out.data;
}

static void add_alias(const char *name, const char *of)
{
	struct alias *alias = &now.aliases[now.n_aliases];

	if (now.n_aliases == ALIASES_MAX || strcmp(name, of) == 0)
		return;
	*alias = (struct alias){ strdup(name), strdup(of) };
	now.n_aliases++;
}

/* The answer of another question of this kind. */
static const struct question *instead_of(enum ask ask, const struct change *change)
{
	for (size_t i = 0; i < now.known->n; i++) {
		const struct question *other = &now.known->v[(change->at + i) % now.known->n];

		if (other->ask == ask && other->path)
			return other;
	}
	return NULL;
}

static int mutant_read_file(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	struct mutant *mutant = mutant_of(src);
	struct question question = about(READ, path);
	bool changed = is_changed(mutant, &question, path);
	_cleanup_free_ char *real = place(path);
	const struct change *change;
	int r = rd_read_file(mutant->inner, real ? real : path, ret, err);

	for (size_t at = 0; changed && (change = next_change(mutant, &question, &at));) {
		const struct question *other;

		if (change->verb == V_ERRNO) {
			if (r == 0)
				rd_bytes_deinit(ret);
			return rd_err_set(err, change_errno(change), path, "made up");
		}
		/* What is a folder is no file. */
		if (r < 0 && r != -ENOENT)
			return r;
		if (r < 0)
			r = rd_bytes_copy("", 0, ret);
		other = change->verb == V_SWAP ? instead_of(READ, change) : NULL;
		if (other) {
			rd_bytes_deinit(ret);
			r = rd_read_file(mutant->inner, other->path, ret, err);
			if (r < 0)
				return r;
		}
		change_bytes(change, ret);
	}
	return r;
}

static int mutant_read_link(struct rd_source *src, const char *path, char **ret, struct rd_err *err)
{
	struct mutant *mutant = mutant_of(src);
	struct question question = about(LINK, path);
	bool changed = is_changed(mutant, &question, path);
	_cleanup_free_ char *real = place(path), *target = NULL;
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	const struct change *change;
	int r = rd_read_link(mutant->inner, real ? real : path, &target, err);

	if (!changed || (r < 0 && r != -ENOENT)) {
		if (r == 0)
			*ret = RD_TAKE(target);
		return r;
	}
	rd_bytes_copy(target ? target : path, strlen(target ? target : path), &bytes);
	for (size_t at = 0; (change = next_change(mutant, &question, &at));) {
		const struct question *other = change->verb == V_SWAP ? instead_of(LINK, change) : NULL;

		if (change->verb == V_ERRNO)
			return rd_err_set(err, change_errno(change), path, "made up");
		if (other) {
			rd_bytes_deinit(&bytes);
			rd_bytes_copy(other->path, strlen(other->path), &bytes);
		}
		change_bytes(change, &bytes);
	}
	if (!bytes.data[0]) /* no link has an empty target */
		return rd_err_set(err, ENOENT, path, "made up");
	*ret = strndup((const char *)bytes.data, 4095);
	return *ret ? 0 : rd_err_set(err, ENOMEM, path, "made up");
}

static int mutant_list_dir(struct rd_source *src, const char *path, struct rd_texts *ret, struct rd_err *err)
{
	struct mutant *mutant = mutant_of(src);
	struct question question = about(LIST, path);
	bool changed = is_changed(mutant, &question, path);
	_cleanup_free_ char *real = place(path);
	const struct change *change;
	int r = rd_list_dir(mutant->inner, real ? real : path, ret, err);

	for (size_t at = 0; changed && (change = next_change(mutant, &question, &at));) {
		if (change->verb == V_ERRNO) {
			if (r == 0)
				rd_texts_deinit(ret);
			return rd_err_set(err, change_errno(change), path, "made up");
		}
		if (r < 0 && r != -ENOENT)
			return r;
		if (r < 0)
			*ret = (struct rd_texts){ 0 };
		r = 0;
		change_names(change, MANY, add_alias, ret);
	}
	return r;
}

static int mutant_stat(struct rd_source *src, enum rd_op op, const char *path, uint64_t *ret, struct rd_err *err)
{
	struct mutant *mutant = mutant_of(src);
	struct question question = about((enum ask)(RDEV + op - RD_OP_RDEV), path);
	bool changed = is_changed(mutant, &question, path);
	_cleanup_free_ char *real = place(path);
	const struct change *change;
	int r = rd_stat(mutant->inner, op, real ? real : path, ret, err);

	for (size_t at = 0; changed && (change = next_change(mutant, &question, &at));) {
		if (change->verb == V_ERRNO)
			return rd_err_set(err, change_errno(change), path, "made up");
		*ret = change_number(change);
		r = 0;
	}
	return r;
}

static int mutant_netlink(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
			  struct rd_err *err)
{
	struct mutant *mutant = mutant_of(src);
	struct question question = about_request(protocol, request, size);
	bool changed = is_changed(mutant, &question, "");
	const struct change *change;
	int r = rd_netlink(mutant->inner, protocol, request, size, ret, err);

	for (size_t at = 0; changed && r == 0 && (change = next_change(mutant, &question, &at));) {
		if (change->verb != V_ERRNO)
			change_messages(change, ret);
		if (change->verb == V_ERRNO || !rd_nlmsgs_sound(ret->data, ret->size)) {
			rd_bytes_deinit(ret);
			return rd_err_set(err, change->verb == V_ERRNO ? change_errno(change) : EBADMSG, "netlink",
					  "made up");
		}
	}
	return r;
}

static int mutant_drain_events(struct rd_source *src, rd_event_fn *fn, void *arg, struct rd_err *err)
{
	return rd_drain_events(mutant_of(src)->inner, fn, arg, err);
}

/* A second lies between two samples. */
static uint64_t mutant_now(struct rd_source *src, int clock)
{
	struct mutant *mutant = mutant_of(src);
	uint64_t time = mutant->inner->ops->now(mutant->inner, clock) + mutant->sample * UINT64_C(1000000000);
	struct question question = about(CLOCK, clock ? "monotonic" : "realtime");
	const struct change *change;
	size_t at = 0;

	if (!is_changed(mutant, &question, ""))
		return time;
	while ((change = next_change(mutant, &question, &at)))
		time = change_number(change) % (INT64_MAX / 2);
	return time;
}

static void mutant_close(struct rd_source *src)
{
	struct mutant *mutant = mutant_of(src);

	if (mutant->owned)
		rd_source_closep(&mutant->inner);
	free(mutant);
}

static const struct source_parts mutant_ops = {
	.ops.get = parts_get,
	.ops.name = "bundle",
	.read_file = mutant_read_file,
	.list_dir = mutant_list_dir,
	.read_link = mutant_read_link,
	.stat = mutant_stat,
	.netlink = mutant_netlink,
	.ops.drain_events = mutant_drain_events,
	.ops.now = mutant_now,
	.ops.close = mutant_close,
};

struct rd_source *mutant_open(struct rd_source *inner, bool owned)
{
	struct mutant *mutant = calloc(1, sizeof(*mutant));

	if (!mutant)
		return NULL;
	*mutant = (struct mutant){ { &mutant_ops.ops }, inner, now.watched, owned, now.opened > 0, 0 };
	now.opened += !owned;
	return &mutant->src;
}

bool is_mutant(const struct rd_source *source)
{
	return source->ops == &mutant_ops.ops;
}

int mutant_next(struct rd_source *source, struct rd_err *err)
{
	struct mutant *mutant = mutant_of(source);

	if (mutant->sample >= now.samples)
		return rd_err_set(err, ENODATA, "bundle", "it has no more samples");
	mutant->sample++;
	return 0;
}
