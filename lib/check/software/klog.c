/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about kernel log lines on NICs. A rule names forms of lines (base/klog-form.h); only lines of the kernel itself count,
 * because any program can write to /dev/kmsg. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/memory.h"
#include "check/shared/rules.h"
#include "model/host/klog.h"
#include "model/nicmap/port-view.h"

#define DAY_NS UINT64_C(86400000000000)

struct pattern {
	enum rd_klog_form form;
	enum rd_severity result; /* of a line at most one day old; older lines are warnings */
	unsigned least;		 /* lines about one device, below which there is no finding; 0: one is enough */
};

static bool matches_form(const struct rd_krecord *record, const struct pattern *pattern)
{
	return record->facility == RD_KLOG_KERN && record->form == pattern->form;
}

/* Device that the line is about, "mlx5_core 0000:1b:00.0": the text up to the first ": ". Caller frees. */
static char *subject_of(const struct rd_krecord *record)
{
	const char *pci = rd_krecord_pci(record), *end = strstr(record->text, ": ");

	if (pci)
		return rd_dup(pci);
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
	if (minutes < 48 * 60)
		return rd_text("%llu h", minutes / 60);
	return rd_text("%llu days", minutes / 60 / 24);
}

static void report_lines(const struct rd_klog *klog, const struct pattern *pattern, const struct rd_krecord *last,
			 size_t n, struct rd_check_out *out)
{
	uint64_t now = klog->v[klog->n - 1].time_ns, age = now > last->time_ns ? now - last->time_ns : 0;
	_cleanup_free_ char *subject = subject_of(last), *ago = age_text(age);
	enum rd_severity result = age > DAY_NS && pattern->result > RD_SEV_WARNING ? RD_SEV_WARNING : pattern->result;
	char *seen = rd_text("%zu line%s, the last %s before the end of the log: %.200s", n, n == 1 ? "" : "s", ago,
			     last->text);

	if (result == RD_SEV_NOTE)
		rd_check_note(out, subject, seen, NULL, NULL);
	else
		rd_check_bad(out, result, subject, seen, rd_text("no such line"), NULL);
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

/* NULL: too many devices. Takes ownership of `subject`. */
static struct lines *lines_of(struct lines *v, size_t *n, char *subject)
{
	for (size_t i = 0; i < *n; i++)
		if (!subject || (v[i].subject && strcmp(v[i].subject, subject) == 0)) {
			free(subject);
			return &v[i];
		}
	if (*n == DEVICES_MAX) {
		free(subject);
		return NULL;
	}
	v[*n] = (struct lines){ .subject = subject };
	return &v[(*n)++];
}

static bool match_one(const struct rd_klog *klog, const struct pattern *pattern, struct rd_check_out *out)
{
	struct lines v[DEVICES_MAX];
	size_t n = 0;
	bool found = false;

	for (size_t i = 0; i < klog->n; i++) {
		const struct rd_krecord *record = &klog->v[i];
		struct lines *lines;

		if (!matches_form(record, pattern))
			continue;
		lines = lines_of(v, &n, pattern->least ? subject_of(record) : NULL);
		if (!lines)
			continue;
		lines->last = record;
		lines->n++;
	}
	for (size_t i = 0; i < n; i++) {
		if (v[i].n >= pattern->least) {
			report_lines(klog, pattern, v[i].last, v[i].n, out);
			found = true;
		}
		free(v[i].subject);
	}
	return found;
}

static void match(const struct rd_check_input *in, struct rd_check_out *out, const struct pattern *patterns, size_t n)
{
	bool found = false;

	if (!in->klog || in->klog->known != RD_OK)
		return report_unread(in->klog, out);
	for (size_t p = 0; p < n; p++)
		found |= match_one(in->klog, &patterns[p], out);
	if (!found)
		rd_check_good(out, "kernel log");
}

#define NEEDS "/dev/kmsg"

/* A rule and the forms of its lines. */
#define KLOG_RULE(name, rule_id, rule_title, rule_why, rule_fix, is_thorough, ...)        \
	static void run_##name(const struct rd_check_input *in, struct rd_check_out *out) \
	{                                                                                 \
		static const struct pattern patterns[] = { __VA_ARGS__ };                 \
                                                                                          \
		match(in, out, patterns, RD_ARRAY_SIZE(patterns));                        \
	}                                                                                 \
	const struct rd_check rd_check_##name = {                                         \
		.id = rule_id,                                                            \
		.title = rule_title,                                                      \
		.why = rule_why,                                                          \
		.fix = rule_fix,                                                          \
		.needs = NEEDS,                                                           \
		.thorough = is_thorough,                                                  \
		.run = run_##name,                                                        \
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
	  { RD_KLOG_MLX4_INTERNAL_ERROR, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_BNXT_FATAL_RESET, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_IRDMA_RESET, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_mkeys, "log-mkey-limit",
	  "NIC ran out of memory keys (mkeys)",
	  "registrations fail with ENOMEM although memory and memlock suffice; most often caused by an unlimited "
	  "registration cache",
	  "rdma resource show mr\n"
	  "# limit the cache: set UCX_IB_RCACHE_MAX_REGIONS in the job's environment\n"
	  "# or use fewer, larger registrations", true,
	  { RD_KLOG_MKEY_LIMIT, RD_SEV_WARNING, 0 },
	  { RD_KLOG_MKEY_NO_RESOURCES, RD_SEV_WARNING, 0 });

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
	  { RD_KLOG_MODULE_UNSUPPORTED, RD_SEV_CRITICAL, 0 });

