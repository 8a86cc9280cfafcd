//! Places of the state and the configuration (contract, section 3), decided from values that the caller has looked up.
//!
//! Touches no file. [`home_state`] and [`home_config`] are the only places that use the crate `directories`, which reads
//! the environment; everything else is a function of its arguments.
//!
//! Two state directories are two queues without exclusion between them, so nothing here falls back silently. A place that was
//! named but cannot be meant is an error, and `/var/lib/luzia` counts for its owner once it exists, usable or not. For all
//! other accounts it is another account's queue, and the rule says so.

mod var_lib;

pub use var_lib::VarLib;

use directories::BaseDirs;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The state directory of the whole host.
pub const SYSTEM_STATE: &str = "/var/lib/luzia";
/// The configuration of the whole host.
pub const SYSTEM_CONFIG: &str = "/etc/luzia/config.json";

/// A path below the home of the caller, looked up only if no earlier rule decides: the entry of an account may be in a
/// network directory.
pub type BelowHome = fn() -> Result<Option<String>, StateDirError>;

/// Values that decide the place of the state. An empty variable counts as one that is not set.
#[derive(Clone)]
pub struct Inputs {
    /// The value of `--state-dir`.
    pub flag: Option<String>,
    /// The variable `LUZIA_STATE_DIR`.
    pub luzia_state_dir: Option<String>,
    /// The variable `STATE_DIRECTORY`, which systemd sets: absolute paths with `:` between them.
    pub state_directory: Option<String>,
    /// The state of `/var/lib/luzia`.
    pub var_lib: VarLib,
    /// Whether `XDG_STATE_HOME` counts: it is an absolute path.
    pub has_xdg: bool,
    /// The function [`home_state`] for the caller.
    pub home_state: BelowHome,
    /// The working directory, against which a relative flag is read.
    pub cwd: Option<String>,
}

/// A state directory, and the rule that chose it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// An absolute path, without `//`, `/./` or a trailing `/`.
    pub path: String,
    /// The rule that applied.
    pub rule: Rule,
}

/// The rules, in the order in which they apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// `--state-dir`.
    Flag,
    /// `LUZIA_STATE_DIR`.
    Variable,
    /// `STATE_DIRECTORY`.
    Systemd,
    /// `/var/lib/luzia`.
    VarLib,
    /// Below `XDG_STATE_HOME`.
    Xdg,
    /// Below `XDG_STATE_HOME`, beside a `/var/lib/luzia` that belongs to another account.
    XdgBesideVarLib,
    /// Below the home of the caller.
    Home,
    /// Below the home of the caller, beside a `/var/lib/luzia` that belongs to another account.
    HomeBesideVarLib,
}

impl Rule {
    /// The rule as `status` and `doctor` print it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Flag => "--state-dir",
            Self::Variable => "LUZIA_STATE_DIR",
            Self::Systemd => "$STATE_DIRECTORY (first entry)",
            Self::VarLib => "/var/lib/luzia exists",
            Self::Xdg => "$XDG_STATE_HOME/luzia",
            Self::XdgBesideVarLib => "$XDG_STATE_HOME/luzia, because /var/lib/luzia belongs to another account",
            Self::Home => "~/.local/state/luzia",
            Self::HomeBesideVarLib => "~/.local/state/luzia, because /var/lib/luzia belongs to another account",
        }
    }
}

