/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each rule about the kernel log: a line that drivers print, and one much like it that means nothing. */
#include "unit.h"

#include "check-run.h"
#include "collect/kernel/kernel.h"
#include "model/nicmap/nicmap.h"
#include "source/redact/redact.h"

/* `redacted`: as a redacted recording has it. */
static void log_of(struct rd_klog *klog, int priority, unsigned times, const char *line, bool redacted)
{
	_cleanup_(rd_redact_deinit) struct rd_redact redact = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };
	char text[16384] = "6,0,1,-;Linux version\n";
	struct rd_bytes bytes;
	size_t at = strlen(text);

	for (unsigned i = 1; i <= times; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%d,%u,%u,-;%s\n", priority, i, i * 1000000, line);
	rd_redact_kmsg(&redact, text, at, &out);
	bytes = (struct rd_bytes){ (uint8_t *)strdup(redacted ? out.data : text), redacted ? out.len : at };
	*klog = (struct rd_klog){ 0 };
	rd_klog_parse(&bytes, klog);
	assert_true(redacted || klog->n == times + 1);
}

static enum rd_severity result_of(const char *rule, int priority, unsigned times, const char *line)
{
	enum rd_severity result[2];

	for (int redacted = 0; redacted < 2; redacted++) {
		struct rd_host host = { 0 };
		struct rd_klog klog;
		struct rd_check_input in = { .host = &host, .klog = &klog };

		log_of(&klog, priority, times, line, redacted);
		result[redacted] = check_worst(&in, rule);
		rd_klog_deinit(&klog);
	}
	assert_int_equal(result[0], result[1]);
	return result[0];
}

static const struct {
	const char *rule;
	enum rd_severity result;
	unsigned times;
	const char *bad, *good;
} cases[] = {
	{ "log-nic-health", RD_SEV_CRITICAL, 1,
	  "mlx5_core 0000:5c:00.0: poll_health:825:(pid 0): device's health compromised - reached miss count",
	  "mlx5_core 0000:5c:00.0: firmware version: 28.39.1002" },
	{ "log-mkey-limit", RD_SEV_WARNING, 1,
	  "mlx5_core 0000:41:00.0: mlx5_cmd_out_err:800:(pid 233522): CREATE_MKEY(0x200) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x18af6), err(-12)",
	  "mlx5_core 0000:41:00.0: mlx5_cmd_out_err:800:(pid 233522): CREATE_MKEY(0x200) op_mod(0x0) failed, status bad resource(0x5)" },
	{ "log-qp-limit", RD_SEV_WARNING, 1,
	  "mlx5_core 0000:5e:00.0: mlx5_cmd_check:824:(pid 46096): CREATE_QP(0x500) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x19c6d6)",
	  "mlx5_core 0000:5e:00.0: mlx5_cmd_check:824:(pid 46096): MODIFY_QP(0x500) failed, status limits exceeded(0x8)" },
	{ "log-uar-limit", RD_SEV_WARNING, 1,
	  "mlx5_core 0000:61:00.0: mlx5_cmd_check:795:(pid 53945): ALLOC_UAR(0x802) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x5a7939)",
	  "mlx5_core 0000:61:00.0: ALLOC_UAR(0x802) done" },
	{ "log-uar-pages", RD_SEV_CRITICAL, 1, "mlx4_core 0004:02:00.0: Only 64 UAR pages (need more than 128)",
	  "mlx4_core 0004:02:00.0: Increase firmware log2_uar_bar_megabytes?" },
	{ "log-retry-count", RD_SEV_WARNING, 1,
	  "mlx5_core 0000:04:00.0: mlx5_cmd_check:795:(pid 9993): RTR2RTS_QP(0x504) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x4bb88f)",
	  "mlx5_core 0000:04:00.0: mlx5_cmd_check:795:(pid 9993): RTR2RTS_QP(0x504) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x1)" },
	{ "log-slot-power", RD_SEV_UNKNOWN, 1, /* of a NIC that the host has not; others: test-check-healthy.c */
	  "mlx5_core 0000:5c:00.0: mlx5_pcie_event:299:(pid 268269): Detected insufficient power on the PCIe slot (27W).",
	  "mlx5_core 0000:5c:00.0: PCIe slot advertised sufficient power (75W)." },
	{ "log-optics", RD_SEV_CRITICAL, 1, "mlx5_core: Port module event[error]: module 2, High Temperature detected",
	  "mlx5_core 0000:5c:00.0: Port module event: module 0, Cable plugged" },
	{ "log-link-flaps", RD_SEV_WARNING, 6, "mlx5_core 0000:5c:00.0 eth2: Link down",
	  "mlx5_core 0000:5c:00.0 eth2: Link up" },
	{ "log-peermem-symbols", RD_SEV_CRITICAL, 1,
	  "nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)",
	  "nvidia_peermem: loading out-of-tree module taints kernel." },
	{ "log-rdma-symbols", RD_SEV_WARNING, 1, "ksmbd: disagrees about version of symbol rdma_rw_ctx_destroy",
	  "ksmbd: disagrees about version of symbol crypto_alloc" },
	{ "log-peermem", RD_SEV_NOTE, 1,
	  "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing",
	  "nvidia-peermem nv_get_p2p_free_callback:99" },
	{ "log-pin-pages", RD_SEV_WARNING, 1, "ib_umem_get: failed to get user pages, nr_pages=512",
	  "ib_umem_get: done" },
	{ "log-oom", RD_SEV_WARNING, 1, "Memory cgroup out of memory: Killed process 4711 (python) total-vm:1kB",
	  "oom_reaper: reaped process 4711" },
	{ "log-pcie-errors", RD_SEV_CRITICAL, 1,
	  "mlx5_core 0000:5c:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Transaction Layer",
	  "mlx5_core 0000:5c:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer" },
};

