/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of the loaded RDMA modules, and which of them get an exit hook.
 * Plain data: one owner, arrays, indices between objects.
 */
#ifndef RD_MODEL_FNSET_H
#define RD_MODEL_FNSET_H

#include "base/base.h"
#include "bpf/record.h"

/* The return type decides how an errno is recognized in the return register. */
enum rd_ret {
	RD_RET_UNKNOWN = 0, /* no BTF: a 32-bit negative errno whose upper half is all ones or all zeros counts */
	RD_RET_VOID,
	RD_RET_INT,  /* signed, 32 bits; the upper half of the register is undefined */
	RD_RET_LONG, /* signed, 64 bits: long, ssize_t, s64 */
	RD_RET_PTR,  /* ERR_PTR(-errno); NULL does not count as an errno */
	RD_RET_BOOL,
	RD_RET_UNSIGNED, /* cannot return an errno */
	RD_RET_OTHER,	 /* structs and floating point */
};

enum rd_backend {
	RD_BACKEND_NONE = 0,
	RD_BACKEND_FEXIT,
	RD_BACKEND_FEXIT_MULTI,
	RD_BACKEND_KPROBE_MULTI,
	RD_BACKEND_KPROBE,
	RD_BACKEND_COUNT,
};

/* The names in options and output: fexit, fexit-multi, kprobe-multi, kprobe; "none". */
const char *rd_backend_name(enum rd_backend backend);
int rd_backend_parse(const char *name, enum rd_backend *ret);

/* The kernel entry point of a call, where a chain begins and ends. */
enum rd_entry {
	RD_ENTRY_NONE = 0,
	RD_ENTRY_UVERBS_IOCTL, /* (struct file *, unsigned int, unsigned long user header) */
	RD_ENTRY_UVERBS_MMAP,  /* (struct file *, struct vm_area_struct *) */
	RD_ENTRY_UVERBS_OPEN,  /* (struct inode *, struct file *) */
	RD_ENTRY_UCMA_WRITE,   /* (struct file *, const char user *, size_t, loff_t *) */
	RD_ENTRY_WRITE_HANDLER, /* int (struct uverbs_attr_bundle *): root of a chain if it is not called from an ioctl. The
				 * write(2) file operation itself does not count: soft drivers ring doorbells with it */
};

/* Why a function is selected or left out: exactly one rule per function, the first that applies. */
enum rd_rule {
	RD_RULE_SELECTED = 0, /* reached from a root and may return an errno */
	RD_RULE_ENTRY,	      /* selected: an entry point, hooked regardless of its return type */
	RD_RULE_NOT_REACHED,  /* not reachable from a root */
	RD_RULE_RETURN,	      /* returns no errno: void, bool, unsigned, struct */
	RD_RULE_QUERY,	      /* reads only */
	RD_RULE_DATA_PATH,    /* post_send, post_recv, poll_cq, req_notify_cq and functions reachable only from them */
	RD_RULE_CLEANUP,      /* cleans up: destroy, free, unregister … */
	RD_RULE_REFCOUNT,     /* get/put of references */
	RD_RULE_COMMON,	      /* common kernel code: not of an RDMA module */
	RD_RULE_DIAGNOSTIC,   /* tracing, printing, debugfs, sysfs show/store */
	RD_RULE_COLD,	      /* the .cold part that the compiler split off; the hook of the function covers it */
	RD_RULE_COUNT,
};
const char *rd_rule_name(enum rd_rule rule);   /* short and stable: "query", "data-path" */
const char *rd_rule_reason(enum rd_rule rule); /* a phrase for messages */

struct rd_module {
	char *name;	   /* as in /proc/modules; "vmlinux" for built-in code */
	char *version;	   /* MODULE_VERSION, mostly of out-of-tree drivers; NULL: none */
	char *path;	   /* the file on disk of the loaded module; NULL if there is none */
	char *note;	   /* why there is no such file or BTF, and the consequence; NULL if there are both */
	uint64_t instance; /* inode number of /sys/module/<name>: another one when the module is loaded again; 0: unknown */
	bool has_btf;	   /* /sys/kernel/btf/<name> exists */
	bool rdma;	   /* ib_core, or depends on it; false: the core driver below an RDMA driver, or vmlinux */
	bool has_ops;	   /* holds a struct ib_device_ops: a device driver */
	bool file_matches; /* the file has the build-id of the loaded module */
	uint32_t unnamed;  /* functions whose symbols were removed from the file */
};

