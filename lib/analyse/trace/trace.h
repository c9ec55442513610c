/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the record of a failed call means: its verb, its chain and origin, whether it is benign, hints, kernel symbols, crash loops. */
#ifndef RD_ANALYSE_TRACE_H
#define RD_ANALYSE_TRACE_H

#include "base/text.h"
#include "model/trace/event.h"

/* ---- names of uverbs and rdma_ucm calls */

/*
 * Empty string: unknown.
 *
 * An ioctl has the names of the kernel ("QP", "QP_CREATE"). A legacy write command is shown with the object it operates on, not
 * the DEVICE it is sent to, and its interface as prefix: object "MR", method "INVOKE_WRITE:REG_MR" (ioctl) or "WRITE:REG_MR"
 * (write(2)). The rdma_ucm commands have the object "RDMA_CM". Unknown numbers, such as driver-specific objects, are shown as
 * "0x1003", without a verb.
 */
struct rd_verb {
	char object[24];
	char method[48];
	char verb[40]; /* the library call: "ibv_reg_mr", "rdma_bind_addr" */
};

/* `key` is an RD_VERB_* of bpf/record.h. `set` names the write handlers; may be NULL. */
void rd_verb_name(uint64_t key, const struct rd_fnset *set, struct rd_verb *ret);

/* Fills object, method and verb of an event from its verb_key. */
void rd_verb_resolve(struct rd_event *event, const struct rd_fnset *set);

/* ---- the chain that explains an error, and whether its origin is where the errno came from, or only the innermost traced function above it
 *
 * Turns the failed exits of one call, in order of time, into the chain that explains the error its caller received.
 *
 * An exit hook runs when a function returns, so a record lists failures from the innermost function outwards. An exit that does
 * not enclose the previous one starts a new branch: the kernel ignored the earlier failure (and tried something else), or is
 * cleaning up after it. Within a branch, each exit encloses the previous one.
 *
 *     pin -14 · register -14 · handler -14 · root -14         one branch, one run: all of it is shown
 *     lookup -2 · find -2 · check -22 · root -22              one branch, two runs: a caller changed -2 into -22.
 *                                                             Both are shown, the inner run marked as translated
 *     probe -95 | pin -14 · root -14                          two branches: the first was ignored, and is left out
 *     alloc -12 | undo -22 · create -12 · root -12            the call failed with -12, its cleanup with -22: the
 *                                                             branch that ends with the errno of the root is used
 *
 * So: the final run is the end of the last branch with the errno of the root. What is before it is replaced by the first of the three
 * branches before that ends with the errno of the root, too, if a function of the final run can have got the errno from it: a failed
 * cleanup does not explain the failure of the call. If there is none, the rest of the last branch is the reason, and its errno was
 * translated if it is another one. The order alone cannot tell a cleanup from a second attempt, so a later failure with the errno of
 * the root is the rival of the first. If the earlier branch did not fit into the record, its origin, which the record contains, is
 * shown instead.
 */

/*
 * Settles event->chain in place, and sets event->origin to its first link, even if the errno was translated. The BPF programs
 * determine the same origin for their counts, except that they do not know which function calls which; `set` may be NULL: nor does
 * this then. Links with an errno of the wrong sign are left out. The root is always the last link, even if it did not fit into the
 * record.
 */
void rd_chain_settle(struct rd_event *event, const struct rd_fnset *set);

/*
 * Fills origin_exact and below of a settled event with a resolved verb. An origin with a rival is not exact. A function that the
 * origin calls and that is not traced may have returned the errno, unless
 * - it cleans up, and the call does not: its result is ignored;
 * - it looks up an object by its handle, and all objects that the request names were found;
 * - it counts references or prints.
 * So may the function of a command that an ioctl carries, which the handler of INVOKE_WRITE calls through a table.
 */
void rd_origin_judge(struct rd_event *event, const struct rd_fnset *set);

/* Names of RDMA modules none of whose selected functions could be hooked, where the origin calls through pointers: it may have called
 * theirs. The caller frees them; NULL: none. */
char *rd_origin_untraced(const struct rd_event *event, const struct rd_fnset *set);

