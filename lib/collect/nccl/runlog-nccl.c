/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NCCL's lines, of 2.4 to 2.30: src/transport/net*.cc, src/graph/topo.cc and paths.cc, src/init.cc, src/plugin/net.cc. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "collect/nccl/runlog-priv.h"

#include "base/memory.h"
#include "base/number.h"

/* "mlx5_0:1/IB", perhaps "mlx5_0:1:RAIL:PLANE/IB", by a plugin "mlx5_0:1/IB/SHARP". Adds it at `position`; returns the text
 * after it, or NULL: interfaces of other plugins have no link layer there. */
static const char *parse_dev(struct rd_run_reader *reader, struct rd_run_host *host, const char *at, unsigned position)
{
	size_t name = strcspn(at, ":/ ,}"), whole = strcspn(at, " ,}");
	const char *slash = memchr(at, '/', whole), *number = at + name + 1;
	const char *link = !slash			   ? NULL :
			   strncmp(slash, "/IB", 3) == 0   ? "IB" :
			   strncmp(slash, "/RoCE", 5) == 0 ? "RoCE" :
							     NULL;
	struct rd_run_dev *dev;
	unsigned port = 0;

	if (name == 0 || !link)
		return NULL;
	if (at[name] == ':')
		rd_run_number(&number, &port);
	for (size_t i = 0; i < host->devs.n; i++)
		if (strlen(host->devs.v[i].name) == name && strncmp(host->devs.v[i].name, at, name) == 0 &&
		    host->devs.v[i].port == port)
			return at + whole;
	dev = rd_run_new(reader, &host->devs);
	if (!dev)
		return NULL;
	*dev = (struct rd_run_dev){ .name = rd_dup_part(at, name), .port = port, .position = position, .link = link };
	return at + whole;
}

static struct rd_run_net *net_of(struct rd_run_reader *reader, struct rd_run_host *host, unsigned number,
				 const char *name, size_t size)
{
	struct rd_run_net *net = NULL;

	for (size_t i = 0; i < host->nets.n && !net; i++)
		if (host->nets.v[i].number == number)
			net = &host->nets.v[i];
	if (!net)
		net = rd_run_new(reader, &host->nets);
	if (!net)
		return NULL;
	net->number = number;
	if (name && size > 0 && !net->name)
		net->name = rd_dup_part(name, size);
	else if (name && size > 0)
		host->nets_vary |= strlen(net->name) != size || strncmp(net->name, name, size) != 0;
	return net;
}

/* NCCL 2.20 to 2.23: "{[0] mlx5_0:1/RoCE, [1] mlx5_1:1/RoCE}" is one NIC. */
static const char *parse_group(struct rd_run_reader *reader, struct rd_run_host *host, const char *at, unsigned position)
{
	char name[256] = "";
	unsigned number;

	while (at && *at == '[') {
		const char *dev;
		size_t used = strlen(name);

		at++;
		if (!rd_run_number(&at, &number) || *at++ != ']')
			return NULL;
		dev = at += strspn(at, " ");
		at = parse_dev(reader, host, dev, number);
		snprintf(name + used, sizeof(name) - used, "%s%.*s", used ? "+" : "", (int)strcspn(dev, ":/ ,}"), dev);
		at = at ? at + strspn(at, ", ") : NULL;
	}
	net_of(reader, host, position, name, strlen(name));
	host->tells_nets = true;
	return at && *at == '}' ? at + 1 : NULL;
}

/* " [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>". NICs are numbered by their position in the list, which starts at
 * the number of its first entry. */
static bool parse_list(struct rd_run_reader *reader, struct rd_run_host *host, const char *at)
{
	unsigned number, position = 0;
	bool any = false;

	at += strspn(at, " ");
	while (at && at[0] == '[' && isdigit((unsigned char)at[1])) {
		const char *name;

		at++;
		if (!rd_run_number(&at, &number) || *at++ != ']')
			break;
		if (!any)
			position = number;
		any = true;
		if (at[0] == '=' && at[1] == '{') {
			at = parse_group(reader, host, at + 2, position);
		} else {
			name = at += strspn(at, " ");
			at = parse_dev(reader, host, at, number);
			if (at)
				net_of(reader, host, position, name, strcspn(name, ":/ "));
		}
		position++;
		if (at)
			at += strspn(at, " ");
	}
	host->list_whole |= any && at && (rd_run_begins(at, "[RO]") || *at == ';');
	return any;
}