TEST(each_rule_knows_its_line_and_no_other)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		assert_int_equal(result_of(cases[i].rule, 3, cases[i].times, cases[i].bad), cases[i].result);
		assert_int_equal(result_of(cases[i].rule, 3, cases[i].times, cases[i].good), RD_SEV_OK);
		/* What a program wrote there is no evidence: 11 is facility 1, level 3. */
		assert_int_equal(result_of(cases[i].rule, 11, cases[i].times, cases[i].bad), RD_SEV_OK);
	}
}

/* Lines as drivers print them: the texts of the sources that klog-lines.h names, filled in. */
static const struct {
	enum rd_klog_form form;
	const char *rule;
	enum rd_severity result;
	unsigned times;
	const char *line;
} printed[] = {
	{ RD_KLOG_MLX5_NOT_RECOVERED, "log-nic-health", RD_SEV_CRITICAL, 1,
	  "mlx5_core 0000:5c:00.0: mlx5_health_try_recover:338:(pid 5553): health recovery flow aborted, PCI reads still not working" },
	{ RD_KLOG_MLX5_HOT, "log-nic-health", RD_SEV_WARNING, 1,
	  "mlx5_core 0000:5c:00.0: temp_warn:170:(pid 0): High temperature on sensors with bit set 0 1" },
	{ RD_KLOG_PCIE_CONTAINED, "log-pcie-errors", RD_SEV_WARNING, 1,
	  "pcieport 0000:5b:00.0: DPC: containment event, status:0x1f01 source:0x0000" },
	{ RD_KLOG_BNXT_FATAL_RESET, "log-nic-health", RD_SEV_WARNING, 1,
	  "bnxt_en 0000:5c:00.0 eth2: Fatal firmware reset event, data1: 0x1, data2: 0x9, min wait 4000 ms, max wait 6000 ms" },
	{ RD_KLOG_BNXT_OLD_FATAL_RESET, "log-nic-health", RD_SEV_WARNING, 1,
	  "bnxt_en 0000:5c:00.0 eth2: Firmware fatal reset event received" },
	{ RD_KLOG_BNXT_EXCEPTION, "log-nic-health", RD_SEV_WARNING, 1,
	  "bnxt_en 0000:5c:00.0 eth2: Detected firmware fatal condition, initiating reset" },
	{ RD_KLOG_BNXT_ABORTED, "log-nic-health", RD_SEV_CRITICAL, 1,
	  "bnxt_en 0000:5c:00.0 eth2: Firmware reset aborted, rc = -19" },
	{ RD_KLOG_BNXT_SILENT, "log-nic-health", RD_SEV_CRITICAL, 1,
	  "bnxt_en 0000:5c:00.0 (unnamed net_device) (uninitialized): Firmware not responding, status: 0x4005" },
	{ RD_KLOG_BNXT_RE_STALL, "log-nic-health", RD_SEV_CRITICAL, 1,
	  "bnxt_en 0000:5c:00.0: bnxt_re_is_fw_stalled: FW STALL Detected. cmdq[0x5d]=0x3 waited (60312 > 60000) msec active 1 " },
	{ RD_KLOG_IRDMA_RESET, "log-nic-health", RD_SEV_WARNING, 1, "ice 0000:5c:00.0 rocep92s0: Requesting a reset" },
	{ RD_KLOG_ICE_REBUILD, "log-nic-health", RD_SEV_CRITICAL, 1,
	  "ice 0000:5c:00.0: Rebuild failed, unload and reload driver" },
	{ RD_KLOG_ICE_LOST, "log-nic-health", RD_SEV_CRITICAL, 1,
	  "ice 0000:5c:00.0 eth2: tx_timeout recovery unsuccessful, device is in unrecoverable state." },
	{ RD_KLOG_IONIC_ADMIN, "log-nic-health", RD_SEV_CRITICAL, 1,
	  "ionic 0000:5c:00.0 ionic_0: admin command timed out, aq 1 after: 2004ms" },
	{ RD_KLOG_IONIC_RDMA_RESET, "log-nic-health", RD_SEV_CRITICAL, 1,
	  "ionic 0000:5c:00.0 ionic_0: failed to reset rdma -110" },
	{ RD_KLOG_IONIC_RESTART, "log-nic-health", RD_SEV_CRITICAL, 1,
	  "ionic 0000:5c:00.0: FW Up: LIFs restart failed - err -5" },
	{ RD_KLOG_IONIC_STOPPED, "log-nic-health", RD_SEV_WARNING, 1,
	  "ionic 0000:5c:00.0: Surprise FW stop, stopping queues" },
	{ RD_KLOG_IONIC_HEARTBEAT, "log-nic-health", RD_SEV_WARNING, 1,
	  "ionic 0000:5c:00.0: FW heartbeat stalled at 81233" },
	{ RD_KLOG_HFI1_FROZEN, "log-nic-health", RD_SEV_CRITICAL, 1,
	  "hfi1 0000:5c:00.0: hfi1_0: Aborted freeze recovery. Please REBOOT system" },
	{ RD_KLOG_HFI1_HOT, "log-nic-health", RD_SEV_CRITICAL, 1,
	  "hfi1 0000:5c:00.0: hfi1_0: Critical temperature reached! Forcing device into freeze mode!" },
	{ RD_KLOG_HFI1_GONE, "log-nic-health", RD_SEV_CRITICAL, 1,
	  "hfi1 0000:5c:00.0: hfi1_0: State Permanent Failure, disabling" },
	{ RD_KLOG_HFI1_SDMA, "log-nic-health", RD_SEV_WARNING, 1,
	  "hfi1 0000:5c:00.0: hfi1_0: SDMA (3) engine error: 0x20 state s99_running" },
	{ RD_KLOG_EFA_NO_COMPLETION, "log-nic-health", RD_SEV_CRITICAL, 1,
	  "efa 0000:5c:00.0 efa_0: The device didn't send any completion for admin cmd CREATE_QP(1) status 0 (ctx 0x000000001a2b3c4d, sq producer: 77, sq consumer: 76, cq consumer: 76)" },
	{ RD_KLOG_EFA_NO_INTERRUPT, "log-nic-health", RD_SEV_CRITICAL, 1,
	  "efa 0000:5c:00.0 efa_0: The device sent a completion but the driver didn't receive any MSI-X interrupt for admin cmd CREATE_CQ(5) status 1 (ctx: 0x000000001a2b3c4d, sq producer: 5, sq consumer: 5, cq consumer: 5)" },
	{ RD_KLOG_EFA_REGISTERS, "log-nic-health", RD_SEV_CRITICAL, 1,
	  "efa 0000:5c:00.0 efa_0: Reading register timed out. expected: req id[7] offset[0x48] actual: req id[161] offset[0x0]" },
	{ RD_KLOG_HNS_RESET_FAILED, "log-nic-health", RD_SEV_CRITICAL, 1, "hns3 0000:7d:00.0: Reset fail!" },
	{ RD_KLOG_HNS_REINIT_FAILED, "log-nic-health", RD_SEV_CRITICAL, 1,
	  "hns3 0000:7d:00.0: In reset process RoCE reinit failed -110." },
	{ RD_KLOG_HNS_RESET, "log-nic-health", RD_SEV_WARNING, 1,
	  "hns3 0000:7d:00.0: In reset process RoCE client uninit." },
	{ RD_KLOG_HNS_OVERFLOW, "log-nic-health", RD_SEV_WARNING, 1, "hns3 0000:7d:00.0: AEQ overflow!" },
	{ RD_KLOG_HNS_RAS, "log-nic-health", RD_SEV_WARNING, 1,
	  "hns3 0000:7d:00.0: found MODULE_ROCEE_TOP rocee_bus_error, is ras error." },
	{ RD_KLOG_MANA_COMMAND, "log-nic-health", RD_SEV_WARNING, 1,
	  "mana 7870:00:00.0: Command 0x20003 timed out: 20000 ms" },
	{ RD_KLOG_MANA_OLD_COMMAND, "log-nic-health", RD_SEV_WARNING, 1, "mana 7870:00:00.0: HWC: Request timed out!" },
	{ RD_KLOG_MANA_OVERFLOW, "log-nic-health", RD_SEV_WARNING, 1, "mana 7870:00:00.0: EQ 12: overflow detected" },
	{ RD_KLOG_MKEY_PI, "log-mkey-pi", RD_SEV_WARNING, 1,
	  "mlx5_core 0000:81:00.0: mlx5_cmd_check:810:(pid 923941): create_mkey(0x200) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x35e6ec)" },
	{ RD_KLOG_NVME_PI, "log-mkey-pi", RD_SEV_WARNING, 1,
	  "nvme nvme1: failed to initialize PI MR pool sized 128 for QID 1" },
	{ RD_KLOG_MODULE_UNKNOWN, "log-optics", RD_SEV_CRITICAL, 1,
	  "mlx5_core 0000:5c:00.0: Port module event[error]: module 0, Cable error, Unknown identifier" },
	{ RD_KLOG_MLX4_CABLE, "log-optics", RD_SEV_CRITICAL, 1, "mlx4_core 0000:5c:00.0: Unsupported cable detected" },
	{ RD_KLOG_ICE_MODULE, "log-optics", RD_SEV_CRITICAL, 1,
	  "ice 0000:5c:00.0 eth2: Rx/Tx is disabled on this device because an unsupported module type was detected. Refer to the Intel(R) Ethernet Adapters and Devices User Guide for a list of supported modules." },
	{ RD_KLOG_ICE_MODULE_POWER, "log-optics", RD_SEV_CRITICAL, 1,
	  "ice 0000:5c:00.0: The module's power requirements exceed the device's power supply. Cannot start link" },
	{ RD_KLOG_ICE_MODULE_NVM, "log-optics", RD_SEV_CRITICAL, 1,
	  "ice 0000:5c:00.0: The installed module is incompatible with the device's NVM image. Cannot start link" },
	{ RD_KLOG_HFI1_MODULE_SILENT, "log-optics", RD_SEV_CRITICAL, 1,
	  "hfi1 0000:5c:00.0: hfi1_0: QSFP not responding, giving up" },
	{ RD_KLOG_HFI1_MODULE_HOT, "log-optics", RD_SEV_WARNING, 1,
	  "hfi1 0000:5c:00.0: hfi1_0: handle_qsfp_error_conditions: QSFP cable temperature too high" },
	{ RD_KLOG_BNXT_LINK_DOWN, "log-link-flaps", RD_SEV_WARNING, 6, "bnxt_en 0000:5c:00.0 eth2: NIC Link is Down" },
	{ RD_KLOG_ICE_LINK_DOWN, "log-link-flaps", RD_SEV_WARNING, 6, "ice 0000:5c:00.0 eth2: NIC Link is Down" },
	{ RD_KLOG_IONIC_LINK_DOWN, "log-link-flaps", RD_SEV_WARNING, 6, "ionic 0000:5c:00.0 eth2: Link down" },
	{ RD_KLOG_HFI1_LINK_DOWN, "log-link-flaps", RD_SEV_WARNING, 6,
	  "hfi1 0000:5c:00.0: hfi1_0: Link down reason: Unexpected link down" },
	{ RD_KLOG_HNS_LINK_DOWN, "log-link-flaps", RD_SEV_WARNING, 6, "hns3 0000:7d:00.0 eth2: link down" },
	{ RD_KLOG_AMDGPU_LOST, "log-pcie-errors", RD_SEV_CRITICAL, 1, "amdgpu 0000:83:00.0: device lost from bus!" },
	{ RD_KLOG_FALLEN_OFF_BUS, "log-pcie-errors", RD_SEV_CRITICAL, 1,
	  "NVRM: Xid (PCI:0000:44:00): 79, GPU has fallen off the bus" },
	{ RD_KLOG_SMMU3_EVENT, "log-iommu-faults", RD_SEV_NOTE, 1,
	  "arm-smmu-v3 arm-smmu-v3.3.auto: event 0x10 received:" },
	{ RD_KLOG_SMMU_FAULT, "log-iommu-faults", RD_SEV_NOTE, 1,
	  "arm-smmu arm-smmu.0.auto: Unhandled context fault: fsr=0x402, iova=0xfffff000, fsynr=0x11, cbfrsynra=0x801, cb=2" },
};

