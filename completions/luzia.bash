# bash completion for luzia: every TAB asks `luzia __complete`.

_luzia_command() { # the byte at which a command of its own begins, and the word that is completed
    local begin=$1 part=$2 at=0 index spec function
    for ((index = 0; index < COMP_CWORD; index++)); do
        while [[ ${COMP_LINE:at:1} == [[:space:]] ]]; do ((at++)); done
        ((at >= begin)) && break
        ((at += ${#COMP_WORDS[index]}))
    done
    if ((index >= COMP_CWORD)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$part" | sort -u)
    elif declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$index"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$index"
    else
        spec=$(complete -p -- "${COMP_WORDS[index]}" 2>/dev/null)
        if [[ $spec == *" -F "* ]]; then
            function=${spec#* -F }
            function=${function%% *}
            COMP_WORDS=("${COMP_WORDS[@]:index}")
            ((COMP_CWORD -= index, COMP_POINT -= begin))
            COMP_LINE=${COMP_LINE:begin}
            "$function" "${COMP_WORDS[0]}" "$part" "${COMP_WORDS[COMP_CWORD - 1]}"
        else
            compopt -o default 2>/dev/null
        fi
    fi
}

_luzia() {
    local answer first lead part line word cut begin
    COMPREPLY=()
    mapfile -t answer < <("$1" __complete line "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    first=${answer[0]}
    lead=${first%%$'\t'*}
    part=${first#*$'\t'}
    case ${answer[1]} in
        "[files]") compopt -o default 2>/dev/null; return 0 ;;
        "[directories]") compopt -o dirnames 2>/dev/null; return 0 ;;
        "[command]"*) IFS=$'\t' read -r word begin line <<<"${answer[1]}"; _luzia_command "$begin" "$part"; return 0 ;;
    esac
    # The shell breaks words at : and =, and wants only what follows.
    cut=$lead$part
    if [[ $cut == *[:=]* ]]; then cut=${cut%"${cut##*[:=]}"}; else cut=; fi
    for line in "${answer[@]:1}"; do
        word=${line%%$'\t'*}
        COMPREPLY+=("$(printf '%q' "${word#"$cut"}")")
    done
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:=] ]] && compopt -o nospace 2>/dev/null
    return 0
}

complete -F _luzia luzia
