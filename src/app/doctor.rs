//! `doctor`: is this installation as it should be, and if not, what helps? Looking changes nothing; `mend` makes
//! the repairs that are safe at any time, beside working dispatchers and running tasks.

mod checks_aside;
mod checks_host;
mod checks_queue;
mod checks_schedules;
mod checks_waiting;
pub(crate) mod mend;

pub(crate) use checks_aside::aside_hint;
pub use mend::Mended;

use super::agents::found::Named;
use super::queue::doors::no_exclusion;
use super::{App, AppError};

/// How many findings of one check are told one by one.
const MOST_TOLD: usize = 20;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing; nothing is at risk.
    Warn,
    /// Work is blocked or at risk until somebody acts.
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

/// What one check saw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The check, one word.
    pub check: &'static str,
    /// How bad it is.
    pub level: Level,
    /// What was seen.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self { check, level: Level::Ok, message: message.into(), hint: None }
    }

    fn warn(check: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { check, level: Level::Warn, message: message.into(), hint: Some(hint.into()) }
    }

    fn problem(check: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { check, level: Level::Problem, message: message.into(), hint: Some(hint.into()) }
    }

    fn error(check: &'static str, error: &AppError) -> Self {
        let next = error.0.next.first().filter(|next| !next.starts_with("luzia doctor"));
        let hint = error.0.hint.clone().or_else(|| next.cloned());
        Self { check, level: Level::Problem, message: error.0.message.clone(), hint }
    }
}

/// The configuration as it was found.
#[derive(Clone, Copy, Debug)]
pub struct ConfigSeen<'a> {
    /// Its file; `None` for the built-in defaults.
    pub path: Option<&'a str>,
    /// Which rule applied.
    pub rule: &'a str,
    /// Keys that have no effect.
    pub warnings: &'a [String],
}

/// What `doctor` looks at; whatever could not be had comes as the reason why.
pub struct Around<'a> {
    /// The state directory and the rule that chose it.
    pub state_dir: Option<(&'a str, &'a str)>,
    /// The use cases in it, whether it is safe or not.
    pub app: Result<&'a App, &'a AppError>,
    /// Other state directories that exist, with their rules.
    pub others: &'a [(String, &'static str)],
    /// The configuration.
    pub config: Result<ConfigSeen<'a>, &'a AppError>,
    /// Whether a file system that is not local was declared good by its owner.
    pub forces_file_system: bool,
    /// The programs that hooks and servers of agents name.
    pub agents: &'a [Named],
}

/// Looks at everything. Never fails: what cannot be looked at is a finding.
pub fn look(around: &Around) -> Vec<Finding> {
    let mut findings = Vec::new();
    checks_host::state_dir(around, &mut findings);
    checks_host::second(around, &mut findings);
    checks_host::config(around, &mut findings);
    checks_host::agents(around, &mut findings);
    let Ok(app) = around.app else { return findings };
    if let Some(warning) = no_exclusion(app) {
        findings.push(Finding::warn("config", warning, "set it to true, or remove it, for tasks that must take turns"));
    }
    checks_host::rules(app, &mut findings);
    if !app.store.is_there() {
        return findings;
    }
    checks_host::file_system(app, around.forces_file_system, &mut findings);
    if !checks_host::format(app, &mut findings) {
        return findings;
    }
    checks_host::folders(app, &mut findings);
    checks_host::proc(app, &mut findings);
    checks_host::groups(app, &mut findings);
    checks_host::modes(app, &mut findings);
    checks_queue::all(app, &mut findings);
    checks_schedules::all(app, &mut findings);
    checks_waiting::all(app, &mut findings);
    findings
}

/// Whether no finding is a problem.
pub fn is_well(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.level < Level::Problem)
}

/// Adds what a check found: its findings, the error that kept it from looking, or that all is well.
fn add(check: &'static str, well: &str, found: Result<Vec<Finding>, AppError>, findings: &mut Vec<Finding>) {
    match found {
        Ok(found) if found.is_empty() => findings.push(Finding::ok(check, well)),
        Ok(mut found) => {
            found.sort_by_key(|finding| std::cmp::Reverse(finding.level));
            let more = found.len().saturating_sub(MOST_TOLD);
            let worst = found.first().map_or(Level::Ok, |finding| finding.level);
            found.truncate(MOST_TOLD);
            findings.append(&mut found);
            if more > 0 {
                let message = format!("and {more} more like these");
                findings.push(Finding { check, level: worst, message, hint: None });
            }
        }
        Err(error) => findings.push(Finding::error(check, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_no_problem() {
        let warn = Finding::warn("clock", "it moved", "look at it");
        assert!(is_well(&[Finding::ok("format", "1"), warn.clone()]));
        assert!(!is_well(&[warn, Finding::problem("locks", "stale", "clean up")]));
    }

    #[test]
    fn the_worst_findings_of_a_check_are_told_and_the_rest_counted() {
        let mut found: Vec<Finding> = (0..30).map(|at| Finding::warn("locks", at.to_string(), "x")).collect();
        found.push(Finding::problem("locks", "the worst", "x"));
        let mut findings = Vec::new();
        add("locks", "none", Ok(found), &mut findings);
        assert_eq!(findings.len(), MOST_TOLD + 1);
        assert_eq!(findings[0].message, "the worst");
        assert_eq!(findings[MOST_TOLD].message, "and 11 more like these");
    }

    #[test]
    fn what_cannot_be_looked_at_is_a_problem_and_not_the_end() {
        let error = AppError::new(crate::app::Kind::Io, crate::app::Code::Io, "cannot read").hint("look at the disk");
        let mut findings = Vec::new();
        add("records", "all read", Err(error), &mut findings);
        assert_eq!((findings[0].level, findings[0].hint.as_deref()), (Level::Problem, Some("look at the disk")));
    }
}
