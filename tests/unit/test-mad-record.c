/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A network that was recorded is the network that the bundle has. */
#include "fake-mads.h"
#include "tests/source-parts.h"
#include "unit.h"

#include "collect/fabric/fabric.h"
#include "source/record/mad-record.h"
#include "source/record/record.h"

#include <infiniband/mad.h>
#include <time.h>

#define RECORDING_MAX 1000000

/* A host whose port sees a switch at LID 1 and hosts at 2, 3 and 4. */
struct host {
	struct rd_source src;
	struct fake_mads fake;
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

static int ports(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err)
{
	return text("ib0 1 0000000000001002 0000000000001002 2 0 1 4 5 100 InfiniBand\n", ret);
}

static int open_port(struct rd_source *src, const char *ibdev, unsigned port, struct rd_mads **ret, struct rd_err *err)
{
	*ret = &host_of(src)->fake.mads;
	return 0;
}

static uint64_t now(struct rd_source *src, int clock)
{
	return host_of(src)->fake.now;
}

static const struct source_parts ops = {
	.ops.get = parts_get,
	.ops.name = "live",
	.ops.mad_ports = ports,
	.ops.mad_open = open_port,
	.ops.now = now,
};

static int setup(void **state)
{
	struct host *host = calloc(1, sizeof(*host));

	host->src.ops = &ops.ops;
	fake_mads_init(&host->fake);
	host->fake.value = 9;
	/* Ours is the host at LID 2. */
	fake_node_add(&host->fake, 1, 1, 2);
	fake_node_add(&host->fake, 2, 3, 1);
	fake_cable(&host->fake, 0, 1, 1, 1);
	for (unsigned i = 3; i <= 4; i++)
		fake_cable(&host->fake, fake_node_add(&host->fake, 1, 1, (uint16_t)i), 1, 1, i - 1);
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
		r = rd_collect_fabric(mads, &list[0], &limits, mask, &fabric, err);
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

TEST_WITH(a_bundle_tells_what_was_heard, setup, teardown)
{
	struct host *host = *state;
	_cleanup_(rd_source_closep) struct rd_source *recording = NULL, *bundle = NULL;
	_cleanup_(rd_recording_deinit) struct rd_recording done = { 0 };
	_cleanup_buf_ struct rd_buf heard = { 0 }, told = { 0 };
	char path[] = "/tmp/rdmadiag-unit-XXXXXX.tar";

	close(mkstemps(path, 4));
	unlink(path);
	host->fake.agents[3].silent_attribute = IB_GSI_PORT_COUNTERS;
	recording = rd_source_record_open(&host->src);
	assert_int_equal(look(recording, &heard, NULL), 0);
	assert_int_equal(rd_source_record_take(recording, &done, NULL), 0);
	assert_int_equal(rd_record_save(&done, "test", path, false, NULL, NULL), 0);
	assert_int_equal(rd_source_bundle_open(path, &bundle, NULL), 0);
	assert_int_equal(look(bundle, &told, NULL), 0);
	unlink(path);
	ASSERT_HAS(heard.data, "4xEDR fresh 1", "4xQDR fresh 1", "1003/1 lid 3 peer 1 state 4 4xEDR fresh 1 error 110");
	assert_string_equal(heard.data, told.data);
}

TEST_WITH(keys_of_ports_are_not_recorded, setup, teardown)
{
	static const uint8_t key[] = { 0x5e, 0xc4, 0xe7, 0x5e, 0xc4, 0xe7 };
	struct host *host = *state;
	_cleanup_(rd_source_closep) struct rd_source *recording = NULL;
	_cleanup_(rd_recording_deinit) struct rd_recording done = { 0 };
	_cleanup_buf_ struct rd_buf heard = { 0 };
	_cleanup_free_ char *bytes = calloc(1, RECORDING_MAX);
	char path[] = "/tmp/rdmadiag-unit-XXXXXX.tar";
	size_t size;
	FILE *file;

	close(mkstemps(path, 4));
	unlink(path);
	recording = rd_source_record_open(&host->src);
	assert_int_equal(look(recording, &heard, NULL), 0);
	assert_int_equal(rd_source_record_take(recording, &done, NULL), 0);
	assert_int_equal(rd_record_save(&done, "test", path, false, NULL, NULL), 0);
	file = fopen(path, "re");
	assert_non_null(file);
	unlink(path);
	size = fread(bytes, 1, RECORDING_MAX, file);
	fclose(file);
	assert_non_null(memmem(bytes, size, "node 3", 6));
	assert_null(memmem(bytes, size, key, sizeof(key)));
}

static int none(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err)
{
	return rd_err_set(err, ENODEV, "libibumad", "no port");
}

TEST_WITH(a_host_without_ports_is_recorded_so, setup, teardown)
{
	static const struct source_parts bare = {
		.ops.get = parts_get, .ops.name = "live", .ops.mad_ports = none, .ops.now = now
	};
	struct host host = { .src.ops = &bare.ops };
	_cleanup_(rd_source_closep) struct rd_source *recording = NULL, *bundle = NULL;
	_cleanup_(rd_recording_deinit) struct rd_recording done = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };
	char path[] = "/tmp/rdmadiag-unit-XXXXXX.tar";
	struct rd_err err = { 0 };

	close(mkstemps(path, 4));
	unlink(path);
	recording = rd_source_record_open(&host.src);
	assert_int_equal(look(recording, &out, &err), -ENODEV);
	assert_int_equal(rd_source_record_take(recording, &done, &err), 0);
	assert_int_equal(rd_record_save(&done, "test", path, false, NULL, &err), 0);
	assert_int_equal(rd_source_bundle_open(path, &bundle, &err), 0);
	unlink(path);
	assert_int_equal(look(bundle, &out, &err), -ENODEV);
}
