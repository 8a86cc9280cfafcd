//! The entry: reads the command line, runs one command, and turns its end into an exit code.

use super::args::{self, Cli, Globals, KeeperArgs, ParseStop, SuperviseArgs};
use super::commands::operate;
use super::commands::operate::demo::DemoArgs;
use super::commands::queue::room::{Around, Terminal};
use super::configuration::{Loaded, config_of, followed};
use super::context::{app_of, inputs, of_state_dir, open_state, state_dir, variable};
use super::exit::Exit;
use super::fleet;
use super::identity::caller_of;
use super::input::{Consent, confirm};
use super::mcp::Answered;
use super::output::console::{Answer, Channel, Console, Stop, Streams, Wrote};
use super::output::lane::Lanes;
use super::output::messages;
use super::output::report::{of_usage, render};
use super::output::style::{ColorHints, Style};
use super::signals::{STOPS, ended, interrupts};
use super::verbs::{self, Command, Does};
use crate::app::fleet::Fleet;
use crate::app::granted::watch_lease;
use crate::app::hooks::{hand_hooks_over, run_handed_over, run_hooks};
use crate::app::locks::keeper::keep_session;
use crate::app::pass::supervise::supervise;
use crate::app::pass::wake::fire_timers;
use crate::app::query::logs::Stream;
use crate::app::{App, AppError, Code, Refusal, Settings, doctor, shell_word};
use crate::model::Config;
use crate::os::real::{self, RealClock, RealFiles, RealProcesses, term};
use crate::os::{Clock, StartError};
use crate::store::Spool;
use crate::store::state_dir;
use crate::store::state_dir::Found;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

/// Runs luzia with the process's arguments.
pub fn entry(args: Vec<OsString>) -> ExitCode {
    if let Some(code) = super::shim::called(&args)
        .or_else(|| super::agent::hook::called(&args))
        .or_else(|| super::mcp_server::called(&args))
    {
        return ExitCode::from(code);
    }
    let mut write = |channel: Channel, bytes: &[u8]| match term::write_all(stream_of(channel), bytes) {
        term::Written::Done => Wrote::Done,
        term::Written::Closed => Wrote::Closed,
        term::Written::Failed(error) => Wrote::Failed(error),
    };
    let code = match args::parse(at_terminal(args)) {
        Ok(cli) => {
            // A file size limit becomes an error instead of a death. If /proc cannot be read, only that is lost.
            let _ = real::prepare_process();
            let mut console = Console::new(&cli.globals, streams(&cli.globals), RealClock.now(), &mut write);
            let answer = verbs::run(&cli, &mut console);
            conclude(answer, cli.command.name(), &mut console)
        }
        Err(stop) => refuse(stop, &mut write),
    };
    ExitCode::from(code)
}

/// Without a word a person gets the first page. A script that lacks its verb gets an error.
fn at_terminal(mut args: Vec<OsString>) -> Vec<OsString> {
    if args.len() == 1 && term::is_terminal(term::Stream::Out) {
        args.push("--help".into());
    }
    args
}

/// Carries out a command line for a server, with the answer as a document. A server has no person to ask.
pub(super) fn captured(words: &[String], globals: &Globals) -> Answered {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut write = |channel: Channel, bytes: &[u8]| {
        match channel {
            Channel::Out => out.extend_from_slice(bytes),
            Channel::Err => err.extend_from_slice(bytes),
        }
        Wrote::Done
    };
    let is_log = words.first().is_some_and(|verb| verb == "logs");
    let format = if is_log { "table" } else { "json" };
    let own = ["luzia", "--no-input", "-o", format].map(OsString::from);
    let code = match args::parse(own.into_iter().chain(words.iter().map(OsString::from)).collect()) {
        Ok(cli) => {
            let given = globals.clone();
            let globals =
                Globals { state_dir: given.state_dir, config: given.config, store: given.store, ..cli.globals };
            let cli = Cli { globals, command: cli.command };
            let mut console = Console::new(&cli.globals, Streams::PLAIN, RealClock.now(), &mut write);
            let answer = verbs::run(&cli, &mut console);
            conclude(answer, cli.command.name(), &mut console)
        }
        Err(stop) => refuse(stop, &mut write),
    };
    Answered { code, out, err }
}

