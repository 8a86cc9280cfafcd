//! The whole life of tasks, with the real code of every room but `cli`: enqueuers, passes, supervisors, recovery,
//! cancels, retries and cleaners, under kills, power cuts, failing operations and clock jumps. Only the commands are
//! pretended: some fail, some ignore SIGTERM, some leave processes behind that hide from `tree.lock`.

use super::life_book::{Book, Shared, USERS};
use super::locks::{prepared, store};
use super::{Env, Explored, Journal, Limits, Sim, explore, know, seeds};
use luzia::app::ask::{CancelRequest, cancel};
use luzia::app::locks::cleanup::cleanup_stale;
use luzia::app::pass::pass;
use luzia::app::queue::retry::{Order, Remembered, retry};
use luzia::app::{App, Settings};
use luzia::model::{Config, LaneName, Name, Task, TaskId};
use std::time::Duration;

/// What the commands of pretend tasks do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Deed {
    /// Works for a while.
    Work,
    /// Works for so long that its locks are refreshed.
    Linger,
    /// Ends at once.
    Quick,
    /// Ends with 1.
    Fail,
    /// Ignores SIGTERM for half a minute.
    Stay,
    /// Leaves a process behind that holds `tree.lock`.
    Fork,
    /// Leaves a process behind that has closed what it inherited.
    Slip,
}

impl Deed {
    fn word(self) -> String {
        format!("{self:?}")
    }
}

/// A task to be enqueued.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub(super) user: &'static str,
    pub(super) has_thread: bool,
    /// How many slots of the three of lane `build` it takes.
    pub(super) slots: Option<u32>,
    pub(super) deed: Deed,
    pub(super) retries: u32,
    pub(super) key: Option<&'static str>,
    /// Whether it comes after the one before it in the same batch.
    pub(super) is_after: bool,
}

pub(super) const PLAIN: Wish =
    Wish { user: USERS[0], has_thread: false, slots: None, deed: Deed::Work, retries: 0, key: None, is_after: false };

fn task_of(wish: &Wish, id: u64) -> Task {
    let after = if wish.is_after { vec![TaskId(id - 1)] } else { Vec::new() };
    let named = wish.slots.map(|_| "build").into_iter().chain(wish.has_thread.then_some("thread:7"));
    Task {
        user: Name::new(wish.user).expect("a name"),
        lanes: named.map(|lane| LaneName::parse(lane).expect("a lane")).collect(),
        group: None,
        terms: luzia::model::task::Terms { slot_count: wish.slots, ..Default::default() },
        command: vec![wish.deed.word()],
        conductor_dir: "/s/conductor/_".into(),
        retries: wish.retries,
        key: wish.key.map(str::to_owned),
        after: after.clone(),
        comes_after: after,
        grace_ms: 50,
        ..super::spool::task(TaskId(id))
    }
}

pub(super) fn with_slots(slots: u32) -> Rules {
    Rules { slots, lock_timeout_ms: Config::default().lock_timeout_ms }
}

/// What is configured.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    slots: u32,
    lock_timeout_ms: u64,
}

fn app(env: &Env, rules: Rules) -> App {
    let lock_timeout_ms = rules.lock_timeout_ms;
    let build = luzia::model::config::LaneRule { max: Some(3), ..Default::default() };
    let lanes = [("build".to_owned(), build)].into();
    let config = Config { slots_max: rules.slots, lock_timeout_ms, lanes, ..Config::default() };
    App::new(store(env), Settings::fixed(config))
}

fn enqueue(env: &Env, book: &Shared, wishes: &[Wish]) {
    let store = store(env);
    let count = u64::try_from(wishes.len()).expect("few");
    if store.prepare().is_err() {
        return;
    }
    let Ok(first) = store.reserve_ids(count) else { return };
    let tasks: Vec<Task> = (first.0..).zip(wishes).map(|(id, wish)| task_of(wish, id)).collect();
    // As `luzia enqueue --key` does, the key stays entered until the task is accepted.
    let mut keys = Vec::new();
    for task in &tasks {
        let Some(key) = &task.key else { continue };
        let assigned = store.enter_key(key).and_then(|mut slot| slot.assign(&[task.id]).map(|()| slot));
        let Ok(slot) = assigned else { return };
        keys.push(slot);
    }
    know(book).asked.extend(tasks.iter().map(|task| (task.id.0, task.clone())));
    if store.accept(&tasks, None).is_ok() {
        know(book).accepted.extend(tasks.iter().map(|task| task.id.0));
    }
}

