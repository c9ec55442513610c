/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/nicmap/runlog.h"

static void host_deinit(struct rd_run_host *host)
{
	for (size_t i = 0; i < host->devs.n; i++)
		free(host->devs.v[i].name);
	for (size_t i = 0; i < host->nets.n; i++)
		free(host->nets.v[i].name);
	for (size_t i = 0; i < host->channels.n; i++)
		free(host->channels.v[i].transport);
	for (size_t i = 0; i < host->vars.n; i++)
		RD_FREE(host->vars.v[i].name, host->vars.v[i].value);
	for (size_t i = 0; i < host->uses.n; i++)
		RD_FREE(host->uses.v[i].transport, host->uses.v[i].device);
	for (size_t i = 0; i < host->prefers.n; i++)
		RD_FREE(host->prefers.v[i].place, host->prefers.v[i].names);
	RD_FREE(host->uses.v, host->prefers.v, host->devs.v, host->nets.v, host->ranks.v, host->channels.v,
		host->pairs.v, host->vars.v, host->network, host->plugin, host->name);
}

void rd_runlog_deinit(struct rd_runlog *log)
{
	for (size_t i = 0; i < log->n; i++)
		host_deinit(&log->v[i]);
	free(log->v);
	*log = (struct rd_runlog){ 0 };
}

const struct rd_run_host *rd_runlog_find(const struct rd_runlog *log, const char *name)
{
	size_t size = name ? strcspn(name, ".") : 0;

	for (size_t i = 0; size > 0 && i < log->n; i++)
		if (strcspn(log->v[i].name, ".") == size && strncmp(log->v[i].name, name, size) == 0)
			return &log->v[i];
	return NULL;
}

static const struct rd_run_var *find_var(const struct rd_run_host *host, const char *name)
{
	for (size_t i = 0; i < host->vars.n; i++)
		if (strcmp(host->vars.v[i].name, name) == 0)
			return &host->vars.v[i];
	return NULL;
}

const char *rd_run_var(const struct rd_run_host *host, const char *name)
{
	const struct rd_run_var *var = find_var(host, name);

	return var ? var->value : NULL;
}

bool rd_run_var_varies(const struct rd_run_host *host, const char *name)
{
	const struct rd_run_var *var = find_var(host, name);

	return var && var->varies;
}

const struct rd_run_net *rd_run_net(const struct rd_run_host *host, unsigned number)
{
	for (size_t i = 0; !host->nets_vary && i < host->nets.n; i++)
		if (host->nets.v[i].number == number)
			return &host->nets.v[i];
	return NULL;
}

bool rd_runlog_before(const struct rd_runlog *log, unsigned minor, unsigned patch)
{
	const unsigned *version = log->version;

	if (version[0] == 0 || log->rccl)
		return false;
	return version[0] != 2 ? version[0] < 2 : version[1] < minor || (version[1] == minor && version[2] < patch);
}

void rd_against_deinit(struct rd_against *against)
{
	for (size_t i = 0; i < against->n; i++)
		RD_FREE(against->v[i].subject, against->v[i].predicted, against->v[i].observed, against->v[i].reason);
	free(against->v);
	rd_findings_deinit(&against->findings);
	*against = (struct rd_against){ 0 };
}

const char *rd_verdict_name(enum rd_verdict verdict)
{
	static const char *const names[RD_VERDICTS] = { "same", "differs", "unknown" };

	return (size_t)verdict < RD_VERDICTS ? names[verdict] : NULL;
}
