#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Tables of rules in tests/rules: each row names its source, and a test that is there.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
}

# Rows of a table of four columns, without its head: what stands in column $2.
column() {
	sed -nE '/^\| (stack|---)/d; /^\|/p' "$1" | awk -F ' *[|] *' -v n="$2" '{ print $(n + 1) }'
}

@test "each rule of STACKS.md names a file and function of its source, and a test that is there" {
	local tests
	[ "$(column tests/rules/STACKS.md 1 | wc -l)" -ge 30 ]
	run column tests/rules/STACKS.md 3
	[ "$(grep -cvE '\.(c|h|cpp)(, [^:]+\.c)*: [A-Za-z_:*]' <<<"$output")" -eq 0 ]
	tests=$(cat tests/unit/test-stack-*.c tests/bats/nic-map.bats)
	while read -r name; do
		[ -n "$name" ]
		grep -qF -e "TEST($name)" -e "@test \"$name\"" <<<"$tests" || {
			echo "no such test: $name"
			return 1
		}
	done < <(column tests/rules/STACKS.md 4)
}

@test "each test about stacks is in STACKS.md, or is about what is said of them" {
	local name
	while read -r name; do
		grep -qF "| $name |" tests/rules/STACKS.md || [[ $name == a*_told* || $name == a*_is_told ]] || {
			echo "no rule: $name"
			return 1
		}
	done < <(sed -nE 's/^[A-Z_]*TEST\(([a-z0-9_]+)\).*/\1/p' tests/unit/test-stack-*.c)
}

@test "the releases in STACKS.md and in the man page are those that nic-map names" {
	local release n=0
	while read -r release; do
		n=$((n + 1))
		grep -qF "$release" man/rdmadiag-nic-map.1
		case $release in
		5067397c | 2d7d25f) ;; # NCCL's and NVSHMEM's rules are not of this table
		*) grep -qF "$release" tests/rules/STACKS.md ;;
		esac
	done < <(sed -nE 's/.*\(([0-9a-f]{7,12})\)".*/\1/p' lib/model/nicmap/nicmap.c)
	[ $n -ge 6 ]
}

@test "each test that NCCL.md names is there" {
	local name
	[ "$(grep -c '^|' tests/rules/NCCL.md)" -ge 25 ]
	# The last column names tests of the C programs, and hosts.
	for name in $(sed -n '/^|/p' tests/rules/NCCL.md | sed '1,2d' | awk -F'|' '{ print $(NF - 1) }' | grep -o '`[^`]*`' | tr -d '`' | sort -u); do
		grep -rqE "TEST\($name\)|^@tree\(\"$name\"" tests/unit tests/bundles/nccl || {
			echo "no such test: $name"
			return 1
		}
	done
}
