//! The place: state directory, configuration, file system, format and modes.

use crate::app::agents::setup::Named;
use crate::app::capacity::old_make;
use crate::app::config_reload::follow_control;
use crate::app::doctor::{Around, Finding, Found, Level, MOST_TOLD, add, tell};
use crate::app::{App, AppError, config_reload, shell_word};
use crate::model::config::Contradiction;
use crate::store::{FORMAT_VERSION, LockIndex, Moded, Purpose};

/// Below this many free bytes, work may fail soon.
const FEW_BYTES: u64 = 64 * 1024 * 1024;
/// Below this many free bytes, the next record may not fit.
const NO_BYTES: u64 = 1024 * 1024;
/// Below this many free inodes, work may fail soon.
const FEW_INODES: u64 = 1000;
/// Below this many free inodes, the next task may have no room for its files.
const NO_INODES: u64 = 50;

/// The folders in which services of many hosts remove files by their age.
const SWEPT: [&str; 2] = ["/tmp", "/var/tmp"];

pub(super) fn state_dir(app: &App, around: &Around) -> Found {
    let (path, rule) =
        around.state_dir.as_ref().map_or((app.store_path(), "unknown rule"), |(path, rule)| (path, *rule));
    let Some(root) = app.store.root_meta()? else {
        let message = format!("\"{path}\" ({rule}) does not exist yet; the first task or lock makes it");
        return Ok(vec![Finding::ok(message)]);
    };
    if root.uid != app.host.owner() {
        let owner = app.host.account_name(root.uid).ok().flatten().unwrap_or_else(|| format!("uid {}", root.uid));
        let message = format!("\"{path}\" ({rule}) belongs to {owner}, not to this account");
        return Ok(vec![Finding::problem(message, format!("the queue belongs to {owner}; run luzia as {owner}"))]);
    }
    let own = Moded { path: path.to_owned(), purpose: Purpose::Root, mode: root.mode & 0o7777, uid: root.uid };
    let well = || Finding::ok(format!("\"{path}\" ({rule}), mode {:04o}", own.mode));
    let mut found = vec![wrong(&own).map_or_else(well, |wrong| wrong.finding(&own))];
    if let Some(original) = app.store.copied_from() {
        let message = format!(
            "\"{path}\" is a copy of \"{original}\": a task that ran there does not run here, a task that is pending \
             there is pending here as well, and the copy leaves configured conductor directories alone"
        );
        let hint = "remove the copy; or, once the original is gone for good, `luzia doctor --fix` makes it a state directory of its own";
        found.push(Finding { check: "copy", ..Finding::warn(message, hint) });
    }
    if let Some(place) = SWEPT.iter().find(|place| std::path::Path::new(path).starts_with(place)) {
        let message =
            format!("\"{path}\" is below {place}, where cleaners remove old files, also those that hold lanes");
        let hint = "end every process of luzia, then set another state directory for every caller";
        found.push(Finding::warn(message, hint));
    }
    Ok(found)
}

pub(super) fn second(around: &Around) -> Vec<Finding> {
    let tell = |(path, rule): &(String, &str)| {
        let message = format!(
            "\"{path}\" ({rule}) exists as well: its users have another queue, whose tasks and those of this one do \
             not exclude each other"
        );
        Finding::warn(message, "let every caller use one of the two, and remove the other one when it is empty")
    };
    around.others.iter().map(tell).collect()
}

/// The programs that hooks and servers in the files of agents name and that do not exist.
pub(super) fn agents(around: &Around) -> Vec<Finding> {
    let tell = |named: &Named| {
        let Named { agent, path, program, .. } = named;
        let message = format!("\"{path}\" names the program \"{program}\", which does not exist: its hooks do nothing");
        Finding::warn(message, format!("luzia agent setup {agent}"))
    };
    around.agents.iter().filter(|named| !named.is_there).map(tell).collect()
}

pub(super) fn config(around: &Around, findings: &mut Vec<Finding>) {
    match &around.config {
        Ok(seen) => {
            let warn = |warning: &String| Finding::warn(warning.clone(), "luzia config check");
            let well = match &seen.path {
                Some(path) => format!("\"{path}\" ({})", seen.rule),
                None => "no file; the built-in defaults apply".to_owned(),
            };
            add("config", &well, Ok(seen.warnings.iter().map(warn).collect()), findings);
        }
        Err(error) => {
            let hint = error.refusal().hint.as_deref().filter(|hint| *hint != "nothing was done");
            let found = Finding::problem(error.message(), hint.unwrap_or("luzia config check"));
            tell("config", Ok(vec![found]), findings);
        }
    }
}

