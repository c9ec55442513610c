// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/select/elfmod.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/memory.h"

/* Real modules have about 70. Low enough that iterating over pairs of sections is cheap. */
#define MAX_SECTIONS 4096

static bool inside(uint64_t offset, uint64_t size, uint64_t total)
{
	return offset <= total && size <= total - offset;
}

static int damaged(struct rd_err *err, const char *what)
{
	return rd_err_set(err, EBADMSG, NULL, "damaged module file: %s", what);
}

/* A string of a string table, or "" if it is not completely inside. */
static const char *string_at(const char *table, size_t size, uint64_t at)
{
	if (at >= size || !memchr(table + at, 0, size - at))
		return "";
	return table + at;
}

static int read_sections(struct rd_elf *elf, struct rd_err *err)
{
	const Elf64_Ehdr *eh = (const void *)elf->data;
	const Elf64_Shdr *sh;
	const char *names;
	size_t n = eh->e_shnum;
	uint64_t sum = 0;

	if (!n || n > MAX_SECTIONS || eh->e_shentsize != sizeof(*sh) || eh->e_shoff % 8 ||
	    !inside(eh->e_shoff, n * sizeof(*sh), elf->size))
		return damaged(err, "no section table");
	sh = (const void *)(elf->data + eh->e_shoff);
	if (eh->e_shstrndx >= n || sh[eh->e_shstrndx].sh_type == SHT_NOBITS ||
	    !inside(sh[eh->e_shstrndx].sh_offset, sh[eh->e_shstrndx].sh_size, elf->size))
		return damaged(err, "no section names");
	names = (const char *)elf->data + sh[eh->e_shstrndx].sh_offset;
	elf->sections = rd_alloc(n, sizeof(*elf->sections));
	elf->n_sections = n;
	for (size_t i = 0; i < n; i++) {
		struct rd_elf_section *s = &elf->sections[i];

		*s = (struct rd_elf_section){
			.name = string_at(names, sh[eh->e_shstrndx].sh_size, sh[i].sh_name),
			.type = sh[i].sh_type,
			.flags = sh[i].sh_flags,
			.offset = sh[i].sh_offset,
			.size = sh[i].sh_size,
			.link = sh[i].sh_link,
			.info = sh[i].sh_info,
			.entsize = sh[i].sh_entsize,
		};
		if (s->type != SHT_NOBITS && !inside(s->offset, s->size, elf->size))
			return damaged(err, "section beyond the end of the file");
		if (s->type != SHT_NOBITS)
			sum += s->size;
		/* Overlapping sections could make a small file as expensive to process as a huge one. */
		if (sum > elf->size)
			return damaged(err, "sections overlap");
	}
	return 0;
}

const char *rd_elf_defined_func(const struct rd_elf *elf, const Elf64_Sym *sym)
{
	const char *name = string_at(elf->strtab, elf->strtab_size, sym->st_name);

	return ELF64_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_shndx != SHN_UNDEF && *name ? name : NULL;
}

/* Code that stays in memory: .init sections are freed after loading. */
static bool is_code(const struct rd_elf_section *s)
{
	return s->type == SHT_PROGBITS && (s->flags & SHF_ALLOC) && (s->flags & SHF_EXECINSTR) &&
	       strncmp(s->name, ".init", 5) != 0;
}

/* Whether a section holds data that stays in memory. The tables of ftrace sites point to every function, so they do not count. */
static bool is_data(const struct rd_elf_section *s)
{
	return (s->flags & SHF_ALLOC) && !(s->flags & SHF_EXECINSTR) && strcmp(s->name, "__mcount_loc") != 0 &&
	       strcmp(s->name, "__patchable_function_entries") != 0;
}

static int compare_syms(const void *a, const void *b)
{
	const struct rd_elf_sym *x = a, *y = b;

	return RD_FIRST(RD_CMP(x->section, y->section), RD_CMP(x->offset, y->offset), RD_CMP(y->global, x->global),
			strcmp(x->name, y->name));
}

