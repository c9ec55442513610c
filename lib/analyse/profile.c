/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define NAME_MAX_ 160

static void add(struct rd_profile *ret, const char *kind, const char *name, const char *field, const char *value)
{
	char key[NAME_MAX_ + 64];

	snprintf(key, sizeof(key), "%s.%.*s.%s", kind, NAME_MAX_, name, field);
	rd_profile_add(ret, key, value);
}

static void add_number(struct rd_profile *ret, const char *kind, const char *name, const char *field, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	add(ret, kind, name, field, text);
}

static void add_link(struct rd_profile *ret, const char *kind, const char *name, const struct rd_pci *pci)
{
	if (pci->max.width.known == RD_OK)
		add_number(ret, kind, name, "max_link_width", pci->max.width.v);
	if (pci->numa.known == RD_OK)
		add_number(ret, kind, name, "numa_node", pci->numa.v);
}

static void add_port(struct rd_profile *ret, const struct rd_host *host, const struct rd_port *port)
{
	char name[NAME_MAX_];

	snprintf(name, sizeof(name), "%.100s/%u", rd_ibdev_label(host, port->ibdev), port->num);
	add(ret, "port", name, "state", port->state);
	add(ret, "port", name, "link_layer", port->link_layer);
	add(ret, "port", name, "role", rd_role_name(port->role));
	add(ret, "port", name, "netdev", port->netdev_name);
	if (port->rate_gbps.known == RD_OK)
		add_number(ret, "port", name, "rate_gbps", port->rate_gbps.v);
	if (port->mtu.known == RD_OK)
		add_number(ret, "port", name, "mtu_bytes", port->mtu.v);
	if (port->n_netdevs > 0 && host->netdevs[port->netdevs[0]].mtu.known == RD_OK)
		add_number(ret, "port", name, "netdev_mtu_bytes", host->netdevs[port->netdevs[0]].mtu.v);
}

static void add_nics(struct rd_profile *ret, const struct rd_host *host)
{
	for (size_t i = 0; i < host->n_ibdevs; i++) {
		const struct rd_ibdev *dev = &host->ibdevs[i];
		const char *name = rd_ibdev_label(host, (int)i);

		add_number(ret, "nic", name, "ports", dev->n_ports);
		add(ret, "nic", name, "pci", dev->pci >= 0 ? host->pcis[dev->pci].addr : NULL);
		add(ret, "nic", name, "driver", dev->driver);
		add(ret, "nic", name, "board", dev->board);
		add(ret, "nic", name, "firmware", dev->firmware);
		if (dev->pci >= 0 && !dev->parent_netdev)
			add_link(ret, "nic", name, &host->pcis[dev->pci]);
		for (unsigned p = 0; p < dev->n_ports; p++)
			add_port(ret, host, &host->ports[(unsigned)dev->first_port + p]);
	}
}

static void add_software(struct rd_profile *ret, const struct rd_system *system)
{
	rd_profile_add(ret, "software.kernel", system->release);
	rd_profile_add(ret, "software.libibverbs", system->libibverbs);
	rd_profile_add(ret, "software.nvidia", system->nvidia_version);
	for (size_t i = 0; i < system->n_modules; i++) {
		const struct rd_module *module = &system->modules[i];

		if (!module->rdma && strcmp(module->name, "ib_core") != 0 && !module->version)
			continue;
		add(ret, "module", module->name, "loaded", "yes");
		add(ret, "module", module->name, "version", module->version);
	}
}

void rd_profile_of(const struct rd_host *host, const struct rd_system *system, struct rd_profile *ret)
{
	rd_profile_addf(ret, "count.gpus", "%zu", host->n_gpus);
	rd_profile_addf(ret, "count.nics", "%zu", host->n_ibdevs);
	rd_profile_addf(ret, "count.numa_nodes", "%zu", host->n_numas);
	for (size_t g = 0; g < host->n_gpus; g++) {
		const struct rd_pci *pci = &host->pcis[host->gpus[g].pci];

		add(ret, "gpu", pci->addr, "name", host->gpus[g].name ? host->gpus[g].name : "unnamed");
		add(ret, "gpu", pci->addr, "driver", pci->driver);
		add_link(ret, "gpu", pci->addr, pci);
	}
	add_nics(ret, host);
	if (system)
		add_software(ret, system);
}

struct compare {
	const struct rd_profile *profile, *self;
	struct rd_findings *findings;
};

/* "nic.mlx5_0.": the key up to its last point. PCI addresses have points of their own. */
static size_t object_length(const char *key)
{
	const char *dot = strrchr(key, '.');

	return dot ? (size_t)(dot - key) + 1 : 0;
}

static bool starts_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool has_object(const struct rd_profile *self, const char *key)
{
	size_t n = object_length(key);

	for (size_t i = 0; i < self->n; i++)
		if (strncmp(self->v[i].key, key, n) == 0 && object_length(self->v[i].key) == n)
			return true;
	return false;
}

