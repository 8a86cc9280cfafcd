//! The check of the database that several hosts share.

use super::{Finding, Found};
use crate::app::AppError;
use crate::app::fleet::{Store, StoreHealth};

/// The database: whether it answers, keeps what it has promised, and has a host that works.
pub(super) fn store(store: &Result<Store, AppError>) -> Found {
    let store = &**store.as_ref().map_err(Clone::clone)?;
    let (state, hosts) = (store.state()?, store.hosts()?);
    let mut found = faults(&store.name(), store.health()?);
    if state.living_hosts == 0 {
        let message = "no host has a lease in force, so no task of the store starts";
        found.push(Finding::problem(message, "`luzia daemon` with the same store joins"));
    } else if !hosts.iter().any(|host| host.name == store.host_name() && host.is_alive) {
        let message = "this host has no lease in force, so its tasks of the store do not start";
        found.push(Finding::warn(message, "`luzia daemon` with the same store joins"));
    }
    if found.is_empty() {
        let (server, living, hosts) = (&state.server, state.living_hosts, state.hosts);
        found.push(Finding::ok(format!("PostgreSQL {server}; {living} of {hosts} hosts with a lease in force")));
    }
    Ok(found)
}

fn faults(name: &str, StoreHealth { is_synchronous, are_hints_heard }: StoreHealth) -> Vec<Finding> {
    let volatile = (!is_synchronous).then(|| {
        let message = format!("the server of {name} answers before a commit is on its disk, so a crash loses tasks");
        Finding::problem(message, "set fsync, full_page_writes and synchronous_commit of the server to on")
    });
    let deaf = (!are_hints_heard).then(|| {
        let message = format!("notifications of {name} do not arrive, so agents look once a second");
        Finding::warn(message, "a pooler in transaction mode loses them: connect to the server itself")
    });
    volatile.into_iter().chain(deaf).collect()
}
