/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel log lines that rules use, in one table (klog-lines.h). Rules refer to a line by its form, so that every line that a rule reads has
 * one; a redacted recording keeps lines of these forms and drops all others.
 */
#ifndef RD_KLOG_FORM_H
#define RD_KLOG_FORM_H

#include "base/base.h"

enum rd_klog_form {
	RD_KLOG_NO_FORM,
#define LINE(form, driver, text, source, meaning) RD_KLOG_##form,
#include "base/klog-lines.h"
#undef LINE
	RD_KLOG_QP, /* contains the number of a queue pair */
	RD_KLOG_FORMS,
};

/* The members are explained in klog-lines.h. */
struct rd_klog_line {
	const char *driver, *text, *source, *meaning;
};
extern const struct rd_klog_line rd_klog_lines[RD_KLOG_FORMS]; /* no text: none of a fixed text */

/* Decodes \xNN in place, which the kernel prints for unprintable characters and the backslash. Forms apply to decoded lines. */
void rd_klog_unescape(char *text);

/* The form of a line; the first match in the table. */
enum rd_klog_form rd_klog_form_of(const char *text);

/* The positions of the fixed words of a form in a line, in order; none for RD_KLOG_QP. Returns their number; 0: not of this form. */
#define RD_KLOG_SPANS 4
struct rd_klog_span {
	size_t at, size;
};
size_t rd_klog_form_spans(enum rd_klog_form form, const char *text, struct rd_klog_span ret[RD_KLOG_SPANS]);

/*
 * The queue pair numbers in a line, as printed by drivers: "QP 1234", "qp#17", "qpn 0x1a2", "qp_num=5", "QPN:0x12".
 * Hexadecimal with 0x or with hexadecimal letters, else decimal. Returns the number found (at most `max`).
 */
size_t rd_klog_qps(const char *text, uint32_t *ret, size_t max);

/* The same for one that begins at `at` in the line `text`: its length including the text before the number; 0: none. */
size_t rd_klog_qp_at(const char *text, const char *at, uint32_t *ret);

/* Whether a word is a generic term of drivers, links and queue pairs, or made of such terms, and so identifies no host or user. */
bool rd_klog_is_term(const char *word, size_t size);

#endif
