//! The page of `luzia show`: words and lengths of time, and the next command for a person.

use crate::app::hooks::lacks_last_end;
use crate::app::query::details::Details;
use crate::app::query::list::Shown;
use crate::app::steps::last_beat;
use crate::app::waits::{memory, open_wait};
use crate::app::{App, AppError};
use crate::cli::commands::look::events;
use crate::cli::output::console::Console;
use crate::cli::output::escape::escape_controls;
use crate::cli::output::style::Tone;
use crate::cli::output::task::tone;
use crate::cli::output::{brief, json, messages};
use crate::model::task::{Terms, Wanted};
use crate::model::time::format_duration;
use crate::model::{Status, Task, TaskId, Timestamp};

/// Width of the names of the fields.
const WIDTH: usize = 13;
/// Length up to which a prompt is shown.
const MOST_PROMPT: usize = 2000;

/// The page. It ends with a newline.
pub(super) fn page(app: &App, shown: &Shown, details: &Details, console: &Console) -> Result<String, AppError> {
    let mut page = Page { text: String::new(), console };
    let Shown { task, .. } = shown;
    page.status(shown);
    page.request(task);
    page.times(app, task);
    let waited_for = details.waited_for.iter();
    page.list("Waited for", waited_for.map(|(holder, lane)| format!("{holder}, which had lane {lane}")));
    if let Some(outcome) = task.outcome() {
        page.field("Result", &outcome.summary);
        page.maybe("Error", outcome.error.as_deref().filter(|error| *error != outcome.summary));
        page.maybe("Cancelled by", outcome.cancelled_by.as_deref());
    }
    let pid = shown.started.as_ref().filter(|started| !started.is_elsewhere());
    let pid = pid.map(|started| format!("process {}", started.supervisor.pid));
    page.maybe("Supervisor", pid.as_deref());
    if let Some(beat) = last_beat(app, task)? {
        let note = beat.note.map(|note| format!(": {note}")).unwrap_or_default();
        page.field("Last beat", &format!("{} ago{note}", brief::length(page.console.now.ms_since(beat.at))));
    }
    page.places(task, details);
    page.memory(app, task)?;
    page.prompt(task);
    page.last_command(task, details);
    page.events(task, details);
    Ok(page.text)
}

/// Number of times that the time of an open wait has run out.
fn times_out(count: u32) -> String {
    if count == 1 { "once; it waits again".to_owned() } else { format!("{count} times; it waits again") }
}

struct Page<'a, 'w> {
    text: String,
    console: &'a Console<'w>,
}

impl Page<'_, '_> {
    fn line(&mut self, name: &str, value: &str, tone: Tone) {
        let style = self.console.streams.out_style;
        let head = if name.is_empty() { String::new() } else { format!("{name}:") };
        let value = escape_controls(value);
        self.text += &format!("{head:WIDTH$} {}\n", style.paint(tone, &value));
    }

    fn field(&mut self, name: &str, value: &str) {
        self.line(name, value, Tone::Plain);
    }

