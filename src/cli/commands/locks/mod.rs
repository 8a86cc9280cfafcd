//! Commands about lanes and their locks.

pub mod acquire;
pub mod check;
pub mod check_project;
pub mod guard;
pub mod lanes;
pub mod list_locks;
pub mod lock;
pub mod release;
pub mod renew;

use crate::app::locks::acquire::lanes_to_take;
use crate::app::names::lane_option;
use crate::app::{App, AppError};
use crate::cli::args::named;
use crate::model::LaneName;

/// The lanes of `[USER|LANE] [-u USER] [-l LANE]...`, in the order in which they are taken.
fn lanes_of(
    target: Option<&str>,
    user: Option<&str>,
    further: &[String],
    app: &App,
) -> Result<Vec<LaneName>, AppError> {
    let first = (target.is_some() || user.is_some()).then(|| app.lane(&named(target, user)));
    let further = further.iter().map(|lane| lane_option(app, lane, None));
    lanes_to_take(first.into_iter().chain(further).collect::<Result<_, _>>()?)
}
