#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2030,SC2031 # each test has a shell of its own
# How the binary is built, and what getting its tools may do to a host.

load here

@test "hardened: position independent, read-only relocations, bound at start, no executable stack" {
	[ "$(LC_ALL=C readelf -hW "$RD" | awk '$1 == "Type:" { print $2 }')" = DYN ]
	LC_ALL=C readelf -lW "$RD" | grep -q 'GNU_RELRO'
	LC_ALL=C readelf -dW "$RD" | grep -q 'BIND_NOW'
	LC_ALL=C readelf -dW "$RD" | grep -q 'FLAGS_1.*NOW.*PIE'
	LC_ALL=C readelf -lW "$RD" | awk '$1 == "GNU_STACK" { flags = $7 } END { exit flags != "RW" }'
}

@test "hardened: stack protector, checked string functions, stack-clash and control-flow protection" {
	LC_ALL=C readelf -sW --dyn-syms "$RD" | grep -q '__stack_chk_fail'
	LC_ALL=C readelf -sW --dyn-syms "$RD" | grep -q '__snprintf_chk\|__vsnprintf_chk'
	# What the compiler was told stands in the debugging information of our own objects.
	options=$(LC_ALL=C readelf --debug-dump=info "$RD" 2>/dev/null | grep -m1 'DW_AT_producer.*GNU C') || skip "no debugging information"
	[[ $options == *-fstack-protector-strong* ]]
	[[ $options == *-fstack-clash-protection* ]]
	[ "$(uname -m)" != x86_64 ] || [[ $options == *-fcf-protection* ]]
	[ "$(uname -m)" != aarch64 ] || [[ $options == *-mbranch-protection=standard* ]]
}

@test "the binary says nothing of the folder it was built in" {
	! grep -qF "$PWD" "$RD"
}

@test "V=1 shows commands that run" {
	run make -n V=1 -W cmd/main.c all
	[[ $output == *"@: LINK"* || $output == *": LINK"* ]]
	[[ $output != *$'\n'"LINK "* ]]
}

@test "warnings are errors with WERROR=1 only" {
	unset CFLAGS CPPFLAGS # of a package's build: -Werror=format-security
	run make -n B="$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/obj/cmd/main.o"
	[[ $output == *"-c -o $BATS_TEST_TMPDIR/obj/cmd/main.o"* ]]
	[[ $output != *-Werror* ]]
	run make -n B="$BATS_TEST_TMPDIR" WERROR=1 "$BATS_TEST_TMPDIR/obj/cmd/main.o"
	[[ $output == *"-Werror"*"main.o"* ]]
}

# package NAME [FILE] [DEPENDS]: a package with this file, into the archive that the tests of deps.sh install from
package() {
	local root=$BATS_TEST_TMPDIR/$1
	mkdir -p "$root/DEBIAN" "$root/usr/bin"
	printf '#!/bin/sh\necho %s runs\n' "$1" >"$root/usr/bin/$1"
	chmod +x "$root/usr/bin/$1"
	if [ -n "${2-}" ]; then
		mkdir -p "$root$(dirname "$2")"
		echo x >"$root$2"
	fi
	printf 'Package: %s\nVersion: 1:2.0-3\nArchitecture: all\nMaintainer: nobody <nobody@localhost>\nDescription: made for a test\n' \
		"$1" >"$root/DEBIAN/control"
	[ -z "${3-}" ] || echo "Depends: $3" >>"$root/DEBIAN/control"
	dpkg-deb --root-owner-group -b "$root" "$A" >/dev/null
}

