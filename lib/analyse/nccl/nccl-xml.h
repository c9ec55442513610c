/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_ANALYSE_NCCL_XML_H
#define RD_ANALYSE_NCCL_XML_H

#include "base/buf.h"
#include "model/host/host.h"

/* Appends an NCCL topology file of this host: its CPUs, switches, accelerators and NICs, as NCCL would detect them. NCCL adds
 * at run time what belongs to a job (ranks, links between accelerators). */
void rd_nccl_xml_write(const struct rd_host *host, struct rd_buf *out);

#endif
