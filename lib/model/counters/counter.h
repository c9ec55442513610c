/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of this host's RDMA ports: what there is (struct rd_counter_set, found once), what stood in it at one moment
 * (struct rd_counter_sample, as often as wanted), and what a counter means (struct rd_meaning).
 */
#ifndef RD_MODEL_COUNTER_H
#define RD_MODEL_COUNTER_H

#include "base/base.h"
#include "model/counters/topic.h"

/* Where a counter comes from; the JSON words are those of rd_counter_group_name. */
enum rd_counter_group {
	RD_GROUP_PORT,	   /* "port": sysfs counters/, the port counters of the InfiniBand specification */
	RD_GROUP_HW,	   /* "hw": the driver's RDMA counters, by netlink or hw_counters/ */
	RD_GROUP_OPTIONAL, /* "optional": the same, but counted only once they were switched on */
	RD_GROUP_QP,	   /* "qp": the driver's RDMA counters, of the queue pairs that are bound to one counter */
	RD_GROUP_ETHTOOL,  /* "ethtool": the driver's own statistics (ethtool -S) */
	RD_GROUP_STANDARD, /* "standard": statistics that the kernel has one name for: MAC, PHY, RMON, pause, FEC, PFC */
	RD_GROUP_NETDEV,   /* "netdev": sysfs statistics/ and carrier changes of the interface */
	RD_GROUPS,
};
const char *rd_counter_group_name(enum rd_counter_group group);
/* -1 for a word that is none. */
int rd_counter_group_parse(const char *word);

/* What happens at the end of a counter's width. */
enum rd_overflow {
	RD_OVERFLOW_UNKNOWN,
	RD_SATURATES, /* stays at 2^bits - 1 until somebody resets it */
	RD_WRAPS,     /* goes on at 0 */
	RD_64BIT,     /* does not end in anybody's lifetime */
	RD_GAUGE,     /* is no counter: goes up and down */
};
/* "saturates", "wraps", "64-bit", "gauge"; NULL for unknown. */
const char *rd_overflow_name(enum rd_overflow overflow);

enum rd_counter_role {
	RD_ROLE_OF_NOTHING, /* not known */
	RD_ROLE_LOAD,	    /* traffic: no sign of anything wrong */
	RD_ROLE_CAUSE,	    /* where it moves, something is wrong */
	RD_ROLE_FOLLOWS,    /* moves because something else went wrong before: flushed work requests, retries */
	RD_ROLE_SIGN,	    /* congestion control and flow control at work: wrong in excess only */
};
/* "load", "cause", "consequence", "sign"; NULL for not known. */
const char *rd_counter_role_name(enum rd_counter_role role);

/* One line of data/counters. */
struct rd_meaning {
	const char *name;   /* a pattern as of a shell */
	const char *driver; /* a pattern; "*" for any */
	const char *unit;   /* "packets", "4-octets" … */
	enum rd_overflow overflow;
	unsigned bits; /* 64 for RD_64BIT, 0 where it is not known */
	enum rd_counter_role role;
	enum rd_topic topic;
	unsigned parts; /* so many counters make the whole; 0: the line says nothing about a topic */
	bool summable;	/* over ports and priorities */
	const char *text;
};

/* A port, or (port 0) a device as a whole. Text is NULL where it is not known. */
struct rd_counter_port {
	char *ibdev;
	unsigned port;
	char *netdev; /* the first */
	char *driver; /* as data/counters calls it: "mlx5", "rxe" */
	char *pci, *guid, *link_layer;
	RD_FIELD(double) rate_gbps;
	RD_FIELD(bool) vf; /* a virtual function */
};

struct rd_counter {
	uint32_t port; /* index */
	enum rd_counter_group group;
	char *name;
	char *netdev;	  /* whose statistics they are; NULL: the RDMA port's own */
	uint32_t counter; /* of group qp: the kernel's number of the counter it belongs to */
	enum rd_overflow overflow;
	unsigned bits;
	const struct rd_meaning *meaning; /* NULL: not in the table. The table outlives the set */
	const struct rd_meaning *about;	  /* the line that has its topic; NULL: it has none */
};

struct rd_counter_set {
	struct rd_counter_port *ports;
	size_t n_ports, cap_ports;
	struct rd_counter *counters; /* by port, then group, in the order of their source */
	size_t n, cap;
};
void rd_counter_set_deinit(struct rd_counter_set *set);
/* Return the new element, zeroed. Good until the next. */
struct rd_counter_port *rd_counter_set_add_port(struct rd_counter_set *set);
struct rd_counter *rd_counter_set_add(struct rd_counter_set *set, uint32_t port, enum rd_counter_group group,
				      const char *name);
/* "mlx5_0/1", "mlx5_0" for a device as a whole. `ret` is as large as `size`. */
void rd_counter_port_label(const struct rd_counter_port *port, char *ret, size_t size);

/* Errno of a value that is there but is no number ("N/A (no PMA)"), and of an optional counter that is switched off. */
#define RD_COUNTER_NO_NUMBER 61 /* ENODATA */
#define RD_COUNTER_OFF 125	/* ECANCELED */

struct rd_counter_value {
	uint64_t v;
	enum rd_known known;
	int code; /* why it is not known: an errno; 0: nobody asked */
};

/* What a port was like when it was looked at. */
struct rd_counter_state {
	bool there;
	uint64_t instance; /* differs after the device was registered anew (its driver reloaded); 0: not known */
	char state[16];	   /* "ACTIVE"; empty: not known */
	int code;	   /* the positive errno that hindered reading it; 0: none */
};

struct rd_counter_sample {
	uint64_t realtime_ns, monotonic_ns;
	char boot_id[40];		 /* empty: not known */
	struct rd_counter_value *values; /* as many as the set has counters */
	struct rd_counter_state *states; /* as many as it has ports */
	size_t n, n_ports;
};
void rd_counter_sample_deinit(struct rd_counter_sample *sample);
/* Makes room for a set; what is in it is unknown then. */
void rd_counter_sample_fit(struct rd_counter_sample *sample, const struct rd_counter_set *set);

/* What became of a counter between two samples. */
enum rd_delta_kind {
	RD_DELTA_UNKNOWN,
	RD_DELTA_EXACT,
	RD_DELTA_AT_LEAST,
};

enum rd_delta_note {
	RD_NOTE_NONE,
	RD_NOTE_SATURATED, /* stands at its end: more may have happened */
	RD_NOTE_WRAPPED,   /* went through 0 */
	RD_NOTE_TURNS,	   /* may have gone round more than once */
	RD_NOTE_RESET,	   /* somebody set it to 0 */
	RD_NOTE_REBOOT,	   /* the host was started anew */
	RD_NOTE_REPLACED,  /* another device stands under this name: another GUID */
	RD_NOTE_RELOADED,  /* the device was registered anew */
	RD_NOTE_NEW,	   /* was not there before */
	RD_NOTE_GONE,	   /* the device went away */
	RD_NOTE_UNREAD,	   /* could not be read now, or before */
};
/* "saturated", "wrapped", "turns", "reset", "reboot", "replaced", "reloaded", "new", "gone", "unread"; NULL for none. */
const char *rd_delta_note_name(enum rd_delta_note note);

struct rd_delta {
	uint64_t v;
	enum rd_delta_kind kind;
	enum rd_delta_note note;
};

#endif
