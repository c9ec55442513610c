# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # here, cache, kernels, say, die: ../vm
# Debian's kernels as packages, by a private apt: own lists, own cache, own idea of what is installed (nothing).

kernel_suites() { # where a kernel is to be looked for, in this order
	case $1 in
	6.1) echo bookworm ;;
	6.12) echo trixie ;;
	7.x) echo forky sid ;;
	esac
}

# The machine's own Debian entries, of either file format, with another suite in the place of its own.
# Output: deb822 paragraphs. A key may stand inside Signed-By itself, over several lines.
private_sources() {
	local suite=$1 own f
	# shellcheck disable=SC1091
	own=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[[ -r $f ]] || continue
		awk -v ORS='' '/^[ \t]*deb[ \t]/ {
			key = ""
			if (match($0, /\[[^]]*\]/)) {
				n = split(substr($0, RSTART + 1, RLENGTH - 2), opt, /[ \t]+/)
				$0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
				for (i = 1; i <= n; i++) if (opt[i] ~ /^signed-by=/) key = substr(opt[i], 11)
			}
			uri = $2; suite = $3; $1 = $2 = $3 = ""; sub(/#.*/, "")
			print "Types: deb\nURIs: " uri "\nSuites: " suite "\nComponents: " $0 "\n"
			if (key != "") print "Signed-By: " key "\n"
			print "\n"
		}' "$f"
	done >"$apt/own.sources"
	for f in /etc/apt/sources.list.d/*.sources; do
		[[ -r $f ]] || continue
		sed '/^#/d' "$f"
		echo
	done >>"$apt/own.sources"

	# A codename first: words such as "stable" are what other people's archives use, too.
	choose_sources "$own" || choose_sources 'stable|oldstable|testing|unstable|sid' ||
		die "no Debian archive for suite '${own:-?}' in /etc/apt/sources.list{,.d}: cannot tell where to fetch kernels"
}

choose_sources() { # SUITES: reads and sets the variables of private_sources
	awk -v RS='' -v names="$1" -v suite="$suite" '{
		uris = suites = types = parts = key = ""; off = 0
		n = split($0, line, "\n")
		for (i = 1; i <= n; i++) {
			if (line[i] ~ /^[ \t]/) { if (field == "signed-by") key = key "\n" line[i]; continue }
			field = tolower(line[i]); sub(/:.*/, "", field)
			value = line[i]; sub(/^[^:]*:[ \t]*/, "", value)
			if (field == "uris") uris = value
			else if (field == "suites") suites = " " value " "
			else if (field == "components") parts = " " value " "
			else if (field == "types") types = " " value " "
			else if (field == "signed-by") key = value
			else if (field == "enabled" && tolower(value) ~ /^(no|false|0|off)/) off = 1
		}
		if (off || types !~ / deb / || parts !~ / main / || uris ~ /^cdrom:/) next
		want = ""
		if (suites ~ " (" names ")/? ") want = suite
		else if (suites ~ " (" names ")(-security|/updates) " && suite ~ /^(bookworm|trixie)$/) want = suite "-security"
		if (want == "") next
		print "Types: deb\nURIs: " uris "\nSuites: " want "\nComponents: main"
		if (key != "") print "Signed-By: " key
		print ""
	}' "$apt/own.sources" >"$apt/rd.sources"
	[[ -s $apt/rd.sources ]]
}

# One private apt below $apt. The hooks of the machine's own configuration would work on the machine's own caches.
private_apt() {
	apt=$1
	mkdir -p "$apt"/{lists,cache,etc,trusted}/partial
	: >"$apt/status"
	cat >"$apt/apt.conf" <<END
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
#clear Acquire::IndexTargets::deb::Contents-deb;
Dir::State "$apt";
Dir::State::Lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Dir::Etc::SourceList "$apt/rd.sources";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Sandbox::User "";
APT::Get::Always-Include-Phased-Updates "true";
Acquire::Languages "none";
Acquire::Retries "3";
END
}

apt_update() {
	private_sources "$1"
	if ! LC_ALL=C apt-get -c "$apt/apt.conf" -qq -o APT::Update::Error-Mode=any update >"$apt/log" 2>&1; then
		say "apt-get update for $1 failed:"
		tail -n 5 "$apt/log" >&2
		return 1
	fi
}

depends() { # direct dependencies of $1 whose names match $2
	LC_ALL=C apt-cache -c "$apt/apt.conf" depends --no-recommends --no-suggests --no-conflicts --no-breaks \
		--no-replaces --no-enhances "$1" | sed -n 's/^ *|*Depends: //p' | grep -E "$2" || :
}

