/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel log says of NICs. A rule names forms of lines (base/klog-form.h); the line must be the kernel's own: a
 * program can write anything there. */
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
	enum rd_severity result; /* of one that is not older than a day; older ones warn */
	unsigned least;		 /* fewer lines about one device are none; 0: one is enough */
};

static bool is_of(const struct rd_krecord *record, const struct pattern *pattern)
{
	return record->facility == RD_KLOG_KERN && record->form == pattern->form;
}

/* "mlx5_core 0000:1b:00.0": whom the line is about; as far as the first colon that a blank follows. Caller frees. */
static char *subject_of(const struct rd_krecord *record)
{
	const char *pci = rd_krecord_pci(record), *end = strstr(record->text, ": ");

	if (pci)
		return rd_dup(pci);
	return end && end - record->text < 64 ? rd_dup_part(record->text, (size_t)(end - record->text)) :
						rd_dup("kernel");
}

/* The function that a line is about: "mlx5_core 0000:5c:00.0: …". -1: none of this host. */
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

static const char *interface_on(const struct rd_host *host, int pci)
{
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (host->netdevs[i].pci == pci && host->netdevs[i].name)
			return host->netdevs[i].name;
	return NULL;
}

/* The fix of a rule, with the address or the interface of the device that the line is about in the place of ADDRESS or IF;
 * NULL: as it stands. Caller frees. */
static char *fix_for(const struct rd_host *host, const struct rd_krecord *record, const char *fix)
{
	const char *word = strstr(fix, "ADDRESS"), *name = NULL;
	size_t length = strlen("ADDRESS");
	int pci = host ? pci_of(host, record) : -1;

	if (pci >= 0)
		name = word ? host->pcis[pci].addr : interface_on(host, pci);
	if (!word && (word = strstr(fix, " IF"))) {
		word++;
		length = strlen("IF");
	}
	if (!word || !name)
		return NULL;
	return rd_text("%.*s%s%s", (int)(word - fix), fix, name, word + length);
}

static char *age_of(uint64_t ns)
{
	unsigned long long minutes = ns / 60000000000u;

	if (minutes < 60)
		return rd_text("%llu min", minutes);
	if (minutes < 48 * 60)
		return rd_text("%llu h", minutes / 60);
	return rd_text("%llu days", minutes / 60 / 24);
}

static void report(const struct rd_check_input *in, const struct pattern *pattern, const char *fix,
		   const struct rd_krecord *last, size_t n, struct rd_check_out *out)
{
	const struct rd_klog *klog = in->klog;
	uint64_t now = klog->v[klog->n - 1].time_ns, age = now > last->time_ns ? now - last->time_ns : 0;
	_cleanup_free_ char *subject = subject_of(last), *ago = age_of(age);
	enum rd_severity result = age > DAY_NS && pattern->result > RD_SEV_WARNING ? RD_SEV_WARNING : pattern->result;

	char *seen = ago ? rd_text("%zu line%s, the last %s before the end of the log: %.200s", n, n == 1 ? "" : "s",
				   ago, last->text) :
			   NULL;

	if (result == RD_SEV_NOTE)
		rd_check_note(out, subject ? subject : "kernel", seen, NULL, NULL);
	else
		rd_check_bad(out, result, subject ? subject : "kernel", seen, rd_text("no such line"),
			     fix_for(in->host, last, fix));
}

static void unread(const struct rd_klog *klog, struct rd_check_out *out)
{
	_cleanup_free_ char *reason = NULL;

	if (klog && klog->known == RD_DENIED)
		reason = rd_text("the kernel log cannot be read without CAP_SYSLOG (dmesg_restrict)");
	else if (!klog || !klog->code || klog->code == ENOENT)
		reason = rd_text("there is no kernel log here");
	else
		reason = rd_text("/dev/kmsg could not be read: %s", rd_errno_text(klog->code));
	rd_check_unknown(out, "kernel log", reason);
}

