#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes an entry of a switch's forwarding table: set-route SWITCH-LID LID EGRESS. Run it by `fabric` of lib.sh; a subnet manager that
runs may change it back."""
import ctypes
import struct
import sys

SMI_CLASSES = (ctypes.c_int * 2)(0x01, 0x81)
LINEAR_FORWARDING_TABLE = 0x19
TIMEOUT_MS = 60000

switch, lid, egress = (int(a) for a in sys.argv[1:4])
mad = ctypes.CDLL('libibmad.so.5')
mad.mad_rpc_open_port.restype = ctypes.c_void_p
for call in (mad.smp_query_via, mad.smp_set_via):
    call.restype = ctypes.c_void_p
    call.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p]
port = mad.mad_rpc_open_port(None, 0, SMI_CLASSES, 2)
if not port:
    sys.exit('set-route: no port')
to = ctypes.create_string_buffer(512)  # ib_portid_t is smaller; it begins with the LID
struct.pack_into('i', to, 0, switch)
block = ctypes.create_string_buffer(64)
if not mad.smp_query_via(block, to, LINEAR_FORWARDING_TABLE, lid // 64, TIMEOUT_MS, port):
    sys.exit(f'set-route: no response of LID {switch}')
block[lid % 64] = egress
if not mad.smp_set_via(block, to, LINEAR_FORWARDING_TABLE, lid // 64, TIMEOUT_MS, port):
    sys.exit(f'set-route: LID {switch} refuses the block')
