/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/shell/regex-cost.h"

#include <ctype.h>
#include <string.h>

#define DEPTH 32
#define TOO_MUCH (SHELL_REGEX_COST_MAX + 1)

static size_t limited(size_t cost)
{
	return cost < TOO_MUCH ? cost : TOO_MUCH;
}

/* Behind the bracket expression that begins at `at`; a bracket that comes first in it is one of its characters. */
static const char *skip_bracket(const char *at)
{
	at += at[1] == '^' ? 2 : 1;
	if (*at == ']')
		at++;
	while (*at && *at != ']') {
		/* [:class:], [.x.], [=x=] */
		const char *end =
			*at == '[' && at[1] && strchr(":.=", at[1]) ? strstr(at + 2, (char[]){ at[1], ']', 0 }) : NULL;

		at = end ? end + 2 : at + 1;
	}
	return *at ? at + 1 : at;
}

/* The largest number in "{2,9}", plus one; moves behind it. */
static size_t take_interval(const char **at)
{
	size_t most = 1, number = 0;

	for ((*at)++; **at && **at != '}'; (*at)++) {
		number = isdigit((unsigned char)**at) ? limited(number * 10 + (size_t)(**at - '0')) : 0;
		most = number > most ? number : most;
	}
	*at += **at == '}';
	return most + 1;
}

/* Of a repetition: by how much it multiplies what is before it, at most TOO_MUCH; 0: another character. Moves behind it. */
static size_t take_repetition(const char **at)
{
	switch (**at) {
	case '{':
		return take_interval(at);
	case '+':
		(*at)++;
		return 2;
	case '*':
	case '?':
		(*at)++;
		return 1;
	}
	return 0;
}

size_t shell_regex_cost(const char *text)
{
	size_t sums[DEPTH] = { 0 }, depth = 0, last, times;
	const char *at = text;

	while (*at) {
		last = 1;
		/* A back-reference is not of POSIX, and makes the time of a match exponential. */
		if (*at == '\\' && at[1] >= '1' && at[1] <= '9')
			return TOO_MUCH;
		if (*at == '(') {
			if (++depth == DEPTH)
				return TOO_MUCH;
			sums[depth] = 0;
			at++;
			continue;
		}
		if (*at == ')' && depth > 0)
			last = sums[depth--] + 1;
		at = *at == '[' ? skip_bracket(at) : *at == '\\' && at[1] ? at + 2 : at + 1;
		while ((times = take_repetition(&at)) > 0)
			last = limited(last * times);
		sums[depth] = limited(sums[depth] + last);
	}
	/* Groups that are not closed. */
	while (depth > 0) {
		last = sums[depth--];
		sums[depth] = limited(sums[depth] + last);
	}
	return sums[0];
}
