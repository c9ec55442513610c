#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions of at most 80 lines, files of at most 600: what is longer is two things."""
import os, re, sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
bad = []
for top in ('lib', 'cmd', 'bpf', 'tests'):
    for folder, _, names in os.walk(top):
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
                    if n - start + 1 > 80:
                        bad.append(f'{path}:{start}: a function of {n - start + 1} lines')
                    start = None
print('\n'.join(bad), end='\n' if bad else '')
sys.exit(bool(bad))