fn stream_of(channel: Channel) -> term::Stream {
    match channel {
        Channel::Out => term::Stream::Out,
        Channel::Err => term::Stream::Err,
    }
}

fn streams(globals: &Globals) -> Streams {
    let text = |name: &str| variable(name).ok().flatten();
    let hints = |is_terminal| ColorHints {
        no_color: text("NO_COLOR"),
        clicolor_force: text("CLICOLOR_FORCE"),
        term: text("TERM"),
        is_terminal,
    };
    let (out, err) = (term::is_terminal(term::Stream::Out), term::is_terminal(term::Stream::Err));
    Streams {
        out_style: Style::choose(globals.color, &hints(out)),
        err_style: Style::choose(globals.color, &hints(err)),
        is_out_terminal: out,
        is_err_terminal: err,
        width: if out { term::width(term::Stream::Out) } else { None },
        live_width: if err && text("TERM").as_deref() != Some("dumb") { term::width(term::Stream::Err) } else { None },
    }
}

/// Answers help and version, and refuses a command line that cannot be parsed.
fn refuse(stop: ParseStop, write: &mut dyn FnMut(Channel, &[u8]) -> Wrote) -> u8 {
    let streams = streams(&Globals::default());
    let (error, as_json) = match stop {
        ParseStop::Answer { plain, styled } => {
            let text = if streams.out_style.color { styled } else { plain };
            match write(Channel::Out, text.as_bytes()) {
                Wrote::Done | Wrote::Closed => return Exit::Done.code(),
                Wrote::Failed(error) => (unwritten(&error), false),
            }
        }
        ParseStop::Usage(usage) => {
            let as_json = usage.json;
            (of_usage(usage), as_json)
        }
    };
    let exit = error.kind().code();
    let _ = write(Channel::Err, render(&error, exit, as_json, streams.err_style).as_bytes());
    exit
}

fn unwritten(error: &std::io::Error) -> AppError {
    AppError::new(Code::Output, format!("the answer could not be written: {error}"))
}

/// Turns the end of a verb into an exit code, and reports its error.
fn conclude(answer: Answer, verb: &str, console: &mut Console) -> u8 {
    console.end_live();
    match answer.map_err(|error| error_of_end(&error, console)) {
        Ok(code) => code,
        Err(None) => Exit::Done.code(),
        Err(Some(mut error)) => {
            let Refusal { kind, hint, next, .. } = error.refusal();
            // Bad input always gets a next command; without a better one, the help of the command.
            if *kind == Exit::Usage && hint.is_none() && next.is_empty() {
                error = error.next(format!("luzia {verb} --help"));
            }
            console.report(&error)
        }
    }
}

/// The error that ended a command. Only this function knows all kinds of errors. Returns `None` when the reader has closed the
/// pipe.
fn error_of_end(error: &anyhow::Error, console: &mut Console) -> Option<AppError> {
    let error = match (error.downcast_ref::<AppError>(), error.downcast_ref::<Stop>()) {
        (Some(error), _) => error.clone(),
        (None, Some(Stop::Closed)) => return None,
        (None, Some(Stop::Unwritten(error))) => {
            return Some(unwritten(error).hint("the command itself was carried out"));
        }
        (None, None) => return Some(AppError::new(Code::Bug, format!("{error:#}"))),
    };
    for line in &error.refusal().log {
        console.log(line);
    }
    if [Code::NoPermission, Code::ReadOnly, Code::StateDir].contains(&error.code())
        && let Some(grant) = super::context::agent().and_then(|name| messages::grant_of_agent(&name))
    {
        let hint = error.refusal().hint.as_ref().map_or(grant.to_owned(), |hint| format!("{hint}; {grant}"));
        return Some(error.hint(hint));
    }
    Some(error)
}