KLOG_RULE(klog_link, "log-link-flaps",
	  "Link went down repeatedly",
	  "each link loss drops all packets in flight: completion status 12 and asynchronous port errors",
	  "rdmadiag counters --changed --filter '*link*' -i 10 -c 6\n"
	  "# clean or replace cable and optics, then try another switch port", false,
	  { RD_KLOG_MLX5_LINK_DOWN, RD_SEV_WARNING, 5 },
	  { RD_KLOG_MLX5_PORT_DOWN, RD_SEV_WARNING, 5 },
	  { RD_KLOG_BNXT_LINK_DOWN, RD_SEV_WARNING, 5 },
	  { RD_KLOG_ICE_LINK_DOWN, RD_SEV_WARNING, 5 });

KLOG_RULE(klog_peermem_symbols, "log-peermem-symbols",
	  "GPU peer-memory module does not match the loaded RDMA core",
	  "the module was built against another ib_core (the RDMA stack was replaced): GPUDirect RDMA through peer "
	  "memory is unavailable",
	  "# rebuild and load in this order, while no job runs: RDMA stack, GPU driver, nvidia_peermem\n"
	  "# or use DMA-BUF", false,
	  { RD_KLOG_PEERMEM_VERSION, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_PEERMEM_CLIENT, RD_SEV_CRITICAL, 0 },
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
	  { RD_KLOG_UMEM_GET, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_oom, "log-oom",
	  "Kernel killed processes: out of memory (OOM)",
	  "a killed rank leaves its peers with half-open connections",
	  "dmesg | grep -i oom\n"
	  "# the log has the control group: raise its limit, or use less memory", true,
	  { RD_KLOG_OOM_CGROUP, RD_SEV_WARNING, 0 },
	  { RD_KLOG_OOM, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_pcie, "log-pcie-errors",
	  "Kernel log reports uncorrected PCIe errors",
	  "device reset or unusable: NICs and GPUs disappear",
	  "lspci -vv -s ADDRESS\n"
	  "# reseat or replace the card or its riser", false,
	  { RD_KLOG_PCIE_FATAL, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_PCIE_UNCORRECTED, RD_SEV_WARNING, 0 },
	  { RD_KLOG_FELL_OFF_BUS, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_FALLEN_OFF_BUS, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_PCIE_CARD_GONE, RD_SEV_WARNING, 0 });
/* clang-format on */

/* Reports of ConnectX firmware about slot power; `good`: no fault. */
static const struct {
	struct pattern line;
	bool good;
} power_lines[] = {
	{ { RD_KLOG_POWER_GOOD, RD_SEV_OK, 0 }, true },
	{ { RD_KLOG_POWER_LOW, RD_SEV_CRITICAL, 0 }, false },
	{ { RD_KLOG_POWER_UNKNOWN, RD_SEV_WARNING, 0 }, false },
};

/* Healthy systems log the line, too: many slots advertise 25 W or nothing at all, and the card works. So it is evidence only
 * if a port of the NIC is down or lanes are missing. */
static void judge_power(const struct rd_check_input *in, int pci, const struct rd_krecord *record,
			enum rd_severity result, struct rd_check_out *out)
{
	const struct rd_pci *nic = &in->host->pcis[pci];
	const struct rd_port *down = NULL;
	bool compute = false; /* `down` is a compute port */
	size_t ports = 0, active = 0;

	for (size_t p = 0; p < in->host->n_ports; p++) {
		const struct rd_port *port = &in->host->ports[p];

		if (in->host->ibdevs[port->ibdev].pci != pci || !port->state)
			continue;
		ports++;
		active += rd_port_active(port);
		if (rd_port_active(port) || (down && in->ports->v[p].role != RD_ROLE_COMPUTE))
			continue;
		down = port;
		compute = in->ports->v[p].role == RD_ROLE_COMPUTE;
	}
	if (compute)
		rd_check_bad(out, result, nic->addr,
			     rd_text("%s/%u is %s; kernel log: %.200s", rd_ibdev_label(in->host, down->ibdev),
				     down->num, down->state, record->text),
			     rd_text("no such line"), NULL);
	else if (nic->now.width.known == RD_OK && nic->max.width.known == RD_OK && nic->now.width.v < nic->max.width.v)
		rd_check_warn(out, nic->addr,
			      rd_text("link width x%u of x%u; kernel log: %.200s", nic->now.width.v, nic->max.width.v,
				      record->text),
			      rd_text("no such line"));
	else if (ports > 0 && active > 0)
		rd_check_note(out, nic->addr, rd_text("ports are up nevertheless; kernel log: %.200s", record->text),
			      rd_text("no such line"),
			      rd_text("# no action needed as long as port state and PCIe link width do not change"));
	else
		rd_check_unknown(
			out, nic->addr,
			"kernel log reports insufficient slot power; whether a port of this NIC should be up is "
			"unknown");
}

static void run_slot_power(const struct rd_check_input *in, struct rd_check_out *out)
{
	_cleanup_free_ bool *seen = rd_alloc(in->host->n_pcis + 1, sizeof(*seen));

	if (!in->klog || in->klog->known != RD_OK) {
		report_unread(in->klog, out);
		return;
	}
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
			if (pci >= 0)
				judge_power(in, pci, record, power_lines[p].line.result, out);
			else
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
	.whole = RD_PART_PCI,
	.run = run_slot_power,
};
