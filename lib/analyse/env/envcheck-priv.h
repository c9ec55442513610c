/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that judge variables. Which rule was read from where: tests/rules/ENV.md. */
#ifndef RD_ANALYSE_ENVCHECK_PRIV_H
#define RD_ANALYSE_ENVCHECK_PRIV_H

#include "analyse/env/envcheck.h"
#include "base/buf.h"

#define RD_ENV_QUOTED 60 /* characters of a value that a finding repeats */
#define RD_ENV_NAMED 8	 /* things that a finding names before it counts */

struct rd_check_env {
	const struct rd_host *host;
	const struct rd_port_views *views;
	const struct rd_effects *all;
	struct rd_effect *effect; /* the one in question */
	struct rd_findings *findings;
	struct rd_buf selects; /* what becomes effect->selects */
	struct rd_buf effects; /* and effect->effect */
	bool *selected;	       /* one a port */
	const bool *by_hca;    /* the selection that the same library's variable made; NULL: none did */
};

typedef void rd_env_check(struct rd_check_env *check);

/* How a library makes a number of a text. */
enum rd_env_read {
	RD_ENV_NCCL = 0, /* strtoll, any base, what follows is ignored; empty: the default */
	RD_ENV_ANY_BASE, /* strtol, any base, what follows is ignored: NVSHMEM, libfabric */
	RD_ENV_ATOI,	 /* Mooncake: decimal, what follows is ignored */
	RD_ENV_STOI,	 /* Mooncake: the same, but what is no number leaves the default */
	RD_ENV_LETTER,	 /* NVSHMEM: 0, n, f switch off, everything else on */
	RD_ENV_WORD,	 /* libfabric: 0 false no off, 1 true yes on; all else leaves the default */
	RD_ENV_TRUE,	 /* Mooncake: 0 false, 1 true; all else leaves the default */
	RD_ENV_UCX_BOOL, /* y yes on 1, n no off 0; UCX refuses all else */
	RD_ENV_UCX_UINT, /* UCX refuses what is no number */
	RD_ENV_UCX_AUTO, /* the same, but "auto" and "inf", too */
	RD_ENV_SET,	 /* that it is there, with whatever value, is enough */
};

/* What one value says. */
struct rd_env_says {
	long value;
	const char *text; /* of the column effect */
	/* And what is wrong with it; severity 0: nothing. */
	enum rd_severity severity;
	const char *id, *title, *why, *fix;
};
#define RD_ENV_SAYS(...)             \
	(const struct rd_env_says[]) \
	{                            \
		__VA_ARGS__,         \
		{                    \
			.text = NULL \
		}                    \
	}

/* A variable whose value is a number or a switch, and means the same on every host. */
struct rd_env_values {
	enum rd_env_read read;
	long standard;			/* what holds where it is not set */
	long min, max;			/* both 0: any */
	const struct rd_env_says *says; /* may be NULL */
	const char *text;		/* of other values in range: a printf format with one %ld */
	const char *outside;		/* what becomes of one that is not in range; NULL: the default holds */
	bool fails;			/* and that ends the job */
};

struct rd_env_rule {
	const char *name;
	rd_env_check *check; /* NULL: by `values` */
	bool hca;	     /* its selection is the library's */
	const struct rd_env_values *values;
};

/* Those of a library, those that choose NICs first: what is about GIDs looks at these. */
struct rd_env_rules {
	const struct rd_env_rule *v;
	size_t n;
	/* Which setting keeps the library from RDMA altogether, or from what `name` is about: "NCCL_NET=Socket". NULL:
	 * none; else a text of static storage or of the effects. */
	const char *(*off)(const struct rd_effects *all, const char *name);
};
extern const struct rd_env_rules rd_env_nccl, rd_env_nvshmem, rd_env_ucx, rd_env_libfabric, rd_env_gloo,
	rd_env_mooncake;

