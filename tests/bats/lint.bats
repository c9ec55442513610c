#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# turn: 1
# A lint that cannot fail holds nothing: each is shown a breach of its rule, in a copy of the tree.

load here

setup() {
	copy=$BATS_TEST_TMPDIR/tree
	mkdir -p "$copy"
	cp -r lib cmd bpf data man doc scripts completions integration tests Makefile ./*.md NEWS rdmadiag.spec .clang-format "$copy"
	[ ! -d debian ] || cp -r debian "$copy"
	cd "$copy" || return 1
}

# breach FILE TEXT LINT [ARGUMENT…]: with this line at its end, the lint names the file and fails.
breach() {
	cp "$1" "$BATS_TEST_TMPDIR/kept"
	printf '%s\n' "$2" >>"$1"
	run "tests/lint/$3" "${@:4}"
	cp "$BATS_TEST_TMPDIR/kept" "$1"
	[ "$status" -ne 0 ]
	[[ $output == *"$1"* ]]
}

@test "layers: a room that looks where it must not is found" {
	breach lib/render/table.c '#include "model/trace/event.h"' layers.py
	breach lib/base/base.c '#include "source/shared/source.h"' layers.py
	breach lib/report/shared/report.c '	#  include "render/render.h"' layers.py
	breach lib/collect/shared/cgroup.c '#include "trace/attach/session.h"' layers.py
	breach lib/source/shared/source.c '#include "trace.skel.h"' layers.py
	breach lib/model/trace/event.c '#include "../cmd/cmd.h"' layers.py
	breach cmd/nic-map/cmd-nic-map.c '#include "cmd/fabric/fabric.h"' layers.py
	breach cmd/output.c '#include "cmd/fabric/fabric.h"' layers.py
}

@test "layers: a topic that looks into another one is found" {
	breach lib/analyse/qp/qp-log.c '#include "analyse/nccl/nccl.h"' layers.py
	breach lib/report/shared/report.c '#include "report/qp/report-qp.h"' layers.py
	breach lib/check/pcie/acs.c '#include "check/job/none.h"' layers.py
}

@test "sizes: more code than the budget of a directory, a file with hardly a line, and a header of one user are found" {
	for n in $(seq 21); do echo "int x$n;" >"lib/confine/x$n.c"; done
	echo '#include "confine/x1.h"' >>lib/confine/x2.c
	echo 'int rd_x(void);' >lib/confine/x1.h
	run tests/lint/sizes.py
	rm -f lib/confine/x*.[ch]
	[ "$status" -ne 0 ]
	[[ $output == *"lib/confine: "*" lines of code"* ]]
	[[ $output == *"lib/confine: "*" crumbs (small)"*"lib/confine/x21.c"* ]]
	[[ $output == *"lib/confine: "*" crumbs (headers)"*"lib/confine/x1.h"* ]]
}

@test "layers: printing, leaving, clocks and files below cmd are found" {
	breach lib/report/shared/report.c 'int x(void) { return printf("x"); }' layers.py
	breach lib/render/json.c 'void x(void) { exit(1); }' layers.py
	breach lib/analyse/trace/verb.c 'long x(void) { return time(NULL); }' layers.py
	breach lib/collect/shared/cgroup.c 'int x(void) { return open ("/etc/passwd", 0); }' layers.py
}

@test "layers: comments and strings are not calls" {
	echo '/* open("x") and printf("y") */ const char x[] = "exit(1)";' >>lib/report/shared/report.c
	run tests/lint/layers.py
	[[ $output != *lib/report/shared/report.c* ]]
}

@test "driver names: a driver's function is found, a device's name is none" {
	breach lib/report/shared/report.c 'const char *x = "rxe_reg_user_mr";' driver-names.sh
	breach bpf/record.h '/* as mlx5_ib_reg_user_mr does */' driver-names.sh
}

@test "sizes: a function of 121 lines is found" {
	{ echo 'void x(void)'; echo '{'; yes '	;' | head -119; echo '}'; } >"$BATS_TEST_TMPDIR/long"
	breach lib/report/shared/report.c "$(cat "$BATS_TEST_TMPDIR/long")" sizes.py
}

@test "names: a second function of the same name is found, one that only its file sees is none" {
	breach lib/report/shared/report.c $'int checks_load(void)\n{\n\treturn 0;\n}' names.sh
	[[ $output == *"cmd/checks/checks.c"* ]]
	printf 'int checks_load(void);\nstatic int topo_learn(void)\n{\n\treturn 0;\n}\n' >>lib/report/shared/report.c
	tests/lint/names.sh
}

@test "format: a wrong indent is found" {
	tests/lint/format.sh >/dev/null 2>&1 || [ $? -ne 77 ] || skip "clang-format 14 is not here"
	breach lib/report/shared/report.c 'int  x ;' format.sh
}

@test "cppcheck: a write behind the end is found" {
	command -v cppcheck >/dev/null || skip "cppcheck is not here"
	breach lib/report/shared/report.c 'int x(void); int x(void) { int a[2]; a[2] = 1; return a[2]; }' cppcheck.sh lib/report/shared/report.c
}

@test "words: a file without its licence line is found" {
	echo 'int x;' >lib/base/none.h
	run tests/lint/words.sh
	[ "$status" -ne 0 ]
	[[ $output == *"lib/base/none.h"* ]]
}

