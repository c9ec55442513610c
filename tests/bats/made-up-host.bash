# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For files about the host that tests/bench/nic-map-tree makes up: made once a file, its folder in HOST; the binary in RD.

load here
export RD NO_COLOR=1

setup_file() {
	export HOST=$BATS_FILE_TMPDIR/host
	tests/bench/nic-map-tree "$HOST"
}

# two_samples FOLDER PATH VALUE: a bundle of the host in which the file at PATH has become VALUE when it was looked at again.
two_samples() {
	local file
	file=$(realpath --relative-to "$HOST" "$HOST$2")
	mkdir -p "$1/t000/root/${file%/*}"
	"$RD" --from "$HOST" capture "$1/whole.tar" >/dev/null
	tar -C "$1" -xf "$1/whole.tar"
	rm "$1/whole.tar"
	echo "$3" >"$1/t000/root/$file"
	jq --arg path "/$file" '.samples += [{realtime_ns: 1, monotonic_ns: 1, requests: [{ask: "read", path: $path}]}] | del(.hash)' \
		"$1/manifest.json" >"$1/new.json"
	mv "$1/new.json" "$1/manifest.json"
}

# refused COMMAND ARGUMENTS…: the command with these (words in one) says why in two lines at most, exits 3 and prints nothing.
refused() {
	local command=$1 bad
	shift
	for bad; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr "$command" $bad
		[ "$status" -eq 3 ]
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -le 2 ]
	done
}
