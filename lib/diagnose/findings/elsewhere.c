/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/findings/elsewhere.h"

#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "diagnose/findings/objects.h"

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
	const char *name = host->netdevs[netdev].name;
	int found = NONE;

	add_of_netdev(host, (size_t)netdev, &found);
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (host->netdevs[i].master && strcmp(host->netdevs[i].master, name) == 0)
			add_of_netdev(host, i, &found);
	return found;
}

static bool is_gpu(const struct rd_host *host, int pci)
{
	for (size_t g = 0; g < host->n_gpus; g++)
		if (host->gpus[g].pci == pci)
			return true;
	return false;
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
	if (found != NONE || is_gpu(host, pci))
		return found;
	if (host->pcis[pci].pf >= 0) {
		pci = host->pcis[pci].pf;
		add_of_function(host, pci, &found);
		if (found != NONE || is_gpu(host, pci))
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
	int pf = a->pci >= 0 ? host->pcis[a->pci].pf : -1;

	if (a->pci >= 0 && b->pci >= 0 && (a->pci == b->pci || pf == b->pci))
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
		rd_objects_find(names, text, &objects);
	for (size_t d = 0; d < host->n_ibdevs && !named; d++)
		named = rd_selection_has_ibdev(selection, d) && rd_objects_have(&objects, host->n_pcis + d);
	rd_objects_deinit(&objects);
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
	if (is_gpu(host, pci))
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

static const struct rd_finding *cause_of(const struct rd_findings *findings, const struct rd_finding *finding)
{
	for (size_t i = 0; finding->caused_by.id && i < findings->n; i++)
		if (rd_finding_is_caused_by(finding, &findings->v[i]))
			return &findings->v[i];
	return NULL;
}

/* A consequence must not be shown without its cause, and what is hidden with its cause is shown with it. Causes may have causes. */
static void join_causes(const struct rd_findings *findings, const bool *apart, bool *hidden)
{
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
	rd_object_names_of(host, &names);
	for (size_t i = 0; i < findings->n; i++) {
		hidden[i] = is_elsewhere(host, selection, &findings->v[i]);
		apart[i] = !hidden[i] && is_apart(host, selection, &names, &findings->v[i]);
		hidden[i] |= apart[i];
		apart[i] &= findings->v[i].caused_by.id != NULL;
	}
	rd_object_names_deinit(&names);
	join_causes(findings, apart, hidden);
	for (size_t i = 0; i < findings->n; i++) {
		n += hidden[i];
		if (!hidden[i])
			rd_finding_copy(&kept, &findings->v[i]);
	}
	rd_findings_deinit(findings);
	*findings = kept;
	return n;
}
