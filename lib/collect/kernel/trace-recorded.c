// SPDX-License-Identifier: GPL-2.0-or-later
/* A recorded trace: lines of words for functions and the summary; events as the programs sent them, with what was known of each. What
 * --service leaves of the last hour. */
#include <linux/types.h>
#include <time.h>

#include "bpf/record.h"
#include "collect/kernel/kernel.h"

#define HEAD "trace 1"
#define FUNCTIONS_MAX ((size_t)1 << 17)

static int refuse(const char *what, struct rd_err *err)
{
	return rd_err_set(err, EBADMSG, "recorded trace", "%s", what);
}

/* ---- functions */

enum { CALLS_KNOWN = 1, INDIRECT = 2, OUTSIDE = 4, TAKEN = 8, MEMBER = 16, SELECTED = 32 };

void rd_trace_functions_pack(const struct rd_fnset *set, struct rd_buf *out)
{
	rd_buf_printf(out, HEAD " %zu %zu %zu\n", sizeof(struct rd_rec), sizeof(struct rd_rec_moment),
		      sizeof(struct rd_rec_request));
	for (const struct rd_module *m = set->modules; m < set->modules + set->n_modules; m++)
		rd_buf_printf(out, "module %s %d %d\n", m->name, m->rdma, m->has_ops);
	for (const struct rd_fn *f = set->fns; f < set->fns + set->n_fns; f++) {
		unsigned flags = (f->calls_known ? CALLS_KNOWN : 0) | (f->indirect ? INDIRECT : 0) |
				 (f->outside ? OUTSIDE : 0) | (f->taken ? TAKEN : 0) | (f->member ? MEMBER : 0) |
				 (f->selected ? SELECTED : 0);

		rd_buf_printf(out, "function %s %x %x %x %x %" PRIx64 " %" PRIx64 " %" PRIx64, f->name, f->module,
			      f->rule, f->backend, flags, f->errnos[0], f->errnos[1], f->errnos[2]);
		for (uint32_t i = 0; i < f->n_calls; i++)
			rd_buf_printf(out, " %x", f->calls[i]);
		rd_buf_str(out, "\n");
	}
}

static bool parse_module(char *rest, struct rd_fnset *set)
{
	const char *name = strsep(&rest, " "), *at = rest;
	uint64_t n[2];

	if (!at || rd_take_uints(&at, RD_DECIMAL, n, 2) != 2 || *at || set->n_modules == FUNCTIONS_MAX)
		return false;
	*RD_ADD(set->modules, set->n_modules, set->cap_modules) =
		(struct rd_module){ .name = rd_dup(name), .rdma = n[0], .has_ops = n[1] };
	return true;
}

static bool parse_function(char *rest, struct rd_fnset *set)
{
	const char *name = strsep(&rest, " "), *at = rest;
	uint64_t n[7], call;
	size_t n_calls = 0, cap = 0;
	struct rd_fn *fn;

	if (!at || rd_take_uints(&at, RD_HEX, n, 7) != 7 || n[0] >= set->n_modules || n[1] >= RD_RULE_COUNT ||
	    n[2] >= RD_BACKEND_COUNT || set->n_fns == FUNCTIONS_MAX)
		return false;
	fn = RD_ADD(set->fns, set->n_fns, set->cap_fns);
	*fn = (struct rd_fn){ .name = rd_dup(name),
			      .module = (uint32_t)n[0],
			      .rule = (enum rd_rule)n[1],
			      .backend = (enum rd_backend)n[2],
			      .calls_known = n[3] & CALLS_KNOWN,
			      .indirect = n[3] & INDIRECT,
			      .outside = n[3] & OUTSIDE,
			      .taken = n[3] & TAKEN,
			      .member = n[3] & MEMBER,
			      .selected = n[3] & SELECTED,
			      .errnos = { n[4], n[5], n[6] },
			      .qp_arg = -1,
			      .dev_arg = -1 };
	while (rd_take_uints(&at, RD_HEX, &call, 1) == 1) {
		if (call >= FUNCTIONS_MAX)
			return false;
		*RD_ADD(fn->calls, n_calls, cap) = (uint32_t)call;
	}
	fn->n_calls = (uint32_t)n_calls;
	return !*at;
}

