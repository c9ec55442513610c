#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What holds for every command: help, errors, exit codes, output that cannot be written, completion, pages, installing.

load here

commands() {
	"$RD" complete --dump | jq -r '.commands[] | select(.hidden | not).name'
}

# Options of a command ("" for the global ones), one a line: "-o" and "--columns" for both names.
table_options() {
	"$RD" complete --dump | jq -r --arg c "$1" '.options[] | select((.command // "") == $c) |
		(if .letter then "-" + .letter else empty end), "--" + .name' | sort
}

# The same as the page has them: "-" + what stands behind each Fl of an .It line.
page_options() {
	sed -n 's/^\.It Fl/Fl/p' "$1" | grep -o 'Fl [^ ]*' | sed 's/^Fl /-/; s/\\&//g; s/\\-/-/g' | sort
}

@test "alone it prints help and exits 3: a script that has lost its command is not told that all is well" {
	run -3 --separate-stderr "$RD"
	[ "$stderr" = $'rdmadiag: no command was given\n  try: rdmadiag --help' ]
	[[ ${lines[0]} == "Usage: rdmadiag "* ]]
	run -3 --separate-stderr "$RD" --json
}

@test "alone on a terminal it has a question for each command, on one screen" {
	run -0 script -qec "$RD" /dev/null
	[ "${#lines[@]}" -le 20 ]
	[ "$(printf '%s\n' "${lines[@]}" | wc -L)" -le 80 ]
	for name in $(commands); do
		[[ $output == *"  rdmadiag $name"* ]] || { echo "$name" && false; }
	done
}

@test "help goes to standard output, in each of the usual ways" {
	for args in --help -h help "trace-errno --help" "--json trace-errno -h" "help trace-errno"; do
		# shellcheck disable=SC2086 # words
		run -0 --separate-stderr "$RD" $args
		[ -z "$stderr" ]
		[[ ${lines[0]} == "Usage: rdmadiag "* ]]
	done
	[[ ${lines[0]} == "Usage: rdmadiag trace-errno "* ]]
}

@test "the version is one line" {
	run -0 --separate-stderr "$RD" --version
	[ "${#lines[@]}" -eq 1 ]
	[[ $output =~ ^rdmadiag\ [0-9]+\.[0-9]+ ]]
	run "$RD" -V
	[[ $output =~ ^rdmadiag\  ]]
}

@test "--version -v: each library that is loaded late, also as notes of the binary, and what is missing without one" {
	run -0 --separate-stderr "$RD" --version -v
	listed=$(printf '%s\n' "${lines[@]:1}" | grep -o '^lib[^ ]*' | sort)
	[ "$(wc -l <<<"$listed")" -ge 7 ]
	noted=$(readelf -p .note.dlopen "$RD" | grep -o '"soname":\["[^"]*' | sed 's/.*"//' | sort)
	[ "$noted" = "$listed" ]
	mkdir "$BATS_TEST_TMPDIR/lib"
	echo "no library" >"$BATS_TEST_TMPDIR/lib/libdw.so.1"
	LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/lib run -0 --separate-stderr "$RD" --version -v
	[[ $output == *"libdw.so.1 "*" not found: user stacks cannot be unwound (trace-errno --user-stack); install libdw "* ]]
}

@test "without the libraries that trace and fit tables, the rest says nothing about them" {
	mkdir -p "$BATS_TEST_TMPDIR/lib" "$BATS_TEST_TMPDIR/host/root/sys/class/infiniband"
	echo "no library" | tee "$BATS_TEST_TMPDIR/lib/libbpf.so.1" >"$BATS_TEST_TMPDIR/lib/libsmartcols.so.1"
	run --separate-stderr "$RD" --color always --from "$BATS_TEST_TMPDIR/host" qp-state --timeouts --timeout 14
	before=$status$stderr
	LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/lib run --separate-stderr "$RD" --color always --from "$BATS_TEST_TMPDIR/host" qp-state --timeouts --timeout 14
	[ "$status$stderr" = "$before" ]
	[[ $output == IBDEV*14* ]]
}

@test "an unknown command: exit 3, the nearest name, nothing on standard output" {
	run -3 --separate-stderr "$RD" trace-erno
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 2 ]
	[ "${stderr_lines[1]}" = "  try: rdmadiag trace-errno" ]
	run -3 --separate-stderr "$RD" entirely-different
	[ "${stderr_lines[1]}" = "  try: rdmadiag --help" ]
}

@test "a command may be shortened as long as that is clear" {
	[ "$("$RD" --help | sed 1d)" != "$("$RD" topo --help | sed 1d)" ]
	[ "$("$RD" topo --help)" = "$("$RD" topo-check --help)" ]
	[ "$("$RD" help d)" = "$("$RD" diff --help)" ]
	"$RD" complete -- nic --matr | grep -q "^--matrix"
	for args in c "help t"; do
		# shellcheck disable=SC2086 # words
		run -3 --separate-stderr "$RD" $args
		[ -z "$output" ]
		[[ ${stderr_lines[0]} == "rdmadiag: ambiguous command '${args#* }': "*check* ]]
	done
}

