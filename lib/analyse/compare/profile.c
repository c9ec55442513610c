/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/compare/profile.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* Lines sorted by object, then by the rest of the key: profiles can have tens of thousands of lines. */
struct index {
	const struct rd_profile *of;
	size_t *at; /* owned */
};

struct compare {
	const struct rd_profile *profile, *self;
	struct index wanted, own; /* of profile and self */
	bool with_software;	  /* modules and versions were read */
	struct rd_findings *findings;
	const char *unread; /* the first key that could not be read */
	size_t n_unread;
};

/* Length of "nic.mlx5_0.", the key up to its last dot. PCI addresses contain dots, too. */
static size_t object_length(const char *key)
{
	const char *dot = strrchr(key, '.');

	return dot ? (size_t)(dot - key) + 1 : 0;
}

static bool starts_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* `n` bytes of `key` are its object; `rest` follows. */
static int compare_key(const char *line, const char *key, size_t n, const char *rest)
{
	size_t own = object_length(line);
	int r = memcmp(line, key, own < n ? own : n);

	if (r || own != n)
		return r ? r : own < n ? -1 : 1;
	return strcmp(line + own, rest);
}

static int by_key(const void *a, const void *b, void *arg)
{
	const struct rd_profile_line *v = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b, n = object_length(v[y].key);

	return compare_key(v[x].key, v[y].key, n, v[y].key + n) ?: RD_CMP(x, y);
}

static void index_of(const struct rd_profile *profile, struct index *ret)
{
	*ret = (struct index){ profile, rd_alloc(profile->n + 1, sizeof(*ret->at)) };
	for (size_t i = 0; i < profile->n; i++)
		ret->at[i] = i;
	if (profile->n)
		qsort_r(ret->at, profile->n, sizeof(*ret->at), by_key, profile->v);
}

