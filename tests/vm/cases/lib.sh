# shellcheck shell=bash
# What tests are written with. Sourced by guest; W is a scratch folder of the machine, KERNEL the kernel's name here.

R=build/tests/vm/rdmadiag
FAIL=build/tests/vm/verbs-fail
export RDMADIAG_DATADIR=$PWD/data R FAIL

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

now() { # ms
	echo $((${EPOCHREALTIME/./} / 1000))
}

# until_true SECONDS COMMAND…
until_true() {
	local end=$(($(now) + $1 * 1000))
	shift
	until "$@"; do
		[ "$(now)" -lt $end ] || return 1
		sleep 0.1
	done
}

# true_of FILE EXPRESSION [JQ-ARG…]: over the list of all documents in FILE
true_of() {
	local file=$1 expression=$2
	shift 2
	jq -es "$@" "$expression" "$file" >/dev/null && return
	echo "not true of $file: $expression $*"
	head -c 6000 "$file"
	[ ! -e "${file%.json}.err" ] || cat "${file%.json}.err"
	return 1
}

# trace NAME ARG…: starts a trace in the background, and waits until it is on. Its output: $W/NAME.json, $W/NAME.err.
# Its process: ${pid[NAME]}
declare -A pid=()
trace() {
	local name=$1
	shift
	: >"$W/$name.err"
	# Of the time of starting, job control makes a process group of its own, which a terminal's Ctrl-C would reach.
	"$R" trace-errno -v --json "$@" >"$W/$name.json" 2>"$W/$name.err" &
	pid[$name]=$!
	if ! until_true 120 started "$name"; then
		echo "$name does not start"
		cat "$W/$name.err"
		return 1
	fi
}

started() {
	grep -q ': hooked ' "$W/$1.err" || ! kill -0 "${pid[$1]}" 2>/dev/null
}

# end NAME [SIGNAL]: ends it, its status is ours
end() {
	kill "-${2:-INT}" "${pid[$1]}"
	wait "${pid[$1]}"
}

# Events as lines: verb errno device qpn origin chain, innermost first; "-" is unknown, "qpn" any number; a function
# whose error was turned into another has it behind an "=".
line_of_event='[.verb // "-", .errno, .ibdev // "-", if .qpn == null then "-" else "qpn" end,
	(.chain | map((.module // "?") + ":" + .function + if .translated then "=" + .errno else "" end) | join(" "))] | join(" ")'

# events_of FILE PID
events_of() {
	jq -r --argjson pid "$2" "select(.pid? == \$pid and .benign == false) | $line_of_event" "$1"
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

ours() {
	bpftool -j prog show | jq '[.[] | select(.name? // "" | test("^(fexit_|fentry_|kprobe_|whoami)"))] | length'
}

nothing_of_ours() {
	[ "$(ours)" = 0 ] && [ "$(bpftool -j link show | jq length)" = 0 ]
}
