#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether counters --fabric and ibqueryerrors saw the same: same.py REPORT.json IBQUERYERRORS.txt. Says every difference."""
import json, re, sys

# What others' queries and the subnet manager's traffic move by themselves.
MOVES = re.compile(r'Data|Pkts|Wait')

def ours(path):
    document = json.load(open(path))
    errors, ports, stale = {}, set(), []
    for port in document['ports']:
        key = (int(port['node_guid'].replace(':', '').removeprefix('0x'), 16), port['port'])
        ports.add(key)
        if not port['fresh']:
            stale.append(key)
        for name, value in (port['counters'] or {}).items():
            if value and not MOVES.search(name):
                errors[key + (name,)] = value
    return document, errors, ports, stale


# The other tool names adapters by the GUID of the port, which the simulator makes of the node's and the port's number.
def theirs(path, ports):
    errors, checked = {}, None
    for line in open(path, errors='replace'):
        found = re.search(r'GUID (0x[0-9a-f]+) port (\d+):(.*)', line)
        if found:
            for name, value in re.findall(r'\[(\w+) == (\d+)', found[3]):
                guid, port = int(found[1], 16), int(found[2])
                if (guid, port) not in ports:
                    guid -= port
                if not MOVES.search(name):
                    errors[guid, port, name] = int(value)
        found = re.search(r'(\d+) ports checked', line)
        checked = int(found[1]) if found else checked
    return errors, checked


document, our_errors, our_ports, stale = ours(sys.argv[1])
their_errors, checked = theirs(sys.argv[2], our_ports)
# Read by the other tool only where another counter moves, and shown under the names of another attribute.
details = {'PortLocalPhysicalErrors', 'PortMalformedPacketErrors', 'PortBufferOverrunErrors', 'PortDLIDMappingErrors',
           'PortVLMappingErrors', 'PortLoopingErrors', 'PortInactiveDiscards', 'PortNeighborMTUDiscards',
           'PortSwLifetimeLimitDiscards', 'PortSwHOQLifetimeLimitDiscards'}
our_errors = {k: v for k, v in our_errors.items() if k[2] not in details}
wrong = []
# Enhanced ports 0 of switches are counted by the other tool only where the switch has errors.
cabled = len([port for guid, port in our_ports if port])
if not checked or not cabled <= checked <= len(our_ports):
    wrong.append(f'{len(our_ports)} ports, ibqueryerrors has {checked}')
if document['sweep']['ports'] != len(our_ports):
    wrong.append(f"sweep.ports is {document['sweep']['ports']}, and {len(our_ports)} are listed")
wrong += [f'not fresh: {guid:#x} port {port}' for guid, port in stale]
for key in sorted(set(our_errors) | set(their_errors)):
    if our_errors.get(key) != their_errors.get(key):
        wrong.append(f'{key[0]:#x} port {key[1]} {key[2]}: {our_errors.get(key)}, ibqueryerrors has {their_errors.get(key)}')
print('\n'.join(wrong[:20]))
print(f'{len(our_ports)} ports, {len(our_errors)} counters that count something')
sys.exit(bool(wrong))
