//! The place: state directory, configuration, file system, format and modes.

use crate::app::agents::found::Named;
use crate::app::capacity::old_make;
use crate::app::config_reload::follow_control;
use crate::app::doctor::{Around, Finding, Level, MOST_TOLD, add};
use crate::app::{App, AppError, config_reload, shell_word};
use crate::model::Config;
use crate::model::config::Contradiction;
use crate::store::{FORMAT_VERSION, LockIndex, Moded, Purpose};

/// Below this many free bytes, work may fail soon.
const FEW_BYTES: u64 = 64 * 1024 * 1024;
/// Below this many free bytes, the next record may not fit.
const NO_BYTES: u64 = 1024 * 1024;
/// Below this many free inodes, work may fail soon.
const FEW_INODES: u64 = 1000;
/// Below this many free inodes, the next task may not find its files.
const NO_INODES: u64 = 50;

/// Where services of many hosts remove files by their age.
const SWEPT: [&str; 2] = ["/tmp", "/var/tmp"];

pub(super) fn state_dir(around: &Around, findings: &mut Vec<Finding>) {
    const CHECK: &str = "state-dir";
    let app = match around.app {
        Ok(app) => app,
        Err(error) => return findings.push(Finding::error(CHECK, error)),
    };
    let (path, rule) = around.state_dir.unwrap_or((app.store_path(), "unknown rule"));
    let root = match app.store.root_meta() {
        Ok(root) => root,
        Err(error) => return findings.push(Finding::error(CHECK, &error.into())),
    };
    let Some(root) = root else {
        let message = format!("\"{path}\" ({rule}) does not exist yet; the first task or lock makes it");
        return findings.push(Finding::ok(CHECK, message));
    };
    if root.uid != app.host.owner() {
        let owner = app.host.account_name(root.uid).ok().flatten().unwrap_or_else(|| format!("uid {}", root.uid));
        let message = format!("\"{path}\" ({rule}) belongs to {owner}, not to this account");
        let hint = format!("the queue belongs to {owner}; run luzia as {owner}");
        return findings.push(Finding::problem(CHECK, message, hint));
    }
    let own = Moded { path: path.to_owned(), purpose: Purpose::Root, mode: root.mode & 0o7777, uid: root.uid };
    findings.push(match wrong(&own) {
        Some(wrong) => wrong.finding(CHECK, &own),
        None => Finding::ok(CHECK, format!("\"{path}\" ({rule}), mode {:04o}", own.mode)),
    });
    if let Some(original) = app.store.copied_from() {
        let message = format!(
            "\"{path}\" is a copy of \"{original}\": what ran there does not run here, what is pending there is pending here \
             as well, and configured conductor directories are left to the original"
        );
        let hint = "remove the copy; or, once the original is gone for good, `luzia doctor --fix` makes it a state directory of its own";
        findings.push(Finding::warn("copy", message, hint));
    }
    if let Some(place) = SWEPT.iter().find(|place| std::path::Path::new(path).starts_with(place)) {
        let message =
            format!("\"{path}\" is below {place}, where cleaners remove old files, also those that hold lanes");
        findings.push(Finding::warn(
            CHECK,
            message,
            "choose another one, for every caller at once, while nothing of luzia runs",
        ));
    }
}

pub(super) fn second(around: &Around, findings: &mut Vec<Finding>) {
    let tell = |(path, rule): &(String, &str)| {
        let message = format!(
            "\"{path}\" ({rule}) exists as well: its users have another queue, without exclusion with this one"
        );
        Finding::warn("second-state-dir", message, "let every caller use the same one, and remove the other when empty")
    };
    add("second-state-dir", "no other one was found", Ok(around.others.iter().map(tell).collect()), findings);
}

/// Whether the hooks and servers in the files of agents find luzia; nothing is said where there are none.
pub(super) fn agents(around: &Around, findings: &mut Vec<Finding>) {
    const CHECK: &str = "agents";
    if around.agents.is_empty() {
        return;
    }
    let tell = |named: &Named| {
        let Named { agent, path, program, .. } = named;
        let message = format!("\"{path}\" names the program \"{program}\", which is not there: its hooks do nothing");
        Finding::warn(CHECK, message, format!("luzia agent setup {agent}"))
    };
    let lost = around.agents.iter().filter(|named| !named.is_there).map(tell).collect();
    add(CHECK, "hooks and servers of agents name a program that is there", Ok(lost), findings);
}

