/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz-X SECONDS CRASH-FILE SEED-FILE…: changes the seeds in small ways, over and over, and hands them to fuzz_one. The
 * order is the same in each run. A run that dies leaves its last input in CRASH-FILE; `fuzz-X 0 - CRASH-FILE` feeds that
 * once more.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#define INPUT_MAX ((size_t)1 << 20)

struct input {
	uint8_t *data;
	size_t size;
};

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static bool input_read(const char *path, struct input *ret)
{
	FILE *file = fopen(path, "rb");

	if (!file)
		return false;
	ret->data = malloc(INPUT_MAX);
	ret->size = ret->data ? fread(ret->data, 1, INPUT_MAX, file) : 0;
	fclose(file);
	return ret->size > 0;
}

/* Values at which sizes, counts and signs go wrong. */
static void put_odd_number(uint8_t *at, size_t room, uint64_t pick)
{
	static const uint64_t odd[] = {
		0,	1,	    2,		0x7f,	    0x80,	 0xff,	    0x7fff,	0x8000,
		0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, INT64_MAX, UINT64_MAX, UINT64_MAX - 7,
	};
	uint64_t value = odd[pick % (sizeof(odd) / sizeof(odd[0]))];
	size_t width = (size_t)1 << (pick >> 8) % 4;

	memcpy(at, &value, width < room ? width : room);
}

static void mutate(struct input *input, uint64_t *random)
{
	size_t changes = 1 + random_next(random) % 8;

	for (size_t i = 0; i < changes && input->size > 0; i++) {
		size_t at = random_next(random) % input->size, from = random_next(random) % input->size;
		size_t n = 1 + random_next(random) % 32;

		switch (random_next(random) % 6) {
		case 0:
			input->data[at] ^= (uint8_t)(1u << random_next(random) % 8);
			break;
		case 1:
			input->data[at] = (uint8_t)random_next(random);
			break;
		case 2: /* headers are where structure is */
			at %= 512 < input->size ? 512 : input->size;
			/* fall through */
		case 3:
			put_odd_number(input->data + at, input->size - at, random_next(random));
			break;
		case 4:
			n = n < input->size - at ? n : input->size - at;
			n = n < input->size - from ? n : input->size - from;
			memmove(input->data + at, input->data + from, n);
			break;
		case 5:
			if (random_next(random) % 4 == 0)
				input->size = at;
			break;
		}
	}
}

/* A copy of its exact size, so that a read behind it is seen. */
static void feed(const struct input *input)
{
	uint8_t *copy = malloc(input->size ? input->size : 1);

	if (!copy)
		exit(2);
	memcpy(copy, input->data, input->size);
	fuzz_one(copy, input->size);
	free(copy);
}

/* What the file holds when we die stays. */
static void keep(int fd, const struct input *input)
{
	if (pwrite(fd, input->data, input->size, 0) != (ssize_t)input->size || ftruncate(fd, (off_t)input->size) < 0)
		exit(2);
}

static uint64_t run(const struct input *seeds, size_t n, double seconds, const char *crash)
{
	struct input input = { .data = malloc(INPUT_MAX) };
	int fd = open(crash, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	time_t end = time(NULL) + (time_t)seconds;
	uint64_t random = 88172645463325252u, runs = 0;

	if (!input.data || fd < 0) {
		perror(crash);
		exit(2);
	}
	for (; time(NULL) < end; runs++) {
		const struct input *seed = &seeds[random_next(&random) % n];

		input.size = seed->size;
		memcpy(input.data, seed->data, seed->size);
		mutate(&input, &random);
		keep(fd, &input);
		feed(&input);
	}
	close(fd);
	unlink(crash);
	free(input.data);
	return runs;
}

int main(int argc, char **argv)
{
	struct input seeds[256];
	double seconds = argc > 1 ? atof(argv[1]) : 0;
	uint64_t runs = 0;
	size_t n = 0;

	for (int i = 3; i < argc && n < sizeof(seeds) / sizeof(seeds[0]); i++)
		n += input_read(argv[i], &seeds[n]);
	if (n == 0) {
		fprintf(stderr, "usage: %s SECONDS CRASH-FILE SEED-FILE...\n", argv[0]);
		return 2;
	}
	for (size_t i = 0; i < n; i++)
		feed(&seeds[i]);
	if (seconds > 0)
		runs = run(seeds, n, seconds, argv[2]);
	for (size_t i = 0; i < n; i++)
		free(seeds[i].data);
	printf("%llu inputs\n", (unsigned long long)(runs + n));
	return 0;
}
