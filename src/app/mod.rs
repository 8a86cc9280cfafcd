//! USE CASE: one file a verb.
