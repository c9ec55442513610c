/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call graph of object files that the machine's own compiler makes now, and of damaged ones. */
#include "unit.h"

#include "fake-host.h"
#include "trace/select/elfmod.h"

struct object {
	struct fake_host host;
	struct rd_bytes bytes;
	struct rd_elf elf;
};

/* Compiles `source` (FILE.c or FILE.s in the host's folder) by `command`, which writes "o". False: there is no such compiler. */
static bool object_try(struct object *object, const char *file, const char *source, const char *command)
{
	*object = (struct object){ 0 };
	object->host = fake_host_make();
	fake_host_text(&object->host, file, source);
	if (fake_host_run(&object->host, command) != 0) {
		fake_host_deinit(&object->host);
		return false;
	}
	assert_int_equal(rd_read_file(object->host.source, "/o", &object->bytes, NULL), 0);
	assert_int_equal(rd_elf_init(&object->elf, object->bytes.data, object->bytes.size, NULL), 0);
	rd_elf_read_refs(&object->elf);
	return true;
}

/* The same; without such a compiler the test is left out. */
static void object_build(struct object *object, const char *file, const char *source, const char *command)
{
	if (!object_try(object, file, source, command))
		SKIP("a compiler for this machine code is not here");
}

static void object_deinit(struct object *object)
{
	rd_elf_deinit(&object->elf);
	rd_bytes_deinit(&object->bytes);
	fake_host_deinit(&object->host);
}

static uint32_t func(const struct rd_elf *elf, const char *name)
{
	for (uint32_t i = 0; i < elf->n_funcs; i++)
		if (!strcmp(elf->funcs[i].name, name))
			return i;
	return RD_ELF_NONE;
}

static bool refers(const struct rd_elf *elf, const char *from, const char *to, enum rd_elf_ref_kind kind)
{
	for (size_t i = 0; i < elf->n_refs; i++) {
		const struct rd_elf_ref *r = &elf->refs[i];
		const char *name = r->extern_name ? r->extern_name : elf->funcs[r->to].name;

		if (r->kind == kind && !strcmp(elf->funcs[r->from].name, from) && !strcmp(name, to))
			return true;
	}
	return false;
}

/* "FROM>TO, …": each of these calls is found; with "!" in front it is not. */
static void assert_calls(const struct rd_elf *elf, const char *expected)
{
	_cleanup_free_ char *text = strdup(expected);

	for (char *rest = text, *call; (call = strsep(&rest, ","));) {
		bool wanted = (call += strspn(call, " "))[0] != '!';
		char *to = strchr(call, '>');

		assert_non_null(to);
		*to++ = '\0';
		if (refers(elf, call + !wanted, to, RD_ELF_CALL) != wanted)
			fail_msg("%s>%s", call, to);
	}
}

static const char source_c[] = "extern int outside(int);\n"
			       "#define KEEP __attribute__((noinline, noclone, used))\n"
			       "#define FAR __attribute__((section(\".text.unlikely\")))\n"
			       "KEEP static int leaf(int x) { __asm__ volatile(\"\"); return x + 1; }\n"
			       "KEEP static int near_call(int x) { return leaf(x) + 1; }\n"
			       "KEEP static int tail_call(int x) { return leaf(x + 2); }\n"
			       "KEEP FAR int far_leaf(int x) { __asm__ volatile(\"\"); return x + 3; }\n"
			       "KEEP int across_sections(int x) { return far_leaf(x) + 1; }\n"
			       "KEEP int to_outside(int x) { return outside(x) + 1; }\n"
			       "KEEP int alone(int x) { return x * 3; }\n"
			       "KEEP static void handler(int *x) { ++*x; }\n"
			       "extern void later(void (*fn)(int *));\n"
			       "KEEP void takes_address(void) { later(handler); }\n"
			       "KEEP __attribute__((section(\".init.text\"))) int at_start(int x) { return leaf(x); }\n"
			       "struct ops { void *owner; int (*make)(int); int (*more)(int); };\n"
			       "extern int owner;\n"
			       "const struct ops table = { .owner = &owner, .more = near_call };\n"
			       "struct ops other = { .make = tail_call, .more = outside };\n"
			       "int plain[6] = { 1, 2, 3 };\n";

/* As the kernel is compiled; the places for ftrace by the option that all machines have, in the section of x86. */
#define CC                                                                                                         \
	"cc -O2 -fno-pie -fpatchable-function-entry=2 -fno-asynchronous-unwind-tables -c -o o f.c 2>/dev/null && " \
	"objcopy --rename-section __patchable_function_entries=__mcount_loc o"
