//! WORDS: arguments in, tables and JSON out. This file and `configuration` alone wire the real operating system and the
//! store to the use cases; the others hold no rule of the domain and touch neither.

pub mod args;
pub mod completions;
mod configuration;
mod console;
pub(crate) mod door;
pub mod escape;
pub mod exit;
pub mod json;
pub mod report;
pub mod style;
pub mod table;
pub mod timeline;
mod verbs;
mod words;

use crate::app::enqueue::Caller;
use crate::app::logs::Stream;
use crate::app::whose::Accounts;
use crate::app::{App, AppError, Inside, Kind, Settings};
use crate::model::{Config, TaskId};
use crate::os::real::{self, RealClock, RealFiles, RealProcesses, term};
use crate::os::{Clock, Processes, Vfs};
use crate::store::Store;
use crate::store::statedir::{self, Found, Inputs};
use args::{Cli, Globals, ParseStop, Verb};
use configuration::{Loaded, config_of, followed, named_config};
use console::{Answer, Channel, Console, Stop, Streams, Wrote};
use exit::Exit;
use report::Report;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use style::{ColorHints, Style};
use verbs::work::Terminal;

/// The largest file of task lines read, in bytes.
const MAX_INPUT_BYTES: u64 = 256 * 1024 * 1024;

/// Runs luzia with the process's arguments.
pub fn main(args: Vec<OsString>) -> ExitCode {
    let mut write = |channel: Channel, bytes: &[u8]| match term::write_all(stream_of(channel), bytes) {
        term::Written::Done => Wrote::Done,
        term::Written::Closed => Wrote::Closed,
        term::Written::Failed(error) => Wrote::Failed(error),
    };
    let code = match args::parse(args) {
        Ok(cli) => {
            // A file size limit becomes an error instead of a death. Where /proc cannot be read nothing is lost but that.
            let _ = real::prepare_process();
            let mut console = Console::new(&cli.globals, streams(&cli.globals), RealClock.now(), &mut write);
            let answer = run(&cli, &mut console);
            conclude(answer, cli.verb.name(), &mut console)
        }
        Err(stop) => refuse(stop, &mut write),
    };
    ExitCode::from(code)
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
    }
}

/// Answers help and version, and refuses what cannot be read.
fn refuse(stop: ParseStop, write: &mut dyn FnMut(Channel, &[u8]) -> Wrote) -> u8 {
    match stop {
        ParseStop::Answer { plain, styled } => {
            let text = if streams(&Globals::default()).out_style.color { styled } else { plain };
            match write(Channel::Out, text.as_bytes()) {
                Wrote::Done | Wrote::Closed => Exit::Done.code(),
                Wrote::Failed(error) => {
                    let report = unwritten(&error);
                    let _ =
                        write(Channel::Err, report.render(false, streams(&Globals::default()).err_style).as_bytes());
                    report.exit
                }
            }
        }
        ParseStop::Usage(usage) => {
            let as_json = usage.json;
            let report = Report::from(usage);
            let text = report.render(as_json, streams(&Globals::default()).err_style);
            let _ = write(Channel::Err, text.as_bytes());
            report.exit
        }
    }
}

fn unwritten(error: &std::io::Error) -> Report {
    Report::new("OUTPUT", Exit::InputOutput, format!("the answer could not be written: {error}"))
}

/// Turns the end of a verb into an exit code, and says what went wrong.
fn conclude(answer: Answer, verb: &str, console: &mut Console) -> u8 {
    match answer {
        Ok(code) => code,
        Err(Stop::Closed) => Exit::Done.code(),
        Err(Stop::Unwritten(error)) => console.report(&unwritten(&error).hint("what was done is done")),
        Err(Stop::Refused(error)) => {
            for line in &error.0.log {
                console.log(line);
            }
            let mut report = words::report_of(&error);
            // Bad input always gets a way out; where nothing better is known, it is the help of the verb.
            if report.exit == Exit::Usage.code() && report.hint.is_none() && report.next.is_empty() {
                report = report.next(format!("luzia {verb} --help"));
            }
            console.report(&report)
        }
    }
}

