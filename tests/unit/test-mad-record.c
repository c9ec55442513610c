/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A network that was recorded is the network that the bundle has. */
#include "fake-mads.h"
#include "unit.h"

#include "collect/fabric.h"
#include "collect/pma.h"
#include "source/mad-record.h"
#include "source/record.h"

#include <errno.h>
#include <infiniband/mad.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A host whose port sees a switch at LID 1 and hosts at 2, 3 and 4. */
struct host {
	struct rd_source src;
	struct fake_mads fake;
	struct walk {
		struct rd_walk head;
		struct rd_walk_node nodes[4];
		struct rd_walk_port ports[6];
	} walk;
};

static struct host *host_of(struct rd_source *src)
{
	return (struct host *)src;
}

static int text(const char *what, struct rd_bytes *ret)
{
	ret->data = (uint8_t *)strdup(what);
	ret->size = strlen(what);
	return 0;
}

static int no_file(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	(void)src;
	(void)ret;
	return rd_err_set(err, ENOENT, path, "there is none");
}

static int no_link(struct rd_source *src, const char *path, char **ret, struct rd_err *err)
{
	(void)src;
	(void)ret;
	return rd_err_set(err, ENOENT, path, "there is none");
}

static int ports(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err)
{
	(void)src;
	(void)err;
	return text("ib0 1 0000000000001002 0000000000001002 2 0 1 4 5 100 InfiniBand\n", ret);
}

static int discover(struct rd_source *src, const char *ibdev, unsigned port, const struct rd_mad_walk *how,
		    struct rd_bytes *ret, struct rd_err *err)
{
	(void)ibdev;
	(void)port;
	(void)how;
	(void)err;
	ret->size = sizeof(host_of(src)->walk);
	ret->data = malloc(ret->size);
	memcpy(ret->data, &host_of(src)->walk, ret->size);
	return 0;
}

static int open_port(struct rd_source *src, const char *ibdev, unsigned port, struct rd_mads **ret, struct rd_err *err)
{
	(void)ibdev;
	(void)port;
	(void)err;
	*ret = &host_of(src)->fake.mads;
	return 0;
}

static uint64_t now(struct rd_source *src, int clock)
{
	(void)clock;
	return host_of(src)->fake.now;
}

static const struct rd_source_ops ops = {
	.name = "live",
	.read_file = no_file,
	.read_link = no_link,
	.mad_ports = ports,
	.mad_discover = discover,
	.mad_open = open_port,
	.now = now,
};

static void add_port(struct host *host, uint64_t guid, uint32_t number, uint32_t lid, uint64_t peer,
		     uint32_t peer_number)
{
	struct rd_walk_port *port = &host->walk.ports[host->walk.head.n_ports++];

	*port = (struct rd_walk_port){ guid, peer, number, peer_number, lid, 0, { 0 }, { 0 } };
	mad_set_field(port->port_info, 0, IB_PORT_STATE_F, 4);
	mad_set_field(port->port_info, 0, IB_PORT_LINK_WIDTH_ACTIVE_F, 2);
	mad_set_field(port->port_info, 0, IB_PORT_LINK_SPEED_ACTIVE_F, 4);
	mad_set_field(port->port_info, 0, IB_PORT_LINK_SPEED_EXT_ACTIVE_F, number == 1 ? 2 : 0);
}

static int setup(void **state)
{
	struct host *host = calloc(1, sizeof(*host));

	host->src.ops = &ops;
	fake_mads_init(&host->fake);
	host->fake.value = 9;
	host->walk.head = (struct rd_walk){ RD_WALK_MAGIC, 4, 0, 0x1002, 1, 20, 5000000 };
	for (uint32_t i = 1; i <= 4; i++) {
		struct rd_walk_node *node = &host->walk.nodes[i - 1];

		*node = (struct rd_walk_node){ .guid = 0x1000 + i, .kind = i == 1 ? 2 : 1, .n_ports = i == 1 ? 3 : 1 };
		node->lid = i == 1 ? 1 : 0;
		memset(node->description, 'x', i == 4 ? 64 : 4);
	}
	for (uint32_t i = 2; i <= 4; i++) {
		add_port(host, 0x1001, i - 1, 0, 0x1000 + i, 1);
		add_port(host, 0x1000 + i, 1, i, 0x1001, i - 1);
	}
	*state = host;
	return 0;
}

static int teardown(void **state)
{
	struct host *host = *state;

	fake_mads_deinit(&host->fake);
	free(host);
	return 0;
}

