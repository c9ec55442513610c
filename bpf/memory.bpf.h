/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mappings of a range of addresses of the calling process, as they are when its call fails. */
#ifndef RD_BPF_MEMORY_H
#define RD_BPF_MEMORY_H

#include "thread.bpf.h"

#define PAGE ((__u64)cfg.page_size)
#define MAPPINGS_SEARCHED 8

/* Flags of a mapping: include/linux/mm.h. */
#define VM_READ 0x1ull
#define VM_WRITE 0x2ull
#define VM_SHARED 0x8ull
#define VM_PFNMAP 0x400ull
#define VM_IO 0x4000ull
#define VM_NORESERVE 0x200000ull
#define VM_HUGETLB 0x400000ull
#define VM_UFFD 0x1200ull /* missing pages, write protection */
#define VM_GUARD 0x800ull /* VM_MAYBE_GUARD, since Linux 6.19; not used from 6.1 to then */
#ifdef __TARGET_ARCH_x86
#define VM_PKEY 0xf00000000ull
#else
#define VM_PKEY 0ull
#endif

#define IS_REGULAR(mode) (((mode)&0170000) == 0100000)
#define IS_BLOCK(mode) (((mode)&0170000) == 0060000)

/* File systems whose pages are memory and are never written back: <linux/magic.h>. */
#define TMPFS_MAGIC 0x01021994
#define RAMFS_MAGIC 0x858458f6
#define HUGETLBFS_MAGIC 0x958458f6

/* Access rights for which the kernel pins pages writable, as in ib_access_writable(): local write, remote write, remote atomic,
 * bind of memory windows. */
#define ACCESS_WRITABLE (1 | 2 | 8 | 16)

/* The tree of mappings: lib/maple_tree.c. A pointer to a node contains its type. Linux 6.1 and later. */
#define MAPLE_DEPTH 6
#define MAPLE_LEAF_64 1
#define MAPLE_ARANGE_64 3
#define MAPLE_TYPE(entry) ((entry) >> 3 & 15)
#define MAPLE_NODE(entry) ((entry) & ~255ull)

/* The slot of a node that covers `addr`; -1: not readable. A pivot is the last address of its slot; 0 ends the list. */
GLOBAL int find_slot(struct thread *t, __u64 node, __u64 addr, __u32 arange)
{
	__u64 i;

	if (!t || !cfg.read_kernel)
		return -1;
	if (arange ? bpf_core_read(t->pivots, ARANGE_PIVOTS * 8, &((struct maple_arange_64 *)node)->pivot) :
		     bpf_core_read(t->pivots, RANGE_PIVOTS * 8, &((struct maple_range_64 *)node)->pivot))
		return -1;
	for (i = 0; i < RANGE_PIVOTS; i++)
		if ((arange && i == ARANGE_PIVOTS) || (i && !t->pivots[i]) || addr <= t->pivots[i])
			break;
	return i;
}

/* The mapping that covers `addr`; 0: none; 1: the tree is not readable. */
GLOBAL __u64 find_mapping(struct thread *t, __u64 root, __u64 addr)
{
	__u64 entry = root;
	__u64 i;

	if (!t || !cfg.read_kernel)
		return 1;
	for (i = 0; i < MAPLE_DEPTH; i++) {
		__u64 node = MAPLE_NODE(entry), next = 0, slots;
		__u32 type = MAPLE_TYPE(entry);
		int slot;

		if ((!i && (entry & 3) != 2) || node < PAGE || !type || type > MAPLE_ARANGE_64)
			return 1;
		slot = find_slot(t, node, addr, type == MAPLE_ARANGE_64);
		if (slot < 0)
			return 1;
		slots = node + (type == MAPLE_ARANGE_64 ? bpf_core_field_offset(struct maple_arange_64, slot) :
							  bpf_core_field_offset(struct maple_range_64, slot));
		if (bpf_probe_read_kernel(&next, sizeof(next), (void *)slots + slot * 8))
			return 1;
		if (type == MAPLE_LEAF_64)
			return next & 3 ? 1 : next;
		entry = next;
	}
	return 1;
}

