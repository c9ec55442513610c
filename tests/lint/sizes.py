#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions of at most 60 lines (80 in tests), files of at most 600, folders of at most 20 sources: what is longer is two things."""
import os, re, sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
bad = []
for top in ('lib', 'cmd', 'bpf', 'tests'):
    longest = 80 if top == 'tests' else 60
    for folder, _, names in os.walk(top):
        sources = [name for name in names if name.endswith('.c')]
        if top in ('lib', 'cmd') and len(sources) > 20:
            bad.append(f'{folder}: {len(sources)} sources: cut it into topics')
        for name in sorted(names):
            if not name.endswith(('.c', '.h')):
                continue
            path = os.path.join(folder, name)
            lines = open(path, encoding='utf-8').read().split('\n')
            if len(lines) > 601:
                bad.append(f'{path}: {len(lines) - 1} lines')
            # A function, in this style: "{" and "}" alone in the first column, and ")" before.
            start = None
            for n, line in enumerate(lines):
                if line == '{' and n and lines[n - 1].rstrip().endswith(')'):
                    start = n
                elif line == '}' and start is not None:
                    if n - start + 1 > longest:
                        bad.append(f'{path}:{start}: a function of {n - start + 1} lines')
                    start = None
print('\n'.join(bad), end='\n' if bad else '')
sys.exit(bool(bad))
