/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about kernel log lines on NICs. A rule names forms of lines (base/klog-form.h); only lines of the kernel itself count,
 * because any program can write to /dev/kmsg. */

#include "base/err.h"
#include "base/text.h"
#include "check/shared/rules.h"
#include "model/host/system.h"

#define DAY_NS UINT64_C(86400000000000)

struct pattern {
	enum rd_klog_form form;
	enum rd_severity result; /* of a line at most one day old; older lines are warnings */
	unsigned least;		 /* lines about one device, below which there is no finding; 0: one is enough */
	bool of_peermem;	 /* a note where DMA-BUF works: peer memory is not needed */
	bool with_keys;		 /* no evidence if memory keys have run out, which causes it, too */
};

static bool matches_form(const struct rd_krecord *record, const struct pattern *pattern)
{
	const char *level = record->form == RD_KLOG_MLX5_HEALTH_ISSUE ? strstr(record->text, "severity(") : NULL;

	/* mlx5 has the levels of syslog: lines up to a warning are faults. */
	return record->facility == RD_KLOG_KERN && record->form == pattern->form &&
	       !(level && level[9] >= '5' && level[9] <= '7');
}

/* Device that the line is about, "mlx5_core 0000:1b:00.0": the text up to the first ": ". Caller frees. */
static char *subject_of(const struct rd_krecord *record)
{
	const char *pci = rd_krecord_pci(record), *end = strstr(record->text, ": ");
	const char *gpu = strncmp(record->text, "NVRM", 4) == 0 ? strstr(record->text, "PCI:") : NULL;

	if (pci)
		return rd_dup(pci);
	/* "NVRM: GPU at PCI:0000:07:00: GPU-…", "NVRM: Xid (PCI:0000:07:00): 79, …" */
	if (gpu && strlen(gpu) >= 14)
		return rd_text("%.10s.0", gpu + 4);
	return end && end - record->text < 64 ? rd_dup_part(record->text, (size_t)(end - record->text)) :
						rd_dup("kernel");
}

/* PCI function that a line is about: "mlx5_core 0000:5c:00.0: …". -1: no function of this host. */
static int pci_of(const struct rd_host *host, const struct rd_krecord *record)
{
	const char *addr = rd_krecord_pci(record), *blank = strchr(record->text, ' ');
	char word[RD_PCI_ADDR];
	size_t n = blank ? strcspn(blank + 1, " ") : 0;

	if (addr)
		return rd_host_find_pci(host, addr);
	if (n < 2 || n > sizeof(word) || blank[n] != ':')
		return -1;
	memcpy(word, blank + 1, n - 1);
	word[n - 1] = '\0';
	return rd_host_find_pci(host, word);
}

static char *age_text(uint64_t ns)
{
	unsigned long long minutes = ns / 60000000000u;

	if (minutes < 60)
		return rd_text("%llu min", minutes);
	return minutes < 48 * 60 ? rd_text("%llu h", minutes / 60) : rd_text("%llu days", minutes / 60 / 24);
}

/* `fix` is taken over; NULL: the rule's. */
static void report_lines(const struct rd_klog *klog, const char *subject, enum rd_severity result,
			 const struct rd_krecord *last, size_t n, char *fix, struct rd_check_out *out)
{
	uint64_t now = klog->v[klog->n - 1].time_ns, age = now > last->time_ns ? now - last->time_ns : 0;
	_cleanup_free_ char *ago = age_text(age);
	char *seen = rd_text("%zu line%s, the last %s before the end of the log: %.200s", n, n == 1 ? "" : "s", ago,
			     last->text);

	if (age > DAY_NS && result > RD_SEV_WARNING)
		result = RD_SEV_WARNING;
	if (result == RD_SEV_NOTE)
		rd_check_note(out, subject, seen, NULL, fix);
	else
		rd_check_bad(out, result, subject, seen, rd_text("no such line"), fix);
}