int rd_trace_functions_parse(char *text, struct rd_fnset *ret, struct rd_err *err)
{
	char head[80], *line = strsep(&text, "\n"), *word;

	snprintf(head, sizeof(head), HEAD " %zu %zu %zu", sizeof(struct rd_rec), sizeof(struct rd_rec_moment),
		 sizeof(struct rd_rec_request));
	*ret = (struct rd_fnset){ 0 };
	if (strcmp(line, head) != 0)
		return refuse("written by another version, or on another architecture", err);
	while ((line = strsep(&text, "\n")) && *line) {
		word = strsep(&line, " ");
		if (!line || !(!strcmp(word, "module")	 ? parse_module(line, ret) :
			       !strcmp(word, "function") ? parse_function(line, ret) :
							   false))
			return refuse("its functions are damaged", err);
	}
	for (const struct rd_fn *fn = ret->fns; fn < ret->fns + ret->n_fns; fn++)
		for (uint32_t i = 0; i < fn->n_calls; i++)
			if (fn->calls[i] >= ret->n_fns)
				return refuse("a function calls one that is missing", err);
	return 0;
}

/* ---- events */

/* Followed by `texts` bytes of texts, each with its NUL, and the record. */
struct head {
	uint64_t time_ns;
	uint32_t texts, size;
	uint16_t host, confidence;
	uint32_t reserved;
};

/* In this order; empty: unknown. Behind the last one, the evidence. */
enum { IBDEV, CGROUP, BELOW, ID, CAUSE, FIX, HINT, TEXTS };

void rd_trace_recorded_pack(const struct rd_event *ev, enum rd_host_read host, const void *data, size_t size,
			    struct rd_buf *out)
{
	const struct rd_explanation *why = &ev->why;
	const char *const texts[TEXTS] = { ev->ibdev,  ev->cgroup, ev->below_modules, why->id,
					   why->cause, why->fix,   ev->hint };
	size_t start = out->len, n = host == RD_HOST_JUDGED ? TEXTS : ID;
	struct head head = { .time_ns = ev->time_ns,
			     .size = (uint32_t)size,
			     .host = (uint16_t)host,
			     .confidence = (uint16_t)why->confidence };

	rd_buf_add(out, &head, sizeof(head));
	for (size_t i = 0; i < n; i++)
		rd_buf_add(out, texts[i] ? texts[i] : "", texts[i] ? strlen(texts[i]) + 1 : 1);
	for (size_t i = 0; n == TEXTS && i < why->n_evidence; i++)
		rd_buf_add(out, why->evidence[i], strlen(why->evidence[i]) + 1);
	if (!out->failed) {
		head.texts = (uint32_t)(out->len - start - sizeof(head));
		memcpy(out->data + start, &head, sizeof(head));
	}
	rd_buf_add(out, data, size);
}

/* The next of the texts before `end`; NULL: empty, or there is none. */
static const char *next_text(const char **at, const char *end)
{
	const char *text = *at;

	if (text >= end)
		return NULL;
	*at += strlen(text) + 1;
	return *text ? text : NULL;
}

static void set_text(char **to, const char *text)
{
	free(*to);
	*to = rd_dup_if(text);
}

int rd_trace_recorded_next(struct rd_trace_facts *facts, const uint8_t **at, const uint8_t *end,
			   const struct rd_fnset *set, struct rd_event *ret, enum rd_host_read *host,
			   struct rd_err *err)
{
	const char *text = (const char *)*at + sizeof(struct head), *texts_end, *fact;
	struct rd_explanation *why = &ret->why;
	struct head head;
	int r;