/* "GPU Direct RDMA Enabled for HCA 0 'mlx5_0'", before 2.5 "for GPU 0[0] / HCA 0 'mlx5_0'". */
static bool parse_support(struct rd_run_reader *reader, struct rd_run_host *host, const char *at)
{
	const char *hca = rd_run_after(at, "HCA "), *quote;
	bool on = rd_run_begins(at, "Enabled") != NULL;
	struct rd_run_net *net;
	unsigned number;

	if (!hca || (!on && !rd_run_begins(at, "Disabled")) || !rd_run_number(&hca, &number) || hca[0] != ' ' ||
	    hca[1] != '\'')
		return false;
	hca += 2;
	quote = strchr(hca, '\'');
	net = net_of(reader, host, number, hca, quote ? (size_t)(quote - hca) : strlen(hca));
	if (!net)
		return false;
	host->tells_nets = true;
	RD_SET(net->gpudirect, on);
	return true;
}

static void copy_word(const char *at, const char *ends, char *ret, size_t size)
{
	snprintf(ret, size, "%.*s", (int)strcspn(at, ends), at);
}

/* "Disabled for GPU 87000 / HCA 0 (distance 5 > 4)": busId until 2.23, then the rank. */
static bool parse_pair(struct rd_run_reader *reader, struct rd_run_host *host, const char *at)
{
	const char *gpu = rd_run_after(at, "for GPU "), *hca = rd_run_after(at, "/ HCA "), *distance;
	struct rd_run_pair pair = { .gpudirect = rd_run_begins(at, "Enabled") != NULL };
	struct rd_run_pair *kept = NULL;
	uint64_t number;
	unsigned value;

	if (!gpu || !hca || rd_take_uint(&hca, RD_HEX, UINT64_MAX, &number) < 0)
		return false;
	copy_word(gpu, " [", pair.gpu.text, sizeof(pair.gpu.text));
	/* The upper bits are the system ID. */
	pair.net = (unsigned)(number & 0xffffff);
	distance = rd_run_after(hca, "(distance ");
	if (distance && rd_run_number(&distance, &value)) {
		RD_SET(pair.distance, value);
		distance += strspn(distance, " <>=");
		if (rd_run_number(&distance, &value))
			RD_SET(pair.level, value);
	}
	for (size_t i = 0; i < host->pairs.n && !kept; i++)
		if (host->pairs.v[i].net == pair.net && strcmp(host->pairs.v[i].gpu.text, pair.gpu.text) == 0)
			kept = &host->pairs.v[i];
	if (!kept)
		kept = rd_run_new(reader, &host->pairs);
	if (kept)
		*kept = pair;
	return kept != NULL;
}

static bool parse_gpudirect(struct rd_run_reader *reader, struct rd_run_host *host, const char *at)
{
	return parse_support(reader, host, at) || parse_pair(reader, host, at);
}

/* "Made virtual device [8] name=mlx5_0+mlx5_1 speed=800000 ndevs=2" */
static bool parse_virtual(struct rd_run_reader *reader, struct rd_run_host *host, const char *at)
{
	const char *name = rd_run_after(at, "name=");
	unsigned number;

	if (*at++ != '[' || !rd_run_number(&at, &number) || !name)
		return false;
	host->tells_nets = true;
	return net_of(reader, host, number, name, strcspn(name, " ")) != NULL;
}

