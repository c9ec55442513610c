#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# No promise in place of work, a licence in each source file, and no path of one machine in what is shared.
cd "$(dirname "$0")/../.." || exit 1
bad=0
mark='TO''DO|FIX''ME|X''XX'
grep -rnEI "\\b($mark)\\b" lib cmd bpf data man completions scripts && bad=1
mapfile -t files < <(find lib cmd bpf tests scripts completions man -type f \( -name '*.[ch1-9]' -o -name '*.sh' -o -name '*.py' -o -name '*.bats' \))
awk '
/SPDX-License-Identifier: GPL-2.0-or-later/ { licensed[FILENAME] }
FNR == 3 { nextfile }
END {
	for (i = 1; i < ARGC; i++)
		if (!(ARGV[i] in licensed)) {
			print ARGV[i] ": no SPDX line"
			bad = 1
		}
	exit bad
}' "${files[@]}" || bad=1
# The folder above this checkout, unless it is one that every machine has and that files may well name.
parent=$(cd .. && pwd -P)
case $parent in
/ | /root | /home | /tmp | /var/tmp | /usr/* | /opt | /srv | /src | /mnt | /build) ;;
*) grep -rnIE "(^|[^[:alnum:]_])${parent//./\\.}/" lib cmd bpf data man completions scripts tests Makefile && bad=1 ;;
esac
exit $bad
