//! `agent hook`: the answer to a call of an agent's hook.
//! `Hook::answer` gathers the facts for the decision, and words the answer. `session_keys` gives the keys of the session of an
//! agent, and `lock_owner` the owner of a lock as that session sees it.

use super::texts::LINES;
use crate::app::capacity::bars;
use crate::app::config_reload::config;
use crate::app::locks::session::release_session;
use crate::app::names::lane_option;
use crate::app::names::shims::{DEFAULT_LANE, Folder};
use crate::app::processes::agent_key;
use crate::app::query::list::locks;
use crate::app::{App, AppError, Kind, lane_word};
use crate::model::time::format_duration;
use crate::model::{AgentKind, HookAnswer, HookCall, HookEvent, LaneName, LockKind, LockRecord, ThingKind};
use crate::policy::agent::session_key;
use crate::policy::hook::{Asked, Decision, Owner, decide, heavy_tools};
use crate::store::{Event, LockView};
use serde_json::json;

/// The most lines that a session gets at its start.
const MOST_LINES: usize = 20;
/// The most lanes of one call that are looked at.
const MOST_LANES: usize = 4;
/// The most busy lanes that are named at the start of a session.
const MOST_BUSY: usize = 5;
/// The longest wait that a sentence proposes: the shells of agents end a call after two minutes.
const WAIT: &str = "90s";

/// A hook of an agent.
pub struct Hook<'a> {
    /// The agent.
    pub agent: AgentKind,
    /// The shims of the account.
    pub shims: Option<&'a Folder>,
    /// Whether a busy lane refuses a command that takes it.
    pub gate: bool,
}

impl Hook<'_> {
    /// The answer to a call. Without a state directory there is nothing to coordinate, but a session begins all the same.
    pub fn answer(&self, app: Option<&App>, call: &HookCall) -> Result<HookAnswer, AppError> {
        let app = match app {
            Some(app) if app.store.has_layout()? => Some(app),
            _ => None,
        };
        match (&call.event, app) {
            (HookEvent::Start, app) => self.start(app, call),
            (HookEvent::Edit(paths), Some(app)) => answer_edit(app, call, paths),
            (HookEvent::Shell(line), Some(app)) => self.shell(app, call, line),
            (HookEvent::End, Some(app)) => answer_end(app, self.agent, call),
            (HookEvent::Edit(_) | HookEvent::Shell(_) | HookEvent::End, None) | (HookEvent::Other, _) => {
                Ok(HookAnswer::Nothing)
            }
        }
    }

    fn start(&self, app: Option<&App>, call: &HookCall) -> Result<HookAnswer, AppError> {
        let mut variables = Vec::new();
        let mut lines: Vec<String> = LINES.map(str::to_owned).to_vec();
        if let Some(session) = &call.session {
            variables.push(("LUZIA_SESSION".to_owned(), session.clone()));
            lines.push(format!("This session is {session} (LUZIA_SESSION)."));
        }
        let shims = self.shims.map(Folder::list).transpose()?.unwrap_or_default();
        if let (Some(folder), false) = (self.shims, shims.is_empty()) {
            variables.push(("PATH".to_owned(), folder.path().to_owned()));
            let tools: Vec<String> = shims.iter().map(|shim| format!("{} ({})", shim.tool, shim.lane)).collect();
            lines.push(format!("Heavy calls of these tools take turns by themselves: {}.", tools.join(", ")));
        }
        if let Some(app) = app {
            let data = json!({ "agent": self.agent.word(), "session": call.session, "cwd": call.cwd });
            app.store.note(&Event::new("session_started").with(data));
            lines.extend(lines_of_tree(app, call)?);
            lines.extend(busy_lines(app)?);
        }
        lines.truncate(MOST_LINES);
        Ok(HookAnswer::Start { context: lines.join("\n"), variables })
    }

    fn shell(&self, app: &App, call: &HookCall, line: &str) -> Result<HookAnswer, AppError> {
        let mut lanes: Vec<LaneName> = Vec::new();
        for tool in heavy_tools(line) {
            let lane = self.shims.map(|shims| shims.lane(&tool)).transpose()?;
            let lane = lane_option(app, lane.as_deref().unwrap_or(DEFAULT_LANE), call.cwd.as_deref())?;
            if !lanes.contains(&lane) && lanes.len() < MOST_LANES {
                lanes.push(lane);
            }
        }
        let mut notes = Vec::new();
        for lane in &lanes {
            let holders = app.holders(lane)?;
            let barred = bars(app, lane, &holders)?.texts(lane, app.host.now()).into_iter().next();
            let decision = match decide_on(app, Asked::Shell { gate: self.gate }, lane, &holders, call) {
                Decision::Nothing if barred.is_some() => {
                    if self.gate {
                        Decision::Deny
                    } else {
                        Decision::Note
                    }
                }
                decided => decided,
            };
            let text = || format!("{}.", barred.unwrap_or_else(|| busy_text(app, lane, &holders)));
            match decision {
                Decision::Nothing => {}
                Decision::Note => notes.push(text()),
                Decision::Deny => return Ok(HookAnswer::Deny(format!("{} {}", text(), way_on(lane, &holders)))),
            }
        }
        Ok(all_notes(&notes))
    }
}