static void report_unread(const struct rd_klog *klog, struct rd_check_out *out)
{
	_cleanup_free_ char *reason = NULL;

	if (klog && klog->known == RD_DENIED)
		reason = rd_text("the kernel log cannot be read without CAP_SYSLOG (dmesg_restrict)");
	else if (!klog || !klog->code || klog->code == ENOENT)
		reason = rd_text("no kernel log available");
	else
		reason = rd_text("/dev/kmsg could not be read: %s", rd_errno_text(klog->code));
	rd_check_unknown(out, "kernel log", reason);
}

/* Lines that match one pattern; of one device where the pattern needs several. */
struct lines {
	char *subject; /* owned; NULL: any device */
	const struct rd_krecord *last;
	size_t n;
};

#define DEVICES_MAX 1024 /* lines about further devices are not counted: no host has that many */

/* Takes ownership of `subject`; of one pattern, all have one or none has. */
static void add_line(struct lines *v, size_t *n, char *subject, const struct rd_krecord *record)
{
	size_t i = 0;

	while (i < *n && subject && strcmp(v[i].subject, subject) != 0)
		i++;
	if (i < *n || *n == DEVICES_MAX)
		free(subject);
	else
		v[(*n)++] = (struct lines){ .subject = subject };
	if (i < *n) {
		v[i].last = record;
		v[i].n++;
	}
}

static bool has_form(const struct rd_klog *klog, enum rd_klog_form form)
{
	for (size_t i = 0; i < klog->n; i++)
		if (klog->v[i].form == form)
			return true;
	return false;
}

/* "mlx5_core 0000:4b:00.1 ens1v0: Link down", which follows from what its guest or container does: of a virtual function, or of an
 * interface that represents one. */
static bool is_of_guest(const struct rd_host *host, const struct rd_krecord *record)
{
	_cleanup_free_ char *text = rd_dup(record->text);
	char *rest = text, *words[3];
	int pci, netdev;

	if (rd_words(&rest, words, 3) < 3)
		return false;
	words[2][strcspn(words[2], ":")] = '\0';
	pci = rd_host_find_pci(host, words[1]);
	netdev = rd_host_find_netdev(host, words[2]);
	return (pci >= 0 && host->pcis[pci].pf >= 0) || (netdev >= 0 && host->netdevs[netdev].represents);
}

/* "pcieport 0000:40:01.0: pciehp: Slot(12): Card not present", "… DPC: containment event …", "nvme 0000:e5:00.0: PCIe Bus Error: …":
 * of a drive, say, or of the port that it is plugged into. */
static bool is_of_other_card(const struct rd_host *host, const struct rd_krecord *record)
{
	bool of_card = record->form == RD_KLOG_PCIE_CARD_GONE || record->form == RD_KLOG_PCIE_CONTAINED ||
		       record->form == RD_KLOG_PCIE_FATAL || record->form == RD_KLOG_PCIE_UNCORRECTED;
	int at = of_card ? pci_of(host, record) : -1;
	bool other = false;

	for (size_t i = 0; at >= 0 && i < host->n_pcis; i++) {
		if (!rd_pci_is_below(host, (int)i, at) || rd_pci_is_bridge(&host->pcis[i]))
			continue;
		if (rd_pci_matters(host, i) || host->pcis[i].class.v >> 16 != RD_PCI_STORAGE)
			return false;
		other = true;
	}
	return other;
}

static bool match_one(const struct rd_check_input *in, const struct pattern *pattern, struct rd_check_out *out)
{
	const struct rd_klog *klog = in->klog;
	struct lines v[DEVICES_MAX];
	size_t n = 0;
	bool found = false;

	for (size_t i = 0; i < klog->n; i++) {
		const struct rd_krecord *record = &klog->v[i];

		if (matches_form(record, pattern) && !(pattern->least && is_of_guest(in->host, record)) &&
		    !is_of_other_card(in->host, record))
			add_line(v, &n, pattern->least ? subject_of(record) : NULL, record);
	}
	for (size_t i = 0; i < n; i++) {
		if (v[i].n >= pattern->least) {
			_cleanup_free_ char *subject = subject_of(v[i].last);

			report_lines(klog, subject, pattern->result, v[i].last, v[i].n, NULL, out);
			found = true;
		}
		free(v[i].subject);
	}
	return found;
}

