//! `luzia __complete`: answers completion scripts. It answers with a line for each word, and never with an error.

use crate::app::cron::cron_list;
use crate::app::hooks::hooks;
use crate::app::query::lanes::lane_rows;
use crate::app::query::list::{Filter, list};
use crate::app::{App, config_reload};
use crate::cli::args::command;
use crate::cli::args::complete::{End, Live, Wanted, end_of};
use crate::cli::docs::schemas;
use crate::cli::output::console::Console;
use crate::model::sorted::{map_of, sort_by_key};
use clap::ValueEnum;
use std::collections::{BTreeMap, BTreeSet};

/// The most tasks that are named.
const MOST_TASKS: usize = 500;

/// Gives the use cases for the global options of a line, where there are any.
pub type Apps<'a> = &'a dyn Fn(&[(String, String)]) -> Option<App>;

/// `luzia __complete KIND [PREFIX]`, and `luzia __complete line LINE`. For a line, the answer begins with `lead<tab>part`. A
/// word in brackets means that the shell completes by itself: `[files]`, `[directories]`, or `[command]` with the byte at
/// which it begins and the number of words before it.
pub fn run(args: &[String], apps: Apps, console: &mut Console) -> anyhow::Result<()> {
    let (kind, text) = (args.first().map_or("", String::as_str), args.get(1).map_or("", String::as_str));
    if kind == "line" {
        let mut root = command();
        root.build();
        line(&end_of(text, &root), apps, console)?;
    } else if let Ok(live) = Live::from_str(kind, false) {
        tell(names(live, apps(&[]).as_ref(), text), "", text, console)?;
    }
    Ok(())
}

fn line(end: &End, apps: Apps, console: &mut Console) -> anyhow::Result<()> {
    console.out(&format!("{}\t{}\n", end.lead, end.part))?;
    match &end.wanted {
        Wanted::Files => console.out("[files]\n")?,
        Wanted::Directories => console.out("[directories]\n")?,
        Wanted::Command(begin, count) => console.out(&format!("[command]\t{begin}\t{count}\n"))?,
        Wanted::Words(words, live) => {
            tell(words.clone(), &end.lead, &end.part, console)?;
            let app = if live.is_empty() { None } else { apps(&end.places) };
            for live in live {
                tell(names(*live, app.as_ref(), &end.part), &end.lead, &end.part, console)?;
            }
        }
    }
    Ok(())
}

/// Prints the words that begin with a part, each on a line with its meaning. Words that would break the line are left out.
fn tell(words: Vec<(String, String)>, lead: &str, part: &str, console: &mut Console) -> anyhow::Result<()> {
    let is_plain = |word: &str| !word.chars().any(char::is_control);
    for (word, about) in words.iter().filter(|(word, _)| word.starts_with(part) && is_plain(word)) {
        let about: String = about.chars().map(|c| if c.is_control() { ' ' } else { c }).take(100).collect();
        console.out(&format!("{lead}{word}\t{about}\n"))?;
    }
    Ok(())
}

/// The names of a kind; none where they cannot be read. A lane that is written as `lane:NAME`, a user as `user:NAME` and a schedule
/// as `cron:NAME` are named so.
fn names(live: Live, app: Option<&App>, part: &str) -> Vec<(String, String)> {
    let kind = match (live, part.split_once(':')) {
        (Live::Lanes, Some(("lane", _))) => "lane:",
        (Live::Users, Some(("user", _))) => "user:",
        (Live::PausableSchedules, _) => "cron:",
        _ => "",
    };
    let found = plain_names(live, app);
    if kind.is_empty() {
        return found;
    }
    let bare = found.into_iter().filter(|(name, _)| !name.contains(':'));
    bare.map(|(name, about)| (format!("{kind}{name}"), about)).collect()
}

fn plain_names(live: Live, app: Option<&App>) -> Vec<(String, String)> {
    if live == Live::Documents {
        return schemas::documents().iter().map(|shape| (shape.name.to_owned(), shape.about.to_owned())).collect();
    }
    let Some(app) = app else { return Vec::new() };
    let named = |names: BTreeSet<String>| names.into_iter().map(|name| (name, String::new())).collect();
    match live {
        Live::Tasks => tasks(app, false),
        Live::AllTasks => tasks(app, true),
        Live::Users => named(users(app)),
        Live::Lanes => lanes(app).into_iter().collect(),
        Live::Projects => {
            named(config_reload::config(app).projects.keys().filter(|name| *name != "*").cloned().collect())
        }
        Live::Keys => {
            let mut keys = BTreeSet::new();
            each(app, true, &mut |task| keys.extend(task.key.clone()));
            named(keys)
        }
        Live::Schedules | Live::PausableSchedules => {
            let found = cron_list(app).map(|found| found.rows).unwrap_or_default();
            found.iter().map(|row| (row.schedule.name.to_string(), row.schedule.expression.clone())).collect()
        }
        Live::Hooks => hooks(app).unwrap_or_default().into_iter().map(|hook| (hook.name, hook.event)).collect(),
        Live::Documents => Vec::new(),
    }
}

fn each(app: &App, all: bool, take: &mut dyn FnMut(&crate::model::Task)) {
    let filter = Filter { all, ..Filter::default() };
    let mut left = MOST_TASKS;
    let _ = list(app, &filter, &mut |task| {
        if let Ok(task) = task {
            take(&task);
        }
        left -= 1;
        left > 0
    });
}

fn tasks(app: &App, all: bool) -> Vec<(String, String)> {
    let mut found = Vec::new();
    each(app, all, &mut |task| {
        found.push((task.id, format!("{} {}: {}", task.user, task.status(), task.command.join(" "))));
    });
    sort_by_key(&mut found, |(id, _)| std::cmp::Reverse(*id));
    found.into_iter().map(|(id, about)| (id.to_string(), about)).collect()
}

fn users(app: &App) -> BTreeSet<String> {
    let config = config_reload::config(app);
    let mut found: BTreeSet<String> = config.users_known.iter().map(ToString::to_string).collect();
    found.extend(config.projects.values().filter_map(|project| project.user.as_ref().map(ToString::to_string)));
    each(app, true, &mut |task| {
        found.insert(task.user.to_string());
    });
    found.extend(lanes(app).into_keys().filter_map(|lane| Some(lane.strip_prefix("user:")?.to_owned())));
    found.retain(|name| !name.contains('*'));
    found
}

fn lanes(app: &App) -> BTreeMap<String, String> {
    let rows = lane_rows(app, None).map(|lanes| lanes.rows).unwrap_or_default();
    map_of(rows.into_iter().map(|row| (row.name, format!("{} active, {} queued", row.active, row.queue))))
}
