//! The words that options accept, each with its help.

use crate::model::Status;
use crate::model::calendar::Overlap;
use crate::model::task::OnInterrupt;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde::Serialize;

/// Values of the domain as the words of an option, each with its help.
macro_rules! words {
    ($type:ty { $($value:ident => $help:literal,)* }) => {
        impl ValueEnum for $type {
            fn value_variants<'a>() -> &'a [Self] {
                &Self::ALL
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                let help = match self {
                    $(Self::$value => $help,)*
                };
                Some(PossibleValue::new(self.word()).help(help))
            }
        }
    };
}

pub(crate) use words;

words! { Status {
    Pending => "Accepted, not started",
    Running => "Its command runs",
    Waiting => "Waits for an event",
    Completed => "Its command ended with 0",
    Failed => "Its command ended otherwise, or could not run",
    Timeout => "A time limit ended it",
    Cancelled => "Somebody ended it",
}}

words! { Overlap {
    Skip => "It makes no task (the default)",
    Queue => "It makes a task, which waits for its turn (the default with --fill)",
}}

words! { OnInterrupt {
    Retry => "A failure: another attempt follows where one is left (the default)",
    Fail => "The end of the task: its command must not run twice",
}}

/// What becomes of a request whose key an unfinished task has.
#[derive(ValueEnum, Serialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnConflict {
    /// Queue the new task behind the other
    Queue,
    /// Queue nothing and print the id of the other (the default)
    #[default]
    Skip,
    /// Cancel the last one that waits and what runs, wait for their end, and queue the new task
    Replace,
    /// Queue nothing and fail
    Reject,
    /// Queue nothing and take the output and the end of the other; with --fresh also of one that has ended
    Join,
}

/// What the end of a parent means for a child that is not over.
#[derive(ValueEnum, Serialize, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParentDeath {
    /// It goes on.
    Adopt,
    /// It is cancelled.
    Cancel,
}
