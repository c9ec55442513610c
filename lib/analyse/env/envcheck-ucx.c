/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UCX's variables: src/ucp/core/ucp_context.c, src/uct/ib/base/ib_iface.c, src/uct/ib/rc/base/rc_iface.c. */
#include <strings.h>

#include "analyse/env/envcheck-priv.h"

/* The words of UCX_TLS. */
static const char rdma_words[] =
	" ib rc rc_v rc_x rc_verbs rc_mlx5 rc_gda dc dc_x dc_mlx5 ud ud_v ud_x ud_verbs ud_mlx5 gga gga_mlx5 "
	"srd ugni ugni_smsg ugni_rdma ugni_udt ";
static const char gpu_words[] =
	" cuda cuda_copy cuda_ipc gdr_copy rocm rocm_copy rocm_ipc rocm_gdr ze ze_copy ze_ipc ze_gdr gaudi "
	"gaudi_gdr ";
static const char other_words[] = " tcp sm shm mm posix sysv xpmem knem cma self rdmacm sockcm ";

static bool is_one(const char *words, const char *word, size_t size)
{
	/* A backslash prevents alias expansion; :aux is for connection setup only. */
	if (size > 0 && *word == '\\') {
		word++;
		size--;
	}
	if (size > 4 && memcmp(word + size - 4, ":aux", 4) == 0)
		size -= 4;
	return rd_envcheck_listed(words, word, size, true);
}

static bool is_word(const char *entry, size_t size, const char *word)
{
	return strlen(word) == size && memcmp(entry, word, size) == 0;
}

/* EFA has no RC transport: srd and ud only. */
static bool is_rdma(const char *entry, size_t size, bool only_efa)
{
	return only_efa ? rd_envcheck_listed(" ib srd ud ud_v ud_verbs ", entry, size, true) :
			  is_one(rdma_words, entry, size);
}

/* What excludes each RDMA transport: its name, or an alias of which it is more than the auxiliary transport. Of the last two, EFA has both, other
 * devices the first. */
static const char *const transports[] = {
	" ib rc rc_v rc_verbs all ", " ib rc rc_x rc_mlx5 all ",  " ib dc dc_x dc_mlx5 all ",
	" ib ud ud_x ud_mlx5 all ",  " ib ud ud_v ud_verbs all ", " ib srd all ",
};

/* "^rc,dc" leaves ud; "^rc,dc,ud" leaves nothing. */
static bool leaves_rdma(const char *value, bool only_efa)
{
	bool left = false;

	for (size_t i = only_efa ? 4 : 0; i < (only_efa ? 6 : 5); i++) {
		const char *at = value, *entry;
		bool excluded = false;
		size_t size;

		while (rd_env_entry(&at, &entry, &size))
			excluded |= is_one(transports[i], entry, size);
		left |= !excluded;
	}
	return left;
}

bool rd_env_ucx_allows_rdma(const char *value, bool only_efa)
{
	const char *entry;
	size_t size;
	bool any = false;

	if (*value == '^')
		return leaves_rdma(value + 1, only_efa);
	while (rd_env_entry(&value, &entry, &size))
		any |= is_word(entry, size, "all") || is_rdma(entry, size, only_efa);
	return any;
}

/* Providers start jobs whose data NCCL moves with an MPI whose UCX uses TCP, or one device: only start-up passes through it. A list
 * of transports with GPU memory is for a program that moves data with UCX. */
static bool only_starts_job(const struct rd_effects *all)
{
	const char *tls = rd_effects_get(all, "UCX_TLS"), *plugin = rd_effects_get(all, "NCCL_PLUGIN_P2P"),
		   *net = rd_effects_get(all, "NCCL_NET"), *remote = rd_effects_get(all, "NVSHMEM_REMOTE_TRANSPORT"),
		   *entry;
	size_t size;
	bool nccl = false;

	for (size_t i = 0; i < all->n; i++)
		nccl |= strncmp(all->v[i].name, "NCCL_", 5) == 0 || strncmp(all->v[i].name, "GLOO_", 5) == 0;
	while (tls && rd_env_entry(&tls, &entry, &size))
		nccl &= is_one(rdma_words, entry, size) || is_one(other_words, entry, size);
	return nccl && !(plugin && strncmp(plugin, "ucx", 3) == 0) && !(net && strncasecmp(net, "ucx", 3) == 0) &&
	       !(remote && strncasecmp(remote, "ucx", 3) == 0);
}

