//! The trial of several hosts on one machine: a PostgreSQL server by a Unix socket, and two agents with two state directories.

use super::{Fleet, Store};
use crate::app::{AppError, Code, shell_word};
use crate::model::Identity;
use crate::model::sorted::sort_by;
use crate::os::{Child, Command, Exit, Handle, Host, Open, Signal, StartError, Streams, Vfs, Woken};
use crate::store::remove_tree;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The word that names the database of the trial, and its folder below the data of luzia.
pub const TRIAL: &str = "trial";
/// The names of its hosts.
pub const HOSTS: [&str; 2] = ["trial-1", "trial-2"];

/// The file that marks a folder as one of a trial. A process that changes the trial keeps it locked.
const RECORD: &str = "trial.json";
/// The file that shows that the cluster is whole.
const WHOLE: &str = "cluster-made";
const SERVER_LOG: &str = "server.log";
/// The programs of a server.
const PROGRAMS: [&str; 2] = ["initdb", "pg_ctl"];
/// The folder with a folder for each version of PostgreSQL, as in Debian.
const VERSIONS: &str = "/usr/lib/postgresql";
/// Length of the leases of its hosts.
const LEASE: &str = "30s";
/// Longest time until an agent has joined: a name whose last session belongs to another boot is free after its lease.
const JOIN_MS: u64 = 60_000;
const LOOK: Duration = Duration::from_millis(50);
const SHORT: Duration = Duration::from_secs(1);
/// Number of attempts to start the server.
const STARTS: u32 = 5;
/// Time that an agent has to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(10);
const LARGEST: u64 = 1 << 20;

/// The content of `trial.json`, the file that marks a folder as one of a trial.
#[derive(Clone, Serialize, Deserialize, Debug)]
pub struct Record {
    /// The URL of the database.
    pub url: String,
    /// The folder of the server.
    pub server: String,
    /// The account of the server, if it is not that of the caller.
    pub account: Option<String>,
}

impl Record {
    /// The record in the folder of a trial; `None` where it is absent or not whole.
    pub fn read(folder: &dyn Vfs) -> Option<Self> {
        let mut file = folder.open(RECORD, Open::ReadOnly).ok().flatten()?;
        serde_json::from_slice(&file.read_all(LARGEST).ok()?).ok()
    }
}

/// All that a trial needs from its caller.
pub struct Trial<'a> {
    /// The host.
    pub host: Host,
    /// The folder of the trial.
    pub folder: String,
    /// The folder for the server of an account, or of the caller.
    pub server_of: &'a dyn Fn(Option<&str>) -> Result<String, AppError>,
    /// The account that is asked for.
    pub account: Option<String>,
    /// The folders in which programs are searched.
    pub path: String,
    /// The program of this process.
    pub program: String,
    /// The environment of agents, without variables of luzia.
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// Opens a database.
    pub open: &'a dyn Fn(&str) -> Result<Store, AppError>,
    /// Ends what is left of a host in a state directory.
    pub leave: &'a dyn Fn(&str) -> Result<(), AppError>,
}

/// The files of a trial that exists, its record, and the lock on it.
struct Made {
    files: Arc<dyn Vfs>,
    record: Record,
    _lock: Box<dyn Handle>,
}

