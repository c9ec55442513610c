/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run, or a topology file, compared with the prediction: NCCL's rules with the run's variables and without what its release did
 * not yet have; rows and findings. */

#include <strings.h>

#include "analyse/nccl/nccl.h"
#include "analyse/run/against-priv.h"
#include "analyse/shared/distance.h"

/* Changes between NCCL releases that affect the choice of NICs, with the first tag that has the change in src/. */

static const struct {
	unsigned minor, patch;
	const char *what;
} changes[] = {
	[RD_NCCL_PXN] = { 12, 7, "send through the NIC of another GPU (PXN)" },
	[RD_NCCL_DMABUF] = { 13, 4, "access GPU memory through DMA-BUF, without nvidia_peermem" },
	[RD_NCCL_MERGE_VFS] = { 18, 1, "treat the functions of a card as one NIC (NCCL_IB_MERGE_VFS)" },
	[RD_NCCL_DEAL] = { 19, 1, "distribute equally near NICs among GPUs as current releases do" },
	[RD_NCCL_MERGE_NICS] = { 20, 3, "merge the ports of a card into one NIC (NCCL_IB_MERGE_NICS)" },
	[RD_NCCL_MERGE_LEVEL] = { 24, 3, "merge NICs by distance (NCCL_NET_MERGE_LEVEL)" },
	[RD_NCCL_C2C] = { 27, 3, "have the path type P2C (C2C)" },
	[RD_NCCL_DATA_DIRECT] = { 27, 3, "use the data direct function of a NIC" },
	[RD_NCCL_PCI_ORDER] = { 29, 7, "number NICs by PCI address (NCCL_IB_DEVICE_PCI_ORDER)" },
};

static bool is_older(const struct rd_runlog *log, enum rd_nccl_change change)
{
	return rd_runlog_before(log, changes[change].minor, changes[change].patch);
}

char *rd_against_lacks(const struct rd_runlog *log, enum rd_nccl_change change)
{
	if (!is_older(log, change))
		return NULL;
	return rd_text("the run had NCCL %u.%u.%u; only NCCL 2.%u.%u and later %s", log->version[0], log->version[1],
		       log->version[2], changes[change].minor, changes[change].patch, changes[change].what);
}

/* NCCL's rules in the run: with its variables, and without what its release did not yet have. */

static void set_flag(const struct rd_run_host *run, const char *name, bool on_means, bool *ret)
{
	const char *value = rd_run_var(run, name);

	if (value && !rd_run_var_varies(run, name))
		*ret = (rd_as_atoi(value) != 0) == on_means;
}

/* "PIX", or the number that older releases used. Levels nearer than PIX give RD_PATH_UNKNOWN. False: invalid level. */
static bool level_of(const char *value, enum rd_path *ret)
{
	static const enum rd_path numbered[] = { RD_PATH_UNKNOWN, RD_PATH_PIX, RD_PATH_PXB,
						 RD_PATH_PHB,	  RD_PATH_SYS, RD_PATH_SYS };
	static const char *const nearer[] = { "LOC", "NVL", "NVB", "C2C", "PORT" };

	if (*value >= '0' && *value <= '9') {
		size_t last = RD_ARRAY_SIZE(numbered) - 1;
		uint64_t number;

		*ret = numbered[rd_take_uint(&value, RD_DECIMAL, last, &number) < 0 ? last : number];
		return true;
	}
	for (enum rd_path path = RD_PATH_PIX; path <= RD_PATH_SYS; path++)
		if (path != RD_PATH_NODE && strcmp(value, rd_path_name(path)) == 0) {
			*ret = path;
			return true;
		}
	*ret = RD_PATH_UNKNOWN;
	for (size_t i = 0; i < RD_ARRAY_SIZE(nearer); i++)
		if (strcmp(value, nearer[i]) == 0)
			return true;
	return false;
}

