/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/profile.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

struct compare {
	const struct rd_profile *profile, *self;
	struct rd_findings *findings;
	const char *unread; /* the first key that could not be read */
	size_t n_unread;
};

/* "nic.mlx5_0.": the key up to its last point. PCI addresses have points of their own. */
static size_t object_length(const char *key)
{
	const char *dot = strrchr(key, '.');

	return dot ? (size_t)(dot - key) + 1 : 0;
}

static bool starts_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool has_object(const struct rd_profile *self, const char *key)
{
	size_t n = object_length(key);

	for (size_t i = 0; i < self->n; i++)
		if (strncmp(self->v[i].key, key, n) == 0 && object_length(self->v[i].key) == n)
			return true;
	return false;
}

/* An object is told once, by the first line about it. */
static bool is_first(const struct rd_profile *profile, size_t at)
{
	size_t n = object_length(profile->v[at].key);

	for (size_t i = 0; i < at; i++)
		if (strncmp(profile->v[i].key, profile->v[at].key, n) == 0 && object_length(profile->v[i].key) == n)
			return false;
	return true;
}

static int tell(struct compare *cmp, const char *id, enum rd_severity severity, char *subject, char *observed,
		const char *expected)
{
	const struct rd_finding finding = {
		.id = id,
		.severity = severity,
		.title = "The host is not as its profile has it",
		.why = "jobs are placed on the assumption that all hosts are",
		.subject = subject,
		.observed = observed,
		.expected = rd_text("%s", expected),
		.fix = rd_text("make it as the profile has it; if the profile is old: rdmadiag topo-check --learn"),
	};

	return rd_finding_add(cmp->findings, &finding);
}

static int tell_missing(struct compare *cmp, const char *kind, const char *id, const char *what)
{
	int r = 0;

	for (size_t i = 0; i < cmp->profile->n && !r; i++) {
		const char *key = cmp->profile->v[i].key;
		size_t n = object_length(key), k = strlen(kind);

		if (!starts_with(key, kind) || n <= k + 1 || strchr(key, '*') || !is_first(cmp->profile, i) ||
		    has_object(cmp->self, key))
			continue;
		r = tell(cmp, id, RD_SEV_CRITICAL, rd_text("%s %.*s", what, (int)(n - 1 - k), key + k),
			 rd_text("missing"), "there");
	}
	return r;
}

static int tell_count(struct compare *cmp, const char *key, const char *id)
{
	const char *wanted = rd_profile_get(cmp->profile, key), *is = rd_profile_get(cmp->self, key);

	if (!wanted || !is || strcmp(wanted, is) == 0)
		return 0;
	return tell(cmp, id, RD_SEV_CRITICAL, rd_text("%s", key + strlen("count.")), rd_text("%s", is), wanted);
}

/* What decides whether and how fast a job runs. */
static bool is_grave(const char *key)
{
	static const char *const fields[] = { ".state", ".link_layer", ".rate_gbps", ".role", ".driver" };
	const char *dot = strrchr(key, '.');

	for (size_t i = 0; dot && i < RD_ARRAY_SIZE(fields); i++)
		if (strcmp(dot, fields[i]) == 0)
			return true;
	return false;
}

/* Kinds that are told otherwise, or were not read. */
static bool is_compared(const struct compare *cmp, const char *key)
{
	if (starts_with(key, "rule.") || starts_with(key, "count.gpus") || starts_with(key, "count.nics"))
		return false;
	return (!starts_with(key, "module.") && !starts_with(key, "software.")) ||
	       rd_profile_get(cmp->self, "software.kernel");
}

/* What a port's interface lacks because there is none is not told again where the profile asks for the interface. */
static bool is_told_by_netdev(const struct compare *cmp, const struct rd_profile_line *own)
{
	_cleanup_free_ char *key = NULL;
	size_t n = object_length(own->key);

	if (!starts_with(own->key, "port.") || !starts_with(own->key + n, "netdev_") || strcmp(own->value, "none") != 0)
		return false;
	key = rd_text("%.*snetdev", (int)n, own->key);
	return key && rd_profile_get(cmp->profile, key);
}

static int tell_own(struct compare *cmp, const struct rd_profile_line *line, const struct rd_profile_line *own)
{
	if (!own->value) {
		if (!cmp->unread)
			cmp->unread = own->key;
		cmp->n_unread++;
		return 0;
	}
	if (strcmp(own->value, line->value) == 0 || is_told_by_netdev(cmp, own))
		return 0;
	return tell(cmp, "profile-value", is_grave(own->key) ? RD_SEV_CRITICAL : RD_SEV_WARNING,
		    rd_text("%s", own->key), rd_text("%s", own->value), line->value);
}

static int tell_value(struct compare *cmp, const struct rd_profile_line *line)
{
	bool pattern = strchr(line->key, '*') != NULL, any = false;
	int r = 0;

	for (size_t i = 0; i < cmp->self->n && !r; i++) {
		const struct rd_profile_line *own = &cmp->self->v[i];

		if (pattern ? !rd_profile_matches(line->key, own->key) : strcmp(line->key, own->key) != 0)
			continue;
		any = true;
		r = tell_own(cmp, line, own);
	}
	/* Of an object that is missing altogether that has been told. */
	if (!r && !any &&
	    (pattern || has_object(cmp->self, line->key) || starts_with(line->key, "module.") ||
	     starts_with(line->key, "software.")))
		r = tell(cmp, "profile-value", RD_SEV_WARNING, rd_text("%s", line->key), rd_text("nothing"),
			 line->value);
	return r;
}

/* Without root it may be a hundred registers: one finding for all. */
static int tell_unread(struct compare *cmp)
{
	struct rd_finding finding = {
		.id = "profile-value",
		.severity = RD_SEV_UNKNOWN,
		.title = "What the profile asks for could not be read",
		.why = "whether the host is as its profile has it cannot be told",
		.observed = rd_text("could not be read here (root, CAP_SYS_ADMIN for PCI configuration)"),
	};

	if (cmp->n_unread == 1)
		finding.subject = rd_text("%s", cmp->unread);
	else
		finding.subject = rd_text("%s and %zu more", cmp->unread, cmp->n_unread - 1);
	return rd_finding_add(cmp->findings, &finding);
}

int rd_profile_compare(const struct rd_profile *profile, const struct rd_profile *self, struct rd_findings *ret)
{
	struct compare cmp = { .profile = profile, .self = self, .findings = ret };
	int r = tell_missing(&cmp, "gpu.", "profile-gpu", "GPU");

	if (!r)
		r = tell_count(&cmp, "count.gpus", "profile-gpu");
	if (!r)
		r = tell_missing(&cmp, "nic.", "profile-nic", "NIC");
	if (!r)
		r = tell_count(&cmp, "count.nics", "profile-nic");
	for (size_t i = 0; i < profile->n && !r; i++)
		if (is_compared(&cmp, profile->v[i].key))
			r = tell_value(&cmp, &profile->v[i]);
	return r || cmp.n_unread == 0 ? r : tell_unread(&cmp);
}
