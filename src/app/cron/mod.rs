//! `cron`: schedules, which make a task at each of their moments.

pub mod slots;

use crate::app::error::although;
use crate::app::queue::enqueue::{Caller, name, task_of};
use crate::app::queue::pause::{What, resume};
use crate::app::queue::terms::moments::{duration, positive};
use crate::app::{App, AppError, Code, config_reload, shell_word};
use crate::model::calendar::{Overlap, Pattern, PatternError, Schedule, Zone};
use crate::model::control::{Held, Hold};
use crate::model::name::shortened;
use crate::model::record::{Extra, Version};
use crate::model::sorted::sort_by;
use crate::model::time::format_duration;
use crate::model::{LaneName, Name, ScheduleKey, Task, TaskId, Timer, Timestamp};
use crate::policy::cron::{
    Fill, LONGEST_FILL_MS, MOST_FILLED, contradicts, fills_too_many, is_rarer_than_daily, pause_at,
};
use crate::policy::naming::nearest;
use crate::request::ScheduleRequest;
use crate::request::members::option_of;
use crate::store::{Event, StoreError};
use serde_json::json;
use slots::make_slot;

/// Largest number of slots that `cron next` lists.
pub const MOST_TOLD: usize = 1000;

/// The name of the schedule that is built in: each pass looks for tasks that died, and proves their death before it acts (S2.15).
pub const HEALTH: &str = "health";

/// The longest name of a schedule, in bytes.
const MOST_NAME: usize = 64;

/// A schedule with its last task.
#[derive(Clone, PartialEq, Debug)]
pub struct ScheduleRow {
    /// The schedule.
    pub schedule: Schedule,
    /// The zone of the schedule.
    pub zone: Zone,
    /// The last task of the schedule, if that is still known.
    pub last: Option<Task>,
    /// The pause that keeps it from making tasks now.
    pub pause: Option<Hold>,
}

/// The schedules that exist, and the faults of damaged ones.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Schedules {
    /// The valid ones, by name.
    pub rows: Vec<ScheduleRow>,
    /// A sentence for each damaged one.
    pub broken: Vec<String>,
}

/// The event of a task that a schedule makes.
fn enqueued(task: &Task) -> Event {
    let of = task.schedule.as_ref();
    let data = json!({
        "priority": task.priority.number(),
        "schedule": of.map(|of| of.schedule.as_str()),
        "slot": of.map(|of| of.slot.to_string()),
    });
    Event::of("enqueued", task).in_lane_of(task).with(data)
}

/// Adds a schedule. Its first slot is the first moment after now.
pub fn cron_add(app: &App, new: &ScheduleRequest, caller: &Caller) -> Result<ScheduleRow, AppError> {
    let name = new_name(&new.name)?;
    let zone = zone_of(app, new.zone.as_deref())?;
    let now = app.host.now();
    let pattern = Pattern::to_come(&new.expression, zone.clone(), now).map_err(|error| bad_line(&error))?;
    let fill = fill_of(new.fill.as_deref(), &pattern, now)?;
    let fill_ms = if let Fill::Within(ms) = fill { Some(ms) } else { None };
    if contradicts(new.overlap, fill_ms) {
        return Err(AppError::usage(
            "--fill and --overlap skip contradict each other: one makes missed slots, the other skips slots",
        )
        .hint("leave one of the two out; nothing was added"));
    }
    check_fill(&pattern, fill_ms, now)?;
    let default = if fill_ms.is_some() { Overlap::Queue } else { Overlap::Skip };
    let template = template_of(app, new, caller, now)?;
    let mut schedule = Schedule {
        v: Version,
        name,
        expression: new.expression.trim().to_owned(),
        zone: zone.name().to_owned(),
        overlap: new.overlap.unwrap_or(default),
        fill_ms,
        fill_once: fill == Fill::Once,
        start_within_ms: duration("start-within", new.task.start_within.as_deref())?,
        hold: new.task.hold,
        created_at: now,
        next: pattern.after(now),
        last: None,
        skipped: None,
        missed: None,
        missed_count: 0,
        task: template,
        extra: Extra::default(),
    };
    app.store.prepare()?;
    let key = ScheduleKey::of(&schedule.name);
    let book = app.store.enter_schedules()?;
    book.settle(&key)?;
    let former = app.store.schedule_at(&key)?;
    if former.is_some() && !new.replace {
        return Err(name_taken(&schedule.name));
    }
    schedule.last = former.as_ref().and_then(|former| former.last);
    // The timer first: a timer without a schedule is forgotten, but a schedule without a timer would never make a task.
    if let Some(next) = schedule.next {
        app.store.set_timer(&Timer::of(&key, next))?;
    }
    book.write(&schedule)?;
    note_schedule(app, "schedule_added", &schedule);
    if let Some(old) = former.and_then(|former| former.next).filter(|old| Some(*old) != schedule.next) {
        // A timer that stays is cleared when it fires.
        let _ = app.store.clear_timer(&Timer::of(&key, old));
    }
    drop(book);
    app.store.ring();
    Ok(row_of(app, schedule))
}