#define X86 "clang --target=x86_64-linux-gnu -c -o o f.s 2>/dev/null"
#define ARM64 "clang --target=aarch64-linux-gnu -c -o o f.s 2>/dev/null"

#define OBJECT_TEST(name) TEST_ON(name, struct object, o, { 0 }, object_deinit)

OBJECT_TEST(every_direct_call_is_found_with_relocation_or_without)
{
	object_build(o, "/f.c", source_c, CC);
	assert_calls(
		&o->elf,
		"near_call>leaf, tail_call>leaf, across_sections>far_leaf, to_outside>outside, takes_address>later");
	assert_true(refers(&o->elf, "takes_address", "handler", RD_ELF_ADDRESS));
	assert_calls(&o->elf, "!takes_address>handler");
	for (size_t i = 0; i < o->elf.n_refs; i++)
		assert_string_not_equal(o->elf.funcs[o->elf.refs[i].from].name, "alone");
}

OBJECT_TEST(code_that_is_freed_after_loading_is_left_out)
{
	object_build(o, "/f.c", source_c, CC);
	assert_int_equal(func(&o->elf, "at_start"), RD_ELF_NONE);
	assert_int_not_equal(func(&o->elf, "leaf"), RD_ELF_NONE);
	assert_true(o->elf.funcs[func(&o->elf, "to_outside")].global);
	assert_false(o->elf.funcs[func(&o->elf, "leaf")].global);
	for (size_t i = 0; i < o->elf.n_funcs; i++)
		assert_true(o->elf.funcs[i].traced);
}

/* As gcc 14 and later write it: a list of places for each function, linked to its section. */
static const char places_asm[] =
	".section .text.one,\"ax\"\n.type one, @function\none: nop; nop; ret\n.size one, .-one\n"
	".section __mcount_loc,\"awo\",@progbits,.text.one\n.quad one\n"
	".section .text.two,\"ax\"\n.type two, @function\ntwo: nop; nop; ret\n.size two, .-two\n"
	".section __mcount_loc,\"awo\",@progbits,.text.two\n.quad two\n"
	".section .text.none,\"ax\"\n.type none, @function\nnone: ret\n.size none, .-none\n";

OBJECT_TEST(places_for_ftrace_are_read_from_every_section_that_lists_them)
{
	object_build(o, "/f.s", places_asm, X86);
	assert_true(o->elf.funcs[func(&o->elf, "one")].traced);
	assert_true(o->elf.funcs[func(&o->elf, "two")].traced);
	assert_false(o->elf.funcs[func(&o->elf, "none")].traced);
}

TEST(code_whose_symbol_was_removed_is_counted)
{
	struct object o;

	object_build(&o, "/f.s", places_asm, X86);
	assert_int_equal(o.elf.unnamed, 0);
	assert_string_equal(rd_elf_defined_func(&o.elf, &o.elf.symtab[o.elf.n_symtab - 1]), "none");
	assert_null(rd_elf_defined_func(&o.elf, &o.elf.symtab[0]));
	object_deinit(&o);
	object_build(&o, "/f.s", places_asm, X86 " && objcopy -w -N 'tw*' o");
	assert_int_equal(o.elf.unnamed, 1);
	object_deinit(&o);
}

OBJECT_TEST(tables_of_functions_are_read_by_offset)
{
	const struct rd_elf_sym *table = NULL, *other = NULL, *plain = NULL;
	size_t first;

	object_build(o, "/f.c", source_c, CC);
	for (size_t i = 0; i < o->elf.n_objects; i++) {
		const struct rd_elf_sym *s = &o->elf.objects[i];

		table = strcmp(s->name, "table") ? table : s;
		other = strcmp(s->name, "other") ? other : s;
		plain = strcmp(s->name, "plain") ? plain : s;
	}
	assert_non_null(table);
	assert_int_equal(table->size, 24);
	assert_int_equal(rd_elf_object_ptrs(&o->elf, table, &first), 2);
	ASSERT_EACH(READS(o->elf.ptrs[first].extern_name, "owner"),
		    IS(o->elf.ptrs[first + 1].offset - table->offset, 16),
		    IS(o->elf.ptrs[first + 1].to, func(&o->elf, "near_call")));
	assert_int_equal(rd_elf_object_ptrs(&o->elf, other, &first), 2);
	assert_int_equal(o->elf.ptrs[first].to, func(&o->elf, "tail_call"));
	assert_string_equal(o->elf.ptrs[first + 1].extern_name, "outside");
	assert_int_equal(rd_elf_object_ptrs(&o->elf, plain, &first), 0);
}

