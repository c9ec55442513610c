/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings, lists and port queries that the rules share. */
#include <stdarg.h>
#include <string.h>

#include "analyse/env/env-names.h"
#include "analyse/env/envcheck-priv.h"
#include "base/text.h"

/* Truncated: a list can have any length, and several findings may be about it. */
static char *finding_subject(const struct rd_effect *effect)
{
	size_t size = strlen(effect->value);

	if (size <= RD_ENV_QUOTED)
		return rd_text("%s=%s", effect->name, effect->value);
	return rd_text("%s=%.*s... (%zu bytes)", effect->name, RD_ENV_QUOTED, effect->value, size);
}

void rd_envcheck_finding_fix(struct rd_check_env *check, enum rd_severity severity, const char *id, const char *title,
			     const char *why, char *observed, char *expected, char *fix)
{
	struct rd_finding finding = {
		.id = id,
		.severity = check->minor && severity > RD_SEV_NOTE ? RD_SEV_NOTE : severity,
		.title = title,
		.why = why,
		.subject = finding_subject(check->effect),
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

void rd_envcheck_unknown_value(struct rd_check_env *check, char *value, char *expected)
{
	_cleanup_free_ char *unknown = rd_env_not_known(check->effect->library),
			    *text = value ? value : rd_text("%s", check->effect->value);

	rd_envcheck_effect(check, "'%.*s' is %s", RD_ENV_QUOTED, text, unknown);
	rd_envcheck_finding(check, RD_SEV_NOTE, "env-unknown-value", "Value is not known",
			    "the setting has no effect, or the job fails, unless a newer release knows the value",
			    rd_text("%.*s: %s", RD_ENV_QUOTED, text, unknown), expected);
}

void rd_envcheck_selects(struct rd_check_env *check, size_t port)
{
	char label[128];

	if (check->selected[port])
		return;
	check->selected[port] = true;
	rd_port_label(check->host, &check->host->ports[port], label, sizeof(label));
	rd_buf_printf(&check->selects, "%s%s", check->selects.len ? " " : "", label);
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
	const struct rd_port *p = &check->host->ports[port];

	if (!rd_port_active(p))
		return false;
	return check->by_hca ? check->by_hca[port] : check->views->v[port].role == RD_ROLE_COMPUTE;
}

void rd_envcheck_count(const struct rd_check_env *check, size_t *roce, size_t *ib)
{
	*roce = *ib = 0;
	for (size_t p = 0; p < check->host->n_ports; p++)
		if (rd_envcheck_uses(check, p)) {
			*roce += rd_port_is_ethernet(&check->host->ports[p]);
			*ib += rd_port_is_ib(&check->host->ports[p]);
		}
}

bool rd_envcheck_has_efa(const struct rd_host *host)
{
	for (size_t d = 0; d < host->n_ibdevs; d++)
		if (rd_ibdev_is_efa(host, (int)d))
			return true;
	return false;
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
