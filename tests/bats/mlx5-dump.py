#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the capture of a host with soft-RoCE look like one of mlx5 that was taken as root: mlx5-dump.py FOLDER LQPN RQPN [IPV4]. FOLDER: the
unpacked bundle. Its driver becomes mlx5, and queue pair LQPN gets a dump, which says that it is connected to RQPN at IPV4 (10.0.0.2)."""
import glob, ipaddress, json, os, struct, sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
folder, lqpn, rqpn = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
gid = ipaddress.ip_address("::ffff:" + (sys.argv[4] if len(sys.argv) > 4 else "10.0.0.2")).packed

# Numbers of the kernel's rdma/rdma_netlink.h.
RES_QP_GET_RAW, DEV_INDEX, PORT_INDEX, RES_LQPN, RES_RAW, UVERBS_DRIVER_ID = 19, 1, 3, 21, 85, 73
RXE, MLX5 = 14, 1


def attr(kind, data):
    return struct.pack("<HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def message(flags, body):
    return struct.pack("<IHHII", 16 + len(body), 5 << 10 | RES_QP_GET_RAW, flags, 0, 0) + body


def number(kind, value):
    return attr(kind, struct.pack("<I", value))


def hash_of(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


for path in glob.glob(f"{folder}/nl/rdma/*"):
    data = open(path, "rb").read()
    open(path, "wb").write(data.replace(number(UVERBS_DRIVER_ID, RXE), number(UVERBS_DRIVER_ID, MLX5)))

# The seed of the fuzzer: segments of 16 and 20 bytes, then a header of 16, that of a reply of 24, and the context.
dump = bytearray(open(f"{TOP}/tests/fuzz/corpus/mlx5-dump/reply.bin", "rb").read())
context = 16 + 20 + 16 + 24
dump[16 + 20 + 8 : 16 + 20 + 12] = struct.pack(">I", lqpn)
dump[context + 21 : context + 24] = rqpn.to_bytes(3, "big")
dump[context + 40 : context + 56] = gid
request = message(1, number(DEV_INDEX, 0) + number(PORT_INDEX, 1) + number(RES_LQPN, lqpn))
del dump[context + 152 :]  # a recording has nothing behind what is read
dump += bytes(312 - len(dump))
reply = message(0, number(DEV_INDEX, 0) + attr(RES_RAW, bytes(dump)))
open(f"{folder}/nl/rdma/{5 << 10 | RES_QP_GET_RAW}-{hash_of(request):016x}", "wb").write(request + reply)

manifest = json.load(open(f"{folder}/manifest.json"))
manifest.pop("hash", None)
json.dump(manifest, open(f"{folder}/manifest.json", "w"))