/// Carries out one verb.
fn run(cli: &Cli, console: &mut Console) -> Answer {
    match &cli.verb {
        Verb::Completions(args) => {
            console.out(&completions::script(args.shell))?;
            Ok(Exit::Done.code())
        }
        Verb::ExecTask(args) => Ok(exec_task(&args.args, console)),
        Verb::Config(args) => {
            let loaded = config_of(&cli.globals)?;
            verbs::tend::config(args.verb, &loaded, console)
        }
        Verb::Doctor(args) => {
            let around = surroundings(&cli.globals);
            verbs::tend::doctor(args, &around, &mut |question| confirm(&cli.globals, question), console)
        }
        Verb::Demo(args) => demo(args, &cli.globals, console),
        verb => {
            let loaded = match config_of(&cli.globals) {
                Err(error) if needs_rules(verb) => return Err(error.into()),
                loaded => loaded,
            };
            if let Err(error) = &loaded {
                console.say(&format!("warning: {}; `{}` does without it", error.0.message, verb.name()));
            }
            for warning in loaded.iter().flat_map(|loaded| &loaded.warnings) {
                console.say(&format!("warning: {warning}"));
            }
            let found = state_dir(&cli.globals)?;
            let app = app_of(&cli.globals, followed(loaded, &cli.globals), &found, verb)?;
            carry_out(verb, &app, console, &found)
        }
    }
}

/// Whether a verb needs a configuration that reads: what was claimed is run by the rules of its claim, and what runs or is
/// held can be watched, kept and ended without any.
fn needs_rules(verb: &Verb) -> bool {
    let is_of_tasks = matches!(verb, Verb::Supervise(_) | Verb::Cancel(_) | Verb::Wait(_) | Verb::Logs(_));
    !is_of_tasks && !matches!(verb, Verb::Renew(_) | Verb::Release(_))
}

fn carry_out(verb: &Verb, app: &App, console: &mut Console, found: &Found) -> Answer {
    match verb {
        Verb::Enqueue(args) => verbs::work::enqueue(args, app, &caller(), &read_input, console),
        Verb::Run(args) => {
            let has_room = |stream, time| match stream {
                Stream::Out => term::has_room(term::Stream::Out, time),
                Stream::Err => term::has_room(term::Stream::Err, time),
            };
            let interrupts = &mut interrupts(&STOPS);
            let mut terminal = Terminal { interrupts, has_room: &has_room, piece: term::PIECE };
            verbs::work::run(args, app, &caller(), &mut terminal, console)
        }
        Verb::Wait(args) => verbs::work::wait(args, app, console),
        Verb::Cancel(args) => verbs::work::cancel(args, app, account, console),
        Verb::Retry(args) => verbs::work::retry(args, app, console),
        Verb::List(args) => verbs::list::list(args, app, console),
        Verb::Show(args) => verbs::look::show(args, app, console),
        Verb::Logs(args) => verbs::logs::logs(args, app, console),
        Verb::Explain(args) => verbs::look::explain(args, app, console),
        Verb::Status(args) => verbs::status::status(args, app, found.rule.text(), console),
        Verb::Lock(args) => verbs::locks::lock(args, app, account, console),
        Verb::Acquire(args) => verbs::locks::acquire(args, app, console),
        Verb::Renew(args) => verbs::locks::renew(args, app, console),
        Verb::Release(args) => verbs::locks::release(args, app, console),
        Verb::Check(args) => verbs::locks::check(args, app, console),
        Verb::ListLocks(args) => verbs::locks::list_locks(args, app, console),
        Verb::CleanupStale(args) => verbs::locks::cleanup_stale(args, app, console),
        Verb::CheckProject(args) => verbs::locks::check_project(args, app, console),
        Verb::Dispatch(args) => verbs::tend::dispatch(args, app, &mut ended(), console),
        Verb::Daemon(args) => verbs::tend::daemon(args, app, &mut daemon_ended(), console),
        Verb::Supervise(args) => {
            let mut is_told_to_end = || real::take(real::Caught::Terminate);
            app.supervise(app.task_id(&args.task)?, args.recover, &mut is_told_to_end)?;
            Ok(Exit::Done.code())
        }
        Verb::Completions(_) | Verb::ExecTask(_) | Verb::Config(_) | Verb::Doctor(_) | Verb::Demo(_) => {
            Err(AppError::new(Kind::Bug, "BUG", "this verb needs no state directory").into())
        }
    }
}

