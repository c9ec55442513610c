/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Software and limits of a host; its kernel log. */
#include "model/host/system.h"

#include "base/buf.h"

void rd_klog_deinit(struct rd_klog *klog)
{
	RD_FREE(klog->v, klog->text);
	*klog = (struct rd_klog){ 0 };
}

const char *rd_krecord_pci(const struct rd_krecord *record)
{
	static const char prefix[] = "+pci:";

	if (!record->device || strncmp(record->device, prefix, sizeof(prefix) - 1) != 0)
		return NULL;
	return record->device + sizeof(prefix) - 1;
}

void rd_system_deinit(struct rd_system *system)
{
	for (size_t i = 0; i < system->n_modules; i++)
		RD_FREE(system->modules[i].name, system->modules[i].version);
	for (size_t i = 0; i < system->n_launchers; i++)
		free(system->launchers[i].comm);
	for (size_t i = 0; i < system->n_uverbs; i++)
		RD_FREE(system->uverbs[i].name, system->uverbs[i].ibdev);
	RD_FREE(system->release, system->modules, system->nvidia_version, system->nvidia_registry, system->launchers,
		system->huge, system->uverbs, system->libibverbs, system->thp_defrag);
	rd_texts_deinit(&system->memory_peers);
	rd_texts_deinit(&system->providers);
	rd_texts_deinit(&system->providers_local);
	rd_texts_deinit(&system->job_env);
	*system = (struct rd_system){ 0 };
}

static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
			return false;
	return *a == *b;
}

const struct rd_loaded_module *rd_system_module(const struct rd_system *system, const char *name)
{
	for (size_t i = 0; i < system->n_modules; i++)
		if (same_name(system->modules[i].name, name))
			return &system->modules[i];
	return NULL;
}

bool rd_has_peermem(const struct rd_system *system)
{
	return rd_system_module(system, "nvidia_peermem") || rd_texts_has(&system->memory_peers, "nvidia_peermem");
}

bool rd_has_old_peermem(const struct rd_system *system)
{
	return rd_system_module(system, "nv_peer_mem") != NULL;
}

bool rd_gives_efa_peermem(const struct rd_system *system)
{
	return rd_system_module(system, "efa_nv_peermem") || rd_texts_has(&system->memory_peers, "efa");
}

bool rd_gives_peermem(const struct rd_system *system)
{
	return rd_has_peermem(system) || rd_has_old_peermem(system) || rd_gives_efa_peermem(system) ||
	       rd_texts_has(&system->memory_peers, "nv_mem") || rd_texts_has(&system->memory_peers, "nv_mem_nc");
}

bool rd_lacks_p2pdma(const struct rd_system *system)
{
	return system->p2pdma.known == RD_OK && !system->p2pdma.v;
}

bool rd_has_dmabuf(const struct rd_system *system)
{
	return system->nvidia_open.known == RD_OK && system->nvidia_open.v && system->dmabuf.known == RD_OK &&
	       system->dmabuf.v && !rd_lacks_p2pdma(system);
}

char *rd_system_given(const struct rd_system *system, size_t *ret_n)
{
	struct rd_buf names = { 0 };

	*ret_n = 0;
	for (size_t i = 0; i < system->n_uverbs; i++)
		if (system->uverbs[i].node && system->uverbs[i].ibdev)
			rd_buf_printf(&names, "%s%s", (*ret_n)++ ? ", " : "", system->uverbs[i].ibdev);
	if (*ret_n == system->n_uverbs || !system->dev_known || system->processes == RD_OF_HOST)
		rd_buf_deinit(&names);
	return names.data;
}

/* "KEY=NUMBER;KEY=NUMBER": the driver removes blanks, reads a number in any base (strtoul), and the last value of a key is used. */
bool rd_maps_peers(const struct rd_system *system)
{
	static const char key[] = "PeerMappingOverride=", blanks[] = " \t\n";
	char pair[40];
	bool on = false;

	for (const char *at = system->nvidia_registry; at && *at; at += *at == ';') {
		size_t n = 0;

		for (; *at && *at != ';'; at++)
			if (!strchr(blanks, *at) && n + 1 < sizeof(pair))
				pair[n++] = *at;
		pair[n] = 0;
		if (rd_starts_with(pair, key)) {
			const char *value = pair + strlen(key);

			value += strspn(value, "0");
			value += *value == 'x' || *value == 'X';
			value += strspn(value, "0");
			on = strcmp(value, "1") == 0;
		}
	}
	return on;
}
