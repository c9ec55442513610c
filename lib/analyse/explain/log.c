/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads logs: finds the forms of lines, and keeps those that are recognized. */
#include "analyse/explain/log.h"

#include <ctype.h>

#include "base/siphash.h"
#include "model/host/host.h"

/* A line with details follows the one that it belongs to at once, or after lines of other processes. */
#define DETAIL_WITHIN 8
#define ERRNO_MOST 133
#define ERRNO_LAST 4095 /* as the kernel returns them in pointers */
#define EXIT_CODE strlen("exited with code")
#define GRAM 4
#define SLOTS (1u << 16)
#define NAME_LEAST 10 /* characters */
/* Characters of a pattern that tell a line by themselves. */
#define LITERAL_ENOUGH 12
/* Places in a line at which a pattern is tried. */
#define TRIES 16
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* A value in a line; not copied. */
struct value {
	enum rd_log_field field;
	const char *table; /* of codes; NULL: none */
	const char *text;
	size_t size;
	RD_FIELD(uint64_t) number;
};
#define VALUES_MAX 32

struct match {
	const struct rd_log_form *form;
	const struct rd_log_form *err; /* the errno whose name or text is in the line; NULL: none */
	struct value v[VALUES_MAX];
	size_t n;
};

/* Finds the forms of lines: all patterns at once, by four bytes of each. */

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
			unsigned is = (unsigned)(size < 16 ? size : 16) * worth(text) * 16, others = 1;

			for (uint32_t o = index->first[use][slot_of(gram)]; o; o = index->v[o - 1].next)
				others++;
			is /= others;
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

/* The first place in `text` (`size` bytes, the last one a newline) that may belong to a line of a form: its offset; `size` if there is
 * none. For skipping lines without looking at each. No literal goes beyond the newline. */
static size_t skip_lines(const struct rd_log_forms *forms, const char *text, size_t size)
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

/* "12", "-12", "0x1f", with `hex` also "1f"; "12ms" if "ms" is `next` (NULL: none). Returns its size; 0: not a number. */
static size_t take_number(const char *at, bool hex, const struct rd_log_piece *next, struct value *ret)
{
	const char *digits = at + (*at == '-'), *end = digits;
	uint64_t value;

	if (rd_take_uint(&end, hex || strncasecmp(digits, "0x", 2) == 0 ? RD_HEX : RD_DECIMAL, UINT64_MAX, &value) < 0 ||
	    ((isalnum((unsigned char)*end) || *end == '_') && !(next && take_literal(end, next))))
		return 0;
	RD_SET(ret->number, value);
	ret->text = at;
	ret->size = (size_t)(end - at);
	return ret->size;
}

/* Whether a word may end behind `n` characters: `next` follows (NULL: none is required, and a full stop at the end is not part of it). An
 * address ends with no colon, but with two. */
static bool ends_word(const char *at, size_t n, enum rd_log_class class, const struct rd_log_piece *next)
{
	bool colon = class == RD_LOG_ADDRESS && at[n - 1] == ':', two = colon && n > 1 && at[n - 2] == ':';

	if (colon && !two)
		return false;
	return next ? take_literal(at + n, next) > 0 : two || !strchr(".:-", at[n - 1]);
}

/* The longest run of the class. */
static size_t take_word(const char *at, enum rd_log_class class, const struct rd_log_piece *next)
{
	size_t n = 0;

	while (is_of(class, at[n]))
		n++;
	while (n && !ends_word(at, n, class, next))
		n--;
	return n;
}

static size_t take_field(const char *at, const struct rd_log_piece *piece, const struct rd_log_piece *next,
			 struct value *ret)
{
	enum rd_log_class class = rd_log_fields[piece->field].class;
	const char *end;

