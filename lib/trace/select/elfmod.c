// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/select/sel.h"

#include <endian.h>

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
	uint64_t sum = 0;

	if (!eh->e_shnum || eh->e_shnum > MAX_SECTIONS || eh->e_shentsize != sizeof(*sh) || eh->e_shoff % 8 ||
	    !inside(eh->e_shoff, eh->e_shnum * sizeof(*sh), elf->size))
		return damaged(err, "no section table");
	sh = elf->sections = (const void *)(elf->data + eh->e_shoff);
	elf->n_sections = eh->e_shnum;
	if (eh->e_shstrndx >= elf->n_sections || sh[eh->e_shstrndx].sh_type == SHT_NOBITS ||
	    !inside(sh[eh->e_shstrndx].sh_offset, sh[eh->e_shstrndx].sh_size, elf->size))
		return damaged(err, "no section names");
	elf->names = (const char *)elf->data + sh[eh->e_shstrndx].sh_offset;
	elf->names_size = sh[eh->e_shstrndx].sh_size;
	for (size_t i = 0; i < elf->n_sections; i++) {
		if (sh[i].sh_type == SHT_NOBITS)
			continue;
		if (!inside(sh[i].sh_offset, sh[i].sh_size, elf->size))
			return damaged(err, "section beyond the end of the file");
		/* Overlapping sections could make a small file as expensive to process as a huge one. */
		sum += sh[i].sh_size;
		if (sum > elf->size)
			return damaged(err, "sections overlap");
	}
	return 0;
}

const char *rd_elf_section_name(const struct rd_elf *elf, size_t section)
{
	return string_at(elf->names, elf->names_size, elf->sections[section].sh_name);
}

const char *rd_elf_defined_func(const struct rd_elf *elf, const Elf64_Sym *sym)
{
	const char *name = string_at(elf->strtab, elf->strtab_size, sym->st_name);

	return ELF64_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_shndx != SHN_UNDEF && *name ? name : NULL;
}

/* Code that stays in memory: .init sections are freed after loading. */
static bool is_code(const struct rd_elf *elf, size_t section)
{
	const Elf64_Shdr *s = &elf->sections[section];

	return s->sh_type == SHT_PROGBITS && (s->sh_flags & SHF_ALLOC) && (s->sh_flags & SHF_EXECINSTR) &&
	       strncmp(rd_elf_section_name(elf, section), ".init", 5) != 0;
}

/* Whether a section holds data that stays in memory. The tables of ftrace sites point to every function, so they do not count. */
static bool is_data(const struct rd_elf *elf, size_t section)
{
	const char *name = rd_elf_section_name(elf, section);
	uint64_t flags = elf->sections[section].sh_flags;

	return (flags & SHF_ALLOC) && !(flags & SHF_EXECINSTR) && strcmp(name, "__mcount_loc") != 0 &&
	       strcmp(name, "__patchable_function_entries") != 0;
}

/* The relocations of a section that has them for another one, and their number; NULL: it is of another kind. */
static const Elf64_Rela *relas_of(const struct rd_elf *elf, size_t section, size_t *n)
{
	const Elf64_Shdr *s = &elf->sections[section];

	*n = s->sh_size / sizeof(Elf64_Rela);
	return s->sh_type == SHT_RELA && s->sh_info < elf->n_sections && s->sh_offset % 8 == 0 ?
		       (const void *)(elf->data + s->sh_offset) :
		       NULL;
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
		struct rd_elf_sym sym;
		int type = ELF64_ST_TYPE(st->st_info);

		if ((type != STT_FUNC && type != STT_OBJECT) || !st->st_size || st->st_shndx == SHN_UNDEF ||
		    st->st_shndx >= elf->n_sections)
			continue;
		if (!inside(st->st_value, st->st_size, elf->sections[st->st_shndx].sh_size))
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
		if (type == STT_FUNC && is_code(elf, st->st_shndx) && strncmp(sym.name, "__pfx_", 6) &&
		    strncmp(sym.name, "__cfi_", 6))
			*RD_ADD(elf->funcs, elf->n_funcs, elf->cap_funcs) = sym;
		else if (type == STT_OBJECT && is_data(elf, st->st_shndx))
			*RD_ADD(elf->objects, elf->n_objects, elf->cap_objects) = sym;
	}
	rd_sort(elf->funcs, elf->n_funcs, sizeof(*elf->funcs), compare_syms);
	rd_sort(elf->objects, elf->n_objects, sizeof(*elf->objects), compare_syms);
	for (size_t i = 1; i < elf->n_funcs; i++)
		elf->funcs[i].alias = elf->funcs[i].section == elf->funcs[i - 1].section &&
				      elf->funcs[i].offset == elf->funcs[i - 1].offset;
}