/* What the run's release had and its variables set. */
static struct rd_nccl_settings settings_of(const struct rd_runlog *log, const struct rd_run_host *run)
{
	const char *level = rd_run_var(run, "NCCL_NET_GDR_LEVEL"), *merge = rd_run_var(run, "NCCL_NET_MERGE_LEVEL");
	struct rd_nccl_settings ret = rd_nccl_defaults();
	enum rd_path path;

	ret.pxn &= !is_older(log, RD_NCCL_PXN);
	ret.merge_vfs &= !is_older(log, RD_NCCL_MERGE_VFS);
	ret.merge &= !is_older(log, RD_NCCL_MERGE_NICS);
	if (is_older(log, RD_NCCL_C2C))
		ret.gdr_level = RD_PATH_PXB;
	set_flag(run, "NCCL_IB_MERGE_VFS", true, &ret.merge_vfs);
	set_flag(run, "NCCL_IB_MERGE_NICS", true, &ret.merge);
	set_flag(run, "NCCL_PXN_DISABLE", false, &ret.pxn);
	set_flag(run, "NCCL_PXN_C2C", true, &ret.pxn_c2c);
	if (level && level_of(level, &path))
		ret.gdr_level = path;
	if (merge && level_of(merge, &path)) {
		ret.merge_level = path;
		ret.merge &= strcmp(merge, "LOC") != 0;
	}
	return ret;
}

const struct rd_finding rd_against_not_here = { "against-not-here", "The run used NICs that this host does not have",
						"a new run cannot use them", RD_SEV_WARNING };
const struct rd_finding rd_against_down = { "against-down", "The run used NICs whose ports are not active now",
					    "a new run cannot use them", RD_SEV_WARNING };

static void add_row(struct rd_against_state *st, const struct rd_against_pair *pair, enum rd_verdict verdict,
		    char *reason)
{
	const struct rd_against_row row = { .topic = pair->topic,
					    .subject = rd_dup(pair->subject),
					    .predicted = rd_dup_if(pair->predicted),
					    .observed = rd_dup_if(pair->observed),
					    .reason = reason,
					    .verdict = verdict };

	*RD_ADD(st->ret->v, st->ret->n, st->ret->cap) = row;
	st->ret->n_of[verdict]++;
}

void rd_against_same(struct rd_against_state *st, const struct rd_against_pair *pair, char *reason)
{
	add_row(st, pair, RD_VERDICT_SAME, reason);
}

void rd_against_unknown(struct rd_against_state *st, const struct rd_against_pair *pair, char *reason)
{
	add_row(st, pair, RD_VERDICT_UNKNOWN, reason);
}

/* Findings of one problem are merged when they are printed. */
void rd_against_differs(struct rd_against_state *st, const struct rd_against_pair *pair,
			const struct rd_finding *problem, char *reason, char *fix)
{
	rd_finding_put(&st->ret->findings, problem, rd_dup(pair->subject), rd_dup_if(reason ?: pair->observed), fix);
	add_row(st, pair, RD_VERDICT_DIFFERS, reason);
}

bool rd_against_usable(const struct rd_host *host, size_t p)
{
	const struct rd_port *port = &host->ports[p];

	if (!rd_port_active(port) && !(host->from_topology_file && !port->state))
		return false;
	return !port->link_layer || rd_port_is_ethernet(port) || rd_port_is_ib(port);
}

int rd_against_ibdev(const struct rd_host *host, const char *name)
{
	size_t size = strcspn(name, "+");
	char one[128];
	int ibdev;

	snprintf(one, sizeof(one), "%.*s", (int)(size < sizeof(one) ? size : sizeof(one) - 1), name);
	ibdev = rd_host_find_ibdev(host, one);
	size = strlen(one);
	if (ibdev < 0 && size > 4 && strcmp(one + size - 4, "_dma") == 0) {
		one[size - 4] = '\0';
		ibdev = rd_host_find_ibdev(host, one);
	}
	return ibdev;
}

