/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs of runs: splits them into lines, finds the host of each line and the parser for it. */
#include "collect/nccl/runlog.h"

#include <ctype.h>

#include "base/text.h"

/* Splits logs into lines, finds the host of each line and the parser for it. */

/* The longest line of these libraries is NCCL's device list, of 2 KB. */
#define LINE_MAX_SIZE 8192

struct reader {
	struct rd_runlog *log;
	size_t last; /* the host of the previous line, where lookups start */
};

/* A new element, zeroed; NULL: too many. */
static void *grow(struct reader *reader, void *v, size_t *n, size_t *cap, size_t elem_size)
{
	char *base;

	if (*n >= RD_RUN_LIST) {
		reader->log->cut = true;
		return NULL;
	}
	rd_reserve(v, cap, *n + 1, elem_size);
	base = *(char **)v + *n * elem_size;
	memset(base, 0, elem_size);
	++*n;
	return base;
}

#define new_element(reader, array) \
	((__typeof__((array)->v))grow((reader), &(array)->v, &(array)->n, &(array)->cap, sizeof(*(array)->v)))

static void set_text(char **ret, const char *text, size_t size)
{
	free(*ret);
	*ret = rd_dup_part(text, size);
}

static void set_var(struct reader *reader, struct rd_run_host *host, const char *name, size_t name_size,
		    const char *value, size_t value_size)
{
	struct rd_run_var *var = NULL;

	for (size_t i = 0; i < host->vars.n && !var; i++)
		if (strlen(host->vars.v[i].name) == name_size && strncmp(host->vars.v[i].name, name, name_size) == 0)
			var = &host->vars.v[i];
	if (!var) {
		var = new_element(reader, &host->vars);
		if (!var)
			return;
		var->name = rd_dup_part(name, name_size);
	}
	var->varies |= var->value && (strlen(var->value) != value_size || strncmp(var->value, value, value_size) != 0);
	set_text(&var->value, value, value_size);
}

/* The text after `what` if `text` starts with it, else NULL. */
static const char *begins(const char *text, const char *what)
{
	size_t size = strlen(what);

	return strncmp(text, what, size) == 0 ? text + size : NULL;
}

/* The text after the first `what` in `text`; NULL: not found. */
static const char *after(const char *text, const char *what)
{
	const char *at = strstr(text, what);

	return at ? at + strlen(what) : NULL;
}

/* Parses a number of up to nine digits at `*at` and advances it; false: no number. */
static bool take_number(const char **at, unsigned *ret)
{
	return rd_take_u32(at, RD_DECIMAL, 999999999, ret) == 0;
}

/* The host of that name, added if it is new; NULL: above the limit. */
static struct rd_run_host *find_host(struct reader *reader, const char *name, size_t size)
{
	struct rd_runlog *log = reader->log;

	for (size_t i = 0, at = reader->last; i < log->n; i++, at = at + 1 < log->n ? at + 1 : 0)
		if (strncmp(log->v[at].name, name, size) == 0 && !log->v[at].name[size]) {
			reader->last = at;
			return &log->v[at];
		}
	if (log->n >= RD_RUN_HOSTS) {
		log->cut = true;
		return NULL;
	}
	reader->last = log->n;
	*RD_ADD(log->v, log->n, log->cap) = (struct rd_run_host){ .name = rd_dup_part(name, size) };
	return &log->v[reader->last];
}

/* NCCL's lines, of 2.4 to 2.30: src/transport/net*.cc, src/graph/topo.cc and paths.cc, src/init.cc, src/plugin/net.cc. */

/* "mlx5_0:1/IB", perhaps "mlx5_0:1:RAIL:PLANE/IB", by a plugin "mlx5_0:1/IB/SHARP". Adds it at `position`; returns the text
 * after it, or NULL: interfaces of other plugins have no link layer there. */
static const char *parse_dev(struct reader *reader, struct rd_run_host *host, const char *at, unsigned position)
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
		take_number(&number, &port);
	for (size_t i = 0; i < host->devs.n; i++)
		if (strlen(host->devs.v[i].name) == name && strncmp(host->devs.v[i].name, at, name) == 0 &&
		    host->devs.v[i].port == port)
			return at + whole;
	dev = new_element(reader, &host->devs);
	if (!dev)
		return NULL;
	*dev = (struct rd_run_dev){ .name = rd_dup_part(at, name), .port = port, .position = position, .link = link };
	return at + whole;
}

