/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel log, record by record, as far back as the kernel still has it. */
#ifndef RD_MODEL_KLOG_H
#define RD_MODEL_KLOG_H

#include "base/klog-form.h"

/* Facilities of syslog: records of others than the kernel were written to /dev/kmsg by a program. */
enum { RD_KLOG_KERN = 0 };

/* Levels of syslog: lower is more severe. */
enum { RD_KLOG_ERR = 3, RD_KLOG_WARNING = 4 };

struct rd_krecord {
	uint64_t seq; /* counts from 0 since boot */
	uint64_t time_ns; /* since boot, by the clock of the kernel log: CLOCK_MONOTONIC to within what it drifts, in steps of
			   * 1000 */
	uint8_t level, facility;
	enum rd_klog_form form; /* recognized message, if any */
	const char *text;	/* in klog->text; foreign: anything but NUL may be in it */
	const char *device;	/* DEVICE=: "+pci:0000:1b:00.0", "n5" (interface of that index); NULL: none named */
};

struct rd_klog {
	enum rd_known known;  /* RD_DENIED: no permission (dmesg_restrict); else none, or see code */
	int code;	      /* errno of reading; 0: read */
	struct rd_krecord *v; /* in the order of seq */
	size_t n, cap;
	bool lost;  /* earlier records were overwritten, or too many to read */
	char *text; /* owned: the records point into it */
};
void rd_klog_deinit(struct rd_klog *klog);

/* The PCI address of the record's device ("0000:1b:00.0"); NULL if it names none. */
const char *rd_krecord_pci(const struct rd_krecord *record);

#endif
