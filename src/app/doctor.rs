//! `doctor`: looks for problems on this host and in the state directory, and says what to do about each.