/* "NET/IB : …", "NET/IB: …", "NET/Socket : …", "NET/IBext_v8 : …" */
static bool parse_net(struct rd_run_reader *reader, struct rd_run_host *host, const char *message)
{
	size_t name = strcspn(message, " :");
	const char *at = message + name + strspn(message + name, " :"), *rest;

	if (!strchr(" :", message[name]) || name == 0)
		return false;
	rest = rd_run_begins(at, "GPU Direct RDMA ");
	if (rest)
		return parse_gpudirect(reader, host, rest);
	rest = rd_run_begins(at, "Made virtual device ");
	if (rest)
		return parse_virtual(reader, host, rest);
	if (strncmp(message, "Socket", name) == 0)
		return rd_run_begins(at, "Using [") != NULL;
	/* Up to 2.3, one line per device instead of a list. Later lines of this kind also name the character device, and are numbered
	 * differently. */
	if (at[0] == '[' && isdigit((unsigned char)at[1]) && !strstr(at, ":uverbs"))
		return host->list_whole |= parse_list(reader, host, at);
	rest = rd_run_begins(at, "Using ");
	if (rest)
		return parse_list(reader, host, rest);
	if (rd_run_begins(at, "No device found"))
		return host->no_device = true;
	if (rd_run_begins(at, "No IP interface found"))
		return host->no_interface = true;
	rest = rd_run_begins(at, "Selected Provider is ");
	if (!rest)
		rest = rd_run_begins(at, "Selected provider is ");
	if (rest && name == 3 && !host->plugin)
		rd_run_set(&host->plugin, "aws-ofi-nccl", strlen("aws-ofi-nccl"));
	return rest != NULL;
}

/* "0[87000]", "0[0]", "0" */
static const char *parse_endpoint(const char *at, struct rd_run_gpu *gpu)
{
	unsigned rank;

	if (!rd_run_number(&at, &rank))
		return NULL;
	RD_SET(gpu->rank, rank);
	gpu->text[0] = '\0';
	if (*at != '[')
		return at;
	copy_word(at + 1, "] ", gpu->text, sizeof(gpu->text));
	at = strchr(at, ']');
	return at ? at + 1 : NULL;
}

/* "NET/IB/3(1)/GDRDMA(PCI)/Shared" */
static bool parse_via(const char *at, struct rd_run_channel *channel, const char **transport, size_t *size)
{
	const char *slash;
	unsigned proxy;

	at = rd_run_begins(at, "NET/");
	slash = at ? strchr(at, '/') : NULL;
	if (!slash || slash == at)
		return false;
	*transport = at;
	*size = (size_t)(slash - at);
	at = slash + 1;
	if (!rd_run_number(&at, &channel->net))
		return false;
	channel->proxy = -1;
	if (*at == '(') {
		at++;
		if (rd_run_number(&at, &proxy) && *at == ')')
			channel->proxy = (int)proxy;
	}
	channel->gpudirect = strstr(at, "/GDRDMA") != NULL;
	return true;
}

static bool is_same(const struct rd_run_channel *a, const struct rd_run_channel *b, const char *transport, size_t size)
{
	return a->gpu.rank.v == b->gpu.rank.v && a->net == b->net && a->send == b->send && a->peer == b->peer &&
	       a->proxy == b->proxy && a->gpudirect == b->gpudirect && strncmp(a->transport, transport, size) == 0 &&
	       !a->transport[size] && strcmp(a->gpu.text, b->gpu.text) == 0;
}

static bool keep_channel(struct rd_run_reader *reader, struct rd_run_host *host, const struct rd_run_channel *channel,
			 const char *transport, size_t size)
{
	struct rd_run_channel *kept = NULL;

	for (size_t i = 0; i < host->channels.n && !kept; i++)
		if (is_same(&host->channels.v[i], channel, transport, size))
			kept = &host->channels.v[i];
	if (kept) {
		kept->first |= channel->first;
		kept->n++;
		return true;
	}
	kept = rd_run_new(reader, &host->channels);
	if (!kept)
		return false;
	*kept = *channel;
	kept->transport = rd_dup_part(transport, size);
	kept->n = 1;
	return true;
}

/* "00/0 : 0[0] -> 8[0] [send] via NET/IB/3/GDRDMA"; the second number since 2.12. This host is on the left when
 * sending, on the right when receiving. */