impl Trial<'_> {
    /// Makes the trial and starts all of it that does not run. Returns whether anything was started.
    pub fn start(&self) -> Result<(Record, bool), AppError> {
        let found = self.found()?;
        let account = self.account_for(found.as_ref())?;
        let programs = self.programs()?;
        let made = found.map_or_else(|| self.make(account), Ok)?;
        let store = (self.open)(&made.record.url)?;
        let is_started = self.start_server(&made, &programs, &*store)?;
        let begin = self.host.boot_ms();
        let mut agents = Vec::new();
        for name in HOSTS {
            let lives = self.agent(&made, name).is_some();
            agents.push((name, if lives { None } else { Some(self.spawn_agent(&made, name)?) }));
        }
        let is_started = is_started || agents.iter().any(|(_, started)| started.is_some());
        for (name, started) in agents {
            self.await_agent(&made, name, started, begin, &*store)?;
        }
        Ok((made.record, is_started))
    }

    /// Stops agents and server, and removes everything with `removes`. Returns whether that changed anything; `None` without a
    /// trial.
    pub fn end(&self, removes: bool) -> Result<Option<bool>, AppError> {
        let Some(made) = self.found()? else { return Ok(None) };
        let mut is_changed = removes;
        for agent in HOSTS.iter().filter_map(|name| self.agent(&made, name)) {
            is_changed = true;
            self.host.signal(&agent, Signal::Term);
            if !self.host.await_death(&agent, GRACE) {
                self.host.signal(&agent, Signal::Kill);
                self.host.await_death(&agent, GRACE);
            }
        }
        if removes {
            HOSTS.iter().try_for_each(|name| (self.leave)(&self.path_of(name)))?;
        }
        let store = (self.open)(&made.record.url)?;
        if !is_away(&store.state()) {
            is_changed = true;
            let argv = ["pg_ctl", "-D", &made.record.server, "-m", "fast", "-w", "stop"];
            if !self.call(&made, &self.programs()?, &argv)? {
                return Err(AppError::new(Code::Server, "PostgreSQL does not stop")
                    .hint(format!("its log is \"{}\"; nothing was removed", self.path_of(SERVER_LOG))));
            }
        }
        if removes {
            self.remove(&made.record.server)?;
            self.remove(&self.folder)?;
        }
        Ok(Some(is_changed))
    }

    /// The trial that exists. A folder of somebody else is refused.
    fn found(&self) -> Result<Option<Made>, AppError> {
        let Some(files) = self.root(&self.folder, false)? else { return Ok(None) };
        let path = self.path_of(RECORD);
        let failed = |error| failed("read", &path, &error);
        let Some(mut lock) = files.open(RECORD, Open::Existing).map_err(failed)? else {
            let is_empty = files.list(".").map_err(failed)?.is_none_or(|names| names.is_empty());
            return if is_empty { Ok(None) } else { Err(foreign(&self.folder)) };
        };
        if !lock.try_lock(false).map_err(failed)? {
            return Err(AppError::new(Code::FileBusy, "another `luzia fleet trial` is at work").hint("try again"));
        }
        let record = serde_json::from_slice(&lock.read_all(LARGEST).map_err(failed)?);
        let record = record.map_err(|error| {
            AppError::new(Code::RecordCorrupt, format!("the record \"{path}\" is invalid: {error}"))
                .hint("nothing was changed; without its folder the next call begins anew")
        })?;
        Ok(Some(Made { files, record, _lock: lock }))
    }

    /// Makes the folder and the record. The folder of the server must not exist: it is removed with the trial.
    fn make(&self, account: Option<String>) -> Result<Made, AppError> {
        let server = (self.server_of)(account.as_deref())?;
        if self.root(&server, false)?.is_some() {
            return Err(foreign(&server));
        }
        let url = format!("postgres:///postgres?host={}&user=luzia", encoded(&server));
        let record = Record { url, server, account };
        let path = self.path_of(RECORD);
        let failed = |error| failed("make", &path, &error);
        let absent = || failed(io::ErrorKind::AlreadyExists.into());
        let files = self.root(&self.folder, true)?.ok_or_else(absent)?;
        let mut lock = files.open(RECORD, Open::CreateNew(0o600)).map_err(failed)?.ok_or_else(absent)?;
        lock.try_lock(false).map_err(failed)?;
        let text = serde_json::to_vec_pretty(&record).map_err(|error| failed(error.into()))?;
        lock.write_all(&text).map_err(failed)?;
        Ok(Made { files, record, _lock: lock })
    }

    /// The account of the server. PostgreSQL refuses to run as root.
    fn account_for(&self, found: Option<&Made>) -> Result<Option<String>, AppError> {
        let id = |name: &str| self.host.account_id(name).map_err(|error| AppError::not_looked_up(name, &error));
        let before = found.map(|made| &made.record.account);
        let asked = self.account.clone().or_else(|| before.cloned().flatten());
        let refused = match &asked {
            None if self.host.owner() != 0 => None,
            None => Some("PostgreSQL does not run as root".to_owned()),
            Some(_) if self.host.owner() != 0 => Some("--as is for root; without it the server runs as you".to_owned()),
            Some(name) if before.is_some_and(|before| before.as_ref() != Some(name)) => {
                Some(format!("the server of the trial does not run as \"{name}\"; `luzia fleet trial --rm` removes it"))
            }
            Some(name) => match id(name)? {
                None => Some(format!("there is no account \"{}\"", name.escape_debug())),
                Some(0) => Some("PostgreSQL does not run as root".to_owned()),
                Some(_) => None,
            },
        };
        let Some(message) = refused else { return Ok(asked) };
        let error = AppError::usage(message);
        Err(match (self.host.owner(), id("postgres")?) {
            (0, Some(_)) => error.hint("nothing was changed").next("luzia fleet trial --as postgres"),
            (0, None) => error.hint("`luzia fleet trial --as ACCOUNT` names another account; nothing was changed"),
            _ => error.hint("nothing was changed").next("luzia fleet trial"),
        })
    }

    /// The folder with the programs of a server: the first one on PATH, else that of the newest version.
    fn programs(&self) -> Result<String, AppError> {
        let listed = self.root(VERSIONS, false)?.and_then(|files| files.list(".").ok().flatten()).unwrap_or_default();
        let mut versions: Vec<u32> = listed.iter().filter_map(|entry| entry.name.parse().ok()).collect();
        sort_by(&mut versions, |one, next| next.cmp(one));
        let newest = versions.into_iter().map(|version| format!("{VERSIONS}/{version}/bin"));
        let on_path = self.path.split(':').filter(|folder| folder.starts_with('/')).map(str::to_owned);
        let has_all = |folder: &String| {
            let files = self.root(folder, false).ok().flatten();
            files.is_some_and(|files| PROGRAMS.iter().all(|name| matches!(files.meta(name), Ok(Some(_)))))
        };
        on_path.chain(newest).find(has_all).ok_or_else(|| {
            AppError::new(Code::Server, format!("no PostgreSQL was found: initdb is neither on PATH nor below {VERSIONS}"))
                .hint("install the package `postgresql` (Debian, Alpine) or `postgresql-server` (Fedora); nothing was changed")
        })
    }

    /// Starts the server if it does not answer, and makes the cluster and the tables where they are absent.
    fn start_server(&self, made: &Made, programs: &str, store: &dyn Fleet) -> Result<bool, AppError> {
        let migrated = store.migrate(false);
        if !is_away(&migrated) {
            return migrated.map(|_| false);
        }
        let (server, whole) = (made.record.server.as_str(), self.path_of(WHOLE));
        if made.files.meta(WHOLE).map_err(|error| failed("look at", &whole, &error))?.is_none() {
            // An initdb that was killed has left a part.
            self.remove(server)?;
            // Without a sync: a cluster that a power cut damages in its first minute is made anew after --rm.
            let argv = ["initdb", "-D", server, "-N", "-U", "luzia", "-A", "trust", "-E", "UTF8", "--no-locale"];
            if !self.call(made, programs, &argv)? {
                return Err(self.not_started(made, "PostgreSQL", SERVER_LOG));
            }
            made.files.open(WHOLE, Open::CreateNew(0o600)).map_err(|error| failed("make", &whole, &error))?;
        }
        let options =
            format!("-c listen_addresses= -c port=5432 -c unix_socket_permissions=0700 -k {}", shell_word(server));
        // The processes of a server that was killed end a moment later.
        for _ in 0..STARTS {
            let is_started = self.call(made, programs, &["pg_ctl", "-D", server, "-w", "-o", &options, "start"])?;
            let migrated = store.migrate(false);
            if !is_away(&migrated) {
                return migrated.map(|_| is_started);
            }
            self.host.sleep(SHORT);
        }
        Err(self.not_started(made, "PostgreSQL", SERVER_LOG))
    }

    /// Starts the agent of a host, and notes its process.
    fn spawn_agent(&self, made: &Made, name: &str) -> Result<Box<dyn Child>, AppError> {
        let dir = self.path_of(name);
        let argv = [&self.program, "--store", TRIAL, "--state-dir", &dir, "daemon", "--lease", LEASE];
        let host = (b"LUZIA_HOST".to_vec(), name.as_bytes().to_vec());
        let env = self.env.iter().cloned().chain([host]).collect();
        let child = self.spawn(made, &log_of(name), None, &argv, env)?;
        if let Some(identity) = self.host.living(child.pid()) {
            let path = format!("{name}.json");
            let text = serde_json::to_vec(&identity).unwrap_or_default();
            let written = made.files.open(&path, Open::Truncate(0o600));
            let written = written.and_then(|file| file.map_or(Ok(()), |mut file| file.write_all(&text)));
            written.map_err(|error| failed("write", &self.path_of(&path), &error))?;
        }
        Ok(child)
    }

    /// Waits until the agent of a host has joined. One that was just started has joined when it has renewed the lease since `begin`.
    fn await_agent(
        &self,
        made: &Made,
        name: &str,
        mut started: Option<Box<dyn Child>>,
        begin: u64,
        store: &dyn Fleet,
    ) -> Result<(), AppError> {
        loop {
            let waited = self.host.boot_ms().saturating_sub(begin);
            let is_new = |age: u64| started.is_none() || age < waited;
            if store.hosts()?.iter().any(|host| host.name == name && host.is_alive && is_new(host.age_ms)) {
                return Ok(());
            }
            let ended = started.as_mut().map(|child| child.wait(Some(LOOK)));
            if waited > JOIN_MS || matches!(ended, Some(Ok(Woken::Exited(_)) | Err(_))) {
                return Err(self.not_started(made, &format!("the agent of {name}"), &log_of(name)));
            }
            self.host.sleep(LOOK);
        }
    }

    /// The living agent of a host.
    fn agent(&self, made: &Made, name: &str) -> Option<Identity> {
        let mut file = made.files.open(&format!("{name}.json"), Open::ReadOnly).ok().flatten()?;
        let agent = serde_json::from_slice(&file.read_all(LARGEST).ok()?).ok()?;
        (!self.host.await_death(&agent, Duration::ZERO)).then_some(agent)
    }

    /// Calls a program of the server as its account, and waits for its end. Whether it has ended with 0.
    fn call(&self, made: &Made, programs: &str, argv: &[&str]) -> Result<bool, AppError> {
        let env = [("PATH", self.path.as_str()), ("LC_ALL", "C")];
        let env = env.map(|(key, value)| (key.as_bytes().to_vec(), value.as_bytes().to_vec())).into();
        let program = format!("{programs}/{}", argv[0]);
        let argv: Vec<&str> = [program.as_str()].into_iter().chain(argv[1..].iter().copied()).collect();
        let mut child = self.spawn(made, SERVER_LOG, made.record.account.clone(), &argv, env)?;
        loop {
            if let Woken::Exited(exit) = child.wait(None).map_err(|error| failed("wait for", &program, &error))? {
                return Ok(exit == Exit::Code(0));
            }
        }
    }

    /// Starts a program in a session of its own, with its output in a log of the trial.
    fn spawn(
        &self,
        made: &Made,
        log: &str,
        run_as: Option<String>,
        argv: &[&str],
        env: Vec<(Vec<u8>, Vec<u8>)>,
    ) -> Result<Box<dyn Child>, AppError> {
        let file = || -> io::Result<std::fs::File> {
            let file = made.files.open(log, Open::Append(0o600))?;
            file.and_then(Handle::into_file).ok_or_else(crate::os::absent)
        };
        let streams = file().and_then(|stdout| Ok(Streams { stdin: None, stdout, stderr: file()? }));
        let streams = streams.map_err(|error| failed("write", &self.path_of(log), &error))?;
        let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
        let program = argv.first().cloned().unwrap_or_default();
        let command = Command {
            argv,
            env,
            cwd: "/".to_owned(),
            umask: 0o077,
            run_as,
            limits: None,
            has_terminal: false,
            input_of: None,
        };
        self.host.start(&command, &streams, None).map_err(|error| {
            let (StartError::NotFound(error)
            | StartError::NotExecutable(error)
            | StartError::Short(error)
            | StartError::Other(error)) = error;
            AppError::new(Code::Server, format!("cannot start \"{program}\": {error}"))
        })
    }

    /// The error of a part that does not come up, with the last error of its log.
    fn not_started(&self, made: &Made, what: &str, log: &str) -> AppError {
        let text = made.files.open(log, Open::ReadOnly).ok().flatten().and_then(|mut file| file.read_all(LARGEST).ok());
        let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
        let is_error = |line: &&str| line.contains("FATAL") || line.contains("rror:");
        let last = text.lines().rfind(is_error).or_else(|| text.lines().next_back()).unwrap_or("its log is empty");
        AppError::new(Code::Server, format!("{what} does not come up: {last}"))
            .hint(format!("its log is \"{}\"; `luzia fleet trial --rm` removes the trial", self.path_of(log)))
    }

    fn path_of(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    fn root(&self, path: &str, create: bool) -> Result<Option<Arc<dyn Vfs>>, AppError> {
        self.host.files.open_root(path, create).map_err(|error| failed("open", path, &error))
    }

    fn remove(&self, path: &str) -> Result<(), AppError> {
        let Some((above, name)) = path.rsplit_once('/') else { return Ok(()) };
        self.root(above, false)?.map_or(Ok(()), |files| Ok(remove_tree(&*files, name.to_owned())?))
    }
}

fn log_of(name: &str) -> String {
    format!("{name}.log")
}

/// Whether a database did not answer.
fn is_away<T>(answer: &Result<T, AppError>) -> bool {
    answer.as_ref().is_err_and(|error| error.code() == Code::StoreAway)
}

fn failed(what: &str, path: &str, error: &io::Error) -> AppError {
    let code = if what == "make" { Code::CannotCreate } else { Code::Io };
    AppError::new(code, format!("cannot {what} \"{path}\": {error}"))
}

fn foreign(folder: &str) -> AppError {
    AppError::new(Code::NotAStateDir, format!("\"{folder}\" was not made by `luzia fleet trial`"))
        .hint("nothing was changed; XDG_DATA_HOME in the environment names another place")
}

/// A path as a value in a URL.
fn encoded(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let word = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(word).collect()
}