/* All that is known of the network when it was asked once, as text. */
static int look(struct rd_source *src, struct rd_buf *out, struct rd_err *err)
{
	struct rd_sweep_limits limits = RD_SWEEP_LIMITS_DEFAULT;
	struct rd_mad_walk how = { 8, 100, 1, 1000 };
	_cleanup_(rd_fabric_deinit) struct rd_fabric fabric = { 0 };
	_cleanup_(rd_mads_closep) struct rd_mads *mads = NULL;
	_cleanup_free_ struct rd_mad_port *list = NULL;
	uint64_t mask;
	size_t n;
	int r = rd_collect_mad_ports(src, &list, &n, err);

	assert_int_equal(rd_pma_subsets("counters,extended", &mask, NULL), 0);
	if (!r)
		r = rd_mad_open(src, list[0].ibdev, list[0].port, &mads, err);
	if (!r)
		r = rd_collect_fabric(src, &list[0], &how, mask, &fabric, err);
	if (!r)
		r = rd_fabric_sweep(mads, &limits, true, &fabric, err);
	for (size_t i = 0; !r && i < fabric.n_ports; i++) {
		const struct rd_fabric_port *port = &fabric.ports[i];

		rd_buf_printf(out, "%llx/%u lid %u peer %zd state %u %ux%s fresh %d error %d read %llu:",
			      (unsigned long long)fabric.nodes[port->node].guid, port->number, port->lid,
			      (ssize_t)port->peer, port->state, port->width_active,
			      rd_link_speed_name(port->speed_active), port->fresh, port->error,
			      (unsigned long long)port->read_ns);
		for (size_t k = 0; port->values && k < fabric.n_values; k++)
			rd_buf_printf(out, " %llu/%u", (unsigned long long)port->values[k].v, port->values[k].bits);
		rd_buf_str(out, "\n");
	}
	return r;
}

static void a_bundle_tells_what_was_heard(void **state)
{
	struct host *host = *state;
	_cleanup_(rd_source_closep) struct rd_source *recording = NULL, *bundle = NULL;
	_cleanup_(rd_recording_deinit) struct rd_recording done = { 0 };
	_cleanup_buf_ struct rd_buf heard = { 0 }, told = { 0 };
	char path[] = "/tmp/rdmadiag-unit-XXXXXX.tar";
	struct rd_err err = { 0 };

	close(mkstemps(path, 4));
	unlink(path);
	host->fake.agents[3].silent = UINT_MAX;
	assert_int_equal(rd_source_record_open(&host->src, &recording, &err), 0);
	assert_int_equal(look(recording, &heard, &err), 0);
	assert_int_equal(rd_source_record_take(recording, &done, &err), 0);
	assert_int_equal(rd_record_save(&done, "test", path, NULL, &err), 0);
	assert_int_equal(rd_source_bundle_open(path, &bundle, &err), 0);
	assert_int_equal(look(bundle, &told, &err), 0);
	unlink(path);
	assert_non_null(strstr(heard.data, "4xEDR fresh 1"));
	assert_non_null(strstr(heard.data, "4xQDR fresh 1"));
	assert_non_null(strstr(heard.data, "1003/1 lid 3 peer 1 state 4 4xEDR fresh 0 error 110"));
	assert_string_equal(heard.data, told.data);
}

static int none(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err)
{
	(void)src;
	(void)ret;
	return rd_err_set(err, ENODEV, "libibumad", "no port");
}

static void a_host_without_ports_is_recorded_so(void **state)
{
	static const struct rd_source_ops bare = { .name = "live", .mad_ports = none, .now = now };
	struct host host = { .src.ops = &bare };
	_cleanup_(rd_source_closep) struct rd_source *recording = NULL, *bundle = NULL;
	_cleanup_(rd_recording_deinit) struct rd_recording done = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };
	char path[] = "/tmp/rdmadiag-unit-XXXXXX.tar";
	struct rd_err err = { 0 };

	(void)state;
	close(mkstemps(path, 4));
	unlink(path);
	assert_int_equal(rd_source_record_open(&host.src, &recording, &err), 0);
	assert_int_equal(look(recording, &out, &err), -ENODEV);
	assert_int_equal(rd_source_record_take(recording, &done, &err), 0);
	assert_int_equal(rd_record_save(&done, "test", path, NULL, &err), 0);
	assert_int_equal(rd_source_bundle_open(path, &bundle, &err), 0);
	unlink(path);
	assert_int_equal(look(bundle, &out, &err), -ENODEV);
}

static void a_walk_that_is_cut_short_or_lies_is_refused(void **state)
{
	struct host *host = *state;
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_err err = { 0 };

	host->walk.head.n_nodes = 5;
	assert_int_equal(look(&host->src, &out, &err), -EBADMSG);
	host->walk.head.n_nodes = UINT32_MAX;
	host->walk.head.n_ports = UINT32_MAX;
	assert_int_equal(look(&host->src, &out, &err), -EBADMSG);
	host->walk.head.magic[0] = 'x';
	assert_int_equal(look(&host->src, &out, &err), -EBADMSG);
}

static void a_cable_that_one_end_denies_is_none(void **state)
{
	struct host *host = *state;
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_err err = { 0 };

	host->walk.ports[1].peer_number = 3;
	assert_int_equal(look(&host->src, &out, &err), 0);
	assert_non_null(strstr(out.data, "1002/1 lid 2 peer -1 "));
	assert_non_null(strstr(out.data, "1003/1 lid 3 peer 1 "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_bundle_tells_what_was_heard, setup, teardown),
		cmocka_unit_test_setup_teardown(a_host_without_ports_is_recorded_so, setup, teardown),
		cmocka_unit_test_setup_teardown(a_walk_that_is_cut_short_or_lies_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cable_that_one_end_denies_is_none, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
