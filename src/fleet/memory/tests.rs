//! A pass against a round over all queues, in a pretend store.

use super::*;
use crate::model::Timestamp;
use crate::policy::schedule::Round;
use proptest::prelude::*;
use std::cell::RefCell;

const SHARES: [u32; 3] = [16, 4, 1];
const PLACES: [&str; 3] = ["", "one", "two"];

/// One event of a pretend store.
#[derive(Clone, Debug)]
enum Step {
    /// A task: user, place, tier, priority, further lane, and whether it wants two slots of that and is of a group.
    Queue(u8, usize, usize, u8, Option<i64>, [bool; 2]),
    /// The end of a task that a host has.
    End(usize),
    /// The end of a task that waits.
    Cancel(usize),
    /// The capacity of a lane, and whether it is paused or its rate allows nothing.
    Rules(i64, i64, bool),
    /// Whether a user is paused, and the weight of the user in the store.
    User(u8, bool, Option<u32>),
    /// A pass.
    Pass,
}

/// Everything that the store has, and no more than that.
#[derive(Default)]
struct Store {
    waiting: Vec<Waiting>,
    running: Vec<(Waiting, i32)>,
    rules: BTreeMap<i64, (i64, bool)>,
    users: BTreeMap<Name, (bool, Option<u32>)>,
    /// The first tasks of groups.
    groups: BTreeMap<(Key, Priority), i64>,
    slots: [i32; 2],
    next: i64,
    now: i64,
}

fn priority(number: u8) -> Priority {
    Priority::new(number).expect("a priority")
}

fn slots_of(task: &Waiting) -> Vec<(i64, i64)> {
    let count = |at: usize| task.counts.as_ref().map_or(1, |counts| i64::from(counts[at]));
    task.lanes.iter().enumerate().map(|(at, lane)| (*lane, count(at))).collect()
}

/// The queue of a task.
type Key = (Name, String, usize, Vec<i64>);

fn key(task: &Waiting) -> Key {
    (task.user.clone(), task.place.clone(), task.tier.index(), task.lanes.clone())
}

impl Store {
    fn rooms(&self) -> Rooms {
        let room = |at: usize| {
            let host = i32::try_from(at).expect("few") + 1;
            let used = self.running.iter().filter(|(_, on)| *on == host).count();
            let free = self.slots[at] - i32::try_from(used).expect("few");
            (host, Room { name: PLACES[at + 1].to_owned(), labels: Vec::new(), session: String::new(), free })
        };
        (0..2).map(room).collect()
    }

    fn weight(&self, user: &Name) -> u32 {
        self.users.get(user).and_then(|(_, weight)| *weight).unwrap_or(1)
    }

    fn fits(&self, task: &Waiting) -> bool {
        let is_paused = self.users.get(&task.user).is_some_and(|(is_paused, _)| *is_paused);
        !is_paused
            && slots_of(task).into_iter().all(|(lane, count)| {
                let (capacity, is_paused) = self.rules.get(&lane).copied().unwrap_or((1, false));
                let held = self.running.iter().flat_map(|(task, _)| slots_of(task));
                let used: i64 = held.filter(|(other, _)| *other == lane).map(|(_, count)| count).sum();
                !is_paused && used + count <= capacity
            })
    }

    /// The tasks of each queue in their order.
    fn queues(&self) -> BTreeMap<Key, Vec<Waiting>> {
        let mut queues: BTreeMap<_, Vec<Waiting>> = BTreeMap::new();
        for task in &self.waiting {
            queues.entry(key(task)).or_default().push(task.clone());
        }
        queues.values_mut().for_each(|tasks| tasks.sort_by_key(|task| (task.priority, task.turn, task.id)));
        queues
    }

    /// The first grant of a round over all queues that could start a task.
    fn first(&self, rooms: &Rooms, ledger: &mut Ledger) -> Option<(i64, i32)> {
        let queues = self.queues();
        let meant = |task: &Waiting| {
            let is_meant = |room: &Room| room.free > 0 && (task.place.is_empty() || task.place == room.name);
            let best =
                rooms.iter().filter(|(_, room)| is_meant(room)).max_by_key(|(host, room)| room.rank(**host, task.id));
            best.map(|(host, _)| *host)
        };
        let ready = queues.values().filter_map(|tasks| tasks.first());
        let ready: Vec<&Waiting> = ready.filter(|task| self.fits(task) && meant(task).is_some()).collect();
        let head = |task: &&Waiting| LaneHead {
            user: task.user.clone(),
            queue: task.id.to_string().into(),
            takes_user_lane: task.takes_user_lane,
            tier: task.tier,
            priority: task.priority,
            sequence: Some(id_of(task.turn).0),
            turn: id_of(task.turn).0,
        };
        let heads = ready.iter().map(head).collect();
        let mut round = Round::new(ledger, SHARES, heads, Timestamp(self.now));
        let candidate = round.next()?;
        let id = candidate.queue.parse().expect("a number");
        let weight = self.weight(&candidate.user);
        round.started(candidate, weight);
        let task = ready.iter().find(|task| task.id == id)?;
        Some((id, meant(task)?))
    }

