/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wrappers with the names of libbpf's functions that load it when the first is called: it brings libelf and libz along, and most
 * commands use none of the three. Only the program has them: tests are linked with libbpf. The program of "make static" is, too; its
 * wrappers are of the functions of libelf that libbpf calls, for the static libelf of some distributions is incomplete.
 */
#ifdef RD_STATIC

#include <gelf.h>

#include "cmd/cmd.h"

/* clang-format off */
#define RD_LIBELF_CALLS(x) \
	x(elf64_getehdr) x(elf64_getshdr) x(elf64_newehdr) x(elf_begin) x(elf_end) x(elf_errmsg) x(elf_getdata) \
	x(elf_getphdrnum) x(elf_getscn) x(elf_getshdrnum) x(elf_getshdrstrndx) x(elf_kind) x(elf_memory) \
	x(elf_ndxscn) x(elf_newdata) x(elf_newscn) x(elf_nextscn) x(elf_rawdata) x(elf_strptr) x(elf_update) \
	x(elf_version) x(gelf_getclass) x(gelf_getehdr) x(gelf_getnote) x(gelf_getphdr) x(gelf_getshdr) \
	x(gelf_getsym) x(gelf_getverdaux) x(gelf_getverdef) x(gelf_getversym)

RD_LATE_DECLARE(rd_libelf, RD_LIBELF_CALLS);
RD_LATE_DEFINE(rd_libelf, RD_LIBELF_CALLS, RD_LIBELF)

/* libbpf calls this one first, and no other if it fails. */
unsigned int elf_version(unsigned int version)
{
	struct rd_err err = { 0 };

	if (rd_libelf_load("BPF", &err) == 0)
		return rd_libelf.elf_version(version);
	rd_fail(NULL, &err);
	return EV_NONE;
}

#define CALL(type, name, parameters, arguments) type name parameters { return rd_libelf.name arguments; }
CALL(Elf64_Ehdr *, elf64_getehdr, (Elf *elf), (elf))
CALL(Elf64_Shdr *, elf64_getshdr, (Elf_Scn *scn), (scn))
CALL(Elf64_Ehdr *, elf64_newehdr, (Elf *elf), (elf))
CALL(Elf *, elf_begin, (int fd, Elf_Cmd cmd, Elf *ref), (fd, cmd, ref))
CALL(int, elf_end, (Elf *elf), (elf))
CALL(const char *, elf_errmsg, (int error), (error))
CALL(Elf_Data *, elf_getdata, (Elf_Scn *scn, Elf_Data *data), (scn, data))
CALL(int, elf_getphdrnum, (Elf *elf, size_t *n), (elf, n))
CALL(Elf_Scn *, elf_getscn, (Elf *elf, size_t index), (elf, index))
CALL(int, elf_getshdrnum, (Elf *elf, size_t *n), (elf, n))
CALL(int, elf_getshdrstrndx, (Elf *elf, size_t *index), (elf, index))
CALL(Elf_Kind, elf_kind, (Elf *elf), (elf))
CALL(Elf *, elf_memory, (char *image, size_t size), (image, size))
CALL(size_t, elf_ndxscn, (Elf_Scn *scn), (scn))
CALL(Elf_Data *, elf_newdata, (Elf_Scn *scn), (scn))
CALL(Elf_Scn *, elf_newscn, (Elf *elf), (elf))
CALL(Elf_Scn *, elf_nextscn, (Elf *elf, Elf_Scn *scn), (elf, scn))
CALL(Elf_Data *, elf_rawdata, (Elf_Scn *scn, Elf_Data *data), (scn, data))
CALL(char *, elf_strptr, (Elf *elf, size_t index, size_t offset), (elf, index, offset))
CALL(int64_t, elf_update, (Elf *elf, Elf_Cmd cmd), (elf, cmd))
CALL(int, gelf_getclass, (Elf *elf), (elf))
CALL(GElf_Ehdr *, gelf_getehdr, (Elf *elf, GElf_Ehdr *ret), (elf, ret))
CALL(size_t, gelf_getnote, (Elf_Data *data, size_t at, GElf_Nhdr *ret, size_t *name, size_t *desc), (data, at, ret, name, desc))
CALL(GElf_Phdr *, gelf_getphdr, (Elf *elf, int n, GElf_Phdr *ret), (elf, n, ret))
CALL(GElf_Shdr *, gelf_getshdr, (Elf_Scn *scn, GElf_Shdr *ret), (scn, ret))
CALL(GElf_Sym *, gelf_getsym, (Elf_Data *data, int n, GElf_Sym *ret), (data, n, ret))
CALL(GElf_Verdaux *, gelf_getverdaux, (Elf_Data *data, int at, GElf_Verdaux *ret), (data, at, ret))
CALL(GElf_Verdef *, gelf_getverdef, (Elf_Data *data, int at, GElf_Verdef *ret), (data, at, ret))
CALL(GElf_Versym *, gelf_getversym, (Elf_Data *data, int n, GElf_Versym *ret), (data, n, ret))
/* clang-format on */

