// SPDX-License-Identifier: GPL-2.0-or-later
/* Findings: all rules in turn, those that say the same folded, and those about objects that were not chosen. */
#include "diagnose/findings/findings.h"

#include <ctype.h>

#include "base/text.h"

/* Object numbers, ascending and unique: PCI functions by index, then RDMA devices, then interfaces. */
struct rd_objects {
	size_t *v;
	size_t n, cap;
};
/* All object names of a host, sorted. `host` must outlive it. */
struct rd_object_names {
	const struct rd_host *host;
	struct rd_object_name *v;
	size_t n, cap;
	size_t longest; /* bytes */
};

enum kind { PCI, IBDEV, NETDEV };

struct rd_object_name {
	const char *text; /* in `host`; NULL: `own` */
	char own[16];	  /* "GPU3" */
	enum kind kind;
	size_t index;
};

static void deinit_objects(struct rd_objects *objects)
{
	free(objects->v);
	*objects = (struct rd_objects){ 0 };
}

static void deinit_names(struct rd_object_names *names)
{
	free(names->v);
	*names = (struct rd_object_names){ 0 };
}

static const char *text_of(const struct rd_object_name *name)
{
	return name->text ?: name->own;
}

static int by_text(const void *pa, const void *pb)
{
	const struct rd_object_name *a = pa, *b = pb;

	return RD_FIRST(strcmp(text_of(a), text_of(b)), RD_CMP(a->kind, b->kind), RD_CMP(a->index, b->index));
}

/* `text` NULL: the accelerator with number `gpu`. */
static void add_name(struct rd_object_names *names, const char *text, unsigned gpu, enum kind kind, size_t index)
{
	struct rd_object_name name = { .text = text, .kind = kind, .index = index };
	size_t n;

	rd_reserve(&names->v, &names->cap, names->n + 1, sizeof(*names->v));
	if (!text)
		snprintf(name.own, sizeof(name.own), "GPU%u", gpu);
	n = strlen(text_of(&name));
	if (n > names->longest)
		names->longest = n;
	names->v[names->n++] = name;
}

static void find_names(const struct rd_host *host, struct rd_object_names *ret)
{
	*ret = (struct rd_object_names){ .host = host };
	for (size_t i = 0; i < host->n_pcis; i++)
		add_name(ret, host->pcis[i].addr, 0, PCI, i);
	for (size_t i = 0; i < host->n_gpus; i++)
		add_name(ret, NULL, host->gpus[i].index, PCI, (size_t)host->gpus[i].pci);
	for (size_t i = 0; i < host->n_ibdevs; i++) {
		add_name(ret, rd_ibdev_label(host, (int)i), 0, IBDEV, i);
		if (host->ibdevs[i].pci >= 0)
			add_name(ret, host->pcis[host->ibdevs[i].pci].addr, 0, IBDEV, i);
	}
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (host->netdevs[i].name)
			add_name(ret, host->netdevs[i].name, 0, NETDEV, i);
	for (size_t p = 0; p < host->n_ports; p++)
		for (size_t n = 0; n < host->ports[p].n_netdevs; n++) {
			const char *name = host->netdevs[host->ports[p].netdevs[n]].name;

			if (name)
				add_name(ret, name, 0, IBDEV, (size_t)host->ports[p].ibdev);
		}
	rd_sort(ret->v, ret->n, sizeof(*ret->v), by_text);
}

static void add_number(struct rd_objects *objects, size_t object)
{
	*RD_ADD(objects->v, objects->n, objects->cap) = object;
}

static void add_ibdev(const struct rd_host *host, size_t ibdev, struct rd_objects *ret)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];

	add_number(ret, host->n_pcis + ibdev);
	if (dev->pci >= 0)
		add_number(ret, (size_t)dev->pci);
	for (unsigned p = 0; p < dev->n_ports; p++) {
		const struct rd_port *port = &host->ports[(unsigned)dev->first_port + p];

		for (size_t i = 0; i < port->n_netdevs; i++)
			add_number(ret, host->n_pcis + host->n_ibdevs + (size_t)port->netdevs[i]);
	}
}

