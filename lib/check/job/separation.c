/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Separation of front-end and back-end networks. */

#include "check/shared/port.h"
#include "check/shared/rules.h"
#include "model/host/system.h"
#include "model/shared/finding.h"

/* With one card there is nothing to separate. */
static void run_route(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;

	size_t cards = rd_check_compute_cards(in->ports);

	if (cards < 2 || host->n_gpus == 0) {
		rd_check_skip(out, host->n_gpus == 0 ? "no accelerator, so no back-end network" :
				   cards == 1	     ? "only one compute card" :
						       "no port is known to be a compute port");
		return;
	}
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		struct rd_port_name name = rd_check_port_name(host, port);
		const struct rd_netdev *route = rd_port_route(host, port);

		if (in->ports->v[p].role != RD_ROLE_COMPUTE)
			continue;
		if (route)
			rd_check_warn(out, name.text, rd_text("%s carries the default route", route->name),
				      rd_text("default route on a front-end interface"));
		else
			rd_check_good(out, name.text);
	}
}

static void run_env(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (!in->system || !in->job_env || in->system->job_env.n == 0) {
		rd_check_skip(out, "no settings for all jobs in /etc/nccl.conf or /etc/environment");
		return;
	}
	for (size_t i = 0; i < in->job_env->n; i++) {
		const struct rd_finding *finding = &in->job_env->v[i];

		if (finding->severity == RD_SEV_UNKNOWN) {
			rd_check_unknown(out, "settings for all jobs", finding->observed);
			return;
		}
		if (finding->severity != RD_SEV_WARNING && finding->severity != RD_SEV_CRITICAL)
			continue;
		rd_check_bad(out, finding->severity == RD_SEV_CRITICAL ? RD_SEV_CRITICAL : RD_SEV_WARNING,
			     finding->subject ? finding->subject : "settings",
			     rd_text("%s%s%s", finding->title, finding->observed ? ": " : "",
				     finding->observed ? finding->observed : ""),
			     rd_text("%s", finding->expected ? finding->expected : "the compute NICs"),
			     finding->fix ? rd_text("%s", finding->fix) : NULL);
	}
	rd_check_good(out, "settings for all jobs");
}

const struct rd_check rd_check_default_route = {
	.id = "backend-default-route",
	.title = "Compute NIC carries the default route",
	.why = "logins, storage and the scheduler share the links of the collectives",
	.fix = "ip route show default\n"
	       "# move it to a front-end interface: ip route replace default via GATEWAY dev INTERFACE\n"
	       "# logins over it break meanwhile\n"
	       "# it lasts until the next boot; also in the network configuration",
	.needs = "routes, roles of ports",
	.whole = RD_PART_PCI | RD_PART_RDMA | RD_PART_NET,
	.run = run_route,
};

const struct rd_check rd_check_job_env = {
	.id = "job-env",
	.title = "Environment variable set for all jobs does not fit this host",
	.why = "every job inherits it, and runs without RDMA, over other NICs, or without the intended setting",
	.fix = "rdmadiag nic-map --env all\n"
	       "rdmadiag nic-map --check-env --env-file /etc/environment\n"
	       "# the first prints settings that fit\n"
	       "# the second shows what the present ones select",
	.needs = "/etc/nccl.conf, /etc/environment, roles of ports",
	.thorough = true,
	.whole = RD_PART_PCI | RD_PART_RDMA | RD_PART_NET,
	.run = run_env,
};