/* Ports by "device:port", sorted for lookup. */
struct label {
	struct rd_port_name name; /* first: compared with texts */
	size_t port;
};

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The first label that is not below the key. */
static size_t lower_bound(const struct label *labels, size_t n, const char *key)
{
	return rd_lower_bound(key, labels, n, sizeof(*labels), compare_texts);
}

#define DEVICES_MAX 64 /* bits of a mask: ucp_is_resource_in_device_list */
/* Entries that are looked up; UCX rejects longer lists anyway, so the rest is only counted. */
#define LOOKUPS_MAX 4096

struct devices {
	const struct label *labels;
	struct rd_env_list no_port, bare, none;
	size_t entries;
	bool *named; /* one per port */
	bool any_rdma, any_netdev;
};

static void look_up_entry(struct rd_check_env *check, struct devices *devices, const char *entry)
{
	const struct rd_host *host = check->host;
	size_t at = lower_bound(devices->labels, host->n_ports, entry), n = strlen(entry);
	size_t name = strcspn(entry, ":");
	char key[130];
	bool found = false;

	if (at < host->n_ports && strcmp(devices->labels[at].name.text, entry) == 0) {
		devices->named[devices->labels[at].port] = true;
		devices->any_rdma = true;
		return;
	}
	if (rd_host_find_netdev(host, entry) >= 0) {
		devices->any_netdev = true; /* for its TCP transport */
		return;
	}
	snprintf(key, sizeof(key), "%.*s:", (int)(name < 120 ? name : 120), entry);
	at = lower_bound(devices->labels, host->n_ports, key);
	for (; at < host->n_ports && rd_starts_with(devices->labels[at].name.text, key); at++) {
		found = true;
		/* Without a port, all ports match. */
		if (name == n)
			devices->named[devices->labels[at].port] = devices->any_rdma = true;
	}
	rd_env_list_add(!found ? &devices->none : name == n ? &devices->bare : &devices->no_port, entry, n);
}

/* prefix[first-last]suffix expands to several names; any other entry is one name. */
static void look_up_range(struct rd_check_env *check, struct devices *devices, const char *entry, size_t size)
{
	char text[128];
	unsigned first, last;
	int from = 0, to = 0;

	if (size >= sizeof(text))
		return rd_env_list_add(&devices->none, entry, size);
	snprintf(text, sizeof(text), "%.*s", (int)size, entry);
	if (sscanf(text, "%*[^[][%n%u-%u]%n", &from, &first, &last, &to) != 2 || to == 0 || first > last ||
	    last - first >= 1024) {
		if (devices->entries++ < LOOKUPS_MAX)
			look_up_entry(check, devices, text);
		return;
	}
	for (unsigned i = first; i <= last && devices->entries + (i - first) < LOOKUPS_MAX; i++) {
		char one[160];

		snprintf(one, sizeof(one), "%.*s%u%s", from - 1, text, i, text + to);
		look_up_entry(check, devices, one);
	}
	devices->entries += last - first + 1;
}

static void report_too_long(struct rd_check_env *check, size_t entries)
{
	rd_envcheck_effect(check, "UCX fails: at most %d devices", DEVICES_MAX);
	rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-refused", "List has more devices than UCX supports",
			    "an assertion aborts the process", rd_text("%zu devices", entries),
			    rd_text("at most %d", DEVICES_MAX));
}

static void judge_devices(struct rd_check_env *check, struct devices *devices, bool negate)
{
	const char *tls = rd_effects_get(check->all, "UCX_TLS");
	const struct rd_host *host = check->host;

	if (devices->entries > LOOKUPS_MAX)
		return report_too_long(check, devices->entries);
	if (devices->entries > DEVICES_MAX)
		report_too_long(check, devices->entries);
	if (devices->bare.n)
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-no-port", "Device without a port needs a newer UCX",
				    "releases without openucx/ucx#11142 (January 2026) ignore the entry",
				    rd_env_list_take(&devices->bare), rd_text("NAME:1"));
	if (devices->no_port.n)
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-no-port", "Device has no such port",
				    "the entry has no effect", rd_env_list_take(&devices->no_port), NULL);
	if (devices->none.n)
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-no-device", "No such device", "the entry has no effect",
				    rd_env_list_take(&devices->none), NULL);
	for (size_t p = 0; p < host->n_ports; p++)
		if (devices->named[p] != negate && (!negate || rd_port_active(&host->ports[p])))
			rd_envcheck_selects(check, p);
	check->minor = (devices->any_rdma || devices->any_netdev) && only_starts_job(check->all);
	if (negate || devices->any_rdma || !devices->any_netdev) {
		rd_envcheck_effect_count(check);
		return rd_envcheck_selection(check);
	}
	rd_envcheck_effect(check, "network interfaces only: UCX uses TCP between hosts");
	if (!rd_envcheck_has_rdma(check, true))
		return;
	check->minor &= !tls || !rd_env_ucx_allows_rdma(tls, false); /* else the two contradict each other */
	rd_envcheck_finding_fix(check, RD_SEV_CRITICAL, "env-rdma-off", "List contains no RDMA device",
				"UCX uses TCP, at a fraction of the rate", NULL, rd_text("NAME:PORT of RDMA devices"),
				rd_text("rdmadiag nic-map --env ucx\n# set for the job what it prints"));
}

