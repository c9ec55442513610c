#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A function that others can call has its name to itself. The linker says so only where it takes both objects out of the
# archives; where it takes one, the other is forgotten, and which one it is the order of linking decides.
cd "$(dirname "$0")/../.." || exit 1

# NAME FILE:LINE of each definition, as clang-format leaves them: it begins in the first column, and its brace does, too.
definitions() {
	awk '
	FNR == 1 || /^[}#]/ || /;[[:space:]]*$/ { name = "" }
	/^[A-Za-z_]/ && !/^(static|typedef|extern)[^A-Za-z0-9_]/ && !/[;{][[:space:]]*$/ {
		line = $0
		gsub(/(__attribute__|RD_[A-Z_]+)[[:space:]]*\([^()]*(\([^()]*\))?[^()]*\)/, "", line)
		if (match(line, /[A-Za-z_][A-Za-z0-9_]*\(/)) {
			name = substr(line, RSTART, RLENGTH - 1)
			where = FILENAME ":" FNR
		}
	}
	/^\{/ && name { print name, where; name = "" }
	' "$@"
}

mapfile -t files < <(find lib cmd -name '*.[ch]' | sort)
definitions "${files[@]}" | sort -s -k1,1 |
	awk '$1 == last { print at ", " $2 ": two functions are called " $1; twice = 1 } { last = $1; at = $2 } END { exit twice }'
