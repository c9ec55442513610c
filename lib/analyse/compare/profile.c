/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profile of a host, and differences from a profile. */
#include "analyse/compare/compare.h"

#include "model/host/attributes.h"

/* Builds the profile of a host. */

#define NAME_MAX_ 160

struct maker {
	const struct rd_host *host;
	const struct rd_port_view *views; /* of each port */
	const struct rd_netstate *net;	  /* NULL: not read */
	struct rd_profile *ret;
	bool learn; /* omits values that change by themselves, and absent ones */
};

static void add_value(const struct maker *maker, const char *kind, const char *name, const char *field,
		      const char *value)
{
	char key[NAME_MAX_ + 64];

	snprintf(key, sizeof(key), "%s.%.*s.%s", kind, NAME_MAX_, name, field);
	if (value)
		rd_profile_add(maker->ret, key, value);
	else if (!maker->learn)
		rd_profile_add_unknown(maker->ret, key);
}

static void add_number(const struct maker *maker, const char *kind, const char *name, const char *field,
		       enum rd_known known, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	add_value(maker, kind, name, field, known == RD_OK ? text : NULL);
}

/* `own_pace`: the link speed may change: a GPU lowers it when idle, for itself and the port above. */
static void add_link(const struct maker *maker, const char *kind, const char *name, const struct rd_pci *pci,
		     bool own_pace)
{
	add_number(maker, kind, name, "max_link_width", pci->max.width.known, pci->max.width.v);
	add_number(maker, kind, name, "max_link_mtps", pci->max.mtps.known, pci->max.mtps.v);
	add_number(maker, kind, name, "link_width", pci->now.width.known, pci->now.width.v);
	if (!own_pace || !maker->learn)
		add_number(maker, kind, name, "link_mtps", pci->now.mtps.known, pci->now.mtps.v);
}

static void add_attributes(const struct maker *maker, const char *kind, const char *name, enum rd_object of,
			   const void *object)
{
	for (const struct rd_attribute *row = NULL; (row = rd_attribute_next(of, row));) {
		_cleanup_free_ char *text = row->use == RD_WITH_PROFILE ? rd_attribute_text(row, object) : rd_dup("");

		if (!text || *text)
			add_value(maker, kind, name, row->field, text);
	}
}

/* Adds all bridges above accelerators and NICs. */
static void add_bridges(const struct maker *maker)
{
	const struct rd_host *host = maker->host;
	_cleanup_free_ bool *above = rd_alloc(host->n_pcis + 1, sizeof(*above));
	_cleanup_free_ bool *above_gpu = rd_alloc(host->n_pcis + 1, sizeof(*above_gpu));

	for (size_t g = 0; g < host->n_gpus; g++) {
		int up = host->pcis[host->gpus[g].pci].parent;

		if (up >= 0)
			above_gpu[up] = true;
		for (; up >= 0; up = host->pcis[up].parent)
			above[up] = true;
	}
	for (size_t i = 0; i < host->n_ibdevs; i++)
		if (host->ibdevs[i].pci >= 0 && !host->ibdevs[i].parent_netdev)
			for (int up = host->pcis[host->ibdevs[i].pci].parent; up >= 0; up = host->pcis[up].parent)
				above[up] = true;
	for (size_t i = 0; i < host->n_pcis; i++)
		if (above[i]) {
			add_link(maker, "bridge", host->pcis[i].addr, &host->pcis[i], above_gpu[i]);
			add_attributes(maker, "bridge", host->pcis[i].addr, RD_OBJECT_PCI, &host->pcis[i]);
		}
}

/* The interface of an InfiniBand port may be down or absent: few clusters need IPoIB on each port. */
static void add_netdev(const struct maker *maker, const char *name, const struct rd_port *port)
{
	const struct rd_netdev *netdev = port->n_netdevs > 0 ? &maker->host->netdevs[port->netdevs[0]] : NULL;
	const struct rd_netif *netif;
	bool none = !netdev && !port->netdev_name && !maker->host->from_topology_file;
	bool up = netdev && netdev->operstate && strcmp(netdev->operstate, "up") == 0;

	if (none && maker->learn)
		return;
	add_value(maker, "port", name, "netdev", none ? "none" : port->netdev_name);
	if (up || !maker->learn)
		add_value(maker, "port", name, "netdev_state", none ? "none" : netdev ? netdev->operstate : NULL);
	if (none)
		add_value(maker, "port", name, "netdev_mtu_bytes", "none");
	else if (up || !maker->learn || rd_port_is_ethernet(port))
		add_number(maker, "port", name, "netdev_mtu_bytes", netdev ? netdev->mtu.known : RD_ABSENT,
			   netdev ? netdev->mtu.v : 0);
	if (netdev && netdev->ipoib_mode)
		add_value(maker, "port", name, "ipoib_mode", netdev->ipoib_mode);
	netif = netdev && maker->net ? rd_netstate_find_name(maker->net, netdev->name) : NULL;
	if (netif)
		add_attributes(maker, "port", name, RD_OBJECT_NETIF, netif);
}

