/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/shell/numbered.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "render/render.h"

/* Before the two texts. */
struct head {
	uint32_t number, text, fix; /* of the texts: bytes */
};

static int sent_to = -1;

static void send_finding(unsigned number, const char *text, const char *fix)
{
	struct head head = { number, (uint32_t)strlen(text), (uint32_t)strlen(fix) };
	_cleanup_buf_ struct rd_buf out = { 0 };

	if (number > SHELL_FINDINGS_MAX)
		return;
	rd_buf_add(&out, &head, sizeof(head));
	rd_buf_add(&out, text, head.text);
	rd_buf_add(&out, fix, head.fix);
	/* Without the shell there is nothing to number for. */
	(void)rd_write_all(sent_to, out.data, out.len);
}

void shell_findings_send(int fd)
{
	sent_to = fd;
	rd_render_number_findings(send_finding);
}

static void forget(struct shell_findings *findings)
{
	for (size_t i = 0; i < findings->n; i++) {
		free(findings->v[i].text);
		free(findings->v[i].fix);
	}
	findings->n = 0;
}

static void keep(struct shell_findings *findings, const struct head *head, const char *texts)
{
	if (head->number == 1)
		forget(findings);
	if (findings->n >= SHELL_FINDINGS_MAX)
		return;
	*RD_ADD(findings->v, findings->n, findings->cap) = (struct shell_finding){
		.number = head->number,
		.text = rd_dup_part(texts, head->text),
		.fix = rd_dup_part(texts + head->text, head->fix),
	};
}

void shell_findings_take(struct shell_findings *findings, const void *data, size_t size)
{
	struct rd_buf *pending = &findings->pending;
	size_t at = 0;
	struct head head;

	/* More than it would send: what follows cannot be understood. */
	if (pending->len + size > SHELL_FINDINGS_BYTES)
		return;
	rd_buf_add(pending, data, size);
	while (pending->len - at >= sizeof(head)) {
		memcpy(&head, pending->data + at, sizeof(head));
		if (pending->len - at - sizeof(head) < (size_t)head.text + head.fix)
			break;
		keep(findings, &head, pending->data + at + sizeof(head));
		at += sizeof(head) + head.text + head.fix;
	}
	memmove(pending->data, pending->data + at, pending->len - at);
	pending->len -= at;
}

const struct shell_finding *shell_findings_get(const struct shell_findings *findings, unsigned number)
{
	for (size_t i = 0; i < findings->n; i++)
		if (findings->v[i].number == number)
			return &findings->v[i];
	return NULL;
}

void shell_findings_deinit(struct shell_findings *findings)
{
	forget(findings);
	free(findings->v);
	rd_buf_deinit(&findings->pending);
	*findings = (struct shell_findings){ 0 };
}