#else

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "cmd/cmd.h"

/* clang-format off */
#define RD_LIBBPF_CALLS(x) \
	x(bpf_btf_get_fd_by_id) x(bpf_btf_get_next_id) x(bpf_enable_stats) x(bpf_link_create) \
	x(bpf_link_get_fd_by_id) x(bpf_link_get_next_id) x(bpf_map__fd) x(bpf_map__reuse_fd) \
	x(bpf_map__set_max_entries) x(bpf_map_create) x(bpf_map_delete_elem) x(bpf_map_get_fd_by_id) \
	x(bpf_map_get_next_id) x(bpf_map_get_next_key) x(bpf_map_lookup_elem) \
	x(bpf_map_update_elem) x(bpf_obj_get_info_by_fd) \
	x(bpf_object__destroy_skeleton) x(bpf_object__load_skeleton) x(bpf_object__open_skeleton) \
	x(bpf_prog_bind_map) x(bpf_prog_get_fd_by_id) x(bpf_prog_get_next_id) x(bpf_prog_load) \
	x(bpf_prog_test_run_opts) x(bpf_program__fd) x(bpf_program__insn_cnt) x(bpf_program__insns) \
	x(bpf_program__name) x(bpf_program__set_attach_target) x(bpf_program__set_autoload) \
	x(bpf_raw_tracepoint_open) x(libbpf_num_possible_cpus) x(libbpf_register_prog_handler) x(libbpf_set_print) \
	x(ring_buffer__consume) x(ring_buffer__free) x(ring_buffer__new)

RD_LATE_DECLARE(rd_libbpf, RD_LIBBPF_CALLS);
RD_LATE_DEFINE(rd_libbpf, RD_LIBBPF_CALLS, RD_LIBBPF)

/* If it cannot be loaded, the calls fail as those of libbpf do, and the first that needs it reports why. */
static bool is_loaded(bool quietly)
{
	static bool reported;
	struct rd_err err = { 0 };

	if (rd_libbpf.libbpf_set_print)
		return true;
	if (rd_libbpf_load("BPF", &err) == 0) {
		rd_libbpf.libbpf_set_print(NULL); /* it would write to standard error; our own messages report its errors */
		return true;
	}
	if (!quietly && !reported)
		rd_fail(NULL, &err);
	reported |= !quietly;
	errno = EOPNOTSUPP;
	return false;
}

/* Called to load the library before it is needed. */
libbpf_print_fn_t libbpf_set_print(libbpf_print_fn_t fn)
{
	return is_loaded(true) ? rd_libbpf.libbpf_set_print(fn) : NULL;
}

/* const up to libbpf 1.1, not in later versions. */
typedef __typeof__(_Generic(bpf_prog_load,
	int (*)(enum bpf_prog_type, const char *, const char *, const struct bpf_insn *, size_t, const struct bpf_prog_load_opts *):
		(const struct bpf_prog_load_opts *)NULL,
	default: (struct bpf_prog_load_opts *)NULL)) prog_load_opts;

#define CALL(type, name, parameters, arguments, failure) \
	type name parameters { return is_loaded(false) ? rd_libbpf.name arguments : (failure); }
/* Of the functions that free: without the library there is nothing to free. */
#define CALL_FREE(name, parameters, arguments) \
	void name parameters { if (rd_libbpf.name) rd_libbpf.name arguments; }