/// A variable of the environment; an empty one counts as not set, one that is not UTF-8 is refused.
fn variable(name: &str) -> Result<Option<String>, AppError> {
    match term::env(name).map(OsString::into_string) {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
        Some(Err(_)) => Err(AppError::new(Kind::Config, "BAD_VARIABLE", format!("the variable {name} is not UTF-8"))
            .hint("unset it, or give the option in its stead")),
    }
}

/// Where the home of the caller is looked for.
const HOME: statedir::Home = statedir::Home { variable: term::env, of_account: real::account_home };

fn inputs(globals: &Globals) -> Result<Inputs, AppError> {
    Ok(Inputs {
        flag: globals.state_dir.clone(),
        luzia_state_dir: variable("LUZIA_STATE_DIR")?,
        state_directory: variable("STATE_DIRECTORY")?,
        var_lib_exists: matches!(RealFiles::open_at(statedir::SYSTEM_STATE, false), Ok(Some(_)) | Err(_)),
        home_state: || statedir::home_state(HOME),
        cwd: term::working_directory().ok(),
    })
}

fn of_state_dir(error: statedir::StateDirError) -> AppError {
    use statedir::StateDirError;
    match error {
        StateDirError::Nowhere => AppError::new(Kind::Config, "NO_STATE_DIR", error.to_string())
            .hint("LUZIA_STATE_DIR=DIR in the environment does for every call"),
        StateDirError::HomeUnknown(_) => AppError::new(Kind::Io, "ACCOUNT", error.to_string())
            .hint("HOME in the environment makes the look unnecessary"),
        StateDirError::Empty(_) => AppError::usage(error.to_string()),
        StateDirError::Relative("LUZIA_STATE_DIR", ref path) => {
            AppError::new(Kind::Config, "BAD_VARIABLE", error.to_string()).hint(format!(
                "LUZIA_STATE_DIR=\"$PWD/{path}\", set once; a relative one is another queue in every directory"
            ))
        }
        // What stands on the command line is usage; what stands in the environment is configuration.
        StateDirError::Control(what, _)
        | StateDirError::Relative(what, _)
        | StateDirError::NoWorkingDirectory(what, _) => {
            if what.starts_with("--") {
                AppError::usage(error.to_string())
            } else {
                AppError::new(Kind::Config, "BAD_VARIABLE", error.to_string()).hint("give --state-dir DIR")
            }
        }
    }
}

fn state_dir(globals: &Globals) -> Result<Found, AppError> {
    statedir::resolve(&inputs(globals)?).map_err(of_state_dir)
}

/// The use cases in the state directory that was found. It is made by the verbs that keep something in it.
fn app_of(globals: &Globals, settings: Settings, found: &Found, verb: &Verb) -> Result<App, AppError> {
    let creates = matches!(verb, Verb::Enqueue(_) | Verb::Run(_) | Verb::Lock(_) | Verb::Acquire(_) | Verb::Daemon(_));
    let files = open_state(found, creates)?;
    let processes: Arc<dyn Processes> = Arc::new(RealProcesses);
    let store = Store::new(files, Arc::new(RealClock), processes);
    // `doctor` looks at an unsafe directory too, and says what is wrong with it.
    if store.is_there() && !matches!(verb, Verb::Doctor(_)) {
        store.check_safety(variable("LUZIA_FORCE_FILE_SYSTEM")?.is_some())?;
    }
    let mut app = App::new(store, settings);
    app.same_place = vec!["--state-dir".to_owned(), app.store_path().to_owned()];
    if let Some(path) = named_config(globals)? {
        app.same_place.extend(["--config".to_owned(), path.clone()]);
        app.config_path = Some(path);
    }
    app.inside = inside(app.store_path())?;
    app.has_holder = app.inside.is_some() || variable("LUZIA_LOCK_ID")?.is_some();
    Ok(app)
}

