#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions of at most 120 lines, files of at most 1000, and budgets that only fall: tests/lint/budgets has for each directory of the
product how many lines of code it may have, and how many crumbs: files of less than 60 lines, headers that one file includes
beside its own, and public functions that one other file calls.

  tests/lint/sizes.py             fails where a limit or a budget is exceeded
  tests/lint/sizes.py --crumbs    lists the crumbs
  tests/lint/sizes.py --lower     writes lower budgets, where there is less than allowed; a higher one is written by hand"""
import collections, os, re, sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
BUDGETS = 'tests/lint/budgets'
HEAD = '''# What each directory may have at most: lines of code (without comments and blank lines), files of less than 60 lines, headers that
# one file includes beside its own, public functions that one other file calls. Read by tests/lint/sizes.py; "sizes.py --lower"
# after a change that needs less. A number is raised by hand, where an issue allows it, and the commit says which.
'''
KINDS = 'code', 'small', 'headers', 'functions'
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
DECLARED = re.compile(r'^[a-z][^=;{}()\n]*?\b(rd_[a-z0-9_]+)\(', re.M)
bad, texts = [], {}
for top in ('lib', 'cmd', 'bpf', 'tests'):
    for folder, _, names in os.walk(top):
        for name in names:
            if name.endswith(('.c', '.h')):
                path = os.path.join(folder, name)
                texts[path] = open(path, encoding='utf-8').read()


def functions(text):
    """(first line, lines) of each function. In this style "{" and "}" stand alone in the first column, and ")" before."""
    start, lines = None, text.split('\n')
    for n, line in enumerate(lines):
        if line == '{' and n and lines[n - 1].rstrip().endswith(')'):
            start = n
        elif line == '}' and start is not None:
            yield start, n - start + 1
            start = None


for path, text in sorted(texts.items()):
    if text.count('\n') > 1000:
        bad.append(f'{path}: {text.count(chr(10))} lines')
    bad += [f'{path}:{start}: a function of {n} lines' for start, n in functions(text) if n > 120]

# What is in the product, without its comments.
code = {path: COMMENT.sub(lambda m: m.group() if m.group()[0] in '"\'' else '', text)
        for path, text in texts.items() if not path.startswith('tests/')}
words = {path: set(re.findall(r'\brd_\w+', text)) for path, text in code.items() if path.endswith('.c')}
stem = lambda path: os.path.basename(path).partition('.')[0]
included = collections.Counter(m for path, text in code.items() for m in set(re.findall(r'#include "([^"]+)"', text))
                               if path.endswith('.h') or stem(m) != stem(path))
crumbs = collections.defaultdict(list)  # (folder, kind)
used = collections.Counter()
for path, text in sorted(code.items()):
    folder = os.path.dirname(path)
    used[folder, 'code'] += sum(1 for line in text.split('\n') if line.strip())
    if text.count('\n') < 60:
        crumbs[folder, 'small'].append(path)
    if not path.endswith('.h'):
        continue
    if sum(included[name] for name in {path, path.partition('/')[2], os.path.basename(path)}) <= 1:
        crumbs[folder, 'headers'].append(path)
    for name in dict.fromkeys(DECLARED.findall(text)):
        if sum(name in of for of in words.values()) == 2:
            crumbs[folder, 'functions'].append(f'{path}: {name}')
for key, found in crumbs.items():
    used[key] = len(found)

allowed = {}
for line in open(BUDGETS, encoding='utf-8') if os.path.exists(BUDGETS) else ():
    if line.strip() and line[0] != '#':
        folder, *numbers = line.split()
        allowed |= {(folder, kind): int(n) for kind, n in zip(KINDS, numbers)}
folders = sorted({folder for folder, _ in used})
if '--lower' in sys.argv:
    with open(BUDGETS, 'w', encoding='utf-8') as out:
        out.write(HEAD)
        for folder in folders:
            out.write(f'{folder:24}' + ''.join(f' {min(used[folder, kind], allowed.get((folder, kind), 1 << 30)):6}' for kind in KINDS) + '\n')
elif '--crumbs' in sys.argv:
    for (folder, kind), found in sorted(crumbs.items()):
        print(*(f'{kind}: {what}' for what in found), sep='\n')
else:
    over = False
    for folder in folders:
        for kind in KINDS:
            limit = allowed.get((folder, kind))
            if limit is None:
                bad.append(f'{folder}: {BUDGETS} has no line for it: sizes.py --lower adds it')
                break
            if used[folder, kind] > limit:
                over = True
                what = 'lines of code' if kind == 'code' else f'crumbs ({kind})'
                bad.append(f'{folder}: {used[folder, kind]} {what}, {limit} are allowed')
                bad += [f'  {crumb}' for crumb in crumbs[folder, kind]]
    if over:
        bad.append(f'make room there; or, where an issue allows it, raise the number in {BUDGETS} by hand, and the commit says which')
print('\n'.join(bad), end='\n' if bad else '')
sys.exit(bool(bad))
