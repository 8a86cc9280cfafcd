//! What a request asks for beside its command: keys, work that is not done twice, conditions, groups, attempts, and what comes
//! of children.

mod attempts;
mod children;
mod conditions;
mod conflicts;
mod groups;
mod join;
mod looks;
mod met;
mod news;
mod rows;
mod terms;