/// The rules of the configuration together with those of `lanes set`. Rules that are valid alone may contradict each other:
/// the file can change under a rule that was set.
pub(super) fn rules(app: &App) -> Found {
    follow_control(app)?;
    let tell = |found: Contradiction| {
        let level = if found.clash.is_harmful() { Level::Problem } else { Level::Warn };
        let hint = "luzia lanes tells where each rule comes from; change one of them".to_owned();
        Finding::new(level, found.to_string(), Some(hint))
    };
    let config = config_reload::config(app);
    let mut found: Vec<Finding> = config.contradictions().into_iter().map(tell).collect();
    let mut rules = config.lanes.iter();
    let budget = rules.find(|(_, rule)| rule.cpu_budget.is_some() && rule.affinity != Some(true));
    let old = budget.and_then(|(lane, _)| Some((lane, old_make(app)?)));
    found.extend(old.map(|(lane, why)| Finding::warn(why, format!("luzia lanes set {} --affinity", shell_word(lane)))));
    Ok(found)
}

pub(super) fn file_system(app: &App, forced: bool) -> Found {
    let seen = app.store.file_system()?;
    let name = &seen.name;
    let mut found = vec![match (seen.is_local, forced) {
        (true, _) => Finding::ok(format!("{name}, local")),
        (false, true) => Finding::warn(
            format!("{name}, where kernel locks may not hold; luzia goes on because LUZIA_FORCE_FILE_SYSTEM is set"),
            "use this directory on one host only",
        ),
        (false, false) => Finding::problem(
            format!("{name}, where kernel locks do not hold between all programs"),
            "end every process of luzia, then move the directory to a local disk and set it for every caller",
        ),
    }];
    found.push(Finding { check: "space", ..space(seen.free_bytes, seen.free_inodes) });
    match app.store.folds_case() {
        Ok(false) => {}
        Ok(true) => {
            let message = "names that differ only in case are one name there, so two users may share a lock";
            found.push(Finding::problem(message, "choose a case-sensitive file system"));
        }
        Err(error) => found.push(Finding::error(&error.into())),
    }
    Ok(found)
}

fn space(bytes: u64, inodes: u64) -> Finding {
    let files = if inodes == u64::MAX { String::new() } else { format!(", {inodes} files") };
    let message = format!("{} MiB{files} free", bytes / (1024 * 1024));
    let hint = "free some space; luzia refuses a task that it cannot record, and accepted tasks are intact";
    if bytes < NO_BYTES || inodes < NO_INODES {
        Finding::problem(message, hint)
    } else if bytes < FEW_BYTES || inodes < FEW_INODES {
        Finding::warn(message, hint)
    } else {
        Finding::ok(message)
    }
}

pub(super) fn format(app: &App) -> Found {
    if app.store.has_layout()? {
        return Ok(vec![Finding::ok(format!("version {FORMAT_VERSION}"))]);
    }
    let locks = if app.store.has_locks().unwrap_or(false) { app.store.lock_index() } else { Ok(LockIndex::default()) };
    Ok(vec![Finding::ok(match locks.map_or(0, |locks| locks.count()) {
        0 => "nothing in it yet; the first task or lock makes the folders".to_owned(),
        count => format!("no format yet; {count} locks of another system count as held until they are stale"),
    })])
}

/// Whether `/proc` shows the processes around luzia.
pub(super) fn proc(app: &App) -> Finding {
    if app.host.is_proc_own() {
        return Finding::ok("/proc shows the processes of this pid namespace");
    }
    let message = "this /proc belongs to another pid namespace or is not mounted: luzia cannot find the processes of a \
                   task here, so it recovers no task whose supervisor was killed";
    Finding::problem(message, "mount -t proc proc /proc, or start the namespace with unshare --mount-proc")
}

/// Control groups of tasks that are not in flight, below that of this process. Says nothing if there is no such group.
pub(super) fn groups(app: &App) -> Found {
    let left = app.run_dir.left_groups()?;
    let names: Vec<&str> = left.iter().take(MOST_TOLD).map(|(name, _)| name.as_str()).collect();
    let (noun, verb) = if left.len() == 1 { ("group", "is") } else { ("groups", "are") };
    let message = format!("{} empty control {noun} {verb} left: {}", left.len(), names.join(", "));
    let found = (!left.is_empty()).then(|| Finding::warn(message, "`luzia doctor --fix` removes them"));
    Ok(found.into_iter().collect())
}

/// The folders that are missing. A program that tidies up, or copies, may leave out the empty ones.
pub(super) fn folders(app: &App) -> Found {
    let missing = app.store.missing_folders()?;
    let hint = "`luzia doctor --fix` makes them again; without them some verbs fail";
    let found = (!missing.is_empty()).then(|| Finding::problem(format!("missing: {}", missing.join(", ")), hint));
    Ok(found.into_iter().collect())
}

pub(super) fn modes(app: &App) -> Found {
    let all = app.store.modes()?;
    let is_inner = |moded: &&Moded| moded.purpose != Purpose::Root;
    let mut found: Vec<Finding> =
        all.iter().filter(is_inner).filter_map(|moded| wrong(moded).map(|wrong| wrong.finding(moded))).collect();
    let foreign: Vec<&Moded> = all.iter().filter(is_inner).filter(|moded| moded.uid != app.host.owner()).collect();
    if let Some(first) = foreign.first() {
        let message = format!("{} files belong to another account, first of them \"{}\"", foreign.len(), first.path);
        found.push(Finding::warn(message, "luzia leaves them alone; find out who made them"));
    }
    if found.is_empty() {
        found.push(Finding::ok(format!("{} files and folders are private as they should be", all.len())));
    }
    Ok(found)
}

