#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# counters --fabric while a network changes: what does not answer is not fresh, what is gone, new or replaced is called so. Each
# test waits for what is to be seen, never for a time: how often a simulator is asked, and what it counts by itself, is its
# own affair.

load here

setup_file() {
	# shellcheck source=tests/fabric/lib.sh
	. tests/fabric/lib.sh
	fabric_can || return 0 # each test says so
	tests/fabric/generate 2 3 2 >"$BATS_FILE_TMPDIR/net"
	export FABRIC_DIR FABRIC_SOCKET FABRIC_HOST FABRIC_LIBRARY FABRIC_SIM_PID FABRIC_SM_PID
	# What bats waits for must not be held open by what outlives a test.
	fabric_up "$BATS_FILE_TMPDIR/net" Host-0-0 3>&-
}

teardown_file() {
	. tests/fabric/lib.sh
	exec 7>/dev/null
	[ -z "${FABRIC_DIR:-}" ] || fabric_down
}

setup() {
	. tests/fabric/lib.sh
	fabric_can || skip "needs ibsim, opensm and infiniband-diags"
	DOCS=$BATS_TEST_TMPDIR/docs
	watch
}

teardown() {
	[ -z "${WATCH:-}" ] || kill "$WATCH" 2>/dev/null || true
	[ -z "${TEXT:-}" ] || kill "$TEXT" 2>/dev/null || true
	rm -f "${DOCS:-}"
}

# Sweeps again and again, a document a line.
watch() {
	# shellcheck disable=SC2016 # the inner shell expands it
	fabric bash -c 'echo $$ >"$1"; exec "$2" counters --fabric --mad-timeout 60000 -i 0.2 --json >"$3" 2>"$3.err"' - \
		"$BATS_TEST_TMPDIR/pid" "$RD" "$DOCS" 3>&- &
	until_true test -s "$BATS_TEST_TMPDIR/pid"
	WATCH=$(cat "$BATS_TEST_TMPDIR/pid")
	seen 'all(p["fresh"] for p in d["ports"]) and len(d["ports"]) == 20'
}

# holds EXPRESSION: whether it is so in the latest document; seen EXPRESSION: waits for that. See tests/fabric/whole.
holds() {
	tests/fabric/whole "$DOCS" "$1"
}

seen() {
	tests/fabric/whole "$DOCS" "$1" "$WATCH" ||
		{ echo "never seen: $1; last: $(tail -n 1 "$DOCS" | cut -c1-2000); $(cat "$DOCS.err")" && return 1; }
}

# No document ever had a value that is not fresh, but young, or fresh and with an error of its own.
no_lie() {
	python3 - "$DOCS" <<'PY'
import json, sys
presence = {}
for line in open(sys.argv[1]):
    if not line.endswith('\n'):
        break
    for p in json.loads(line)['ports']:
        # A document of changes has what is not so, or has changed.
        p = {'fresh': True, 'error': None, 'xmit_gbps': None} | p
        p['presence'] = presence[p['node_guid'], p['port']] = p.get('presence', presence.get((p['node_guid'], p['port'])))
        # An attribute that stays silent is named; what was read is fresh.
        assert not (p['fresh'] and p['error']) or p['error'].endswith(': ETIMEDOUT'), p
        assert p['fresh'] or p['error'] or p['presence'] in ('gone', 'new', 'replaced', 'moved'), p
        assert p['fresh'] or p['xmit_gbps'] is None, p
PY
}

@test "an agent that falls silent is not fresh, and is again when it answers" {
	fabric_console 'Error "Host-1-1"[1] 100 18'
	seen 'at("host 1-1")[0]["error"] and not at("host 1-1")[0]["fresh"] and "fabric-agent-silent" in ids'
	seen 'at("host 1-1")[0]["age_seconds"] > 1 and at("host 1-1")[0]["presence"] == "present"'
	holds 'all(p["fresh"] for p in d["ports"] if p["node"] != "host 1-1")'
	fabric_console 'Error "Host-1-1"[1] 0 18'
	seen 'at("host 1-1")[0]["fresh"] and "fabric-agent-silent" not in ids'
	no_lie
}