/* x86 by hand: calls to neighbours, a conditional tail call, a short one, bytes that only look like a call, a call into
 * the middle of a function, and a cold half in another section with two ways in. */
static const char x86_asm[] =
	".text\n"
	".type leaf, @function\nleaf: endbr64; ret; nop; nop\n.size leaf, .-leaf\n"
	".type short_tail, @function\nshort_tail: endbr64; jmp leaf\n.size short_tail, .-short_tail\n"
	".space 256, 0x90\n"
	".type near, @function\nnear: call leaf; ret\n.size near, .-near\n"
	".type jcc, @function\njcc: test %edi, %edi; je leaf; ret\n.size jcc, .-jcc\n"
	".type middle, @function\nmiddle: call leaf+1; ret\n.size middle, .-middle\n"
	".type self, @function\nself: call self; ret\n.size self, .-self\n"
	".type __pfx_padded, @function\n__pfx_padded: .space 16, 0x90\n.size __pfx_padded, 16\n"
	".type padded, @function\npadded: call leaf; jmp 1f\n.size padded, .-padded\n"
	".section .text.unlikely,\"ax\"\n"
	".type padded.cold, @function\npadded.cold: nop; nop; 1: call far; ret\n"
	".size padded.cold, .-padded.cold\n"
	".text\n.type far, @function\nfar: ret\n.size far, .-far\n";

OBJECT_TEST(calls_of_x86_are_told_from_bytes_that_look_like_one)
{
	object_build(o, "/f.s", x86_asm, X86);
	assert_calls(&o->elf, "near>leaf, jcc>leaf, short_tail>leaf, !middle>leaf, !self>self");
	assert_int_equal(func(&o->elf, "__pfx_padded"), RD_ELF_NONE);
	assert_calls(&o->elf, "padded>leaf, padded>padded.cold, padded.cold>far");
}

static const char arm64_asm[] = ".text\n"
				".type leaf, %function\nleaf: ret\n.size leaf, .-leaf\n"
				".type near, %function\nnear: bl leaf\nret\n.size near, .-near\n"
				".type tail, %function\ntail: nop\nb leaf\n.size tail, .-tail\n"
				".type cond, %function\ncond: cmp x0, #0\nb.eq leaf\nret\n.size cond, .-cond\n"
				".global shared\n.type shared, %function\nshared: ret\n.size shared, .-shared\n"
				".type by_reloc, %function\nby_reloc: bl shared\nbl outside\nb outside_tail\n"
				".size by_reloc, .-by_reloc\n"
				".type takes, %function\ntakes: adrp x0, leaf\nadd x0, x0, :lo12:leaf\nb later\n"
				".size takes, .-takes\n"
				".data\n.type table, %object\n.size table, 16\ntable: .xword near, tail\n";

OBJECT_TEST(arm64_calls_are_found_with_relocation_or_without)
{
	size_t first;

	object_build(o, "/f.s", arm64_asm, ARM64);
	assert_int_equal(o->elf.machine, EM_AARCH64);
	assert_calls(&o->elf,
		     "near>leaf, tail>leaf, cond>leaf, by_reloc>shared, by_reloc>outside, by_reloc>outside_tail");
	ASSERT_EACH(IS(refers(&o->elf, "takes", "leaf", RD_ELF_ADDRESS), true), IS(o->elf.n_objects, 1));
	assert_int_equal(rd_elf_object_ptrs(&o->elf, &o->elf.objects[0], &first), 2);
	assert_int_equal(o->elf.ptrs[first].to, func(&o->elf, "near"));
}

/* "FUNCTION ERRNO…, …": each has exactly these errnos as constants. */
static void assert_errnos(const struct rd_elf *elf, const char *expected)
{
	_cleanup_free_ char *text = strdup(expected);

	for (char *rest = text, *part; (part = strsep(&rest, ","));) {
		uint64_t bits[RD_ELF_ERRNO_WORDS] = { 0 };
		const char *name;
		uint32_t i;

		part += strspn(part, " ");
		name = strsep(&part, " ");
		i = func(elf, name);
		assert_int_not_equal(i, RD_ELF_NONE);
		for (char *number; (number = strsep(&part, " "));)
			bits[atoi(number) / 64] |= 1ull << atoi(number) % 64;
		for (size_t w = 0; w < RD_ELF_ERRNO_WORDS; w++)
			if (elf->funcs[i].errnos[w] != bits[w])
				fail_msg("%s: word %zu is %llx, not %llx", name, w,
					 (unsigned long long)elf->funcs[i].errnos[w], (unsigned long long)bits[w]);
	}
}