/// A mode that is wrong.
pub(super) struct Wrong {
    level: Level,
    /// The right mode.
    pub wanted: u32,
    why: &'static str,
}

impl Wrong {
    fn finding(&self, moded: &Moded) -> Finding {
        let message = format!("\"{}\" has mode {:04o}: {}", moded.path, moded.mode, self.why);
        Finding::new(self.level, message, Some(format!("luzia doctor --fix sets it to {:04o}", self.wanted)))
    }
}

/// The fault of a mode, by the purpose of the file (contract, section 3; `locks.md`).
pub(super) fn wrong(moded: &Moded) -> Option<Wrong> {
    use Purpose::{GuardFolder, Lock, LockFolder, PrivateFolder, Record, Root};
    let mode = moded.mode;
    let wanted = match moded.purpose {
        Root | PrivateFolder | GuardFolder => 0o700,
        LockFolder => 0o755,
        Lock => 0o644,
        Record => 0o600,
    };
    let is_folder = wanted & 0o100 != 0;
    let own = if is_folder { 0o700 } else { 0o600 };
    let wrong = |level, why| Some(Wrong { level, wanted, why });
    if mode & 0o022 != 0 || mode & 0o1000 != 0 {
        return wrong(Level::Problem, "other accounts can write to it");
    }
    if mode & own != own {
        return wrong(Level::Problem, "its owner cannot use it");
    }
    match moded.purpose {
        GuardFolder if mode & 0o077 != 0 => wrong(Level::Problem, "another account could keep every lane busy"),
        Record if mode & 0o007 != 0 => wrong(Level::Problem, "every account can read it"),
        Root | PrivateFolder if mode & 0o077 != 0 => wrong(Level::Warn, "other accounts can look into it"),
        LockFolder if mode != wanted => wrong(Level::Warn, "it is not as luzia makes it"),
        Root | PrivateFolder | GuardFolder | LockFolder | Lock | Record => None,
    }
}

/// Every file and folder of luzia whose mode is wrong, with the right mode.
pub(super) fn wrong_modes(app: &App) -> Result<Vec<(Moded, u32)>, AppError> {
    let own = app.host.owner();
    let all = app.store.modes()?.into_iter().filter(|moded| moded.uid == own);
    Ok(all.filter_map(|moded| wrong(&moded).map(|wrong| (moded, wrong.wanted))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(purpose: Purpose, mode: u32, level: Option<Level>) {
        let moded = Moded { path: "x".into(), purpose, mode, uid: 0 };
        assert_eq!(wrong(&moded).map(|wrong| wrong.level), level, "{purpose:?} {mode:04o}");
    }

    #[test]
    fn modes_are_judged_by_what_a_file_is_for() {
        use Purpose::{GuardFolder, Lock, LockFolder, PrivateFolder, Record, Root};
        for (purpose, made) in
            [(Root, 0o700), (PrivateFolder, 0o700), (GuardFolder, 0o700), (LockFolder, 0o755), (Lock, 0o644)]
        {
            check(purpose, made, None);
            check(purpose, made | 0o020, Some(Level::Problem));
            check(purpose, made | 0o002, Some(Level::Problem));
            check(purpose, 0o077, Some(Level::Problem));
        }
        check(Record, 0o600, None);
        check(Record, 0o640, None);
        check(Record, 0o644, Some(Level::Problem));
        check(Record, 0o400, Some(Level::Problem));
        check(GuardFolder, 0o755, Some(Level::Problem));
        check(PrivateFolder, 0o755, Some(Level::Warn));
        check(Root, 0o755, Some(Level::Warn));
        check(Root, 0o1777, Some(Level::Problem));
        check(LockFolder, 0o700, Some(Level::Warn));
        check(Lock, 0o600, None);
    }

    #[test]
    fn what_is_set_right_is_right() {
        use Purpose::{GuardFolder, Lock, LockFolder, PrivateFolder, Record, Root};
        for purpose in [Root, PrivateFolder, GuardFolder, LockFolder, Lock, Record] {
            let bad = Moded { path: "x".into(), purpose, mode: 0o777, uid: 0 };
            let wanted = wrong(&bad).expect("it is wrong").wanted;
            check(purpose, wanted, None);
        }
    }

    #[test]
    fn little_space_warns_and_none_is_a_problem() {
        const MUCH: u64 = 1 << 40;
        for (bytes, inodes, level) in [
            (MUCH, u64::MAX, Level::Ok),
            (MUCH, FEW_INODES, Level::Ok),
            (MUCH, FEW_INODES - 1, Level::Warn),
            (FEW_BYTES - 1, MUCH, Level::Warn),
            (NO_BYTES - 1, MUCH, Level::Problem),
            (MUCH, 0, Level::Problem),
        ] {
            assert_eq!(space(bytes, inodes).level, level, "{bytes} {inodes}");
        }
        assert_eq!(space(MUCH, u64::MAX).message, "1048576 MiB free");
    }
}