static __always_inline bool read_area(__u64 at, struct area *ret)
{
	const struct vm_area_struct *vma = (const struct vm_area_struct *)at;

	return !bpf_core_read(&ret->start, sizeof(ret->start), &vma->vm_start) &&
	       !bpf_core_read(&ret->end, sizeof(ret->end), &vma->vm_end) &&
	       !bpf_core_read(&ret->flags, sizeof(ret->flags), &vma->vm_flags) &&
	       !bpf_core_read(&ret->pgoff, sizeof(ret->pgoff), &vma->vm_pgoff) &&
	       !bpf_core_read(&ret->file, sizeof(ret->file), &vma->vm_file);
}

static __always_inline void read_file(struct file *file, struct rd_rec_mapping *ret)
{
	struct shmem_sb_info *info = NULL;
	struct super_block *sb = NULL;
	struct dentry *dentry = NULL;
	struct inode *inode = NULL;
	const unsigned char *name = NULL;

	if (!file || bpf_core_read(&inode, sizeof(inode), &file->f_inode) || !inode)
		return;
	bpf_core_read(&ret->mode, sizeof(ret->mode), &inode->i_mode);
	bpf_core_read(&ret->rdev, sizeof(ret->rdev), &inode->i_rdev);
	bpf_core_read(&ret->inode, sizeof(ret->inode), &inode->i_ino);
	bpf_core_read(&ret->file_size, sizeof(ret->file_size), &inode->i_size);
	/* The pages of a block device are not those of the file system that has its name. */
	if (IS_BLOCK(ret->mode))
		ret->magic = 0;
	else if (!bpf_core_read(&sb, sizeof(sb), &inode->i_sb) && sb) {
		bpf_core_read(&ret->dev, sizeof(ret->dev), &sb->s_dev);
		bpf_core_read(&ret->magic, sizeof(ret->magic), &sb->s_magic);
		bpf_core_read(&ret->block, sizeof(ret->block), &sb->s_blocksize);
		if (ret->magic == TMPFS_MAGIC &&
		    bpf_core_field_exists(((struct shmem_sb_info *)0)->used_blocks.count) &&
		    !bpf_core_read(&info, sizeof(info), &sb->s_fs_info) && info) {
			bpf_core_read(&ret->fs_blocks, sizeof(ret->fs_blocks), &info->max_blocks);
			bpf_core_read(&ret->fs_used, sizeof(ret->fs_used), &info->used_blocks.count);
		}
	}
	if (!bpf_core_read(&dentry, sizeof(dentry), &file->f_path.dentry) && dentry &&
	    !bpf_core_read(&name, sizeof(name), &dentry->d_name.name))
		bpf_probe_read_kernel_str(ret->name, sizeof(ret->name), name);
}

static __always_inline void keep_mapping(struct rd_rec_mapping *ret, const struct area *area, __u64 at, __u32 what)
{
	ret->start = area->start;
	ret->end = area->end;
	ret->flags = area->flags;
	ret->at = at;
	ret->what = what;
	ret->fs_blocks = ret->fs_used = 0; /* of the file that was kept before */
	read_file(area->file, ret);
}

/* What keeps the pages of the mapping from `at` up to `end` from being pinned. *ret: the first such address. */
static __always_inline __u32 judge_area(struct thread *t, const struct area *area, __u64 at, __u64 end, bool write,
					__u64 *ret)
{
	__u32 other = area->flags & (VM_UFFD | VM_PKEY | VM_GUARD) ? RD_MAPPING_OTHER : RD_MAPPING_NONE;
	struct rd_rec_mapping *file = &t->file;
	__u64 limit;

	*ret = at;
	if (area->flags & (VM_IO | VM_PFNMAP))
		return RD_MAPPING_DEVICE;
	if (!(area->flags & VM_READ))
		return RD_MAPPING_NO_ACCESS;
	if (write && !(area->flags & VM_WRITE))
		return RD_MAPPING_READ_ONLY;
	if (!area->file)
		return other;
	file->mode = 0;
	read_file(area->file, file);
	if (IS_BLOCK(file->mode))
		return write && area->flags & VM_SHARED ? RD_MAPPING_FILE : RD_MAPPING_OTHER;
	if (!IS_REGULAR(file->mode))
		return other;
	/* Bytes of the file from the start of the mapping, in whole pages. */
	limit = (file->file_size + PAGE - 1) & ~(PAGE - 1);
	limit = limit > area->pgoff * PAGE ? area->start + limit - area->pgoff * PAGE : area->start;
	if (limit < (end < area->end ? end : area->end)) {
		*ret = limit > at ? limit : at;
		return RD_MAPPING_PAST_END;
	}
	if (write && area->flags & VM_SHARED && file->magic != TMPFS_MAGIC && file->magic != RAMFS_MAGIC &&
	    file->magic != HUGETLBFS_MAGIC)
		return RD_MAPPING_FILE;
	return area->flags & VM_HUGETLB ? RD_MAPPING_HUGE : RD_MAPPING_OTHER;
}

