//! What lanes give beside a place in them: names of slots, marks of gates, and shares of processors with their job servers.

pub(crate) mod cpus;
mod gates;
mod values;
