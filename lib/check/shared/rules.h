/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations of all rules, for the table; one line per file. */
#ifndef RD_CHECK_RULES_H
#define RD_CHECK_RULES_H

#include "check/shared/check.h"

/* Comparison with a profile: missing devices come first */
extern const struct rd_check rd_check_profile_gpu, rd_check_profile_nic, rd_check_profile_value; /* profile.c */

/* PCIe and GPUDirect */
extern const struct rd_check rd_check_pcie_link_width, rd_check_pcie_link_speed,
	rd_check_pcie_bandwidth; /* pcie-link.c */
extern const struct rd_check rd_check_gpu_missing, rd_check_nic_missing, rd_check_no_answer,
	rd_check_numa_switch;									  /* symmetry.c */
extern const struct rd_check rd_check_acs_redirect;						  /* acs.c */
extern const struct rd_check rd_check_iommu_mode, rd_check_iommu_group, rd_check_ats;		  /* iommu.c */
extern const struct rd_check rd_check_pcie_mps, rd_check_pcie_mrrs;				  /* pcie-payload.c */
extern const struct rd_check rd_check_relaxed_ordering, rd_check_ext_tags, rd_check_tag10;	  /* pcie-tags.c */
extern const struct rd_check rd_check_bar_size, rd_check_bar_address;				  /* bar.c */
extern const struct rd_check rd_check_aer, rd_check_aer_correctable;				  /* aer.c */
extern const struct rd_check rd_check_numa_node, rd_check_gpu_nic_socket, rd_check_switch_uneven; /* numa.c */
extern const struct rd_check rd_check_power_state, rd_check_slot_power;				  /* power.c */
extern const struct rd_check rd_check_nic_driver, rd_check_gpu_driver;				  /* driver.c */

/* Memory path to accelerators, and what programs need */
extern const struct rd_check rd_check_peermem, rd_check_peermem_old, rd_check_amd_peer, rd_check_dmabuf; /* peermem.c */
extern const struct rd_check rd_check_ibgda, rd_check_geforce;			      /* gpu-driver.c */
extern const struct rd_check rd_check_memlock, rd_check_max_map_count;		      /* memlock.c */
extern const struct rd_check rd_check_hugepages_numa, rd_check_hugepages_efa;	      /* hugepages.c */
extern const struct rd_check rd_check_dev_node, rd_check_dev_mode, rd_check_provider; /* userspace.c */

/* RoCE and the network below it */
extern const struct rd_check rd_check_roce_lossless, rd_check_roce_pause, rd_check_roce_trust, rd_check_roce_tclass,
	rd_check_roce_devx_tclass, rd_check_roce_ets, rd_check_roce_ecn, rd_check_roce_cnp,
	rd_check_roce_uniform; /* roce-dcb.c */
extern const struct rd_check rd_check_rp_filter, rd_check_arp_flux, rd_check_duplicate_address,
	rd_check_neighbour_failed, rd_check_rail_route, rd_check_firewall, rd_check_link_flaps; /* net-ip.c */
extern const struct rd_check rd_check_devlink_health, rd_check_devlink_firmware;		/* devlink.c */
extern const struct rd_check rd_check_devmem;							/* devmem.c */

/* Kernel log */
extern const struct rd_check rd_check_klog_health, rd_check_klog_mkeys, rd_check_klog_qps, rd_check_klog_uars,
	rd_check_klog_uar_pages, rd_check_klog_retry, rd_check_klog_slot_power, rd_check_klog_module,
	rd_check_klog_link, rd_check_klog_peermem_symbols, rd_check_klog_peermem, rd_check_klog_umem, rd_check_klog_oom,
	rd_check_klog_pcie; /* klog.c */

/* For job prologues */
extern const struct rd_check rd_check_leftovers, rd_check_moved, rd_check_answers, rd_check_in_time; /* leftover.c */

/* RoCE */
extern const struct rd_check rd_check_gid_usable, rd_check_gid_v2, rd_check_gid_netns, rd_check_roce_netdev,
	rd_check_gid_duplicate, rd_check_roce_lid, rd_check_roce_mtu; /* gid.c */
extern const struct rd_check rd_check_flow_entropy;		      /* flows.c */

/* InfiniBand */
extern const struct rd_check rd_check_ib_lid, rd_check_ib_sm, rd_check_ib_pkey, rd_check_ib_width,
	rd_check_ipoib_mode; /* infiniband.c */

/* Ports, firmware, modules */
extern const struct rd_check rd_check_port_state, rd_check_port_init, rd_check_link_downed; /* port-state.c */
extern const struct rd_check rd_check_speed_uniform, rd_check_layer_uniform, rd_check_mtu_uniform,
	rd_check_firmware_uniform, rd_check_gid_uniform; /* uniform.c */
extern const struct rd_check rd_check_modules_mixed;	 /* modules.c */

/* Failover, separation of networks */
extern const struct rd_check rd_check_failover_backup, rd_check_failover_fabric, rd_check_failover_card,
	rd_check_dual_port;					       /* failover.c */
extern const struct rd_check rd_check_default_route, rd_check_job_env; /* separation.c */

#endif
