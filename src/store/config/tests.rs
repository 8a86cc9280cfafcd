//! The configuration file, by what it says and by what is wrong with it.

use super::*;
use crate::model::capacity::{Budget, Gate};
use crate::model::config::{Contexts, Keeps, LONGEST_WINDOW_MS, OnOverdue, Rate, SlotsFrom};
use crate::model::task::OnInterrupt;
use crate::model::{Cgroups, LaneName, Name};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn read(text: &str) -> Parsed {
    parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The text is refused, at this line and with these words.
#[track_caller]
fn refused(text: &str, line: usize, words: &str) {
    let error = parse(text.as_bytes()).expect_err(text);
    assert_eq!(error.line, line, "{text}: {error}");
    assert!(error.message.contains(words), "{text}: {error}");
    assert!(!error.message.contains("at line") && error.message.trim_end() == error.message, "{error}");
}

const EXAMPLE: &str = r#"{
  "per_user_serialization": { "enabled": true, "lock_timeout_seconds": 3600 },
  "slots": { "max": 4 },
  "projects": { "alice_project": { "user": "alice", "conductor_dir": "/home/alice_project/conductor", "agent": ["claude", "-p", "{prompt}"] } },
  "lanes": { "user:*": { "max": 1 }, "thread:*": { "lock_timeout_seconds": 600 }, "cron": { "max": 1 }, "subagent": { "max": 8 } },
  "tier_shares": { "high": 16, "normal": 4, "low": 1 },
  "poll_interval_seconds": 1
}"#;

#[test]
fn the_example_of_the_contract_reads_as_it_is() {
    let Parsed { config, warnings } = read(EXAMPLE);
    assert_eq!(warnings, Vec::<String>::new());
    let project = &config.projects["alice_project"];
    assert_eq!(project.user.as_ref().map(Name::as_str), Some("alice"));
    assert_eq!(project.conductor_dir.as_deref(), Some("/home/alice_project/conductor"));
    assert_eq!(project.agent.as_ref().map(Vec::len), Some(3));
    let subagent = LaneName::parse("subagent").expect("a lane");
    assert_eq!(config.limit(&subagent), 8);
    assert_eq!(config.lanes["thread:*"].lock_timeout_ms, Some(600_000));
    let rest = Config { projects: BTreeMap::new(), lanes: BTreeMap::new(), ..config };
    assert_eq!(rest, Config { slots_from: SlotsFrom::File, ..Config::default() });
}