TEST(lines_of_the_sources_are_known)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(printed); i++) {
		assert_int_equal(rd_klog_form_of(printed[i].line), printed[i].form);
		assert_int_equal(result_of(printed[i].rule, 3, printed[i].times, printed[i].line), printed[i].result);
	}
}

/* What the same drivers print when all is well, and what others print in like words. */
static const char *const harmless[] = {
	"bnxt_en 0000:5c:00.0 eth2: Solicited firmware reset event, data1: 0x1, data2: 0x0, min wait 4000 ms, max wait 6000 ms",
	"bnxt_en 0000:5c:00.0 eth2: NIC Link is Up, 200000 Mbps (PAM4 56Gbps) full duplex, Flow control: none",
	"bnxt_en 0000:5c:00.0 eth2: Firmware reset request successful.",
	"bnxt_en 0000:5c:00.0 eth2: Broadcom BCM57608 NetXtreme-E 10Gb/25Gb/50Gb/100Gb/200Gb/400Gb Ethernet found at mem 2fe10000, node addr 00:11:22:33:44:55",
	"bnxt_en 0000:5c:00.0: Device registered with IB successfully",
	"ice 0000:5c:00.0: The DDP package was successfully loaded: ICE OS Default Package version 1.3.36.0",
	"ice 0000:5c:00.0 eth2: NIC Link is up 100 Gbps Full Duplex, Requested FEC: RS-FEC, Negotiated FEC: RS-FEC, Autoneg Advertised: On, Autoneg Negotiated: True, Flow Control: None",
	"ice 0000:5c:00.0: VSI rebuilt. VSI index 0, type ICE_VSI_PF",
	"ice 0000:5c:00.0 eth2: An unsupported module type was detected. Refer to the Intel(R) Ethernet Adapters and Devices User Guide for a list of supported modules",
	"ice 0000:5c:00.0 irdma0: Q1 Resource Check",
	"ionic 0000:5c:00.0: FW: 1.117.1-a-63",
	"ionic 0000:5c:00.0 eth2: Link up - 400 Gbps",
	"ionic 0000:5c:00.0: FW heartbeat restored at 81240",
	"ionic 0000:5c:00.0: FW Up: LIFs restarted",
	"ionic 0000:5c:00.0: FW Down: LIFs stopped",
	"hfi1 0000:5c:00.0: hfi1_0: 8051: Link up",
	"hfi1 0000:5c:00.0: hfi1_0: QSFP not responding, waiting and retrying 3",
	"hfi1 0000:5c:00.0: hfi1_0: Link down reason: Host requested link to go offline",
	"hfi1 0000:5c:00.0: hfi1_0: Initializing thermal sensor",
	"hfi1 0000:5c:00.0: hfi1_0: State Normal, ignoring",
	"efa 0000:5c:00.0: Setup irq:121 name:efa-mgmnt@pci:0000:5c:00.0",
	"efa 0000:5c:00.0 efa_0: IB device registered",
	"efa 0000:5c:00.0 efa_0: Unregister ib device",
	"efa 0000:5c:00.0 efa_0: Failed to process command CREATE_QP (opcode 1) err -22",
	"ena 0000:5d:00.0: Reading reg failed for timeout. expected: req id[7] offset[72] actual: req id[161] offset[0]",
	"hns3 0000:7d:00.0: hns3 driver initialization finished.",
	"hns3 0000:7d:00.0: PF reset requested",
	"hns3 0000:7d:00.0: Reset done, hclge driver initialization finished.",
	"hns3 0000:7d:00.0: reset done, RoCE client reinit finished.",
	"hns3 0000:7d:00.0 eth2: link up",
	"mana 7870:00:00.0: Microsoft Azure Network Adapter protocol version: 0.1.1",
	"mana 7870:00:00.0 eth1: Configured vPort 0 PD 18 DB 16",
	"mana 7870:00:00.0 eth1: Configured steering vPort 0 entries 64",
	"mana 7870:00:00.0: Command 0x20003 failed with status: 0x80000001",
	"mana 7870:00:00.0: Shutdown was called",
	"DMAR: IOMMU enabled",
	"DMAR: DRHD base: 0x000000fbffc000 flags: 0x0",
	"DMAR: [Firmware Bug]: RMRR entry for device 04:00.0 is broken - applying workaround",
	"DMAR: DRHD: handling fault status reg 2",
	"DMAR: Intel(R) Virtualization Technology for Directed I/O",
	"AMD-Vi: Interrupt remapping enabled",
	"AMD-Vi: Extended features (0x841f77e022094ace, 0x0): PPR X2APIC NX IA GA PC SNP",
	"pci 0000:00:00.2: AMD-Vi: IOMMU performance counters supported",
	"AMD-Vi: IOMMU Event log restarting",
	"AMD-Vi: Virtual APIC enabled",
	"arm-smmu-v3 arm-smmu-v3.3.auto: option mask 0x0",
	"arm-smmu-v3 arm-smmu-v3.3.auto: ias 48-bit, oas 48-bit (features 0x0009dfaf)",
	"arm-smmu-v3 arm-smmu-v3.3.auto: allocated 65536 entries for evtq",
	"arm-smmu-v3 arm-smmu-v3.3.auto: msi_domain absent - falling back to wired irqs",
	"arm-smmu arm-smmu.0.auto: probing hardware configuration...",
	"ixgbe 0000:01:00.0 eno1: NIC Link is Down",
	"device eno1: NIC Link is Down",
	"iceberg 0000:01:00.0: Requesting a reset",
	"scsi host1: admin command timed out, aq 1",
	"bnx2x 0000:01:00.0 eno1: NIC Link is Down",
	"nvme nvme1: failed to initialize MR pool sized 128 for QID 1",
	"usb 1-2: device lost from bus!",
};

