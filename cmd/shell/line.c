/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/shell/line.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"

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
	free(line->words);
	free(line->program);
	free(line->file);
	*line = (struct shell_line){ 0 };
}

/* After '|': all of it is for sh. */
static int take_program(struct shell_line *line, const char **at, struct rd_err *err)
{
	while (is_blank(**at))
		(*at)++;
	if (!**at)
		return rd_err_set(err, EINVAL, "|", "a command of sh is expected");
	line->program = rd_dup(*at);
	*at += strlen(*at);
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

/* A word after a file belongs to nothing. */
static int take_token(struct shell_line *line, enum token token, const char **at, struct rd_buf *word,
		      struct rd_err *err)
{
	if (token == TOKEN_OPEN)
		return rd_err_set(err, EINVAL, "quote", "it is not closed");
	if (token != TOKEN_WORD && line->n == 0)
		return rd_err_set(err, EINVAL, token == TOKEN_PIPE ? "|" : ">", "there is no command before it");
	if (token == TOKEN_PIPE && line->file)
		return rd_err_set(err, EINVAL, "|", "the output goes to a file already");
	if (token == TOKEN_PIPE)
		return take_program(line, at, err);
	if (token != TOKEN_WORD)
		return add_file(line, at, word, token == TOKEN_APPEND, err);
	if (line->file)
		return rd_err_set(err, EINVAL, word->data, "unexpected word after a file");
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
