//! Threads that outlive a run: a run needs a handful of threads, and thousands of runs a second cannot start them anew.
//!
//! The threads of one machine share a processor. Only one of them moves at a time, and to wake one on another processor takes
//! longer than most operations.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::cell::OnceCell;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread::Thread;

type Job = Box<dyn FnOnce() + Send>;

struct Worker {
    jobs: Sender<Job>,
    thread: Thread,
}

/// What the tests have in one processor.
struct Processor {
    number: usize,
    /// How many tests use it.
    tests: usize,
    idle: Vec<Worker>,
}

static PROCESSORS: Mutex<Vec<Processor>> = Mutex::new(Vec::new());

/// The processor of a test, which gives it back at its end.
struct Home {
    at: usize,
    is_driver: bool,
}

impl Drop for Home {
    fn drop(&mut self) {
        if self.is_driver {
            PROCESSORS.lock().expect("no panic under this lock")[self.at].tests -= 1;
        }
    }
}

thread_local! {
    static HOME: OnceCell<Home> = const { OnceCell::new() };
}

/// The processor of this thread's machine. The first call in a test takes the one that the fewest tests use.
fn home() -> usize {
    HOME.with(|home| home.get_or_init(choose).at)
}

fn choose() -> Home {
    let mut processors = PROCESSORS.lock().expect("no panic under this lock");
    if processors.is_empty() {
        let allowed = sched_getaffinity(None).expect("the processors of this process");
        let numbers = (0..CpuSet::MAX_CPU).filter(|number| allowed.is_set(*number));
        processors.extend(numbers.map(|number| Processor { number, tests: 0, idle: Vec::new() }));
    }
    let at = (0..processors.len()).min_by_key(|at| processors[*at].tests).expect("there is a processor");
    processors[at].tests += 1;
    let mut only = CpuSet::new();
    only.set(processors[at].number);
    sched_setaffinity(None, &only).expect("a thread may use fewer processors than it has");
    Home { at, is_driver: true }
}

/// Runs a job on an idle thread, or on a new one; gives the thread, to be unparked. The job must not panic.
pub fn run(job: Job) -> Thread {
    let at = home();
    let idle = PROCESSORS.lock().expect("no panic under this lock")[at].idle.pop();
    let worker = idle.unwrap_or_else(|| start_worker(at));
    let thread = worker.thread.clone();
    let jobs = worker.jobs.clone();
    let back = move || {
        job();
        PROCESSORS.lock().expect("no panic under this lock")[at].idle.push(worker);
    };
    jobs.send(Box::new(back)).expect("a worker never ends");
    thread
}

/// A new thread has the processors of the one that starts it (sched_setaffinity(2)).
fn start_worker(at: usize) -> Worker {
    let (jobs, inbox) = channel::<Job>();
    let work = move || {
        HOME.with(|home| drop(home.set(Home { at, is_driver: false })));
        inbox.iter().for_each(|job| job());
    };
    let handle = std::thread::Builder::new().name("pretend".into()).spawn(work).expect("a thread");
    Worker { jobs, thread: handle.thread().clone() }
}
