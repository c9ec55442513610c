/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rules share about PCI functions, ports and interfaces. */
#include "check/shared/rules.h"

#include "base/buf.h"

bool rd_pci_is_nic(const struct rd_host *host, size_t pci)
{
	return rd_host_ibdev_at(host, (int)pci) >= 0;
}

bool rd_pci_matters(const struct rd_host *host, size_t pci)
{
	return rd_pci_is_nic(host, pci) || rd_host_gpu_at(host, (int)pci) >= 0;
}

const char *rd_pci_what(const struct rd_host *host, size_t pci)
{
	int ibdev = rd_host_ibdev_at(host, (int)pci);

	if (ibdev >= 0)
		return rd_ibdev_label(host, ibdev);
	return rd_host_gpu_at(host, (int)pci) >= 0 ? "GPU" : host->pcis[pci].addr;
}

double rd_pci_rate(const struct rd_host *host, size_t pci)
{
	double best = 0;

	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		/* Two ports in a LAG often exceed the bandwidth of their slot, by design. */
		double rate = port->leg_gbps.known == RD_OK  ? port->leg_gbps.v :
			      port->rate_gbps.known == RD_OK ? port->rate_gbps.v :
							       0;

		if (host->ibdevs[port->ibdev].pci == (int)pci && rate > best)
			best = rate;
	}
	return best;
}

const char *rd_pci_unread(const struct rd_pci *pci)
{
	if (pci->config_denied || pci->acs_ctl.known == RD_DENIED)
		return "PCI configuration space beyond the first 64 bytes not readable (needs root or "
		       "CAP_SYS_ADMIN)";
	return pci->config_read ? "register is missing in PCI configuration space" :
				  "PCI configuration space was not read";
}

bool rd_pci_is_fast(const struct rd_host *host, size_t pci)
{
	return rd_pci_is_nic(host, pci) && rd_pci_rate(host, pci) >= RD_FAST_GBPS;
}

const struct rd_odd *rd_check_odd(const struct rd_check_input *in, enum rd_trait trait, int pci, int port, bool less)
{
	const struct rd_odd *odd = rd_symmetry_odd(in->symmetry, trait, pci, port);

	return odd && odd->clear && (odd->less || !less) ? odd : NULL;
}

char *rd_check_as_twins(const struct rd_odd *odd)
{
	return rd_text("%s, as on %u of %u like it", odd->usual, odd->twins, odd->n);
}

enum rd_path rd_gpu_best_path(const struct rd_check_input *in, size_t gpu)
{
	enum rd_path best = RD_PATH_UNKNOWN;

	for (size_t n = 0; n < in->host->n_ibdevs; n++) {
		enum rd_path path = rd_nicmap_pair(in->map, gpu, n)->path;

		if (path != RD_PATH_UNKNOWN && (best == RD_PATH_UNKNOWN || path < best))
			best = path;
	}
	return best;
}

bool rd_port_layer_known(const struct rd_host *host, const struct rd_port *port, struct rd_check_out *out)
{
	if (port->link_layer)
		return true;
	rd_check_unknown(out, rd_port_label(host, port).text, "link layer not reported");
	return false;
}

void rd_check_port_bad(struct rd_check_out *out, enum rd_role role, enum rd_severity result, const char *subject,
		       char *observed, char *expected)
{
	_cleanup_free_ char *reason = NULL;

	if (role != RD_ROLE_UNKNOWN)
		return rd_check_bad(out, result, subject, observed, expected, NULL);
	reason = rd_text("%s; the role of the port is unknown", observed);
	rd_check_unknown(out, subject, reason);
	RD_FREE(observed, expected);
}

bool rd_port_layer_is_odd(const struct rd_port_views *views, size_t port)
{
	const char *own = views->host->ports[port].link_layer;
	size_t same = 0, other = 0;

	if (views->v[port].role != RD_ROLE_COMPUTE || !own)
		return false;
	for (size_t p = 0; p < views->n; p++) {
		const char *other_layer = views->host->ports[p].link_layer;

		if (views->v[p].role != RD_ROLE_COMPUTE || !other_layer)
			continue;
		if (strcmp(other_layer, own) == 0)
			same++;
		else
			other++;
	}
	return other > same;
}