static bool parse_channel(struct rd_run_reader *reader, struct rd_run_host *host, const char *at)
{
	struct rd_run_channel channel = { .proxy = -1 };
	struct rd_run_gpu left = { 0 }, right = { 0 };
	unsigned number, connection = 0;
	const char *transport, *via = rd_run_after(at, " via ");
	size_t size;

	if (!via || !rd_run_number(&at, &number))
		return false;
	if (*at == '/') {
		at++;
		if (!rd_run_number(&at, &connection))
			return false;
	}
	at = rd_run_begins(at, " : ");
	at = at ? parse_endpoint(at, &left) : NULL;
	at = at ? rd_run_begins(at, " -> ") : NULL;
	at = at ? parse_endpoint(at, &right) : NULL;
	if (!at || !parse_via(via, &channel, &transport, &size))
		return false;
	channel.send = rd_run_begins(at, " [send]") != NULL;
	if (!channel.send && !rd_run_begins(at, " [receive]"))
		return false;
	channel.gpu = channel.send ? left : right;
	channel.peer = connection != 0;
	channel.first = number == 0;
	return keep_channel(reader, host, &channel, transport, size);
}

/* "… comm 0x… rank 0 nranks 16 cudaDev 0 nvmlDev 0 busId 1b000 …" */
static bool parse_rank(struct rd_run_reader *reader, struct rd_run_host *host, const char *message)
{
	const char *comm = rd_run_after(message, "comm 0x"), *at = comm ? rd_run_after(comm, " rank ") : NULL;
	const char *nvml = at ? rd_run_after(at, " nvmlDev ") : NULL, *bus = at ? rd_run_after(at, " busId ") : NULL;
	struct rd_run_rank *rank = NULL;
	unsigned number, value;
	uint64_t address;

	if (!at || !rd_run_number(&at, &number) || (!nvml && !bus))
		return false;
	for (size_t i = 0; i < host->ranks.n && !rank; i++)
		if (host->ranks.v[i].rank == number)
			rank = &host->ranks.v[i];
	if (!rank)
		rank = rd_run_new(reader, &host->ranks);
	if (!rank)
		return false;
	rank->rank = number;
	if (nvml && rd_run_number(&nvml, &value))
		RD_SET(rank->nvml, value);
	if (bus && rd_take_uint(&bus, RD_HEX, UINT64_MAX, &address) == 0)
		RD_SET(rank->bus, address);
	return true;
}

/* "NCCL_IB_HCA set to mlx5_0", "NCCL_NET_GDR_LEVEL set by environment to PIX", "NCCL_IB_TIMEOUT set by environment to 22." */
static bool parse_var(struct rd_run_reader *reader, struct rd_run_host *host, const char *message)
{
	size_t name = strspn(message, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"), size;
	const char *value = rd_run_begins(message + name, " set by environment to ");

	if (!value)
		value = rd_run_begins(message + name, " set to ");
	if (!value || name < 6)
		return false;
	size = strlen(value);
	/* Some messages end with a full stop after a number. */
	if (size > 1 && value[size - 1] == '.' && strspn(value, "-0123456789") == size - 1)
		size--;
	rd_run_set_var(reader, host, message, name, value, size);
	return true;
}

static bool parse_plugin(struct rd_run_host *host, const char *message)
{
	static const char *const begins[] = {
		"P2P plugin ",
		"NET/Plugin: Loaded net plugin ",
		"NET/Plugin: Using net plugin ",
		"Successfully loaded external network plugin ",
		"Plugin Path : ",
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(begins); i++) {
		const char *name = rd_run_begins(message, begins[i]);

		if (!name)
			continue;
		if (!host->plugin)
			rd_run_set(&host->plugin, name, strcspn(name, "("));
		return true;
	}
	return false;
}

bool rd_run_take_nccl(struct rd_run_reader *reader, struct rd_run_host *host, const char *message)
{
	const char *at = rd_run_begins(message, "Channel ");

	if (!at)
		at = rd_run_begins(message, "Ring ");
	if (at)
		return parse_channel(reader, host, at);
	at = rd_run_begins(message, "Using network ");
	if (!at) /* until 2.3 */
		at = rd_run_begins(message, "Using internal Network ");
	if (at) {
		rd_run_set(&host->network, at, strlen(at));
		host->n_networks++;
		host->n_sockets += strncmp(at, "Socket", strlen("Socket")) == 0;
		return true;
	}
	at = rd_run_begins(message, "GPU Direct RDMA ");
	if (at)
		return parse_pair(reader, host, at);
	if (parse_plugin(host, message))
		return true;
	at = rd_run_begins(message, "NET/");
	if (at)
		return parse_net(reader, host, at);
	return parse_var(reader, host, message) || parse_rank(reader, host, message);
}
