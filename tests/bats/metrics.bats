#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# --openmetrics and --textfile, for every command that takes them: both formats by their own validators.

load here

# The distribution's python has the parser, whatever python stands first in the path.
openmetrics_families() {
	/usr/bin/python3 -c '
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(sys.stdin.read()):
    print(family.name, family.type, len(family.samples))'
}

need() {
	promtool=$(tests/tool promtool prometheus) || skip "promtool cannot be had"
	/usr/bin/python3 -c 'import prometheus_client.openmetrics.parser' 2>/dev/null || skip "no parser of OpenMetrics here"
}

@test "commands without metrics refuse both options" {
	for option in --openmetrics --textfile=/nonexistent/x.prom; do
		run -3 --separate-stderr "$RD" diff "$option"
		[ -z "$output" ]
		[[ $stderr == *"diff does not export metrics"* ]]
	done
}

@test "two formats at a time are refused" {
	run -3 --separate-stderr "$RD" trace-errno --summary --json --openmetrics
	[[ $stderr == *"--openmetrics"*"--json"* ]]
}

@test "what could not tell is a valid page of both formats, and says 3" {
	need
	[ ! -e /sys/class/infiniband ] || skip "this host has RDMA"
	run -3 --separate-stderr "$RD" trace-errno --summary --duration 1 --openmetrics
	openmetrics_families <<<"$output" | grep -x 'rdmadiag_status gauge 1'
	grep -x 'rdmadiag_status{command="trace-errno"} 3' <<<"$output"
	run -3 "$RD" trace-errno --summary --duration 1 --textfile "$BATS_TEST_TMPDIR/x.prom"
	"$promtool" check metrics <"$BATS_TEST_TMPDIR/x.prom"
	grep -x 'rdmadiag_status{command="trace-errno"} 3' "$BATS_TEST_TMPDIR/x.prom"
}

@test "a text file is replaced whole, readable for others, and leaves nothing beside it" {
	[ ! -e /sys/class/infiniband ] || skip "this host has RDMA"
	mkdir "$BATS_TEST_TMPDIR/d"
	echo old >"$BATS_TEST_TMPDIR/d/x.prom"
	(umask 022 && run "$RD" trace-errno --summary --textfile "$BATS_TEST_TMPDIR/d/x.prom")
	[ "$(ls -A "$BATS_TEST_TMPDIR/d")" = x.prom ]
	[ "$(stat -c %a "$BATS_TEST_TMPDIR/d/x.prom")" = 644 ]
	! grep -q old "$BATS_TEST_TMPDIR/d/x.prom"
}

@test "a text file never takes the place of a device or a folder" {
	ln -s /dev/null "$BATS_TEST_TMPDIR/null.prom"
	for path in "$BATS_TEST_TMPDIR/null.prom" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/none/x.prom"; do
		run -3 --separate-stderr "$RD" trace-errno --summary --textfile "$path"
		[[ $stderr == *"$path"* ]]
	done
	[ -L "$BATS_TEST_TMPDIR/null.prom" ]
	[ -c /dev/null ]
}
