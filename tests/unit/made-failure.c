// SPDX-License-Identifier: GPL-2.0-or-later
#include "made-failure.h"

#include <arpa/inet.h>

#include "base/fix.h"
#include "diagnose/shared/rule.h"

void made_failure(struct made_failure *m, const char *verb, int err, const char *module, const char *origin)
{
	made_end(m);
	memset(m, 0, sizeof(*m));
	m->module = (struct rd_module){ .name = (char *)module };
	m->fn = (struct rd_fn){ .name = (char *)origin };
	m->set = (struct rd_fnset){ .modules = &m->module, .n_modules = 1, .fns = &m->fn, .n_fns = 1 };
	m->event = (struct rd_event){ .pid = MADE_PID,
				      .tid = MADE_PID,
				      .cgroup = (char *)"/job",
				      .ibdev = (char *)"mlx5_0",
				      .verb_key = 1,
				      .verb = (char *)verb,
				      .object = (char *)(strncmp(verb, "rdma_", 5) ? "QP" : "RDMA_CM"),
				      .err = -err,
				      .origin_exact = true,
				      .moment.fd_known = RD_DENIED,
				      .request.readable = true };
	m->f = (struct rd_failure){ .event = &m->event,
				    .set = &m->set,
				    .read = (RD_FACT_MEMORY << 1) - 1,
				    .dev = { .known = RD_OK,
					     .n_ports = 1,
					     .port = 1,
					     .link_layer = (char *)"Ethernet",
					     .state = (char *)"4: ACTIVE",
					     .driver = (char *)"mlx5_core",
					     .pci = (char *)MADE_PCI,
					     .netdev = (char *)"eth0",
					     .n_gids = 16,
					     .n_pkeys = 1 },
				    .attrs = m->attrs,
				    .gid = { .known = RD_DENIED },
				    .gid_before = { .known = RD_DENIED },
				    .route_errno = -1,
				    .cgroups_known = RD_DENIED };
}

void made_end(struct made_failure *m)
{
	rd_explanation_deinit(&m->why);
}

struct made_failure *made_origin(struct made_failure *m, const char *module, const char *function)
{
	return made_function(made_module(m, module), function);
}

struct made_failure *made_module(struct made_failure *m, const char *module)
{
	m->module.name = (char *)module;
	return m;
}

struct made_failure *made_function(struct made_failure *m, const char *function)
{
	m->fn.name = (char *)function;
	return m;
}

struct made_failure *made_errno(struct made_failure *m, int err)
{
	m->event.err = -err;
	return m;
}

struct made_failure *made_verb(struct made_failure *m, const char *verb)
{
	m->event.verb = (char *)verb;
	return m;
}

struct made_failure *made_exact(struct made_failure *m, bool exact)
{
	m->event.origin_exact = exact;
	return m;
}

struct made_failure *made_cm_state(struct made_failure *m, uint8_t state)
{
	RD_SET(m->event.moment.cm_state, state);
	return m;
}

struct made_failure *made_to_gid(struct made_failure *m, const char *address)
{
	made_gid_of(address, m->event.request.gid);
	return m;
}

struct made_failure *made_field(struct made_failure *m, enum rd_req_field field, uint64_t v)
{
	m->event.request.known[field] = true;
	m->event.request.v[field] = v;
	return m;
}

struct made_failure *made_fields(struct made_failure *m, const struct made_field *fields)
{
	for (; fields->field >= 0; fields++)
		made_field(m, (enum rd_req_field)fields->field, fields->v);
	return m;
}

struct made_failure *made_source(struct made_failure *m, const char *address, uint16_t port)
{
	m->event.request.src = made_address_of(address, port);
	return m;
}

struct made_failure *made_destination(struct made_failure *m, const char *address, uint16_t port)
{
	m->event.request.dst = made_address_of(address, port);
	return m;
}

struct rd_moment_handle *made_handle(struct made_failure *m, enum rd_req_field field, uint32_t handle)
{
	struct rd_moment *moment = &m->event.moment;
	struct rd_moment_handle *h = &moment->handles[moment->n_handles++];

	assert_true(moment->n_handles <= RD_MOMENT_HANDLES);
	made_field(m, field, handle);
	*h = (struct rd_moment_handle){
		.handle = handle, .looked_up = true, .found = true, .type = (uint16_t)rd_word_type_of(field)
	};
	return h;
}

