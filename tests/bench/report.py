#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the report of the benchmark from build/bench/KERNEL.cost and KERNEL.attach: report.py KERNEL..."""
import datetime, os, platform, statistics, subprocess, sys

BACKENDS = ('fexit', 'fexit-multi', 'kprobe-multi', 'kprobe')


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.split('\n')[0]
    except OSError:
        return 'unknown'


class Kernel:
    def __init__(self, name):
        self.name, self.release = name, '?'
        self.cost, self.attach = {}, {}
        self.parts = {'cost': {}, 'attach': {}}
        for kind in ('cost', 'attach'):
            with open(f'build/bench/{name}.{kind}', encoding='utf-8') as f:
                for line in f:
                    self.read(kind, line.split())

    def read(self, kind, words):
        if words[:1] == ['kernel'] and len(words) == 2:
            self.release = words[1]
        elif words[:1] == ['cost'] and len(words) == 5:
            self.cost[tuple(words[1:4])] = int(words[4])
        elif words[:1] == ['parts'] and len(words) == 8:
            self.parts[kind].setdefault(tuple(words[1:3]), []).append([int(words[3])] + [float(w) for w in words[4:]])
        elif words[:1] == ['attach'] and len(words) == 7:
            self.attach.setdefault((words[1], words[2]), []).append([int(words[3])] + [float(w) for w in words[4:]])

    def get(self, backend, path, what):
        return self.cost.get((backend, path, what))

    def has(self, backend):
        return self.get(backend, 'ok', 'ours') is not None


class Table:
    def __init__(self, *columns):
        self.rows = [columns, tuple('---' for _ in columns)]

    def add(self, *cells):
        self.rows.append(tuple('–' if c is None else f'{c:,.0f}' if isinstance(c, float) else str(c) for c in cells))

    def __str__(self):
        return ''.join('| ' + ' | '.join(row) + ' |\n' for row in self.rows)


def met(yes):
    return 'met' if yes else '**not met**'


def ratio(a, b):
    return f'{a / b:.2f}'


def success(kernels):
    table = Table('kernel', 'hook', 'function: bare', 'ours', 'ours/bare', 'aim ≤ 1', 'door: bare', 'ours', 'ours/bare',
                  'both verbs: untraced', 'bare', 'ours', 'ours/bare')
    for k in kernels:
        untraced = k.get('none', 'ok', 'untraced')
        inner, doors = k.get('all', 'ok', 'inner'), k.get('all', 'ok', 'roots')
        for b in filter(k.has, BACKENDS):
            check, ours = k.get(b, 'ok', 'check'), k.get(b, 'ok', 'ours')
            check_in, ours_in = k.get(b, 'ok', 'check-inner'), k.get(b, 'ok', 'ours-inner')
            fn = (check_in - untraced) / inner, (ours_in - untraced) / inner
            door = (check - check_in) / doors, (ours - ours_in) / doors
            # Less than half an instruction is a difference of how often something else ran.
            table.add(k.name, b, fn[0], fn[1], ratio(fn[1], fn[0]), met(fn[1] - fn[0] < 0.5), door[0], door[1],
                      ratio(door[1], door[0]), untraced, f'+{check - untraced:,}', f'+{ours - untraced:,}',
                      ratio(ours - untraced, check - untraced))
    return table


def failure(kernels):
    table = Table('kernel', 'hook', 'failing exits', 'per exit: bare record', 'ours', 'ours/bare', 'aim < 1.5',
                  'whole verb: untraced', 'bare record', 'ours', 'ours/bare')
    for k in kernels:
        untraced = k.get('none', 'fail', 'untraced')
        for b in filter(k.has, BACKENDS):
            n = k.get(b, 'fail', 'failing')
            check, record, ours = (k.get(b, 'fail', what) for what in ('check', 'record', 'ours'))
            table.add(k.name, b, n, (record - check) / n, (ours - check) / n, ratio(ours - check, record - check),
                      met(ours - check < 1.5 * (record - check)), untraced, f'+{record - untraced:,}',
                      f'+{ours - untraced:,}', ratio(ours - untraced, record - untraced))
    return table


def peers(kernels):
    table = Table('kernel', 'functions', 'call', 'untraced', 'bpftrace', 'ours', 'hook of ours', 'ours/bpftrace', 'aim < 1')
    for k in kernels:
        for path, call in (('ok', 'reg_mr and dereg_mr, succeed'), ('fail', 'reg_mr, fails')):
            untraced, theirs, ours = k.get('none', path, 'untraced'), k.get('peer', path, 'bpftrace'), k.get('peer', path, 'ours')
            if theirs is None:
                continue
            hooks = ', '.join(b for b in BACKENDS if k.get('peer', path, b))
            aim = met(ours < theirs) if path == 'ok' else ''
            table.add(k.name, k.get('peer', path, 'functions'), call, untraced, f'+{theirs - untraced:,}', f'+{ours - untraced:,}',
                      hooks, ratio(ours - untraced, theirs - untraced), aim)
    return table


