/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The yardstick for a sweep: every port of the network asked for five attributes, one datagram after the other, as libibmad
 * offers it. fabric-serial [skip]: with "skip" the rest of a LID is left out once it did not answer. Prints how many ports
 * and datagrams, and the seconds of the loop.
 */
#include <infiniband/ibnetdisc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static const unsigned attributes[] = { 0x12, 0x1d, 0x15, 0x16, 0x1c };
	static bool silent[65536];
	int classes[] = { IB_SMI_CLASS, IB_SMI_DIRECT_CLASS, IB_PERFORMANCE_CLASS };
	struct ibnd_config config = { .max_smps = 8 };
	bool skip = argc > 1 && strcmp(argv[1], "skip") == 0;
	ibnd_fabric_t *fabric = ibnd_discover_fabric(NULL, 0, NULL, &config);
	struct ibmad_port *port = mad_rpc_open_port(NULL, 0, classes, 3);
	unsigned long ports = 0, mads = 0, failed = 0;
	double start;

	if (!fabric || !port)
		return 1;
	madrpc_show_errors(0);
	/* The time and tries that our own sweep has. */
	mad_rpc_set_timeout(port, 100);
	mad_rpc_set_retries(port, 3);
	start = now();
	for (ibnd_node_t *node = fabric->nodes; node; node = node->next)
		for (int p = 1; p <= node->numports; p++) {
			ib_portid_t to = { 0 };
			int lid;

			if (!node->ports[p])
				continue;
			lid = node->type == IB_NODE_SWITCH ? node->smalid : node->ports[p]->base_lid;
			ib_portid_set(&to, lid, 0, 0);
			ports++;
			for (size_t i = 0; i < 5 && !(skip && silent[lid]); i++) {
				uint8_t data[1024] = { 0 };

				mads++;
				if (pma_query_via(data, &to, p, 100, attributes[i], port))
					continue;
				failed++;
				silent[lid] = true;
			}
		}
	printf("%lu %lu %lu %.4f\n", ports, mads, failed, now() - start);
	return 0;
}
