//! `luzia demo`: shows the work of luzia, then a timeline of the runs, and whether any user ever had two tasks at once.

use crate::app::demo::{Ended, Output, Played, Run, Stage, Step, Verdict, play};
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console, Stop};
use crate::cli::output::style::Tone;
use crate::cli::output::{json, timeline};
use clap::Args;
use serde_json::{Value, json};

/// `luzia demo`.
#[derive(Args, Clone, Debug)]
#[command(after_help = DEMO_HELP)]
pub struct DemoArgs {
    /// Keep the state directory of the demo, and print its path
    #[arg(long)]
    pub keep: bool,
}

const DEMO_HELP: &str = "\
Examples:
  luzia demo
  luzia demo --keep

Exit codes:
  0    done
  2    usage";

/// The width of a text that goes to no terminal.
const PLAIN_WIDTH: usize = 80;
const SIGINT: i32 = 2;

/// `luzia demo`. `ended` reports whether a signal has asked it to stop.
pub fn run(args: &DemoArgs, stage: &Stage, ended: &mut dyn FnMut() -> bool, console: &mut Console) -> Answer {
    let (mut stop, mut is_ended, mut commands) = (None, false, Vec::new());
    let played = play(stage, &mut |step| {
        is_ended = is_ended || ended();
        if console.is_json() {
            note(step, &mut commands);
        } else if let Err(reason) = tell(step, console) {
            stop = Some(reason);
        }
        stop.is_none() && !is_ended
    });
    if let Some(stop) = stop {
        return Err(stop.into());
    }
    if is_ended {
        console.say("luzia: interrupted; everything the demo started was ended");
        return Ok(Exit::of_signal(SIGINT));
    }
    let played = played?;
    let is_shown = played.verdict.holds() && played.incomplete.is_empty();
    if console.is_json() {
        console.document(&document(args, stage, &played, commands))?;
    } else {
        show(&played, console)?;
        if args.keep {
            console.out(&format!("\nkept: {}\n", stage.app.store_path()))?;
        }
    }
    Ok(if is_shown { Exit::Done.code() } else { Exit::No.code() })
}

fn tell(step: Step, console: &mut Console) -> Result<(), Stop> {
    let style = console.streams.out_style;
    match step {
        Step::Remark(text) => console.out(&format!("\n{}\n", style.paint(Tone::Faint, &format!("# {text}")))),
        Step::Command(text) => console.out(&format!("{}\n", style.paint(Tone::Strong, &format!("$ {text}")))),
        Step::Output(Output { stdout, stderr, .. }) => {
            console.out_bytes(stdout)?;
            console.out_bytes(stderr)
        }
    }
}

fn note(step: Step, commands: &mut Vec<Value>) {
    match step {
        Step::Remark(_) => {}
        Step::Command(text) => commands.push(json!({ "command": text, "exit": null })),
        Step::Output(output) => {
            let code = match output.exit {
                Ended::Code(code) => code,
                Ended::Signal(signal) => i32::from(Exit::of_signal(signal)),
            };
            if let Some(command) = commands.last_mut() {
                command["exit"] = code.into();
            }
        }
    }
}

fn show(played: &Played, console: &mut Console) -> Result<(), Stop> {
    let width = console.streams.width.map_or(PLAIN_WIDTH, usize::from);
    let style = console.streams.out_style;
    let heading =
        format!("# who ran when, from the recorded events; x: the supervisor of {} was killed", played.killed);
    console.out(&format!("\n{}\n", style.paint(Tone::Faint, &heading)))?;
    console.out(&timeline::timeline(&played.runs, width))?;
    console.out("\n")?;
    for id in &played.incomplete {
        console.out(&format!("{}\n", style.paint(Tone::Bad, &format!("{id} did not complete"))))?;
    }
    let tone = if played.verdict.holds() { Tone::Good } else { Tone::Bad };
    for sentence in sentences(played) {
        console.out(&format!("{}\n", style.paint(tone, &sentence)))?;
    }
    Ok(())
}

fn sentences(played: &Played) -> Vec<String> {
    let name = |at: &usize| {
        let run = &played.runs[*at];
        format!("{} ({} to {} ms)", run.task, run.from_ms, run.to_ms)
    };
    match &played.verdict {
        Verdict::Never { runs, users } => {
            vec![format!("no user ever had two at once: {runs} intervals of {users} users checked")]
        }
        Verdict::Twice(pairs) => {
            let told = |(one, other): &(usize, usize)| {
                format!("user {} had two at once: {} and {}", played.runs[*one].user, name(one), name(other))
            };
            pairs.iter().map(told).collect()
        }
        Verdict::Unknown(open) if open.is_empty() => vec!["nothing can be said: no run was recorded".to_owned()],
        Verdict::Unknown(open) => {
            let names: Vec<String> = open.iter().map(name).collect();
            vec![format!("nothing can be said: no end was recorded for {}", names.join(", "))]
        }
    }
}

fn document(args: &DemoArgs, stage: &Stage, played: &Played, commands: Vec<Value>) -> Value {
    let begin = played.runs.iter().map(|run| run.from_ms).min().unwrap_or(0);
    let interval = |run: &Run| {
        json!({
            "task": run.task.to_string(),
            "user": run.user,
            "command_pid": run.command_pid,
            "from_ms": run.from_ms - begin,
            "to_ms": run.to_ms - begin,
            "ended_by": run.closed.word(),
        })
    };
    let overlaps = match &played.verdict {
        Verdict::Twice(pairs) => json!(pairs),
        Verdict::Never { .. } | Verdict::Unknown(_) => json!([]),
    };
    let incomplete: Vec<String> = played.incomplete.iter().map(ToString::to_string).collect();
    json::document(
        "demo",
        [
            ("ok", json!(played.verdict.holds() && played.incomplete.is_empty())),
            ("verdict", json!(sentences(played).join("; "))),
            ("intervals", played.runs.iter().map(interval).collect()),
            ("overlaps", overlaps),
            ("killed", json!(played.killed.to_string())),
            ("incomplete", json!(incomplete)),
            ("commands", json!(commands)),
            ("state_dir", json!(args.keep.then(|| stage.app.store_path()))),
        ],
    )
}
