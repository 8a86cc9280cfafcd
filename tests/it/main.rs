//! Tests of luzia from outside its rooms, in one binary.
#![allow(clippy::disallowed_methods, reason = "tests look at real files and processes")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod generated;
mod sim;
mod tidy;
