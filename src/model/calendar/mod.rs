//! Days and hours in the forms that people write: time zones, cron lines, spoken times and schedules.

pub mod past;
pub mod pattern;
pub mod schedule;
pub mod spoken;
pub mod zone;

pub use past::past;
pub use pattern::{Pattern, PatternError};
pub use schedule::{Made, Overlap, Schedule, SlotOf};
pub use spoken::{SpokenError, spoken, spoken_duration};
pub use zone::{Day, TimeOfDay, Zone};
