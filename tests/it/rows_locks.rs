//! The rows about locks: leases, releases, what counts as stale, and files of other programs.

mod commands;
mod conductor;
mod explained;
mod foreign;
mod inside;
mod kept;
mod leases;
mod left;
mod listed;
mod names;
mod removed;
mod room;
mod stale;
mod waiters;
