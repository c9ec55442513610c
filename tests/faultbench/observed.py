#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""OBSERVED.md, from `verbs-fault --list`, the file `why` and what tests/faultbench/guest printed on each kernel.

    observed.py LIST 6.1=LOG 6.12=LOG 7.x=LOG >tests/faultbench/OBSERVED.md

Fails where a fault has no reason in `why`, and where one that is expected to fail passed, or the other way round."""
import collections, os, sys

HEAD = '''# What the kernels do

The ground truth: made by `observed.py` from a run on each kernel and from `why`, which was read in the sources. Do not edit.

An errno of `OK` is a call that this kernel lets pass, `–` one whose set-up this kernel cannot make. One expected cause is
that of all kernels; `–` on one of them: nothing fails there. Files without a folder of their own are of drivers/infiniband.
PIN is what pins memory: core/umem.c:ib_umem_get, on 7.x core/umem.c:__ib_umem_get_va.
'''


def read_why():
    why = {}
    for block in open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'why'), encoding='utf-8').read().split('\n\n'):
        lines = [line for line in block.split('\n') if line and not line.startswith('#')]
        if lines:
            override = dict(word.split('=') for word in lines[1].split()) if len(lines) == 3 else {}
            why.update((name, (override, lines[-1].replace('@PIN', 'PIN'))) for name in lines[0].split())
    return why


def main():
    why, logs, bad, causes = read_why(), {}, [], collections.Counter()
    for arg in sys.argv[2:]:
        kernel, path = arg.split('=', 1)
        logs[kernel] = {}
        for line in open(path, encoding='utf-8'):
            words = line.split()
            if len(words) >= 4:
                logs[kernel][words[0]] = words[3] if words[1] == '0' else '–'
    rows = []
    for line in open(sys.argv[1], encoding='utf-8'):
        name, verb, cause, _ = line.split(maxsplit=3)
        override, reason = why.get(name, ({}, ''))
        errnos = [log.get(name, '?') for log in logs.values()]
        expected = [override.get(kernel, cause).replace('-', '–', override.get(kernel) == '-') for kernel in logs]
        bad += [f'{name}: no reason in why'] if not reason else []
        bad += [f'{name}: {errno}, expected {want}' for errno, want in zip(errnos, expected)
                if errno == '?' or (errno in ('OK', '–')) != (want == '–')]
        causes[cause] += 1
        text = expected[0] if len(set(expected)) == 1 else ' / '.join(expected)
        rows.append(f'| {name} | {verb} | {" | ".join(errnos)} | {text} | {reason.replace("|", chr(92) + "|")} |')
    print(HEAD)
    print(f'| NAME | VERB | {" | ".join(logs)} | expected cause | why |')
    print('|---|---|' + '---|' * len(logs) + '---|---|')
    print('\n'.join(rows))
    print(f'\n{len(rows)} faults, by cause:\n')
    print(', '.join(f'{cause} {n}' for cause, n in sorted(causes.items(), key=lambda item: (-item[1], item[0]))))
    print('\n'.join(bad), end='\n' if bad else '', file=sys.stderr)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