#[test]
fn what_is_not_said_is_the_default() {
    for text in ["{}", " {\r\n} \n", r#"{"slots":{},"projects":{},"lanes":{}}"#] {
        assert_eq!(read(text).config, Config::default(), "{text}");
    }
    assert_eq!(read(r#"{"tier_shares":{"low":2}}"#).config.tier_shares, [16, 4, 2]);
    assert!(!read(r#"{"per_user_serialization":{"enabled":false}}"#).config.serialize_users);
    let project = read(r#"{"projects":{"p":{"user":null,"agent":null}}}"#).config;
    assert_eq!(project.projects["p"], Project::default());
}

#[test]
fn seconds_may_have_fractions() {
    for (text, ms) in
        [("0.25", 250), ("1", 1000), ("1.0", 1000), ("0.001", 1), ("1e1", 10_000), ("3153600000", 3_153_600_000_000)]
    {
        let text = format!(r#"{{"poll_interval_seconds":{text}}}"#);
        assert_eq!(read(&text).config.poll_interval_ms, ms, "{text}");
    }
}

#[test]
fn an_unknown_key_warns_and_names_the_nearest() {
    for (text, key, nearest) in [
        (r#"{"slot":{"max":1}}"#, "slot", Some("slots")),
        (r#"{"slots":{"mx":1}}"#, "slots.mx", Some("max")),
        (r#"{"lanes":{"cron":{"weigth":1}}}"#, "lanes.cron.weigth", Some("weight")),
        (r#"{"projects":{"p":{"conductordir":1}}}"#, "projects.p.conductordir", Some("conductor_dir")),
        (r#"{"tier_shares":{"hihg":1}}"#, "tier_shares.hihg", Some("high")),
        (r#"{"colour":[{"a":1}]}"#, "colour", None),
        ("{\"\\u001b[31m\":1}", "\\u{1b}[31m", None),
    ] {
        let Parsed { config, warnings } = read(text);
        let [warning] = warnings.as_slice() else { panic!("{text}: {warnings:?}") };
        assert!(warning.contains(&format!("\"{key}\"")), "{warning}");
        let meant = nearest.map(|nearest| format!("did you mean \"{nearest}\"?"));
        assert_eq!(meant.is_some(), warning.contains("did you mean"), "{warning}");
        assert!(warning.contains(&meant.unwrap_or_default()), "{warning}");
        assert_eq!(config.slots_max, 4);
    }
}

#[test]
fn a_limit_for_the_global_lane_warns_that_slots_rule_it() {
    let parsed = read(r#"{"lanes":{"global":{"max":9}}}"#);
    assert!(parsed.warnings[0].contains("slots.max"));
}

#[test]
fn wrong_numbers_are_refused_at_their_line() {
    for (key, value, words) in [
        (r#""slots":{"max":"#, "0", "from 1"),
        (r#""slots":{"max":"#, "4294967296", "from 1"),
        (r#""slots":{"max":"#, "-1", "from 1"),
        (r#""slots":{"max":"#, "4.5", "from 1"),
        (r#""slots":{"max":"#, "\"4\"", "a whole number"),
        (r#""slots":{"max":"#, "true", "a whole number"),
        (r#""slots":{"max":"#, "[4]", "a whole number"),
        (r#""tier_shares":{"low":"#, "0", "a share"),
        (r#""lanes":{"cron":{"weight":"#, "0", "a weight"),
        (r#""lanes":{"cron":{"weight":"#, "1001", "a weight"),
        (r#""lanes":{"cron":{"max":"#, "0", "from 1"),
        (r#""lanes":{"cron":{"rate":"#, "\"0/1m\"", "a rate such as"),
        (r#""lanes":{"cron":{"rate":"#, "5", "a rate such as"),
        (r#""lanes":{"cron":{"hold":"#, "\"both\"", "\"keep\" or \"release\""),
        (r#""lanes":{"cron":{"on_overdue":"#, "\"kill\"", "\"report\" or \"terminate\""),
        (r#""lanes":{"cron":{"on_wait":"#, "\" \"", "a command"),
        (r#""lanes":{"cron":{"on_wait":"#, "[]", "a command"),
        (r#""lanes":{"cron":{"warn_after_seconds":"#, "0", "seconds"),
        (r#""lanes":{"cron":{"reserve":"#, "-1", "from 0"),
        (r#""lanes":{"cron":{"lock_timeout_seconds":"#, "0", "seconds"),
        (r#""lanes":{"cron":{"lock_timeout_seconds":"#, "3153600001", "100 years"),
        (r#""lanes":{"cron":{"lock_timeout_seconds":"#, "1e300", "100 years"),
        (r#""lanes":{"cron":{"lock_timeout_seconds":"#, "1e400", "out of range"),
        (r#""per_user_serialization":{"lock_timeout_seconds":"#, "-5", "seconds"),
        (r#""per_user_serialization":{"lock_timeout_seconds":"#, "-0.5", "seconds"),
        (r#""per_user_serialization":{"lock_timeout_seconds":"#, "NaN", "expected"),
        (r#""per_user_serialization":{"lock_timeout_seconds":"#, "99999999999999999999", "100 years"),
        (r#""per_user_serialization":{"lock_timeout_seconds":"#, "\"1h\"", "seconds"),
        (r#""per_user_serialization":{"enabled":"#, "1", "a boolean"),
        (r#""v":"#, "2", "version 1"),
    ] {
        let opened = key.matches('{').count();
        refused(&format!("{{\n{key}\n{value}\n{}\n}}", "}".repeat(opened)), 3, words);
    }
}

#[test]
fn a_rule_that_cannot_be_meant_is_refused() {
    for (text, words) in [
        (r#"{"lanes":{"global":{"reserve":1}}}"#, "for one lane"),
        (r#"{"lanes":{"user:*":{"reserve":1}}}"#, "for one lane"),
        (r#"{"lanes":{"cron":{"max":1,"reserve":2}}}"#, "more than"),
        (r#"{"slots":{"max":3},"lanes":{"cron":{"reserve":1},"subagent":{"reserve":2}}}"#, "leave none"),
    ] {
        refused(text, 1, words);
    }
    assert_eq!(read(r#"{"lanes":{"subagent":{"reserve":3}}}"#).config.lanes["subagent"].reserve, Some(3));
}

#[test]
fn options_of_the_command_line_are_read_by_the_same_rows() {
    let rule =
        rule_from_options(&[("max", "3"), ("lock_timeout_seconds", "1500ms"), ("rate", "10/m"), ("hold", "keep")]);
    let rate = Some(Rate { grants: 10, window_ms: 60_000 });
    let hold = Some(Keeps::Keep);
    let wanted = LaneRule { max: Some(3), lock_timeout_ms: Some(1500), rate, hold, ..LaneRule::default() };
    assert_eq!(rule, Ok(wanted));
    for (key, text, words) in [
        ("max", "0", "--max is a whole number from 1"),
        ("max", "+3", "--max is"),
        ("max", "99999999999999999999999", "--max is"),
        ("lock_timeout_seconds", "0", "--lock-timeout is a duration from 1ms"),
        ("warn_after_seconds", "soon", "--warn-after is a duration"),
        ("rate", "10", "--rate is a rate such as"),
        ("on_overdue", "kill", "--on-overdue is \"report\" or \"terminate\", not \"kill\""),
        ("on_wait", "", "--on-wait is a command"),
    ] {
        let error = rule_from_options(&[(key, text)]).expect_err(text);
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn the_column_is_just_behind_what_is_wrong() {
    let error = parse(br#"{"slots": {"max": 0, "a": 1}}"#).expect_err("zero slots");
    assert_eq!((error.line, error.column), (1, 19));
}

#[test]
fn wrong_names_lanes_and_commands_are_refused_at_their_line() {
    for (text, words) in [
        (r#""projects":{"":{}}"#, "empty"),
        (r#""projects":{"a\u0000":{}}"#, "control"),
        (r#""projects":{"p":{"user":""}}"#, "empty"),
        (r#""projects":{"p":{"user":"a\nb"}}"#, "control"),
        (r#""projects":{"p":{"user":7}}"#, "the name of a user"),
        (r#""projects":{"p":{"run_as":""}}"#, "empty"),
        (r#""projects":{"p":{"conductor_dir":"conductor"}}"#, "absolute"),
        (r#""projects":{"p":{"conductor_dir":"~/c"}}"#, "absolute"),
        (r#""projects":{"p":{"conductor_dir":"/home/{projct}/c"}}"#, "braces"),
        (r#""projects":{"p":{"agent":[]}}"#, "empty"),
        (r#""projects":{"p":{"agent":[]}}"#, "empty"),
        (r#""projects":{"p":{"agent":["{prompt}"]}}"#, "program"),
        (r#""projects":{"p":{"agent":["","{prompt}"]}}"#, "program"),
        (r#""projects":{"p":{"agent":["a","{prompt}\u0000"]}}"#, "NUL"),
        (r#""projects":{"p":{"agent":"claude {prompt}"}}"#, "a list"),
        (r#""projects":{"p":[]}"#, "an object"),
        (r#""projects":[]"#, "an object"),
        (r#""slots":[4]"#, "an object"),
        (r#""lanes":{"Thread:*":{}}"#, "lower-case"),
        (r#""lanes":{"":{}}"#, "empty"),
        (r#""lanes":{"thread:":{}}"#, "empty"),
        (r#""lanes":{"thread:a*b":{}}"#, "last character"),
        (r#""lanes":{"thread:**":{}}"#, "last character"),
        (r#""lanes":{"lane:*":{}}"#, "without a kind"),
        (r#""lanes":{"cron":[1]}"#, "an object"),
        (r#""lanes":{"cron":{},"lane:cron":{}}"#, "second name"),
    ] {
        refused(&format!("{{\n\n{text}\n\n}}"), 3, words);
    }
}

#[test]
fn a_key_given_twice_is_refused_wherever_it_stands() {
    for text in [
        r#""slots":{},"slots":{}"#,
        r#""lanes":{"cron":{},"cron":{}}"#,
        r#""projects":{"p":{},"p":{}}"#,
        r#""x":[{"a":1,"b":2,"a":3}]"#,
    ] {
        refused(&format!("{{\n{text}\n}}"), 2, "twice");
    }
}

#[test]
fn what_is_no_json_object_is_refused() {
    refused("", 1, "empty");
    refused(" \n\t", 1, "empty");
    refused("\u{feff}{}", 1, "byte order mark");
    refused("{}\n{}", 2, "trailing");
    refused("{}\nx", 2, "trailing");
    refused("[]", 1, "an object");
    refused("null", 1, "an object");
    refused("{\"slots\":\n", 2, "EOF");
    refused(&"[".repeat(200_000), 1, "recursion");
    refused(&format!("{{\"x\":{}", "[".repeat(200_000)), 1, "recursion");
    assert!(parse(b"{\"a\xff\":1}").is_err());
}

#[test]
fn a_lane_has_one_spelling_and_templates_stay() {
    let config = read(
        r#"{"lanes":{"lane:cron":{"max":2},"lane:gpu-*":{"max":3}},
            "projects":{"p":{"conductor_dir":"/home/{project}/{user}"}}}"#,
    )
    .config;
    let limit = |lane| config.limit(&LaneName::parse(lane).expect("a lane"));
    assert_eq!((limit("cron"), limit("gpu-1")), (2, 3));
    let dir = config.projects["p"].conductor_dir.as_deref();
    assert_eq!(dir, Some("/home/{project}/{user}"));
}

fn time() -> impl Strategy<Value = u64> {
    prop_oneof![1..5000u64, 1..=crate::model::time::MAX_DURATION_MS]
}

fn project() -> impl Strategy<Value = Project> {
    let text = proptest::option::of("[a-z\u{e4} \"{]{1,8}");
    let agent = proptest::option::of("[^\\x00]{0,8}");
    let dir = proptest::option::of(prop_oneof!["/[a-z /.\"]{0,9}", Just("/h/{project}".to_owned())]);
    (text.clone(), dir, agent, text).prop_map(|(user, conductor_dir, agent, run_as)| Project {
        user: user.map(|user| Name::new(&user).expect("a name")),
        conductor_dir,
        agent: agent.map(|word| vec!["agent".to_owned(), word, "--p={prompt}".to_owned()]),
        run_as,
    })
}

fn rule() -> impl Strategy<Value = LaneRule> {
    use proptest::option::of;
    let plain = (of(1..=u32::MAX), of(1..=1000u32), of(time()), of(time()), of("[a-z][a-z |>.]{0,9}"));
    let rate = (1..=10_000u32, 1..=LONGEST_WINDOW_MS).prop_map(|(grants, window_ms)| Rate { grants, window_ms });
    let keeps = prop_oneof![Just(Keeps::Keep), Just(Keeps::Release)];
    let overdue = prop_oneof![Just(OnOverdue::Report), Just(OnOverdue::Terminate)];
    let words = (of(rate), of(keeps), of(overdue), of(Just(0u32)));
    (plain, words, capacity()).prop_map(|(plain, (rate, hold, on_overdue, reserve), capacity)| {
        let (max, weight, lock_timeout_ms, warn_after_ms, on_wait) = plain;
        LaneRule { max, weight, hold, lock_timeout_ms, warn_after_ms, on_wait, rate, reserve, on_overdue, ..capacity }
    })
}

/// The rules that a lane and a pattern may have; values are of one lane.
fn capacity() -> impl Strategy<Value = LaneRule> {
    use proptest::option::of;
    let gates = prop_oneof![Just("load>1.5..1 | mem<10%"), Just("psi.cpu>0.125% & psi.io<5%")];
    let gate = gates.prop_map(|text| Gate::parse(text).expect("an expression"));
    let budget = prop_oneof![Just(Budget::Auto), (1..=4096u32).prop_map(Budget::Cpus)];
    (of(gate), of(budget)).prop_map(|(hold_while, cpu_budget)| {
        let affinity = cpu_budget.map(|budget| budget == Budget::Auto);
        LaneRule { hold_while, cpu_budget, affinity, ..LaneRule::default() }
    })
}

prop_compose! {
    fn config()(
        serialize_users: bool,
        lock_timeout_ms in time(),
        slots_max in 1..=u32::MAX,
        projects in proptest::collection::btree_map("[a-z.\u{e9}/]{1,8}", project(), 0..4),
        lanes in proptest::collection::btree_map("(main|cron|(user|thread):([a-z:/]{1,6}|[a-z]{0,3}\\*)|\\*)", rule(), 0..4),
        tier_shares in [1..=1_000_000u32, 1..=1_000_000u32, 1..=1_000_000u32],
        retention_days in 1..=u32::MAX,
        retention_tasks in 1..=u32::MAX,
        logs_max_bytes in prop_oneof![Just(0), 1_048_576..=1_u64 << 53],
        poll_interval_ms in time(), contexts in prop_oneof![Just(Contexts::Same), Just(Contexts::Any)],
        cgroups in prop_oneof![Just(Cgroups::Auto), Just(Cgroups::On), Just(Cgroups::Off)],
        retry_times in (time(), time()),
        on_interrupt in prop_oneof![Just(OnInterrupt::Retry), Just(OnInterrupt::Fail)],
        allow_root: bool,
        allow_loader_env: bool,
        store in proptest::option::of("postgres:///[a-z]{1,9}"),
        mcp_allow in proptest::collection::vec("[a-z*] [a-z *]{0,9}", 0..3),
        mcp_env in proptest::collection::vec("[A-Z_*]{1,9}", 0..3),
        users_known in proptest::collection::vec("[a-z ]{1,9}".prop_map(|name| Name::new(&name).expect("a name")), 0..3),
    ) -> Config {
        Config {
            store, serialize_users, lock_timeout_ms, slots_max, slots_from: SlotsFrom::File, projects, lanes, tier_shares, retention_days, retention_tasks,
            logs_max_bytes, cgroups, poll_interval_ms, contexts, allow_root, allow_loader_env, users_known, mcp_allow, mcp_env,
            backoff_ms: retry_times.0, most_backoff_ms: retry_times.1, on_interrupt,
        }
    }
}

#[test]
fn every_key_is_documented_and_its_example_sets_it() {
    let validator = jsonschema::validator_for(&schema()).expect("a schema");
    let pages = reference();
    assert_eq!(pages.len(), FILE.len() + PROJECT.len() + RULE.len());
    for page in pages {
        let is_said = page.meaning.ends_with('.') && page.effect.len() > 4 && !page.default.is_empty();
        assert!(is_said && page.default != "null", "document the key in src/store/config/keys.rs: {page:?}");
        let Parsed { config, warnings } = read(&page.example);
        assert_eq!(warnings, Vec::<String>::new(), "{page:?}");
        let is_for_luzia = !["$schema", "v"].contains(&page.path.as_str());
        assert!(!is_for_luzia || config != Config::default() || page.example.contains(&page.default), "{page:?}");
        let example = serde_json::from_str(&page.example).expect("JSON");
        assert!(validator.is_valid(&example), "{page:?}: {:?}", validator.validate(&example));
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses_or_warns_of() {
    let validator = jsonschema::validator_for(&schema()).expect("a schema");
    for (text, is_right) in [
        ("{}", true),
        (r#"{"slots":{"max":null},"projects":null}"#, true),
        (r#"{"slots":{"max":0}}"#, false),
        (r#"{"slots":{"max":4.5}}"#, false),
        (r#"{"slots":{"mx":4}}"#, false),
        (r#"{"slot":{"max":4}}"#, false),
        (r#"{"v":2}"#, false),
        (r#"{"logs":{"max_bytes":0}}"#, true),
        (r#"{"logs":{"max_bytes":1}}"#, false),
        (r#"{"logs":{"max_bytes":1048576}}"#, true),
        (r#"{"poll_interval_seconds":"1s"}"#, false),
        (r#"{"poll_interval_seconds":0}"#, false),
        (r#"{"dispatch":{"contexts":"all"}}"#, false),
        (r#"{"users":{"known":[]}}"#, false),
        (r#"{"users":{"known":[""]}}"#, false),
        (r#"{"mcp":{"allow":[" "]}}"#, false),
        (r#"{"projects":{"p":{"conductor_dir":"here"}}}"#, false),
        (r#"{"projects":{"p":{"agent":[]}}}"#, false),
        (r#"{"lanes":{"deploy":{"max":"2"}}}"#, false),
        (r#"{"lanes":{"deploy":{"limit":2}}}"#, false),
        (r#"{"lanes":[]}"#, false),
        ("[]", false),
    ] {
        let read = parse(text.as_bytes()).is_ok_and(|parsed| parsed.warnings.is_empty());
        let value = serde_json::from_str(text).expect("JSON");
        assert_eq!((read, validator.is_valid(&value)), (is_right, is_right), "{text}");
    }
}

proptest! {
    #[test]
    fn what_is_shown_reads_back_and_the_schema_admits_it(config in config()) {
        let shown = to_json(&config);
        let validator = jsonschema::validator_for(&schema()).expect("a schema");
        prop_assert!(validator.is_valid(&shown), "{}: {:?}", shown, validator.validate(&shown));
        let text = shown.to_string();
        let parsed = parse(text.as_bytes());
        prop_assert_eq!(parsed, Ok(Parsed { config, warnings: Vec::new() }), "{}", text);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,30}|[\\[\\]{}:,\"a0-9.e*-]{0,30}") {
        let _ = parse(text.as_bytes());
    }

    #[test]
    fn no_cut_and_no_changed_byte_makes_the_reader_panic(at in 0..EXAMPLE.len(), byte: u8) {
        let mut text = EXAMPLE.as_bytes().to_vec();
        let _ = parse(&text[..at]);
        text[at] = byte;
        let _ = parse(&text);
    }
}

#[test]
fn of_very_many_unknown_keys_only_the_first_are_named() {
    let keys: Vec<String> = (0..103).map(|at| format!("\"unknown{at}\": 1")).collect();
    let warnings = parse(format!("{{{}}}", keys.join(",")).as_bytes()).expect("it reads").warnings;
    assert_eq!((warnings.len(), warnings[100].as_str()), (101, "3 more keys have no effect"));
}