fn open_state(found: &Found, create: bool) -> Result<Arc<dyn Vfs>, AppError> {
    let failed = |error: std::io::Error| {
        let message = format!("cannot use the state directory \"{}\" ({}): {error}", found.path, found.rule.text());
        let kind = match error.kind() {
            std::io::ErrorKind::PermissionDenied => Kind::NoPermission,
            std::io::ErrorKind::NotADirectory => Kind::CannotCreate,
            _ => Kind::Io,
        };
        AppError::new(kind, "STATE_DIR", message).hint("choose another with --state-dir or LUZIA_STATE_DIR")
    };
    match RealFiles::open_at(&found.path, create).map_err(failed)? {
        Some(files) => Ok(Arc::new(files)),
        None => Ok(Arc::new(crate::os::nowhere::Nowhere::at(&found.path))),
    }
}

/// The task inside which this process runs, when it is one of this very state directory.
fn inside(state_dir: &str) -> Result<Option<Inside>, AppError> {
    let Some(task) = variable("LUZIA_TASK_ID")?.as_deref().and_then(TaskId::parse) else { return Ok(None) };
    if variable("LUZIA_STATE_DIR")?.as_deref() != Some(state_dir) {
        return Ok(None);
    }
    Ok(Some(Inside { task, user: variable("LUZIA_USER")?, project: variable("LUZIA_PROJECT")? }))
}

/// The name of the account that calls; one that has none is called by its number. A name that cannot be looked up is not
/// replaced by the number: it would be another user, whose tasks run beside this one's.
fn account() -> Result<String, AppError> {
    let (uid, _) = term::account();
    let failed = |error| AppError::not_looked_up(&format!("the name of this account (uid {uid})"), &error);
    let hint = "-u NAME says whose turn it is; `cancel` has --by NAME";
    let found = real::account_name(uid).map_err(|error| failed(error).hint(hint))?;
    Ok(found.unwrap_or_else(|| format!("uid-{uid}")))
}

fn caller() -> Caller {
    Caller {
        env: crate::app::enqueue::inherited(term::environment()),
        cwd: term::working_directory().map_err(|error| error.to_string()),
        umask: term::umask(),
        accounts: Accounts::new(account),
        pid: RealProcesses.me().pid,
    }
}

/// What stops a program.
const STOPS: [real::Caught; 3] = [real::Caught::Interrupt, real::Caught::Terminate, real::Caught::Hangup];

/// How often one of `ending` came since the start; the first call begins to catch all of [`STOPS`], of which the others only
/// wake.
fn interrupts(ending: &'static [real::Caught]) -> impl FnMut() -> u32 {
    let _ = real::catch(&STOPS);
    let mut count = 0;
    move || {
        for signal in STOPS {
            count += u32::from(real::take(signal) && ending.contains(&signal));
        }
        count
    }
}

fn ended() -> impl FnMut() -> bool {
    let mut count = interrupts(&STOPS);
    move || count() > 0
}

/// The same for a daemon, which has a terminal or not: without one SIGHUP means that the configuration has changed, and only
/// wakes it.
fn daemon_ended() -> impl FnMut() -> bool {
    let has_terminal = term::can_ask() || term::is_terminal(term::Stream::Err);
    let mut count = interrupts(if has_terminal { &STOPS } else { &STOPS[..2] });
    move || count() > 0
}

/// Reads a file of task lines, or standard input for `-`.
fn read_input(path: &str) -> Result<String, AppError> {
    let failed = |error: std::io::Error| {
        AppError::new(Kind::Io, "IO", format!("cannot read \"{path}\": {error}")).hint("nothing was queued")
    };
    let Some(bytes) = term::read_whole(path, MAX_INPUT_BYTES).map_err(failed)? else {
        let message = format!("\"{path}\" is longer than {} MiB", MAX_INPUT_BYTES >> 20);
        return Err(AppError::usage(message).hint("queue it in parts; nothing was queued"));
    };
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        AppError::usage(format!("\"{path}\" line {line} is not UTF-8")).hint("nothing was queued")
    })
}