const char *rd_against_observed(const struct rd_run_host *run)
{
	if (run->network)
		return run->network;
	if (run->channels.n > 0)
		return run->channels.v[0].transport;
	/* NCCL before 2.6 does not log the name of the network. */
	if (run->devs.n > 0)
		return "IB";
	return run->no_device || run->no_interface ? "Socket" : NULL;
}

bool rd_against_is_ib(const char *network)
{
	return network && strncmp(network, "IB", 2) == 0;
}

bool rd_against_other_name(const struct rd_against_state *st)
{
	size_t size = st->name ? strcspn(st->name, ".") : 0;
	const char *name = st->run->name;

	return size > 0 && *name && (strcspn(name, ".") != size || strncmp(name, st->name, size) != 0);
}

static int gpu_at_bus(const struct rd_host *host, uint64_t bus)
{
	for (size_t g = 0; g < host->n_gpus; g++) {
		const struct rd_pci *pci = &host->pcis[host->gpus[g].pci];
		uint64_t id = (uint64_t)pci->domain << 20 | (uint64_t)pci->bus << 12 | (uint64_t)pci->dev << 4 |
			      pci->fn;

		if (id == bus)
			return (int)g;
	}
	return -1;
}

static int gpu_of_number(const struct rd_host *host, unsigned number)
{
	for (size_t g = 0; g < host->n_gpus; g++)
		if (host->gpus[g].index == number)
			return (int)g;
	return -1;
}

int rd_against_gpu_of_rank(const struct rd_against_state *st, unsigned number)
{
	for (size_t i = 0; i < st->run->ranks.n; i++) {
		const struct rd_run_rank *rank = &st->run->ranks.v[i];

		if (rank->rank != number)
			continue;
		if (rank->bus.known == RD_OK)
			return gpu_at_bus(st->host, rank->bus.v);
		return rank->nvml.known == RD_OK ? gpu_of_number(st->host, rank->nvml.v) : -1;
	}
	return -1;
}

int rd_against_gpu(const struct rd_against_state *st, const struct rd_run_gpu *gpu)
{
	int found = gpu->rank.known == RD_OK ? rd_against_gpu_of_rank(st, gpu->rank.v) : -1;
	const char *text = gpu->text;
	uint64_t bus;
	uint32_t number;

	if (found >= 0)
		return found;
	/* Until 2.18 NCCL logs a busId, then the GPU's number, of at most two digits; most busIds have four or more. */
	if (strlen(text) >= 4 || rd_runlog_before(st->log, 19, 1))
		return rd_take_uint(&text, RD_HEX, UINT64_MAX, &bus) < 0 ? -1 : gpu_at_bus(st->host, bus);
	return rd_parse_u32(text, RD_DECIMAL, 999, &number) < 0 ? -1 : gpu_of_number(st->host, number);
}

char *rd_against_variable(const struct rd_against_state *st, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rd_run_var(st->run, names[i]))
			return rd_text("the run had %s=%s", names[i], rd_run_var(st->run, names[i]));
	return NULL;
}

/* Whether the log is of another host: no device, NIC or GPU named in it is on this host, and its host name is another. */
static bool is_other_host(const struct rd_against_state *st)
{
	const struct rd_run_host *run = st->run;
	bool here = st->name && *run->name && !rd_against_other_name(st);
	size_t named = run->devs.n;

	for (size_t i = 0; i < run->devs.n; i++)
		here |= rd_against_ibdev(st->host, run->devs.v[i].name) >= 0;
	for (size_t i = 0; i < run->nets.n; i++)
		if (run->nets.v[i].name) {
			here |= rd_against_ibdev(st->host, run->nets.v[i].name) >= 0;
			named++;
		}
	for (size_t i = 0; i < run->ranks.n; i++)
		if (run->ranks.v[i].bus.known == RD_OK && st->host->n_gpus > 0) {
			here |= rd_against_gpu_of_rank(st, run->ranks.v[i].rank) >= 0;
			named++;
		}
	return !here && named > 0;
}

