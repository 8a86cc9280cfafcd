//! Tests of the simulator, and of estimates for a recorded day.

use super::engine::Times;
use super::load::Length;
use super::plan::{Gap, Plan, Stream};
use super::score::{LaneScore, Score};
use super::*;
use crate::model::config::{Config, LaneRule, Rate};
use crate::model::queue::digest;
use crate::model::{LaneName, Name, Priority};
use crate::policy::analytics::record::Record;
use proptest::prelude::*;
use serde_json::json;

const MINUTE: u64 = 60_000;

fn lane(text: &str) -> LaneName {
    LaneName::parse(text).expect("a lane")
}

/// Tasks in the lane of a user, or in a named one only.
fn stream(user: &str, named: Option<&str>, count: u64, gap: Gap, runs: Length) -> Stream {
    Stream {
        user: Name::new(user).expect("a name"),
        session: None,
        lanes: named.map(lane).into_iter().collect(),
        takes_user_lane: named.is_none(),
        slots: 1,
        priority: Priority::DEFAULT,
        count,
        from_ms: 0,
        gap,
        runs,
        timeout_ms: None,
    }
}

fn rules(slots: u32, limits: &[(&str, u32)]) -> Config {
    let rule = |max| LaneRule { max: Some(max), ..LaneRule::default() };
    let lanes = limits.iter().map(|(name, max)| ((*name).to_owned(), rule(*max))).collect();
    Config { slots_max: slots, lanes, ..Config::default() }
}

fn ran(load: &Load, seed: u64) -> (Vec<Times>, Report) {
    let mut random = Random::new(seed);
    let mut world = World::new(load, Ledger::default(), Timestamp(0), &mut random).with_book();
    assert!(world.run(u64::MAX, &mut random, &|_| false));
    let (times, book, end) = world.into_book();
    let report = Report::of(load, &times, &book, end);
    (times, report)
}

#[test]
fn one_task_behind_a_hundred_thousand_starts_within_two_grants() {
    // P6: through the very functions of dispatch.
    for slots in [1, 4] {
        let mut late = stream("bob", None, 1, Gap::Every(0), Length::Fixed(10));
        late.from_ms = 100_000;
        let many = stream("alice", None, 100_000, Gap::Every(0), Length::Fixed(1000));
        let load = Plan { config: rules(slots, &[]), streams: vec![many, late] }.load(&mut Random::new(1));
        let bob = load.jobs.iter().position(|job| job.user == 1).expect("it is there");
        let mut random = Random::new(1);
        let mut world = World::new(&load, Ledger::default(), Timestamp(0), &mut random);
        world.run(u64::MAX, &mut random, &|times| times[bob].start.is_some());
        let came = load.jobs[bob].ready;
        let between = world.times.iter().filter(|times| times.start.is_some_and(|at| at >= came)).count();
        assert!(between <= 2, "{between}");
    }
}

#[test]
fn a_session_with_one_task_starts_within_two_grants_beside_one_with_many_in_the_same_lane() {
    let of = |session: &str, count, from_ms| Stream {
        session: Some(session.to_owned()),
        from_ms,
        ..stream("alice", Some("build"), count, Gap::Every(0), Length::Fixed(1000))
    };
    let plan = Plan { config: rules(4, &[("build", 1)]), streams: vec![of("one", 5000, 0), of("two", 1, 100_000)] };
    let load = plan.load(&mut Random::new(1));
    let (times, _) = ran(&load, 1);
    let late = load.jobs.iter().position(|job| job.ready == Timestamp(100_000)).expect("it is there");
    let waited = times[late].start.expect("it started").ms_since(load.jobs[late].ready);
    assert!(waited <= 2000, "{waited}");
}

#[test]
fn a_task_of_several_slots_is_not_starved_by_single_ones() {
    let single = |limit| Stream {
        timeout_ms: limit,
        ..stream("alice", Some("build"), 400, Gap::Every(500), Length::Between(1000, 5000))
    };
    let wide =
        Stream { slots: 4, from_ms: 20_000, ..stream("bob", Some("build"), 1, Gap::Every(0), Length::Fixed(10)) };
    for limit in [Some(5000), None] {
        let plan = Plan { config: rules(8, &[("build", 4)]), streams: vec![single(limit), wide.clone()] };
        let load = plan.load(&mut Random::new(3));
        let (times, report) = ran(&load, 3);
        let bob = load.jobs.iter().position(|job| job.user == 1).expect("it is there");
        // It starts when those have ended that ran when it came.
        let waited = times[bob].start.expect("it started").ms_since(load.jobs[bob].ready);
        assert!(waited <= 6000, "{limit:?}: {waited}");
        assert_eq!(report.never, 0);
    }
}

