/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/explain/match.h"

#include <ctype.h>
#include <string.h>

#include "analyse/explain/forms.h"
#include "base/memory.h"
#include "base/number.h"

#define GRAM 4
#define SLOTS (1u << 16)
#define NAME_LEAST 10 /* characters */
/* Characters of a pattern that tell a line by themselves. */
#define LITERAL_ENOUGH 12
/* Places in a line at which a pattern is tried. */
#define TRIES 16
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* A pattern, and four bytes of it with what follows them in its literal. */
struct entry {
	const struct rd_log_form *form;
	const struct rd_log_pattern *pattern;
	struct rd_log_piece rest;
	uint32_t gram;
	uint32_t next; /* of the same slot, plus 1; 0: no more */
	uint64_t line; /* in which the bytes were found last */
	bool always;   /* it has no such bytes */
};

/* Patterns of forms and of long names of codes; then, for recognized lines only, those of the form "objects" (values that many programs
 * print alike) and the texts of errnos. */
enum { FORMS, ALSO, USES };

struct rd_log_index {
	uint32_t first[USES][SLOTS]; /* entry plus 1, by hash of the gram; 0: none */
	uint64_t line;		     /* number of lines that were matched */
	size_t n_forms, n;	     /* those of ALSO are behind the forms' */
	struct entry v[];
};

static uint32_t gram_of(const char *at)
{
	uint32_t ret;

	memcpy(&ret, at, sizeof(ret));
	return ret;
}

static uint32_t slot_of(uint32_t gram)
{
	return gram * 2654435761u >> 16;
}

/* Bytes that are rare in logs tell more than small letters; blanks may be several in a line. */
static unsigned worth(const char *at)
{
	unsigned ret = 1;

	for (size_t i = 0; i < GRAM; i++)
		if (at[i] == ' ')
			return 0;
		else
			ret += islower((unsigned char)at[i]) ? 1 : isdigit((unsigned char)at[i]) ? 2 : 4;
	return ret;
}

static unsigned chain_length(const struct rd_log_index *index, int use, uint32_t gram)
{
	unsigned n = 0;

	for (uint32_t i = index->first[use][slot_of(gram)]; i; i = index->v[i - 1].next)
		n++;
	return n;
}

/* The four bytes of the pattern that tell most, with more behind them, and fewest others have; false: none without a blank. */
static bool choose_gram(const struct rd_log_index *index, int use, struct entry *entry)
{
	const struct rd_log_pattern *pattern = entry->pattern;
	unsigned best = 0;

	for (size_t i = 0; i < pattern->n; i++)
		for (size_t at = 0; pattern->v[i].text && at + GRAM <= pattern->v[i].size; at++) {
			const char *text = pattern->v[i].text + at;
			size_t size = pattern->v[i].size - at;
			uint32_t gram = gram_of(text);
			unsigned is = (unsigned)(size < 16 ? size : 16) * worth(text) * 16 /
				      (1 + chain_length(index, use, gram));

			if (is > best) {
				best = is;
				entry->gram = gram;
				entry->rest = (struct rd_log_piece){ .text = text, .size = size };
			}
		}
	return best > 0;
}

/* A symbol, or three words: "established" and "internal error" are said of anything. */
static bool is_telling(const char *text)
{
	const char *blank = strchr(text, ' ');

	return strlen(text) >= NAME_LEAST && (blank ? strchr(blank + 1, ' ') != NULL : strchr(text, '_') != NULL);
}

/* Names and texts of codes stand for themselves, if they are long enough to be of nothing else: an unknown line that has one is explained
 * by it. Those of errnos are printed by any program. Returns USES for anything else. */
static int use_of(const struct rd_log_form *form, const struct rd_log_part *part)
{
	if (form->table && strcmp(form->table, "errno") == 0)
		return part->kind == RD_LOG_ALIAS ? ALSO : USES;
	if (form->table)
		return part->kind == RD_LOG_ALIAS && is_telling(part->v[0]) ? FORMS : USES;
	if (strcmp(form->id, "objects") == 0)
		return part->kind == RD_LOG_ALSO ? ALSO : USES;
	return part->kind == RD_LOG_MATCH ? FORMS : USES;
}

static void add_patterns(struct rd_log_index *index, int use, const struct rd_log_form *form)
{
	for (size_t i = 0; i < form->n; i++) {
		struct entry *entry = &index->v[index->n];

		if (use_of(form, &form->parts[i]) != use)
			continue;
		*entry = (struct entry){ .form = form, .pattern = &form->parts[i].pattern };
		index->n++;
		entry->always = !choose_gram(index, use, entry);
		if (entry->always)
			continue;
		entry->next = index->first[use][slot_of(entry->gram)];
		index->first[use][slot_of(entry->gram)] = (uint32_t)index->n;
	}
}

