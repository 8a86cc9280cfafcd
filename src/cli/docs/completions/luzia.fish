# fish completion for luzia: every TAB asks `luzia __complete`.

function __luzia_complete
    set -l line (commandline -cp | string collect)
    set -l answer (command luzia __complete line "$line" 2>/dev/null)
    test (count $answer) -gt 1; or return
    set -l first (string split \t -- $answer[1])
    set -l second (string split \t -- $answer[2])
    switch $second[1]
        case '[files]'
            __fish_complete_path $first[2]
        case '[directories]'
            __fish_complete_directories $first[2]
        case '[command]'
            # The words of the command, the last one as it is typed.
            set -l words (commandline -cpo)
            set -e words[1..$second[3]]
            complete -C (string join ' ' -- (string escape -- $words) (commandline -ct | string collect --allow-empty))
        case '*'
            printf '%s\n' $answer[2..-1]
    end
end

complete -c luzia -e
complete -c luzia -f -k -a '(__luzia_complete)'
