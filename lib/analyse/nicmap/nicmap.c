/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/nicmap/nicmap.h"

#include "analyse/env/env.h"
#include "analyse/nccl/nccl.h"
#include "analyse/nccl/nvshmem.h"
#include "analyse/nicmap/backup.h"
#include "analyse/nicmap/nicmap-findings.h"
#include "analyse/nicmap/role.h"
#include "analyse/shared/distance.h"
#include "analyse/shared/gid.h"
#include "analyse/stacks/stacks.h"

void rd_nicmap_analyse(const struct rd_host *host, const struct rd_system *system, unsigned pes, struct rd_nicmap *ret)
{
	const struct rd_nccl_settings settings = rd_nccl_defaults();

	rd_port_views_init(&ret->ports, host);
	rd_gid_choose(&ret->ports);
	rd_distance_fill(host, ret);
	rd_role_fill(host, ret);
	rd_nccl_fill(host, system, &settings, ret);
	rd_nvshmem_choose(host, ret, pes, NULL, &ret->nvshmem);
	rd_backup_fill(host, ret, &ret->nccl);
	rd_backup_fill(host, ret, &ret->nvshmem);
	rd_backup_of_nccl(&ret->nccl_nets, &ret->nccl);
	rd_backup_of_nvshmem(host, &ret->nvshmem);
	rd_env_fill(host, ret, &ret->env);
	rd_stacks_fill(host, ret);
	rd_stack_env_fill(ret);
	rd_nicmap_judge(host, ret, &ret->findings);
	rd_nicmap_judge_backup(ret, &ret->backup_findings);
}
