//! WHETHER: decisions as pure functions.