void rd_log_forms_index(struct rd_log_forms *forms)
{
	size_t parts = 0;

	free(forms->index);
	for (size_t i = 0; i < forms->n; i++)
		parts += forms->v[i].n;
	forms->index = rd_alloc(1, sizeof(*forms->index) + parts * sizeof(struct entry));
	for (int use = 0; use < USES; use++) {
		for (size_t i = 0; i < forms->n; i++)
			add_patterns(forms->index, use, &forms->v[i]);
		if (use == FORMS)
			forms->index->n_forms = forms->index->n;
	}
}

/* A blank stands for one or more. Returns what the literal takes at `at`; 0: it is not there. */
static size_t take_literal(const char *at, const struct rd_log_piece *piece)
{
	const char *begin = at;

	for (size_t i = 0; i < piece->size; i++) {
		if (piece->text[i] != ' ') {
			if (*at++ != piece->text[i])
				return 0;
		} else if (i == 0 || piece->text[i - 1] != ' ') {
			if (*at != ' ' && *at != '\t')
				return 0;
			at += strspn(at, " \t");
		}
	}
	return (size_t)(at - begin);
}

/* No literal goes beyond the newline at the end of the text. */
size_t rd_log_skip(const struct rd_log_forms *forms, const char *text, size_t size)
{
	const struct rd_log_index *index = forms->index;

	for (size_t at = 0; at + GRAM <= size; at++) {
		uint32_t gram = gram_of(text + at);

		for (uint32_t i = index->first[FORMS][slot_of(gram)]; i; i = index->v[i - 1].next)
			if (index->v[i - 1].gram == gram && take_literal(text + at, &index->v[i - 1].rest))
				return at;
	}
	return size;
}

/* The first place of a literal, or NULL. */
static const char *find_literal(const char *at, const struct rd_log_piece *piece)
{
	for (; (at = strchr(at, piece->text[0])); at++) {
		if (take_literal(at, piece))
			return at;
		/* A blank takes the others behind it, too. */
		if (*at == ' ')
			at += strspn(at, " \t") - 1;
	}
	return NULL;
}

static bool is_of(enum rd_log_class class, char c)
{
	if (class == RD_LOG_ADDRESS)
		return isxdigit((unsigned char)c) || c == ':' || c == '.';
	return isalnum((unsigned char)c) || (c && strchr(class == RD_LOG_HOST ? "_.-:%" : "_.-", c));
}

/* "12", "-12", "0x1f", with `hex` also "1f". Returns its size; 0: not a number. */
static size_t take_number(const char *at, bool hex, struct rd_log_value *ret)
{
	const char *digits = at + (*at == '-'), *end = digits;
	uint64_t value;

	if (rd_take_uint(&end, hex || strncasecmp(digits, "0x", 2) == 0 ? RD_HEX : RD_DECIMAL, UINT64_MAX, &value) < 0 ||
	    isalnum((unsigned char)*end) || *end == '_')
		return 0;
	RD_SET(ret->number, value);
	ret->text = at;
	ret->size = (size_t)(end - at);
	return ret->size;
}

void rd_log_take_number(const char *text, struct rd_log_value *ret)
{
	struct rd_log_value value;

	if (take_number(text, false, &value) == strlen(text))
		RD_COPY(ret->number, value.number);
}

/* The longest run of the class behind which `next` follows (NULL: none is required, and a full stop at the end is not part of it). */
static size_t take_word(const char *at, enum rd_log_class class, const struct rd_log_piece *next)
{
	size_t n = 0;

	while (is_of(class, at[n]))
		n++;
	if (!next)
		while (n && strchr(".:-", at[n - 1]) && !(class == RD_LOG_ADDRESS && n > 1 && at[n - 1] == ':'))
			n--;
	while (next && n && !take_literal(at + n, next))
		n--;
	return n;
}

static size_t take_field(const char *at, const struct rd_log_piece *piece, const struct rd_log_piece *next,
			 struct rd_log_value *ret)
{
	enum rd_log_class class = rd_log_fields[piece->field].class;
	const char *end;

	*ret = (struct rd_log_value){ .field = piece->field, .text = at };
	ret->table = piece->table ? piece->table : rd_log_fields[piece->field].table;
	if (class == RD_LOG_NUMBER)
		return take_number(at, piece->hex, ret);
	if (class != RD_LOG_REST)
		return ret->size = take_word(at, class, next);
	end = next ? find_literal(at, next) : at + strlen(at);
	ret->size = end ? (size_t)(end - at) : 0;
	return ret->size;
}