fn dispatcher(env: &Env, rules: Rules, passes: u32) {
    let app = app(env, rules);
    for _ in 0..passes {
        let _ = pass(&app);
        env.clock().sleep(Duration::from_millis(3));
    }
}

fn supervisor(env: &Env, rules: Rules) {
    let is_recovery = env.args.iter().any(|arg| arg == "--recover");
    let id = env.args.last().and_then(|arg| TaskId::parse(arg)).expect("a task");
    let _ = luzia::app::pass::supervise::supervise(&app(env, rules), id, is_recovery, &mut || env.is_told_to_end());
}

fn command(env: &Env) {
    env.step("work");
    match env.args[0].as_str() {
        "Quick" => {}
        "Linger" => env.clock().sleep(Duration::from_millis(120)),
        "Fail" => env.exit_with(1),
        "Stay" => {
            env.ignore_term();
            env.clock().sleep(Duration::from_secs(30));
        }
        "Fork" => env.fork("fork", true, |env| straggle(&env)),
        "Slip" => env.fork("slip", false, |env| straggle(&env)),
        _ => env.clock().sleep(Duration::from_millis(2)),
    }
    env.step("work");
}

fn straggle(env: &Env) {
    env.ignore_term();
    env.clock().sleep(Duration::from_secs(60));
}

fn some_task(book: &Shared, at: usize) -> Option<TaskId> {
    let known = know(book);
    let ids: Vec<u64> = known.accepted.iter().copied().collect();
    (!ids.is_empty()).then(|| TaskId(ids[at % ids.len()]))
}

fn canceller(env: &Env, book: &Shared, rules: Rules, at: usize) {
    env.clock().sleep(Duration::from_micros(700));
    let Some(id) = some_task(book, at) else { return };
    let request = CancelRequest { by: "me".to_owned(), reason: None, grace_ms: Some(20), requeue: false };
    if cancel(&app(env, rules), id, &request).is_ok() {
        know(book).over.insert(id.0);
    }
}

fn retrier(env: &Env, book: &Shared, rules: Rules, at: usize) {
    let app = app(env, rules);
    for _ in 0..3 {
        env.clock().sleep(Duration::from_millis(4));
        let Some(id) = some_task(book, at) else { continue };
        let is_over = app.find(id).is_ok_and(|found| found.is_some_and(|(_, task)| task.status().is_final()));
        if is_over {
            *know(book).retried.entry(id.0).or_default() += 1;
            let _ = retry(&app, id, Order::Kept, Remembered::Kept);
            let _ = pass(&app);
            return;
        }
    }
}

fn cleaner(env: &Env, rules: Rules) {
    env.clock().sleep(Duration::from_millis(1));
    let _ = luzia::app::locks::cleanup::cleanup_stale(&app(env, rules), None, false);
}

/// Makes passes until nothing is left to do; then once more, long after.
fn drain(env: &Env, rules: Rules) {
    let app = app(env, rules);
    for round in 0..60 {
        if let Err(error) = pass(&app) {
            env.violation(&format!("a pass fails although nothing goes wrong: {error}"));
        }
        env.clock().sleep(Duration::from_secs(70));
        let quiet =
            app.store.is_queue_empty().unwrap_or(false) && app.store.in_flight().is_ok_and(|all| all.is_empty());
        if quiet && round > 0 {
            break;
        }
    }
    env.clock().sleep(Duration::from_secs(3700));
    let _ = pass(&app);
    let _ = cleanup_stale(&app, None, false);
}

/// Who is at work.
#[derive(Clone)]
pub(super) struct Cast {
    pub(super) wishes: Vec<Vec<Wish>>,
    pub(super) rules: Rules,
    pub(super) dispatchers: usize,
    /// Which tasks are cancelled, in the order of their numbers.
    pub(super) cancels: Vec<usize>,
    pub(super) retries: Vec<usize>,
    pub(super) has_cleaner: bool,
}