pub(super) fn config(around: &Around, findings: &mut Vec<Finding>) {
    const CHECK: &str = "config";
    let seen = match &around.config {
        Ok(seen) => seen,
        Err(error) => {
            let hint = error.0.hint.as_deref().filter(|hint| *hint != "nothing was done");
            let hint = hint.unwrap_or("luzia config check");
            return findings.push(Finding::problem(CHECK, error.0.message.clone(), hint));
        }
    };
    let tell = |warning: &String| Finding::warn(CHECK, warning.clone(), "luzia config check");
    let well = match seen.path {
        Some(path) => format!("\"{path}\" ({})", seen.rule),
        None => "no file; the built-in defaults apply".to_owned(),
    };
    add(CHECK, &well, Ok(seen.warnings.iter().map(tell).collect()), findings);
}

/// The rules of the configuration together with those of `lanes set`. What each accepts alone may not go together: the file
/// can change under a rule that was set.
pub(super) fn rules(app: &App, findings: &mut Vec<Finding>) {
    const CHECK: &str = "lanes";
    let tell = |found: Contradiction| {
        let hint = "luzia lanes tells where each rule comes from; change one of them";
        match found.clash.is_harmful() {
            true => Finding::problem(CHECK, found.to_string(), hint),
            false => Finding::warn(CHECK, found.to_string(), hint),
        }
    };
    let old = |config: &Config| -> Option<Finding> {
        let mut rules = config.lanes.iter();
        let (lane, _) = rules.find(|(_, rule)| rule.cpu_budget.is_some() && rule.affinity != Some(true))?;
        let hint = format!("luzia lanes set {} --affinity", shell_word(lane));
        old_make(app).map(|why| Finding::warn(CHECK, why, hint))
    };
    let found = follow_control(app).map(|()| {
        let config = config_reload::config(app);
        config.contradictions().into_iter().map(tell).chain(old(&config)).collect()
    });
    add(CHECK, "the rules of lanes go together", found, findings);
}

pub(super) fn file_system(app: &App, forced: bool, findings: &mut Vec<Finding>) {
    let seen = match app.store.file_system() {
        Ok(seen) => seen,
        Err(error) => return findings.push(Finding::error("file-system", &error.into())),
    };
    let name = &seen.name;
    findings.push(match (seen.is_local, forced) {
        (true, _) => Finding::ok("file-system", format!("{name}, local")),
        (false, true) => {
            let message = format!("{name}, where kernel locks may not hold; LUZIA_FORCE_FILE_SYSTEM says to go on");
            Finding::warn("file-system", message, "keep every luzia of this directory on one host")
        }
        (false, false) => {
            let message = format!("{name}, where kernel locks do not hold between all programs");
            Finding::problem(
                "file-system",
                message,
                "move it to a local disk while nothing of luzia runs, for every caller at once",
            )
        }
    });
    findings.push(space(seen.free_bytes, seen.free_inodes));
    match app.store.folds_case() {
        Ok(false) => {}
        Ok(true) => {
            let message = "names that differ in case only are one name there, so two users may share a lock";
            findings.push(Finding::problem("file-system", message, "choose a case-sensitive file system"));
        }
        Err(error) => findings.push(Finding::error("file-system", &error.into())),
    }
}

fn space(bytes: u64, inodes: u64) -> Finding {
    let files = if inodes == u64::MAX { String::new() } else { format!(", {inodes} files") };
    let message = format!("{} MiB{files} free", bytes / (1024 * 1024));
    let hint = "free some space; a task that cannot be recorded is refused, and what was accepted is intact";
    if bytes < NO_BYTES || inodes < NO_INODES {
        Finding::problem("space", message, hint)
    } else if bytes < FEW_BYTES || inodes < FEW_INODES {
        Finding::warn("space", message, hint)
    } else {
        Finding::ok("space", message)
    }
}

/// Whether there is a layout that this version may look at further.
pub(super) fn format(app: &App, findings: &mut Vec<Finding>) -> bool {
    match app.store.has_layout() {
        Ok(true) => {
            findings.push(Finding::ok("format", format!("version {FORMAT_VERSION}")));
            true
        }
        Ok(false) => {
            let locks =
                if app.store.has_locks().unwrap_or(false) { app.store.lock_index() } else { Ok(LockIndex::default()) };
            findings.push(match locks.map_or(0, |locks| locks.count()) {
                0 => Finding::ok("format", "nothing in it yet; the first task or lock makes the folders"),
                count => Finding::ok(
                    "format",
                    format!("no format yet; {count} locks of another system count as held until stale"),
                ),
            });
            false
        }
        Err(error) => {
            findings.push(Finding::error("format", &error.into()));
            false
        }
    }
}