/// Reason why no place was found.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StateDirError {
    /// No rule applies (exit 78).
    #[error("no state directory: set LUZIA_STATE_DIR or HOME, or give --state-dir DIR")]
    Nowhere,
    /// The directory of the host is another account's, and the caller has no home (exit 77).
    #[error("/var/lib/luzia belongs to the account with uid {0}, and this account has no home for a queue of its own")]
    OfAnother(u32),
    /// An option with an empty value (exit 2).
    #[error("{0} is empty; give it a path")]
    Empty(&'static str),
    /// A path that no directory of luzia should have (exit 78).
    #[error("{0} is {1:?}, which holds control characters")]
    Control(&'static str, String),
    /// A relative path where an absolute one is required (exit 78).
    #[error("{0} is {1:?}, which is not an absolute path")]
    Relative(&'static str, String),
    /// A relative path, and no working directory to read it against (exit 78).
    #[error("{0} is {1:?}, which is relative, and the working directory cannot be found; give an absolute path")]
    NoWorkingDirectory(&'static str, String),
    /// The look-up of the account's home failed (exit 74).
    #[error("the home of this account cannot be looked up: {0}")]
    HomeUnknown(String),
}

/// The state directory: the first rule that applies. A rule that applies with a path that cannot be meant is an error,
/// never skipped.
pub fn resolve(inputs: &Inputs) -> Result<Found, StateDirError> {
    places(inputs).next().unwrap_or(Err(match inputs.var_lib {
        VarLib::OfAnother(uid) => StateDirError::OfAnother(uid),
        VarLib::Absent | VarLib::Counts => StateDirError::Nowhere,
    }))
}

/// The other places that these inputs lead to, in which a second state directory may exist; for `doctor`.
pub fn other_candidates(inputs: &Inputs, found: &Found) -> Vec<Found> {
    let mut others: Vec<Found> = Vec::new();
    for place in places(inputs).flatten() {
        let is_new = others.iter().all(|other| other.path != place.path);
        if is_new && place.path != found.path {
            others.push(place);
        }
    }
    others
}

/// A place in which the configuration may be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigPlace {
    /// An absolute path.
    pub path: String,
    /// The rule in words for people.
    pub rule: &'static str,
    /// Whether a person named this very file, so that its absence is an error.
    pub must_exist: bool,
}

/// Places of the configuration: the first existing one counts. A file that was named is the only place, because to read
/// another one in its stead would not be the request. `home_config` is the value of [`home_config()`].
pub fn config_candidates(
    flag: Option<&str>,
    luzia_config: Option<&str>,
    home_config: BelowHome,
    cwd: Option<&str>,
) -> Result<Vec<ConfigPlace>, StateDirError> {
    let named = match (flag, luzia_config.filter(|path| !path.is_empty())) {
        (Some(path), _) => Some(("--config", path)),
        (None, Some(path)) => Some(("LUZIA_CONFIG", path)),
        (None, None) => None,
    };
    if let Some((rule, path)) = named {
        return Ok(vec![ConfigPlace { path: absolute(rule, path, cwd)?, rule, must_exist: true }]);
    }
    let home = home_config()?.map(|path| (path, "$XDG_CONFIG_HOME/luzia/config.json"));
    let places = home.into_iter().chain([(SYSTEM_CONFIG.to_owned(), SYSTEM_CONFIG)]);
    Ok(places.map(|(path, rule)| ConfigPlace { path, rule, must_exist: false }).collect())
}

/// Sources for the home of the caller.
#[derive(Clone, Copy)]
pub struct Home {
    /// A variable of the environment.
    pub variable: fn(&str) -> Option<OsString>,
    /// The home directory in the account database.
    pub of_account: fn() -> io::Result<Option<PathBuf>>,
}

impl Home {
    /// If `HOME` is not set the crate `directories` asks the C library for the account, which a static program must not do
    /// (`os::real::passwd`); without an entry it knows no XDG directory either.
    fn dir(
        self,
        xdg: &str,
        default: &str,
        by_crate: fn(&BaseDirs) -> Option<&Path>,
    ) -> Result<Option<PathBuf>, StateDirError> {
        if (self.variable)("HOME").is_some_and(|home| !home.is_empty()) {
            return Ok(BaseDirs::new().as_ref().and_then(by_crate).map(Path::to_owned));
        }
        if let Some(named) = (self.variable)(xdg).map(PathBuf::from).filter(|dir| dir.is_absolute()) {
            return Ok(Some(named));
        }
        let home = (self.of_account)().map_err(|error| StateDirError::HomeUnknown(error.to_string()))?;
        Ok(home.map(|home| home.join(default)))
    }
}

/// `$XDG_STATE_HOME/luzia`, or its default below the home of the caller. A relative `XDG_STATE_HOME` is ignored, as the
/// XDG specification asks; `None` when there is no home, or its path is relative or not UTF-8.
pub fn home_state(home: Home) -> Result<Option<String>, StateDirError> {
    let dir = home.dir("XDG_STATE_HOME", ".local/state", BaseDirs::state_dir)?;
    Ok(dir.and_then(|dir| below(&dir, "luzia")))
}

/// `$XDG_DATA_HOME/luzia/shims`, by the same rules as [`home_state`].
pub fn home_shims(home: Home) -> Result<Option<String>, StateDirError> {
    let dir = home.dir("XDG_DATA_HOME", ".local/share", |dirs| Some(dirs.data_dir()))?;
    Ok(dir.and_then(|dir| below(&dir, "luzia/shims")))
}

/// `$XDG_CONFIG_HOME/luzia/config.json`, by the same rules as [`home_state`].
pub fn home_config(home: Home) -> Result<Option<String>, StateDirError> {
    let dir = home.dir("XDG_CONFIG_HOME", ".config", |dirs| Some(dirs.config_dir()))?;
    Ok(dir.and_then(|dir| below(&dir, "luzia/config.json")))
}

/// Place by each rule that applies, first rule first.
fn places(inputs: &Inputs) -> impl Iterator<Item = Result<Found, StateDirError>> {
    let cwd = inputs.cwd.as_deref();
    let set = |variable: &Option<String>| variable.clone().filter(|value| !value.is_empty());
    let flag = inputs.flag.as_deref();
    let flag = flag.map(|path| (Rule::Flag, absolute("--state-dir", path, cwd)));
    let variable = set(&inputs.luzia_state_dir);
    let variable = variable.map(|path| (Rule::Variable, always_absolute("LUZIA_STATE_DIR", &path)));
    let systemd = set(&inputs.state_directory).map(|list| (Rule::Systemd, first_entry(&list)));
    let var_lib = (inputs.var_lib == VarLib::Counts).then(|| (Rule::VarLib, Ok(SYSTEM_STATE.to_owned())));
    let home_rule = match (inputs.var_lib, inputs.has_xdg) {
        (VarLib::OfAnother(_), true) => Rule::XdgBesideVarLib,
        (VarLib::OfAnother(_), false) => Rule::HomeBesideVarLib,
        (VarLib::Absent | VarLib::Counts, true) => Rule::Xdg,
        (VarLib::Absent | VarLib::Counts, false) => Rule::Home,
    };
    let home = inputs.home_state;
    let home = std::iter::once_with(move || {
        let found = home().transpose()?;
        Some((home_rule, found.and_then(|path| absolute("XDG_STATE_HOME", &path, None))))
    });
    let first = [flag, variable, systemd, var_lib].into_iter();
    first.chain(home).flatten().map(|(rule, path)| path.map(|path| Found { path, rule }))
}

/// systemd writes absolute paths only, so a relative one is a variable of another program.
fn first_entry(list: &str) -> Result<String, StateDirError> {
    always_absolute("STATE_DIRECTORY", list.split(':').next().unwrap_or_default())
}

/// A variable goes to every child process: to follow a relative path would be another queue in every working directory, and
/// no exclusion between them.
fn always_absolute(name: &'static str, path: &str) -> Result<String, StateDirError> {
    if path.starts_with('/') { absolute(name, path, None) } else { Err(StateDirError::Relative(name, path.to_owned())) }
}

/// Makes a path absolute and drops its empty and `.` parts. `..` stays, because its meaning depends on symbolic links.
fn absolute(what: &'static str, path: &str, cwd: Option<&str>) -> Result<String, StateDirError> {
    if path.is_empty() {
        return Err(StateDirError::Empty(what));
    }
    if path.chars().any(char::is_control) {
        return Err(StateDirError::Control(what, path.to_owned()));
    }
    let base = match cwd {
        _ if path.starts_with('/') => "",
        Some(cwd) if cwd.starts_with('/') => cwd,
        _ => return Err(StateDirError::NoWorkingDirectory(what, path.to_owned())),
    };
    let parts = base.split('/').chain(path.split('/'));
    let mut whole = String::new();
    for part in parts.filter(|part| !part.is_empty() && *part != ".") {
        whole.push('/');
        whole.push_str(part);
    }
    if whole.is_empty() {
        whole.push('/');
    }
    Ok(whole)
}

fn below(dir: &Path, name: &str) -> Option<String> {
    let path = dir.is_absolute().then(|| dir.join(name))?;
    path.to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    /// Inputs in which every rule applies.
    fn all() -> Inputs {
        Inputs {
            flag: some("/flag"),
            luzia_state_dir: some("/variable"),
            state_directory: some("/systemd:/second"),
            var_lib: VarLib::Counts,
            has_xdg: false,
            home_state: || Ok(some("/home/a/.local/state/luzia")),
            cwd: some("/here"),
        }
    }

    fn check(inputs: &Inputs, path: &str, rule: Rule) {
        let path = path.to_owned();
        assert_eq!(resolve(inputs), Ok(Found { path, rule }));
    }

    #[test]
    fn the_first_rule_that_applies_decides() {
        let mut inputs = all();
        check(&inputs, "/flag", Rule::Flag);
        inputs.flag = None;
        check(&inputs, "/variable", Rule::Variable);
        inputs.luzia_state_dir = None;
        check(&inputs, "/systemd", Rule::Systemd);
        inputs.state_directory = None;
        check(&inputs, "/var/lib/luzia", Rule::VarLib);
        inputs.var_lib = VarLib::OfAnother(7);
        check(&inputs, "/home/a/.local/state/luzia", Rule::HomeBesideVarLib);
        inputs.has_xdg = true;
        check(&inputs, "/home/a/.local/state/luzia", Rule::XdgBesideVarLib);
        inputs.home_state = || Ok(None);
        assert_eq!(resolve(&inputs), Err(StateDirError::OfAnother(7)), "never a place that nobody meant");
        inputs.home_state = || Ok(some("/home/a/.local/state/luzia"));
        inputs.var_lib = VarLib::Absent;
        check(&inputs, "/home/a/.local/state/luzia", Rule::Xdg);
        inputs.has_xdg = false;
        check(&inputs, "/home/a/.local/state/luzia", Rule::Home);
        inputs.home_state = || Ok(None);
        assert_eq!(resolve(&inputs), Err(StateDirError::Nowhere));
        inputs.home_state = || Err(StateDirError::HomeUnknown("no answer".to_owned()));
        let unknown = StateDirError::HomeUnknown("no answer".to_owned());
        assert_eq!(resolve(&inputs), Err(unknown), "a home that cannot be looked up is not one that is absent");
        inputs.home_state = || panic!("the home was looked up");
        inputs.state_directory = some("/systemd");
        check(&inputs, "/systemd", Rule::Systemd);
    }

    #[test]
    fn an_empty_variable_is_not_set_but_an_empty_option_is_an_error() {
        let mut inputs = Inputs { flag: None, luzia_state_dir: some(""), state_directory: some(""), ..all() };
        check(&inputs, "/var/lib/luzia", Rule::VarLib);
        inputs.flag = some("");
        assert_eq!(resolve(&inputs), Err(StateDirError::Empty("--state-dir")));
    }

    #[test]
    fn paths_become_absolute_and_have_one_spelling() {
        for (given, path) in [
            ("state", "/here/state"),
            ("./state/", "/here/state"),
            ("../state", "/here/../state"),
            (".", "/here"),
            ("//a///b/./c//", "/a/b/c"),
            ("/", "/"),
            ("-rf", "/here/-rf"),
            ("/tmp/x", "/tmp/x"),
        ] {
            let flag = some(given);
            check(&Inputs { flag, ..all() }, path, Rule::Flag);
            let variable = Inputs { flag: None, luzia_state_dir: some(given), ..all() };
            if given.starts_with('/') {
                check(&variable, path, Rule::Variable);
            } else {
                let relative = StateDirError::Relative("LUZIA_STATE_DIR", given.to_owned());
                assert_eq!(resolve(&variable), Err(relative), "it goes to other working directories");
            }
        }
    }

    #[test]
    fn what_cannot_be_meant_is_an_error_and_never_another_place() {
        let flag = |path: &str, cwd: Option<&str>| Inputs { flag: some(path), cwd: cwd.map(str::to_owned), ..all() };
        let systemd = |list: &str| Inputs { flag: None, luzia_state_dir: None, state_directory: some(list), ..all() };
        for (inputs, words) in [
            (flag("a\nb", Some("/here")), "control characters"),
            (flag("state", None), "working directory"),
            (flag("state", Some("work")), "working directory"),
            (systemd("luzia"), "not an absolute path"),
            (systemd(":/x"), "not an absolute path"),
        ] {
            let error = resolve(&inputs).expect_err(words).to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_state_directory_that_exists_for_the_host_counts_even_where_there_is_a_home() {
        let inputs = Inputs { flag: None, luzia_state_dir: None, state_directory: None, ..all() };
        check(&inputs, SYSTEM_STATE, Rule::VarLib);
    }

    #[test]
    fn doctor_is_told_every_other_place_once() {
        let paths = |inputs: &Inputs| -> Vec<String> {
            let found = resolve(inputs).expect("a place");
            let others = other_candidates(inputs, &found).into_iter();
            others.map(|place| place.path).collect()
        };
        let home = "/home/a/.local/state/luzia";
        assert_eq!(paths(&all()), ["/variable", "/systemd", SYSTEM_STATE, home]);
        let same = Inputs {
            flag: some("/var/lib/luzia/"),
            luzia_state_dir: some(home),
            state_directory: some("relative"),
            ..all()
        };
        assert_eq!(paths(&same), [home]);
    }

    #[test]
    fn a_configuration_that_was_named_stands_alone_and_must_exist() {
        let places = |flag, variable, home_config: BelowHome| {
            config_candidates(flag, variable, home_config, Some("/here")).map(|places| {
                let short = places.into_iter().map(|p| (p.path, p.must_exist));
                short.collect::<Vec<_>>()
            })
        };
        let one = |path: &str, must| (path.to_owned(), must);
        let home: BelowHome = || Ok(some("/home/a/.config/luzia/config.json"));
        let never: BelowHome = || panic!("the home was looked up");
        assert_eq!(places(Some("c.json"), Some("/v"), never), Ok(vec![one("/here/c.json", true)]));
        assert_eq!(places(None, Some("/v"), never), Ok(vec![one("/v", true)]));
        assert_eq!(
            places(None, Some(""), home),
            Ok(vec![one("/home/a/.config/luzia/config.json", false), one(SYSTEM_CONFIG, false)])
        );
        assert_eq!(places(None, None, || Ok(None)), Ok(vec![one(SYSTEM_CONFIG, false)]));
        assert_eq!(places(Some(""), None, never), Err(StateDirError::Empty("--config")));
    }

    #[test]
    fn a_home_that_is_relative_leads_nowhere() {
        assert_eq!(below(Path::new("state"), "luzia"), None);
        assert_eq!(below(Path::new(""), "luzia"), None);
        assert_eq!(below(Path::new("/h/s"), "luzia"), some("/h/s/luzia"));
    }

    fn without(variable: fn(&str) -> Option<OsString>, of_account: fn() -> io::Result<Option<PathBuf>>) -> Home {
        Home { variable, of_account }
    }

    #[test]
    fn without_a_variable_the_home_of_the_account_counts_and_is_asked_for_only_then() {
        let account = || Ok(Some(PathBuf::from("/home/a")));
        let bare = without(|_| None, account);
        assert_eq!(home_state(bare), Ok(some("/home/a/.local/state/luzia")));
        assert_eq!(home_config(bare), Ok(some("/home/a/.config/luzia/config.json")));
        let empty = without(|name| (name == "HOME").then(OsString::new), account);
        assert_eq!(home_state(empty), Ok(some("/home/a/.local/state/luzia")));
        let relative = without(|name| (name != "HOME").then(|| "xdg".into()), account);
        assert_eq!(home_config(relative), Ok(some("/home/a/.config/luzia/config.json")));
        let xdg = without(|name| (name != "HOME").then(|| "/xdg".into()), || panic!("the account was asked for"));
        assert_eq!(home_state(xdg), Ok(some("/xdg/luzia")));
        assert_eq!(home_config(xdg), Ok(some("/xdg/luzia/config.json")));
        for lost in [|| Ok(None), || Ok(Some(PathBuf::from("home"))), || Ok(Some(PathBuf::new()))] {
            assert_eq!(home_state(without(|_| None, lost)), Ok(None));
            assert_eq!(home_config(without(|_| None, lost)), Ok(None));
        }
        let unknown = without(|_| None, || Err(io::Error::other("no answer")));
        assert_eq!(home_config(unknown), Err(StateDirError::HomeUnknown("no answer".to_owned())));
    }

    #[test]
    fn with_a_home_the_crate_answers() {
        // The crate reads HOME itself, so its value in this test changes nothing.
        let known =
            without(|name| (name == "HOME").then(|| "/elsewhere".into()), || panic!("the account was asked for"));
        let Some(dirs) = BaseDirs::new() else { return };
        assert_eq!(home_config(known), Ok(below(dirs.config_dir(), "luzia/config.json")));
        assert_eq!(home_state(known), Ok(dirs.state_dir().and_then(|dir| below(dir, "luzia"))));
    }

    proptest! {
        #[test]
        fn a_resolved_path_is_absolute_and_resolves_to_itself(path in "[a./ ]{0,12}", cwd in "/[a./]{0,6}") {
            let inputs = |flag: String| Inputs { flag: Some(flag), cwd: Some(cwd.clone()), ..all() };
            if let Ok(found) = resolve(&inputs(path)) {
                prop_assert!(found.path.starts_with('/') && !found.path.contains("//"));
                prop_assert_eq!(resolve(&inputs(found.path.clone())), Ok(found));
            }
        }
    }
}
