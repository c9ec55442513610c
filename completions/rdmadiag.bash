# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for rdmadiag: asks the program itself.

_rdmadiag()
{
	local cur=${COMP_WORDS[COMP_CWORD]} word _help
	COMPREPLY=()
	[[ $cur == "=" ]] && cur=
	while IFS=$'\t' read -r word _help; do
		case $word in
		:file)
			compopt -o filenames
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			;;
		:command)
			compopt -o filenames
			mapfile -t COMPREPLY < <(compgen -c -- "$cur"; compgen -f -- "$cur")
			;;
		*) COMPREPLY+=("$word") ;;
		esac
	done < <("$1" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _rdmadiag rdmadiag
