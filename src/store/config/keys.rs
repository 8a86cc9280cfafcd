//! The keys of the configuration file: a row for each, by which it is checked, read, shown and documented.

use super::key::{
    Key, NEXT_COMMAND, by_default, flag, key, known, names, objects, patterns, says, seconds, text, texts, time, whole,
    word,
};
use super::kind::{Kind, budget, budget_json, words};
use crate::model::capacity::{Gate, SlotValues};
use crate::model::config::{Config, Contexts, Keeps, LaneRule, OnOverdue, Project, Rate, SlotsFrom};
use crate::model::task::OnInterrupt;
use crate::model::{Cgroups, Name};
use serde_json::{Value, json};

const COUNT: Kind = Kind::Whole("a whole number from 1 to 4294967295", u32::MAX);
const SHARE: Kind = Kind::Whole("a share, a whole number from 1 to 1000000", 1_000_000);
const SLOTS: Kind = Kind::Number("a number of slots from 0 to 1000000", 1_000_000);
const WEIGHT: Kind = Kind::Whole("a weight, a whole number from 1 to 1000", 1000);

/// When a changed value takes effect.
const NEXT_GRANT: &str = "with the next grant; tasks and locks that hold the lane keep it";
const NEXT_ENQUEUE: &str = "with the next task that is queued; tasks in the queue keep what they were accepted with";
const NEXT_START: &str = "with the next task that starts";
const NEXT_LOOK: &str = "at once, also for leases that are held";
const NEXT_WAIT: &str = "with the next wait for the lane";
const NEXT_LOOK_AT: &str = "with the next pass";
const NEXT_CALL: &str = "with the next call of a tool";

