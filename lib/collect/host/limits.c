/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of locked memory and open files: of processes that start jobs or serve storage, and the service manager's default. The limits of a login shell do
 * not apply to jobs. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/programs.h"
#include "base/text.h"
#include "collect/host/system.h"

#define PROCESSES_MAX 65536
#define LAUNCHERS_MAX 64

bool rd_size_parse(const char *text, uint64_t *ret)
{
	static const char units[] = "BKMGTPE";
	const char *unit;
	uint64_t value;

	text += strspn(text, " \t");
	if (strncmp(text, "infinity", 8) == 0 || strncmp(text, "unlimited", 9) == 0) {
		*ret = RD_UNLIMITED;
		return true;
	}
	if (rd_take_uint(&text, RD_DECIMAL, UINT64_MAX, &value) < 0)
		return false;
	unit = *text ? strchr(units, *text) : NULL;
	if (unit) {
		unsigned shift = (unsigned)(unit - units) * 10;

		if (value > UINT64_MAX >> shift)
			return false;
		value <<= shift;
		text++;
	}
	*ret = value;
	return *text == '\0' || *text == ':' || *text == ' ' || *text == '\t';
}

/* "Max locked memory         8388608              8388608              bytes": soft, hard */
static enum rd_known take_limit(const char *text, enum rd_known known, const char *name, uint64_t *ret)
{
	const char *at = text ? strstr(text, name) : NULL;

	if (at && rd_size_parse(at + strlen(name), ret))
		return RD_OK;
	return known == RD_DENIED ? RD_DENIED : RD_ABSENT;
}

static void read_limits(const struct rd_sysfs *fs, int pid, struct rd_launcher *launcher)
{
	enum rd_known known;
	_cleanup_free_ char *text = rd_sysfs_text(fs, &known, "/proc/%d/limits", pid);

	launcher->memlock.known = take_limit(text, known, "Max locked memory", &launcher->memlock.v);
	launcher->nofile.known = take_limit(text, known, "Max open files", &launcher->nofile.v);
}

static void count_files(const struct rd_sysfs *fs, int pid, struct rd_launcher *launcher)
{
	_cleanup_names_ struct rd_names names = { 0 };

	if (rd_sysfs_list(fs, &names, "/proc/%d/fd", pid) >= 0)
		RD_SET(launcher->files, names.n);
}

/* "CapEff:\t00000000a80425fb". A non-root process does not get the capabilities of its container, except through file
 * capabilities or the ambient set. In another user namespace the set may be full, but ib_umem_get() ignores it: only the
 * initial one maps all of 2^32 - 1 IDs to themselves. */
static void read_ipc_lock(const struct rd_sysfs *fs, int pid, struct rd_launcher *launcher)
{
	_cleanup_free_ char *text = rd_sysfs_text(fs, NULL, "/proc/%d/status", pid), *map = NULL;
	const char *at = text ? strstr(text, "CapEff:") : NULL;
	uint64_t set, ids[3];

	at = at ? at + strlen("CapEff:") : "";
	if (rd_take_uints(&at, RD_HEX, &set, 1) < 1)
		return;
	if (!(set >> CAP_IPC_LOCK & 1)) {
		RD_SET(launcher->ipc_lock, false);
		return;
	}
	map = rd_sysfs_text(fs, NULL, "/proc/%d/uid_map", pid);
	at = map ? map : "";
	if (rd_take_uints(&at, RD_DECIMAL, ids, 3) == 3)
		RD_SET(launcher->ipc_lock, ids[0] == 0 && ids[1] == 0 && ids[2] == UINT32_MAX);
}

static void count_maps(const struct rd_sysfs *fs, int pid, struct rd_launcher *launcher)
{
	enum rd_known known;
	_cleanup_free_ char *text = rd_sysfs_text(fs, &known, "/proc/%d/maps", pid);

	launcher->maps.known = known;
	for (const char *at = text; at && *at; at = strchr(at, '\n')) {
		at += *at == '\n';
		launcher->maps.v++;
	}
}

