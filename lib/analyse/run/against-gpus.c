/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which NIC each GPU used, and whether with GPUDirect RDMA. */

#include "analyse/run/against-priv.h"
#include "base/buf.h"

static const struct rd_finding missing_gpu = { "against-gpu", "The run used GPUs that this host does not have",
					       "their NICs and GPUDirect use cannot be compared", RD_SEV_WARNING };
static const struct rd_finding bounced = {
	"against-gpudirect", "The run copied GPU memory through host memory",
	"the copy costs host memory bandwidth and latency, which GPUDirect RDMA avoids", RD_SEV_WARNING
};
static const struct rd_finding direct = { "against-gpudirect-lost",
					  "The run used GPUDirect RDMA, which is not available on this host now",
					  "a new run would copy GPU memory through host memory", RD_SEV_WARNING };
static const struct rd_finding other_nic = { "against-nic", "GPUs used different NICs than NCCL selects on this host",
					     "a NIC that is farther away, or shared, is slower", RD_SEV_WARNING };

/* One row for all GPUs: whether the numbers and addresses in the log are those of this host's GPUs. */
static void compare_presence(struct rd_against_state *st)
{
	_cleanup_buf_ struct rd_buf missing = { 0 };
	size_t n = 0, found = 0;
	char count[40];

	for (size_t i = 0; i < st->run->ranks.n; i++) {
		const struct rd_run_rank *rank = &st->run->ranks.v[i];

		if (rank->bus.known != RD_OK)
			continue;
		n++;
		if (rd_against_gpu_of_rank(st, rank->rank) >= 0) {
			found++;
			continue;
		}
		rd_buf_printf(&missing, "%s%04x:%02x:%02x.%x", missing.len ? ", " : "", (unsigned)(rank->bus.v >> 20),
			      (unsigned)(rank->bus.v >> 12) & 0xff, (unsigned)(rank->bus.v >> 4) & 0xff,
			      (unsigned)rank->bus.v & 0xf);
		if (missing.len > 200)
			break;
	}
	if (n == 0 || st->host->n_gpus == 0)
		return;
	snprintf(count, sizeof(count), "%zu GPU%s", found, found == 1 ? "" : "s");
	if (!missing.len)
		rd_against_same(st, &(struct rd_against_pair){ "gpu", count, "present", "used" }, NULL);
	else
		rd_against_differs(
			st, &(struct rd_against_pair){ "gpu", missing.data, NULL, "used" }, &missing_gpu,
			rd_against_other_name(st) ?
				rd_text("the log names host %s: a virtual machine with different PCI addresses, or another host",
					st->run->name) :
				rd_text("GPUs were removed, or their addresses have changed since"),
			rd_text("nvidia-smi --query-gpu=index,pci.bus_id --format=csv"));
}

static char *net_name(const struct rd_against_state *st, unsigned number)
{
	const struct rd_run_net *net = rd_run_net(st->run, number);

	return net && net->name ? rd_text("%s", net->name) : rd_text("NIC %u", number);
}

static int net_ibdev(const struct rd_against_state *st, unsigned number)
{
	const struct rd_run_net *net = rd_run_net(st->run, number);

	return net && net->name ? rd_against_ibdev(st->host, net->name) : -1;
}

static const struct rd_choice *choice_of(const struct rd_against_state *st, int gpu)
{
	for (size_t i = 0; i < st->own.nccl.n; i++)
		if (st->own.nccl.v[i].gpu == gpu && st->own.nccl.v[i].n_ports > 0)
			return &st->own.nccl.v[i];
	return NULL;
}

static bool is_chosen(const struct rd_against_state *st, int gpu, int ibdev)
{
	const struct rd_choice *choice = choice_of(st, gpu);

	for (size_t p = 0; choice && p < choice->n_ports; p++)
		if (st->host->ports[choice->ports[p]].ibdev == ibdev)
			return true;
	return false;
}

/* What the channels of one GPU show. */
struct seen {
	bool local, proxy_local, peer_beyond, first_beyond, as_near;
	char proxies[64];
	struct rd_buf nets;
};

static void add_seen_net(const struct rd_against_state *st, const struct rd_run_channel *channel, struct seen *seen)
{
	_cleanup_free_ char *name = net_name(st, channel->net);
	const char *at = seen->nets.data ? strstr(seen->nets.data, name) : NULL;
	size_t size = strlen(name);

	while (at && ((at > seen->nets.data && at[-1] != ' ') || (at[size] && at[size] != ' ')))
		at = strstr(at + 1, name);
	if (!at)
		rd_buf_printf(&seen->nets, "%s%s", seen->nets.len ? " " : "", name);
}

