/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pseudonyms of networks in recordings that are joined. */
#include "unit.h"

#include "source/redact/redact.h"

/* The first two bytes of a pseudonym that a recording with only this network would have. */
static unsigned alone(uint8_t first, uint8_t second)
{
	_cleanup_(rd_redact_deinit) struct rd_redact redact = { .key = { { 1, 2 } } };
	uint8_t ip[4] = { first, second, 3, 4 };

	rd_redact_ip4(&redact, ip);
	return (unsigned)ip[0] << 8 | ip[1];
}

/* Private networks never share a pseudonym, in whatever recordings they are. Of public ones there are too many: these are
 * recognized by the manifest. */
TEST(pseudonyms_of_private_networks_are_their_own)
{
	static const uint8_t firsts[] = { 10, 172, 192, 100 };
	_cleanup_free_ uint8_t *seen = calloc(1, 65536);
	unsigned shared = 0;

	for (unsigned i = 0; i < 4 * 256; i++) {
		unsigned at = alone(firsts[i / 256], (uint8_t)i);

		assert_true(at < RD_REDACT_PUBLIC << 8);
		assert_false(seen[at]++);
	}
	for (unsigned i = 0; i < 4096; i++) {
		unsigned at = alone((uint8_t)(11 + i / 256), (uint8_t)i);

		assert_true(at >= RD_REDACT_PUBLIC << 8);
		shared += seen[at]++;
	}
	assert_true(shared > 0);
}