static void report_other_host(struct rd_against_state *st)
{
	static const struct rd_finding other_host = { "against-elsewhere", "Log is not from this host",
						      "no device and no GPU named in the log is on this host",
						      RD_SEV_UNKNOWN };
	const struct rd_run_host *run = st->run;
	const char *named = run->nets.n > 0 ? run->nets.v[0].name : NULL;

	if (run->devs.n > 0)
		named = run->devs.v[0].name;
	rd_finding_put(&st->ret->findings, &other_host, rd_dup(*run->name ? run->name : "log"),
		       rd_text("the log names %s", named ?: "GPUs at other addresses"),
		       rd_text("# use a bundle of that host: rdmadiag --from %s.tar.zst nic-map --against FILE",
			       *run->name ? run->name : "HOST"));
}

void rd_against_log(const struct rd_host *host, const struct rd_system *system, const struct rd_nicmap *map,
		    const struct rd_runlog *log, const struct rd_run_host *run, const char *name,
		    struct rd_against *ret)
{
	struct rd_against_state st = {
		.host = host,
		.map = map,
		.log = log,
		.run = run,
		.name = name,
		.ret = ret,
	};
	struct rd_nccl_settings settings = settings_of(log, run);
	const char *value = rd_run_var(st.run, "NCCL_IB_HCA");
	struct rd_hca_list list;

	/* Ports allowed by the run's NCCL_IB_HCA; all ports if it was not set, or processes had different values. */
	st.allowed = rd_alloc(st.host->n_ports + 1, sizeof(*st.allowed));
	if (rd_run_var_varies(st.run, "NCCL_IB_HCA"))
		value = NULL;
	rd_hca_list_parse(value ?: "", &list);
	for (size_t p = 0; p < st.host->n_ports; p++)
		st.allowed[p] = !value || rd_hca_list_allows(&list, rd_ibdev_label(st.host, st.host->ports[p].ibdev),
							     st.host->ports[p].num);
	rd_hca_list_deinit(&list);
	settings.allowed = st.allowed;
	rd_distance_fill(host, &st.own);
	rd_nccl_fill(host, system, &settings, &st.own);
	if (is_other_host(&st))
		report_other_host(&st);
	else
		rd_against_run(&st);
	free(st.allowed);
	rd_nicmap_deinit(&st.own);
}

/* Compares a topology file, dumped by NCCL or given to it, with the host. */

/* Relative difference of rates that count as equal: 56 and 54.54 Gb/s are both FDR. */
#define RATE_SLACK 0.04

static const struct rd_finding not_in_file = {
	"against-not-used", "Topology file lacks devices of this host",
	"NCCL did not use them, and will not use them if NCCL_TOPO_FILE names this file", RD_SEV_WARNING
};
static const struct rd_finding not_here = { "against-not-here",
					    "Topology file contains devices that this host does not have",
					    "the file is from another host, or devices were removed since",
					    RD_SEV_WARNING };
static const struct rd_finding moved = { "against-place", "PCI addresses differ from those in the topology file",
					 "with a stale file as NCCL_TOPO_FILE, NCCL assumes wrong distances",
					 RD_SEV_WARNING };
static const struct rd_finding rate = { "against-rate", "Port rates differ from those in the topology file",
					"NCCL prefers NICs with a higher rate", RD_SEV_WARNING };
static const struct rd_finding distance = { "against-distance",
					    "Distances between GPUs and NICs differ from those in the topology file",
					    "NCCL selects other NICs, and may not use GPUDirect RDMA", RD_SEV_WARNING };
static const struct rd_finding support = { "against-gpudirect",
					   "Topology file has no GPUDirect RDMA although this host supports it",
					   "NCCL copied GPU memory through host memory", RD_SEV_WARNING };