static void add_object(const struct rd_host *host, const struct rd_object_name *name, struct rd_objects *ret)
{
	int pci = name->kind == NETDEV ? host->netdevs[name->index].pci : -1;

	switch (name->kind) {
	case PCI:
		add_number(ret, name->index);
		return;
	case IBDEV:
		add_ibdev(host, name->index, ret);
		return;
	case NETDEV:
		break;
	}
	add_number(ret, host->n_pcis + host->n_ibdevs + name->index);
	if (pci >= 0)
		add_number(ret, (size_t)pci);
}

/* Adds all objects with this name. */
static void add_named(const struct rd_object_names *names, const char *part, size_t size, struct rd_objects *ret)
{
	size_t low = 0, high = names->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strncmp(text_of(&names->v[middle]), part, size) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	/* Of names with this prefix, the shortest is first. */
	for (; low < names->n; low++) {
		const char *text = text_of(&names->v[low]);

		if (strncmp(text, part, size) != 0 || text[size])
			break;
		add_object(names->host, &names->v[low], ret);
	}
}

/* "mlx5_1" is in "mlx5_1/1" and in "eth1, mlx5_1", but not in "mlx5_10". */
static bool may_begin(const char *text, size_t at)
{
	return at == 0 || !(isalnum((unsigned char)text[at - 1]) || strchr("_.:-", text[at - 1]));
}

static bool may_end(const char *text, size_t at)
{
	unsigned char next = (unsigned char)text[at];

	return !isalnum(next) && next != '_' && !(next == '.' && isdigit((unsigned char)text[at + 1]));
}

static int by_number(const void *pa, const void *pb)
{
	return RD_CMP(*(const size_t *)pa, *(const size_t *)pb);
}

static void find_objects(const struct rd_object_names *names, const char *text, struct rd_objects *ret)
{
	size_t size = strlen(text), n = 0;

	for (size_t at = 0; at < size; at++)
		for (size_t end = at + 1; may_begin(text, at) && end <= size && end - at <= names->longest; end++)
			if (may_end(text, end))
				add_named(names, text + at, end - at, ret);
	rd_sort(ret->v, ret->n, sizeof(*ret->v), by_number);
	for (size_t i = 0; i < ret->n; i++)
		if (n == 0 || ret->v[i] != ret->v[n - 1])
			ret->v[n++] = ret->v[i];
	ret->n = n;
}

static bool share_objects(const struct rd_objects *a, const struct rd_objects *b)
{
	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		if (a->v[i] == b->v[k])
			return true;
		if (a->v[i] < b->v[k])
			i++;
		else
			k++;
	}
	return false;
}

static bool have_object(const struct rd_objects *objects, size_t object)
{
	return objects->n > 0 && bsearch(&object, objects->v, objects->n, sizeof(*objects->v), by_number);
}

/* Relation between the object of a consequence and that of its cause. */
enum relation {
	SAME,  /* the same device, one of its ports, its interface or its PCI function */
	BELOW, /* the device of the consequence is below the bridge of the cause, or the same */
	ABOVE, /* the device of the cause is below the bridge of the consequence */
	NODE,  /* both devices are on one NUMA node, or socket */
	HOST,  /* anything on the host */
};