static bool returns(const struct rd_elf *elf, const char *name, int err)
{
	uint32_t i = func(elf, name);

	assert_int_not_equal(i, RD_ELF_NONE);
	return elf->funcs[i].errnos[err / 64] >> err % 64 & 1;
}

static const char errnos_c[] =
	"extern int outside(int);\n"
	"extern void complain(int) __attribute__((cold));\n"
	"int always(void) { return -22; }\n"
	"int if_set(int x) { return x ? -16 : 0; }\n"
	"int if_clear(int x) { return x ? 0 : -12; }\n"
	"int if_less(int x) { return x < 0 ? -22 : 0; }\n"
	"int if_bit(int x) { return x & 4 ? -95 : 0; }\n"
	"int if_more(unsigned x, unsigned y) { return x > y ? -34 : 0; }\n"
	"long wide(int x) { return x ? -110L : 0; }\n"
	"void *pointer(int x) { return x ? (void *)-12L : 0; }\n"
	"int or_passes(int x) { return x < 0 ? -14 : x; }\n"
	"int of_two(int x, int y) { if (outside(x)) return -5; if (outside(y)) return -11; return 0; }\n"
	"int after_a_call(int x) { return outside(x) ? -13 : 0; }\n"
	"int last(void) { return -133; }\n"
	"int in_cold(int x) { if (x > 5) { complain(x); return -113; } return x; }\n"
	"int none(int x) { return x * 3 + 22; }\n"
	"int positive(void) { return 22; }\n"
	"int passes(int x) { return outside(x) + 1; }\n";

/* Each function has the errnos that it returns; it may have others. */
static void assert_compiled_errnos(const struct rd_elf *elf)
{
	static const struct {
		const char *name;
		int err;
	} cases[] = {
		{ "always", 22 },  { "if_set", 16 },	   { "if_clear", 12 }, { "if_less", 22 },   { "if_bit", 95 },
		{ "if_more", 34 }, { "wide", 110 },	   { "pointer", 12 },  { "or_passes", 14 }, { "of_two", 5 },
		{ "of_two", 11 },  { "after_a_call", 13 }, { "last", 133 },
	};
	bool cold = func(elf, "in_cold.cold") != RD_ELF_NONE;

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++)
		if (!returns(elf, cases[i].name, cases[i].err))
			fail_msg("%s: no %d", cases[i].name, cases[i].err);
	assert_true(returns(elf, cold ? "in_cold.cold" : "in_cold", 113));
	assert_errnos(elf, "always 22, none, positive, passes");
}

OBJECT_TEST(errnos_are_found_in_what_the_compiler_makes_of_conditions)
{
	object_build(o, "/f.c", errnos_c, CC);
	assert_compiled_errnos(&o->elf);
}

TEST(errnos_are_found_for_each_machine_and_level_of_optimisation)
{
	static const char *const targets[] = { "x86_64-linux-gnu", "aarch64-linux-gnu" };
	static const char *const levels[] = { "-O2", "-Os", "-O3" };
	bool tried = false;

	for (size_t t = 0; t < RD_ARRAY_SIZE(targets); t++)
		for (size_t l = 0; l < RD_ARRAY_SIZE(levels); l++) {
			char command[160];
			struct object o;

			snprintf(command, sizeof(command),
				 "clang --target=%s %s -fno-pie -ffreestanding -c -o o f.c 2>/dev/null", targets[t],
				 levels[l]);
			if (!object_try(&o, "/f.c", errnos_c, command))
				continue;
			tried = true;
			assert_compiled_errnos(&o.elf);
			object_deinit(&o);
		}
	if (!tried)
		SKIP("a compiler for this machine code is not here");
}

