// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/attach/holder-caps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(cap) (UINT64_C(1) << (cap))

/* Programs and maps; kernel functions; BTF of modules, and perf events where perf_event_paranoid asks for it; addresses of
 * functions; the scheduler's mode in debugfs; memory for maps where that still counts as locked. */
#define ATTACHING                                                                                         \
	(BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_ADMIN) | BIT(CAP_SYSLOG) | BIT(CAP_DAC_OVERRIDE) | \
	 BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_SYS_RESOURCE))

/* Leaves of what this process has no more than `permitted` and, in force, `effective`. */
static int keep(uint64_t permitted, uint64_t effective)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		return -errno;
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(permitted >> 32 * i);
		data[i].effective = data[i].permitted & (uint32_t)(effective >> 32 * i);
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

int rd_holder_caps_attach(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return keep(ATTACHING, ATTACHING);
}

int rd_holder_caps_hold(void)
{
	struct bpf_prog_info info;
	__u32 len = sizeof(info);
	int r = keep(BIT(CAP_BPF), 0);

	if (r)
		return r;
	/* A kernel that lets us ask complains of the descriptor only. */
	if (bpf_obj_get_info_by_fd(-1, &info, &len) && errno == EPERM)
		return keep(BIT(CAP_BPF), BIT(CAP_BPF));
	return keep(0, 0);
}
