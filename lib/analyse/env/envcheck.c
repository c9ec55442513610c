/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks variables: what the rules share, numbers and switches as each library parses them, and the libraries in turn. */
#include "analyse/env/envcheck.h"

#include <stdarg.h>
#include <strings.h>

#include "analyse/env/envcheck-priv.h"

/* Findings, lists and port queries that the rules share. */

void rd_envcheck_finding_fix(struct rd_check_env *check, enum rd_severity severity, const char *id, const char *title,
			     const char *why, char *observed, char *expected, char *fix)
{
	const struct rd_effect *effect = check->effect;
	size_t size = strlen(effect->value);
	struct rd_finding finding = {
		.id = id,
		.severity = check->minor && severity > RD_SEV_NOTE ? RD_SEV_NOTE : severity,
		.title = title,
		.why = why,
		/* Truncated: a list can have any length, and several findings may be about it. */
		.subject = size <= RD_ENV_QUOTED ?
				   rd_text("%s=%s", effect->name, effect->value) :
				   rd_text("%s=%.*s... (%zu bytes)", effect->name, RD_ENV_QUOTED, effect->value, size),
		.observed = observed,
		.expected = expected,
		.fix = fix,
	};

	rd_finding_add(check->findings, &finding);
}

void rd_envcheck_finding(struct rd_check_env *check, enum rd_severity severity, const char *id, const char *title,
			 const char *why, char *observed, char *expected)
{
	rd_envcheck_finding_fix(check, severity, id, title, why, observed, expected, NULL);
}

void rd_envcheck_effect(struct rd_check_env *check, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = rd_vtext(fmt, ap);
	va_end(ap);
	if (check->effects.len)
		rd_buf_str(&check->effects, "; ");
	rd_buf_str(&check->effects, text);
	free(text);
}

/* "not known to release 2.32.3 of NCCL": the newest release in our list of the library's names. A newer one may know it. A new
 * string. `library`: as rd_env_name_known sets it. */
static char *not_known(const char *library)
{
	for (size_t i = 0; i < rd_env_n_names; i++)
		if (rd_env_names[i].release && strcmp(rd_env_names[i].title, library) == 0)
			return rd_text("not known to release %s of %s", rd_env_names[i].release, library);
	return rd_text("not known to %s", library);
}

void rd_envcheck_unknown_value(struct rd_check_env *check, char *value, char *expected)
{
	_cleanup_free_ char *unknown = not_known(check->effect->library),
			    *text = value ?: rd_text("%s", check->effect->value);

	rd_envcheck_effect(check, "'%.*s' is %s", RD_ENV_QUOTED, text, unknown);
	rd_envcheck_finding(check, RD_SEV_NOTE, "env-unknown-value", "Value is not known",
			    "the setting has no effect, or the job fails, unless a newer release knows the value",
			    rd_text("%.*s: %s", RD_ENV_QUOTED, text, unknown), expected);
}

void rd_envcheck_selects(struct rd_check_env *check, size_t port)
{
	if (check->selected[port])
		return;
	check->selected[port] = true;
	rd_buf_printf(&check->selects, "%s%s", check->selects.len ? " " : "",
		      rd_port_label(check->host, &check->host->ports[port]).text);
}

void rd_env_list_add(struct rd_env_list *list, const char *name, size_t size)
{
	if (list->n++ < RD_ENV_NAMED)
		rd_buf_printf(&list->text, "%s%.*s%s", list->text.len ? ", " : "",
			      (int)(size < RD_ENV_QUOTED ? size : RD_ENV_QUOTED), name,
			      size > RD_ENV_QUOTED ? "..." : "");
}

char *rd_env_list_take(struct rd_env_list *list)
{
	char *text;

	if (list->n > RD_ENV_NAMED)
		rd_buf_printf(&list->text, " and %zu more", list->n - RD_ENV_NAMED);
	text = RD_TAKE(list->text.data);
	rd_buf_deinit(&list->text);
	*list = (struct rd_env_list){ 0 };
	return text;
}

bool rd_envcheck_listed(const char *words, const char *word, size_t size, bool exact_case)
{
	_cleanup_free_ char *text = rd_text(" %.*s ", (int)size, word);

	return (exact_case ? strstr(words, text) : strcasestr(words, text)) != NULL;
}

