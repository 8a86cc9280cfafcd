//! `doctor`: checks whether this installation is in order, and says what helps if it is not. The checks change nothing.
//! `mend` makes the repairs that are safe at any time, beside working dispatchers and running tasks.

mod checks_host;
mod checks_queue;
mod checks_store;
mod checks_waiting;
pub(crate) mod mend;

pub(crate) use checks_waiting::aside_hint;
pub use mend::Mended;

use super::agents::setup::Named;
use super::fleet::Store;
use super::queue::doors::no_exclusion;
use super::{App, AppError};
use crate::model::sorted::sort_by_key;

/// Number of findings of one check that are reported one by one.
const MOST_TOLD: usize = 20;

/// The severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing; nothing is at risk.
    Warn,
    /// Work is blocked or at risk until a person acts.
    Problem,
}

impl Level {
    /// The word for people and programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Problem => "problem",
        }
    }
}

/// One finding of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The check, one word.
    pub check: &'static str,
    /// The severity.
    pub level: Level,
    /// The fact that was seen.
    pub message: String,
    /// The remedy.
    pub hint: Option<String>,
}

/// The findings of a check; an empty list means that all is well.
type Found = Result<Vec<Finding>, AppError>;

impl Finding {
    /// A finding of the check that [`tell`] names.
    fn new(level: Level, message: impl Into<String>, hint: Option<String>) -> Self {
        Self { check: "", level, message: message.into(), hint }
    }

    fn ok(message: impl Into<String>) -> Self {
        Self::new(Level::Ok, message, None)
    }

    fn warn(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Level::Warn, message, Some(hint.into()))
    }

    fn problem(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Level::Problem, message, Some(hint.into()))
    }

    fn error(error: &AppError) -> Self {
        let refusal = error.refusal();
        let next = refusal.next.first().filter(|next| !next.starts_with("luzia doctor"));
        let hint = refusal.hint.clone().or_else(|| next.cloned());
        Self::new(Level::Problem, refusal.message.clone(), hint)
    }
}

/// The configuration as it was found.
pub struct ConfigSeen {
    /// The file of the configuration; `None` for the built-in defaults.
    pub path: Option<String>,
    /// The rule that applied.
    pub rule: &'static str,
    /// Keys that have no effect.
    pub warnings: Vec<String>,
}

/// The things that `doctor` looks at. Each is a value, or the error that kept luzia from finding it.
pub struct Around {
    /// The state directory and the rule that chose it.
    pub state_dir: Option<(String, &'static str)>,
    /// The use cases in the state directory, whether that is safe or not.
    pub app: Result<App, AppError>,
    /// Other state directories that exist, with their rules.
    pub others: Vec<(String, &'static str)>,
    /// The configuration.
    pub config: Result<ConfigSeen, AppError>,
    /// Whether a file system that is not local was declared good by its owner.
    pub forces_file_system: bool,
    /// The programs that hooks and servers of agents name.
    pub agents: Vec<Named>,
    /// The database that several hosts share, if one is named.
    pub store: Option<Result<Store, AppError>>,
}

/// Looks at everything. Never fails: an error is a finding.
pub fn look(around: &Around) -> Vec<Finding> {
    let mut findings = Vec::new();
    match &around.app {
        Ok(app) => tell("state-dir", checks_host::state_dir(app, around), &mut findings),
        Err(error) => tell("state-dir", Ok(vec![Finding::error(error)]), &mut findings),
    }
    add("second-state-dir", "no other one was found", Ok(checks_host::second(around)), &mut findings);
    checks_host::config(around, &mut findings);
    if !around.agents.is_empty() {
        let well = "hooks and servers of agents name a program that is there";
        add("agents", well, Ok(checks_host::agents(around)), &mut findings);
    }
    if let Some(store) = &around.store {
        tell("store", checks_store::store(store), &mut findings);
    }
    let Ok(app) = &around.app else { return findings };
    if let Some(warning) = no_exclusion(app) {
        let hint = "set it to true, or remove it, for tasks that must take turns";
        tell("config", Ok(vec![Finding::warn(warning, hint)]), &mut findings);
    }
    add("lanes", "the rules of lanes go together", checks_host::rules(app), &mut findings);
    if !app.store.is_there() {
        return findings;
    }
    tell("file-system", checks_host::file_system(app, around.forces_file_system), &mut findings);
    tell("format", checks_host::format(app), &mut findings);
    if !app.store.has_layout().unwrap_or(false) {
        return findings;
    }
    add("folders", "all are there", checks_host::folders(app), &mut findings);
    tell("proc", Ok(vec![checks_host::proc(app)]), &mut findings);
    tell("cgroups", checks_host::groups(app), &mut findings);
    add("modes", "", checks_host::modes(app), &mut findings);
    checks_queue::all(app, &mut findings);
    add("zones", "the zones in use mean the same here and to luzia", checks_waiting::zones(app), &mut findings);
    let well = "every schedule reads and will make its tasks";
    add("schedules", well, checks_waiting::schedules(app), &mut findings);
    let well = "something will look at every task that waits without a process";
    add("waiting", well, checks_waiting::waiting(app), &mut findings);
    findings
}

/// Whether no finding is a problem.
pub fn is_well(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.level < Level::Problem)
}

/// Adds the findings of a check, the worst ones first, or that all is well.
fn add(check: &'static str, well: &str, found: Found, findings: &mut Vec<Finding>) {
    let worst_first = |mut found: Vec<Finding>| {
        sort_by_key(&mut found, |finding| std::cmp::Reverse(finding.level));
        let more = found.len().saturating_sub(MOST_TOLD);
        let worst = found.first().map_or(Level::Ok, |finding| finding.level);
        found.truncate(MOST_TOLD);
        found.extend((more > 0).then(|| Finding::new(worst, format!("and {more} more like these"), None)));
        if found.is_empty() { vec![Finding::ok(well)] } else { found }
    };
    tell(check, found.map(worst_first), findings);
}

/// Adds the findings of a check as they are, or the error that kept it from looking.
fn tell(check: &'static str, found: Found, findings: &mut Vec<Finding>) {
    for finding in found.unwrap_or_else(|error| vec![Finding::error(&error)]) {
        findings.push(if finding.check.is_empty() { Finding { check, ..finding } } else { finding });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_no_problem() {
        let warn = Finding::warn("it moved", "look at it");
        assert!(is_well(&[Finding::ok("1"), warn.clone()]));
        assert!(!is_well(&[warn, Finding::problem("stale", "clean up")]));
    }

    #[test]
    fn the_worst_findings_of_a_check_are_told_and_the_rest_counted() {
        let mut found: Vec<Finding> = (0..30).map(|at| Finding::warn(at.to_string(), "x")).collect();
        found.push(Finding::problem("the worst", "x"));
        let mut findings = Vec::new();
        add("locks", "none", Ok(found), &mut findings);
        assert_eq!(findings.len(), MOST_TOLD + 1);
        assert_eq!(findings[0].message, "the worst");
        assert_eq!(findings[MOST_TOLD].message, "and 11 more like these");
    }

    #[test]
    fn what_cannot_be_looked_at_is_a_problem_and_not_the_end() {
        let error = AppError::new(crate::app::Code::Io, "cannot read").hint("look at the disk");
        let mut findings = Vec::new();
        add("records", "all read", Err(error), &mut findings);
        assert_eq!((findings[0].level, findings[0].hint.as_deref()), (Level::Problem, Some("look at the disk")));
    }
}