static int compare_places(const void *a, const void *b)
{
	const struct rd_elf_sym *x = a, *y = b;

	return RD_CMP(x->section, y->section) ?: RD_CMP(x->offset, y->offset);
}

uint32_t rd_elf_func_around(const struct rd_elf *elf, uint32_t section, uint64_t offset)
{
	const struct rd_elf_sym key = { .section = section, .offset = offset }, *f;
	size_t i = rd_lower_bound(&key, elf->funcs, elf->n_funcs, sizeof(key), compare_places);

	/* Behind those at this place. */
	while (i < elf->n_funcs && !compare_places(&elf->funcs[i], &key))
		i++;
	if (!i)
		return RD_ELF_NONE;
	f = &elf->funcs[--i];
	if (f->section != section || offset - f->offset >= f->size)
		return RD_ELF_NONE;
	/* The first of the symbols at the same place. */
	while (elf->funcs[i].alias)
		i--;
	return i;
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

static void mark_traced(struct rd_elf *elf, const Elf64_Rela *site)
{
	uint64_t sym = ELF64_R_SYM(site->r_info);
	uint32_t section, f;

	if (sym >= elf->n_symtab)
		return;
	section = elf->symtab[sym].st_shndx;
	f = func_of_site(elf, section, (uint64_t)site->r_addend + elf->symtab[sym].st_value);
	if (f == RD_ELF_NONE) {
		elf->unnamed += section < elf->n_sections && is_code(elf, section);
		return;
	}
	for (elf->funcs[f].traced = true, f++; f < elf->n_funcs && elf->funcs[f].alias; f++)
		elf->funcs[f].traced = true;
}

/* For all relocation sections of this name: gcc 14 and later emit one per section of functions. False if there is none. */
static bool mark_all_traced(struct rd_elf *elf, const char *name)
{
	bool found = false;

	for (size_t i = 0, n; i < elf->n_sections; i++) {
		const Elf64_Rela *relas = relas_of(elf, i, &n);

		if (!relas || strcmp(rd_elf_section_name(elf, elf->sections[i].sh_info), name) != 0)
			continue;
		found = true;
		for (const Elf64_Rela *r = relas; r < relas + n; r++)
			mark_traced(elf, r);
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
		const Elf64_Shdr *s = &elf->sections[i];

		if (s->sh_type != SHT_SYMTAB)
			continue;
		if (s->sh_entsize != sizeof(Elf64_Sym) || s->sh_offset % 8 || s->sh_link >= elf->n_sections ||
		    elf->sections[s->sh_link].sh_type != SHT_STRTAB) {
			rc = damaged(err, "invalid symbol table");
			break;
		}
		elf->symtab = (const void *)(elf->data + s->sh_offset);
		elf->n_symtab = s->sh_size / sizeof(Elf64_Sym);
		elf->strtab = (const char *)elf->data + elf->sections[s->sh_link].sh_offset;
		elf->strtab_size = elf->sections[s->sh_link].sh_size;
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
	RD_FREE(elf->funcs, elf->objects, elf->refs, elf->ptrs);
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
		const Elf64_Shdr *s = &elf->sections[i];
		const uint8_t *id = s->sh_type == SHT_NOTE ?
					    rd_elf_note_build_id(elf->data + s->sh_offset, s->sh_size, ret_size) :
					    NULL;

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
static bool classify(const struct rd_elf *elf, const uint8_t *code, const Elf64_Rela *r, enum rd_elf_ref_kind *kind,
		     int64_t *addend)
{
	uint32_t type = ELF64_R_TYPE(r->r_info);

	*addend = r->r_addend;
	*kind = RD_ELF_ADDRESS;
	if (elf->machine == EM_X86_64) {
		switch (type) {
		case R_X86_64_PLT32:
		case R_X86_64_PC32:
			*addend = (int64_t)((uint64_t)r->r_addend + 4);
			if (x86_is_branch(code, r->r_offset))
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

static void read_code_rela(struct rd_elf *elf, uint32_t section, const Elf64_Rela *r, uint8_t *relocated)
{
	const Elf64_Shdr *code = &elf->sections[section];
	enum rd_elf_ref_kind kind;
	struct target to;
	int64_t addend;
	uint32_t from;

	if (r->r_offset >= code->sh_size)
		return;
	relocated[r->r_offset / 8] |= 1 << r->r_offset % 8;
	if (!classify(elf, elf->data + code->sh_offset, r, &kind, &addend) ||
	    !resolve(elf, ELF64_R_SYM(r->r_info), addend, &to) || (to.extern_name && kind != RD_ELF_CALL))
		return;
	/* A jump may end in the middle of the cold part of a function, which has several entry points. */
	if (!to.extern_name && !to.exact &&
	    !(kind == RD_ELF_CALL && rd_rules_name(elf->funcs[to.fn].name) == RD_RULE_COLD))
		return;
	from = rd_elf_func_around(elf, section, r->r_offset);
	/* With retpolines, a call through a register goes to a thunk of vmlinux. */
	if (from != RD_ELF_NONE && to.extern_name && !strncmp(to.extern_name, "__x86_indirect_", 15))
		elf->funcs[from].indirect = true;
	add_ref(elf, from, &to, kind);
}

/* A call or jump that was resolved without a relocation. */
static void add_branch(struct rd_elf *elf, uint32_t section, uint32_t from, uint64_t target)
{
	const struct target to = { .fn = func_at(elf, section, target) };

	if (to.fn != RD_ELF_NONE)
		add_ref(elf, from, &to, RD_ELF_CALL);
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
	const uint8_t *code = elf->data + elf->sections[section].sh_offset;
	uint64_t end = own_end(elf, fn), target;

	for (uint64_t i = elf->funcs[fn].offset; i < end; i++) {
		note_x86_constants(&elf->funcs[fn], code, i, end, relocated);
		if (x86_target(code, i, end, relocated, &target))
			add_branch(elf, section, fn, target);
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
	const uint8_t *code = elf->data + elf->sections[section].sh_offset;
	uint64_t end = own_end(elf, fn);
	struct arm64 state = { 0 };

	for (uint64_t i = (elf->funcs[fn].offset + 3) & ~3ULL; i + 4 <= end; i += 4) {
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
		if (!(relocated[i / 8] & 1 << i % 8))
			add_branch(elf, section, fn, i + (uint64_t)(words * 4));
	}
}

static void read_code(struct rd_elf *elf, uint32_t section)
{
	_cleanup_free_ uint8_t *relocated = rd_alloc(elf->sections[section].sh_size / 8 + 1, 1);

	for (size_t i = 0, n; i < elf->n_sections; i++) {
		const Elf64_Rela *relas = elf->sections[i].sh_info == section ? relas_of(elf, i, &n) : NULL;

		for (const Elf64_Rela *r = relas; relas && r < relas + n; r++)
			read_code_rela(elf, section, r, relocated);
	}
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
	for (size_t i = 0, count; i < elf->n_sections; i++) {
		const Elf64_Rela *relas = relas_of(elf, i, &count);
		uint32_t section = elf->sections[i].sh_info;
		struct target to;

		if (!relas || !is_data(elf, section))
			continue;
		for (const Elf64_Rela *r = relas; r < relas + count; r++)
			if (ELF64_R_TYPE(r->r_info) == pointer &&
			    resolve(elf, ELF64_R_SYM(r->r_info), r->r_addend, &to) && (to.extern_name || to.exact))
				*RD_ADD(elf->ptrs, elf->n_ptrs, elf->cap_ptrs) =
					(struct rd_elf_ptr){ section, r->r_offset, to.fn, to.extern_name };
	}
	rd_sort(elf->ptrs, elf->n_ptrs, sizeof(*elf->ptrs), compare_ptrs);
	rd_sort(elf->refs, elf->n_refs, sizeof(*elf->refs), compare_refs);
	for (size_t i = 0; i < elf->n_refs; i++)
		if (!n || compare_refs(&elf->refs[n - 1], &elf->refs[i]))
			elf->refs[n++] = elf->refs[i];
	elf->n_refs = n;
}
