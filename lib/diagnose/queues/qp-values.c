// SPDX-License-Identifier: GPL-2.0-or-later
/* Values of attributes of modify_qp that are out of the range of the specification, or beyond a limit of the device. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "diagnose/shared/rule.h"

#define MASK_KNOWN 0x1ffffffu /* bits 0 to 24 are defined, or were once */
#define MASK_RATE_LIMIT (1u << 25)

/* A field that has to be at most `most`; its width in the specification, or an attribute of the device. */
struct bound {
	uint8_t field; /* enum rd_req_field */
	uint8_t bit;   /* in attr_mask */
	uint64_t most; /* by the specification; 0: see `attr` */
	const char *attr;
};

/* IBTA vol. 1: the local ACK timeout and the RNR timer have 5 bits (9.7.6.1.3, 9.7.5.2.8), the two retry counts 3. */
static const struct bound bounds[] = {
	{ RD_REQ_TIMEOUT, 9, 31, NULL },
	{ RD_REQ_RETRY_CNT, 10, 7, NULL },
	{ RD_REQ_RNR_RETRY, 11, 7, NULL },
	{ RD_REQ_MIN_RNR_TIMER, 15, 31, NULL },
	{ RD_REQ_ALT_TIMEOUT, 14, 31, NULL },
	{ RD_REQ_STATE, 0, 6, NULL },
	{ RD_REQ_CUR_STATE, 1, 6, NULL },
	{ RD_REQ_RD_ATOMIC, 13, 0, "max_qp_init_rd_atom" },
	{ RD_REQ_DEST_RD_ATOMIC, 17, 0, "max_qp_rd_atom" },
};

enum rank {
	IGNORED, /* many drivers take as many bits as there are, and do not look at the rest */
	CHECKED, /* many drivers check it */
	CERTAIN, /* the core checks it, or it has no meaning that a driver could give it */
};

struct suspect {
	enum rank rank;
	const char *id;
	char text[160];
};

struct found {
	size_t n;
	struct suspect v[RD_EVIDENCE_MAX]; /* those that are more certain first */
};

static bool has_bit(const struct rd_request *r, unsigned bit)
{
	return r->v[RD_REQ_MASK] >> bit & 1;
}