	*ret = (struct value){ .field = piece->field, .text = at };
	ret->table = piece->table ?: rd_log_fields[piece->field].table;
	if (class == RD_LOG_NUMBER)
		return take_number(at, piece->hex, next, ret);
	if (class != RD_LOG_REST)
		return ret->size = take_word(at, class, next);
	end = next ? find_literal(at, next) : at + strlen(at);
	ret->size = end ? (size_t)(end - at) : 0;
	return ret->size;
}

/* Matches the pieces from `i` on at `at`. */
static bool match_rest(const struct rd_log_pattern *pattern, size_t i, const char *at, struct match *ret)
{
	for (; i < pattern->n; i++) {
		const struct rd_log_piece *piece = &pattern->v[i];
		const struct rd_log_piece *next = i + 1 < pattern->n && piece[1].text ? piece + 1 : NULL;
		struct value value;
		size_t n = piece->text ? take_literal(at, piece) : take_field(at, piece, next, &value);
		/* Anything, and so nothing, too. */
		bool empty = !piece->text && !n && rd_log_fields[piece->field].class == RD_LOG_REST &&
			     (!next || find_literal(at, next));

		if (!n && !empty)
			return false;
		if (!piece->text && n && piece->field <= RD_LOG_N && ret->n < VALUES_MAX)
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

static bool match_pattern(const struct rd_log_pattern *pattern, const char *line, struct match *ret)
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

/* A form of steps before any other, one that is general after others, and before any code; then the most literal text. */
static size_t worth_of(const struct entry *entry)
{
	const struct rd_log_form *form = entry->form;

	return entry->pattern->literal + RD_LOG_LINE_MAX * (form->table ? 0 : 2 + form->step - form->general);
}

/* A text that a pattern with little else takes for that of an errno has to be one: "ibv_devinfo: 4 devices" has none.
 * And a call that returned 0 succeeded, as one that returned a pointer. */
static bool has_errnos(const struct rd_log_forms *forms, const struct rd_log_pattern *pattern, const char *line,
		       const struct match *match)
{
	static const char returned[] = "returned ";
	const ptrdiff_t before = sizeof(returned) - 1;

	for (size_t i = 0; i < match->n; i++) {
		const struct value *value = &match->v[i];
		_cleanup_free_ char *text = NULL;

		if (value->field == RD_LOG_ERRNO && value->text - line >= before &&
		    memcmp(value->text - before, returned, sizeof(returned) - 1) == 0 &&
		    (!value->number.v || value->number.v > ERRNO_LAST))
			return false;
		if (value->field != RD_LOG_ERRNO_TEXT || pattern->literal >= LITERAL_ENOUGH)
			continue;
		text = rd_dup_part(value->text, value->size);
		if (!rd_log_code_in(forms, "errno", text))
			return false;
	}
	return true;
}

/* "remote access error" is said of other things, too: a name of three words counts in a line that has a word of RDMA. */
static bool has_context(const struct entry *entry, const char *line)
{
	static const char *const words[] = { "cq",   "wc",    "qp",  "wr_id",  "work request", "ibv",
					     "rdma", "verbs", "mlx", "vendor", "completion",   "roce" };
	size_t blanks = 0;
	bool found;

	for (const char *at = entry->form->table ? entry->pattern->v[0].text : ""; (at = strchr(at, ' ')); at++)
		blanks++;
	found = blanks != 2;

	for (size_t i = 0; i < RD_ARRAY_SIZE(words) && !found; i++)
		found = strcasestr(line, words[i]) != NULL;
	return found;
}

/* Keeps the match that is worth most; of several that are worth as much, the one that comes first. */
static void take_better(const struct rd_log_forms *forms, const struct entry *entry, const char *line, size_t *best,
			struct match *ret)
{
	struct match match = { .form = entry->form };

	if (worth_of(entry) < *best || (worth_of(entry) == *best && ret->form && ret->form <= entry->form) ||
	    !match_pattern(entry->pattern, line, &match) || !has_errnos(forms, entry->pattern, line, &match) ||
	    !has_context(entry, line))
		return;
	*best = worth_of(entry);
	*ret = match;
}

/* Calls take_better for each pattern of FORMS whose bytes are in the line, once; of ALSO, only notes that they are. */
static void find_grams(const struct rd_log_forms *forms, int use, const char *line, struct match *ret)
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

/* Whether one of the first `n` values has these bytes of the line, and is of another kind: an address has no port in it, a rank is not a
 * peer, and the number of a peer's queue pair is none of this host, but a text has other values in it. "QP: 3 times" is a count. */
static bool is_taken(const struct match *match, size_t n, const struct value *value)
{
	enum rd_log_class class = rd_log_fields[value->field].class;

	if (strncmp(value->text + value->size, " times", 6) == 0)
		return true;
	for (const struct value *had = match->v; had < match->v + n; had++)
		if (value->text < had->text + had->size && had->text < value->text + value->size &&
		    (value->field == RD_LOG_ERRNO ||
		     (rd_log_fields[had->field].class != RD_LOG_REST && rd_log_fields[had->field].class != class) ||
		     (class == RD_LOG_NUMBER && had->field != RD_LOG_N && had->field != value->field)))
			return true;
	return false;
}

/* A form knows what its numbers are: of others no completion status or event is taken, and none for something else, too: "vendor err 129"
 * has no errno. Hosts and interfaces that only letters name are words of a sentence. */
static void add_objects(const struct rd_log_pattern *pattern, const char *line, struct match *match)
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

static void add_also(const struct rd_log_forms *forms, const char *line, struct match *match)
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
		struct match found = { 0 };

		if (!entry->always && entry->line != index->line)
			continue;
		if (!entry->form->table) {
			add_objects(entry->pattern, line, match);
		} else if (entry->pattern->literal > longest && match_pattern(entry->pattern, line, &found)) {
			/* The longest text of an errno counts. */
			longest = entry->pattern->literal;
			match->err = entry->form;
		}
	}
	/* "DEFAULT" has no EFAULT. */
	match->err = match->err ? rd_log_code_in(forms, "errno", line) : NULL;
}

