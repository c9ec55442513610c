/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What drivers fill in when the kernel queries queue pairs for its list: what is known of it, and what is not used. */
#include "unit.h"

#include "collect/rdma/rdma.h"
#include "model/rdma/qp-view.h"
#include "qp-attrs.h"
#include "source/redact/redact.h"

#include <linux/types.h>

#include "bpf/qp.h"

#define DEV 7
#define POISON 0xa5
#define RQPN 33
#define SQ_PSN 1000
#define RQ_PSN 2000

static const uint8_t peer[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2 };
static const uint8_t other[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 3 };

struct scene {
	struct rd_res_dev dev;
	struct rd_qp qp;
	struct rd_res res;
	struct rd_query_value value;
	struct rd_errlist errors;
};

/* A queue pair of that driver, as the kernel lists it, and its query: all members as the program set them. */
static void begin(struct scene *scene, enum rd_driver driver, uint8_t type, uint8_t state)
{
	struct rd_query_value *value = &scene->value;

	*scene = (struct scene){ .dev = { .index = DEV, .name = (char *)"rdma0", .protocol = (char *)"roce" } };
	scene->res = (struct rd_res){ .devs = &scene->dev, .n_devs = 1, .qps = &scene->qp, .n_qps = 1 };
	RD_SET(scene->dev.driver_id, driver);
	RD_SET(scene->qp.lqpn, 17);
	RD_SET(scene->qp.type, type);
	RD_SET(scene->qp.state, state);
	RD_SET(scene->qp.rqpn, RQPN);
	RD_SET(scene->qp.sq_psn, SQ_PSN);
	RD_SET(scene->qp.rq_psn, RQ_PSN);
	RD_SET(scene->qp.path_mig, 0);
	*value = (struct rd_query_value){
		.qp.version = RD_QUERY_VERSION, .qp.qpn = 17, .qp.qp_type = type, .alt_port = 2
	};
	value->qp.known = UINT64_MAX;
	memcpy(value->qp.dgid, peer, 16);
	memcpy(value->alt_dgid, other, 16);
	SET_ATTRS(&value->qp, NULL, { RD_QPA_STATE, state }, { RD_QPA_DEST_QPN, RQPN }, { RD_QPA_SQ_PSN, SQ_PSN },
		  { RD_QPA_RQ_PSN, RQ_PSN }, { RD_QPA_PATH_MTU, 3 }, { RD_QPA_AH_TYPE, 2 }, { RD_QPA_AH_FLAGS, 1 },
		  { RD_QPA_SGID_INDEX, 5 }, { RD_QPA_FLOW_LABEL, 6 }, { RD_QPA_TIMEOUT, 14 }, { RD_QPA_RETRY_CNT, 6 },
		  { RD_QPA_RNR_RETRY, 5 }, { RD_QPA_MIN_RNR_TIMER, 12 });
}

/* The context that results; NULL: nothing is known. */
static const struct rd_qp_context *take(struct scene *scene)
{
	const struct rd_source_map map = { 1, sizeof(struct rd_qp_key), sizeof(scene->value), 1, 0 };
	const struct rd_qp_key key = { DEV, 17 };
	_cleanup_buf_ struct rd_buf maps = { 0 };

	rd_buf_add(&maps, &map, sizeof(map));
	rd_buf_add(&maps, &key, sizeof(key));
	rd_buf_add(&maps, &scene->value, sizeof(scene->value));
	rd_qp_queries_take(&(struct rd_bytes){ (uint8_t *)maps.data, maps.len }, &scene->res, &scene->errors);
	return scene->qp.context;
}

static void end(struct scene *scene)
{
	rd_qp_deinit(&scene->qp);
	rd_errlist_deinit(&scene->errors);
}

/* What each driver is known to write: "p" peer, "i" sgid_index, "f" flow label, "c" traffic class, "m" path MTU, "t" timeout, "r" retry
 * counts, "n" min_rnr_timer, "a" alternate path. */
