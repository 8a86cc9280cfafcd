//! `lock`, `acquire`, `renew`, `release`, `check`, `list-locks`, `cleanup-stale` and `check-project`.

use super::Account;
use crate::app::acquire::{Lease, Leased};
use crate::app::check_project::Checked;
use crate::app::{App, Break, GivenBack, LockView, lock_state};
use crate::cli::args::{
    AcquireArgs, CheckArgs, CheckProjectArgs, CleanupStaleArgs, ListLocksArgs, LockArgs, LockState, ReleaseArgs,
    RenewArgs,
};
use crate::cli::console::{Answer, Console};
use crate::cli::exit::Exit;
use crate::cli::style::Tone;
use crate::cli::table::{Column, Table};
use crate::cli::{door, json, words};
use crate::model::time::format_duration;
use crate::model::{LaneName, TaskId};
use serde_json::{Value, json};

/// `luzia lock`.
pub fn lock(args: &LockArgs, app: &App, account: Account, console: &mut Console) -> Answer {
    let lane = match (&args.lane, &args.user) {
        (Some(lane), _) => crate::app::enqueue::lane_option(lane)?,
        (None, user) => {
            let user = user.clone().map_or_else(account, Ok)?;
            LaneName::user(&crate::app::enqueue::name("user", &user)?)
        }
    };
    let wait_ms = if args.nonblock { Some(0) } else { door::duration("wait", args.wait.as_deref())? };
    let ran = app.lock(&lane, wait_ms, &args.command, &mut |line| console.log(line));
    match ran {
        Ok(ran) => {
            if ran.lane == Some(GivenBack::Kept) {
                console.hint(&format!("a process that the command left behind keeps lane \"{lane}\" until it ends"));
            }
            Ok(words::end_code(ran.end))
        }
        Err(error) if error.0.code == "LOCK_HELD" && args.conflict_exit_code.is_some() => {
            for line in &error.0.log {
                console.log(line);
            }
            let code = args.conflict_exit_code.unwrap_or(Exit::Busy.code());
            Ok(console.report(&words::report_of(&error).exit_with(code)))
        }
        Err(error) => Err(error.into()),
    }
}

/// `luzia acquire`.
pub fn acquire(args: &AcquireArgs, app: &App, console: &mut Console) -> Answer {
    let lease = Lease {
        lane: app.lane(&args.target)?,
        holder: args.task.clone(),
        wait_ms: door::duration("timeout", args.timeout.as_deref())?.unwrap_or(0),
        ttl_ms: door::duration("ttl", args.ttl.as_deref())?,
        pid: args.pid,
        durable: args.durable,
    };
    let Leased { grant, refreshed, log } = match app.acquire(&lease) {
        Err(error) if error.0.code == "LOCK_HELD" && console.is_json() => {
            // Scripts ask this document whether they have the lane; the error follows on stderr.
            let value = json!({ "acquired": false, "lock_id": null, "fence": null, "lane": lease.lane.to_string() });
            console.document(&json::single("acquire", value))?;
            return Err(error.into());
        }
        other => other?,
    };
    for line in &log {
        console.log(line);
    }
    if console.is_json() {
        let value = json!({
            "acquired": true,
            "lock_id": grant.lock_id.0,
            "fence": grant.fence.0,
            "lane": grant.lane.to_string(),
            "refreshed": refreshed,
        });
        console.document(&json::single("acquire", value))?;
    } else {
        console.out(&format!("{}\n", grant.lock_id))?;
    }
    Ok(Exit::Done.code())
}

/// `luzia renew`.
pub fn renew(args: &RenewArgs, app: &App, console: &mut Console) -> Answer {
    let grant = app.renew(&app.lane(&args.target)?, &args.lock_id)?;
    if console.is_json() {
        let value = json!({ "renewed": true, "lock_id": grant.lock_id.0, "fence": grant.fence.0, "lane": grant.lane.to_string() });
        console.document(&json::single("renew", value))?;
    } else {
        console.say(&format!("lane \"{}\" renewed", grant.lane));
    }
    Ok(Exit::Done.code())
}

/// `luzia release`.
pub fn release(args: &ReleaseArgs, app: &App, console: &mut Console) -> Answer {
    let lane = app.lane(&args.target)?;
    let given = app.release(&lane, args.task.as_deref(), args.lock_id.as_deref(), args.force)?;
    for line in &given.log {
        console.log(line);
    }
    if console.is_json() {
        let value = json!({
            "lane": lane.to_string(),
            "released": given.lock.is_some(),
            "kept_by": given.kept_by,
            "lock": given.lock.as_ref().map(break_json),
        });
        console.document(&json::single("release", value))?;
    } else {
        let told = match (&given.lock, &given.kept_by) {
            (Some(lock), _) => format!("lane \"{lane}\" released, it was held by {}", holder(lock)),
            (None, Some(keeper)) => {
                format!("lane \"{lane}\" stays with {keeper}, inside which this runs, until that ends")
            }
            (None, None) => format!("lane \"{lane}\" was free"),
        };
        console.say(&told);
    }
    Ok(Exit::Done.code())
}