# An apt that knows only packages of ours and has installed nothing, and a copy of deps.sh with a table of ours.
private_world() {
	command -v dpkg-deb >/dev/null && command -v apt-get >/dev/null || skip "no apt here"
	A=$BATS_TEST_TMPDIR/archive W=$BATS_TEST_TMPDIR/world
	mkdir -p "$A" "$W"/{lists/partial,cache/archives/partial,copy/scripts,bin}
	: >"$W/status"
	cat >"$W/apt.conf" <<-END
		Dir::State "$W";
		Dir::State::status "$W/status";
		Dir::State::Lists "$W/lists";
		Dir::Cache "$W/cache";
		Dir::Etc::SourceList "$W/sources.list";
		Dir::Etc::SourceParts "/dev/null";
		Dir::Etc::Preferences "/dev/null";
		Dir::Etc::PreferencesParts "/dev/null";
		APT::Architecture "amd64";
		APT::Architectures { "amd64"; };
		APT::Sandbox::User "";
	END
	echo "deb [trusted=yes] copy:$A ./" >"$W/sources.list"
	export APT_CONFIG=$W/apt.conf
	# It has to ask dpkg of this world, and to write down what it installs instead of doing it.
	printf '#!/bin/sh\nexit 0\n' >"$W/bin/dpkg-query"
	cat >"$W/bin/apt-get" <<-END
		#!/bin/bash
		for word; do
			case \$word in
			-s | -d | --print-uris) exec /usr/bin/apt-get "\$@" ;;
			install) shift; echo "\$*" >>"$W/installed"; exit ;;
			esac
		done
		exec /usr/bin/apt-get "\$@"
	END
	chmod +x "$W"/bin/*
}

# deps GROUP NAME...: deps.sh GROUP, with this table
deps() {
	local group=$1
	shift
	for deb in "$A"/*.deb; do
		dpkg-deb -f "$deb"
		printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "${deb##*/}" "$(stat -c %s "$deb")" "$(sha256sum <"$deb" | cut -d' ' -f1)"
	done >"$A/Packages"
	apt-get -qq update
	awk -v names="$*" -v group="$group" '
		/^build +gcc/ { n = split(names, name, " "); for (i = 1; i <= n; i++) print group, name[i], "-"; skip = 1 }
		/^EOF/ { skip = 0 }
		!skip' scripts/deps.sh | sed -e "s|^archives=/var/cache/apt/archives|archives=$W/cache/archives|" \
		-e 's/is_available lib[a-z0-9-]*/true/g' >"$W/copy/scripts/deps.sh"
	PATH=$W/bin:$PATH run bash "$W/copy/scripts/deps.sh" "$group"
}

@test "deps: of what tests need, what starts or sets up nothing is installed, the rest is unpacked" {
	private_world
	[ "$(id -u)" -eq 0 ] || skip "needs root, or it unpacks all"
	package rd-plain
	package rd-unit /lib/systemd/system/unit.service
	package rd-init /etc/init.d/init
	package rd-rule /usr/lib/udev/rules.d/60-rule.rules
	package rd-modules /etc/modules-load.d/modules.conf
	package rd-sysctl /usr/lib/sysctl.d/sysctl.conf
	package rd-needs-unit "" rd-unit
	package rd-page /usr/share/man/man5/sysctl.d.5
	deps test rd-{plain,unit,init,rule,modules,sysctl,needs-unit,page}
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $(<"$W/installed") == *" rd-page rd-plain"* ]]
	[[ $(<"$W/installed") != *unit* ]]
	for name in rd-{unit,init,rule,modules,sysctl,needs-unit}; do
		[ "$("$W/copy/build/tools/bin/$name")" = "$name runs" ]
	done
	[ ! -e "$W/copy/build/tools/bin/rd-plain" ]
}

@test "deps: what building needs is not installed if it would start something, and said so" {
	private_world
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	package rd-compiler
	package rd-library /etc/systemd/system/multi-user.target.wants/library.service
	deps build rd-compiler rd-library
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"nothing installed"*"rd-library /etc/systemd/system/"* ]]
	[ ! -e "$W/installed" ]
	deps build rd-compiler
	[ "$status" -eq 0 ]
	[ -e "$W/installed" ]
}

@test "a program that cannot be run is not named: tests/tool exits 77" {
	mkdir -p "$BATS_TEST_TMPDIR/tests" "$BATS_TEST_TMPDIR/build/tools/bin"
	cp tests/tool tests/path.sh "$BATS_TEST_TMPDIR/tests"
	echo x >"$BATS_TEST_TMPDIR/build/tools/bin/no-such-program-here"
	run -77 --separate-stderr "$BATS_TEST_TMPDIR/tests/tool" no-such-program-here some-package
	[ -z "$output" ]
	chmod +x "$BATS_TEST_TMPDIR/build/tools/bin/no-such-program-here"
	run -0 "$BATS_TEST_TMPDIR/tests/tool" no-such-program-here some-package
	[ "$output" = "$BATS_TEST_TMPDIR/build/tools/bin/no-such-program-here" ]
}