static void read_symbols(struct rd_elf *elf)
{
	for (size_t i = 0; i < elf->n_symtab; i++) {
		const Elf64_Sym *st = &elf->symtab[i];
		const struct rd_elf_section *s;
		struct rd_elf_sym sym;
		int type = ELF64_ST_TYPE(st->st_info);

		if ((type != STT_FUNC && type != STT_OBJECT) || !st->st_size || st->st_shndx == SHN_UNDEF ||
		    st->st_shndx >= elf->n_sections)
			continue;
		s = &elf->sections[st->st_shndx];
		if (!inside(st->st_value, st->st_size, s->size))
			continue;
		sym = (struct rd_elf_sym){
			.name = string_at(elf->strtab, elf->strtab_size, st->st_name),
			.section = st->st_shndx,
			.offset = st->st_value,
			.size = st->st_size,
			.global = ELF64_ST_BIND(st->st_info) != STB_LOCAL,
		};
		if (!sym.name[0])
			continue;
		/* Padding in front of a function has its own symbol. */
		if (type == STT_FUNC && is_code(s) && strncmp(sym.name, "__pfx_", 6) && strncmp(sym.name, "__cfi_", 6))
			*RD_ADD(elf->funcs, elf->n_funcs, elf->cap_funcs) = sym;
		else if (type == STT_OBJECT && is_data(s))
			*RD_ADD(elf->objects, elf->n_objects, elf->cap_objects) = sym;
	}
	rd_sort(elf->funcs, elf->n_funcs, sizeof(*elf->funcs), compare_syms);
	rd_sort(elf->objects, elf->n_objects, sizeof(*elf->objects), compare_syms);
	for (size_t i = 1; i < elf->n_funcs; i++)
		elf->funcs[i].alias = elf->funcs[i].section == elf->funcs[i - 1].section &&
				      elf->funcs[i].offset == elf->funcs[i - 1].offset;
}

/* Index of the first of n sorted symbols after (section, offset). */
static size_t upper_bound(const struct rd_elf_sym *v, size_t n, uint32_t section, uint64_t offset)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v[mid].section < section || (v[mid].section == section && v[mid].offset <= offset))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t rd_elf_func_around(const struct rd_elf *elf, uint32_t section, uint64_t offset)
{
	size_t i = upper_bound(elf->funcs, elf->n_funcs, section, offset);
	const struct rd_elf_sym *f;

	if (!i)
		return RD_ELF_NONE;
	f = &elf->funcs[i - 1];
	if (f->section != section || offset - f->offset >= f->size)
		return RD_ELF_NONE;
	/* The first of the symbols at the same place. */
	if (f->offset)
		return upper_bound(elf->funcs, i - 1, section, f->offset - 1);
	return section ? upper_bound(elf->funcs, i - 1, section - 1, UINT64_MAX) : 0;
}

static uint32_t func_at(const struct rd_elf *elf, uint32_t section, uint64_t offset)
{
	uint32_t i = rd_elf_func_around(elf, section, offset);

	return i != RD_ELF_NONE && elf->funcs[i].offset == offset ? i : RD_ELF_NONE;
}

/*
 * The table of the compiler with the sites where ftrace can patch in a call. On x86 the site is the first instruction of the
 * function, or the one after endbr64; on arm64 with call ops it may be up to 16 bytes before the function.
 */
static uint32_t func_of_site(const struct rd_elf *elf, uint32_t section, uint64_t at)
{
	uint32_t f = rd_elf_func_around(elf, section, at);

	if (f != RD_ELF_NONE && at - elf->funcs[f].offset <= 16)
		return f;
	for (unsigned gap = 4; gap <= 16; gap += 4) {
		f = func_at(elf, section, at + gap);
		if (f != RD_ELF_NONE)
			break;
	}
	return f;
}

static void mark_traced(struct rd_elf *elf, const struct rd_elf_section *rela)
{
	const Elf64_Rela *r = (const void *)(elf->data + rela->offset);

	for (size_t i = 0; i < rela->size / sizeof(*r); i++) {
		uint64_t at = r[i].r_addend, sym = ELF64_R_SYM(r[i].r_info);
		uint32_t section, f;

		if (sym >= elf->n_symtab)
			continue;
		section = elf->symtab[sym].st_shndx;
		at += elf->symtab[sym].st_value;
		f = func_of_site(elf, section, at);
		if (f == RD_ELF_NONE) {
			elf->unnamed += section < elf->n_sections && is_code(&elf->sections[section]);
			continue;
		}
		for (elf->funcs[f].traced = true, f++; f < elf->n_funcs && elf->funcs[f].alias; f++)
			elf->funcs[f].traced = true;
	}
}

