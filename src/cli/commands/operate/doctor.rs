//! `luzia doctor`: looks for problems, and repairs what is safe to repair.

use crate::app::AppError;
use crate::app::doctor::mend::mend;
use crate::app::doctor::{Around, Finding, Level, Mended, is_well, look};
use crate::cli::args::OutputFormat;
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console, Stop};
use crate::cli::output::json;
use crate::cli::output::style::Tone;
use crate::cli::output::table::Table;
use clap::Args;
use serde_json::{Value, json};

/// `luzia doctor`.
#[derive(Args, Clone, Debug)]
#[command(after_help = DOCTOR_HELP)]
pub struct DoctorArgs {
    /// Mend what can be mended safely
    #[arg(long)]
    pub fix: bool,
}

const DOCTOR_HELP: &str = "\
Examples:
  luzia doctor
  luzia doctor --fix

Exit codes:
  0    no problem found
  1    a problem found
  2    usage, or a refused confirmation";

/// `luzia doctor`. `confirm` asks on the terminal.
pub fn run(
    args: &DoctorArgs,
    around: &Around,
    confirm: &mut dyn FnMut(&str) -> Result<bool, AppError>,
    console: &mut Console,
) -> Answer {
    let mut findings = look(around);
    let mut mended = None;
    if args.fix {
        if !confirm("mend what can be mended safely?")? {
            return Err(AppError::usage("not confirmed; nothing was changed").into());
        }
        if let Ok(app) = &around.app {
            mended = Some(mend(app, around.forces_file_system));
            findings = look(around);
        }
    }
    let mended = mended.unwrap_or_default();
    match console.format {
        OutputFormat::Json => console.document(&findings_document(&findings, args.fix.then_some(&mended)))?,
        OutputFormat::Jsonl => console.items("doctor", findings.iter().map(finding_json))?,
        _ => {
            tell_findings(&findings, &mended, console)?;
        }
    }
    Ok(if is_well(&findings) { Exit::Done.code() } else { Exit::No.code() })
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "check": finding.check,
        "level": finding.level.word(),
        "message": finding.message,
        "hint": finding.hint,
    })
}

fn findings_document(findings: &[Finding], mended: Option<&Mended>) -> Value {
    let mut members = vec![("ok", json!(is_well(findings))), ("items", findings.iter().map(finding_json).collect())];
    if let Some(mended) = mended {
        members.push(("mended", json!(mended.done)));
        members.push(("not_mended", json!(mended.failed)));
    }
    json::document("doctor", members)
}

fn tell_findings(findings: &[Finding], mended: &Mended, console: &mut Console) -> Result<(), Stop> {
    for done in &mended.done {
        console.say(&format!("mended: {done}"));
    }
    for failed in &mended.failed {
        console.say(&format!("not mended: {failed}"));
    }
    let mut table = Table::of(&["CHECK", "LEVEL", "SEEN"]);
    for finding in findings {
        let tone = match finding.level {
            Level::Ok => Tone::Good,
            Level::Warn => Tone::Warn,
            Level::Problem => Tone::Bad,
        };
        let level = finding.level.word().to_owned();
        let cells = [(finding.check.to_owned(), Tone::Plain), (level, tone), (finding.message.clone(), Tone::Plain)];
        table.toned_row(cells);
    }
    console.table(&table)?;
    // A narrow terminal cuts the last column, but a fault must be readable whole.
    for finding in findings.iter().filter(|finding| finding.level > Level::Ok) {
        let hint = finding.hint.as_deref().map(|hint| format!("; {hint}")).unwrap_or_default();
        console.hint(&format!("{}: {}{hint}", finding.check, finding.message));
    }
    let count = |level: Level| findings.iter().filter(|finding| finding.level == level).count();
    console.say(&match (count(Level::Problem), count(Level::Warn)) {
        (0, 0) => "no problem found".to_owned(),
        (0, warnings) => format!("no problem found, warnings: {warnings}"),
        (problems, warnings) => format!("problems: {problems}, warnings: {warnings}"),
    });
    Ok(())
}
