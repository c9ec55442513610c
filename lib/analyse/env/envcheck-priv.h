/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that check variables. The source of each rule: tests/rules/ENV.md. */
#ifndef RD_ANALYSE_ENVCHECK_PRIV_H
#define RD_ANALYSE_ENVCHECK_PRIV_H

#include "analyse/env/envcheck.h"

#define RD_ENV_QUOTED 60 /* characters of a value that a finding quotes */
#define RD_ENV_NAMED 8	 /* items that a finding lists by name; the rest is counted */

struct rd_env_values;

struct rd_check_env {
	const struct rd_host *host;
	const struct rd_port_views *views;
	const struct rd_effects *all;
	struct rd_effect *effect;	    /* the variable being checked */
	const struct rd_env_values *values; /* of its rule */
	struct rd_findings *findings;
	struct rd_buf selects; /* becomes effect->selects */
	struct rd_buf effects; /* becomes effect->effect */
	bool *selected;	       /* one per port */
	const bool *by_hca;    /* ports selected by a variable of the same library; NULL: none selects */
	bool minor;	       /* findings are notes: the library does not carry the job's data */
};

typedef void rd_env_check(struct rd_check_env *check);

/* How a library parses a number. */
enum rd_env_read {
	RD_ENV_NCCL = 0, /* strtoll, any base, trailing text is ignored; empty: the default */
	RD_ENV_ANY_BASE, /* strtol, any base, trailing text is ignored: NVSHMEM, libfabric */
	RD_ENV_ATOI,	 /* Mooncake: decimal, trailing text is ignored */
	RD_ENV_STOI,	 /* Mooncake: the same, but a value that is not a number leaves the default */
	RD_ENV_LETTER,	 /* NVSHMEM: first letter 0, n, f: off, anything else: on */
	RD_ENV_WORD,	 /* libfabric: 0 false no off, 1 true yes on; anything else leaves the default */
	RD_ENV_TRUE,	 /* Mooncake: 0 false, 1 true; anything else leaves the default */
	RD_ENV_UCX_BOOL, /* y yes on 1, n no off 0; UCX rejects anything else */
	RD_ENV_UCX_UINT, /* UCX rejects what is not a number */
	RD_ENV_UCX_AUTO, /* the same, plus "auto" and "inf" */
};

/* The meaning of one value. */
struct rd_env_meaning {
	long value;
	const char *text; /* for the column effect */
	/* The finding; severity 0: none. */
	enum rd_severity severity;
	const char *id, *title, *why, *fix;
};
#define RD_ENV_MEANINGS(...)            \
	(const struct rd_env_meaning[]) \
	{                               \
		__VA_ARGS__,            \
		{                       \
			.text = NULL    \
		}                       \
	}

/* A variable whose value is a number or a switch, with the same meaning on every host. */
struct rd_env_values {
	enum rd_env_read read;
	long standard;			       /* the library's default */
	long min, max;			       /* both 0: any */
	const struct rd_env_meaning *meanings; /* may be NULL */
	const char *text;		       /* for other values in range: a printf format with one %ld */
	const char *outside;		       /* effect of a value out of range; NULL: the default is used */
	bool fails;			       /* a value out of range fails the job */
};

struct rd_env_rule {
	const char *name;
	rd_env_check *check; /* NULL: rd_envcheck_values */
	struct rd_env_values values;
	bool hca; /* selects the NICs of the library */
};

/* The rules of a library. Variables that select NICs come first: rules about GIDs use the selection. */
struct rd_env_rules {
	const struct rd_env_rule *v;
	size_t n;
	/* The setting that makes `name` unused, because it disables RDMA or what `name` configures: "NCCL_NET=Socket". NULL:
	 * none; else a text of static storage or of the effects. */
	const char *(*unused_by)(const struct rd_effects *all, const char *name);
};
extern const struct rd_env_rules rd_env_nccl, rd_env_nvshmem, rd_env_ucx, rd_env_libfabric, rd_env_gloo,
	rd_env_mooncake;

rd_env_check rd_envcheck_nccl_hca, rd_envcheck_nvshmem_list, rd_envcheck_nvshmem_prefix, rd_envcheck_gid_index;
rd_env_check rd_envcheck_addr_family, rd_envcheck_addr_range, rd_envcheck_roce_version, rd_envcheck_interfaces;
rd_env_check rd_envcheck_traffic_class, rd_envcheck_service_level, rd_envcheck_timeout, rd_envcheck_retry_count;
rd_env_check rd_envcheck_pkey;

