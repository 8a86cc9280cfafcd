//! What a task remembers, under kills, power cuts and failing operations: what was acknowledged is there, whole; nothing
//! becomes empty; no update is lost; no step is recorded twice.

use super::locks::{prepared, store};
use super::{Env, Journal, Limits, know, seeds};
use luzia::model::TaskId;
use luzia::store::{Mail, StepRecord, StoreError};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

const ID: TaskId = TaskId(1);

/// What an onlooker knows, across kills and power cuts.
#[derive(Default)]
struct Known {
    vars: BTreeSet<String>,
    steps: BTreeSet<String>,
    mail: BTreeSet<u64>,
}

type Shared = Arc<Mutex<Known>>;

fn work(env: &Env, known: &Shared, name: &str) {
    let store = store(env);
    for round in 0..2 {
        let var = format!("{name}{round}");
        let new = var.clone();
        let set = store.change_vars::<StoreError>(ID, |vars| {
            vars.insert(new, round.into());
            Ok(())
        });
        if set.is_ok() {
            know(known).vars.insert(var.clone());
        }
        let step = StepRecord { name: var.clone(), ..StepRecord::default() };
        // Its first try failed.
        let _ = store.record_failed_step(ID, step.clone());
        if let Ok(is_first) = store.record_step(ID, step) {
            know(known).steps.insert(var.clone());
            if !is_first {
                env.violation(&format!("step {var} was recorded before it was done"));
            }
        }
        let mail = Mail { event: var, ..Mail::default() };
        if let Ok(number) = store.deliver::<StoreError>(ID, mail, || Ok(()))
            && !know(known).mail.insert(number)
        {
            env.violation(&format!("mail {number} was numbered twice"));
        }
    }
}

fn audit(env: &Env, known: &Shared) {
    env.calm();
    let store = store(env);
    let known = know(known);
    match store.vars(ID) {
        Ok(read) if read.damage.is_none() => {
            for name in known.vars.iter().filter(|name| !read.value.contains_key(*name)) {
                env.violation(&format!("variable {name} is lost: {:?}", read.value));
            }
        }
        other => env.violation(&format!("the variables do not read: {other:?}")),
    }
    match store.steps_done(ID) {
        Ok(done) => {
            let names: BTreeSet<String> = done.iter().map(|step| step.name.clone()).collect();
            let numbers: BTreeSet<u64> = done.iter().map(|step| step.number).collect();
            if !known.steps.is_subset(&names) || numbers.len() != done.len() {
                env.violation(&format!("of the steps {:?} are left: {done:?}", known.steps));
            }
        }
        other => env.violation(&format!("the steps do not read: {other:?}")),
    }
    match store.steps_failed(ID) {
        Ok(failed) if failed.iter().all(|step| !known.steps.contains(&step.name)) => {}
        other => env.violation(&format!("of the steps {:?} some failed: {other:?}", known.steps)),
    }
    for number in &known.mail {
        if !matches!(store.mail(ID, *number), Ok(Some(_))) {
            env.violation(&format!("mail {number} is lost"));
        }
    }
}

fn storm(limits: &Limits) {
    for journal in [Journal::Ordered, Journal::AnySubset] {
        seeds(0..400, |sim| {
            let known = Shared::default();
            sim.journal(journal).limits(limits.clone());
            prepared(sim);
            for name in ["one", "two"] {
                let ours = known.clone();
                sim.spawn(name, move |env| work(&env, &ours, name));
            }
            let ours = known.clone();
            sim.at_boot("after", move |env| audit(&env, &ours));
            let ours = known.clone();
            sim.at_end("audit", move |env| audit(&env, &ours));
        })
        .expect_clean();
    }
}

#[test]
fn what_a_task_remembers_survives_kills_and_power_cuts() {
    storm(&Limits { kills: 1, cuts: 2, ..Limits::default() });
}

#[test]
fn what_a_task_remembers_survives_operations_that_fail() {
    storm(&Limits { kills: 1, cuts: 1, errors: 3, ..Limits::default() });
}