static void run_lines(const struct rd_check_input *in, struct rd_check_out *out)
{
	bool found = false;

	if (!in->klog || in->klog->known != RD_OK)
		return report_unread(in->klog, out);
	for (const struct pattern *p = rd_check_of(out)->with; p->form; p++) {
		struct pattern pattern = *p;

		if (pattern.with_keys && has_form(in->klog, RD_KLOG_MKEY_LIMIT))
			continue;
		if (pattern.of_peermem && in->system && rd_has_dmabuf(in->system))
			pattern.result = RD_SEV_NOTE;
		found |= match_one(in, &pattern, out);
	}
	if (!found)
		rd_check_good(out, "kernel log");
}

#define NEEDS "/dev/kmsg"

/* A rule and the forms of its lines. */
#define KLOG_RULE(name, rule_id, rule_title, rule_why, rule_fix, is_thorough, ...) \
	const struct rd_check rd_check_##name = {                                  \
		.id = rule_id,                                                     \
		.title = rule_title,                                               \
		.why = rule_why,                                                   \
		.fix = rule_fix,                                                   \
		.needs = NEEDS,                                                    \
		.thorough = is_thorough,                                           \
		.run = run_lines,                                                  \
		.with = (const struct pattern[]){ __VA_ARGS__, { 0 } },            \
	}

