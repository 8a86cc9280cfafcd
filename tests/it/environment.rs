//! Surroundings that fail: no space, no inodes, no descriptors, no processes, a file system or a directory that goes
//! away, an environment with nothing in it, pids that come again, rules and permissions that change under a daemon.
//!
//! Clocks that jump are on the pretend machine (`sim::locks::a_lane_has_one_holder_when_clocks_jump` and
//! `sim::life::tasks_live_through_operations_that_fail_and_clocks_that_jump`), where they can be set.

mod bare;
mod changed;
mod git;
mod limits;
mod pids;
mod space;
mod vanish;