/// Runs a verb that needs no state directory.
pub(super) fn alone(cli: &Cli, console: &mut Console, act: &mut dyn FnMut(&Cli, &mut Console) -> Answer) -> Answer {
    act(cli, console)
}

/// Arguments of a verb that works in a state directory.
pub(super) struct InState<'a> {
    /// The use cases in the state directory.
    pub app: &'a App,
    /// The rule by which the state directory was found, in words.
    pub rule: &'static str,
    /// The store of a daemon or an `attach`, which work in the state directory and ask the store beside that.
    pub store: Option<&'a dyn Fleet>,
    /// The way in which a person agrees.
    pub agree: Consent<'a>,
}

/// Runs a verb in the state directory of the command line, by the present rules.
pub(super) fn in_state(
    cli: &Cli,
    console: &mut Console,
    act: &mut dyn FnMut(&InState, &mut Console) -> Answer,
) -> Answer {
    let command = &cli.command;
    let mut does = command.properties();
    let loaded = match config_of(&cli.globals) {
        Err(error) if !does.contains(&Does::NoRules) => return Err(error.into()),
        loaded => loaded,
    };
    if let Err(error) = &loaded {
        console.say(&format!("warning: {}; `{}` works without it", error.message(), command.name()));
    }
    for warning in loaded.iter().flat_map(|loaded| &loaded.warnings) {
        console.say(&format!("warning: {warning}"));
    }
    let store = fleet::for_command(command, &cli.globals, loaded.as_ref().ok().map(|loaded| &loaded.config))?;
    if store.is_some() {
        // The rules of `lanes set` and the pauses of this host are not those of all hosts.
        does.push(Does::OwnRules);
    }
    let found = state_dir(&cli.globals)?;
    let rule = found.rule.text();
    let mut app = app_of(&cli.globals, followed(loaded, &cli.globals), &found, &does)?;
    (app.agent, app.label) = caller_of(command, app.agent.take())?;
    app.fleet = store.map(|(url, from)| fleet::open(app.host.clone(), &url, from)).transpose()?;
    let works_here = matches!(command, Command::Daemon(_) | Command::Attach(_));
    let beside = if works_here { app.fleet.take() } else { None };
    if beside.is_some() && matches!(command, Command::Daemon(_)) {
        // The listener of the agent wakes it. Without that it looks each second.
        let _ = real::catch(&[real::Caught::Pass]);
    }
    console.lanes = Lanes::of_err(&app, console);
    if app.is_absent && app.fleet.is_none() {
        // Without this note, a mistyped path looks like an empty queue.
        console.say(&format!("note: there is no state directory \"{}\" ({rule}) yet", found.path));
    }
    if !does.contains(&Does::NoTimers) {
        for what in fire_timers(&app) {
            console.say(&format!("warning: {what}; it was set aside"));
        }
    }
    let ask = |question: &str| confirm(&cli.globals, question);
    let at = InState { app: &app, rule, store: beside.as_deref(), agree: Consent { ask: &ask, yes: cli.globals.yes } };
    let answer = act(&at, console).map_err(|error| match app.fleet {
        // With a store a lane is a task, too.
        Some(_) => error,
        None => with_lock_instead(error, command),
    });
    let asks_store = app.fleet.is_some() || beside.is_some() && matches!(command, Command::Attach(_));
    let answer = if asks_store { fleet::with_since(&app, answer) } else { answer };
    if does.contains(&Does::RunsHooks) {
        run_hooks(&app, &mut |text| console.say(text));
    } else {
        hand_hooks_over(&app, &mut |text| console.say(text));
    }
    answer
}