fn scenario(sim: &mut Sim, cast: &Cast, book: &Shared) {
    let rules = cast.rules;
    prepared(sim);
    Book::watch(sim, book, usize::try_from(rules.slots).expect("few"));
    sim.on_launch(move |env| supervisor(&env, rules)).on_command(|env| command(&env));
    for (at, wishes) in cast.wishes.iter().cloned().enumerate() {
        let ours = book.clone();
        sim.spawn(&format!("enq{at}"), move |env| enqueue(&env, &ours, &wishes));
    }
    for at in 0..cast.dispatchers {
        sim.spawn(&format!("disp{at}"), move |env| dispatcher(&env, rules, 3));
    }
    for at in cast.cancels.clone() {
        let (ours, again) = (book.clone(), book.clone());
        sim.spawn("cancel", move |env| canceller(&env, &ours, rules, at));
        if cast.dispatchers > 0 {
            sim.at_boot("cancel", move |env| canceller(&env, &again, rules, at));
        }
    }
    for at in cast.retries.clone() {
        let ours = book.clone();
        sim.spawn("retry", move |env| retrier(&env, &ours, rules, at));
    }
    if cast.has_cleaner {
        sim.spawn("clean", move |env| cleaner(&env, rules));
    }
    sim.at_boot("after", move |env| dispatcher(&env, rules, 2));
    sim.at_end("drain", move |env| drain(&env, rules));
    let ours = book.clone();
    sim.at_end("audit", move |env| know(&ours).audit(&env));
}

fn everybody() -> Cast {
    let thread = Wish { has_thread: true, ..PLAIN };
    Cast {
        wishes: vec![
            vec![thread],
            vec![Wish { user: USERS[1], deed: Deed::Fail, retries: 1, ..thread }, Wish { deed: Deed::Slip, ..PLAIN }],
            vec![Wish { user: USERS[2], deed: Deed::Fork, key: Some("k"), ..PLAIN }],
        ],
        rules: with_slots(2),
        dispatchers: 2,
        cancels: vec![1],
        retries: vec![0],
        has_cleaner: true,
    }
}

pub(super) fn few(deed: Deed) -> Cast {
    Cast {
        wishes: vec![vec![Wish { has_thread: true, deed, ..PLAIN }, Wish { is_after: true, ..PLAIN }]],
        rules: with_slots(1),
        dispatchers: 2,
        cancels: vec![0],
        retries: Vec::new(),
        has_cleaner: false,
    }
}

pub(super) fn storm(cast: &Cast, limits: &Limits, count: u64) -> Vec<Explored> {
    [Journal::Ordered, Journal::AnySubset]
        .into_iter()
        .map(|journal| {
            let all = seeds(0..count, |sim| {
                sim.journal(journal).limits(limits.clone());
                scenario(sim, cast, &Shared::default());
            });
            all.expect_clean()
        })
        .collect()
}

pub(super) fn complete(cast: &Cast, limits: &Limits) {
    let all = explore(20_000, |sim| {
        sim.limits(limits.clone());
        scenario(sim, cast, &Shared::default());
    });
    let all = all.expect_clean();
    assert!(all.is_complete, "{all:?}");
}

fn small_jumps() -> Vec<(u64, i64)> {
    vec![(0, 5_000), (0, -5_000), (3_000, 3_000)]
}

#[test]
fn tasks_live_through_kills() {
    storm(&everybody(), &Limits { kills: 2, ..Limits::default() }, 80);
}

#[test]
fn tasks_live_through_power_cuts() {
    storm(&everybody(), &Limits { kills: 1, cuts: 1, ..Limits::default() }, 80);
}

#[test]
fn tasks_live_through_operations_that_fail_and_clocks_that_jump() {
    let limits = Limits { kills: 1, cuts: 1, errors: 2, jumps: 1, jump_sizes: small_jumps(), ..Limits::default() };
    storm(&everybody(), &limits, 80);
}

#[test]
fn a_kill_or_a_cut_at_any_operation_of_a_short_life_is_survived() {
    let by_kill = Limits::bounded(0, 1);
    let by_cut = Limits { cuts: 1, images: 1, ..Limits::bounded(0, 0) };
    for (deed, retries, limits) in [(Deed::Slip, 0, by_kill), (Deed::Work, 0, by_cut.clone()), (Deed::Work, 1, by_cut)]
    {
        let wishes = vec![vec![Wish { has_thread: true, deed, retries, ..PLAIN }]];
        complete(&Cast { wishes, dispatchers: 1, cancels: Vec::new(), ..few(deed) }, &limits);
    }
}

