/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of the RDMA ports of this host: which exist (struct rd_counter_set, found once), their values at one time (struct
 * rd_counter_sample, read repeatedly), and their meanings (struct rd_meaning).
 */
#ifndef RD_MODEL_COUNTER_H
#define RD_MODEL_COUNTER_H

#include "base/base.h"

/* Topics of counters, common to all drivers. data/counters explains each word. */

enum rd_topic {
	RD_TOPIC_NONE,
	RD_TOPIC_LINK_DOWN,
	RD_TOPIC_BIT_ERROR,
	RD_TOPIC_CORRECTED,
	RD_TOPIC_REMOTE, /* damaged on an earlier link */
	RD_TOPIC_ICRC,
	RD_TOPIC_PCI_STALL,
	RD_TOPIC_PCI_ERROR,
	RD_TOPIC_MODULE,
	RD_TOPIC_PAUSE_STORM,
	RD_TOPIC_PAUSE_SENT,
	RD_TOPIC_PAUSE_GOT,
	RD_TOPIC_PAUSE_SENT_TIME, /* this host paused the link partner */
	RD_TOPIC_PAUSE_GOT_TIME,  /* the link partner paused this host */
	RD_TOPIC_DROP,
	RD_TOPIC_DISCARDED, /* not sent for lack of a link or of credits; RD_TOPIC_DROP: received */
	RD_TOPIC_LIMITED,
	RD_TOPIC_PARTITION,
	RD_TOPIC_TOO_LONG,
	RD_TOPIC_NOT_SENT,
	RD_TOPIC_MARKED,
	RD_TOPIC_CNP,
	RD_TOPIC_CNP_OWN,
	RD_TOPIC_CNP_ALL,
	RD_TOPIC_RESTART,
	RD_TOPIC_WAIT,
	RD_TOPIC_LOST,
	RD_TOPIC_REPLY_LOST,
	RD_TOPIC_RETRANSMITTED,
	RD_TOPIC_TIMEOUT,
	RD_TOPIC_RETRIES,
	RD_TOPIC_RNR, /* sent by this host */
	RD_TOPIC_RNR_GOT,
	RD_TOPIC_RNR_END,
	RD_TOPIC_KEY,
	RD_TOPIC_COMPLETION, /* including flushed ones */
	RD_TOPIC_FLUSH,
	/* Topics of load. */
	RD_TOPIC_DATA_SENT,
	RD_TOPIC_DATA_GOT,
	RD_TOPIC_PACKETS_SENT,
	RD_TOPIC_PACKETS_GOT,
	RD_TOPIC_LINE_GOT,
	RD_TOPIC_PRIORITY_DATA,
	RD_TOPICS,
};

/* False for an unknown word. */
bool rd_topic_parse(const char *word, enum rd_topic *ret);

/* Where a counter comes from; the JSON words are those of rd_counter_group_name. */
enum rd_counter_group {
	RD_GROUP_PORT,	   /* "port": sysfs counters/, the port counters of the InfiniBand specification */
	RD_GROUP_HW,	   /* "hw": the driver's RDMA counters, by netlink or hw_counters/ */
	RD_GROUP_OPTIONAL, /* "optional": the same, but counting only once enabled */
	RD_GROUP_QP,	   /* "qp": the driver's RDMA counters, of the queue pairs that are bound to one counter */
	RD_GROUP_ETHTOOL,  /* "ethtool": the driver's own statistics (ethtool -S) */
	RD_GROUP_STANDARD, /* "standard": statistics with standard names in the kernel: MAC, PHY, RMON, pause, FEC, PFC */
	RD_GROUP_NETDEV,   /* "netdev": sysfs statistics/ and carrier changes of the interface */
	RD_GROUPS,
};
const char *rd_counter_group_name(enum rd_counter_group group);
/* -1 for an unknown word. */
int rd_counter_group_parse(const char *word);

/* What happens when a counter reaches its maximum. */
enum rd_overflow {
	RD_OVERFLOW_UNKNOWN,
	RD_SATURATES, /* stays at 2^bits - 1 until it is reset */
	RD_WRAPS,     /* continues at 0 */
	RD_64BIT,     /* never reaches its maximum in practice, unless the device has only 32 bits of it */
	RD_GAUGE,     /* not a counter: goes up and down */
};
/* "saturates", "wraps", "64-bit", "gauge"; NULL for unknown. */
const char *rd_overflow_name(enum rd_overflow overflow);

enum rd_counter_role {
	RD_ROLE_OF_NOTHING, /* unknown */
	RD_ROLE_LOAD,	    /* traffic: does not indicate a fault */
	RD_ROLE_CAUSE,	    /* an increase indicates a fault */
	RD_ROLE_FOLLOWS,    /* increases because of an earlier fault: flushed work requests, retries */
	RD_ROLE_SIGN,	    /* congestion control and flow control at work: a fault only in excess */
};
/* "load", "cause", "consequence", "sign"; NULL for unknown. */
const char *rd_counter_role_name(enum rd_counter_role role);

/* One line of data/counters. */
struct rd_meaning {
	const char *name;   /* a shell pattern */
	const char *driver; /* a pattern; "*" for any */
	const char *unit;   /* "packets", "4-octets" … */
	enum rd_overflow overflow;
	unsigned bits; /* 64 for RD_64BIT, 0 if unknown */
	enum rd_counter_role role;
	enum rd_topic topic;
	unsigned parts; /* number of counters to add up for the total; 0: the line has no topic field */
	bool summable;	/* over ports and priorities */
	const char *text;
};

