/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the counter reader share. */
#ifndef RD_COLLECT_COUNTERS_PRIV_H
#define RD_COLLECT_COUNTERS_PRIV_H

#include "base/err.h"
#include "collect/shared/sysfs.h"
#include "model/counters/counter.h"

/* How a run of counters is asked for. */
enum rd_counter_how {
	RD_HOW_FILES, /* a file each: folder and name */
	RD_HOW_NLDEV, /* RDMA_NLDEV_CMD_STAT_GET of a port */
	RD_HOW_BOUND, /* the same, of all counters that queue pairs are bound to */
	RD_HOW_IOCTL, /* a driver's statistics, values in one answer */
	RD_HOW_STATS, /* ETHTOOL_MSG_STATS_GET */
	RD_HOW_PAUSE, /* ETHTOOL_MSG_PAUSE_GET */
	RD_HOW_FEC,   /* ETHTOOL_MSG_FEC_GET */
	RD_HOW_PFC,   /* DCB_CMD_IEEE_GET: pause frames by priority */
};

/* One question and the counters that it answers. */
struct rd_counter_read {
	enum rd_counter_how how;
	uint32_t port;	   /* index in the set */
	uint32_t first, n; /* of the set's counters */
	uint32_t *slots;   /* of RD_HOW_FILES: as rd_read_again has them; owned */
	char *object;	   /* folder, or the interface's name */
	uint32_t ibdev;	   /* the kernel's number of the RDMA device */
	unsigned refused;  /* files in a row, with none that could be read before */
	bool left_alone;   /* was refused in a manner that asking again will not change */
	int code;	   /* with which errno */
};

struct rd_counter_reader {
	struct rd_sysfs fs;
	unsigned groups;
	struct rd_counter_set set;
	struct rd_counter_read *reads;
	size_t n_reads, cap_reads;
	uint32_t *states; /* of each port: its state, as rd_read_again has it */
	uint32_t boot_id; /* likewise */
	uint16_t ethtool; /* the family's number; 0: there is none */
	uint64_t devices; /* hash of the names in /sys/class/infiniband */
	bool changed;	  /* found out while reading: another look would find other counters */
};

#define RD_IB "/sys/class/infiniband"
/* Counters of one host. */
#define RD_COUNTERS_MAX ((size_t)1 << 20)

/* Begins a question; the counters that are added next belong to it. NULL when out of memory. */
struct rd_counter_read *rd_counter_read_begin(struct rd_counter_reader *reader, enum rd_counter_how how, uint32_t port,
					      const char *object);
/* Ends it: a question without counters is forgotten. */
void rd_counter_read_end(struct rd_counter_reader *reader);

void rd_counter_read_deinit(struct rd_counter_read *read);

/* Adds a counter to the question that was begun. 0, -ENOMEM, or -EFBIG above the limit. */
int rd_counter_read_add(struct rd_counter_reader *reader, enum rd_counter_group group, const char *name,
			const char *netdev);

/* The counter called so among those of the question, looked for first at `*hint`, which then is one further; NULL: none. */
struct rd_counter_value *rd_counter_slot(struct rd_counter_reader *reader, const struct rd_counter_read *read,
					 struct rd_counter_sample *sample, const char *name, uint32_t *hint);

/* Every value of the question is unknown, for this errno. */
void rd_counter_read_failed(const struct rd_counter_read *read, struct rd_counter_sample *sample, int code);

/* Finding: what a device, port or interface has. 0 or -ENOMEM. */
int rd_counters_find_files(struct rd_counter_reader *reader, uint32_t port, enum rd_counter_group group,
			   const char *netdev, const char *folder);
int rd_counters_find_cm(struct rd_counter_reader *reader, uint32_t port, const char *folder);
int rd_counters_find_rdma(struct rd_counter_reader *reader, uint32_t port, bool *found);
int rd_counters_find_bound(struct rd_counter_reader *reader, uint32_t port);
int rd_counters_find_ethtool(struct rd_counter_reader *reader, uint32_t port, const char *netdev);

/* Reading one question. 0 or -ENOMEM. */
int rd_counters_read_files(struct rd_counter_reader *reader, struct rd_counter_read *read,
			   struct rd_counter_sample *sample);
int rd_counters_read_rdma(struct rd_counter_reader *reader, struct rd_counter_read *read,
			  struct rd_counter_sample *sample);
int rd_counters_read_ethtool(struct rd_counter_reader *reader, struct rd_counter_read *read,
			     struct rd_counter_sample *sample);

#endif
