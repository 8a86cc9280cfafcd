
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'luzia' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'luzia'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'luzia' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('enqueue', 'enqueue', [CompletionResultType]::ParameterValue, 'Put a task in the queue and print its id')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Put a task in the queue and print its id')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Queue a command, stream its output, and exit with its code')
            [CompletionResult]::new('attach', 'attach', [CompletionResultType]::ParameterValue, 'Stream a task from its beginning, and exit with its code')
            [CompletionResult]::new('wait', 'wait', [CompletionResultType]::ParameterValue, 'Wait until tasks have finished')
            [CompletionResult]::new('cancel', 'cancel', [CompletionResultType]::ParameterValue, 'Cancel tasks, running ones too')
            [CompletionResult]::new('retry', 'retry', [CompletionResultType]::ParameterValue, 'Put finished tasks back in the queue')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List tasks')
            [CompletionResult]::new('ls', 'ls', [CompletionResultType]::ParameterValue, 'List tasks')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show everything known about a task')
            [CompletionResult]::new('logs', 'logs', [CompletionResultType]::ParameterValue, 'Print the output of a task')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Say why a task, a user or a lane is waiting, and what would change it')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show the queue, the slots and the locks at a glance')
            [CompletionResult]::new('lock', 'lock', [CompletionResultType]::ParameterValue, 'Hold a lane while a command runs, without a queue entry')
            [CompletionResult]::new('acquire', 'acquire', [CompletionResultType]::ParameterValue, 'Take a lease on a lane, for scripts')
            [CompletionResult]::new('renew', 'renew', [CompletionResultType]::ParameterValue, 'Extend a lease')
            [CompletionResult]::new('release', 'release', [CompletionResultType]::ParameterValue, 'Release a lane')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Say whether a lane is free')
            [CompletionResult]::new('list-locks', 'list-locks', [CompletionResultType]::ParameterValue, 'List every lock and whether its holder is alive')
            [CompletionResult]::new('locks', 'locks', [CompletionResultType]::ParameterValue, 'List every lock and whether its holder is alive')
            [CompletionResult]::new('check-project', 'check-project', [CompletionResultType]::ParameterValue, 'Release the locks of a project''s finished tasks')
            [CompletionResult]::new('dispatch', 'dispatch', [CompletionResultType]::ParameterValue, 'Start the tasks whose turn it is')
            [CompletionResult]::new('daemon', 'daemon', [CompletionResultType]::ParameterValue, 'Start tasks whenever their turn comes, until stopped')
            [CompletionResult]::new('cleanup-stale', 'cleanup-stale', [CompletionResultType]::ParameterValue, 'Remove locks whose holders are proven dead, and recover dead tasks')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show, locate or check the configuration')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Look for problems on this host and in the state directory')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'See luzia take turns, in a state directory of its own')
            [CompletionResult]::new('name', 'name', [CompletionResultType]::ParameterValue, 'Print the lane of a repository, a work tree, a port, a database or a directory')
            [CompletionResult]::new('shim', 'shim', [CompletionResultType]::ParameterValue, 'Let heavy tools such as cargo and make take turns by links on PATH')
            [CompletionResult]::new('agent', 'agent', [CompletionResultType]::ParameterValue, 'Let coding agents take turns by themselves: their hooks, and the files that set them up')
            [CompletionResult]::new('mcp', 'mcp', [CompletionResultType]::ParameterValue, 'Serve the tools of luzia to an agent, by the Model Context Protocol')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'luzia;enqueue' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The user the task is serialised by; by default the project''s, else your account')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user the task is serialised by; by default the project''s, else your account')
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'The project the task belongs to')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'The project the task belongs to')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'A further lane the task takes, e.g. `session:telegram:bob` or `cron`; may be repeated')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'A further lane the task takes, e.g. `session:telegram:bob` or `cron`; may be repeated')
            [CompletionResult]::new('--thread', '--thread', [CompletionResultType]::ParameterName, 'A thread the task takes: the lane `thread:ID`; may be repeated')
            [CompletionResult]::new('--repo', '--repo', [CompletionResultType]::ParameterName, 'Take the lane of the git repository of this directory, or of the one the command runs in')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Take the lane of the git work tree of this directory, or of the one the command runs in')
            [CompletionResult]::new('--priority', '--priority', [CompletionResultType]::ParameterName, '0 (first) to 9 (last); 5 when not given')
            [CompletionResult]::new('--in', '--in', [CompletionResultType]::ParameterName, 'Do not start before this time has passed, e.g. `10m`')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Do not start before this moment, e.g. `2026-01-31T08:00:00Z`')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Do not start before this task has completed; may be repeated')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'End the command when it has run this long')
            [CompletionResult]::new('--start-within', '--start-within', [CompletionResultType]::ParameterName, 'Give up the task when it has not started after this time')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'Retry up to N times after a failure or an interruption')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'A name for the work: `--on-conflict` decides when an unfinished task has it')
            [CompletionResult]::new('--on-conflict', '--on-conflict', [CompletionResultType]::ParameterName, 'What to do when an unfinished task has the same key')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'A note for people')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set a variable for the command; may be repeated')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'The directory the command runs in; by default this one')
            [CompletionResult]::new('--grace', '--grace', [CompletionResultType]::ParameterName, 'The time between SIGTERM and SIGKILL when the task is ended')
            [CompletionResult]::new('--prompt', '--prompt', [CompletionResultType]::ParameterName, 'A text for the project''s configured agent, or for the command')
            [CompletionResult]::new('--shell', '--shell', [CompletionResultType]::ParameterName, 'A command line for `/bin/sh -c`')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The name by which others see you, instead of LUZIA_AGENT and the variables of your agent')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Read tasks from a file of JSON objects, one a line; `-` is stdin')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--no-check', '--no-check', [CompletionResultType]::ParameterName, 'Queue the task although its directory or its command is not there now')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the task has finished, and exit as `luzia wait` does')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;add' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The user the task is serialised by; by default the project''s, else your account')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user the task is serialised by; by default the project''s, else your account')
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'The project the task belongs to')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'The project the task belongs to')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'A further lane the task takes, e.g. `session:telegram:bob` or `cron`; may be repeated')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'A further lane the task takes, e.g. `session:telegram:bob` or `cron`; may be repeated')
            [CompletionResult]::new('--thread', '--thread', [CompletionResultType]::ParameterName, 'A thread the task takes: the lane `thread:ID`; may be repeated')
            [CompletionResult]::new('--repo', '--repo', [CompletionResultType]::ParameterName, 'Take the lane of the git repository of this directory, or of the one the command runs in')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Take the lane of the git work tree of this directory, or of the one the command runs in')
            [CompletionResult]::new('--priority', '--priority', [CompletionResultType]::ParameterName, '0 (first) to 9 (last); 5 when not given')
            [CompletionResult]::new('--in', '--in', [CompletionResultType]::ParameterName, 'Do not start before this time has passed, e.g. `10m`')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Do not start before this moment, e.g. `2026-01-31T08:00:00Z`')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Do not start before this task has completed; may be repeated')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'End the command when it has run this long')
            [CompletionResult]::new('--start-within', '--start-within', [CompletionResultType]::ParameterName, 'Give up the task when it has not started after this time')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'Retry up to N times after a failure or an interruption')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'A name for the work: `--on-conflict` decides when an unfinished task has it')
            [CompletionResult]::new('--on-conflict', '--on-conflict', [CompletionResultType]::ParameterName, 'What to do when an unfinished task has the same key')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'A note for people')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set a variable for the command; may be repeated')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'The directory the command runs in; by default this one')
            [CompletionResult]::new('--grace', '--grace', [CompletionResultType]::ParameterName, 'The time between SIGTERM and SIGKILL when the task is ended')
            [CompletionResult]::new('--prompt', '--prompt', [CompletionResultType]::ParameterName, 'A text for the project''s configured agent, or for the command')
            [CompletionResult]::new('--shell', '--shell', [CompletionResultType]::ParameterName, 'A command line for `/bin/sh -c`')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The name by which others see you, instead of LUZIA_AGENT and the variables of your agent')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Read tasks from a file of JSON objects, one a line; `-` is stdin')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--no-check', '--no-check', [CompletionResultType]::ParameterName, 'Queue the task although its directory or its command is not there now')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the task has finished, and exit as `luzia wait` does')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;run' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The user the task is serialised by; by default the project''s, else your account')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user the task is serialised by; by default the project''s, else your account')
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'The project the task belongs to')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'The project the task belongs to')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'A further lane the task takes, e.g. `session:telegram:bob` or `cron`; may be repeated')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'A further lane the task takes, e.g. `session:telegram:bob` or `cron`; may be repeated')
            [CompletionResult]::new('--thread', '--thread', [CompletionResultType]::ParameterName, 'A thread the task takes: the lane `thread:ID`; may be repeated')
            [CompletionResult]::new('--repo', '--repo', [CompletionResultType]::ParameterName, 'Take the lane of the git repository of this directory, or of the one the command runs in')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Take the lane of the git work tree of this directory, or of the one the command runs in')
            [CompletionResult]::new('--priority', '--priority', [CompletionResultType]::ParameterName, '0 (first) to 9 (last); 5 when not given')
            [CompletionResult]::new('--in', '--in', [CompletionResultType]::ParameterName, 'Do not start before this time has passed, e.g. `10m`')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Do not start before this moment, e.g. `2026-01-31T08:00:00Z`')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Do not start before this task has completed; may be repeated')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'End the command when it has run this long')
            [CompletionResult]::new('--start-within', '--start-within', [CompletionResultType]::ParameterName, 'Give up the task when it has not started after this time')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'Retry up to N times after a failure or an interruption')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'A name for the work: `--on-conflict` decides when an unfinished task has it')
            [CompletionResult]::new('--on-conflict', '--on-conflict', [CompletionResultType]::ParameterName, 'What to do when an unfinished task has the same key')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'A note for people')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set a variable for the command; may be repeated')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'The directory the command runs in; by default this one')
            [CompletionResult]::new('--grace', '--grace', [CompletionResultType]::ParameterName, 'The time between SIGTERM and SIGKILL when the task is ended')
            [CompletionResult]::new('--prompt', '--prompt', [CompletionResultType]::ParameterName, 'A text for the project''s configured agent, or for the command')
            [CompletionResult]::new('--shell', '--shell', [CompletionResultType]::ParameterName, 'A command line for `/bin/sh -c`')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The name by which others see you, instead of LUZIA_AGENT and the variables of your agent')
            [CompletionResult]::new('--yield-after', '--yield-after', [CompletionResultType]::ParameterName, 'Do not wait longer than this for the start: leave the task in the queue, say its id, and exit with 75')
            [CompletionResult]::new('--result-file', '--result-file', [CompletionResultType]::ParameterName, 'Write the document of --json to this file when the command returns, whatever it prints')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Run the tasks of a file of JSON objects, one a line, as `enqueue --from` reads them; `-` is stdin')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--no-check', '--no-check', [CompletionResultType]::ParameterName, 'Queue the task although its directory or its command is not there now')
            [CompletionResult]::new('--no-wait', '--no-wait', [CompletionResultType]::ParameterName, 'Do not wait: when the task cannot start at once, cancel it and exit with 75')
            [CompletionResult]::new('--stdin', '--stdin', [CompletionResultType]::ParameterName, 'Give the command the standard input of this process: a pipe or a file')
            [CompletionResult]::new('--pty', '--pty', [CompletionResultType]::ParameterName, 'Give the command a terminal of its own, e.g. for an editor or a shell')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Changes nothing: run always waits. For scripts that pass the options of `enqueue`')
            [CompletionResult]::new('--group-output', '--group-output', [CompletionResultType]::ParameterName, 'Print the output in one piece when the task has finished')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;attach' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;wait' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Wait no longer than this')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--any', '--any', [CompletionResultType]::ParameterName, 'Wait until one of them has finished, not all')
            [CompletionResult]::new('--stream', '--stream', [CompletionResultType]::ParameterName, 'Print the output of the tasks, each from its beginning, and exit with the code of the command')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;cancel' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why, for the record')
            [CompletionResult]::new('--by', '--by', [CompletionResultType]::ParameterName, 'Who, for the record; by default your account')
            [CompletionResult]::new('--grace', '--grace', [CompletionResultType]::ParameterName, 'The time between SIGTERM and SIGKILL')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;retry' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--no-after', '--no-after', [CompletionResultType]::ParameterName, 'Do not wait for the tasks it comes after, now or at any later retry')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;list' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'Only tasks in these states; several separated by commas')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Only tasks of this user')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Only tasks of this user')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only tasks of this lane')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'Only tasks of this lane')
            [CompletionResult]::new('--sort', '--sort', [CompletionResultType]::ParameterName, 'Sort by id, user, status, priority, created_at or due_at')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Only the first N, in the order of the list')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Only the first N, in the order of the list')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-a', '-a', [CompletionResultType]::ParameterName, 'Finished tasks too')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Finished tasks too')
            [CompletionResult]::new('--stuck', '--stuck', [CompletionResultType]::ParameterName, 'Only running tasks whose supervisor is dead or stopped')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;ls' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'Only tasks in these states; several separated by commas')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Only tasks of this user')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Only tasks of this user')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only tasks of this lane')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'Only tasks of this lane')
            [CompletionResult]::new('--sort', '--sort', [CompletionResultType]::ParameterName, 'Sort by id, user, status, priority, created_at or due_at')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Only the first N, in the order of the list')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Only the first N, in the order of the list')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-a', '-a', [CompletionResultType]::ParameterName, 'Finished tasks too')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Finished tasks too')
            [CompletionResult]::new('--stuck', '--stuck', [CompletionResultType]::ParameterName, 'Only running tasks whose supervisor is dead or stopped')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;show' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;logs' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Only the last N lines of each stream')
            [CompletionResult]::new('--lines', '--lines', [CompletionResultType]::ParameterName, 'Only the last N lines of each stream')
            [CompletionResult]::new('--grep', '--grep', [CompletionResultType]::ParameterName, 'Only lines that contain this text; with -n, only those among the last N')
            [CompletionResult]::new('--attempt', '--attempt', [CompletionResultType]::ParameterName, 'Only what this attempt wrote, from 1')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Only what was written in the last DUR, or after TIME (RFC 3339)')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Go on printing until the tasks have finished')
            [CompletionResult]::new('--follow', '--follow', [CompletionResultType]::ParameterName, 'Go on printing until the tasks have finished')
            [CompletionResult]::new('--stdout', '--stdout', [CompletionResultType]::ParameterName, 'Only what it wrote to its standard output')
            [CompletionResult]::new('--stderr', '--stderr', [CompletionResultType]::ParameterName, 'Only what it wrote to its standard error')
            [CompletionResult]::new('--timestamps', '--timestamps', [CompletionResultType]::ParameterName, 'Begin each line with the moment by which luzia had seen it')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;explain' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'A user, instead of the argument')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'A user, instead of the argument')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;status' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--capacity', '--capacity', [CompletionResultType]::ParameterName, 'Only the slots: how many there are, used and free, by project and by user')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;lock' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Hold the lane of this user')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Hold the lane of this user')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Hold this lane, e.g. `thread:7` or `cron`')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'Hold this lane, e.g. `thread:7` or `cron`')
            [CompletionResult]::new('--repo', '--repo', [CompletionResultType]::ParameterName, 'Take the lane of the git repository of this directory, by default of the working directory')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Take the lane of the git work tree of this directory, by default of the working directory')
            [CompletionResult]::new('-w', '-w', [CompletionResultType]::ParameterName, 'Wait no longer than this')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait no longer than this')
            [CompletionResult]::new('-E', '-E ', [CompletionResultType]::ParameterName, 'Exit with this code instead of 75 when the lane is busy')
            [CompletionResult]::new('--conflict-exit-code', '--conflict-exit-code', [CompletionResultType]::ParameterName, 'Exit with this code instead of 75 when the lane is busy')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'A note for people, which others see with the lock')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The name by which others see you, instead of LUZIA_AGENT and the variables of your agent')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Do not wait')
            [CompletionResult]::new('--nonblock', '--nonblock', [CompletionResultType]::ParameterName, 'Do not wait')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;acquire' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The user, instead of the argument')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user, instead of the argument')
            [CompletionResult]::new('--task', '--task', [CompletionResultType]::ParameterName, 'Who holds the lease: a task or any name')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'End the lease with the session of your agent, or with the process of --pid')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Wait this long for the lane; by default not at all')
            [CompletionResult]::new('--ttl', '--ttl', [CompletionResultType]::ParameterName, 'How long the lease lasts without a refresh; by default the lane''s lock timeout')
            [CompletionResult]::new('--pid', '--pid', [CompletionResultType]::ParameterName, 'End the lease also when this process ends')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'A note for people, which others see with the lease')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The name by which others see you, instead of LUZIA_AGENT and the variables of your agent')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--durable', '--durable', [CompletionResultType]::ParameterName, 'Sync the lease to disk, so that it survives a power cut')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;renew' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The user, instead of the argument')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user, instead of the argument')
            [CompletionResult]::new('--lock-id', '--lock-id', [CompletionResultType]::ParameterName, 'The lock id that `acquire` printed')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;release' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The user, instead of the first argument')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user, instead of the first argument')
            [CompletionResult]::new('--lock-id', '--lock-id', [CompletionResultType]::ParameterName, 'Release only what has this lock id')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Release what your session holds, or the session of this key')
            [CompletionResult]::new('--pid', '--pid', [CompletionResultType]::ParameterName, 'With --session: the process of the session, where it has no key')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'With --session: every lane that it holds')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'End a living holder first: cancel the task, or end the process')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;check' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The user, instead of the argument')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user, instead of the argument')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;list-locks' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'Only locks in these states; several separated by commas')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;locks' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'Only locks in these states; several separated by commas')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;check-project' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Say what would be released, and release nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Say what would be released, and release nothing')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;dispatch' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--once', '--once', [CompletionResultType]::ParameterName, 'Make one pass and return (the default)')
            [CompletionResult]::new('--drain', '--drain', [CompletionResultType]::ParameterName, 'Make passes until nothing runs and nothing is pending')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;daemon' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--poll', '--poll', [CompletionResultType]::ParameterName, 'How often to look where nothing can announce itself; by default as configured')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;cleanup-stale' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Say what would be done, recovered tasks included, and do nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Say what would be done, recovered tasks included, and do nothing')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;config' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print the configuration in force, defaults included')
            [CompletionResult]::new('path', 'path', [CompletionResultType]::ParameterValue, 'Print the path of the configuration file in force')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Read the configuration and report its first mistake, or every key without effect')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'luzia;config;show' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;config;path' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;config;check' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;config;help' {
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print the configuration in force, defaults included')
            [CompletionResult]::new('path', 'path', [CompletionResultType]::ParameterValue, 'Print the path of the configuration file in force')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Read the configuration and report its first mistake, or every key without effect')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'luzia;config;help;show' {
            break
        }
        'luzia;config;help;path' {
            break
        }
        'luzia;config;help;check' {
            break
        }
        'luzia;config;help;help' {
            break
        }
        'luzia;doctor' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--fix', '--fix', [CompletionResultType]::ParameterName, 'Mend what can be mended safely')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;demo' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--keep', '--keep', [CompletionResultType]::ParameterName, 'Keep the state directory of the demo, and print its path')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;name' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;shim' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Make links for tools')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the links, their lanes and the programs behind them')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Remove the link of a tool')
            [CompletionResult]::new('env', 'env', [CompletionResultType]::ParameterValue, 'Print the line for the profile of a shell')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Say which links are of no use, and why')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'luzia;shim;add' {
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'The lane that heavy calls take, also as `@tree` or `@git-dir`')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'The lane that heavy calls take, also as `@tree` or `@git-dir`')
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;shim;list' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;shim;rm' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;shim;env' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;shim;doctor' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;shim;help' {
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Make links for tools')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the links, their lanes and the programs behind them')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Remove the link of a tool')
            [CompletionResult]::new('env', 'env', [CompletionResultType]::ParameterValue, 'Print the line for the profile of a shell')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Say which links are of no use, and why')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'luzia;shim;help;add' {
            break
        }
        'luzia;shim;help;list' {
            break
        }
        'luzia;shim;help;rm' {
            break
        }
        'luzia;shim;help;env' {
            break
        }
        'luzia;shim;help;doctor' {
            break
        }
        'luzia;shim;help;help' {
            break
        }
        'luzia;agent' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('setup', 'setup', [CompletionResultType]::ParameterValue, 'Write the hooks, the sandbox grant, the MCP server, the skill and three lines of instructions of an agent')
            [CompletionResult]::new('hook', 'hook', [CompletionResultType]::ParameterValue, 'Answer a hook of an agent: its document comes on standard input')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'luzia;agent;setup' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'Write into the git work tree of the working directory, for everybody who works in it')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Print what differs and write nothing; exit with 1 when something does')
            [CompletionResult]::new('--remove', '--remove', [CompletionResultType]::ParameterName, 'Take out what setup put in, and nothing else')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print what would change, and write nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;agent;hook' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--gate', '--gate', [CompletionResultType]::ParameterName, 'Refuse a heavy command while its lane is busy, instead of a note')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;agent;help' {
            [CompletionResult]::new('setup', 'setup', [CompletionResultType]::ParameterValue, 'Write the hooks, the sandbox grant, the MCP server, the skill and three lines of instructions of an agent')
            [CompletionResult]::new('hook', 'hook', [CompletionResultType]::ParameterValue, 'Answer a hook of an agent: its document comes on standard input')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'luzia;agent;help;setup' {
            break
        }
        'luzia;agent;help;hook' {
            break
        }
        'luzia;agent;help;help' {
            break
        }
        'luzia;mcp' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;completions' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;help' {
            [CompletionResult]::new('enqueue', 'enqueue', [CompletionResultType]::ParameterValue, 'Put a task in the queue and print its id')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Queue a command, stream its output, and exit with its code')
            [CompletionResult]::new('attach', 'attach', [CompletionResultType]::ParameterValue, 'Stream a task from its beginning, and exit with its code')
            [CompletionResult]::new('wait', 'wait', [CompletionResultType]::ParameterValue, 'Wait until tasks have finished')
            [CompletionResult]::new('cancel', 'cancel', [CompletionResultType]::ParameterValue, 'Cancel tasks, running ones too')
            [CompletionResult]::new('retry', 'retry', [CompletionResultType]::ParameterValue, 'Put finished tasks back in the queue')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List tasks')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show everything known about a task')
            [CompletionResult]::new('logs', 'logs', [CompletionResultType]::ParameterValue, 'Print the output of a task')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Say why a task, a user or a lane is waiting, and what would change it')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show the queue, the slots and the locks at a glance')
            [CompletionResult]::new('lock', 'lock', [CompletionResultType]::ParameterValue, 'Hold a lane while a command runs, without a queue entry')
            [CompletionResult]::new('acquire', 'acquire', [CompletionResultType]::ParameterValue, 'Take a lease on a lane, for scripts')
            [CompletionResult]::new('renew', 'renew', [CompletionResultType]::ParameterValue, 'Extend a lease')
            [CompletionResult]::new('release', 'release', [CompletionResultType]::ParameterValue, 'Release a lane')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Say whether a lane is free')
            [CompletionResult]::new('list-locks', 'list-locks', [CompletionResultType]::ParameterValue, 'List every lock and whether its holder is alive')
            [CompletionResult]::new('check-project', 'check-project', [CompletionResultType]::ParameterValue, 'Release the locks of a project''s finished tasks')
            [CompletionResult]::new('dispatch', 'dispatch', [CompletionResultType]::ParameterValue, 'Start the tasks whose turn it is')
            [CompletionResult]::new('daemon', 'daemon', [CompletionResultType]::ParameterValue, 'Start tasks whenever their turn comes, until stopped')
            [CompletionResult]::new('cleanup-stale', 'cleanup-stale', [CompletionResultType]::ParameterValue, 'Remove locks whose holders are proven dead, and recover dead tasks')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show, locate or check the configuration')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Look for problems on this host and in the state directory')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'See luzia take turns, in a state directory of its own')
            [CompletionResult]::new('name', 'name', [CompletionResultType]::ParameterValue, 'Print the lane of a repository, a work tree, a port, a database or a directory')
            [CompletionResult]::new('shim', 'shim', [CompletionResultType]::ParameterValue, 'Let heavy tools such as cargo and make take turns by links on PATH')
            [CompletionResult]::new('agent', 'agent', [CompletionResultType]::ParameterValue, 'Let coding agents take turns by themselves: their hooks, and the files that set them up')
            [CompletionResult]::new('mcp', 'mcp', [CompletionResultType]::ParameterValue, 'Serve the tools of luzia to an agent, by the Model Context Protocol')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'luzia;help;enqueue' {
            break
        }
        'luzia;help;run' {
            break
        }
        'luzia;help;attach' {
            break
        }
        'luzia;help;wait' {
            break
        }
        'luzia;help;cancel' {
            break
        }
        'luzia;help;retry' {
            break
        }
        'luzia;help;list' {
            break
        }
        'luzia;help;show' {
            break
        }
        'luzia;help;logs' {
            break
        }
        'luzia;help;explain' {
            break
        }
        'luzia;help;status' {
            break
        }
        'luzia;help;lock' {
            break
        }
        'luzia;help;acquire' {
            break
        }
        'luzia;help;renew' {
            break
        }
        'luzia;help;release' {
            break
        }
        'luzia;help;check' {
            break
        }
        'luzia;help;list-locks' {
            break
        }
        'luzia;help;check-project' {
            break
        }
        'luzia;help;dispatch' {
            break
        }
        'luzia;help;daemon' {
            break
        }
        'luzia;help;cleanup-stale' {
            break
        }
        'luzia;help;config' {
            break
        }
        'luzia;help;doctor' {
            break
        }
        'luzia;help;demo' {
            break
        }
        'luzia;help;name' {
            break
        }
        'luzia;help;shim' {
            break
        }
        'luzia;help;agent' {
            break
        }
        'luzia;help;mcp' {
            break
        }
        'luzia;help;completions' {
            break
        }
        'luzia;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