static void add_seen_channel(const struct rd_against_state *st, int gpu, const struct rd_run_channel *channel,
			     struct seen *seen)
{
	const struct rd_choice *choice = choice_of(st, gpu);
	int ibdev = net_ibdev(st, channel->net);
	int proxy = channel->proxy >= 0 ? rd_against_gpu_of_rank(st, (unsigned)channel->proxy) : -1;

	if (ibdev < 0)
		return;

	add_seen_net(st, channel, seen);
	if (channel->proxy >= 0) {
		seen->proxy_local |= proxy >= 0 && is_chosen(st, proxy, ibdev);
		snprintf(seen->proxies, sizeof(seen->proxies), "rank %d", channel->proxy);
		return;
	}
	if (is_chosen(st, gpu, ibdev)) {
		seen->local = true;
		return;
	}
	seen->peer_beyond |= channel->peer;
	seen->first_beyond |= channel->first;
	if (choice)
		seen->as_near |=
			rd_nicmap_pair(&st->own, (size_t)gpu, (size_t)ibdev)->nccl ==
			rd_nicmap_pair(&st->own, (size_t)gpu, (size_t)st->host->ports[choice->ports[0]].ibdev)->nccl;
}

static size_t ranks_here(const struct rd_against_state *st)
{
	size_t n = 0;

	for (size_t i = 0; i < st->run->channels.n; i++) {
		bool again = false;

		for (size_t k = 0; k < i; k++)
			again |= st->run->channels.v[k].gpu.rank.v == st->run->channels.v[i].gpu.rank.v;
		n += !again;
	}
	return n > st->run->ranks.n ? n : st->run->ranks.n;
}

/* No channel of the GPU used the predicted NIC. */
static void nic_differs(struct rd_against_state *st, int gpu, const struct rd_against_pair *nic, const struct seen *seen)
{
	/* Variables that make NCCL use other NICs than a GPU's own. */
	static const char *const names[] = { "NCCL_TOPO_FILE",	    "NCCL_GRAPH_FILE", "NCCL_NETDEVS_POLICY",
					     "NCCL_CROSS_NIC",	    "NCCL_P2P_LEVEL",  "NCCL_P2P_DISABLE",
					     "NCCL_NET_FORCE_MERGE" };
	const char *network = rd_against_observed(st->run);
	char *reason = rd_against_variable(st, names, RD_ARRAY_SIZE(names)) ?: rd_against_lacks(st->log, RD_NCCL_DEAL);
	bool certain = seen->peer_beyond || (seen->first_beyond && ranks_here(st) == 1);

	if (reason)
		rd_against_unknown(st, nic, reason);
	else if (network && strcmp(network, "IB") != 0)
		rd_against_unknown(st, nic, rd_text("the network plugin chooses: %s", network));
	else if (seen->as_near)
		rd_against_unknown(st, nic,
				   rd_text("as near as the predicted NIC: NCCL distributes NICs by GPU and channel"));
	else if (!certain)
		rd_against_unknown(
			st, nic,
			rd_text("a ring enters and leaves a host through one NIC, which is near only one of the two "
				"GPUs; the log has no further information"));
	else
		rd_against_differs(
			st, nic, &other_nic,
			rd_text(st->log->version[0] == 0 ? "NCCL version not in the log" :
							   "PCI topology, link speeds or GPUDirect were different then"),
			rd_text("rdmadiag nic-map --path GPU%u %s", st->host->gpus[gpu].index,
				rd_ibdev_label(st->host, st->host->ports[choice_of(st, gpu)->ports[0]].ibdev)));
}