#[test]
fn equal_users_have_an_index_near_one_and_a_wider_lane_shortens_waits() {
    let streams: Vec<Stream> = ["a", "b", "c", "d"]
        .map(|user| stream(user, Some("build"), 100, Gap::About(1000), Length::Between(500, 4000)))
        .to_vec();
    let of = |max| {
        ran(&Plan { config: rules(4, &[("build", max)]), streams: streams.clone() }.load(&mut Random::new(5)), 5).1
    };
    let (narrow, wide) = (of(1), of(3));
    assert!(narrow.jain > 0.98, "{}", narrow.jain);
    assert!(wide.users[0].waits.p95_ms < narrow.users[0].waits.p95_ms / 2, "{wide:?}");
    assert_eq!((narrow.bound, narrow.never), (1 + 3 * 61, 0));
}

#[test]
fn a_rate_lets_so_many_start_in_each_window_and_goes_on_by_itself() {
    let mut config = rules(4, &[("api", 4)]);
    config.lanes.entry("api".into()).or_default().rate = Rate::parse("2/1m");
    let streams = vec![stream("alice", Some("api"), 7, Gap::Every(0), Length::Fixed(1000))];
    let load = Plan { config, streams }.load(&mut Random::new(1));
    let (times, report) = ran(&load, 1);
    let starts: Vec<i64> = times.iter().map(|times| times.start.expect("started").0).collect();
    assert_eq!((starts, report.never), (vec![0, 0, 60_000, 60_000, 120_000, 120_000, 180_000], 0));
}

#[test]
fn a_reserve_keeps_a_slot_for_tasks_of_its_lane() {
    let mut config = rules(3, &[]);
    config.lanes.entry("deploy".into()).or_default().reserve = Some(1);
    let many = stream("alice", Some("other"), 6, Gap::Every(0), Length::Fixed(1000));
    let late = Stream { from_ms: 500, ..stream("bob", Some("deploy"), 1, Gap::Every(0), Length::Fixed(10)) };
    config.lanes.entry("other".into()).or_default().max = Some(9);
    let load = Plan { config, streams: vec![many, late] }.load(&mut Random::new(1));
    let (times, _) = ran(&load, 1);
    let starts: Vec<i64> = times.iter().map(|times| times.start.expect("started").0).collect();
    let (bob, others): (Vec<_>, Vec<_>) = load.jobs.iter().zip(starts).partition(|(job, _)| job.user == 1);
    assert_eq!(bob[0].1, 500, "its slot was kept");
    assert_eq!(others.iter().map(|(_, at)| *at).collect::<Vec<_>>(), [0, 0, 1000, 1000, 2000, 2000]);
}

/// A day of several users and lanes as its events tell it: durations vary, and arrivals come at any moment.
fn recorded_day() -> (Config, Vec<Record>) {
    let config = rules(4, &[("build", 2)]);
    let kinds = [
        ("alice", None, 400, 3 * MINUTE, Length::Between(30_000, 4 * MINUTE)),
        ("bob", None, 300, 4 * MINUTE, Length::Between(10_000, 6 * MINUTE)),
        ("carol", Some("build"), 300, 5 * MINUTE, Length::Between(2 * MINUTE, 9 * MINUTE)),
        ("dave", Some("build"), 150, 8 * MINUTE, Length::Between(MINUTE, 12 * MINUTE)),
        ("erin", Some("deploy"), 100, 12 * MINUTE, Length::Between(5 * MINUTE, 10 * MINUTE)),
    ];
    let streams =
        kinds.map(|(user, named, count, gap, runs)| stream(user, named, count, Gap::About(gap), runs)).to_vec();
    let load = Plan { config: config.clone(), streams }.load(&mut Random::new(11));
    let (times, _) = ran(&load, 11);
    let mut lines = Vec::new();
    for (job, times) in load.jobs.iter().zip(&times) {
        let user = load.users[job.user].name.as_str();
        let named: Vec<String> = job
            .lanes
            .iter()
            .map(|(at, _)| &load.lanes[*at].name)
            .filter(|lane| !lane.is_global() && !lane.is_user())
            .map(LaneName::to_string)
            .collect();
        let own = job.takes_user_lane.then(|| format!("user:{user}"));
        let mut line = |at: Timestamp, order: u8, kind: &str, data: serde_json::Value| {
            let line = json!({ "event": kind, "task": job.id.to_string(), "user": user, "lane": own, "lanes": named, "data": data });
            lines.push((at, order, Record::of(at, &line).expect("an event")));
        };
        let (start, end) = (times.start.expect("started"), times.end.expect("ended"));
        let work = digest(user);
        line(job.ready, 2, "enqueued", json!({ "priority": job.priority.number(), "work": work }));
        line(start, 3, "locked", json!({ "lanes": [] }));
        let ran = end.ms_since(start);
        line(end, 1, "finished", json!({ "status": "completed", "ran_ms": ran, "work": work }));
    }
    lines.sort_by_key(|(at, order, _)| (*at, *order));
    (config, lines.into_iter().map(|(.., record)| record).collect())
}

