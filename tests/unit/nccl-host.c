/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "nccl-host.h"

#include "analyse/shared/distance.h"

void nccl_start(struct made *m)
{
	*m = (struct made){ .settings = rd_nccl_defaults() };
}

void nccl_judge(struct made *m)
{
	rd_nicmap_deinit(&m->map);
	rd_distance_fill(&m->host, &m->map);
	rd_nccl_fill(&m->host, m->with_system ? &m->system : NULL, &m->settings, &m->map);
}

void nccl_stop(struct made *m)
{
	rd_nicmap_deinit(&m->map);
	rd_host_deinit(&m->host);
	rd_system_deinit(&m->system);
}

/* "mlx5_0+mlx5_1 mlx5_2" */
void assert_nets(struct made *m, const char *expected)
{
	char text[1024] = "";

	nccl_judge(m);
	for (size_t i = 0; i < m->map.nccl_nets.n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			 m->map.nccl_nets.v[i].name);
	assert_string_equal(text, expected);
}

const char *nccl_path(struct made *m, size_t gpu, size_t ibdev)
{
	nccl_judge(m);
	return rd_path_name(rd_nicmap_pair(&m->map, gpu, ibdev)->nccl);
}

const char *nccl_first(struct made *m, size_t gpu)
{
	nccl_judge(m);
	assert_true(m->map.nccl.v[gpu].n_ports > 0);
	return m->host.ibdevs[m->host.ports[m->map.nccl.v[gpu].ports[0]].ibdev].name;
}

/* "yes: nvidia_peermem" */
void assert_gpudirect(struct made *m, size_t gpu, size_t ibdev, const char *expected)
{
	const struct rd_pair *pair;
	char text[200];

	nccl_judge(m);
	pair = rd_nicmap_pair(&m->map, gpu, ibdev);
	snprintf(text, sizeof(text), "%s: %s",
		 pair->gpudirect.known != RD_OK ? "unknown" :
		 pair->gpudirect.v		? "yes" :
						  "no",
		 pair->gpudirect_why);
	assert_memory_equal(text, expected, strlen(expected));
}

/* Accelerators are NVIDIA's from here on. */
void make_nvidia(struct made *m)
{
	for (size_t g = 0; g < m->host.n_gpus; g++)
		m->host.gpus[g].vendor = "NVIDIA";
}

void load_module(struct made *m, const char *module)
{
	m->with_system = m->system.modules_known = true;
	assert_int_equal(rd_grow(&m->system.modules, &m->system.cap_modules, m->system.n_modules + 1,
				 sizeof(*m->system.modules)),
			 0);
	m->system.modules[m->system.n_modules++] = (struct rd_loaded_module){ .name = strdup(module) };
}
