// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/live/live.h"

#include <elf.h>

#define SEGMENTS_MAX 32
#define NAMES_MAX 32
#define RELOCATIONS_MAX ((uint64_t)1 << 20)
#define VERSION_MAX 4096

struct image {
	const uint8_t *data;
	size_t size;
	Elf64_Phdr segments[SEGMENTS_MAX];
	size_t n_segments;
	uint64_t names[NAMES_MAX]; /* addresses of the provider's name */
	size_t n_names, found;
	bool differ;
	uint32_t min, max;
};

/* The bytes at an address of the loaded library; NULL: not in its file. */
static const uint8_t *at_address(const struct image *image, uint64_t address, uint64_t size)
{
	for (size_t i = 0; i < image->n_segments; i++) {
		const Elf64_Phdr *segment = &image->segments[i];
		uint64_t in = address - segment->p_vaddr;

		if (segment->p_type == PT_LOAD && address >= segment->p_vaddr && in <= segment->p_filesz &&
		    size <= segment->p_filesz - in)
			return image->data + segment->p_offset + in;
	}
	return NULL;
}

static bool read_head(struct image *image)
{
	Elf64_Ehdr head;

	if (image->size < sizeof(head))
		return false;
	memcpy(&head, image->data, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_ident[EI_DATA] != ELFDATA2LSB || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ ||
	    head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > SEGMENTS_MAX || head.e_phoff > image->size ||
	    head.e_phnum * sizeof(Elf64_Phdr) > image->size - head.e_phoff)
		return false;
	memcpy(image->segments, image->data + head.e_phoff, head.e_phnum * sizeof(Elf64_Phdr));
	image->n_segments = head.e_phnum;
	for (size_t i = 0; i < image->n_segments; i++) {
		const Elf64_Phdr *segment = &image->segments[i];

		if (segment->p_offset > image->size || segment->p_filesz > image->size - segment->p_offset)
			return false;
	}
	return true;
}

/* The name may also be the end of a longer string, which the linker merged with it. */
static void find_names(struct image *image, const char *name)
{
	size_t n = strlen(name) + 1;

	for (size_t i = 0; i < image->n_segments; i++) {
		const Elf64_Phdr *segment = &image->segments[i];
		const uint8_t *begin = image->data + segment->p_offset, *end = begin + segment->p_filesz, *at = begin;

		if (segment->p_type != PT_LOAD)
			continue;
		while (image->n_names < NAMES_MAX && (at = memmem(at, (size_t)(end - at), name, n))) {
			image->names[image->n_names++] = segment->p_vaddr + (uint64_t)(at - begin);
			at++;
		}
	}
}

static bool is_name(const struct image *image, uint64_t address)
{
	for (size_t i = 0; i < image->n_names; i++)
		if (image->names[i] == address)
			return true;
	return false;
}

/* struct verbs_device_ops (libibverbs/driver.h of rdma-core, the same since its release 15): a pointer to the name, then the two versions. */
static void take_ops(struct image *image, uint64_t address)
{
	const uint8_t *at = at_address(image, address, 16);
	uint32_t versions[2];

	if (!at)
		return;
	memcpy(versions, at + 8, sizeof(versions));
	if (versions[0] > versions[1] || versions[1] == 0 || (versions[1] > VERSION_MAX && versions[1] != INT32_MAX))
		return;
	image->differ |= image->found++ > 0 && (versions[0] != image->min || versions[1] != image->max);
	image->min = versions[0];
	image->max = versions[1];
}

/* A pointer is an addend in a table of relocations, or, where that is packed (DT_RELR), in its own place. */
static void find_relocated(struct image *image, const Elf64_Phdr *dynamic)
{
	uint64_t table = 0, size = 0;

	for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic->p_filesz; at += sizeof(Elf64_Dyn)) {
		Elf64_Dyn entry;

		memcpy(&entry, image->data + dynamic->p_offset + at, sizeof(entry));
		table = entry.d_tag == DT_RELA ? entry.d_un.d_ptr : table;
		size = entry.d_tag == DT_RELASZ ? entry.d_un.d_val : size;
	}
	for (uint64_t i = 0; i < size / sizeof(Elf64_Rela) && i < RELOCATIONS_MAX; i++) {
		const uint8_t *at = at_address(image, table + i * sizeof(Elf64_Rela), sizeof(Elf64_Rela));
		Elf64_Rela relocation;

		if (!at)
			return;
		memcpy(&relocation, at, sizeof(relocation));
		if (is_name(image, (uint64_t)relocation.r_addend))
			take_ops(image, relocation.r_offset);
	}
}

static void find_in_place(struct image *image, const Elf64_Phdr *segment)
{
	for (uint64_t at = -segment->p_vaddr & 7; at + 8 <= segment->p_filesz; at += 8) {
		uint64_t word;

		memcpy(&word, image->data + segment->p_offset + at, sizeof(word));
		if (word && is_name(image, word))
			take_ops(image, segment->p_vaddr + at);
	}
}

bool rd_provider_abi(const uint8_t *data, size_t size, const char *name, uint32_t *ret_min, uint32_t *ret_max)
{
	struct image image = { .data = data, .size = size };

	if (!*name || !read_head(&image))
		return false;
	find_names(&image, name);
	for (size_t i = 0; i < image.n_segments; i++) {
		const Elf64_Phdr *segment = &image.segments[i];

		if (segment->p_type == PT_DYNAMIC)
			find_relocated(&image, segment);
		else if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W))
			find_in_place(&image, segment);
	}
	if (!image.found || image.differ)
		return false;
	*ret_min = image.min;
	*ret_max = image.max;
	return true;
}
