//! The keys of the configuration file: a row for each, by which it is checked, read, shown and documented.

use super::key::{Key, NEXT_COMMAND, RuleOption, Words, give, objects, take};
use super::kind::Kind::{
    self, Budget, Command, Directory, Flag, Gate, Name, Names, Number, Objects, Patterns, Range, Rate, Room, Seconds,
    Shell, Text, Values, Version, Whole, Word,
};
use crate::model::config::{Config, LaneRule, Project};
use serde_json::Value;

const COUNT: Kind = Whole("a whole number from 1 to 4294967295", u32::MAX);
const SHARE: Kind = Whole("a share, a whole number from 1 to 1000000", 1_000_000);
const SLOTS: Kind = Number("a number of slots from 0 to 1000000", 1_000_000);
const WEIGHT: Kind = Whole("a weight, a whole number from 1 to 1000", 1000);

/// When a changed value takes effect.
const NEXT_GRANT: &str = "with the next grant; tasks and locks that hold the lane keep it";
const NEXT_ENQUEUE: &str = "with the next task that is queued; tasks in the queue keep what they were accepted with";
const NEXT_START: &str = "with the next task that starts";
const NEXT_LOOK: &str = "at once, also for leases that are held";
const NEXT_WAIT: &str = "with the next wait for the lane";
const NEXT_LOOK_AT: &str = "with the next pass";
const NEXT_CALL: &str = "with the next call of a tool";

/// Declares keys. A row has the name and the form of the value, and the field that holds it or the value that is shown; then its
/// meaning; then when a change takes effect, an example as JSON, and in words a default that is no single value. The row of a rule
/// has the option of `lanes set`, too: its word, the name of its value, its column in the table of lanes, and its help.
macro_rules! keys {
    (@set) => { |_, _| {} };
    (@set $field:ident $([$at:literal])?) => { |it, value| take(&mut it.$field $([$at])?, value) };
    (@optional) => { None };
    (@optional $($given:tt)+) => { Some($($given)+) };
    (@get shown |$it:ident| $get:expr) => { |$it| $get };
    (@get $field:ident $([$at:literal])?) => { |it| give(&it.$field $([$at])?) };
    ($of:ty: $(
        $name:literal: $kind:expr $(=> $field:ident $([$at:literal])?)?, $(shown |$it:ident| $get:expr,)?
            $meaning:literal,
            $effect:expr, $example:literal $(, or $default:literal)?
            $(, option $word:literal $value:literal $(column $title:literal)? $help:literal)?;
    )*) => {
        &[$(Key::<$of> {
            name: $name,
            kind: $kind,
            set: keys!(@set $($field $([$at])?)?),
            get: keys!(@get $($field $([$at])?)? $(shown |$it| $get)?),
            words: Words {
                meaning: $meaning,
                effect: $effect,
                example: $example,
                default: keys!(@optional $($default)?),
            },
            option: keys!(@optional $(RuleOption {
                word: $word,
                value: $value,
                help: $help,
                title: keys!(@optional $($title)?),
            })?),
        },)*]
    };
}