/// The file itself. What `projects` and `lanes` hold is read by [`PROJECT`] and [`RULE`].
pub(super) const FILE: &[Key<Config>] = &[
    by_default(
        says(
            key("$schema", Kind::Text, |_, _| {}, |_| Value::Null),
            "The JSON Schema of the file, for editors. luzia does not read it.",
            "never",
            r#""config.schema.json""#,
        ),
        "none",
    ),
    by_default(
        says(key("v", Kind::Version, |_, _| {}, |_| Value::Null), "The version of the format.", NEXT_COMMAND, "1"),
        "1",
    ),
    says(
        key(
            "per_user_serialization.enabled",
            Kind::Flag,
            |config, value| config.serialize_users = flag(value),
            |config| json!(config.serialize_users),
        ),
        "Whether the tasks and locks of one user take turns. Capacity and named lanes apply either way.",
        NEXT_GRANT,
        "false",
    ),
    says(
        key(
            "per_user_serialization.lock_timeout_seconds",
            Kind::Seconds,
            |config, value| config.lock_timeout_ms = time(value),
            |config| seconds(config.lock_timeout_ms),
        ),
        "After how many seconds a lease without a time to live of its own has expired. It applies to every lane but \
         thread: lanes, which have 600, and lanes with a rule of their own. It never ends the lock of a living \
         process.",
        NEXT_LOOK,
        "300",
    ),
    by_default(
        says(
            key(
                "slots.max",
                COUNT,
                |config, value| (config.slots_max, config.slots_from) = (whole(value), SlotsFrom::File),
                |config| json!(config.slots_max),
            ),
            "How many tasks run at once. It is the limit of the lane global. luzia status says the number and where it \
             comes from.",
            NEXT_GRANT,
            "8",
        ),
        "the number of processors that are online on the host, at least 4",
    ),
    by_default(
        says(
            key("projects", Kind::Objects, |_, _| {}, |config| objects(&config.projects, PROJECT)),
            "Projects by name. The project \"*\" holds what other projects leave out, and all of projects that are \
             not named.",
            NEXT_ENQUEUE,
            r#"{ "shop": { "user": "alice" } }"#,
        ),
        "none",
    ),
    by_default(
        says(
            key("lanes", Kind::Objects, |_, _| {}, |config| objects(&config.lanes, RULE)),
            "Rules of lanes, by the name of the lane or by a pattern that ends in *. For each member the lane itself \
             counts first, then the longest pattern that has it. Rules of luzia lanes set come before those of the \
             file.",
            NEXT_GRANT,
            r#"{ "deploy": { "max": 1 }, "session:*": { "max": 2 } }"#,
        ),
        "none",
    ),
    says(
        key("tier_shares.high", SHARE, |it, value| it.tier_shares[0] = whole(value), |it| json!(it.tier_shares[0])),
        "How many grants of a round go to tasks of the tier high, while all tiers have tasks.",
        NEXT_COMMAND,
        "16",
    ),
    says(
        key("tier_shares.normal", SHARE, |it, value| it.tier_shares[1] = whole(value), |it| json!(it.tier_shares[1])),
        "How many grants of a round go to tasks of the tier normal, while all tiers have tasks.",
        NEXT_COMMAND,
        "4",
    ),
    says(
        key("tier_shares.low", SHARE, |it, value| it.tier_shares[2] = whole(value), |it| json!(it.tier_shares[2])),
        "How many grants of a round go to tasks of the tier low, while all tiers have tasks.",
        NEXT_COMMAND,
        "1",
    ),
    says(
        key("retention.days", COUNT, |it, value| it.retention_days = whole(value), |it| json!(it.retention_days)),
        "For how many days the record, the logs and the events of a finished task are kept.",
        NEXT_COMMAND,
        "30",
    ),
    says(
        key("retention.tasks", COUNT, |it, value| it.retention_tasks = whole(value), |it| json!(it.retention_tasks)),
        "How many finished tasks are kept at most.",
        NEXT_COMMAND,
        "1000",
    ),
    says(
        key(
            "poll_interval_seconds",
            Kind::Seconds,
            |config, value| config.poll_interval_ms = time(value),
            |config| seconds(config.poll_interval_ms),
        ),
        "How often, in seconds, a daemon or a waiting run looks for changes that nobody announces, e.g. the death of \
         a holder.",
        NEXT_COMMAND,
        r#"0.5"#,
    ),
    says(
        key(
            "logs.max_bytes",
            Kind::Room,
            |it, value| it.logs_max_bytes = value.as_u64().unwrap_or_default(),
            |it| json!(it.logs_max_bytes),
        ),
        "How many bytes the logs of one task may take, both streams together. The oldest output is cut first.",
        NEXT_START,
        "1073741824",
    ),
    says(
        key(
            "supervisor.cgroups",
            Kind::Word("\"auto\", \"on\" or \"off\"", &Cgroups::WORDS),
            |it, value| it.cgroups = Cgroups::of_word(value.as_str().unwrap_or_default()),
            |it| json!(it.cgroups.word()),
        ),
        "Whether each start of a task gets a control group of its own (version 2): auto where the group of the supervisor is \
         delegated to its account, on wherever one can be made, off never.",
        NEXT_START,
        r#""off""#,
    ),
    says(
        key(
            "retries.backoff_seconds",
            Kind::Seconds,
            |config, value| config.backoff_ms = time(value),
            |config| seconds(config.backoff_ms),
        ),
        "The pause before the second attempt of a task that names none (--backoff), in seconds. Each later pause is twice as \
         long, and all are longer or shorter by up to a tenth.",
        NEXT_ENQUEUE,
        "10",
    ),
    says(
        key(
            "retries.max_backoff_seconds",
            Kind::Seconds,
            |config, value| config.most_backoff_ms = time(value),
            |config| seconds(config.most_backoff_ms),
        ),
        "The longest pause between two attempts of a task that names none (--max-backoff), in seconds.",
        NEXT_ENQUEUE,
        "600",
    ),
    says(
        key(
            "retries.on_interrupt",
            Kind::Word("\"retry\" or \"fail\"", &["retry", "fail"]),
            |it, value| it.on_interrupt = value.as_str().and_then(OnInterrupt::parse).unwrap_or_default(),
            |it| json!(it.on_interrupt.word()),
        ),
        "What it means for a task that says nothing of it (--on-interrupt) when its supervisor or the host goes down while \
         its command runs: retry for a failed attempt, fail for the end of the task.",
        NEXT_ENQUEUE,
        r#""fail""#,
    ),
    says(
        key(
            "dispatch.contexts",
            Kind::Word("\"same\" or \"any\"", &["same", "any"]),
            |it, value| it.contexts = if value == "any" { Contexts::Any } else { Contexts::Same },
            |it| json!(it.contexts.word()),
        ),
        "Which tasks a process starts: same for those that were queued in a sandbox compatible with its own, any for \
         all. Set any only where all sandboxes of the host trust each other.",
        NEXT_COMMAND,
        r#""any""#,
    ),
    by_default(
        says(
            key("users.known", Kind::Names, |it, value| it.users_known = names(value), |it| known(&it.users_known)),
            "The users that may be named. With it, a lane of a user that is neither listed here nor named by a \
             project is refused.",
            NEXT_COMMAND,
            r#"["alice", "bob"]"#,
        ),
        "every name",
    ),
    by_default(
        says(
            key("mcp.allow", Kind::Patterns, |it, value| it.mcp_allow = texts(value), |it| patterns(&it.mcp_allow)),
            "The commands that luzia mcp may start for an agent. In a pattern, * stands for any text.",
            NEXT_CALL,
            r#"["cargo *", "make"]"#,
        ),
        "none: luzia mcp starts no command",
    ),
    by_default(
        says(
            key("mcp.env", Kind::Patterns, |it, value| it.mcp_env = texts(value), |it| patterns(&it.mcp_env)),
            "The environment variables that an agent may set through luzia mcp. In a pattern, * stands for any text.",
            NEXT_CALL,
            r#"["RUST_LOG", "CI_*"]"#,
        ),
        "none",
    ),
    says(
        key("allow_root", Kind::Flag, |it, value| it.allow_root = flag(value), |it| json!(it.allow_root)),
        "Whether a project may run its tasks as root.",
        NEXT_COMMAND,
        "true",
    ),
    says(
        key(
            "allow_loader_env",
            Kind::Flag,
            |it, value| it.allow_loader_env = flag(value),
            |it| json!(it.allow_loader_env),
        ),
        "Whether --env may set variables that change how programs are loaded, e.g. LD_PRELOAD.",
        NEXT_ENQUEUE,
        "true",
    ),
];

