/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel log, record by record, as far back as the kernel still has it. */
#ifndef RD_MODEL_KLOG_H
#define RD_MODEL_KLOG_H

#include "base/klog-form.h"

/* Facilities, as syslog numbers them: what is not the kernel's own was written to /dev/kmsg by a program. */
enum { RD_KLOG_KERN = 0 };

/* Levels, as syslog numbers them: the lower the worse. */
enum { RD_KLOG_ERR = 3, RD_KLOG_WARNING = 4 };

struct rd_krecord {
	uint64_t seq; /* counts from 0 since boot */
	uint64_t time_ns; /* since boot, by the clock of the kernel log: CLOCK_MONOTONIC to within what it drifts, in steps of
			   * 1000 */
	uint8_t level, facility;
	enum rd_klog_form form; /* what it says, if that is known */
	const char *text;	/* in klog->text; foreign: anything but NUL may be in it */
	const char *device;	/* DEVICE=: "+pci:0000:1b:00.0", "n5" (interface of that index); NULL: none named */
};

struct rd_klog {
	enum rd_known known;  /* RD_DENIED: not for us (dmesg_restrict); else there is none, or see code */
	int code;	      /* errno of the reading; 0: it was read */
	struct rd_krecord *v; /* in the order of seq */
	size_t n, cap;
	bool lost;  /* what was logged before the first record has been overwritten, or was too much to read */
	char *text; /* owned: what the records point into */
};
void rd_klog_deinit(struct rd_klog *klog);

/* The PCI address of the record's device ("0000:1b:00.0"); NULL if it names none. */
const char *rd_krecord_pci(const struct rd_krecord *record);

#endif
