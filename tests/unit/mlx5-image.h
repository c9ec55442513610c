/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dumps of queue pairs as mlx5's firmware would write them, built from the structures that the kernel publishes
 * (include/linux/mlx5/mlx5_ifc.h of Linux 7.2), field after field. Nothing here is taken from the decoder.
 */
#ifndef RD_TESTS_MLX5_IMAGE_H
#define RD_TESTS_MLX5_IMAGE_H

#include "unit.h"

#include <string.h>

struct part {
	const char *name; /* "": reserved; NULL: the end */
	unsigned bits;
};

/* clang-format off */
/* struct mlx5_ifc_qpc_bits */
static const struct part qpc[] = {
	{ "state", 4 }, { "lag_tx_port_affinity", 4 }, { "st", 8 }, { "", 2 }, { "isolate_vl_tc", 1 }, { "pm_state", 2 },
	{ "", 1 }, { "req_e2e_credit_mode", 2 }, { "offload_type", 4 }, { "end_padding_mode", 2 }, { "", 2 },
	{ "wq_signature", 1 }, { "block_lb_mc", 1 }, { "atomic_like_write_en", 1 }, { "latency_sensitive", 1 }, { "", 1 },
	{ "drain_sigerr", 1 }, { "", 1 }, { "dp_ordering_force", 1 }, { "pd", 24 }, { "mtu", 3 }, { "log_msg_max", 5 },
	{ "", 1 }, { "log_rq_size", 4 }, { "log_rq_stride", 3 }, { "no_sq", 1 }, { "log_sq_size", 4 }, { "", 1 },
	{ "retry_mode", 2 }, { "ts_format", 2 }, { "", 1 }, { "rlky", 1 }, { "ulp_stateless_offload_mode", 4 },
	{ "counter_set_id", 8 }, { "uar_page", 24 }, { "", 8 }, { "user_index", 24 }, { "", 3 }, { "log_page_size", 5 },
	{ "remote_qpn", 24 }, { "primary_address_path", 352 }, { "secondary_address_path", 352 }, { "log_ack_req_freq", 4 },
	{ "", 4 }, { "log_sra_max", 3 }, { "", 2 }, { "retry_count", 3 }, { "rnr_retry", 3 }, { "", 1 }, { "fre", 1 },
	{ "cur_rnr_retry", 3 }, { "cur_retry_count", 3 }, { "", 5 }, { "", 16 }, { "packet_pacing_rate_limit_index", 16 },
	{ "", 8 }, { "next_send_psn", 24 }, { "", 3 }, { "log_num_dci_stream_channels", 5 }, { "cqn_snd", 24 }, { "", 3 },
	{ "log_num_dci_errored_streams", 5 }, { "deth_sqpn", 24 }, { "", 32 }, { "", 8 }, { "last_acked_psn", 24 },
	{ "", 8 }, { "ssn", 24 }, { "", 8 }, { "log_rra_max", 3 }, { "", 1 }, { "atomic_mode", 4 }, { "rre", 1 },
	{ "rwe", 1 }, { "rae", 1 }, { "", 1 }, { "page_offset", 6 }, { "", 2 }, { "dp_ordering_1", 1 },
	{ "cd_slave_receive", 1 }, { "cd_slave_send", 1 }, { "cd_master", 1 }, { "", 3 }, { "min_rnr_nak", 5 },
	{ "next_rcv_psn", 24 }, { "", 8 }, { "xrcd", 24 }, { "", 8 }, { "cqn_rcv", 24 }, { "dbr_addr", 64 },
	{ "q_key", 32 }, { "", 5 }, { "rq_type", 3 }, { "srqn_rmpn_xrqn", 24 }, { "", 8 }, { "rmsn", 24 },
	{ "hw_sq_wqebb_counter", 16 }, { "sw_sq_wqebb_counter", 16 }, { "hw_rq_counter", 32 }, { "sw_rq_counter", 32 },
	{ "", 32 }, { "", 15 }, { "cgs", 1 }, { "cs_req", 8 }, { "cs_res", 8 }, { "dc_access_key", 64 }, { "", 3 },
	{ "dbr_umem_valid", 1 }, { "", 188 },
	{ 0 },
};

/* struct mlx5_ifc_ads_bits */
static const struct part ads[] = {
	{ "fl", 1 }, { "free_ar", 1 }, { "", 14 }, { "pkey_index", 16 }, { "plane_index", 8 }, { "grh", 1 }, { "mlid", 7 },
	{ "rlid", 16 }, { "ack_timeout", 5 }, { "", 3 }, { "src_addr_index", 8 }, { "", 4 }, { "stat_rate", 4 },
	{ "hop_limit", 8 }, { "", 4 }, { "tclass", 8 }, { "flow_label", 20 }, { "rgid_rip", 128 }, { "", 4 },
	{ "f_dscp", 1 }, { "f_ecn", 1 }, { "", 1 }, { "f_eth_prio", 1 }, { "ecn", 2 }, { "dscp", 6 }, { "udp_sport", 16 },
	{ "dei_cfi", 1 }, { "eth_prio", 3 }, { "sl", 4 }, { "vhca_port_num", 8 }, { "rmac_47_32", 16 }, { "rmac_31_0", 32 },
	{ 0 },
};
/* clang-format on */

