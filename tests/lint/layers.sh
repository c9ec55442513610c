#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Holds the dependency rules of ARCHITECTURE.md by reading #include lines and calls. Prints each breach; fails if there is one.
cd "$(dirname "$0")/../.." || exit 1
breaches=0

breach() {
	printf '%s\n' "$*"
	breaches=$((breaches + 1))
}

# Which rooms the files of a room may include. All see base.
allowed() {
	case $1 in
	lib/base) echo "base" ;;
	lib/confine) echo "base confine" ;;
	lib/source) echo "base confine source bpf" ;;
	lib/model) echo "base model" ;;
	lib/collect) echo "base source model collect bpf" ;;
	lib/trace) echo "base confine source model collect trace bpf" ;;
	lib/analyse) echo "base model analyse bpf" ;;
	lib/check) echo "base model check" ;;
	lib/diagnose) echo "base model analyse diagnose" ;;
	lib/report) echo "base model report" ;;
	lib/render) echo "base report render" ;;
	lib/view) echo "base report render view" ;;
	cmd) echo "base confine source model collect trace analyse check diagnose report render view bpf cmd" ;;
	*) echo "" ;;
	esac
}

# Which other topics of its room a topic may include. All see their own folder and shared/.
topics() {
	case $1 in
	lib/source/bundle) echo "opener" ;;
	lib/source/opener) echo "bundle" ;; # walks folders with what reads them
	lib/source/guard) echo "opener" ;;
	lib/source/package) echo "bundle" ;;
	lib/source/live) echo "opener" ;;
	lib/source/record) echo "bundle opener" ;;
	lib/source/redact) echo "opener record" ;;
	lib/model/nicmap | lib/model/rdma) echo "host" ;;
	lib/model/trace) echo "host rdma" ;;
	lib/collect/host) echo "kernel" ;;
	lib/collect/net | lib/collect/rdma | lib/collect/nccl) echo "host" ;;
	lib/collect/counters | lib/collect/snapshot) echo "host net" ;;
	lib/collect/failure) echo "host kernel net rdma" ;;
	lib/trace/attach) echo "select" ;;
	lib/analyse/env | lib/analyse/run) echo "nccl" ;;
	lib/analyse/join) echo "qp" ;;
	lib/analyse/stacks) echo "env" ;;
	lib/analyse/nicmap) echo "env nccl stacks" ;;
	*) echo "" ;;
	esac
}

# check_topic FILE ROOM INCLUDED
check_topic() {
	local from to
	[ -e "lib/$3" ] || breach "$1: includes \"$3\", which is not there"
	from=$(cut -d/ -f3 <<<"${1%/*}") to=$(cut -s -d/ -f2 <<<"${3%/*}")
	[ -n "$to" ] && [ "$from" != "$to" ] && [ "$to" != shared ] || return
	case " $(topics "$2/$from") " in
	*" $to "*) ;;
	*) breach "$1: $2/$from must not see $2/$to ($3)" ;;
	esac
}

# Which other commands' folders a folder of cmd/ may include. All see what lies in cmd/ itself.
builds_on() {
	case $1 in
	qp-state) echo "bundles trace-errno" ;;
	nic-map) echo "bundles" ;;
	counters | capture) echo "fabric" ;;
	checks) echo "counters" ;;
	*) echo "" ;;
	esac
}

# check_command FILE INCLUDED
check_command() {
	local from to
	from=$(cut -d/ -f2 <<<"$1") to=$(cut -s -d/ -f2 <<<"${2%/*}")
	[ -e "$2" ] || breach "$1: includes \"$2\", which is not there"
	[ -n "$to" ] && [ "$from" != "$to" ] || return
	case " $(builds_on "$from") " in
	*" $to "*) ;;
	*) breach "$1: cmd/$from must not see cmd/$to ($2)" ;;
	esac
}

