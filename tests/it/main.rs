//! Everything that is tested from outside, as one binary.

mod sim;
