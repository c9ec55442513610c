/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All rules, in the order of results of one severity: what stops jobs comes first. A new rule needs its file, a line here, and a healthy
 * and a faulty host in tests/bats/topo-rules.py. */
#ifndef RD_CHECK_RULES_H
#define RD_CHECK_RULES_H

#include "check/shared/check.h"
#include "model/nicmap/nicmap.h"

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
	X(node_guid)                                              \
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
	X(user_rdma)                                              \
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
	X(failed_calls)                                           \
	X(moved)                                                  \
	X(answers)                                                \
	X(in_time)

#define RD_DECLARE_RULE(name) extern const struct rd_check rd_check_##name;
RD_RULES(RD_DECLARE_RULE)

/* Shared by rules about ports and their interfaces. */

/* Reports a warning or failure; if the role of the port is unknown, "unknown" with what was observed, because the role decides
 * whether it is a fault. Takes ownership of observed and expected. */
void rd_check_port_bad(struct rd_check_out *out, enum rd_role role, enum rd_severity result, const char *subject,
		       char *observed, char *expected);

/* Whether a compute port has another link layer than most of them: link-layer-uniform reports it, and a subnet manager would
 * not help. */
bool rd_port_layer_is_odd(const struct rd_port_views *views, size_t port);

/* The value that all other active compute ports of this link layer have, three at least; 0: they differ, or this port is not one. */
uint64_t rd_check_usual(const struct rd_check_input *in, size_t port,
			uint64_t (*value)(const struct rd_check_input *in, size_t port));

/* Number of cards with a compute port. */
size_t rd_check_compute_cards(const struct rd_port_views *views);

/* False, and reported as "unknown", if the link layer of the port is unknown. */
bool rd_port_layer_known(const struct rd_host *host, const struct rd_port *port, struct rd_check_out *out);

/* The interface of an RDMA port over Ethernet; NULL: another link layer, no interface in this network namespace, or nothing was
 * read. */
const struct rd_netif *rd_check_roce_netif(const struct rd_check_input *in, size_t port);

/* "mlx5_0/1 (eth2)". `ret` has space for 160 bytes. */
void rd_check_port_subject(const struct rd_check_input *in, size_t port, const struct rd_netif *netif, char *ret);

/* Whether the device of a port is a soft device: the kernel's network stack carries its packets. */
bool rd_check_is_soft(const struct rd_host *host, const struct rd_port *port);

/* Whether an interface is on a port with a known role, or above or below such an interface. */
bool rd_check_netif_role_known(const struct rd_check_input *in, const struct rd_netif *netif);

/* "3,4", or "none". Caller frees. */
char *rd_check_prios(uint8_t mask);

/* Shared by rules about PCIe. */

/* Whether the function belongs to an RDMA device; to an RDMA device or an accelerator. Interfaces of virtual machines and soft
 * devices do not count. */
bool rd_pci_is_nic(const struct rd_host *host, size_t pci);
bool rd_pci_matters(const struct rd_host *host, size_t pci);

/* "mlx5_0", "GPU3"; the PCI address of others. */
const char *rd_pci_what(const struct rd_host *host, size_t pci);

/* Rate of the fastest port of a function, Gbit/s; 0: unknown. */
double rd_pci_rate(const struct rd_host *host, size_t pci);

/* Below this rate, the effect of PCIe tuning is negligible. */
#define RD_FAST_GBPS 100.0
bool rd_pci_is_fast(const struct rd_host *host, size_t pci);

/* Distance of the NIC nearest to an accelerator. */
enum rd_path rd_gpu_best_path(const struct rd_check_input *in, size_t gpu);

/* The difference of a function (port: -1) or port from its twins, if it is clearly the exception and, with `less`, has less; NULL: none. */
const struct rd_odd *rd_check_odd(const struct rd_check_input *in, enum rd_trait trait, int pci, int port, bool less);
/* "16, as on 7 of 8 like it". Caller frees. */
char *rd_check_as_twins(const struct rd_odd *odd);

/* Why the registers of a function are unknown. */
const char *rd_pci_unread(const struct rd_pci *pci);

#endif