/* Keeps the lines that are recognized: each form about the same objects once, with a count. */

/* Values that tell lines apart; the others are those of the first one. */
static const enum rd_log_field identity[] = { RD_LOG_IBDEV,   RD_LOG_PORT,	  RD_LOG_NETDEV, RD_LOG_PCI,
					      RD_LOG_STATUS,  RD_LOG_STATUS_NAME, RD_LOG_VENDOR, RD_LOG_ERRNO,
					      RD_LOG_ERRNAME, RD_LOG_SYNDROME,	  RD_LOG_CMD,	 RD_LOG_CMD_STATUS,
					      RD_LOG_EVENT,   RD_LOG_EVENT_N };

/* What names of devices begin with, before a digit or "_", and the table of the driver's vendor errors, if there is one and no network
 * interface has such a name. Devices may have other names. */
static const struct {
	const char *begin, *table;
} drivers[] = {
	{ "bnxt_re", "vendor-bnxt_re" },
	{ "efa", "vendor-efa" },
	{ "rdmap", "vendor-efa" },
	{ "erdma", "vendor-erdma" },
	{ "irdma", "vendor-irdma" },
	{ "hns_", "vendor-hns" },
	{ "ionic", "vendor-ionic" },
	{ "mana", "vendor-mana" },
	{ "rxe", "vendor-rxe" },
	{ "mlx5", NULL },
	{ "mlx4", NULL },
	{ "rocep", NULL },
	{ "roces", NULL },
	{ "roce", NULL },
	{ "ibp", NULL },
	{ "ibs", NULL },
	{ "siw", NULL },
	{ "hfi1", NULL },
};

/* NULL: not known. */
static const char *vendor_table(const char *ibdev)
{
	for (size_t i = 0; ibdev && i < RD_ARRAY_SIZE(drivers); i++)
		if (drivers[i].table && strncmp(ibdev, drivers[i].begin, strlen(drivers[i].begin)) == 0)
			return drivers[i].table;
	return NULL;
}