#[test]
fn on_a_recorded_day_four_of_five_starts_are_within_p90() {
    let (config, records) = recorded_day();
    let mut score = Score::new(Timestamp(0), &config, 250);
    records.iter().for_each(|record| score.take(record));
    let lanes = score.finish();
    let sum = lanes.values().fold(LaneScore::default(), LaneScore::with);
    assert!(sum.known >= 200 && sum.known * 10 >= sum.tasks * 9, "{sum:?}");
    assert!(sum.within_p90 * 100 >= sum.known * 80, "{sum:?}");
    // Neither is it so wide that it says nothing.
    assert!(sum.within_p50 * 100 <= sum.known * 75 && sum.within_p90 > sum.within_p50, "{sum:?}");
}

fn plans() -> impl Strategy<Value = Plan> {
    let one = (0..4usize, 0..4usize, 0..8u64, 0..3000u64, 0..4000u64, 1..3u32, 0..10u8);
    let one = one.prop_map(|(user, named, count, gap, most, slots, priority)| {
        let named = [None, Some("build"), Some("thread:7"), Some("docs")][named];
        let user = ["a", "b", "c", "d"][user];
        let priority = Priority::new(priority).expect("a priority");
        let slots = if named == Some("build") { slots } else { 1 };
        Stream { slots, priority, ..stream(user, named, count, Gap::About(gap), Length::Between(0, most)) }
    });
    (1..5u32, proptest::collection::vec(one, 1..7))
        .prop_map(|(slots, streams)| Plan { config: rules(slots, &[("build", 2), ("docs", 3)]), streams })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_lane_has_more_holders_than_its_limit_and_all_work_is_done(plan in plans(), seed in any::<u64>()) {
        let load = plan.load(&mut Random::new(seed));
        let (times, report) = ran(&load, seed);
        prop_assert_eq!(&ran(&load, seed).1, &report, "the same seed gives the same");
        prop_assert_eq!(report.never, 0);
        for (at, spec) in load.lanes.iter().enumerate() {
            for one in times.iter().filter_map(|times| times.start) {
                let held = load.jobs.iter().zip(&times).filter(|(_, times)| {
                    times.start.is_some_and(|start| start <= one) && times.end.is_some_and(|end| end > one)
                });
                let count = |job: &super::load::Job| job.lanes.iter().find(|(lane, _)| *lane == at).map_or(0, |(_, count)| *count);
                let sum: u32 = held.map(|(job, _)| count(job)).sum();
                prop_assert!(sum <= spec.limit, "{} has {sum} at {one:?}", spec.name);
            }
        }
        for (job, times) in load.jobs.iter().zip(&times) {
            prop_assert!(times.start.expect("started") >= job.ready && times.end >= times.start);
        }
    }

    #[test]
    fn a_thread_and_the_tasks_of_a_user_keep_their_order(plan in plans(), seed in any::<u64>()) {
        let load = plan.load(&mut Random::new(seed));
        let (times, _) = ran(&load, seed);
        let in_order = |same: &dyn Fn(&super::load::Job) -> bool| {
            let starts = load.jobs.iter().zip(&times).filter(|(job, _)| same(job)).map(|(job, times)| (job, times.start.expect("started")));
            let starts: Vec<_> = starts.collect();
            starts.iter().all(|(early, start)| {
                // Nobody of the same priority who came later started before.
                starts.iter().all(|(late, other)| late.priority != early.priority || late.id <= early.id || other >= start)
            })
        };
        let thread = load.lanes.iter().position(|spec| spec.name == lane("thread:7"));
        prop_assert!(in_order(&|job| job.lanes.iter().any(|(at, _)| Some(*at) == thread)));
        for user in 0..load.users.len() {
            // With no named lane: one that waits for a capacity lane may be passed.
            prop_assert!(in_order(&|job| job.takes_user_lane && job.user == user && job.lanes.len() == 2));
        }
    }
}
