//! What luzia's functions cost inside one process: `cargo bench --bench functions`. Times vary with the machine; whole
//! commands are compared in one loop by `benches/whole`.
//!
//! The locks are taken on real files below `BENCH_BASE` (`/var/tmp` unless set), without any sync, as they are for tasks.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, missing_docs, reason = "a benchmark that cannot go on fails")]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use luzia::model::{LaneName, LockKind, Name, Priority, Tier, Timestamp, name};
use luzia::os::Processes;
use luzia::os::real::{RealClock, RealFiles, RealProcesses};
use luzia::policy::fair::Ledger;
use luzia::policy::schedule::{LaneHead, Round};
use luzia::policy::staleness::judge;
use luzia::store::{Acquired, By, LaneNeed, Release, Released, Request, Spool};
use std::hint::black_box;
use std::sync::Arc;

const TIMEOUT_MS: u64 = 3_600_000;

fn lane(text: &str) -> LaneName {
    LaneName::parse(text).unwrap()
}

fn store(folder: &tempfile::TempDir) -> Spool {
    let files = RealFiles::open_at(folder.path().to_str().unwrap(), true).unwrap().unwrap();
    let store = Spool::new(Arc::new(files), Arc::new(RealClock), Arc::new(RealProcesses));
    store.prepare().unwrap();
    store
}

fn locks(criterion: &mut Criterion) {
    let base = std::env::var("BENCH_BASE").unwrap_or_else(|_| "/var/tmp".to_owned());
    let folder = tempfile::Builder::new().prefix("luzia-bench-").tempdir_in(base).unwrap();
    let store = store(&folder);
    let request = Request {
        needs: vec![LaneNeed::new(lane("user:alice"), 1, TIMEOUT_MS)],
        holder: "bench".to_owned(),
        kind: LockKind::Lease,
        ttl_ms: None,
        process: RealProcesses.me(),
        pid_watched: false,
        who: luzia::model::Who::default(),
        durable: false,
        lenders: Vec::new(),
        stands: luzia::policy::staleness::standing,
    };
    criterion.bench_function("acquire and release a user's lock", |bencher| {
        bencher.iter(|| {
            let taken = store.acquire(&request, judge).unwrap();
            assert!(matches!(taken, Acquired::Granted { .. }));
            let whose = Release::Holder("bench".to_owned());
            let released = store.release(&request.needs[0].lane, &whose, By::Holder, TIMEOUT_MS, judge).unwrap();
            assert!(matches!(released, Released::Removed(_)));
        });
    });
}

fn schedule(criterion: &mut Criterion) {
    for users in [100_usize, 10_000] {
        let heads: Vec<LaneHead> = (0..users)
            .map(|at| LaneHead {
                user: Name::new(&format!("u{at}")).unwrap(),
                tier: Tier::ALL[at % 3],
                priority: Priority::new(5).unwrap(),
                sequence: None,
                queue: format!("user_{at}").into(),
                takes_user_lane: true,
                turn: u64::MAX,
            })
            .collect();
        criterion.bench_function(&format!("the first four of {users} users"), |bencher| {
            bencher.iter_batched(
                || (Ledger::default(), heads.clone()),
                |(mut ledger, heads)| {
                    let mut round = Round::new(&mut ledger, [16, 4, 1], heads, Timestamp(0));
                    for _ in 0..4 {
                        let candidate = round.next().unwrap();
                        round.started(candidate, 1);
                    }
                },
                BatchSize::LargeInput,
            );
        });
    }
}

fn names(criterion: &mut Criterion) {
    criterion.bench_function("encode a name", |bencher| {
        bencher.iter(|| name::encode(black_box("session:telegram:user123")));
    });
}

criterion_group!(functions, locks, schedule, names);
criterion_main!(functions);