/* Nearest cause first: the first match is used. Effects: ids, separated by blanks. */
static const struct {
	const char *cause;
	enum relation relation;
	const char *effects;
} rules[] = {
	/* A device without a driver, or that failed. */
	{ "nic-driver", SAME, "port-state" },
	{ "nic-driver", ABOVE, "switch-uneven" },
	{ "nic-driver", HOST,
	  "failover-backup failover-fabric failover-card backend-default-route nic-shared nic-not-compute" },
	{ "gpu-driver", HOST, "peermem amd-peer dmabuf" },
	{ "log-nic-health", SAME, "port-state" },
	{ "log-slot-power", SAME, "port-state" },
	{ "devlink-health", SAME, "port-state" },
	/* A PCI function that does not respond. */
	{ "pcie-no-answer", SAME,
	  "pcie-link-width pcie-link-speed pcie-bandwidth port-state nic-driver gpu-driver power-state "
	  "pcie-mps pcie-mrrs relaxed-ordering" },
	/* A port with a different link layer than its twins: values of the other layer do not apply. */
	{ "link-layer-uniform", SAME,
	  "ib-no-sm ib-lid ib-sm-lid port-state gid-usable gid-v2 gid-uniform mtu-uniform roce-mtu "
	  "roce-lossless port-speed-uniform" },
	{ "link-layer-uniform", ABOVE, "switch-uneven" },
	/* The link is up, but no subnet manager has configured it. */
	{ "ib-no-sm", SAME, "port-state ib-lid ib-sm-lid ib-pkey" },
	{ "ib-no-sm", HOST, "failover-backup failover-card nic-shared nic-not-compute" },
	{ "ib-no-sm", ABOVE, "switch-uneven" },
	{ "ib-lid", SAME, "ib-sm-lid" },
	/* A port that is down. */
	{ "port-state", SAME,
	  "gid-usable gid-v2 gid-uniform roce-netdev port-speed-uniform mtu-uniform ib-width ib-lid ib-sm-lid "
	  "dual-port neighbour-failed rail-route link-flaps link-downed log-link-flaps job-env profile-value "
	  "bond-aggregator" },
	{ "port-state", HOST, "failover-backup failover-card failover-fabric nic-shared nic-not-compute" },
	{ "port-state", ABOVE, "switch-uneven" },
	/* Addresses and bonds. */
	{ "rail-address", HOST, "arp-flux rp-filter" },
	{ "rail-address", SAME, "neighbour-failed" },
	{ "bond-mode", SAME, "port-speed-uniform" },
	{ "bond-aggregator", SAME, "port-speed-uniform" },
	{ "mtu-uniform", SAME, "roce-mtu" },
	{ "roce-lossless", SAME, "roce-pfc-uniform" },
	/* GIDs. */
	{ "gid-netns", SAME, "gid-usable" },
	{ "roce-netdev", SAME, "gid-usable" },
	{ "gid-v2", SAME, "gid-usable" },
	{ "gid-usable", SAME, "gid-uniform job-env" },
	/* PCI Express: a narrow or slow link limits all devices below it. */
	{ "pcie-link-width", BELOW, "pcie-bandwidth" },
	{ "pcie-link-speed", BELOW, "pcie-bandwidth" },
	{ "aer-uncorrectable", SAME, "aer-correctable" },
	{ "power-state", SAME, "pcie-link-speed" },
	/* NUMA node of a device. */
	{ "numa-switch", SAME, "numa-node gpu-nic-socket" },
	{ "numa-node", SAME, "gpu-nic-socket" },
	{ "nic-driver", NODE, "gpu-nic-socket" },
	{ "port-state", NODE, "gpu-nic-socket" },
	{ "ib-no-sm", NODE, "gpu-nic-socket" },
	/* Modules that did not load. */
	{ "log-peermem-symbols", HOST, "peermem" },
	{ "log-peermem", HOST, "peermem" },
	/* A card or accelerator that is missing. */
	{ "profile-gpu", HOST, "gpu-missing" },
	{ "gpu-missing", HOST, "switch-uneven" },
	{ "profile-nic", HOST, "nic-missing" },
	{ "nic-missing", HOST, "switch-uneven gpu-nic-socket failover-backup nic-shared nic-not-compute" },
	{ "profile-nic", SAME, "profile-value" },
};

struct state {
	const struct rd_host *host;
	struct rd_findings *findings;
	struct rd_objects *objects; /* of each finding */
	size_t *faults, n_faults;   /* findings that may be causes, sorted by id, then by index */
};

static bool is_below(const struct rd_host *host, const struct rd_objects *effect, const struct rd_objects *cause)
{
	for (size_t i = 0; i < effect->n && effect->v[i] < host->n_pcis; i++)
		for (int up = (int)effect->v[i]; up >= 0; up = host->pcis[up].parent)
			if (have_object(cause, (size_t)up))
				return true;
	return false;
}

