//! `luzia lanes`: the lanes, their use, and their rules.

use crate::app::capacity::{NamedSlot, named_slots, old_make};
use crate::app::query::lanes::{
    LaneRow, Lanes, MOST_COUNTED, is_known_lane, is_ruled, lane_named, lane_pattern, lane_rows, rule_options,
    rule_text, set_lane, shared, unset_lane,
};
use crate::app::queue::terms::give_ruled_lanes;
use crate::app::{App, AppError, Code};
use crate::cli::output::console::{Console, Stop};
use crate::cli::output::json;
use crate::cli::output::table::{Column, Table};
use crate::model::capacity::SlotValues;
use crate::model::config::{Keeps, LaneRule, OnOverdue};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use serde_json::{Value, json};

/// Show the lanes in use and the rules of lanes, and change those rules while luzia runs. A change by `set` counts from the
/// next grant on, without a restart, and comes before the configuration. A pattern such as session:* is the rule of all such
/// lanes; the most specific name wins.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = LANES_HELP)]
pub struct LanesArgs {
    /// The action; without it, list them.
    #[command(subcommand)]
    pub verb: Option<LanesVerb>,
}

/// The actions of `luzia lanes`.
#[derive(Subcommand, Clone, Debug)]
pub enum LanesVerb {
    /// List the lanes in use, and those with a rule
    #[command(after_help = LIST_HELP)]
    List {
        /// Only the lanes that match, e.g. `session:telegram:*`
        #[arg(value_name = "LANE|PATTERN")]
        pattern: Option<String>,
    },
    /// Show one lane
    #[command(after_help = SHOW_HELP)]
    Show {
        /// The lane, e.g. `build` or `user:alice`, or a pattern that has a rule
        #[arg(value_name = "LANE")]
        lane: String,
    },
    /// Set rules of a lane or a pattern, from the next grant on
    #[command(after_help = SET_HELP)]
    Set {
        /// The lane, e.g. `build` or `user:alice`, or a pattern such as `session:*`
        #[arg(value_name = "LANE")]
        lane: String,

        /// The rules to set.
        #[command(flatten)]
        rule: Box<RuleOptions>,
    },
    /// Take back what `set` has set; the configuration counts again
    #[command(after_help = RM_HELP)]
    Rm {
        /// The lane or the pattern
        #[arg(value_name = "LANE")]
        lane: String,
    },
}

