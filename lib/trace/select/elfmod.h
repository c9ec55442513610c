/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One kernel module file (ELF64, relocatable, of this machine's byte order): its functions, its data objects, and who
 * calls or points to whom. The bytes are foreign: everything is checked against the file's size.
 */
#ifndef RD_TRACE_ELFMOD_H
#define RD_TRACE_ELFMOD_H

#include <elf.h>

#include "base/base.h"
#include "base/err.h"

#define RD_ELF_NONE UINT32_MAX

struct rd_elf_section {
	const char *name;
	uint32_t type;
	uint64_t flags;
	uint64_t offset, size; /* in the file; inside it, except for SHT_NOBITS */
	uint32_t link, info;
	uint64_t entsize;
};

/* A function or a data object: what a symbol of non-zero extent stands for. */
struct rd_elf_sym {
	const char *name;
	uint32_t section;
	uint64_t offset, size; /* in the section */
	bool global;
	bool traced; /* functions: the compiler left a place for ftrace at its start */
	bool alias;  /* another symbol of the same place comes before it */
};

enum rd_elf_ref_kind {
	RD_ELF_CALL,	/* a direct call or jump */
	RD_ELF_ADDRESS, /* code that takes a function's address */
};

/* From function `from` to function `to`, or to the undefined symbol `extern_name`. */
struct rd_elf_ref {
	uint32_t from;
	uint32_t to; /* RD_ELF_NONE: extern_name */
	const char *extern_name;
	enum rd_elf_ref_kind kind;
};

/* A place in a data section that holds a function's address. */
struct rd_elf_ptr {
	uint32_t section;
	uint64_t offset;
	uint32_t to; /* RD_ELF_NONE: extern_name */
	const char *extern_name;
};

struct rd_elf {
	const uint8_t *data; /* borrowed: the caller's bytes stay while the struct is in use */
	size_t size;
	uint16_t machine;
	struct rd_elf_section *sections;
	size_t n_sections;
	const Elf64_Sym *symtab; /* checked, in place */
	size_t n_symtab;
	const char *strtab;
	size_t strtab_size;
	struct rd_elf_sym *funcs; /* sorted by section, offset, then the symbol to prefer */
	size_t n_funcs, cap_funcs;
	struct rd_elf_sym *objects; /* likewise */
	size_t n_objects, cap_objects;
	struct rd_elf_ref *refs; /* by rd_elf_read_refs; sorted by from, to; each once per kind */
	size_t n_refs, cap_refs;
	struct rd_elf_ptr *ptrs; /* likewise; sorted by section, offset */
	size_t n_ptrs, cap_ptrs;
};

/* Reads sections, symbols and the places for ftrace. `data` must be 8-byte aligned. -EBADMSG for what is no such file. */
int rd_elf_init(struct rd_elf *elf, const void *data, size_t size, struct rd_err *err);
void rd_elf_deinit(struct rd_elf *elf);

/* Fills refs and ptrs from relocations and from the code itself. */
int rd_elf_read_refs(struct rd_elf *elf, struct rd_err *err);

/* The note's build-id; NULL if there is none. */
const uint8_t *rd_elf_build_id(const struct rd_elf *elf, size_t *ret_size);

/* The same from a bare note section, as /sys/module/X/notes/.note.gnu.build-id has it. */
const uint8_t *rd_elf_note_build_id(const uint8_t *data, size_t size, size_t *ret_size);

/* Whether a section holds data that stays in memory. */
bool rd_elf_is_data(const struct rd_elf_section *section);

/* The function that starts at, or contains, that place; RD_ELF_NONE if none does. The first of several aliases. */
uint32_t rd_elf_func_at(const struct rd_elf *elf, uint32_t section, uint64_t offset);
uint32_t rd_elf_func_around(const struct rd_elf *elf, uint32_t section, uint64_t offset);

/* The data pointers inside an object: ptrs[*first … *first + return value). */
size_t rd_elf_object_ptrs(const struct rd_elf *elf, const struct rd_elf_sym *object, size_t *first);

#endif
