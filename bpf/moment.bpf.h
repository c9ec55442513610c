/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What explains a failure and may have changed a moment later: limits and memory of the caller, its request, and the objects that
 * the request names. Read only after a call has failed. */
#ifndef RD_BPF_MOMENT_H
#define RD_BPF_MOMENT_H

#include "memory.bpf.h"
#include "request.bpf.h"
#include "thread.bpf.h"

#define EFAULT 14

#define RLIMIT_NOFILE 7
#define RLIMIT_MEMLOCK 8

/* The calling process. */
static __always_inline void look_at_process(struct rd_rec_moment *m)
{
	struct task_struct *task = bpf_get_current_task_btf();

	m->memlock = TASK_FIELD(task, signal, rlim[RLIMIT_MEMLOCK].rlim_cur);
	m->nofile = TASK_FIELD(task, signal, rlim[RLIMIT_NOFILE].rlim_cur);
	m->user_ns_level = TASK_FIELD(task, cred, user_ns, level);
	m->net_ns = TASK_FIELD(task, nsproxy, net_ns, ns.inum);
	m->started = TASK_FIELD(task, group_leader, start_time);
	m->known = RD_MOMENT_LIMITS | RD_MOMENT_NET;
	if (cfg.read_kernel && !BPF_CORE_READ_INTO(&m->caps, task, cred, cap_effective))
		m->known |= RD_MOMENT_CREDS;
	if (TASK_FIELD(task, mm)) {
		m->pinned = TASK_FIELD(task, mm, pinned_vm.counter);
		m->locked = TASK_FIELD(task, mm, locked_vm);
		m->known |= RD_MOMENT_MEMORY;
	}
	if (TASK_FIELD(task, files)) {
		m->next_fd = TASK_FIELD(task, files, next_fd);
		m->known |= RD_MOMENT_FILES;
	}
}

/* The root of the tree of mappings; 0: not readable. */
static __always_inline __u64 mappings_of(struct task_struct *task)
{
	__u64 root = 0;

	if (cfg.read_kernel && bpf_core_type_exists(struct maple_tree))
		BPF_CORE_READ_INTO(&root, task, mm, mm_mt.ma_root);
	return root;
}

/* The range of addresses that the request names. */
static __always_inline void look_at_memory(struct thread *t, const struct rd_rec_layout *layout, __u64 root)
{
	struct rd_rec_moment *m = &t->moment;
	__u64 access;

	if (layout->address == RD_NOWHERE)
		return;
	m->address = value_of(t, layout->address, 8);
	m->length = value_of(t, layout->length, 8);
	access = layout->access == RD_NOWHERE ? RD_NO_VALUE : value_of(t, layout->access, 4);
	if (m->address != RD_NO_VALUE && m->length != RD_NO_VALUE && access != RD_NO_VALUE)
		look_at_mappings(t, root, access & ACCESS_WRITABLE);
}

/* The buffer for the response of a command: an attribute of INVOKE_WRITE, or the first field of what was written. */
static __always_inline __u64 response_of(const struct thread *t)
{
	const struct rd_rec_request *req = &t->request;
	__u64 i;

	if (t->rec.verb >> 32 == RD_VERB_WRITE && req->n_raw >= sizeof(__u64))
		return *(__u64 *)req->raw;
	for (i = 0; t->rec.verb >> 32 == RD_VERB_INVOKE_WRITE && i < RD_REQUEST_ATTRS && i < req->n_attrs; i++)
		if (req->attrs[i].id == ATTR_CORE_OUT && req->attrs[i].len)
			return req->attrs[i].data;
	return 0;
}

/* The file descriptor that the request names. */
GLOBAL int look_at_fd(struct thread *t, __u32 place)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct rd_rec_moment *m;
	__u64 fd;
	struct file **table = NULL, *file = NULL;
	const unsigned char *name = NULL;
	struct fdtable *fdt = NULL;
	struct dentry *dentry = NULL;
	__u32 max = 0;

	if (!t || !cfg.read_kernel)
		return 0;
	m = &t->moment;
	fd = value_of(t, place, 4);
	if (fd == RD_NO_VALUE || (__s32)fd < 0 || BPF_CORE_READ_INTO(&fdt, task, files, fdt) ||
	    bpf_core_read(&max, sizeof(max), &fdt->max_fds) || bpf_core_read(&table, sizeof(table), &fdt->fd))
		return 0;
	if (fd < max && bpf_probe_read_kernel(&file, sizeof(file), table + fd))
		return 0;
	m->fd_what = file ? RD_CALLER_FD_OPEN : RD_CALLER_FD_CLOSED;
	if (file && !bpf_core_read(&dentry, sizeof(dentry), &file->f_path.dentry) && dentry &&
	    !bpf_core_read(&name, sizeof(name), &dentry->d_name.name))
		bpf_probe_read_kernel_str(m->fd_name, sizeof(m->fd_name), name);
	return 0;
}

GLOBAL int look_around(struct thread *t, __u32 entry)
{
	const struct rd_rec_layout *layout;
	__u64 verb, root, response;
	struct file *file;

	if (!t)
		return 0;
	verb = t->rec.verb;
	root = mappings_of(bpf_get_current_task_btf());
	__builtin_memset(&t->moment, 0, sizeof(t->moment));
	look_at_process(&t->moment);
	t->moment.known |= t->notes.known;
	t->moment.qp_mask = t->notes.qp_mask;
	t->moment.qp_cur = t->notes.qp_cur;
	t->moment.qp_next = t->notes.qp_next;
	t->moment.qp_type = t->notes.qp_type;
	t->moment.cm_state = t->notes.cm_state;
	response = root && t->rec.err == -EFAULT ? response_of(t) : 0;
	if (response)
		look_at_response(t, root, response);
	layout = bpf_map_lookup_elem(&layouts, &verb);
	if (!layout)
		return 0;
	if (root)
		look_at_memory(t, layout, root);
	if (layout->fd != RD_NOWHERE && cfg.read_kernel)
		look_at_fd(t, layout->fd);
	t->ufile = 0;
	if (entry == RD_ROOT_IOCTL && cfg.read_kernel) {
		file = (struct file *)t->args[0];
		bpf_core_read(&t->ufile, sizeof(t->ufile), &file->private_data);
	} else if (entry == RD_ROOT_HANDLER && cfg.read_kernel && cfg.off.bundle_ufile >= 0) {
		bpf_probe_read_kernel(&t->ufile, sizeof(t->ufile), (void *)t->args[0] + cfg.off.bundle_ufile);
	}
	look_up_handles(t, layout);
	return 0;
}

#endif