/// The given members of a rule, each by its key. The keys of the configuration define the options.
#[derive(Clone, Debug, Default)]
pub struct RuleOptions(Vec<(&'static str, String)>);

impl Args for RuleOptions {
    fn augment_args(command: Command) -> Command {
        command.args(rule_options().map(|(_, option)| {
            let arg = Arg::new(option.word).long(option.word).value_name(option.value).help(option.help);
            match option.word {
                "values" => arg.allow_hyphen_values(true).conflicts_with("range"),
                // A flag may have no value.
                _ if option.value == "true|false" => arg.num_args(0..=1).default_missing_value("true"),
                _ => arg.allow_hyphen_values(true),
            }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RuleOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |word| matches.get_one::<String>(word).cloned();
        Ok(Self(rule_options().filter_map(|(key, option)| Some((key, given(option.word)?))).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

const LANES_HELP: &str = "\
Examples:
  luzia lanes
  luzia lanes list 'session:telegram:*'
  luzia lanes set build --max 3
  luzia lanes rm build

Notes:
  A bare word is a lane here: build is the lane lane:build, and user:alice is
  alice's. QUEUE counts the first 10000 waiting tasks. A lane that nobody uses
  and that has no rule leaves nothing behind.

Exit codes:
  0    shown or changed
  2    usage; nothing was changed
  66   no such lane: nobody uses it, and it has no rule";

const LIST_HELP: &str = "\
Examples:
  luzia lanes list
  luzia lanes list 'session:telegram:*' --json

Exit codes:
  0    listed, also when the list is empty
  2    usage";

const SHOW_HELP: &str = "\
Examples:
  luzia lanes show build
  luzia lanes show 'session:*'

Exit codes:
  0    shown
  2    usage
  66   no such lane: nobody uses it, and it has no rule";

const RM_HELP: &str = "\
Examples:
  luzia lanes rm build

Exit codes:
  0    the configuration counts again, or did
  2    usage; nothing was changed";

const SET_HELP: &str = "\
Examples:
  luzia lanes set build --max 3
  luzia lanes set 'goal:*' --max 2
  luzia lanes set user:alice --weight 2
  luzia lanes set thread:7 --lock-timeout 30m
  luzia lanes set api --rate 10/1m
  luzia lanes set deploy --reserve 1 --warn-after 30s --on-wait 'notify-send waits'
  luzia lanes set resource:emu --values emulator-5556,emulator-5558
  luzia lanes set port --range 4000-4099
  luzia lanes set build --hold-while 'psi.memory>20 | load>1.5..1.0 | mem<10%'
  luzia lanes set build --cpu-budget auto
  luzia lanes set build --hold-while none

Notes:
  An option with none takes back what `set` has set by that option, and the
  configuration counts again; `luzia lanes rm` takes back all of it.
  A rule for project:NAME or goal:NAME, or a pattern of them, puts the tasks of
  that project or goal into that lane. Running tasks go on without the lane, and
  after `luzia lanes rm` the tasks that have the lane keep it.
  A lower --max ends no holder: holders in excess stay until they are done.
  --rate counts every grant of a lane; with a pattern, each lane counts alone.
  --reserve is for one lane, and leaves at least one slot for all others. Where
  several rules match a lane, the most specific one counts for each option:
  user:alice before user:*.
  --values and --range make as many slots as values, and --max bounds how many
  are given at once. A holder finds its value in LUZIA_SLOT_NAME, where NAME is
  the key of the lane: LUZIA_SLOT_EMU. A value that is removed goes when
  its holder ends.
  --hold-while compares psi.cpu, psi.memory and psi.io (percent, avg10), load
  (of one minute, for each processor) and mem (available, in percent) with < or
  >, joined by & and |. After .. stands the bound at which the lane grants
  again. psi is that of the control group of luzia, if it has one; mem is the
  smaller value of the group and the host.
  --cpu-budget gives each command a job server (make 4.4, cargo), and numbers
  to tools without: CARGO_BUILD_JOBS, CMAKE_BUILD_PARALLEL_LEVEL, GOMAXPROCS
  and PYTEST_XDIST_AUTO_NUM_WORKERS. `make -j8` in a command has a job server
  of its own; --affinity bounds that, too.

Exit codes:
  0    set
  2    usage; nothing was changed";

/// `luzia lanes`.
pub fn run(args: &LanesArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    match args.verb.clone().unwrap_or(LanesVerb::List { pattern: None }) {
        LanesVerb::List { pattern } => {
            let wanted = pattern.map(|text| lane_pattern(&text)).transpose()?;
            list(&lane_rows(app, wanted.as_ref())?, console)?;
        }
        LanesVerb::Show { lane } => {
            let named = lane_pattern(&lane)?;
            let rows = lane_rows(app, Some(&named))?.rows;
            let row = rows.into_iter().find(|row| row.name == named.text() && is_known_lane(row));
            let row = row.ok_or_else(|| unknown(&lane))?;
            let slots = match &app.fleet {
                _ if row.is_pattern => Vec::new(),
                Some(fleet) => shared::named_slots(&**fleet, &row)?,
                None => named_slots(app, &lane_named(&row.name)?)?,
            };
            show(&row, &slots, console)?;
        }
        LanesVerb::Set { lane, rule } => {
            let named = lane_pattern(&lane)?;
            let given: Vec<(&str, &str)> = rule.0.iter().map(|(key, text)| (*key, text.as_str())).collect();
            if given.is_empty() {
                return Err(AppError::usage("no option is given").hint(options_of_set()).into());
            }
            let row = set_lane(app, &named, &given)?;
            changed(&row, true, console)?;
            if is_ruled(named.text()) {
                let waiting = give_ruled_lanes(app)?;
                let too = if waiting > 0 { format!("; so do {waiting} that waited") } else { String::new() };
                console.progress(&format!("tasks of such a project or goal take it{too}"));
            }
            let is_unbound = row.rule.cpu_budget.is_some() && row.rule.affinity != Some(true);
            let has_set = given.iter().any(|(key, _)| ["cpu_budget", "affinity"].contains(key));
            if let Some(why) = old_make(app).filter(|_| is_unbound && has_set) {
                console.say(&format!("note: {why}; --affinity binds the commands themselves"));
            }
        }
        LanesVerb::Rm { lane } => {
            let (was_set, row) = unset_lane(app, &lane_pattern(&lane)?)?;
            changed(&row, was_set, console)?;
        }
    }
    Ok(())
}

fn options_of_set() -> String {
    let options = RuleOptions::augment_args(Command::new("set"));
    let longs: Vec<String> =
        options.get_arguments().filter_map(Arg::get_long).map(|long| format!("--{long}")).collect();
    format!("give at least one of {}", longs.join(", "))
}

fn unknown(lane: &str) -> AppError {
    AppError::new(Code::LaneNotFound, format!("nobody uses a lane \"{lane}\", and it has no rule"))
        .hint("`luzia lanes` lists them; any other lane appears when it is used")
        .next("luzia lanes")
}

fn limit(row: &LaneRow) -> Option<u32> {
    Some(row.max).filter(|max| *max < u32::MAX)
}

/// The members of a rule, as `list`, `show` and `set` give them.
fn rule_of(row: &LaneRow) -> Value {
    let rule = &row.rule;
    json!({
        "lane": row.name,
        "max_concurrent": limit(row),
        "weight": rule.weight,
        "lock_timeout_ms": rule.lock_timeout_ms,
        "rate": rule.rate.map(|rate| rate.to_string()),
        "reserve": rule.reserve.unwrap_or(0),
        "hold": rule.hold.map(Keeps::word),
        "warn_after_ms": rule.warn_after_ms,
        "on_wait": rule.on_wait,
        "on_overdue": rule.on_overdue.map(OnOverdue::word),
        "values": rule.values.as_ref().map(SlotValues::all),
        "range": rule.range.as_ref().map(ToString::to_string),
        "hold_while": rule.hold_while.as_ref().map(ToString::to_string),
        "cpu_budget": rule.cpu_budget.map(|budget| budget.to_string()),
        "affinity": rule.affinity.unwrap_or(false),
        "rule": row.source.word(),
    })
}

fn json_of(row: &LaneRow) -> Value {
    let hold = row.hold.as_ref();
    let members = json!({
        "pattern": row.is_pattern,
        "active": row.active,
        "queue": row.queue,
        // More holders than the limit, which was lowered meanwhile: it grants nothing until they are done.
        "draining": !row.is_pattern && row.active > u64::from(row.max),
        "shut": row.shut.as_ref().map(|busy| json!({ "conditions": busy.conditions, "readings": busy.readings })),
        "limited_until": row.limited_until.map(|until| until.to_string()),
        "paused": hold.is_some(),
        "paused_until": hold.and_then(|hold| hold.until).map(|until| until.to_string()),
    });
    json::with(members, rule_of(row))
}

/// The members of a rule that have a column, each with its title and in words for people; those without a value are empty.
fn rule_words(row: &LaneRow) -> impl Iterator<Item = (&'static str, String)> {
    // Values and a range of ports are one member in two spellings.
    let rule = LaneRule { values: row.rule.slots().cloned(), range: None, ..row.rule.clone() };
    rule_options().filter_map(move |(key, option)| Some((option.title?, rule_text(&rule, key))))
}

fn list(lanes: &Lanes, console: &mut Console) -> Result<(), Stop> {
    if console.is_json() {
        return console.items("lanes", lanes.rows.iter().map(json_of));
    }
    let mut columns = ["LANE", "ACTIVE", "MAX", "QUEUE", "STATE", "RULE"].map(Column::new).to_vec();
    columns.extend(rule_options().filter_map(|(_, option)| option.title.map(Column::wide)));
    let mut table = Table::new(&columns);
    for row in &lanes.rows {
        let text = |number: u64| if row.is_pattern { String::new() } else { number.to_string() };
        let cells = [
            row.name.clone(),
            text(row.active),
            limit(row).map_or_else(|| "no limit".to_owned(), |max| max.to_string()),
            text(row.queue),
            state(row).to_owned(),
            row.source.word().to_owned(),
        ];
        table.row(cells.into_iter().chain(rule_words(row).map(|(_, words)| words)));
    }
    console.table(&table)?;
    if !lanes.is_complete {
        console.say(&format!("note: QUEUE counts the first {MOST_COUNTED} waiting tasks"));
    }
    Ok(())
}

/// The state of a lane in a word.
pub fn state(row: &LaneRow) -> &'static str {
    match (row.is_pattern, row.hold.is_some(), u64::from(row.max)) {
        (true, ..) => "",
        (_, true, _) => "paused",
        _ if row.shut.is_some() => "busy",
        (_, _, max) if row.active > max => "draining",
        (_, _, max) if row.active == max => "full",
        _ if row.limited_until.is_some() => "limited",
        _ => "free",
    }
}

fn slot_json(slot: &NamedSlot) -> Value {
    json!({
        "value": slot.value,
        "slot": slot.slot,
        "holder": slot.holder,
        "drained": slot.is_drained,
        "in_use": slot.user.is_some(),
        "in_use_by_pid": slot.user.flatten(),
    })
}

/// The holder or user of a value, in words; nothing for a free value.
fn slot_words(slot: &NamedSlot) -> Option<String> {
    let drained = if slot.is_drained { ", and goes with its holder" } else { "" };
    match (&slot.slot, slot.user) {
        (Some(_), _) => {
            let holder = slot.holder.as_deref().unwrap_or("an unknown holder");
            Some(format!("held by {holder}{drained}"))
        }
        (None, Some(Some(pid))) => Some(format!("in use by process {pid}")),
        (None, Some(None)) => Some("in use by a process that cannot be seen".to_owned()),
        (None, None) => None,
    }
}

fn show(row: &LaneRow, slots: &[NamedSlot], console: &mut Console) -> Result<(), Stop> {
    if console.is_json() {
        let mut value = json_of(row);
        value["slots"] = slots.iter().map(slot_json).collect();
        return console.document(&json::single("lanes", value));
    }
    let mut table = Table::of(&["WHAT", "NOW"]);
    table.row(["lane".to_owned(), row.name.clone()]);
    if !row.is_pattern {
        table.row(["active".to_owned(), row.active.to_string()]);
        table.row(["queue".to_owned(), row.queue.to_string()]);
        table.row(["state".to_owned(), state(row).to_owned()]);
    }
    table.row(["max".to_owned(), limit(row).map_or_else(|| "no limit".to_owned(), |max| max.to_string())]);
    for (title, words) in rule_words(row).filter(|(_, words)| !words.is_empty()) {
        table.row([title.to_lowercase(), words]);
    }
    table.row(["rule".to_owned(), row.source.word().to_owned()]);
    if let Some(busy) = &row.shut {
        table.row(["host".to_owned(), format!("busy: {}", busy.text())]);
    }
    for (value, words) in slots.iter().filter_map(|slot| Some((slot.value.clone(), slot_words(slot)?))) {
        table.row([value, words]);
    }
    console.table(&table)
}

fn changed(row: &LaneRow, is_changed: bool, console: &mut Console) -> Result<(), Stop> {
    if console.json("lanes", || json::with(json!({ "changed": is_changed }), rule_of(row)))? {
        return Ok(());
    }
    let max = limit(row).map_or_else(|| "no limit".to_owned(), |max| format!("a limit of {max}"));
    let rest = rule_words(row).filter(|(_, value)| !value.is_empty());
    let rest = rest.map(|(title, value)| format!("{} {value}", title.to_lowercase()));
    let rules: Vec<String> = std::iter::once(max).chain(rest).collect();
    let rules = rules.join(", ");
    console.say(&match is_changed {
        true => format!("\"{}\" has {rules} from the next grant on", row.name),
        false => format!("nothing was set for \"{}\"; it has {rules}", row.name),
    });
    Ok(())
}