/* For all relocation sections of this name: gcc 14 and later emit one per section of functions. False if there is none. */
static bool mark_all_traced(struct rd_elf *elf, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < elf->n_sections; i++) {
		const struct rd_elf_section *s = &elf->sections[i];

		if (s->type != SHT_RELA || s->info >= elf->n_sections || s->offset % 8 ||
		    strcmp(elf->sections[s->info].name, name) != 0)
			continue;
		mark_traced(elf, s);
		found = true;
	}
	return found;
}

int rd_elf_init(struct rd_elf *elf, const void *data, size_t size, struct rd_err *err)
{
	const Elf64_Ehdr *eh = data;
	int rc;

	*elf = (struct rd_elf){ .data = data, .size = size };
	if (size < sizeof(*eh) || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0)
		return rd_err_set(err, EBADMSG, NULL, "not an ELF file");
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh->e_ident[EI_DATA] != (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB) ||
	    eh->e_type != ET_REL)
		return rd_err_set(err, EBADMSG, NULL, "not a kernel module for this architecture");
	elf->machine = eh->e_machine;
	rc = read_sections(elf, err);
	for (size_t i = 0; !rc && i < elf->n_sections && !elf->symtab; i++) {
		const struct rd_elf_section *s = &elf->sections[i];

		if (s->type != SHT_SYMTAB)
			continue;
		if (s->entsize != sizeof(Elf64_Sym) || s->offset % 8 || s->link >= elf->n_sections ||
		    elf->sections[s->link].type != SHT_STRTAB) {
			rc = damaged(err, "invalid symbol table");
			break;
		}
		elf->symtab = (const void *)(elf->data + s->offset);
		elf->n_symtab = s->size / sizeof(Elf64_Sym);
		elf->strtab = (const char *)elf->data + elf->sections[s->link].offset;
		elf->strtab_size = elf->sections[s->link].size;
	}
	if (!rc && !elf->symtab)
		rc = damaged(err, "no symbol table");
	if (rc) {
		rd_elf_deinit(elf);
		return rc;
	}
	read_symbols(elf);
	/* x86 kernels that pad functions have the second as well, which is not for ftrace there. */
	if (!mark_all_traced(elf, "__mcount_loc") && elf->machine != EM_X86_64)
		mark_all_traced(elf, "__patchable_function_entries");
	return 0;
}

void rd_elf_deinit(struct rd_elf *elf)
{
	RD_FREE(elf->sections, elf->funcs, elf->objects, elf->refs, elf->ptrs);
	*elf = (struct rd_elf){ 0 };
}

const uint8_t *rd_elf_note_build_id(const uint8_t *data, size_t size, size_t *ret_size)
{
	while (size >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr nh;
		uint64_t name, desc;

		memcpy(&nh, data, sizeof(nh));
		name = ((uint64_t)nh.n_namesz + 3) & ~3ULL;
		desc = ((uint64_t)nh.n_descsz + 3) & ~3ULL;
		data += sizeof(nh);
		size -= sizeof(nh);
		if (name > size || nh.n_descsz > size - name)
			return NULL;
		if (nh.n_type == NT_GNU_BUILD_ID && nh.n_namesz == 4 && !memcmp(data, "GNU", 4) && nh.n_descsz) {
			*ret_size = nh.n_descsz;
			return data + name;
		}
		if (desc > size - name)
			return NULL;
		data += name + desc;
		size -= name + desc;
	}
	return NULL;
}

const uint8_t *rd_elf_build_id(const struct rd_elf *elf, size_t *ret_size)
{
	for (size_t i = 0; i < elf->n_sections; i++) {
		const struct rd_elf_section *s = &elf->sections[i];
		const uint8_t *id;

		if (s->type != SHT_NOTE)
			continue;
		id = rd_elf_note_build_id(elf->data + s->offset, s->size, ret_size);
		if (id)
			return id;
	}
	return NULL;
}

static int compare_ptrs(const void *a, const void *b)
{
	const struct rd_elf_ptr *x = a, *y = b;

	return RD_CMP(x->section, y->section) ?: RD_CMP(x->offset, y->offset);
}