/*
 * The functions to trace so that the next failure at the origin of this event shows a deeper origin: `below`, what they call, and
 * callbacks that no call graph shows. Sets add[set->n_fns]. Returns their number; 0: nothing is left that could be traced.
 */
size_t rd_origin_deepen(const struct rd_event *event, const struct rd_fnset *set, bool *add);

/* ---- failures that are expected from healthy programs */

/*
 * Why a settled event is benign (static text), or NULL if it is not. Each rule of the table in benign.c is as specific
 * as the record allows: the call, the errno, the origin, and what else distinguishes it from a real failure. An event with unknown
 * origin is never benign.
 */
const char *rd_benign_reason(const struct rd_event *event, const struct rd_fnset *set);

/* The same for a row of the kernel's counts: true only if call, errno and origin are sufficient to make all of its events
 * benign. */
bool rd_benign_count(const struct rd_count *count, const struct rd_fnset *set);

/* The rules as keys for the BPF programs: verb, errno and origin of each function of the set that a rule names. Caller frees
 * *ret. */
size_t rd_benign_list(const struct rd_fnset *set, struct rd_benign_rule **ret);

/* ---- what to check next, from a table that sites can extend (data/hints) */

struct rd_hints {
	struct rd_texts texts; /* the fields and hints point into them */
	struct rd_hint *v;
	size_t n, cap;
};

/*
 * Parses `text` (NUL-terminated, `size` bytes). A line has three glob patterns (* ? [ ]) and a hint:
 *     VERB ERRNO ORIGIN hint to the end of the line
 * ORIGIN is matched against the function of the origin, without a suffix added by the compiler, or, if it has a colon, against
 * "module:function". An unknown verb is "-". Lines that begin with # and empty lines are ignored. `name` is for messages: invalid
 * lines are skipped, with a note. Tables parsed earlier take precedence. -EFBIG with `err` filled.
 */
int rd_hints_parse(const char *name, const char *text, size_t size, struct rd_hints *ret, struct rd_errlist *notes,
		   struct rd_err *err);
void rd_hints_deinit(struct rd_hints *hints);

/* The hint of the first line that matches a settled event; NULL if there is none. Owned by the hints. */
const char *rd_hint_find(const struct rd_hints *hints, const struct rd_event *event, const struct rd_fnset *set);

/* ---- kernel addresses to functions */

/*
 * Resolves the frames of a kernel stack, and removes those of the tracing itself (BPF program, trampoline, return handlers of
 * the kernel). `n`: number of frames, updated.
 * The symbols are all of the kernel, sorted by address; none if it hides addresses (kptr_restrict).
 */
void rd_symbols_resolve(const struct rd_ksyms *symbols, struct rd_frame *frames, size_t *n);

/* ---- crash loops: programs that start again and fail in the same way */

#define RD_PROGRAMS 128	      /* those seen longest ago are forgotten */
#define RD_LOOPS_OF_PROGRAM 4 /* kinds of failures, likewise */
#define RD_LOOP_STARTS 3      /* that fail in the same way make a loop */

/* A job's program, or, outside of jobs, a program of a user. */
struct rd_program {
	uint64_t key;	  /* 0: unused */
	uint64_t starts;  /* in which a call failed */
	uint64_t last_ns; /* CLOCK_MONOTONIC: of its last failure */
	struct rd_crash_loop v[RD_LOOPS_OF_PROGRAM];
};

struct rd_starts {
	struct rd_program v[RD_PROGRAMS];
};

/* Fills the texts of `ret`, but not its count. */
void rd_failure_count_name(const struct rd_event *event, const struct rd_fnset *set, struct rd_failure_count *ret);

/*
 * Takes a failure that is not benign; event->job and ->verb are set. A process is another start if it started after the last
 * failure of the one before: the processes of a parallel job are one. Returns the kind of failure, owned by `starts`; NULL: the start
 * of the process is unknown. It is a loop if rd_crash_loop_is.
 */
struct rd_crash_loop *rd_starts_add(struct rd_starts *starts, const struct rd_event *event, const struct rd_fnset *set);

bool rd_crash_loop_is(const struct rd_crash_loop *loop);

#endif
