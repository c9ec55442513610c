/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "check-run.h"
#include "model/host/host.h"

void check_run(const struct rd_check_input *in, const char *id, struct rd_findings *findings)
{
	_cleanup_free_ bool *chosen = calloc(rd_n_checks, sizeof(*chosen));

	assert_non_null(rd_check_find(id));
	for (size_t i = 0; i < rd_n_checks; i++)
		chosen[i] = rd_checks[i] == rd_check_find(id);
	rd_checks_run(in, chosen, findings);
}

enum rd_severity check_worst(const struct rd_check_input *in, const char *id)
{
	struct rd_findings findings = { 0 };
	enum rd_severity worst = RD_SEV_SKIP;

	check_run(in, id, &findings);
	assert_true(findings.n > 0);
	for (size_t i = 0; i < findings.n; i++) {
		worst = findings.v[i].severity > worst ? findings.v[i].severity : worst;
		/* What is wrong is told in full; what could not be told has its reason. */
		if (findings.v[i].severity >= RD_SEV_WARNING)
			assert_true(findings.v[i].observed && findings.v[i].expected);
		if (findings.v[i].severity == RD_SEV_UNKNOWN || findings.v[i].severity == RD_SEV_SKIP)
			assert_non_null(findings.v[i].observed);
	}
	rd_findings_deinit(&findings);
	return worst;
}

struct rd_port *check_add_port(struct rd_host *host, const char *interface, const char *link_layer)
{
	int n = (int)host->n_pcis;
	struct rd_pci *pci = rd_host_add_pci(host);
	struct rd_ibdev *dev = rd_host_add_ibdev(host);
	struct rd_port *port = rd_host_add_port(host, n);
	char text[32];

	snprintf(text, sizeof(text), "0000:%02x:00.0", n);
	assert_int_equal(rd_pci_parse(text, pci), 0);
	dev->name = rd_text("mlx5_%d", n);
	dev->pci = n;
	rd_host_add_netdev(host)->name = rd_text("%s%d", interface, n);
	port->num = 1;
	port->link_layer = strdup(link_layer);
	port->netdevs = calloc(1, sizeof(int));
	port->netdevs[0] = n;
	port->n_netdevs = 1;
	return port;
}