static const char errnos_x86[] =
	".text\n"
	".type wide, @function\nwide: mov $-22, %eax; ret\n.size wide, .-wide\n"
	".type wider, @function\nwider: mov $-5, %rax; ret\n.size wider, .-wider\n"
	".type high, @function\nhigh: mov $-16, %r10d; ret\n.size high, .-high\n"
	".type stored, @function\nstored: movl $-12, 8(%rdi); ret\n.size stored, .-stored\n"
	".type masked, @function\nmasked: neg %edi; sbb %eax, %eax; and $-11, %eax; ret\n.size masked, .-masked\n"
	".type by_lea, @function\nby_lea: lea -14(%rdi), %eax; ret\n.size by_lea, .-by_lea\n"
	".type by_sib, @function\nby_sib: lea -28(%rdi,%rdi), %eax; ret\n.size by_sib, .-by_sib\n"
	".type pushed, @function\npushed: push $-19; pop %rax; ret\n.size pushed, .-pushed\n"
	".type bounds, @function\nbounds: mov $-191, %eax; mov $-192, %edx; mov $-63, %ecx; mov $-64, %esi; ret\n"
	".size bounds, .-bounds\n"
	".type none, @function\nnone: mov $22, %eax; mov $-4096, %edx; movabs $0x100000000ffffea, %rcx; ret\n.size none, .-none\n"
	/* The linker writes over these four bytes. */
	".type relocated, @function\nrelocated: .byte 0xe8; .reloc ., R_X86_64_PLT32, outside-4; .long -22; ret\n"
	".size relocated, .-relocated\n"
	".type behind, @function\nbehind: ret\n.size behind, .-behind\n";

OBJECT_TEST(errnos_of_x86_stand_in_each_form_of_an_instruction)
{
	object_build(o, "/f.s", errnos_x86, X86);
	assert_errnos(
		&o->elf,
		"wide 22, wider 5, high 16, stored 12, masked 11, by_lea 14, by_sib 28, pushed 19, bounds 191 63 64, none, relocated, behind");
}

static const char errnos_arm64[] =
	".text\n"
	".type narrow, %function\nnarrow: mov w0, #-22\nret\n.size narrow, .-narrow\n"
	".type wide, %function\nwide: mov x3, #-12\nret\n.size wide, .-wide\n"
	".type bounds, %function\nbounds: mov w0, #-191\nmov w1, #-192\nmov w2, #-64\nret\n"
	".size bounds, .-bounds\n"
	".type none, %function\nnone: mov w0, #22\nmovn x1, #21, lsl #16\nret\n.size none, .-none\n"
	".type inverted, %function\ninverted: mov w1, #11\ncmp w0, #0\ncsinv w0, wzr, w1, eq\nret\n.size inverted, .-inverted\n"
	".type negated, %function\nnegated: mov w2, #22\ncmp w0, #0\ncsneg w0, wzr, w2, eq\nret\n.size negated, .-negated\n"
	".type minus, %function\nminus: cmp w0, #0\ncsinv w0, w0, wzr, eq\nret\n.size minus, .-minus\n"
	".type masked, %function\nmasked: cmp w0, #0\ncsetm w0, ne\nand w0, w0, #-16\nret\n.size masked, .-masked\n"
	".type hole, %function\nhole: cmp w0, #0\ncsetm w3, ne\nand w0, w3, #-17\nret\n.size hole, .-hole\n"
	".type aligned, %function\naligned: and w0, w0, #-16\ncsetm w1, ne\nret\n.size aligned, .-aligned\n"
	".type direct, %function\ndirect: bl outside\nb outside\n.size direct, .-direct\n"
	".type indirect, %function\nindirect: blr x17\nret\n.size indirect, .-indirect\n";

OBJECT_TEST(errnos_of_arm64_are_moved_inverted_and_masked)
{
	object_build(o, "/f.s", errnos_arm64, ARM64);
	assert_errnos(
		&o->elf,
		"narrow 22, wide 12, bounds 191 64, none, inverted 12, negated 22, minus 1, masked 16, hole 17, aligned");
	assert_false(o->elf.funcs[func(&o->elf, "direct")].indirect);
	assert_true(o->elf.funcs[func(&o->elf, "indirect")].indirect);
	assert_false(o->elf.funcs[func(&o->elf, "none")].indirect);
}

static const char pointers_x86[] =
	".text\n"
	".type low, @function\nlow: call *%rax; ret\n.size low, .-low\n"
	".type high, @function\nhigh: call *%r11; ret\n.size high, .-high\n"
	".type thunk, @function\nthunk: call __x86_indirect_thunk_rax; ret\n.size thunk, .-thunk\n"
	".type tail, @function\ntail: jmp __x86_indirect_thunk_r10\n.size tail, .-tail\n"
	".type array, @function\narray: call __x86_indirect_call_thunk_rcx; ret\n.size array, .-array\n"
	/* What a function returns to with retpolines is no call. */
	".type leave, @function\nleave: jmp __x86_return_thunk\n.size leave, .-leave\n"
	".type direct, @function\ndirect: call outside; jmp low\n.size direct, .-direct\n";