size_t rd_elf_object_ptrs(const struct rd_elf *elf, const struct rd_elf_sym *object, size_t *first)
{
	const struct rd_elf_ptr key = { .section = object->section, .offset = object->offset };
	size_t lo = rd_lower_bound(&key, elf->ptrs, elf->n_ptrs, sizeof(key), compare_ptrs), n = 0;

	*first = lo;
	while (lo + n < elf->n_ptrs && elf->ptrs[lo + n].section == object->section &&
	       elf->ptrs[lo + n].offset - object->offset < object->size)
		n++;
	return n;
}

/*
 * Calls and function pointers in a module file. They come from relocations, and, for a call within one section of one object
 * file, from the instruction itself: the assembler resolves such a call without a relocation (a quarter to two fifths of all
 * calls in real modules).
 */

/* Where a relocation points: a function, an undefined symbol, or neither. */
struct target {
	uint32_t fn;
	const char *extern_name;
	bool exact; /* the function's first byte */
};

static void add_ref(struct rd_elf *elf, uint32_t from, const struct target *to, enum rd_elf_ref_kind kind)
{
	if (from != RD_ELF_NONE && from != to->fn)
		*RD_ADD(elf->refs, elf->n_refs, elf->cap_refs) =
			(struct rd_elf_ref){ from, to->fn, to->extern_name, kind };
}

static bool resolve(const struct rd_elf *elf, uint32_t sym, int64_t addend, struct target *ret)
{
	const Elf64_Sym *st;

	*ret = (struct target){ .fn = RD_ELF_NONE };
	if (sym >= elf->n_symtab)
		return false;
	st = &elf->symtab[sym];
	if (st->st_shndx == SHN_UNDEF) {
		ret->extern_name = string_at(elf->strtab, elf->strtab_size, st->st_name);
		return *ret->extern_name;
	}
	if (st->st_shndx >= elf->n_sections)
		return false;
	ret->fn = rd_elf_func_around(elf, st->st_shndx, st->st_value + (uint64_t)addend);
	if (ret->fn == RD_ELF_NONE)
		return false;
	ret->exact = elf->funcs[ret->fn].offset == st->st_value + (uint64_t)addend;
	return true;
}

/* A jump may end in the middle of the cold part of a function, which has several entry points. */
static bool is_cold(const char *name)
{
	const char *dot = strstr(name, ".cold");

	return dot && (!dot[5] || dot[5] == '.');
}

/*
 * x86: the displacement of call, jmp and jcc directly follows the opcode. The byte is unambiguous: in any other instruction with a
 * PC-relative operand it is a ModRM byte 00xxx101, which differs from these opcodes.
 */
static bool x86_is_branch(const uint8_t *code, uint64_t at)
{
	if (at >= 1 && (code[at - 1] == 0xe8 || code[at - 1] == 0xe9))
		return true;
	return at >= 2 && code[at - 2] == 0x0f && (code[at - 1] & 0xf0) == 0x80;
}

/* Classifies a relocation in code; *addend becomes relative to the target symbol. False: to be ignored. */
static bool classify(const struct rd_elf *elf, const struct rd_elf_section *code, const Elf64_Rela *r,
		     enum rd_elf_ref_kind *kind, int64_t *addend)
{
	uint32_t type = ELF64_R_TYPE(r->r_info);

	*addend = r->r_addend;
	*kind = RD_ELF_ADDRESS;
	if (elf->machine == EM_X86_64) {
		switch (type) {
		case R_X86_64_PLT32:
		case R_X86_64_PC32:
			*addend = (int64_t)((uint64_t)r->r_addend + 4);
			if (x86_is_branch(elf->data + code->offset, r->r_offset))
				*kind = RD_ELF_CALL;
			return true;
		case R_X86_64_64:
		case R_X86_64_32S:
		case R_X86_64_32:
			return true;
		}
	} else if (elf->machine == EM_AARCH64) {
		switch (type) {
		case R_AARCH64_CALL26:
		case R_AARCH64_JUMP26:
		case R_AARCH64_CONDBR19:
			*kind = RD_ELF_CALL;
			return true;
		case R_AARCH64_ADD_ABS_LO12_NC:
		case R_AARCH64_ADR_PREL_LO21:
		case R_AARCH64_ABS64:
			return true;
		}
	}
	return false;
}

