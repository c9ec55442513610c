/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "invariants.h"

#include <ctype.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool has_word(const struct answer *answer, const char *word)
{
	for (char *const *arg = answer->argv; *arg; arg++)
		if (strcmp(*arg, word) == 0)
			return true;
	return false;
}

/* Nothing that a terminal obeys or hides; text in UTF-8. */
static const char *bad_text(const struct rd_buf *text)
{
	for (size_t at = 0; at < text->len;) {
		uint32_t c = 0;
		size_t n = rd_utf8_next(text->data + at, text->len - at, &c);

		if (n == 0)
			return "what is printed is not UTF-8";
		if (c != '\n' && c != '\t' && rd_unsafe(c))
			return "what is printed has a character that steers a terminal";
		at += n;
	}
	return NULL;
}

static bool all_finite(struct json_object *value)
{
	struct json_object_iter it;

	switch (json_object_get_type(value)) {
	case json_type_double:
		return isfinite(json_object_get_double(value));
	case json_type_array:
		for (size_t i = 0; i < json_object_array_length(value); i++)
			if (!all_finite(json_object_array_get_idx(value, i)))
				return false;
		return true;
	case json_type_object:
		json_object_object_foreachC(value, it) if (!all_finite(it.val)) return false;
		return true;
	default:
		return true;
	}
}

/* How many findings of the document are of this severity. */
static size_t findings_of(struct json_object *document, const char *severity)
{
	struct json_object *findings, *value;
	size_t n = 0;

	if (!json_object_object_get_ex(document, "findings", &findings))
		return 0;
	for (size_t i = 0; i < json_object_array_length(findings); i++)
		n += json_object_object_get_ex(json_object_array_get_idx(findings, i), "severity", &value) &&
		     strcmp(json_object_get_string(value), severity) == 0;
	return n;
}

/* What rules found and the exit code are one verdict. */
static const char *bad_verdict(const struct answer *answer, struct json_object *document)
{
	size_t critical = findings_of(document, "critical"), warning = findings_of(document, "warning");

	if (has_word(answer, "--observe") || (!has_word(answer, "check") && !has_word(answer, "topo-check")))
		return NULL;
	if ((critical > 0) != (answer->status == 2))
		return "exit 2 and critical findings do not go together";
	if (warning > 0 && answer->status == 0)
		return "exit 0 with a warning";
	if (warning == 0 && answer->status == 1)
		return "exit 1 without a warning";
	if (has_word(answer, "--only") && findings_of(document, "unknown") > 0 && answer->status == 0)
		return "exit 0 though a rule that was asked for could not tell";
	return NULL;
}

static const char *bad_document(const struct answer *answer, struct json_object *document, bool last)
{
	static const char *const keys[] = { "schema", "version", "host", "time", "source" };
	static const char *const ends[] = { "findings", "errors", "status" };
	struct json_object *value;

	if (json_object_get_type(document) != json_type_object)
		return "the document is no object";
	if (!all_finite(document))
		return "a number of the document is not finite";
	for (size_t i = 0; i < RD_ARRAY_SIZE(keys); i++)
		if (!json_object_object_get_ex(document, keys[i], &value))
			return "the document lacks one of its first keys";
	if (!last)
		return NULL;
	for (size_t i = 0; i < RD_ARRAY_SIZE(ends); i++)
		if (!json_object_object_get_ex(document, ends[i], &value))
			return "the document lacks one of its last keys";
	if (json_object_get_int(value) != answer->status)
		return "status in the document is not the exit code";
	json_object_object_get_ex(document, "errors", &value);
	if (answer->status == 3 && !json_object_array_length(value) && !findings_of(document, "unknown"))
		return "exit 3, and the document has no reason";
	return bad_verdict(answer, document);
}

/* One document, or a line each. */
static const char *bad_json(const struct answer *answer)
{
	struct json_tokener *tokener = json_tokener_new_ex(64);
	const char *bad = NULL, *line = answer->out.data;

	json_tokener_set_flags(tokener,
			       JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS | JSON_TOKENER_VALIDATE_UTF8);
	while (!bad && line && *line) {
		size_t left = strlen(line);
		struct json_object *document = json_tokener_parse_ex(tokener, line, (int)left + 1);

		if (json_tokener_get_error(tokener) != json_tokener_success) {
			bad = "this is no JSON";
			break;
		}
		line += json_tokener_get_parse_end(tokener);
		line += strspn(line, "\n");
		bad = bad_document(answer, document, !*line);
		json_object_put(document);
		json_tokener_reset(tokener);
	}
	json_tokener_free(tokener);
	return bad;
}

static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) && value ? json_object_get_string(value) : "";
}

