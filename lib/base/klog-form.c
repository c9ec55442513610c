/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/klog-form.h"

#include <ctype.h>
#include <strings.h>

#include "base/text.h"

#define QPN_MOST 0xffffffu

const struct rd_klog_line rd_klog_lines[RD_KLOG_FORMS] = {
#define LINE(form, driver, text, source, meaning) [RD_KLOG_##form] = { driver, text, source, meaning },
#include "base/klog-lines.h"
#undef LINE
};

/* Separated by spaces; case-insensitive. */
static const char terms[] =
	" mlx5 mlx5_core mlx5_ib mlx4 mlx4_core mlx4_ib bnxt_en bnxt_re irdma ice i40e efa ena qedr qede hns3 "
	"hfi1 rdma_rxe siw erdma mana mana_ib ionic ib_core ib_uverbs rdma_cm ib_umem_get infiniband nvidia "
	"DMAR AMD-Vi arm-smmu arm-smmu-v3 device client sid nvme "
	"peermem nvidia_peermem nvidia-peermem nv_peer_mem NVRM Xid amdgpu habanalabs pcieport AER PCIe PCI "
	"pid cmd op_mod syndrome err error errno failed status vendor module Port Link up down QP qpn qp_num "
	"qp_id CQ cqn retry retries exceed exceeded exceeds exhaust exhausted exc counter RNR transport "
	"local remote length protection access operation flush flushed invalid request response timeout type "
	"state moved to in on of the is with for event fatal Non-Fatal Uncorrectable Uncorrected reset only "
	"pages detected severity limits resources bad parameter async catastrophic WARN RTS SQD SQE ";

/* As printed by the kernel. */
static int hex_digit(char c)
{
	return isupper((unsigned char)c) || rd_digit_value(c) >= 16 ? -1 : (int)rd_digit_value(c);
}

void rd_klog_unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at; to++) {
		int high = at[0] == '\\' && at[1] == 'x' ? hex_digit(at[2]) : -1;
		int low = high >= 0 ? hex_digit(at[3]) : -1;

		if (low >= 0 && (high || low)) {
			*to = (char)(high << 4 | low);
			at += 4;
		} else {
			*to = *at++;
		}
	}
	*to = '\0';
}

/* Skips the text between "qp" and its number: "n", "_num", "_id", " number" …, then spaces and punctuation. */
static const char *skip_name(const char *at)
{
	static const char *const endings[] = { "_number", "_num", "num", "_id", "id", "n" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(endings); i++) {
		size_t len = strlen(endings[i]);

		if (!strncasecmp(at, endings[i], len) && !isalnum((unsigned char)at[len])) {
			at += len;
			break;
		}
	}
	return at + strspn(at, " #:=([");
}

/* The length of a valid queue pair number; 0: none. */
static size_t take_qpn(const char *at, uint32_t *ret)
{
	bool hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	const char *digits = hex ? at + 2 : at;
	size_t decimal = strspn(digits, "0123456789"), all = strspn(digits, "0123456789abcdefABCDEF");
	char next = digits[all];
	uint32_t v;

	/* "qp error" begins with a hexadecimal digit: hexadecimal without 0x must begin with a decimal digit. */
	if (!all || all > 8 || (!hex && !decimal) || isalnum((unsigned char)next) || next == '_')
		return 0;
	if (rd_take_u32(&digits, hex || all > decimal ? RD_HEX : RD_DECIMAL, QPN_MOST, &v) < 0)
		return 0;
	*ret = v;
	return (size_t)(digits - at);
}

size_t rd_klog_qp_at(const char *text, const char *at, uint32_t *ret)
{
	const char *number;
	size_t n;

	if (strncasecmp(at, "qp", 2) != 0 || (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_')))
		return 0;
	number = skip_name(at + 2);
	n = take_qpn(number, ret);
	return n ? (size_t)(number - at) + n : 0;
}

size_t rd_klog_qps(const char *text, uint32_t *ret, size_t max)
{
	size_t n = 0;

	for (const char *at = text; n < max && (at = strpbrk(at, "qQ")); at++)
		n += rd_klog_qp_at(text, at, &ret[n]) > 0;
	return n;
}

/* "mlx5" begins "mlx5_core 0000:1b:00.0: …", and "ice" does not begin "iceberg". Returns false, or the size of what a redacted line
 * must keep for it: the name of the module if it is known, else the driver and the "_" behind it. */
static bool begins_with(const char *text, const char *driver, size_t *size)
{
	size_t n = strlen(driver), word = n;

	*size = 0;
	if (!n)
		return true;
	if (strncmp(text, driver, n) != 0 || isalnum((unsigned char)text[n]))
		return false;
	while (isalnum((unsigned char)text[word]) || text[word] == '_' || text[word] == '-')
		word++;
	*size = rd_klog_is_term(text, word) ? word : n + (text[n] == '_' || text[n] == '-');
	return true;
}

size_t rd_klog_form_spans(enum rd_klog_form form, const char *text, struct rd_klog_span ret[RD_KLOG_SPANS])
{
	const char *at = text, *end = text + strlen(text), *pattern = rd_klog_lines[form].text;
	size_t n = 0, driver;

	if (!pattern || !begins_with(text, rd_klog_lines[form].driver, &driver))
		return 0;
	if (driver)
		ret[n++] = (struct rd_klog_span){ 0, driver };
	at += driver;
	while (*pattern) {
		size_t size = strcspn(pattern, "*");

		at = memmem(at, (size_t)(end - at), pattern, size);
		if (!at)
			return 0;
		ret[n++] = (struct rd_klog_span){ (size_t)(at - text), size };
		at += size;
		pattern += size + (pattern[size] == '*');
	}
	return n;
}

enum rd_klog_form rd_klog_form_of(const char *text)
{
	struct rd_klog_span spans[RD_KLOG_SPANS];
	uint32_t qpn;

	for (enum rd_klog_form form = 1; form < RD_KLOG_FORMS; form++)
		if (rd_klog_form_spans(form, text, spans))
			return form;
	return rd_klog_qps(text, &qpn, 1) ? RD_KLOG_QP : RD_KLOG_NO_FORM;
}

static bool is_term(const char *word, size_t size)
{
	for (const char *at = terms, *blank; (blank = strchr(at + 1, ' ')); at = blank)
		if ((size_t)(blank - at) - 1 == size && strncasecmp(at + 1, word, size) == 0)
			return true;
	return false;
}

bool rd_klog_is_term(const char *word, size_t size)
{
	const char *end = word + size;

	if (is_term(word, size))
		return true;
	/* "RETRY_EXC_ERR", "retry-exceeded" */
	for (size_t n; word < end; word += n + 1) {
		for (n = 0; word + n < end && word[n] != '_' && word[n] != '-';)
			n++;
		if (!is_term(word, n))
			return false;
	}
	return size > 0;
}
