//! Tests of the tasks of several hosts, with a real PostgreSQL: one server for this binary, one database for each test.
#![allow(clippy::disallowed_methods, reason = "tests look at real files and processes")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod attach;
mod cancels;
mod conflicts;
mod copies;
mod faults;
mod groups;
mod hints;
mod hosts;
mod lanes;
mod leases;
mod locks;
mod looks;
mod places;
mod proxy;
mod restore;
mod retry;
mod rules;
mod same;
mod server;
mod stores;
mod storm;
#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the other tests need all of it")]
mod support;
mod timeline;
mod tls;
mod trial;
mod waiting;
mod why;
