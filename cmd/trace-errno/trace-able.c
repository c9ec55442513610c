// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether this host and this process can trace at all, checked before anything is attached, so that the error is one clear
 * sentence. Capabilities are checked, not users. Measured on Linux 6.1 to 7.2: nothing works without CAP_BPF and CAP_PERFMON (or
 * CAP_SYS_ADMIN, which includes both); with these two kprobe-multi works. Fexit on modules also needs CAP_SYS_ADMIN, because it
 * walks the list of BTF objects; so do kprobes where kernel.perf_event_paranoid is above 2. A kernel without kprobe-multi has only
 * these two backends.
 */
#include "trace.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "base/no-rdma.h"
#include "base/number.h"

static bool exists(struct rd_source *src, const char *path)
{
	uint64_t ino;

	return !rd_stat(src, RD_OP_INO, path, &ino, NULL);
}

int trace_have_rdma(struct rd_source *src, struct rd_err *err)
{
	if (exists(src, "/sys/class/infiniband") || exists(src, "/sys/module/ib_core"))
		return 0;
	rd_err_set(err, ENODEV, "/sys/class/infiniband", RD_NO_RDMA_MODULE ": nothing to trace");
	rd_err_hint(err, "modprobe ib_uverbs and the driver of the adapter; lspci lists the adapters");
	return -ENODEV;
}

/* The effective capabilities of this process. */
static bool read_caps(struct rd_source *src, uint64_t *ret)
{
	_cleanup_bytes_ struct rd_bytes status = { 0 };
	const char *at;

	if (rd_read_file(src, "/proc/self/status", &status, NULL))
		return false;
	at = strstr((const char *)status.data, "\nCapEff:");
	at = at ? at + strlen("\nCapEff:") : "";
	return rd_take_uints(&at, RD_HEX, ret, 1) == 1;
}

static bool has(uint64_t caps, int cap)
{
	return caps & 1ull << cap;
}

/* Two commands that give the capabilities, to paste. */
static void hint_caps(struct rd_source *src, const char *command, struct rd_err *err)
{
	_cleanup_free_ char *exe = NULL;

	if (rd_read_link(src, "/proc/self/exe", &exe, NULL))
		exe = NULL;
	rd_err_hint(err,
		    "sudo " RD_PROGRAM
		    " %s ...; or, for all users who can execute it: sudo setcap cap_bpf,cap_perfmon=ep %s",
		    command, exe && strlen(exe) < 100 ? exe : RD_PROGRAM);
}

int trace_have_privileges(struct rd_source *src, const char *command, struct rd_err *err)
{
	bool bpf, perfmon;
	uint64_t caps;

	if (!read_caps(src, &caps) || has(caps, CAP_SYS_ADMIN))
		return 0;
	bpf = has(caps, CAP_BPF);
	perfmon = has(caps, CAP_PERFMON);
	if (bpf && perfmon)
		return 0;
	rd_err_set(err, EPERM, command, "tracing kernel functions needs %s%s%s, missing in this process",
		   bpf ? "" : "CAP_BPF", !bpf && !perfmon ? " and " : "", perfmon ? "" : "CAP_PERFMON");
	hint_caps(src, command, err);
	return -EPERM;
}

int trace_within_max_hooks(const struct trace *t, struct rd_err *err)
{
	unsigned long most = t->opts->max_hooks ? t->opts->max_hooks : TRACE_MAX_HOOKS;
	size_t n = 0;

	for (size_t i = 0; i < t->set.n_fns; i++)
		n += t->set.fns[i].selected && t->set.fns[i].attachable;
	if (n <= most)
		return 0;
	rd_err_set(err, 0, "--max-hooks", "%zu functions would be hooked, the limit is %lu", n, most);
	rd_err_hint(err, "--max-hooks %zu; trace-errno --list shows the functions and their modules", n);
	return -E2BIG;
}

void trace_explain(struct rd_source *src, const char *command, struct rd_err *err)
{
	uint64_t caps;

	if (err->hint[0])
		return;
	if (err->code == EMFILE)
		rd_err_hint(err, "each hook needs a file descriptor: raise ulimit -n, including the hard limit");
	else if (err->code == ESRCH && !exists(src, "/sys/kernel/btf/vmlinux"))
		rd_err_hint(err, "this kernel has no BTF (the types of its structures): boot a kernel built with "
				 "CONFIG_DEBUG_INFO_BTF=y");
	if (err->code != EPERM && err->code != EACCES)
		return;
	if (read_caps(src, &caps) && !has(caps, CAP_SYS_ADMIN)) {
		const struct rd_err was = *err;

		rd_err_set(err, was.code, was.object, "%.200s; CAP_SYS_ADMIN is missing in this process", was.message);
		rd_err_hint(err,
			    "sudo " RD_PROGRAM " %s ...; or, for kprobes without that capability: sudo sysctl "
			    "kernel.perf_event_paranoid=2",
			    command);
	} else {
		rd_err_hint(err, "cat /sys/kernel/security/lockdown; a container needs --privileged");
	}
}