/// The members of a request that are about one task.
const OF_ONE_TASK: [&str; 9] = ["at", "in", "after", "key", "after_any", "after_failed", "stable", "group", "reuse"];

/// The task of a schedule, without its number, its moments and its slot.
fn template_of(app: &App, new: &ScheduleRequest, caller: &Caller, now: Timestamp) -> Result<Task, AppError> {
    if let Some(member) = new.task.given().into_iter().find(|member| OF_ONE_TASK.contains(&member.as_str())) {
        let option = option_of(&member);
        return Err(AppError::usage(format!("{option} is about one task, and a schedule makes many")).hint(
            "the cron line says when; --overlap says what happens while the former task is not over; \
             nothing was added",
        ));
    }
    let task = task_of(app, &new.task, caller)?;
    Ok(Task {
        id: TaskId(1),
        created_at: now,
        parent: None,
        waited_for: false,
        no_inherit: false,
        ends_with_parent: false,
        hold: None,
        start_by: None,
        due_at: None,
        ..task
    })
}

/// Every schedule.
pub fn cron_list(app: &App) -> Result<Schedules, AppError> {
    let mut found = Schedules::default();
    for schedule in app.store.schedules()? {
        match schedule {
            Ok(schedule) => found.rows.push(row_of(app, schedule)),
            Err(error @ (StoreError::Corrupt { .. } | StoreError::Newer { .. })) => {
                found.broken.push(error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
    }
    sort_by(&mut found.rows, |a, b| a.schedule.name.cmp(&b.schedule.name));
    Ok(found)
}

/// The next slots of a schedule, or of all of them together, in their order.
pub fn cron_next(app: &App, name: Option<&str>, count: usize) -> Result<Vec<(ScheduleRow, Timestamp)>, AppError> {
    let rows = match name {
        Some(name) => vec![row_of(app, existing_schedule(app, name)?)],
        None => cron_list(app)?.rows,
    };
    let now = app.host.now();
    let mut slots = Vec::new();
    for row in rows {
        let pattern = pattern_of(&row.schedule)?;
        let first = row.schedule.next.map(|next| if next > now { Some(next) } else { pattern.after(now) });
        let coming = std::iter::successors(first.flatten(), |at| pattern.after(*at)).take(count.min(MOST_TOLD));
        slots.extend(coming.map(|at| (row.clone(), at)));
    }
    sort_by(&mut slots, |(a, first), (b, second)| (first, &a.schedule.name).cmp(&(second, &b.schedule.name)));
    slots.truncate(count.min(MOST_TOLD));
    Ok(slots)
}

/// Makes one task of a schedule now, beside those of its slots.
pub fn cron_run(app: &App, name: &str) -> Result<Task, AppError> {
    let key = ScheduleKey::of(&existing_schedule(app, name)?.name);
    let book = app.store.enter_schedules()?;
    book.settle(&key)?;
    let Some(mut schedule) = app.store.schedule_at(&key)? else { return Err(unknown_schedule(app, name)?) };
    let now = app.host.now();
    // The timer makes a pass look at the schedule, should this process be killed in the middle.
    app.store.set_timer(&Timer::of(&key, now))?;
    let made = make_slot(app, &book, &mut schedule, now, now);
    let id = schedule.last.map_or(TaskId(0), |made| made.task);
    if let Err(error) = made {
        return Err(half_made(app, &key, id, error));
    }
    if schedule.next != Some(now) {
        // A timer that stays is cleared when it fires.
        let _ = app.store.clear_timer(&Timer::of(&key, now));
    }
    drop(book);
    Ok(app.find(id).ok().flatten().map_or_else(|| schedule.task_for(id, now, now), |(_, task)| task))
}

/// An error in the middle of a `cron run`; the message says first what was done. Once the schedule names the task, a pass
/// queues it.
fn half_made(app: &App, key: &ScheduleKey, id: TaskId, error: StoreError) -> AppError {
    let is_named = |found: Option<Schedule>| found.and_then(|found| found.last).is_some_and(|made| made.task == id);
    let stands = match (app.store.find(id), app.store.schedule_at(key).map(is_named)) {
        (Ok(Some(_)), _) => format!("{id} is queued"),
        (Ok(None), Ok(false)) => return error.into(),
        (Ok(None), Ok(true)) => format!("{id} is recorded, and the next pass queues it"),
        (Err(_), _) | (_, Err(_)) => format!("it is unknown whether {id} is queued"),
    };
    although(&stands, error.into())
        .hint("check whether the task is queued before you run the schedule again")
        .with_next(["luzia cron list".to_owned(), format!("luzia show {id}")])
}

/// Removes a schedule. The tasks that it made stay.
pub fn cron_rm(app: &App, name: &str) -> Result<Schedule, AppError> {
    let key = ScheduleKey::of(&existing_schedule(app, name)?.name);
    let book = app.store.enter_schedules()?;
    book.settle(&key)?;
    let Some(schedule) = app.store.schedule_at(&key)? else { return Err(unknown_schedule(app, name)?) };
    book.remove(&schedule)?;
    note_schedule(app, "schedule_removed", &schedule);
    // A later schedule of that name is not paused.
    resume(app, &schedule_pause(&schedule))?;
    Ok(schedule)
}

/// The cron line of a schedule.
pub(crate) fn pattern_of(schedule: &Schedule) -> Result<Pattern, StoreError> {
    let corrupt = |why: String| StoreError::Corrupt { thing: format!("schedule {}", schedule.name).into(), why };
    let zone = Zone::parse(&schedule.zone).map_err(|error| corrupt(error.to_string()))?;
    Pattern::parse(&schedule.expression, zone).map_err(|error| corrupt(error.to_string()))
}

fn row_of(app: &App, schedule: Schedule) -> ScheduleRow {
    let zone = Zone::parse(&schedule.zone).unwrap_or_else(|_| Zone::utc());
    // A damaged record is reported elsewhere.
    let last = schedule.last.and_then(|made| app.store.find(made.task).ok().flatten()).map(|(_, task)| task);
    let pause = pause_at(&schedule.name, &config_reload::control(app).holds, app.host.now()).cloned();
    ScheduleRow { schedule, zone, last, pause }
}

/// The meaning of `cron:NAME` for `pause` and `resume`; `None` for another text.
pub fn pausable_schedule(app: &App, text: &str) -> Result<Option<What>, AppError> {
    name_of_schedule(text).map(|name| Ok(schedule_pause(&existing_schedule(app, name)?))).transpose()
}

/// Refuses `cron:NAME` where a lane is meant.
pub fn refuse_schedule(text: &str) -> Result<(), AppError> {
    let Some(name) = name_of_schedule(text) else { return Ok(()) };
    Err(AppError::usage(format!(
        "\"cron:{}\" names a schedule; a user or a lane is expected here",
        shortened(name).escape_debug()
    ))
    .hint("only `luzia pause` and `luzia resume` take a schedule; no lane has the kind `cron`")
    .next("luzia cron list"))
}

fn name_of_schedule(text: &str) -> Option<&str> {
    text.split_once(':')
        .filter(|(kind, name)| *kind == LaneName::SCHEDULE && !name.ends_with('*'))
        .map(|(_, name)| name)
}

fn schedule_pause(schedule: &Schedule) -> What {
    What::Lanes(Held::Lane(Schedule::pause_name(&schedule.name)))
}

fn existing_schedule(app: &App, text: &str) -> Result<Schedule, AppError> {
    let name = schedule_name(text)?;
    match app.store.schedule_at(&ScheduleKey::of(&name))? {
        Some(schedule) => Ok(schedule),
        None => Err(unknown_schedule(app, text)?),
    }
}

fn unknown_schedule(app: &App, text: &str) -> Result<AppError, AppError> {
    let rows = cron_list(app)?.rows;
    let names = rows.iter().map(|row| row.schedule.name.as_str());
    let hint = match nearest(text, names) {
        Some(meant) => format!("did you mean {}? `luzia cron list` shows the schedules", shell_word(meant)),
        None => "`luzia cron list` shows the schedules".to_owned(),
    };
    let message = format!("there is no schedule \"{}\"", shortened(text).escape_debug());
    Ok(AppError::new(Code::ScheduleNotFound, message).hint(hint).next("luzia cron list"))
}

/// The zone of `--tz`, or that of this host.
pub(crate) fn zone_of(app: &App, given: Option<&str>) -> Result<Zone, AppError> {
    let Some(given) = given else { return Ok(local_zone(app)) };
    if Zone::is_difference(given) {
        let way = if given[3..].starts_with('+') { "behind" } else { "ahead of" };
        let shown: String = given.chars().take(20).collect();
        let message = format!(
            "\"{}\" is ambiguous: by the rule of POSIX it is {way} UTC, and most people mean the opposite",
            shown.escape_debug()
        );
        return Err(AppError::usage(message).hint(
            "write a place such as Europe/Berlin; Etc/GMT-2 is two hours ahead of UTC, Etc/GMT+2 two hours behind; nothing was changed",
        ));
    }
    Zone::parse(given).map_err(|error| {
        let hint = match error.near.as_slice() {
            [] => "a zone is named as Europe/Berlin or UTC; nothing was changed".to_owned(),
            near => format!("did you mean {}? Nothing was changed", near.join(", ")),
        };
        AppError::usage(error.to_string()).hint(hint)
    })
}

/// The time zone of this host. A zone without a name that luzia knows counts as UTC, and each answer names the zone.
pub fn local_zone(app: &App) -> Zone {
    (app.zone_name)().and_then(|name| Zone::parse(&name).ok()).unwrap_or_else(Zone::utc)
}

fn note_schedule(app: &App, what: &'static str, schedule: &Schedule) {
    let data = json!({ "schedule": schedule.name.as_str(), "expression": schedule.expression, "tz": schedule.zone });
    app.store.note(&Event::new(what).with(data));
}

fn schedule_name(text: &str) -> Result<Name, AppError> {
    if text == HEALTH {
        return Err(AppError::usage(format!("\"{HEALTH}\" is built in: each pass looks for tasks that died"))
            .hint("`luzia dispatch` makes a pass, `luzia doctor` looks closer; nothing was changed")
            .next("luzia doctor"));
    }
    name("name of a schedule", text)
}

/// The name of a new schedule: a word that a shell, a table and a person take as it is.
fn new_name(text: &str) -> Result<Name, AppError> {
    let found = schedule_name(text)?;
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if text.len() > MOST_NAME || text.starts_with(['-', '.']) || !text.chars().all(is_good) {
        let refusal = AppError::usage(format!("\"{}\" cannot be a name of a schedule", shortened(text).escape_debug()));
        if Pattern::parse(text, Zone::utc()).is_ok() {
            return Err(
                refusal.hint("a name comes before the line: `luzia cron add NAME LINE -- CMD`; nothing was added")
            );
        }
        return Err(refusal.hint(format!(
            "a name has letters, digits, dots, dashes and underscores, begins with a letter, a digit or an underscore, and has \
             {MOST_NAME} bytes at most; nothing was added"
        )));
    }
    Ok(found)
}

/// The missed slots that are made up for. A cron line that is rarer than daily is made up for once.
fn fill_of(given: Option<&str>, pattern: &Pattern, now: Timestamp) -> Result<Fill, AppError> {
    match given {
        Some("once") => Ok(Fill::Once),
        None if is_rarer_than_daily(pattern, now) => Ok(Fill::Once),
        other => Ok(positive("fill", other)?.map_or(Fill::Last, Fill::Within)),
    }
}

/// Refuses to make up for more than a dispatcher that comes back should queue at once.
fn check_fill(pattern: &Pattern, fill_ms: Option<u64>, now: Timestamp) -> Result<(), AppError> {
    let Some(fill_ms) = fill_ms else { return Ok(()) };
    let asked = format_duration(fill_ms);
    if fill_ms > LONGEST_FILL_MS {
        let longest = format_duration(LONGEST_FILL_MS);
        return Err(AppError::usage(format!("--fill is {longest} at most, and {asked} was asked for"))
            .hint("--fill once makes the last missed slot, however long ago it was; nothing was added"));
    }
    if fills_too_many(pattern, fill_ms, now) {
        let message = format!("--fill makes {MOST_FILLED} tasks at most, and this line has more slots within {asked}");
        return Err(AppError::usage(message).hint("a shorter --fill, or a line with fewer slots; nothing was added"));
    }
    Ok(())
}

fn name_taken(name: &Name) -> AppError {
    AppError::new(Code::NameTaken, format!("there is a schedule \"{name}\" already"))
        .hint("--replace puts the new one in its place, `luzia cron rm` takes it away; nothing was changed")
        .next(format!("luzia cron next {}", shell_word(name)))
}

fn bad_line(error: &PatternError) -> AppError {
    AppError::usage(error.to_string()).hint(
        "the fields are minute, hour, day, month, weekday: '30 9 * * mon-fri' is 9:30 on workdays; nothing was added",
    )
}
