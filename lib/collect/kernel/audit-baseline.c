// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/kernel/kernel.h"

#include "source/bundle/json-read.h"

/* Calls and errnos of one function. A function of the kernel calls fewer than 200 others. */
#define LIST_MAX 4096
/* All drivers of a distribution have 40. The module of each function is looked up among them. */
#define MODULES_MAX 128
/* Functions of one name. All drivers of a distribution have 26, one a module. */
#define SAME_NAME_MAX 1000

struct reader {
	struct rd_json json;
	struct rd_buf name, text; /* of a member */
	struct rd_audit_set *set;
	bool schema; /* it is a document of an audit */
	bool too_many;
	bool hooks, errnos; /* the function that is being read has these lists */
};

static bool is(const struct reader *rd, const char *name)
{
	return rd->name.data && !strcmp(rd->name.data, name);
}

/* A text or null, which is skipped. */
static char *take_text(struct reader *rd)
{
	if (rd_json_peek(&rd->json) != '"') {
		rd_json_skip(&rd->json);
		return NULL;
	}
	rd->text.len = 0;
	if (!rd_json_text(&rd->json, &rd->text))
		return NULL;
	return rd_dup(rd->text.data ? rd->text.data : "");
}

/* Whether the value is a literal that begins so: 't', true; 'f', false. Anything else, as null, is not known to be it. */
static bool take_literal(struct reader *rd, char first)
{
	bool value = rd_json_peek(&rd->json) == first;

	rd_json_skip(&rd->json);
	return value;
}

static uint32_t take_uint32(struct reader *rd)
{
	uint64_t value = 0;

	if (rd_json_peek(&rd->json) == 'n')
		rd_json_skip(&rd->json);
	else if (rd_json_uint(&rd->json, &value) && value > UINT32_MAX)
		rd->json.failed = true;
	return (uint32_t)value;
}

/* Takes the elements of a list of texts. */
typedef void take_fn(struct rd_audit_fn *fn, const char *text);

/* Whether it was a list, and not null. */
static bool take_list(struct reader *rd, struct rd_audit_fn *fn, take_fn *take)
{
	size_t n = 0;

	if (rd_json_peek(&rd->json) == 'n') {
		rd_json_skip(&rd->json);
		return false;
	}
	if (!rd_json_enter(&rd->json, '['))
		return false;
	while (rd_json_element(&rd->json)) {
		_cleanup_free_ char *text = take_text(rd);

		if (text && ++n <= LIST_MAX)
			take(fn, text);
	}
	rd->too_many |= n > LIST_MAX;
	return true;
}

static void take_backend(struct rd_audit_fn *fn, const char *text)
{
	enum rd_backend backend;

	if (!rd_backend_parse(text, &backend))
		fn->attachable |= (uint8_t)(1u << backend);
}

static void take_errno(struct rd_audit_fn *fn, const char *text)
{
	int code = rd_errno_parse(text);

	if (code > 0 && (size_t)code < 64 * RD_ARRAY_SIZE(fn->errnos))
		fn->errnos[code / 64] |= 1ull << code % 64;
}

static void take_root(struct rd_audit_fn *fn, const char *text)
{
	fn->root |= fn->function && !strcmp(fn->function, text);
}

static void take_call(struct rd_audit_fn *fn, const char *text)
{
	size_t cap = fn->n_calls;

	*RD_ADD(fn->calls, fn->n_calls, cap) = rd_dup(text);
}

static void take_fn_member(struct reader *rd, struct rd_audit_fn *fn)
{
	_cleanup_free_ char *rule = NULL;

	if (is(rd, "function") && !fn->function)
		fn->function = take_text(rd);
	else if (is(rd, "module") && !fn->module)
		fn->module = take_text(rd);
	else if (is(rd, "selected"))
		fn->selected = take_literal(rd, 't');
	else if (is(rd, "reason"))
		rule = take_text(rd);
	else if (is(rd, "size_bytes"))
		fn->size = take_uint32(rd);
	else if (is(rd, "attachable"))
		rd->hooks = take_list(rd, fn, take_backend);
	else if (is(rd, "roots"))
		take_list(rd, fn, take_root);
	else if (is(rd, "via") && !fn->via)
		fn->via = take_text(rd);
	else if (is(rd, "address_taken"))
		fn->taken = take_literal(rd, 't');
	else if (is(rd, "other_calls"))
		fn->other_calls = !take_literal(rd, 'f');
	else if (is(rd, "errnos"))
		rd->errnos = take_list(rd, fn, take_errno);
	else if (is(rd, "calls"))
		take_list(rd, fn, take_call);
	else
		rd_json_skip(&rd->json);
	for (int i = 0; rule && i < RD_RULE_COUNT; i++)
		if (!strcmp(rule, rd_rule_name((enum rd_rule)i)))
			fn->rule = (enum rd_rule)i;
}

/* Enters the next object of a list of at most `max`, of which there are `n`. */
static bool next_object(struct reader *rd, size_t n, size_t max)
{
	if (!rd_json_element(&rd->json) || rd->too_many || !rd_json_enter(&rd->json, '{'))
		return false;
	rd->too_many = n == max;
	return !rd->too_many;
}

