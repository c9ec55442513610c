// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Errors of firmware commands, as drivers report them in the kernel log. What is known here of a driver was read from its messages
 * in public reports; no rule of this file has run on such a device.
 *
 * mlx5_core: "FUNCTION:803:(pid 4721): CREATE_MKEY(0x200) op_mod(0x0) failed, status limits exceeded(0x8), syndrome
 * (0x59c8a4), err(-12)". The process is that of the call; err is its errno. Older versions lack "err" and the function.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fix.h"
#include "base/number.h"
#include "diagnose/shared/rule.h"

#define WORD_LONGEST 63

#define MOST \
	"rdma resource show IBDEV\n# end the processes that hold most: rdma resource show qp, cq, mr, pd, srq or ctx"

/* What a status of a command means for the operator. */
static const struct status {
	const char *command; /* prefix; "": any */
	const char *status;
	const char *id, *what, *fix;
} statuses[] = {
	{ "CREATE_MKEY", "limits exceeded", "device-resources", "the adapter has no memory keys left",
	  "rdma resource show mr dev IBDEV\n# end the processes with most regions, or bound the registration cache" },
	{ "CREATE_QP", "limits exceeded", "device-resources", "the adapter has no queue pairs left",
	  "rdma resource show qp link IBDEV\n# end the processes with most queue pairs\n# the limit can be lower than max_qp" },
	{ "ALLOC_UAR", "limits exceeded", "device-resources", "the adapter has no doorbell pages (UAR) left",
	  "rdma resource show ctx dev IBDEV\n# open the device in fewer processes, or enlarge the BAR (PF_LOG_BAR_SIZE of mlxconfig)" },
	{ "", "limits exceeded", "device-resources", "a limit of the adapter is reached", MOST },
	{ "", "no resources", "device-resources", "the adapter has no resources left for the command", MOST },
	{ "", "bad parameter", "firmware-status", "the firmware refused a parameter of the command",
	  "# check the attributes of the call\n# the vendor can tell the meaning of the syndrome" },
	{ "", "bad system state", "firmware-status", "the adapter is in a bad state",
	  "dmesg -T | grep ADDRESS\ndevlink dev reload pci/ADDRESS\n# no job may use IBDEV meanwhile\n"
	  "# if the reload fails, reset the device or reboot" },
	{ "", "", "firmware-status", "the firmware refused the command",
	  "# the vendor can tell the meaning of the syndrome" },
};

struct report {
	char command[WORD_LONGEST + 1], status[WORD_LONGEST + 1], syndrome[WORD_LONGEST + 1];
	bool has_pid, has_err;
	uint32_t pid, err;
};

/* Copies what stands between two texts. */
static bool take_between(const char *text, const char *before, const char *after, char *ret)
{
	const char *start = strstr(text, before), *end;

	start = start ? start + strlen(before) : NULL;
	end = start ? strstr(start, after) : NULL;
	if (!end || end - start > WORD_LONGEST)
		return false;
	memcpy(ret, start, (size_t)(end - start));
	ret[end - start] = '\0';
	return true;
}

static bool take_number(const char *text, const char *before, uint32_t *ret)
{
	const char *at = strstr(text, before);

	at = at ? at + strlen(before) : NULL;
	return at && rd_take_u32(&at, RD_DECIMAL, UINT32_MAX, ret) == 0;
}

/* "COMMAND(0x200) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x59c8a4)" */
static bool parse_report(const char *text, struct report *ret)
{
	const char *op = strstr(text, " op_mod("), *start;

	*ret = (struct report){ .command = "" };
	if (!op || !take_between(op, "status ", "(", ret->status) || !take_between(op, "syndrome (", ")", ret->syndrome))
		return false;
	for (start = op; start > text && start[-1] != ' '; start--)
		;
	snprintf(ret->command, sizeof(ret->command), "%.*s", (int)strcspn(start, "("), start);
	ret->has_pid = take_number(text, "(pid ", &ret->pid);
	ret->has_err = take_number(op, "err(-", &ret->err);
	return true;
}

static const struct status *find_status(const struct report *report)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(statuses); i++)
		if (!strncmp(report->command, statuses[i].command, strlen(statuses[i].command)) &&
		    !strncmp(report->status, statuses[i].status, strlen(statuses[i].status)))
			return &statuses[i];
	return NULL;
}

/* A message of this device, since the call began, and with the errno of the call. */
static bool is_of_call(const struct rd_failure *f, const struct rd_krecord *record, const struct report *report)
{
	const char *pci = rd_krecord_pci(record);

	if (pci && f->dev.pci && strcmp(pci, f->dev.pci) != 0)
		return false;
	return !report->has_err || (int)report->err == -f->event->err;
}

/* The pid in a message is that of the initial namespace. Of several processes that fail at once each has its own message; if ours is not
 * among them, we are in another namespace, or the firmware is not the cause. */
static bool is_of_other(const struct rd_failure *f, const struct report *report)
{
	return report->has_pid && f->event->tid && report->pid != f->event->tid;
}

static void add_looked(const struct rd_failure *f, const struct rd_krecord *other, struct rd_explanation *looked)
{
	if (other)
		rd_explain_fact(looked, "kernel log, of another process or seen from another PID namespace: %.200s",
				other->text);
	else if (f->log_first < f->log.n)
		rd_explain_fact(
			looked,
			"%zu kernel message%s since two seconds before the call: none reports a firmware command of the "
			"device",
			f->log.n - f->log_first, f->log.n - f->log_first == 1 ? "" : "s");
	else
		rd_explain_fact(looked, "the kernel logged nothing since two seconds before the call");
}

static bool find_firmware(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_krecord *other = NULL;

	if (!f->dev.pci) /* a soft device has none */
		return false;
	if (f->log.known == RD_DENIED) {
		rd_explain_fact(looked,
				"the kernel log is not readable (dmesg_restrict): messages of the driver are unknown");
		return false;
	}
	for (size_t i = f->log.n; i-- > f->log_first;) {
		const struct rd_krecord *record = &f->log.v[i];
		_cleanup_free_ char *fix = NULL;
		const struct status *status;
		struct report report;

		if (record->facility != RD_KLOG_KERN || !parse_report(record->text, &report) ||
		    !is_of_call(f, record, &report))
			continue;
		if (is_of_other(f, &report)) {
			other = record;
			continue;
		}
		status = find_status(&report);
		rd_explain(ret, status->id, report.has_pid && f->event->tid ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "%s: firmware command %s failed with status \"%s\", syndrome %s", status->what,
			   report.command, report.status, report.syndrome);
		rd_explain_fact(ret, "kernel log: %.200s", record->text);
		fix = rd_fix_fill(status->fix,
				  (struct rd_fix_word[]){ { "ADDRESS", f->dev.pci }, { "IBDEV", f->event->ibdev } }, 2);
		rd_explain_fix(ret, "%s", fix);
		return true;
	}
	add_looked(f, other, looked);
	return false;
}

const struct rd_cause_rule rd_cause_firmware = { .needs = RD_FACT_LOG | RD_FACT_DEVICE, .find = find_firmware };
