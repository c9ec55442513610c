/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/select/sel.h"

#define MAX_WORDS 32

struct words {
	const char *v[MAX_WORDS];
	size_t len[MAX_WORDS];
	size_t n;
};

static const char *const data_path[] = {
	"post send", "post recv", "post receive", "post srq",  "post sq", "post rq", "post wr",
	"post wrs",  "poll cq",	  "req notify",	  "notify cq", "arm cq",  NULL,
};

static const char *const diagnostic[] = {
	"trace", "sct",	 "traceiter", "probestub", "tracepoint", "dbg",	  "debug",   "debugfs",	 "printk",
	"print", "warn", "dump",      "show",	   "store",	 "sysfs", "devlink", "selftest", NULL,
};

static const char *const refcount[] = {
	"put", "ref", "unref", "kref", "refcount", "hold", "restrack get", "try get", NULL,
};

static const char *const query[] = {
	"query",	 "queries",	 "fill res",	    "hw stats",	   "hw stat", "counters read",
	"read counters", "info handles", "check mr status", "get strings", NULL,
};

static const char *const cleanup[] = {
	"destroy", "dealloc",  "free",	   "freeing",  "dereg",	 "deregister", "unregister", "unreg",	     "release",
	"cleanup", "clean",    "remove",   "rem",      "delete", "del",	       "detach",     "disassociate", "deinit",
	"uninit",  "exit",     "teardown", "unbind",   "unmap",	 "unpin",      "unlink",     "disable",	     "stop",
	"flush",   "abort",    "drain",	   "drop",     "cancel", "close",      "shutdown",   "fini",	     "clear",
	"undo",	   "rollback", "unwind",   "destruct", "erase",	 "leave",      "deactivate", "revoke",	     "discard",
	"purge",   "reclaim",  "kill",	   "dec",      "unlock", "uninstall",  "unset",	     NULL,
};

/* Not verbs: members that describe the device to the core, or process MADs. */
static const char *const describing[] = {
	"get", "fill", "process mad", "report", "rdma netdev", "port immutable", NULL,
};

static const char *const changing[] = {
	"alloc",     "create",	"reg",	   "register", "rereg",	  "modify", "attach", "add",	  "set",
	"init",	     "insert",	"find",	   "get",      "map",	  "mmap",   "advise", "connect",  "accept",
	"listen",    "resolve", "join",	   "bind",     "migrate", "check",  "chk",    "validate", "verify",
	"lookup",    "prepare", "setup",   "start",    "begin",	  "open",   "enable", "build",	  "config",
	"configure", "update",	"change",  "copy",     "resize",  "pin",    "exec",   "assign",	  "import",
	"export",    "reserve", "acquire", "install",  "invoke",  NULL,
};

/* Words of control path functions, if only names are available. "get", "find" and "lookup" occur on both paths. */
static const char *const control[] = {
	"alloc",   "create",   "reg",	 "register", "rereg",  "modify", "attach",  "add",	 "init",
	"insert",  "mmap",     "advise", "connect",  "accept", "listen", "resolve", "join",	 "migrate",
	"chk",	   "validate", "verify", "setup",    "open",   "enable", "config",  "configure", "update",
	"change",  "resize",   "pin",	 "exec",     "cmd",    "assign", "import",  "export",	 "reserve",
	"install", "invoke",   "umem",	 "set",	     "fill",   "from",	 "charge",  NULL,
};

static const char *const rare[] = {
	"pd", "cq", "qp", "srq", "xrcd", "wq", "rwq", "flow", "counters", "dm", "mcast", "channel", NULL,
};

static const char *const frequent[] = { "mr", "mw", "ah", NULL };

static const char *const per_packet[] = { "packet", "pkt", "skb", "wqe", "cqe", NULL };

/* The first that applies. Posting comes last: with a call graph its ops members are known, and judge.c ignores this rule, but not
 * the others. */
static const struct {
	enum rd_rule rule;
	const char *const *phrases; /* words separated by blanks; NULL-terminated */
	/* Applies only if not preceded by a word for changing something: alloc_free_list allocates. */
	bool decisive;
} rules[] = {
	{ .rule = RD_RULE_DIAGNOSTIC, .phrases = diagnostic },
	{ .rule = RD_RULE_REFCOUNT, .phrases = refcount },
	{ .rule = RD_RULE_QUERY, .phrases = query, .decisive = true },
	{ .rule = RD_RULE_CLEANUP, .phrases = cleanup, .decisive = true },
	{ .rule = RD_RULE_DATA_PATH, .phrases = data_path },
	/* Of members only. */
	{ .rule = RD_RULE_QUERY, .phrases = describing, .decisive = true },
};

static void split_words(const char *name, struct words *ret)
{
	size_t end = strcspn(name, "."); /* without ".part.0", ".constprop.0", ".isra.0", ".cold" … */

	ret->n = 0;
	for (size_t i = 0; i < end && ret->n < MAX_WORDS;) {
		size_t start = i;

		while (i < end && name[i] != '_')
			i++;
		if (i > start) {
			ret->v[ret->n] = name + start;
			ret->len[ret->n++] = i - start;
		}
		i++;
	}
}

/* Whether the words at `at` match the phrase. */
static bool phrase_at(const struct words *words, size_t at, const char *phrase)
{
	while (*phrase) {
		size_t len = strcspn(phrase, " ");

		if (at >= words->n || words->len[at] != len || strncasecmp(words->v[at], phrase, len) != 0)
			return false;
		at++;
		phrase += len;
		phrase += *phrase == ' ';
	}
	return true;
}

/* Position of the first of the phrases; words->n if there is none. Comparing first letters makes this fast for many names. */
static size_t find_phrase(const struct words *words, const char *const *phrases)
{
	for (size_t at = 0; at < words->n; at++) {
		char first = words->v[at][0] | 0x20;

		for (size_t i = 0; phrases[i]; i++)
			if (phrases[i][0] == first && phrase_at(words, at, phrases[i]))
				return at;
	}
	return words->n;
}

static enum rd_rule apply_rules(const char *name, size_t n)
{
	struct words words;
	size_t change;

	split_words(name, &words);
	change = find_phrase(&words, changing);
	for (size_t i = 0; i < n; i++) {
		size_t at = find_phrase(&words, rules[i].phrases);

		if (at < words.n && (!rules[i].decisive || at <= change))
			return rules[i].rule;
	}
	return RD_RULE_SELECTED;
}

enum rd_rule rd_rules_name(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && (!cold[5] || cold[5] == '.') ? RD_RULE_COLD : apply_rules(name, RD_ARRAY_SIZE(rules) - 1);
}

enum rd_rule rd_rules_member(const char *member)
{
	return apply_rules(member, RD_ARRAY_SIZE(rules));
}

bool rd_rules_changes(const char *name)
{
	struct words words;

	split_words(name, &words);
	return find_phrase(&words, control) < words.n && find_phrase(&words, per_packet) == words.n;
}

bool rd_rules_rare(const char *name)
{
	struct words words;

	split_words(name, &words);
	return find_phrase(&words, rare) < words.n && find_phrase(&words, frequent) == words.n;
}
