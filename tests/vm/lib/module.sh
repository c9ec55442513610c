# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # here, cache, kernels, arch, cross, make_arch, say, die: ../vm, ../../arch.sh
# Kernel headers, and modules built against them.

# A kernel's own build tools come from its suite and may want a newer libc than this machine's: then that libc and its
# friends lie beside them, and each tool becomes a script that starts it under its own loader.
wrap_tools() {
	local pkg=$1 tool tools=() unfit='' needs=()
	while read -r tool; do
		[[ $(od -An -tx1 -N4 "$tool" | tr -d ' ') == 7f454c46 ]] || continue
		tools+=("$tool")
		if [[ $(ldd "$tool" 2>&1 || :) == *'not found'* ]]; then unfit=1; fi
	done < <(find "$pkg/usr/lib" -type f -perm /111)
	[[ -n $unfit ]] || return 0

	mapfile -t needs < <(depends "$(depends "$image" '^linux-kbuild-'):amd64" '^(libc6|libelf1[^:]*|zlib1g)(:amd64)?$')
	download "$pkg/libs" "${needs[@]}" libzstd1:amd64 || die "kernel $k: download of ${needs[*]} failed"
	for tool in "${tools[@]}"; do
		mv "$tool" "$tool.elf"
		# The tools' own wrappers look for their variants beside argv[0].
		cat >"$tool" <<END
#!/bin/sh
l=$cache/$k/headers/libs
exec \$l/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 --library-path \$l/usr/lib/x86_64-linux-gnu \\
    --argv0 "\$0" "\$0.elf" "\$@"
END
		chmod +x "$tool"
	done
}

fetch_headers() { # reads nothing but the kernel's own directory; the headers appear there by one rename
	local k=$1 rel suite new=$cache/$1/headers.new image pkgs=()
	rel=$(<"$cache/$k/release")
	suite=$(<"$cache/$k/suite")
	image=linux-headers-$rel
	rm -rf "$new"
	private_apt "$new.apt" "$arch"
	apt_update "$suite"
	mapfile -t pkgs < <(depends "$image" '^linux-(kbuild|headers)-' | sed 's/^linux-kbuild-.*/&:amd64/') # tools that run here
	[[ ${#pkgs[@]} -gt 1 ]] || die "$suite has no $image any more: remove $cache/$k and fetch again"
	say "fetching $image ${pkgs[*]} from $suite"
	download "$new" "$image" "${pkgs[@]}" || die "kernel $k: download of headers failed"
	sed -i "s|/usr/src/|$cache/$k/headers/usr/src/|g" "$new/usr/src/$image/Makefile"
	wrap_tools "$new"
	rm -rf "$new.apt"
	mv "$new" "$cache/$k/headers"
}

# The compiler and pahole are this machine's, not the kernel's own: what they lack is switched off here.
module_options() {
	# The kernel's own way of making BTF speaks to its own version of pahole.
	echo CONFIG_DEBUG_INFO_BTF_MODULES=
	echo KCFLAGS=-Wno-attributes
	echo 'int x;' | "$1" -fmin-function-alignment=16 -c -x c -o /dev/null - 2>/dev/null ||
		echo CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=
}

# OUT-DIR gets NAME.ko, without BTF as out-of-tree modules mostly are, and NAME.btf.ko, with.
vm_module() {
	[[ $# == 3 ]] || die "usage: vm module KERNEL SOURCE-DIR OUT-DIR"
	known "$1"
	local k=$1 src=$2 out=$3 tmp cc=${CC:-gcc} ko options=()
	vm_fetch --headers "$k"
	tmp=$(mktemp -d "${TMPDIR:-/tmp}/rdmadiag-module.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$tmp'" EXIT
	mkdir -p "$out" "$tmp/src"
	cp -r "$src"/. "$tmp/src"
	mapfile -t options < <(module_options "$cc")
	make -s -C "$cache/$k/headers/usr/src/linux-headers-$(<"$cache/$k/release")" M="$tmp/src" CC="$cc" "${make_arch[@]}" \
		"${options[@]}" modules >"$tmp/log" 2>&1 || {
		cat "$tmp/log" >&2
		die "$src does not build for $k"
	}
	for ko in "$tmp"/src/*.ko; do
		cp "$ko" "$out/"
		"${cross}strip" -g "$out/${ko##*/}"
		command -v pahole >/dev/null || { say "no BTF for ${ko##*/} on $k: pahole (package dwarves) is not here" && continue; }
		if LLVM_OBJCOPY=${cross}objcopy pahole -J --btf_gen_floats --btf_base "$cache/$k/image" "$ko" >"$tmp/log" 2>&1; then
			"${cross}strip" -g "$ko"
			cp "$ko" "$out/$(basename "$ko" .ko).btf.ko"
		else
			say "no BTF for ${ko##*/} on $k: $(tail -n 1 "$tmp/log")"
		fi
	done
}
