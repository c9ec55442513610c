/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Perfetto trace files: a sequence of packets (protos/perfetto/trace/trace_packet.proto and track_event/). */
#ifndef RD_SERIES_PROTO_H
#define RD_SERIES_PROTO_H

#include "render/series.h"

/* Times in the file are wall clock, in ns, as declared by a snapshot of both clocks. */
void rd_proto_begin(uint64_t time_ns, struct rd_buf *out);
/* Whether a file with this head was started by rd_proto_begin. */
bool rd_proto_is(const uint8_t *data, size_t size);
/* Adds a counter track, below the track of its device and port, which the first series creates. */
void rd_proto_define(const struct rd_series *series, struct rd_buf *out);
void rd_proto_point(uint64_t track, uint64_t time_ns, double value, struct rd_buf *out);
void rd_proto_mark(uint64_t time_ns, const char *what, struct rd_buf *out);

#endif
