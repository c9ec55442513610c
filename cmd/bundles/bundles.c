/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/bundles/bundles.h"

#include "cmd/cmd.h"
#include "source/opener/child.h"

#define FIRST_MS 1000
#define TERMINAL_MS 200
#define LOG_MS 10000

void rd_progress_show(struct rd_progress *progress, const char *what, size_t done, size_t all)
{
	bool terminal = isatty(STDERR_FILENO);
	int64_t now = rd_monotonic_ms();

	if (!progress->began_ms) {
		progress->began_ms = now;
		progress->shown_ms = now + FIRST_MS - TERMINAL_MS;
	}
	if (now - progress->shown_ms < (terminal ? TERMINAL_MS : LOG_MS))
		return;
	progress->shown_ms = now;
	progress->line |= terminal;
	dprintf(STDERR_FILENO, terminal ? "\r\033[K" RD_PROGRAM ": %s %zu of %zu " : RD_PROGRAM ": %s %zu of %zu\n",
		what, done, all);
}

void rd_progress_end(struct rd_progress *progress)
{
	if (progress->line)
		dprintf(STDERR_FILENO, "\r\033[K");
	*progress = (struct rd_progress){ 0 };
}

void rd_pseudonyms_deinit(struct rd_pseudonyms *pseudonyms)
{
	free(pseudonyms->nets);
	*pseudonyms = (struct rd_pseudonyms){ 0 };
}

static int check_nets(struct rd_pseudonyms *pseudonyms, const struct rd_redaction *redaction, const char *path,
		      struct rd_err *err)
{
	if (redaction->n_nets > 0 && !pseudonyms->nets)
		pseudonyms->nets = rd_alloc(UINT16_MAX + 1, sizeof(*pseudonyms->nets));
	for (size_t i = 0; i < redaction->n_nets; i++) {
		const struct rd_redacted_net *net = &redaction->nets[i];
		struct rd_known_net *known = &pseudonyms->nets[net->pseudonym];

		if (!known->path)
			*known = (struct rd_known_net){ net->id, path };
		if (known->id == net->id)
			continue;
		rd_err_set(err, EINVAL, path, "pseudonym %u.%u.0.0/16 is a different network in %s: cannot be joined",
			   net->pseudonym >> 8, net->pseudonym & 255, known->path);
		rd_err_hint(
			err,
			"redact all bundles again, with another key: rdmadiag --from BUNDLE capture --redact-key FILE OUT");
		return -EINVAL;
	}
	return 0;
}

int rd_pseudonyms_check(struct rd_pseudonyms *pseudonyms, const struct rd_source *source, const char *path,
			struct rd_err *err)
{
	const struct rd_redaction *redaction = rd_source_bundle_redaction(source);

	if (!redaction)
		return 0;
	if (!pseudonyms->first) {
		pseudonyms->first = path;
		pseudonyms->redacted = redaction->redacted;
	}
	if (pseudonyms->redacted != redaction->redacted) {
		rd_err_set(err, EINVAL, path, "%s redacted, but %s is%s: cannot be joined",
			   redaction->redacted ? "is" : "is not", pseudonyms->first, redaction->redacted ? " not" : "");
		return rd_err_hint(
			err, "redact all of them with one key: rdmadiag --from BUNDLE capture --redact-key FILE OUT");
	}
	if (redaction->key.known == RD_OK && pseudonyms->key.known != RD_OK) {
		RD_SET(pseudonyms->key, redaction->key.v);
		pseudonyms->key_of = path;
	} else if (redaction->key.known == RD_OK && pseudonyms->key.v != redaction->key.v) {
		rd_err_set(err, EINVAL, path, "redacted with a different key than %s: cannot be joined",
			   pseudonyms->key_of);
		return rd_err_hint(
			err, "redact all of them with one key: rdmadiag --from BUNDLE capture --redact-key FILE OUT");
	}
	return check_nets(pseudonyms, redaction, path, err);
}