/// A project.
pub(super) const PROJECT: &[Key<Project>] = &[
    by_default(
        says(
            key(
                "user",
                Kind::Name("the name of a user"),
                |project, value| project.user = value.as_str().and_then(|name| Name::new(name).ok()),
                |project| json!(project.user.as_ref().map(Name::as_str)),
            ),
            "The user whose tasks the tasks of the project take turns with.",
            NEXT_ENQUEUE,
            r#""alice""#,
        ),
        "the caller",
    ),
    by_default(
        says(
            key(
                "conductor_dir",
                Kind::Directory,
                |it, value| it.conductor_dir = text(value),
                |it| json!(it.conductor_dir),
            ),
            "The directory in which each task of the project gets a directory of its own, below active/ and then \
             done/. In it, {project} and {user} stand for names.",
            NEXT_ENQUEUE,
            r#""/srv/{project}/conductor""#,
        ),
        "conductor/PROJECT in the state directory",
    ),
    by_default(
        says(
            key("agent", Kind::Command, |it, value| it.agent = words(value), |it| json!(it.agent)),
            "The command for enqueue --prompt. In it, {prompt} stands for the text.",
            NEXT_ENQUEUE,
            r#"["claude", "-p", "{prompt}"]"#,
        ),
        "none: --prompt is refused",
    ),
    by_default(
        says(
            key("run_as", Kind::Name("a name"), |it, value| it.run_as = text(value), |it| json!(it.run_as)),
            "The account that the commands of the project run as, when luzia runs as root.",
            NEXT_ENQUEUE,
            r#""builder""#,
        ),
        "the account of luzia",
    ),
];