	if (*at == end)
		return 0;
	if ((size_t)(end - *at) < sizeof(head))
		return refuse("an event is cut short", err);
	memcpy(&head, *at, sizeof(head));
	texts_end = text + head.texts;
	if ((uint64_t)(end - *at) - sizeof(head) < (uint64_t)head.texts + head.size || head.host > RD_HOST_JUDGED ||
	    head.confidence > RD_CONFIDENCE_HIGH || (head.texts && texts_end[-1]))
		return refuse("an event is damaged", err);
	r = rd_trace_event_decode(facts, texts_end, head.size, set, ret, err);
	if (r)
		return r;
	*at = (const uint8_t *)texts_end + head.size;
	*host = (enum rd_host_read)head.host;
	ret->time_ns = head.time_ns;
	set_text(&ret->ibdev, next_text(&text, texts_end));
	set_text(&ret->cgroup, next_text(&text, texts_end));
	ret->below_modules = rd_dup_if(next_text(&text, texts_end));
	if (head.host != RD_HOST_JUDGED)
		return 1;
	why->id = next_text(&text, texts_end);
	why->cause = rd_dup_if(next_text(&text, texts_end));
	why->fix = rd_dup_if(next_text(&text, texts_end));
	ret->hint = rd_dup_if(next_text(&text, texts_end));
	why->confidence = (enum rd_confidence)head.confidence;
	while ((fact = next_text(&text, texts_end)) && why->n_evidence < RD_EVIDENCE_MAX)
		why->evidence[why->n_evidence++] = rd_dup(fact);
	return 1;
}

/* ---- the summary: itself, then its counts, then notes */

struct counts {
	struct rd_origin_count c; /* its texts are those that follow */
	char texts[4][64];	  /* object, method, verb, ibdev */
};

void rd_trace_summary_pack(const struct rd_trace_summary *sum, const struct rd_errlist *notes, struct rd_buf *out)
{
	struct rd_trace_summary s = *sum;

	s.counts = NULL;
	rd_buf_add(out, &s, sizeof(s));
	for (const struct rd_origin_count *c = sum->counts; c < sum->counts + sum->n_counts; c++) {
		const char *const texts[] = { c->object, c->method, c->verb, c->ibdev };
		struct counts row = { .c = { .fn = c->fn, .err = c->err, .count = c->count, .benign = c->benign } };

		for (size_t i = 0; i < RD_ARRAY_SIZE(texts); i++)
			snprintf(row.texts[i], sizeof(row.texts[i]), "%s", texts[i] ? texts[i] : "");
		rd_buf_add(out, &row, sizeof(row));
	}
	if (notes->n)
		rd_buf_add(out, notes->v, notes->n * sizeof(*notes->v));
}

int rd_trace_summary_parse(struct rd_bytes *file, const struct rd_fnset *set, struct rd_trace_summary *ret,
			   struct rd_origin_count **counts, struct rd_errlist *notes, struct rd_err *err)
{
	struct counts *rows = (struct counts *)(file->data + sizeof(*ret));
	uint8_t *end = file->data + file->size, *at;

	*ret = (struct rd_trace_summary){ 0 };
	if (file->size < sizeof(*ret))
		return refuse("its summary is cut short", err);
	memcpy(ret, file->data, sizeof(*ret));
	if (ret->n_counts > (file->size - sizeof(*ret)) / sizeof(*rows) || ret->early_end > RD_EARLY_END_CPU ||
	    !(ret->seconds >= 0 && ret->seconds < 1e12))
		return refuse("its summary is damaged", err);
	*counts = rd_alloc(ret->n_counts + 1, sizeof(**counts));
	ret->counts = *counts;
	for (size_t i = 0; i < ret->n_counts; i++) {
		struct rd_origin_count *c = &(*counts)[i];

		for (size_t k = 0; k < RD_ARRAY_SIZE(rows->texts); k++)
			rows[i].texts[k][sizeof(rows->texts[k]) - 1] = '\0';
		*c = rows[i].c;
		c->object = *rows[i].texts[0] ? rows[i].texts[0] : NULL;
		c->method = *rows[i].texts[1] ? rows[i].texts[1] : NULL;
		c->verb = *rows[i].texts[2] ? rows[i].texts[2] : NULL;
		c->ibdev = *rows[i].texts[3] ? rows[i].texts[3] : NULL;
		if (c->fn < -1 || (c->fn >= 0 && (size_t)c->fn >= set->n_fns) || c->err < -4095 || c->err > 0)
			return refuse("its counts are damaged", err);
	}
	for (at = (uint8_t *)(rows + ret->n_counts); (size_t)(end - at) >= sizeof(struct rd_err);
	     at += sizeof(struct rd_err)) {
		struct rd_err note;

		memcpy(&note, at, offsetof(struct rd_err, listing));
		note.listing = false;
		note.object[sizeof(note.object) - 1] = note.message[sizeof(note.message) - 1] = '\0';
		note.hint[sizeof(note.hint) - 1] = '\0';
		rd_errlist_add(notes, &note);
	}
	return 0;
}

