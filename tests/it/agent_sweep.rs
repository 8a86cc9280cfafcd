//! `agent setup` struck at its system calls: a file of the user is the old one or the new one, whole, at every moment.

use crate::harness::strace;
use crate::support::{LUZIA, Place, skip};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The calls by which setup changes what others see, with an error of each.
const CALLS: [(&str, &str); 7] = [
    ("openat", "ENOSPC"),
    ("write", "ENOSPC"),
    ("fsync", "EIO"),
    ("rename", "EIO"),
    ("mkdir", "ENOSPC"),
    ("unlink", "EIO"),
    ("fchmod", "EPERM"),
];

const FILES: [(&str, &str); 3] = [
    (".codex/hooks.json", "{\n  // mine\n  \"hooks\": { \"Stop\": [] }\n}\n"),
    (".codex/config.toml", "model = \"m\" # mine\n"),
    (".codex/AGENTS.md", "Rules.\n"),
];

struct Home(Place);

impl Home {
    fn new(is_set_up: bool) -> Self {
        let home = Self(Place::new());
        for (name, text) in FILES {
            let path = home.0.path("home").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        if is_set_up {
            home.0.ok(&["agent", "setup", "codex"]);
        }
        home
    }

    /// The files of the home but for what a killed process left beside them.
    fn all(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        collect(&self.0.path("home"), "", &mut found);
        found
    }

    fn strace(&self, options: &[&str], args: &[&str]) -> Command {
        let plain = self.0.command(&[]);
        let mut strace = Command::new("strace");
        strace.args(["-qq", "-o"]).arg(self.0.path("trace")).args(options).arg("--").arg(LUZIA).args(args);
        strace.env_clear().envs(plain.get_envs().filter_map(|(key, value)| Some((key, value?))));
        strace.current_dir(self.0.path("work")).stdin(std::process::Stdio::null());
        strace
    }
}

fn collect(folder: &Path, prefix: &str, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            collect(&path, &format!("{name}/"), found);
        } else if !name.contains(".luzia-") {
            found.insert(name, std::fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn setup_struck_at_any_call_leaves_each_file_whole_and_can_be_gone_on_with() {
    if !strace::is_available() {
        return skip("the sweep over `agent setup`", "strace(1) and the right to trace");
    }
    let (bare, full) = (Home::new(false).all(), Home::new(true).all());
    // The path of the state directory is another one in every place.
    let known =
        |text: &str| text.split_whitespace().filter(|word| !word.contains("/locks")).collect::<Vec<_>>().join(" ");
    let is_all = std::env::var("LUZIA_SWEEP").is_ok_and(|value| value == "all");
    let mut strikes = 0;
    for (is_set_up, args) in
        [(false, &["agent", "setup", "codex"][..]), (true, &["agent", "setup", "codex", "--remove"])]
    {
        let seen = Home::new(is_set_up);
        let status = seen.0.spawn(&mut seen.strace(&[], args)).end();
        status.coded(0);
        let trace = std::fs::read_to_string(seen.0.path("trace")).unwrap();
        for (call, error) in CALLS {
            let lines = trace.lines().filter(|line| line.starts_with(&format!("{call}("))).enumerate();
            // What is only opened to be read changes nothing.
            let places = lines.filter(|(_, line)| call != "openat" || line.contains("O_CREAT")).map(|(at, _)| at + 1);
            for n in places {
                for (at, how) in [format!("signal=KILL:when={n}"), format!("error={error}:when={n}")].iter().enumerate()
                {
                    // A third of all is enough for every day.
                    if !is_all && (n + at) % 3 != 0 {
                        continue;
                    }
                    let home = Home::new(is_set_up);
                    let fault = format!("inject={call}:{how}");
                    let struck = home.0.spawn(&mut home.strace(&["-e", &fault], args)).end();
                    assert!(![101, 134, 70].contains(&struck.code), "{fault}: {}", struck.err);
                    for (name, text) in home.all() {
                        let name = name.trim_end_matches(".luzia.bak");
                        let may_be: Vec<String> =
                            [&bare, &full].iter().filter_map(|all| all.get(name)).map(|text| known(text)).collect();
                        assert!(may_be.contains(&known(&text)), "{args:?} {fault}: {name} is {text}");
                    }
                    home.0.ok(args);
                    let after: BTreeMap<String, String> =
                        home.all().into_iter().map(|(name, text)| (name, known(&text))).collect();
                    let wanted = if is_set_up { &bare } else { &full };
                    let wanted: BTreeMap<String, String> =
                        wanted.iter().map(|(name, text)| (name.clone(), known(text))).collect();
                    assert_eq!(after, wanted, "{args:?} {fault}");
                    home.0.ok(&["agent", "setup", "codex", "--remove"]);
                    assert_eq!(home.all(), bare, "{args:?} {fault}");
                    strikes += 1;
                }
            }
        }
    }
    assert!(strikes > 20, "{strikes}");
}