static void read_code_rela(struct rd_elf *elf, const struct rd_elf_section *rela, uint8_t *relocated)
{
	const struct rd_elf_section *code = &elf->sections[rela->info];
	const Elf64_Rela *r = (const void *)(elf->data + rela->offset);

	for (size_t i = 0; i < rela->size / sizeof(*r); i++) {
		enum rd_elf_ref_kind kind;
		struct target to;
		int64_t addend;
		uint32_t from;

		if (r[i].r_offset >= code->size)
			continue;
		relocated[r[i].r_offset / 8] |= 1 << r[i].r_offset % 8;
		if (!classify(elf, code, &r[i], &kind, &addend) || !resolve(elf, ELF64_R_SYM(r[i].r_info), addend, &to))
			continue;
		if (!to.extern_name && !to.exact && !(kind == RD_ELF_CALL && is_cold(elf->funcs[to.fn].name)))
			continue;
		if (to.extern_name && kind != RD_ELF_CALL)
			continue;
		from = rd_elf_func_around(elf, rela->info, r[i].r_offset);
		/* With retpolines, a call through a register goes to a thunk of vmlinux. */
		if (from != RD_ELF_NONE && to.extern_name && !strncmp(to.extern_name, "__x86_indirect_", 15))
			elf->funcs[from].indirect = true;
		add_ref(elf, from, &to, kind);
	}
}

/* The end of the bytes that belong to this function alone. */
static uint64_t own_end(const struct rd_elf *elf, uint32_t fn)
{
	const struct rd_elf_sym *f = &elf->funcs[fn];

	for (uint32_t i = fn + 1; i < elf->n_funcs && elf->funcs[i].section == f->section; i++)
		if (!elf->funcs[i].alias)
			return elf->funcs[i].offset - f->offset < f->size ? elf->funcs[i].offset : f->offset + f->size;
	return f->offset + f->size;
}

/* The target of a direct call or jump at code[i], relative to the section; false if there is none, or it ends after `end`.
 * One-byte displacements are decoded for jmp only: the compiler uses them for tail calls to adjacent functions. */
static bool x86_target(const uint8_t *code, uint64_t i, uint64_t end, const uint8_t *relocated, uint64_t *ret)
{
	uint64_t at = i + 1;
	int32_t disp;

	if (code[i] == 0xeb && i + 2 <= end) {
		*ret = i + 2 + (uint64_t)(int64_t)(int8_t)code[i + 1];
		return true;
	}
	if (i + 5 > end)
		return false;
	if (code[i] == 0x0f && (code[i + 1] & 0xf0) == 0x80)
		at = i + 2;
	else if (code[i] != 0xe8 && code[i] != 0xe9)
		return false;
	if (at + 4 > end || relocated[at / 8] & 1 << at % 8)
		return false;
	memcpy(&disp, code + at, 4);
	*ret = at + 4 + (uint64_t)(int64_t)disp;
	return true;
}

static void note_errno(struct rd_elf_sym *fn, int64_t value, bool loaded)
{
	if (value >= 0 || value <= -64 * RD_ELF_ERRNO_WORDS)
		return;
	fn->errnos[-value / 64] |= 1ull << -value % 64;
	if (loaded)
		fn->loaded[-value / 64] |= 1ull << -value % 64;
}

/* Whether an instruction that loads the 32 bits at code[i] into a register ends there: mov $imm, %reg of either width. */
static bool is_x86_load(const uint8_t *code, uint64_t begin, uint64_t i)
{
	return (i >= begin + 1 && (code[i - 1] & 0xf8) == 0xb8) ||
	       (i >= begin + 3 && (code[i - 3] & 0xfe) == 0x48 && code[i - 2] == 0xc7 && (code[i - 1] & 0xf8) == 0xc0);
}

/* Whether the instruction turns the result of a comparison into 0 or an errno: and, or of a register with 8 bits, right after the
 * register was subtracted from itself with borrow. Elsewhere they change flags. `begin`: of the function. */