/// Proposes `luzia lock` to a caller that cannot queue its command, because it may write to the folder `locks` only.
fn with_lock_instead(error: anyhow::Error, command: &Command) -> anyhow::Error {
    let task = match command {
        Command::Run(args) => &args.task,
        Command::Enqueue(args) => &args.task,
        _ => return error,
    };
    error.downcast::<AppError>().map_or_else(std::convert::identity, |refusal| {
        if !matches!(refusal.code(), Code::ReadOnly | Code::NoPermission) || task.command.is_empty() {
            return refusal.into();
        }
        let threads = task.threads.iter().map(|thread| format!("thread:{thread}"));
        let lanes = task.lanes.iter().cloned().chain(threads).map(|lane| format!("-l {} ", shell_word(lane)));
        let user = task.user.iter().map(|user| format!("-u {} ", shell_word(user)));
        let repo = task.repo.iter().map(|dir| format!("--repo={} ", shell_word(dir)));
        let tree = task.tree.iter().map(|dir| format!("--tree={} ", shell_word(dir)));
        let options: String = user.chain(lanes).chain(repo).chain(tree).collect();
        let words: Vec<String> = task.command.iter().map(shell_word).collect();
        refusal.first_next(format!("luzia lock {options}--wait 90s -- {}", words.join(" "))).into()
    })
}

/// The hidden verb `supervise`: supervises one task.
pub(super) fn supervised(args: &SuperviseArgs, app: &App) -> anyhow::Result<()> {
    Ok(supervise(app, app.task_id(&args.task)?, args.recover, &mut || real::take(real::Caught::Terminate))?)
}

/// The hidden verb `keep-session`: keeps the leases of a session.
pub(super) fn kept(args: &KeeperArgs, app: &App) -> anyhow::Result<()> {
    Ok(keep_session(app, &args.key, args.pid, args.start, &mut || real::take(real::Caught::Terminate))?)
}

/// The hidden verb `run-hooks`: runs hooks for the events on standard input.
pub(super) fn hooked(app: &App) -> anyhow::Result<()> {
    Ok(run_handed_over(app)?)
}

/// The hidden verb `watch-lease`: kills the granted tasks without a supervisor at the end of the lease.
pub(super) fn watched(app: &App) -> anyhow::Result<()> {
    Ok(watch_lease(app)?)
}

/// Gives the terminal of this process to a verb that streams output. From then on, the signals that stop a program are
/// counted.
pub(super) fn with_terminal(act: impl FnOnce(&mut Terminal) -> Answer) -> Answer {
    let has_room = |stream, time| match stream {
        Stream::Out => term::has_room(term::Stream::Out, time),
        Stream::Err => term::has_room(term::Stream::Err, time),
    };
    let caller = Around {
        is_agent: crate::app::agent::is_agent(&|name| term::env(name).and_then(|value| value.into_string().ok())),
        has_terminal: term::can_ask(),
    };
    let interrupts = &mut interrupts(&STOPS);
    let now_ms = &|| RealClock.boot_ms();
    let mut raw: Option<real::RawInput> = None;
    act(&mut Terminal {
        interrupts,
        has_room: &has_room,
        piece: term::PIECE,
        now_ms,
        caller,
        has_unread_input: &term::has_unread_input,
        raw: &mut |is_raw| {
            let old = raw.take();
            raw = if is_raw { old.or_else(real::RawInput::begin) } else { None };
        },
    })
}

