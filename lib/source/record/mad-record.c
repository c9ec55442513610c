/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recording and replay of the requests and responses of a MAD port. */
#include "source/record/mad-record.h"
#include "source/shared/libibmad.h"

#include <time.h>

#define RECORDS_MAX ((size_t)1 << 22)
#define CLASS_PERFORMANCE 0x04
#define ATTR_PORT_INFO 0x15
#define DATA_AT 64
#define KEY_SIZE 8

/* A record of a response file, in host byte order; followed by `queried` bytes of the request and `replied` bytes of the response,
 * each without trailing zeros. The transaction ID is zero in both. */
struct record {
	uint64_t latency_ns;
	int32_t status;
	uint16_t lid, size, queried, replied;
	uint8_t gid[16]; /* of the destination, if it has one */
	uint8_t pad[4];
};

/* A request in flight. */
struct open_ask {
	uint32_t tid;
	uint64_t sent_ns;
	struct rd_mad mad;
};

struct recorder {
	struct rd_mads mads;
	struct rd_mads *inner;
	struct open_ask *queries;
	size_t n, cap;
	struct rd_buf *log;
	rd_mad_kept_fn *kept;
	void *arg;
};

static size_t used(const uint8_t *data, size_t size)
{
	while (size && !data[size - 1])
		size--;
	return size;
}

static void clear_tid(uint8_t *data)
{
	memset(data + 8, 0, 8);
}

static int recorder_send(struct rd_mads *mads, const struct rd_mad *mad, unsigned timeout_ms, struct rd_err *err)
{
	struct recorder *recorder = (struct recorder *)mads;
	struct rd_mads *inner = recorder->inner;
	int r = inner->ops->send(inner, mad, timeout_ms, err);

	if (r == 0)
		*RD_ADD(recorder->queries, recorder->n, recorder->cap) =
			(struct open_ask){ mad->tid, inner->ops->now(inner), *mad };
	return r;
}

static void keep_response(struct recorder *recorder, const struct open_ask *query, const struct rd_mad *answer)
{
	struct record record = {
		.latency_ns = recorder->inner->ops->now(recorder->inner) - query->sent_ns,
		.status = answer->status,
		.lid = query->mad.dest.lid,
		.size = (uint16_t)answer->size,
	};
	uint8_t question[RD_MAD_SIZE], data[RD_MAD_SIZE];

	memcpy(record.gid, query->mad.dest.gid, sizeof(record.gid));
	memcpy(question, query->mad.data, sizeof(question));
	memcpy(data, answer->data, sizeof(data));
	/* PortInfo begins with the M_Key of the port, which is secret. */
	if (data[1] != CLASS_PERFORMANCE && data[16] == 0 && data[17] == ATTR_PORT_INFO)
		memset(data + DATA_AT, 0, KEY_SIZE);
	clear_tid(question);
	clear_tid(data);
	record.queried = (uint16_t)used(question, sizeof(question));
	record.replied = (uint16_t)used(data, sizeof(data));
	rd_buf_add(recorder->log, &record, sizeof(record));
	rd_buf_add(recorder->log, question, record.queried);
	rd_buf_add(recorder->log, data, record.replied);
}

static int recorder_recv(struct rd_mads *mads, struct rd_mad *ret, int timeout_ms, struct rd_err *err)
{
	struct recorder *recorder = (struct recorder *)mads;
	int r = recorder->inner->ops->recv(recorder->inner, ret, timeout_ms, err);

	for (size_t i = 0; r > 0 && i < recorder->n; i++)
		if (recorder->queries[i].tid == ret->tid) {
			keep_response(recorder, &recorder->queries[i], ret);
			recorder->queries[i] = recorder->queries[--recorder->n];
			break;
		}
	return r;
}

static uint64_t recorder_now(struct rd_mads *mads)
{
	return ((struct recorder *)mads)->inner->ops->now(((struct recorder *)mads)->inner);
}

static void recorder_close(struct rd_mads *mads)
{
	struct recorder *recorder = (struct recorder *)mads;

	recorder->kept(recorder->arg, recorder->log);
	rd_mads_closep(&recorder->inner);
	RD_FREE(recorder->queries, recorder);
}

static const struct rd_mads_ops recorder_ops = {
	.send = recorder_send,
	.recv = recorder_recv,
	.now = recorder_now,
	.close = recorder_close,
};

struct rd_mads *rd_mads_record(struct rd_mads *inner, struct rd_buf *log, rd_mad_kept_fn *kept, void *arg)
{
	struct recorder *recorder = rd_alloc(1, sizeof(*recorder));

	*recorder = (struct recorder){ { &recorder_ops }, inner, NULL, 0, 0, log, kept, arg };
	return &recorder->mads;
}

/* Recorded responses, looked up by the hash of the request; of several responses to one request the last is used. */
struct teller {
	struct rd_mads mads;
	struct rd_bytes file;
	struct told {
		uint64_t hash; /* first: for rd_find_u64 */
		size_t at;
	} * told;
	size_t n, cap;
	struct coming {
		uint64_t at_ns;
		struct rd_mad mad;
	} * coming;
	size_t n_coming, cap_coming;
	uint64_t now_ns;
};

static uint64_t hash_of(uint16_t lid, const uint8_t gid[16], const uint8_t *question, size_t queried)
{
	uint64_t hash = rd_hash(RD_HASH, &lid, sizeof(lid));

	hash = rd_hash(hash, gid, 16);
	return rd_hash(hash, question, queried);
}

