//! What is packaged can be used as it is (S3.45).

use crate::support::at_home;
use crate::support::{LUZIA, linked, skip};
use std::path::PathBuf;
use std::process::Command;

fn packaged(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("packaging").join(path)
}

/// The configuration that luzia takes from a packaged file.
fn config(name: &str) -> serde_json::Value {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("config.json");
    // A checkout may be writable by a group, and luzia refuses such a file.
    std::fs::write(&copy, std::fs::read(packaged(name)).unwrap()).unwrap();
    std::fs::set_permissions(&copy, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let luzia = |verb: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_luzia"));
        command.env_clear().args(["config", verb, "--json", "--config"]).arg(&copy);
        at_home(&mut command, dir.path());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    assert_eq!(luzia("check")["warnings"], serde_json::json!([]), "{name}");
    luzia("show")
}

#[test]
fn example_configurations_read_without_a_warning_and_mean_what_their_names_say() {
    for (name, enabled, seconds) in [
        ("config/development.json", true, 300),
        ("config/production.json", true, 3600),
        ("config/debugging.json", false, 3600),
        ("config/build.json", true, 3600),
    ] {
        let users = &config(name)["per_user_serialization"];
        assert_eq!(users["enabled"], enabled, "{name}");
        assert_eq!(users["lock_timeout_seconds"], seconds, "{name}");
    }
    let build = &config("config/build.json")["lanes"]["build"];
    assert_eq!((&build["cpu_budget"], &build["max"]), (&serde_json::json!("auto"), &serde_json::json!(3)));
    let found = std::fs::read_dir(packaged("config")).unwrap().count();
    assert_eq!(found, 4, "every packaged configuration is tested");
}

#[test]
fn units_leave_running_tasks_alone() {
    for unit in ["systemd/luzia.service", "systemd/user/luzia.service"] {
        let text = std::fs::read_to_string(packaged(unit)).unwrap();
        let has = |line: &str| text.lines().any(|found| found == line);
        assert!(has("KillMode=process") && has("ExecStart=/usr/bin/luzia daemon"), "{unit}");
        // A daemon in a sandbox of its own starts nothing that shells queue (P9).
        let is_sandbox = |line: &str| {
            ["Protect", "Private", "Restrict", "NoNew", "Lock", "Capab", "SystemCall"]
                .iter()
                .any(|word| line.starts_with(word))
        };
        assert!(!text.lines().any(is_sandbox), "{unit}");
        // Both would hide processes that luzia has to see.
        assert!(!text.lines().any(|line| line.starts_with("ProtectProc=") || line.starts_with("PrivatePIDs=")));
    }
}

#[test]
fn the_cron_file_runs_verbs_that_exist_and_mails_nothing_but_errors() {
    let text = std::fs::read_to_string(packaged("cron.d/luzia")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let luzia = PathBuf::from(env!("CARGO_BIN_EXE_luzia"));
    let sh = |line: &str| {
        let mut command = Command::new("/bin/sh");
        command.env_clear().env("LUZIA_STATE_DIR", &state).env("PATH", luzia.parent().unwrap()).args(["-c", line]);
        at_home(&mut command, dir.path());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    assert_eq!(sh("luzia enqueue -u alice /bin/true").0, Some(0));
    let mut count = 0;
    for line in text.lines().filter(|line| line.contains("   luzia ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!((words.len() > 7, words[5], words[6]), (true, "luzia", "luzia"), "{line}");
        assert_eq!(sh(&words[6..].join(" ")), (Some(0), String::new()), "{line}");
        count += 1;
    }
    assert_eq!(count, 2);
    assert_eq!(sh("luzia wait task_1").0, Some(0), "the pass started what was queued");
}

/// The page on the state directory, without its markup.
fn page() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("man/luzia-spool.5");
    std::fs::read_to_string(path).unwrap().replace("\\-", "-").replace("\\fI", "").replace("\\fR", "")
}

#[test]
fn the_page_on_the_state_directory_names_every_place() {
    let page = page();
    let source =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/files/disk/layout.rs")).unwrap();
    let value =
        |line: &str| Some(line.strip_prefix("pub(crate) const ")?.split_once('"')?.1.split('"').next()?.to_owned());
    let places: Vec<String> = source.lines().filter_map(value).collect();
    assert!(places.len() > 15, "{places:?}");
    let missing: Vec<&String> = places.iter().filter(|place| !page.contains(place.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_page_on_the_state_directory_names_every_member() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let luzia = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_luzia"));
        command.env_clear().env("PATH", "/usr/bin:/bin").env("LUZIA_STATE_DIR", &state).args(args);
        at_home(&mut command, dir.path());
        assert!(command.stdin(std::process::Stdio::null()).output().unwrap().status.code().is_some(), "{args:?}");
    };
    luzia(&["acquire", "bob", "--task", "job", "--ttl", "1h"]);
    luzia(&["run", "-u", "alice", "-p", "x", "--label", "l", "--timeout", "9", "--start-within", "9", "--", "false"]);
    luzia(&["enqueue", "-u", "carol", "--key", "k", "--in", "1h", "--thread", "7", "--retries", "2", "--", "true"]);
    let (page, mut names) = (page(), std::collections::BTreeSet::new());
    collect(&state, &mut names);
    assert!(names.contains("outcome") && names.contains("fence") && names.contains("due_at"), "{names:?}");
    assert!(names.contains("errorMessage"), "{names:?}");
    let is_named = |name: &&String| {
        page.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == name.as_str())
    };
    let missing: Vec<&String> = names.iter().filter(|name| !is_named(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The members of every record below a folder, and of the objects in them.
fn collect(folder: &std::path::Path, names: &mut std::collections::BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, names);
        } else if path.extension().is_some_and(|end| end == "json") {
            let record: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let inner = record.as_object().unwrap();
            let outcome = inner.get("outcome").into_iter().chain(inner.get("last_start"));
            let deeper = outcome.filter_map(serde_json::Value::as_object).flat_map(serde_json::Map::keys);
            names.extend(inner.keys().chain(deeper).cloned());
        }
    }
}

#[test]
fn the_binary_is_linked_statically_where_the_archive_of_the_c_library_is() {
    let name = "the_binary_is_linked_statically_where_the_archive_of_the_c_library_is";
    assert_eq!(linked(LUZIA), env!("LUZIA_LINKED"));
    if env!("LUZIA_LINKED") == "dynamic" {
        return skip(name, "the C library's archive, and no LUZIA_LINK");
    }
    assert_eq!(linked("/bin/sh"), "dynamic");
}

/// The files of a package as Cargo.toml lists them: the pattern of the sources, and the place on a host.
fn assets(manifest: &toml_edit::DocumentMut, package: &str) -> Vec<(String, String)> {
    let assets = manifest["package"]["metadata"][package]["assets"].as_array().unwrap();
    let of = |asset: &toml_edit::Value, at: usize, name: &str| {
        let list = asset.as_array().map(|list| list.get(at).unwrap());
        let word = list.or_else(|| asset.as_inline_table().and_then(|table| table.get(name))).unwrap();
        word.as_str().unwrap().trim_start_matches('/').to_owned()
    };
    assets.iter().map(|asset| (of(asset, 0, "source"), of(asset, 1, "dest"))).collect()
}

/// `tests/packages` builds and uses both packages.
#[test]
fn both_packages_have_the_same_files_and_each_exists() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let manifest: toml_edit::DocumentMut = std::fs::read_to_string(root.join("Cargo.toml")).unwrap().parse().unwrap();
    let mut deb = assets(&manifest, "deb");
    let mut rpm = assets(&manifest, "generate-rpm");
    // Each system has its own folder for zsh, and the .deb has the licence as its field "copyright".
    deb.iter_mut().for_each(|(_, place)| *place = place.replace("vendor-completions", "site-functions"));
    rpm.retain(|(source, _)| source != "LICENSE-*");
    assert_eq!(deb, rpm);
    for (source, _) in rpm.iter().filter(|(source, _)| !source.starts_with("target/")) {
        let (folder, name) = source.rsplit_once('/').unwrap_or(("", source));
        let folder = root.join(folder.trim_end_matches("/**"));
        let is_there = if let Some(end) = name.strip_prefix('*') {
            std::fs::read_dir(&folder).unwrap().any(|file| file.unwrap().file_name().to_str().unwrap().ends_with(end))
        } else {
            folder.join(name).is_file()
        };
        assert!(is_there, "{source}");
    }
    // `packaging/release` takes the address of a release, and the project has none.
    assert!(["repository", "homepage"].iter().all(|member| manifest["package"].get(member).is_none()));
    for script in ["packaging/release", "tests/packages", "tests/packages-inside"] {
        assert!(Command::new("bash").arg("-n").arg(root.join(script)).status().unwrap().success(), "{script}");
    }
}

#[test]
fn the_daemon_writes_its_own_unit_and_leaves_one_of_somebody_else() {
    let place = crate::support::Place::new();
    let installed = place.ok(&["daemon", "--install"]);
    assert_eq!(installed.out, "systemctl --user daemon-reload\nsystemctl --user enable --now luzia\n");
    let document = place.json(&["daemon", "--install"]);
    let path = document["path"].as_str().unwrap();
    assert_eq!((path.ends_with("/systemd/user/luzia.service"), &document["changed"]), (true, &false.into()));
    let unit = std::fs::read_to_string(path).unwrap();
    let start = unit.lines().find(|line| line.starts_with("ExecStart=")).unwrap();
    assert!(start.contains(env!("CARGO_BIN_EXE_luzia")) && start.ends_with(" daemon"), "{start}");
    let state = place.state();
    assert!(start.contains(&format!("--state-dir {}", state.to_str().unwrap())), "a variable named it: {start}");
    let packaged = std::fs::read_to_string(packaged("systemd/user/luzia.service")).unwrap();
    let rest =
        |text: &str| text.lines().filter(|line| !line.starts_with("ExecStart=")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rest(&unit), rest(&packaged));
    std::fs::write(path, "mine").unwrap();
    let refused = place.luzia(&["daemon", "--install"]).coded(73);
    assert!(refused.err.contains("--replace"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "mine");
    place.ok(&["daemon", "--install", "--replace"]);
    assert_eq!(std::fs::read_to_string(path).unwrap(), unit);
    for wrong in [&["daemon", "--replace"][..], &["daemon", "--install", "--poll", "1s"]] {
        place.luzia(wrong).coded(2);
    }
}