@test "a critical finding is remembered when it is over, and the summary names it with its times" {
	text=$BATS_TEST_TMPDIR/text
	# shellcheck disable=SC2016 # the inner shell expands it
	fabric bash -c 'echo $$ >"$1"; exec "$2" counters --fabric --mad-timeout 60000 -i 0.2 >"$3"' - "$BATS_TEST_TMPDIR/other" "$RD" \
		"$text" 3>&- &
	started() { [ "$(grep -c '^fabric of' "$text" 2>/dev/null)" -ge 2 ] 2>/dev/null; }
	until_true started
	TEXT=$(cat "$BATS_TEST_TMPDIR/other")
	latched='[l for l in d["latched"] if l["id"] == "fabric-errors" and "leaf 1 port 2" in l["subject"]'
	# Above the rate of a minute for one sweep, then above the total.
	fabric_console 'PerformanceSet "Leaf-1"[2] PortCounters.SymbolErrorCounter=100'
	seen "$latched and l['observed'].endswith('SymbolErrorCounter 100') and l['current'] and l['looks'] >= 2]"
	seen "$latched and l['severity'] == 'critical' and not l['current'] and l['looks'] == 1]"
	fabric_console 'PerformanceSet "Leaf-1"[2] PortCounters.SymbolErrorCounter=0'
	seen "'fabric-errors' not in ids and len($latched and not l['current'] and l['first_seen'] <= l['last_seen'] < d['time']]) == 2"
	holds "d['latched_dropped'] == 0"
	until_true bash -c '[ "$(grep "^fabric of" "$1" | tail -1 | grep -c ", 2 over;")" = 1 ]' - "$text"
	kill -INT "$(cat "$BATS_TEST_TMPDIR/other")"
	status=0
	wait $! || status=$?
	[ "$status" -eq 2 ]
	grep -q '^summary of .*: exit status 2; found: 1 critical, 1 warning' "$text"
	grep -Eq '^critical [0-9:]{8}, 1 sweep, over: leaf 1 port 2, to host 1-1 port 1: .*\+100 ' "$text"
	grep -Eq '^warning [0-9:]{8}-[0-9:]{8}, [0-9]+ sweeps, over: leaf 1 port 2, to host 1-1 port 1: .*SymbolErrorCounter 100 ' "$text"
}

@test "packets that are dropped are asked for again, and nothing hangs" {
	fabric_console 'Error "Host-1-0"[1] 40'
	seen 'd["sweep"]["retries"] > 0'
	holds 'all(p["fresh"] for p in d["ports"] if p["node"] != "host 1-0")'
	fabric_console 'Error "Host-1-0"[1] 0'
	seen 'd["sweep"]["timeouts"] == 0 and any(p["fresh"] for p in at("host 1-0"))'
	no_lie
}

# It is found by the walk after its silence: the next of those each ten minutes comes later than is waited for.
@test "a cable that is pulled is a node that is gone, and one that is new when it is back" {
	fabric_console 'Unlink "Host-0-2"[1]'
	seen 'at("host 0-2")[0]["presence"] == "gone" and not at("host 0-2")[0]["fresh"] and "fabric-node-gone" in ids'
	holds 'at("host 0-2")[0]["counters"]["PortXmitPkts"] is not None'
	fabric_console 'ReLink "Host-0-2"[1]'
	seen 'any(p["fresh"] and p["presence"] == "new" for p in at("host 0-2"))'
	no_lie
}

@test "a LID that changes is followed" {
	lid=$(python3 -c 'import json, sys; print([p["lid"] for p in json.loads(open(sys.argv[1]).readline())["ports"] if p["node"] == "host 1-0"][0])' "$DOCS")
	fabric_console 'Baselid "Host-1-0"[1] 77'
	seen "at('host 1-0')[0]['presence'] == 'moved' or at('host 1-0')[0]['lid'] != $lid or not at('host 1-0')[0]['fresh']"
	kill -HUP "$FABRIC_SM_PID" # it sweeps: else it may never see the LID, to which no switch has a route
	seen 'at("host 1-0")[0]["fresh"]'
	no_lie
}

@test "a part that is swapped is a node that is replaced" {
	fabric_console 'Guid "Host-0-1" 0xabcdef'
	seen 'any(p["presence"] == "replaced" and p["fresh"] and p["node_guid"] == "0x0000000000abcdef" for p in at("host 0-1"))'
	holds '"fabric-node-replaced" in ids'
	no_lie
}
