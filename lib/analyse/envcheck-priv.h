/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that check variables. */
#ifndef RD_ANALYSE_ENVCHECK_PRIV_H
#define RD_ANALYSE_ENVCHECK_PRIV_H

#include "analyse/envcheck.h"
#include "analyse/nicmap-findings.h"
#include "base/buf.h"

struct rd_check_env {
	const struct rd_host *host;
	const struct rd_effects *all;
	struct rd_effect *effect; /* the one in question */
	struct rd_findings *findings;
	struct rd_buf selects; /* what becomes effect->selects */
	bool *selected;	       /* one a port */
	const bool *by_hca;    /* the selection that the same library's variable made; NULL: none did */
};

int rd_envcheck_nccl_hca(struct rd_check_env *check);
int rd_envcheck_nvshmem_list(struct rd_check_env *check);
int rd_envcheck_nvshmem_prefix(struct rd_check_env *check);
int rd_envcheck_ucx(struct rd_check_env *check);
int rd_envcheck_gid_index(struct rd_check_env *check);
int rd_envcheck_interfaces(struct rd_check_env *check);

/* Takes observed and expected over (NULL: nothing to say). */
int rd_envcheck_say(struct rd_check_env *check, enum rd_severity severity, const char *id, const char *title,
		    const char *why, char *observed, char *expected);
void rd_envcheck_selects(struct rd_check_env *check, size_t port);
bool rd_envcheck_number(const char *text, long *ret);
/* What every selection of NICs must stand: some port, all of them up and for computing, no compute NIC left out. */
int rd_envcheck_selection(struct rd_check_env *check);

#endif