static void add_port(const struct maker *maker, size_t p)
{
	const struct rd_port *port = &maker->host->ports[p];
	/* The rate of a port that is down is meaningless; a spare port may be cabled later. */
	bool stable = rd_port_active(port) || !maker->learn;
	char name[NAME_MAX_];

	snprintf(name, sizeof(name), "%.100s/%u", rd_ibdev_label(maker->host, port->ibdev), port->num);
	if (stable)
		add_value(maker, "port", name, "state", port->state);
	add_value(maker, "port", name, "link_layer", port->link_layer);
	add_value(maker, "port", name, "role", rd_role_name(maker->views[p].role));
	add_netdev(maker, name, port);
	add_attributes(maker, "port", name, RD_OBJECT_PORT, port);
	if (stable) {
		add_number(maker, "port", name, "rate_gbps", port->rate_gbps.known, port->rate_gbps.v);
		add_number(maker, "port", name, "mtu_bytes", port->mtu.known, port->mtu.v);
	}
}

static void add_nics(const struct maker *maker)
{
	const struct rd_host *host = maker->host;

	for (size_t i = 0; i < host->n_ibdevs; i++) {
		const struct rd_ibdev *dev = &host->ibdevs[i];
		const struct rd_pci *pci = dev->pci >= 0 ? &host->pcis[dev->pci] : NULL;
		const char *name = rd_ibdev_label(host, (int)i);

		add_number(maker, "nic", name, "ports", RD_OK, dev->n_ports);
		add_value(maker, "nic", name, "pci", pci ? pci->addr : NULL);
		if (dev->driver || (pci && !dev->parent_netdev))
			add_value(maker, "nic", name, "driver", dev->driver);
		add_value(maker, "nic", name, "board", dev->board);
		add_value(maker, "nic", name, "firmware", dev->firmware);
		if (pci && !dev->parent_netdev) {
			add_link(maker, "nic", name, pci, false);
			add_number(maker, "nic", name, "numa_node", pci->numa.known, pci->numa.v);
			add_attributes(maker, "nic", name, RD_OBJECT_PCI, pci);
		}
		for (unsigned p = 0; p < dev->n_ports; p++)
			add_port(maker, (size_t)dev->first_port + p);
	}
}

static void add_gpus(const struct maker *maker)
{
	const struct rd_host *host = maker->host;

	for (size_t g = 0; g < host->n_gpus; g++) {
		const struct rd_pci *pci = &host->pcis[host->gpus[g].pci];

		add_value(maker, "gpu", pci->addr, "name", host->gpus[g].name ?: "unnamed");
		add_value(maker, "gpu", pci->addr, "driver",
			  pci->driver || !pci->detailed || maker->learn ? pci->driver : "none");
		add_link(maker, "gpu", pci->addr, pci, true);
		add_number(maker, "gpu", pci->addr, "numa_node", pci->numa.known, pci->numa.v);
		add_attributes(maker, "gpu", pci->addr, RD_OBJECT_PCI, pci);
	}
}

static RD_PRINTF(3, 4) void add_formatted(struct rd_profile *profile, const char *key, const char *fmt, ...)
{
	_cleanup_free_ char *value = NULL;
	va_list ap;

	va_start(ap, fmt);
	value = rd_vtext(fmt, ap);
	va_end(ap);
	rd_profile_add(profile, key, value);
}

void rd_profile_of(const struct rd_port_views *views, const struct rd_system *system, bool learn, struct rd_profile *ret)
{
	const struct rd_host *host = views->host;
	const struct maker maker = { host, views->v, views->net, ret, learn };

	add_formatted(ret, "count.gpus", "%zu", host->n_gpus);
	add_formatted(ret, "count.nics", "%zu", host->n_ibdevs);
	add_formatted(ret, "count.numa_nodes", "%zu", host->n_numas);
	add_gpus(&maker);
	add_nics(&maker);
	add_bridges(&maker);
	if (system) {
		rd_profile_add(maker.ret, "software.kernel", system->release);
		rd_profile_add(maker.ret, "software.libibverbs", system->libibverbs);
		rd_profile_add(maker.ret, "software.nvidia", system->nvidia_version);
		for (size_t i = 0; i < system->n_modules; i++) {
			const struct rd_loaded_module *module = &system->modules[i];

			if (!module->rdma && strcmp(module->name, "ib_core") != 0 && !module->version)
				continue;
			add_value(&maker, "module", module->name, "loaded", "yes");
			if (module->version)
				add_value(&maker, "module", module->name, "version", module->version);
		}
	}
}

