#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# NEWS, both kinds of packages and their changelogs begin with the version of the Makefile. An archive of the sources has no debian/.
cd "$(dirname "$0")/../.." || exit 1
version=$(sed -n 's/^VERSION = //p' Makefile)
[ -n "$version" ] || {
	echo "Makefile: no VERSION"
	exit 1
}
bad=0

# says FILE WHAT EXPRESSION: the first line of FILE that sed's expression prints is the version
says() {
	local said
	said=$(sed -nE "$3" "$1" | head -1)
	[ "$said" = "$version" ] || {
		echo "$1: $2 is ${said:-not there}, VERSION of the Makefile is $version"
		bad=1
	}
}

says NEWS "the newest entry" 's/^([0-9][^ ]*) \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$/\1/p'
says rdmadiag.spec Version 's/^Version:[[:space:]]*//p'
says rdmadiag.spec "the newest entry" '/^%changelog/,$s/^\* .* - ([^-]*)-[0-9]+$/\1/p'
[ ! -d debian ] || says debian/changelog "the newest entry" '1s/^rdmadiag \(([^-]*)-[0-9]+\) .*/\1/p'
exit $bad