static bool is_x86_choice(const uint8_t *code, uint64_t begin, uint64_t i)
{
	uint64_t before = i;

	if (code[i] != 0x83 || ((code[i + 1] & 0xf8) != 0xe0 && (code[i + 1] & 0xf8) != 0xc8))
		return false;
	if (before > begin && (code[before - 1] & 0xf0) == 0x40) /* REX */
		before--;
	return before >= begin + 2 && code[before - 2] == 0x19 && code[before - 1] >= 0xc0;
}

/*
 * A constant in an instruction, if one begins at code[i]: of 32 bits, or of 8 bits that arithmetic instructions and lea extend by
 * their sign, with which the compiler turns a comparison into 0 or an errno. Instructions are not decoded, so displacements and parts
 * of other instructions count as well: the result has errnos too many, not too few.
 */
static void note_x86_constants(struct rd_elf_sym *fn, const uint8_t *code, uint64_t i, uint64_t end,
			       const uint8_t *relocated)
{
	int32_t wide;

	if (i + 4 <= end && code[i + 2] == 0xff && code[i + 3] == 0xff && !(relocated[i / 8] & 1 << i % 8)) {
		memcpy(&wide, code + i, 4);
		note_errno(fn, wide, is_x86_load(code, fn->offset, i));
	}
	if (i + 3 <= end &&
	    ((code[i] == 0x83 && code[i + 1] >= 0xc0) || (code[i] == 0x8d && (code[i + 1] & 0xc0) == 0x40)))
		note_errno(fn, (int8_t)code[i + 2], is_x86_choice(code, fn->offset, i));
	if (i + 4 <= end && code[i] == 0x8d && (code[i + 1] & 0xc7) == 0x44)
		note_errno(fn, (int8_t)code[i + 3], false);
	if (i + 2 <= end && code[i] == 0x6a)
		note_errno(fn, (int8_t)code[i + 1], false);
	/* call *reg */
	fn->indirect |= i + 2 <= end && code[i] == 0xff && (code[i + 1] & 0xf8) == 0xd0;
}

static void scan_x86(struct rd_elf *elf, uint32_t section, uint32_t fn, const uint8_t *relocated)
{
	const uint8_t *code = elf->data + elf->sections[section].offset;
	uint64_t end = own_end(elf, fn), target;

	for (uint64_t i = elf->funcs[fn].offset; i < end; i++) {
		struct target to;

		note_x86_constants(&elf->funcs[fn], code, i, end, relocated);
		if (!x86_target(code, i, end, relocated, &target))
			continue;
		to = (struct target){ .fn = func_at(elf, section, target) };
		if (to.fn != RD_ELF_NONE)
			add_ref(elf, fn, &to, RD_ELF_CALL);
	}
}

/* What registers of 32 bits were set to by MOVZ, and the instruction before. */
struct arm64 {
	uint32_t moved[32], before;
};

/*
 * -EINVAL is MOVN of 21, or MOVZ of 21 and CSINV, which inverts it on a condition, or MOVZ of 22 and CSNEG; with register 31, CSINV
 * gives -1. CSETM (CSINV of register 31 twice) and AND with a run of 32 bits, rotated, give 0 or that run: Arm ARM, C6.2.
 */
static void note_arm64_constants(struct rd_elf_sym *fn, uint32_t insn, struct arm64 *state)
{
	unsigned to = insn & 31, first = insn >> 5 & 31, second = insn >> 16 & 31, ones = (insn >> 10 & 63) + 1;

	if ((insn & 0x7fe00000) == 0x12800000)
		note_errno(fn, -(int64_t)(insn >> 5 & 0xffff) - 1, true);
	if ((insn & 0x7fe00000) == 0x52800000)
		state->moved[to] = insn >> 5 & 0xffff;
	if ((insn & 0x7fe00c00) == 0x5a800000 && second != first && (second == 31 || state->moved[second]))
		note_errno(fn, second == 31 ? -1 : -(int64_t)state->moved[second] - 1, true);
	if ((insn & 0x7fe00c00) == 0x5a800400 && second != first && second != 31)
		note_errno(fn, -(int64_t)state->moved[second], true);
	if ((insn & 0xffc00000) == 0x12000000 && ones < 32 && (state->before & 0x7fff0fe0) == 0x5a9f03e0 &&
	    (state->before & 31) == first) {
		uint32_t run = (1u << ones) - 1;

		note_errno(fn, (int32_t)(second ? run >> second | run << (32 - second) : run), true);
	}
	state->before = insn;
}

