/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The effect of a set of environment variables on a host. Pure. More than RD_EFFECTS_MAX variables, or values longer than a
 * process can have, are rejected with -E2BIG. */
#ifndef RD_ANALYSE_ENVCHECK_H
#define RD_ANALYSE_ENVCHECK_H

#include "analyse/nccl/nccl.h"

/* Adds each entry "NAME=VALUE" of a text, perhaps after "export" and with quotes, if the name belongs to one of the libraries. If a
 * name is set twice, the last value counts. Takes ownership of the text in any case; it must have room for a NUL after its end.
 * `separator`: '\n' for shell lines, '\0' for an environment block, which has no quotes. 0 or -E2BIG. */
int rd_effects_own(struct rd_effects *effects, char *text, size_t size, char separator);

/* Sorts by name and removes duplicates; rd_envcheck calls it, too. */
void rd_effects_sort(struct rd_effects *effects);

/* Needs a sorted set. NULL: not set. */
struct rd_effect *rd_effects_find(const struct rd_effects *effects, const char *name);
const char *rd_effects_get(const struct rd_effects *effects, const char *name);

/* Fills in for each variable what it selects and its effect, and adds faults to `findings`. */
void rd_envcheck(const struct rd_port_views *views, struct rd_effects *effects, struct rd_findings *findings);

/* Which library an environment variable belongs to, and whether that library reads it. Pure. */

/* The names of a library, from the lists that scripts/env-names.py generates: without the prefix, each between blanks. */
struct rd_env_names {
	const char *prefix;  /* "NCCL_" */
	const char *title;   /* "NCCL" */
	const char *release; /* release that the names were read from; NULL: no single release */
	const char *names;
	/* UCX composes names from UCX_, a transport and a field; empty for other libraries. */
	const char *fields, *prefixes;
};
extern const struct rd_env_names rd_env_names[];
extern const size_t rd_env_n_names;

enum rd_env_known {
	RD_ENV_NAME_FOREIGN = 0, /* of none of these libraries */
	RD_ENV_NAME_UNKNOWN,	 /* has the prefix of a library, but is not in our list of that library's names */
	RD_ENV_NAME_OTHER,	 /* has the prefix of a library, but other software reads it: a plugin, PyTorch */
	RD_ENV_NAME_RETIRED,	 /* was read by older releases */
	RD_ENV_NAME_KNOWN,
};

/* `library` (may be NULL) is set to "NCCL", "UCX" …, `note` (may be NULL) to the software that reads it, or to the release
 * that dropped it. Static texts; NULL if there is none. */
enum rd_env_known rd_env_name_known(const char *name, const char **library, const char **note);

/* The variable that was probably meant: different case, one letter off, an underscore or a part of the name added or missing. A
 * new string; NULL if no name of the same library is similar. */
char *rd_env_name_near(const char *name);

/* Edit distance: letters inserted, deleted, replaced, or two swapped; `most` + 1 if it exceeds `most` (at most 3). Texts of more
 * than 63 characters are never similar. */
unsigned rd_env_distance(const char *a, const char *b, unsigned most);

/* Whether a value of UCX_TLS allows UCX a transport over RDMA; `only_efa`: to hosts whose RDMA devices are of EFA. */
bool rd_env_ucx_allows_rdma(const char *value, bool only_efa);

/* Which NICs NCCL assigns to each accelerator under the given variables. Pure. */

/* Returns whether the variables change how NCCL selects NICs; if so, `ret` is filled. `allowed`: room for one flag per port, which
 * `ret` then points to. `effects` must be sorted. */
bool rd_env_nccl_settings(const struct rd_host *host, const struct rd_effects *effects, bool *allowed,
			  struct rd_nccl_settings *ret);

/* Environment variables that make the libraries use the compute NICs. Pure. */

/* Fills what can be determined: no GID index if ports differ in it, no interface if no default route is known, nothing at all if
 * rd_env_refused. */
void rd_env_fill(const struct rd_host *host, const struct rd_nicmap *map, struct rd_env *ret);

/* True if no variables can be determined, because roles are uncertain or no compute port is active; `err` (may be NULL) names the
 * port and the reason. */
bool rd_env_refused(const struct rd_port_views *views, struct rd_err *err);

/* True if the variables select this port: a compute port, active, with a known device name and port number, and with a GID if others
 * have one. */
bool rd_env_wants(const struct rd_port_views *views, size_t port);
/* The GID index to use, if it is the same on all selected ports; -1 if they differ, or are not RoCE. */
int rd_env_gid_index(const struct rd_port_views *views);

#endif