/// The rule of a lane or of a pattern of lanes.
pub(super) const RULE: &[Key<LaneRule>] = &[
    by_default(
        says(
            key("max", COUNT, |rule, value| rule.max = Some(whole(value)), |rule| json!(rule.max)),
            "How many may hold the lane at once.",
            NEXT_GRANT,
            "3",
        ),
        "1, for the lane subagent 8, for the lane global slots.max",
    ),
    by_default(
        says(
            key("weight", WEIGHT, |rule, value| rule.weight = Some(whole(value)), |rule| json!(rule.weight)),
            "The weight of a user in fair share, in a rule of user: lanes: with 2 the user gets twice as many grants \
             as with 1.",
            NEXT_COMMAND,
            "2",
        ),
        "1",
    ),
    by_default(
        says(
            key(
                "lock_timeout_seconds",
                Kind::Seconds,
                |rule, value| rule.lock_timeout_ms = Some(time(value)),
                |rule| rule.lock_timeout_ms.map_or(Value::Null, seconds),
            ),
            "After how many seconds a lease of the lane without a time to live of its own has expired.",
            NEXT_LOOK,
            "600",
        ),
        "600 for thread: lanes, per_user_serialization.lock_timeout_seconds for others",
    ),
    by_default(
        says(
            key(
                "hold",
                Kind::Word("\"keep\" or \"release\"", &["keep", "release"]),
                |rule, value| rule.hold = word(&Keeps::WORDS, value),
                |rule| json!(rule.hold.map(Keeps::word)),
            ),
            "Whether a task keeps the lane while it waits for an event: keep or release.",
            NEXT_GRANT,
            r#""release""#,
        ),
        "keep for user:, thread: and session: lanes, release for others",
    ),
    by_default(
        says(
            key(
                "warn_after_seconds",
                Kind::Seconds,
                |rule, value| rule.warn_after_ms = Some(time(value)),
                |rule| rule.warn_after_ms.map_or(Value::Null, seconds),
            ),
            "After how many seconds a wait for the lane is told by the event wait_warning. A written value tells the first task of each queue while it waits; by the default a wait is told when it ends.",
            NEXT_WAIT,
            "10",
        ),
        "2",
    ),
    by_default(
        says(
            key("on_wait", Kind::Shell, |rule, value| rule.on_wait = text(value), |rule| json!(rule.on_wait)),
            "A command for each wait that lasted for warn_after_seconds. sh(1) runs it once, with the event on its standard input, for 30 seconds at most.",
            NEXT_WAIT,
            r#""notify-send waiting""#,
        ),
        "none",
    ),
    by_default(
        says(
            key(
                "rate",
                Kind::Rate,
                |rule, value| rule.rate = value.as_str().and_then(Rate::parse),
                |rule| json!(rule.rate.map(|rate| rate.to_string())),
            ),
            "At most so many grants of the lane within any stretch of that length.",
            NEXT_GRANT,
            r#""10/1m""#,
        ),
        "no limit",
    ),
    by_default(
        says(
            key("reserve", SLOTS, |rule, value| rule.reserve = Some(whole(value)), |rule| json!(rule.reserve)),
            "How many slots of the lane global are kept free for tasks of this lane. It is for one lane, not for a pattern.",
            NEXT_GRANT,
            "1",
        ),
        "0",
    ),
    by_default(
        says(
            key(
                "on_overdue",
                Kind::Word("\"report\" or \"terminate\"", &["report", "terminate"]),
                |rule, value| rule.on_overdue = word(&OnOverdue::WORDS, value),
                |rule| json!(rule.on_overdue.map(OnOverdue::word)),
            ),
            "What is done with a living holder past its limit while others wait. With terminate a task is cancelled by its supervisor; other holders are only reported.",
            NEXT_LOOK_AT,
            r#""terminate""#,
        ),
        "report",
    ),
    by_default(
        says(
            key(
                "values",
                Kind::Values,
                |rule, value| rule.values = SlotValues::list(texts(value)).ok(),
                |rule| json!(rule.values.as_ref().map(SlotValues::all)),
            ),
            "What each slot stands for: the lane has as many slots as values, and a holder finds its own in LUZIA_SLOT_NAME. \
             They are for one lane, not for a pattern.",
            NEXT_GRANT,
            r#"["emulator-5556", "emulator-5558"]"#,
        ),
        "none",
    ),
    by_default(
        says(
            key(
                "range",
                Kind::Range,
                |rule, value| rule.range = value.as_str().and_then(|text| SlotValues::ports(text).ok()),
                |rule| json!(rule.range.as_ref().map(ToString::to_string)),
            ),
            "The TCP ports that the slots stand for. A port that a stranger uses is skipped. No two lanes may have the same port.",
            NEXT_GRANT,
            r#""4000-4099""#,
        ),
        "none",
    ),
    by_default(
        says(
            key(
                "hold_while",
                Kind::Gate,
                |rule, value| rule.hold_while = value.as_str().and_then(|text| Gate::parse(text).ok()),
                |rule| json!(rule.hold_while.as_ref().map(ToString::to_string)),
            ),
            "While this holds, the lane grants nothing. psi.cpu, psi.memory and psi.io (percent), load (for each processor) \
             and mem (available, percent) are compared with < or >, joined by & and |. The bound after .. opens again.",
            NEXT_GRANT,
            r#""psi.memory>20 | load>1.5..1.0 | mem<10%""#,
        ),
        "none",
    ),
    by_default(
        says(
            key(
                "cpu_budget",
                Kind::Budget,
                |rule, value| rule.cpu_budget = budget(value),
                |rule| rule.cpu_budget.map_or(Value::Null, budget_json),
            ),
            "How many processors what runs in the lane uses together: a number, or auto. Each command gets a job server.",
            NEXT_GRANT,
            "4",
        ),
        "none",
    ),
    by_default(
        says(
            key("affinity", Kind::Flag, |rule, value| rule.affinity = Some(flag(value)), |rule| json!(rule.affinity)),
            "Whether what runs in the lane is bound to as many processors as its cpu_budget.",
            NEXT_START,
            "true",
        ),
        "false",
    ),
];