/* Lines of one pattern; where several are wanted, of one device. */
struct lines {
	char *subject; /* owned; NULL: of any */
	const struct rd_krecord *last;
	size_t n;
};

#define DEVICES_MAX 1024 /* lines about further devices are not counted: no host has as many */

/* NULL: too many devices. Takes `subject` over. */
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

static bool match_one(const struct rd_check_input *in, const struct pattern *pattern, const char *fix,
		      struct rd_check_out *out)
{
	const struct rd_klog *klog = in->klog;
	struct lines v[DEVICES_MAX];
	size_t n = 0;
	bool found = false;

	for (size_t i = 0; i < klog->n; i++) {
		const struct rd_krecord *record = &klog->v[i];
		struct lines *lines;

		if (!is_of(record, pattern))
			continue;
		lines = lines_of(v, &n, pattern->least ? subject_of(record) : NULL);
		if (!lines)
			continue;
		lines->last = record;
		lines->n++;
	}
	for (size_t i = 0; i < n; i++) {
		if (v[i].n >= pattern->least) {
			report(in, pattern, fix, v[i].last, v[i].n, out);
			found = true;
		}
		free(v[i].subject);
	}
	return found;
}

static void match(const struct rd_check_input *in, struct rd_check_out *out, const struct pattern *patterns, size_t n,
		  const char *fix)
{
	bool found = false;

	if (!in->klog || in->klog->known != RD_OK)
		return unread(in->klog, out);
	for (size_t p = 0; p < n; p++)
		found |= match_one(in, &patterns[p], fix, out);
	if (!found)
		rd_check_good(out, "kernel log");
}

#define NEEDS "/dev/kmsg"

/* A rule and its lines. */
#define KLOG_RULE(name, rule_id, rule_title, rule_why, rule_fix, is_quick, ...)           \
	static void run_##name(const struct rd_check_input *in, struct rd_check_out *out) \
	{                                                                                 \
		static const struct pattern patterns[] = { __VA_ARGS__ };                 \
                                                                                          \
		match(in, out, patterns, RD_ARRAY_SIZE(patterns), rule_fix);              \
	}                                                                                 \
	const struct rd_check rd_check_##name = {                                         \
		.id = rule_id,                                                            \
		.title = rule_title,                                                      \
		.why = rule_why,                                                          \
		.fix = rule_fix,                                                          \
		.needs = NEEDS,                                                           \
		.quick = is_quick,                                                        \
		.run = run_##name,                                                        \
	}