/* After NCCL_IB_HCA, if no GID index is set: checks the GID that NCCL selects itself. */
rd_env_check rd_envcheck_own_gid;

/* Adds a finding about NAME=VALUE (the value is truncated). Takes ownership of observed and expected (may be NULL). */
void rd_envcheck_finding(struct rd_check_env *check, enum rd_severity severity, const char *id, const char *title,
			 const char *why, char *observed, char *expected);
/* The same with a fix, which it also takes ownership of. */
void rd_envcheck_finding_fix(struct rd_check_env *check, enum rd_severity severity, const char *id, const char *title,
			     const char *why, char *observed, char *expected, char *fix);
/* Appends to the column effect; parts are separated by "; ". */
void rd_envcheck_effect(struct rd_check_env *check, const char *fmt, ...) RD_PRINTF(2, 3);
void rd_envcheck_selects(struct rd_check_env *check, size_t port);
/* Shows and notes a value that is none of the `expected` ones, which a newer release may know. `value` (truncated): the words in
 * question; NULL: the whole value. Takes ownership of both texts. */
void rd_envcheck_unknown_value(struct rd_check_env *check, char *value, char *expected);

/* A decimal number that is the whole text. */
bool rd_envcheck_number(const char *text, long *ret);
/* Parses the number as the library does. Unless RD_ENV_OK, *ret is the value that the library uses instead. */
enum rd_env_got { RD_ENV_OK = 0, RD_ENV_PART, RD_ENV_ZERO, RD_ENV_DEFAULT, RD_ENV_REFUSED, RD_ENV_NO_NUMBER };
enum rd_env_got rd_envcheck_read(enum rd_env_read read, const char *text, long standard, long *ret);
/* The value of a variable as its library parses it; `standard` if it is not set. */
long rd_env_number(const struct rd_effects *all, enum rd_env_read read, const char *name, long standard);
/* As rd_envcheck_read, and reports what is wrong with the text. False: no number results. */
bool rd_envcheck_value(struct rd_check_env *check, enum rd_env_read read, long standard, long *ret);
/* Judges a number or a switch by the values of its rule. */
void rd_envcheck_values(struct rd_check_env *check);

/* Checks a selection of NICs: not empty, only compute NICs, and no compute NIC missing. */
void rd_envcheck_selection(struct rd_check_env *check);

/* Selects the ports of the devices that a list names, and reports names that no device has with this title. */
enum rd_env_by {
	RD_ENV_BY_NAME,
	RD_ENV_BY_PREFIX, /* ignoring case */
	RD_ENV_BY_TRIMMED /* name: without the blanks around it; only active ports */
};
void rd_envcheck_names(struct rd_check_env *check, enum rd_env_by by, const char *title);

/* Appends "3 of 8 active ports" to the column effect. */
void rd_envcheck_effect_count(struct rd_check_env *check);

/* Whether the library uses this port: an active one that is selected, or, without a selection, an active compute port. */
bool rd_envcheck_uses(const struct rd_check_env *check, size_t port);
/* Whether any active compute port supports RDMA; EFA ports count if `efa`. */
bool rd_envcheck_has_rdma(const struct rd_check_env *check, bool efa);

/* A list of names: the first few are kept, the rest is counted. */
struct rd_env_list {
	struct rd_buf text;
	size_t n;
};
void rd_env_list_add(struct rd_env_list *list, const char *name, size_t size);
/* "a, b and 7 more", to be freed by the caller; NULL: empty. Empties the list. */
char *rd_env_list_take(struct rd_env_list *list);
static inline void rd_env_list_deinit(struct rd_env_list *list)
{
	rd_buf_deinit(&list->text);
}
#define _cleanup_env_list_ __attribute__((cleanup(rd_env_list_deinit)))

/* Whether `words`, each between blanks, contain this one. */
bool rd_envcheck_listed(const char *words, const char *word, size_t size, bool exact_case);

/* Iterates over a comma-separated list. False: no more entries. */
bool rd_env_entry(const char **at, const char **entry, size_t *size);

#endif
