/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the counter reader. */
#ifndef RD_COLLECT_COUNTERS_PRIV_H
#define RD_COLLECT_COUNTERS_PRIV_H

#include "collect/shared/sysfs.h"
#include "model/counters/counter.h"

/* How a group of counters is read. */
enum rd_counter_how {
	RD_HOW_FILES, /* one file per counter: directory and name */
	RD_HOW_NLDEV, /* RDMA_NLDEV_CMD_STAT_GET of a port */
	RD_HOW_BOUND, /* the same, for all counters that queue pairs are bound to */
	RD_HOW_IOCTL, /* statistics of a driver (ethtool -S), all values at once */
	RD_HOW_STATS, /* ETHTOOL_MSG_STATS_GET */
	RD_HOW_PAUSE, /* ETHTOOL_MSG_PAUSE_GET */
	RD_HOW_FEC,   /* ETHTOOL_MSG_FEC_GET */
	RD_HOW_PFC,   /* DCB_CMD_IEEE_GET: pause frames by priority */
};

/* One request, and the counters that it returns. */
struct rd_counter_read {
	enum rd_counter_how how;
	uint32_t port;	   /* index in the set */
	uint32_t first, n; /* of the set's counters */
	uint32_t *slots;   /* RD_HOW_FILES: open files of rd_read_again; owned */
	char *object;	   /* directory, or name of the interface */
	uint32_t ibdev;	   /* index of the RDMA device in the kernel */
	unsigned refused;  /* refused files in a row, before the first readable one */
	bool skipped;	   /* refused permanently: not read again */
	int code;	   /* errno of the refusal */
};

struct rd_counter_reader {
	struct rd_sysfs fs;
	unsigned groups;
	struct rd_counter_set set;
	struct rd_counter_read *reads;
	size_t n_reads, cap_reads;
	uint32_t *states; /* of each port: its open state file, for rd_read_again */
	uint32_t boot_id; /* likewise */
	uint16_t ethtool; /* id of the netlink family; 0: not available */
	uint64_t devices; /* hash of the names in /sys/class/infiniband */
	bool too_many;	  /* counters: more than RD_COUNTERS_MAX */
	bool changed;	  /* found while reading: the set of counters has changed */
};

#define RD_IB "/sys/class/infiniband"
/* Limit of counters per host. */
#define RD_COUNTERS_MAX ((size_t)1 << 20)

/* Begins a request; the counters added next belong to it. */
struct rd_counter_read *rd_counter_read_begin(struct rd_counter_reader *reader, enum rd_counter_how how, uint32_t port,
					      const char *object);
/* Ends the request; one without counters is removed. */
void rd_counter_read_end(struct rd_counter_reader *reader);

/* Adds a counter to the current request; above the limit it only sets too_many. */
void rd_counter_read_add(struct rd_counter_reader *reader, enum rd_counter_group group, const char *name,
			 const char *netdev);

/* The value of the named counter of the request; the search starts at `*hint`, which is set to the next index. NULL: not found. */
struct rd_counter_value *rd_counter_slot(struct rd_counter_reader *reader, const struct rd_counter_read *read,
					 struct rd_counter_sample *sample, const char *name, uint32_t *hint);

/* Sets every value of the request to unknown, with this errno. */
void rd_counter_read_failed(const struct rd_counter_read *read, struct rd_counter_sample *sample, int code);

/* Find the counters of a device, port or interface. */
bool rd_counters_find_rdma(struct rd_counter_reader *reader, uint32_t port); /* false: it has none */
void rd_counters_find_bound(struct rd_counter_reader *reader, uint32_t port);
void rd_counters_find_ethtool(struct rd_counter_reader *reader, uint32_t port, const char *netdev);

/* Run one request. */
void rd_counters_read_rdma(struct rd_counter_reader *reader, struct rd_counter_read *read,
			   struct rd_counter_sample *sample);
void rd_counters_read_ethtool(struct rd_counter_reader *reader, struct rd_counter_read *read,
			      struct rd_counter_sample *sample);

#endif