fn all_notes(notes: &[String]) -> HookAnswer {
    if notes.is_empty() { HookAnswer::Nothing } else { HookAnswer::Note(notes.join("\n")) }
}

fn decide_on(app: &App, asked: Asked, lane: &LaneName, holders: &[LockView], call: &HookCall) -> Decision {
    if !holders.iter().any(|view| view.verdict.is_live()) {
        return Decision::Nothing;
    }
    let keys = session_keys(app, call);
    let owner = |view: &LockView| lock_owner(app, view.record(), &keys, call);
    let seen: Vec<_> = holders.iter().map(|view| (owner(view), view.verdict.clone())).collect();
    decide(asked, config(app).limit(lane), &seen)
}

fn answer_edit(app: &App, call: &HookCall, paths: &[String]) -> Result<HookAnswer, AppError> {
    let mut seen: Vec<LaneName> = Vec::new();
    let mut notes = Vec::new();
    for path in paths {
        let Some(tree) = app.surroundings.tree_of_file(path, call.cwd.as_deref())? else { continue };
        if seen.contains(&tree.lane) {
            continue;
        }
        let holders = app.holders(&tree.lane)?;
        let text = || {
            let tree_path = tree.path.as_deref().unwrap_or_default();
            let held = held_text(app, &tree.lane, &holders);
            format!("{path} is in the work tree {tree_path}. {held} {}", way_on(&tree.lane, &holders))
        };
        match decide_on(app, Asked::Edit, &tree.lane, &holders, call) {
            Decision::Nothing => {}
            Decision::Note => notes.push(text()),
            Decision::Deny => return Ok(HookAnswer::Deny(text())),
        }
        seen.push(tree.lane);
    }
    Ok(all_notes(&notes))
}

/// Gives the leases of the session back. Its keeper would do so when the agent's process ends.
fn answer_end(app: &App, agent: AgentKind, call: &HookCall) -> Result<HookAnswer, AppError> {
    let mut released = 0;
    for key in session_keys(app, call) {
        let (_, given) = release_session(app, Some(&key), None)?;
        released += given.iter().filter(|one| one.lock.is_some()).count();
    }
    let data = json!({ "agent": agent.word(), "session": call.session, "released": released });
    app.store.note(&Event::new("session_ended").with(data));
    Ok(HookAnswer::Nothing)
}

/// Records that a hook failed, if there is a state directory for the record.
pub fn note_failed_hook(app: &App, agent: &str, why: &str) {
    if app.store.has_layout().unwrap_or(false) {
        let data = json!({ "agent": agent });
        app.store.note(&Event::new("hook_failed").saying(why).with(data));
    }
}

/// The work tree of the session, and the holder of its lane.
fn lines_of_tree(app: &App, call: &HookCall) -> Result<Vec<String>, AppError> {
    let Some(cwd) = &call.cwd else { return Ok(Vec::new()) };
    let tree = match app.surroundings.name(ThingKind::Tree, Some(cwd), None) {
        Err(error) if error.kind() == Kind::NotFound => return Ok(Vec::new()),
        found => found?,
    };
    let path = tree.path.as_deref().unwrap_or_default();
    let holders = app.holders(&tree.lane)?;
    let mut lines = vec![format!("The lane of the work tree {path} is {} (`-l @tree`).", tree.lane)];
    if holders.iter().any(|view| view.verdict.is_live()) {
        lines.push(held_text(app, &tree.lane, &holders));
    }
    Ok(lines)
}

