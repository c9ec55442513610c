#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# No promise in place of work, a licence in each source file, and no path of one machine in what is shared.
cd "$(dirname "$0")/../.." || exit 1
bad=0
mark='TO''DO|FIX''ME|X''XX'
grep -rnEI "\\b($mark)\\b" lib cmd bpf data man completions scripts && bad=1
while read -r file; do
	head -3 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' || {
		echo "$file: no SPDX line"
		bad=1
	}
done < <(find lib cmd bpf tests scripts completions man -type f \( -name '*.[ch1-9]' -o -name '*.sh' -o -name '*.py' -o -name '*.bats' \))
# The folder above this checkout, unless it is one that every machine has and that files may well name.
parent=$(cd .. && pwd -P)
case $parent in
/ | /root | /home | /tmp | /var/tmp | /usr/* | /opt | /srv | /src | /mnt | /build) ;;
*) grep -rnIE "(^|[^[:alnum:]_])${parent//./\\.}/" lib cmd bpf data man completions scripts tests Makefile && bad=1 ;;
esac
exit $bad
