//! Command names of other tools, and the luzia command that does that work.

/// The word, and the command lines that do it here.
const SYNONYMS: [(&[&str], &str); 16] = [
    (&["kill", "rm", "stop", "remove", "delete", "abort", "scancel", "terminate"], "luzia cancel TASK"),
    (&["ps", "queue", "jobs", "squeue", "tasks", "view"], "luzia list"),
    (&["history", "sacct"], "luzia list -a"),
    (&["log", "cat", "output"], "luzia logs TASK"),
    (&["tail", "follow", "attach"], "luzia logs -f TASK"),
    (&["watch", "top", "stats", "info"], "luzia status"),
    (&["describe", "get", "inspect"], "luzia show TASK"),
    (&["why"], "luzia explain TASK"),
    (&["submit", "push", "sbatch", "batch", "schedule"], "luzia enqueue -- CMD"),
    (&["exec", "start", "do"], "luzia run -- CMD"),
    (&["restart", "rerun", "requeue"], "luzia retry TASK"),
    (&["unlock", "free"], "luzia release USER"),
    (&["flock", "with-lock"], "luzia lock -u USER -- CMD"),
    (&["refresh", "extend", "heartbeat"], "luzia renew USER --lock-id ID"),
    (&["clean", "prune", "gc", "cleanup"], "luzia cleanup-stale"),
    (&["check-config", "configure", "settings"], "luzia config"),
];

/// The command line for a word of another tool.
pub(super) fn synonym(word: &str) -> Option<&'static str> {
    SYNONYMS.iter().find(|(words, _)| words.contains(&word)).map(|(_, line)| *line)
}

/// How similar a word and a name must be for a guess, from 0 to 1 (Jaro-Winkler): a slip of the fingers passes, another
/// word does not.
const ALIKE: f64 = 0.84;

/// The one of `names` that was probably meant by a mistyped `word`.
pub(super) fn closest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // A long text is no slip of the fingers, and comparing takes time with its length.
    if word.chars().count() > 32 {
        return None;
    }
    let rated = names.map(|name| (strsim::jaro_winkler(word, name), name));
    rated.filter(|(rate, _)| *rate >= ALIKE).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}