static void check_devices(struct rd_check_env *check)
{
	const char *at = check->effect->value, *entry;
	bool negate = *at == '^';
	_cleanup_free_ struct label *labels = NULL;
	size_t size, n = check->host->n_ports;
	_cleanup_free_ bool *named = rd_alloc(n + 1, 1);
	struct devices devices = { .named = named };

	if (strcmp(at, "all") == 0)
		return rd_envcheck_effect(check, "all devices (the default)");
	devices.labels = labels = rd_alloc(n + 1, sizeof(*labels));
	for (size_t p = 0; p < n; p++)
		labels[p] = (struct label){ rd_port_library_name(check->host, &check->host->ports[p]), p };
	rd_sort(labels, n, sizeof(*labels), compare_texts);
	at += negate;
	while (rd_env_entry(&at, &entry, &size))
		look_up_range(check, &devices, entry, size);
	judge_devices(check, &devices, negate);
	rd_env_list_deinit(&devices.no_port);
	rd_env_list_deinit(&devices.bare);
	rd_env_list_deinit(&devices.none);
}

static void check_tls(struct rd_check_env *check)
{
	_cleanup_env_list_ struct rd_env_list unknown = { 0 };
	bool only_efa = rd_host_has_efa(check->host) && !rd_envcheck_has_rdma(check, false);
	bool allowed = rd_env_ucx_allows_rdma(check->effect->value, only_efa);
	const char *at = check->effect->value, *entry;
	size_t size;

	at += *at == '^';
	while (rd_env_entry(&at, &entry, &size))
		if (!is_rdma(entry, size, false) && !is_one(gpu_words, entry, size) &&
		    !is_one(other_words, entry, size) && !is_word(entry, size, "all"))
			rd_env_list_add(&unknown, entry, size);
	rd_envcheck_effect(check, allowed ? "allows RDMA transports" : "allows no RDMA transport that is known");
	if (unknown.n)
		return rd_envcheck_unknown_value(check, rd_env_list_take(&unknown), NULL);
	if (allowed || !rd_envcheck_has_rdma(check, true))
		return;
	check->minor = only_starts_job(check->all);
	if (check->minor)
		rd_envcheck_effect(check, "enough to start a job whose data NCCL moves");
	rd_envcheck_finding_fix(check, RD_SEV_CRITICAL, "env-rdma-off", "UCX_TLS excludes RDMA",
				"between hosts UCX uses TCP, or does not connect", NULL,
				rd_text(only_efa ? "srd, ib or all" : "rc, dc, ud, ib or all"),
				rd_text("# unset UCX_TLS in the job's environment, or let it allow %s",
					only_efa ? "srd" : "rc"));
}

/* "1.5s", "500ms", "2m" in seconds; -1: invalid. */
static double parse_seconds(const char *text)
{
	double value;
	char unit[3] = "";
	int n = sscanf(text, "%lf%c%c", &value, &unit[0], &unit[1]);

	if (n < 1 || value < 0)
		return -1;
	if (n == 1 || strcmp(unit, "s") == 0)
		return value;
	if (strcmp(unit, "m") == 0)
		return value * 60;
	return strcmp(unit, "ms") == 0 ? value / 1e3 :
	       strcmp(unit, "us") == 0 ? value / 1e6 :
	       strcmp(unit, "ns") == 0 ? value / 1e9 :
					 -1;
}

