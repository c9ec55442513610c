/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "analyse/qp/qp.h"
#include "collect/rdma/rdma.h"
#include "render/render.h"
#include "report/qp/report-qp.h"

#include <linux/types.h>

#include "bpf/qp.h"

/* Record after record, as the recorder hands them out: decoded, followed, told. */
void fuzz_one(const uint8_t *data, size_t size)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	struct rd_qp_track *track;

	if (rd_source_live_open("/proc/self/fdinfo", &source, NULL) < 0)
		return;
	track = rd_qp_track_create();
	for (size_t at = 0; at < size; at += sizeof(struct rd_qp_rec)) {
		struct rd_qp_event event = { 0 };
		_cleanup_buf_ struct rd_buf out = { 0 };
		struct rd_section *section;

		if (rd_qp_event_decode(source, NULL, data + at, size - at, &event, NULL) < 0)
			continue;
		rd_qp_track_event(track, &event);
		section = rd_report_qp_event(&event);
		if (section)
			rd_render_qp_event(section, 0, true, &out);
		rd_section_destroy(section);
		rd_qp_event_deinit(&event);
	}
	rd_qp_track_destroy(track);
}
