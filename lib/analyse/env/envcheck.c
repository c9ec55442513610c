/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/env/envcheck.h"

#include <string.h>

#include "analyse/env/env-names.h"
#include "analyse/env/envcheck-priv.h"
#include "base/memory.h"
#include "base/text.h"

#define MOST_MISSPELT 200 /* names that are compared with all that there are: a file can hold any number of them */

static const struct rd_env_rules *const libraries[] = {
	&rd_env_nccl, &rd_env_nvshmem, &rd_env_ucx, &rd_env_libfabric, &rd_env_gloo, &rd_env_mooncake,
};

/* What is kept while the variables of one library are looked at. */
struct look {
	struct rd_check_env check;
	bool *selected, *by_hca; /* one a port */
	bool chosen;
};

/* No shell took them off. */
static bool is_quoted(const char *value)
{
	size_t n = strlen(value);

	return n >= 2 && (*value == '"' || *value == '\'') && value[n - 1] == *value;
}

/* A setting that something else makes pointless is no fault of its own: that other one is said once. */
static void judge(struct look *look, const struct rd_env_rules *rules, const struct rd_env_rule *rule)
{
	struct rd_check_env *check = &look->check;
	const char *off = rules->off ? rules->off(check->all, rule->name) : NULL;

	if (off) {
		rd_envcheck_effect(check, "not used: %s", off);
	} else if (is_quoted(check->effect->value)) {
		rd_envcheck_effect(check, "not judged: its quotes are a part of the value");
		rd_envcheck_say(check, RD_SEV_WARNING, "env-quoted", "The quotes are a part of the value",
				"the library sees them, too: docker --env-file and nccl.conf take lines as they are",
				NULL, rd_text("the value without quotes"));
	} else if (rule->check) {
		rule->check(check);
	} else {
		rd_envcheck_values(check, rule->values);
	}
}

static void run(struct look *look, const struct rd_env_rules *rules, const struct rd_env_rule *rule)
{
	struct rd_check_env *check = &look->check;

	check->selects = check->effects = (struct rd_buf){ 0 };
	check->by_hca = look->chosen ? look->by_hca : NULL;
	memset(look->selected, 0, check->host->n_ports);
	judge(look, rules, rule);
	if (rule->hca) {
		memcpy(look->by_hca, look->selected, check->host->n_ports);
		look->chosen = true;
	}
	if (strcmp(rule->name, "NCCL_IB_HCA") == 0 && !(rules->off && rules->off(check->all, rule->name))) {
		check->by_hca = look->by_hca;
		rd_envcheck_own_gid(check);
	}
	check->effect->judged = RD_JUDGED_YES;
	free(check->effect->selects);
	free(check->effect->effect);
	check->effect->selects = check->selects.data;
	check->effect->effect = check->effects.data;
}

static void check_library(struct look *look, const struct rd_env_rules *rules)
{
	look->chosen = false;
	for (size_t i = 0; i < rules->n; i++) {
		look->check.effect = rd_effects_find(look->check.all, rules->v[i].name);
		if (look->check.effect)
			run(look, rules, &rules->v[i]);
	}
}

static char *not_read(const char *library, const char *near, const char *note)
{
	if (near)
		return rd_text("%s does not read it; did you mean %s", library, near);
	return note ? rd_text("%s", note) : rd_text("%s reads no variable of this name", library);
}

static void check_unknown(struct rd_check_env *check, struct rd_effect *effect, enum rd_env_known known,
			  const char *note, size_t *compared)
{
	_cleanup_free_ char *near = NULL;
	const char *title = "No library reads a variable of this name";

	if (known == RD_ENV_NAME_UNKNOWN && (*compared)++ < MOST_MISSPELT)
		near = rd_env_name_near(effect->name);
	if (known == RD_ENV_NAME_OTHER)
		effect->effect = rd_text("not read by %s itself but by %s", effect->library, note);
	else
		effect->effect = not_read(effect->library, near, note);
	effect->judged = known == RD_ENV_NAME_OTHER ? RD_JUDGED_NO : RD_JUDGED_UNKNOWN;
	check->effect = effect;
	if (known == RD_ENV_NAME_RETIRED) {
		rd_envcheck_say(check, RD_SEV_WARNING, "env-retired", "The library no longer reads this variable",
				"the setting does nothing", rd_text("%s", note), NULL);
		return;
	}
	if (!near)
		return;
	rd_envcheck_advise(check, RD_SEV_WARNING, "env-unknown-name", title, "the setting does nothing", NULL,
			   rd_text("%s", near), rd_text("rename it: %s=%.*s", near, RD_ENV_QUOTED, effect->value));
}

/* What no rule was about: by name only. */
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
	struct look look = { .selected = selected, .by_hca = by_hca };

	rd_effects_sort(effects);
	look.check = (struct rd_check_env){
		.host = host, .views = views, .all = effects, .findings = findings, .selected = selected
	};
	for (size_t i = 0; i < RD_ARRAY_SIZE(libraries); i++)
		check_library(&look, libraries[i]);
	check_names(&look.check, effects);
}