struct match {
	const struct rd_host *file;
	int *gpus; /* [gpu of the host]: the GPU in the file at the same PCI address; -1: none; owned */
	int *nics; /* [device of the host]: the device in the file; -1: none; owned */
};

/* The file's device with the same name, or with the same PCI address if one of the two has no name. */
static int same_device(const struct rd_host *host, size_t d, const struct rd_host *file)
{
	const struct rd_ibdev *dev = &host->ibdevs[d];
	int by_name = dev->name ? rd_host_find_ibdev(file, dev->name) : -1;

	if (by_name >= 0)
		return by_name;
	for (size_t i = 0; dev->pci >= 0 && i < file->n_ibdevs; i++)
		if (file->ibdevs[i].pci >= 0 && (!file->ibdevs[i].name || !dev->name) &&
		    strcmp(file->pcis[file->ibdevs[i].pci].addr, host->pcis[dev->pci].addr) == 0)
			return (int)i;
	return -1;
}

/* False: nothing in the file is of this host, no GPU by PCI address, no NIC by name or address. */
static bool match_all(const struct rd_host *host, const struct rd_host *file, struct match *ret)
{
	bool any = false;

	ret->file = file;
	ret->gpus = rd_alloc(host->n_gpus + 1, sizeof(*ret->gpus));
	ret->nics = rd_alloc(host->n_ibdevs + 1, sizeof(*ret->nics));
	for (size_t g = 0; g < host->n_gpus; g++) {
		int pci = rd_host_find_pci(file, host->pcis[host->gpus[g].pci].addr);

		ret->gpus[g] = -1;
		for (size_t i = 0; pci >= 0 && i < file->n_gpus; i++)
			if (file->gpus[i].pci == pci)
				ret->gpus[g] = (int)i;
		any |= ret->gpus[g] >= 0;
	}
	for (size_t d = 0; d < host->n_ibdevs; d++) {
		ret->nics[d] = same_device(host, d, file);
		any |= ret->nics[d] >= 0;
	}
	return any;
}

/* Whether one of these devices of the host is the file's number `i`. */
static bool is_matched(const int *devices, size_t n, size_t i)
{
	while (n > 0 && devices[n - 1] != (int)i)
		n--;
	return n > 0;
}

static void compare_gpus(struct rd_against_state *st, const struct match *match)
{
	for (size_t g = 0; g < st->host->n_gpus; g++) {
		const char *addr = st->host->pcis[st->host->gpus[g].pci].addr;
		_cleanup_free_ char *subject = rd_text("GPU%u", st->host->gpus[g].index);
		const struct rd_against_pair gpu = { "gpu", subject, addr, match->gpus[g] >= 0 ? addr : NULL };

		if (gpu.observed)
			rd_against_same(st, &gpu, NULL);
		else
			rd_against_differs(
				st, &gpu, &not_in_file,
				rd_text("the run used fewer GPUs (CUDA_VISIBLE_DEVICES, a container), or the file is "
					"from another host"),
				NULL);
	}
	for (size_t i = 0; i < match->file->n_gpus; i++) {
		const char *addr = match->file->pcis[match->file->gpus[i].pci].addr;

		if (!is_matched(match->gpus, st->host->n_gpus, i))
			rd_against_differs(st, &(struct rd_against_pair){ "gpu", addr, NULL, "GPU" }, &not_here,
					   rd_text("removed or moved since, or the file is from another host"),
					   rd_text("lspci -d ::0302\nlspci -d ::0300"));
	}
}