TEST(lines_of_healthy_boots_and_of_others_are_not)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(harmless); i++)
		if (rd_klog_form_of(harmless[i]) != RD_KLOG_NO_FORM)
			fail_msg("%s", harmless[i]);
}

/* What explains a line needs all of its row. */
TEST(each_form_has_its_source_and_meaning)
{
	for (enum rd_klog_form form = 1; form < RD_KLOG_QP; form++) {
		const struct rd_klog_line *line = &rd_klog_lines[form];
		_cleanup_free_ char *text = NULL;

		assert_true(*line->text && *line->source && *line->meaning);
		assert_true(asprintf(&text, "%s 0: %s", line->driver, line->text) > 0);
		assert_int_equal(rd_klog_form_of(text), form);
	}
}

/* A line and the function of the host that it is about: mlx5 at 5c:00.0, a GPU at 83:00.0, storage at 04:00.0. */
static const struct {
	const char *line, *subject;
} refused[] = {
	{ "DMAR: [DMA Write NO_PASID] Request device [5c:00.0] fault addr 0xbd800000 [fault reason 0x05] PTE Write access is not set",
	  "0000:5c:00.0" },
	{ "DMAR: [DMA Read] Request device [83:00.0] PASID ffffffff fault addr 9f4000 [fault reason 06] PTE Read access is not set",
	  "0000:83:00.0" },
	{ "mlx5_core 0000:5c:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0013 address=0xd4000000 flags=0x0020]",
	  "0000:5c:00.0" },
	{ "AMD-Vi: Event logged [IO_PAGE_FAULT device=5c:00.0 domain=0x0013 address=0xd4000000 flags=0x0020]",
	  "0000:5c:00.0" },
	{ "pci 0000:00:00.2: AMD-Vi: Event logged [INVALID_DEVICE_REQUEST device=0000:5c:00.0 pasid=0x00000 address=0xfffffffdf8000000 flags=0x0a00]",
	  "0000:5c:00.0" },
	{ "pci 0000:00:00.2: AMD-Vi: Event logged [IOTLB_INV_TIMEOUT device=0000:83:00.0 address=0x10a4d3d0]",
	  "0000:83:00.0" },
	{ "arm-smmu-v3 arm-smmu-v3.3.auto: event: F_TRANSLATION client: 0000:5c:00.0 sid: 0x5c00 ssid: 0 iova: 0xffe0000000 ipa: 0x0",
	  "0000:5c:00.0" },
	{ "DMAR: [DMA Write NO_PASID] Request device [04:00.0] fault addr 0x7f0000 [fault reason 0x05] PTE Write access is not set" },
	{ "DMAR: [DMA Read NO_PASID] Request device [00:02.0] fault addr 0x7f0000 [fault reason 0x06] PTE Read access is not set" },
	{ "ahci 0000:04:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0013 address=0xd4000000 flags=0x0020]" },
	{ "DMAR: [DMA Write] Request device [a1:00.0] fault addr 9f4000 [fault reason 05] PTE Write access is not set" },
};