/* One of the mappings of the range, at address `at`. Whether the next one matters, too. */
GLOBAL int look_at_mapping(struct thread *t, __u64 mapping, __u64 at, __u32 write)
{
	struct rd_rec_moment *m;
	struct area *area;
	__u64 end, first, data;
	__u32 what;

	if (!t || !cfg.read_kernel)
		return 0;
	m = &t->moment;
	area = &t->area;
	end = m->address + m->length;
	if (!read_area(mapping, area) || at < area->start || at >= area->end)
		return 0;
	what = judge_area(t, area, at, end, write, &first);
	if (what && what < RD_MAPPING_FILE) {
		keep_mapping(&m->fault, area, first, what);
		return 0;
	}
	/* Huge pages of a private mapping are reserved for the process that mapped them (HPAGE_RESV_OWNER), not for what it forked. */
	if (what == RD_MAPPING_HUGE && !(area->flags & VM_SHARED) &&
	    !bpf_core_read(&data, sizeof(data), &((struct vm_area_struct *)mapping)->vm_private_data) && !(data & 1))
		area->flags |= VM_NORESERVE;
	if (what && m->special.what &&
	    (what != m->special.what || (area->flags ^ m->special.flags) & (VM_UFFD | VM_PKEY | VM_GUARD) ||
	     (what == RD_MAPPING_OTHER && (area->file ? t->file.inode : 0) != m->special.inode)))
		m->special.others = 1;
	if (what && (!m->special.what || (m->special.what == RD_MAPPING_OTHER && what != RD_MAPPING_OTHER)))
		keep_mapping(&m->special, area, first, what);
	if (area->end < end)
		return 1;
	m->mapped = RD_MAPPED_ALL;
	return 0;
}

/* Looks for the first mapping from m->address that the kernel cannot pin. */
GLOBAL int look_at_mappings(struct thread *t, __u64 root, __u32 write)
{
	struct rd_rec_moment *m;
	__u64 at, end;
	__u64 i;

	if (!t)
		return 0;
	m = &t->moment;
	at = m->address & ~(PAGE - 1);
	end = m->address + m->length;
	if (end < m->address || !m->length)
		return 0;
	for (i = 0; i < MAPPINGS_SEARCHED; i++) {
		__u64 found = find_mapping(t, root, at);

		if (found == 1)
			return 0;
		if (!found) {
			m->fault.at = at;
			m->fault.what = RD_MAPPING_HOLE;
			return 0;
		}
		if (!look_at_mapping(t, found, at, write))
			return 0;
		at = t->area.end;
	}
	m->mapped = RD_MAPPED_MORE;
	return 0;
}

/* Whether the response could be written to its buffer. */
GLOBAL int look_at_response(struct thread *t, __u64 root, __u64 at)
{
	struct rd_rec_moment *m;
	struct area *area;
	__u64 found;

	if (!t || !cfg.read_kernel)
		return 0;
	m = &t->moment;
	area = &t->area;
	found = find_mapping(t, root, at);
	m->response = at;
	if (!found)
		m->response_what = RD_MAPPING_HOLE;
	else if (found != 1 && read_area(found, area) && at >= area->start && at < area->end &&
		 !(area->flags & VM_WRITE))
		m->response_what = RD_MAPPING_READ_ONLY;
	return 0;
}

#endif
