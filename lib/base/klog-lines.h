/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LINE(form, driver, text, source, meaning): the kernel log lines that rules use; klog-form.h makes the forms of them.
 *
 * driver: what a line begins with; "": any. A message of an RDMA device has the driver of its PCI function there: those of irdma have
 * "ice", those of bnxt_re "bnxt_en", those of hns_roce_hw_v2 "hns3".
 * text: as printed, with any text before, after and at each `*`. The first match counts: the more specific lines come first.
 * source: the file of Linux that prints it, without drivers/, drivers/infiniband/hw/ or drivers/net/ethernet/VENDOR/ before it;
 * "thread": no source was at hand, but a public report has the line.
 * meaning: of the line alone.
 */
/* clang-format off */
LINE(MLX5_HEALTH, "mlx5_core", "device's health compromised", "mlx5/core/health.c", "firmware hangs")
LINE(MLX5_HEALTH_ISSUE, "mlx5_core", "Health issue observed*severity(", "mlx5/core/health.c", "firmware error")
LINE(MLX5_COMMAND_LEAK, "mlx5", "timeout. Will cause a leak of a command resource", "mlx5/core/cmd.c", "firmware hangs")
LINE(MLX4_INTERNAL_ERROR, "mlx4_core", "Internal error detected", "mlx4/catas.c", "firmware has failed")
LINE(BNXT_FATAL_RESET, "bnxt_en", "Fatal firmware reset event", "bnxt/bnxt.c", "firmware failed, is reset")
LINE(BNXT_OLD_FATAL_RESET, "bnxt_en", "Firmware fatal reset event", "bnxt/bnxt.c (before 5.15)", "firmware failed, is reset")
LINE(BNXT_EXCEPTION, "bnxt_en", "Detected firmware fatal condition", "bnxt/bnxt.c", "firmware failed, is reset")
LINE(BNXT_ABORTED, "bnxt_en", "Firmware reset aborted", "bnxt/bnxt.c", "reset failed")
LINE(BNXT_SILENT, "bnxt_en", "Firmware not responding, status: ", "bnxt/bnxt.c", "firmware does not start")
LINE(BNXT_RE_STALL, "bnxt_en", "FW STALL Detected. cmdq[", "bnxt_re/qplib_rcfw.c", "no RDMA command is executed")
LINE(IRDMA_RESET, "ice", "Requesting a reset", "irdma/main.c", "RDMA engine failed, is reset")
LINE(ICE_REBUILD, "ice", "Rebuild failed, unload and reload driver", "ice/ice_main.c", "unusable after a reset")
LINE(ICE_LOST, "ice", "tx_timeout recovery unsuccessful", "ice/ice_main.c", "transmits nothing")
LINE(IONIC_ADMIN, "ionic", "admin command timed out, aq ", "ionic/ionic_admin.c", "RDMA device stopped")
LINE(IONIC_RDMA_RESET, "ionic", "failed to reset rdma", "ionic/ionic_admin.c", "RDMA device stopped")
LINE(IONIC_RESTART, "ionic", "FW Up: LIFs restart failed", "ionic/ionic_lif.c", "unusable after a restart")
LINE(IONIC_STOPPED, "ionic", "Surprise FW stop", "ionic/ionic_lif.c", "firmware stopped")
LINE(IONIC_HEARTBEAT, "ionic", "FW heartbeat stalled", "ionic/ionic_dev.c", "firmware hangs")
LINE(HFI1_FROZEN, "hfi1", "Aborted freeze recovery. Please REBOOT", "hfi1/chip.c", "frozen until the next boot")
LINE(HFI1_HOT, "hfi1", "Critical temperature reached!", "hfi1/chip.c", "too hot, shut itself down")
LINE(HFI1_GONE, "hfi1", "State Permanent Failure, disabling", "hfi1/pcie.c", "disabled after a PCIe error")
LINE(HFI1_SDMA, "hfi1", "SDMA (*engine error: ", "hfi1/sdma.c", "DMA engine stopped and restarted")
LINE(EFA_NO_COMPLETION, "efa", "The device didn't send any completion for admin cmd",
     "efa/efa_com.c", "needs its driver loaded again")
LINE(EFA_NO_INTERRUPT, "efa", "driver didn't receive any MSI-X interrupt for admin cmd",
     "efa/efa_com.c", "needs its driver loaded again")
