#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the source archive or packages of what is committed: package.sh dist | deb | rpm VERSION
#
#   build/dist/rdmadiag-VERSION.tar.xz
#   build/deb/*.deb, also of another architecture: DEB_HOST_ARCH=arm64
#   build/rpm/RPMS/*/*.rpm, build/rpm/SRPMS/*.rpm
#
# Two runs make the same bytes, in whatever folder: times are those of the commit (SOURCE_DATE_EPOCH). Tests of the source run as
# part of it; DEB_BUILD_OPTIONS=nocheck leaves them out.
set -euo pipefail
cd "$(dirname "$0")/.."
what=$1 version=$2
name=rdmadiag-$version

die() {
	printf '%s\n' "$*" >&2
	exit 1
}

nocheck() {
	[[ " ${DEB_BUILD_OPTIONS-} " == *" nocheck "* ]]
}

# need PACKAGE...: these and what building needs, as debian/control has it; ends with all that is missing.
need() {
	local wanted missing=() package have
	command -v dpkg-query >/dev/null || return 0 # rpmbuild says it by itself, in names of its distribution
	have=$'\n'$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')$'\n'
	mapfile -t wanted < <(sed -n '/^Build-Depends:/,/^[A-Z].*:/{ s/^ //; T; s/-compat//; s/,$//; p }' debian/control)
	[ "$what" = deb ] || mapfile -t wanted < <(printf "%s\n" "${wanted[@]}" | grep -v "^debhelper")
	for package in "$@" "${wanted[@]}"; do
		! nocheck || [[ $package != *"<!nocheck>"* ]] || continue
		package=${package%%[ :]*}
		[[ $have == *$'\n'"$package"$'\n'* ]] || missing+=("$package")
	done
	[ ${#missing[@]} -eq 0 ] || die "make $what needs packages that are not installed:" \
		$'\n'"  apt-get install -y --no-install-recommends ${missing[*]}"
}

[ -z "$(git status --porcelain --untracked-files=no)" ] || die "there are uncommitted changes; packages are made of commits"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8
umask 022
# Of the make that called us. Compiler, flags and folders of a package are those of its distribution.
unset MAKEFLAGS MAKELEVEL MFLAGS CC CFLAGS CPPFLAGS LDFLAGS DATADIR SYSCONFDIR

dist() {
	mkdir -p build/dist
	git archive --format=tar --prefix="$name/" HEAD -- . ':!debian' | xz -9 -T1 >"build/dist/$name.tar.xz.part"
	mv "build/dist/$name.tar.xz.part" "build/dist/$name.tar.xz"
}

deb() {
	local options=(-us -uc)
	! nocheck || options+=(-Pnocheck)
	[ -z "${DEB_HOST_ARCH-}" ] || options+=("-a$DEB_HOST_ARCH" "-Pcross,nocheck")
	rm -rf build/deb
	mkdir -p build/deb
	cp "build/dist/$name.tar.xz" "build/deb/rdmadiag_$version.orig.tar.xz"
	tar -C build/deb -xf "build/dist/$name.tar.xz"
	git archive HEAD debian | tar -C "build/deb/$name" -x
	(cd "build/deb/$name" && dpkg-buildpackage "${options[@]}")
}

rpm() {
	local options=()
	# The packages of a system without rpm are not in its database.
	[ -n "$(command rpm -qa 2>/dev/null | head -1)" ] || options+=(--nodeps)
	! nocheck || options+=(--nocheck)
	# A place and a program that distributions of RPM have.
	[ -n "$(command rpm --eval '%{?_tmpfilesdir}')" ] || options+=(--define "_tmpfilesdir /usr/lib/tmpfiles.d")
	[ -n "$(command rpm --eval '%{?_unitdir}')" ] || options+=(--define "_unitdir /usr/lib/systemd/system")
	options+=(--define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" --define "_buildhost localhost")
	rm -rf build/rpm
	mkdir -p build/rpm
	rpmbuild -tb --define "_topdir $PWD/build/rpm" "${options[@]}" "build/dist/$name.tar.xz"
	# A source package has its spec in it as expanded, with names of folders, and binary ones made along with it a sum of that.
	cp "build/dist/$name.tar.xz" build/rpm/
	tar -C build/rpm --strip-components=1 -xf "build/dist/$name.tar.xz" "$name/rdmadiag.spec"
	chmod 644 build/rpm/rdmadiag.spec
	(cd build/rpm && rpmbuild -bs --define "_topdir /proc/self/cwd" --define "_sourcedir /proc/self/cwd" "${options[@]}" rdmadiag.spec)
}

case $what in
dist) dist ;;
deb | rpm)
	if [ "$what" = deb ]; then need build-essential dpkg-dev xz-utils; else need rpm debugedit elfutils xz-utils; fi
	dist
	"$what"
	;;
*) die "unknown kind of package: $what (dist, deb or rpm)" ;;
esac
