//! The words of the manual pages that are not in the help: those that apropos(1) finds, files, variables, and related pages.

/// Words of other tools for the work of a verb. They are in its NAME line, where apropos(1) looks.
const ALSO: [(&str, &str); 24] = [
    ("luzia", "job queue, mutex, semaphore"),
    ("luzia-enqueue", "queue a job, batch, at"),
    ("luzia-run", "run a job in its turn"),
    ("luzia-attach", "follow a job"),
    ("luzia-wait", "wait for a job"),
    ("luzia-cancel", "kill, stop or remove a job"),
    ("luzia-pause", "hold the queue"),
    ("luzia-resume", "release the queue"),
    ("luzia-retry", "rerun a job"),
    ("luzia-cron", "scheduled jobs, timer, crontab"),
    ("luzia-list", "jobs of the queue, ps, history"),
    ("luzia-logs", "output of a job, tail"),
    ("luzia-status", "queue and jobs"),
    ("luzia-top", "watch the queue"),
    ("luzia-lock", "flock, mutex, semaphore"),
    ("luzia-guard", "flock, mutex, fence"),
    ("luzia-acquire", "mutex, semaphore, lease"),
    ("luzia-renew", "lease, heartbeat"),
    ("luzia-release", "unlock a mutex or semaphore"),
    ("luzia-check", "test a mutex or semaphore"),
    ("luzia-list-locks", "flock, mutexes, semaphores"),
    ("luzia-lanes", "semaphore, limit, parallelism"),
    ("luzia-dispatch", "start jobs of the queue"),
    ("luzia-daemon", "job scheduler of the queue"),
];

/// Words of other tools for the subject of a page, e.g. `flock, mutex`.
pub(super) fn also(page: &str) -> Option<&'static str> {
    ALSO.iter().find(|(name, _)| *name == page).map(|(_, words)| *words)
}

/// The files that every command reads or writes, and their purpose.
pub(super) const FILES: [(&str, &str); 4] = [
    ("$XDG_CONFIG_HOME/luzia/config.json", "The configuration of the account, luzia-config(5)."),
    ("/etc/luzia/config.json", "The configuration of the host, where the account has none."),
    ("$XDG_STATE_HOME/luzia", "The state directory of the account, luzia-spool(5)."),
    ("/var/lib/luzia", "The state directory of the account that owns it, where it exists."),
];

/// The commands that take a lane or queue a task.
const TAKERS: &[&str] =
    &["luzia-enqueue", "luzia-run", "luzia-lock", "luzia-acquire", "luzia-cron-add", "luzia-release"];
/// The commands that are called inside a task.
const INSIDE: &[&str] = &[
    "luzia-step",
    "luzia-set",
    "luzia-get",
    "luzia-beat",
    "luzia-await",
    "luzia-emit",
    "luzia-finish",
    "luzia-run",
    "luzia-enqueue",
    "luzia-lock",
    "luzia-acquire",
];

/// A variable of the environment, its effect, and the pages that name it. An empty list means all pages.
type Variable = (&'static str, &'static str, &'static [&'static str]);

/// The variables that luzia reads.
const ENVIRONMENT: [Variable; 14] = [
    ("LUZIA_STATE_DIR", "The state directory, as an absolute path, unless --state-dir is given.", &[]),
    (
        "STATE_DIRECTORY",
        "The state directory when LUZIA_STATE_DIR is not set, as systemd names it; its first entry counts.",
        &["luzia", "luzia-daemon", "luzia-dispatch"],
    ),
    ("LUZIA_CONFIG", "The configuration file, unless --config is given.", &[]),
    ("LUZIA_STORE", "The database with the tasks of several hosts, unless --store is given.", &[]),
    (
        "LUZIA_HOST",
        "The name of this host in a store of several hosts, by default its host name.",
        &["luzia-daemon", "luzia-enqueue", "luzia-run"],
    ),
    (
        "PGPASSFILE",
        "The file with the password of that database, of mode 0600; ~/.pgpass by default.",
        &["luzia-store"],
    ),
    ("PGPASSWORD", "The password of that database.", &["luzia-store"]),
    ("LUZIA_AGENT", "The name of the agent that calls, as others see it.", TAKERS),
    ("LUZIA_SESSION", "The session of the agent that calls.", TAKERS),
    ("LUZIA_TASK_ID", "The task inside which this is called; luzia sets it, and checks it before using it.", INSIDE),
    (
        "LUZIA_LOCK_ID",
        "The lock that the caller holds, which luzia-lock(1) and a task set.",
        &["luzia-guard", "luzia-lock"],
    ),
    ("LUZIA_FENCE", "The fence of that lock.", &["luzia-guard", "luzia-lock"]),
    ("NO_COLOR", "When not empty: no colour, unless --color is given.", &[]),
    ("CLICOLOR_FORCE", "When neither empty nor 0: colour in a pipe too.", &["luzia"]),
];

/// The variables of one page, with their effects.
pub(super) fn environment(page: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_here = move |pages: &[&str]| pages.is_empty() || pages.contains(&page) || page == "luzia";
    ENVIRONMENT.into_iter().filter(move |(_, _, pages)| is_here(pages)).map(|(name, meaning, _)| (name, meaning))
}