uint64_t rd_check_usual(const struct rd_check_input *in, size_t port,
			uint64_t (*value)(const struct rd_check_input *in, size_t port))
{
	const char *layer = in->host->ports[port].link_layer;
	uint64_t usual = 0;
	size_t n = 0;

	for (size_t p = 0; p < in->host->n_ports && in->ports->v[port].role == RD_ROLE_COMPUTE; p++) {
		const struct rd_port *other = &in->host->ports[p];

		if (p == port || in->ports->v[p].role != RD_ROLE_COMPUTE || !rd_port_active(other) || !layer ||
		    !other->link_layer || strcmp(layer, other->link_layer) != 0)
			continue;
		if (n++ && value(in, p) != usual)
			return 0;
		usual = value(in, p);
	}
	return n >= 3 ? usual : 0;
}

size_t rd_check_compute_cards(const struct rd_port_views *views)
{
	const struct rd_host *host = views->host;
	size_t n = 0;

	for (size_t d = 0; d < host->n_ibdevs; d++) {
		const struct rd_ibdev *dev = &host->ibdevs[d];
		bool compute = false, seen = false;

		for (unsigned p = 0; p < dev->n_ports; p++)
			compute |= views->v[(unsigned)dev->first_port + p].role == RD_ROLE_COMPUTE;
		for (size_t o = 0; compute && o < d && !seen; o++) {
			const struct rd_ibdev *other = &host->ibdevs[o];

			for (unsigned p = 0; p < other->n_ports; p++)
				seen |= views->v[(unsigned)other->first_port + p].role == RD_ROLE_COMPUTE &&
					other->pci >= 0 && dev->pci >= 0 &&
					rd_pci_one_card(&host->pcis[other->pci], &host->pcis[dev->pci]);
		}
		n += compute && !seen;
	}
	return n;
}

const struct rd_netif *rd_check_roce_netif(const struct rd_check_input *in, size_t port)
{
	const struct rd_port *p = &in->host->ports[port];

	if (!in->net || !rd_port_is_roce(in->host, p) || p->n_netdevs == 0)
		return NULL;
	return rd_netstate_find_name(in->net, in->host->netdevs[p->netdevs[0]].name);
}

void rd_check_port_subject(const struct rd_check_input *in, size_t port, const struct rd_netif *netif, char *ret)
{
	snprintf(ret, 160, "%.110s (%.40s)", rd_port_label(in->host, &in->host->ports[port]).text, netif->name);
}

bool rd_check_is_soft(const struct rd_host *host, const struct rd_port *port)
{
	const struct rd_ibdev *dev = &host->ibdevs[port->ibdev];

	return dev->parent_netdev || dev->pci < 0;
}

/* Whether `netif` is the named interface, a VLAN or bond above it, or a VLAN above its bond. */
static bool is_under(const struct rd_check_input *in, const char *name, const struct rd_netif *netif)
{
	const struct rd_netif *under = rd_netstate_find_name(in->net, name);

	return under && (under == netif || under->ifindex == netif->lower ||
			 (under->master && (under->master == netif->ifindex || under->master == netif->lower)));
}

bool rd_check_netif_role_known(const struct rd_check_input *in, const struct rd_netif *netif)
{
	for (size_t p = 0; p < in->host->n_ports; p++)
		for (size_t i = 0; in->ports->v[p].role != RD_ROLE_UNKNOWN && i < in->host->ports[p].n_netdevs; i++)
			if (is_under(in, in->host->netdevs[in->host->ports[p].netdevs[i]].name, netif))
				return true;
	return false;
}

char *rd_check_prios(uint8_t mask)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	for (int i = 0; i < RD_PRIOS; i++)
		if (mask & 1 << i)
			rd_buf_printf(&out, "%s%d", out.len ? "," : "", i);
	if (!mask)
		rd_buf_str(&out, "none");
	return RD_TAKE(out.data);
}