TEST(refused_requests_are_those_of_nics_and_gpus)
{
	/* a1:00.0 is in two domains: the line does not say which. */
	struct rd_pci pcis[] = {
		{ .addr = "0000:5c:00.0", .bus = 0x5c },
		{ .addr = "0000:83:00.0", .bus = 0x83 },
		{ .addr = "0000:04:00.0", .bus = 0x04 },
		{ .addr = "0000:a1:00.0", .bus = 0xa1 },
		{ .addr = "0001:a1:00.0", .domain = 1, .bus = 0xa1 },
	};
	struct rd_ibdev ibdevs[] = { { .pci = 0 }, { .pci = 3 }, { .pci = 4 } };
	struct rd_gpu gpu = { .pci = 1 };
	struct rd_host host = { .pcis = pcis, .n_pcis = 5, .ibdevs = ibdevs, .n_ibdevs = 3, .gpus = &gpu, .n_gpus = 1 };

	for (size_t i = 0; i < 2 * RD_ARRAY_SIZE(refused); i++) {
		struct rd_klog klog;
		struct rd_check_input in = { .host = &host, .klog = &klog };
		struct rd_findings findings = { 0 };
		const char *subject = refused[i / 2].subject;

		log_of(&klog, 3, 2, refused[i / 2].line, i % 2);
		check_run(&in, "log-iommu-faults", &findings);
		assert_int_equal(findings.n, 1);
		assert_int_equal(findings.v[0].severity, subject ? RD_SEV_WARNING : RD_SEV_OK);
		assert_string_equal(findings.v[0].subject, subject ? subject : "kernel log");
		rd_findings_deinit(&findings);
		rd_klog_deinit(&klog);
	}
}

