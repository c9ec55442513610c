/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/shell/line.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "cmd/shell/regex-cost.h"

static const char *const filter_names[] = {
	[SHELL_INCLUDE] = "include",
	[SHELL_EXCLUDE] = "exclude",
	[SHELL_COUNT] = "count",
};

enum token {
	TOKEN_WORD,
	TOKEN_PIPE,
	TOKEN_FILE,
	TOKEN_APPEND,
	TOKEN_END,
	TOKEN_OPEN, /* a word whose quote is not closed */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Reads a word up to a blank or operator. Returns false if a quote is open at the end. */
static bool read_word(const char **at, struct rd_buf *word)
{
	char quote = '\0';

	for (; **at && (quote || (!is_blank(**at) && **at != '|' && **at != '>')); (*at)++) {
		if (quote ? **at == quote : **at == '\'' || **at == '"') {
			quote = quote ? '\0' : **at;
			continue;
		}
		if (**at == '\\' && quote != '\'' && (*at)[1])
			(*at)++;
		rd_buf_add(word, *at, 1);
	}
	return quote == '\0';
}

static enum token next_token(const char **at, struct rd_buf *word)
{
	word->len = 0;
	rd_buf_str(word, "");
	while (is_blank(**at))
		(*at)++;
	switch (**at) {
	case '\0':
	case '#':
		return TOKEN_END;
	case '|':
		(*at)++;
		return TOKEN_PIPE;
	case '>':
		(*at)++;
		if (**at != '>')
			return TOKEN_FILE;
		(*at)++;
		return TOKEN_APPEND;
	}
	return read_word(at, word) ? TOKEN_WORD : TOKEN_OPEN;
}

static void add_word(struct shell_line *line, const char *text)
{
	rd_reserve(&line->words, &line->cap, line->n + 2, sizeof(*line->words));
	line->words[line->n++] = rd_dup(text);
	line->words[line->n] = NULL;
}

void shell_line_deinit(struct shell_line *line)
{
	for (size_t i = 0; i < line->n; i++)
		free(line->words[i]);
	for (size_t i = 0; i < line->n_filters; i++)
		if (line->filters[i].kind != SHELL_COUNT)
			regfree(&line->filters[i].regex);
	free(line->words);
	free(line->filters);
	free(line->file);
	*line = (struct shell_line){ 0 };
}

static int set_regex(struct shell_filter *filter, const char *text, struct rd_err *err)
{
	char why[128];
	int r;

	if (shell_regex_cost(text) > SHELL_REGEX_COST_MAX)
		return rd_err_set(err, EINVAL, filter_names[filter->kind],
				  "the expression has too many repetitions of repetitions, or a back-reference");
	r = regcomp(&filter->regex, text, REG_EXTENDED | REG_NOSUB);

	if (!r)
		return 0;
	regerror(r, &filter->regex, why, sizeof(why));
	return rd_err_set(err, EINVAL, filter_names[filter->kind], "'%s' is not a regular expression: %s", text, why);
}

/* After '|': a name, which may be shortened, and for most of them an expression. */
static int add_filter(struct shell_line *line, const char **at, struct rd_buf *word, struct rd_err *err)
{
	struct shell_filter filter = { 0 };
	size_t kind = 0;
	int r;

	if (next_token(at, word) != TOKEN_WORD)
		return rd_err_set(err, EINVAL, "|", "include RE, exclude RE or count is expected");
	while (kind < RD_ARRAY_SIZE(filter_names) && strncmp(word->data, filter_names[kind], word->len) != 0)
		kind++;
	if (kind == RD_ARRAY_SIZE(filter_names) || word->len == 0) {
		rd_err_set(err, EINVAL, word->data, "unknown filter: include RE, exclude RE or count is expected");
		rd_err_hint(err, "leave the shell, and use the pipes of yours: rdmadiag COMMAND | %s", word->data);
		return -EINVAL;
	}
	filter.kind = (enum shell_filter_kind)kind;
	if (filter.kind != SHELL_COUNT) {
		if (next_token(at, word) != TOKEN_WORD)
			return rd_err_set(err, EINVAL, filter_names[kind], "a regular expression is expected");
		r = set_regex(&filter, word->data, err);
		if (r < 0)
			return r;
	}
	*RD_ADD(line->filters, line->n_filters, line->cap_filters) = filter;
	return 0;
}

static int add_file(struct shell_line *line, const char **at, struct rd_buf *word, bool append, struct rd_err *err)
{
	if (line->file)
		return rd_err_set(err, EINVAL, ">", "two files are given for the output");
	if (next_token(at, word) != TOKEN_WORD || word->len == 0)
		return rd_err_set(err, EINVAL, ">", "a file is expected");
	line->file = rd_dup(word->data);
	line->append = append;
	return 0;
}

/* A word after a filter or a file belongs to nothing. */
static int take_token(struct shell_line *line, enum token token, const char **at, struct rd_buf *word,
		      struct rd_err *err)
{
	if (token == TOKEN_OPEN)
		return rd_err_set(err, EINVAL, "quote", "it is not closed");
	if (token != TOKEN_WORD && line->n == 0)
		return rd_err_set(err, EINVAL, token == TOKEN_PIPE ? "|" : ">", "there is no command before it");
	if (token == TOKEN_PIPE && line->file)
		return rd_err_set(err, EINVAL, "|", "filters come before the file");
	if (token == TOKEN_PIPE)
		return add_filter(line, at, word, err);
	if (token != TOKEN_WORD)
		return add_file(line, at, word, token == TOKEN_APPEND, err);
	if (line->n_filters > 0 || line->file)
		return rd_err_set(err, EINVAL, word->data, "unexpected word after a filter or a file");
	add_word(line, word->data);
	return 0;
}

int shell_line_parse(const char *text, struct shell_line *ret, struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf word = { 0 };
	enum token token;
	int r = 0;

	*ret = (struct shell_line){ 0 };
	while (!r && (token = next_token(&text, &word)) != TOKEN_END)
		r = take_token(ret, token, &text, &word, err);
	if (r < 0)
		shell_line_deinit(ret);
	return r;
}

void shell_line_typed(const char *text, struct shell_line *ret, bool *ret_command)
{
	_cleanup_buf_ struct rd_buf word = { 0 };
	bool blank = !*text || is_blank(text[strlen(text) - 1]), open = false;
	enum token token;

	*ret = (struct shell_line){ 0 };
	*ret_command = true;
	while ((token = next_token(&text, &word)) != TOKEN_END) {
		open = token == TOKEN_OPEN;
		if (token == TOKEN_WORD || token == TOKEN_OPEN)
			add_word(ret, word.data);
		else
			*ret_command = false;
	}
	if (*text == '#')
		*ret_command = false;
	if (blank && !open)
		add_word(ret, "");
}