/* clang-format off */
KLOG_RULE(klog_health, "log-nic-health",
	  "Kernel log reports a NIC failure",
	  "firmware or device has failed: all queue pairs on it get a fatal event",
	  "devlink health show pci/ADDRESS\n"
	  "# reset the device, or reboot; no job may use it meanwhile\n"
	  "# if it happens again, replace the card", false,
	  { RD_KLOG_MLX5_HEALTH, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_MLX5_HEALTH_ISSUE, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_MLX5_COMMAND_LEAK, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_MLX5_NOT_RECOVERED, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_MLX5_HOT, RD_SEV_WARNING, 0 },
	  { RD_KLOG_MLX4_INTERNAL_ERROR, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_BNXT_FATAL_RESET, RD_SEV_WARNING, 0 },
	  { RD_KLOG_BNXT_OLD_FATAL_RESET, RD_SEV_WARNING, 0 },
	  { RD_KLOG_BNXT_EXCEPTION, RD_SEV_WARNING, 0 },
	  { RD_KLOG_BNXT_ABORTED, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_BNXT_SILENT, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_BNXT_RE_STALL, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_IRDMA_RESET, RD_SEV_WARNING, 0 },
	  { RD_KLOG_ICE_REBUILD, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_ICE_LOST, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_IONIC_ADMIN, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_IONIC_RDMA_RESET, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_IONIC_RESTART, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_IONIC_STOPPED, RD_SEV_WARNING, 0 },
	  { RD_KLOG_IONIC_HEARTBEAT, RD_SEV_WARNING, 0 },
	  { RD_KLOG_HFI1_FROZEN, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_HFI1_HOT, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_HFI1_GONE, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_HFI1_SDMA, RD_SEV_WARNING, 0 },
	  { RD_KLOG_EFA_NO_COMPLETION, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_EFA_NO_INTERRUPT, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_EFA_REGISTERS, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_HNS_RESET_FAILED, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_HNS_REINIT_FAILED, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_HNS_RESET, RD_SEV_WARNING, 0 },
	  { RD_KLOG_HNS_OVERFLOW, RD_SEV_WARNING, 0 },
	  { RD_KLOG_HNS_RAS, RD_SEV_WARNING, 0 },
	  { RD_KLOG_MANA_COMMAND, RD_SEV_WARNING, 0 },
	  { RD_KLOG_MANA_OLD_COMMAND, RD_SEV_WARNING, 0 },
	  { RD_KLOG_MANA_OVERFLOW, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_mkeys, "log-mkey-limit",
	  "NIC ran out of memory keys (mkeys)",
	  "registrations fail with ENOMEM although memory and memlock suffice; most often caused by an unlimited "
	  "registration cache",
	  "rdma resource show mr\n"
	  "# limit the cache: set UCX_IB_RCACHE_MAX_REGIONS in the job's environment\n"
	  "# or use fewer, larger registrations", true,
	  { RD_KLOG_MKEY_LIMIT, RD_SEV_WARNING, 0 },
	  { RD_KLOG_MKEY_NO_RESOURCES, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_pi, "log-mkey-pi",
	  "NIC refuses memory keys with protection information (T10 PI)",
	  "nvme connect over RDMA fails with EINVAL although memory keys are left",
	  "nvme list-subsys\n"
	  "# known issue 3735400 of MLNX_OFED: install a release that has its fix\n"
	  "# with the driver of the kernel: update kernel and NIC firmware", true,
	  { RD_KLOG_MKEY_PI, RD_SEV_WARNING, 0 },
	  { RD_KLOG_NVME_PI, RD_SEV_WARNING, 0, false, true });

KLOG_RULE(klog_qps, "log-qp-limit",
	  "NIC ran out of queue pairs",
	  "ibv_create_qp fails with ENOMEM below the max_qp that the device reports: a firmware limit",
	  "rdma resource show\n"
	  "rdmadiag qp-state --summary\n"
	  "# use fewer queue pairs (shared or DC transports), or update the firmware", true,
	  { RD_KLOG_QP_LIMIT, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_uars, "log-uar-limit",
	  "NIC ran out of doorbell pages (UARs)",
	  "each process that opens the device uses some: ibv_open_device fails with ENOMEM for further processes",
	  "mlxconfig -d ADDRESS query PF_LOG_BAR_SIZE\n"
	  "# run fewer processes per device\n"
	  "# or set PF_LOG_BAR_SIZE to 6 or more with mlxconfig, and reboot while no job runs", true,
	  { RD_KLOG_UAR_LIMIT, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_uar_pages, "log-uar-pages",
	  "NIC driver has too few doorbell pages (UARs) to start",
	  "mlx4 on a kernel with 64 KiB pages: the BAR holds too few doorbell pages, and the driver does not load",
	  "modprobe mlx4_core enable_4k_uar=1\n"
	  "# until the next boot; also in /etc/modprobe.d/\n"
	  "# or set a larger log2_uar_bar_megabytes in the firmware", true,
	  { RD_KLOG_MLX4_UAR_PAGES, RD_SEV_CRITICAL, 0 });

KLOG_RULE(klog_retry, "log-retry-count",
	  "Program sets an invalid retry count (more than 7)",
	  "the field has three bits, so the maximum is 7: modify_qp to RTS fails with EINVAL on newer drivers, and "
	  "what the program does after that may cause completion status 9 (IBV_WC_REM_INV_REQ_ERR) at the peer",
	  "# set retry_cnt to at most 7 in the program's configuration", true,
	  { RD_KLOG_RETRY_COUNT, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_module, "log-optics",
	  "Transceiver reports a fault",
	  "the module is too hot, unplugged or broken: the link fails or has bit errors",
	  "ethtool -m IF\n"
	  "# reseat, clean or replace the module\n"
	  "# check the airflow", false,
	  { RD_KLOG_MODULE_HOT, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_MODULE_BUS_STUCK, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_MODULE_UNKNOWN, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_MLX4_CABLE, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_ICE_MODULE, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_ICE_MODULE_POWER, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_ICE_MODULE_NVM, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_HFI1_MODULE_SILENT, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_HFI1_MODULE_HOT, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_link, "log-link-flaps",
	  "Link went down repeatedly",
	  "each link loss drops all packets in flight: completion status 12 and asynchronous port errors",
	  "rdmadiag counters --changed --filter '*link*' -i 10 -c 6\n"
	  "# clean or replace cable and optics, then try another switch port", false,
	  { RD_KLOG_MLX5_LINK_DOWN, RD_SEV_WARNING, 5 },
	  { RD_KLOG_MLX5_PORT_DOWN, RD_SEV_WARNING, 5 },
	  { RD_KLOG_BNXT_LINK_DOWN, RD_SEV_WARNING, 5 },
	  { RD_KLOG_ICE_LINK_DOWN, RD_SEV_WARNING, 5 },
	  { RD_KLOG_IONIC_LINK_DOWN, RD_SEV_WARNING, 5 },
	  { RD_KLOG_HFI1_LINK_DOWN, RD_SEV_WARNING, 5 },
	  { RD_KLOG_HNS_LINK_DOWN, RD_SEV_WARNING, 5 });

KLOG_RULE(klog_peermem_symbols, "log-peermem-symbols",
	  "GPU peer-memory module does not match the loaded RDMA core",
	  "the module was built against another ib_core (the RDMA stack was replaced): GPUDirect RDMA through peer "
	  "memory is unavailable",
	  "# rebuild and load in this order, while no job runs: RDMA stack, GPU driver, nvidia_peermem\n"
	  "# or use DMA-BUF, which needs the open kernel module and a kernel with CONFIG_PCI_P2PDMA", false,
	  { RD_KLOG_PEERMEM_VERSION, RD_SEV_CRITICAL, 0, true },
	  { RD_KLOG_PEERMEM_CLIENT, RD_SEV_CRITICAL, 0, true },
	  { RD_KLOG_NV_PEER_MEM_SYMBOL, RD_SEV_CRITICAL, 0 });

KLOG_RULE(klog_symbols, "log-rdma-symbols",
	  "Kernel module does not match the loaded RDMA core",
	  "the module was built against another ib_core (the RDMA stack was replaced) and did not load: what needs it "
	  "fails",
	  "# modinfo -n MODULE, of this module and of ib_core, shows which packages they are from\n"
	  "# rebuild it for the loaded RDMA stack, or install the one of the same release", false,
	  { RD_KLOG_IB_SYMBOL, RD_SEV_WARNING, 0 },
	  { RD_KLOG_RDMA_SYMBOL, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_peermem, "log-peermem",
	  "GPU memory was freed while a NIC had it registered",
	  "a program freed the memory or exited before it deregistered it; harmless at the end of a program, a bug "
	  "while it runs",
	  "# compare the timestamps: ignore the lines at the end of jobs\n"
	  "# otherwise update the GPU driver", true,
	  { RD_KLOG_PEERMEM_CONTEXT, RD_SEV_NOTE, 0 },
	  { RD_KLOG_PEERMEM_CALLBACK, RD_SEV_WARNING, 100 });

KLOG_RULE(klog_umem, "log-pin-pages",
	  "Kernel could not pin memory that a program registered",
	  "ibv_reg_mr fails with EFAULT or EIO: GPU memory beyond BAR1, or a mapping that cannot be pinned",
	  "# compare the size of region 1 of the GPU in lspci -vv with the registration\n"
	  "# use smaller registrations, or large-BAR firmware", true,
	  { RD_KLOG_UMEM_PIN, RD_SEV_WARNING, 0 },
	  { RD_KLOG_UMEM_GET, RD_SEV_WARNING, 0 },
	  { RD_KLOG_UMEM_GET_IB, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_oom, "log-oom",
	  "Kernel killed processes: out of memory (OOM)",
	  "a killed rank leaves its peers with half-open connections",
	  "dmesg | grep -i oom\n"
	  "# the log has the control group: raise its limit, or use less memory", true,
	  { RD_KLOG_OOM_CGROUP, RD_SEV_WARNING, 0 },
	  { RD_KLOG_OOM, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_pcie, "log-pcie-errors",
	  "Kernel log reports uncorrected PCIe errors, or a device that fell off the bus",
	  "device reset or unusable: NICs and GPUs disappear",
	  "lspci -vv -s ADDRESS\n"
	  "# if it does not respond: power-cycle the host while no job runs\n"
	  "# if it happens again: reseat or replace the card or its riser", false,
	  { RD_KLOG_PCIE_FATAL, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_PCIE_UNCORRECTED, RD_SEV_WARNING, 0 },
	  { RD_KLOG_PCIE_CONTAINED, RD_SEV_WARNING, 0 },
	  { RD_KLOG_FALLEN_OFF_BUS, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_AMDGPU_LOST, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_PCIE_CARD_GONE, RD_SEV_WARNING, 0 });
/* clang-format on */

/* Function of this host at an address as drivers write it: "0000:5c:00.0", or "5c:00.0" if only one domain has that. */
static int pci_at(const struct rd_host *host, const char *word, size_t size)
{
	int found = -1;

	for (size_t i = 0; i < host->n_pcis; i++) {
		const char *addr = host->pcis[i].addr;
		size_t n = strlen(addr);

		if ((size != n && size != sizeof("5c:00.0") - 1) || memcmp(addr + n - size, word, size) != 0)
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found;
}

/* For the host: a guest has its own mappings for the devices that it was given. */
static bool moves_data(const struct rd_host *host, int pci)
{
	return !rd_driver_is_for_guests(host->pcis[pci].driver) &&
	       (rd_host_ibdev_at(host, pci) >= 0 || rd_host_gpu_at(host, pci) >= 0);
}

static char *iommu_fix(const struct rd_host *host, const char *subject, enum rd_klog_form form)
{
	int pci = rd_host_find_pci(host, subject);
	bool identity = pci >= 0 && host->pcis[pci].iommu_type && strcmp(host->pcis[pci].iommu_type, "identity") == 0;

	if (pci < 0)
		return NULL;
	if (form == RD_KLOG_AMD_IOTLB)
		return rd_text(
			"lspci -s ADDRESS\n"
			"# the device does not respond: power-cycle the host while no job runs; if it happens again, "
			"replace the device");
	return rd_text("# stop the job that uses the device, then reset it: echo 1 >/sys/bus/pci/devices/ADDRESS/reset\n"
		       "# if it happens again, update its driver and firmware%s%s%s%s",
		       identity ? "" : ", or let the ", identity ? "" : rd_host_iommu(host),
		       identity ? "" : " not translate: boot with ", identity ? "" : rd_host_passthrough(host));
}

/* Devices of other kinds have such faults, too: no finding. The last forms name no device, so theirs may be any. */
static void run_iommu_faults(const struct rd_check_input *in, struct rd_check_out *out)
{
	struct lines v[DEVICES_MAX];
	size_t n = 0;

	if (!in->klog || in->klog->known != RD_OK)
		return report_unread(in->klog, out);
	rd_check_good(out, "kernel log");
	for (size_t i = 0; i < in->klog->n; i++) {
		const struct rd_krecord *record = &in->klog->v[i];
		int pci;
		int found = -1;

		if (record->facility != RD_KLOG_KERN || record->form < RD_KLOG_DMAR_FAULT ||
		    record->form > RD_KLOG_SMMU_FAULT)
			continue;
		/* Function whose request an IOMMU refused. The line may be one of the IOMMU's own device, and name the other one only in the text:
		 * "pci 0000:00:00.2: AMD-Vi: Event logged [INVALID_DEVICE_REQUEST device=0000:5c:00.0 …". */
		for (const char *at = record->text; found < 0 && (at = strpbrk(at, " [="));) {
			at++;
			found = pci_at(in->host, at, strcspn(at, " ]"));
		}
		pci = found >= 0 ? found : pci_of(in->host, record);
		if (pci < 0 ? record->form < RD_KLOG_SMMU3_EVENT : !moves_data(in->host, pci))
			continue;
		add_line(v, &n, rd_dup(pci < 0 ? "kernel log" : in->host->pcis[pci].addr), record);
	}
	for (size_t i = 0; i < n; i++) {
		bool known = strcmp(v[i].subject, "kernel log") != 0;

		report_lines(in->klog, v[i].subject, known ? RD_SEV_WARNING : RD_SEV_NOTE, v[i].last, v[i].n,
			     iommu_fix(in->host, v[i].subject, v[i].last->form), out);
		free(v[i].subject);
	}
}

const struct rd_check rd_check_klog_iommu = {
	.id = "log-iommu-faults",
	.title = "IOMMU refused requests of a NIC or an accelerator",
	.why = "the device used an address that is not mapped for it: the transfer is dropped, and queue pairs or the device fail",
	.fix = "# stop the job that uses the device, and reset the device\n"
	       "# if it happens again, update its driver and firmware, or let the IOMMU not translate",
	.needs = NEEDS,
	.run = run_iommu_faults,
};

/* Reports of ConnectX firmware about slot power; `good`: no fault. */
static const struct {
	struct pattern line;
	bool good;
} power_lines[] = {
	{ { RD_KLOG_POWER_GOOD, RD_SEV_OK, 0 }, true },
	{ { RD_KLOG_POWER_LOW, RD_SEV_CRITICAL, 0 }, false },
	{ { RD_KLOG_POWER_UNKNOWN, RD_SEV_WARNING, 0 }, false },
};

static void run_slot_power(const struct rd_check_input *in, struct rd_check_out *out)
{
	_cleanup_free_ bool *seen = rd_alloc(in->host->n_pcis + 1, sizeof(*seen));

	if (!in->klog || in->klog->known != RD_OK)
		return report_unread(in->klog, out);
	rd_check_good(out, "kernel log");
	for (size_t i = in->klog->n; i > 0; i--) {
		const struct rd_krecord *record = &in->klog->v[i - 1];
		int pci = pci_of(in->host, record);
		size_t known = pci < 0 ? in->host->n_pcis : (size_t)pci;

		for (size_t p = 0; p < RD_ARRAY_SIZE(power_lines); p++) {
			if (!matches_form(record, &power_lines[p].line) || seen[known])
				continue;
			seen[known] = true;
			if (power_lines[p].good)
				continue;
			if (pci >= 0) {
				/* Healthy systems log the line, too: many slots advertise 25 W or nothing at all, and the card works. So it is evidence only
				 * if a port of the NIC is down or lanes are missing. */
				const struct rd_pci *nic = &in->host->pcis[pci];
				const struct rd_port *down = NULL;
				bool compute = false; /* `down` is a compute port */
				size_t ports = 0, active = 0;

				for (size_t j = 0; j < in->host->n_ports; j++) {
					const struct rd_port *port = &in->host->ports[j];

					if (in->host->ibdevs[port->ibdev].pci != pci || !port->state)
						continue;
					ports++;
					active += rd_port_active(port);
					if (rd_port_active(port) || (down && in->ports->v[j].role != RD_ROLE_COMPUTE))
						continue;
					down = port;
					compute = in->ports->v[j].role == RD_ROLE_COMPUTE;
				}
				if (compute)
					rd_check_bad(out, power_lines[p].line.result, nic->addr,
						     rd_text("%s/%u is %s; kernel log: %.200s",
							     rd_ibdev_label(in->host, down->ibdev), down->num,
							     down->state, record->text),
						     rd_text("no such line"), NULL);
				else if (nic->now.width.known == RD_OK && nic->max.width.known == RD_OK &&
					 nic->now.width.v < nic->max.width.v)
					rd_check_warn(out, nic->addr,
						      rd_text("link width x%u of x%u; kernel log: %.200s",
							      nic->now.width.v, nic->max.width.v, record->text),
						      rd_text("no such line"));
				else if (ports > 0 && active > 0)
					rd_check_note(
						out, nic->addr,
						rd_text("ports are up nevertheless; kernel log: %.200s", record->text),
						rd_text("no such line"),
						rd_text("# no action needed as long as port state and PCIe link width do not change"));
				else
					rd_check_unknown(
						out, nic->addr,
						"kernel log reports insufficient slot power; whether a port of this NIC should be up is "
						"unknown");
			} else
				rd_check_unknown(out, "kernel log",
						 "kernel log reports insufficient slot power for a NIC that is not "
						 "known here");
		}
	}
}

const struct rd_check rd_check_klog_slot_power = {
	.id = "log-slot-power",
	.title = "Slot power is insufficient for a NIC",
	.why = "the NIC limits its ports or turns them off",
	.fix = "# move the NIC to a 75 W slot, connect its auxiliary power, or check the BIOS setting of the slot",
	.needs = NEEDS ", state of the NIC's ports, its PCIe link",
	.parts = { RD_PART_PCI, 0 },
	.run = run_slot_power,
};