bool rd_env_entry(const char **at, const char **entry, size_t *size)
{
	while (**at == ',')
		(*at)++;
	*entry = *at;
	*size = strcspn(*at, ",");
	*at += *size;
	return *size > 0;
}

bool rd_envcheck_uses(const struct rd_check_env *check, size_t port)
{
	if (!rd_port_active(&check->host->ports[port]))
		return false;
	return check->by_hca ? check->by_hca[port] : check->views->v[port].role == RD_ROLE_COMPUTE;
}

bool rd_envcheck_has_rdma(const struct rd_check_env *check, bool efa)
{
	const struct rd_host *host = check->host;

	for (size_t p = 0; p < host->n_ports; p++)
		if (rd_port_active(&host->ports[p]) && check->views->v[p].role == RD_ROLE_COMPUTE &&
		    (efa || !rd_ibdev_is_efa(host, host->ports[p].ibdev)))
			return true;
	return false;
}

void rd_envcheck_effect_count(struct rd_check_env *check)
{
	size_t n = 0, active = 0;

	for (size_t p = 0; p < check->host->n_ports; p++) {
		n += check->selected[p];
		active += rd_port_active(&check->host->ports[p]);
	}
	rd_envcheck_effect(check, "%zu of %zu active ports", n, active);
}

/* Numbers and switches, as each library parses them: NCCL src/misc/param.cc, NVSHMEM env_defs_internal.h, UCX
 * src/ucs/config/parser.c, libfabric src/var.c, Mooncake config.cpp. */

bool rd_envcheck_number(const char *text, long *ret)
{
	char *end;

	errno = 0;
	*ret = strtol(text, &end, 10);
	return !errno && end != text && !*end;
}

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcasecmp(text, *words) == 0)
			return true;
	return false;
}

static enum rd_env_got read_word(enum rd_env_read read, const char *text, long standard, long *ret)
{
	static const char *const word_on[] = { "1", "true", "yes", "on", NULL };
	static const char *const word_off[] = { "0", "false", "no", "off", NULL };
	static const char *const no_words[] = { "yes", "on", "no", "off", NULL };
	static const char *const ucx_on[] = { "1", "y", "yes", "on", NULL };
	static const char *const ucx_off[] = { "0", "n", "no", "off", NULL };
	bool ucx = read == RD_ENV_UCX_BOOL, on = is_one_of(text, ucx ? ucx_on : word_on);

	*ret = on;
	if ((on || is_one_of(text, ucx ? ucx_off : word_off)) && !(read == RD_ENV_TRUE && is_one_of(text, no_words)))
		return RD_ENV_OK;
	*ret = standard;
	return ucx ? RD_ENV_REFUSED : RD_ENV_DEFAULT;
}

static enum rd_env_got read_number(enum rd_env_read read, const char *text, long standard, long *ret)
{
	char *end;

	if (read == RD_ENV_NCCL && !*text) {
		*ret = standard;
		return RD_ENV_DEFAULT;
	}
	errno = 0;
	*ret = strtol(text, &end, read == RD_ENV_NCCL || read == RD_ENV_ANY_BASE ? 0 : 10);
	if (errno && (read == RD_ENV_NCCL || read == RD_ENV_STOI)) {
		*ret = standard;
		return RD_ENV_DEFAULT;
	}
	if (end == text) {
		*ret = read == RD_ENV_STOI ? standard : 0;
		return read == RD_ENV_STOI ? RD_ENV_DEFAULT : RD_ENV_ZERO;
	}
	end += strspn(end, " \t");
	return *end ? RD_ENV_PART : RD_ENV_OK;
}

enum rd_env_got rd_envcheck_read(enum rd_env_read read, const char *text, long standard, long *ret)
{
	switch (read) {
	case RD_ENV_LETTER:
		*ret = !*text || !strchr("0NnFf", *text);
		return RD_ENV_OK;
	case RD_ENV_WORD:
	case RD_ENV_TRUE:
	case RD_ENV_UCX_BOOL:
		return read_word(read, text, standard, ret);
	case RD_ENV_UCX_AUTO:
		*ret = standard;
		if (strcasecmp(text, "auto") == 0 || strcasecmp(text, "inf") == 0)
			return RD_ENV_NO_NUMBER;
		/* fall through */
	case RD_ENV_UCX_UINT:
		return rd_envcheck_number(text, ret) && *ret >= 0 ? RD_ENV_OK : RD_ENV_REFUSED;
	default:
		return read_number(read, text, standard, ret);
	}
}