LINE(EFA_REGISTERS, "efa", "Reading register timed out", "efa/efa_com.c", "device does not respond")
LINE(HNS_RESET_FAILED, "hns3", "Reset fail!", "hns3/hns3pf/hclge_main.c", "unusable after a reset")
LINE(HNS_REINIT_FAILED, "hns3", "In reset process RoCE reinit failed", "hns/hns_roce_hw_v2.c", "no RDMA device after a reset")
LINE(HNS_RESET, "hns3", "In reset process RoCE client uninit", "hns/hns_roce_hw_v2.c", "function was reset")
LINE(HNS_OVERFLOW, "hns3", "AEQ overflow!", "hns/hns_roce_hw_v2.c", "events lost; function is reset")
LINE(HNS_RAS, "hns3", "found *, is ras error.", "hns3/hns3pf/hclge_err.c", "hardware error")
LINE(MANA_COMMAND, "mana", "Command 0x*timed out: ", "mana/hw_channel.c", "host does not respond to commands")
LINE(MANA_OLD_COMMAND, "mana", "HWC: Request timed out!", "mana/hw_channel.c (6.12)", "host does not respond to commands")
LINE(MANA_OVERFLOW, "mana", "EQ *overflow detected", "mana/gdma_main.c", "events lost")
LINE(MKEY_LIMIT, "mlx5", "CREATE_MKEY(*limits exceeded", "mlx5/core/cmd.c", "no memory keys left")
LINE(MKEY_NO_RESOURCES, "mlx5", "CREATE_MKEY(*no resources", "mlx5/core/cmd.c", "no memory keys left")
LINE(QP_LIMIT, "mlx5", "CREATE_QP(*limits exceeded", "mlx5/core/cmd.c", "no queue pairs left")
LINE(UAR_LIMIT, "mlx5", "ALLOC_UAR(*limits exceeded", "mlx5/core/cmd.c", "no doorbell pages left")
LINE(MLX4_UAR_PAGES, "mlx4_core", "UAR pages (need more than", "mlx4/pd.c", "too few doorbell pages to start")
LINE(RETRY_COUNT, "mlx5", "RTR2RTS_QP(*bad parameter*0x4bb88f", "mlx5/core/cmd.c; charm#2532", "retry count above 7")
LINE(MKEY_PI, "mlx5", "bad parameter*0x35e6ec", "mlx5/core/cmd.c; ucx#9488", "key with T10 PI refused")
LINE(NVME_PI, "nvme", "failed to initialize PI MR pool", "nvme/host/rdma.c", "key with T10 PI refused")
LINE(MODULE_HOT, "mlx5_core", "Port module event[error]*High Temperature", "mlx5/core/events.c", "too hot")
LINE(MODULE_BUS_STUCK, "mlx5_core", "Port module event[error]*Bus stuck", "mlx5/core/events.c", "I2C bus stuck")
LINE(MODULE_UNKNOWN, "mlx5_core", "Port module event[error]*Unknown identifier", "mlx5/core/events.c", "unsupported")
LINE(MLX4_CABLE, "mlx4_core", "Unsupported cable detected", "mlx4/eq.c", "unsupported")
LINE(ICE_MODULE, "ice", "Rx/Tx is disabled on this device because an unsupported module", "ice/ice_main.c", "unsupported")
LINE(ICE_MODULE_POWER, "ice", "module's power requirements exceed", "ice/ice_main.c", "needs too much power")
LINE(ICE_MODULE_NVM, "ice", "installed module is incompatible with the device's NVM", "ice/ice_main.c", "unsupported")
LINE(HFI1_MODULE_SILENT, "hfi1", "QSFP not responding, giving up", "hfi1/chip.c", "does not respond")
LINE(HFI1_MODULE_HOT, "hfi1", "QSFP cable temperature too high", "hfi1/chip.c", "too hot")
LINE(MLX5_PORT_DOWN, "mlx5_core", "Port: *Link DOWN", "infiniband/core/cache.c", "port went down")
LINE(MLX5_LINK_DOWN, "mlx5_core", "Link down", "mlx5/core/en_main.c", "link went down")
LINE(BNXT_LINK_DOWN, "bnxt_en", "NIC Link is Down", "bnxt/bnxt.c", "link went down")
LINE(ICE_LINK_DOWN, "ice", "NIC Link is Down", "ice/ice_main.c", "link went down")
LINE(IONIC_LINK_DOWN, "ionic", "Link down", "ionic/ionic_lif.c", "link went down")
LINE(HFI1_LINK_DOWN, "hfi1", "Link down reason: Unexpected link down", "hfi1/chip.c", "link went down")
LINE(HNS_LINK_DOWN, "hns3", "link down", "hns3/hns3_enet.c", "link went down")
LINE(PEERMEM_VERSION, "", "peer*disagrees about version of symbol ib_",
     "kernel/module/version.c", "built for another RDMA core")