/* Matches the pieces from `i` on at `at`. */
static bool match_rest(const struct rd_log_pattern *pattern, size_t i, const char *at, struct rd_log_match *ret)
{
	for (; i < pattern->n; i++) {
		const struct rd_log_piece *piece = &pattern->v[i];
		const struct rd_log_piece *next = i + 1 < pattern->n && piece[1].text ? piece + 1 : NULL;
		struct rd_log_value value;
		size_t n = piece->text ? take_literal(at, piece) : take_field(at, piece, next, &value);
		/* Anything, and so nothing, too. */
		bool empty = !piece->text && !n && rd_log_fields[piece->field].class == RD_LOG_REST &&
			     (!next || find_literal(at, next));

		if (!n && !empty)
			return false;
		if (!piece->text && n && piece->field <= RD_LOG_N && ret->n < RD_LOG_VALUES)
			ret->v[ret->n++] = value;
		at += n;
	}
	return true;
}

/* Where a field that begins a pattern begins, if the literal behind it is at `at`. */
static const char *begin_of(const char *line, const char *at, const struct rd_log_piece *piece)
{
	enum rd_log_class class = rd_log_fields[piece->field].class;
	const char *begin = at;

	if (class == RD_LOG_REST)
		return line;
	while (begin > line && (class == RD_LOG_NUMBER ? isalnum((unsigned char)begin[-1]) : is_of(class, begin[-1])))
		begin--;
	return begin;
}

static bool match_pattern(const struct rd_log_pattern *pattern, const char *line, struct rd_log_match *ret)
{
	size_t first = pattern->v[0].text ? 0 : 1, kept = ret->n, tries = 0;
	const struct rd_log_piece *literal = &pattern->v[first];

	for (const char *at = line; tries++ < TRIES && (at = find_literal(at, literal)); at++) {
		if (match_rest(pattern, 0, first ? begin_of(line, at, &pattern->v[0]) : at, ret))
			return true;
		ret->n = kept;
	}
	return false;
}

/* A form before one that is general, that before any code; then the most literal text. */
static size_t worth_of(const struct entry *entry)
{
	return entry->pattern->literal + RD_LOG_LINE_MAX * (entry->form->table ? 0 : 2 - entry->form->general);
}

/* A text that a pattern with little else takes for that of an errno has to be one: "ibv_devinfo: 4 devices" has none. */
static bool has_errnos(const struct rd_log_forms *forms, const struct rd_log_pattern *pattern,
		       const struct rd_log_match *match)
{
	for (size_t i = 0; i < match->n && pattern->literal < LITERAL_ENOUGH; i++) {
		_cleanup_free_ char *text = NULL;

		if (match->v[i].field != RD_LOG_ERRNO_TEXT)
			continue;
		text = rd_dup_part(match->v[i].text, match->v[i].size);
		if (!rd_log_code_in(forms, "errno", text))
			return false;
	}
	return true;
}

/* Keeps the match that is worth most; of several that are worth as much, the one that comes first. */
static void take_better(const struct rd_log_forms *forms, const struct entry *entry, const char *line, size_t *best,
			struct rd_log_match *ret)
{
	struct rd_log_match match = { .form = entry->form };

	if (worth_of(entry) < *best || (worth_of(entry) == *best && ret->form && ret->form <= entry->form) ||
	    !match_pattern(entry->pattern, line, &match) || !has_errnos(forms, entry->pattern, &match))
		return;
	*best = worth_of(entry);
	*ret = match;
}

/* Calls take_better for each pattern of FORMS whose bytes are in the line, once; of ALSO, only notes that they are. */
static void find_grams(const struct rd_log_forms *forms, int use, const char *line, struct rd_log_match *ret)
{
	struct rd_log_index *index = forms->index;
	size_t size = strlen(line), best = 0;

	for (size_t at = 0; at + GRAM <= size; at++) {
		uint32_t gram = gram_of(line + at);

		for (uint32_t i = index->first[use][slot_of(gram)]; i; i = index->v[i - 1].next) {
			struct entry *entry = &index->v[i - 1];

			if (entry->gram != gram || entry->line == index->line || !take_literal(line + at, &entry->rest))
				continue;
			entry->line = index->line;
			if (use == FORMS)
				take_better(forms, entry, line, &best, ret);
		}
	}
}

/* The longest text of an errno counts. */
static void add_errno(const struct entry *entry, const char *line, size_t *longest, struct rd_log_match *match)
{
	struct rd_log_match found = { 0 };

	if (entry->pattern->literal <= *longest || !match_pattern(entry->pattern, line, &found))
		return;
	*longest = entry->pattern->literal;
	match->err = entry->form;
}

