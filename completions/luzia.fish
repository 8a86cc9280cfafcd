# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_luzia_global_optspecs
    string join \n state-dir= config= json o/output= q/quiet v/verbose color= y/yes no-input h/help V/version
end

function __fish_luzia_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_luzia_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_luzia_using_subcommand
    set -l cmd (__fish_luzia_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c luzia -n "__fish_luzia_needs_command" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_needs_command" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_needs_command" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_needs_command" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_needs_command" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_needs_command" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_needs_command" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_needs_command" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_needs_command" -s V -l version -d 'Print version'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "enqueue" -d 'Put a task in the queue and print its id'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "add" -d 'Put a task in the queue and print its id'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "run" -d 'Queue a command, stream its output, and exit with its code'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "attach" -d 'Stream a task from its beginning, and exit with its code'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "wait" -d 'Wait until tasks have finished'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "cancel" -d 'Cancel tasks, running ones too'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "retry" -d 'Put finished tasks back in the queue'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "list" -d 'List tasks'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "ls" -d 'List tasks'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "show" -d 'Show everything known about a task'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "logs" -d 'Print the output of a task'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "explain" -d 'Say why a task, a user or a lane is waiting, and what would change it'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "status" -d 'Show the queue, the slots and the locks at a glance'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "lock" -d 'Hold a lane while a command runs, without a queue entry'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "acquire" -d 'Take a lease on a lane, for scripts'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "renew" -d 'Extend a lease'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "release" -d 'Release a lane'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "check" -d 'Say whether a lane is free'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "list-locks" -d 'List every lock and whether its holder is alive'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "locks" -d 'List every lock and whether its holder is alive'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "check-project" -d 'Release the locks of a project\'s finished tasks'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "dispatch" -d 'Start the tasks whose turn it is'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "daemon" -d 'Start tasks whenever their turn comes, until stopped'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "cleanup-stale" -d 'Remove locks whose holders are proven dead, and recover dead tasks'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "config" -d 'Show, locate or check the configuration'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "doctor" -d 'Look for problems on this host and in the state directory'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "demo" -d 'See luzia take turns, in a state directory of its own'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "name" -d 'Print the lane of a repository, a work tree, a port, a database or a directory'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "shim" -d 'Let heavy tools such as cargo and make take turns by links on PATH'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "agent" -d 'Let coding agents take turns by themselves: their hooks, and the files that set them up'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "mcp" -d 'Serve the tools of luzia to an agent, by the Model Context Protocol'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "completions" -d 'Print a completion script for a shell'
complete -c luzia -n "__fish_luzia_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -s u -l user -d 'The user the task is serialised by; by default the project\'s, else your account' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -s p -l project -d 'The project the task belongs to' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -s l -l lane -d 'A further lane the task takes, e.g. `session:telegram:bob` or `cron`; may be repeated' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l thread -d 'A thread the task takes: the lane `thread:ID`; may be repeated' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l repo -d 'Take the lane of the git repository of this directory, or of the one the command runs in' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l tree -d 'Take the lane of the git work tree of this directory, or of the one the command runs in' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l priority -d '0 (first) to 9 (last); 5 when not given' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l in -d 'Do not start before this time has passed, e.g. `10m`' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l at -d 'Do not start before this moment, e.g. `2026-01-31T08:00:00Z`' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l after -d 'Do not start before this task has completed; may be repeated' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l timeout -d 'End the command when it has run this long' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l start-within -d 'Give up the task when it has not started after this time' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l retries -d 'Retry up to N times after a failure or an interruption' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l key -d 'A name for the work: `--on-conflict` decides when an unfinished task has it' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l on-conflict -d 'What to do when an unfinished task has the same key' -r -f -a "queue\t'Queue the new task behind the other'
skip\t'Queue nothing and print the id of the other (the default)'
replace\t'Cancel the other and queue the new task; fail when the other has started'
reject\t'Queue nothing and fail'"
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l label -d 'A note for people' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l env -d 'Set a variable for the command; may be repeated' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l cwd -d 'The directory the command runs in; by default this one' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l grace -d 'The time between SIGTERM and SIGKILL when the task is ended' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l prompt -d 'A text for the project\'s configured agent, or for the command' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l shell -d 'A command line for `/bin/sh -c`' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l as -d 'The name by which others see you, instead of LUZIA_AGENT and the variables of your agent' -r
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l from -d 'Read tasks from a file of JSON objects, one a line; `-` is stdin' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l no-check -d 'Queue the task although its directory or its command is not there now'
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -l wait -d 'Wait until the task has finished, and exit as `luzia wait` does'
complete -c luzia -n "__fish_luzia_using_subcommand enqueue" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand add" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand add" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand add" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand add" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand add" -s u -l user -d 'The user the task is serialised by; by default the project\'s, else your account' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -s p -l project -d 'The project the task belongs to' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -s l -l lane -d 'A further lane the task takes, e.g. `session:telegram:bob` or `cron`; may be repeated' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -l thread -d 'A thread the task takes: the lane `thread:ID`; may be repeated' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -l repo -d 'Take the lane of the git repository of this directory, or of the one the command runs in' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand add" -l tree -d 'Take the lane of the git work tree of this directory, or of the one the command runs in' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand add" -l priority -d '0 (first) to 9 (last); 5 when not given' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -l in -d 'Do not start before this time has passed, e.g. `10m`' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -l at -d 'Do not start before this moment, e.g. `2026-01-31T08:00:00Z`' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -l after -d 'Do not start before this task has completed; may be repeated' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -l timeout -d 'End the command when it has run this long' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -l start-within -d 'Give up the task when it has not started after this time' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -l retries -d 'Retry up to N times after a failure or an interruption' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -l key -d 'A name for the work: `--on-conflict` decides when an unfinished task has it' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -l on-conflict -d 'What to do when an unfinished task has the same key' -r -f -a "queue\t'Queue the new task behind the other'
skip\t'Queue nothing and print the id of the other (the default)'
replace\t'Cancel the other and queue the new task; fail when the other has started'
reject\t'Queue nothing and fail'"
complete -c luzia -n "__fish_luzia_using_subcommand add" -l label -d 'A note for people' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -l env -d 'Set a variable for the command; may be repeated' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -l cwd -d 'The directory the command runs in; by default this one' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand add" -l grace -d 'The time between SIGTERM and SIGKILL when the task is ended' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -l prompt -d 'A text for the project\'s configured agent, or for the command' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -l shell -d 'A command line for `/bin/sh -c`' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -l as -d 'The name by which others see you, instead of LUZIA_AGENT and the variables of your agent' -r
complete -c luzia -n "__fish_luzia_using_subcommand add" -l from -d 'Read tasks from a file of JSON objects, one a line; `-` is stdin' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand add" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand add" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand add" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand add" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand add" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand add" -l no-check -d 'Queue the task although its directory or its command is not there now'
complete -c luzia -n "__fish_luzia_using_subcommand add" -l wait -d 'Wait until the task has finished, and exit as `luzia wait` does'
complete -c luzia -n "__fish_luzia_using_subcommand add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand run" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand run" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand run" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand run" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand run" -s u -l user -d 'The user the task is serialised by; by default the project\'s, else your account' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -s p -l project -d 'The project the task belongs to' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -s l -l lane -d 'A further lane the task takes, e.g. `session:telegram:bob` or `cron`; may be repeated' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l thread -d 'A thread the task takes: the lane `thread:ID`; may be repeated' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l repo -d 'Take the lane of the git repository of this directory, or of the one the command runs in' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand run" -l tree -d 'Take the lane of the git work tree of this directory, or of the one the command runs in' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand run" -l priority -d '0 (first) to 9 (last); 5 when not given' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l in -d 'Do not start before this time has passed, e.g. `10m`' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l at -d 'Do not start before this moment, e.g. `2026-01-31T08:00:00Z`' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l after -d 'Do not start before this task has completed; may be repeated' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l timeout -d 'End the command when it has run this long' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l start-within -d 'Give up the task when it has not started after this time' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l retries -d 'Retry up to N times after a failure or an interruption' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l key -d 'A name for the work: `--on-conflict` decides when an unfinished task has it' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l on-conflict -d 'What to do when an unfinished task has the same key' -r -f -a "queue\t'Queue the new task behind the other'
skip\t'Queue nothing and print the id of the other (the default)'
replace\t'Cancel the other and queue the new task; fail when the other has started'
reject\t'Queue nothing and fail'"
complete -c luzia -n "__fish_luzia_using_subcommand run" -l label -d 'A note for people' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l env -d 'Set a variable for the command; may be repeated' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l cwd -d 'The directory the command runs in; by default this one' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand run" -l grace -d 'The time between SIGTERM and SIGKILL when the task is ended' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l prompt -d 'A text for the project\'s configured agent, or for the command' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l shell -d 'A command line for `/bin/sh -c`' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l as -d 'The name by which others see you, instead of LUZIA_AGENT and the variables of your agent' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l yield-after -d 'Do not wait longer than this for the start: leave the task in the queue, say its id, and exit with 75' -r
complete -c luzia -n "__fish_luzia_using_subcommand run" -l result-file -d 'Write the document of --json to this file when the command returns, whatever it prints' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand run" -l from -d 'Run the tasks of a file of JSON objects, one a line, as `enqueue --from` reads them; `-` is stdin' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand run" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand run" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand run" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand run" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand run" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand run" -l no-check -d 'Queue the task although its directory or its command is not there now'
complete -c luzia -n "__fish_luzia_using_subcommand run" -l no-wait -d 'Do not wait: when the task cannot start at once, cancel it and exit with 75'
complete -c luzia -n "__fish_luzia_using_subcommand run" -l stdin -d 'Give the command the standard input of this process: a pipe or a file'
complete -c luzia -n "__fish_luzia_using_subcommand run" -l pty -d 'Give the command a terminal of its own, e.g. for an editor or a shell'
complete -c luzia -n "__fish_luzia_using_subcommand run" -l wait -d 'Changes nothing: run always waits. For scripts that pass the options of `enqueue`'
complete -c luzia -n "__fish_luzia_using_subcommand run" -l group-output -d 'Print the output in one piece when the task has finished'
complete -c luzia -n "__fish_luzia_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand attach" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand attach" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand attach" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand attach" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand attach" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand attach" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand attach" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand attach" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand attach" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand attach" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand wait" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand wait" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand wait" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand wait" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand wait" -l timeout -d 'Wait no longer than this' -r
complete -c luzia -n "__fish_luzia_using_subcommand wait" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand wait" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand wait" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand wait" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand wait" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand wait" -l any -d 'Wait until one of them has finished, not all'
complete -c luzia -n "__fish_luzia_using_subcommand wait" -l stream -d 'Print the output of the tasks, each from its beginning, and exit with the code of the command'
complete -c luzia -n "__fish_luzia_using_subcommand wait" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand cancel" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand cancel" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand cancel" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand cancel" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand cancel" -l reason -d 'Why, for the record' -r
complete -c luzia -n "__fish_luzia_using_subcommand cancel" -l by -d 'Who, for the record; by default your account' -r
complete -c luzia -n "__fish_luzia_using_subcommand cancel" -l grace -d 'The time between SIGTERM and SIGKILL' -r
complete -c luzia -n "__fish_luzia_using_subcommand cancel" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand cancel" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand cancel" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand cancel" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand cancel" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand cancel" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand retry" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand retry" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand retry" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand retry" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand retry" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand retry" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand retry" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand retry" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand retry" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand retry" -l no-after -d 'Do not wait for the tasks it comes after, now or at any later retry'
complete -c luzia -n "__fish_luzia_using_subcommand retry" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand list" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand list" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand list" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand list" -l state -d 'Only tasks in these states; several separated by commas' -r -f -a "pending\t'Accepted, not started'
running\t'Its command runs'
waiting\t'Waits for an event; no task of this version does'
completed\t'Its command ended with 0'
failed\t'Its command ended otherwise, or could not run'
timeout\t'A time limit ended it'
cancelled\t'Somebody ended it'"
complete -c luzia -n "__fish_luzia_using_subcommand list" -s u -l user -d 'Only tasks of this user' -r
complete -c luzia -n "__fish_luzia_using_subcommand list" -s l -l lane -d 'Only tasks of this lane' -r
complete -c luzia -n "__fish_luzia_using_subcommand list" -l sort -d 'Sort by id, user, status, priority, created_at or due_at' -r
complete -c luzia -n "__fish_luzia_using_subcommand list" -s n -l limit -d 'Only the first N, in the order of the list' -r
complete -c luzia -n "__fish_luzia_using_subcommand list" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand list" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand list" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand list" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand list" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand list" -s a -l all -d 'Finished tasks too'
complete -c luzia -n "__fish_luzia_using_subcommand list" -l stuck -d 'Only running tasks whose supervisor is dead or stopped'
complete -c luzia -n "__fish_luzia_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand ls" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand ls" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand ls" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand ls" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand ls" -l state -d 'Only tasks in these states; several separated by commas' -r -f -a "pending\t'Accepted, not started'
running\t'Its command runs'
waiting\t'Waits for an event; no task of this version does'
completed\t'Its command ended with 0'
failed\t'Its command ended otherwise, or could not run'
timeout\t'A time limit ended it'
cancelled\t'Somebody ended it'"
complete -c luzia -n "__fish_luzia_using_subcommand ls" -s u -l user -d 'Only tasks of this user' -r
complete -c luzia -n "__fish_luzia_using_subcommand ls" -s l -l lane -d 'Only tasks of this lane' -r
complete -c luzia -n "__fish_luzia_using_subcommand ls" -l sort -d 'Sort by id, user, status, priority, created_at or due_at' -r
complete -c luzia -n "__fish_luzia_using_subcommand ls" -s n -l limit -d 'Only the first N, in the order of the list' -r
complete -c luzia -n "__fish_luzia_using_subcommand ls" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand ls" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand ls" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand ls" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand ls" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand ls" -s a -l all -d 'Finished tasks too'
complete -c luzia -n "__fish_luzia_using_subcommand ls" -l stuck -d 'Only running tasks whose supervisor is dead or stopped'
complete -c luzia -n "__fish_luzia_using_subcommand ls" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand show" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand show" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand show" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand show" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand show" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand show" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand show" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand show" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand logs" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand logs" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand logs" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand logs" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand logs" -s n -l lines -d 'Only the last N lines of each stream' -r
complete -c luzia -n "__fish_luzia_using_subcommand logs" -l grep -d 'Only lines that contain this text; with -n, only those among the last N' -r
complete -c luzia -n "__fish_luzia_using_subcommand logs" -l attempt -d 'Only what this attempt wrote, from 1' -r
complete -c luzia -n "__fish_luzia_using_subcommand logs" -l since -d 'Only what was written in the last DUR, or after TIME (RFC 3339)' -r
complete -c luzia -n "__fish_luzia_using_subcommand logs" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand logs" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand logs" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand logs" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand logs" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand logs" -s f -l follow -d 'Go on printing until the tasks have finished'
complete -c luzia -n "__fish_luzia_using_subcommand logs" -l stdout -d 'Only what it wrote to its standard output'
complete -c luzia -n "__fish_luzia_using_subcommand logs" -l stderr -d 'Only what it wrote to its standard error'
complete -c luzia -n "__fish_luzia_using_subcommand logs" -l timestamps -d 'Begin each line with the moment by which luzia had seen it'
complete -c luzia -n "__fish_luzia_using_subcommand logs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand explain" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand explain" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand explain" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand explain" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand explain" -s u -l user -d 'A user, instead of the argument' -r
complete -c luzia -n "__fish_luzia_using_subcommand explain" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand explain" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand explain" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand explain" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand explain" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand status" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand status" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand status" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand status" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand status" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand status" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand status" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand status" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand status" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand status" -l capacity -d 'Only the slots: how many there are, used and free, by project and by user'
complete -c luzia -n "__fish_luzia_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand lock" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand lock" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand lock" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand lock" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand lock" -s u -l user -d 'Hold the lane of this user' -r
complete -c luzia -n "__fish_luzia_using_subcommand lock" -s l -l lane -d 'Hold this lane, e.g. `thread:7` or `cron`' -r
complete -c luzia -n "__fish_luzia_using_subcommand lock" -l repo -d 'Take the lane of the git repository of this directory, by default of the working directory' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand lock" -l tree -d 'Take the lane of the git work tree of this directory, by default of the working directory' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand lock" -s w -l wait -d 'Wait no longer than this' -r
complete -c luzia -n "__fish_luzia_using_subcommand lock" -s E -l conflict-exit-code -d 'Exit with this code instead of 75 when the lane is busy' -r
complete -c luzia -n "__fish_luzia_using_subcommand lock" -l label -d 'A note for people, which others see with the lock' -r
complete -c luzia -n "__fish_luzia_using_subcommand lock" -l as -d 'The name by which others see you, instead of LUZIA_AGENT and the variables of your agent' -r
complete -c luzia -n "__fish_luzia_using_subcommand lock" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand lock" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand lock" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand lock" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand lock" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand lock" -s n -l nonblock -d 'Do not wait'
complete -c luzia -n "__fish_luzia_using_subcommand lock" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -s u -l user -d 'The user, instead of the argument' -r
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -l task -d 'Who holds the lease: a task or any name' -r
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -l session -d 'End the lease with the session of your agent, or with the process of --pid' -r
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -l timeout -d 'Wait this long for the lane; by default not at all' -r
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -l ttl -d 'How long the lease lasts without a refresh; by default the lane\'s lock timeout' -r
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -l pid -d 'End the lease also when this process ends' -r
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -l label -d 'A note for people, which others see with the lease' -r
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -l as -d 'The name by which others see you, instead of LUZIA_AGENT and the variables of your agent' -r
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -l durable -d 'Sync the lease to disk, so that it survives a power cut'
complete -c luzia -n "__fish_luzia_using_subcommand acquire" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand renew" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand renew" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand renew" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand renew" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand renew" -s u -l user -d 'The user, instead of the argument' -r
complete -c luzia -n "__fish_luzia_using_subcommand renew" -l lock-id -d 'The lock id that `acquire` printed' -r
complete -c luzia -n "__fish_luzia_using_subcommand renew" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand renew" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand renew" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand renew" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand renew" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand renew" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand release" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand release" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand release" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand release" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand release" -s u -l user -d 'The user, instead of the first argument' -r
complete -c luzia -n "__fish_luzia_using_subcommand release" -l lock-id -d 'Release only what has this lock id' -r
complete -c luzia -n "__fish_luzia_using_subcommand release" -l session -d 'Release what your session holds, or the session of this key' -r
complete -c luzia -n "__fish_luzia_using_subcommand release" -l pid -d 'With --session: the process of the session, where it has no key' -r
complete -c luzia -n "__fish_luzia_using_subcommand release" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand release" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand release" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand release" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand release" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand release" -l all -d 'With --session: every lane that it holds'
complete -c luzia -n "__fish_luzia_using_subcommand release" -l force -d 'End a living holder first: cancel the task, or end the process'
complete -c luzia -n "__fish_luzia_using_subcommand release" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand check" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand check" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand check" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand check" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand check" -s u -l user -d 'The user, instead of the argument' -r
complete -c luzia -n "__fish_luzia_using_subcommand check" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand check" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand check" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand check" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand check" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand list-locks" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand list-locks" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand list-locks" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand list-locks" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand list-locks" -l state -d 'Only locks in these states; several separated by commas' -r -f -a "held\t'The holder lives'
stale\t'The holder is proven dead, or its lease has run out'
orphan\t'The supervisor is dead, the command lives'
overdue\t'The holder lives past its limit'"
complete -c luzia -n "__fish_luzia_using_subcommand list-locks" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand list-locks" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand list-locks" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand list-locks" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand list-locks" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand list-locks" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand locks" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand locks" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand locks" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand locks" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand locks" -l state -d 'Only locks in these states; several separated by commas' -r -f -a "held\t'The holder lives'
stale\t'The holder is proven dead, or its lease has run out'
orphan\t'The supervisor is dead, the command lives'
overdue\t'The holder lives past its limit'"
complete -c luzia -n "__fish_luzia_using_subcommand locks" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand locks" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand locks" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand locks" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand locks" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand locks" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand check-project" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand check-project" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand check-project" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand check-project" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand check-project" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand check-project" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand check-project" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand check-project" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand check-project" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand check-project" -s n -l dry-run -d 'Say what would be released, and release nothing'
complete -c luzia -n "__fish_luzia_using_subcommand check-project" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand dispatch" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand dispatch" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand dispatch" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand dispatch" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand dispatch" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand dispatch" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand dispatch" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand dispatch" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand dispatch" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand dispatch" -l once -d 'Make one pass and return (the default)'
complete -c luzia -n "__fish_luzia_using_subcommand dispatch" -l drain -d 'Make passes until nothing runs and nothing is pending'
complete -c luzia -n "__fish_luzia_using_subcommand dispatch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand daemon" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand daemon" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand daemon" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand daemon" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand daemon" -l poll -d 'How often to look where nothing can announce itself; by default as configured' -r
complete -c luzia -n "__fish_luzia_using_subcommand daemon" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand daemon" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand daemon" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand daemon" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand daemon" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand daemon" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand cleanup-stale" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand cleanup-stale" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand cleanup-stale" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand cleanup-stale" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand cleanup-stale" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand cleanup-stale" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand cleanup-stale" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand cleanup-stale" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand cleanup-stale" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand cleanup-stale" -s n -l dry-run -d 'Say what would be done, recovered tasks included, and do nothing'
complete -c luzia -n "__fish_luzia_using_subcommand cleanup-stale" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand config; and not __fish_seen_subcommand_from show path check help" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand config; and not __fish_seen_subcommand_from show path check help" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand config; and not __fish_seen_subcommand_from show path check help" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand config; and not __fish_seen_subcommand_from show path check help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand config; and not __fish_seen_subcommand_from show path check help" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand config; and not __fish_seen_subcommand_from show path check help" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand config; and not __fish_seen_subcommand_from show path check help" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand config; and not __fish_seen_subcommand_from show path check help" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand config; and not __fish_seen_subcommand_from show path check help" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand config; and not __fish_seen_subcommand_from show path check help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand config; and not __fish_seen_subcommand_from show path check help" -f -a "show" -d 'Print the configuration in force, defaults included'
complete -c luzia -n "__fish_luzia_using_subcommand config; and not __fish_seen_subcommand_from show path check help" -f -a "path" -d 'Print the path of the configuration file in force'
complete -c luzia -n "__fish_luzia_using_subcommand config; and not __fish_seen_subcommand_from show path check help" -f -a "check" -d 'Read the configuration and report its first mistake, or every key without effect'
complete -c luzia -n "__fish_luzia_using_subcommand config; and not __fish_seen_subcommand_from show path check help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from show" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from show" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from show" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from show" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from show" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from show" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from path" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from path" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from path" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from path" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from path" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from path" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from path" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from path" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from path" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from check" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from check" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from check" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from check" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from check" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from check" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from check" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from check" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from check" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print the configuration in force, defaults included'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "path" -d 'Print the path of the configuration file in force'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "check" -d 'Read the configuration and report its first mistake, or every key without effect'
complete -c luzia -n "__fish_luzia_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c luzia -n "__fish_luzia_using_subcommand doctor" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand doctor" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand doctor" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand doctor" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand doctor" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand doctor" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand doctor" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand doctor" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand doctor" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand doctor" -l fix -d 'Mend what can be mended safely'
complete -c luzia -n "__fish_luzia_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand demo" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand demo" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand demo" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand demo" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand demo" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand demo" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand demo" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand demo" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand demo" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand demo" -l keep -d 'Keep the state directory of the demo, and print its path'
complete -c luzia -n "__fish_luzia_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand name" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand name" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand name" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand name" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand name" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand name" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand name" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand name" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand name" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand name" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and not __fish_seen_subcommand_from add list rm env doctor help" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and not __fish_seen_subcommand_from add list rm env doctor help" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand shim; and not __fish_seen_subcommand_from add list rm env doctor help" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and not __fish_seen_subcommand_from add list rm env doctor help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and not __fish_seen_subcommand_from add list rm env doctor help" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and not __fish_seen_subcommand_from add list rm env doctor help" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and not __fish_seen_subcommand_from add list rm env doctor help" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and not __fish_seen_subcommand_from add list rm env doctor help" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and not __fish_seen_subcommand_from add list rm env doctor help" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and not __fish_seen_subcommand_from add list rm env doctor help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and not __fish_seen_subcommand_from add list rm env doctor help" -f -a "add" -d 'Make links for tools'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and not __fish_seen_subcommand_from add list rm env doctor help" -f -a "list" -d 'List the links, their lanes and the programs behind them'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and not __fish_seen_subcommand_from add list rm env doctor help" -f -a "rm" -d 'Remove the link of a tool'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and not __fish_seen_subcommand_from add list rm env doctor help" -f -a "env" -d 'Print the line for the profile of a shell'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and not __fish_seen_subcommand_from add list rm env doctor help" -f -a "doctor" -d 'Say which links are of no use, and why'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and not __fish_seen_subcommand_from add list rm env doctor help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from add" -s l -l lane -d 'The lane that heavy calls take, also as `@tree` or `@git-dir`' -r
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from add" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from add" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from add" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from add" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from add" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from add" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from add" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from add" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from add" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from list" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from list" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from list" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from list" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from list" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from list" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from rm" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from rm" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from rm" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from rm" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from rm" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from rm" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from rm" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from rm" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from rm" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from env" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from env" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from env" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from env" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from env" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from env" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from env" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from env" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from env" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from env" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from doctor" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from doctor" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from doctor" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from doctor" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from doctor" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from doctor" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from doctor" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from doctor" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from doctor" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from help" -f -a "add" -d 'Make links for tools'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the links, their lanes and the programs behind them'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from help" -f -a "rm" -d 'Remove the link of a tool'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from help" -f -a "env" -d 'Print the line for the profile of a shell'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from help" -f -a "doctor" -d 'Say which links are of no use, and why'
complete -c luzia -n "__fish_luzia_using_subcommand shim; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and not __fish_seen_subcommand_from setup hook help" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand agent; and not __fish_seen_subcommand_from setup hook help" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand agent; and not __fish_seen_subcommand_from setup hook help" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand agent; and not __fish_seen_subcommand_from setup hook help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand agent; and not __fish_seen_subcommand_from setup hook help" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and not __fish_seen_subcommand_from setup hook help" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and not __fish_seen_subcommand_from setup hook help" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and not __fish_seen_subcommand_from setup hook help" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and not __fish_seen_subcommand_from setup hook help" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and not __fish_seen_subcommand_from setup hook help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and not __fish_seen_subcommand_from setup hook help" -f -a "setup" -d 'Write the hooks, the sandbox grant, the MCP server, the skill and three lines of instructions of an agent'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and not __fish_seen_subcommand_from setup hook help" -f -a "hook" -d 'Answer a hook of an agent: its document comes on standard input'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and not __fish_seen_subcommand_from setup hook help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from setup" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from setup" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from setup" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from setup" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from setup" -l project -d 'Write into the git work tree of the working directory, for everybody who works in it'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from setup" -l check -d 'Print what differs and write nothing; exit with 1 when something does'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from setup" -l remove -d 'Take out what setup put in, and nothing else'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from setup" -l dry-run -d 'Print what would change, and write nothing'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from setup" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from setup" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from setup" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from setup" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from setup" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from setup" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from hook" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from hook" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from hook" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from hook" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from hook" -l gate -d 'Refuse a heavy command while its lane is busy, instead of a note'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from hook" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from hook" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from hook" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from hook" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from hook" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from hook" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from help" -f -a "setup" -d 'Write the hooks, the sandbox grant, the MCP server, the skill and three lines of instructions of an agent'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from help" -f -a "hook" -d 'Answer a hook of an agent: its document comes on standard input'
complete -c luzia -n "__fish_luzia_using_subcommand agent; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c luzia -n "__fish_luzia_using_subcommand mcp" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand mcp" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand mcp" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand mcp" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand mcp" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand mcp" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand mcp" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand mcp" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand mcp" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand mcp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand completions" -l state-dir -d 'The state directory, instead of LUZIA_STATE_DIR and the usual places' -r -f -a "(__fish_complete_directories)"
complete -c luzia -n "__fish_luzia_using_subcommand completions" -l config -d 'The configuration file, instead of LUZIA_CONFIG and the usual places' -r -F
complete -c luzia -n "__fish_luzia_using_subcommand completions" -s o -l output -d 'How to answer' -r -f -a "table\t'Columns for people'
wide\t'More columns'
json\t'One JSON document'
jsonl\t'One JSON document a line'
name\t'Only the names, one a line'"
complete -c luzia -n "__fish_luzia_using_subcommand completions" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Also in a pipe'
never\t'Not even on a terminal'"
complete -c luzia -n "__fish_luzia_using_subcommand completions" -l json -d 'Answer with one JSON document, and with errors as JSON'
complete -c luzia -n "__fish_luzia_using_subcommand completions" -s q -l quiet -d 'Print data and errors only, no hints and no progress'
complete -c luzia -n "__fish_luzia_using_subcommand completions" -s v -l verbose -d 'Report each action on stderr'
complete -c luzia -n "__fish_luzia_using_subcommand completions" -s y -l yes -d 'Answer yes to every question'
complete -c luzia -n "__fish_luzia_using_subcommand completions" -l no-input -d 'Never ask; a question counts as refused'
complete -c luzia -n "__fish_luzia_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "enqueue" -d 'Put a task in the queue and print its id'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "run" -d 'Queue a command, stream its output, and exit with its code'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "attach" -d 'Stream a task from its beginning, and exit with its code'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "wait" -d 'Wait until tasks have finished'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "cancel" -d 'Cancel tasks, running ones too'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "retry" -d 'Put finished tasks back in the queue'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "list" -d 'List tasks'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "show" -d 'Show everything known about a task'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "logs" -d 'Print the output of a task'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "explain" -d 'Say why a task, a user or a lane is waiting, and what would change it'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "status" -d 'Show the queue, the slots and the locks at a glance'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "lock" -d 'Hold a lane while a command runs, without a queue entry'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "acquire" -d 'Take a lease on a lane, for scripts'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "renew" -d 'Extend a lease'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "release" -d 'Release a lane'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "check" -d 'Say whether a lane is free'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "list-locks" -d 'List every lock and whether its holder is alive'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "check-project" -d 'Release the locks of a project\'s finished tasks'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "dispatch" -d 'Start the tasks whose turn it is'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "daemon" -d 'Start tasks whenever their turn comes, until stopped'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "cleanup-stale" -d 'Remove locks whose holders are proven dead, and recover dead tasks'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "config" -d 'Show, locate or check the configuration'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "doctor" -d 'Look for problems on this host and in the state directory'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "demo" -d 'See luzia take turns, in a state directory of its own'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "name" -d 'Print the lane of a repository, a work tree, a port, a database or a directory'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "shim" -d 'Let heavy tools such as cargo and make take turns by links on PATH'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "agent" -d 'Let coding agents take turns by themselves: their hooks, and the files that set them up'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "mcp" -d 'Serve the tools of luzia to an agent, by the Model Context Protocol'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "completions" -d 'Print a completion script for a shell'
complete -c luzia -n "__fish_luzia_using_subcommand help; and not __fish_seen_subcommand_from enqueue run attach wait cancel retry list show logs explain status lock acquire renew release check list-locks check-project dispatch daemon cleanup-stale config doctor demo name shim agent mcp completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