/* The timeout exponent that UCX derives from a time in seconds: the nearest power of two; 0: no timeout. */
static int timeout_exponent(double time)
{
	double units = time / 4.096e-6;
	int ret = 0;

	if (units < 2)
		return 1;
	for (units *= 1.41421356237; units >= 2 && ret < 32; units /= 2)
		ret++;
	return ret < 32 ? ret : 0;
}

static void check_rc_timeout(struct rd_check_env *check)
{
	const char *tries = rd_effects_get(check->all, "UCX_RC_RETRY_COUNT");
	double time = parse_seconds(check->effect->value), each;
	long retries = 7;

	if (time < 0) {
		rd_envcheck_effect(check, "UCX rejects it and fails to start");
		return rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-refused", "Library rejects the value",
					   "parsing its configuration fails", NULL, rd_text("a time: 1.0s, 500ms"));
	}
	if (tries && rd_envcheck_read(RD_ENV_UCX_UINT, tries, 7, &retries) != RD_ENV_OK)
		retries = 7;
	retries = retries > 7 ? 7 : retries;
	each = timeout_exponent(time) ? 4.096e-6 * (double)(UINT64_C(1) << timeout_exponent(time)) : 0;
	if (each == 0)
		rd_envcheck_effect(check, "no timeout: an unreachable peer is never reported");
	else
		rd_envcheck_effect(check,
				   "local ACK timeout 4.096 us x 2^%d = %.3g s; with %ld retries an unreachable peer is "
				   "reported after %.3g s at the earliest, 4 times that at the latest",
				   timeout_exponent(time), each, retries, each * (double)(retries + 1));
}

static const char *unused_by(const struct rd_effects *all, const char *name)
{
	const char *tls = rd_effects_get(all, "UCX_TLS");
	bool about_rdma = strncmp(name, "UCX_IB_", 7) == 0 || strncmp(name, "UCX_RC_", 7) == 0;

	return about_rdma && tls && !rd_env_ucx_allows_rdma(tls, false) ? "UCX_TLS excludes RDMA" : NULL;
}

static const struct rd_env_rule rules[] = {
	{ "UCX_NET_DEVICES", check_devices, .hca = true },
	{ "UCX_TLS", check_tls },
	{ "UCX_IB_GID_INDEX", rd_envcheck_gid_index },
	{ "UCX_IB_SL", rd_envcheck_service_level },
	{ "UCX_IB_TRAFFIC_CLASS", rd_envcheck_traffic_class },
	{ "UCX_RC_TIMEOUT", check_rc_timeout },
	{ "UCX_RC_RETRY_COUNT",
	  NULL,
	  { RD_ENV_UCX_UINT, 7, 0, 7,
	    RD_ENV_MEANINGS({ 0, "packets are not retransmitted", RD_SEV_WARNING, "env-no-retry",
			      "Retransmission is disabled", "one lost packet breaks the connection",
			      "# set UCX_RC_RETRY_COUNT=7 in the job's environment" }),
	    "a packet is retransmitted up to %ld times", "UCX uses 7" } },
	{ "UCX_MAX_RNDV_RAILS",
	  NULL,
	  { RD_ENV_UCX_UINT, 2, 1, 64, NULL, "large messages are spread over up to %ld devices",
	    "UCX uses as many as it can" } },
	{ "UCX_MAX_EAGER_RAILS",
	  NULL,
	  { RD_ENV_UCX_UINT, 1, 1, 64, NULL, "small messages are spread over up to %ld devices",
	    "UCX uses as many as it can" } },
	{ "UCX_MAX_RMA_RAILS",
	  NULL,
	  { RD_ENV_UCX_UINT, 1, 1, 64, NULL, "put and get operations are spread over up to %ld devices",
	    "UCX uses as many as it can" } },
	{ "UCX_IB_NUM_PATHS",
	  NULL,
	  { RD_ENV_UCX_AUTO, 1, 1, 128, NULL, "%ld queue pairs to each peer", "UCX rejects it", true } },
	{ "UCX_IB_ROCE_LOCAL_SUBNET",
	  NULL,
	  { RD_ENV_UCX_BOOL, 0, 0, 1,
	    RD_ENV_MEANINGS({ 0, "all RoCE peers count as reachable" },
			    { 1, "only peers in the subnet of the interface count as reachable over RoCE" }) } },
};
const struct rd_env_rules rd_env_ucx = { rules, RD_ARRAY_SIZE(rules), unused_by };
