#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the dependency rules of ARCHITECTURE.md by reading #include lines and calls. Prints each breach; fails if there is one."""
import glob, os, re, sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))

# Which rooms the files of a room may include. All see base.
ROOMS = {
    'lib/base': 'base',
    'lib/confine': 'base confine',
    'lib/source': 'base confine source bpf',
    'lib/model': 'base model bpf',
    'lib/collect': 'base source model collect bpf',
    'lib/trace': 'base confine source model collect trace bpf',
    'lib/analyse': 'base model analyse bpf',
    'lib/check': 'base model check',
    'lib/diagnose': 'base model analyse diagnose',
    'lib/report': 'base model report',
    'lib/render': 'base report render',
    'lib/view': 'base report render view',
    'cmd': 'base confine source model collect trace analyse check diagnose report render view bpf cmd',
}
# Which other topics of its room a topic may include. All see their own folder and shared/.
TOPICS = {
    'lib/source/bundle': 'opener',
    'lib/source/opener': 'bundle',  # walks folders with what reads them
    'lib/source/guard': 'opener',
    'lib/source/package': 'bundle',
    'lib/source/live': 'opener',
    'lib/source/record': 'bundle opener',
    'lib/source/redact': 'opener record',
    'lib/model/nicmap': 'host',
    'lib/model/rdma': 'host',
    'lib/model/trace': 'host rdma',
    'lib/collect/host': 'kernel',
    'lib/collect/net': 'host',
    'lib/collect/rdma': 'host',
    'lib/collect/nccl': 'host',
    'lib/collect/counters': 'host net',
    'lib/collect/snapshot': 'host net',
    'lib/collect/failure': 'host kernel net rdma',
    'lib/diagnose/explain': 'findings',
    'lib/trace/attach': 'select',
    'lib/analyse/env': 'nccl',
    'lib/analyse/run': 'nccl',
    'lib/analyse/job': 'env nccl qp',
    'lib/analyse/join': 'qp',
    'lib/analyse/stacks': 'env',
    'lib/analyse/nicmap': 'env nccl stacks',
}
# Which other commands' folders a folder of cmd/ may include. All see what lies in cmd/ itself.
BUILDS_ON = {
    'qp-state': 'bundles trace-errno',
    'nic-map': 'bundles',
    'job': 'qp-state trace-errno',
    'counters': 'fabric',
    'capture': 'fabric job qp-state',
    'checks': 'counters',
    'explain': 'checks',
}
HOST = ('open|openat|open64|creat|fopen|fdopen|freopen|popen|opendir|fdopendir|readdir|readlink|readlinkat|realpath'
        '|stat|lstat|fstat|fstatat|access|faccessat|socket|connect|uname|gethostname|getenv|secure_getenv|system'
        '|fork|vfork|execv[pe]*|execl[pe]*|syscall|ioctl|getpwnam|getpwuid|getifaddrs|if_nametoindex')
# (rule, functions, files): no call of these functions in these files.
CALLS = [
    ('nothing below cmd prints', 'printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|perror|dprintf|vdprintf|warn|warnx', 'lib/'),
    # The holder, what adds hooks, and what asks or opens in a process of its own, end themselves; memory.c ends the program where it
    # cannot go on.
    ('nothing below cmd exits', 'exit|_exit|_Exit|quick_exit|abort|err|errx',
     r'lib/(?!trace/(attach/holder|symbols/ustack)\.c'
     r'|source/(opener/child|opener/opener|guard/source-guard)\.c|base/memory\.c)'),
    ('only a source reads the clock', 'time|clock_gettime|gettimeofday|clock|timespec_get',
     r'lib/(?!source/|trace/attach/(attach|holder|session)[a-z-]*\.c$)'),
    # The exceptions that source.h names.
    ('only a source touches the host', HOST,
     r'lib/(?!source/|confine/|trace/(attach/(attach|holder|session)|symbols/ustack)[a-z-]*\.c$)'),
    ('rooms that compute allocate by base/base.h',
     'malloc|calloc|realloc|reallocarray|strdup|strndup|asprintf|vasprintf|open_memstream|rd_grow',
     'lib/(model|analyse|check|diagnose|report|render|view)/'),
    # Numbers are read in one way. What a library makes of a variable is found out with what the library calls, and what is written
    # with printf by what reads it.
    ('numbers are read by base/text.h', 'strto(l|ul|ll|ull|d|f|ld|imax|umax)|v?sscanf|v?fscanf|ato(i|l|ll|f)',
     r'(?!lib/(base/number\.c|analyse/env/envcheck(-ucx)?\.c|render/metrics\.c|source/live/source-live\.c)$)'),
]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]*)"', re.M)
COMMENT_OR_LITERAL = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
CALL = re.compile(r'(?<![\w>.])(\w+)\s*\(', re.A)
BUFFER = re.compile(r'struct rd_buf \w+ = \{')