static void add_code(struct rd_log_line *line, const struct rd_log_form *code)
{
	size_t i = 0;

	while (i < RD_ARRAY_SIZE(line->codes) && line->codes[i] && line->codes[i] != code)
		i++;
	if (i < RD_ARRAY_SIZE(line->codes))
		line->codes[i] = code;
	/* The queue pair of a request that was flushed had failed before. */
	if (code->consequence && strcmp(code->table, "status") == 0)
		line->rank = RD_LOG_FOLLOWS;
}

static void look_up(const struct rd_log_forms *forms, const struct value *value, struct rd_log_line *line)
{
	const char *table = value->table;
	_cleanup_free_ char *text = rd_dup_part(value->text, value->size);
	const struct rd_log_form *code;

	/* Most lines with vendor errors are of mlx5; what is shown names the driver. */
	if (table && strcmp(table, "vendor") == 0)
		table = vendor_table(line->values[RD_LOG_IBDEV]) ?: "vendor-mlx5";
	if (!table)
		return;
	code = value->number.known == RD_OK			? rd_log_code(forms, table, value->number.v) :
	       rd_log_fields[value->field].class == RD_LOG_REST ? rd_log_code_in(forms, table, text) :
								  rd_log_code_named(forms, table, text);
	if (code)
		add_code(line, code);
	else if (value->field < RD_LOG_FIELDS && line->values[value->field] && value->number.known == RD_OK &&
		 rd_log_has_table(forms, table))
		line->not_public |= UINT64_C(1) << value->field;
}

/* "device driver", "device 3" and TCP ports are none: names of devices begin with a letter and have a digit, ports have 8 bits and begin
 * with 1. */
static bool is_possible(const struct value *value)
{
	switch (value->field) {
	case RD_LOG_IBDEV:
		for (size_t i = 0; i < value->size && isalpha((unsigned char)value->text[0]); i++)
			if (isdigit((unsigned char)value->text[i]))
				return true;
		return false;
	case RD_LOG_PCI: /* 0000:81:00.0, 81:00.0, 0000:81:00 */
		return memchr(value->text, ':', value->size) &&
		       (memchr(value->text, '.', value->size) ||
			memrchr(value->text, ':', value->size) != memchr(value->text, ':', value->size));
	case RD_LOG_GUID:
		return value->size >= 8;
	case RD_LOG_ERRNO:
		return value->number.v <= ERRNO_LAST;
	case RD_LOG_NETDEV: /* where others print it, RDMA drivers print the name of their device; "interface is down" */
		return !vendor_table(value->text) && strncmp(value->text, "is ", 3) != 0;
	case RD_LOG_PORT:
		return value->number.v && value->number.v <= UINT8_MAX;
	case RD_LOG_MTU: /* 1 to 5 are those of enum ibv_mtu */
		return value->number.v > 5;
	case RD_LOG_STATUS: /* of a connection, it is an errno */
		return value->text[0] != '-';
	case RD_LOG_QPN: /* and not a pointer */
	case RD_LOG_RQPN:
	case RD_LOG_CQN:
	case RD_LOG_SRQN:
		return value->text[0] != '-' && value->number.v <= 0xffffff;
	default:
		return true;
	}
}

/* The first value of a field stays; what codes mean depends on the device. */
static void take(const struct rd_log_forms *forms, const struct match *match, struct rd_log_line *line)
{
	for (size_t i = 0; i < match->n; i++) {
		const struct value *value = &match->v[i];

		if (value->field >= RD_LOG_FIELDS || line->values[value->field] || !is_possible(value))
			continue;
		line->values[value->field] = rd_dup_part(value->text, value->size);
		if (value->number.known == RD_OK)
			RD_SET(line->numbers[value->field], value->number.v);
	}
	for (size_t i = 0; i < match->n; i++)
		if (is_possible(&match->v[i]))
			look_up(forms, &match->v[i], line);
}