static void take_functions(struct reader *rd)
{
	struct rd_audit_set *set = rd->set;

	if (!rd_json_enter(&rd->json, '['))
		return;
	while (next_object(rd, set->n, RD_AUDIT_FNS_MAX)) {
		struct rd_audit_fn *fn = RD_ADD(set->fns, set->n, set->cap);

		*fn = (struct rd_audit_fn){ .rule = RD_RULE_NOT_REACHED };
		rd->hooks = rd->errnos = false;
		while (rd_json_member(&rd->json, &rd->name))
			take_fn_member(rd, fn);
		fn->function = fn->function ? fn->function : rd_dup("");
		fn->module = fn->module ? fn->module : rd_dup("");
		/* Without these, comparing it would find differences that are none. */
		rd->json.failed |= !*fn->function || !*fn->module || (fn->selected && !rd->hooks) ||
				   (fn->selected && fn->size && !rd->errnos);
	}
}

static void take_modules(struct reader *rd)
{
	struct rd_audit_set *set = rd->set;

	if (!rd_json_enter(&rd->json, '['))
		return;
	while (next_object(rd, set->n_modules, MODULES_MAX)) {
		struct rd_audit_module *module = RD_ADD(set->modules, set->n_modules, set->cap_modules);

		*module = (struct rd_audit_module){ 0 };
		while (rd_json_member(&rd->json, &rd->name))
			if (is(rd, "module") && !module->name)
				module->name = take_text(rd);
			else if (is(rd, "version") && !module->version)
				module->version = take_text(rd);
			else if (is(rd, "btf"))
				module->has_btf = take_literal(rd, 't');
			else if (is(rd, "file_matches"))
				module->has_file = take_literal(rd, 't');
			else if (is(rd, "unnamed_functions"))
				module->stripped = take_uint32(rd) > 0;
			else
				rd_json_skip(&rd->json);
		module->name = module->name ? module->name : rd_dup("");
	}
}

static void take_probes(struct reader *rd)
{
	struct rd_audit_set *set = rd->set;

	if (!rd_json_enter(&rd->json, '['))
		return;
	while (next_object(rd, set->n_probes, LIST_MAX)) {
		struct rd_audit_probe *probe = RD_ADD(set->probes, set->n_probes, set->cap_probes);

		*probe = (struct rd_audit_probe){ .err = -1 };
		while (rd_json_member(&rd->json, &rd->name))
			if (is(rd, "call") && !probe->name)
				probe->name = take_text(rd);
			else if (is(rd, "origin") && !probe->origin)
				probe->origin = take_text(rd);
			else
				rd_json_skip(&rd->json);
		probe->name = probe->name ? probe->name : rd_dup("");
		probe->seen = probe->origin != NULL;
	}
}

static void take_member(struct reader *rd)
{
	_cleanup_free_ char *schema = is(rd, "schema") ? take_text(rd) : NULL;

	if (is(rd, "schema"))
		rd->schema = schema && !strcmp(schema, RD_AUDIT_SCHEMA);
	else if (is(rd, "kernel") && !rd->set->kernel)
		rd->set->kernel = take_text(rd);
	else if (is(rd, "version") && !rd->set->version)
		rd->set->version = take_text(rd);
	else if (is(rd, "complete"))
		rd->set->complete = take_literal(rd, 't');
	else if (is(rd, "functions") && !rd->set->n)
		take_functions(rd);
	else if (is(rd, "modules") && !rd->set->n_modules)
		take_modules(rd);
	else if (is(rd, "probes") && !rd->set->n_probes)
		take_probes(rd);
	else
		rd_json_skip(&rd->json);
}

static int compare_names(const void *a, const void *b)
{
	return rd_fn_compare_bare(*(const char *const *)a, *(const char *const *)b);
}

/* Functions of one name are compared each with each. */
static bool has_too_many_of_a_name(const struct rd_audit_set *set)
{
	_cleanup_free_ const char **names = rd_alloc(set->n + 1, sizeof(*names));
	size_t n = 1;

	for (size_t i = 0; i < set->n; i++)
		names[i] = set->fns[i].function;
	qsort(names, set->n, sizeof(*names), compare_names);
	for (size_t i = 1; i < set->n && n <= SAME_NAME_MAX; i++)
		n = compare_names(&names[i - 1], &names[i]) ? 1 : n + 1;
	return n > SAME_NAME_MAX;
}

int rd_audit_baseline_parse(const void *data, size_t size, struct rd_audit_set *ret, struct rd_err *err)
{
	struct rd_audit_set set = { 0 };
	struct reader rd = { .set = &set };
	bool ok;

	rd_json_init(&rd.json, data, size);
	if (rd_json_enter(&rd.json, '{'))
		while (rd_json_member(&rd.json, &rd.name) && !rd.too_many)
			take_member(&rd);
	ok = rd.schema && !rd.too_many && rd_json_end(&rd.json) && set.kernel && set.n && set.n_modules;
	rd_buf_deinit(&rd.name);
	rd_buf_deinit(&rd.text);
	rd.too_many |= ok && has_too_many_of_a_name(&set);
	if (ok && !rd.too_many) {
		*ret = set;
		return 0;
	}
	rd_audit_set_deinit(&set);
	if (rd.too_many)
		return rd_err_set(err, EFBIG, NULL, "more functions or modules than any kernel has");
	rd_err_set(err, EBADMSG, NULL, rd.schema ? "damaged baseline" : "not a baseline of trace-errno --audit");
	rd_err_hint(err, "write one with --write-baseline FILE");
	return -EBADMSG;
}