def folder(path, n):
    """The nth folder of a path; '' where it has fewer."""
    return ''.join(path.split('/')[n:-1][:1])


def check_neighbour(file, room, included):
    """In one room: another topic, or another command's folder."""
    to = folder(included, 1)
    if room == 'cmd':
        path, own = included, file.split('/')[1]
        others = BUILDS_ON.get(own, '')
    else:
        path, own = f'lib/{included}', folder(file, 2)
        others = TOPICS.get(f'{room}/{own}', '') + ' shared'
    if not os.path.exists(path):
        yield f'includes "{included}", which is not there'
    if to and to != own and to not in others.split():
        yield f'{room}/{own} must not see {room}/{to} ({included})'


def check_include(file, room, included):
    """Of bpf/, user space may see the shared layouts only; skeletons are for lib/trace."""
    target, slash, _ = included.partition('/')
    if included.endswith('.skel.h'):
        if room != 'lib/trace':
            yield f'only lib/trace loads BPF programs ({included})'
    elif included.endswith('.bpf.h'):
        yield f'{included} is for BPF programs only'
    elif target == 'bpf' and slash and not os.path.exists(included):
        pass  # libbpf's own
    elif not slash:
        # A header without a folder: the file's own room.
        if not os.path.exists(os.path.join(os.path.dirname(file), included)):
            yield f'includes "{included}", which is not in its room'
    else:
        if room in ('lib/' + target, target):
            yield from check_neighbour(file, room, included)
        if target not in ROOMS[room].split():
            yield f'{room} must not see {target} ({included})'


def check_includes(file, text):
    room = '/'.join(file.split('/')[:2]) if file.startswith('lib/') else 'cmd'
    if room not in ROOMS:
        yield f'{file}: no such room; see ARCHITECTURE.md'
        return
    for included in INCLUDE.findall(text):
        for breach in check_include(file, room, included):
            yield f'{file}: {breach}'


def check_calls(sources):
    lines = []
    for file, text in sources.items():
        code = COMMENT_OR_LITERAL.sub(lambda m: re.sub(r'[^\n]', ' ', m.group()), text)
        lines += [(file, n, line, {*CALL.findall(line)}) for n, line in enumerate(code.split('\n'), 1) if '(' in line]
    called = set().union(*(names for _, _, _, names in lines))
    for rule, functions, files in CALLS:
        barred = {name for name in called if re.fullmatch(functions, name)}
        for file, n, line, names in lines:
            if not barred.isdisjoint(names) and re.match(files, file):
                line = re.sub(r'\s{2,}', ' ', line).rstrip()
                yield f'{file}:{n}:{line}  <- {rule}'


def check_buffers(sources):
    """Where sizes are foreign, a buffer says that it could not grow. What is in a bundle has the limits of its tree."""
    for file, text in sources.items():
        if not re.match(r'lib/source/(bundle|record|redact)/', file) and file.startswith(('lib/source/', 'lib/collect/', 'lib/trace/')):
            for n, line in enumerate(text.split('\n'), 1):
                if BUFFER.search(line):
                    yield f'{file}:{n}:{line.rstrip()}  <- struct rd_buf in a room of foreign sizes begins as RD_BUF_CHECKED'


sources = {}
for file in sorted(glob.glob('lib/**/*.[ch]', recursive=True) + glob.glob('cmd/**/*.[ch]', recursive=True)):
    with open(file, encoding='utf-8') as source:
        sources[file] = source.read()
bad = [breach for file, text in sources.items() for breach in check_includes(file, text)]
bad += [*check_calls(sources), *check_buffers(sources)]
print('\n'.join(bad), end='\n' if bad else '')
sys.exit(bool(bad))
