#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154
# counters --fabric --live on small terminals and networks that respond slowly.

load here
load terminal

setup_file() {
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
	. tests/fabric/lib.sh
	exec 7>/dev/null
	[ -z "${FABRIC_DIR:-}" ] || fabric_down
}

setup() {
	. tests/fabric/lib.sh
	fabric_can || skip "needs ibsim, opensm and infiniband-diags"
	command -v tmux >/dev/null || skip "no tmux"
	n_terminals=0
}

teardown() {
	[ -z "${SOCKET:-}" ] || tm kill-server 2>/dev/null || :
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
	${variables[*]} $RD counters --fabric --live --mad-timeout 60000 --node-name-map $BATS_FILE_TMPDIR/map $*
echo status=\$?
sleep 600
EOF
	# A server that is ending still has its socket.
	SOCKET=$BATS_TEST_TMPDIR/tmux$((n_terminals++))
	LC_ALL=C.UTF-8 tmux -S "$SOCKET" -f /dev/null new-session -d -x "$width" -y "$height" "exec sh $BATS_TEST_TMPDIR/run"
}

shown() {
	tm capture-pane -p -J | grep -q -- "$1"
}

quits() {
	tm send-keys q
	seen 'status='
}

@test "80x24 and 40x12 with long names: errors, rates and waits are visible" {
	fabric_console 'PerformanceSet "Leaf-1"[2] PortCounters.SymbolErrorCounter=300'
	view 80 24 --
	seen 'warning .*MF0;SLG04-0[0-9]:.* 2 SymbolErrorCounter 300'
	seen 'NODE .*PORT .*NEW .*ERRORS .*TICKS .*XMIT .*RCV'
	seen '^  MF0;SLG04-0[0-9]:[^ ]* * 2 .*SymbolErrorCounter 300 '
	seen '^  …[^ ]*-rack0[1-6]-compute-000[1-6]…'
	fabric_console 'PerformanceSet "Leaf-1"[2] PortCounters.SymbolErrorCounter=0'
	seen 'was warning .* 2 SymbolErrorCounter 300'
	tm send-keys c
	until_true eval "! shown 'was warning'"
	quits
	shown '^summary of .*exit status 1; found: 0 critical, 1 warning'
	tm kill-server
	view 40 12 --
	seen 'NODE .*PORT .*NEW .*ERRORS'
	quits
}

# Of these two, no datagram of the walk or the sweep has an end while a key is waited for.
@test "a walk that takes long shows the nodes it found, and keys work" {
	local UNTIL_SECONDS=40
	view 80 24 MADLAT_WALK_US=50000000 --
	seen '^walking, [0-9]* node'
	tm send-keys '?'
	seen 'this help'
	quits
	shown 'status=0'
}

@test "keys work during a sweep that takes long" {
	local UNTIL_SECONDS=50
	fabric_console 'PerformanceSet "Leaf-1"[2] PortCounters.SymbolErrorCounter=300'
	lid=$(fabric ibnetdiscover -t 60000 2>/dev/null | sed -n 's/.*"host 1-1".*lid \([0-9]*\).*/\1/p' | head -1)
	[ -n "$lid" ]
	view 80 24 MADLAT_US=1 "MADLAT_DEAD=$lid" "MADLAT_DEAD_FROM=$BATS_TEST_TMPDIR/dead" --
	seen 'by errors: 0 critical, 1 warning'
	touch "$BATS_TEST_TMPDIR/dead"
	seen '^reading, .*by errors: 0 critical, 1 warning'
	tm send-keys n
	seen '^reading, .*by node: '
	quits
}

@test "it writes less than 3 kB a second, at one sweep a second" {
	view 80 24 -- -i 1
	seen 'critical'
	begin=$SECONDS
	tm pipe-pane "cat >$BATS_TEST_TMPDIR/bytes"
	sleep 6
	tm kill-server
	# A busy machine may give it more than these six.
	bytes=$(stat -c %s "$BATS_TEST_TMPDIR/bytes") took=$((SECONDS - begin))
	echo "$bytes bytes in $took s"
	[ "$bytes" -lt $((took * 3000)) ]
}