fn holder(lock: &Break) -> &str {
    lock.holder.as_deref().unwrap_or("an unknown holder")
}

fn break_json(lock: &Break) -> Value {
    json!({
        "lane": lock.lane.to_string(),
        "slot": lock.slot,
        "lock_id": lock.lock_id,
        "holder": lock.holder,
        "why": lock.why.map(crate::model::judgement::Reason::text),
        "age_ms": lock.age_ms,
    })
}

/// `luzia check`.
pub fn check(args: &CheckArgs, app: &App, console: &mut Console) -> Answer {
    let checked = app.check(&app.lane(&args.target)?)?;
    let (is_free, first) = (checked.is_free(), checked.living().next());
    if console.is_json() {
        let record = first.and_then(LockView::record);
        let execution = first.and_then(LockView::holder).map(execution_id);
        let value = json!({
            "lane": checked.lane.to_string(),
            "free": is_free,
            "limit": if checked.limit == u32::MAX { Value::Null } else { checked.limit.into() },
            "activeExecutionId": execution,
            "executionLockedAt": record.and_then(|record| record.refreshed_at.or(record.acquired_at)).map(|at| at.to_string()),
            "locks": checked.holders.iter().map(lock_json).collect::<Vec<_>>(),
        });
        console.document(&json::single("check", value))?;
    } else {
        let held = format!(": {} of {} slots held", checked.living().count(), checked.limit);
        let slots = Some(held).filter(|_| (2..u32::MAX).contains(&checked.limit));
        match (is_free, slots) {
            (true, slots) => console.say(&format!("lane \"{}\" is free{}", checked.lane, slots.unwrap_or_default())),
            (false, Some(slots)) => console.say(&format!("lane \"{}\" is full{slots}", checked.lane)),
            (false, None) => {}
        }
        for view in checked.living().filter(|_| !is_free) {
            let holder = app.holder_of(view);
            console.say(&format!("lane \"{}\" is held by {}", checked.lane, words::holder_text(&holder, console.now)));
        }
    }
    Ok(if is_free { Exit::Done.code() } else { Exit::Busy.code() })
}

/// The number of `task_<n>`, or the name given to `acquire` (S0.3).
fn execution_id(holder: &str) -> Value {
    TaskId::parse(holder).map_or_else(|| holder.into(), |id| id.0.into())
}

/// One lock as JSON: the members of S3.28, and those of S0.27 beside them.
pub fn lock_json(view: &LockView) -> Value {
    let record = view.record();
    let lane = view.lane.as_ref();
    let time = |at: Option<crate::model::Timestamp>| at.map(|at| at.to_string());
    let refreshed = record.and_then(|record| record.refreshed_at.or(record.acquired_at));
    json!({
        "user": lane.filter(|lane| lane.is_user()).map(|lane| lane.key().as_str()),
        "lane": view.lane_name(),
        "slot": view.slot,
        "lock_id": record.and_then(|record| record.lock_id.as_deref()),
        "task_id": record.and_then(|record| record.task_id.as_deref()),
        "fence": record.and_then(|record| record.fence).map(|fence| fence.0),
        "kind": record.map(|record| record.kind.word()),
        "acquired_at": time(record.and_then(|record| record.acquired_at)),
        "refreshed_at": time(refreshed),
        "expires_at": time(record.and_then(|record| record.expires_at)),
        "acquired_by_pid": record.and_then(|record| record.pid),
        "state": lock_state(&view.verdict),
        "evidence": words::reason_of(&view.verdict).text(),
        "age_ms": view.age_ms,
        "threadId": lane.filter(|lane| lane.kind() == "thread").map(|lane| lane.key().as_str()),
        "activeExecutionId": view.holder().map(execution_id),
        "executionLockedAt": time(refreshed),
        "lockMinutes": view.age_ms / 60_000,
        "owner": view.holder(),
    })
}

/// `luzia list-locks`.
pub fn list_locks(args: &ListLocksArgs, app: &App, console: &mut Console) -> Answer {
    let wanted: Vec<&str> = args.states.iter().map(|state: &LockState| state.word()).collect();
    let is_wanted = |view: &LockView| wanted.is_empty() || wanted.contains(&lock_state(&view.verdict));
    let views: Vec<LockView> = app.locks()?.into_iter().filter(is_wanted).collect();
    if console.is_json() {
        console.items("list-locks", views.iter().map(lock_json))?;
        return Ok(Exit::Done.code());
    }
    let mut table = Table::new(&[
        Column::new("LANE"),
        Column::new("STATE"),
        Column::new("HOLDER"),
        Column::new("AGE"),
        Column::new("LOCK ID"),
        Column::wide("FENCE"),
        Column::wide("PID"),
        Column::wide("KIND"),
        Column::wide("EXPIRES"),
        Column::new("EVIDENCE"),
    ]);
    for view in &views {
        table.toned_row(lock_row(view));
    }
    console.table(&table)?;
    Ok(Exit::Done.code())
}

