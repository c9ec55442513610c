/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric-sweeps.h"

#include "analyse/fabric/fabric.h"
#include "fabric-text.h"
#include "unit.h"

#define SECOND UINT64_C(1000000000)

void give_counters(struct setup *s)
{
	s->fabric.n_values = RD_C_RCV_PKTS + 1;
	s->fabric.swept_ns = s->seconds * SECOND;
	for (size_t i = 0; i < s->fabric.n_ports; i++) {
		struct rd_fabric_port *port = &s->fabric.ports[i];

		if (port->presence == RD_PORT_GONE || !port->selected)
			continue;
		port->fresh = true;
		port->error = 0;
		port->before_ns = port->values ? port->read_ns : 0;
		port->read_ns = s->fabric.swept_ns;
		if (!port->values) {
			port->values = calloc(s->fabric.n_values, sizeof(*port->values));
			port->before = calloc(s->fabric.n_values, sizeof(*port->before));
			for (size_t c = 0; c < s->fabric.n_values; c++)
				port->values[c] = (struct rd_pma_value){ c >= RD_C_XMIT_DATA ? 1000 : 0,
									 c >= RD_C_XMIT_DATA ? 64 : 16 };
		}
		memcpy(port->before, port->values, s->fabric.n_values * sizeof(*port->values));
	}
}

void sweep(struct setup *s, unsigned seconds)
{
	s->seconds += seconds;
	give_counters(s);
}

void sweeps_set_up(struct setup *s, const char *limits_text)
{
	fabric_from_tree(4, 3, 5, &s->fabric);
	s->fabric.self = fabric_port_at(&s->fabric, HOST(0, 0), 1);
	rd_fabric_limits_init(&s->limits);
	assert_int_equal(rd_fabric_limits_parse("t", limits_text, strlen(limits_text), &s->limits, NULL), 0);
	sweep(s, 100);
}

void sweeps_tear_down(struct setup *s)
{
	rd_findings_deinit(&s->findings);
	rd_fabric_history_deinit(&s->history);
	rd_fabric_deinit(&s->fabric);
}

struct rd_fabric_port *at(struct setup *s, uint64_t guid, unsigned port)
{
	return &s->fabric.ports[fabric_port_at(&s->fabric, guid, port)];
}

void count(struct setup *s, uint64_t guid, unsigned port, size_t counter, uint64_t more)
{
	at(s, guid, port)->values[counter].v += more;
}

void discovered(struct setup *s, uint64_t guid)
{
	for (size_t i = 0; i < s->fabric.n_ports; i++)
		if (s->fabric.nodes[s->fabric.ports[i].node].guid == guid)
			s->fabric.ports[i].presence = RD_PORT_NEW;
	s->fabric.discovered_ns = s->fabric.swept_ns;
}

size_t faults(struct setup *s)
{
	size_t n = 0;

	rd_fabric_history_add(&s->history, &s->fabric);
	rd_findings_deinit(&s->findings);
	rd_fabric_judge(&s->fabric, &s->limits, &s->history, &s->findings);
	rd_fabric_rank(&s->findings);
	while (n < s->findings.n && s->findings.v[n].severity > RD_SEV_NOTE)
		n++;
	return n;
}

void first_is(const struct setup *s, const char *id, const char *subject, const char *observed)
{
	const struct rd_finding *f = s->findings.v;

	if (!s->findings.n)
		fail_msg("no fault, not %s", id);
	if (strcmp(f->id, id) != 0 || (subject && strncmp(f->subject, subject, strlen(subject)) != 0) ||
	    (observed && (!f->observed || !strstr(f->observed, observed))))
		fail_msg("%s: %s: %s; %s", f->id, f->subject, f->title, f->observed ? f->observed : "-");
}

void one_fault(struct setup *s, const char *id, const char *subject, const char *observed)
{
	size_t n = faults(s);

	first_is(s, id, subject, observed);
	assert_int_equal(n, 1);
}
