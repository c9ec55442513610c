#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The product compiles with the oldest kernel headers that it promises to: linux-libc-dev of Debian 12 as bookworm/main has it,
# which lacks numbers that other machines' headers, of security updates and later releases, have. They are in
# lib/collect/shared/uapi.h. `uapi.sh fetch` gets those headers; without them, exit 77 (skip). RDMADIAG_ARCH=arm64: the same with
# that compiler and its headers.
# shellcheck disable=SC2034,SC2154 # top, arch, build: arch.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
top=$PWD triplet=x86_64-linux-gnu
# shellcheck source=../arch.sh
. tests/arch.sh
[ "$arch" = amd64 ] || triplet=aarch64-linux-gnu
headers=$build/tools/bookworm-headers

say() { printf 'uapi: %s\n' "$*" >&2; }
die() {
	say "$@"
	exit 1
}

if [ "${1-}" = fetch ]; then
	[ ! -d "$headers" ] || exit 0
	command -v apt-get >/dev/null || exit 0
	# shellcheck source=../private-apt.sh
	. tests/private-apt.sh
	say "fetching linux-libc-dev of bookworm/main"
	rm -rf "$headers.new"
	private_apt "$headers.new/apt" "$arch"
	# One unreachable part (say, security) leaves the others usable.
	apt_update bookworm || :
	download "$headers.new" "linux-libc-dev:$arch/bookworm" || die "the lint of kernel headers will be skipped"
	rm -rf "$headers.new/apt"
	mv "$headers.new" "$headers"
	exit
fi
if [ ! -d "$headers" ]; then
	echo "linux-libc-dev of bookworm/main is not here: make test-deps"
	exit 77
fi
if [ "$(uname -m)" != x86_64 ]; then
	echo "the old headers are for x86_64"
	exit 77
fi
unset MAKEFLAGS MAKELEVEL MFLAGS
b=${build#"$top"/}/uapi
[ "$arch" = amd64 ] || tests/vm/vm root
exec make -s -k -j"$(nproc)" B="$b" CFLAGS="-O0 -w -fsyntax-only" \
	CPPFLAGS="-isystem $headers/usr/include -isystem $headers/usr/include/$triplet" objects
