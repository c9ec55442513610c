/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All rules, in the order of results of one severity: what stops jobs comes first. A new rule needs its file, a line here, and a healthy
 * and a faulty host in tests/bats/topo-rules.py. */
#ifndef RD_CHECK_RULES_H
#define RD_CHECK_RULES_H

#include "check/shared/check.h"

#define RD_RULES(X)                                               \
	/* Devices that are missing, or do not respond */         \
	X(profile_gpu)                                            \
	X(profile_nic)                                            \
	X(gpu_missing)                                            \
	X(nic_missing)                                            \
	X(nic_driver)                                             \
	X(gpu_driver)                                             \
	X(no_answer)                                              \
	X(klog_health)                                            \
	X(devlink_health)                                         \
	/* Ports that carry nothing */                            \
	X(port_state)                                             \
	X(port_init)                                              \
	X(ib_lid)                                                 \
	X(ib_sm)                                                  \
	X(ib_pkey)                                                \
	X(gid_usable)                                             \
	X(gid_v2)                                                 \
	X(gid_netns)                                              \
	X(roce_netdev)                                            \
	X(gid_duplicate)                                          \
	X(roce_lid)                                               \
	/* Memory path to accelerators, and what programs need */ \
	X(peermem)                                                \
	X(peermem_old)                                            \
	X(amd_peer)                                               \
	X(dmabuf)                                                 \
	X(ibgda)                                                  \
	X(geforce)                                                \
	X(memlock)                                                \
	X(max_map_count)                                          \
	X(open_files)                                             \
	X(memory_tuning)                                          \
	X(hugepages_numa)                                         \
	X(hugepages_efa)                                          \
	X(dev_node)                                               \
	X(dev_mode)                                               \
	X(provider)                                               \
	/* PCIe and GPUDirect */                                  \
	X(pcie_link_width)                                        \
	X(pcie_link_speed)                                        \
	X(pcie_bandwidth)                                         \
	X(acs_redirect)                                           \
	X(iommu_mode)                                             \
	X(iommu_group)                                            \
	X(ats)                                                    \
	X(pcie_mps)                                               \
	X(pcie_mrrs)                                              \
	X(relaxed_ordering)                                       \
	X(ext_tags)                                               \
	X(tag10)                                                  \
	X(atomics)                                                \
	X(bar_size)                                               \
	X(bar_address)                                            \
	X(aer)                                                    \
	X(aer_correctable)                                        \
	X(numa_node)                                              \
	X(numa_switch)                                            \
	X(gpu_nic_socket)                                         \
	X(switch_uneven)                                          \
	X(power_state)                                            \
	X(slot_power)                                             \
	/* Comparison with a profile */                           \
	X(profile_value)                                          \
	/* RoCE and the network below it */                       \
	X(roce_lossless)                                          \
	X(roce_pause)                                             \
	X(roce_trust)                                             \
	X(roce_tclass)                                            \
	X(roce_devx_tclass)                                       \
	X(roce_ets)                                               \
	X(roce_ecn)                                               \
	X(roce_cnp)                                               \
	X(roce_uniform)                                           \
	X(rail_address)                                           \
	X(bond_mode)                                              \
	X(bond_aggregator)                                        \
	X(rp_filter)                                              \
	X(arp_flux)                                               \
	X(duplicate_address)                                      \
	X(neighbour_failed)                                       \
	X(rail_route)                                             \
	X(firewall)                                               \
	X(link_flaps)                                             \
	X(devlink_firmware)                                       \
	X(devmem)                                                 \
	X(hop_limit)                                              \
	X(roce_mtu)                                               \
	X(flow_entropy)                                           \
	X(lag_affinity)                                           \
	/* InfiniBand */                                          \
	X(ib_width)                                               \
	X(ipoib_mode)                                             \
	/* Ports, firmware, modules */                            \
	X(link_downed)                                            \
	X(speed_uniform)                                          \
	X(layer_uniform)                                          \
	X(mtu_uniform)                                            \
	X(firmware_uniform)                                       \
	X(gid_uniform)                                            \
	X(modules_mixed)                                          \
	/* Failover, separation of networks */                    \
	X(failover_backup)                                        \
	X(failover_fabric)                                        \
	X(failover_card)                                          \
	X(dual_port)                                              \
	X(default_route)                                          \
	X(job_env)                                                \
	/* Kernel log */                                          \
	X(klog_mkeys)                                             \
	X(klog_pi)                                                \
	X(klog_qps)                                               \
	X(klog_uars)                                              \
	X(klog_uar_pages)                                         \
	X(klog_retry)                                             \
	X(klog_slot_power)                                        \
	X(klog_module)                                            \
	X(klog_link)                                              \
	X(klog_peermem_symbols)                                   \
	X(klog_symbols)                                           \
	X(klog_peermem)                                           \
	X(klog_umem)                                              \
	X(klog_oom)                                               \
	X(klog_pcie)                                              \
	X(klog_iommu)                                             \
	/* For job prologues */                                   \
	X(leftovers)                                              \
	X(moved)                                                  \
	X(answers)                                                \
	X(in_time)

#define RD_DECLARE_RULE(name) extern const struct rd_check rd_check_##name;
RD_RULES(RD_DECLARE_RULE)

#endif
