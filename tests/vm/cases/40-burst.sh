# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# More failures than the ring holds: the counts stay exact, what was lost is said, memory stays as it is.
# kernels: 6.12
# asked: 6.1 7.x
# sample 7.x: fexit-multi
# boot: main

prepare() {
	[ -e /sys/class/infiniband/rxe0 ] || . tests/vm/guest/rxe-up
}

# What verbs-fail says that it did.
counted() { # FILE
	sed -n 's/.*(EFAULT), \([0-9]*\) times$/\1/p' "$1"
}

memory() { # NAME: the most it ever had, kB
	sed -n 's/^VmHWM:\s*\([0-9]*\) kB/\1/p' "/proc/${pid[$1]}/status"
}

# sums FILE COUNT: the last line agrees with itself and with the program
sums() {
	true_of "$1" '.[-1] as $s | $s.events == $count and $s.delivered + $s.lost == $count and
		([$s.by_origin[].count] | add) == $count and $s.uncounted == 0 and
		($s.by_origin | length) == 1 and ($s.by_origin[0] | .verb == "ibv_reg_mr" and .errno == "EFAULT" and
		(.function | test("ib_umem_get")))' --argjson count "$2"
}

test_json_small_buffer() {
	local before after n
	trace burst --buffer 4k --errno EFAULT
	"$FAIL" burst --threads 8 --repeat 125 --dev rxe0 >"$W/small.out"
	sleep 0.5
	before=$(memory burst)
	"$FAIL" burst --dev rxe0 >"$W/large.out"
	sleep 0.5
	after=$(memory burst)
	end burst
	n=$(($(counted "$W/small.out") + $(counted "$W/large.out")))
	[ $n = 21000 ]
	echo "memory: $before kB, then $after kB; events: $n"
	tail -1 "$W/burst.json" >"$W/last.json"
	sums "$W/last.json" $n
	# One line for each that was delivered, and some were lost, else nothing was tested.
	true_of "$W/last.json" '.[0].delivered == $lines and .[0].lost > 0 and (.[0].missed // 0) == 0' \
		--argjson lines $(($(wc -l <"$W/burst.json") - 1))
	[ $((after - before)) -le 512 ]
	rm "$W/burst.json"
}

test_summary() {
	only 6.12 7.x
	"$R" trace-errno --json --summary --buffer 16k --errno EFAULT -- \
		sh -c '"$FAIL" burst --dev rxe0 >"$W/burst.out"' >"$W/summary.json"
	[ "$(counted "$W/burst.out")" = 20000 ]
	true_of "$W/summary.json" 'length == 1'
	sums "$W/summary.json" 20000
}

# 20,000 failures by 8 threads, and 100,000 where all tests run on all kernels, while others query: all are counted, and no benign
# failure takes the room of another.
test_many_while_others_query() {
	only 6.12 7.x
	local n=20000
	[ "$KERNEL" = 6.12 ] || n=100000
	"$R" trace-errno --json --summary -- sh -c '
		while [ ! -e "$W/many.out" ]; do ibv_devinfo -v >/dev/null; done &
		"$FAIL" burst --threads 8 --repeat '$((n / 8))' --dev rxe0 >"$W/many.new"; mv "$W/many.new" "$W/many.out"; wait' >"$W/many.json"
	[ "$(counted "$W/many.out")" = $n ]
	jq -c '{ events, delivered, lost, uncounted, missed, benign, backends }' "$W/many.json"
	sums "$W/many.json" $n
	true_of "$W/many.json" '.[-1] | .benign > 0 and (.missed // 0) == 0'
}

# Hooks by fexit are not run while another task was preempted in one: then this is said, and the sums hold all the same.
test_fexit_multi() {
	only 7.x
	"$R" trace-errno --json --summary --backend fexit-multi --errno EFAULT -- \
		sh -c '"$FAIL" burst --dev rxe0 >"$W/burst.out"' >"$W/summary.json"
	true_of "$W/summary.json" '.[0] as $s | $s.delivered + $s.lost == $s.events and ([$s.by_origin[].count] | add) == $s.events and
		($s.missed > 0 or $s.events == 20000)'
}