TEST(every_rule_about_the_log_has_a_case)
{
	for (size_t i = 0; i < rd_n_checks; i++) {
		bool has = false;

		if (strncmp(rd_checks[i]->id, "log-", 4) != 0)
			continue;
		for (size_t k = 0; k < RD_ARRAY_SIZE(cases); k++)
			has |= strcmp(cases[k].rule, rd_checks[i]->id) == 0;
		for (size_t k = 0; k < RD_ARRAY_SIZE(printed); k++)
			has |= strcmp(printed[k].rule, rd_checks[i]->id) == 0;
		assert_true(has);
	}
}

TEST(few_lines_of_a_kind_are_no_flapping)
{
	assert_int_equal(result_of("log-link-flaps", 6, 2, "mlx5_core 0000:5c:00.0 eth2: Link down"), RD_SEV_OK);
}

/* All ports go down once when a host boots, or its network is restarted. */
TEST(lines_about_many_devices_are_no_flapping)
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	struct rd_bytes bytes;
	struct rd_host host = { 0 };
	_cleanup_(rd_klog_deinit) struct rd_klog klog = { 0 };
	struct rd_check_input in = { .host = &host, .klog = &klog };

	for (unsigned n = 0; n < 12; n++)
		rd_buf_printf(&text, "6,%u,1000000,-;mlx5_core 0000:%02x:00.0 eth%u: Link down\n", n, 0x10 + n, n);
	bytes = (struct rd_bytes){ (uint8_t *)strdup(text.data), text.len };
	rd_klog_parse(&bytes, &klog);
	assert_int_equal(check_worst(&in, "log-link-flaps"), RD_SEV_OK);
}

