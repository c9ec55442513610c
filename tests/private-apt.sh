# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# To be sourced: packages of any Debian release, by a private apt: own lists, own cache, own idea of what is installed (nothing).
# The caller has say and die.
#   private_apt FOLDER [ARCH]    apt_update SUITE    download FOLDER PACKAGE...    depends PACKAGE PATTERN
#   download_all PACKAGE...: with all they depend on, into $apt/cache/archives

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
		die "no Debian archive for suite '${own:-?}' in /etc/apt/sources.list{,.d}: cannot tell where to fetch packages of '$suite'"
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
	local own=${2:-amd64}
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
APT::Architecture "$own";
APT::Architectures { "$own"; "amd64"; };
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

download_all() {
	LC_ALL=C apt-get -c "$apt/apt.conf" -qq -y --no-install-recommends -d install "$@" >"$apt/log" 2>&1 && return
	say "download of $* failed:"
	tail -n 5 "$apt/log" >&2
	return 1
}