static void set_value(struct rd_log_line *line, enum rd_log_field field, const char *text, size_t size, uint64_t number)
{
	line->values[field] = rd_dup_part(text, size);
	if (rd_log_fields[field].class == RD_LOG_NUMBER)
		RD_SET(line->numbers[field], number);
}

/* "0000:81:00.0", with its domain (else it may be a time), if the line has one such address. */
static void find_pci(struct rd_log_line *line)
{
	const char *found = NULL;
	char address[2][16] = { "" };

	for (const char *at = line->text; (at = strchr(at, '.')); at++) {
		const char *begin = at;
		struct rd_pci pci;

		while (begin > line->text && (isxdigit((unsigned char)begin[-1]) || begin[-1] == ':'))
			begin--;
		begin += strspn(begin, ":");
		snprintf(address[1], sizeof(address[1]), "%.*s", (int)(at - begin) + 2, begin);
		if (!isdigit((unsigned char)at[1]) || isalnum((unsigned char)at[2]) || strcspn(address[1], ":") < 4 ||
		    rd_pci_parse(address[1], &pci) < 0)
			continue;
		if (found && strcmp(address[0], address[1]) != 0)
			return;
		found = begin;
		memcpy(address[0], address[1], sizeof(address[0]));
	}
	if (found)
		set_value(line, RD_LOG_PCI, found, strlen(address[0]), 0);
}

static bool has_code(const struct rd_log_line *line, const char *table)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(line->codes) && line->codes[i]; i++)
		if (strstr(line->codes[i]->table, table))
			return true;
	return false;
}

/* What a line has besides the values of its form: the device, its PCI address, and the errno, whose text `code` (NULL: none) may be in it. */
static void find_more(const struct rd_log_forms *forms, const struct rd_log_form *code, struct rd_log_line *line)
{
	if (!line->values[RD_LOG_IBDEV]) {
		/* A word that can only be the name of a device: "mlx5_0", "rocep33s0f1"; IPoIB interfaces have such names,
		 * too. */
		const char *netdev = line->values[RD_LOG_NETDEV];

		for (const char *at = line->text; *at && !line->values[RD_LOG_IBDEV]; at++) {
			if (at > line->text && (isalnum((unsigned char)at[-1]) || strchr("_.-/", at[-1])))
				continue;
			for (size_t i = 0; i < RD_ARRAY_SIZE(drivers) && !line->values[RD_LOG_IBDEV]; i++) {
				size_t begin = strlen(drivers[i].begin), size = begin;

				if (strncmp(at, drivers[i].begin, begin) != 0 ||
				    (!isdigit((unsigned char)at[begin]) && at[begin - 1] != '_' && at[begin] != '_') ||
				    (netdev && strncmp(at, netdev, strlen(netdev)) == 0))
					continue;
				while (isalnum((unsigned char)at[size]) || at[size] == '_')
					size++;
				if (isdigit((unsigned char)at[size - 1]) && size > begin)
					set_value(line, RD_LOG_IBDEV, at, size, 0);
			}
		}
	}
	if (!line->values[RD_LOG_PCI])
		find_pci(line);
	/* One of several values of a kind may be known. */
	for (size_t i = 0; i < RD_LOG_FIELDS; i++)
		if (rd_log_fields[i].table && has_code(line, rd_log_fields[i].table))
			line->not_public &= ~(UINT64_C(1) << i);
	if (has_code(line, "errno"))
		return;
	/* "rc = -107", "failed (-22)": a negative number in the range of errnos, by itself. With -1 most functions only say
	 * that they failed; "exitcode: -6" and "exited with code -6" are Python's words for a signal. */
	for (const char *at = line->text; (at = strchr(at, '-')) && !line->values[RD_LOG_ERRNO]; at++) {
		const char *end = at + 1, *word = at;
		uint64_t number;
		size_t before;

		while (word > line->text && strchr(" (=:[", word[-1]))
			word--;
		before = (size_t)(word - line->text) < EXIT_CODE ? (size_t)(word - line->text) : EXIT_CODE;
		if (word == at || (memmem(word - before, before, "exit", 4) && memcmp(word - 4, "code", 4) == 0) ||
		    rd_take_uint(&end, RD_DECIMAL, ERRNO_MOST, &number) < 0 || number <= 1 ||
		    (*end && !strchr(" )],;.", *end)))
			continue;
		set_value(line, RD_LOG_ERRNO, at, (size_t)(end - at), number);
	}
	if (!code && line->numbers[RD_LOG_ERRNO].known == RD_OK)
		code = rd_log_code(forms, "errno", line->numbers[RD_LOG_ERRNO].v);
	if (!code || line->form == code)
		return;
	add_code(line, code);
	if (!line->values[RD_LOG_ERRNO] && code->value.known == RD_OK) {
		_cleanup_free_ char *number = rd_text("%u", (unsigned)code->value.v);

		set_value(line, RD_LOG_ERRNO, number, strlen(number), code->value.v);
	}
}