/* A fix is to be pasted: it names the device of the line. */
TEST(the_fix_names_the_device)
{
	struct rd_pci pci = { .addr = "0000:5c:00.0", .domain = 0, .bus = 0x5c };
	struct rd_host host = { .pcis = &pci, .n_pcis = 1 };
	_cleanup_(rd_klog_deinit) struct rd_klog klog;
	struct rd_check_input in = { .host = &host, .klog = &klog };
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };

	log_of(&klog, 3, 1, cases[0].bad, false);
	check_run(&in, "log-nic-health", &findings);
	assert_int_equal(findings.n, 1);
	assert_non_null(strstr(findings.v[0].fix, "devlink health show pci/0000:5c:00.0\n# "));
}

/* Long ago is no reason to drain a host. */
TEST(an_old_line_warns)
{
	static const char text[] =
		"3,1,1000000,-;mlx5_core 0000:5c:00.0: device's health compromised\n6,2,180000000000,-;later\n";
	struct rd_bytes bytes = { (uint8_t *)strdup(text), strlen(text) };
	struct rd_host host = { 0 };
	_cleanup_(rd_klog_deinit) struct rd_klog klog = { 0 };
	struct rd_check_input in = { .host = &host, .klog = &klog };

	rd_klog_parse(&bytes, &klog);
	assert_int_equal(check_worst(&in, "log-nic-health"), RD_SEV_WARNING);
}

