/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verbs-fault: one fault of an RDMA program per name, and the truth about it. Each run sets up, says the truth, makes
 * one call that fails, says its result, and ends without cleaning up.
 */
#ifndef FAULT_H
#define FAULT_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((unsigned long)sysconf(_SC_PAGESIZE))
#define PAGE_MAX 65536
#define MAP_HUGE (MAP_HUGETLB | 21 << 26) /* MAP_HUGE_2MB: another size may be the default */
/* Below every mapping of a position-independent program, above vm.mmap_min_addr. */
#define UNMAPPED ((void *)(1UL << 20))
#define NOBODY 65534
#define RDWR (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

/* Each needs what comes before it. QP: an RC queue pair in RESET, and further in the state named. */
enum needs { NOTHING, CONTEXT, PD, CQ, QP, QP_INIT, QP_RTR, QP_RTS };

struct options {
	const char *dev, *peer, *file, *bar;
	long gid_index;
	bool linger, again;
};

struct fault;

struct env {
	struct options opt;
	const struct fault *fault;
	const char *dev; /* the device that is open, or will be */
	struct ibv_context *ctx;
	struct ibv_device_attr attr;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

struct fault {
	const char *name, *verb, *cause, *what;
	enum needs needs;
	/* The errno of the call, 0 if it succeeded, -1 if it could not be tried. */
	int (*run)(struct env *env);
	int arg;
};

/* Tables end with an entry without a name. */
extern const struct fault mr_faults[], memlock_faults[], queue_faults[], qp_faults[], object_faults[], stale_faults[];
extern const struct fault modify_faults[], path_faults[], cm_faults[], cm_raw_faults[], limit_faults[], raw_faults[];
extern const struct fault unsupported_faults[], driver_faults[], invented_faults[], kernel_faults[];
extern const struct fault refused_faults[];

/* main.c */
void truth(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));
int unready(const char *what);

/* setup.c */
int need(struct env *env, enum needs what);
struct ibv_device *find_device(const char *name);
int open_device(struct env *env, const char *name);
struct ibv_context *open_again(struct env *env);
int become_nobody(void);
int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
int write_file(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int read_gid(const char *dev, long index, union ibv_gid *gid);
void truth_gid(const char *key, const union ibv_gid *gid);
void *pages(size_t count, int prot);
int private_device(struct env *env, bool with_rdma);
#define PRIVATE_NETDEV "fb0"
#define PRIVATE_DEV "rxefb"
#define PRIVATE_IP "10.77.0.1"

/* qp.c: queue pairs, and what takes them from state to state */
struct step {
	struct ibv_qp_attr attr;
	int mask;
};
struct ibv_qp *create_qp(struct env *env, enum ibv_qp_type type);
int ipv4_gid(const char *address, union ibv_gid *gid);
struct step step_init(struct env *env);
struct step step_ud_init(struct env *env);
struct step step_rtr(struct env *env, const char *peer);
struct step step_rts(void);
int take(struct ibv_qp *qp, const struct step *step);
int to_state(struct env *env, struct ibv_qp *qp, enum needs state);

/* raw.c: commands as the kernel gets them */
struct call {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attr[16];
};
struct call call_of(uint16_t object, uint16_t method, uint32_t driver);
struct ib_uverbs_attr *call_in(struct call *call, int id, const void *data, size_t len);
struct ib_uverbs_attr *call_out(struct call *call, int id, void *data, size_t len);
struct ib_uverbs_attr *call_obj(struct call *call, int id, int64_t handle);
struct ib_uverbs_attr *call_u32(struct call *call, int id, uint32_t value);
struct ib_uverbs_attr *call_u64(struct call *call, int id, uint64_t value);
int call_run(int fd, struct call *call);
int invoke_write(int fd, uint32_t driver, uint64_t command, const void *in, size_t in_len, void *out, size_t out_len);
int open_uverbs(const char *ibdev);
int get_context(int fd, uint32_t driver);

/* A mapping of two pages of which the second is not there, and the last `bytes` of the first. */
void *before_hole(size_t bytes);

#endif