static uint64_t hash_of(const struct rd_log_line *line)
{
	struct rd_sipkey key;
	uint64_t ret;

	rd_sipkey_of_process(&key);
	ret = rd_siphash(&key, &line->form, sizeof(line->form));
	for (size_t i = 0; i < RD_ARRAY_SIZE(identity); i++) {
		const char *value = line->values[identity[i]];

		key.k[0] ^= ret;
		ret = rd_siphash(&key, value ?: "", value ? strlen(value) + 1 : 0);
	}
	return ret;
}

static bool is_same(const struct rd_log_line *a, const struct rd_log_line *b)
{
	bool same = a->form == b->form && rd_same_text(a->host, b->host) && rd_same_text(a->file, b->file);

	for (size_t i = 0; i < RD_ARRAY_SIZE(identity) && same; i++)
		same = rd_same_text(a->values[identity[i]], b->values[identity[i]]);
	return same;
}

static void count_peer(struct rd_log_reader *reader, const struct rd_log_line *line)
{
	const char *name = line->values[RD_LOG_PEER] ?: line->values[RD_LOG_PGID];
	struct rd_log *log = reader->log;
	struct rd_log_peer *peer = NULL;

	if (!name)
		return;
	for (size_t i = 0; i < log->n_peers && !peer; i++)
		if (strcmp(log->peers[i].name, name) == 0)
			peer = &log->peers[i];
	if (!peer && log->n_peers < RD_LOG_PEERS) {
		peer = RD_ADD(log->peers, log->n_peers, log->cap_peers);
		*peer = (struct rd_log_peer){ .name = rd_dup(name) };
	}
	if (peer) {
		peer->lines++;
		peer->files |= UINT64_C(1) << (reader->files < 64 ? reader->files : 63);
	}
}

/* Takes ownership of the line's texts. */
static void add_line(struct rd_log_reader *reader, struct rd_log_line *line)
{
	struct rd_log *log = reader->log;
	uint64_t hash = hash_of(line);
	size_t probe = 0, same;

	count_peer(reader, line);
	do
		same = rd_map_next(&log->map, hash, &probe);
	while (same != RD_MAP_END && !is_same(&log->v[same], line));
	if (same != RD_MAP_END || log->n == RD_LOG_MAX) {
		++*(same != RD_MAP_END ? &log->v[same].count : &log->dropped);
		for (size_t i = 0; i < RD_LOG_FIELDS; i++)
			free(line->values[i]);
		RD_FREE(line->text, line->host);
		reader->last = 0;
		return;
	}
	rd_map_put(&log->map, hash, log->n);
	*RD_ADD(log->v, log->n, log->cap) = *line;
	reader->last = log->n;
	reader->last_number = reader->number;
}

