// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/shared/job.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"

#define UID_DASHED 36 /* xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx */
#define UID_PLAIN 32  /* static pods: a hash */

/* One component of a path. */
struct component {
	const char *s;
	size_t n;
};

static bool next_component(const char **path, struct component *ret)
{
	*path += strspn(*path, "/");
	ret->s = *path;
	ret->n = strcspn(*path, "/");
	*path += ret->n;
	return ret->n > 0;
}

static bool starts_with(const struct component *p, const char *prefix)
{
	size_t n = strlen(prefix);

	return p->n >= n && !memcmp(p->s, prefix, n);
}

static bool ends_with(const struct component *p, const char *suffix)
{
	size_t n = strlen(suffix);

	return p->n >= n && !memcmp(p->s + p->n - n, suffix, n);
}

static bool equals(const struct component *p, const char *name)
{
	return p->n == strlen(name) && starts_with(p, name);
}

/* "slurm", "slurm_node7" (v1); "slurmstepd.scope", "node7_slurmstepd.scope" (v2). */
static bool is_slurm(const struct component *p)
{
	return equals(p, "slurm") || starts_with(p, "slurm_") || equals(p, "slurmstepd.scope") ||
	       ends_with(p, "_slurmstepd.scope");
}

static size_t count_digits(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && isdigit((unsigned char)s[i]))
		i++;
	return i;
}

static bool is_word(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '+')
			return false;
	return n > 0;
}

static char *slurm_job(const char *path)
{
	struct component p, job = { NULL, 0 }, step = { NULL, 0 };
	bool slurm = false;

	while (next_component(&path, &p)) {
		if (is_slurm(&p)) {
			slurm = true;
		} else if (slurm && starts_with(&p, "job_") && p.n > 4 && count_digits(p.s + 4, p.n - 4) == p.n - 4) {
			job = (struct component){ p.s + 4, p.n - 4 };
			step.n = 0;
		} else if (job.n && !step.n && starts_with(&p, "step_") && is_word(p.s + 5, p.n - 5)) {
			step = (struct component){ p.s + 5, p.n - 5 };
		}
	}
	if (!job.n)
		return NULL;
	return rd_text("slurm:%.*s%s%.*s", (int)job.n, job.s, step.n ? "." : "", (int)step.n, step.n ? step.s : "");
}

/* The length of a pod uid at `s`, 0 if there is none. The systemd cgroup driver writes its dashes as underscores. */
static size_t uid_length(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && (isxdigit((unsigned char)s[i]) || s[i] == '-' || s[i] == '_'))
		i++;
	return i == UID_DASHED || i == UID_PLAIN ? i : 0;
}

static char *kubernetes_job(const char *path)
{
	struct component p, uid = { NULL, 0 };
	bool below = false;
	char *ret = NULL;

	while (next_component(&path, &p)) {
		const char *pods = memmem(p.s, p.n, "kubepods", 8), *pod;
		size_t left, n;

		/* kubepods, kubepods.slice, kubepods-burstable-pod….slice, kubelet-kubepods… */
		if (pods && (pods == p.s || pods[-1] == '-'))
			below = true;
		if (!below)
			continue;
		pod = starts_with(&p, "pod") ? p.s + 3 : NULL;
		if (!pod && pods && (pod = memmem(pods, p.n - (pods - p.s), "-pod", 4)))
			pod += 4;
		if (!pod)
			continue;
		left = p.n - (pod - p.s);
		n = uid_length(pod, left);
		/* Followed by the end, ".slice", or ":cri-containerd:…" if cgroup drivers are mixed. */
		if (n && (n == left || pod[n] == '.' || pod[n] == ':'))
			uid = (struct component){ pod, n };
	}
	if (!uid.n)
		return NULL;
	ret = rd_text("kubernetes:%.*s", (int)uid.n, uid.s);
	for (char *c = ret; *c; c++)
		if (*c == '_')
			*c = '-';
	return ret;
}

char *rd_job_from_cgroup(const char *path)
{
	char *job = path ? slurm_job(path) : NULL;

	return job || !path ? job : kubernetes_job(path);
}
