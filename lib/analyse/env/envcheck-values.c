/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and switches, as each library parses them: NCCL src/misc/param.cc, NVSHMEM env_defs_internal.h, UCX
 * src/ucs/config/parser.c, libfabric src/var.c, Mooncake config.cpp. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "analyse/env/envcheck-priv.h"
#include "base/text.h"

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
	bool any_base = read == RD_ENV_NCCL || read == RD_ENV_ANY_BASE;
	char *end;

	if (read == RD_ENV_NCCL && !*text) {
		*ret = standard;
		return RD_ENV_DEFAULT;
	}
	errno = 0;
	*ret = strtol(text, &end, any_base ? 0 : 10);
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
	case RD_ENV_SET:
		*ret = 1;
		return RD_ENV_OK;
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

long rd_envcheck_nccl_number(const struct rd_check_env *check, const char *name, long standard)
{
	const char *text = rd_effects_get(check->all, name);
	long value = standard;

	if (text)
		rd_envcheck_read(RD_ENV_NCCL, text, standard, &value);
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
	const char *outside = values->outside ? values->outside : "the library uses its default";

	if (values->meanings && !values->text) {
		rd_envcheck_unknown_value(check, rd_text("%ld", value), rd_text("%ld to %ld", values->min, values->max));
		return;
	}
	rd_envcheck_effect(check, "%ld is outside %ld to %ld: %s", value, values->min, values->max, outside);
	rd_envcheck_finding(check, values->fails ? RD_SEV_CRITICAL : RD_SEV_WARNING, "env-out-of-range",
			    "Value out of range", outside, rd_text("%ld", value),
			    rd_text("%ld to %ld", values->min, values->max));
}

void rd_envcheck_values(struct rd_check_env *check, const struct rd_env_values *values)
{
	const struct rd_env_meaning *meaning;
	long value;

	if (!rd_envcheck_value(check, values->read, values->standard, &value))
		return;
	meaning = find_meaning(values, value);
	if (!meaning && (values->min || values->max) && (value < values->min || value > values->max)) {
		report_out_of_range(check, values, value);
		return;
	}
	if (meaning)
		rd_envcheck_effect(check, "%s%s", meaning->text, value == values->standard ? " (the default)" : "");
	else if (values->text)
		rd_envcheck_effect(check, values->text, value);
	if (!meaning || !meaning->severity)
		return;
	rd_envcheck_finding_fix(check, meaning->severity, meaning->id, meaning->title, meaning->why, NULL, NULL,
				meaning->fix ? rd_text("%s", meaning->fix) : NULL);
}