/* Whether one of the first `n` values has these bytes of the line, and is of another kind: an address has no port in it, and a rank is not a
 * peer, but a text has other values in it. */
static bool is_taken(const struct rd_log_match *match, size_t n, const struct rd_log_value *value)
{
	for (const struct rd_log_value *had = match->v; had < match->v + n; had++)
		if (value->text < had->text + had->size && had->text < value->text + value->size &&
		    (value->field == RD_LOG_ERRNO ||
		     (rd_log_fields[had->field].class != RD_LOG_REST &&
		      rd_log_fields[had->field].class != rd_log_fields[value->field].class)))
			return true;
	return false;
}

/* A form knows what its numbers are: of others no completion status or event is taken, and none for something else, too: "vendor err 129"
 * has no errno. Hosts and interfaces that only letters name are words of a sentence. */
static void add_objects(const struct rd_log_pattern *pattern, const char *line, struct rd_log_match *match)
{
	size_t n = match->n;

	match_pattern(pattern, line, match);
	for (size_t i = n; i < match->n && !match->form->table; i++)
		if (is_taken(match, n, &match->v[i]) || match->v[i].field == RD_LOG_STATUS ||
		    match->v[i].field == RD_LOG_EVENT || match->v[i].field == RD_LOG_STATUS_NAME ||
		    ((match->v[i].field == RD_LOG_PEER || match->v[i].field == RD_LOG_NETDEV) &&
		     strspn(match->v[i].text, LETTERS) >= match->v[i].size))
			match->n = n;
}

static void add_also(const struct rd_log_forms *forms, const char *line, struct rd_log_match *match)
{
	struct rd_log_index *index = forms->index;
	const struct rd_log_form *form = match->form;
	size_t longest = 0;

	for (size_t i = 0; i < form->n; i++)
		if (form->parts[i].kind == RD_LOG_ALSO)
			match_pattern(&form->parts[i].pattern, line, match);
	find_grams(forms, ALSO, line, match);
	for (size_t i = index->n_forms; i < index->n; i++) {
		const struct entry *entry = &index->v[i];

		if (!entry->always && entry->line != index->line)
			continue;
		if (entry->form->table)
			add_errno(entry, line, &longest, match);
		else
			add_objects(entry->pattern, line, match);
	}
	/* "DEFAULT" has no EFAULT. */
	match->err = match->err ? rd_log_code_in(forms, "errno", line) : NULL;
}

bool rd_log_match(const struct rd_log_forms *forms, const char *line, struct rd_log_match *ret)
{
	*ret = (struct rd_log_match){ 0 };
	forms->index->line++;
	find_grams(forms, FORMS, line, ret);
	if (ret->form)
		add_also(forms, line, ret);
	return ret->form != NULL;
}

/* "name:digits:digits", "name:digits :digits", and not a time. */
static size_t host_before_ids(const char *at)
{
	size_t n = take_word(at, RD_LOG_WORD, NULL), digits = at[n] == ':' ? strspn(at + n + 1, "0123456789") : 0;
	const char *rest = at + n + 1 + digits;

	if (!digits || strspn(at, "0123456789.-") >= n)
		return 0;
	rest += *rest == ' ';
	return rest[0] == ':' && isdigit((unsigned char)rest[1]) ? n : 0;
}

/* "Nov 28 10:00:00 host ", or a time of RFC 3339 and " host kernel:". */
static size_t host_of_syslog(const char *line, const char **ret)
{
	const char *at = line;

	if (isupper((unsigned char)at[0]) && isalpha((unsigned char)at[1]) && isalpha((unsigned char)at[2]) &&
	    at[3] == ' ') {
		at += 3 + strspn(at + 3, " ");
		at += strspn(at, "0123456789");
		at += strspn(at, " ");
		if (strspn(at, "0123456789:") != 8)
			return 0;
	} else if (strspn(at, "0123456789-") != 10 || at[10] != 'T') {
		return 0;
	}
	at += strcspn(at, " ");
	at += *at == ' ';
	*ret = at;
	return take_word(at, RD_LOG_WORD, &(struct rd_log_piece){ .text = " ", .size = 1 });
}

size_t rd_log_host(const char *line, const char **ret)
{
	size_t n = host_of_syslog(line, ret);

	for (const char *at = line; !n && at - line < 80 && *at; at++)
		if (at == line || strchr(" [>|", at[-1])) {
			n = host_before_ids(at);
			*ret = at;
		}
	return n;
}