# Of bpf/, user space may see the shared layouts only; skeletons are for lib/trace.
check_include() {
	local file=$1 room=$2 included=$3 target
	case $included in
	*.skel.h) [ "$room" = lib/trace ] || breach "$file: only lib/trace loads BPF programs ($included)"; return ;;
	*.bpf.h) breach "$file: $included is for BPF programs only"; return ;;
	bpf/*) [ -e "$included" ] || return ;; # libbpf's own
	esac
	target=${included%%/*}
	if [ "$target" = "$included" ]; then
		# A header without a folder: the file's own room.
		[ -e "$(dirname "$file")/$included" ] || breach "$file: includes \"$included\", which is not in its room"
		return
	fi
	[ "$room" != "lib/$target" ] || check_topic "$file" "$room" "$included"
	[ "$room/$target" != cmd/cmd ] || check_command "$file" "$included"
	case " $(allowed "$room") " in
	*" $target "*) ;;
	*) breach "$file: $room must not see $target ($included)" ;;
	esac
}

while read -r file; do
	case $file in
	lib/*) room=$(cut -d/ -f1-2 <<<"$file") ;;
	*) room=cmd ;;
	esac
	if [ -z "$(allowed "$room")" ]; then
		breach "$file: no such room; see ARCHITECTURE.md"
		continue
	fi
	while read -r included; do
		check_include "$file" "$room" "$included"
	done < <(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$file")
done < <(find lib cmd -name '*.[ch]' | sort)

# Code without comments and string literals, as FILE:LINE:TEXT.
code() {
	python3 - "$@" <<'EOF'
import re, sys
for path in sys.argv[1:]:
    text = open(path, encoding='utf-8').read()
    blank = lambda m: re.sub(r'[^\n]', ' ', m.group(0))
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.S)
    for n, line in enumerate(text.split('\n'), 1):
        if line.strip():
            print(f'{path}:{n}:{line}')
EOF
}

# calls RULE FUNCTIONS FILES: no call of these functions in these files.
calls() {
	local rule=$1 functions=$2
	shift 2
	[ $# -gt 0 ] || return
	while read -r line; do
		breach "$line  <- $rule"
	done < <(code "$@" | grep -E "(^|[^A-Za-z0-9_>.])($functions)[[:space:]]*\(" | sed 's/[[:space:]]\{2,\}/ /g')
}

mapfile -t lib < <(find lib -name '*.[ch]' | sort)
calls "nothing below cmd prints" 'printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|perror|dprintf|vdprintf|warn|warnx' "${lib[@]}"

# The holder, what adds hooks, and what asks or opens in a process of its own, end themselves; end.c ends the program where it cannot go on.
mapfile -t no_exit < <(printf '%s\n' "${lib[@]}" |
	grep -vE '^lib/(trace/(attach/(holder|adder)|symbols/ustack-child)|source/(opener/child|opener/opener-serve|guard/source-guard-ask)\.c|base/end\.c)')
calls "nothing below cmd exits" 'exit|_exit|_Exit|quick_exit|abort|err|errx' "${no_exit[@]}"

mapfile -t no_clock < <(printf '%s\n' "${lib[@]}" | grep -vE '^lib/source/|^lib/trace/attach/(attach|holder|session)[a-z-]*\.c$')
calls "only a source reads the clock" 'time|clock_gettime|gettimeofday|clock|timespec_get' "${no_clock[@]}"

# The exceptions that source.h names.
mapfile -t no_host < <(printf '%s\n' "${lib[@]}" |
	grep -vE '^lib/source/|^lib/confine/|^lib/trace/(attach/(adder|attach|holder|session)|symbols/ustack)[a-z-]*\.c$')
host='open|openat|open64|creat|fopen|fdopen|freopen|popen|opendir|fdopendir|readdir|readlink|readlinkat|realpath'
host="$host|stat|lstat|fstat|fstatat|access|faccessat|socket|connect|uname|gethostname|getenv|secure_getenv|system"
host="$host|fork|vfork|execv[pe]*|execl[pe]*|syscall|ioctl|getpwnam|getpwuid|getifaddrs|if_nametoindex"
calls "only a source touches the host" "$host" "${no_host[@]}"

mapfile -t pure < <(printf '%s\n' "${lib[@]}" | grep -E '^lib/(model|analyse|check|diagnose|report|render|view)/')
calls "rooms that compute allocate by base/memory.h" \
	'malloc|calloc|realloc|reallocarray|strdup|strndup|asprintf|vasprintf|open_memstream|rd_grow' "${pure[@]}"

# Numbers are read in one way. What a library makes of a variable is found out with what the library calls, and what is written
# with printf by what reads it.
mapfile -t no_strtol < <(find lib cmd -name '*.[ch]' | sort | grep -vE \
	'^lib/(base/number\.c|analyse/env/envcheck-(values|ucx)\.c|render/metrics\.c|source/live/ethtool\.c)$')
calls "numbers are read by base/number.h" 'strto(l|ul|ll|ull|d|f|ld|imax|umax)|v?sscanf|v?fscanf|ato(i|l|ll|f)' "${no_strtol[@]}"

# Where sizes are foreign, a buffer says that it could not grow.
while read -r line; do
	breach "$line  <- struct rd_buf in a room of foreign sizes begins as RD_BUF_CHECKED"
done < <(grep -rnE 'struct rd_buf \w+ = \{' lib/source lib/collect lib/trace)

[ $breaches -eq 0 ]
