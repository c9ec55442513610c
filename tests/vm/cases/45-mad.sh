# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# The engine of counters --fabric over a kernel's own ib_umad: soft-RoCE carries performance management datagrams from
# a port to itself. On 7.x soft-RoCE drops every one that it receives.
# kernels: 6.12
# asked: 6.1
# sample 6.1: sweep
# boot: main

prepare() {
	[ -e /sys/class/infiniband/rxe0 ] || . tests/vm/guest/rxe-up
}

test_sweep() {
	local said=$W/mad-play.txt
	timeout $((30 * SLOW)) build/tests/vm/mad-play "$RXE0" "$(cat "/sys/class/infiniband/$RXE0/ports/1/gids/0")" 0 >"$said" 2>&1 ||
		fail "$(cat "$said")"
	cat "$said"
	# What a busy machine loses is asked for again: how often is its affair.
	grep -q '^many: .* received 256 ' "$said"
	grep -qx 'many: port 1: 256 asked, 0 without, -' "$said"
	# Silence, answers that come twice, at the second try, as a refusal, to another question.
	grep -q '^mixed: .* malformed 2 refused 1' "$said"
	grep -qx 'mixed: port 1: 2 asked, 0 without, -' "$said"
	grep -qx 'mixed: port 2: 1 asked, 1 without, ETIMEDOUT' "$said"
	grep -qx 'mixed: port 3: 1 asked, 0 without, -' "$said"
	grep -qx 'mixed: port 5: 1 asked, 0 without, -' "$said"
	grep -qx 'mixed: port 6: 1 asked, 1 without, EREMOTEIO' "$said"
	grep -qx 'mixed: port 7: 1 asked, 1 without, EBADMSG' "$said"
	# An answer behind its time is none, unless the machine is busy and it comes in that of a later try; and it is not taken for one to
	# what is asked next.
	grep -qxE 'late: port 4: 1 asked, (1 without, ETIMEDOUT|0 without, -)' "$said"
	grep -qx 'after: port 1: 1 asked, 0 without, -' "$said"
}

# refused NAME ERRNO WORD [OPTION...]: no network, exit 3, which errno and why.
refused() {
	local name=$1 errno=$2 word=$3 status=0
	shift 3
	"$R" counters --fabric --json "$@" >"$W/$name.json" 2>"$W/$name.err" || status=$?
	cat "$W/$name.err"
	[ $status = 3 ]
	true_of "$W/$name.json" ".[0].status == 3 and .[0].errors[0].errno == \"$errno\""
	[ "$(wc -l <"$W/$name.err")" -le 2 ]
	grep -qi "$word" "$W/$name.err"
}

# A port with Ethernet below it is no way into an InfiniBand network.
test_no_network() {
	refused ethernet EPFNOSUPPORT Ethernet
	refused named EPFNOSUPPORT Ethernet --port "$RXE0"
	refused nosuch ENODEV nosuch --port nosuch
}
