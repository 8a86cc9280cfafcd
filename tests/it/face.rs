//! What people look at: the columns and filters of `list`, the page of `show`, the numbers of `status`.

mod listed;
mod overview;
mod page;