static void compare_nic(struct rd_against_state *st, int gpu)
{
	const struct rd_choice *choice = choice_of(st, gpu);
	_cleanup_buf_ struct rd_buf here = { 0 };
	_cleanup_free_ char *label = rd_text("GPU%u", st->host->gpus[gpu].index);
	struct rd_against_pair nic = { "nic", label, NULL, NULL };
	struct seen seen = { 0 };

	for (size_t i = 0; i < st->run->channels.n; i++) {
		const struct rd_run_channel *channel = &st->run->channels.v[i];

		if (rd_against_is_ib(channel->transport) && rd_against_gpu(st, &channel->gpu) == gpu)
			add_seen_channel(st, gpu, channel, &seen);
	}
	for (size_t p = 0; choice && p < choice->n_ports; p++)
		rd_buf_printf(&here, "%s%s", p ? " " : "",
			      rd_ibdev_label(st->host, st->host->ports[choice->ports[p]].ibdev));
	nic.predicted = here.data;
	nic.observed = seen.nets.data;
	if (nic.observed && choice) {
		bool others = strchr(nic.observed, ' ') != NULL;

		if (seen.local)
			rd_against_same(st, &nic,
					others ? rd_text("rings and trees may also use NICs of other GPUs") : NULL);
		else if (seen.proxy_local && !seen.peer_beyond && !seen.first_beyond)
			rd_against_same(st, &nic,
					rd_text("PXN: through NVLink to %s, whose GPU is near this NIC", seen.proxies));
		else
			nic_differs(st, gpu, &nic, &seen);
	}
	rd_buf_deinit(&seen.nets);
}

/* A variable or a release that explains a difference in GPUDirect use; NULL: none. */
static char *gpudirect_cause(const struct rd_against_state *st, bool observed, enum rd_path path)
{
	static const char *const names[] = { "NCCL_NET_GDR_READ", "NCCL_NET_GDR_C2C", "NCCL_DMABUF_ENABLE",
					     "NCCL_IB_DATA_DIRECT", "NCCL_IB_CUDA_SUPPORT" };
	char *cause = rd_against_variable(st, names, RD_ARRAY_SIZE(names));

	if (!cause && !observed)
		cause = rd_against_lacks(st->log, RD_NCCL_DMABUF);
	return cause || observed || path != RD_PATH_P2C ? cause : rd_against_lacks(st->log, RD_NCCL_C2C);
}

/* What the map predicts for the GPU and the device: 1, 0; -1: unknown. */
static int predicted_gpudirect(const struct rd_against_state *st, int gpu, int ibdev)
{
	const struct rd_pair *pair;

	if (gpu < 0 || ibdev < 0)
		return -1;
	pair = rd_nicmap_pair(&st->own, (size_t)gpu, (size_t)ibdev);
	return pair->gpudirect.known == RD_OK ? pair->gpudirect.v : -1;
}

/* `here`: 1, 0; -1: unknown. `note`: reason if both agree, or `here` is unknown; taken over; may be NULL. `path`: distance
 * between GPU and NIC, RD_PATH_UNKNOWN if the row is about a NIC alone. */
static void add_gpudirect(struct rd_against_state *st, const char *subject, int here, bool observed, char *note,
			  enum rd_path path)
{
	const struct rd_against_pair pair = { "gpudirect", subject,
					      here < 0 ? NULL :
					      here     ? "yes" :
							 "no",
					      observed ? "yes" : "no" };
	char *cause;

	if (here >= 0 && (here != 0) == observed) {
		rd_against_same(st, &pair, note);
		return;
	}
	if (here < 0) {
		rd_against_unknown(st, &pair, note ?: rd_text("GPUDirect support of this host is unknown"));
		return;
	}
	free(note);
	cause = gpudirect_cause(st, observed, path);
	if (cause)
		rd_against_unknown(st, &pair, cause);
	else
		rd_against_differs(
			st, &pair, observed ? &direct : &bounced,
			rd_text(observed ?
					"nvidia_peermem or DMA-BUF was available then, and is not now" :
				rd_against_other_name(st) ?
					"nvidia_peermem or DMA-BUF was not visible to the process: a container, or loaded since" :
					"nvidia_peermem was not loaded then, or the run's CUDA and NCCL do not support DMA-BUF"),
			rd_text("modprobe nvidia_peermem\n# until the next boot; also in /etc/modules-load.d/%s",
				observed ? "" : "\n# where the job runs: lsmod | grep peermem"));
}

/* A row for a GPU and a NIC. */
static void add_pair(struct rd_against_state *st, int gpu, int ibdev, unsigned number, bool observed, char *note)
{
	_cleanup_free_ char *name = net_name(st, number);
	_cleanup_free_ char *subject = rd_text("GPU%u and %s", st->host->gpus[gpu].index, name);

	add_gpudirect(st, subject, predicted_gpudirect(st, gpu, ibdev), observed, note,
		      rd_nicmap_pair(&st->own, (size_t)gpu, (size_t)ibdev)->nccl);
}