LINE(IB_SYMBOL, "", "disagrees about version of symbol ib_", "kernel/module/version.c", "built for another RDMA core")
LINE(RDMA_SYMBOL, "", "disagrees about version of symbol rdma_", "kernel/module/version.c", "built for another RDMA core")
LINE(PEERMEM_CLIENT, "", "peer*Unknown symbol ib_register_peer_memory_client",
     "kernel/module/main.c", "RDMA core lacks peer memory")
LINE(NV_PEER_MEM_SYMBOL, "nv_peer_mem", "Unknown symbol ib_", "kernel/module/main.c", "built for another RDMA core")
LINE(PEERMEM_CONTEXT, "nvidia-peermem", "detected invalid context",
     "nvidia-peermem.c of NVIDIA", "memory freed while registered")
LINE(PEERMEM_CALLBACK, "nvidia-peermem", "nv_get_p2p_free_callback",
     "nvidia-peermem.c of NVIDIA", "memory freed while registered")
LINE(UMEM_PIN, "", "ib_umem_get: failed to get user pages", "thread nv_peer_memory#27", "pages cannot be pinned")
LINE(UMEM_GET, "mlx5", "mr_umem_get*umem get failed", "thread nv_peer_memory#27", "pages cannot be pinned")
LINE(OOM_CGROUP, "", "Memory cgroup out of memory: Killed process", "mm/oom_kill.c", "limit of a control group reached")
LINE(OOM, "", "Out of memory: Killed process", "mm/oom_kill.c", "memory of the host used up")
LINE(PCIE_FATAL, "", "PCIe Bus Error: severity=Uncorrect*(Fatal)", "pci/pcie/aer.c", "link is unreliable, and reset")
LINE(PCIE_UNCORRECTED, "", "PCIe Bus Error: severity=Uncorrect", "pci/pcie/aer.c", "a transaction failed")
LINE(FALLEN_OFF_BUS, "NVRM", "fallen off the bus", "thread NVSentinel#155", "GPU does not respond")
LINE(AMDGPU_LOST, "amdgpu", "device lost from bus!", "gpu/drm/amd/amdgpu/amdgpu_device.c", "GPU does not respond")
LINE(PCIE_CARD_GONE, "pcieport", "Card not present", "pci/hotplug/pciehp_ctrl.c", "slot is empty")
LINE(DMAR_FAULT, "DMAR", "[DMA *Request device [*fault addr", "iommu/intel/dmar.c", "address not mapped")
LINE(AMD_IO_FAULT, "", "AMD-Vi: Event logged [IO_PAGE_FAULT", "iommu/amd/iommu.c", "address not mapped")
LINE(AMD_BAD_REQUEST, "", "AMD-Vi: Event logged [INVALID_DEVICE_REQUEST", "iommu/amd/iommu.c", "request not allowed")
LINE(AMD_IOTLB, "", "AMD-Vi: Event logged [IOTLB_INV_TIMEOUT", "iommu/amd/iommu.c", "device does not respond")
LINE(SMMU3_FAULT, "arm-smmu-v3", "event: *client: *sid: ", "iommu/arm/arm-smmu-v3/arm-smmu-v3.c (6.15)", "address not mapped")
LINE(SMMU3_EVENT, "arm-smmu-v3", "event 0x*received:", "iommu/arm/arm-smmu-v3/arm-smmu-v3.c", "request not allowed")
LINE(SMMU_FAULT, "arm-smmu", "Unhandled context fault: ", "iommu/arm/arm-smmu/arm-smmu.c", "address not mapped")
LINE(POWER_GOOD, "mlx5_core", "PCIe slot advertised sufficient power", "mlx5/core/events.c", "no fault")
LINE(POWER_LOW, "mlx5_core", "Detected insufficient power on the PCIe slot",
     "mlx5/core/events.c", "slot advertises too little power")
LINE(POWER_UNKNOWN, "mlx5_core", "PCIe slot power capability was not advertised",
     "mlx5/core/events.c", "slot advertises nothing")