static bool is_connected(const struct state *st, enum relation relation, size_t effect, size_t cause)
{
	const struct rd_objects *a = &st->objects[effect], *b = &st->objects[cause];

	switch (relation) {
	case HOST:
		return true;
	case BELOW:
		return is_below(st->host, a, b);
	case ABOVE:
		return is_below(st->host, b, a);
	case NODE:
		for (size_t i = 0; i < a->n && a->v[i] < st->host->n_pcis; i++)
			for (size_t k = 0; k < b->n && b->v[k] < st->host->n_pcis; k++)
				if (rd_host_same_socket(st->host, rd_pci_numa(st->host, (int)a->v[i]),
							rd_pci_numa(st->host, (int)b->v[k])) == 1)
					return true;
		return false;
	case SAME:
		break;
	}
	return share_objects(a, b) || strcmp(st->findings->v[effect].subject, st->findings->v[cause].subject) == 0;
}

static bool is_listed(const char *ids, const char *id)
{
	for (; *ids; ids += strspn(ids, " ")) {
		size_t n = strcspn(ids, " ");

		if (n == strlen(id) && !memcmp(ids, id, n))
			return true;
		ids += n;
	}
	return false;
}

/* The first fault whose id is not less than this one. */
static size_t find_fault(const struct state *st, const char *id)
{
	size_t low = 0, high = st->n_faults;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(st->findings->v[st->faults[middle]].id, id) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The finding that explains this one, by the first matching rule; -1: none. */
static int find_cause(const struct state *st, size_t effect)
{
	const struct rd_findings *findings = st->findings;

	for (size_t r = 0; r < RD_ARRAY_SIZE(rules); r++) {
		if (!is_listed(rules[r].effects, findings->v[effect].id))
			continue;
		for (size_t f = find_fault(st, rules[r].cause); f < st->n_faults; f++) {
			size_t cause = st->faults[f];

			if (strcmp(findings->v[cause].id, rules[r].cause) != 0)
				break;
			if (cause != effect && is_connected(st, rules[r].relation, effect, cause))
				return (int)cause;
		}
	}
	return -1;
}

static void blame_all(const struct state *st)
{
	struct rd_findings *findings = st->findings;
	_cleanup_free_ int *causes = rd_alloc(findings->n + 1, sizeof(*causes));

	for (size_t i = 0; i < findings->n; i++)
		causes[i] = findings->v[i].severity >= RD_SEV_UNKNOWN ? find_cause(st, i) : -1;
	for (size_t i = 0; i < findings->n; i++) {
		int cause = causes[i];

		/* The rules must have no cycle; if they do, do not loop forever. */
		for (size_t steps = 0; cause >= 0 && causes[cause] >= 0 && steps < findings->n; steps++)
			cause = causes[cause];
		if (cause < 0 || cause == (int)i)
			continue;
		rd_finding_blame(&findings->v[i], &findings->v[cause]);
		/* A cause is as severe as what it causes. */
		if (findings->v[i].severity > findings->v[cause].severity)
			findings->v[cause].severity = findings->v[i].severity;
	}
}

static int by_id(const void *pa, const void *pb, void *arg)
{
	const struct rd_findings *findings = arg;
	const size_t *a = pa, *b = pb;

	return strcmp(findings->v[*a].id, findings->v[*b].id) ?: RD_CMP(*a, *b);
}

static void prepare(const struct rd_object_names *names, struct state *st)
{
	struct rd_findings *findings = st->findings;

	for (size_t i = 0; i < findings->n; i++) {
		if (findings->v[i].severity >= RD_SEV_UNKNOWN)
			find_objects(names, findings->v[i].subject, &st->objects[i]);
		if (findings->v[i].severity >= RD_SEV_WARNING && !findings->v[i].muted)
			st->faults[st->n_faults++] = i;
	}
	if (st->n_faults > 0)
		qsort_r(st->faults, st->n_faults, sizeof(*st->faults), by_id, findings);
}

static void fold_findings(const struct rd_host *host, struct rd_findings *findings)
{
	_cleanup_free_ struct rd_objects *objects = rd_alloc(findings->n + 1, sizeof(*objects));
	_cleanup_free_ size_t *faults = rd_alloc(findings->n + 1, sizeof(*faults));
	_cleanup_(deinit_names) struct rd_object_names names = { 0 };
	struct state st = { .host = host, .findings = findings, .objects = objects, .faults = faults };

	find_names(host, &names);
	prepare(&names, &st);
	blame_all(&st);
	for (size_t i = 0; i < findings->n; i++)
		deinit_objects(&objects[i]);
}

/* The device found so far. */
enum { NONE = -1, SEVERAL = -2 };

static void add_device(int *found, int ibdev)
{
	*found = *found == NONE || *found == ibdev ? ibdev : SEVERAL;
}

static void add_of_netdev(const struct rd_host *host, size_t netdev, int *found)
{
	const struct rd_netdev *wanted = &host->netdevs[netdev];

	for (size_t p = 0; p < host->n_ports; p++)
		for (size_t i = 0; i < host->ports[p].n_netdevs; i++)
			if (host->ports[p].netdevs[i] == (int)netdev)
				add_device(found, host->ports[p].ibdev);
	for (size_t d = 0; d < host->n_ibdevs; d++) {
		const struct rd_ibdev *dev = &host->ibdevs[d];

		if (wanted->name && dev->parent_netdev && strcmp(dev->parent_netdev, wanted->name) == 0)
			add_device(found, (int)d);
		if (wanted->pci >= 0 && dev->pci == wanted->pci)
			add_device(found, (int)d);
	}
}

/* A bond is of all its interfaces. */
static int ibdev_of_netdev(const struct rd_host *host, int netdev)
{
	int found = NONE;

	add_of_netdev(host, (size_t)netdev, &found);
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (host->netdevs[i].master && strcmp(host->netdevs[i].master, host->netdevs[netdev].name) == 0)
			add_of_netdev(host, i, &found);
	return found;
}

static void add_of_function(const struct rd_host *host, int pci, int *found)
{
	for (size_t d = 0; d < host->n_ibdevs; d++)
		if (host->ibdevs[d].pci == pci || host->ibdevs[d].data_direct == pci)
			add_device(found, (int)d);
}

/* The device on this function; else that of its physical function; else that of its card. */
static int ibdev_of_pci(const struct rd_host *host, int pci)
{
	int found = NONE;

	add_of_function(host, pci, &found);
	if (found != NONE || rd_host_gpu_at(host, pci) >= 0)
		return found;
	if (host->pcis[pci].pf >= 0) {
		pci = host->pcis[pci].pf;
		add_of_function(host, pci, &found);
		if (found != NONE || rd_host_gpu_at(host, pci) >= 0)
			return found;
	}
	for (size_t d = 0; d < host->n_ibdevs; d++) {
		int own = host->ibdevs[d].pci;

		if (own >= 0 && host->pcis[own].pf < 0 && rd_pci_one_card(&host->pcis[own], &host->pcis[pci]))
			add_device(&found, (int)d);
	}
	return found;
}

/* "mlx5_0", "mlx5_0/1" */
static int ibdev_of_port(const struct rd_host *host, const char *name)
{
	const char *slash = strrchr(name, '/');
	_cleanup_free_ char *device = NULL;
	int ibdev = rd_host_find_ibdev(host, name);

	if (ibdev >= 0 || !slash || !slash[1] || slash[1 + strspn(slash + 1, "0123456789")])
		return ibdev;
	device = rd_dup_part(name, (size_t)(slash - name));
	return rd_host_find_ibdev(host, device);
}

int rd_subject_ibdev(const struct rd_host *host, const char *subject)
{
	const char *paren = subject ? strstr(subject, " (") : NULL;
	_cleanup_free_ char *name = NULL;
	int found, other;

	if (!subject)
		return -1;
	/* "mlx5_0/1 (eth0)", and devlink's "pci/0000:1b:00.0" */
	name = rd_dup_part(subject, paren ? (size_t)(paren - subject) : strlen(subject));
	if (strncmp(name, "pci/", 4) == 0)
		memmove(name, name + 4, strlen(name + 4) + 1);
	found = ibdev_of_port(host, name);
	other = rd_host_find_netdev(host, name);
	/* An interface may have the name of a device. */
	if (other >= 0)
		add_device(&found, ibdev_of_netdev(host, other));
	other = rd_host_find_pci(host, name);
	if (other >= 0)
		add_device(&found, ibdev_of_pci(host, other));
	return found < 0 ? -1 : found;
}

/* Whether a selected device depends on the other one: its physical function, its card's link, or the device it sits on. */
static bool depends_on(const struct rd_host *host, size_t selected, size_t other)
{
	const struct rd_ibdev *a = &host->ibdevs[selected], *b = &host->ibdevs[other];
	int below = a->parent_netdev ? rd_host_find_netdev(host, a->parent_netdev) : -1;

	if (a->pci >= 0 && b->pci >= 0 && (a->pci == b->pci || host->pcis[a->pci].pf == b->pci))
		return true;
	if (below < 0)
		return false;
	for (unsigned p = 0; p < b->n_ports; p++) {
		const struct rd_port *port = &host->ports[(unsigned)b->first_port + p];

		for (size_t i = 0; i < port->n_netdevs; i++)
			if (port->netdevs[i] == below)
				return true;
	}
	return host->netdevs[below].pci >= 0 && host->netdevs[below].pci == b->pci;
}

/* For a PCI address as subject: functions of one card share its slot. */
static bool is_on_card(const struct rd_host *host, size_t selected, const char *subject)
{
	int pci = host->ibdevs[selected].pci, other = rd_host_find_pci(host, subject);

	return pci >= 0 && other >= 0 && rd_pci_one_card(&host->pcis[pci], &host->pcis[other]);
}

static bool is_named(const struct rd_host *host, const struct rd_selection *selection,
		     const struct rd_object_names *names, const char *text)
{
	struct rd_objects objects = { 0 };
	bool named = false;

	if (text)
		find_objects(names, text, &objects);
	for (size_t d = 0; d < host->n_ibdevs && !named; d++)
		named = rd_selection_has_ibdev(selection, d) && have_object(&objects, host->n_pcis + d);
	deinit_objects(&objects);
	return named;
}

static bool is_elsewhere(const struct rd_host *host, const struct rd_selection *selection,
			 const struct rd_finding *finding)
{
	int ibdev = rd_subject_ibdev(host, finding->subject);

	if (ibdev < 0)
		return false;
	for (size_t d = 0; d < host->n_ibdevs; d++)
		if (rd_selection_has_ibdev(selection, d) &&
		    (d == (size_t)ibdev || depends_on(host, d, (size_t)ibdev) || is_on_card(host, d, finding->subject)))
			return false;
	return true;
}

/* "0000:1b:00.0 and 3 more bridges", "GPU0" */
static int pci_of(const struct rd_host *host, const char *subject)
{
	_cleanup_free_ char *word = subject ? rd_dup_part(subject, strcspn(subject, " ")) : NULL;
	uint32_t gpu;
	int pci = rd_host_find_pci(host, word);

	if (pci < 0 && word && strncmp(word, "GPU", 3) == 0 &&
	    rd_parse_u32(word + 3, RD_DECIMAL, UINT32_MAX, &gpu) == 0 && gpu < host->n_gpus)
		pci = host->gpus[gpu].pci;
	return pci;
}

/* What is about an accelerator, or about a bridge with no selected device below, and names none. */
static bool is_apart(const struct rd_host *host, const struct rd_selection *selection,
		     const struct rd_object_names *names, const struct rd_finding *finding)
{
	int pci = pci_of(host, finding->subject);

	if (pci < 0 || rd_subject_ibdev(host, finding->subject) >= 0)
		return false;
	if (rd_host_gpu_at(host, pci) >= 0)
		return true;
	for (size_t d = 0; d < host->n_ibdevs; d++) {
		int own = rd_selection_has_ibdev(selection, d) ? host->ibdevs[d].pci : -1;

		for (int at = own >= 0 && host->pcis[own].pf >= 0 ? host->pcis[own].pf : own; at >= 0;
		     at = host->pcis[at].parent)
			if (at == pci)
				return false;
	}
	return !is_named(host, selection, names, finding->observed);
}

/* The finding that caused this one; NULL: none in the list. */
static const struct rd_finding *cause_of(const struct rd_findings *findings, const struct rd_finding *finding)
{
	for (size_t i = 0; finding->caused_by.id && i < findings->n; i++)
		if (rd_finding_is_caused_by(finding, &findings->v[i]))
			return &findings->v[i];
	return NULL;
}

size_t rd_findings_select(const struct rd_host *host, const struct rd_selection *selection, struct rd_findings *findings)
{
	_cleanup_free_ bool *hidden = rd_alloc(findings->n + 1, sizeof(*hidden));
	_cleanup_free_ bool *apart = rd_alloc(findings->n + 1, sizeof(*apart));
	struct rd_object_names names;
	struct rd_findings kept = { 0 };
	size_t n = 0;

	if (!selection->ibdevs)
		return 0;
	find_names(host, &names);
	for (size_t i = 0; i < findings->n; i++) {
		hidden[i] = is_elsewhere(host, selection, &findings->v[i]);
		apart[i] = !hidden[i] && is_apart(host, selection, &names, &findings->v[i]);
		hidden[i] |= apart[i];
		apart[i] &= findings->v[i].caused_by.id != NULL;
	}
	deinit_names(&names);
	/* A consequence must not be shown without its cause, and what is hidden with its cause is shown with it. Causes may
	 * have causes. */
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < findings->n; i++) {
			const struct rd_finding *cause = cause_of(findings, &findings->v[i]);
			bool *of_cause = cause ? &hidden[cause - findings->v] : NULL;

			if (!hidden[i] && of_cause && *of_cause) {
				*of_cause = false;
				again = true;
			} else if (hidden[i] && apart[i] && (!of_cause || !*of_cause)) {
				hidden[i] = false;
				again = true;
			}
		}
	}
	for (size_t i = 0; i < findings->n; i++) {
		n += hidden[i];
		if (!hidden[i])
			rd_finding_copy(&kept, &findings->v[i]);
	}
	rd_findings_deinit(findings);
	*findings = kept;
	return n;
}

