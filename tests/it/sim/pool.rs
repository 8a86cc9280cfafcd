//! Threads that outlive a run: a run needs a handful of threads, and thousands of runs a second cannot start them anew.

use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread::Thread;

type Job = Box<dyn FnOnce() + Send>;

struct Worker {
    jobs: Sender<Job>,
    thread: Thread,
}

static IDLE: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

/// Runs a job on an idle thread, or on a new one; gives the thread, to be unparked. The job must not panic.
pub fn run(job: Job) -> Thread {
    let idle = IDLE.lock().expect("no panic under this lock").pop();
    let worker = idle.unwrap_or_else(start_worker);
    let thread = worker.thread.clone();
    let jobs = worker.jobs.clone();
    let back = move || {
        job();
        IDLE.lock().expect("no panic under this lock").push(worker);
    };
    jobs.send(Box::new(back)).expect("a worker never ends");
    thread
}

fn start_worker() -> Worker {
    let (jobs, inbox) = channel::<Job>();
    let handle = std::thread::Builder::new()
        .name("pretend".into())
        .spawn(move || inbox.iter().for_each(|job| job()))
        .expect("a thread");
    Worker { jobs, thread: handle.thread().clone() }
}