TEST(each_driver)
{
	static const struct {
		enum rd_driver driver;
		uint8_t type, state;
		const char *known;
	} cells[] = {
		{ RD_DRIVER_MLX5, RD_QPT_RC, RD_QPS_RTS, "pifcmtrna" },
		{ RD_DRIVER_MLX5, RD_QPT_RC, RD_QPS_INIT, "" },
		{ RD_DRIVER_MLX5, RD_QPT_RC, RD_QPS_RTR, "pifcmna" },
		{ RD_DRIVER_MLX5, RD_QPT_UC, RD_QPS_RTS, "pifcma" },
		{ RD_DRIVER_MLX5, RD_QPT_XRC_INI, RD_QPS_SQD, "pifcmtra" },
		{ RD_DRIVER_MLX5, RD_QPT_XRC_TGT, RD_QPS_RTS, "pifcmna" },
		{ RD_DRIVER_MLX5, RD_QPT_UD, RD_QPS_RTS, "" },
		{ RD_DRIVER_MLX5, RD_QPT_DRIVER, RD_QPS_RTR, "" },
		{ RD_DRIVER_MLX4, RD_QPT_RC, RD_QPS_ERR, "pfcmtrna" },
		{ RD_DRIVER_MLX4, RD_QPT_RC, RD_QPS_RESET, "" },
		{ RD_DRIVER_BNXT_RE, RD_QPT_RC, RD_QPS_RTS, "pimtrn" },
		{ RD_DRIVER_BNXT_RE, RD_QPT_UC, RD_QPS_RTS, "" },
		{ RD_DRIVER_IRDMA, RD_QPT_RC, RD_QPS_RTS, "mr" },
		{ RD_DRIVER_IONIC, RD_QPT_RC, RD_QPS_RTS, "mtrn" },
		{ RD_DRIVER_IONIC, RD_QPT_UC, RD_QPS_RTS, "" },
		{ RD_DRIVER_HFI1, RD_QPT_RC, RD_QPS_RTS, "mtrn" },
		{ RD_DRIVER_HFI1, RD_QPT_UC, RD_QPS_RTS, "m" },
		{ RD_DRIVER_ERDMA, RD_QPT_RC, RD_QPS_RTS, "pifc" },
		{ RD_DRIVER_HNS, RD_QPT_RC, RD_QPS_RTS, "pifm" },
		{ RD_DRIVER_HNS, RD_QPT_UC, RD_QPS_RTS, "" },
		{ RD_DRIVER_OCRDMA, RD_QPT_RC, RD_QPS_RTS, "ifctr" },
		{ RD_DRIVER_QEDR, RD_QPT_RC, RD_QPS_RTS, "ifcmrn" },
		{ RD_DRIVER_RXE, RD_QPT_RC, RD_QPS_RTS, "pifcmtrna" },
		{ RD_DRIVER_SIW, RD_QPT_RC, RD_QPS_RTS, "" },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cells); i++) {
		static const struct rd_qp_context none;
		const struct rd_qp_context *context;
		char known[16] = "", *at = known;
		struct scene scene;

		begin(&scene, cells[i].driver, cells[i].type, cells[i].state);
		context = take(&scene) ?: &none;
		*at = 'p', at += context->attrs.has_dgid;
		*at = 'i', at += context->attrs.sgid_index.known == RD_OK;
		*at = 'f', at += context->attrs.flow_label.known == RD_OK;
		*at = 'c', at += context->attrs.traffic_class.known == RD_OK;
		*at = 'm', at += context->attrs.path_mtu.known == RD_OK;
		*at = 't', at += context->attrs.timeout.known == RD_OK;
		*at = 'r', at += context->attrs.retry_cnt.known == RD_OK && context->attrs.rnr_retry.known == RD_OK;
		*at = 'n', at += context->attrs.min_rnr_timer.known == RD_OK;
		*at = 'a', at += context->alt_port.known == RD_OK;
		*at = 0;
		assert_string_equal(known, cells[i].known);
		end(&scene);
	}
}

TEST(values_are_those_of_the_query)
{
	const struct rd_qp_context *context;
	struct scene scene;

	begin(&scene, RD_DRIVER_MLX5, RD_QPT_RC, RD_QPS_RTS);
	context = take(&scene);
	assert_true(context->queried);
	assert_memory_equal(context->attrs.dgid, peer, 16);
	ASSERT_EACH(IS(context->attrs.path_mtu.v, 1024), IS(context->attrs.sgid_index.v, 5),
		    IS(context->attrs.flow_label.v, 6), IS(context->attrs.timeout.v, 14),
		    IS(context->attrs.retry_cnt.v, 6), IS(context->attrs.rnr_retry.v, 5),
		    IS(context->attrs.min_rnr_timer.v, 12), IS(context->alt_port.v, 2));
	assert_memory_equal(context->alt_dgid, other, 16);
	assert_int_equal(context->dlid.known, RD_ABSENT);
	end(&scene);
	/* InfiniBand without a GRH: a LID, and what is in place of the GID is none. */
	begin(&scene, RD_DRIVER_MLX5, RD_QPT_RC, RD_QPS_RTS);
	scene.dev.protocol = (char *)"ib";
	SET_ATTRS(&scene.value.qp, NULL, { RD_QPA_AH_TYPE, 1 }, { RD_QPA_AH_FLAGS, 0 });
	scene.value.qp.dlid = 12;
	context = take(&scene);
	assert_int_equal(context->dlid.v, 12);
	assert_false(context->attrs.has_dgid);
	end(&scene);
}

/* Every value that the list has as well must be the same: else it is another query, or another queue pair. */
TEST(what_contradicts_the_list_is_not_used)
{
	static const enum rd_qp_attr_field fields[] = { RD_QPA_STATE, RD_QPA_DEST_QPN, RD_QPA_SQ_PSN, RD_QPA_RQ_PSN };
	struct scene scene;

	for (size_t i = 0; i < RD_ARRAY_SIZE(fields); i++) {
		begin(&scene, RD_DRIVER_MLX5, RD_QPT_RC, RD_QPS_RTS);
		scene.value.qp.wide[fields[i]]++;
		assert_null(take(&scene));
		end(&scene);
	}
	begin(&scene, RD_DRIVER_MLX5, RD_QPT_RC, RD_QPS_RTS);
	scene.value.path_mig = 1;
	assert_null(take(&scene));
	scene.value.path_mig = 0;
	scene.value.qp.qp_type = RD_QPT_UC;
	assert_null(take(&scene));
	end(&scene);
	begin(&scene, RD_DRIVER_IRDMA, RD_QPT_RC, RD_QPS_RTS);
	scene.dev.protocol = (char *)"iw";
	assert_null(take(&scene));
	end(&scene);
}