/// Pages beyond luzia(1) to which a page refers, each with its section.
const RELATED: &[(&str, &[(&str, u8)])] = &[
    (
        "luzia",
        &[
            ("luzia-config", 5),
            ("luzia-json", 5),
            ("luzia-agents", 7),
            ("luzia-deploy", 7),
            ("luzia-fleet", 7),
            ("flock", 1),
            ("at", 1),
            ("crontab", 1),
        ],
    ),
    ("luzia-enqueue", &[("luzia-run", 1), ("luzia-wait", 1), ("luzia-dispatch", 1), ("luzia-list", 1), ("at", 1)]),
    ("luzia-run", &[("luzia-enqueue", 1), ("luzia-attach", 1), ("luzia-lock", 1), ("systemd-run", 1)]),
    ("luzia-store", &[("luzia-fleet", 7), ("luzia-hosts", 1), ("luzia-daemon", 1), ("psql", 1)]),
    ("luzia-fleet", &[("luzia-fleet", 7), ("luzia-store", 1), ("luzia-hosts", 1)]),
    ("luzia-fleet-trial", &[("luzia-fleet", 7), ("luzia-store", 1), ("luzia-hosts", 1)]),
    ("luzia-hosts", &[("luzia-fleet", 7), ("luzia-store", 1), ("luzia-daemon", 1)]),
    ("luzia-attach", &[("luzia-run", 1), ("luzia-logs", 1)]),
    ("luzia-wait", &[("luzia-enqueue", 1), ("luzia-attach", 1)]),
    ("luzia-cancel", &[("luzia-retry", 1), ("luzia-pause", 1)]),
    ("luzia-pause", &[("luzia-resume", 1)]),
    ("luzia-resume", &[("luzia-pause", 1)]),
    ("luzia-retry", &[("luzia-cancel", 1)]),
    ("luzia-cron", &[("luzia-enqueue", 1), ("crontab", 5)]),
    ("luzia-lock", &[("luzia-acquire", 1), ("luzia-run", 1), ("luzia-guard", 1), ("flock", 1)]),
    ("luzia-guard", &[("luzia-lock", 1), ("luzia-acquire", 1)]),
    ("luzia-acquire", &[("luzia-renew", 1), ("luzia-release", 1), ("luzia-lock", 1)]),
    ("luzia-renew", &[("luzia-acquire", 1), ("luzia-release", 1)]),
    ("luzia-release", &[("luzia-acquire", 1), ("luzia-check", 1)]),
    ("luzia-check", &[("luzia-explain", 1), ("luzia-list-locks", 1)]),
    ("luzia-list-locks", &[("luzia-check", 1), ("lslocks", 8)]),
    ("luzia-lanes", &[("luzia-config", 5), ("luzia-pause", 1)]),
    ("luzia-list", &[("luzia-show", 1), ("luzia-explain", 1)]),
    ("luzia-show", &[("luzia-list", 1), ("luzia-logs", 1), ("luzia-tree", 1)]),
    ("luzia-logs", &[("luzia-attach", 1), ("luzia-show", 1)]),
    ("luzia-explain", &[("luzia-show", 1), ("luzia-status", 1)]),
    ("luzia-status", &[("luzia-list", 1), ("luzia-doctor", 1)]),
    ("luzia-top", &[("luzia-list", 1), ("luzia-list-locks", 1), ("luzia-status", 1)]),
    ("luzia-events", &[("luzia-stats", 1), ("luzia-hook", 1)]),
    ("luzia-stats", &[("luzia-events", 1), ("luzia-metrics", 1), ("luzia-timeline", 1)]),
    ("luzia-metrics", &[("luzia-deploy", 7)]),
    ("luzia-config", &[("luzia-config", 5), ("luzia-lanes", 1)]),
    ("luzia-config-show", &[("luzia-config", 5)]),
    ("luzia-config-check", &[("luzia-config", 5)]),
    ("luzia-config-path", &[("luzia-config", 5)]),
    ("luzia-config-schema", &[("luzia-config", 5)]),
    ("luzia-dispatch", &[("luzia-daemon", 1), ("crontab", 5)]),
    ("luzia-daemon", &[("luzia-dispatch", 1), ("luzia-deploy", 7), ("systemd.service", 5)]),
    ("luzia-agent", &[("luzia-agents", 7), ("luzia-mcp", 1), ("luzia-shim", 1)]),
    ("luzia-schema", &[("luzia-json", 5)]),
    ("luzia-install-docs", &[("luzia-completions", 1), ("man", 1)]),
    ("luzia-completions", &[("luzia-install-docs", 1)]),
    ("luzia-mcp", &[("luzia-agents", 7), ("luzia-config", 5)]),
];

/// The pages to which a page refers.
pub(super) fn related(page: &str) -> Vec<(&'static str, u8)> {
    let own = RELATED.iter().find(|(name, _)| *name == page).map(|(_, pages)| *pages).unwrap_or_default();
    let first = Some(("luzia", 1)).filter(|_| page != "luzia");
    let last = [("luzia-exit-codes", 7), ("luzia-spool", 5)];
    first.into_iter().chain(own.iter().copied()).chain(last).collect()
}