/// The file itself. What `projects` and `lanes` hold is read by [`PROJECT`] and [`RULE`].
pub(super) const FILE: &[Key<Config>] = keys! { Config:
    "$schema": Text, shown |_config| Value::Null,
        "The JSON Schema of the file, for editors. luzia does not read it.",
        "never", r#""config.schema.json""#, or "none";
    "v": Version, shown |_config| Value::Null,
        "The version of the format.",
        NEXT_COMMAND, "1", or "1";
    "store": Text => store,
        "The URL of the PostgreSQL database with the tasks of several hosts, without a password. --store and LUZIA_STORE come \
         before it.",
        NEXT_COMMAND, r#""postgres:///luzia?host=/run/postgresql""#, or "none: the state directory has all tasks";
    "per_user_serialization.enabled": Flag => serialize_users,
        "Whether the tasks and locks of one user take turns. Capacity and named lanes apply either way.",
        NEXT_GRANT, "false";
    "per_user_serialization.lock_timeout_seconds": Seconds => lock_timeout_ms,
        "After how many seconds a lease without a time to live of its own has expired. It applies to every lane \
         but thread: lanes, which have 600, and lanes with a rule of their own. It never ends the lock of a \
         living process.",
        NEXT_LOOK, "300";
    "slots.max": COUNT => slots_max,
        "The number of tasks that run at once. It is the limit of the lane global. luzia status says the number and where \
         it comes from.",
        NEXT_GRANT, "8", or "the number of processors that are online on the host, at least 4";
    "projects": Objects, shown |config| objects(&config.projects, PROJECT),
        "Projects by name. The project \"*\" holds the values that other projects leave out, and all values of \
         projects that are not named.",
        NEXT_ENQUEUE, r#"{ "shop": { "user": "alice" } }"#, or "none";
    "lanes": Objects, shown |config| objects(&config.lanes, RULE),
        "Rules of lanes, by the name of the lane or by a pattern that ends in *. For each member the lane itself \
         counts first, then the longest pattern that has it. Rules of luzia lanes set come before those of the \
         file.",
        NEXT_GRANT, r#"{ "deploy": { "max": 1 }, "session:*": { "max": 2 } }"#, or "none";
    "tier_shares.high": SHARE => tier_shares[0],
        "The number of grants of a round that go to tasks of the tier high, while all tiers have tasks.",
        NEXT_COMMAND, "16";
    "tier_shares.normal": SHARE => tier_shares[1],
        "The number of grants of a round that go to tasks of the tier normal, while all tiers have tasks.",
        NEXT_COMMAND, "4";
    "tier_shares.low": SHARE => tier_shares[2],
        "The number of grants of a round that go to tasks of the tier low, while all tiers have tasks.",
        NEXT_COMMAND, "1";
    "retention.days": COUNT => retention_days,
        "For how many days the record, the logs and the events of a finished task are kept.",
        NEXT_COMMAND, "30";
    "retention.tasks": COUNT => retention_tasks,
        "The number of finished tasks that are kept at most.",
        NEXT_COMMAND, "1000";
    "poll_interval_seconds": Seconds => poll_interval_ms,
        "The seconds between two looks of a daemon or a waiting run for changes that nobody announces, e.g. the death \
         of a holder.",
        NEXT_COMMAND, "0.5";
    "logs.max_bytes": Room => logs_max_bytes,
        "The number of bytes that the logs of one task may take, both streams together. The oldest output is cut first.",
        NEXT_START, "1073741824";
    "supervisor.cgroups": Word(&["auto", "on", "off"]) => cgroups,
        "Whether each start of a task gets a control group of its own (version 2): auto where the group of the \
         supervisor is delegated to its account, on wherever one can be made, off never.",
        NEXT_START, r#""off""#;
    "retries.backoff_seconds": Seconds => backoff_ms,
        "The pause before the second attempt of a task that names none (--backoff), in seconds. Each later pause \
         is twice as long, and all are longer or shorter by up to a tenth.",
        NEXT_ENQUEUE, "10";
    "retries.max_backoff_seconds": Seconds => most_backoff_ms,
        "The longest pause between two attempts of a task that names none (--max-backoff), in seconds.",
        NEXT_ENQUEUE, "600";
    "retries.on_interrupt": Word(&["retry", "fail"]) => on_interrupt,
        "The effect on a task without --on-interrupt when its supervisor or the host goes down while its command \
         runs: retry for a failed attempt, fail for the end of the task.",
        NEXT_ENQUEUE, r#""fail""#;
    "dispatch.contexts": Word(&["same", "any"]) => contexts,
        "Which tasks a process starts: same for those that were queued in a sandbox compatible with its own, any \
         for all. Set any only where all sandboxes of the host trust each other.",
        NEXT_COMMAND, r#""any""#;
    "users.known": Names => users_known,
        "The users that may be named. With it, a lane of a user that is neither listed here nor named by a \
         project is refused.",
        NEXT_COMMAND, r#"["alice", "bob"]"#, or "every name";
    "mcp.allow": Patterns => mcp_allow,
        "The commands that luzia mcp may start for an agent. In a pattern, * stands for any text.",
        NEXT_CALL, r#"["cargo *", "make"]"#, or "none: luzia mcp starts no command";
    "mcp.env": Patterns => mcp_env,
        "The environment variables that an agent may set through luzia mcp. In a pattern, * stands for any text.",
        NEXT_CALL, r#"["RUST_LOG", "CI_*"]"#, or "none";
    "allow_root": Flag => allow_root,
        "Whether a project may run its tasks as root.",
        NEXT_COMMAND, "true";
    "allow_loader_env": Flag => allow_loader_env,
        "Whether --env may set variables that change how programs are loaded, e.g. LD_PRELOAD.",
        NEXT_ENQUEUE, "true";
};

/// A project.
pub(super) const PROJECT: &[Key<Project>] = keys! { Project:
    "user": Name("the name of a user") => user,
        "The user whose tasks the tasks of the project take turns with.",
        NEXT_ENQUEUE, r#""alice""#, or "the caller";
    "conductor_dir": Directory => conductor_dir,
        "The directory in which each task of the project gets a directory of its own, below active/ and then \
         done/. In it, {project} and {user} stand for names.",
        NEXT_ENQUEUE, r#""/srv/{project}/conductor""#, or "conductor/PROJECT in the state directory";
    "agent": Command => agent,
        "The command for enqueue --prompt. In it, {prompt} stands for the text.",
        NEXT_ENQUEUE, r#"["claude", "-p", "{prompt}"]"#, or "none: --prompt is refused";
    "run_as": Name("a name") => run_as,
        "The account that the commands of the project run as, when luzia runs as root.",
        NEXT_ENQUEUE, r#""builder""#, or "the account of luzia";
};

