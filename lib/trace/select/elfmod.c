/* SPDX-License-Identifier: GPL-2.0-or-later */
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

static int find_symtab(struct rd_elf *elf, struct rd_err *err)
{
	for (size_t i = 0; i < elf->n_sections; i++) {
		const struct rd_elf_section *s = &elf->sections[i];

		if (s->type != SHT_SYMTAB)
			continue;
		if (s->entsize != sizeof(Elf64_Sym) || s->offset % 8 || s->link >= elf->n_sections ||
		    elf->sections[s->link].type != SHT_STRTAB)
			return damaged(err, "invalid symbol table");
		elf->symtab = (const void *)(elf->data + s->offset);
		elf->n_symtab = s->size / sizeof(Elf64_Sym);
		elf->strtab = (const char *)elf->data + elf->sections[s->link].offset;
		elf->strtab_size = elf->sections[s->link].size;
		return 0;
	}
	return damaged(err, "no symbol table");
}

/* Code that stays in memory: .init sections are freed after loading. */
static bool is_code(const struct rd_elf_section *s)
{
	return s->type == SHT_PROGBITS && (s->flags & SHF_ALLOC) && (s->flags & SHF_EXECINSTR) &&
	       strncmp(s->name, ".init", 5) != 0;
}

/* The tables of ftrace sites point to every function, so they are not considered as data. */
static bool is_ftrace_table(const struct rd_elf_section *s)
{
	return !strcmp(s->name, "__mcount_loc") || !strcmp(s->name, "__patchable_function_entries");
}

bool rd_elf_is_data(const struct rd_elf_section *s)
{
	return (s->flags & SHF_ALLOC) && !(s->flags & SHF_EXECINSTR) && !is_ftrace_table(s);
}

static int compare_syms(const void *a, const void *b)
{
	const struct rd_elf_sym *x = a, *y = b;

	return RD_FIRST(RD_CMP(x->section, y->section), RD_CMP(x->offset, y->offset), RD_CMP(y->global, x->global),
			strcmp(x->name, y->name));
}

/* Padding in front of a function, with its own symbol. */
static bool is_padding(const char *name)
{
	return !strncmp(name, "__pfx_", 6) || !strncmp(name, "__cfi_", 6);
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
		if (type == STT_FUNC && is_code(s) && !is_padding(sym.name))
			*RD_ADD(elf->funcs, elf->n_funcs, elf->cap_funcs) = sym;
		else if (type == STT_OBJECT && rd_elf_is_data(s))
			*RD_ADD(elf->objects, elf->n_objects, elf->cap_objects) = sym;
	}
	if (elf->n_funcs)
		qsort(elf->funcs, elf->n_funcs, sizeof(*elf->funcs), compare_syms);
	if (elf->n_objects)
		qsort(elf->objects, elf->n_objects, sizeof(*elf->objects), compare_syms);
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

/* The first of the symbols at the same place as v[i]. */
static uint32_t first_alias(const struct rd_elf_sym *v, size_t i)
{
	if (v[i].offset)
		return upper_bound(v, i, v[i].section, v[i].offset - 1);
	return v[i].section ? upper_bound(v, i, v[i].section - 1, UINT64_MAX) : 0;
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
	return first_alias(elf->funcs, i - 1);
}

uint32_t rd_elf_func_at(const struct rd_elf *elf, uint32_t section, uint64_t offset)
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
		f = rd_elf_func_at(elf, section, at + gap);
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

static void read_ftrace_sites(struct rd_elf *elf)
{
	/* x86 kernels that pad functions have the second as well, which is not for ftrace there. */
	if (!mark_all_traced(elf, "__mcount_loc") && elf->machine != EM_X86_64)
		mark_all_traced(elf, "__patchable_function_entries");
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
	if (!rc)
		rc = find_symtab(elf, err);
	if (rc) {
		rd_elf_deinit(elf);
		return rc;
	}
	read_symbols(elf);
	read_ftrace_sites(elf);
	return 0;
}

void rd_elf_deinit(struct rd_elf *elf)
{
	free(elf->sections);
	free(elf->funcs);
	free(elf->objects);
	free(elf->refs);
	free(elf->ptrs);
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

size_t rd_elf_object_ptrs(const struct rd_elf *elf, const struct rd_elf_sym *object, size_t *first)
{
	size_t lo = 0, hi = elf->n_ptrs, n = 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct rd_elf_ptr *p = &elf->ptrs[mid];

		if (p->section < object->section || (p->section == object->section && p->offset < object->offset))
			lo = mid + 1;
		else
			hi = mid;
	}
	*first = lo;
	while (lo + n < elf->n_ptrs && elf->ptrs[lo + n].section == object->section &&
	       elf->ptrs[lo + n].offset - object->offset < object->size)
		n++;
	return n;
}
