/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up failed call with all that the host says about it, and what the rules of lib/diagnose make of it. */
#ifndef RD_UNIT_MADE_FAILURE_H
#define RD_UNIT_MADE_FAILURE_H

#include "unit.h"

#include "diagnose/failure/explain.h"

/* Modules that an origin can be in. */
#define MADE_CORE "ib_core"
#define MADE_UVERBS "ib_uverbs"
#define MADE_CM "rdma_cm"
#define MADE_UCM "rdma_ucm"
#define MADE_DRIVER "mlx5_ib"

#define MADE_PID 4721
#define MADE_PCI "0000:1b:00.0"

struct made_failure {
	struct rd_failure f;
	struct rd_event event;
	struct rd_fnset set;
	struct rd_module module;
	struct rd_fn fn;
	struct rd_dev_attr attrs[16];
	struct rd_explanation why;
	char said[4096]; /* the cause, all evidence and the fix */
};

/*
 * `verb` returned -err, which function `origin` of the module alone produced. The caller is process MADE_PID, of control group /job
 * on a RoCE port, mlx5_0/1 on eth0; all facts were read, and those that are not of the port are unknown or empty. Texts and arrays
 * that a test adds are its own. `m` is zeroed before the first, and may be used for several, one after the other.
 */
void made_failure(struct made_failure *m, const char *verb, int err, const char *module, const char *origin);
void made_end(struct made_failure *m);

/* Each changes one thing and returns `m`, so that an assertion says what it changes: ASSERT_NOTHING(made_errno(m, EIO)). */
/* Another origin of the failure: both, or one of them. */
struct made_failure *made_origin(struct made_failure *m, const char *module, const char *function);
struct made_failure *made_module(struct made_failure *m, const char *module);
struct made_failure *made_function(struct made_failure *m, const char *function);
struct made_failure *made_errno(struct made_failure *m, int err);
struct made_failure *made_verb(struct made_failure *m, const char *verb);
/* Whether the origin is the only function that it can be. */
struct made_failure *made_exact(struct made_failure *m, bool exact);
/* The state of the rdma_cm_id when the call began. */
struct made_failure *made_cm_state(struct made_failure *m, uint8_t state);
/* A field of the request, its destination GID, or one of its socket addresses. */
struct made_failure *made_field(struct made_failure *m, enum rd_req_field field, uint64_t v);
struct made_field {
	int field; /* the last: -1 */
	uint64_t v;
};
struct made_failure *made_fields(struct made_failure *m, const struct made_field *fields);
#define MADE_FIELDS(m, ...) made_fields(m, (const struct made_field[]){ __VA_ARGS__, { -1, 0 } })
struct made_failure *made_to_gid(struct made_failure *m, const char *address);
struct made_failure *made_source(struct made_failure *m, const char *address, uint16_t port);
struct made_failure *made_destination(struct made_failure *m, const char *address, uint16_t port);
/* An object that the request names: it exists, and is of the kind that the field must name. */
struct rd_moment_handle *made_handle(struct made_failure *m, enum rd_req_field field, uint32_t handle);
/* A limit of the device. */
struct made_failure *made_attr(struct made_failure *m, const char *name, uint64_t value);
/* An IPv4 address, as GID and as socket address. */
void made_gid_of(const char *address, uint8_t *gid);
struct rd_req_address made_address_of(const char *address, uint16_t port);

/* Judges, and requires this cause; the sentence, the evidence and the fix together contain all the words. */
void made_assert_cause(struct made_failure *m, const char *id, enum rd_confidence confidence, const char *const *words);
/* Judges, and requires that there is no cause, and the words in what was looked at. */
void made_assert_unknown(struct made_failure *m, const char *const *words);
/* Judges, and requires that the cause is another, or none. */
void made_assert_not(struct made_failure *m, const char *id);

#define ASSERT_CAUSE(m, id, confidence, ...) \
	made_assert_cause(m, id, RD_CONFIDENCE_##confidence, (const char *const[]){ __VA_ARGS__, NULL })
#define ASSERT_UNKNOWN(m, ...) made_assert_unknown(m, (const char *const[]){ __VA_ARGS__, NULL })
#define ASSERT_NOTHING(m) made_assert_unknown(m, (const char *const[]){ NULL })

#define FAILURE_TEST(name) TEST_ON(name, struct made_failure, m, { 0 }, made_end)

#endif