static void __attribute__((format(printf, 4, 5)))
add_found(struct found *found, const char *id, enum rank rank, const char *fmt, ...)
{
	struct suspect one = { .rank = rank, .id = id };
	size_t at = found->n;
	va_list ap;

	if (found->n == RD_EVIDENCE_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(one.text, sizeof(one.text), fmt, ap);
	va_end(ap);
	for (; at && found->v[at - 1].rank < rank; at--)
		found->v[at] = found->v[at - 1];
	found->v[at] = one;
	found->n++;
}

static void check_bounds(const struct rd_failure *f, struct found *found)
{
	const struct rd_request *r = &f->event->request;

	for (size_t i = 0; i < RD_ARRAY_SIZE(bounds); i++) {
		const struct bound *b = &bounds[i];
		uint64_t most = b->most, v = r->v[b->field];

		if (!has_bit(r, b->bit) || !rd_req_has(r, b->field) ||
		    (b->attr && !rd_failure_attr(f, b->attr, &most)) || v <= most)
			continue;
		if (b->attr)
			add_found(found, "limit-exceeded", CHECKED,
				  "%s is %" PRIu64 ", and %s of the device is %" PRIu64, rd_req_name(b->field), v,
				  b->attr, most);
		else
			add_found(found, "attribute-value",
				  b->field == RD_REQ_STATE || b->field == RD_REQ_CUR_STATE ? CERTAIN : IGNORED,
				  "%s is %" PRIu64 ", and %" PRIu64 " is the highest value", rd_req_name(b->field), v,
				  most);
	}
}

/* enum ib_mtu: 1 is 256 bytes, 5 is 4096. */
static uint64_t mtu_bytes(uint64_t mtu)
{
	return mtu >= 1 && mtu <= 5 ? 128ull << mtu : 0;
}

static void check_mtu(const struct rd_failure *f, struct found *found)
{
	const struct rd_request *r = &f->event->request;
	uint64_t mtu = r->v[RD_REQ_PATH_MTU], most;
	char name[48];

	if (!has_bit(r, 8) || !rd_req_has(r, RD_REQ_PATH_MTU))
		return;
	snprintf(name, sizeof(name), "port%u.max_mtu_bytes", f->dev.port);
	if (!mtu_bytes(mtu))
		add_found(found, "attribute-value", CERTAIN,
			  "path_mtu is %" PRIu64 ", which is not a value of enum ibv_mtu (1 to 5)", mtu);
	else if (rd_failure_attr(f, name, &most) && mtu_bytes(mtu) > most)
		add_found(found, "limit-exceeded", CERTAIN,
			  "path_mtu is %" PRIu64 " bytes, and the port supports %" PRIu64, mtu_bytes(mtu), most);
}

static void check_alternate(const struct rd_failure *f, struct found *found)
{
	if (has_bit(&f->event->request, 14) && f->dev.link_layer && !strcmp(f->dev.link_layer, "Ethernet"))
		add_found(found, "not-supported", CERTAIN,
			  "an alternate path (IBV_QP_ALT_PATH) is supported on InfiniBand only");
}

static void check_mask(const struct rd_failure *f, struct found *found)
{
	uint64_t unknown = f->event->request.v[RD_REQ_MASK] & ~(uint64_t)(MASK_KNOWN | MASK_RATE_LIMIT);

	if (unknown)
		add_found(found, "attribute-value", CERTAIN, "attr_mask contains 0x%" PRIx64 ", which is not defined",
			  unknown);
}

/* enum ib_access_flags: bits 0 to 9, and the optional ones from 20 on. Local writes, remote reads, writes and atomics are what each
 * queue pair has; other flags are of memory regions, or of few drivers. The core does not look at any of them. */
#define ACCESS_KNOWN 0x3ff003ffu
#define ACCESS_USUAL 0x3ff0000fu

static void check_access(const struct rd_failure *f, struct found *found)
{
	const struct rd_request *r = &f->event->request;
	uint64_t access = r->v[RD_REQ_QP_ACCESS], unknown = access & ~(uint64_t)ACCESS_KNOWN,
		 unusual = access & ~(uint64_t)ACCESS_USUAL;

	if (!has_bit(r, 3) || !rd_req_has(r, RD_REQ_QP_ACCESS))
		return;
	if (unknown)
		add_found(found, "access-flags", CHECKED,
			  "qp_access_flags is 0x%" PRIx64 ", and 0x%" PRIx64 " in it is not defined", access, unknown);
	else if (unusual && rd_failure_in_driver(f) && f->event->origin_exact)
		add_found(found, "access-flags", CHECKED,
			  "qp_access_flags is 0x%" PRIx64 ", and the driver may not support 0x%" PRIx64
			  " in it for queue pairs",
			  access, unusual);
}

/* The core leaves the index to the driver, and not every driver looks at it. */
static void check_pkey(const struct rd_failure *f, struct found *found)
{
	const struct rd_request *r = &f->event->request;
	char port[RD_WORD_PORT];

	if (rd_req_has(r, RD_REQ_PKEY_INDEX) && has_bit(r, 4) && f->dev.n_pkeys && rd_failure_in_driver(f) &&
	    r->v[RD_REQ_PKEY_INDEX] >= f->dev.n_pkeys)
		add_found(found, "pkey-index", CHECKED, "pkey_index is %" PRIu64 ", and the table of %s has %u entr%s",
			  r->v[RD_REQ_PKEY_INDEX], rd_word_port(f, port), f->dev.n_pkeys,
			  f->dev.n_pkeys == 1 ? "y" : "ies");
}

static const char *fix_for(const char *id)
{
	if (!strcmp(id, "limit-exceeded"))
		return "use at most the limit of the device (ibv_query_device, ibv_devinfo -v); for the number of outstanding RDMA "
		       "reads, also at most what the peer accepts";
	if (!strcmp(id, "not-supported"))
		return "leave the alternate path out, and connect again when a path fails";
	if (!strcmp(id, "pkey-index"))
		return "use the index of a partition key of the port; on RoCE that is 0";
	if (!strcmp(id, "access-flags"))
		return "set only what the peer is permitted to do: IBV_ACCESS_REMOTE_READ, _REMOTE_WRITE and _REMOTE_ATOMIC";
	return "check where the program gets the value from; ibv_modify_qp(3) describes the attributes";
}

/* The cause is the only suspect, or one of several. */
static void explain_found(const struct rd_failure *f, const struct found *found, enum rd_confidence confidence,
			  struct rd_explanation *ret)
{
	_cleanup_buf_ struct rd_buf all = { 0 };
	char names[RD_WORD_MASK];

	for (size_t i = 0; i < found->n; i++)
		rd_buf_printf(&all, "%s%s", !i ? "" : i + 1 < found->n ? "; " : "; or ", found->v[i].text);
	rd_explain(ret, found->v[0].id, confidence, "%s%s", found->n > 1 ? "one of these: " : "", all.data);
	rd_explain_fact(ret, "attr_mask 0x%" PRIx64 ": %s", f->event->request.v[RD_REQ_MASK],
			rd_word_mask((uint32_t)f->event->request.v[RD_REQ_MASK], names));
	rd_explain_fix(ret, "# %s", fix_for(found->v[0].id));
}

static bool find_qp_values(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	/* The core checks some values itself, drivers check others, or none. Elsewhere in the core it is not about values, and EPERM
	 * is about privileges. */
	bool checks = rd_failure_in_driver(f) || f->event->moment.qp.known || rd_failure_origin_is(f, "modify_qp") ||
		      rd_failure_origin_is(f, "_ib_modify_qp") || rd_failure_origin_is(f, "ib_uverbs_*modify_qp");
	struct found found = { 0 };

	if (!rd_is_verb(f->event, "ibv_modify_qp") || !rd_req_has(&f->event->request, RD_REQ_MASK))
		return false;
	check_bounds(f, &found);
	check_mtu(f, &found);
	check_alternate(f, &found);
	check_mask(f, &found);
	check_access(f, &found);
	check_pkey(f, &found);
	if (!found.n) {
		if (f->n_attrs)
			rd_explain_fact(
				looked,
				"timeouts, retry counts, path_mtu and limits of the device: no value is out of range");
		return false;
	}
	explain_found(f, &found,
		      found.n == 1 && checks && found.v[0].rank == CERTAIN && f->event->err != -EPERM ?
			      RD_CONFIDENCE_HIGH :
			      RD_CONFIDENCE_MEDIUM,
		      ret);
	return true;
}

const struct rd_cause_rule rd_cause_qp_values = { .errnos = { EINVAL, EOPNOTSUPP, EPERM, ENOTSUP },
						  .needs = RD_FACT_LIMITS | RD_FACT_DEVICE,
						  .find = find_qp_values };

/* Ports, of modify_qp and of queries. */
static bool find_port(const struct rd_failure *f, struct rd_explanation *ret)
{
	static const struct {
		enum rd_req_field field;
		int bit; /* in attr_mask; -1: always given */
	} ports[] = { { RD_REQ_PORT, 5 }, { RD_REQ_AV_PORT, 7 }, { RD_REQ_ALT_PORT, 14 }, { RD_REQ_ALT_AV_PORT, 14 } };
	const struct rd_request *r = &f->event->request;

	for (size_t i = 0; i < RD_ARRAY_SIZE(ports) && f->dev.n_ports; i++) {
		uint64_t port = r->v[ports[i].field];

		if (!rd_req_has(r, ports[i].field) ||
		    (rd_req_has(r, RD_REQ_MASK) && !has_bit(r, (unsigned)ports[i].bit)) ||
		    (port && port <= f->dev.n_ports))
			continue;
		rd_explain(ret, "port-number", RD_CONFIDENCE_HIGH, "%s is %" PRIu64 ", and %s has %s%u",
			   rd_req_name(ports[i].field), port, f->event->ibdev,
			   f->dev.n_ports == 1 ? "only port " : "ports 1 to ", f->dev.n_ports);
		rd_explain_fix(ret, "# use a port of the device: rdma link lists them");
		return true;
	}
	return false;
}

/* The port of the address vector must be that of the queue pair. */
static bool find_other_port(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	const struct rd_moment_handle *qp = rd_handle_of(f, RD_REQ_H_QP);
	uint64_t port = r->v[RD_REQ_AV_PORT];

	if (!qp || !qp->found || qp->port.known != RD_OK || !qp->port.v || !rd_req_has(r, RD_REQ_AV_PORT) ||
	    !rd_req_has(r, RD_REQ_MASK) || !has_bit(r, 7) || !has_bit(r, 0) || r->v[RD_REQ_STATE] != RD_QPS_RTR ||
	    port == qp->port.v)
		return false;
	rd_explain(ret, "port-number", RD_CONFIDENCE_HIGH,
		   "ah_attr.port_num is %" PRIu64 ", and the queue pair is on port %u since it was moved to INIT", port,
		   qp->port.v);
	rd_explain_fix(ret, "# use the same port in both transitions");
	return true;
}

static bool find_ports(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	(void)looked;
	return find_port(f, ret) || find_other_port(f, ret);
}

const struct rd_cause_rule rd_cause_ports = { .errnos = { EINVAL }, .needs = RD_FACT_DEVICE, .find = find_ports };