#[test]
fn a_cancelled_task_never_runs_wherever_the_canceller_or_the_host_dies() {
    let cast = Cast { wishes: vec![vec![PLAIN]], dispatchers: 0, cancels: vec![0], ..few(Deed::Work) };
    // With one image a cut loses whatever was not synced, whichever journal it is.
    for limits in [Limits::bounded(0, 1), Limits { cuts: 1, images: 1, ..Limits::bounded(0, 0) }] {
        complete(&cast, &limits);
    }
}

/// A record that a power cut brought back at the other of its two places in the lane is no second task, and no second start
/// when its claimant dies or the power goes once more.
#[test]
fn a_task_whose_record_stands_at_both_its_places_is_started_once() {
    for (limits, journal) in [
        (Limits::bounded(0, 1), Journal::Ordered),
        (Limits { cuts: 1, images: 1, ..Limits::bounded(0, 0) }, Journal::Ordered),
        (Limits { cuts: 1, images: 1, ..Limits::bounded(0, 0) }, Journal::AnySubset),
    ] {
        let all = explore(20_000, |sim| {
            sim.journal(journal).limits(limits.clone());
            let task = task_of(&PLAIN, 1);
            let record = luzia::store::encode_task(&task).expect("a record");
            let book = Shared::default();
            know(&book).asked.insert(1, task);
            know(&book).accepted.insert(1);
            let cast = Cast { wishes: Vec::new(), dispatchers: 1, cancels: Vec::new(), ..few(Deed::Work) };
            scenario(sim, &cast, &book);
            for folder in ["", "/user_alice", "/user_alice/0"] {
                sim.dir(&format!("/s/spool/pending/5{folder}"));
            }
            for place in ["1.json", "0/1.json"] {
                sim.file(&format!("/s/spool/pending/5/user_alice/{place}"), &record);
            }
        });
        let all = all.expect_clean();
        assert!(all.is_complete, "{all:?}");
    }
}

/// A retry of a task puts it aside again, while the end of the one before it looks for those that wait for it.
fn retried_meanwhile(sim: &mut Sim) {
    let quick = Wish { deed: Deed::Quick, ..PLAIN };
    let (first, second) = (task_of(&quick, 1), task_of(&Wish { user: USERS[1], is_after: true, ..quick }, 2));
    let book = Shared::default();
    for task in [&first, &second] {
        know(&book).asked.insert(task.id.0, task.clone());
        know(&book).accepted.insert(task.id.0);
    }
    know(&book).retried.insert(2, 1);
    let cast =
        Cast { wishes: Vec::new(), rules: with_slots(2), dispatchers: 1, cancels: Vec::new(), ..few(Deed::Work) };
    scenario(sim, &cast, &book);
    sim.spawn("retry", move |env| {
        drop(luzia::app::queue::retry::retry(&app(&env, with_slots(2)), TaskId(2), Order::Kept, Remembered::Kept))
    });
    for folder in ["pending/5", "pending/5/user_alice", "done/2026-01-09"] {
        sim.dir(&format!("/s/spool/{folder}"));
    }
    let record = |task: &Task| luzia::store::encode_task(task).expect("a record");
    sim.file("/s/spool/pending/5/user_alice/1.json", &record(&first));
    sim.file("/s/spool/done/2026-01-09/2.json", &record(&completed(second)));
}

#[test]
fn a_task_that_is_retried_while_the_one_before_it_ends_comes_to_its_turn() {
    explore(1_500, |sim| {
        sim.limits(Limits::bounded(1, 0));
        retried_meanwhile(sim);
    })
    .expect_clean();
    for limits in [Limits { kills: 1, ..Limits::default() }, Limits { kills: 1, cuts: 1, ..Limits::default() }] {
        seeds(0..150, |sim| {
            sim.limits(limits.clone());
            retried_meanwhile(sim);
        })
        .expect_clean();
    }
}