def stacks(kernels):
    table = Table('kernel', 'hook', 'added by --stack', 'one stack, bare', 'stacks a chain', 'frames', 'aim: once')
    for k in kernels:
        for b in filter(k.has, BACKENDS):
            added = k.get(b, 'fail', 'ours-stack') - k.get(b, 'fail', 'ours')
            one = k.get(b, 'fail', 'stack-origin') - k.get(b, 'fail', 'record-origin')
            table.add(k.name, b, float(added), float(one), ratio(added, one), k.get(b, 'fail', 'frames'),
                      met(added < 1.5 * one))
    return table


def peer_version():
    version = first_line('bpftrace', '--version')
    return version if version != 'unknown' else 'bpftrace, which was not installed'


def spread(runs, column):
    values = [run[column] for run in runs]
    return f'{min(values):.2f}' if len(values) == 1 else f'{min(values):.2f} ({statistics.median(values):.2f})'


def times(kernels):
    table = Table('kernel', 'hook', 'asked for', 'functions', 'start to ready', 'prompt back', 'aim: < 1 s', 'nothing left')
    for k in kernels:
        for (backend, what), runs in k.attach.items():
            table.add(k.name, backend, what, runs[0][0], spread(runs, 1), spread(runs, 2),
                      met(min(run[2] for run in runs) < 1), spread(runs, 3))
    return table


def parts(kernels):
    table = Table('kernel', 'hook', 'asked for', 'functions', 'by', 'choosing', 'loading', 'hooking', 'aim on 7.x: < 1 s',
                  'all three', 'below 1 s, too', 'taking away')
    for k in kernels:
        for (backend, what), counted in k.parts['cost'].items():
            for by, runs in ('instructions', counted), ('the clock', k.parts['attach'].get((backend, what))):
                if not runs:
                    continue
                least = [min(run[column] for run in runs) for column in range(5)]
                table.add(k.name, backend, what, least[0], by, *(spread(runs, column) for column in (1, 2, 3)),
                          met(least[3] < 1) if k.name == '7.x' else '', f'{sum(least[1:4]):.2f}',
                          ('yes' if sum(least[1:4]) < 1 else 'no') if k.name == '7.x' else '', spread(runs, 4))
    return table


def main():
    kernels = [Kernel(name) for name in sys.argv[1:]]
    releases = ', '.join(f'{k.name} is {k.release}' for k in kernels)
    print(f'''# What tracing costs

Made by `make bench` on {datetime.date.today()}: QEMU in software emulation on a machine with {os.cpu_count()} processors ({platform.machine()}).
{first_line('qemu-system-x86_64', '--version')}; Debian kernels: {releases}.
Load of the machine: {os.environ.get('BENCH_LOAD', 'unknown')}. Counts of instructions do not depend on it, times do.
Work: `ibv_reg_mr` of 4096 bytes and `ibv_dereg_mr` on soft-RoCE (succeeds), `ibv_reg_mr` of a range that is not mapped
(fails with EFAULT).

## Instructions

Counted by `-icount shift=0` on one processor, so they repeat exactly; they are not cycles. First quartile of 800 rounds,
less the same rounds without hooks. All hooks are on the same functions: those of the selection that the verbs pass.
*Bare* is the least that a program on the same hook can do: read the return value, hold it against the range of an errno,
return; *bare record* also sends address, cookie, time, pid, tid and name for each exit with an errno. The same code hooks
bare programs and ours. A *function* is one on the way (a hook at its exit); a *door* is where a thread enters the kernel
(hooks at entry and exit), where ours keeps the thread's state.

### A call that succeeds: added per call

{success(kernels)}
A door costs more than a bare pair of hooks, as at both the thread's state is looked up; a verb passes one to three.

### A call that fails: added

{failure(kernels)}
Ours sends one record for the whole chain, with verb, device and counts, bare sends one for each exit.

### Beside bpftrace

{peer_version()}, as an operator would use it: a kretprobe on each function with the filter
`/(int32)retval < 0 && (int32)retval >= -4095/` and `@[probe, (int32)retval] = count()`; ours on the same functions with `--backend
auto`. A call that fails is more than counted by ours: request, limits, objects and memory of the caller are read for its cause.

{peers(kernels)}
### --stack

{stacks(kernels)}
## Time

In seconds by the clock, with two emulated processors: least (median) of the runs, one where it takes long.
50 and 200 are chosen from the selection by a program of the benchmark; *all* is the product, `trace-errno --backend`;
*drivers* is `trace-errno` with mlx5_ib, mlx4_ib, irdma and bnxt_re loaded, too. Ready is when it says that it traces. The
prompt is back, counted from Ctrl-C, when the command has ended; nothing is left when the kernel has no program or link of
ours any more.

{times(kernels)}
What of that is choosing functions (unpacking module files, the call graph), loading programs, and hooking: from the first
hook to ready. By instructions: billions of them, on one processor, which are seconds at one instruction a nanosecond.

{parts(kernels)}''', end='')


main()