rd_env_check rd_envcheck_nccl_hca, rd_envcheck_nvshmem_list, rd_envcheck_nvshmem_prefix;
rd_env_check rd_envcheck_gid_index, rd_envcheck_addr_family, rd_envcheck_addr_range, rd_envcheck_roce_version;
rd_env_check rd_envcheck_interfaces, rd_envcheck_traffic_class, rd_envcheck_service_level, rd_envcheck_net;
rd_env_check rd_envcheck_net_plugin, rd_envcheck_ib_disable, rd_envcheck_timeout, rd_envcheck_retry_count;
rd_env_check rd_envcheck_level, rd_envcheck_merge_level;
rd_env_check rd_envcheck_force_merge, rd_envcheck_merge_policy, rd_envcheck_topo_file, rd_envcheck_pkey;
rd_env_check rd_envcheck_netdevs_policy;

/* What keeps NCCL from what the variable is about. */
const char *rd_envcheck_nccl_off(const struct rd_effects *all, const char *name);

/* After NCCL_IB_HCA, where no index is set: what NCCL takes by itself. */
rd_env_check rd_envcheck_own_gid;

/* Takes observed and expected over (NULL: nothing to say). The finding is about NAME=VALUE, the value cut short. */
void rd_envcheck_say(struct rd_check_env *check, enum rd_severity severity, const char *id, const char *title,
		     const char *why, char *observed, char *expected);
/* The same with what to do, which it takes over, too. */
void rd_envcheck_advise(struct rd_check_env *check, enum rd_severity severity, const char *id, const char *title,
			const char *why, char *observed, char *expected, char *fix);
/* More of the sentence in the column effect; parts are parted by "; ". */
void rd_envcheck_effect(struct rd_check_env *check, const char *fmt, ...) RD_PRINTF(2, 3);
void rd_envcheck_selects(struct rd_check_env *check, size_t port);

/* A number as a whole in decimal. */
bool rd_envcheck_number(const char *text, long *ret);
/* As the library reads it. RD_ENV_OK: it is one. Else *ret is what the library takes instead. */
enum rd_env_got { RD_ENV_OK = 0, RD_ENV_PART, RD_ENV_ZERO, RD_ENV_DEFAULT, RD_ENV_REFUSED, RD_ENV_NO_NUMBER };
enum rd_env_got rd_envcheck_read(enum rd_env_read read, const char *text, long standard, long *ret);
/* The number of a variable that NCCL reads; `standard` where it is not set. */
long rd_envcheck_nccl_number(const struct rd_check_env *check, const char *name, long standard);
/* As rd_envcheck_read, and says what is wrong with the text. False: there is no number to go on with. */
bool rd_envcheck_value(struct rd_check_env *check, enum rd_env_read read, long standard, long *ret);
void rd_envcheck_values(struct rd_check_env *check, const struct rd_env_values *values);

/* What every selection of NICs must stand: some port, all of them up and for computing, no compute NIC left out. */
void rd_envcheck_selection(struct rd_check_env *check);

/* "3 of 8 active ports" were selected. */
void rd_envcheck_tell_count(struct rd_check_env *check);

/* Whether the library would use this port: selected, else an active one for computing. */
bool rd_envcheck_uses(const struct rd_check_env *check, size_t port);
/* How many of these are RoCE, and InfiniBand. */
void rd_envcheck_count(const struct rd_check_env *check, size_t *roce, size_t *ib);
/* Whether there is any that RDMA could use; EFA ports count if `efa`. */
bool rd_envcheck_has_rdma(const struct rd_check_env *check, bool efa);
bool rd_envcheck_has_efa(const struct rd_host *host);

/* Things of one kind: the first few by name, the rest as a number. */
struct rd_env_list {
	struct rd_buf text;
	size_t n;
};
void rd_env_list_add(struct rd_env_list *list, const char *name, size_t size);
/* "a, b and 7 more"; to be freed by the caller; NULL: it is empty, or no memory. Empties the list. */
char *rd_env_list_take(struct rd_env_list *list);
static inline void rd_env_list_deinit(struct rd_env_list *list)
{
	rd_buf_deinit(&list->text);
}
#define _cleanup_env_list_ __attribute__((cleanup(rd_env_list_deinit)))

/* The entries of a list with commas. False: that was the last. */
bool rd_env_entry(const char **at, const char **entry, size_t *size);

#endif
