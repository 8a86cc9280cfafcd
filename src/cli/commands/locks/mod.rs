//! Commands about lanes and their locks.

pub mod acquire;
pub mod check;
pub mod check_project;
pub mod guard;
pub mod lanes;
pub mod list_locks;
pub mod lock;
pub mod release;
pub mod renew;
