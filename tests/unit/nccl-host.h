/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A host, and what NCCL makes of it. */
#ifndef RD_UNIT_NCCL_HOST_H
#define RD_UNIT_NCCL_HOST_H

#include "analyse/nccl/nccl-priv.h"
#include "nicmap-host.h"

struct made {
	struct rd_host host;
	struct rd_nccl_settings settings;
	struct rd_system system;
	bool with_system;
	struct rd_nicmap map;
};

void nccl_start(struct made *m);
void nccl_judge(struct made *m);
void nccl_stop(struct made *m);

/* "mlx5_0+mlx5_1 mlx5_2" */
void assert_nets(struct made *m, const char *expected);
const char *nccl_path(struct made *m, size_t gpu, size_t ibdev);
/* The first NIC that the accelerator gets. */
const char *nccl_first(struct made *m, size_t gpu);
/* "yes: nvidia_peermem", or how it begins. */
void assert_gpudirect(struct made *m, size_t gpu, size_t ibdev, const char *expected);
/* Accelerators are NVIDIA's from here on. */
void make_nvidia(struct made *m);
void load_module(struct made *m, const char *module);

#define NCCL_TEST(name) TEST_BEGUN(name, struct made, m, nccl_start, nccl_stop)

#endif
