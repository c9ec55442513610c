# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What tests are written with. Sourced by guest; W is a scratch folder of the machine, KERNEL the kernel's name here.

R=build/tests/vm/rdmadiag
FAIL=build/tests/vm/verbs-fail
# A copy: users other than root may not reach the checkout.
cp -r data "$W/data"
export RDMADIAG_DATADIR=$W/data R FAIL

# An emulated machine on a busy host is about this much slower than a real one: all limits in seconds are multiplied.
SLOW=3

only() { # KERNEL…
	[[ " $* " == *" $KERNEL "* ]] || exit 78
}

skip() { # WHY
	echo "$*"
	exit 77
}

fail() {
	echo "$*"
	return 1
}

# What is shown does not depend on how functions are hooked: the fastest way that the kernel has.
fast() {
	[ "$KERNEL" = 6.1 ] || echo --backend kprobe-multi
}

now() { # ms since boot: tests set the clock
	local up
	read -r up _ </proc/uptime
	echo $((10#${up/./} * 10))
}

# until_true SECONDS COMMAND…: tries less often with time, because each try takes the processor from what is waited for. From 10 s on
# it is a limit, and multiplied; less is what a test takes where the event may not come.
until_true() {
	local up end pauses=(0.1 0.2 0.3 0.5) n=0
	read -r up _ </proc/uptime
	end=$((10#${up/./} + $1 * ($1 < 10 ? 1 : SLOW) * 100))
	shift
	until "$@"; do
		read -r up _ </proc/uptime
		[ $((10#${up/./})) -lt $end ] || return 1
		nap "${pauses[n++]:-1}"
	done
}

# nap SECONDS: sleep, without a process. Nothing ever comes from this pipe. It is opened here: <(:) sets $!, which tests keep.
exec {quiet}<> <(:)
nap() {
	read -rt "$1" -u "$quiet" || :
}

# true_of FILE EXPRESSION [JQ-ARG…]: over the list of all documents in FILE. Of one that a trace is writing, the last line may be a
# part of one: then it is read again.
true_of() {
	local file=$1 expression=$2 n
	shift 2
	for n in 1 2 3 4 5; do
		jq -es "$@" "$expression" "$file" >/dev/null && return
		[ $? -ne 1 ] || break
		nap 0.$n
	done
	echo "not true of $file: $expression $*"
	head -c 6000 "$file"
	[ ! -e "${file%.json}.err" ] || cat "${file%.json}.err"
	return 1
}

# trace NAME ARG…: starts a trace in the background, and waits until it is on. Its output: $W/NAME.json, $W/NAME.err.
# Its process: ${pid[NAME]}. Without --events it would take the hooks that take longest to attach.
declare -A pid=()
trace() {
	local name=$1
	shift
	: >"$W/$name.err"
	"$R" trace-errno -v --json --events 1000000 "$@" >"$W/$name.json" 2>"$W/$name.err" &
	pid[$name]=$!
	if ! until_true 240 started "$name"; then
		echo "$name does not start"
		cat "$W/$name.err"
		return 1
	fi
}

started() {
	[[ $(<"$W/$1.err") == *': hooked '* ]] || ! kill -0 "${pid[$1]}" 2>/dev/null
}

# end NAME [SIGNAL]: ends it, its status is ours
end() {
	kill "-${2:-INT}" "${pid[$1]}"
	wait "${pid[$1]}"
}

# Events as lines, in the words of the table `chains`.
bare='def bare: sub("\\.(isra|part|constprop|cold)\\b.*"; "");'
line_of_event='(reduce .chain[] as $c ({ m: null, s: [] };
		(if .m == $c.module then . else .m = $c.module | .s += [$c.module + ":"] end) |
		.s += [($c.function | bare) + if $c.translated then "=" + $c.errno else "" end])) as $chain |
	[.verb // "-", .errno, .ibdev // "-", if .qpn == null then "-" else "qpn" end] + $chain.s | join(" ")'

# events_of FILE PID
events_of() {
	jq -r --argjson pid "$2" "$bare select(.pid? == \$pid and .benign == false) | $line_of_event" "$1"
}

# in_time MS-LIMIT COMMAND…: the command ends in this time (times SLOW)
in_time() {
	local limit=$1 began took
	shift
	began=$(now)
	"$@" || return
	took=$(($(now) - began))
	echo "took $took ms: $*"
	[ $took -le $((limit * SLOW)) ]
}

# A machine of ours starts without any BPF program, so that all there are were loaded by a trace.
nothing_of_ours() {
	[ "$(bpftool -j prog show | jq length)" = 0 ] && [ "$(bpftool -j link show | jq length)" = 0 ]
}

# gone: nothing is left of any trace after as long as it may take: 90 s on 6.x; 2 s on 7.x, in emulation SLOW times that.
# The times taken are kept in the file `gone`.
gone() {
	local limit=90 pause=3 began
	[ "$KERNEL" != 7.x ] || limit=$((2 * SLOW)) pause=0.5
	began=$(now)
	until nothing_of_ours; do
		if [ "$(now)" -ge $((began + limit * 1000)) ]; then
			echo "after $limit s there are still:"
			bpftool prog show | head -20
			bpftool link show | head -20
			return 1
		fi
		nap $pause
	done
	echo "${FUNCNAME[1]}: $(($(now) - began)) ms" | tee -a "$RD_VM_OUT/gone"
}

# holder NAME: the process that holds the hooks of this trace
holder() {
	pgrep -P "${pid[$1]}" rdmadiag-hold
}

# expected CASE: the line that events_of must give, from the table
expected() {
	awk -v want="$1" -v kernel="$KERNEL" -v own="$KERNEL-${RDMADIAG_ARCH:-amd64}" '
		/^#/ || !NF { next }
		/^[0-9]/ {
			split($0, half, /\t+/)
			if (at && (index(half[1], own) || index(" " half[1] " ", " " kernel " "))) {
				at = 0
				while (match(half[2], /@[A-Z_]+/))
					half[2] = substr(half[2], 1, RSTART - 1) "ib_uverbs: ib_uverbs_handler_UVERBS_METHOD_" \
						substr(half[2], RSTART + 1, RLENGTH - 1) " ib_uverbs_cmd_verbs ib_uverbs_ioctl" \
						substr(half[2], RSTART + RLENGTH)
				# A module is named once for functions that follow each other.
				n = split(half[2], word, " ")
				chain = last = ""
				for (i = 1; i <= n; i++) {
					if (word[i] ~ /:$/ && word[i] == last)
						continue
					if (word[i] ~ /:$/)
						last = word[i]
					chain = chain " " word[i]
				}
				print head chain
			}
			next
		}
		{ at = $1 == want; head = $2 " " $3 " " $4 " " $5 }
	' tests/vm/cases/chains
}

# run CASE [ARG…]: verbs-fail, whose process number is $ran
run() {
	"$FAIL" "$@" &
	ran=$!
	wait $ran
}

# shows TRACE CASE [PID]: the trace shows of this process (of $ran) the one event that the table has
shows() {
	local want got
	want=$(expected "$2")
	[ -n "$want" ]
	# The reader polls, and on a busy machine it is late.
	! until_true 60 has_events "$W/$1.json" "${3-$ran}" || return 0
	echo "wanted: $want"
	echo "got:    $got"
	return 1
}

has_events() { # FILE PID: sets $got; $want is that of the caller
	got=$(events_of "$1" "$2")
	[ "$got" = "$want" ]
}

# on_screen RE: what a live view in `tmux -L rd` shows
on_screen() {
	tmux -L rd capture-pane -p | grep -q -- "$1"
}

off_screen() {
	! on_screen "$1"
}

# few_bytes NAME: what the view in `tmux -L rd` writes to its terminal of 80x24 in 10 s, kept with the results
few_bytes() {
	local n
	tmux -L rd resize-window -x 80 -y 24
	sleep 3
	tmux -L rd pipe-pane -O "cat >$W/$1.bytes"
	sleep 10
	tmux -L rd pipe-pane
	n=$(($(wc -c <"$W/$1.bytes") / 10))
	echo "$KERNEL $1: $n bytes a second" | tee -a "$RD_VM_OUT/bytes"
	[ $n -gt 0 ] && [ $n -le 3000 ]
}

# captured NAME: what the view in `tmux -L rd` shows at three sizes, kept with the results; lines fit
captured() {
	local size file
	for size in 80x24 120x30 200x50; do
		tmux -L rd resize-window -x "${size%x*}" -y "${size#*x}"
		sleep 2
		file=$RD_VM_OUT/$1-$size.txt
		tmux -L rd capture-pane -p | sed 's/ *$//' >"$file"
		[ "$(wc -L <"$file")" -le "${size%x*}" ] || fail "$file"
	done
}