OBJECT_TEST(calls_through_pointers_are_noticed_with_retpolines_or_without)
{
	static const struct {
		const char *name;
		bool indirect;
	} cases[] = { { "low", true },	 { "high", true },   { "thunk", true },	 { "tail", true },
		      { "array", true }, { "leave", false }, { "direct", false } };

	object_build(o, "/f.s", pointers_x86, X86);
	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++)
		if (o->elf.funcs[func(&o->elf, cases[i].name)].indirect != cases[i].indirect)
			fail_msg("%s", cases[i].name);
}

OBJECT_TEST(a_build_id_is_read_from_the_file_and_from_the_note_alone)
{
	static const uint8_t notes[] = { 4, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0,   0,	 'a', 'b', 'c', 0, 1, 2, 3, 0, 4, 0,
					 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0,   9,	8, 7, 6, 5, 0, 0, 0 };
	const uint8_t *id;
	size_t size = 0;

	id = rd_elf_note_build_id(notes, sizeof(notes), &size);
	ASSERT_EACH(IS(id != NULL, true), IS(size, 5));
	assert_memory_equal(id, "\x9\x8\x7\x6\x5", 5);
	/* Padding may be missing at the very end, the id may not. */
	assert_non_null(rd_elf_note_build_id(notes, sizeof(notes) - 3, &size));
	for (size_t n = 0; n < sizeof(notes) - 3; n++)
		assert_null(rd_elf_note_build_id(notes, n, &size));

	object_build(o, "/f.c", source_c, "cc -O2 -nostdlib -r -Wl,--build-id=sha1 -o o f.c 2>/dev/null");
	assert_non_null(rd_elf_build_id(&o->elf, &size));
	assert_int_equal(size, 20);
}

/* Exactly as many bytes as there are, so that a sanitizer sees each one too many. */
static void try_bytes(const uint8_t *data, size_t size)
{
	_cleanup_free_ uint8_t *copy = malloc(size ? size : 1);
	struct rd_elf elf;
	size_t first, id;

	assert_non_null(copy);
	if (size)
		memcpy(copy, data, size);
	if (!rd_elf_init(&elf, copy, size, NULL)) {
		rd_elf_build_id(&elf, &id);
		rd_elf_read_refs(&elf);
		for (size_t i = 0; i < elf.n_objects; i++)
			rd_elf_object_ptrs(&elf, &elf.objects[i], &first);
		rd_elf_deinit(&elf);
	}
}

OBJECT_TEST(damaged_files_are_refused_or_read_without_harm)
{
	static const uint8_t values[] = { 0x00, 0x7f, 0x80, 0xff };
	uint64_t shoff;

	object_build(o, "/f.c", source_c, CC);
	for (size_t n = 0; n < o->bytes.size; n += n < 128 ? 1 : 37)
		try_bytes(o->bytes.data, n);
	/* The header and the section table decide where everything lies; the rest is sampled. */
	shoff = ((const Elf64_Ehdr *)o->bytes.data)->e_shoff;
	for (size_t at = 0; at < o->bytes.size; at += at < 64 || at >= shoff ? 1 : 5)
		for (size_t v = 0; v < RD_ARRAY_SIZE(values); v++) {
			uint8_t old = o->bytes.data[at];

			o->bytes.data[at] = values[v];
			try_bytes(o->bytes.data, o->bytes.size);
			o->bytes.data[at] = old;
		}
}

TEST(files_of_other_kinds_are_refused)
{
	static const char text[] = "#!/bin/sh\necho this is no module, and long enough to hold an ELF header\n";
	struct rd_err err = { 0 };
	struct rd_elf elf;
	Elf64_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, 1 }, .e_type = ET_REL };

	assert_int_equal(rd_elf_init(&elf, text, sizeof(text), &err), -EBADMSG);
	assert_int_equal(rd_elf_init(&elf, text, 0, &err), -EBADMSG);
	assert_int_equal(rd_elf_init(&elf, &eh, sizeof(eh), &err), -EBADMSG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_type = ET_EXEC;
	assert_int_equal(rd_elf_init(&elf, &eh, sizeof(eh), &err), -EBADMSG);
	eh.e_type = ET_REL;
	assert_int_equal(rd_elf_init(&elf, &eh, sizeof(eh), &err), -EBADMSG);
	assert_string_not_equal(err.message, "");
}