    fn start(&mut self, id: i64, host: i32) {
        let at = self.waiting.iter().position(|task| task.id == id).expect("it waits");
        let task = self.waiting.remove(at);
        self.running.push((task, host));
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let lane = proptest::option::weighted(0.4, 100..103_i64);
    let step = prop_oneof![
        8 => (0..12_u8, 0..3_usize, 0..3_usize, 4..6_u8, lane, any::<[bool; 2]>())
            .prop_map(|(user, place, tier, priority, lane, is)| Step::Queue(user, place, tier, priority, lane, is)),
        3 => any::<usize>().prop_map(Step::End),
        1 => any::<usize>().prop_map(Step::Cancel),
        1 => (100..103_i64, 1..4_i64, any::<bool>()).prop_map(|(lane, capacity, paused)| Step::Rules(lane, capacity, paused)),
        1 => (0..12_u8, any::<bool>(), proptest::option::of(1..4_u32)).prop_map(|(user, paused, weight)| Step::User(user, paused, weight)),
        3 => Just(Step::Pass),
    ];
    proptest::collection::vec(step, 0..120)
}

/// Remembers the first tasks of a queue, as many as one look gives.
fn remember(memory: &mut Memory, tasks: &[Waiting], depth: usize) {
    for (nth, task) in tasks.iter().take(depth).enumerate() {
        memory.wait(task.clone());
        if nth + 1 == depth {
            memory.has_more(task.id);
        }
    }
}

/// Remembers the next tasks of hungry queues. Those that were granted in this pass are no more among them.
fn refill(memory: &mut Memory, store: &Store, granted: &[(i64, i32)], depth: usize) {
    let (keys, queues) = (memory.take_hungry(), store.queues());
    for wanted in keys {
        let is_wanted = |(user, place, tier, lanes): &Key| {
            let lanes: Vec<String> = lanes.iter().map(ToString::to_string).collect();
            (user.as_str(), place, *tier) == (&wanted.user, &wanted.place, usize::from(wanted.tier.unsigned_abs()))
                && format!("{{{}}}", lanes.join(",")) == wanted.lanes
        };
        for (_, tasks) in queues.iter().filter(|(key, _)| is_wanted(key)) {
            let is_granted = |task: &Waiting| granted.iter().any(|(id, _)| *id == task.id);
            let left: Vec<Waiting> = tasks.iter().filter(|task| !is_granted(task)).cloned().collect();
            remember(memory, &left, depth);
        }
    }
}

/// The memory of another agent that has taken the duty over.
fn looked_at(store: &Store, ledger: Ledger) -> Memory {
    let mut memory = Memory::new(ledger);
    for (lane, (capacity, is_paused)) in &store.rules {
        memory.set_lane(*lane, *capacity, if *is_paused { u64::MAX } else { 0 });
    }
    for (user, (is_paused, weight)) in &store.users {
        memory.set_user(user.clone(), if *is_paused { u64::MAX } else { 0 }, *weight);
    }
    store.running.iter().for_each(|(task, _)| memory.hold(task.id, slots_of(task)));
    store.queues().values().for_each(|tasks| remember(&mut memory, tasks, 1));
    memory
}

fn named(user: u8) -> Name {
    Name::new(&format!("u{user}")).expect("a name")
}

/// A new task for a step.
fn queued(
    store: &mut Store,
    (user, place, tier): (u8, usize, usize),
    number: u8,
    lane: Option<i64>,
    [is_wide, is_grouped]: [bool; 2],
) -> Waiting {
    let takes_user_lane = lane.is_none() || user.is_multiple_of(2);
    let own = takes_user_lane.then_some(i64::from(user));
    let lanes: Vec<i64> = own.into_iter().chain(lane).collect();
    let wide = lane.filter(|_| is_wide);
    let mut task = Waiting {
        id: store.next,
        turn: store.next,
        user: named(user),
        place: PLACES[place].to_owned(),
        tier: Tier::ALL[tier],
        priority: priority(number),
        counts: wide.map(|wide| lanes.iter().map(|lane| if *lane == wide { 2 } else { 1 }).collect()),
        lanes,
        takes_user_lane,
        refused: Vec::new(),
    };
    if is_grouped {
        task.turn = *store.groups.entry((key(&task), task.priority)).or_insert(task.id);
    }
    task
}

/// The memory agrees with the store on the use of lanes and on the queues that could start a task.
fn check(store: &Store, memory: &Memory) -> Result<(), TestCaseError> {
    let mut held: BTreeMap<i64, i64> = BTreeMap::new();
    for (lane, count) in store.running.iter().flat_map(|(task, _)| slots_of(task)) {
        *held.entry(lane).or_default() += count;
    }
    let used = memory.lanes.iter().filter(|(_, lane)| lane.used != 0);
    prop_assert_eq!(used.map(|(id, lane)| (*id, lane.used)).collect::<BTreeMap<_, _>>(), held);
    for line in memory.lines.values() {
        let head = line.tasks.first_key_value();
        let is_paused = store.users.get(&line.user).is_some_and(|(is_paused, _)| *is_paused);
        prop_assert_eq!(line.ready.is_some(), !is_paused && head.is_some_and(|(_, entry)| memory.fits(line, entry)));
    }
    Ok(())
}

/// Passes for one free slot of a host at a time, of which a round over all queues has one grant.
fn fill(store: &mut Store, memory: &mut Memory, host: i32) -> Result<(), TestCaseError> {
    loop {
        let mut rooms = store.rooms();
        rooms.retain(|number, _| *number == host);
        rooms.values_mut().for_each(|room| room.free = room.free.min(1));
        let mut ledger = memory.ledger.clone();
        let right = store.first(&rooms, &mut ledger);
        let granted = RefCell::new(Vec::new());
        let terms = Terms { shares: SHARES, now: Timestamp(store.now), weight: &|_| 1 };
        let propose = &mut |batch: &[Proposal]| {
            granted.borrow_mut().extend(batch.iter().map(|one| (one.task, one.host)));
            Ok(Some(vec![true; batch.len()]))
        };
        let refill = &mut |memory: &mut Memory| {
            refill(memory, store, &granted.borrow(), 2);
            Ok(())
        };
        let answer = memory.pass::<()>(&mut rooms, &terms, propose, refill);
        prop_assert!(answer.is_ok());
        prop_assert_eq!(granted.into_inner(), right.into_iter().collect::<Vec<_>>());
        let Some((id, host)) = right else { return Ok(()) };
        prop_assert_eq!(memory.ledger.to_text(), ledger.to_text());
        store.start(id, host);
    }
}

fn go(store: &mut Store, memory: &mut Memory, step: Step) -> Result<(), TestCaseError> {
    match step {
        Step::Queue(user, place, tier, number, lane, is) => {
            let task = queued(store, (user, place, tier), number, lane, is);
            store.next += 1;
            memory.wait(task.clone());
            store.waiting.push(task);
        }
        Step::End(which) if !store.running.is_empty() => {
            let (task, _) = store.running.remove(which % store.running.len());
            memory.forget(task.id);
        }
        Step::Cancel(which) if !store.waiting.is_empty() => {
            let task = store.waiting.remove(which % store.waiting.len());
            memory.forget(task.id);
        }
        Step::End(_) | Step::Cancel(_) => {}
        Step::Rules(lane, capacity, is_paused) => {
            store.rules.insert(lane, (capacity, is_paused));
            memory.set_lane(lane, capacity, if is_paused { u64::MAX } else { 0 });
        }
        Step::User(user, is_paused, weight) => {
            store.users.insert(named(user), (is_paused, weight));
            memory.set_user(named(user), if is_paused { u64::MAX } else { 0 }, weight);
        }
        Step::Pass => {
            fill(store, memory, 1)?;
            fill(store, memory, 2)?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_pass_grants_what_a_round_over_all_queues_grants_first(
        steps in steps(),
        slots in [1..3_i32, 0..3_i32],
        late in 0..60_usize,
    ) {
        let mut store = Store { slots, next: 1 << 40, ..Store::default() };
        let mut memory = Memory::default();
        for (at, step) in steps.into_iter().enumerate() {
            if at == late {
                memory = looked_at(&store, memory.ledger.clone());
            }
            store.now += 400;
            go(&mut store, &mut memory, step)?;
            check(&store, &memory)?;
        }
    }
}

#[test]
fn tasks_for_any_host_are_spread_over_hosts_with_equal_room() {
    let store = Store { slots: [4, 4], ..Store::default() };
    let chosen = |task: i64| store.rooms().into_iter().max_by_key(|(host, room)| room.rank(*host, task));
    let first = (0..100).filter(|number| chosen((1 << 40) + number).is_some_and(|(host, _)| host == 1)).count();
    assert!((30..=70).contains(&first), "{first} of 100 tasks on the first of two hosts");
}