static void add_expired(const struct rd_ignore *ignore, struct rd_findings *findings)
{
	const struct rd_finding finding = {
		.id = "ignore-ended",
		.severity = RD_SEV_NOTE,
		.title = "\"ignore\" line of the profile has expired",
		.why = "findings that it matches are no longer ignored",
		.subject = rd_text("profile line %u", ignore->line),
		.observed = rd_text("%s%s%s until %s %s", ignore->rule, ignore->subject ? "@" : "",
				    ignore->subject ?: "", ignore->until, ignore->reason),
		.fix = rd_dup("# remove the line, or set a later date"),
	};

	rd_finding_add(findings, &finding);
}

void rd_diagnose(const struct rd_host *host, const struct rd_profile *profile, int64_t day, struct rd_findings *findings)
{
	fold_findings(host, findings);
	if (profile) {
		/* Mutes findings that "ignore" lines of the profile match on that day, and their consequences, which must be
		 * linked already. Adds a note for each expired line. */
		for (size_t i = 0; i < findings->n; i++) {
			struct rd_finding *finding = &findings->v[i];
			const struct rd_ignore *ignore =
				finding->severity > RD_SEV_OK ?
					rd_profile_ignored(profile, finding->id, finding->subject, day) :
					NULL;

			if (ignore)
				finding->muted = rd_text("until %s: %s", ignore->until, ignore->reason);
		}
		for (size_t i = 0; i < findings->n; i++) {
			struct rd_finding *finding = &findings->v[i];
			const struct rd_finding *cause = finding->muted ? NULL : cause_of(findings, finding);

			if (cause && cause->muted)
				finding->muted = rd_dup(cause->muted);
		}
		for (size_t i = 0; i < profile->n_ignores; i++)
			if (rd_ignore_over(&profile->ignores[i], day))
				add_expired(&profile->ignores[i], findings);
	}
	rd_findings_sort(findings);
}
