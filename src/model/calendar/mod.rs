//! Days and hours in the forms that people write: time zones, cron lines, spoken times and schedules.

pub mod past;
pub mod pattern;
pub mod spoken;
pub mod zone;

pub use past::past;
pub use pattern::{Made, Overlap, Pattern, PatternError, Schedule, SlotOf};
pub use spoken::{SpokenError, spoken, spoken_duration};
pub use zone::{Day, TimeOfDay, Zone};
