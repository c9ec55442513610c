// SPDX-License-Identifier: GPL-2.0-or-later
/* Devices that were removed or reset under a program that has them open: ib_uverbs_get_ucontext_file(), rdma_lookup_get_uobject(). */
#include <stdio.h>
#include <string.h>

#include "diagnose/shared/rule.h"

static bool find_removed(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const char *dev = f->event->ibdev ? f->event->ibdev : "the device";
	bool core = rd_failure_origin_is(f, "ib_uverbs_get_ucontext_file") ||
		    rd_failure_origin_is(f, "rdma_lookup_get_uobject") || rd_failure_origin_is(f, "ib_uverbs_ioctl") ||
		    rd_failure_origin_is(f, "ib_uverbs_cmd_verbs") || rd_failure_origin_is(f, "alloc_begin_*") ||
		    rd_failure_origin_is(f, "ib_uverbs_mmap") || rd_failure_origin_is(f, "ib_uverbs_open");
	bool gone = f->dev.known == RD_ABSENT, usual = f->event->err == -EIO || f->event->err == -ENXIO;

	/* Its port cannot be read any more. */
	bool going = f->dev.known == RD_OK && (f->event->err == -ENODEV || f->event->err == -ENODATA) && f->dev.port &&
		     !f->dev.state && !f->dev.netdev;

	if (!gone && !going && (!core || !usual)) {
		if (f->event->ibdev && f->dev.known == RD_OK)
			rd_explain_fact(looked, "%s is present, port %u is %s", dev, f->dev.port,
					f->dev.state ? f->dev.state : "unknown");
		return false;
	}
	/* A device with a new name fails for its own reasons, and is missed as well. */
	rd_explain(ret, "device-removed", gone && core && usual ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "%s was %s while the program had it open", dev,
		   gone && !(core && usual) ? "removed, reset or renamed" : "removed or reset");
	rd_explain_fact(ret, "%s is %s /sys/class/infiniband now%s", dev, gone ? "not in" : "in",
			going ? ", but its port has neither interface nor state" : "");
	rd_explain_fix(ret, "dmesg | tail -n 100\n# the log shows why it was removed\n"
			    "# the program has to close the device and open it again");
	return true;
}

/* While a device is being removed its GIDs, ports and resources go first: calls then fail with the errno of what they miss. */
const struct rd_cause_rule rd_cause_removed = { .errnos = { EIO, ENXIO, ENODEV, ENODATA, ENOENT, ETIMEDOUT },
						.needs = RD_FACT_DEVICE,
						.find = find_removed };
