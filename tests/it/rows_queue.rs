//! The rows about the queue.
