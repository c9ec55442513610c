/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types of the running kernel, read through BTF (CO-RE): only the fields that are used. Names are those of Linux 5.10 to 7.2; a
 * field that a kernel lacks must be tested before it is read. */
#ifndef RD_BPF_KERNEL_H
#define RD_BPF_KERNEL_H

#include <linux/types.h>

/* Pivots of the two kinds of nodes in lib/maple_tree.c. */
#define RANGE_PIVOTS 15
#define ARANGE_PIVOTS 9

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

struct nsproxy {
	struct net *net_ns;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1]; /* level + 1 elements: read_number() */
};

struct user_namespace {
	int level;
};

struct kernel_cap___rd {
	__u64 val;
};

struct cred {
	struct kernel_cap___rd cap_effective;
	struct user_namespace *user_ns;
};

struct rlimit {
	unsigned long rlim_cur;
};

struct signal_struct {
	struct rlimit rlim[16];
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
	unsigned int next_fd;
};

struct pinned___rd {
	__s64 counter;
};

struct maple_tree {
	void *ma_root;
};

struct mm_struct {
	unsigned long locked_vm;
	struct pinned___rd pinned_vm;
	struct maple_tree mm_mt;
};

struct task_struct {
	__u32 tgid;
	__u64 start_time;
	struct task_struct *real_parent, *group_leader;
	struct pid *thread_pid;
	struct mm_struct *mm;
	struct files_struct *files;
	struct signal_struct *signal;
	struct cred *cred;
	struct nsproxy *nsproxy;
};

struct module {
	char name[56];
};

struct module_kobject {
	struct module *mod;
};

struct super_block {
	unsigned int s_dev;
	unsigned long s_magic, s_blocksize;
	void *s_fs_info;
};

struct percpu_counter {
	__s64 count;
};

struct shmem_sb_info {
	unsigned long max_blocks;
	struct percpu_counter used_blocks;
};

struct inode {
	unsigned short i_mode;
	unsigned int i_rdev;
	struct super_block *i_sb;
	unsigned long i_ino;
	long long i_size;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
	void *private_data;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_flags, vm_pgoff;
	struct file *vm_file;
	void *vm_private_data;
};

/* lib/maple_tree.c: the tree of mappings of a process since Linux 6.1. */
struct maple_range_64 {
	unsigned long pivot[RANGE_PIVOTS];
	void *slot[RANGE_PIVOTS + 1];
};

struct maple_arange_64 {
	unsigned long pivot[ARANGE_PIVOTS];
	void *slot[ARANGE_PIVOTS + 1];
};

/* lib/xarray.c */
struct xa_node {
	unsigned char shift;
	void *slots[64];
};

#pragma clang attribute pop

#endif