static struct rd_run_net *net_of(struct reader *reader, struct rd_run_host *host, unsigned number, const char *name,
				 size_t size)
{
	struct rd_run_net *net = NULL;

	for (size_t i = 0; i < host->nets.n && !net; i++)
		if (host->nets.v[i].number == number)
			net = &host->nets.v[i];
	if (!net)
		net = new_element(reader, &host->nets);
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
static const char *parse_group(struct reader *reader, struct rd_run_host *host, const char *at, unsigned position)
{
	char name[256] = "";
	unsigned number;

	while (at && *at == '[') {
		const char *dev;
		size_t used = strlen(name);

		at++;
		if (!take_number(&at, &number) || *at++ != ']')
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
static bool parse_list(struct reader *reader, struct rd_run_host *host, const char *at)
{
	unsigned number, position = 0;
	bool any = false;

	at += strspn(at, " ");
	while (at && at[0] == '[' && isdigit((unsigned char)at[1])) {
		const char *name;

		at++;
		if (!take_number(&at, &number) || *at++ != ']')
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
	host->list_whole |= any && at && (begins(at, "[RO]") || *at == ';');
	return any;
}

/* "GPU Direct RDMA Enabled for HCA 0 'mlx5_0'", before 2.5 "for GPU 0[0] / HCA 0 'mlx5_0'". */
static bool parse_support(struct reader *reader, struct rd_run_host *host, const char *at)
{
	const char *hca = after(at, "HCA "), *quote;
	bool on = begins(at, "Enabled") != NULL;
	struct rd_run_net *net;
	unsigned number;

	if (!hca || (!on && !begins(at, "Disabled")) || !take_number(&hca, &number) || hca[0] != ' ' || hca[1] != '\'')
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
static bool parse_pair(struct reader *reader, struct rd_run_host *host, const char *at)
{
	const char *gpu = after(at, "for GPU "), *hca = after(at, "/ HCA "), *distance;
	struct rd_run_pair pair = { .gpudirect = begins(at, "Enabled") != NULL };
	struct rd_run_pair *kept = NULL;
	uint64_t number;
	unsigned value;

	if (!gpu || !hca || rd_take_uint(&hca, RD_HEX, UINT64_MAX, &number) < 0)
		return false;
	copy_word(gpu, " [", pair.gpu.text, sizeof(pair.gpu.text));
	/* The upper bits are the system ID. */
	pair.net = (unsigned)(number & 0xffffff);
	distance = after(hca, "(distance ");
	if (distance && take_number(&distance, &value)) {
		RD_SET(pair.distance, value);
		distance += strspn(distance, " <>=");
		if (take_number(&distance, &value))
			RD_SET(pair.level, value);
	}
	for (size_t i = 0; i < host->pairs.n && !kept; i++)
		if (host->pairs.v[i].net == pair.net && strcmp(host->pairs.v[i].gpu.text, pair.gpu.text) == 0)
			kept = &host->pairs.v[i];
	if (!kept)
		kept = new_element(reader, &host->pairs);
	if (kept)
		*kept = pair;
	return kept != NULL;
}

/* "Made virtual device [8] name=mlx5_0+mlx5_1 speed=800000 ndevs=2" */
static bool parse_virtual(struct reader *reader, struct rd_run_host *host, const char *at)
{
	const char *name = after(at, "name=");
	unsigned number;

	if (*at++ != '[' || !take_number(&at, &number) || !name)
		return false;
	host->tells_nets = true;
	return net_of(reader, host, number, name, strcspn(name, " ")) != NULL;
}

/* "NET/IB : …", "NET/IB: …", "NET/Socket : …", "NET/IBext_v8 : …" */
static bool parse_net(struct reader *reader, struct rd_run_host *host, const char *message)
{
	size_t name = strcspn(message, " :");
	const char *at = message + name + strspn(message + name, " :"), *rest;

	if (!strchr(" :", message[name]) || name == 0)
		return false;
	rest = begins(at, "GPU Direct RDMA ");
	if (rest)
		return parse_support(reader, host, rest) || parse_pair(reader, host, rest);
	rest = begins(at, "Made virtual device ");
	if (rest)
		return parse_virtual(reader, host, rest);
	if (strncmp(message, "Socket", name) == 0)
		return begins(at, "Using [") != NULL;
	/* Up to 2.3, one line per device instead of a list. Later lines of this kind also name the character device, and are numbered
	 * differently. */
	if (at[0] == '[' && isdigit((unsigned char)at[1]) && !strstr(at, ":uverbs"))
		return host->list_whole |= parse_list(reader, host, at);
	rest = begins(at, "Using ");
	if (rest)
		return parse_list(reader, host, rest);
	if (begins(at, "No device found"))
		return host->no_device = true;
	if (begins(at, "No IP interface found"))
		return host->no_interface = true;
	rest = begins(at, "Selected Provider is ");
	if (!rest)
		rest = begins(at, "Selected provider is ");
	if (rest && name == 3 && !host->plugin)
		set_text(&host->plugin, "aws-ofi-nccl", strlen("aws-ofi-nccl"));
	return rest != NULL;
}

/* "0[87000]", "0[0]", "0" */
static const char *parse_endpoint(const char *at, struct rd_run_gpu *gpu)
{
	unsigned rank;

	if (!take_number(&at, &rank))
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

	at = begins(at, "NET/");
	slash = at ? strchr(at, '/') : NULL;
	if (!slash || slash == at)
		return false;
	*transport = at;
	*size = (size_t)(slash - at);
	at = slash + 1;
	if (!take_number(&at, &channel->net))
		return false;
	channel->proxy = -1;
	if (*at == '(') {
		at++;
		if (take_number(&at, &proxy) && *at == ')')
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

/* "00/0 : 0[0] -> 8[0] [send] via NET/IB/3/GDRDMA"; the second number since 2.12. This host is on the left when
 * sending, on the right when receiving. */
static bool parse_channel(struct reader *reader, struct rd_run_host *host, const char *at)
{
	struct rd_run_channel channel = { .proxy = -1 };
	struct rd_run_gpu left = { 0 }, right = { 0 };
	unsigned number, connection = 0;
	const char *transport, *via = after(at, " via ");
	size_t size;
	struct rd_run_channel *kept = NULL;

	if (!via || !take_number(&at, &number))
		return false;
	if (*at == '/') {
		at++;
		if (!take_number(&at, &connection))
			return false;
	}
	at = begins(at, " : ");
	at = at ? parse_endpoint(at, &left) : NULL;
	at = at ? begins(at, " -> ") : NULL;
	at = at ? parse_endpoint(at, &right) : NULL;
	if (!at || !parse_via(via, &channel, &transport, &size))
		return false;
	channel.send = begins(at, " [send]") != NULL;
	if (!channel.send && !begins(at, " [receive]"))
		return false;
	channel.gpu = channel.send ? left : right;
	channel.peer = connection != 0;
	channel.first = number == 0;
	for (size_t i = 0; i < host->channels.n && !kept; i++)
		if (is_same(&host->channels.v[i], &channel, transport, size))
			kept = &host->channels.v[i];
	if (kept) {
		kept->first |= channel.first;
		kept->n++;
		return true;
	}
	kept = new_element(reader, &host->channels);
	if (!kept)
		return false;
	*kept = channel;
	kept->transport = rd_dup_part(transport, size);
	kept->n = 1;
	return true;
}

/* "… comm 0x… rank 0 nranks 16 cudaDev 0 nvmlDev 0 busId 1b000 …" */
static bool parse_rank(struct reader *reader, struct rd_run_host *host, const char *message)
{
	const char *comm = after(message, "comm 0x"), *at = comm ? after(comm, " rank ") : NULL;
	const char *nvml = at ? after(at, " nvmlDev ") : NULL, *bus = at ? after(at, " busId ") : NULL;
	struct rd_run_rank *rank = NULL;
	unsigned number, value;
	uint64_t address;

	if (!at || !take_number(&at, &number) || (!nvml && !bus))
		return false;
	for (size_t i = 0; i < host->ranks.n && !rank; i++)
		if (host->ranks.v[i].rank == number)
			rank = &host->ranks.v[i];
	if (!rank)
		rank = new_element(reader, &host->ranks);
	if (!rank)
		return false;
	rank->rank = number;
	if (nvml && take_number(&nvml, &value))
		RD_SET(rank->nvml, value);
	if (bus && rd_take_uint(&bus, RD_HEX, UINT64_MAX, &address) == 0)
		RD_SET(rank->bus, address);
	return true;
}

/* "NCCL_IB_HCA set to mlx5_0", "NCCL_NET_GDR_LEVEL set by environment to PIX", "NCCL_IB_TIMEOUT set by environment to 22." */
static bool parse_var(struct reader *reader, struct rd_run_host *host, const char *message)
{
	size_t name = strspn(message, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"), size;
	const char *value = begins(message + name, " set by environment to ");

	if (!value)
		value = begins(message + name, " set to ");
	if (!value || name < 6)
		return false;
	size = strlen(value);
	/* Some messages end with a full stop after a number. */
	if (size > 1 && value[size - 1] == '.' && strspn(value, "-0123456789") == size - 1)
		size--;
	set_var(reader, host, message, name, value, size);
	return true;
}

static bool parse_plugin(struct rd_run_host *host, const char *message)
{
	static const char *const starts[] = {
		"P2P plugin ",
		"NET/Plugin: Loaded net plugin ",
		"NET/Plugin: Using net plugin ",
		"Successfully loaded external network plugin ",
		"Plugin Path : ",
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(starts); i++) {
		const char *name = begins(message, starts[i]);

		if (!name)
			continue;
		if (!host->plugin)
			set_text(&host->plugin, name, strcspn(name, "("));
		return true;
	}
	return false;
}

static bool take_nccl(struct reader *reader, struct rd_run_host *host, const char *message)
{
	const char *at = begins(message, "Channel ");

	if (!at)
		at = begins(message, "Ring ");
	if (at)
		return parse_channel(reader, host, at);
	at = begins(message, "Using network ");
	if (!at) /* until 2.3 */
		at = begins(message, "Using internal Network ");
	if (at) {
		set_text(&host->network, at, strlen(at));
		host->n_networks++;
		host->n_sockets += strncmp(at, "Socket", strlen("Socket")) == 0;
		return true;
	}
	at = begins(message, "GPU Direct RDMA ");
	if (at)
		return parse_pair(reader, host, at);
	if (parse_plugin(host, message))
		return true;
	at = begins(message, "NET/");
	return at ? parse_net(reader, host, at) : parse_var(reader, host, message) || parse_rank(reader, host, message);
}

/* Lines of UCX, Mooncake and NVSHMEM. */

static struct rd_run_use *use_of(struct reader *reader, struct rd_run_host *host, enum rd_run_stack stack,
				 const char *transport, size_t transport_size, const char *device, size_t size,
				 unsigned port)
{
	struct rd_run_use *use;

	for (size_t i = 0; i < host->uses.n; i++) {
		use = &host->uses.v[i];
		if (use->stack == stack && use->port == port && strncmp(use->device, device, size) == 0 &&
		    !use->device[size] &&
		    (!transport ||
		     (strncmp(use->transport, transport, transport_size) == 0 && !use->transport[transport_size])))
			return use;
	}
	use = new_element(reader, &host->uses);
	if (!use)
		return NULL;
	*use = (struct rd_run_use){ .stack = stack, .port = port, .gid = -1, .pe = -1 };
	use->device = rd_dup_part(device, size);
	use->transport = transport ? rd_dup_part(transport, transport_size) : NULL;
	return use;
}

/* UCX's names of network transports (src/uct). */
static size_t ucx_transport(const char *at)
{
	static const char *const names[] = { "rc_mlx5",	 "rc_verbs", "rc_gda", "dc_mlx5", "ud_mlx5", "ud_verbs",
					     "gga_mlx5", "srd",	     "tcp",    "rc",	  "ud",	     "dc" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(names); i++) {
		size_t size = strlen(names[i]);

		if (strncmp(at, names[i], size) == 0 && at[size] == '/')
			return size;
	}
	return 0;
}

/* "rc_mlx5/mlx5_0:1", "tcp/eth0", anywhere in the line. */
static bool parse_ucx_words(struct reader *reader, struct rd_run_host *host, const char *line)
{
	bool any = false;

	for (const char *at = line; *at; at++) {
		size_t transport =
			at == line || !(isalnum((unsigned char)at[-1]) || at[-1] == '_') ? ucx_transport(at) : 0;
		const char *device = at + transport + 1, *number;
		unsigned port = 0;
		size_t size;

		if (!transport)
			continue;
		size = strspn(device, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
		number = device + size + 1;
		if (size == 0)
			continue;
		if (device[size] == ':')
			take_number(&number, &port);
		any |= use_of(reader, host, RD_RUN_UCX, at, transport, device, size, port) != NULL;
		at = device + size - 1;
	}
	return any;
}

/* "UCX_TLS=rc UCX_NET_DEVICES=mlx5_0:1" in the line that lists the variables that are set. */
static bool parse_ucx_vars(struct reader *reader, struct rd_run_host *host, const char *line)
{
	const char *at = after(line, "env variable");
	bool any = false;

	for (at = at ? strstr(at, "UCX_") : NULL; at; at = strstr(at + 1, " UCX_")) {
		const char *name = at + (*at == ' ');
		size_t size = strcspn(name, "= ");

		if (name[size] != '=')
			continue;
		set_var(reader, host, name, size, name + size + 1, strcspn(name + size + 1, " "));
		any = true;
	}
	return any;
}

/* "[node-1:2814548:0]" after the time: the host name. Returns its length; 0 if the line has no such mark. */
static size_t ucx_host(const char *line, const char **ret)
{
	for (const char *open = strchr(line, '['); open; open = strchr(open + 1, '[')) {
		size_t name = strcspn(open + 1, ":] "), pid = strspn(open + name + 1, ":0123456789 ");

		*ret = open + 1;
		if (open[name + 1] == ':' && open[name + 1 + pid] == ']')
			return name;
	}
	*ret = line;
	return 0;
}

/* "[1750940428.181226] [node-1:2814548:0] ucp_worker.c:1903 UCX  INFO …"; rows of UCX_PROTO_INFO have only that prefix. Lanes
 * within a host are ignored. */
static bool take_ucx(struct reader *reader, const char *line)
{
	struct rd_run_host *host;
	const char *name;
	size_t size;

	if (!strstr(line, "UCX ") && !strchr(line, '|'))
		return false;
	if (!strstr(line, "UCX ") && !strstr(line, "_mlx5/") && !strstr(line, "_verbs/") && !strstr(line, "tcp/"))
		return false;
	if (strstr(line, "intra-node") || strstr(line, "self cfg#"))
		return false;
	size = ucx_host(line, &name);
	host = find_host(reader, name, size);
	return host && (parse_ucx_vars(reader, host, line) || parse_ucx_words(reader, host, line));
}

static size_t device_size(const char *at)
{
	return strcspn(at, " ,:/'\"");
}

/* Mooncake's lines contain no host name. */
static bool take_mooncake(struct reader *reader, const char *line)
{
	const char *used = after(line, "RDMA device: "), *open = after(line, "] Device ");
	const char *state = strstr(line, " is not active (state: "), *at;
	struct rd_run_host *host;
	struct rd_run_use *use;
	unsigned number = 0;

	if (!used && !open && !(state && strstr(line, "topology.cpp")))
		return false;
	host = find_host(reader, "", 0);
	if (!host)
		return false;
	if (used) {
		use = use_of(reader, host, RD_RUN_MOONCAKE, NULL, 0, used, device_size(used), 0);
		at = after(used, "(GID_Index ");
		if (use && at && take_number(&at, &number))
			use->gid = (int)number;
		return use != NULL;
	}
	if (open) {
		at = after(open, " port ");
		return at && take_number(&at, &number) && begins(at, " is available") &&
		       use_of(reader, host, RD_RUN_MOONCAKE, NULL, 0, open, device_size(open), 0);
	}
	for (at = state; at > line && at[-1] != ' ';)
		at--;
	use = use_of(reader, host, RD_RUN_MOONCAKE, NULL, 0, at, device_size(at), 0);
	if (use)
		use->refused = true;
	return use != NULL;
}

struct cursor {
	const char *at, *end;
};

static bool skip_to(struct cursor *cursor, char c)
{
	while (cursor->at < cursor->end && strchr(" \t\r\n,", *cursor->at))
		cursor->at++;
	if (cursor->at >= cursor->end || *cursor->at != c)
		return false;
	cursor->at++;
	return true;
}

/* A quoted string whose opening quote has been consumed; without escapes, which no device name needs. */
static bool parse_quoted(struct cursor *cursor, const char **ret, size_t *size)
{
	const char *close = memchr(cursor->at, '"', (size_t)(cursor->end - cursor->at));

	if (!close || close == cursor->at || close - cursor->at > 64)
		return false;
	*ret = cursor->at;
	*size = (size_t)(close - cursor->at);
	for (size_t i = 0; i < *size; i++)
		if (!isalnum((unsigned char)(*ret)[i]) && !strchr("_-.:+", (*ret)[i]))
			return false;
	cursor->at = close + 1;
	return true;
}

/* `"cuda:0" : [ [ "mlx5_0" ], [ "mlx5_1" ] ]`: the preferred NICs, then the others. */
static bool parse_location(struct reader *reader, struct cursor *cursor)
{
	struct rd_run_prefer *prefer;
	struct rd_run_host *host;
	const char *place, *name;
	size_t place_size, size, used = 0;
	char names[1024] = "";

	if (!parse_quoted(cursor, &place, &place_size) || !skip_to(cursor, ':') || !skip_to(cursor, '[') ||
	    !skip_to(cursor, '['))
		return false;
	while (skip_to(cursor, '"')) {
		if (!parse_quoted(cursor, &name, &size) || used + size + 2 > sizeof(names))
			return false;
		if (used)
			names[used++] = ' ';
		memcpy(names + used, name, size);
		used += size;
		names[used] = '\0';
	}
	host = used && skip_to(cursor, ']') ? find_host(reader, "", 0) : NULL;
	if (!host)
		return false;
	prefer = new_element(reader, &host->prefers);
	if (!prefer)
		return false;
	prefer->place = rd_dup_part(place, place_size);
	prefer->names = rd_dup_part(names, used);
	return true;
}

/* Mooncake logs its topology as JSON, over any number of lines. Returns the number of memory locations found. */
static size_t take_topology(struct reader *reader, const char *text, size_t size)
{
	static const char *const places[] = { "cuda:", "cpu:", "gpu:", "hip:" };
	const char *end = text + size;
	size_t n = 0;

	for (const char *at = text; at < end && (at = memchr(at, '"', (size_t)(end - at))); at++) {
		struct cursor cursor = { at + 1, end };

		for (size_t i = 0; i < RD_ARRAY_SIZE(places); i++)
			if ((size_t)(end - at - 1) > strlen(places[i]) && rd_starts_with(at + 1, places[i])) {
				n += parse_location(reader, &cursor);
				break;
			}
	}
	return n;
}

/* Whether the `size` characters end in ":pid:tid"; the host name before it is from `*begin` to `*end`. */
static bool is_origin(const char *text, size_t size, size_t *begin, size_t *end)
{
	size_t at = size;

	for (int i = 0; i < 2; i++) {
		size_t digits = at;

		while (digits > 0 && isdigit((unsigned char)text[digits - 1]))
			digits--;
		if (digits == at || digits == 0 || text[digits - 1] != ':')
			return false;
		at = digits - 1;
	}
	*end = at;
	/* mpirun adds "[1,4]<stdout>:"; "<node>" is an anonymised name. */
	for (*begin = at; *begin > 0 && !isspace((unsigned char)text[*begin - 1]); --*begin)
		if (strchr(">|)]=", text[*begin - 1]) && *begin < at)
			break;
	while (*begin < at && text[*begin] == ':')
		++*begin;
	return true;
}

/* The host name in "… host:pid:tid [0] " before a message; empty if there is none. */
static void split_host(const char *prefix, size_t size, size_t *begin, size_t *end)
{
	*begin = *end = 0;
	while (size > 0) {
		size_t word = size;

		while (word > 0 && !isspace((unsigned char)prefix[word - 1]))
			word--;
		if (word < size && is_origin(prefix + word, size - word, begin, end)) {
			*begin += word;
			*end += word;
			return;
		}
		size = word > 0 ? word - 1 : 0;
	}
}

static bool parse_version(struct reader *reader, const char *line)
{
	const char *at = after(line, "NCCL version "), *r = strstr(line, "RCCL version ");
	unsigned version[3];

	if (r)
		at = r + strlen("RCCL version ");
	for (size_t i = 0; i < 3; i++)
		if (!at || !take_number(&at, &version[i]) || (i < 2 && *at++ != '.'))
			return false;
	memcpy(reader->log->version, version, sizeof(version));
	reader->log->rccl = r != NULL;
	return true;
}

/* "libibverbs: Warning: Driver ionic does not support the kernel ABI of 4 (supports 1 to 1) for device /sys/class/…" */
static bool parse_abi(struct reader *reader, const char *line)
{
	const char *at = after(line, "libibverbs: Warning: Driver ");
	const char *end = at ? strstr(at, " for device ") : NULL;

	if (!end || !strstr(at, " does not support the kernel ABI"))
		return false;
	snprintf(reader->log->abi, sizeof(reader->log->abi), "%.*s", (int)(end - at < 90 ? end - at : 90), at);
	return true;
}

/* Parses the message after `mark`; the host name is before it. */
static bool parse_marked(struct reader *reader, const char *line, const char *mark,
			 bool (*parse)(struct reader *, struct rd_run_host *, const char *))
{
	const char *at = strstr(line, mark);
	struct rd_run_host *host;
	size_t begin, end;

	if (!at)
		return false;
	split_host(line, (size_t)(at - line), &begin, &end);
	host = find_host(reader, line + begin, end - begin);
	return host && parse(reader, host, at + strlen(mark));
}

static bool parse_line(struct reader *reader, const char *line)
{
	bool version = parse_version(reader, line);

	if (strstr(line, ": device used ")) {
		/* "…/ibgda.cpp 748 [0] IBGDA: device used mlx5_0, data_direct support: 0": PE and device. Lines of NVSHMEM's
		 * transports contain no host name. */
		const char *at = after(line, ": device used "), *number = at - strlen(": device used ");
		struct rd_run_host *host;
		struct rd_run_use *use;
		unsigned pe;

		while (number > line && *number != '[')
			number--;
		if (*number++ != '[' || !take_number(&number, &pe) || *number != ']' || device_size(at) == 0)
			return false;
		host = find_host(reader, "", 0);
		if (!host)
			return false;
		for (size_t i = 0; i < host->uses.n; i++)
			if (host->uses.v[i].stack == RD_RUN_NVSHMEM && host->uses.v[i].pe == (int)pe &&
			    strncmp(host->uses.v[i].device, at, device_size(at)) == 0)
				return true;
		/* A device is added once for each PE that uses it. */
		use = new_element(reader, &host->uses);
		if (!use)
			return false;
		*use = (struct rd_run_use){ .stack = RD_RUN_NVSHMEM, .gid = -1, .pe = (int)pe };
		use->device = rd_dup_part(at, device_size(at));
		return true;
	}
	if (parse_abi(reader, line))
		return true;
	if (strstr(line, "NCCL "))
		return parse_marked(reader, line, " NCCL INFO ", take_nccl) ||
		       parse_marked(reader, line, " NCCL WARN ", take_nccl) || version;
	return take_ucx(reader, line) || take_mooncake(reader, line);
}

/* Copies at most 8 KB of the line, with control characters as blanks, and without trailing blanks. */
static void copy_line(const char *text, size_t size, char line[LINE_MAX_SIZE])
{
	size = size < LINE_MAX_SIZE - 1 ? size : LINE_MAX_SIZE - 1;
	for (size_t i = 0; i < size; i++)
		line[i] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
	while (size > 0 && line[size - 1] == ' ')
		size--;
	line[size] = '\0';
}

int rd_runlog_parse(const char *name, const char *text, size_t size, struct rd_runlog *ret, struct rd_err *err)
{
	struct reader reader = { .log = ret };
	char line[LINE_MAX_SIZE];
	size_t kept = 0;

	*ret = (struct rd_runlog){ 0 };
	for (size_t at = 0; at < size; ret->lines++) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t length = end ? (size_t)(end - text) - at : size - at;

		copy_line(text + at, length, line);
		ret->known += parse_line(&reader, line);
		at += length + 1;
	}
	ret->known += take_topology(&reader, text, size);
	/* Removes hosts without facts: they only appeared in lines that were not recognised. */
	for (size_t i = 0; i < ret->n; i++) {
		struct rd_run_host *host = &ret->v[i];
		bool empty = !host->devs.n && !host->nets.n && !host->channels.n && !host->pairs.n && !host->uses.n &&
			     !host->prefers.n && !host->network && !host->no_device && !host->no_interface;

		if (empty && !host->ranks.n && !host->vars.n && !host->plugin)
			free(host->name);
		else
			ret->v[kept++] = *host;
	}
	ret->n = kept;
	if (ret->n > 0)
		return 0;
	rd_err_set(err, EBADMSG, name, "no line reports which NIC a run used");
	return rd_err_hint(
		err,
		"run the job with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,NET, or with NCCL_TOPO_DUMP_FILE=FILE");
}