struct made_failure *made_attr(struct made_failure *m, const char *name, uint64_t value)
{
	assert_true(m->f.n_attrs < RD_ARRAY_SIZE(m->attrs));
	m->attrs[m->f.n_attrs++] = (struct rd_dev_attr){ (char *)name, value };
	return m;
}

void made_gid_of(const char *address, uint8_t *gid)
{
	memset(gid, 0, 16);
	if (inet_pton(AF_INET6, address, gid) == 1)
		return;
	gid[10] = gid[11] = 0xff;
	assert_int_equal(inet_pton(AF_INET, address, gid + 12), 1);
}

struct rd_req_address made_address_of(const char *address, uint16_t port)
{
	struct rd_req_address a = { .known = true, .family = AF_INET, .port = port };

	if (inet_pton(AF_INET, address, a.addr) == 1)
		return a;
	a.family = AF_INET6;
	assert_int_equal(inet_pton(AF_INET6, address, a.addr), 1);
	return a;
}

static void judge(struct made_failure *m)
{
	struct rd_explanation *why = &m->why;
	size_t at;

	rd_explanation_deinit(why);
	rd_explain_failure(&m->f, why);
	at = (size_t)snprintf(m->said, sizeof(m->said), "%s", why->cause ? why->cause : "cannot tell");
	for (size_t i = 0; i < why->n_evidence && why->cause; i++)
		assert_string_not_equal(why->evidence[i], why->cause);
	for (size_t i = 0; i < why->n_evidence && at < sizeof(m->said); i++)
		at += (size_t)snprintf(m->said + at, sizeof(m->said) - at, "\n- %s", why->evidence[i]);
	if (why->fix && at < sizeof(m->said))
		at += (size_t)snprintf(m->said + at, sizeof(m->said) - at, "\n: %s", why->fix);
	assert_true(at < sizeof(m->said));
	if (strstr(m->said, "(null)"))
		fail_msg("a text is missing: %s", m->said);
}

/* A command begins with the name of a program: all else is advice. */
static void assert_commands(const char *fix)
{
	static const char *const programs[] = { "devlink ", "df ",    "dmesg ",	   "echo ",    "ethtool ",  "grep ",
						"ip ",	    "mkdir ", "modprobe ", "nsenter ", "ping ",	    "printf ",
						"prlimit ", "rdma ",  "rdmadiag ", "sysctl ",  "systemctl " };
	_cleanup_free_ char *commands = rd_fix_commands(fix);

	for (char *at = commands, *line; (line = strsep(&at, "\n"));) {
		bool known = false;

		for (size_t i = 0; i < RD_ARRAY_SIZE(programs); i++)
			known |= !strncmp(line, programs[i], strlen(programs[i]));
		if (!known)
			fail_msg("'%s' is not a command", line);
	}
}

static void assert_words(const struct made_failure *m, const char *const *words)
{
	for (; *words; words++)
		if (!strstr(m->said, *words))
			fail_msg("'%s' is missing: %s", *words, m->said);
}

void made_assert_cause(struct made_failure *m, const char *id, enum rd_confidence confidence, const char *const *words)
{
	judge(m);
	if (!m->why.id || strcmp(m->why.id, id) != 0)
		fail_msg("not %s but %s: %s", id, m->why.id ? m->why.id : "nothing", m->said);
	if (m->why.confidence != confidence)
		fail_msg("%s is not of confidence %s but %s: %s", id, rd_confidence_name(confidence),
			 rd_confidence_name(m->why.confidence), m->said);
	assert_non_null(m->why.fix);
	assert_commands(m->why.fix);
	assert_words(m, words);
}

void made_assert_unknown(struct made_failure *m, const char *const *words)
{
	judge(m);
	if (m->why.id || m->why.cause)
		fail_msg("%s: %s", m->why.id, m->said);
	ASSERT_EACH(IS(m->why.n_evidence || !m->f.read, true), IS(m->why.fix != NULL, true));
	assert_commands(m->why.fix);
	assert_words(m, words);
}

void made_assert_not(struct made_failure *m, const char *id)
{
	judge(m);
	if (m->why.id && !strcmp(m->why.id, id))
		fail_msg("%s", m->said);
}