@test "-j, -r and -O are --json, --raw and --all-columns" {
	[ "$("$RD" complete --dump | jq -c '.options')" = "$("$RD" -j complete --dump | jq -c '.options')" ]
	for letter in j r O; do
		run -0 --separate-stderr "$RD" topo-check --list -$letter -$letter
	done
	[ "$("$RD" topo-check --list -r)" = "$("$RD" topo-check --list --raw)" ]
	all=$("$RD" topo-check --list -O -r | head -1 | wc -w)
	[ "$all" -gt "$("$RD" topo-check --list -r | head -1 | wc -w)" ]
	[ "$all" -eq "$("$RD" topo-check --list -j | jq '.rules[0] | length')" ]
}

@test "an unknown option: exit 3, the nearest name, nothing on standard output" {
	run -3 --separate-stderr "$RD" trace-errno --duratoin 5
	[ -z "$output" ]
	[ "${stderr_lines[0]}" = "rdmadiag: trace-errno: unknown option '--duratoin'" ]
	[ "${stderr_lines[1]}" = "  try: --duration" ]
	for args in --no-such-option "-Z" "--color sometimes" "--columns" "--json=yes" "trace-errno --no-such-option"; do
		# shellcheck disable=SC2086 # words
		run -3 --separate-stderr "$RD" $args
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -le 2 ]
	done
}

@test "options that do not go together are told before anything is opened" {
	for args in "nic-map --nccl-xml --json" "nic-map --live --json" "nic-map --matrix --gids" "topo-check --live --json" \
		"topo-check --explain no-such-rule" "topo-check --explain port-state,gid-usable" "topo-check --only no-such-rule" \
		"check -i 1 --openmetrics" "check mlx5_0" "counters --count 3" "counters --fabric --nonzero" "counters --fabric mlx5_0" \
		"counters --live --interval 1" "qp-state --duration 5" "capture -c 2 a.tar" "capture --redact --fabric" \
		"diff a.tar" "explain --log a b" "trace-errno --live" "nic-map --openmetrics" "qp-state --json --openmetrics"; do
		# shellcheck disable=SC2086 # words
		run -3 --separate-stderr "$RD" --from /no/such/bundle $args
		[ -z "$output" ]
		[[ $stderr != *"/no/such/bundle"* ]] || { echo "$args: $stderr"; return 1; }
	done
	run --separate-stderr "$RD" topo-check --explain port-stat
	[ "${stderr_lines[0]}" = "rdmadiag: --explain: unknown rule 'port-stat'" ]
}

@test "an argument cannot steer the terminal through an error message" {
	run -3 --separate-stderr "$RD" $'\033[2J\nfake'
	[ "${stderr_lines[0]}" = "rdmadiag: unknown command '\\x1b[2J\\x0afake'" ]
}