CALL(int, bpf_btf_get_fd_by_id, (__u32 id), (id), -EOPNOTSUPP)
CALL(int, bpf_btf_get_next_id, (__u32 start_id, __u32 *next_id), (start_id, next_id), -EOPNOTSUPP)
CALL(int, bpf_enable_stats, (enum bpf_stats_type type), (type), -EOPNOTSUPP)
CALL(int, bpf_link_create, (int prog_fd, int target_fd, enum bpf_attach_type attach_type, const struct bpf_link_create_opts *opts), (prog_fd, target_fd, attach_type, opts), -EOPNOTSUPP)
CALL(int, bpf_link_get_fd_by_id, (__u32 id), (id), -EOPNOTSUPP)
CALL(int, bpf_link_get_next_id, (__u32 start_id, __u32 *next_id), (start_id, next_id), -EOPNOTSUPP)
CALL(int, bpf_map__fd, (const struct bpf_map *map), (map), -EOPNOTSUPP)
CALL(int, bpf_map__reuse_fd, (struct bpf_map *map, int fd), (map, fd), -EOPNOTSUPP)
CALL(int, bpf_map__set_max_entries, (struct bpf_map *map, __u32 max_entries), (map, max_entries), -EOPNOTSUPP)
CALL(int, bpf_map_create, (enum bpf_map_type map_type, const char *map_name, __u32 key_size, __u32 value_size, __u32 max_entries, const struct bpf_map_create_opts *opts), (map_type, map_name, key_size, value_size, max_entries, opts), -EOPNOTSUPP)
CALL(int, bpf_map_delete_elem, (int fd, const void *key), (fd, key), -EOPNOTSUPP)
CALL(int, bpf_map_get_fd_by_id, (__u32 id), (id), -EOPNOTSUPP)
CALL(int, bpf_map_get_next_id, (__u32 start_id, __u32 *next_id), (start_id, next_id), -EOPNOTSUPP)
CALL(int, bpf_map_get_next_key, (int fd, const void *key, void *next_key), (fd, key, next_key), -EOPNOTSUPP)
CALL(int, bpf_map_lookup_elem, (int fd, const void *key, void *value), (fd, key, value), -EOPNOTSUPP)
CALL(int, bpf_map_update_elem, (int fd, const void *key, const void *value, __u64 flags), (fd, key, value, flags), -EOPNOTSUPP)
CALL(int, bpf_obj_get_info_by_fd, (int bpf_fd, void *info, __u32 *info_len), (bpf_fd, info, info_len), -EOPNOTSUPP)
CALL_FREE(bpf_object__destroy_skeleton, (struct bpf_object_skeleton *s), (s))
CALL(int, bpf_object__load_skeleton, (struct bpf_object_skeleton *s), (s), -EOPNOTSUPP)
CALL(int, bpf_object__open_skeleton, (struct bpf_object_skeleton *s, const struct bpf_object_open_opts *opts), (s, opts), -EOPNOTSUPP)
CALL(int, bpf_prog_bind_map, (int prog_fd, int map_fd, const struct bpf_prog_bind_opts *opts), (prog_fd, map_fd, opts), -EOPNOTSUPP)
CALL(int, bpf_prog_get_fd_by_id, (__u32 id), (id), -EOPNOTSUPP)
CALL(int, bpf_prog_get_next_id, (__u32 start_id, __u32 *next_id), (start_id, next_id), -EOPNOTSUPP)
CALL(int, bpf_prog_load, (enum bpf_prog_type prog_type, const char *prog_name, const char *license, const struct bpf_insn *insns, size_t insn_cnt, prog_load_opts opts), (prog_type, prog_name, license, insns, insn_cnt, opts), -EOPNOTSUPP)
CALL(int, bpf_prog_test_run_opts, (int prog_fd, struct bpf_test_run_opts *opts), (prog_fd, opts), -EOPNOTSUPP)
CALL(int, bpf_program__fd, (const struct bpf_program *prog), (prog), -EOPNOTSUPP)
CALL(size_t, bpf_program__insn_cnt, (const struct bpf_program *prog), (prog), 0)
CALL(const struct bpf_insn *, bpf_program__insns, (const struct bpf_program *prog), (prog), NULL)
CALL(const char *, bpf_program__name, (const struct bpf_program *prog), (prog), NULL)
CALL(int, bpf_program__set_attach_target, (struct bpf_program *prog, int attach_prog_fd, const char *attach_func_name), (prog, attach_prog_fd, attach_func_name), -EOPNOTSUPP)
CALL(int, bpf_program__set_autoload, (struct bpf_program *prog, bool autoload), (prog, autoload), -EOPNOTSUPP)
CALL(int, bpf_raw_tracepoint_open, (const char *name, int prog_fd), (name, prog_fd), -EOPNOTSUPP)
CALL(int, libbpf_num_possible_cpus, (void), (), -EOPNOTSUPP)
CALL(int, libbpf_register_prog_handler, (const char *sec, enum bpf_prog_type prog_type, enum bpf_attach_type exp_attach_type, const struct libbpf_prog_handler_opts *opts), (sec, prog_type, exp_attach_type, opts), -EOPNOTSUPP)
CALL(int, ring_buffer__consume, (struct ring_buffer *rb), (rb), -EOPNOTSUPP)
CALL_FREE(ring_buffer__free, (struct ring_buffer *rb), (rb))
CALL(struct ring_buffer *, ring_buffer__new, (int map_fd, ring_buffer_sample_fn sample_cb, void *ctx, const struct ring_buffer_opts *opts), (map_fd, sample_cb, ctx, opts), NULL)
/* clang-format on */

#endif
