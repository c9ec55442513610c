#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154
# counters --fabric --live on small terminals and networks that respond slowly.

bats_require_minimum_version 1.5.0

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	# shellcheck source=tests/fabric/lib.sh
	. tests/fabric/lib.sh
	fabric_can && command -v tmux >/dev/null || return 0 # each test says so
	tests/fabric/generate 2 3 2 >"$BATS_FILE_TMPDIR/net"
	export FABRIC_DIR FABRIC_SOCKET FABRIC_HOST FABRIC_LIBRARY FABRIC_SIM_PID FABRIC_SM_PID
	fabric_up "$BATS_FILE_TMPDIR/net" Host-0-0 3>&-
	"${CC:-cc}" -O2 -std=gnu17 -D_GNU_SOURCE -shared -fPIC -o "$BATS_FILE_TMPDIR/madlat.so" tests/fabric/madlat.c -libumad -ldl
	# Names as UFM gives them.
	fabric ibnetdiscover 2>/dev/null | awk -F'[-" \t]+' '/^Switch/ { printf "0x%s \"MF0;SLG04-%02d:MQM8700/U1\"\n", $4, ++n }
		/^Ca/ { printf "0x%s \"node-rack%02d-compute-%04d.cluster.site mlx5_0\"\n", $4, ++c, c }' >"$BATS_FILE_TMPDIR/map"
}

teardown_file() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	. tests/fabric/lib.sh
	exec 7>/dev/null
	[ -z "${FABRIC_DIR:-}" ] || fabric_down
}

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	. tests/fabric/lib.sh
	fabric_can || skip "needs ibsim, opensm and infiniband-diags"
	command -v tmux >/dev/null || skip "no tmux"
	RD=${RDMADIAG:-$PWD/build/rdmadiag}
	SOCKET=$BATS_TEST_TMPDIR/tmux
}

teardown() {
	[ -z "${SOCKET:-}" ] || tm kill-server 2>/dev/null || :
}

tm() {
	tmux -S "$SOCKET" "$@"
}

console() {
	printf '%s\n' "$@" >"$FABRIC_DIR/console"
}

# view WIDTH HEIGHT [VARIABLE=VALUE...] -- [OPTION...]
view() {
	local width=$1 height=$2 variables=()
	shift 2
	while [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	shift
	cat >"$BATS_TEST_TMPDIR/run" <<EOF
cd $FABRIC_DIR/work
env IBSIM_SOCKNAME=$FABRIC_SOCKET SIM_HOST=$FABRIC_HOST LC_ALL=C.UTF-8 LD_PRELOAD=$BATS_FILE_TMPDIR/madlat.so:$FABRIC_LIBRARY \\
	${variables[*]} $RD counters --fabric --live --node-name-map $BATS_FILE_TMPDIR/map $*
echo status=\$?
sleep 100
EOF
	LC_ALL=C.UTF-8 tmux -S "$SOCKET" -f /dev/null new-session -d -x "$width" -y "$height" "exec sh $BATS_TEST_TMPDIR/run"
}

shown() {
	tm capture-pane -p -J | grep -q -- "$1"
}

seen() {
	until_true 20 shown "$1" || { tm capture-pane -p && return 1; }
}

# Presses q; the view must have ended half a second later (a busy machine: a second).
quits() {
	tm send-keys q
	until_true 1 shown 'status=' || { tm capture-pane -p && return 1; }
}

@test "80x24 and 40x12 with long names: errors, rates and waits are visible" {
	console 'PerformanceSet "Leaf-1"[2] PortCounters.SymbolErrorCounter=300'
	view 80 24 --
	seen 'warning .*MF0;SLG04-0[0-9]:.* 2 SymbolErrorCounter 300'
	seen 'NODE .*PORT .*NEW .*ERRORS .*TICKS .*XMIT .*RCV'
	seen '^  MF0;SLG04-0[0-9]:[^ ]* * 2 .*SymbolErrorCounter 300 '
	seen '^  node-rack0[1-6]-[^ ]*…'
	console 'PerformanceSet "Leaf-1"[2] PortCounters.SymbolErrorCounter=0'
	seen 'was warning .* 2 SymbolErrorCounter 300'
	tm send-keys c
	until_true 5 eval "! shown 'was warning'"
	quits
	shown '^summary of .*exit status 1; found: 0 critical, 1 warning'
	tm kill-server
	view 40 12 --
	seen 'NODE .*PORT .*NEW .*ERRORS'
	quits
}

@test "a walk that takes long shows the nodes it found, and keys work" {
	view 80 24 MADLAT_WALK_US=400000 -- --mad-timeout 2000
	until_true 1 shown '^walking, [0-9]* node' || { tm capture-pane -p && return 1; }
	tm send-keys '?'
	until_true 1 shown 'this help'
	quits
	shown 'status=0'
}

@test "keys work during a sweep that takes long" {
	console 'PerformanceSet "Leaf-1"[2] PortCounters.SymbolErrorCounter=0'
	lid=$(fabric ibnetdiscover 2>/dev/null | sed -n 's/.*"host 1-1".*lid \([0-9]*\).*/\1/p' | head -1)
	[ -n "$lid" ]
	view 80 24 "MADLAT_DEAD=$lid" -- --mad-timeout 1500 --retries 0
	seen '^reading, .*by errors: 0 critical, 1 warning'
	tm send-keys n
	until_true 1 shown '^reading, .*by node: '
	quits
}

@test "it writes less than 3 kB a second, at one sweep a second" {
	view 80 24 -- -i 1
	seen 'critical'
	tm pipe-pane "cat >$BATS_TEST_TMPDIR/bytes"
	sleep 6
	tm kill-server
	bytes=$(stat -c %s "$BATS_TEST_TMPDIR/bytes")
	echo "$((bytes / 6)) bytes a second"
	[ "$bytes" -lt 18000 ]
}
