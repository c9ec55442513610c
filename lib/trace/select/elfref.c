/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls and function pointers in a module file. They come from relocations, and, for a call within one section of one object
 * file, from the instruction itself: the assembler resolves such a call without a relocation (a quarter to two fifths of all
 * calls in real modules).
 */
#include <endian.h>
#include <string.h>

#include "base/memory.h"

#include "trace/select/elfmod.h"

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
		if (st->st_name >= elf->strtab_size ||
		    !memchr(elf->strtab + st->st_name, 0, elf->strtab_size - st->st_name))
			return false;
		ret->extern_name = elf->strtab + st->st_name;
		return ret->extern_name[0] != 0;
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
		to = (struct target){ .fn = rd_elf_func_at(elf, section, target) };
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
		to = (struct target){ .fn = rd_elf_func_at(elf, section, i + (uint64_t)(words * 4)) };
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

static void read_data_rela(struct rd_elf *elf, const struct rd_elf_section *rela)
{
	const Elf64_Rela *r = (const void *)(elf->data + rela->offset);

	for (size_t i = 0; i < rela->size / sizeof(*r); i++) {
		uint32_t type = ELF64_R_TYPE(r[i].r_info);
		struct target to;

		if (type != (elf->machine == EM_AARCH64 ? R_AARCH64_ABS64 : R_X86_64_64))
			continue;
		if (resolve(elf, ELF64_R_SYM(r[i].r_info), r[i].r_addend, &to) && (to.extern_name || to.exact))
			*RD_ADD(elf->ptrs, elf->n_ptrs, elf->cap_ptrs) =
				(struct rd_elf_ptr){ rela->info, r[i].r_offset, to.fn, to.extern_name };
	}
}

static int compare_refs(const void *a, const void *b)
{
	const struct rd_elf_ref *x = a, *y = b;

	return RD_FIRST(RD_CMP(x->from, y->from), RD_CMP(x->to, y->to), RD_CMP(x->extern_name, y->extern_name),
			(int)x->kind - (int)y->kind);
}

static int compare_ptrs(const void *a, const void *b)
{
	const struct rd_elf_ptr *x = a, *y = b;

	return RD_CMP(x->section, y->section) ?: RD_CMP(x->offset, y->offset);
}

static void sort_refs(struct rd_elf *elf)
{
	size_t n = 0;

	if (elf->n_ptrs)
		qsort(elf->ptrs, elf->n_ptrs, sizeof(*elf->ptrs), compare_ptrs);
	if (!elf->n_refs)
		return;
	qsort(elf->refs, elf->n_refs, sizeof(*elf->refs), compare_refs);
	for (size_t i = 0; i < elf->n_refs; i++)
		if (!n || compare_refs(&elf->refs[n - 1], &elf->refs[i]))
			elf->refs[n++] = elf->refs[i];
	elf->n_refs = n;
}

void rd_elf_read_refs(struct rd_elf *elf)
{
	for (size_t i = 0; i < elf->n_funcs; i++)
		if (!i || elf->funcs[i].section != elf->funcs[i - 1].section)
			read_code(elf, elf->funcs[i].section);
	for (size_t i = 0; i < elf->n_sections; i++) {
		const struct rd_elf_section *s = &elf->sections[i];

		if (s->type == SHT_RELA && s->offset % 8 == 0 && s->info < elf->n_sections &&
		    rd_elf_is_data(&elf->sections[s->info]))
			read_data_rela(elf, s);
	}
	sort_refs(elf);
}