/* ---- the failures of the last hour */

#define SECOND UINT64_C(1000000000)
#define MINUTE (60 * SECOND)
#define SLACK (2 * MINUTE) /* the clock of a recording is stopped while it is made */
#define LOOP_END (15 * MINUTE)

static void end_texts(struct rd_recent_failure *f)
{
	f->where.function[sizeof(f->where.function) - 1] = f->where.module[sizeof(f->where.module) - 1] = 0;
	f->where.verb[sizeof(f->where.verb) - 1] = f->where.ibdev[sizeof(f->where.ibdev) - 1] = 0;
	f->where.job[sizeof(f->where.job) - 1] = f->comm[sizeof(f->comm) - 1] = f->cause[sizeof(f->cause) - 1] = 0;
}

/* Managers of jobs wait longer each time, at most twice as long as before: what did not fail since then has succeeded, or was stopped. */
static bool is_looping(const struct rd_recent_failure *f, uint64_t now)
{
	uint64_t ago = now > f->at_ns ? now - f->at_ns : 0;

	return f->failed > 0 && ago < LOOP_END && ago / 2 <= f->gap_ns + MINUTE / 2;
}

static uint64_t count_hour(const struct rd_recent_failure *f, uint64_t now)
{
	uint64_t last = f->last_ns / MINUTE, n = 0;

	for (uint64_t k = 0; k < RD_ARRAY_SIZE(f->minutes) && k <= last; k++)
		if (last - k + RD_ARRAY_SIZE(f->minutes) > now / MINUTE)
			n += f->minutes[(last - k) % RD_ARRAY_SIZE(f->minutes)];
	return n;
}

static int compare_counts(const void *a, const void *b)
{
	const struct rd_recent_failure *x = a, *y = b;

	return RD_CMP(y->where.count, x->where.count) ?: RD_CMP(y->last_ns, x->last_ns);
}

static void take_failures(struct rd_recent_file *file, struct rd_recent *ret)
{
	for (size_t i = 0; i < RD_RECENT_MAX; i++) {
		struct rd_recent_failure *f = &file->v[i];

		if (!f->key || f->where.err >= 0 || f->where.err < -4095 || f->last_ns > file->written_ns)
			continue;
		end_texts(f);
		f->loops = is_looping(f, ret->now_ns);
		f->where.count = count_hour(f, ret->now_ns);
		if (f->where.count)
			file->v[ret->n++] = *f;
	}
	rd_sort(file->v, ret->n, sizeof(*file->v), compare_counts);
}

void rd_collect_recent(struct rd_source *src, struct rd_recent *ret)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_recent_file *file;
	uint64_t device = 0;
	int r = rd_stat(src, RD_OP_RDEV, RD_SOURCE_RECENT, &device, NULL);

	*ret = (struct rd_recent){ .now_ns = src->ops->now(src, CLOCK_MONOTONIC),
				   .why = "trace-errno --service does not run, or was not recorded" };
	if (!r && !device)
		r = rd_read_file(src, RD_SOURCE_RECENT, &bytes, NULL);
	/* Empty: redacted. */
	if (r == -ENOENT || (!r && !device && !bytes.size))
		return;
	file = (struct rd_recent_file *)bytes.data;
	if (r < 0 || bytes.size != sizeof(*file) || memcmp(file->magic, RD_RECENT_MAGIC, sizeof(file->magic)) != 0 ||
	    file->version != RD_RECENT_VERSION || file->size != sizeof(*file)) {
		ret->known = RD_DENIED;
		ret->why = r < 0 ? RD_SOURCE_RECENT " cannot be read" : RD_SOURCE_RECENT " is not of this version";
		return;
	}
	/* The service ended, or the host was booted since. */
	if (file->written_ns > ret->now_ns + SLACK || file->until_ns < ret->now_ns || file->since_ns > file->written_ns)
		return;
	ret->known = RD_OK;
	ret->file = (struct rd_recent_file *)RD_TAKE(bytes.data);
	ret->an_hour = file->written_ns - file->since_ns >= 60 * MINUTE;
	file->box[sizeof(file->box) - 1] = 0;
	take_failures(file, ret);
}
