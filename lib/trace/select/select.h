/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects the kernel functions to trace from the loaded modules, independent of the driver. */
#ifndef RD_TRACE_SELECT_H
#define RD_TRACE_SELECT_H

#include "bpf/qp.h"
#include "model/trace/fnset.h"
#include "source/shared/source.h"

/*
 * Fills *ret with the functions of the loaded RDMA modules (ib_core and all that depend on it), and those functions of the core
 * drivers below them that are reachable from a verb. Reads module files, BTF and section addresses; if the file of a module is
 * missing or of a different build, kallsyms and available_filter_functions. Sources that are not readable, and the consequence,
 * go to `notes` (may be NULL).
 *
 * -ENODEV: no RDMA module is loaded. On success the caller frees *ret with rd_fnset_deinit.
 */
int rd_select(struct rd_source *src, struct rd_fnset *ret, struct rd_errlist *notes, struct rd_err *err);

/* The loaded RDMA modules that the set does not have, or that were loaded again since it was selected. The caller deinitialises *ret.
 * 0 or -errno with err filled. */
int rd_select_news(struct rd_source *src, const struct rd_fnset *set, struct rd_texts *ret, struct rd_err *err);

/* ---- a kernel that is not booted, as a source: its module files as if all RDMA modules were loaded. rd_select then computes the same as
 * on a host that runs this kernel with these modules, except addresses. */

/*
 * Reads packages, directories and module files (source/package/package.h); of modules of the same name the one in the last path
 * counts, and in one directory that below updates/ or extra/. What the paths lack is taken from the host: without ib_core,
 * /lib/modules/RELEASE of the release that the modules were built for, and without an image, that in the same place or in /boot.
 * What is missing, and the consequence, goes to `notes`.
 * -ENODEV: there is no RDMA module. Caller closes *ret by ops->close.
 */
int rd_unbooted_open(const char *const *paths, size_t n, struct rd_source **ret, struct rd_errlist *notes,
		     struct rd_err *err);

/* Hides a module, as if it were not loaded. */
void rd_unbooted_hide(struct rd_source *src, const char *module);

/* ---- the type information (BTF) in the image of a kernel */

/*
 * Finds the BTF of vmlinux in a kernel image: a bzImage (x86), a compressed or plain Image (arm64), or an ELF file. `release`: what
 * uname -r of that kernel prints; an image of another release is refused, because the BTF of modules refers to types by number.
 * -EBADMSG: the image cannot be unpacked; -ENOENT: it has no BTF; -ENOEXEC: it is of another release.
 */
int rd_image_btf(const struct rd_bytes *image, const char *release, struct rd_bytes *ret, struct rd_err *err);

/* ---- selects the kernel functions that change queue pairs, and the offsets in their arguments */

/* Configuration of the recorder. */
struct rd_qp_watch {
	struct rd_qp_config cfg;
	uint8_t *roles; /* per function of the set: enum rd_qp_role */
};

/*
 * Fills *set with the functions of the loaded RDMA modules, and *ret with the offsets of members in their arguments, from the BTF
 * of the loaded ib_core. -ENOTSUP: no such BTF, so nothing can be recorded. -ENODEV: no RDMA module is loaded. `notes`: sources
 * that are not readable, and the consequence. The caller frees with rd_fnset_deinit and rd_qp_watch_deinit.
 */
int rd_select_qp(struct rd_source *src, struct rd_fnset *set, struct rd_qp_watch *ret, struct rd_errlist *notes,
		 struct rd_err *err);
void rd_qp_watch_deinit(struct rd_qp_watch *watch);

/* Fills *set with ib_query_qp alone, and *ret with the offsets of what it is passed: reads only the BTF of vmlinux and of ib_core. -errno with
 * err filled. The caller frees with rd_fnset_deinit. */
int rd_select_query(struct rd_source *src, struct rd_fnset *set, struct rd_query_config *ret, struct rd_err *err);

/*
 * Selects the functions to hook. For transitions there are RD_QP_CHOICES sets of functions: uses the first one, from *choice on,
 * that this kernel seems to have, and sets *choice to it. Whether it can be hooked shows only when attaching. False: no choice
 * left.
 */
#define RD_QP_CHOICES 3
bool rd_qp_watch_choose(struct rd_fnset *set, struct rd_qp_watch *watch, unsigned *choice);

/* Whether a function of that role was hooked. */
bool rd_qp_watch_has(const struct rd_fnset *set, const struct rd_qp_watch *watch, enum rd_qp_role role);

#endif