fn lock_row(view: &LockView) -> Vec<(String, Tone)> {
    let record = view.record();
    let state = lock_state(&view.verdict);
    let tone = match state {
        "held" => Tone::Good,
        "stale" | "orphan" | "overdue" => Tone::Warn,
        _ => Tone::Bad,
    };
    let plain = |text: Option<String>| (text.unwrap_or_default(), Tone::Plain);
    vec![
        plain(Some(view.lane_name())),
        (state.to_owned(), tone),
        plain(view.holder().map(str::to_owned)),
        plain(Some(format_duration(view.age_ms))),
        plain(record.and_then(|record| record.lock_id.clone())),
        plain(record.and_then(|record| record.fence).map(|fence| fence.to_string())),
        plain(record.and_then(|record| record.pid).map(|pid| pid.to_string())),
        plain(record.map(|record| record.kind.word().to_owned())),
        plain(record.and_then(|record| record.expires_at).map(|at| at.to_string())),
        plain(Some(words::reason_of(&view.verdict).text().to_owned())),
    ]
}

/// `luzia cleanup-stale`.
pub fn cleanup_stale(args: &CleanupStaleArgs, app: &App, console: &mut Console) -> Answer {
    let max_age_ms = args.seconds.as_deref().map(door::seconds).transpose()?;
    let cleaned = app.cleanup_stale(max_age_ms, args.dry_run)?;
    let released: Vec<&Break> = cleaned.projects.iter().filter_map(|checked| checked.released.as_ref()).collect();
    let count = cleaned.locks.broken.len() + cleaned.recovered.len() + released.len();
    for lock in &cleaned.locks.broken {
        if let Some(line) = crate::app::cleanup::stale_line(lock) {
            console.log(&line);
        }
    }
    if console.is_json() {
        let value = json!({
            "removed": count,
            "dry_run": args.dry_run,
            "locks": cleaned.locks.broken.iter().map(break_json).collect::<Vec<_>>(),
            "recovered": cleaned.recovered.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "closed": cleaned.closed.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "released": released.into_iter().map(break_json).collect::<Vec<_>>(),
            "debris": cleaned.locks.debris,
            "skipped": cleaned.locks.skipped,
        });
        console.document(&json::single("cleanup-stale", value))?;
        return Ok(Exit::Done.code());
    }
    for lock in &cleaned.locks.broken {
        let why = lock.why.map_or("", crate::model::judgement::Reason::text);
        console.say(&format!("lane \"{}\" of {}: {why}", lock.lane, holder(lock)));
    }
    for id in &cleaned.recovered {
        let what = if args.dry_run { "would be recovered: it has died" } else { "recovered: it had died" };
        console.say(&format!("{id} {what}"));
    }
    for id in &cleaned.closed {
        let what = if args.dry_run { "would be closed" } else { "closed" };
        console.say(&format!("{id} {what}: an error had kept its meta.json from telling its end"));
    }
    refusals(&cleaned.projects, console);
    console.out(&format!("{count}\n"))?;
    Ok(Exit::Done.code())
}

/// `luzia check-project`.
pub fn check_project(args: &CheckProjectArgs, app: &App, console: &mut Console) -> Answer {
    let checked = app.check_project(&args.project, args.dry_run)?;
    let released: Vec<&Break> = checked.iter().filter_map(|checked| checked.released.as_ref()).collect();
    if console.is_json() {
        let refused: Vec<Value> = checked
            .iter()
            .filter_map(|checked| Some(json!({ "dir": checked.dir, "why": checked.refused.as_ref()? })))
            .collect();
        let value = json!({
            "project": args.project,
            "dry_run": args.dry_run,
            "released": released.iter().map(|lock| break_json(lock)).collect::<Vec<_>>(),
            "refused": refused,
        });
        console.document(&json::single("check-project", value))?;
        return Ok(Exit::Done.code());
    }
    let done = if args.dry_run { "would be released" } else { "released" };
    for lock in &released {
        console.say(&format!("lane \"{}\" {done}, {} is over", lock.lane, holder(lock)));
    }
    refusals(&checked, console);
    console.out(&format!("{}\n", released.len()))?;
    Ok(Exit::Done.code())
}

fn refusals(checked: &[Checked], console: &mut Console) {
    for claim in checked {
        if let Some(why) = &claim.refused {
            console.say(&format!("refused: {}/{}: {why}", claim.project, claim.dir));
        }
    }
}