/* Lines sorted by object, then by the rest of the key: profiles can have tens of thousands of lines. */
struct index {
	const struct rd_profile_line **v; /* owned */
	size_t n;
};

struct compare {
	const struct rd_profile *profile, *self;
	struct index wanted, own; /* of profile and self */
	bool with_software;	  /* modules and versions were read */
	struct rd_findings *findings;
	const char *unread; /* the first key that could not be read */
	size_t n_unread;
};

/* Length of "nic.mlx5_0.", the key up to its last dot. PCI addresses contain dots, too. */
static size_t object_length(const char *key)
{
	const char *dot = strrchr(key, '.');

	return dot ? (size_t)(dot - key) + 1 : 0;
}

static int compare_key(const void *line, const void *key)
{
	const char *a = (*(const struct rd_profile_line *const *)line)->key, *b = key;
	size_t n = object_length(a), m = object_length(b);

	return memcmp(a, b, n < m ? n : m) ?: RD_CMP(n, m) ?: strcmp(a + n, b + n);
}

/* Lines with the same key stay in order. */
static int by_key(const void *pa, const void *pb)
{
	const struct rd_profile_line *a = *(const struct rd_profile_line *const *)pa,
				     *b = *(const struct rd_profile_line *const *)pb;

	return compare_key(&a, b->key) ?: RD_CMP(a, b);
}

static void index_of(const struct rd_profile *profile, struct index *ret)
{
	*ret = (struct index){ rd_alloc(profile->n + 1, sizeof(*ret->v)), profile->n };
	for (size_t i = 0; i < profile->n; i++)
		ret->v[i] = &profile->v[i];
	qsort(ret->v, ret->n, sizeof(*ret->v), by_key);
}

/* The number of the first line with this key, or behind it; the following lines may have it, too. */
static size_t find_key(const struct index *index, const char *key)
{
	return rd_lower_bound(key, index->v, index->n, sizeof(*index->v), compare_key);
}

static const struct rd_profile_line *find_object(const struct index *index, const char *key)
{
	size_t n = object_length(key);
	_cleanup_free_ char *object = rd_dup_part(key, n);
	size_t at = find_key(index, object);

	return at < index->n && strncmp(index->v[at]->key, object, n) == 0 && object_length(index->v[at]->key) == n ?
		       index->v[at] :
		       NULL;
}

static void add_finding(struct compare *cmp, const char *id, enum rd_severity severity, char *subject, char *observed,
			const char *expected)
{
	const struct rd_finding finding = {
		.id = id,
		.severity = severity,
		.title = "Host differs from its profile",
		.why = "schedulers assume that all hosts match the profile",
		.subject = subject,
		.observed = observed,
		.expected = rd_text("%s", expected),
		.fix = rd_text("# restore the expected value\n# outdated profile: rdmadiag topo-check --learn FILE"),
	};

	rd_finding_add(cmp->findings, &finding);
}

static void report_missing(struct compare *cmp, const char *kind, const char *id, const char *what)
{
	for (size_t i = 0; i < cmp->profile->n; i++) {
		const char *key = cmp->profile->v[i].key;
		size_t n = object_length(key), k = strlen(kind);

		/* A missing object is reported once, with its first line. */
		if (!rd_starts_with(key, kind) || n <= k + 1 || strchr(key, '*') ||
		    find_object(&cmp->wanted, key) != &cmp->profile->v[i] || find_object(&cmp->own, key))
			continue;
		add_finding(cmp, id, RD_SEV_CRITICAL, rd_text("%s %.*s", what, (int)(n - 1 - k), key + k),
			    rd_text("missing"), "present");
	}
}

static void report_count(struct compare *cmp, const char *key, const char *id)
{
	const char *wanted = rd_profile_get(cmp->profile, key), *is = rd_profile_get(cmp->self, key);

	if (!wanted || !is || strcmp(wanted, is) == 0)
		return;
	add_finding(cmp, id, RD_SEV_CRITICAL, rd_text("%s", key + strlen("count.")), rd_text("%s", is), wanted);
}