/// Plays the demo in a directory that is removed afterwards. Another configuration must not change the demo, so an empty one
/// takes its place.
pub(super) fn demo(args: &DemoArgs, globals: &Globals, console: &mut Console) -> Answer {
    let failed = |error: std::io::Error| {
        let message = format!("cannot make a temporary directory: {error}");
        AppError::new(Code::NoTemporaryDirectory, message).hint("TMPDIR names the place, which is /tmp by default")
    };
    let dir = real::TemporaryDirectory::new("luzia-demo-").map_err(failed)?;
    let files = open_state(&Found { path: dir.path().to_owned(), rule: state_dir::Rule::Variable }, false)?;
    let mut variables =
        vec![("LUZIA_STATE_DIR".to_owned(), dir.path().to_owned()), ("LUZIA_STORE".to_owned(), "local".to_owned())];
    if !matches!(config_of(globals), Ok(Loaded { path: None, .. })) {
        let written = files.open("config.json", crate::os::Open::CreateNew(0o600));
        written.and_then(|file| file.map_or(Ok(()), |mut file| file.write_all(b"{}\n"))).map_err(failed)?;
        variables.push(("LUZIA_CONFIG".to_owned(), format!("{}/config.json", dir.path())));
    }
    let store = Spool::new(files, Arc::new(RealClock), Arc::new(RealProcesses));
    let app = App::new(store, Settings::fixed(Config::default()));
    let program = term::own_program();
    let luzia = |words: &[String]| {
        let argv: Vec<String> = std::iter::once(&program).chain(words).cloned().collect();
        real::output(&argv, &variables)
    };
    let stage = crate::app::demo::Stage { app: &app, luzia: &luzia, variables: &variables };
    let answer = operate::demo::run(args, &stage, &mut ended(), console);
    if args.keep {
        dir.keep();
    }
    answer
}

/// The surroundings that `doctor` looks at, with the faults that stop other verbs.
pub(super) fn around(globals: &Globals) -> doctor::Around {
    let inputs = inputs(globals);
    let found =
        inputs.as_ref().map_err(Clone::clone).and_then(|inputs| state_dir::resolve(inputs).map_err(of_state_dir));
    let others = match (&inputs, &found) {
        (Ok(inputs), Ok(found)) => state_dir::other_candidates(inputs, found),
        _ => Vec::new(),
    };
    let is_there = |other: &Found| matches!(RealFiles::open_at(&other.path, false), Ok(Some(_)));
    let others = others.into_iter().filter(is_there).map(|other| (other.path, other.rule.text())).collect();
    let loaded = config_of(globals);
    let config = loaded.as_ref().map(|loaded| loaded.config.clone()).unwrap_or_default();
    let store = super::fleet::found(globals, Some(&config));
    let does = [Does::OwnRules, Does::ReportsFaults];
    let seen = |Loaded { path, rule, warnings, .. }| doctor::ConfigSeen { path, rule, warnings };
    doctor::Around {
        app: found
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|found| app_of(globals, Settings::fixed(config), found, &does)),
        state_dir: found.ok().map(|found| (found.path, found.rule.text())),
        others,
        config: loaded.map(seen),
        forces_file_system: matches!(variable("LUZIA_FORCE_FILE_SYSTEM"), Ok(Some(_))),
        agents: super::agent::setup::named(globals),
        store,
    }
}

/// The hidden verb `exec-task`: takes an account on and becomes the command.
pub(super) fn exec_task(args: &[String], console: &mut Console) -> u8 {
    let [flag, account, dashes, argv @ ..] = args else { return Exit::Usage.code() };
    if flag != "--account" || dashes != "--" || argv.is_empty() {
        return Exit::Usage.code();
    }
    // The check whether a project may use this account was made when the task was accepted.
    not_started(real::exec_task(account, argv), console)
}

/// The hidden verb `exec-pty`: gives a command a terminal of its own.
pub(super) fn exec_pty(args: &[String], console: &mut Console) -> u8 {
    let words: Vec<&str> = args.iter().take(4).map(String::as_str).collect();
    match words[..] {
        ["--inner", "--", _, ..] => not_started(real::become_on_terminal(&args[2..]), console),
        ["--input-of", process, "--", _] => match real::run_on_terminal(process, &args[3..]) {
            Ok(exit) => real::end_as(exit),
            Err(error) => not_started(error, console),
        },
        _ => Exit::Usage.code(),
    }
}

/// Reports why a command was not started, and gives the exit code for that.
pub(super) fn not_started(error: StartError, console: &mut Console) -> u8 {
    let (code, error) = match error {
        StartError::NotFound(error) => (Exit::NoCommand, error),
        StartError::NotExecutable(error) => (Exit::NotExecutable, error),
        StartError::Short(error) | StartError::Other(error) => (Exit::NotStarted, error),
    };
    console.say(&format!("luzia: {error}"));
    code.code()
}