char *alarms_of(const struct answer *answer)
{
	struct json_object *document = answer->out.len ? json_tokener_parse(answer->out.data) : NULL, *findings;
	struct rd_buf out = { 0 };

	if (!document || !json_object_object_get_ex(document, "findings", &findings)) {
		json_object_put(document);
		return NULL;
	}
	rd_buf_str(&out, "\n");
	for (size_t i = 0; i < json_object_array_length(findings); i++) {
		struct json_object *finding = json_object_array_get_idx(findings, i);
		const char *severity = text_of(finding, "severity");

		if (strcmp(severity, "warning") == 0 || strcmp(severity, "critical") == 0)
			rd_buf_printf(&out, "%s %s\n", text_of(finding, "id"), text_of(finding, "subject"));
	}
	json_object_put(document);
	return out.data;
}

const char *new_alarm(const char *known, const char *found)
{
	for (const char *at = found; at[1]; at += 1 + strcspn(at + 1, "\n")) {
		_cleanup_free_ char *line = strndup(at, strcspn(at + 1, "\n") + 2);

		if (line && !strstr(known, line))
			return at + 1;
	}
	return NULL;
}

/* {NAME="VALUE",...}; where it ends, NULL: it does not. */
static const char *labels_end(const char *at)
{
	while (*at && *at != '}') {
		at += strspn(at, "{,");
		at += strspn(at, "abcdefghijklmnopqrstuvwxyz_");
		if (strncmp(at, "=\"", 2) != 0)
			return NULL;
		for (at += 2; *at && *at != '"' && *at != '\n'; at++)
			if (*at == '\\' && at[1])
				at++;
		if (*at++ != '"')
			return NULL;
	}
	return *at ? at + 1 : NULL;
}

static const char *bad_metrics(const char *at)
{
	const char *end = strstr(at, "# EOF\n");

	if (!end || end[6])
		return "the page of metrics has no end";
	while (at < end) {
		const char *value = at + strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
		char *rest;

		if (*at == '#') {
			at = strchr(at, '\n') + 1;
			continue;
		}
		value = *value == '{' ? labels_end(value) : value;
		if (!value || *value != ' ' || !isfinite(strtod(value + 1, &rest)) || rest == value + 1 || *rest != '\n')
			return "a line of the page of metrics is none";
		at = rest + 1;
	}
	return NULL;
}

/* Lines for a shell: export NAME='…' and comments. */
static const char *bad_exports(const char *at)
{
	while (*at) {
		if (*at == '#') {
			at += strcspn(at, "\n");
		} else {
			if (strncmp(at, "export ", 7) != 0)
				return "a line for the shell is none";
			at += 7;
			at += strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
			if (*at++ != '=')
				return "a variable for the shell has a bad name";
			while (*at == '\'' || strncmp(at, "\\'", 2) == 0) {
				const char *quote = *at == '\'' ? strchr(at + 1, '\'') : at + 1;

				if (!quote)
					return "a value for the shell does not end";
				at = quote + 1;
			}
		}
		if (*at++ != '\n')
			return "a value for the shell goes on behind its quotes";
	}
	return NULL;
}

/* The line that monitoring reads. */
static const char *bad_line(const struct answer *answer)
{
	static const char *const words[] = { "RDMA OK - ", "RDMA WARNING - ", "RDMA CRITICAL - ", "RDMA UNKNOWN - " };
	const char *line = answer->out.data, *bar = strchr(line, '|'), *unknown = bar ? strstr(bar, " unknown=") : NULL;
	char told[32];

	if (has_word(answer, "--observe"))
		return NULL;
	if (strncmp(line, words[answer->status], strlen(words[answer->status])) != 0)
		return "the line of check does not say what the exit code says";
	if (!bar)
		return answer->status == 3 ? NULL : "the line of check has no performance data";
	if (!unknown || strcspn(line, "\n") < (size_t)(unknown - line))
		return "the line of check does not count what is unknown";
	snprintf(told, sizeof(told), ", %lu unknown", strtoul(unknown + 9, NULL, 10));
	if (answer->status == 0 && strncmp(unknown, " unknown=0;", 11) != 0 && !strstr(line, told))
		return "the line of check passes and does not tell that something is unknown";
	return NULL;
}

const char *broken(const struct answer *answer)
{
	const char *bad = bad_text(&answer->out);

	if (!bad)
		bad = bad_text(&answer->err);
	if (bad)
		return bad;
	if (answer->status < 0 || answer->status > 3)
		return "the exit code is none";
	/* Without headings findings are left out, and rows may be none. */
	if (answer->status == 3 && !answer->err.len && !answer->out.len && !has_word(answer, "--noheadings"))
		return "exit 3 without a word";
	if (!answer->out.len)
		return NULL;
	if (has_word(answer, "--json"))
		return bad_json(answer);
	if (has_word(answer, "--openmetrics"))
		return bad_metrics(answer->out.data);
	if (has_word(answer, "--env"))
		return bad_exports(answer->out.data);
	return has_word(answer, "check") && !has_word(answer, "-i") ? bad_line(answer) : NULL;
}