/* Whether the field determines if and how fast a job runs. */
static bool is_grave(const char *key)
{
	static const char *const fields[] = { ".state", ".link_layer", ".rate_gbps", ".role", ".driver" };
	const char *dot = strrchr(key, '.');

	for (size_t i = 0; dot && i < RD_ARRAY_SIZE(fields); i++)
		if (strcmp(dot, fields[i]) == 0)
			return true;
	return false;
}

/* Not compared here: keys that are reported separately, and those that were not read. */
static bool is_compared(const struct compare *cmp, const char *key)
{
	if (rd_starts_with(key, "rule.") || rd_starts_with(key, "count.gpus") || rd_starts_with(key, "count.nics"))
		return false;
	return (!rd_starts_with(key, "module.") && !rd_starts_with(key, "software.")) || cmp->with_software;
}

/* If the interface of a port is missing and the profile contains it, that is reported, and its attributes are not. */
static bool is_reported_by_netdev(const struct compare *cmp, const struct rd_profile_line *own)
{
	size_t n = object_length(own->key), at;
	_cleanup_free_ char *key = NULL;

	if (!rd_starts_with(own->key, "port.") || !rd_starts_with(own->key + n, "netdev_") ||
	    strcmp(own->value, "none") != 0)
		return false;
	key = rd_text("%.*snetdev", (int)n, own->key);
	at = find_key(&cmp->wanted, key);
	return at < cmp->wanted.n && strcmp(cmp->wanted.v[at]->key, key) == 0;
}

static void compare_own(struct compare *cmp, const struct rd_profile_line *line, const struct rd_profile_line *own)
{
	if (!own->value) {
		if (!cmp->unread)
			cmp->unread = own->key;
		cmp->n_unread++;
		return;
	}
	if (strcmp(own->value, line->value) == 0 || is_reported_by_netdev(cmp, own))
		return;
	add_finding(cmp, "profile-value", is_grave(own->key) ? RD_SEV_CRITICAL : RD_SEV_WARNING,
		    rd_text("%s", own->key), rd_text("%s", own->value), line->value);
}

static void compare_value(struct compare *cmp, const struct rd_profile_line *line)
{
	bool pattern = strchr(line->key, '*') != NULL, any = false;

	for (size_t i = 0; pattern && i < cmp->self->n; i++)
		if (rd_profile_matches(line->key, cmp->self->v[i].key)) {
			any = true;
			compare_own(cmp, line, &cmp->self->v[i]);
		}
	for (size_t i = pattern ? cmp->own.n : find_key(&cmp->own, line->key);
	     i < cmp->own.n && strcmp(cmp->own.v[i]->key, line->key) == 0; i++) {
		any = true;
		compare_own(cmp, line, cmp->own.v[i]);
	}
	/* A missing object has already been reported. */
	if (!any && (pattern || find_object(&cmp->own, line->key) || rd_starts_with(line->key, "module.") ||
		     rd_starts_with(line->key, "software.")))
		add_finding(cmp, "profile-value", RD_SEV_WARNING, rd_text("%s", line->key), rd_text("nothing"),
			    line->value);
}

void rd_profile_compare(const struct rd_profile *profile, const struct rd_profile *self, struct rd_findings *ret)
{
	struct compare cmp = { .profile = profile, .self = self, .findings = ret };

	cmp.with_software = rd_profile_get(self, "software.kernel") != NULL;
	index_of(profile, &cmp.wanted);
	index_of(self, &cmp.own);
	report_missing(&cmp, "gpu.", "profile-gpu", "GPU");
	report_count(&cmp, "count.gpus", "profile-gpu");
	report_missing(&cmp, "nic.", "profile-nic", "NIC");
	report_count(&cmp, "count.nics", "profile-nic");
	for (size_t i = 0; i < profile->n; i++)
		if (is_compared(&cmp, profile->v[i].key))
			compare_value(&cmp, &profile->v[i]);
	if (cmp.n_unread > 0) {
		/* One finding for all: without root it may be a hundred registers. */
		static const struct rd_finding unread = { "profile-value",
							  "Values in the profile could not be read on this host",
							  "cannot determine whether the host matches its profile",
							  RD_SEV_UNKNOWN };

		rd_finding_put(cmp.findings, &unread,
			       cmp.n_unread == 1 ? rd_dup(cmp.unread) :
						   rd_text("%s and %zu more", cmp.unread, cmp.n_unread - 1),
			       rd_text("not readable (PCI configuration requires CAP_SYS_ADMIN)"), NULL);
	}
	RD_FREE(cmp.wanted.v, cmp.own.v);
}
