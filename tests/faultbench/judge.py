#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what trace-errno says about each fault with what the fault says about itself.

    judge.py KERNEL LIST RESULTS OUTPUTS TRACE       LIST: verbs-fault --list; RESULTS: lines of guest; OUTPUTS: RD_FAULT_OUT;
                                                     TRACE: trace-errno --json
    judge.py --table LIST 6.1=FILE 6.12=FILE 7.x=FILE >tests/faultbench/RESULTS.md        FILE: what the first form printed

The first form prints NAME WANTED GOT VALUES ORIGIN for each fault: WANTED and GOT are values of cause_id; `unknown` stands for
"cannot tell", `none` for no event, `-` for a call that this kernel lets pass. VALUES: how many of the values that belong to
such a cause are in the event, "3/3". Fails if a fault is given a cause other than WANTED and those of `accepted`, or less."""
import collections, json, os, re, sys

import observed

HERE = os.path.dirname(os.path.abspath(__file__))

# The keys of `truth` that an explanation has to contain, where the fault names them.
VALUES = {
    'access-flags': 'access', 'address-not-local': 'source', 'address-without-rdma': 'address',
    'cgroup-rdma-limit': 'cgroup resource max current', 'cm-id-foreign': 'cm_id', 'cm-id-stale': 'cm_id', 'cm-id-state': 'cm_id',
    'descriptor-invalid': 'fd', 'descriptors-exhausted': 'nofile', 'device-removed': 'device', 'gid-index-range': 'sgid_index',
    'gid-index-unused': 'sgid_index', 'gid-changed': 'sgid_index', 'gid-destination': 'gid', 'handle-stale': 'handle',
    'handle-type': 'handle', 'iova-offset': 'iova address', 'memlock-limit': 'memlock_bytes pinned_bytes requested_bytes uid',
    'memory-device-mapping': 'address', 'memory-huge-page': 'address', 'memory-no-access': 'protected',
    'memory-past-end-of-file': 'file_bytes', 'memory-read-only': 'protected', 'memory-secret': 'address',
    'memory-shared-file': 'address', 'no-route': 'route_type', 'cgroup-huge-pages': 'cgroup', 'memory-no-space': 'address', 'memory-userfaultfd': 'address',
    'memory-protection-key': 'address', 'multicast-limit': 'attached max_mcast_qp_attach', 'neighbour-unreachable': 'neighbour',
    'object-in-use': 'users', 'pkey-index': 'pkey_index', 'port-number': 'port ports', 'private-data-too-long': 'private_data_len',
    'privileged-port': 'port', 'qp-attribute-missing': 'qpn', 'qp-attribute-not-allowed': 'qpn', 'qp-state': 'qpn',
    'range-overflow': 'address length',
}

# From which modules and functions the errno of a cause can come, whatever its fault; others: any.
CM = r'(rdma_cm|rdma_ucm|ib_cm|iw_cm):'
RESOLVED = r'ib_core:|' + CM
PINNED = r'.*:.*umem.*get|(?!(ib_core|ib_uverbs|ib_uverbs_support|rdma_cm|rdma_ucm|ib_cm|iw_cm):)'
REACH = {
    'memlock-limit': PINNED, 'memlock-zero': PINNED, 'memory-': PINNED, 'range-': PINNED, 'cgroup-huge-pages': PINNED,
    'iova-offset': 'ib_(uverbs|uverbs_support|core):', 'handle-': 'ib_(uverbs|uverbs_support|core):', 'context-state': 'ib_(uverbs|uverbs_support|core):', 'cgroup-rdma-limit': 'ib_(uverbs|uverbs_support|core):',
    'no-route': RESOLVED, 'neighbour-unreachable': RESOLVED, 'interface-down': RESOLVED, 'address-': RESOLVED,
    'privileged-port': CM, 'ports-exhausted': CM, 'cm-id-': CM, 'private-data-too-long': CM, 'gid-family': 'ib_core:',
}
# What the values of a cause cannot be, if it is the cause.
CONTRADICTED = {
    'memory-huge-page': r'no huge page is free.* ([1-9]\d*) of \d+ free, 0 of', 'memlock-': r'CAP_IPC_LOCK is effective:',
    'memory-no-space': r'about 0 ', 'no-route': r'of type \w+.*: to \S+ (via|directly)', 'neighbour-unreachable': r'entry of \S+: known',
    'object-in-use': r'used by 0 other', 'memory-shared-file': r' private ', 'address-in-use': r'no rdma_cm_id',
}


def is_impossible(event):
    """Whether a cause cannot come from the origin, or its own evidence contradicts it."""
    text, cause = ' '.join([event['cause'], *event['evidence']]), event['cause_id'] or ''
    origin = f"{event['origin']['module']}:{event['origin']['function']}"
    return any(cause.startswith(key) and not re.match(rule, origin) for key, rule in REACH.items()) or \
        any(cause.startswith(key) and re.search(rule, text) for key, rule in CONTRADICTED.items())


def has_value(text, value):
    forms = [value]
    if value.isdigit():
        n = int(value)
        forms += [hex(n)] + [f'{n // unit} {name}' for unit, name in ((1 << 10, 'KiB'), (1 << 20, 'MiB')) if n and n % unit == 0]
    return any(re.search(r'(?<![0-9A-Za-z])' + re.escape(form) + r'(?![0-9A-Za-z])', text) for form in forms)


def values(event, cause, truth):
    text = ' '.join(str(event.get(key)) for key in ('cause', 'fix', 'advice', 'qpn', 'port', 'uid')) + ' ' + ' '.join(event['evidence'])
    wanted = [truth[key] for key in VALUES.get(cause, '').split() if key in truth]
    return f'{sum(has_value(text, value) for value in wanted)}/{len(wanted)}'


def read_truth(path):
    truth = {}
    for line in open(path, encoding='utf-8', errors='replace'):
        words = line.rstrip('\n').split(' ', 2)
        if words[0] == 'truth' and len(words) == 3:
            truth[words[1]] = words[2]
    return truth


def read_events(path):
    events = collections.defaultdict(list)
    for line in open(path, encoding='utf-8'):
        event = json.loads(line)
        if event.get('pid') and not event['benign']:
            events[event['pid']].append(event)
    return events


def read_list(path):
    return [line.split(maxsplit=3)[:3] for line in open(path, encoding='utf-8')]


def read_accepted():
    accepted = {}
    for line in open(os.path.join(HERE, 'accepted'), encoding='utf-8'):
        words = line.split(maxsplit=2)
        if words and not line.startswith('#'):
            accepted.setdefault(words[0], {})[words[1]] = words[2].strip()
    return accepted


def judge(kernel, list_path, results_path, outputs, trace):
    why, accepted, events, bad = observed.read_why(), read_accepted(), read_events(trace), 0
    arch = os.environ.get('RDMADIAG_ARCH')
    results = {words[0]: words for words in (line.split() for line in open(results_path, encoding='utf-8')) if words}
    for name, _, cause in read_list(list_path):
        wanted, got, named, origin = why.get(name, ({}, ''))[0], 'none', '-', '-'
        wanted = wanted.get(kernel, wanted.get(arch, cause))
        words = results.get(name, [name, 'not run'])
        if words[1] != '0' or words[3] == 'OK':
            # What does not fail here needs no cause, but a fault that was to fail has to.
            wrong = wanted != '-'
            print(name, wanted, '-', '-', '-', *(['WRONG', *words[1:]] if wrong else []))
            bad += wrong
            continue
        truth = read_truth(os.path.join(outputs, name))
        event = next((e for e in reversed(events[int(truth['pid'])]) if e['errno'] == words[3]), None)
        if event:
            got, named = event['cause_id'] or 'unknown', values(event, event['cause_id'], truth)
            origin = event['origin']['function'] + ('' if event['origin_exact'] else '+')
        lacks = event is not None and got == wanted and named.split('/')[0] != named.split('/')[1]
        # The first failure, or a later one if nothing says that it is the reason. It is certain only if there is one.
        elsewhere = event is not None and 'origin' in truth and (
            event['origin_exact'] or event['origin']['function'] not in (truth['origin'], truth.get('or_origin')))
        wrong = (got != wanted and got not in accepted.get(name, {})) or lacks or elsewhere or (event is not None and is_impossible(event))
        print(name, wanted, got, named, origin, *['WRONG'] * wrong)
        if wrong and event:
            print(json.dumps({key: event[key] for key in ('verb', 'errno', 'cause', 'evidence', 'fix', 'advice')}), truth, file=sys.stderr)
        bad += wrong
    return bad > 0


TABLE = '''# What trace-errno says about each fault

Made by `judge.py --table` from a run on each kernel (`tests/vm/check causes`). Do not edit.

The fault is on purpose, and its cause was written down, from the sources of the kernels, before trace-errno saw it:
[OBSERVED.md](OBSERVED.md). `=`: that cause, with all of its values. `?`: "cannot tell". `none`: no event. `–`: this kernel
lets the call pass. Anything else is another cause than the one expected; the reasons are in `accepted`.
'''


def table(list_path, files):
    kernels = dict(arg.split('=', 1) for arg in files)
    cells, counts = {}, {kernel: collections.Counter() for kernel in kernels}
    for kernel, path in kernels.items():
        for line in open(path, encoding='utf-8'):
            name, wanted, got = line.split()[:3]
            cells[name, kernel] = '–' if got == '-' else '=' if got == wanted else '?' if got == 'unknown' else got
            kind = 'does not fail here' if got == '-' else \
                ('"cannot tell", rightly' if got == 'unknown' else 'the cause') if got == wanted else \
                'no event' if got == 'none' else '"cannot tell" where there is a cause' if got == 'unknown' else 'another name'
            counts[kernel][kind] += 1
    print(TABLE)
    print(f'| | {" | ".join(kernels)} |\n|---|' + '---:|' * len(kernels))
    for kind in ('the cause', '"cannot tell", rightly', 'another name', '"cannot tell" where there is a cause', 'no event',
                 'does not fail here'):
        print(f'| {kind} | ' + ' | '.join(str(count[kind]) for count in counts.values()) + ' |')
    print(f'\n| fault | verb | cause | {" | ".join(kernels)} |\n|---|---|---|' + '---|' * len(kernels))
    for name, verb, cause in read_list(list_path):
        print(f'| {name} | {verb} | {cause} | ' + ' | '.join(cells.get((name, kernel), '?') for kernel in kernels) + ' |')
    print('\nAccepted, and why:\n')
    for name, others in read_accepted().items():
        for got, reason in others.items():
            print(f'- {name}: {got}: {reason}')
    return False


if __name__ == '__main__':
    if len(sys.argv) > 3 and sys.argv[1] == '--table':
        sys.exit(table(sys.argv[2], sys.argv[3:]))
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    sys.exit(judge(*sys.argv[1:]))
