/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The capabilities of the holder: those that attaching needs until the hooks are on, then none. */
#ifndef RD_TRACE_HOLDER_CAPS_H
#define RD_TRACE_HOLDER_CAPS_H

/* Gives up, for this process and whatever it may ever execute, all capabilities but those that attaching asks for, and
 * sets no_new_privs. -errno. */
int rd_holder_caps_attach(void);

/*
 * Gives up the rest: descriptors are closed, and the kernel takes away what they stand for, without any capability. Kernels
 * before 6.1 may refuse every bpf(2) without CAP_BPF where unprivileged users may not use it: there this one is kept, for
 * the counts of what was missed. -errno.
 */
int rd_holder_caps_hold(void);

#endif
