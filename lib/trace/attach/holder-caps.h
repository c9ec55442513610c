/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The capabilities of the holder: those needed for attaching until the hooks are attached, then none. */
#ifndef RD_TRACE_HOLDER_CAPS_H
#define RD_TRACE_HOLDER_CAPS_H

/* Drops, for this process and everything it executes, all capabilities except those needed for attaching, and
 * sets no_new_privs. -errno. */
int rd_holder_caps_attach(void);

/*
 * Drops the rest: closing descriptors detaches the hooks without any capability. Kernels before 6.1 may refuse every bpf(2)
 * without CAP_BPF if unprivileged BPF is disabled; on those it is kept, for reading the counts of missed hooks. -errno.
 */
int rd_holder_caps_hold(void);

#endif
