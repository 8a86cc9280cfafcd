//! `luzia agent hook`: reads the document of an agent, and answers it. The agent goes on after any error here: the exit code
//! is always 0, and a failure is one event. clap would refuse some arguments, so this file reads the arguments itself.

use crate::app::agents::hook::{Hook, note_failed_hook};
use crate::app::{Settings, shell_word};
use crate::cli::args::Globals;
use crate::cli::context::{app_of, opened, state_dir, variable};
use crate::cli::exit::Exit;
use crate::cli::shim::folder;
use crate::cli::verbs::Does;
use crate::model::{AgentKind, Config, HookAnswer, HookEvent};
use crate::os::real::{self, RealUserFiles, term};
use crate::os::user_files::UserFiles;
use std::ffi::OsString;
use std::time::Duration;

/// The longest document that is read, in bytes.
const LONGEST_DOCUMENT: usize = 1024 * 1024;
/// Time for which standard input is awaited.
const INPUT_TIME: Duration = Duration::from_secs(3);
/// The longest file of variables that is read, in bytes.
const LONGEST_ENV_FILE: u64 = 1024 * 1024;
/// The longest times of the process, in seconds: until it has read the document, then at the end of a session, and at any other
/// event.
const READING_SECONDS: u32 = 5;
const SESSION_END_SECONDS: u32 = 1;
const ANSWER_SECONDS: u32 = 3;

/// Arguments of the command line.
#[derive(Default)]
struct Call {
    globals: Globals,
    agent: String,
    gate: bool,
    /// An unknown word.
    wrong: Option<String>,
}

/// Answers the hook and gives the exit code. Returns `None` when the command line is not that of a hook.
pub(in crate::cli) fn called(args: &[OsString]) -> Option<u8> {
    let call = read_arguments(args)?;
    // A file size limit becomes an error instead of a death.
    let _ = real::prepare_process();
    Some(run(&call))
}

/// Answers the hook of a command line that clap has read; gives the exit code.
pub(in crate::cli) fn answered(agent: AgentKind, gate: bool, globals: &Globals) -> u8 {
    run(&Call { globals: globals.clone(), agent: agent.word().to_owned(), gate, wrong: None })
}

fn run(call: &Call) -> u8 {
    // Where no alarm can be set, every wait below has an end of its own.
    let _ = real::end_with_success_after(READING_SECONDS);
    if let Err(why) = answer(call) {
        // Without a state directory, the failure cannot be recorded. With a mistake in the rules, the built-in rules apply.
        let plain =
            || app_of(&call.globals, Settings::fixed(Config::default()), &state_dir(&call.globals)?, &[Does::NoRules]);
        let app = opened(&call.globals, &[]).or_else(|_| plain());
        let _ = app.map(|app| note_failed_hook(&app, &call.agent, &why));
    }
    Exit::Done.code()
}

/// Reads `luzia [GLOBAL OPTIONS] agent hook AGENT [--gate]`. A request for help is left to clap.
fn read_arguments(args: &[OsString]) -> Option<Call> {
    let mut call = Call::default();
    let mut verbs = Vec::new();
    let mut words = args.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--help" | "-h" => return None,
            "--state-dir" => call.globals.state_dir = words.next(),
            "--config" => call.globals.config = words.next(),
            "--color" | "-o" | "--output" => drop(words.next()),
            "--gate" => call.gate = true,
            _ if verbs.len() < 3 && !word.starts_with('-') => {
                verbs.push(word);
                let is_ours = ["agent", "hook"].iter().zip(&verbs).all(|(ours, word)| ours == word);
                if !is_ours {
                    return None;
                }
            }
            _ => match (word.strip_prefix("--state-dir="), word.strip_prefix("--config=")) {
                (Some(path), _) => call.globals.state_dir = Some(path.to_owned()),
                (_, Some(path)) => call.globals.config = Some(path.to_owned()),
                _ => call.wrong = call.wrong.or(Some(word)),
            },
        }
    }
    call.agent = verbs.get(2).cloned().unwrap_or_default();
    (verbs.len() >= 2).then_some(call)
}

fn answer(call: &Call) -> Result<(), String> {
    let agent = AgentKind::parse(&call.agent).ok_or_else(|| format!("{:?} is not an agent", call.agent))?;
    if let Some(word) = &call.wrong {
        return Err(format!("{word:?} is not an option of `luzia agent hook`"));
    }
    let is_whole = |bytes: &[u8]| bytes.trim_ascii_end().ends_with(b"}") && super::read(agent, bytes).is_some();
    let bytes = match real::read_document(LONGEST_DOCUMENT, INPUT_TIME, &is_whole) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(format!("the document is longer than {LONGEST_DOCUMENT} bytes")),
        Err(error) => return Err(format!("standard input cannot be read: {error}")),
    };
    let read = super::read(agent, &bytes).ok_or("the document is incomplete, or is not a JSON object")?;
    real::end_after(if read.event == HookEvent::End { SESSION_END_SECONDS } else { ANSWER_SECONDS });
    if read.event == HookEvent::Other {
        return say(agent, &HookAnswer::Nothing);
    }
    let shims = folder().ok();
    let hook = Hook { agent, shims: shims.as_ref(), gate: call.gate };
    let app = opened(&call.globals, &[]);
    // A session begins with its variables even if the state directory cannot be opened.
    let answer = hook.answer(app.as_ref().ok(), &read).map_err(|error| error.to_string())?;
    let mut trouble = app.err().map(|error| error.to_string());
    if let HookAnswer::Start { variables, .. } = &answer {
        trouble = trouble.or(export(variables).err());
    }
    say(agent, &answer)?;
    trouble.map_or(Ok(()), Err)
}

/// Appends the variables to the file that the agent reads before each command. The agent may call at every start and
/// resumption of a session, so variables that are in the file already are not written again.
fn export(variables: &[(String, String)]) -> Result<(), String> {
    let path = match variable("CLAUDE_ENV_FILE") {
        Ok(Some(path)) => path,
        Ok(None) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let failed = |error: std::io::Error| format!("the file of CLAUDE_ENV_FILE cannot be written: {error}");
    let old = RealUserFiles.read(&path, LONGEST_ENV_FILE).map_err(failed)?.unwrap_or_default();
    let old = String::from_utf8_lossy(&old);
    let mut lines = String::new();
    if !old.is_empty() && !old.ends_with('\n') {
        lines.push('\n');
    }
    for (name, value) in variables {
        let value = shell_word(value);
        let line =
            if name == "PATH" { format!("export PATH={value}:\"$PATH\"") } else { format!("export {name}={value}") };
        if !old.lines().any(|one| one == line) {
            lines.push_str(&line);
            lines.push('\n');
        }
    }
    if lines.trim().is_empty() {
        return Ok(());
    }
    RealUserFiles.append(&path, lines.as_bytes()).map_err(failed)
}

fn say(agent: AgentKind, answer: &HookAnswer) -> Result<(), String> {
    match term::write_all(term::Stream::Out, super::write(agent, answer).as_bytes()) {
        term::Written::Done | term::Written::Closed => Ok(()),
        term::Written::Failed(error) => Err(format!("the answer cannot be written: {error}")),
    }
}
