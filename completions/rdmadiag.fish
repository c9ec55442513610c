# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for rdmadiag: asks the program itself.

function __rdmadiag_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] complete -- $words[2..-1] 2>/dev/null)
        switch $line
            case :file
                __fish_complete_path (commandline -ct)
            case :command
                __fish_complete_command
            case '*'
                echo $line
        end
    end
end

complete -c rdmadiag -f -a '(__rdmadiag_complete)'