static void add_launcher(const struct rd_sysfs *fs, struct rd_system *system, int pid, const char *comm)
{
	struct rd_launcher *launcher;

	launcher = RD_ADD(system->launchers, system->n_launchers, system->cap_launchers);
	*launcher = (struct rd_launcher){ .pid = pid, .comm = rd_dup(comm) };
	launcher->serves = rd_program_serves_storage(comm);
	read_limits(fs, pid, launcher);
	if (pid == system->asked_pid) {
		count_files(fs, pid, launcher);
		count_maps(fs, pid, launcher);
		read_ipc_lock(fs, pid, launcher);
	}
}

static void find_launchers(const struct rd_sysfs *fs, struct rd_system *system)
{
	_cleanup_names_ struct rd_names names = { 0 };
	size_t n[2] = { 0 }; /* that start jobs, that serve */

	if (rd_sysfs_list(fs, &names, "/proc") < 0)
		return;
	for (size_t i = 0; i < names.n && i < PROCESSES_MAX; i++) {
		_cleanup_free_ char *comm = NULL;
		uint32_t pid;

		if (rd_parse_u32(names.v[i], RD_DECIMAL, INT32_MAX, &pid) < 0 || pid == 0)
			continue;
		comm = rd_sysfs_text(fs, NULL, "/proc/%u/comm", pid);
		if (comm && (rd_program_starts_jobs(comm) || rd_program_serves_storage(comm)) &&
		    n[rd_program_serves_storage(comm)]++ < LAUNCHERS_MAX)
			add_launcher(fs, system, (int)pid, comm);
	}
}

/* The last "DefaultLimitMEMLOCK=" of a file counts. */
static void read_default(const struct rd_sysfs *fs, struct rd_system *system, const char *path)
{
	_cleanup_free_ char *text = rd_sysfs_text(fs, NULL, "%s", path);
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		static const char key[] = "DefaultLimitMEMLOCK=";
		uint64_t value;

		line = rd_trim(line);
		if (strncmp(line, key, sizeof(key) - 1) != 0 || !rd_size_parse(line + sizeof(key) - 1, &value))
			continue;
		RD_SET(system->default_memlock, value);
		system->default_memlock_from = "systemd's DefaultLimitMEMLOCK=";
	}
}

/* systemd: its main file, then the drop-ins; it applies to services without a setting. Default: 8 MiB
 * (systemd-system.conf(5)). With other init systems services inherit the limit of process 1. */
static void read_defaults(const struct rd_sysfs *fs, struct rd_system *system)
{
	static const char *const dirs[] = { "/usr/lib/systemd/system.conf.d", "/run/systemd/system.conf.d",
					    "/etc/systemd/system.conf.d" };
	_cleanup_free_ char *comm = rd_sysfs_text(fs, NULL, "/proc/1/comm");
	struct rd_launcher first = { 0 };

	if (!comm)
		return;
	if (strcmp(comm, "systemd") != 0) {
		read_limits(fs, 1, &first);
		system->default_memlock.v = first.memlock.v;
		system->default_memlock.known = first.memlock.known;
		system->default_memlock_from = "the limit of process 1";
		return;
	}
	RD_SET(system->default_memlock, UINT64_C(8) << 20);
	system->default_memlock_from = "systemd's built-in default";
	read_default(fs, system, "/etc/systemd/system.conf");
	for (size_t d = 0; d < RD_ARRAY_SIZE(dirs); d++) {
		_cleanup_names_ struct rd_names names = { 0 };

		if (rd_sysfs_list(fs, &names, "%s", dirs[d]) < 0)
			continue;
		for (size_t i = 0; i < names.n && i < 256; i++) {
			char path[384];

			snprintf(path, sizeof(path), "%s/%.255s", dirs[d], names.v[i]);
			read_default(fs, system, path);
		}
	}
}

int rd_collect_limits(const struct rd_sysfs *fs, struct rd_system *system)
{
	_cleanup_free_ char *comm = NULL;

	read_defaults(fs, system);
	if (!system->asked_pid) {
		find_launchers(fs, system);
		return 0;
	}
	comm = rd_sysfs_text(fs, NULL, "/proc/%d/comm", system->asked_pid);
	if (!comm)
		return -ESRCH;
	add_launcher(fs, system, system->asked_pid, comm);
	return 0;
}