    fn maybe(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.field(name, value);
        }
    }

    /// Lines below one name.
    fn list(&mut self, name: &str, lines: impl IntoIterator<Item = String>) {
        let mut name = name;
        for line in lines {
            self.field(name, &line);
            name = "";
        }
    }

    fn moment(&mut self, name: &str, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        let away = self.console.now.ms_since(at);
        let far = brief::length(away.saturating_abs());
        self.field(name, &if away < 0 { format!("{at} (in {far})") } else { format!("{at} ({far} ago)") });
    }

    fn status(&mut self, shown: &Shown) {
        let (task, now) = (&shown.task, self.console.now);
        self.field("Task", &task.id.to_string());
        let ran = brief::ran_ms(task, now).map(brief::length);
        let more = match (task.outcome(), ran) {
            (Some(outcome), Some(ran)) => {
                let how = brief::outcome(outcome, None);
                let how = if how.is_empty() { String::new() } else { format!(", {how}") };
                format!(" after {ran}{how}")
            }
            (None, Some(ran)) => format!(" for {ran}"),
            (_, None) => String::new(),
        };
        self.line("Status", &format!("{}{more}", task.status()), tone(task.status()));
        if let Some(obstacle) = &shown.obstacle {
            let (text, _) = messages::obstacle_text(obstacle, task, now);
            self.field("Reason", &format!("{text} ({})", obstacle.word()));
        } else if let Some(stuck) = shown.stuck {
            let (word, text, next) = messages::stuck_text(stuck);
            self.field("Reason", &format!("{text} ({word}); try: {next}"));
        }
    }

    fn request(&mut self, task: &Task) {
        self.field("Command", &brief::command(&task.command));
        self.field("Directory", &task.cwd);
        self.maybe("Label", task.label.as_deref());
        self.field("User", task.user.as_str());
        self.maybe("Project", task.project.as_ref().map(|name| name.as_str()));
        self.field("Lanes", &json::task_lanes(task).join(", "));
        let (number, tier) = (task.priority.number(), task.priority.tier().word());
        self.field("Priority", &format!("{number} ({tier})"));
        self.maybe("Key", task.key.as_deref());
        let agent = task.agent.as_ref().map(|agent| match &agent.session {
            Some(session) => format!("{}, session {session}", agent.name),
            None => agent.name.clone(),
        });
        self.maybe("Agent", agent.as_deref());
        self.maybe("Runs as", task.run_as.as_deref());
        let schedule = task.schedule.as_ref().map(|of| format!("{}, for {}", of.schedule, of.slot));
        self.maybe("Schedule", schedule.as_deref());
        self.maybe("Parent", task.parent.map(|parent| parent.to_string()).as_deref());
        if !task.comes_after.is_empty() {
            let how = |id: &TaskId| match task.wanted(*id) {
                Wanted::Completed => id.to_string(),
                Wanted::Any => format!("{id} (however it ends)"),
                Wanted::Failed => format!("{id} (if it fails)"),
            };
            self.field("Comes after", &task.comes_after.iter().map(how).collect::<Vec<_>>().join(", "));
        }
        let group = task.group.as_ref().map(|group| format!("{}, since {}", group.name, group.first));
        self.maybe("Group", group.as_deref());
        self.terms(&task.terms);
    }

    fn terms(&mut self, terms: &Terms) {
        self.maybe("Work tree", terms.subject.as_deref().map(|digest| digest.get(..16).unwrap_or(digest)));
        let moved = terms.subject_changed.map(|is_changed| match is_changed {
            true => "it changed after the task was queued",
            false => "it is the same as when the task was queued",
        });
        self.maybe("Then", moved);
        self.maybe("On finish", terms.on_finish.as_deref());
        self.maybe("Warn after", terms.warn_after_ms.map(format_duration).as_deref());
        self.maybe("On wait", terms.on_wait.as_deref());
        self.maybe("Reuses", terms.reuses.map(|id| format!("the variables of {id}")).as_deref());
    }

    fn times(&mut self, app: &App, task: &Task) {
        let now = self.console.now;
        self.moment("Queued", Some(task.created_at));
        self.moment("Due", task.due_at);
        self.moment("Start by", task.start_by.filter(|_| task.status() == Status::Pending));
        self.moment("Started", task.last_start.as_ref().map(|start| start.at));
        self.moment("Ended", task.outcome().map(|outcome| outcome.completed_at));
        self.maybe("Waited", brief::waited_ms(task, now).map(brief::length).as_deref());
        self.maybe("Ran", brief::ran_ms(task, now).map(brief::length).as_deref());
        let grace = format_duration(task.grace_ms);
        if let Some(limit) = task.timeout_ms {
            self.field("Time limit", &format!("{}, then SIGTERM, and SIGKILL {grace} later", format_duration(limit)));
        }
        let attempts = u64::from(task.retries) + 1;
        let starts =
            if task.starts == 1 { "started once".to_owned() } else { format!("started {} times", task.starts) };
        self.field("Attempt", &format!("{} of {attempts}, {starts}", task.attempt()));
        self.list(
            "Ended before",
            task.terms
                .earlier
                .iter()
                .map(|earlier| format!("{}  {}, {}", earlier.completed_at, earlier.end.status(), earlier.summary)),
        );
        if task.status() == Status::Waiting
            && let Ok(Some(open)) = open_wait(app, task.id)
        {
            self.field("Waits for", &format!("{} {}, {}", open.kind, open.event, brief::until(&open, now)));
            self.maybe("Ran out", (open.timeouts > 0).then(|| times_out(open.timeouts)).as_deref());
        }
    }

    fn places(&mut self, task: &Task, details: &Details) {
        self.list("Logs", details.logs.iter().map(|(_, path, bytes)| format!("{path} ({bytes} bytes)")));
        self.maybe("Folder", details.folder.as_deref());
        self.list("Locks", details.locks.iter().map(|(lane, path)| format!("{lane}  {path}")));
        let lock = task.last_start.as_ref().map(|start| format!("{}, fence {}", start.lock_id, start.fence));
        self.maybe("Lock id", lock.as_deref());
        let slots = task.last_start.iter().flat_map(|start| &start.slots);
        self.list("Slots", slots.map(|(lane, value)| format!("{lane}  {value}")));
    }

    fn memory(&mut self, app: &App, task: &Task) -> Result<(), AppError> {
        let Some(memory) = memory(app, task.id)? else { return Ok(()) };
        let vars = memory.vars.unwrap_or_default();
        self.list(
            "Variables",
            vars.iter().map(|(name, value)| match value {
                serde_json::Value::String(text) => format!("{name}={text}"),
                other => format!("{name}={other}"),
            }),
        );
        let step = |(step, is_done): &(crate::app::steps::Step, bool)| {
            let state = if *is_done { "" } else { ", not done" };
            format!("{}: exit {}, {}{state}", step.name, step.exit_code, format_duration(step.ran_ms))
        };
        self.list("Steps", memory.steps.iter().map(step));
        let wait = |wait: &crate::app::steps::DoneWait| {
            let how = if wait.is_timed_out { "its time ran out" } else { "over" };
            format!("{} {}: {how} at {}", wait.kind, wait.event, wait.at)
        };
        self.list("Waits", memory.waits.iter().map(wait));
        self.field("Mail", &format!("{} events", memory.mail));
        let command = |command: &crate::app::steps::LateCommand| {
            let ended = match &command.ended {
                Some(ended) => ended,
                None if command.is_lost => "it may not have run to its end, and is not run again",
                None => "no end is known",
            };
            format!("of wait {}, begun {}: {ended}", command.position + 1, command.begun_at)
        };
        self.list("Timeout command", memory.commands.iter().map(command));
        Ok(())
    }

    fn prompt(&mut self, task: &Task) {
        let Some(prompt) = &task.stdin else { return };
        let mut lines: Vec<String> =
            prompt.chars().take(MOST_PROMPT).collect::<String>().lines().map(str::to_owned).collect();
        if prompt.chars().nth(MOST_PROMPT).is_some() {
            lines.push(format!("… {} bytes in all; luzia show {} --json has them", prompt.len(), task.id));
        }
        self.list("Prompt", lines);
    }

    /// Reports that the end of a command of `--on-finish` is not known.
    fn last_command(&mut self, task: &Task, details: &Details) {
        if lacks_last_end(task, &details.events) {
            self.field("On finish", "no end is known: it runs now, or a kill has cut it short; it is not run again");
        }
    }

    fn events(&mut self, task: &Task, details: &Details) {
        if details.events.is_empty() {
            return;
        }
        self.text += "Events:\n";
        if details.earlier_events > 0 {
            self.text += &format!("  … {} earlier: luzia events {}\n", details.earlier_events, task.id);
        }
        for event in &details.events {
            let text = events::without_task(event);
            self.text += &format!("  {}  {}\n", event.at, escape_controls(text.trim_end()));
        }
    }
}
