/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/klog-form.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"

#define QPN_MOST 0xffffffu

/* The fixed text of each form, as printed by the drivers, with any text before, after and at each `*`. The first match counts, so
 * the more specific forms come first. The origin of each is in tests/bundles/CASEBOOK.md. */
static const char *const words[RD_KLOG_FORMS] = {
	[RD_KLOG_MLX5_HEALTH] = "device's health compromised",
	[RD_KLOG_MLX5_HEALTH_ISSUE] = "Health issue observed*severity(",
	[RD_KLOG_MLX5_COMMAND_LEAK] = "mlx5*timeout. Will cause a leak of a command resource",
	[RD_KLOG_MLX4_INTERNAL_ERROR] = "mlx4_core*Internal error detected",
	[RD_KLOG_BNXT_FATAL_RESET] = "bnxt_en*Fatal firmware reset event",
	[RD_KLOG_IRDMA_RESET] = "ice*Requesting a reset",
	[RD_KLOG_MKEY_LIMIT] = "CREATE_MKEY(*limits exceeded",
	[RD_KLOG_MKEY_NO_RESOURCES] = "CREATE_MKEY(*no resources",
	[RD_KLOG_QP_LIMIT] = "CREATE_QP(*limits exceeded",
	[RD_KLOG_UAR_LIMIT] = "ALLOC_UAR(*limits exceeded",
	[RD_KLOG_MLX4_UAR_PAGES] = "mlx4_core*UAR pages (need more than",
	[RD_KLOG_RETRY_COUNT] = "RTR2RTS_QP(*bad parameter*0x4bb88f",
	[RD_KLOG_MODULE_HOT] = "Port module event[error]*High Temperature",
	[RD_KLOG_MODULE_BUS_STUCK] = "Port module event[error]*Bus stuck",
	[RD_KLOG_MODULE_UNSUPPORTED] = "Port module event[error]*Unknown identifier",
	[RD_KLOG_MLX5_PORT_DOWN] = "mlx5_core*Port: *Link DOWN",
	[RD_KLOG_MLX5_LINK_DOWN] = "mlx5_core*Link down",
	[RD_KLOG_BNXT_LINK_DOWN] = "bnxt_en*NIC Link is Down",
	[RD_KLOG_ICE_LINK_DOWN] = "ice *NIC Link is Down",
	[RD_KLOG_PEERMEM_VERSION] = "peer*disagrees about version of symbol ib_",
	[RD_KLOG_IB_SYMBOL] = "disagrees about version of symbol ib_",
	[RD_KLOG_RDMA_SYMBOL] = "disagrees about version of symbol rdma_",
	[RD_KLOG_PEERMEM_CLIENT] = "peer*Unknown symbol ib_register_peer_memory_client",
	[RD_KLOG_NV_PEER_MEM_SYMBOL] = "nv_peer_mem*Unknown symbol ib_",
	[RD_KLOG_PEERMEM_CONTEXT] = "nvidia-peermem*detected invalid context",
	[RD_KLOG_PEERMEM_CALLBACK] = "nvidia-peermem*nv_get_p2p_free_callback",
	[RD_KLOG_UMEM_PIN] = "ib_umem_get: failed to get user pages",
	[RD_KLOG_UMEM_GET] = "mr_umem_get*umem get failed",
	[RD_KLOG_OOM_CGROUP] = "Memory cgroup out of memory: Killed process",
	[RD_KLOG_OOM] = "Out of memory: Killed process",
	[RD_KLOG_PCIE_FATAL] = "PCIe Bus Error: severity=Uncorrect*(Fatal)",
	[RD_KLOG_PCIE_UNCORRECTED] = "PCIe Bus Error: severity=Uncorrect",
	[RD_KLOG_FELL_OFF_BUS] = "amdgpu*device lost from bus!",
	[RD_KLOG_FALLEN_OFF_BUS] = "fallen off the bus",
	[RD_KLOG_PCIE_CARD_GONE] = "pcieport*Card not present",
	[RD_KLOG_POWER_GOOD] = "PCIe slot advertised sufficient power",
	[RD_KLOG_POWER_LOW] = "Detected insufficient power on the PCIe slot",
	[RD_KLOG_POWER_UNKNOWN] = "PCIe slot power capability was not advertised",
};

/* Separated by spaces; case-insensitive. */
static const char terms[] =
	" mlx5 mlx5_core mlx5_ib mlx4 mlx4_core mlx4_ib bnxt_en bnxt_re irdma ice i40e efa ena qedr qede hns3 "
	"hfi1 rdma_rxe siw erdma mana mana_ib ionic ib_core ib_uverbs rdma_cm ib_umem_get infiniband nvidia "
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

static bool starts_word(const char *text, const char *at)
{
	return at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
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

	if (strncasecmp(at, "qp", 2) != 0 || !starts_word(text, at))
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

size_t rd_klog_form_spans(enum rd_klog_form form, const char *text, struct rd_klog_span ret[RD_KLOG_SPANS])
{
	const char *at = text, *end = text + strlen(text), *pattern = words[form];
	size_t n = 0;

	while (pattern && *pattern) {
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