long rd_env_number(const struct rd_effects *all, enum rd_env_read read, const char *name, long standard)
{
	const char *text = rd_effects_get(all, name);
	long value = standard;

	if (text)
		rd_envcheck_read(read, text, standard, &value);
	return value;
}

bool rd_envcheck_value(struct rd_check_env *check, enum rd_env_read read, long standard, long *ret)
{
	const char *library = check->effect->library;

	switch (rd_envcheck_read(read, check->effect->value, standard, ret)) {
	case RD_ENV_OK:
		return true;
	case RD_ENV_PART:
		rd_envcheck_effect(check, "%s reads %ld", library, *ret);
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-no-number", "Only the start of the value is a number",
				    "the rest is ignored", rd_text("%s reads %ld", library, *ret), NULL);
		return true;
	case RD_ENV_ZERO:
		rd_envcheck_effect(check, "%s reads 0", library);
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-no-number", "Value is not a number",
				    "the library reads any word as 0", rd_text("%s reads 0", library),
				    rd_text("a number"));
		return true;
	case RD_ENV_DEFAULT:
		rd_envcheck_effect(check, "%s keeps its default, %ld", library, standard);
		if (*check->effect->value)
			rd_envcheck_finding(check, RD_SEV_WARNING, "env-ignored", "Invalid value",
					    "the library uses its default",
					    rd_text("the default, %ld, is used", standard), NULL);
		return false;
	case RD_ENV_REFUSED:
		rd_envcheck_effect(check, "%s rejects it and fails to start", library);
		rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-refused", "Library rejects the value",
				    "parsing its configuration fails", NULL, NULL);
		return false;
	case RD_ENV_NO_NUMBER:
		break;
	}
	rd_envcheck_effect(check, "%s: %s selects the value", check->effect->value, library);
	return false;
}

static const struct rd_env_meaning *find_meaning(const struct rd_env_values *values, long value)
{
	for (const struct rd_env_meaning *meaning = values->meanings; meaning && meaning->text; meaning++)
		if (meaning->value == value)
			return meaning;
	return NULL;
}

static void report_out_of_range(struct rd_check_env *check, const struct rd_env_values *values, long value)
{
	const char *outside = values->outside ?: "the library uses its default";

	if (values->meanings && !values->text)
		return rd_envcheck_unknown_value(check, rd_text("%ld", value),
						 rd_text("%ld to %ld", values->min, values->max));
	rd_envcheck_effect(check, "%ld is outside %ld to %ld: %s", value, values->min, values->max, outside);
	rd_envcheck_finding(check, values->fails ? RD_SEV_CRITICAL : RD_SEV_WARNING, "env-out-of-range",
			    "Value out of range", outside, rd_text("%ld", value),
			    rd_text("%ld to %ld", values->min, values->max));
}

void rd_envcheck_values(struct rd_check_env *check)
{
	const struct rd_env_values *values = check->values;
	const struct rd_env_meaning *meaning;
	long value;

	if (!rd_envcheck_value(check, values->read, values->standard, &value))
		return;
	meaning = find_meaning(values, value);
	if (!meaning && (values->min || values->max) && (value < values->min || value > values->max))
		return report_out_of_range(check, values, value);
	if (meaning)
		rd_envcheck_effect(check, "%s%s", meaning->text, value == values->standard ? " (the default)" : "");
	else if (values->text)
		rd_envcheck_effect(check, values->text, value);
	if (meaning && meaning->severity)
		rd_envcheck_finding_fix(check, meaning->severity, meaning->id, meaning->title, meaning->why, NULL, NULL,
					meaning->fix ? rd_text("%s", meaning->fix) : NULL);
}

#define MISSPELT_MAX 200 /* unknown names that are compared with all known names: a file can hold any number of them */

static const struct rd_env_rules *const libraries[] = {
	&rd_env_nccl, &rd_env_nvshmem, &rd_env_ucx, &rd_env_libfabric, &rd_env_gloo, &rd_env_mooncake,
};

/* Quotes that no shell removed. */
static bool is_quoted(const char *value)
{
	size_t n = strlen(value);

	return n >= 2 && (*value == '"' || *value == '\'') && value[n - 1] == *value;
}

