//! The tests must be shown to bite: luzia is built once more with its planted faults (`src/mutant.rs`), each of which
//! breaks one rule, and for each one the test that keeps this rule must fail, for the reason expected.
//!
//! A binary of its own, because it builds: cargo runs test binaries one after another, so no other test has to share
//! the machine with the compiler.
#![allow(clippy::disallowed_methods, reason = "it starts cargo")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "it/support/home.rs"]
mod home;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A planted fault, the test that must notice it, and a part of what that test says then.
struct Planted {
    feature: &'static str,
    test: &'static str,
    says: &'static [&'static str],
}

const SPOOL: &str = "sim::spool::what_was_accepted_survives_kills_and_power_cuts";
const LOCKS: &str = "sim::locks::a_lane_has_one_holder_under_kills";
const REUSE: &str = "sim::reuse::a_lease_ends_with_its_process_though_another_has_its_pid";

const PLANTED: [Planted; 6] = [
    Planted { feature: "mutant-no-file-sync", test: SPOOL, says: &["violation: ", "lost task", "Corrupt"] },
    Planted { feature: "mutant-no-dir-sync", test: SPOOL, says: &["violation: ", "lost task", "Ok(None)"] },
    Planted { feature: "mutant-early-answer", test: SPOOL, says: &["violation: ", "lost task", "Ok(None)"] },
    Planted { feature: "mutant-empty-lock", test: LOCKS, says: &["violation: I2: the sidecar of user_alice.lock"] },
    Planted {
        feature: "mutant-break-outside-guard",
        test: LOCKS,
        says: &["violation: I2: user_alice.lock is ", "its sidecar says"],
    },
    Planted { feature: "mutant-pid-only", test: REUSE, says: &["violation: ", "held by a pid that is another's"] },
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where the compiler was installed, which is below the home of whoever runs the tests unless they say otherwise.
fn compiler() -> impl Iterator<Item = (&'static str, PathBuf)> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")]
        .into_iter()
        .map(move |(name, below)| (name, std::env::var_os(name).map_or_else(|| home.join(below), PathBuf::from)))
}

/// The integration tests, built with every fault for choice by `LUZIA_MUTANT`; none is in force without it.
fn tests_with_faults() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants");
    let built = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["test", "--no-run", "--locked", "--offline", "--test", "it", "--features", "mutants"])
        .args(["--message-format", "json", "--target-dir"])
        .arg(target)
        .envs(home::home_variables(Path::new(env!("CARGO_TARGET_TMPDIR"))))
        .envs(compiler())
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let messages = String::from_utf8(built.stdout).unwrap();
    let made = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let of_tests = made.filter(|message| message["target"]["name"] == "it").find_map(|message| {
        let executable = message["executable"].as_str()?;
        Some(PathBuf::from(executable))
    });
    of_tests.expect("cargo names the binary that it has built")
}

fn run(tests: &Path, test: &str, fault: Option<&str>) -> Output {
    let mut command = Command::new(tests);
    command.current_dir(root()).args(["--exact", test]).env_remove("LUZIA_MUTANT");
    home::at_home(&mut command, Path::new(env!("CARGO_TARGET_TMPDIR")));
    command.envs(fault.map(|fault| ("LUZIA_MUTANT", fault))).output().unwrap()
}

#[test]
fn each_planted_fault_is_noticed_by_the_test_of_its_rule() {
    let tests = tests_with_faults();
    for test in [SPOOL, LOCKS, REUSE] {
        let sound = run(&tests, test, None);
        let said = String::from_utf8_lossy(&sound.stdout);
        assert!(sound.status.success() && said.contains("1 passed"), "without a fault:\n{said}");
    }
    for Planted { feature, test, says } in PLANTED {
        let faulty = run(&tests, test, Some(feature));
        let said = [faulty.stdout, faulty.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(!faulty.status.success() && said.contains("1 failed"), "{feature} is not noticed by {test}:\n{said}");
        for part in says {
            assert!(said.contains(part), "{feature} fails {test} without saying \"{part}\":\n{said}");
        }
    }
}

#[test]
fn every_planted_fault_has_its_feature_and_its_place() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let declared =
        manifest.lines().filter_map(|line| line.strip_suffix(" = []")).filter(|name| name.starts_with("mutant-"));
    let planted: Vec<&str> = PLANTED.iter().map(|planted| planted.feature).collect();
    assert_eq!(declared.collect::<Vec<_>>(), planted);
    let refused = std::fs::read_to_string(root().join("src/mutant.rs")).unwrap();
    for feature in planted {
        assert!(refused.contains(&format!("feature = \"{feature}\"")), "src/mutant.rs does not refuse {feature}");
    }
}