/// Plays the demo in a directory that is removed afterwards. Another configuration must not change what it shows, so
/// where there is one, an empty one stands in for it.
fn demo(args: &args::DemoArgs, globals: &Globals, console: &mut Console) -> Answer {
    let failed = |error: std::io::Error| {
        let message = format!("cannot make a temporary directory: {error}");
        AppError::new(Kind::CannotCreate, "NO_TEMPORARY_DIRECTORY", message).hint("TMPDIR says where; /tmp otherwise")
    };
    let dir = real::TemporaryDirectory::new("luzia-demo-").map_err(failed)?;
    let files = open_state(&Found { path: dir.path().to_owned(), rule: statedir::Rule::Variable }, false)?;
    let mut variables = vec![("LUZIA_STATE_DIR".to_owned(), dir.path().to_owned())];
    if !matches!(config_of(globals), Ok(Loaded { path: None, .. })) {
        let written = files.open("config.json", crate::os::Open::CreateNew(0o600));
        written.and_then(|file| file.map_or(Ok(()), |mut file| file.write_all(b"{}\n"))).map_err(failed)?;
        variables.push(("LUZIA_CONFIG".to_owned(), format!("{}/config.json", dir.path())));
    }
    let store = Store::new(files, Arc::new(RealClock), Arc::new(RealProcesses));
    let app = App::new(store, Settings::fixed(Config::default()));
    let program = term::own_program();
    let luzia = |words: &[String]| {
        let argv: Vec<String> = std::iter::once(&program).chain(words).cloned().collect();
        real::output(&argv, &variables)
    };
    let stage = crate::app::demo::Stage { app: &app, luzia: &luzia, variables: &variables };
    let answer = verbs::demo::demo(args, &stage, &mut ended(), console);
    if args.keep {
        dir.keep();
    }
    answer
}

/// What `doctor` looks at, which includes what keeps the other verbs from working.
fn surroundings(globals: &Globals) -> verbs::tend::Surroundings {
    let inputs = inputs(globals);
    let found = inputs.as_ref().map_err(again).and_then(|inputs| statedir::resolve(inputs).map_err(of_state_dir));
    let others = match (&inputs, &found) {
        (Ok(inputs), Ok(found)) => statedir::other_candidates(inputs, found),
        _ => Vec::new(),
    };
    let is_there = |other: &Found| matches!(RealFiles::open_at(&other.path, false), Ok(Some(_)));
    let others = others.into_iter().filter(is_there).map(|other| (other.path, other.rule.text())).collect();
    let loaded = config_of(globals);
    let config = loaded.as_ref().map(|loaded| loaded.config.clone()).unwrap_or_default();
    let probe = Verb::Doctor(args::DoctorArgs { fix: false });
    verbs::tend::Surroundings {
        app: found.as_ref().map_err(again).and_then(|found| app_of(globals, Settings::fixed(config), found, &probe)),
        state_dir: found.ok().map(|found| (found.path, found.rule.text())),
        others,
        config: loaded,
        forces_file_system: matches!(variable("LUZIA_FORCE_FILE_SYSTEM"), Ok(Some(_))),
    }
}

fn again(error: &AppError) -> AppError {
    AppError(error.0.clone())
}

/// Asks a question on the terminal. `-y` answers it with yes; without a terminal, or with `--no-input`, it counts as
/// refused.
fn confirm(globals: &Globals, question: &str) -> Result<bool, AppError> {
    if globals.yes {
        return Ok(true);
    }
    let can_ask = term::can_ask() && term::is_terminal(term::Stream::Err);
    if globals.no_input || !can_ask {
        let message = format!("\"{question}\" cannot be asked here; nothing was changed");
        return Err(AppError::usage(message).hint("-y answers yes"));
    }
    let _ = term::write_all(term::Stream::Err, format!("{question} [y/N] ").as_bytes());
    let failed = |error| AppError::new(Kind::Io, "IO", format!("cannot read the answer: {error}"));
    let answer = term::read_line().map_err(failed)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// The hidden verb `exec-task`: takes an account on and becomes the command.
fn exec_task(args: &[String], console: &mut Console) -> u8 {
    let [flag, account, dashes, argv @ ..] = args else { return Exit::Usage.code() };
    if flag != "--account" || dashes != "--" || argv.is_empty() {
        return Exit::Usage.code();
    }
    // Whether a project may use this account was decided when the task was accepted.
    let (code, error) = match real::exec_task(account, argv) {
        crate::os::StartError::NotFound(error) => (Exit::NoSuchCommand, error),
        crate::os::StartError::NotExecutable(error) => (Exit::NotExecutable, error),
        crate::os::StartError::Short(error) | crate::os::StartError::Other(error) => (Exit::NotStarted, error),
    };
    console.say(&format!("luzia: {error}"));
    code.code()
}