static void check_variable(struct rd_check_env *check, const struct rd_env_rules *rules, const struct rd_env_rule *rule,
			   bool *by_hca)
{
	const char *unused_by;

	check->selects = check->effects = (struct rd_buf){ 0 };
	check->minor = false;
	check->values = &rule->values;
	memset(check->selected, 0, check->host->n_ports);
	/* An unused setting is not a fault: only the setting that makes it unused is reported. */
	unused_by = rules->unused_by ? rules->unused_by(check->all, rule->name) : NULL;
	if (unused_by) {
		rd_envcheck_effect(check, "not used: %s", unused_by);
	} else if (is_quoted(check->effect->value)) {
		rd_envcheck_effect(check, "not checked: the quotes are part of the value");
		rd_envcheck_finding(
			check, RD_SEV_WARNING, "env-quoted", "Quotes are part of the value",
			"docker --env-file and nccl.conf do not remove quotes, so the library reads them as part of the value",
			NULL, rd_text("the value without quotes"));
	} else if (rule->check) {
		rule->check(check);
	} else {
		rd_envcheck_values(check);
	}
	if (rule->hca) {
		memcpy(by_hca, check->selected, check->host->n_ports);
		check->by_hca = by_hca;
	}
	if (strcmp(rule->name, "NCCL_IB_HCA") == 0 && !(rules->unused_by && rules->unused_by(check->all, rule->name)))
		rd_envcheck_own_gid(check);
	check->effect->judged = RD_JUDGED_YES;
	RD_FREE(check->effect->selects, check->effect->effect);
	check->effect->selects = check->selects.data;
	check->effect->effect = check->effects.data;
}

static void check_unknown(struct rd_check_env *check, struct rd_effect *effect, enum rd_env_known known,
			  const char *note, size_t *compared)
{
	_cleanup_free_ char *near = NULL, *unknown = not_known(effect->library);

	if (known == RD_ENV_NAME_UNKNOWN && (*compared)++ < MISSPELT_MAX)
		near = rd_env_name_near(effect->name);
	if (known == RD_ENV_NAME_OTHER)
		effect->effect = rd_text("not read by %s itself, but by %s", effect->library, note);
	else if (near)
		effect->effect = rd_text("%s: did you mean %s?", unknown, near);
	else
		effect->effect = rd_text("%s", note ?: unknown);
	effect->judged = known == RD_ENV_NAME_OTHER ? RD_JUDGED_NO : RD_JUDGED_UNKNOWN;
	check->effect = effect;
	if (known == RD_ENV_NAME_RETIRED)
		return rd_envcheck_finding(check, RD_SEV_NOTE, "env-retired", "Library no longer reads this variable",
					   "the setting has no effect", rd_text("%s", note), NULL);
	if (!near)
		return;
	rd_envcheck_finding_fix(check, RD_SEV_NOTE, "env-unknown-name", "Name is not known, and similar to one that is",
				"the setting has no effect unless a newer release reads it", RD_TAKE(unknown),
				rd_text("%s", near), rd_text("# rename it to %s in the job's environment", near));
}

void rd_envcheck(const struct rd_port_views *views, struct rd_effects *effects, struct rd_findings *findings)
{
	const struct rd_host *host = views->host;
	_cleanup_free_ bool *selected = rd_alloc(host->n_ports + 1, 1), *by_hca = rd_alloc(host->n_ports + 1, 1);
	struct rd_check_env check = {
		.host = host, .views = views, .all = effects, .findings = findings, .selected = selected
	};
	size_t compared = 0;

	rd_effects_sort(effects);
	for (size_t i = 0; i < RD_ARRAY_SIZE(libraries); i++) {
		check.by_hca = NULL;
		for (size_t k = 0; k < libraries[i]->n; k++) {
			check.effect = rd_effects_find(effects, libraries[i]->v[k].name);
			if (check.effect)
				check_variable(&check, libraries[i], &libraries[i]->v[k], by_hca);
		}
	}
	/* Variables without a rule: only the name is checked. */
	for (size_t i = 0; i < effects->n; i++) {
		struct rd_effect *effect = &effects->v[i];
		enum rd_env_known known;
		const char *note;

		if (effect->judged == RD_JUDGED_YES)
			continue;
		known = rd_env_name_known(effect->name, NULL, &note);
		free(effect->effect);
		effect->effect = NULL;
		effect->judged = RD_JUDGED_NO;
		if (known != RD_ENV_NAME_KNOWN)
			check_unknown(&check, effect, known, note, &compared);
	}
}