/* "GPU Direct RDMA Enabled for HCA 0 'mlx5_0'": the NIC supports it, whatever the distance to a GPU. */
static void compare_support(struct rd_against_state *st)
{
	for (size_t i = 0; i < st->run->nets.n; i++) {
		const struct rd_run_net *net = &st->run->nets.v[i];
		int ibdev = net->name ? rd_against_ibdev(st->host, net->name) : -1, here = -1;
		bool too_far = false;

		if (net->gpudirect.known != RD_OK || ibdev < 0)
			continue;
		for (size_t g = 0; g < st->host->n_gpus && here != 1; g++) {
			int of_gpu = predicted_gpudirect(st, (int)g, ibdev);

			too_far |= of_gpu == 0;
			if (of_gpu == 1)
				here = 1;
		}
		/* Without a GPU near enough, nothing can be concluded about the NIC. */
		add_gpudirect(
			st, net->name, here, net->gpudirect.v,
			here < 0 && too_far ?
				rd_text("no GPU of this host uses GPUDirect with this NIC, so its support is unknown") :
				NULL,
			RD_PATH_UNKNOWN);
	}
}

static bool counted_before(const struct rd_against_state *st, size_t i, int gpu)
{
	for (size_t k = 0; k < i; k++) {
		const struct rd_run_channel *other = &st->run->channels.v[k];

		if (other->net == st->run->channels.v[i].net && other->proxy < 0 &&
		    rd_against_gpu(st, &other->gpu) == gpu && other->gpudirect == st->run->channels.v[i].gpudirect)
			return true;
	}
	return false;
}

/* Before 2.24 the bracket is a busId, then a rank. */
static int gpu_of_pair(const struct rd_against_state *st, const struct rd_run_pair *pair)
{
	uint32_t rank;

	if (strlen(pair->gpu.text) < 4 && rd_parse_u32(pair->gpu.text, RD_DECIMAL, 999, &rank) == 0 &&
	    !rd_runlog_before(st->log, 24, 3))
		return rd_against_gpu_of_rank(st, rank);
	return rd_against_gpu(st, &pair->gpu);
}

void rd_against_gpus(struct rd_against_state *st)
{
	static const struct rd_against_pair channels = { "nic", "channels", NULL, "by number" };
	const struct rd_run_host *run = st->run;
	bool any = false;

	compare_presence(st);
	if (run->nets_vary) {
		rd_against_unknown(
			st, &channels,
			rd_text("processes had different lists of devices, so a NIC number is ambiguous: use the log of "
				"a single process"));
		return;
	}
	for (size_t i = 0; i < run->channels.n; i++)
		any |= rd_against_is_ib(run->channels.v[i].transport);
	if (any && run->nets.n == 0) {
		rd_against_unknown(
			st, &channels,
			rd_text("the log has no line \"NET/IB : Using\", so NIC numbers cannot be resolved to names"));
		return;
	}
	for (size_t g = 0; g < st->host->n_gpus; g++)
		compare_nic(st, (int)g);
	compare_support(st);
	for (size_t i = 0; i < st->run->channels.n; i++) {
		const struct rd_run_channel *channel = &st->run->channels.v[i];
		int gpu = rd_against_gpu(st, &channel->gpu), ibdev = net_ibdev(st, channel->net);
		const struct rd_pair *pair;

		if (gpu < 0 || ibdev < 0 || channel->proxy >= 0 || !rd_against_is_ib(channel->transport) ||
		    counted_before(st, i, gpu))
			continue;
		/* Why it is unknown, if it is and a reason is known. */
		pair = rd_nicmap_pair(&st->own, (size_t)gpu, (size_t)ibdev);
		add_pair(st, gpu, ibdev, channel->net, channel->gpudirect,
			 pair->gpudirect.known != RD_OK && pair->gpudirect_why ? rd_text("%s", pair->gpudirect_why) :
										 NULL);
	}
	for (size_t i = 0; i < st->run->pairs.n; i++) {
		const struct rd_run_pair *pair = &st->run->pairs.v[i];
		int gpu = gpu_of_pair(st, pair), ibdev = net_ibdev(st, pair->net);

		if (gpu < 0 || ibdev < 0)
			continue;
		add_pair(st, gpu, ibdev, pair->net, pair->gpudirect,
			 pair->distance.known == RD_OK && pair->level.known == RD_OK ?
				 rd_text("NCCL computed distance %u, and allows up to %u", pair->distance.v,
					 pair->level.v) :
				 NULL);
	}
}
