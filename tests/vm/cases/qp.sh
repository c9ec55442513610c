# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What tests of qp-state are written with. Sourced by the cases that need it.

PLAY=build/tests/vm/qp-play

# play NAME [ARG…]: qp-play in the background, until both ends are there. Its output: $W/NAME.out; its ends: queue pairs
# $a (on rxe0) and $b (on rxe1), processes ${pid[NAME]} and $peer
play() {
	local name=$1 said
	shift
	: >"$W/$name.out"
	"$PLAY" "$@" >"$W/$name.out" 2>&1 &
	pid[$name]=$!
	until_true 20 both_ends "$name" || {
		cat "$W/$name.out"
		return 1
	}
	said=$(<"$W/$name.out")
	[[ $said =~ A\ pid\ [0-9]+\ qpn\ ([0-9]+) ]] && a=${BASH_REMATCH[1]}
	[[ $said =~ B\ pid\ ([0-9]+)\ qpn\ ([0-9]+) ]] && peer=${BASH_REMATCH[1]} b=${BASH_REMATCH[2]}
	until_true 5 said "$name" 'A ready' || : # where nothing gets through it never is
}

both_ends() { [[ $(<"$W/$1.out") =~ [AB]' pid '.*$'\n'[AB]' pid ' ]]; }
said() { [[ $'\n'$(<"$W/$1.out") == *$'\n'"$2"* ]]; }
ended() { ! kill -0 "${pid[$1]}" 2>/dev/null; }

# record NAME [ARG…]: the recorder in the background, until it is on
record() {
	local name=$1
	shift
	: >"$W/$name.err"
	"$R" -v --json qp-state --trace "$@" >"$W/$name.json" 2>"$W/$name.err" &
	pid[$name]=$!
	if ! until_true 60 started "$name" || ended "$name"; then
		cat "$W/$name.err"
		return 1
	fi
}

# watch NAME [ARG…]: look after look in the background
watch() {
	local name=$1
	shift
	"$R" --json qp-state -i 0.5 --type RC "$@" >"$W/$name.json" 2>"$W/$name.err" &
	pid[$name]=$!
}

# A line that is under way is no JSON yet: then it is not there yet.
line_holds() { # NAME EXPRESSION, with $a and $b
	jq -e -n --argjson a "$a" --argjson b "$b" "[inputs | select($2)] | length > 0" "$W/$1.json" >/dev/null 2>&1
}

# saw NAME EXPRESSION: of an event of the recorder NAME, before long
saw() {
	until_true 30 line_holds "$1" "$2" && return
	echo "not seen: $2"
	tail -c 3000 "$W/$1.json"
	return 1
}

# judged NAME END EXPRESSION: of the queue pair at that end (a, b), in a look of the watch NAME, before long
judged() {
	local dev=rxe0
	[ "$2" = a ] || dev=rxe1
	until_true 30 line_holds "$1" "[.qps[]? | select(.ibdev == \"$dev\" and .lqpn == \$$2 and ($3))] | length > 0" && return
	echo "$2 was never: $3"
	cat "$W"/*.out
	tail -n 2 "$W/$1.json" | jq -c '.qps[]? | [.ibdev, .lqpn, .state, .state_seconds, .state_age_kind, .verdict, .reason]'
	return 1
}

# fault PARAMETER…: what module/rdfault.c does to a device, until the test ends
fault() {
	local file=build/tests/vm/$RD_VM_KERNEL-module/rdfault.ko
	[ -e "$file" ] || skip "there is no rdfault.ko for $KERNEL: $(tail -1 "build/tests/vm/$RD_VM_KERNEL-module.log")"
	insmod "$file" "$@"
	trap 'kill $(jobs -p) 2>/dev/null || :; rmmod rdfault' EXIT
}