#define QPC_BYTES 232

/* Where a field begins, and how many bits it has. */
static inline unsigned part_at(const struct part *parts, const char *name, unsigned *bits)
{
	unsigned at = 0;

	for (; parts->name; parts++) {
		if (strcmp(parts->name, name) == 0) {
			*bits = parts->bits;
			return at;
		}
		at += parts->bits;
	}
	fail_msg("no field %s", name);
	*bits = 0;
	return 0;
}

static inline void put_bits(uint8_t *image, unsigned at, unsigned bits, uint64_t value)
{
	for (unsigned i = 0; i < bits; i++, at++) {
		uint8_t mask = (uint8_t)(0x80 >> at % 8);

		image[at / 8] = (uint8_t)(value >> (bits - 1 - i) & 1 ? image[at / 8] | mask : image[at / 8] & ~mask);
	}
}

static inline void set_qpc(uint8_t *image, const char *name, uint32_t value)
{
	unsigned bits, at = part_at(qpc, name, &bits);

	put_bits(image, at, bits, value);
}

static inline void set_path(uint8_t *image, const char *name, uint32_t value)
{
	unsigned bits, path = part_at(qpc, "primary_address_path", &bits), at = part_at(ads, name, &bits);

	put_bits(image, path + at, bits, value);
}

static inline void set_gid(uint8_t *image, const uint8_t *gid)
{
	unsigned bits, path = part_at(qpc, "primary_address_path", &bits), at = part_at(ads, "rgid_rip", &bits);

	memcpy(image + (path + at) / 8, gid, 16);
}

/* A queue pair in RTS to 18 at ::ffff:10.0.0.2, with a different value in each field that is read, and ones in fields between. */
static inline void make_qpc(uint8_t *image)
{
	static const uint8_t gid[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2 };

	memset(image, 0xff, QPC_BYTES);
	set_qpc(image, "state", 3);
	set_qpc(image, "st", 0);
	set_qpc(image, "mtu", 5);
	set_qpc(image, "remote_qpn", 18);
	set_qpc(image, "retry_count", 6);
	set_qpc(image, "rnr_retry", 5);
	set_qpc(image, "cur_rnr_retry", 3);
	set_qpc(image, "cur_retry_count", 2);
	set_qpc(image, "next_send_psn", 0x123456);
	set_qpc(image, "last_acked_psn", 0x123450);
	set_qpc(image, "min_rnr_nak", 12);
	set_qpc(image, "next_rcv_psn", 0x654321);
	set_path(image, "grh", 0);
	set_path(image, "rlid", 0x21);
	set_path(image, "ack_timeout", 18);
	set_path(image, "src_addr_index", 3);
	set_path(image, "hop_limit", 64);
	set_path(image, "tclass", 106);
	set_path(image, "flow_label", 0xabcde);
	set_path(image, "udp_sport", 0xc123);
	set_path(image, "sl", 3);
	set_gid(image, gid);
}

static inline void put_segment(uint8_t *dump, size_t *size, unsigned type, const void *body, size_t n)
{
	put_bits(dump + *size, 0, 16, (n + 4) / 4);
	put_bits(dump + *size, 16, 16, type);
	memcpy(dump + *size + 4, body, n);
	*size += n + 4;
}

/* The dump of queue pair 17: info, command, the resource (with the header of a reply to QUERY_QP, or without), terminate.
 * `dump` has 1024 bytes. Returns its size. */
static inline size_t make_dump(uint8_t *dump, const uint8_t *image, bool reply)
{
	uint8_t info[12] = { [8] = 0x10, [9] = 0x1c, [11] = 0xd8 }, command[16] = { 0x40, 0x00, 0xff, 0xff, [7] = 17 };
	uint8_t resource[12 + 24 + QPC_BYTES] = { [7] = 17 };
	size_t size = 0, at = reply ? 12 + 24 : 12;

	memcpy(resource + at, image, QPC_BYTES);
	if (reply)
		memset(resource + 12 + 16, 0xa5, 8); /* opt_param_mask, ece */
	put_segment(dump, &size, 0xfffe, info, sizeof(info));
	put_segment(dump, &size, 0xfffa, command, sizeof(command));
	put_segment(dump, &size, 0x4000, resource, at + QPC_BYTES);
	put_segment(dump, &size, 0xfffb, "", 0);
	return size;
}

#endif