/// Lanes without a free slot, those of users and of work trees left out.
fn busy_lines(app: &App) -> Result<Vec<String>, AppError> {
    let mut by_lane: std::collections::BTreeMap<String, (LaneName, Vec<LockView>)> = std::collections::BTreeMap::new();
    for view in locks(app)? {
        let Some(lane) = view.lane.clone().filter(|lane| !lane.is_user() && lane.kind() != "tree") else {
            continue;
        };
        if view.verdict.is_live() {
            by_lane.entry(lane.to_string()).or_insert_with(|| (lane, Vec::new())).1.push(view);
        }
    }
    let is_full = |lane: &LaneName, views: &[LockView]| views.len() >= config(app).limit(lane) as usize;
    let full = by_lane.into_values().filter(|(lane, views)| is_full(lane, views));
    Ok(full.take(MOST_BUSY).map(|(lane, views)| format!("{}.", busy_text(app, &lane, &views))).collect())
}

/// `Lane build: 2 of 2 slots busy, by task_7 for 3m12s`.
fn busy_text(app: &App, lane: &LaneName, holders: &[LockView]) -> String {
    let living: Vec<&LockView> = holders.iter().filter(|view| view.verdict.is_live()).collect();
    let first = living.first().map(|view| holder_text(app, view)).unwrap_or_default();
    format!("Lane {lane}: {} of {} slots busy, {first}", living.len(), config(app).limit(lane))
}

/// The holder of a lane, the moment of its grant, and the evidence for its life.
fn held_text(app: &App, lane: &LaneName, holders: &[LockView]) -> String {
    let Some(view) = holders.iter().find(|view| view.verdict.is_live()) else {
        return format!("Lane {lane} is free.");
    };
    let why = view.verdict.why().text();
    format!("Lane {lane} is held {}: {why}.", holder_text(app, view))
}

/// `by task_7 "cargo test" of codex for 3m12s`.
fn holder_text(app: &App, view: &LockView) -> String {
    let record = view.record();
    let name = record.and_then(LockRecord::shown).unwrap_or_else(|| "an unknown holder".to_owned());
    let since = record.and_then(|record| record.acquired_at);
    let age = since.map_or(view.age_ms, |at| app.host.now().saturating_ms_since(at));
    format!("by {name} for {}", format_duration(age))
}

/// The command that waits until a lane is free. It ends no work (P10).
fn way_on(lane: &LaneName, holders: &[LockView]) -> String {
    let living = holders.iter().find(|view| view.verdict.is_live());
    let command = match living.and_then(LockView::task) {
        Some(task) => format!("luzia wait {task} --timeout {WAIT}"),
        None => format!("luzia lock -l {} --wait {WAIT} -- true", lane_word(lane)),
    };
    format!("This command waits for it: {command}")
}

/// The keys of the session of a call. The agent gives one to its hook, with and without its subagent. The environment gives
/// another one, and the process of the agent is the last. A command of an agent that gives it no variable has the last one only.
pub(super) fn session_keys(app: &App, call: &HookCall) -> Vec<String> {
    let of_environment = app.agent.as_ref().and_then(|agent| agent.session.clone());
    let of_subagent = call.session.as_ref().map(|session| session_key(session, call.subagent.as_deref()));
    let mut keys: Vec<String> = Vec::new();
    for key in [of_subagent, call.session.clone(), of_environment, agent_key(app)].into_iter().flatten() {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// The owner of a lock, from the view of the session with these keys.
pub(super) fn lock_owner(app: &App, record: Option<&LockRecord>, keys: &[String], call: &HookCall) -> Owner {
    let Some(record) = record else { return Owner::Unknown };
    match &record.who.session {
        Some(session) if keys.contains(session) => return Owner::Mine,
        // A subagent works for its session.
        Some(session) if call.subagent.is_none() && is_below_session(session, call) => return Owner::Mine,
        Some(_) => return Owner::Other,
        None => {}
    }
    // The agent runs below the command that holds the lane.
    if app.host.is_below(record) {
        return Owner::Mine;
    }
    match record.kind {
        LockKind::Task | LockKind::Process | LockKind::Session => Owner::Other,
        LockKind::Lease | LockKind::Wait | LockKind::Foreign => Owner::Unknown,
    }
}

/// Whether a key is that of a subagent of the session of a call.
fn is_below_session(key: &str, call: &HookCall) -> bool {
    let above = call.session.as_ref().and_then(|session| key.strip_prefix(session.as_str()));
    above.is_some_and(|rest| rest.starts_with('/'))
}
