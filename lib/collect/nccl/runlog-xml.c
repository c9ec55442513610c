/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts of a dumped topology that are not about hardware, and so not in struct rd_host: GPUDirect support and NIC numbers. */
#include <string.h>

#include "base/memory.h"
#include "collect/nccl/runlog-priv.h"
#include "collect/nccl/xml.h"

static int on_start(void *arg, const struct rd_xml_element *element, struct rd_err *err)
{
	struct rd_run_reader *reader = arg;
	const char *name = rd_xml_attr(element, "name"), *gdr = rd_xml_attr(element, "gdr");
	const char *dev = rd_xml_attr(element, "dev");
	struct rd_run_net *net;

	(void)err;
	if (strcmp(element->name, "net") != 0 || !name)
		return 0;
	net = rd_run_new(reader, &reader->log->v[0].nets);
	if (!net)
		return 0;
	net->name = rd_dup(name);
	if (dev)
		rd_run_number(&dev, &net->number);
	if (gdr)
		RD_SET(net->gpudirect, strcmp(gdr, "1") == 0);
	return 0;
}

int rd_runlog_topology(const char *name, const char *text, size_t size, struct rd_runlog *ret, struct rd_err *err)
{
	static const struct rd_xml_ops ops = { .start = on_start };
	struct rd_run_reader reader = { .log = ret };

	*ret = (struct rd_runlog){ 0 };
	rd_run_reader_host(&reader, "", 0)->tells_nets = true;
	return rd_xml_parse(name, text, size, &ops, &reader, err);
}