/* clang-format off */
KLOG_RULE(klog_health, "log-nic-health",
	  "The kernel log says that a NIC is broken",
	  "the firmware or the device has stopped: all queue pairs on it get a fatal event",
	  "devlink health show pci/ADDRESS; reset the device or the host; if it happens again, replace the card", true,
	  { RD_KLOG_MLX5_HEALTH, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_MLX5_HEALTH_ISSUE, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_MLX5_COMMAND_LEAK, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_MLX4_INTERNAL_ERROR, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_BNXT_FATAL_RESET, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_IRDMA_RESET, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_mkeys, "log-mkey-limit",
	  "A NIC ran out of memory keys",
	  "registrations fail with ENOMEM although memory and memlock are fine; mostly a registration cache without bound",
	  "rdma resource show mr; bound the cache: UCX_IB_RCACHE_MAX_REGIONS, or fewer, larger registrations", false,
	  { RD_KLOG_MKEY_LIMIT, RD_SEV_WARNING, 0 },
	  { RD_KLOG_MKEY_NO_RESOURCES, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_qps, "log-qp-limit",
	  "A NIC ran out of queue pairs",
	  "ibv_create_qp fails with ENOMEM below the max_qp that the device names: a limit of the firmware",
	  "rdma resource; rdmadiag qp-state --summary; fewer queue pairs (shared or DC transports), newer firmware", false,
	  { RD_KLOG_QP_LIMIT, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_uars, "log-uar-limit",
	  "A NIC ran out of doorbell pages",
	  "each process that opens the device needs some: ibv_open_device fails with ENOMEM for further ones",
	  "fewer processes a device, or mlxconfig -d ADDRESS set PF_LOG_BAR_SIZE=6 or more, and a reboot", false,
	  { RD_KLOG_UAR_LIMIT, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_uar_pages, "log-uar-pages",
	  "A NIC's driver has too few doorbell pages to start",
	  "mlx4 with a kernel of 64 kB pages: the BAR holds too few, and the driver does not load",
	  "modprobe mlx4_core enable_4k_uar=1, or a larger log2_uar_bar_megabytes in the firmware", false,
	  { RD_KLOG_MLX4_UAR_PAGES, RD_SEV_CRITICAL, 0 });

KLOG_RULE(klog_retry, "log-retry-count",
	  "A program asks for a retry count that does not exist",
	  "the field has three bits, 7 is the most: modify_qp to RTS fails with EINVAL on newer drivers, and what the "
	  "program does then can end in status 9 at the peer",
	  "set retry_cnt to 7 at most in the program's configuration", false,
	  { RD_KLOG_RETRY_COUNT, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_module, "log-optics",
	  "A transceiver or cable reports a fault",
	  "too hot, unplugged or broken: the link goes, or loses bits",
	  "reseat, clean or replace the module; look at airflow; ethtool -m IF", true,
	  { RD_KLOG_MODULE_HOT, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_MODULE_BUS_STUCK, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_MODULE_UNSUPPORTED, RD_SEV_CRITICAL, 0 });

KLOG_RULE(klog_link, "log-link-flaps",
	  "Links went down again and again",
	  "each time all that is in flight is lost: completion status 12, and asynchronous port errors",
	  "clean or replace cable and optics; rdmadiag counters -i 10 --changed; then the switch port", true,
	  { RD_KLOG_MLX5_LINK_DOWN, RD_SEV_WARNING, 5 },
	  { RD_KLOG_MLX5_PORT_DOWN, RD_SEV_WARNING, 5 },
	  { RD_KLOG_BNXT_LINK_DOWN, RD_SEV_WARNING, 5 },
	  { RD_KLOG_ICE_LINK_DOWN, RD_SEV_WARNING, 5 });

KLOG_RULE(klog_peermem_symbols, "log-peermem-symbols",
	  "The GPU peer-memory module does not fit the loaded RDMA core",
	  "it was built against another ib_core (an RDMA stack was exchanged): GPUDirect RDMA by peer memory is not there",
	  "rebuild and load in order: RDMA stack, GPU driver, nvidia_peermem; or use DMA-BUF", true,
	  { RD_KLOG_PEERMEM_VERSION, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_PEERMEM_CLIENT, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_NV_PEER_MEM_SYMBOL, RD_SEV_CRITICAL, 0 });

KLOG_RULE(klog_peermem, "log-peermem",
	  "GPU memory went away while a NIC still had it registered",
	  "programs freed it, or died, before they deregistered it; harmless at their end, a bug while they run",
	  "look at the times: at the end of jobs it can be ignored; else update the GPU driver", false,
	  { RD_KLOG_PEERMEM_CONTEXT, RD_SEV_NOTE, 0 },
	  { RD_KLOG_PEERMEM_CALLBACK, RD_SEV_WARNING, 100 });

KLOG_RULE(klog_umem, "log-pin-pages",
	  "The kernel could not pin memory that a program registered",
	  "ibv_reg_mr fails with EFAULT or EIO: GPU memory beyond BAR1, or a mapping that cannot be pinned",
	  "lspci -vv -s GPU: the size of region 1 against the registration; smaller registrations, large-BAR firmware", false,
	  { RD_KLOG_UMEM_PIN, RD_SEV_WARNING, 0 },
	  { RD_KLOG_UMEM_GET, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_oom, "log-oom",
	  "The kernel killed processes because memory ran out",
	  "a rank that is killed leaves its peers with half-open connections",
	  "dmesg | grep -i oom shows the control group: raise its limit, or use less", false,
	  { RD_KLOG_OOM_CGROUP, RD_SEV_WARNING, 0 },
	  { RD_KLOG_OOM, RD_SEV_WARNING, 0 });

KLOG_RULE(klog_pcie, "log-pcie-errors",
	  "PCIe errors that were not corrected",
	  "the device was reset or is unusable: NICs and GPUs vanish",
	  "lspci -vv -s ADDRESS; reseat or replace the card or its riser", true,
	  { RD_KLOG_PCIE_FATAL, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_PCIE_UNCORRECTED, RD_SEV_WARNING, 0 },
	  { RD_KLOG_FELL_OFF_BUS, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_FALLEN_OFF_BUS, RD_SEV_CRITICAL, 0 },
	  { RD_KLOG_PCIE_CARD_GONE, RD_SEV_WARNING, 0 });
/* clang-format on */

/* What the firmware of a ConnectX says of its slot's power, the last column: nothing is wrong. */
static const struct {
	struct pattern line;
	bool good;
} power_lines[] = {
	{ { RD_KLOG_POWER_GOOD, RD_SEV_OK, 0 }, true },
	{ { RD_KLOG_POWER_LOW, RD_SEV_CRITICAL, 0 }, false },
	{ { RD_KLOG_POWER_UNKNOWN, RD_SEV_WARNING, 0 }, false },
};

/* The line comes on healthy systems, too: many a slot advertises 25 W, or nothing at all, and the card runs. So it
 * is evidence only of a NIC that lacks a port or lanes. */
static void judge_power(const struct rd_check_input *in, int pci, const struct rd_krecord *record,
			enum rd_severity result, struct rd_check_out *out)
{
	const struct rd_pci *nic = &in->host->pcis[pci];
	const struct rd_port *down = NULL;
	bool compute = false; /* `down` is */
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
			      rd_text("it has x%u of x%u; kernel log: %.200s", nic->now.width.v, nic->max.width.v,
				      record->text),
			      rd_text("no such line"));
	else if (ports > 0 && active > 0)
		rd_check_note(out, nic->addr,
			      rd_text("its ports are up all the same; kernel log: %.200s", record->text),
			      rd_text("no such line"),
			      rd_text("nothing, while its link and its PCIe lanes stay as they are"));
	else
		rd_check_unknown(
			out, nic->addr,
			"the log tells of too little power, and whether a port of it should be up is not known");
}

static void run_slot_power(const struct rd_check_input *in, struct rd_check_out *out)
{
	_cleanup_free_ bool *seen = rd_alloc(in->host->n_pcis + 1, sizeof(*seen));

	if (!in->klog || in->klog->known != RD_OK) {
		unread(in->klog, out);
		return;
	}
	rd_check_good(out, "kernel log");
	for (size_t i = in->klog->n; i > 0; i--) {
		const struct rd_krecord *record = &in->klog->v[i - 1];
		int pci = pci_of(in->host, record);
		size_t known = pci < 0 ? in->host->n_pcis : (size_t)pci;

		for (size_t p = 0; p < RD_ARRAY_SIZE(power_lines); p++) {
			if (!is_of(record, &power_lines[p].line) || seen[known])
				continue;
			seen[known] = true;
			if (power_lines[p].good)
				continue;
			if (pci >= 0)
				judge_power(in, pci, record, power_lines[p].line.result, out);
			else
				rd_check_unknown(out, "kernel log",
						 "it tells of too little power for a NIC that is not known here");
		}
	}
}

const struct rd_check rd_check_klog_slot_power = {
	.id = "log-slot-power",
	.title = "A NIC that lacks a port or lanes does not get the power it needs from its slot",
	.why = "it runs with its ports limited or off",
	.fix = "move it to a slot of 75 W, connect its auxiliary power, or look at the BIOS setting of the slot",
	.needs = NEEDS ", state of the NIC's ports, its PCIe link",
	.quick = true,
	.whole = RD_PART_PCI,
	.run = run_slot_power,
};
