#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# turn: 2
# What happens when there is no memory.

load made-up-host

setup_file() {
	export HOST=$BATS_FILE_TMPDIR/host SHIM=$BATS_FILE_TMPDIR/no-memory.so
	tests/bench/nic-map-tree "$HOST"
	"${CC:-cc}" -O2 -Wall -Wextra -Wno-unused-parameter -shared -fPIC -o "$SHIM" tests/bats/no-memory.c
}

setup() {
	export TZ=UTC
	! nm -D "$RD" | grep -q __asan || skip "AddressSanitizer has an allocator of its own"
}

# count COMMAND…: how many allocations it makes.
count() {
	NO_MEMORY_COUNT=$BATS_TEST_TMPDIR/count LD_PRELOAD=$SHIM "$@" >"$BATS_TEST_TMPDIR/whole" 2>/dev/null || true
	cat "$BATS_TEST_TMPDIR/count"
}

# sample COUNT: twelve of so many, the first and the last among them.
sample() {
	seq 0 11 | while read -r i; do echo $((1 + i * ($1 - 1) / 11)); done
}

@test "a command that runs out of memory says so and exits with 3" {
	local n command at
	for command in nic-map "nic-map --json" topo-check check counters; do
		# shellcheck disable=SC2086 # words
		set -- "$RD" --from "$HOST" $command
		n=$(count "$@")
		# Beyond the start, which is the C library's and the loader's.
		for at in $((n / 4)) $((n / 2)) $((3 * n / 4)); do
			run -3 --separate-stderr env NO_MEMORY_AT=+"$at" LD_PRELOAD="$SHIM" "$@"
			[ -n "$stderr" ]
			[ "${#stderr_lines[@]}" -le 2 ]
		done
		[[ $stderr == "rdmadiag: "*memory* ]]
	done
}

@test "one allocation that fails leaves no NIC out: the answer is whole, or there is none" {
	local n at
	n=$(count "$RD" --from "$HOST" nic-map)
	"$RD" --from "$HOST" nic-map >"$BATS_TEST_TMPDIR/whole"
	# All would be 15,000; these hit names, files, models and the report.
	for at in $(sample "$n") $(seq 1000 $((n / 40)) "$n"); do
		status=0
		NO_MEMORY_AT=$at LD_PRELOAD=$SHIM "$RD" --from "$HOST" nic-map >"$BATS_TEST_TMPDIR/out" 2>/dev/null || status=$?
		# regexec of glibc frees twice where its own memory runs out, and aborts: then there is no output either.
		[ "$status" -ne 134 ] || [ -s "$BATS_TEST_TMPDIR/out" ] || status=3
		[ "$status" -eq 3 ] || cmp "$BATS_TEST_TMPDIR/whole" "$BATS_TEST_TMPDIR/out" || {
			echo "allocation $at: exit status $status"
			return 1
		}
	done
}

@test "a topology file is read whole, or there is no memory for it" {
	local n at
	"$RD" --from "$HOST" nic-map --nccl-xml >"$BATS_TEST_TMPDIR/topo.xml"
	n=$(count "$RD" --from "$BATS_TEST_TMPDIR/topo.xml" nic-map)
	"$RD" --from "$BATS_TEST_TMPDIR/topo.xml" nic-map >"$BATS_TEST_TMPDIR/whole"
	for at in $(sample "$n") $(seq 1 $((n / 60)) "$n"); do
		run --separate-stderr env NO_MEMORY_AT="$at" LD_PRELOAD="$SHIM" "$RD" --from "$BATS_TEST_TMPDIR/topo.xml" nic-map
		if [ "$status" -eq 3 ]; then
			[ -n "$stderr" ]
		else
			[ "$output" = "$(<"$BATS_TEST_TMPDIR/whole")" ]
		fi || {
			echo "allocation $at: exit status $status, $stderr"
			return 1
		}
	done
}

@test "libarchive has no say in the exit status when it runs out of memory" {
	local n at
	n=$(count "$RD" --from "$HOST" capture "$BATS_TEST_TMPDIR/one.tar")
	# It packs at the end.
	for at in $(seq $((n - n / 50)) $((n / 500 + 1)) "$n"); do
		rm -f "$BATS_TEST_TMPDIR/one.tar"
		run --separate-stderr env NO_MEMORY_AT="$at" LD_PRELOAD="$SHIM" "$RD" --from "$HOST" capture "$BATS_TEST_TMPDIR/one.tar"
		[ "$status" -eq 3 ] || [ "$status" -eq 0 ] || {
			echo "allocation $at: exit status $status"
			return 1
		}
	done
}

@test "a live view that runs out of memory gives the terminal back" {
	run python3 - "$RD" "$HOST" "$SHIM" <<-'END'
		import os, pty, signal, sys, time
		rd, host, shim = sys.argv[1:]
		signal.alarm(120)
		pid, fd = pty.fork()
		if pid == 0:
		    os.environ.update(LD_PRELOAD=shim, TERM='xterm')
		    os.execv(rd, [rd, '--from', host, 'nic-map', '--live', '-i', '0.1'])
		seen = b''
		def read():
		    global seen
		    try:
		        part = os.read(fd, 65536)
		    except OSError:
		        return False
		    seen += part
		    return bool(part)
		while b'mlx5' not in seen and read():
		    pass
		assert b'\x1b[?1049h' in seen, seen
		os.kill(pid, signal.SIGUSR1)
		while read():
		    pass
		status = os.waitpid(pid, 0)[1]
		assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 3, status
		end = seen.rindex(b'\x1b[?1049l')
		assert b'out of memory' in seen[end:], seen[end:]
	END
	echo "$output"
	[ "$status" -eq 0 ]
}