/* An object is told once, by the first line about it. */
static bool is_first(const struct rd_profile *profile, size_t at)
{
	size_t n = object_length(profile->v[at].key);

	for (size_t i = 0; i < at; i++)
		if (strncmp(profile->v[i].key, profile->v[at].key, n) == 0 && object_length(profile->v[i].key) == n)
			return false;
	return true;
}

static int tell(struct compare *cmp, const char *id, enum rd_severity severity, char *subject, char *observed,
		const char *expected)
{
	const struct rd_finding finding = {
		.id = id,
		.severity = severity,
		.title = "The host is not as its profile has it",
		.why = "jobs are placed on the assumption that all hosts are",
		.subject = subject,
		.observed = observed,
		.expected = rd_text("%s", expected),
		.fix = rd_text("mend it; or, if the profile is old: rdmadiag topo-check --learn"),
	};

	return rd_finding_add(cmp->findings, &finding);
}

static int tell_missing(struct compare *cmp, const char *kind, const char *id, const char *what)
{
	int r = 0;

	for (size_t i = 0; i < cmp->profile->n && !r; i++) {
		const char *key = cmp->profile->v[i].key;
		size_t n = object_length(key), k = strlen(kind);

		if (!starts_with(key, kind) || n <= k + 1 || strchr(key, '*') || !is_first(cmp->profile, i) ||
		    has_object(cmp->self, key))
			continue;
		r = tell(cmp, id, RD_SEV_CRITICAL, rd_text("%s %.*s", what, (int)(n - 1 - k), key + k),
			 rd_text("missing"), "there");
	}
	return r;
}

static int tell_count(struct compare *cmp, const char *key, const char *id)
{
	const char *wanted = rd_profile_get(cmp->profile, key), *is = rd_profile_get(cmp->self, key);

	if (!wanted || !is || strcmp(wanted, is) == 0)
		return 0;
	return tell(cmp, id, RD_SEV_CRITICAL, rd_text("%s", key + strlen("count.")), rd_text("%s", is), wanted);
}

/* What decides whether and how fast a job runs. */
static bool is_grave(const char *key)
{
	static const char *const fields[] = { ".state", ".link_layer", ".rate_gbps", ".role", ".driver" };
	const char *dot = strrchr(key, '.');

	for (size_t i = 0; dot && i < RD_ARRAY_SIZE(fields); i++)
		if (strcmp(dot, fields[i]) == 0)
			return true;
	return false;
}

/* Kinds that are told otherwise, or were not read. */
static bool is_compared(const struct compare *cmp, const char *key)
{
	if (starts_with(key, "rule.") || starts_with(key, "count.gpus") || starts_with(key, "count.nics"))
		return false;
	return (!starts_with(key, "module.") && !starts_with(key, "software.")) ||
	       rd_profile_get(cmp->self, "software.kernel");
}

static int tell_value(struct compare *cmp, const struct rd_profile_line *line)
{
	bool pattern = strchr(line->key, '*') != NULL, any = false;
	int r = 0;

	for (size_t i = 0; i < cmp->self->n && !r; i++) {
		const struct rd_profile_line *own = &cmp->self->v[i];

		if (pattern ? !rd_profile_matches(line->key, own->key) : strcmp(line->key, own->key) != 0)
			continue;
		any = true;
		if (strcmp(own->value, line->value) != 0)
			r = tell(cmp, "profile-value", is_grave(own->key) ? RD_SEV_CRITICAL : RD_SEV_WARNING,
				 rd_text("%s", own->key), rd_text("%s", own->value), line->value);
	}
	/* Of an object that is missing altogether that has been told. */
	if (!r && !any &&
	    (pattern || has_object(cmp->self, line->key) || starts_with(line->key, "module.") ||
	     starts_with(line->key, "software.")))
		r = tell(cmp, "profile-value", RD_SEV_WARNING, rd_text("%s", line->key), rd_text("nothing"),
			 line->value);
	return r;
}

int rd_profile_compare(const struct rd_profile *profile, const struct rd_profile *self, struct rd_findings *ret)
{
	struct compare cmp = { profile, self, ret };
	int r = tell_missing(&cmp, "gpu.", "profile-gpu", "GPU");

	if (!r)
		r = tell_count(&cmp, "count.gpus", "profile-gpu");
	if (!r)
		r = tell_missing(&cmp, "nic.", "profile-nic", "NIC");
	if (!r)
		r = tell_count(&cmp, "count.nics", "profile-nic");
	for (size_t i = 0; i < profile->n && !r; i++)
		if (is_compared(&cmp, profile->v[i].key))
			r = tell_value(&cmp, &profile->v[i]);
	return r;
}
