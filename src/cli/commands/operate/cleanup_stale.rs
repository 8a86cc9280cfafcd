//! `luzia cleanup-stale`: removes stale locks and recovers dead tasks.

use crate::app::locks::cleanup::{Failed, cleanup_stale};
use crate::app::{App, AppError, Break, Code};
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::lock::{break_json, holder, refusals};
use crate::model::time::parse_duration;
use clap::Args;
use serde_json::{Value, json};

/// Remove locks whose holders are proven dead, and leases that have run out. The lock of a living task or `luzia lock` is
/// never removed, however old. With SECONDS, a lock without a refresh for longer than that counts as run out, if it is a
/// lease without a --ttl of its own, or a lock of another program.
///
/// A task whose supervisor died is recovered: its living processes are ended first, then it is over or back in the queue, as
/// after any interruption. Files that killed processes of luzia left are removed, a conductor directory that missed the end
/// of its task is closed, and every configured project is checked as by `luzia check-project`. Prints how many locks were
/// removed and tasks recovered.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = CLEANUP_STALE_HELP)]
pub struct CleanupStaleArgs {
    /// The age from which a lease is stale, instead of the configured one
    #[arg(value_name = "SECONDS")]
    pub seconds: Option<String>,

    /// Say what would be done, recovered tasks included, and do nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

const CLEANUP_STALE_HELP: &str = "\
Examples:
  luzia cleanup-stale
  luzia cleanup-stale 3600 --dry-run

Exit codes:
  0    done, whether something was removed or not
  1    a conductor directory could not be used; the rest was done
  2    usage; nothing was changed";

/// `luzia cleanup-stale`.
pub fn run(args: &CleanupStaleArgs, app: &App, console: &mut Console) -> Answer {
    let max_age_ms = args.seconds.as_deref().map(parse_duration).transpose();
    let max_age_ms = max_age_ms.map_err(|error| AppError::usage(error.to_string()))?;
    let cleaned = cleanup_stale(app, max_age_ms, args.dry_run)?;
    let released: Vec<&Break> = cleaned.projects.iter().filter_map(|checked| checked.released.as_ref()).collect();
    let count = cleaned.locks.broken.len() + cleaned.recovered.len() + released.len();
    for lock in &cleaned.locks.broken {
        if let Some(line) = crate::app::breaks::stale_line(lock) {
            console.log(&line);
        }
    }
    let document = || {
        json!({
            "removed": count,
            "dry_run": args.dry_run,
            "locks": cleaned.locks.broken.iter().map(break_json).collect::<Vec<_>>(),
            "recovered": cleaned.recovered.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "closed": cleaned.closed.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "released": released.iter().copied().map(break_json).collect::<Vec<_>>(),
            "debris": cleaned.locks.debris,
            "rebuilt": cleaned.locks.rebuilt,
            "skipped": cleaned.locks.skipped,
            "failed": cleaned.failed.iter().map(failed_json).collect::<Vec<_>>(),
        })
    };
    if console.json("cleanup-stale", document)? {
        return Ok(tell_failed(&cleaned.failed, console));
    }
    for lock in &cleaned.locks.broken {
        let why = lock.why.map_or("", crate::model::evidence::Reason::text);
        console.say(&format!("lane \"{}\" of {}: {why}", lock.lane, holder(lock)));
    }
    for lane in &cleaned.locks.rebuilt {
        let what = if args.dry_run { "would be written anew" } else { "was written anew" };
        console.say(&format!("lane \"{lane}\": its sidecar {what}; its holder lives"));
    }
    for id in &cleaned.recovered {
        let what = if args.dry_run { "would be recovered: it has died" } else { "recovered: it had died" };
        console.say(&format!("{id} {what}"));
    }
    for id in &cleaned.closed {
        let what = if args.dry_run { "would be closed" } else { "closed" };
        console.say(&format!("{id} {what}: an error had kept the end out of its meta.json"));
    }
    refusals(&cleaned.projects, console);
    console.out(&format!("{count}\n"))?;
    Ok(tell_failed(&cleaned.failed, console))
}

fn failed_json(failed: &Failed) -> Value {
    json!({ "project": failed.project, "path": failed.path, "why": failed.why })
}

/// Reports the unusable conductor directories, after everything else was done; gives the exit code.
fn tell_failed(failed: &[Failed], console: &mut Console) -> u8 {
    let Some(first) = failed.first() else { return Exit::Done.code() };
    let more = if failed.len() == 1 { String::new() } else { format!("; and {} more", failed.len() - 1) };
    let of = first.project.as_ref().map_or_else(String::new, |project| format!(" of project \"{project}\""));
    let message = format!("the conductor directory \"{}\"{of} was not looked through: {}{more}", first.path, first.why);
    let hint = "everything else was cleaned up; luzia must be able to read and to write the directory and its files";
    console.report(&AppError::new(Code::ConductorDir, message).hint(hint).next("luzia doctor"))
}
