/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "trace/select/elfmod.h"

void fuzz_one(const uint8_t *data, size_t size)
{
	struct rd_elf elf = { 0 };
	size_t id_size, first;

	rd_elf_note_build_id(data, size, &id_size);
	if (rd_elf_init(&elf, data, size, NULL) < 0)
		return;
	rd_elf_build_id(&elf, &id_size);
	rd_elf_read_refs(&elf);
	for (size_t i = 0; i < elf.n_objects; i++)
		rd_elf_object_ptrs(&elf, &elf.objects[i], &first);
	for (size_t i = 0; i < elf.n_funcs; i++)
		rd_elf_func_around(&elf, elf.funcs[i].section, elf.funcs[i].offset + 1);
	rd_elf_deinit(&elf);
}