struct rd_fn {
	char *name;	 /* as in kallsyms, with .part.0 and the like */
	uint32_t module; /* index into modules */
	uint64_t addr;	 /* 0: hidden by the kernel (kptr_restrict) */
	uint32_t btf_id; /* BTF_KIND_FUNC id in the module's BTF; 0: none */
	bool args_ok;	 /* every argument is one register wide, as fexit trampolines require */
	enum rd_ret ret;
	enum rd_rule rule;
	enum rd_entry entry;
	bool selected;
	bool suffixed;	/* the name has a suffix added by the compiler; BTF describes only the bare name */
	bool ambiguous; /* several functions have this name: only the address distinguishes them */
	bool in_filter; /* listed by available_filter_functions: ftrace can hook it */
	bool no_kprobe; /* NOKPROBE_SYMBOL: kprobes refuse it */
	uint8_t attachable; /* bit 1 << enum rd_backend: backends that can probably hook it if this kernel has them, without having tried */
	int8_t qp_arg;	 /* index of the struct ib_qp * argument; -1: none */
	int8_t dev_arg;	 /* likewise struct ib_device * */
	uint8_t notes;	 /* RD_NOTE_*: what is noted of its arguments when it is called */
	uint32_t size;	 /* bytes of its code, without a cold part; 0: its module has no file */
	uint32_t *roots; /* indices into roots: from which it is reachable */
	uint32_t n_roots;
	uint32_t *calls; /* functions of the set that it calls and that may return an errno, also through its cold part; sorted */
	uint32_t n_calls;
	uint64_t errnos[3]; /* errnos that its own code contains, bit per number; may be too many, valid with calls_known */
	uint64_t loaded[3]; /* those of them that an instruction loads into a register; may be too few */
	bool indirect;	    /* it also calls through pointers; likewise */
	bool outside;	    /* it also calls functions of the kernel image that may return an errno; likewise */
	bool calls_known;   /* false: its module has no file, so there is no call graph */
	bool taken;  /* code or data holds its address: it may be called through a pointer; valid with calls_known */
	bool member; /* left out by a rule, and called through a table of callbacks: no `calls` contains it */
	enum rd_backend backend; /* the backend that hooked it; set by rd_attach */
};

/* ib_modify_qp_is_ok(current state, next state, type, attribute mask): nearly every driver calls it. */
#define RD_NOTE_QP 1
/* The first argument is a struct rdma_cm_id: its state. */
#define RD_NOTE_CM 2

struct rd_root {
	uint32_t fn; /* index into fns */
	char *via;   /* how it is called: "ioctl handler", "write handler", "ib_device_ops.reg_user_mr", "rdma_ucm
			 * command 5", "file_operations.unlocked_ioctl" */
	bool alone; /* selected itself, but not what it calls: it reads, or destroys an object that is rarely destroyed */
};

struct rd_fnset {
	struct rd_module *modules;
	size_t n_modules, cap_modules;
	/* Sorted by module, then address, then name; those of modules loaded later follow. The index is the id of a function
	 * everywhere. */
	struct rd_fn *fns;
	size_t n_fns, cap_fns;
	struct rd_root *roots;
	size_t n_roots, cap_roots;
	struct rd_offsets off;
	char *kernel;	  /* release, as uname -r */
	uint8_t backends; /* bit 1 << enum rd_backend: those that this kernel has by its BTF; all if it has no BTF */
};

void rd_fnset_deinit(struct rd_fnset *set);

/* A function as the kernel lists it. */
struct rd_ksym {
	uint64_t addr; /* 0: hidden by the kernel (kptr_restrict) */
	char *name;
	char *module; /* NULL: the kernel itself */
};

struct rd_ksyms {
	struct rd_ksym *v;
	size_t n, cap;
};
void rd_ksyms_deinit(struct rd_ksyms *syms);

/* Index of a module, by name and instance, or -1. */
int rd_fnset_module(const struct rd_fnset *set, const char *name, uint64_t instance);

/*
 * Brings a set up to date with one that was selected later, and takes over what that owns. Functions keep their ids and .backend;
 * those that `newer` does not have are no longer selected. The functions of a module that was loaded again are others.
 */
void rd_fnset_update(struct rd_fnset *set, struct rd_fnset *newer);

/* Compares names of functions without the suffixes of the compiler (.isra.0, .cold), as strcmp does. */
int rd_fn_compare_bare(const char *a, const char *b);

/* The first errno above `code` whose bit is set and that has a name; 0: there are no more. For struct rd_fn. */
int rd_fn_next_errno(const uint64_t errnos[3], int code);

/*
 * How the kernel calls a function other than from functions of the set: "ib_device_ops.reg_user_mr", several separated by ", ".
 * NULL: it does not. Caller frees.
 */
char *rd_fnset_via(const struct rd_fnset *set, uint32_t fn);

/* Index of a function by name (the first, where several modules have it), or -1. */
int rd_fnset_find(const struct rd_fnset *set, const char *name);

#endif
