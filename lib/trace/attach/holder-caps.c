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

/* In order: programs and maps; hooks on kernel functions; BTF of modules, and perf events if perf_event_paranoid requires it;
 * addresses of functions; the preemption mode in debugfs (two); memory of maps on kernels that count it as locked. */
#define ATTACHING                                                                                         \
	(BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_ADMIN) | BIT(CAP_SYSLOG) | BIT(CAP_DAC_OVERRIDE) | \
	 BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_SYS_RESOURCE))

/* Reduces the capabilities of this process to `permitted` and `effective`. */
static int limit_caps(uint64_t permitted, uint64_t effective)
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
	return limit_caps(ATTACHING, ATTACHING);
}

int rd_holder_caps_hold(void)
{
	struct bpf_prog_info info;
	__u32 len = sizeof(info);
	int r = limit_caps(BIT(CAP_BPF), 0);

	if (r)
		return r;
	/* If the query is permitted, the error is about the descriptor (EBADF). */
	if (bpf_obj_get_info_by_fd(-1, &info, &len) && errno == EPERM)
		return limit_caps(BIT(CAP_BPF), BIT(CAP_BPF));
	return limit_caps(0, 0);
}
