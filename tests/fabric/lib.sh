# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A simulated network of one's own: ibsim and opensm, started and ended here. Several can run at the same time.
#
#   . tests/fabric/lib.sh
#   fabric_up FILE HOST      a network from an ibsim or ibnetdiscover file; HOST: the node that we sit at
#   fabric COMMAND...        a command that sees the network
#   fabric_console LINE...   lines for ibsim's console
#   fabric_down              also to be called by a trap on EXIT
#
# A performance query that ibsim does not know (PortSamplesControl, congestion, SL) it hands to a program at that node, as if it
# were the agent; opensm then takes it for an answer of its own performance manager and dies of a null pointer. So with
# --subsets all over a simulated network, the subnet manager ends; real nodes answer themselves.
#
# FABRIC_DIR is a directory for it all, made by fabric_up. FABRIC_SHIM: a library to preload before the simulator's. FABRIC_ENGINE:
# a routing engine of opensm, instead of its usual one, and more lines of its configuration.

# shellcheck source=../path.sh
. tests/path.sh

sim_library() {
	local dir
	for dir in $(sed -n 's/^sim_so=\([^ ]*\)$/\1/p' "$(command -v ibsim-run)") \
		/usr/lib/*/umad2sim/libumad2sim.so /usr/lib64/umad2sim/libumad2sim.so; do
		[ ! -e "$dir" ] || { echo "$dir" && return; }
	done
	return 1
}

fabric_can() {
	command -v ibsim >/dev/null && command -v opensm >/dev/null && command -v perfquery >/dev/null &&
		FABRIC_LIBRARY=$(sim_library)
}

# The preloaded library writes below the working directory: run from FABRIC_DIR.
fabric() {
	(
		cd "$FABRIC_DIR/work" || exit
		IBSIM_SOCKNAME=$FABRIC_SOCKET SIM_HOST=$FABRIC_HOST LD_PRELOAD="${FABRIC_SHIM:+$FABRIC_SHIM:}$FABRIC_LIBRARY" \
			exec "$@"
	)
}

fabric_console() {
	printf '%s\n' "$@" >&7
}

# until_true SECONDS COMMAND...
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

subnet_up() {
	grep -q 'SUBNET UP' "$FABRIC_DIR/opensm.log" 2>/dev/null
}

fabric_answers() {
	FABRIC_SHIM='' fabric smpquery -D nodeinfo 0 >/dev/null 2>&1
}

fabric_up() {
	FABRIC_LIBRARY=$(sim_library) || return
	FABRIC_HOST=$2
	FABRIC_DIR=$(mktemp -d "${TMPDIR:-/tmp}/rdmadiag-fabric-XXXXXX") || return
	FABRIC_SOCKET=rdmadiag-${FABRIC_DIR##*-}
	mkdir "$FABRIC_DIR/work" "$FABRIC_DIR/cache" && mkfifo "$FABRIC_DIR/console" || return
	# Open for reading and writing: the simulator must never see the end of its console.
	exec 7<>"$FABRIC_DIR/console"
	IBSIM_SOCKNAME=$FABRIC_SOCKET ibsim -s -N 60000 -S 2000 -P 300000 -L 49152 "$1" \
		<&7 >"$FABRIC_DIR/ibsim.log" 2>&1 7>&- &
	FABRIC_SIM_PID=$!
	until_true 60 fabric_answers || { echo "ibsim does not answer" && return 1; } >&2
	printf '%s\n' 'force_log_flush TRUE' ${FABRIC_ENGINE:+"routing_engine $FABRIC_ENGINE"} >"$FABRIC_DIR/opensm.conf"
	(
		cd "$FABRIC_DIR/work" || exit
		IBSIM_SOCKNAME=$FABRIC_SOCKET SIM_HOST=$FABRIC_HOST LD_PRELOAD=$FABRIC_LIBRARY \
			OSM_CACHE_DIR=$FABRIC_DIR/cache OSM_TMP_DIR=$FABRIC_DIR/cache \
			exec opensm -F "$FABRIC_DIR/opensm.conf" -e -f "$FABRIC_DIR/opensm.log" </dev/null >/dev/null 2>&1 7>&-
	) &
	FABRIC_SM_PID=$!
	until_true "${FABRIC_WAIT:-60}" subnet_up || { echo "opensm did not bring the network up" && return 1; } >&2
}

# Also one that nobody has waited for yet.
process_ended() {
	[[ ! -e /proc/$1/stat || $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) == Z* ]]
}

fabric_down() {
	local pid
	for pid in ${FABRIC_SM_PID:-} ${FABRIC_SIM_PID:-}; do
		kill "$pid" 2>/dev/null || continue
		# opensm can hang in its own end.
		until_true 3 process_ended "$pid" || kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	exec 7>&-
	FABRIC_SM_PID='' FABRIC_SIM_PID=''
	[ -z "${FABRIC_DIR:-}" ] || rm -rf "$FABRIC_DIR"
	FABRIC_DIR=''
}