/// The rule of a lane or of a pattern of lanes.
pub(super) const RULE: &[Key<LaneRule>] = keys! { LaneRule:
    "max": COUNT => max,
        "The number of holders of the lane at once.",
        NEXT_GRANT, "3", or "1, for the lane subagent 8, for the lane global slots.max",
        option "max" "N"
            "The number of holders at once, from 1; of `global`: the number of tasks that run at once";
    "weight": WEIGHT => weight,
        "The weight of a user in fair share, in a rule of user: lanes: with 2 the user gets twice as many grants \
         as with 1.",
        NEXT_COMMAND, "2", or "1",
        option "weight" "N" column "WEIGHT"
            "The share of a user beside others, from 1; for lanes of users";
    "lock_timeout_seconds": Seconds => lock_timeout_ms,
        "After how many seconds a lease of the lane without a time to live of its own has expired.",
        NEXT_LOOK, "600", or "600 for thread: lanes, per_user_serialization.lock_timeout_seconds for others",
        option "lock-timeout" "DUR" column "LOCK TIMEOUT"
            "After how long a lease that nobody renews is stale, e.g. `10m`";
    "hold": Word(&["keep", "release"]) => hold,
        "Whether a task keeps the lane while it waits for an event: keep or release.",
        NEXT_GRANT, r#""release""#, or "keep for user:, thread: and session: lanes, release for others",
        option "hold" "HOW" column "HOLD"
            "Whether a task keeps the lane while it waits: `keep` or `release`";
    "warn_after_seconds": Seconds => warn_after_ms,
        "After how many seconds a wait for the lane is told by the event wait_warning. A written value tells the \
         first task of each queue while it waits; by the default a wait is told when it ends.",
        NEXT_WAIT, "10", or "2",
        option "warn-after" "DUR" column "WARN AFTER"
            "After how long a wait is told, by the event `wait_warning`; by default 2s, and then only when it ends";
    "on_wait": Shell => on_wait,
        "A command for each wait that lasted for warn_after_seconds. sh(1) runs it once, with the event on its \
         standard input, for 30 seconds at most.",
        NEXT_WAIT, r#""notify-send waiting""#, or "none",
        option "on-wait" "CMD" column "ON WAIT"
            "A command for each such wait, which sh(1) runs once";
    "rate": Rate => rate,
        "At most so many grants of the lane within any stretch of that length.",
        NEXT_GRANT, r#""10/1m""#, or "no limit",
        option "rate" "N/DUR" column "RATE"
            "The number of grants in a time at most, e.g. `10/1m`";
    "reserve": SLOTS => reserve,
        "The number of slots of the lane global that are kept free for tasks of this lane. It is for one lane, not for a \
         pattern.",
        NEXT_GRANT, "1", or "0",
        option "reserve" "N" column "RESERVE"
            "The number of slots of `global` that only tasks of this lane may take";
    "on_overdue": Word(&["report", "terminate"]) => on_overdue,
        "The treatment of a living holder past its limit while others wait. With terminate a task is cancelled \
         by its supervisor; other holders are only reported.",
        NEXT_LOOK_AT, r#""terminate""#, or "report",
        option "on-overdue" "WHAT" column "ON OVERDUE"
            "The treatment of a living holder past its limit while others wait: report, or terminate a task";
    "values": Values => values,
        "The value that each slot stands for: the lane has as many slots as values, and a holder finds its own in \
         LUZIA_SLOT_NAME. They are for one lane, not for a pattern.",
        NEXT_GRANT, r#"["emulator-5556", "emulator-5558"]"#, or "none",
        option "values" "A,B" column "VALUES"
            "The value that each slot stands for, e.g. `emulator-5556,emulator-5558`; a holder finds its value in LUZIA_SLOT_NAME";
    "range": Range => range,
        "The TCP ports that the slots stand for. A port that another program uses is skipped. No two lanes may have \
         the same port.",
        NEXT_GRANT, r#""4000-4099""#, or "none",
        option "range" "FROM-TO"
            "TCP ports that the slots stand for, e.g. `4000-4099`; a port that another program uses is skipped";
    "hold_while": Gate => hold_while,
        "While this condition is met, the lane grants nothing. psi.cpu, psi.memory and psi.io (percent), load (for each \
         processor) and mem (available, percent) are compared with < or >, joined by & and |. The lane grants again at the bound after `..`.",
        NEXT_GRANT, r#""psi.memory>20 | load>1.5..1.0 | mem<10%""#, or "none",
        option "hold-while" "EXPR" column "HOLD WHILE"
            "Grant nothing while the host is busy, e.g. `psi.memory>20 | load>1.5 | mem<10%`";
    "cpu_budget": Budget => cpu_budget,
        "The number of processors that all commands in the lane use together: a number, or auto. Each command gets a job \
         server.",
        NEXT_GRANT, "4", or "none",
        option "cpu-budget" "N|auto" column "CPU BUDGET"
            "The number of processors that the holders use together, or `auto`";
    "affinity": Flag => affinity,
        "Whether commands in the lane are bound to as many processors as its cpu_budget.",
        NEXT_START, "true", or "false",
        option "affinity" "true|false" column "AFFINITY"
            "Bind commands in the lane to as many processors as its budget";
};
