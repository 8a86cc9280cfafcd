
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
            [CompletionResult]::new('pause', 'pause', [CompletionResultType]::ParameterValue, 'Start no further tasks: of a user, of a lane, one task, or any (--all)')
            [CompletionResult]::new('resume', 'resume', [CompletionResultType]::ParameterValue, 'Let paused tasks start again')
            [CompletionResult]::new('edit', 'edit', [CompletionResultType]::ParameterValue, 'Change a task that has not started')
            [CompletionResult]::new('move', 'move', [CompletionResultType]::ParameterValue, 'Put a task that has not started before others')
            [CompletionResult]::new('retry', 'retry', [CompletionResultType]::ParameterValue, 'Put finished tasks back in the queue')
            [CompletionResult]::new('cron', 'cron', [CompletionResultType]::ParameterValue, 'Make tasks at set times, by cron lines')
            [CompletionResult]::new('step', 'step', [CompletionResultType]::ParameterValue, 'Do a part of a task once, however often the task is started again')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Set variables of a task, durably')
            [CompletionResult]::new('get', 'get', [CompletionResultType]::ParameterValue, 'Print variables of a task')
            [CompletionResult]::new('beat', 'beat', [CompletionResultType]::ParameterValue, 'Note that a task makes progress')
            [CompletionResult]::new('finish', 'finish', [CompletionResultType]::ParameterValue, 'Set the result of the task that calls this')
            [CompletionResult]::new('await', 'await', [CompletionResultType]::ParameterValue, 'Wait inside a task until an event comes')
            [CompletionResult]::new('emit', 'emit', [CompletionResultType]::ParameterValue, 'Send an event to tasks, which keep it')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List tasks')
            [CompletionResult]::new('ls', 'ls', [CompletionResultType]::ParameterValue, 'List tasks')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show everything known about a task')
            [CompletionResult]::new('tree', 'tree', [CompletionResultType]::ParameterValue, 'Show a task, its steps, and the tasks that it has queued')
            [CompletionResult]::new('logs', 'logs', [CompletionResultType]::ParameterValue, 'Print the output of a task')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Say why a task, a user or a lane is waiting, and what would change it')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show the queue, the slots and the locks at a glance')
            [CompletionResult]::new('events', 'events', [CompletionResultType]::ParameterValue, 'Print what happened, the oldest first')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Show how long lanes were waited for and held, and how tasks ended')
            [CompletionResult]::new('simulate', 'simulate', [CompletionResultType]::ParameterValue, 'Say what would become of a load, or of the queue with other limits')
            [CompletionResult]::new('timeline', 'timeline', [CompletionResultType]::ParameterValue, 'Draw who held which lane when')
            [CompletionResult]::new('top', 'top', [CompletionResultType]::ParameterValue, 'Show the tasks and the locks, again and again')
            [CompletionResult]::new('metrics', 'metrics', [CompletionResultType]::ParameterValue, 'Print numbers for Prometheus')
            [CompletionResult]::new('lock', 'lock', [CompletionResultType]::ParameterValue, 'Hold a lane while a command runs, without a queue entry')
            [CompletionResult]::new('guard', 'guard', [CompletionResultType]::ParameterValue, 'Run a command only while a lock is in force')
            [CompletionResult]::new('acquire', 'acquire', [CompletionResultType]::ParameterValue, 'Take a lease on a lane, for scripts')
            [CompletionResult]::new('renew', 'renew', [CompletionResultType]::ParameterValue, 'Extend a lease')
            [CompletionResult]::new('release', 'release', [CompletionResultType]::ParameterValue, 'Release a lane')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Say whether a lane is free')
            [CompletionResult]::new('list-locks', 'list-locks', [CompletionResultType]::ParameterValue, 'List every lock and whether its holder is alive')
            [CompletionResult]::new('locks', 'locks', [CompletionResultType]::ParameterValue, 'List every lock and whether its holder is alive')
            [CompletionResult]::new('lanes', 'lanes', [CompletionResultType]::ParameterValue, 'Show the lanes, and change their limits')
            [CompletionResult]::new('check-project', 'check-project', [CompletionResultType]::ParameterValue, 'Release the locks of a project''s finished tasks')
            [CompletionResult]::new('dispatch', 'dispatch', [CompletionResultType]::ParameterValue, 'Start the tasks whose turn it is')
            [CompletionResult]::new('daemon', 'daemon', [CompletionResultType]::ParameterValue, 'Start tasks whenever their turn comes, until stopped')
            [CompletionResult]::new('cleanup-stale', 'cleanup-stale', [CompletionResultType]::ParameterValue, 'Remove locks whose holders are proven dead, and recover dead tasks')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show, locate or check the configuration')
            [CompletionResult]::new('hook', 'hook', [CompletionResultType]::ParameterValue, 'Run commands when something happens')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Look for problems on this host and in the state directory')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'See luzia take turns, in a state directory of its own')
            [CompletionResult]::new('name', 'name', [CompletionResultType]::ParameterValue, 'Print the lane of a repository, a work tree, a port, a database or a directory')
            [CompletionResult]::new('shim', 'shim', [CompletionResultType]::ParameterValue, 'Let heavy tools such as cargo and make take turns by links on PATH')
            [CompletionResult]::new('agent', 'agent', [CompletionResultType]::ParameterValue, 'Let coding agents take turns by themselves: their hooks, and the files that set them up')
            [CompletionResult]::new('mcp', 'mcp', [CompletionResultType]::ParameterValue, 'Serve the tools of luzia to an agent, by the Model Context Protocol')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of a document')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('install-docs', 'install-docs', [CompletionResultType]::ParameterValue, 'Write the manual pages and completions where they are found')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'luzia;enqueue' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The user of the task: tasks of one user run one at a time; any name. By default the project''s, else your account')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the task: tasks of one user run one at a time; any name. By default the project''s, else your account')
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'The project the task belongs to')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'The project the task belongs to')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'A lane the task takes, e.g. `build` or `session:telegram:bob`; may be repeated')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'A lane the task takes, e.g. `build` or `session:telegram:bob`; may be repeated')
            [CompletionResult]::new('--thread', '--thread', [CompletionResultType]::ParameterName, 'A thread the task takes: the lane `thread:ID`; may be repeated')
            [CompletionResult]::new('--repo', '--repo', [CompletionResultType]::ParameterName, 'Take the lane of the git repository of this directory, or of the one the command runs in')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Take the lane of the git work tree of this directory, or of the one the command runs in')
            [CompletionResult]::new('--priority', '--priority', [CompletionResultType]::ParameterName, '0 (first) to 9 (last); 5 when not given')
            [CompletionResult]::new('--in', '--in', [CompletionResultType]::ParameterName, 'Do not start before this time has passed, e.g. `10m` or `2 hours`')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Do not start before this moment, e.g. `8:00`, `tomorrow 8:00` or `2026-12-24 18:00`')
            [CompletionResult]::new('--parent', '--parent', [CompletionResultType]::ParameterName, 'The task whose child this is, or `self`; inside a task, that task')
            [CompletionResult]::new('--on-parent-death', '--on-parent-death', [CompletionResultType]::ParameterName, 'What happens to the task when its parent is over first: `adopt` (the default) lets it go on, `cancel` ends it')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Do not start before this task has completed; may be repeated')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'End the command when it has run this long')
            [CompletionResult]::new('--start-within', '--start-within', [CompletionResultType]::ParameterName, 'Give up the task when it has not started after this time')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'Retry up to N times after a failure or an interruption')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'A name for the work: `--on-conflict` decides when an unfinished task has it')
            [CompletionResult]::new('--on-conflict', '--on-conflict', [CompletionResultType]::ParameterName, 'What to do when an unfinished task has the same key')
            [CompletionResult]::new('--after-any', '--after-any', [CompletionResultType]::ParameterName, 'Do not start before this task has ended, whatever its result; may be repeated')
            [CompletionResult]::new('--after-failed', '--after-failed', [CompletionResultType]::ParameterName, 'Do not start before this task has failed or run into a time limit; may be repeated')
            [CompletionResult]::new('--fresh', '--fresh', [CompletionResultType]::ParameterName, 'With --on-conflict join: join a task too that ended less than this time ago')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'Run the tasks of this group one after another on their lane')
            [CompletionResult]::new('--backoff', '--backoff', [CompletionResultType]::ParameterName, 'The pause before the second attempt; each later one is twice as long. 2s when not given')
            [CompletionResult]::new('--max-backoff', '--max-backoff', [CompletionResultType]::ParameterName, 'The longest pause between two attempts; 1h when not given')
            [CompletionResult]::new('--on-interrupt', '--on-interrupt', [CompletionResultType]::ParameterName, 'What it means when the supervisor of the task or the host goes down while the command runs')
            [CompletionResult]::new('--on-finish', '--on-finish', [CompletionResultType]::ParameterName, 'Run this shell line once when the task is over, however it ended')
            [CompletionResult]::new('--log-sample', '--log-sample', [CompletionResultType]::ParameterName, 'Log the prompt and the end of the output of this share of the starts, from 0 to 1, as events')
            [CompletionResult]::new('--slots', '--slots', [CompletionResultType]::ParameterName, 'Take this many slots of each capacity lane of the task, all of them at once or none')
            [CompletionResult]::new('--reuse', '--reuse', [CompletionResultType]::ParameterName, 'Begin with the variables of the newest completed task of this goal; `goal` stands for the value of --goal')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'A note for people')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set a variable for the command; may be repeated')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'The directory the command runs in; by default this one')
            [CompletionResult]::new('--grace', '--grace', [CompletionResultType]::ParameterName, 'The time between SIGTERM and SIGKILL when the task is ended')
            [CompletionResult]::new('--prompt', '--prompt', [CompletionResultType]::ParameterName, 'A text for the project''s configured agent, or for the command')
            [CompletionResult]::new('--shell', '--shell', [CompletionResultType]::ParameterName, 'A command line for `/bin/sh -c`')
            [CompletionResult]::new('--goal', '--goal', [CompletionResultType]::ParameterName, 'What the task is for; the command finds it as LUZIA_GOAL')
            [CompletionResult]::new('--steps', '--steps', [CompletionResultType]::ParameterName, 'The steps, a JSON file: one command or one wait a step; `-` is standard input')
            [CompletionResult]::new('--steps-per-run', '--steps-per-run', [CompletionResultType]::ParameterName, 'Take N steps before other work may run; by default 1')
            [CompletionResult]::new('--max-steps', '--max-steps', [CompletionResultType]::ParameterName, 'Let the task fail after N steps without `luzia finish`; by default 1000')
            [CompletionResult]::new('--preempt', '--preempt', [CompletionResultType]::ParameterName, 'Make room: end, queue again, or pause the running tasks that hold the lanes of this one')
            [CompletionResult]::new('--preempt-grace', '--preempt-grace', [CompletionResultType]::ParameterName, 'The time between SIGTERM and SIGKILL for those that are ended or queued again; by default their own')
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
            [CompletionResult]::new('--hold', '--hold', [CompletionResultType]::ParameterName, 'Queue the task paused: it starts after `luzia resume TASK`')
            [CompletionResult]::new('--no-inherit', '--no-inherit', [CompletionResultType]::ParameterName, 'Do not borrow the lanes of the parent: wait for them in the queue')
            [CompletionResult]::new('--inherit', '--inherit', [CompletionResultType]::ParameterName, 'Use the lanes of the parent, as a child does that is waited for; refused where that is impossible')
            [CompletionResult]::new('--stable', '--stable', [CompletionResultType]::ParameterName, 'Say at the end whether the git work tree of the task has changed since the task was queued')
            [CompletionResult]::new('--no-check', '--no-check', [CompletionResultType]::ParameterName, 'Queue the task although its directory or its command is not there now')
            [CompletionResult]::new('--stepwise', '--stepwise', [CompletionResultType]::ParameterName, 'Start the command again and again, one step each time, until it calls `luzia finish`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the task has finished, and exit as `luzia wait` does')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check the task and say what it would wait for; nothing is queued')
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
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The user of the task: tasks of one user run one at a time; any name. By default the project''s, else your account')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the task: tasks of one user run one at a time; any name. By default the project''s, else your account')
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'The project the task belongs to')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'The project the task belongs to')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'A lane the task takes, e.g. `build` or `session:telegram:bob`; may be repeated')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'A lane the task takes, e.g. `build` or `session:telegram:bob`; may be repeated')
            [CompletionResult]::new('--thread', '--thread', [CompletionResultType]::ParameterName, 'A thread the task takes: the lane `thread:ID`; may be repeated')
            [CompletionResult]::new('--repo', '--repo', [CompletionResultType]::ParameterName, 'Take the lane of the git repository of this directory, or of the one the command runs in')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Take the lane of the git work tree of this directory, or of the one the command runs in')
            [CompletionResult]::new('--priority', '--priority', [CompletionResultType]::ParameterName, '0 (first) to 9 (last); 5 when not given')
            [CompletionResult]::new('--in', '--in', [CompletionResultType]::ParameterName, 'Do not start before this time has passed, e.g. `10m` or `2 hours`')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Do not start before this moment, e.g. `8:00`, `tomorrow 8:00` or `2026-12-24 18:00`')
            [CompletionResult]::new('--parent', '--parent', [CompletionResultType]::ParameterName, 'The task whose child this is, or `self`; inside a task, that task')
            [CompletionResult]::new('--on-parent-death', '--on-parent-death', [CompletionResultType]::ParameterName, 'What happens to the task when its parent is over first: `adopt` (the default) lets it go on, `cancel` ends it')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Do not start before this task has completed; may be repeated')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'End the command when it has run this long')
            [CompletionResult]::new('--start-within', '--start-within', [CompletionResultType]::ParameterName, 'Give up the task when it has not started after this time')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'Retry up to N times after a failure or an interruption')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'A name for the work: `--on-conflict` decides when an unfinished task has it')
            [CompletionResult]::new('--on-conflict', '--on-conflict', [CompletionResultType]::ParameterName, 'What to do when an unfinished task has the same key')
            [CompletionResult]::new('--after-any', '--after-any', [CompletionResultType]::ParameterName, 'Do not start before this task has ended, whatever its result; may be repeated')
            [CompletionResult]::new('--after-failed', '--after-failed', [CompletionResultType]::ParameterName, 'Do not start before this task has failed or run into a time limit; may be repeated')
            [CompletionResult]::new('--fresh', '--fresh', [CompletionResultType]::ParameterName, 'With --on-conflict join: join a task too that ended less than this time ago')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'Run the tasks of this group one after another on their lane')
            [CompletionResult]::new('--backoff', '--backoff', [CompletionResultType]::ParameterName, 'The pause before the second attempt; each later one is twice as long. 2s when not given')
            [CompletionResult]::new('--max-backoff', '--max-backoff', [CompletionResultType]::ParameterName, 'The longest pause between two attempts; 1h when not given')
            [CompletionResult]::new('--on-interrupt', '--on-interrupt', [CompletionResultType]::ParameterName, 'What it means when the supervisor of the task or the host goes down while the command runs')
            [CompletionResult]::new('--on-finish', '--on-finish', [CompletionResultType]::ParameterName, 'Run this shell line once when the task is over, however it ended')
            [CompletionResult]::new('--log-sample', '--log-sample', [CompletionResultType]::ParameterName, 'Log the prompt and the end of the output of this share of the starts, from 0 to 1, as events')
            [CompletionResult]::new('--slots', '--slots', [CompletionResultType]::ParameterName, 'Take this many slots of each capacity lane of the task, all of them at once or none')
            [CompletionResult]::new('--reuse', '--reuse', [CompletionResultType]::ParameterName, 'Begin with the variables of the newest completed task of this goal; `goal` stands for the value of --goal')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'A note for people')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set a variable for the command; may be repeated')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'The directory the command runs in; by default this one')
            [CompletionResult]::new('--grace', '--grace', [CompletionResultType]::ParameterName, 'The time between SIGTERM and SIGKILL when the task is ended')
            [CompletionResult]::new('--prompt', '--prompt', [CompletionResultType]::ParameterName, 'A text for the project''s configured agent, or for the command')
            [CompletionResult]::new('--shell', '--shell', [CompletionResultType]::ParameterName, 'A command line for `/bin/sh -c`')
            [CompletionResult]::new('--goal', '--goal', [CompletionResultType]::ParameterName, 'What the task is for; the command finds it as LUZIA_GOAL')
            [CompletionResult]::new('--steps', '--steps', [CompletionResultType]::ParameterName, 'The steps, a JSON file: one command or one wait a step; `-` is standard input')
            [CompletionResult]::new('--steps-per-run', '--steps-per-run', [CompletionResultType]::ParameterName, 'Take N steps before other work may run; by default 1')
            [CompletionResult]::new('--max-steps', '--max-steps', [CompletionResultType]::ParameterName, 'Let the task fail after N steps without `luzia finish`; by default 1000')
            [CompletionResult]::new('--preempt', '--preempt', [CompletionResultType]::ParameterName, 'Make room: end, queue again, or pause the running tasks that hold the lanes of this one')
            [CompletionResult]::new('--preempt-grace', '--preempt-grace', [CompletionResultType]::ParameterName, 'The time between SIGTERM and SIGKILL for those that are ended or queued again; by default their own')
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
            [CompletionResult]::new('--hold', '--hold', [CompletionResultType]::ParameterName, 'Queue the task paused: it starts after `luzia resume TASK`')
            [CompletionResult]::new('--no-inherit', '--no-inherit', [CompletionResultType]::ParameterName, 'Do not borrow the lanes of the parent: wait for them in the queue')
            [CompletionResult]::new('--inherit', '--inherit', [CompletionResultType]::ParameterName, 'Use the lanes of the parent, as a child does that is waited for; refused where that is impossible')
            [CompletionResult]::new('--stable', '--stable', [CompletionResultType]::ParameterName, 'Say at the end whether the git work tree of the task has changed since the task was queued')
            [CompletionResult]::new('--no-check', '--no-check', [CompletionResultType]::ParameterName, 'Queue the task although its directory or its command is not there now')
            [CompletionResult]::new('--stepwise', '--stepwise', [CompletionResultType]::ParameterName, 'Start the command again and again, one step each time, until it calls `luzia finish`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the task has finished, and exit as `luzia wait` does')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check the task and say what it would wait for; nothing is queued')
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
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The user of the task: tasks of one user run one at a time; any name. By default the project''s, else your account')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the task: tasks of one user run one at a time; any name. By default the project''s, else your account')
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'The project the task belongs to')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'The project the task belongs to')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'A lane the task takes, e.g. `build` or `session:telegram:bob`; may be repeated')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'A lane the task takes, e.g. `build` or `session:telegram:bob`; may be repeated')
            [CompletionResult]::new('--thread', '--thread', [CompletionResultType]::ParameterName, 'A thread the task takes: the lane `thread:ID`; may be repeated')
            [CompletionResult]::new('--repo', '--repo', [CompletionResultType]::ParameterName, 'Take the lane of the git repository of this directory, or of the one the command runs in')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Take the lane of the git work tree of this directory, or of the one the command runs in')
            [CompletionResult]::new('--priority', '--priority', [CompletionResultType]::ParameterName, '0 (first) to 9 (last); 5 when not given')
            [CompletionResult]::new('--in', '--in', [CompletionResultType]::ParameterName, 'Do not start before this time has passed, e.g. `10m` or `2 hours`')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Do not start before this moment, e.g. `8:00`, `tomorrow 8:00` or `2026-12-24 18:00`')
            [CompletionResult]::new('--parent', '--parent', [CompletionResultType]::ParameterName, 'The task whose child this is, or `self`; inside a task, that task')
            [CompletionResult]::new('--on-parent-death', '--on-parent-death', [CompletionResultType]::ParameterName, 'What happens to the task when its parent is over first: `adopt` (the default) lets it go on, `cancel` ends it')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Do not start before this task has completed; may be repeated')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'End the command when it has run this long')
            [CompletionResult]::new('--start-within', '--start-within', [CompletionResultType]::ParameterName, 'Give up the task when it has not started after this time')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'Retry up to N times after a failure or an interruption')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'A name for the work: `--on-conflict` decides when an unfinished task has it')
            [CompletionResult]::new('--on-conflict', '--on-conflict', [CompletionResultType]::ParameterName, 'What to do when an unfinished task has the same key')
            [CompletionResult]::new('--after-any', '--after-any', [CompletionResultType]::ParameterName, 'Do not start before this task has ended, whatever its result; may be repeated')
            [CompletionResult]::new('--after-failed', '--after-failed', [CompletionResultType]::ParameterName, 'Do not start before this task has failed or run into a time limit; may be repeated')
            [CompletionResult]::new('--fresh', '--fresh', [CompletionResultType]::ParameterName, 'With --on-conflict join: join a task too that ended less than this time ago')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'Run the tasks of this group one after another on their lane')
            [CompletionResult]::new('--backoff', '--backoff', [CompletionResultType]::ParameterName, 'The pause before the second attempt; each later one is twice as long. 2s when not given')
            [CompletionResult]::new('--max-backoff', '--max-backoff', [CompletionResultType]::ParameterName, 'The longest pause between two attempts; 1h when not given')
            [CompletionResult]::new('--on-interrupt', '--on-interrupt', [CompletionResultType]::ParameterName, 'What it means when the supervisor of the task or the host goes down while the command runs')
            [CompletionResult]::new('--on-finish', '--on-finish', [CompletionResultType]::ParameterName, 'Run this shell line once when the task is over, however it ended')
            [CompletionResult]::new('--log-sample', '--log-sample', [CompletionResultType]::ParameterName, 'Log the prompt and the end of the output of this share of the starts, from 0 to 1, as events')
            [CompletionResult]::new('--slots', '--slots', [CompletionResultType]::ParameterName, 'Take this many slots of each capacity lane of the task, all of them at once or none')
            [CompletionResult]::new('--reuse', '--reuse', [CompletionResultType]::ParameterName, 'Begin with the variables of the newest completed task of this goal; `goal` stands for the value of --goal')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'A note for people')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set a variable for the command; may be repeated')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'The directory the command runs in; by default this one')
            [CompletionResult]::new('--grace', '--grace', [CompletionResultType]::ParameterName, 'The time between SIGTERM and SIGKILL when the task is ended')
            [CompletionResult]::new('--prompt', '--prompt', [CompletionResultType]::ParameterName, 'A text for the project''s configured agent, or for the command')
            [CompletionResult]::new('--shell', '--shell', [CompletionResultType]::ParameterName, 'A command line for `/bin/sh -c`')
            [CompletionResult]::new('--goal', '--goal', [CompletionResultType]::ParameterName, 'What the task is for; the command finds it as LUZIA_GOAL')
            [CompletionResult]::new('--steps', '--steps', [CompletionResultType]::ParameterName, 'The steps, a JSON file: one command or one wait a step; `-` is standard input')
            [CompletionResult]::new('--steps-per-run', '--steps-per-run', [CompletionResultType]::ParameterName, 'Take N steps before other work may run; by default 1')
            [CompletionResult]::new('--max-steps', '--max-steps', [CompletionResultType]::ParameterName, 'Let the task fail after N steps without `luzia finish`; by default 1000')
            [CompletionResult]::new('--preempt', '--preempt', [CompletionResultType]::ParameterName, 'Make room: end, queue again, or pause the running tasks that hold the lanes of this one')
            [CompletionResult]::new('--preempt-grace', '--preempt-grace', [CompletionResultType]::ParameterName, 'The time between SIGTERM and SIGKILL for those that are ended or queued again; by default their own')
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
            [CompletionResult]::new('--hold', '--hold', [CompletionResultType]::ParameterName, 'Queue the task paused: it starts after `luzia resume TASK`')
            [CompletionResult]::new('--no-inherit', '--no-inherit', [CompletionResultType]::ParameterName, 'Do not borrow the lanes of the parent: wait for them in the queue')
            [CompletionResult]::new('--inherit', '--inherit', [CompletionResultType]::ParameterName, 'Use the lanes of the parent, as a child does that is waited for; refused where that is impossible')
            [CompletionResult]::new('--stable', '--stable', [CompletionResultType]::ParameterName, 'Say at the end whether the git work tree of the task has changed since the task was queued')
            [CompletionResult]::new('--no-check', '--no-check', [CompletionResultType]::ParameterName, 'Queue the task although its directory or its command is not there now')
            [CompletionResult]::new('--stepwise', '--stepwise', [CompletionResultType]::ParameterName, 'Start the command again and again, one step each time, until it calls `luzia finish`')
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
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Every task of this user')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Every task of this user')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Every task with this lane')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'Every task with this lane')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'Only tasks in these states; several separated by commas')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'Every task with this note')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Every task that was queued with this key')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Wait no longer than this')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every task that the command can be used on')
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
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Every task of this user')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Every task of this user')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Every task with this lane')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'Every task with this lane')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'Only tasks in these states; several separated by commas')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'Every task with this note')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Every task that was queued with this key')
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
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every task that the command can be used on')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;pause' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Every task of this user')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Every task of this user')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Every task with this lane')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'Every task with this lane')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'Only tasks in these states; several separated by commas')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'Every task with this note')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Every task that was queued with this key')
            [CompletionResult]::new('--until', '--until', [CompletionResultType]::ParameterName, 'Until this moment, e.g. `8:00`, `tomorrow 8:00` or `2026-12-24`; else until `luzia resume`')
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'For this time, e.g. `30m` or `2 hours`')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why, for those who ask')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every task that the command can be used on')
            [CompletionResult]::new('--yield', '--yield', [CompletionResultType]::ParameterName, 'Let others have the capacity slots of a task that runs, until it is resumed and has them back')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;resume' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Every task of this user')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Every task of this user')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Every task with this lane')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'Every task with this lane')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'Only tasks in these states; several separated by commas')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'Every task with this note')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Every task that was queued with this key')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every task that the command can be used on')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;edit' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Every task of this user')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Every task of this user')
            [CompletionResult]::new('--in-lane', '--in-lane', [CompletionResultType]::ParameterName, 'Every task with this lane')
            [CompletionResult]::new('--with-label', '--with-label', [CompletionResultType]::ParameterName, 'Every task with this note')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Every task that was queued with this key')
            [CompletionResult]::new('--priority', '--priority', [CompletionResultType]::ParameterName, '0 (first) to 9 (last)')
            [CompletionResult]::new('--in', '--in', [CompletionResultType]::ParameterName, 'Do not start before this time has passed, e.g. `10m` or `2 hours`; 0 for now')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Do not start before this moment, e.g. `8:00`, `tomorrow 8:00` or `2026-12-24 18:00`')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'A lane in place of those it names now; may be repeated. Its user''s lane stays')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'A lane in place of those it names now; may be repeated. Its user''s lane stays')
            [CompletionResult]::new('--slots', '--slots', [CompletionResultType]::ParameterName, 'Take this many slots of each of its capacity lanes, in place of those it takes now')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'A note for people; an empty text takes the note away')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every task that has not started')
            [CompletionResult]::new('--no-check', '--no-check', [CompletionResultType]::ParameterName, 'Take the new command although it is not there now')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;move' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--before', '--before', [CompletionResultType]::ParameterName, 'Before this task, with which it has a lane in common')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--first', '--first', [CompletionResultType]::ParameterName, 'Before every task with which it takes turns')
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
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Every task of this user')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Every task of this user')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Every task with this lane')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'Every task with this lane')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'Only tasks in these states; several separated by commas')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'Every task with this note')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Every task that was queued with this key')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every task that the command can be used on')
            [CompletionResult]::new('--no-after', '--no-after', [CompletionResultType]::ParameterName, 'Do not wait for the tasks it comes after, now or at any later retry')
            [CompletionResult]::new('--from-start', '--from-start', [CompletionResultType]::ParameterName, 'Forget its variables, finished steps and waits; events that were sent to it stay')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;cron' {
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
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add a schedule')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the schedules')
            [CompletionResult]::new('next', 'next', [CompletionResultType]::ParameterValue, 'Show the next slots')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Make one task of a schedule now')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Remove a schedule; the tasks that it made stay')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'luzia;cron;add' {
            [CompletionResult]::new('--tz', '--tz', [CompletionResultType]::ParameterName, 'The time zone of the line, e.g. `Europe/Berlin`; by default that of this host')
            [CompletionResult]::new('--overlap', '--overlap', [CompletionResultType]::ParameterName, 'What becomes of a slot while the former task is not over; skip when not given, with --fill queue')
            [CompletionResult]::new('--fill', '--fill', [CompletionResultType]::ParameterName, 'Make every slot that was missed within this time, e.g. `6h`; without it the last one within a day')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The user of the task: tasks of one user run one at a time; any name. By default the project''s, else your account')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the task: tasks of one user run one at a time; any name. By default the project''s, else your account')
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'The project the task belongs to')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'The project the task belongs to')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'A lane the task takes, e.g. `build` or `session:telegram:bob`; may be repeated')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'A lane the task takes, e.g. `build` or `session:telegram:bob`; may be repeated')
            [CompletionResult]::new('--thread', '--thread', [CompletionResultType]::ParameterName, 'A thread the task takes: the lane `thread:ID`; may be repeated')
            [CompletionResult]::new('--repo', '--repo', [CompletionResultType]::ParameterName, 'Take the lane of the git repository of this directory, or of the one the command runs in')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Take the lane of the git work tree of this directory, or of the one the command runs in')
            [CompletionResult]::new('--priority', '--priority', [CompletionResultType]::ParameterName, '0 (first) to 9 (last); 5 when not given')
            [CompletionResult]::new('--in', '--in', [CompletionResultType]::ParameterName, 'Do not start before this time has passed, e.g. `10m` or `2 hours`')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Do not start before this moment, e.g. `8:00`, `tomorrow 8:00` or `2026-12-24 18:00`')
            [CompletionResult]::new('--parent', '--parent', [CompletionResultType]::ParameterName, 'The task whose child this is, or `self`; inside a task, that task')
            [CompletionResult]::new('--on-parent-death', '--on-parent-death', [CompletionResultType]::ParameterName, 'What happens to the task when its parent is over first: `adopt` (the default) lets it go on, `cancel` ends it')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Do not start before this task has completed; may be repeated')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'End the command when it has run this long')
            [CompletionResult]::new('--start-within', '--start-within', [CompletionResultType]::ParameterName, 'Give up the task when it has not started after this time')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'Retry up to N times after a failure or an interruption')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'A name for the work: `--on-conflict` decides when an unfinished task has it')
            [CompletionResult]::new('--on-conflict', '--on-conflict', [CompletionResultType]::ParameterName, 'What to do when an unfinished task has the same key')
            [CompletionResult]::new('--after-any', '--after-any', [CompletionResultType]::ParameterName, 'Do not start before this task has ended, whatever its result; may be repeated')
            [CompletionResult]::new('--after-failed', '--after-failed', [CompletionResultType]::ParameterName, 'Do not start before this task has failed or run into a time limit; may be repeated')
            [CompletionResult]::new('--fresh', '--fresh', [CompletionResultType]::ParameterName, 'With --on-conflict join: join a task too that ended less than this time ago')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'Run the tasks of this group one after another on their lane')
            [CompletionResult]::new('--backoff', '--backoff', [CompletionResultType]::ParameterName, 'The pause before the second attempt; each later one is twice as long. 2s when not given')
            [CompletionResult]::new('--max-backoff', '--max-backoff', [CompletionResultType]::ParameterName, 'The longest pause between two attempts; 1h when not given')
            [CompletionResult]::new('--on-interrupt', '--on-interrupt', [CompletionResultType]::ParameterName, 'What it means when the supervisor of the task or the host goes down while the command runs')
            [CompletionResult]::new('--on-finish', '--on-finish', [CompletionResultType]::ParameterName, 'Run this shell line once when the task is over, however it ended')
            [CompletionResult]::new('--log-sample', '--log-sample', [CompletionResultType]::ParameterName, 'Log the prompt and the end of the output of this share of the starts, from 0 to 1, as events')
            [CompletionResult]::new('--slots', '--slots', [CompletionResultType]::ParameterName, 'Take this many slots of each capacity lane of the task, all of them at once or none')
            [CompletionResult]::new('--reuse', '--reuse', [CompletionResultType]::ParameterName, 'Begin with the variables of the newest completed task of this goal; `goal` stands for the value of --goal')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'A note for people')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set a variable for the command; may be repeated')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'The directory the command runs in; by default this one')
            [CompletionResult]::new('--grace', '--grace', [CompletionResultType]::ParameterName, 'The time between SIGTERM and SIGKILL when the task is ended')
            [CompletionResult]::new('--prompt', '--prompt', [CompletionResultType]::ParameterName, 'A text for the project''s configured agent, or for the command')
            [CompletionResult]::new('--shell', '--shell', [CompletionResultType]::ParameterName, 'A command line for `/bin/sh -c`')
            [CompletionResult]::new('--goal', '--goal', [CompletionResultType]::ParameterName, 'What the task is for; the command finds it as LUZIA_GOAL')
            [CompletionResult]::new('--steps', '--steps', [CompletionResultType]::ParameterName, 'The steps, a JSON file: one command or one wait a step; `-` is standard input')
            [CompletionResult]::new('--steps-per-run', '--steps-per-run', [CompletionResultType]::ParameterName, 'Take N steps before other work may run; by default 1')
            [CompletionResult]::new('--max-steps', '--max-steps', [CompletionResultType]::ParameterName, 'Let the task fail after N steps without `luzia finish`; by default 1000')
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--replace', '--replace', [CompletionResultType]::ParameterName, 'Put it in the place of a schedule of that name')
            [CompletionResult]::new('--hold', '--hold', [CompletionResultType]::ParameterName, 'Queue the task paused: it starts after `luzia resume TASK`')
            [CompletionResult]::new('--no-inherit', '--no-inherit', [CompletionResultType]::ParameterName, 'Do not borrow the lanes of the parent: wait for them in the queue')
            [CompletionResult]::new('--inherit', '--inherit', [CompletionResultType]::ParameterName, 'Use the lanes of the parent, as a child does that is waited for; refused where that is impossible')
            [CompletionResult]::new('--stable', '--stable', [CompletionResultType]::ParameterName, 'Say at the end whether the git work tree of the task has changed since the task was queued')
            [CompletionResult]::new('--no-check', '--no-check', [CompletionResultType]::ParameterName, 'Queue the task although its directory or its command is not there now')
            [CompletionResult]::new('--stepwise', '--stepwise', [CompletionResultType]::ParameterName, 'Start the command again and again, one step each time, until it calls `luzia finish`')
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
        'luzia;cron;list' {
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
        'luzia;cron;next' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'How many slots')
            [CompletionResult]::new('--count', '--count', [CompletionResultType]::ParameterName, 'How many slots')
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
        'luzia;cron;run' {
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
        'luzia;cron;rm' {
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
        'luzia;cron;help' {
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add a schedule')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the schedules')
            [CompletionResult]::new('next', 'next', [CompletionResultType]::ParameterValue, 'Show the next slots')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Make one task of a schedule now')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Remove a schedule; the tasks that it made stay')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'luzia;cron;help;add' {
            break
        }
        'luzia;cron;help;list' {
            break
        }
        'luzia;cron;help;next' {
            break
        }
        'luzia;cron;help;run' {
            break
        }
        'luzia;cron;help;rm' {
            break
        }
        'luzia;cron;help;help' {
            break
        }
        'luzia;step' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--on-error', '--on-error', [CompletionResultType]::ParameterName, 'What a failure of CMD means')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'With --on-error retry: how often it is tried again')
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
        'luzia;set' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--task', '--task', [CompletionResultType]::ParameterName, 'The task, instead of the one inside which luzia is called')
            [CompletionResult]::new('--unset', '--unset', [CompletionResultType]::ParameterName, 'Remove a variable; can be repeated')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--json-value', '--json-value', [CompletionResultType]::ParameterName, 'Read each value as JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;get' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--task', '--task', [CompletionResultType]::ParameterName, 'The task, instead of the one inside which luzia is called')
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
        'luzia;beat' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--note', '--note', [CompletionResultType]::ParameterName, 'What the task does now')
            [CompletionResult]::new('--task', '--task', [CompletionResultType]::ParameterName, 'The task, instead of the one inside which luzia is called')
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
        'luzia;finish' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--status', '--status', [CompletionResultType]::ParameterName, 'How the task ends')
            [CompletionResult]::new('--summary', '--summary', [CompletionResultType]::ParameterName, 'One sentence on what came of it')
            [CompletionResult]::new('--result', '--result', [CompletionResultType]::ParameterName, 'One sentence on what came of it')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'What it hands on to the task that asked for it')
            [CompletionResult]::new('--task', '--task', [CompletionResultType]::ParameterName, 'The task, instead of the one inside which luzia is called')
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
        'luzia;await' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long at most, e.g. `2h`')
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'With `delay`: how long')
            [CompletionResult]::new('--on-timeout', '--on-timeout', [CompletionResultType]::ParameterName, 'What it means that the time has run out')
            [CompletionResult]::new('--retry-waits', '--retry-waits', [CompletionResultType]::ParameterName, 'With --on-timeout retry: how often it waits once more')
            [CompletionResult]::new('--timeout-do', '--timeout-do', [CompletionResultType]::ParameterName, 'A shell command that is run once when the time has run out')
            [CompletionResult]::new('--match', '--match', [CompletionResultType]::ParameterName, 'What the event must say: a member of its data, or `thread` or `user`; can be repeated. With `output`: a regular expression')
            [CompletionResult]::new('--task', '--task', [CompletionResultType]::ParameterName, 'With `output`: the task whose output is waited for')
            [CompletionResult]::new('--idle', '--idle', [CompletionResultType]::ParameterName, 'With `output`, in place of --match: that the task has written nothing for so long')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'How many events it takes')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--park', '--park', [CompletionResultType]::ParameterName, 'End this run; the command is started again when the wait is over, and finished steps and awaits are remembered')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;emit' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--task', '--task', [CompletionResultType]::ParameterName, 'The task that it is for')
            [CompletionResult]::new('--thread', '--thread', [CompletionResultType]::ParameterName, 'For every unfinished task with the lane of this thread')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'For every unfinished task of this user')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'For every unfinished task of this user')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'What comes with it')
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
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'Only tasks of this project')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'Only tasks of this project')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'Only tasks with this label')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Only tasks with this key')
            [CompletionResult]::new('--command', '--command', [CompletionResultType]::ParameterName, 'Only tasks with this text in their command')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Only tasks that ended, started or were queued at this moment or later, e.g. `2h`, `yesterday` or `8:00`')
            [CompletionResult]::new('--until', '--until', [CompletionResultType]::ParameterName, 'Only tasks whose latest moment is before this one')
            [CompletionResult]::new('--last', '--last', [CompletionResultType]::ParameterName, 'Only the N tasks that ended, started or were queued last, the latest first')
            [CompletionResult]::new('--sort', '--sort', [CompletionResultType]::ParameterName, 'Sort by a key; `-KEY` sorts from the largest to the smallest')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Only the first N, in the order of the list')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Only the first N, in the order of the list')
            [CompletionResult]::new('--columns', '--columns', [CompletionResultType]::ParameterName, 'Show these columns of the table, in this order; separated by commas')
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
            [CompletionResult]::new('--stuck', '--stuck', [CompletionResultType]::ParameterName, 'Only tasks that run and make no progress: their supervisor is dead or stopped, or their wait ran out an hour ago')
            [CompletionResult]::new('-r', '-r', [CompletionResultType]::ParameterName, 'Turn the order of the list round')
            [CompletionResult]::new('--reverse', '--reverse', [CompletionResultType]::ParameterName, 'Turn the order of the list round')
            [CompletionResult]::new('--no-header', '--no-header', [CompletionResultType]::ParameterName, 'Leave the headings of the table out')
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
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'Only tasks of this project')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'Only tasks of this project')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'Only tasks with this label')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Only tasks with this key')
            [CompletionResult]::new('--command', '--command', [CompletionResultType]::ParameterName, 'Only tasks with this text in their command')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Only tasks that ended, started or were queued at this moment or later, e.g. `2h`, `yesterday` or `8:00`')
            [CompletionResult]::new('--until', '--until', [CompletionResultType]::ParameterName, 'Only tasks whose latest moment is before this one')
            [CompletionResult]::new('--last', '--last', [CompletionResultType]::ParameterName, 'Only the N tasks that ended, started or were queued last, the latest first')
            [CompletionResult]::new('--sort', '--sort', [CompletionResultType]::ParameterName, 'Sort by a key; `-KEY` sorts from the largest to the smallest')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Only the first N, in the order of the list')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Only the first N, in the order of the list')
            [CompletionResult]::new('--columns', '--columns', [CompletionResultType]::ParameterName, 'Show these columns of the table, in this order; separated by commas')
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
            [CompletionResult]::new('--stuck', '--stuck', [CompletionResultType]::ParameterName, 'Only tasks that run and make no progress: their supervisor is dead or stopped, or their wait ran out an hour ago')
            [CompletionResult]::new('-r', '-r', [CompletionResultType]::ParameterName, 'Turn the order of the list round')
            [CompletionResult]::new('--reverse', '--reverse', [CompletionResultType]::ParameterName, 'Turn the order of the list round')
            [CompletionResult]::new('--no-header', '--no-header', [CompletionResultType]::ParameterName, 'Leave the headings of the table out')
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
            [CompletionResult]::new('--checkpoint', '--checkpoint', [CompletionResultType]::ParameterName, 'Print where the task stands as JSON: its step, its variables, what it waits for, and what came before')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;tree' {
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
            [CompletionResult]::new('--steps', '--steps', [CompletionResultType]::ParameterName, 'Print the steps and waits of the tasks, each with its begin and its end, in place of their output')
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
        'luzia;events' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Only what happened in the last DUR, or after TIME (RFC 3339)')
            [CompletionResult]::new('--task', '--task', [CompletionResultType]::ParameterName, 'Only events of this task, as the argument TASK')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Only events of this user''s tasks and lane')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Only events of this user''s tasks and lane')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only events in this lane, and of tasks that name it')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'Only events in this lane, and of tasks that name it')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Only events of this kind; may be repeated')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Only events of this kind; may be repeated')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Go on with what happens later, until the tasks that are named are over')
            [CompletionResult]::new('--follow', '--follow', [CompletionResultType]::ParameterName, 'Go on with what happens later, until the tasks that are named are over')
            [CompletionResult]::new('--mine', '--mine', [CompletionResultType]::ParameterName, 'Only of tasks that this session of an agent, this task or this account asked for')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;stats' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Only what was granted or ended in the last DUR, or after TIME (RFC 3339)')
            [CompletionResult]::new('--by', '--by', [CompletionResultType]::ParameterName, 'Group the topic `tasks` by state')
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
        'luzia;simulate' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Where chance begins: the same number prints the same bytes')
            [CompletionResult]::new('--what-if', '--what-if', [CompletionResultType]::ParameterName, 'Compare with another limit or weight of a lane, e.g. `build.max=3`; `global.max` are the slots')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'The queue as it is; the same as no FILE')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;timeline' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Only the last DUR, or what was after TIME (RFC 3339); an hour by default')
            [CompletionResult]::new('--by', '--by', [CompletionResultType]::ParameterName, 'Of the text: a row for each user, or for each lane')
            [CompletionResult]::new('--svg', '--svg', [CompletionResultType]::ParameterName, 'Write the picture of `-o svg` to this file')
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
        'luzia;top' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'The time between two looks')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show the first N tasks, in the order of `luzia list`')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Show the first N tasks, in the order of `luzia list`')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('--once', '--once', [CompletionResultType]::ParameterName, 'Show them once and end')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'luzia;metrics' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--textfile', '--textfile', [CompletionResultType]::ParameterName, 'Write to this file, for the textfile collector of the node exporter')
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
        'luzia;lock' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Hold the lane of this user')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Hold the lane of this user')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Hold this lane, e.g. `thread:7` or `cron`; may be repeated')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'Hold this lane, e.g. `thread:7` or `cron`; may be repeated')
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
        'luzia;guard' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'The lane whose lock must be in force; may be repeated')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'The lane whose lock must be in force; may be repeated')
            [CompletionResult]::new('--fence', '--fence', [CompletionResultType]::ParameterName, 'The fence that must be in force, of one lane; by default the lock in LUZIA_LOCK_ID, whatever fence it has now')
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
        'luzia;acquire' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The user, instead of the argument')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user, instead of the argument')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Take this lane as well; may be repeated')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'Take this lane as well; may be repeated')
            [CompletionResult]::new('--task', '--task', [CompletionResultType]::ParameterName, 'Who holds the lease: a task or any name. This or --session is needed, inside a task too')
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
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Extend this lane as well; may be repeated')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'Extend this lane as well; may be repeated')
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
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Release this lane, instead of the first argument; may be repeated')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'Release this lane, instead of the first argument; may be repeated')
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
        'luzia;lanes' {
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
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the lanes in use, and those with a rule')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one lane')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Set rules of a lane or a pattern, from the next grant on')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Take back what `set` has set; the configuration counts again')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'luzia;lanes;list' {
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
        'luzia;lanes;show' {
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
        'luzia;lanes;set' {
            [CompletionResult]::new('--max', '--max', [CompletionResultType]::ParameterName, 'How many may hold it at once, from 1; of `global`: how many tasks run at once')
            [CompletionResult]::new('--weight', '--weight', [CompletionResultType]::ParameterName, 'The share of a user beside others, from 1; for lanes of users')
            [CompletionResult]::new('--rate', '--rate', [CompletionResultType]::ParameterName, 'How many grants in how long at most, e.g. `10/1m`')
            [CompletionResult]::new('--reserve', '--reserve', [CompletionResultType]::ParameterName, 'How many slots of `global` only tasks of this lane may take')
            [CompletionResult]::new('--hold', '--hold', [CompletionResultType]::ParameterName, 'Whether a task keeps the lane while it waits: `keep` or `release`')
            [CompletionResult]::new('--lock-timeout', '--lock-timeout', [CompletionResultType]::ParameterName, 'After how long a lease that nobody renews is stale, e.g. `10m`')
            [CompletionResult]::new('--warn-after', '--warn-after', [CompletionResultType]::ParameterName, 'After how long a wait is told, by the event `wait_warning`; by default 2s, and then only when it ends')
            [CompletionResult]::new('--on-wait', '--on-wait', [CompletionResultType]::ParameterName, 'What is run then, by sh(1), once for each wait')
            [CompletionResult]::new('--on-overdue', '--on-overdue', [CompletionResultType]::ParameterName, 'What is done with a living holder past its limit while others wait: report, or terminate a task')
            [CompletionResult]::new('--values', '--values', [CompletionResultType]::ParameterName, 'What each slot stands for, e.g. `emulator-5556,emulator-5558`; a holder finds its value in LUZIA_SLOT_NAME')
            [CompletionResult]::new('--range', '--range', [CompletionResultType]::ParameterName, 'TCP ports that the slots stand for, e.g. `4000-4099`; a port that a stranger uses is skipped')
            [CompletionResult]::new('--hold-while', '--hold-while', [CompletionResultType]::ParameterName, 'Grant nothing while the host is busy, e.g. `psi.memory>20 | load>1.5 | mem<10%`')
            [CompletionResult]::new('--cpu-budget', '--cpu-budget', [CompletionResultType]::ParameterName, 'How many processors the holders use together, or `auto`')
            [CompletionResult]::new('--affinity', '--affinity', [CompletionResultType]::ParameterName, 'Bind what runs in the lane to as many processors as its budget')
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
        'luzia;lanes;rm' {
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
        'luzia;lanes;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the lanes in use, and those with a rule')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one lane')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Set rules of a lane or a pattern, from the next grant on')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Take back what `set` has set; the configuration counts again')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'luzia;lanes;help;list' {
            break
        }
        'luzia;lanes;help;show' {
            break
        }
        'luzia;lanes;help;set' {
            break
        }
        'luzia;lanes;help;rm' {
            break
        }
        'luzia;lanes;help;help' {
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
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of the configuration file')
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
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Fail with 1 when a key has no effect, e.g. a misspelled one')
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
        'luzia;config;schema' {
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
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of the configuration file')
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
        'luzia;config;help;schema' {
            break
        }
        'luzia;config;help;help' {
            break
        }
        'luzia;hook' {
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
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add a hook for an event')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the hooks')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Remove hooks')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'luzia;hook;add' {
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Its name, by which it is removed; by default made of the event')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Post the event to this URL, by curl(1)')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Only for tasks and the lane of this user')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Only for tasks and the lane of this user')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only for events in this lane, and tasks that name it')
            [CompletionResult]::new('--lane', '--lane', [CompletionResultType]::ParameterName, 'Only for events in this lane, and tasks that name it')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long it may take (30s)')
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
        'luzia;hook;list' {
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
        'luzia;hook;rm' {
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
        'luzia;hook;help' {
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add a hook for an event')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the hooks')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Remove hooks')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'luzia;hook;help;add' {
            break
        }
        'luzia;hook;help;list' {
            break
        }
        'luzia;hook;help;rm' {
            break
        }
        'luzia;hook;help;help' {
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
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Remove the links of tools')
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
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Remove the links of tools')
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
            [CompletionResult]::new('--holder', '--holder', [CompletionResultType]::ParameterName, 'Answer the lines of standard input in this process, and hold leases that end by time under this name')
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
        'luzia;schema' {
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
        'luzia;install-docs' {
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'The state directory, instead of LUZIA_STATE_DIR and the usual places')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file, instead of LUZIA_CONFIG and the usual places')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--prefix', '--prefix', [CompletionResultType]::ParameterName, 'Write below DIR/share instead, e.g. `/usr/local`')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Answer with one JSON document, and with errors as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only, no hints and no progress')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Report each action on stderr')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Answer yes to every question')
            [CompletionResult]::new('--no-input', '--no-input', [CompletionResultType]::ParameterName, 'Never ask; a question counts as refused')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Only print the paths')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Only print the paths')
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
            [CompletionResult]::new('pause', 'pause', [CompletionResultType]::ParameterValue, 'Start no further tasks: of a user, of a lane, one task, or any (--all)')
            [CompletionResult]::new('resume', 'resume', [CompletionResultType]::ParameterValue, 'Let paused tasks start again')
            [CompletionResult]::new('edit', 'edit', [CompletionResultType]::ParameterValue, 'Change a task that has not started')
            [CompletionResult]::new('move', 'move', [CompletionResultType]::ParameterValue, 'Put a task that has not started before others')
            [CompletionResult]::new('retry', 'retry', [CompletionResultType]::ParameterValue, 'Put finished tasks back in the queue')
            [CompletionResult]::new('cron', 'cron', [CompletionResultType]::ParameterValue, 'Make tasks at set times, by cron lines')
            [CompletionResult]::new('step', 'step', [CompletionResultType]::ParameterValue, 'Do a part of a task once, however often the task is started again')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Set variables of a task, durably')
            [CompletionResult]::new('get', 'get', [CompletionResultType]::ParameterValue, 'Print variables of a task')
            [CompletionResult]::new('beat', 'beat', [CompletionResultType]::ParameterValue, 'Note that a task makes progress')
            [CompletionResult]::new('finish', 'finish', [CompletionResultType]::ParameterValue, 'Set the result of the task that calls this')
            [CompletionResult]::new('await', 'await', [CompletionResultType]::ParameterValue, 'Wait inside a task until an event comes')
            [CompletionResult]::new('emit', 'emit', [CompletionResultType]::ParameterValue, 'Send an event to tasks, which keep it')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List tasks')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show everything known about a task')
            [CompletionResult]::new('tree', 'tree', [CompletionResultType]::ParameterValue, 'Show a task, its steps, and the tasks that it has queued')
            [CompletionResult]::new('logs', 'logs', [CompletionResultType]::ParameterValue, 'Print the output of a task')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Say why a task, a user or a lane is waiting, and what would change it')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show the queue, the slots and the locks at a glance')
            [CompletionResult]::new('events', 'events', [CompletionResultType]::ParameterValue, 'Print what happened, the oldest first')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Show how long lanes were waited for and held, and how tasks ended')
            [CompletionResult]::new('simulate', 'simulate', [CompletionResultType]::ParameterValue, 'Say what would become of a load, or of the queue with other limits')
            [CompletionResult]::new('timeline', 'timeline', [CompletionResultType]::ParameterValue, 'Draw who held which lane when')
            [CompletionResult]::new('top', 'top', [CompletionResultType]::ParameterValue, 'Show the tasks and the locks, again and again')
            [CompletionResult]::new('metrics', 'metrics', [CompletionResultType]::ParameterValue, 'Print numbers for Prometheus')
            [CompletionResult]::new('lock', 'lock', [CompletionResultType]::ParameterValue, 'Hold a lane while a command runs, without a queue entry')
            [CompletionResult]::new('guard', 'guard', [CompletionResultType]::ParameterValue, 'Run a command only while a lock is in force')
            [CompletionResult]::new('acquire', 'acquire', [CompletionResultType]::ParameterValue, 'Take a lease on a lane, for scripts')
            [CompletionResult]::new('renew', 'renew', [CompletionResultType]::ParameterValue, 'Extend a lease')
            [CompletionResult]::new('release', 'release', [CompletionResultType]::ParameterValue, 'Release a lane')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Say whether a lane is free')
            [CompletionResult]::new('list-locks', 'list-locks', [CompletionResultType]::ParameterValue, 'List every lock and whether its holder is alive')
            [CompletionResult]::new('lanes', 'lanes', [CompletionResultType]::ParameterValue, 'Show the lanes, and change their limits')
            [CompletionResult]::new('check-project', 'check-project', [CompletionResultType]::ParameterValue, 'Release the locks of a project''s finished tasks')
            [CompletionResult]::new('dispatch', 'dispatch', [CompletionResultType]::ParameterValue, 'Start the tasks whose turn it is')
            [CompletionResult]::new('daemon', 'daemon', [CompletionResultType]::ParameterValue, 'Start tasks whenever their turn comes, until stopped')
            [CompletionResult]::new('cleanup-stale', 'cleanup-stale', [CompletionResultType]::ParameterValue, 'Remove locks whose holders are proven dead, and recover dead tasks')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show, locate or check the configuration')
            [CompletionResult]::new('hook', 'hook', [CompletionResultType]::ParameterValue, 'Run commands when something happens')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Look for problems on this host and in the state directory')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'See luzia take turns, in a state directory of its own')
            [CompletionResult]::new('name', 'name', [CompletionResultType]::ParameterValue, 'Print the lane of a repository, a work tree, a port, a database or a directory')
            [CompletionResult]::new('shim', 'shim', [CompletionResultType]::ParameterValue, 'Let heavy tools such as cargo and make take turns by links on PATH')
            [CompletionResult]::new('agent', 'agent', [CompletionResultType]::ParameterValue, 'Let coding agents take turns by themselves: their hooks, and the files that set them up')
            [CompletionResult]::new('mcp', 'mcp', [CompletionResultType]::ParameterValue, 'Serve the tools of luzia to an agent, by the Model Context Protocol')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of a document')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('install-docs', 'install-docs', [CompletionResultType]::ParameterValue, 'Write the manual pages and completions where they are found')
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
        'luzia;help;pause' {
            break
        }
        'luzia;help;resume' {
            break
        }
        'luzia;help;edit' {
            break
        }
        'luzia;help;move' {
            break
        }
        'luzia;help;retry' {
            break
        }
        'luzia;help;cron' {
            break
        }
        'luzia;help;step' {
            break
        }
        'luzia;help;set' {
            break
        }
        'luzia;help;get' {
            break
        }
        'luzia;help;beat' {
            break
        }
        'luzia;help;finish' {
            break
        }
        'luzia;help;await' {
            break
        }
        'luzia;help;emit' {
            break
        }
        'luzia;help;list' {
            break
        }
        'luzia;help;show' {
            break
        }
        'luzia;help;tree' {
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
        'luzia;help;events' {
            break
        }
        'luzia;help;stats' {
            break
        }
        'luzia;help;simulate' {
            break
        }
        'luzia;help;timeline' {
            break
        }
        'luzia;help;top' {
            break
        }
        'luzia;help;metrics' {
            break
        }
        'luzia;help;lock' {
            break
        }
        'luzia;help;guard' {
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
        'luzia;help;lanes' {
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
        'luzia;help;hook' {
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
        'luzia;help;schema' {
            break
        }
        'luzia;help;completions' {
            break
        }
        'luzia;help;install-docs' {
            break
        }
        'luzia;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