TEST(a_log_that_may_not_be_read_is_unknown)
{
	struct rd_klog klog = { .known = RD_DENIED };
	struct rd_host host = { 0 };
	struct rd_check_input in = { .host = &host, .klog = &klog };

	assert_int_equal(check_worst(&in, "log-oom"), RD_SEV_UNKNOWN);
	klog.known = RD_ABSENT;
	assert_int_equal(check_worst(&in, "log-oom"), RD_SEV_UNKNOWN);
	in.klog = NULL;
	assert_int_equal(check_worst(&in, "log-oom"), RD_SEV_UNKNOWN);
}

/* A read that was given up is not a host without a log. */
TEST(a_log_that_gave_no_answer_is_not_called_absent)
{
	struct rd_klog klog = { .code = ETIMEDOUT };
	struct rd_host host = { 0 };
	struct rd_port_views ports = { .host = &host };
	struct rd_check_input in = { .host = &host, .ports = &ports, .klog = &klog };
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	size_t told = 0;

	rd_checks_run(&in, NULL, &findings);
	for (size_t i = 0; i < findings.n; i++) {
		if (findings.v[i].severity != RD_SEV_UNKNOWN || strcmp(findings.v[i].subject, "kernel log") != 0)
			continue;
		assert_string_equal(findings.v[i].observed, "/dev/kmsg could not be read: Connection timed out");
		told++;
	}
	assert_true(told > 5);
}
