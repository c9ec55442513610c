#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the capture of a host with soft-RoCE look like one that was taken as root: qp-query.py FOLDER RDMADIAG LQPN [RQPN [IPV4]]. FOLDER: the
unpacked bundle. What the driver filled in for queue pair LQPN is added: its peer is IPV4 (10.0.0.2). RQPN: another remote number."""
import ipaddress, json, os, struct, subprocess, sys

folder, rdmadiag, lqpn = sys.argv[1], sys.argv[2], int(sys.argv[3])
gid = ipaddress.ip_address("::ffff:" + (sys.argv[5] if len(sys.argv) > 5 else "10.0.0.2")).packed
listed = json.loads(subprocess.run([rdmadiag, "--from", folder, "--json", "qp-state"], capture_output=True, check=False).stdout)
qp = next(qp for qp in listed["qps"] if qp["lqpn"] == lqpn)
rqpn = int(sys.argv[4]) if len(sys.argv) > 4 else qp["rqpn"]
state = ["RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"].index(qp["state"])
mig = ["MIGRATED", "REARM", "ARMED"].index(qp["path_mig_state"])

# struct rd_query_value of bpf/qp.h: version, number, times, known, pid, type, errno, event; then the members of struct ib_qp_attr.
value = struct.pack("<IIQQQQIIiI", 1, lqpn, 1, 0, 0, (1 << 43) - 1, 0, 2, 0, 0)
value += struct.pack("<8I", state, state, 5, rqpn, qp["rq_psn"], qp["sq_psn"], 0, 2)
value += bytes([1, 18, 6, 5, 12, 1, 1, 1, 64, 96, 0, 1, 0, 0]) + struct.pack("<H", 0) + gid
value += struct.pack("<IHBB", mig, 0, 0, 0) + bytes(16)
os.makedirs(f"{folder}/root/bpf", exist_ok=True)
with open(f"{folder}/root/bpf/rdmadiag_query", "wb") as file:
    file.write(struct.pack("<5I", 9, 8, len(value), 1, 0) + struct.pack("<II", 0, lqpn) + value)

manifest = json.load(open(f"{folder}/manifest.json"))
manifest.pop("hash", None)
json.dump(manifest, open(f"{folder}/manifest.json", "w"))
