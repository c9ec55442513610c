/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_RENDER_MEANING_H
#define RD_RENDER_MEANING_H

#include "base/buf.h"
#include "report/shared/report.h"

/*
 * Adds the rows of a section with the keys of a meaning (name, driver, unit …), as lines:
 *
 *     symbol_error (any driver)
 *       errors on the physical link
 *       counts packets; 16 bits, saturates at 65535; cause; may be added up over ports
 */
void rd_render_meanings(const struct rd_section *section, struct rd_buf *out);

#endif