@test "version: one that is not the Makefile's is found, wherever it stands" {
	run tests/lint/version.sh
	[ "$status" -eq 0 ]
	version=$(sed -n 's/^VERSION = //p' Makefile)
	for file in NEWS rdmadiag.spec debian/changelog; do
		[ -e $file ] || continue
		cp $file "$BATS_TEST_TMPDIR/kept"
		for line in $(grep -F -n -- "$version" $file | grep -v ':Since ' | cut -d: -f1); do
			sed -i "${line}s/${version//./\\.}/9.9.9/" $file
			run tests/lint/version.sh
			cp "$BATS_TEST_TMPDIR/kept" $file
			[ "$status" -ne 0 ]
			[[ $output == *"$file"*9.9.9* ]]
		done
	done
}

@test "advice: a call that is a usage error is found wherever it is advised" {
	parser=$BATS_TEST_DIRNAME/../../build/tests/lint/advice
	make -s -C "$BATS_TEST_DIRNAME/../.." build/tests/lint/advice
	tests/lint/advice "$parser"
	breach lib/check/pcie/acs.c 'const char x[] = "look at rdmadiag qp-state " "--stuk; then end it";' advice "$parser"
	[[ $output == *"qp-state: unknown option '--stuk' (--stuck)"* ]]
	breach lib/check/pcie/acs.c '#define X "why: rdmadiag nic-map --gids --env %s, in a shell"' advice "$parser"
	[[ $output == *"are mutually exclusive"* ]]
	breach cmd/help.c 'const char x[] = RD_PROGRAM " topo-check --explain no-such-rule";' advice "$parser"
	breach data/hints 'ibv_reg_mr ENOMEM * who holds it: rdmadiag qp-state --summry' advice "$parser"
	breach man/rdmadiag-check.1 '.Dl # rdmadiag counters --since' advice "$parser"
	[[ $output == *"option '--since' requires an argument: FILE"* ]]
	breach man/rdmadiag-check.1 $'see\n.Ql rdmadiag topo-check --lsit .' advice "$parser"
	breach README.md 'It is `rdmadiag counters mlx5_0 --fabric` that shows it.' advice "$parser"
	[[ $output == *"takes no device or port"* ]]
	breach README.md $'```\nrdmadiag nic-map -o no_such_column      says more\n```' advice "$parser"
	breach integration/slurm-prolog '$rdmadiag check --quickly 2>/dev/null' advice "$parser"
	breach integration/README.md 'As `capture --all` has it.' advice "$parser"
	breach tests/fuzz/fuzz-command.c $'\t{ "counters -i 1", false },' advice "$parser"
	[[ $output == *"a bundle cannot be sampled again"* ]]
	breach tests/documents.lines 'jt  topo-check --only no-such-rule' advice "$parser"
}

@test "advice: calls that are right are none, whatever stands beside them" {
	parser=$BATS_TEST_DIRNAME/../../build/tests/lint/advice
	make -s -C "$BATS_TEST_DIRNAME/../.." build/tests/lint/advice
	cat >>lib/check/pcie/acs.c <<-'EOF'
		const char *const x[] = {
			"rdmadiag qp-state -i 1 on both ends; rdmadiag topo-check: is it the path?",
			"(rdmadiag check --since FILE, or rdmadiag nic-map --path GPU%u %s)",
			"rdmadiag topo-check --learn on a good host", "rdmadiag finds it", "rdmadiag: no",
			RD_PROGRAM " counters --save '%s'. More: rdmadiag --from %s.tar.zst %s",
		};
	EOF
	printf '%s\n' '`rdmadiag trace-errno -u USER -- COMMAND`, and `rdmadiag counters' '--fabric`.' '```' \
		'$ rdmadiag counters --save x; sleep 1; rdmadiag counters --since x | tail -1' '```' >>README.md
	tests/lint/advice "$parser"
}

@test "wording: a word that is out is found in strings, comments, tables, pages and documents" {
	tests/lint/wording.py
	breach lib/check/pcie/acs.c 'static const char x[] = "retransmitting; " "the packet is " /* twice */ "sent again";' wording.py
	[[ $output == *'"sent again"'* ]]
	breach cmd/help.c $'/* How\n * answers are kept */' wording.py
	breach data/hints 'ibv_reg_mr ENOMEM * its limit is told by ulimit' wording.py
	breach man/rdmadiag.1 $'The NIC goes\nby DSCP.' wording.py
	breach doc/qp-state.md 'It does so for want of memory.' wording.py
	breach README.md '"0" is no number.' wording.py
	breach lib/base/buf.c $'static int find(int x)\n{\n\treturn x;\n}' wording.py
	[[ $output == *"find()"* ]]
}

@test "wording: ids, keys, code and ARP are left alone" {
	cat >>lib/check/pcie/acs.c <<-'EOF'
		const char *const x[] = { "host-answers", "ARP flux: NICs answer ARP for others", "there is no answer_key" };
	EOF
	echo 'A bundle has `answers` of netlink.' >>README.md
	tests/lint/wording.py
}

@test "wording: subjects of commits since the lint are imperative and at most 72 characters long" {
	commit() { git -c user.name=t -c user.email=t@t commit -q --allow-empty -m "$1"; }
	rm -r lib cmd bpf data man doc
	git init -q .
	commit 'it was before the lint'
	git add tests/lint/wording.py
	commit 'tests: Hold texts to the glossary'
	commit 'qp-state: Address the remote QP by its GID'
	tests/lint/wording.py
	for subject in 'base: A device may have a colon' 'check: Rules are shorter' 'check: Fixed a rule' 'check: Fixes a rule' \
		'counters: Use the name of a counter that is longer than what a table would show'; do
		commit "$subject"
		run tests/lint/wording.py
		[ "$status" -ne 0 ]
		[[ $output == *"$subject"* ]]
		git reset -q --hard HEAD~
	done
}