fn completed(task: Task) -> Task {
    let at = luzia::model::Timestamp(1_767_960_000_000);
    luzia::policy::outcome::conclude(&task, &luzia::policy::outcome::Happened::Exited(0), at, Some(1))
}

/// Where nobody dies and nothing fails, one pass is enough: whatever becomes free is taken by the pass of the process that freed it.
#[test]
fn the_passes_of_supervisors_drain_a_queue_without_a_dispatcher() {
    let thread = Wish { has_thread: true, ..PLAIN };
    let of = |user: usize, wish: Wish| Wish { user: USERS[user], ..wish };
    let wishes =
        vec![of(0, thread), of(0, PLAIN), of(1, thread), of(1, PLAIN), of(2, PLAIN), of(2, thread), of(0, PLAIN)];
    for slots in [1, 2, 3] {
        let wishes = wishes.clone();
        seeds(0..60, |sim| {
            let (book, wishes) = (Shared::default(), wishes.clone());
            prepared(sim);
            sim.limits(Limits { kills: 0, cuts: 0, errors: 0, ..Limits::default() });
            sim.on_launch(move |env| supervisor(&env, with_slots(slots)))
                .on_command(|env| command(&env))
                .at_start(|_, _| Ok(Vec::new()));
            sim.spawn("first", move |env| {
                enqueue(&env, &book, &wishes);
                let _ = luzia::app::pass::pass(&app(&env, with_slots(slots)));
            });
            sim.at_end("look", move |env| {
                let store = store(&env);
                let is_drained =
                    store.is_queue_empty().unwrap_or(false) && store.in_flight().is_ok_and(|all| all.is_empty());
                if !is_drained {
                    env.violation("tasks are left although nothing keeps them");
                }
            });
        })
        .expect_clean();
    }
}

#[test]
fn a_task_that_is_cancelled_while_it_runs_or_resists_is_over_once() {
    let limits = Limits { kills: 1, cuts: 1, ..Limits::default() };
    for deed in [Deed::Stay, Deed::Fork, Deed::Fail] {
        storm(&few(deed), &limits, 50);
    }
}

/// A lock is there, and its sidecar whole, wherever its holder dies that refreshes it or the power goes meanwhile.
#[test]
fn a_task_whose_locks_are_refreshed_lives_through_kills_cuts_and_failures() {
    let rules = Rules { slots: 1, lock_timeout_ms: 150 };
    let cast = Cast { rules, has_cleaner: true, ..few(Deed::Linger) };
    let limits = Limits { kills: 1, cuts: 1, errors: 1, jumps: 1, jump_sizes: small_jumps(), ..Limits::default() };
    storm(&cast, &limits, 60);
    let wishes = vec![vec![Wish { deed: Deed::Linger, ..PLAIN }]];
    let alone = Cast { wishes, dispatchers: 1, cancels: Vec::new(), rules, ..few(Deed::Linger) };
    complete(&alone, &Limits::bounded(0, 1));
}

/// A queued record that names no user is written anew before it is claimed: wherever that ends, it stays the task of the
/// user in whose lane it stands, and is started once.
#[test]
fn a_queued_record_without_a_user_is_run_for_its_lane_wherever_its_claimant_dies() {
    for limits in [Limits::bounded(0, 1), Limits { cuts: 1, images: 1, ..Limits::bounded(0, 0) }] {
        let all = explore(20_000, |sim| {
            sim.limits(limits.clone());
            let task = task_of(&PLAIN, 1);
            let record = String::from_utf8(luzia::store::encode_task(&task).expect("a record")).expect("text");
            let nameless = record.replace("\"user\":\"alice\",", "");
            assert_ne!(record, nameless);
            let book = Shared::default();
            know(&book).asked.insert(1, task);
            know(&book).accepted.insert(1);
            let cast = Cast { wishes: Vec::new(), dispatchers: 1, cancels: Vec::new(), ..few(Deed::Work) };
            scenario(sim, &cast, &book);
            for folder in ["", "/user_alice"] {
                sim.dir(&format!("/s/spool/pending/5{folder}"));
            }
            sim.file("/s/spool/pending/5/user_alice/1.json", nameless.as_bytes());
        });
        assert!(all.expect_clean().is_complete);
    }
}
