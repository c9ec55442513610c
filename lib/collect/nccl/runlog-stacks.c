/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of UCX, Mooncake and NVSHMEM. */
#include <ctype.h>
#include <string.h>

#include "base/memory.h"
#include "collect/nccl/runlog-priv.h"

static struct rd_run_use *use_of(struct rd_run_reader *reader, struct rd_run_host *host, enum rd_run_stack stack,
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
	use = rd_run_new(reader, &host->uses);
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
static bool parse_ucx_words(struct rd_run_reader *reader, struct rd_run_host *host, const char *line)
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
			rd_run_number(&number, &port);
		any |= use_of(reader, host, RD_RUN_UCX, at, transport, device, size, port) != NULL;
		at = device + size - 1;
	}
	return any;
}

/* "UCX_TLS=rc UCX_NET_DEVICES=mlx5_0:1" in the line that lists the variables that are set. */
static bool parse_ucx_vars(struct rd_run_reader *reader, struct rd_run_host *host, const char *line)
{
	const char *at = rd_run_after(line, "env variable");
	bool any = false;

	for (at = at ? strstr(at, "UCX_") : NULL; at; at = strstr(at + 1, " UCX_")) {
		const char *name = at + (*at == ' ');
		size_t size = strcspn(name, "= ");

		if (name[size] != '=')
			continue;
		rd_run_set_var(reader, host, name, size, name + size + 1, strcspn(name + size + 1, " "));
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
bool rd_run_take_ucx(struct rd_run_reader *reader, const char *line)
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
	host = rd_run_reader_host(reader, name, size);
	if (!host)
		return false;
	return parse_ucx_vars(reader, host, line) || parse_ucx_words(reader, host, line);
}

static size_t device_size(const char *at)
{
	return strcspn(at, " ,:/'\"");
}

/* Mooncake's lines contain no host name. */
bool rd_run_take_mooncake(struct rd_run_reader *reader, const char *line)
{
	const char *used = rd_run_after(line, "RDMA device: "), *open = rd_run_after(line, "] Device ");
	const char *state = strstr(line, " is not active (state: "), *at;
	struct rd_run_host *host;
	struct rd_run_use *use;
	unsigned number = 0;

	if (!used && !open && !(state && strstr(line, "topology.cpp")))
		return false;
	host = rd_run_reader_host(reader, "", 0);
	if (!host)
		return false;
	if (used) {
		use = use_of(reader, host, RD_RUN_MOONCAKE, NULL, 0, used, device_size(used), 0);
		at = rd_run_after(used, "(GID_Index ");
		if (use && at && rd_run_number(&at, &number))
			use->gid = (int)number;
		return use != NULL;
	}
	if (open) {
		at = rd_run_after(open, " port ");
		return at && rd_run_number(&at, &number) && rd_run_begins(at, " is available") &&
		       use_of(reader, host, RD_RUN_MOONCAKE, NULL, 0, open, device_size(open), 0);
	}
	for (at = state; at > line && at[-1] != ' ';)
		at--;
	use = use_of(reader, host, RD_RUN_MOONCAKE, NULL, 0, at, device_size(at), 0);
	if (use)
		use->refused = true;
	return use != NULL;
}

/* "…/ibgda.cpp 748 [0] IBGDA: device used mlx5_0, data_direct support: 0": PE and device. Lines of NVSHMEM's transports
 * contain no host name. */
bool rd_run_take_nvshmem(struct rd_run_reader *reader, const char *line)
{
	const char *at = rd_run_after(line, ": device used "), *number = at - strlen(": device used ");
	struct rd_run_host *host;
	struct rd_run_use *use;
	unsigned pe;

	while (number > line && *number != '[')
		number--;
	if (*number++ != '[' || !rd_run_number(&number, &pe) || *number != ']' || device_size(at) == 0)
		return false;
	host = rd_run_reader_host(reader, "", 0);
	if (!host)
		return false;
	for (size_t i = 0; i < host->uses.n; i++)
		if (host->uses.v[i].stack == RD_RUN_NVSHMEM && host->uses.v[i].pe == (int)pe &&
		    strncmp(host->uses.v[i].device, at, device_size(at)) == 0)
			return true;
	/* A device is added once for each PE that uses it. */
	use = rd_run_new(reader, &host->uses);
	if (!use)
		return false;
	*use = (struct rd_run_use){ .stack = RD_RUN_NVSHMEM, .gid = -1, .pe = (int)pe };
	use->device = rd_dup_part(at, device_size(at));
	return true;
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
static bool parse_location(struct rd_run_reader *reader, struct cursor *cursor)
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
	host = used && skip_to(cursor, ']') ? rd_run_reader_host(reader, "", 0) : NULL;
	if (!host)
		return false;
	prefer = rd_run_new(reader, &host->prefers);
	if (!prefer)
		return false;
	prefer->place = rd_dup_part(place, place_size);
	prefer->names = rd_dup_part(names, used);
	return true;
}

size_t rd_run_take_topology(struct rd_run_reader *reader, const char *text, size_t size)
{
	static const char *const places[] = { "cuda:", "cpu:", "gpu:", "hip:" };
	const char *end = text + size;
	size_t n = 0;

	for (const char *at = text; at < end && (at = memchr(at, '"', (size_t)(end - at))); at++) {
		struct cursor cursor = { at + 1, end };

		for (size_t i = 0; i < RD_ARRAY_SIZE(places); i++)
			if ((size_t)(end - at - 1) > strlen(places[i]) &&
			    strncmp(at + 1, places[i], strlen(places[i])) == 0) {
				n += parse_location(reader, &cursor);
				break;
			}
	}
	return n;
}
