/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call graph of object files that the machine's own compiler makes now, and of damaged ones. */
#include "unit.h"

#include "fake-host.h"
#include "trace/select/elfmod.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct object {
	struct fake_host host;
	struct rd_bytes bytes;
	struct rd_elf elf;
};

/* Compiles `source` (FILE.c or FILE.s in the host's folder) by `command`, which writes "o". */
static bool object_build(struct object *object, const char *file, const char *source, const char *command)
{
	struct rd_err err = { 0 };

	*object = (struct object){ 0 };
	fake_host_init(&object->host);
	fake_host_text(&object->host, file, source);
	if (fake_host_run(&object->host, command) != 0) {
		fake_host_deinit(&object->host);
		return false;
	}
	assert_int_equal(rd_read_file(object->host.source, "/o", &object->bytes, &err), 0);
	assert_int_equal(rd_elf_init(&object->elf, object->bytes.data, object->bytes.size, &err), 0);
	assert_int_equal(rd_elf_read_refs(&object->elf, &err), 0);
	return true;
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

static bool calls(const struct rd_elf *elf, const char *from, const char *to)
{
	return refers(elf, from, to, RD_ELF_CALL);
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

/* As the kernel is compiled; the places for ftrace by the option that all machines have. */
#define CC "cc -O2 -fno-pie -fpatchable-function-entry=2 -fno-asynchronous-unwind-tables -c -o o f.c 2>/dev/null"

static void every_direct_call_is_found_with_relocation_or_without(void **state)
{
	struct object o;

	(void)state;
	if (!object_build(&o, "/f.c", source_c, CC))
		SKIP("a compiler for this machine code is not here");
	assert_true(calls(&o.elf, "near_call", "leaf"));
	assert_true(calls(&o.elf, "tail_call", "leaf"));
	assert_true(calls(&o.elf, "across_sections", "far_leaf"));
	assert_true(calls(&o.elf, "to_outside", "outside"));
	assert_true(calls(&o.elf, "takes_address", "later"));
	assert_true(refers(&o.elf, "takes_address", "handler", RD_ELF_ADDRESS));
	assert_false(calls(&o.elf, "takes_address", "handler"));
	for (size_t i = 0; i < o.elf.n_refs; i++)
		assert_string_not_equal(o.elf.funcs[o.elf.refs[i].from].name, "alone");
	object_deinit(&o);
}

static void code_that_is_freed_after_loading_is_left_out(void **state)
{
	struct object o;

	(void)state;
	if (!object_build(&o, "/f.c", source_c, CC))
		SKIP("a compiler for this machine code is not here");
	assert_int_equal(func(&o.elf, "at_start"), RD_ELF_NONE);
	assert_int_not_equal(func(&o.elf, "leaf"), RD_ELF_NONE);
	assert_true(o.elf.funcs[func(&o.elf, "to_outside")].global);
	assert_false(o.elf.funcs[func(&o.elf, "leaf")].global);
	for (size_t i = 0; i < o.elf.n_funcs; i++)
		assert_true(o.elf.funcs[i].traced);
	object_deinit(&o);
}

/* As gcc 14 and later write it: a list of places for each function, linked to its section. */
static const char places_asm[] =
	".section .text.one,\"ax\"\n.type one, @function\none: nop; nop; ret\n.size one, .-one\n"
	".section __patchable_function_entries,\"awo\",@progbits,.text.one\n.quad one\n"
	".section .text.two,\"ax\"\n.type two, @function\ntwo: nop; nop; ret\n.size two, .-two\n"
	".section __patchable_function_entries,\"awo\",@progbits,.text.two\n.quad two\n"
	".section .text.none,\"ax\"\n.type none, @function\nnone: ret\n.size none, .-none\n";

static void places_for_ftrace_are_read_from_every_section_that_lists_them(void **state)
{
	struct object o;

	(void)state;
	if (!object_build(&o, "/f.s", places_asm, "clang --target=x86_64-linux-gnu -c -o o f.s 2>/dev/null"))
		SKIP("a compiler for this machine code is not here");
	assert_true(o.elf.funcs[func(&o.elf, "one")].traced);
	assert_true(o.elf.funcs[func(&o.elf, "two")].traced);
	assert_false(o.elf.funcs[func(&o.elf, "none")].traced);
	object_deinit(&o);
}

static void tables_of_functions_are_read_by_offset(void **state)
{
	const struct rd_elf_sym *table = NULL, *other = NULL, *plain = NULL;
	struct object o;
	size_t first;

	(void)state;
	if (!object_build(&o, "/f.c", source_c, CC))
		SKIP("a compiler for this machine code is not here");
	for (size_t i = 0; i < o.elf.n_objects; i++) {
		const struct rd_elf_sym *s = &o.elf.objects[i];

		table = strcmp(s->name, "table") ? table : s;
		other = strcmp(s->name, "other") ? other : s;
		plain = strcmp(s->name, "plain") ? plain : s;
	}
	assert_non_null(table);
	assert_int_equal(table->size, 24);
	assert_int_equal(rd_elf_object_ptrs(&o.elf, table, &first), 2);
	assert_string_equal(o.elf.ptrs[first].extern_name, "owner");
	assert_int_equal(o.elf.ptrs[first + 1].offset - table->offset, 16);
	assert_int_equal(o.elf.ptrs[first + 1].to, func(&o.elf, "near_call"));
	assert_int_equal(rd_elf_object_ptrs(&o.elf, other, &first), 2);
	assert_int_equal(o.elf.ptrs[first].to, func(&o.elf, "tail_call"));
	assert_string_equal(o.elf.ptrs[first + 1].extern_name, "outside");
	assert_int_equal(rd_elf_object_ptrs(&o.elf, plain, &first), 0);
	object_deinit(&o);
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

static void calls_of_x86_are_told_from_bytes_that_look_like_one(void **state)
{
	struct object o;

	(void)state;
	if (!object_build(&o, "/f.s", x86_asm, "clang --target=x86_64-linux-gnu -c -o o f.s 2>/dev/null"))
		SKIP("a compiler for this machine code is not here");
	assert_true(calls(&o.elf, "near", "leaf"));
	assert_true(calls(&o.elf, "jcc", "leaf"));
	assert_true(calls(&o.elf, "short_tail", "leaf"));
	assert_false(calls(&o.elf, "middle", "leaf"));
	assert_false(calls(&o.elf, "self", "self"));
	assert_int_equal(func(&o.elf, "__pfx_padded"), RD_ELF_NONE);
	assert_true(calls(&o.elf, "padded", "leaf"));
	assert_true(calls(&o.elf, "padded", "padded.cold"));
	assert_true(calls(&o.elf, "padded.cold", "far"));
	object_deinit(&o);
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

static void arm64_calls_are_found_with_relocation_or_without(void **state)
{
	struct object o;
	size_t first;

	(void)state;
	if (!object_build(&o, "/f.s", arm64_asm, "clang --target=aarch64-linux-gnu -c -o o f.s 2>/dev/null"))
		SKIP("a compiler for this machine code is not here");
	assert_int_equal(o.elf.machine, EM_AARCH64);
	assert_true(calls(&o.elf, "near", "leaf"));
	assert_true(calls(&o.elf, "tail", "leaf"));
	assert_true(calls(&o.elf, "cond", "leaf"));
	assert_true(calls(&o.elf, "by_reloc", "shared"));
	assert_true(calls(&o.elf, "by_reloc", "outside"));
	assert_true(calls(&o.elf, "by_reloc", "outside_tail"));
	assert_true(refers(&o.elf, "takes", "leaf", RD_ELF_ADDRESS));
	assert_int_equal(o.elf.n_objects, 1);
	assert_int_equal(rd_elf_object_ptrs(&o.elf, &o.elf.objects[0], &first), 2);
	assert_int_equal(o.elf.ptrs[first].to, func(&o.elf, "near"));
	object_deinit(&o);
}

static void a_build_id_is_read_from_the_file_and_from_the_note_alone(void **state)
{
	static const uint8_t notes[] = { 4, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0,   0,	 'a', 'b', 'c', 0, 1, 2, 3, 0, 4, 0,
					 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0,   9,	8, 7, 6, 5, 0, 0, 0 };
	const uint8_t *id;
	size_t size = 0;
	struct object o;

	(void)state;
	id = rd_elf_note_build_id(notes, sizeof(notes), &size);
	assert_non_null(id);
	assert_int_equal(size, 5);
	assert_memory_equal(id, "\x9\x8\x7\x6\x5", 5);
	/* Padding may be missing at the very end, the id may not. */
	assert_non_null(rd_elf_note_build_id(notes, sizeof(notes) - 3, &size));
	for (size_t n = 0; n < sizeof(notes) - 3; n++)
		assert_null(rd_elf_note_build_id(notes, n, &size));

	if (!object_build(&o, "/f.c", source_c, "cc -O2 -nostdlib -r -Wl,--build-id=sha1 -o o f.c 2>/dev/null"))
		SKIP("a compiler for this machine code is not here");
	assert_non_null(rd_elf_build_id(&o.elf, &size));
	assert_int_equal(size, 20);
	object_deinit(&o);
}

/* Exactly as many bytes as there are, so that a sanitizer sees each one too many. */
static void try_bytes(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct rd_elf elf;
	size_t first, id;

	assert_non_null(copy);
	if (size)
		memcpy(copy, data, size);
	if (!rd_elf_init(&elf, copy, size, NULL)) {
		rd_elf_build_id(&elf, &id);
		if (!rd_elf_read_refs(&elf, NULL))
			for (size_t i = 0; i < elf.n_objects; i++)
				rd_elf_object_ptrs(&elf, &elf.objects[i], &first);
		rd_elf_deinit(&elf);
	}
	free(copy);
}

static void damaged_files_are_refused_or_read_without_harm(void **state)
{
	static const uint8_t values[] = { 0x00, 0x7f, 0x80, 0xff };
	struct object o;
	uint64_t shoff;

	(void)state;
	if (!object_build(&o, "/f.c", source_c, CC))
		SKIP("a compiler for this machine code is not here");
	for (size_t n = 0; n < o.bytes.size; n += n < 128 ? 1 : 37)
		try_bytes(o.bytes.data, n);
	/* The header and the section table decide where everything lies; the rest is sampled. */
	shoff = ((const Elf64_Ehdr *)o.bytes.data)->e_shoff;
	for (size_t at = 0; at < o.bytes.size; at += at < 64 || at >= shoff ? 1 : 5)
		for (size_t v = 0; v < RD_ARRAY_SIZE(values); v++) {
			uint8_t old = o.bytes.data[at];

			o.bytes.data[at] = values[v];
			try_bytes(o.bytes.data, o.bytes.size);
			o.bytes.data[at] = old;
		}
	object_deinit(&o);
}

static void files_of_other_kinds_are_refused(void **state)
{
	static const char text[] = "#!/bin/sh\necho this is no module, and long enough to hold an ELF header\n";
	struct rd_err err = { 0 };
	struct rd_elf elf;
	Elf64_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, 1 }, .e_type = ET_REL };

	(void)state;
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(every_direct_call_is_found_with_relocation_or_without),
		TEST(code_that_is_freed_after_loading_is_left_out),
		TEST(places_for_ftrace_are_read_from_every_section_that_lists_them),
		TEST(tables_of_functions_are_read_by_offset),
		TEST(calls_of_x86_are_told_from_bytes_that_look_like_one),
		TEST(arm64_calls_are_found_with_relocation_or_without),
		TEST(a_build_id_is_read_from_the_file_and_from_the_note_alone),
		TEST(damaged_files_are_refused_or_read_without_harm),
		TEST(files_of_other_kinds_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