static void compare_place(struct rd_against_state *st, size_t d, const struct match *match)
{
	const struct rd_ibdev *here = &st->host->ibdevs[d], *there = &match->file->ibdevs[match->nics[d]];
	const char *a = here->pci >= 0 ? st->host->pcis[here->pci].addr : NULL;
	const char *b = there->pci >= 0 ? match->file->pcis[there->pci].addr : NULL;
	const struct rd_against_pair nic = { "nic", rd_ibdev_label(st->host, (int)d), a, b };

	if (!a || !b)
		rd_against_unknown(st, &nic, rd_text("no PCI address on one side"));
	else if (strcmp(a, b) == 0)
		rd_against_same(st, &nic, NULL);
	else if (strncmp(a, b, strlen(a) - 1) == 0 ||
		 (strncmp(a, b, strlen(a) - 4) == 0 && strcmp(b + strlen(b) - 4, "00.0") == 0))
		rd_against_same(st, &nic, rd_text("NCCL treats the functions of a card as one"));
	else
		rd_against_differs(st, &nic, &moved,
				   rd_text("address of a virtual machine, card in another slot, or device renamed"),
				   rd_text("# write a new file: run the job with NCCL_TOPO_DUMP_FILE=FILE"));
}

static void compare_rate(struct rd_against_state *st, size_t d, const struct match *match)
{
	const struct rd_ibdev *here = &st->host->ibdevs[d], *there = &match->file->ibdevs[match->nics[d]];

	for (unsigned i = 0; i < here->n_ports && i < there->n_ports; i++) {
		const struct rd_port *a = &st->host->ports[here->first_port + (int)i];
		const struct rd_port *b = &match->file->ports[there->first_port + (int)i];
		double x = a->rate_gbps.v, y = b->rate_gbps.v;
		_cleanup_free_ char *here_text = rd_text("%g Gb/s", x), *there_text = rd_text("%g Gb/s", y);
		const struct rd_against_pair pair = { "rate", rd_ibdev_label(st->host, (int)d), here_text, there_text };

		if (a->rate_gbps.known != RD_OK || b->rate_gbps.known != RD_OK || x <= 0 || y <= 0)
			continue;
		if (x - y <= x * RATE_SLACK && y - x <= x * RATE_SLACK)
			rd_against_same(st, &pair, NULL);
		else if (a->leg_gbps.known == RD_OK && a->leg_gbps.v <= y * (1 + RATE_SLACK) &&
			 a->leg_gbps.v >= y * (1 - RATE_SLACK))
			rd_against_same(st, &pair, rd_text("NCCL counts only one link of the bond"));
		else
			rd_against_differs(st, &pair, &rate,
					   rd_text("the link came up at another speed, or the file was edited"),
					   rd_text("rdmadiag topo-check"));
	}
}

static bool is_wanted(const struct rd_against_state *st, size_t d)
{
	const struct rd_ibdev *dev = &st->host->ibdevs[d];

	for (unsigned i = 0; i < dev->n_ports; i++)
		if (rd_against_usable(st->host, (size_t)dev->first_port + i))
			return true;
	return false;
}

static void compare_nics(struct rd_against_state *st, const struct match *match)
{
	for (size_t d = 0; d < st->host->n_ibdevs; d++)
		if (match->nics[d] >= 0) {
			compare_place(st, d, match);
			compare_rate(st, d, match);
		} else if (match->file->n_ibdevs > 0 && is_wanted(st, d)) {
			const struct rd_against_pair nic = { "nic", rd_ibdev_label(st->host, (int)d), "used", NULL };

			rd_against_differs(
				st, &nic, &not_in_file,
				rd_text("NCCL_IB_HCA, a port that was down, or a container without the device"), NULL);
		}
	for (size_t i = 0; i < match->file->n_ibdevs; i++) {
		const char *name = match->file->ibdevs[i].name;
		const struct rd_against_pair nic = { "nic", rd_ibdev_label(match->file, (int)i), NULL, "NIC" };

		/* A merged NIC is listed in addition to its parts. */
		if (!is_matched(match->nics, st->host->n_ibdevs, i) && !(name && strchr(name, '+')))
			rd_against_differs(st, &nic, &not_here,
					   rd_text("removed or renamed since, or the file is from another host"),
					   rd_text("rdma dev"));
	}
}