/* A recorded response comes, or a timeout. */
static int teller_send(struct rd_mads *mads, const struct rd_mad *mad, unsigned timeout_ms, struct rd_err *err)
{
	struct teller *teller = (struct teller *)mads;
	uint8_t question[RD_MAD_SIZE];
	const struct told *told;
	struct coming *coming;
	struct record record;
	uint64_t hash;

	memcpy(question, mad->data, sizeof(question));
	clear_tid(question);
	hash = hash_of(mad->dest.lid, mad->dest.gid, question, used(question, sizeof(question)));
	told = rd_find_u64(teller->told, teller->n, sizeof(*teller->told), hash);
	coming = RD_ADD(teller->coming, teller->n_coming, teller->cap_coming);
	*coming = (struct coming){ .at_ns = teller->now_ns + (uint64_t)timeout_ms * 1000000,
				   .mad = { .tid = mad->tid, .status = ETIMEDOUT } };
	if (!told)
		return 0;
	memcpy(&record, teller->file.data + told->at, sizeof(record));
	coming->at_ns = teller->now_ns + record.latency_ns;
	coming->mad.status = record.status;
	coming->mad.size = record.size;
	memcpy(coming->mad.data, teller->file.data + told->at + sizeof(record) + record.queried, record.replied);
	return 0;
}

static int teller_recv(struct rd_mads *mads, struct rd_mad *ret, int timeout_ms, struct rd_err *err)
{
	struct teller *teller = (struct teller *)mads;
	uint64_t end = teller->now_ns + (uint64_t)timeout_ms * 1000000;
	struct coming *first = NULL;

	for (size_t i = 0; i < teller->n_coming; i++)
		if (!first || teller->coming[i].at_ns < first->at_ns)
			first = &teller->coming[i];
	if (!first || first->at_ns > end) {
		teller->now_ns = end;
		return 0;
	}
	teller->now_ns = first->at_ns > teller->now_ns ? first->at_ns : teller->now_ns;
	*ret = first->mad;
	*first = teller->coming[--teller->n_coming];
	return 1;
}

static uint64_t teller_now(struct rd_mads *mads)
{
	return ((struct teller *)mads)->now_ns;
}

static void teller_close(struct rd_mads *mads)
{
	struct teller *teller = (struct teller *)mads;

	rd_bytes_deinit(&teller->file);
	RD_FREE(teller->told, teller->coming, teller);
}

static const struct rd_mads_ops teller_ops = {
	.send = teller_send,
	.recv = teller_recv,
	.now = teller_now,
	.close = teller_close,
};

static int compare_told(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	return RD_CMP(x->hash, y->hash) ?: RD_CMP(x->at, y->at);
}

/* Validates every record before any of them is used. */
static int index_file(struct teller *teller)
{
	size_t n = 0;

	for (size_t at = 0; at < teller->file.size;) {
		const uint8_t *data = teller->file.data + at;
		size_t left = teller->file.size - at;
		struct record record;

		if (left < sizeof(record) || teller->n >= RECORDS_MAX)
			return -EBADMSG;
		memcpy(&record, data, sizeof(record));
		left -= sizeof(record);
		if (record.queried > RD_MAD_SIZE || record.replied > RD_MAD_SIZE || record.size > RD_MAD_SIZE ||
		    record.status < 0 || (size_t)record.queried + record.replied > left ||
		    record.latency_ns > UINT64_C(1000000000) * 3600)
			return -EBADMSG;
		*RD_ADD(teller->told, teller->n, teller->cap) =
			(struct told){ hash_of(record.lid, record.gid, data + sizeof(record), record.queried), at };
		at += sizeof(record) + record.queried + record.replied;
	}
	rd_sort(teller->told, teller->n, sizeof(*teller->told), compare_told);
	for (size_t i = 0; i < teller->n; i++) {
		n -= n && teller->told[n - 1].hash == teller->told[i].hash;
		teller->told[n++] = teller->told[i];
	}
	teller->n = n;
	return 0;
}

int rd_mads_tell(struct rd_bytes *file, const char *name, uint64_t now_ns, struct rd_mads **ret, struct rd_err *err)
{
	struct teller *teller = rd_alloc(1, sizeof(*teller));

	*teller = (struct teller){ .mads.ops = &teller_ops, .file = *file, .now_ns = now_ns };
	*file = (struct rd_bytes){ 0 };
	if (index_file(teller) < 0) {
		teller_close(&teller->mads);
		return rd_err_set(err, EBADMSG, name, "not a file of recorded responses");
	}
	*ret = &teller->mads;
	return 0;
}

int rd_mad_path(const char *ibdev, unsigned port, char buf[RD_MAD_PATH_MAX], struct rd_err *err)
{
	if (!*ibdev || *ibdev == '.' || strchr(ibdev, '/') || strlen(ibdev) > 64)
		return rd_err_set(err, EINVAL, ibdev, "invalid device name");
	snprintf(buf, RD_MAD_PATH_MAX, RD_MAD_DIR "/%s-%u/answers", ibdev, port);
	return 0;
}

/* A source without MAD operations may have the files of a recording. */
int rd_mad_ports(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err)
{
	return src->ops->mad_ports ? src->ops->mad_ports(src, ret, err) : rd_read_file(src, RD_MAD_PORTS, ret, err);
}

int rd_mad_open(struct rd_source *src, const char *ibdev, unsigned port, struct rd_mads **ret, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes file = { 0 };
	char path[RD_MAD_PATH_MAX];
	int r = rd_libibmad_load(ibdev, err);

	if (r < 0)
		return r;
	if (src->ops->mad_open)
		return src->ops->mad_open(src, ibdev, port, ret, err);
	r = rd_mad_path(ibdev, port, path, err);
	if (!r)
		r = rd_read_file(src, path, &file, err);
	if (!r)
		r = rd_mads_tell(&file, path, src->ops->now(src, CLOCK_MONOTONIC), ret, err);
	return r;
}