download() { # packages $2... unpacked into $1
	local into=$1 p
	shift
	mkdir -p "$apt/debs" "$into"
	# Unpacked by name: apt-get gives the percent-encoded version as part of the file name.
	(cd "$apt/debs" && LC_ALL=C apt-get -c "$apt/apt.conf" -qq download "$@" >"$apt/log" 2>&1) || {
		say "download of $* failed:"
		tail -n 5 "$apt/log" >&2
		return 1
	}
	for p in "$apt"/debs/*.deb; do
		dpkg-deb -x "$p" "$into" || return
		rm "$p"
	done
}

# The ELF inside a bzImage, found through its setup header. QEMU starts it directly (PVH), which spares the emulated
# processor the unpacking: 3 s of a boot with 6.1's xz. The address layout is then not randomised.
unpack_kernel() {
	local setup off len
	setup=$(od -An -tu1 -j497 -N1 "$1") off=$(od -An -tu4 -j584 -N4 "$1") len=$(od -An -tu4 -j588 -N4 "$1")
	# The last four bytes are the unpacked size.
	tail -c +$(((setup + 1) * 512 + off + 1)) "$1" | head -c $((len - 4)) >"$2.packed" || :
	case $(od -An -tx1 -N4 "$2.packed" | tr -d ' ') in
	fd377a58) xz -dc "$2.packed" >"$2" ;;
	28b52ffd) zstd -qdc "$2.packed" >"$2" ;;
	1f8b*) gzip -dc "$2.packed" >"$2" ;;
	*) cp "$1" "$2" ;;
	esac
	rm "$2.packed"
}

# The directory of a kernel: release, image, config, pkg/lib/modules/RELEASE, boot.cpio. It appears by one rename.
fetch_kernel() {
	local k=$1 suite image="" new=$cache/$1.new pkgs=() rel from
	rm -rf "$new"
	private_apt "$new/apt"
	for suite in $(kernel_suites "$k"); do
		# One unreachable part (say, security) leaves the others usable.
		apt_update "$suite" || :
		image=$(depends linux-image-amd64 "^linux-image-${k%.x}[.]" | head -n 1)
		[[ -n $image ]] && break
	done
	[[ -n $image ]] || die "found no kernel $k in $(kernel_suites "$k")"
	# From 7.x on the image is a shell around linux-binary, linux-modules and linux-base-RELEASE (the config).
	pkgs=("$image")
	mapfile -t -O 1 pkgs < <(depends "$image" '^linux-(binary|modules|base-[0-9])')
	say "fetching ${pkgs[*]} from $suite"
	download "$new/pkg" "${pkgs[@]}" || die "kernel $k: download failed"

	# 7.x has everything under /usr; kmod's -b looks below /lib.
	[[ -e $new/pkg/lib ]] || ln -s usr/lib "$new/pkg/lib"
	rel=$(cd "$new/pkg/lib/modules" && echo *)
	for from in "$new/pkg/boot/vmlinuz-$rel" "$new/pkg/lib/modules/$rel/vmlinuz"; do
		if [[ -f $from ]]; then mv "$from" "$new/vmlinuz"; fi
	done
	for from in "$new/pkg/boot/config-$rel" "$new/pkg/lib/modules/$rel/config"; do
		if [[ -f $from ]]; then cp "$from" "$new/config"; fi
	done
	[[ -f $new/vmlinuz && -f $new/config ]] || die "kernel $k: no vmlinuz or no config in ${pkgs[*]}"
	unpack_kernel "$new/vmlinuz" "$new/image"
	rm "$new/vmlinuz"
	PATH=$PATH:/usr/sbin:/sbin depmod -b "$new/pkg" "$rel"
	boot_modules "$new" "$rel"
	# Where its headers are to be found later.
	echo "$suite" >"$new/suite"
	rm -rf "$new/apt" "${cache:?}/$k"
	echo "$rel" >"$new/release"
	mv "$new" "$cache/$k"
	say "$k is $rel"
}

unpack_module() {
	case $1 in
	*.xz) xz -dc "$1" ;;
	*.zst) zstd -qdc "$1" ;;
	*.gz) gzip -dc "$1" ;;
	*) cat "$1" ;;
	esac
}

# The part of the initramfs that depends on the kernel alone: what it takes to reach a 9p share, in loading order.
boot_modules() {
	local dir=$1 rel=$2 tree=$1/boot want order="" m n=0
	local wants=(virtio_pci virtio_console 9pnet_virtio 9p overlay)
	mkdir -p "$tree/mod"
	for want in "${wants[@]}"; do
		m=$(PATH=$PATH:/usr/sbin:/sbin modprobe -d "$dir/pkg" -S "$rel" --show-depends "$want") ||
			die "kernel $rel has no module $want"
		order+=$m$'\n'
	done
	while read -r m; do
		unpack_module "$m" >"$tree/mod/$(printf %02d "$n")-$(basename "${m%.ko*}").ko"
		n=$((n + 1))
	done < <(sed -n 's/^insmod \([^ ]*\).*/\1/p' <<<"$order" | awk '!seen[$0]++')
	(cd "$tree" && find . | cpio -o -H newc -R 0:0 --quiet) >"$dir/boot.cpio"
	rm -rf "$tree"
}

vm_fetch() {
	local headers='' k wanted=()
	for k; do
		if [[ $k == --headers ]]; then headers=1 && continue; fi
		known "$k"
		wanted+=("$k")
	done
	[[ ${#wanted[@]} -gt 0 ]] || wanted=("${kernels[@]}")
	mkdir -p "$cache"
	for k in "${wanted[@]}"; do
		if [[ -e $cache/$k/image && (-z $headers || -e $cache/$k/headers) ]]; then continue; fi
		# In a subshell: the lock goes with it, also when the fetch dies.
		(
			flock 9
			if [[ ! -e $cache/$k/image ]]; then fetch_kernel "$k"; fi
			if [[ -n $headers && ! -e $cache/$k/headers ]]; then fetch_headers "$k"; fi
		) 9>"$cache/$k.lock"
	done
}