/* The first line not before the key; the number of lines if there is none. */
static size_t lower_bound(const struct index *index, const char *key, size_t n, const char *rest)
{
	size_t low = 0, high = index->of->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_key(index->of->v[index->at[middle]].key, key, n, rest) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct rd_profile_line *line_at(const struct index *index, size_t i)
{
	return i < index->of->n ? &index->of->v[index->at[i]] : NULL;
}

/* The first line with exactly this key; the following lines may have it, too. */
static size_t find_key(const struct index *index, const char *key)
{
	size_t n = object_length(key);

	return lower_bound(index, key, n, key + n);
}

static const struct rd_profile_line *find_object(const struct index *index, const char *key)
{
	size_t n = object_length(key);
	const struct rd_profile_line *line = line_at(index, lower_bound(index, key, n, ""));

	return line && object_length(line->key) == n && memcmp(line->key, key, n) == 0 ? line : NULL;
}

static bool has_object(const struct compare *cmp, const char *key)
{
	return find_object(&cmp->own, key) != NULL;
}

/* Whether this is the first line of its object: a missing object is reported once. */
static bool is_first(const struct compare *cmp, size_t at)
{
	return find_object(&cmp->wanted, cmp->profile->v[at].key) == &cmp->profile->v[at];
}

static void add_finding(struct compare *cmp, const char *id, enum rd_severity severity, char *subject, char *observed,
			const char *expected)
{
	const struct rd_finding finding = {
		.id = id,
		.severity = severity,
		.title = "Host differs from its profile",
		.why = "schedulers assume that all hosts match the profile",
		.subject = subject,
		.observed = observed,
		.expected = rd_text("%s", expected),
		.fix = rd_text("# restore the expected value\n# outdated profile: rdmadiag topo-check --learn FILE"),
	};

	rd_finding_add(cmp->findings, &finding);
}

static void report_missing(struct compare *cmp, const char *kind, const char *id, const char *what)
{
	for (size_t i = 0; i < cmp->profile->n; i++) {
		const char *key = cmp->profile->v[i].key;
		size_t n = object_length(key), k = strlen(kind);

		if (!starts_with(key, kind) || n <= k + 1 || strchr(key, '*') || !is_first(cmp, i) ||
		    has_object(cmp, key))
			continue;
		add_finding(cmp, id, RD_SEV_CRITICAL, rd_text("%s %.*s", what, (int)(n - 1 - k), key + k),
			    rd_text("missing"), "present");
	}
}

static void report_count(struct compare *cmp, const char *key, const char *id)
{
	const char *wanted = rd_profile_get(cmp->profile, key), *is = rd_profile_get(cmp->self, key);

	if (!wanted || !is || strcmp(wanted, is) == 0)
		return;
	add_finding(cmp, id, RD_SEV_CRITICAL, rd_text("%s", key + strlen("count.")), rd_text("%s", is), wanted);
}

/* Whether the field determines if and how fast a job runs. */
static bool is_grave(const char *key)
{
	static const char *const fields[] = { ".state", ".link_layer", ".rate_gbps", ".role", ".driver" };
	const char *dot = strrchr(key, '.');

	for (size_t i = 0; dot && i < RD_ARRAY_SIZE(fields); i++)
		if (strcmp(dot, fields[i]) == 0)
			return true;
	return false;
}

/* Not compared here: keys that are reported separately, and those that were not read. */
static bool is_compared(const struct compare *cmp, const char *key)
{
	if (starts_with(key, "rule.") || starts_with(key, "count.gpus") || starts_with(key, "count.nics"))
		return false;
	return (!starts_with(key, "module.") && !starts_with(key, "software.")) || cmp->with_software;
}

/* If the interface of a port is missing and the profile contains it, that is reported, and its attributes are not. */
static bool is_reported_by_netdev(const struct compare *cmp, const struct rd_profile_line *own)
{
	const struct rd_profile_line *netdev;
	_cleanup_free_ char *key = NULL;
	size_t n = object_length(own->key);

	if (!starts_with(own->key, "port.") || !starts_with(own->key + n, "netdev_") || strcmp(own->value, "none") != 0)
		return false;
	key = rd_text("%.*snetdev", (int)n, own->key);
	netdev = key ? line_at(&cmp->wanted, find_key(&cmp->wanted, key)) : NULL;
	return netdev && strcmp(netdev->key, key) == 0;
}

static void compare_own(struct compare *cmp, const struct rd_profile_line *line, const struct rd_profile_line *own)
{
	if (!own->value) {
		if (!cmp->unread)
			cmp->unread = own->key;
		cmp->n_unread++;
		return;
	}
	if (strcmp(own->value, line->value) == 0 || is_reported_by_netdev(cmp, own))
		return;
	add_finding(cmp, "profile-value", is_grave(own->key) ? RD_SEV_CRITICAL : RD_SEV_WARNING,
		    rd_text("%s", own->key), rd_text("%s", own->value), line->value);
}

static void compare_value(struct compare *cmp, const struct rd_profile_line *line)
{
	bool pattern = strchr(line->key, '*') != NULL, any = false;

	for (size_t i = 0; pattern && i < cmp->self->n; i++)
		if (rd_profile_matches(line->key, cmp->self->v[i].key)) {
			any = true;
			compare_own(cmp, line, &cmp->self->v[i]);
		}
	for (size_t i = pattern ? cmp->self->n : find_key(&cmp->own, line->key); i < cmp->self->n; i++) {
		const struct rd_profile_line *own = line_at(&cmp->own, i);

		if (strcmp(own->key, line->key) != 0)
			break;
		any = true;
		compare_own(cmp, line, own);
	}
	/* A missing object has already been reported. */
	if (!any && (pattern || has_object(cmp, line->key) || starts_with(line->key, "module.") ||
		     starts_with(line->key, "software.")))
		add_finding(cmp, "profile-value", RD_SEV_WARNING, rd_text("%s", line->key), rd_text("nothing"),
			    line->value);
}

/* One finding for all: without root it may be a hundred registers. */
static void report_unread(struct compare *cmp)
{
	struct rd_finding finding = {
		.id = "profile-value",
		.severity = RD_SEV_UNKNOWN,
		.title = "Values in the profile could not be read on this host",
		.why = "cannot determine whether the host matches its profile",
		.observed = rd_text("not readable (PCI configuration requires CAP_SYS_ADMIN)"),
	};

	if (cmp->n_unread == 1)
		finding.subject = rd_text("%s", cmp->unread);
	else
		finding.subject = rd_text("%s and %zu more", cmp->unread, cmp->n_unread - 1);
	rd_finding_add(cmp->findings, &finding);
}

static void compare_all(struct compare *cmp)
{
	report_missing(cmp, "gpu.", "profile-gpu", "GPU");
	report_count(cmp, "count.gpus", "profile-gpu");
	report_missing(cmp, "nic.", "profile-nic", "NIC");
	report_count(cmp, "count.nics", "profile-nic");
	for (size_t i = 0; i < cmp->profile->n; i++)
		if (is_compared(cmp, cmp->profile->v[i].key))
			compare_value(cmp, &cmp->profile->v[i]);
	if (cmp->n_unread > 0)
		report_unread(cmp);
}

void rd_profile_compare(const struct rd_profile *profile, const struct rd_profile *self, struct rd_findings *ret)
{
	struct compare cmp = { .profile = profile, .self = self, .findings = ret };

	cmp.with_software = rd_profile_get(self, "software.kernel") != NULL;
	index_of(profile, &cmp.wanted);
	index_of(self, &cmp.own);
	compare_all(&cmp);
	RD_FREE(cmp.wanted.at, cmp.own.at);
}
