/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/shared/meaning.h"

#include <fnmatch.h>

#define LINES_MAX 20000
#define BLANKS " \t"

void rd_meanings_deinit(struct rd_meanings *meanings)
{
	rd_texts_deinit(&meanings->texts);
	free(meanings->v);
	*meanings = (struct rd_meanings){ 0 };
}

static bool parse_overflow(const char *word, struct rd_meaning *ret)
{
	static const struct {
		const char *word;
		enum rd_overflow overflow;
		unsigned bits;
	} words[] = { { "64-bit", RD_64BIT, 64 },
		      { "gauge", RD_GAUGE, 0 },
		      { "saturates:", RD_SATURATES, 0 },
		      { "wraps:", RD_WRAPS, 0 } };

	for (size_t i = 0; i < RD_ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i].word);
		bool with_bits = words[i].word[n - 1] == ':';

		if (with_bits ? strncmp(word, words[i].word, n) != 0 : strcmp(word, words[i].word) != 0)
			continue;
		ret->overflow = words[i].overflow;
		ret->bits = words[i].bits;
		return !with_bits || (rd_parse_u32(word + n, RD_DECIMAL, 64, &ret->bits) == 0 && ret->bits >= 1);
	}
	return strcmp(word, "-") == 0;
}

static bool parse_role(const char *word, enum rd_counter_role *ret)
{
	for (int role = RD_ROLE_LOAD; role <= RD_ROLE_SIGN; role++)
		if (strcmp(word, rd_counter_role_name(role)) == 0) {
			*ret = role;
			return true;
		}
	return strcmp(word, "-") == 0;
}

/* `word`: the text after the colon of a role; unchanged on return. */
static bool parse_topic(char *word, struct rd_meaning *ret)
{
	char *parts = strchr(word, '/');
	bool known;

	ret->parts = parts ? 2 : 1;
	if (strcmp(word, "-") == 0)
		return true;
	if (parts && strcmp(parts, "/2") != 0)
		return false;
	if (parts)
		*parts = '\0';
	known = rd_topic_parse(word, &ret->topic);
	if (parts)
		*parts = '/';
	if (!known || (parts && ret->role != RD_ROLE_LOAD))
		return false;
	/* Whether the topic is about traffic of a port. */
	return (ret->topic >= RD_TOPIC_DATA_SENT) == (ret->role == RD_ROLE_LOAD);
}

/* `topic`: the invalid topic, pointing into the line, if that is the error; else NULL. */
static bool parse_line(char *line, struct rd_meaning *ret, const char **topic)
{
	char *words[6] = { 0 }, *role, *sum, *word;
	bool whole = rd_words(&line, words, RD_ARRAY_SIZE(words)) == RD_ARRAY_SIZE(words);
	char *to;

	*ret = (struct rd_meaning){ .name = words[0], .driver = words[1], .unit = words[2] };
	*topic = NULL;
	if (!whole)
		return false;
	role = words[4];
	sum = words[5];
	word = strchr(role, ':');
	if (word)
		*word++ = '\0';
	if (!parse_overflow(words[3], ret) || !parse_role(role, &ret->role) ||
	    (strcmp(sum, "sum") != 0 && strcmp(sum, "-") != 0))
		return false;
	if (word && !parse_topic(word, ret))
		*topic = word;
	ret->summable = *sum == 's';
	line = rd_trim(line);
	/* Reduces runs of blanks, left by joined lines, to one. */
	to = line;
	for (const char *from = line; *from; from++)
		if (!strchr(BLANKS, *from) || !from[1] || !strchr(BLANKS, from[1]))
			*to++ = *from;
	*to = '\0';
	ret->text = line;
	return *line && !*topic;
}

/* Adds a line; an invalid one is ignored, and noted with its beginning. */
static void add_line(struct rd_meanings *meanings, const char *name, char *line, struct rd_errlist *notes)
{
	_cleanup_free_ char *start = rd_dup_part(line, 39);
	struct rd_err note = { 0 };
	struct rd_meaning meaning;
	const char *topic, *role;

	if (parse_line(line, &meaning, &topic)) {
		*RD_ADD(meanings->v, meanings->n, meanings->cap) = meaning;
		return;
	}
	role = rd_counter_role_name(meaning.role);
	if (topic)
		rd_err_set(&note, EINVAL, name, "'%s': invalid topic '%s' for role %s", start, topic, role ?: "-");
	else
		rd_err_set(&note, EINVAL, name,
			   "'%s': invalid line: expected NAME DRIVER UNIT OVERFLOW ROLE[:TOPIC] SUM MEANING", start);
	rd_errlist_add(notes, &note);
}

int rd_meanings_parse(const char *name, const char *text, size_t size, struct rd_meanings *ret,
		      struct rd_errlist *notes, struct rd_err *err)
{
	struct rd_lines lines;
	char *line;
	int r = rd_lines_init_table(&lines, &ret->texts, "counters", name, text, size, err);

	lines.continued = true;
	while (!r && (line = rd_lines_next(&lines))) {
		add_line(ret, name, line, notes);
		if (ret->n > LINES_MAX)
			r = rd_err_set(err, EFBIG, name, "too many lines");
	}
	return r;
}

static bool matches_counter(const struct rd_meaning *meaning, const char *name, const char *driver)
{
	/* Few patterns start with a wildcard: comparing the first letter avoids most calls of fnmatch. */
	if (meaning->name[0] != name[0] && !strchr("*?[", meaning->name[0]))
		return false;
	return fnmatch(meaning->name, name, 0) == 0 && (!driver || fnmatch(meaning->driver, driver, 0) == 0);
}

const struct rd_meaning *rd_meaning_find(const struct rd_meanings *meanings, const char *name, const char *driver)
{
	for (size_t i = 0; i < meanings->n; i++)
		if (matches_counter(&meanings->v[i], name, driver))
			return &meanings->v[i];
	return NULL;
}

/* The first matching line with a topic field; NULL: none, or its topic is "-". */
static const struct rd_meaning *find_topic(const struct rd_meanings *meanings, const char *name, const char *driver)
{
	for (size_t i = 0; i < meanings->n; i++)
		if (meanings->v[i].parts && matches_counter(&meanings->v[i], name, driver))
			return meanings->v[i].topic ? &meanings->v[i] : NULL;
	return NULL;
}

void rd_meanings_apply(const struct rd_meanings *meanings, struct rd_counter_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		struct rd_counter *counter = &set->counters[i];
		const char *driver = counter->group == RD_GROUP_NETDEV ? "netdev" : set->ports[counter->port].driver;

		counter->meaning = rd_meaning_find(meanings, counter->name, driver);
		counter->about = find_topic(meanings, counter->name, counter->meaning ? driver : NULL);
		counter->overflow = RD_OVERFLOW_UNKNOWN;
		counter->bits = 0;
		if (counter->meaning) {
			counter->overflow = counter->meaning->overflow;
			counter->bits = counter->meaning->bits;
		} else if (counter->group == RD_GROUP_STANDARD || counter->group == RD_GROUP_NETDEV) {
			counter->overflow = RD_64BIT; /* defined by the kernel's interface */
			counter->bits = 64;
		}
	}
}

bool rd_counts_requests(const char *name)
{
	static const char *const names[] = { "packet_seq_err", "rcvd_seq_err",	     "requester_oos_nak",
					     "SeqNak",	       "seq_err_naks_rcvd",  "seq_naks",
					     "sq_num_oos",     "req_rx_pkt_seq_err", "Nak Sequence Error" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(names); i++)
		if (fnmatch(name, names[i], 0) == 0)
			return true;
	return false;
}