static void scan_arm64(struct rd_elf *elf, uint32_t section, uint32_t fn, const uint8_t *relocated)
{
	const uint8_t *code = elf->data + elf->sections[section].offset;
	uint64_t end = own_end(elf, fn);
	struct arm64 state = { 0 };

	for (uint64_t i = (elf->funcs[fn].offset + 3) & ~3ULL; i + 4 <= end; i += 4) {
		struct target to;
		uint32_t insn;
		int64_t words;

		memcpy(&insn, code + i, 4);
		insn = le32toh(insn);
		note_arm64_constants(&elf->funcs[fn], insn, &state);
		/* BLR */
		elf->funcs[fn].indirect |= (insn & 0xfffffc1f) == 0xd63f0000;
		if ((insn & 0x7c000000) == 0x14000000) /* B, BL: imm26 */
			words = (int32_t)(insn << 6) >> 6;
		else if ((insn & 0xff000010) == 0x54000000) /* B.cond: imm19 */
			words = (int32_t)(insn << 8) >> 13;
		else
			continue;
		if (relocated[i / 8] & 1 << i % 8)
			continue;
		to = (struct target){ .fn = func_at(elf, section, i + (uint64_t)(words * 4)) };
		if (to.fn != RD_ELF_NONE)
			add_ref(elf, fn, &to, RD_ELF_CALL);
	}
}

static void read_code(struct rd_elf *elf, uint32_t section)
{
	_cleanup_free_ uint8_t *relocated = rd_alloc(elf->sections[section].size / 8 + 1, 1);

	for (size_t i = 0; i < elf->n_sections; i++)
		if (elf->sections[i].type == SHT_RELA && elf->sections[i].info == section &&
		    elf->sections[i].offset % 8 == 0)
			read_code_rela(elf, &elf->sections[i], relocated);
	for (size_t i = 0; i < elf->n_funcs; i++) {
		if (elf->funcs[i].section != section || elf->funcs[i].alias)
			continue;
		if (elf->machine == EM_X86_64)
			scan_x86(elf, section, i, relocated);
		else if (elf->machine == EM_AARCH64)
			scan_arm64(elf, section, i, relocated);
	}
}

static int compare_refs(const void *a, const void *b)
{
	const struct rd_elf_ref *x = a, *y = b;

	return RD_FIRST(RD_CMP(x->from, y->from), RD_CMP(x->to, y->to), RD_CMP(x->extern_name, y->extern_name),
			RD_CMP(x->kind, y->kind));
}

void rd_elf_read_refs(struct rd_elf *elf)
{
	uint32_t pointer = elf->machine == EM_AARCH64 ? R_AARCH64_ABS64 : R_X86_64_64;
	size_t n = 0;

	for (size_t i = 0; i < elf->n_funcs; i++)
		if (!i || elf->funcs[i].section != elf->funcs[i - 1].section)
			read_code(elf, elf->funcs[i].section);
	for (size_t i = 0; i < elf->n_sections; i++) {
		const struct rd_elf_section *s = &elf->sections[i];
		const Elf64_Rela *r;
		struct target to;

		if (s->type != SHT_RELA || s->offset % 8 || s->info >= elf->n_sections ||
		    !is_data(&elf->sections[s->info]))
			continue;
		r = (const void *)(elf->data + s->offset);
		for (const Elf64_Rela *end = r + s->size / sizeof(*r); r < end; r++)
			if (ELF64_R_TYPE(r->r_info) == pointer &&
			    resolve(elf, ELF64_R_SYM(r->r_info), r->r_addend, &to) && (to.extern_name || to.exact))
				*RD_ADD(elf->ptrs, elf->n_ptrs, elf->cap_ptrs) =
					(struct rd_elf_ptr){ s->info, r->r_offset, to.fn, to.extern_name };
	}
	rd_sort(elf->ptrs, elf->n_ptrs, sizeof(*elf->ptrs), compare_ptrs);
	rd_sort(elf->refs, elf->n_refs, sizeof(*elf->refs), compare_refs);
	for (size_t i = 0; i < elf->n_refs; i++)
		if (!n || compare_refs(&elf->refs[n - 1], &elf->refs[i]))
			elf->refs[n++] = elf->refs[i];
	elf->n_refs = n;
}