/* Distances of the pairs that both sides have. */
static void compare_distances(struct rd_against_state *st, const struct match *match)
{
	for (size_t g = 0; g < st->host->n_gpus; g++)
		for (size_t d = 0; d < st->host->n_ibdevs; d++) {
			const char *nic = rd_ibdev_label(st->host, (int)d);
			_cleanup_free_ char *subject = rd_text("GPU%u and %s", st->host->gpus[g].index, nic);
			struct rd_against_pair pair = { "distance", subject, NULL, NULL };
			enum rd_path a, b;

			if (match->gpus[g] < 0 || match->nics[d] < 0)
				continue;
			a = rd_distance_nccl(st->host, (int)g, (int)d);
			b = rd_distance_nccl(match->file, match->gpus[g], match->nics[d]);
			pair.predicted = rd_path_name(a);
			pair.observed = rd_path_name(b);
			if (a == b && a != RD_PATH_UNKNOWN)
				rd_against_same(st, &pair, NULL);
			else if (!a || !b)
				rd_against_unknown(st, &pair, rd_text("unknown on one side"));
			else if (a == RD_PATH_PXN || b == RD_PATH_PXN || a == RD_PATH_P2C || b == RD_PATH_P2C)
				rd_against_unknown(
					st, &pair,
					rd_text("depends on NVLink or C2C, which the file contains and sysfs does not show"));
			else
				rd_against_differs(
					st, &pair, &distance,
					rd_text("cards or switches were moved, or the file, from a virtual machine, omits "
						"switches"),
					rd_text("rdmadiag nic-map --path GPU%u %s", st->host->gpus[g].index, nic));
		}
}

static void compare_gdr(struct rd_against_state *st, const struct rd_run_host *gdr)
{
	for (size_t i = 0; gdr && i < gdr->nets.n; i++) {
		const struct rd_run_net *net = &gdr->nets.v[i];
		int ibdev = net->name ? rd_against_ibdev(st->host, net->name) : -1;
		bool can = false;

		if (net->gpudirect.known != RD_OK || ibdev < 0)
			continue;
		for (size_t g = 0; g < st->host->n_gpus; g++) {
			const struct rd_pair *pair = rd_nicmap_pair(st->map, g, (size_t)ibdev);

			can |= pair->gpudirect.known == RD_OK && pair->gpudirect.v;
		}
		if (can && net->gpudirect.v)
			rd_against_same(st, &(struct rd_against_pair){ "gpudirect", net->name, "yes", "yes" }, NULL);
		else if (can)
			rd_against_differs(
				st, &(struct rd_against_pair){ "gpudirect", net->name, "yes", "no" }, &support,
				rd_text("nvidia_peermem was not loaded, or not visible in the container"),
				rd_text("modprobe nvidia_peermem\n# until the next boot; also in /etc/modules-load.d/"));
	}
}

void rd_against_topology(const struct rd_host *host, const struct rd_nicmap *map, const struct rd_host *file,
			 const struct rd_run_host *gdr, struct rd_against *ret)
{
	static const struct rd_finding other_file = {
		"against-elsewhere", "Topology file is not from this host",
		"no PCI address of a GPU and no NIC name in the file matches this host", RD_SEV_UNKNOWN
	};
	struct rd_against_state st = { .host = host, .map = map, .ret = ret };
	struct match match = { 0 };

	if (!match_all(host, file, &match)) {
		rd_finding_put(&ret->findings, &other_file, rd_text("topology file"), NULL,
			       rd_text("# write one on this host: run a job with NCCL_TOPO_DUMP_FILE=FILE"));
	} else {
		compare_gpus(&st, &match);
		compare_nics(&st, &match);
		compare_distances(&st, &match);
		compare_gdr(&st, gdr);
	}
	RD_FREE(match.gpus, match.nics);
}
