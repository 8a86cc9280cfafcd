//! Command names of other tools and the luzia command that does that work. Also the guess for an unknown verb.

use super::meant::command_or_help;
use clap::Command;

/// The words, and the command line that does their work here. No word is a verb of luzia's.
pub(in crate::cli::args) const SYNONYMS: &[(&[&str], &str)] = &[
    (&["kill", "abort", "terminate", "scancel", "qdel", "atrm"], "luzia cancel TASK"),
    (&["ps", "queue", "jobs", "tasks", "view", "squeue", "qstat", "atq"], "luzia list"),
    (&["history", "past", "archive", "sacct"], "luzia list -a"),
    (&["log", "cat", "output", "print"], "luzia logs TASK"),
    (&["tail", "follow"], "luzia logs -f TASK"),
    (&["overview", "summary"], "luzia status"),
    (&["watch", "monitor", "htop"], "luzia top"),
    (&["describe", "inspect", "details", "info"], "luzia show TASK"),
    (&["why", "reason", "blocked"], "luzia explain TASK"),
    (&["submit", "push", "sbatch", "qsub", "batch", "at", "schedule"], "luzia enqueue -- CMD"),
    (&["exec", "do", "execute", "launch", "srun"], "luzia run -- CMD"),
    (&["restart", "rerun", "requeue", "redo"], "luzia retry TASK"),
    (&["take", "claim", "grab", "lease"], "luzia acquire USER --task ID"),
    (&["unlock", "free"], "luzia release USER"),
    (&["flock", "with-lock", "mutex", "semaphore", "sem"], "luzia lock -u USER -- CMD"),
    (&["refresh", "extend", "heartbeat", "keepalive"], "luzia renew USER --lock-id ID"),
    (&["hold", "suspend", "freeze", "disable"], "luzia pause USER"),
    (&["unpause", "continue", "thaw", "enable"], "luzia resume USER"),
    (&["change", "modify", "update", "alter"], "luzia edit TASK"),
    (&["switch", "reorder", "prioritize", "bump"], "luzia move TASK --first"),
    (&["parallel", "parallelism", "limit", "concurrency"], "luzia lanes set LANE --max N"),
    (&["crontab", "schedules", "timers", "timer"], "luzia cron"),
    (&["journal", "audit"], "luzia events"),
    (&["serve", "server", "worker"], "luzia daemon"),
    (&["health", "diagnose"], "luzia doctor"),
    (&["who", "holders", "lslocks"], "luzia list-locks"),
    (&["check-config", "configure", "settings"], "luzia config"),
    (&["install", "man", "docs"], "luzia install-docs"),
    (&["jsonschema", "schemas"], "luzia schema VERB"),
];

/// Words that may mean several commands or an option, and the work of each of those.
pub(in crate::cli::args) const SEVERAL: &[(&[&str], &str)] = &[
    (
        &["stop", "halt", "shutdown", "quit"],
        "`luzia pause --all` keeps waiting tasks from starting, and `luzia cancel TASK` ends one task",
    ),
    (
        &["rm", "remove", "delete", "del"],
        "`luzia cancel TASK` ends a task. luzia removes finished tasks by itself: retention.days and retention.tasks in the \
         configuration say when, and `luzia config show` prints them",
    ),
    (
        &["clean", "prune", "gc", "cleanup", "purge", "clear"],
        "luzia removes finished tasks by itself: retention.days and retention.tasks in the configuration say when, and `luzia \
         config show` prints them. `luzia cleanup-stale` removes locks of dead holders",
    ),
    (
        &["priority", "prio", "nice"],
        "`luzia edit TASK --priority N` changes a task that waits, and `luzia enqueue --priority N -- CMD` queues one",
    ),
    (
        &["start"],
        "`luzia dispatch` starts the tasks whose turn it is, `luzia attach TASK` starts one when its turn comes, and `luzia \
         run -- CMD` queues a command and starts it",
    ),
    (&["version"], "`luzia --version` prints it"),
    (
        &["uninstall"],
        "`luzia agent setup AGENT --remove` takes out what was set up for an agent, and `luzia shim rm TOOL` removes a shim",
    ),
];

/// The probable meaning of a word that is no verb: the hint, and the command line if there is only one.
type Guess = (Option<String>, Option<String>);

/// The meaning of a word of another tool that has one command here.
pub(super) fn of_another_tool(word: &str) -> Option<Guess> {
    let line = found(SYNONYMS, word)?;
    Some((Some(format!("luzia calls it `{line}`")), Some(line.to_owned())))
}

/// The hint for a word that may mean several commands, and the first of these. The command takes none of the words behind it.
pub(super) fn of_several(word: &str) -> Option<Guess> {
    let hint = found(SEVERAL, word)?;
    Some((Some(hint.to_owned()), command_or_help(hint)))
}

fn found(all: &[(&[&str], &'static str)], word: &str) -> Option<&'static str> {
    all.iter().find(|(words, _)| words.contains(&word)).map(|(_, meant)| *meant)
}

/// The verb that a cut or mistyped word probably means.
pub(super) fn cut_or_mistyped<'a>(word: &str, verbs: impl Iterator<Item = &'a Command>) -> Guess {
    let names: Vec<&str> = verbs.map(Command::get_name).filter(|name| *name != "help").collect();
    let begins = |name: &&str| !word.is_empty() && name.starts_with(word);
    let beginnings: Vec<&str> = names.iter().copied().filter(begins).collect();
    let (name, hint) = match *beginnings {
        [] => match closest(word, names.into_iter()) {
            Some(name) => (name, format!("did you mean \"{name}\"?")),
            None => return (None, None),
        },
        [one] => (one, format!("did you mean \"{one}\"? verbs are not abbreviated")),
        _ => {
            let all = beginnings.join(", ");
            return (Some(format!("verbs are not abbreviated; these begin with it: {all}")), None);
        }
    };
    (Some(hint), Some(format!("luzia {name}")))
}

/// Similarity of a word and a name from which a guess is made, from 0 to 1 (Jaro-Winkler): a typing mistake passes, another
/// word does not.
const ALIKE: f64 = 0.84;

/// The one of `names` that a mistyped `word` probably means.
pub(super) fn closest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // A long text is no typing mistake, and the time of a comparison grows with its length.
    if word.chars().count() > 32 {
        return None;
    }
    let rated = names.map(|name| (strsim::jaro_winkler(word, name), name));
    rated.filter(|(rate, _)| *rate >= ALIKE).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}