/* A port, or (port 0) a device as a whole. Text is NULL if unknown. */
struct rd_counter_port {
	char *ibdev;
	unsigned port;
	char *netdev; /* the first */
	char *driver; /* as in data/counters: "mlx5", "rxe" */
	char *pci, *guid, *link_layer;
	RD_FIELD(double) rate_gbps;
	RD_FIELD(bool) vf; /* a virtual function */
};

struct rd_counter {
	uint32_t port; /* index */
	enum rd_counter_group group;
	char *name;
	char *netdev;	  /* interface of the statistics; NULL: counter of the RDMA port */
	uint32_t counter; /* group qp: the kernel's id of the counter it belongs to */
	enum rd_overflow overflow;
	unsigned bits;
	const struct rd_meaning *meaning; /* NULL: not in the table. The table outlives the set */
	const struct rd_meaning *about;	  /* the line that has its topic; NULL: none */
};

struct rd_counter_set {
	struct rd_counter_port *ports;
	size_t n_ports, cap_ports;
	struct rd_counter *counters; /* by port, then group, in the order of their source */
	size_t n, cap;
};
void rd_counter_set_deinit(struct rd_counter_set *set);
/* Return the new element, zeroed. Valid until the next call. */
struct rd_counter_port *rd_counter_set_add_port(struct rd_counter_set *set);
struct rd_counter *rd_counter_set_add(struct rd_counter_set *set, uint32_t port, enum rd_counter_group group,
				      const char *name);
/* "mlx5_0/1", "mlx5_0" for a device as a whole. The caller owns it. */
char *rd_counter_port_label(const struct rd_counter_port *port);

/* Errno of a value that is not a number ("N/A (no PMA)"), and of an optional counter that is disabled. */
#define RD_COUNTER_NO_NUMBER 61 /* ENODATA */
#define RD_COUNTER_OFF 125	/* ECANCELED */

struct rd_counter_value {
	uint64_t v;
	enum rd_known known;
	int code; /* why it is unknown: an errno; 0: not read */
};

/* State of a port when it was sampled. */
struct rd_counter_state {
	bool there;
	uint64_t instance; /* differs after the device was registered again (driver reloaded); 0: unknown */
	char state[16];	   /* "ACTIVE"; empty: unknown */
	int code;	   /* positive errno if the state could not be read; else 0 */
};

struct rd_counter_sample {
	uint64_t realtime_ns, monotonic_ns;
	char boot_id[40];		 /* empty: unknown */
	struct rd_counter_value *values; /* as many as the set has counters */
	struct rd_counter_state *states; /* as many as the set has ports */
	size_t n, n_ports;
};
/* Whether a counter that stays at its maximum has reached it. A value that merely looks like one (15, 255) is not. */
bool rd_counter_saturated(const struct rd_counter *counter, const struct rd_counter_value *value);

void rd_counter_sample_deinit(struct rd_counter_sample *sample);
/* Allocates space for a set; all values are unknown afterwards. */
void rd_counter_sample_fit(struct rd_counter_sample *sample, const struct rd_counter_set *set);

/* How a delta between two samples is known. */
enum rd_delta_kind {
	RD_DELTA_UNKNOWN,
	RD_DELTA_EXACT,
	RD_DELTA_AT_LEAST,
};

enum rd_delta_note {
	RD_NOTE_NONE,
	RD_NOTE_SATURATED, /* at its maximum: more events may have happened */
	RD_NOTE_WRAPPED,   /* wrapped to 0 */
	RD_NOTE_TURNS,	   /* may have wrapped more than once */
	RD_NOTE_RESET,	   /* was set to 0 */
	RD_NOTE_REBOOT,	   /* the host was rebooted */
	RD_NOTE_REPLACED,  /* a different device has this name: another GUID */
	RD_NOTE_RELOADED,  /* the device was registered again */
	RD_NOTE_NEW,	   /* did not exist before */
	RD_NOTE_GONE,	   /* the device was removed */
	RD_NOTE_UNREAD,	   /* could not be read now, or before */
};
/* "saturated", "wrapped", "turns", "reset", "reboot", "replaced", "reloaded", "new", "gone", "unread"; NULL for none. */
const char *rd_delta_note_name(enum rd_delta_note note);

struct rd_delta {
	uint64_t v;
	enum rd_delta_kind kind;
	enum rd_delta_note note;
};

/* Traffic of ports. */

enum rd_load {
	RD_LOAD_TX_BYTES,
	RD_LOAD_RX_BYTES,
	RD_LOAD_TX_PACKETS,
	RD_LOAD_RX_PACKETS,
	RD_LOADS,
};

struct rd_port_rate {
	RD_FIELD(double) per_second[RD_LOADS]; /* bytes and packets */
	RD_FIELD(double) tx_gbps, rx_gbps;
	RD_FIELD(double) tx_share, rx_share; /* of the line rate, 0 to 1 */
	/* The counter that the sent bytes come from, owned by the set; NULL: none. */
	const struct rd_counter *counted_by;
	double usual_gbps; /* both directions, average of recent intervals without this one; 0: none yet */
	bool lost;	   /* reported as having lost its traffic, which has not come back yet */
	bool replaced;	   /* the port that took it over was reported, too */
};

/* Rates of all ports of a set; see analyse/counters/counters.h. */
struct rd_rates {
	struct rd_port_rate *ports; /* as many as the set has ports */
	size_t n;
	struct rd_load_counters *counters; /* which counters to use; as many */
	unsigned intervals;		   /* so far */
	double silent_seconds; /* how long no port had traffic before this interval, if some had it before that; 0: some had */
};

#endif
