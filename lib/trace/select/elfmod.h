/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One kernel module file (ELF64, relocatable, native byte order): its functions, its data objects, and the references between
 * them. Untrusted input: all offsets are checked against the file size.
 */
#ifndef RD_TRACE_ELFMOD_H
#define RD_TRACE_ELFMOD_H

#include <elf.h>

#include "base/err.h"

#define RD_ELF_NONE UINT32_MAX

#define RD_ELF_ERRNO_WORDS 3 /* errno 1 to 191: user space sees no others */

/* A function or a data object: a symbol with a size. */
struct rd_elf_sym {
	const char *name;
	uint32_t section;
	uint64_t offset, size; /* in the section */
	bool global;
	bool traced; /* functions: has an ftrace site */
	bool alias;  /* preceded by another symbol at the same place */
	/* Functions, by rd_elf_read_refs: errnos that stand in their code as a constant, or as part of one; bit per number. A
	 * function may also return those of functions that it calls. */
	uint64_t errnos[RD_ELF_ERRNO_WORDS];
	uint64_t loaded[RD_ELF_ERRNO_WORDS]; /* those that an instruction loads into a register: rather too few than too many */
	bool indirect;			     /* functions: calls through pointers */
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

/* A function pointer in a data section. */
struct rd_elf_ptr {
	uint32_t section;
	uint64_t offset;
	uint32_t to; /* RD_ELF_NONE: extern_name */
	const char *extern_name;
};

struct rd_elf {
	const uint8_t *data; /* owned by the caller; must outlive the struct */
	size_t size;
	uint16_t machine;
	const Elf64_Shdr *sections; /* checked, in place: all but those of SHT_NOBITS are inside the file */
	size_t n_sections;
	const char *names; /* of sections */
	size_t names_size;
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
	size_t unnamed; /* ftrace sites of code that no function symbol covers: of weak functions, or their symbols were removed */
};

/* Reads sections, symbols and ftrace sites. `data` must be 8-byte aligned. -EBADMSG if it is not a valid module file. */
int rd_elf_init(struct rd_elf *elf, const void *data, size_t size, struct rd_err *err);
void rd_elf_deinit(struct rd_elf *elf);

const char *rd_elf_section_name(const struct rd_elf *elf, size_t section);

/* Fills refs and ptrs from relocations and from the code. */
void rd_elf_read_refs(struct rd_elf *elf);

/* The name of a symbol of elf->symtab that defines a function, also one that is freed after loading; NULL: it does not. */
const char *rd_elf_defined_func(const struct rd_elf *elf, const Elf64_Sym *sym);

/* The build-id in the notes of the file; NULL if there is none. */
const uint8_t *rd_elf_build_id(const struct rd_elf *elf, size_t *ret_size);

/* The same from the contents of a note section, as in /sys/module/X/notes/.note.gnu.build-id. */
const uint8_t *rd_elf_note_build_id(const uint8_t *data, size_t size, size_t *ret_size);

/* The section with the addresses of functions that kprobes refuse: NOKPROBE_SYMBOL(). */
#define RD_ELF_NOKPROBE "_kprobe_blacklist"

/* The function that starts at, or contains, that offset; RD_ELF_NONE if there is none. The first of several aliases. */
uint32_t rd_elf_func_around(const struct rd_elf *elf, uint32_t section, uint64_t offset);

/* The data pointers inside an object: ptrs[*first … *first + return value). */
size_t rd_elf_object_ptrs(const struct rd_elf *elf, const struct rd_elf_sym *object, size_t *first);

#endif