/* What the driver does not write holds another queue pair, or anything. */
TEST(poison)
{
	const struct rd_qp_context *context;
	struct scene scene;

	begin(&scene, RD_DRIVER_IRDMA, RD_QPT_RC, RD_QPS_RTS);
	memset(scene.value.qp.dgid, POISON, 16);
	SET_ATTRS(&scene.value.qp, NULL, { RD_QPA_TIMEOUT, POISON }, { RD_QPA_MIN_RNR_TIMER, POISON });
	context = take(&scene);
	assert_false(context->attrs.has_dgid);
	ASSERT_EACH(IS(context->attrs.timeout.known, RD_ABSENT), IS(context->attrs.retry_cnt.v, 6));
	end(&scene);
	/* A driver that is not as it was when it was read. */
	begin(&scene, RD_DRIVER_MLX5, RD_QPT_RC, RD_QPS_RTS);
	SET_ATTRS(&scene.value.qp, NULL, { RD_QPA_TIMEOUT, POISON }, { RD_QPA_RNR_RETRY, POISON },
		  { RD_QPA_MIN_RNR_TIMER, POISON }, { RD_QPA_PATH_MTU, POISON });
	context = take(&scene);
	assert_int_equal(context->attrs.timeout.known, RD_ABSENT);
	assert_int_equal(context->attrs.retry_cnt.known, RD_ABSENT);
	ASSERT_EACH(IS(context->attrs.min_rnr_timer.known, RD_ABSENT), IS(context->attrs.path_mtu.known, RD_ABSENT));
	end(&scene);
	/* It may have failed before it was moved to RTS. */
	begin(&scene, RD_DRIVER_MLX5, RD_QPT_RC, RD_QPS_ERR);
	SET_ATTRS(&scene.value.qp, NULL, { RD_QPA_TIMEOUT, 0 });
	assert_int_equal(take(&scene)->attrs.retry_cnt.known, RD_ABSENT);
	end(&scene);
}

/* RESET or INIT to ERR: nothing was set, though a driver writes what it begins with. */
TEST(failed_before_it_was_connected)
{
	_cleanup_(end) struct scene scene;

	begin(&scene, RD_DRIVER_MLX5, RD_QPT_RC, RD_QPS_ERR);
	RD_SET(scene.qp.rqpn, 0);
	SET_ATTRS(&scene.value.qp, NULL, { RD_QPA_DEST_QPN, 0 });
	assert_null(take(&scene));
}

/* mlx4 has port 1 of an alternate path that was never set; without a GRH it has a LID. */
TEST(alternate_path)
{
	static const struct {
		bool gid;
		uint16_t dlid;
		bool known;
	} cells[] = { { false, 0, false }, { true, 0, true }, { false, 12, true } };

	for (size_t i = 0; i < RD_ARRAY_SIZE(cells); i++) {
		struct scene scene;

		begin(&scene, RD_DRIVER_MLX4, RD_QPT_RC, RD_QPS_RTS);
		if (!cells[i].gid)
			memset(scene.value.alt_dgid, 0, 16);
		scene.value.alt_dlid = cells[i].dlid;
		assert_int_equal(take(&scene)->alt_port.known == RD_OK, cells[i].known);
		end(&scene);
	}
}

TEST(another_version_is_an_error)
{
	_cleanup_(end) struct scene scene;

	begin(&scene, RD_DRIVER_MLX5, RD_QPT_RC, RD_QPS_RTS);
	scene.value.qp.version++;
	assert_null(take(&scene));
	assert_int_equal(scene.errors.n, 1);
}

TEST(both_gids_are_redacted)
{
	_cleanup_(rd_redact_deinit) struct rd_redact redact = { .key = { { 1, 2 } } };
	_cleanup_buf_ struct rd_buf out = { 0 }, maps = { 0 };
	_cleanup_(end) struct scene scene;

	begin(&scene, RD_DRIVER_MLX5, RD_QPT_RC, RD_QPS_RTS);
	rd_buf_add(&maps, &(struct rd_source_map){ 1, sizeof(struct rd_qp_key), sizeof(scene.value), 1, 0 },
		   sizeof(struct rd_source_map));
	rd_buf_add(&maps, &(struct rd_qp_key){ DEV, 17 }, sizeof(struct rd_qp_key));
	rd_buf_add(&maps, &scene.value, sizeof(scene.value));
	rd_redact_qps(&redact, (uint8_t *)maps.data, maps.len, true, &out);
	assert_int_equal(out.len, maps.len);
	assert_null(memmem(out.data, out.len, peer, sizeof(peer)));
	assert_null(memmem(out.data, out.len, other, sizeof(other)));
}