static void read_line(struct rd_log_reader *reader, const char *text)
{
	struct rd_log_line line = { .file = reader->file, .number = reader->number, .count = 1 };
	struct match match = { 0 };
	const char *host;
	size_t size;

	reader->forms->index->line++;
	find_grams(reader->forms, FORMS, text, &match);
	if (!match.form) {
		reader->log->unknown += text[strspn(text, " \t\r")] != '\0';
		return;
	}
	add_also(reader->forms, text, &match);
	if (match.form->detail && reader->last && reader->number - reader->last_number <= DETAIL_WITHIN) {
		take(reader->forms, &match, &reader->log->v[reader->last - 1]);
		return;
	}
	line.form = match.form;
	line.text = rd_dup(text);
	size = rd_log_host(text, &host);
	line.host = size ? rd_dup_part(host, size) : NULL;
	take(reader->forms, &match, &line);
	find_more(reader->forms, match.err, &line);
	add_line(reader, &line);
}

/* Of an escape sequence that colours text ("ESC[31m"), or 0. In JSON ESC is \u001b. */
static size_t colour_size(const char *text, size_t size)
{
	size_t n = size > 7 && !memcmp(text, "\\u001b[", 7) ? 7 : 2;

	if (size < 3 || (n == 2 && (text[0] != '\033' || text[1] != '[')))
		return 0;
	while (n < size && (isdigit((unsigned char)text[n]) || text[n] == ';'))
		n++;
	return n < size && (text[n] == 'm' || text[n] == 'K') ? n + 1 : 0;
}

/* Reads a line without its newline, JSON's escapes and colours. */
static void end_line(struct rd_log_reader *reader, const char *text, size_t size)
{
	size_t kept = size < RD_LOG_LINE_MAX ? size : RD_LOG_LINE_MAX, n = 0, used;
	char line[RD_LOG_LINE_MAX + 1];

	reader->log->cut += kept < size;
	while (kept && text[kept - 1] == '\r')
		kept--;
	for (size_t i = 0; i < kept; i += used) {
		used = colour_size(text + i, kept - i);
		if (!used)
			line[n++] = rd_log_char(text + i, kept - i, &used) ?: '?';
	}
	line[n] = '\0';
	read_line(reader, line);
}

/* Whole lines; those in which no form can be are only counted. */
static void read_lines(struct rd_log_reader *reader, const char *text, size_t size)
{
	while (size > 0) {
		size_t at = skip_lines(reader->forms, text, size), skipped = 0;
		const char *begin = memrchr(text, '\n', at), *end;

		begin = at == size ? text + size : begin ? begin + 1 : text;
		for (const char *c = text; c < begin; c++)
			skipped += *c == '\n';
		reader->number += skipped;
		reader->log->unknown += skipped;
		if (at == size)
			return;
		reader->number++;
		end = memchr(text + at, '\n', size - at);
		end_line(reader, begin, (size_t)(end - begin));
		size -= (size_t)(end + 1 - text);
		text = end + 1;
	}
}

void rd_log_begin(struct rd_log_reader *reader, const char *file)
{
	reader->files += reader->file && file;
	reader->file = file;
	reader->number = 0;
	reader->last = 0;
}

static void keep_part(struct rd_log_reader *reader, const char *text, size_t size)
{
	size_t room = reader->part.len < RD_LOG_LINE_MAX + 1 ? RD_LOG_LINE_MAX + 1 - reader->part.len : 0;

	rd_buf_add(&reader->part, text, size < room ? size : room);
}

/* The last line of a file may have no newline. */
static void end_part(struct rd_log_reader *reader)
{
	if (reader->part.len) {
		reader->number++;
		end_line(reader, reader->part.data, reader->part.len);
	}
	rd_buf_deinit(&reader->part);
}

