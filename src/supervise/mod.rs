//! CHILD: the supervisor of one task.
