#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a Perfetto trace by the numbers of its .proto files and prints its counter tracks: PARENT / NAME N points."""
import struct, sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at, found = 0, {}
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack("<d", data[at:at + 8])[0], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "cut short"
        else:
            raise SystemExit(f"wire type {kind}")
        found.setdefault(key >> 3, []).append(value)
    return found


tracks, points, clocks, last = {}, {}, 0, 0
for packet in fields(open(sys.argv[1], "rb").read())[1]:
    packet = fields(packet)
    clocks += 6 in packet
    for descriptor in packet.get(60, []):
        descriptor = fields(descriptor)
        tracks[descriptor[1][0]] = (descriptor[2][0].decode(), descriptor.get(5, [None])[0], 8 in descriptor)
    for event in packet.get(11, []):
        event = fields(event)
        assert packet[8][0] >= last, "times go backwards"
        last = packet[8][0]
        if event[9][0] == 4:
            points.setdefault(event[11][0], []).append(event[44][0])
assert clocks == 1
for uuid, values in points.items():
    name, parent, counter = tracks.get(uuid, ("without a track", None, True))
    assert counter
    print(f"{tracks[parent][0] if parent else '-'} / {name} {len(values)} points")