@test "a reader that has gone is no error" {
	run python3 -c '
import subprocess, sys
p = subprocess.Popen([sys.argv[1], "complete", "--dump"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
p.stdout.close()
print(p.stderr.read().decode(), end="")
sys.exit(p.wait())' "$RD"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "a full disk is an error that says so" {
	[ -c /dev/full ] || skip "no /dev/full"
	run -3 --separate-stderr bash -c '"$1" --help >/dev/full' - "$RD"
	[[ $stderr == "rdmadiag: standard output: cannot write: "*"(ENOSPC)" ]]
}

@test "a closed standard output is an error, and no file gets the text instead" {
	run -3 --separate-stderr bash -c '"$1" complete --dump >&-' - "$RD"
	[[ $stderr == *"(EBADF)" ]]
	run -3 --separate-stderr bash -c '"$1" --help 2>&- >&- <&-' - "$RD"
}

@test "the pages have the options of the tables, and no others" {
	diff <(table_options "") <(page_options man/rdmadiag.1)
	for command in $(commands); do
		[ -f "man/rdmadiag-$command.1" ]
		diff <(table_options "$command") <(page_options "man/rdmadiag-$command.1")
	done
}

@test "the pages name the columns of the tables, and the main page the commands" {
	for command in $(commands); do
		grep -q "^\.It Cm $command" man/rdmadiag.1
		for column in $("$RD" complete -- "$command" -o "" | cut -f1); do
			grep -qw -- "$column" "man/rdmadiag-$command.1" || { echo "$command: $column"; return 1; }
		done
	done
}

@test "the pages say exit status, examples and where to read on, in pages that are there" {
	local page name section
	for page in man/rdmadiag*.[1-9]; do
		grep -q '^\.Sh EXAMPLES' "$page" || { echo "$page: no examples"; return 1; }
		grep -q '^\.Sh SEE ALSO' "$page" || { echo "$page: no see also"; return 1; }
		[[ $page == *.5 ]] || grep -q '^\.Sh EXIT STATUS' "$page" || { echo "$page: no exit status"; return 1; }
		while read -r name section; do
			[ -f "man/$name.$section" ] || { echo "$page: $name($section)"; return 1; }
		done < <(sed -n 's/^\.Xr \(rdmadiag[^ ]*\) \([1-9]\).*/\1 \2/p' "$page")
	done
	for page in man/rdmadiag-*; do
		name=${page##*/}
		grep -q "^\.Xr ${name%.*} ${name##*.}" man/rdmadiag.1 || { echo "rdmadiag.1 does not name $name"; return 1; }
	done
}

@test "counters --fabric has options of its own behind the same name, in any order" {
	"$RD" counters --fabric --help | grep -q -- --save-topology
	[ "$("$RD" counters --fabric --help)" = "$("$RD" counters -i 2 --fab -h)" ]
	! "$RD" counters --help | grep -q -- --save-topology
	"$RD" counters --help | grep -q "rdmadiag counters --fabric --help"
	"$RD" complete -- counters --save-t | grep -q "^--save-topology"
	[ "$("$RD" complete -- counters --fabric --chang)" = "" ]
	run -3 --separate-stderr "$RD" counters -c 2 --port mlx5_0 -i 1 --fabric --plan
	[[ ${stderr_lines[0]} == "rdmadiag: counters: --plan requires --shard or --shards"* ]]
}

@test "completion offers commands, options, arguments" {
	[ "$("$RD" complete -- tra | cut -f1)" = trace-errno ]
	"$RD" complete -- "" | grep -q "^trace-errno	."
	! "$RD" complete -- "" | grep -q "^complete"
	[ "$("$RD" complete -- --jso | cut -f1)" = --json ]
	[ "$("$RD" complete -- trace-errno --dur | cut -f1)" = --duration ]
	[ "$("$RD" complete -- --color al | cut -f1)" = always ]
	[ "$("$RD" complete -- --color=al | cut -f1)" = --color=always ]
	[ "$("$RD" complete -- --color = al | cut -f1)" = always ]
	"$RD" complete -- trace-errno --errno EFA | grep -q "^EFAULT	Bad address"
	"$RD" complete -- trace-errno --pid $$ | grep -q "^$$	"
	[ "$("$RD" complete -- trace-errno -u roo | cut -f1)" = root ]
	[ "$("$RD" complete -- trace-errno --backend=kprobe- | cut -f1)" = --backend=kprobe-multi ]
}

@test "completion leaves the traced command to the shell" {
	[ "$("$RD" complete -- trace-errno -- l)" = :command ]
	[ "$("$RD" complete -- trace-errno -- ls --js)" = :file ]
	[ "$("$RD" complete -- trace-errno ls --js)" = :file ]
}

@test "completion in bash" {
	run bash -c '
		source completions/rdmadiag.bash
		rdmadiag() { :; }
		try() { COMP_WORDS=("'"$RD"'" "$@"); COMP_CWORD=$#; _rdmadiag "'"$RD"'"; echo "${COMPREPLY[*]}"; }
		try tra; try trace-errno --dur; try --color = al; try trace-errno --color ""'
	[ "${lines[0]}" = trace-errno ]
	[ "${lines[1]}" = --duration ]
	[ "${lines[2]}" = always ]
	[ "${lines[3]}" = "auto always never" ]
}

@test "completion in fish" {
	command -v fish >/dev/null || skip "fish is not here"
	run fish -c "set PATH $(dirname "$RD") \$PATH; source completions/rdmadiag.fish; complete -C 'rdmadiag tra'"
	[[ ${lines[0]} == trace-errno* ]]
}

@test "completion in zsh is sound" {
	command -v zsh >/dev/null || skip "zsh is not here"
	zsh -n completions/_rdmadiag
}

@test "an edited header rebuilds what includes it, C and BPF, and nothing else" {
	make -q all
	run make -n -W lib/base/buf.h all
	[[ $output == *"-c -o build/obj/lib/render/table.o"* ]]
	[[ $output != *"-c -o build/obj/lib/base/base.o"* ]]
	run make -n -W bpf/record.h all
	[[ $output == *"-target bpf"* ]]
	[[ $output != *"-c -o build/obj/lib/base/base.o"* ]]
}

@test "install puts program, pages and completions in place, and uninstall takes all away" {
	unset DATADIR SYSCONFDIR # those of this build
	dest=$BATS_TEST_TMPDIR/dest
	run -0 make -s install DESTDIR="$dest" PREFIX=/usr/local
	"$dest/usr/local/bin/rdmadiag" --version
	[ -f "$dest/usr/local/share/man/man1/rdmadiag.1" ]
	[ -f "$dest/usr/local/share/bash-completion/completions/rdmadiag" ]
	[ -f "$dest/usr/local/share/zsh/site-functions/_rdmadiag" ]
	[ -f "$dest/usr/local/share/fish/vendor_completions.d/rdmadiag.fish" ]
	for command in $(commands); do [ -f "$dest/usr/local/share/man/man1/rdmadiag-$command.1" ]; done
	make -s uninstall DESTDIR="$dest" PREFIX=/usr/local
	[ -z "$(find "$dest" -type f)" ]
}

@test "installing what is needed does nothing, offline, where all is there" {
	[ -z "$(scripts/deps.sh -n build test vm)" ] || skip "packages are missing: make test-deps"
	run -0 env PATH="$PATH" http_proxy=http://127.0.0.1:9 scripts/deps.sh build test vm
	[ -z "$output" ]
}