void rd_log_feed(struct rd_log_reader *reader, const char *text, size_t size)
{
	const char *first = memchr(text, '\n', size), *last = memrchr(text, '\n', size);

	if (!first) {
		keep_part(reader, text, size);
		return;
	}
	if (reader->part.len) {
		keep_part(reader, text, (size_t)(first - text));
		end_part(reader);
		size -= (size_t)(first + 1 - text);
		text = first + 1;
	}
	if (last >= text)
		read_lines(reader, text, (size_t)(last + 1 - text));
	keep_part(reader, last + 1, size - (size_t)(last + 1 - text));
}

void rd_log_end(struct rd_log_reader *reader)
{
	end_part(reader);
	reader->log->lines += reader->number;
}

static int compare_lines(const void *a, const void *b)
{
	const struct rd_log_line *x = a, *y = b;

	return RD_CMP(x->rank, y->rank) ?: RD_CMP(x->order, y->order);
}

static int compare_peers(const void *a, const void *b)
{
	const struct rd_log_peer *x = a, *y = b;

	return __builtin_popcountll(y->files) - __builtin_popcountll(x->files) ?: RD_CMP(y->lines, x->lines);
}

/* The field with this name in patterns or documents; RD_LOG_FIELDS: none. */
static enum rd_log_field find_field(const char *name, size_t size)
{
	enum rd_log_field i = 0;

	while (i < RD_LOG_FIELDS &&
	       !(strncmp(rd_log_fields[i].name, name, size) == 0 && !rd_log_fields[i].name[size]) &&
	       !(strncmp(rd_log_fields[i].key, name, size) == 0 && !rd_log_fields[i].key[size]))
		i++;
	return i;
}

bool rd_log_add_word(struct rd_log_reader *reader, const char *word)
{
	const char *is = strchr(word, '=');
	struct rd_log_line line = { .count = 1 };
	struct value value = { .field = RD_LOG_FIELDS }, number = { 0 };

	if (is) {
		value.field = find_field(word, (size_t)(is - word));
		if (value.field == RD_LOG_FIELDS || !rd_log_fields[value.field].table)
			return false;
		value.table = rd_log_fields[value.field].table;
		value.text = is + 1;
		value.size = strlen(is + 1);
		if (take_number(is + 1, false, NULL, &number) == value.size)
			RD_COPY(value.number, number.number);
		look_up(reader->forms, &value, &line);
		line.form = line.codes[0];
		line.codes[0] = NULL;
	} else {
		line.form = rd_log_form_named(reader->forms, word);
	}
	if (!line.form)
		return false;
	line.text = rd_dup(word);
	*RD_ADD(reader->log->v, reader->log->n, reader->log->cap) = line;
	return true;
}

char *rd_log_fill(const struct rd_log_line *line, const char *text)
{
	_cleanup_buf_ struct rd_buf buf = { 0 };

	for (const char *open; (open = strchr(text, '{'));) {
		size_t size = strcspn(open + 1, "}");
		enum rd_log_field field = find_field(open + 1, size);

		rd_buf_add(&buf, text, (size_t)(open - text));
		if (field == RD_LOG_FIELDS || !open[1 + size] || !line->values[field])
			return NULL;
		if (field == RD_LOG_QPN || field == RD_LOG_RQPN)
			rd_buf_uint(&buf, line->numbers[field].v);
		else
			rd_buf_str(&buf, line->values[field]);
		text = open + size + 2;
	}
	rd_buf_str(&buf, text);
	return RD_TAKE(buf.data);
}

void rd_log_sort(struct rd_log *log)
{
	for (size_t i = 0; i < log->n; i++) {
		struct rd_log_line *line = &log->v[i];

		line->rank = line->form->consequence						 ? RD_LOG_FOLLOWS :
			     line->rank == RD_LOG_FAILURE && line->form->severity == RD_SEV_NOTE ? RD_LOG_NOTE :
												   line->rank;
		line->order = i;
	}
	rd_sort(log->v, log->n, sizeof(*log->v), compare_lines);
	rd_sort(log->peers, log->n_peers, sizeof(*log->peers), compare_peers);
}