/// Whether `/proc` shows the processes around luzia.
pub(super) fn proc(app: &App, findings: &mut Vec<Finding>) {
    findings.push(if app.host.is_proc_own() {
        Finding::ok("proc", "/proc shows the processes of this pid namespace")
    } else {
        let message = "this /proc belongs to another pid namespace or is not mounted: luzia cannot find the processes of a \
                       task here, so it recovers no task whose supervisor was killed";
        Finding::problem("proc", message, "mount -t proc proc /proc, or start the namespace with unshare --mount-proc")
    });
}

/// Control groups of tasks that are not in flight, below that of this process. Nothing is said where no such group exists.
pub(super) fn groups(app: &App, findings: &mut Vec<Finding>) {
    match app.run_dir.left_groups() {
        Ok(left) if left.is_empty() => {}
        Ok(left) => {
            let names: Vec<&str> = left.iter().take(MOST_TOLD).map(|(name, _)| name.as_str()).collect();
            let (noun, verb) = if left.len() == 1 { ("group", "is") } else { ("groups", "are") };
            let message = format!("{} empty control {noun} {verb} left: {}", left.len(), names.join(", "));
            findings.push(Finding::warn("cgroups", message, "`luzia doctor --fix` removes them"));
        }
        Err(error) => findings.push(Finding::error("cgroups", &error.into())),
    }
}

/// Whether all folders are there. Who tidies up, or copies, may leave out the empty ones.
pub(super) fn folders(app: &App, findings: &mut Vec<Finding>) {
    findings.push(match app.store.missing_folders() {
        Ok(missing) if missing.is_empty() => Finding::ok("folders", "all are there"),
        Ok(missing) => {
            let hint = "`luzia doctor --fix` makes them again; without them some verbs fail";
            Finding::problem("folders", format!("missing: {}", missing.join(", ")), hint)
        }
        Err(error) => Finding::error("folders", &error.into()),
    });
}

pub(super) fn modes(app: &App, findings: &mut Vec<Finding>) {
    let all = match app.store.modes() {
        Ok(all) => all,
        Err(error) => return findings.push(Finding::error("modes", &error.into())),
    };
    let is_inner = |moded: &&Moded| moded.purpose != Purpose::Root;
    let mut found: Vec<Finding> = all
        .iter()
        .filter(is_inner)
        .filter_map(|moded| wrong(moded).map(|wrong| wrong.finding("modes", moded)))
        .collect();
    let foreign: Vec<&Moded> = all.iter().filter(is_inner).filter(|moded| moded.uid != app.host.owner()).collect();
    if let Some(first) = foreign.first() {
        let message = format!("{} files belong to another account, first of them \"{}\"", foreign.len(), first.path);
        found.push(Finding::warn("modes", message, "luzia leaves them alone; find out who made them"));
    }
    add("modes", &format!("{} files and folders are private as they should be", all.len()), Ok(found), findings);
}

/// A mode that is not as it should be.
pub(super) struct Wrong {
    level: Level,
    /// The mode it should have.
    pub wanted: u32,
    why: &'static str,
}

impl Wrong {
    fn finding(&self, check: &'static str, moded: &Moded) -> Finding {
        let message = format!("\"{}\" has mode {:04o}: {}", moded.path, moded.mode, self.why);
        let hint = Some(format!("luzia doctor --fix sets it to {:04o}", self.wanted));
        Finding { check, level: self.level, message, hint }
    }
}

/// What is wrong with a mode, by what the file is for (contract, section 3; `locks.md`).
pub(super) fn wrong(moded: &Moded) -> Option<Wrong> {
    let mode = moded.mode;
    let wanted = match moded.purpose {
        Purpose::Root | Purpose::PrivateFolder | Purpose::GuardFolder => 0o700,
        Purpose::LockFolder => 0o755,
        Purpose::Lock => 0o644,
        Purpose::Record => 0o600,
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
        Purpose::GuardFolder if mode & 0o077 != 0 => {
            wrong(Level::Problem, "another account could keep every lane busy")
        }
        Purpose::Record if mode & 0o007 != 0 => wrong(Level::Problem, "every account can read it"),
        Purpose::Root | Purpose::PrivateFolder if mode & 0o077 != 0 => {
            wrong(Level::Warn, "other accounts can look into it")
        }
        Purpose::LockFolder if mode != wanted => wrong(Level::Warn, "it is not as luzia makes it"),
        Purpose::Root
        | Purpose::PrivateFolder
        | Purpose::GuardFolder
        | Purpose::LockFolder
        | Purpose::Lock
        | Purpose::Record => None,
    }
}

/// Every file and folder of ours whose mode is to be set right, with that mode.
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
