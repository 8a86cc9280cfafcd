//! FACTS: what is on disk.
