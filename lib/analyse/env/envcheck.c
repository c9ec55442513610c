/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/env/envcheck.h"

#include <string.h>

#include "analyse/env/env-names.h"
#include "analyse/env/envcheck-priv.h"
#include "base/memory.h"
#include "base/text.h"

#define MISSPELT_MAX 200 /* unknown names that are compared with all known names: a file can hold any number of them */

static const struct rd_env_rules *const libraries[] = {
	&rd_env_nccl, &rd_env_nvshmem, &rd_env_ucx, &rd_env_libfabric, &rd_env_gloo, &rd_env_mooncake,
};

/* State while the variables of one library are checked. */
struct check_state {
	struct rd_check_env check;
	bool *selected, *by_hca; /* one per port */
	bool by_hca_set;
};

/* Quotes that no shell removed. */
static bool is_quoted(const char *value)
{
	size_t n = strlen(value);

	return n >= 2 && (*value == '"' || *value == '\'') && value[n - 1] == *value;
}

/* An unused setting is not a fault: only the setting that makes it unused is reported. */
static void apply_rule(struct check_state *st, const struct rd_env_rules *rules, const struct rd_env_rule *rule)
{
	struct rd_check_env *check = &st->check;
	const char *unused_by = rules->unused_by ? rules->unused_by(check->all, rule->name) : NULL;

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
		rd_envcheck_values(check, rule->values);
	}
}

static void check_variable(struct check_state *st, const struct rd_env_rules *rules, const struct rd_env_rule *rule)
{
	struct rd_check_env *check = &st->check;

	check->selects = check->effects = (struct rd_buf){ 0 };
	check->minor = false;
	check->by_hca = st->by_hca_set ? st->by_hca : NULL;
	memset(st->selected, 0, check->host->n_ports);
	apply_rule(st, rules, rule);
	if (rule->hca) {
		memcpy(st->by_hca, st->selected, check->host->n_ports);
		st->by_hca_set = true;
	}
	if (strcmp(rule->name, "NCCL_IB_HCA") == 0 && !(rules->unused_by && rules->unused_by(check->all, rule->name))) {
		check->by_hca = st->by_hca;
		rd_envcheck_own_gid(check);
	}
	check->effect->judged = RD_JUDGED_YES;
	RD_FREE(check->effect->selects, check->effect->effect);
	check->effect->selects = check->selects.data;
	check->effect->effect = check->effects.data;
}

static void check_library(struct check_state *st, const struct rd_env_rules *rules)
{
	st->by_hca_set = false;
	for (size_t i = 0; i < rules->n; i++) {
		st->check.effect = rd_effects_find(st->check.all, rules->v[i].name);
		if (st->check.effect)
			check_variable(st, rules, &rules->v[i]);
	}
}

static void check_unknown(struct rd_check_env *check, struct rd_effect *effect, enum rd_env_known known,
			  const char *note, size_t *compared)
{
	_cleanup_free_ char *near = NULL, *unknown = rd_env_not_known(effect->library);

	if (known == RD_ENV_NAME_UNKNOWN && (*compared)++ < MISSPELT_MAX)
		near = rd_env_name_near(effect->name);
	if (known == RD_ENV_NAME_OTHER)
		effect->effect = rd_text("not read by %s itself, but by %s", effect->library, note);
	else if (near)
		effect->effect = rd_text("%s: did you mean %s?", unknown, near);
	else
		effect->effect = rd_text("%s", note ? note : unknown);
	effect->judged = known == RD_ENV_NAME_OTHER ? RD_JUDGED_NO : RD_JUDGED_UNKNOWN;
	check->effect = effect;
	if (known == RD_ENV_NAME_RETIRED) {
		rd_envcheck_finding(check, RD_SEV_NOTE, "env-retired", "Library no longer reads this variable",
				    "the setting has no effect", rd_text("%s", note), NULL);
		return;
	}
	if (!near)
		return;
	rd_envcheck_finding_fix(check, RD_SEV_NOTE, "env-unknown-name", "Name is not known, and similar to one that is",
				"the setting has no effect unless a newer release reads it", RD_TAKE(unknown),
				rd_text("%s", near), rd_text("# rename it to %s in the job's environment", near));
}

/* Variables without a rule: only the name is checked. */
static void check_names(struct rd_check_env *check, struct rd_effects *effects)
{
	size_t compared = 0;

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
			check_unknown(check, effect, known, note, &compared);
	}
}

void rd_envcheck(const struct rd_port_views *views, struct rd_effects *effects, struct rd_findings *findings)
{
	const struct rd_host *host = views->host;
	_cleanup_free_ bool *selected = rd_alloc(host->n_ports + 1, 1), *by_hca = rd_alloc(host->n_ports + 1, 1);
	struct check_state st = { .selected = selected, .by_hca = by_hca };

	rd_effects_sort(effects);
	st.check = (struct rd_check_env){
		.host = host, .views = views, .all = effects, .findings = findings, .selected = selected
	};
	for (size_t i = 0; i < RD_ARRAY_SIZE(libraries); i++)
		check_library(&st, libraries[i]);
	check_names(&st.check, effects);
}
