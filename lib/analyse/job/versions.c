// SPDX-License-Identifier: GPL-2.0-or-later
/* Versions that are known not to work together. */
#include <ctype.h>
#include <fnmatch.h>

#include "analyse/job/job.h"
#include "base/text.h"

void rd_job_versions_deinit(struct rd_job_versions *versions)
{
	rd_texts_deinit(&versions->texts);
	free(versions->v);
	*versions = (struct rd_job_versions){ 0 };
}

int rd_job_versions_parse(const char *name, const char *text, size_t size, struct rd_job_versions *ret,
			  struct rd_err *err)
{
	struct rd_lines lines;
	char *line, *words[3];
	int r = rd_lines_init_table(&lines, &ret->texts, "versions", name, text, size, err);

	while (!r && (line = rd_lines_next(&lines))) {
		bool warns = strncmp(line, "warning ", 8) == 0;

		if ((!warns && strncmp(line, "note ", 5) != 0) || rd_words(&line, words, 3) != 3 || !line || !*line ||
		    !strchr(words[1], '#'))
			return rd_lines_err(&lines, err, EINVAL, ": expected note|warning THREAD CONDITION,... TEXT");
		*RD_ADD(ret->v, ret->n, ret->cap) =
			(struct rd_job_pair){ warns ? RD_SEV_WARNING : RD_SEV_NOTE, words[1], words[2], line };
	}
	return r;
}

/* Whether a version is in the range: 1, 0; -1: unknown. `op`: "", "<2.23", ">=2", "=7.0.0". */
static int in_range(const char *version, const char *op)
{
	const char *bound = op + strspn(op, "<>=");
	size_t n = version ? strlen(version) : 0;

	if (!*op)
		return 1;
	if (n == 0 || !isdigit((unsigned char)*version) || (strncmp(version, bound, n) == 0 && bound[n]))
		return -1;
	return *op == '=' ? fnmatch(bound, version, 0) == 0 : (strverscmp(version, bound) < 0) == (*op == '<');
}

/* Of several copies, one in the range suffices. */
static int library_in(const struct rd_job_proc *proc, const char *name, const char *op)
{
	int ret = rd_job_knows(proc, "maps") && !proc->here ? 0 : -1;

	for (size_t i = 0; i < proc->libs.n; i++) {
		const char *slash = strrchr(proc->libs.v[i], '/'), *rest;
		_cleanup_free_ char *version = NULL;
		int in;

		if (!slash || strncmp(slash + 1, name, strlen(name)) != 0)
			continue;
		rest = slash + 1 + strlen(name);
		/* A wheel's own has a hash in its name. */
		if (*rest != '.' && (*rest != '-' || strspn(rest + 1, "0123456789abcdef") != 8))
			continue;
		version = rd_job_lib_version(proc, proc->libs.v[i]);
		in = in_range(version, op);
		if (in > 0)
			return in;
		ret = in < 0 ? in : ret;
	}
	return ret;
}

/* Of providers of several interfaces, which are loaded is unknown. */
static int providers_in(const struct rd_job_proc *proc, const char *op)
{
	int ret = -1;

	for (size_t i = 0; i < proc->n_providers; i++) {
		_cleanup_free_ char *version = rd_text("%u", proc->providers[i].private_abi.v);
		int in = proc->providers[i].private_abi.known == RD_OK ? in_range(version, op) : -1;

		if (i > 0 && in != ret)
			return -1;
		ret = in;
	}
	return ret;
}

static int of_host(const struct rd_system *system, const char *name, const char *op)
{
	const struct rd_loaded_module *module = system ? rd_system_module(system, name) : NULL;

	if (!system || strcmp(name, "kernel") == 0)
		return system ? in_range(system->release, op) : -1;
	if (strcmp(name, "dmabuf") == 0)
		return system->nvidia_open.known != RD_OK || (system->nvidia_open.v && system->dmabuf.known != RD_OK) ?
			       -1 :
			       rd_has_dmabuf(system);
	if (!system->modules_known)
		return -1;
	return module ? in_range(module->version, op) : rd_texts_has(&system->memory_peers, name);
}

static int holds(const struct rd_job_input *in, const struct rd_job_proc *proc, const char *condition)
{
	bool negated = *condition == '!';
	const char *at = condition + negated, *op = at + strcspn(at, "<>=");
	_cleanup_free_ char *name = rd_dup_part(at, (size_t)(op - at));
	int ret = isupper((unsigned char)*name) ? (rd_job_has_setting(proc, at)	 ? 1 :
						   rd_job_knows(proc, "environ") ? 0 :
										   -1) :
		  strcmp(name, "rdmav") == 0	? providers_in(proc, op) :
		  strncmp(name, "lib", 3) == 0 || strncmp(name, "nvshmem_", 8) == 0 ? library_in(proc, name, op) :
										      of_host(in->system, name, op);

	return negated && ret >= 0 ? !ret : ret;
}

void rd_job_judge_versions(const struct rd_job_input *in, struct rd_job_view *view)
{
	for (size_t i = 0; in->versions && i < in->versions->n; i++) {
		const struct rd_job_pair *pair = &in->versions->v[i];
		const struct rd_finding kind = { "job-versions", "", NULL, pair->severity };
		int all = 1;

		for (const char *at = pair->conditions; at && all > 0;) {
			_cleanup_free_ char *condition = rd_next_part(&at, ',');

			all = condition ? holds(in, view->proc, condition) : 0;
		}
		if (all > 0)
			rd_finding_put(&view->can, &kind, rd_dup("versions"),
				       rd_text("%s (%s)", pair->text, pair->thread), NULL);
	}
}
