//! Lanes in the database: their rules, their pauses and their holders.

use super::{Database, Given, sql};
use crate::app::AppError;
use crate::app::fleet::lanes::{FleetLanes, SharedLane};
use crate::model::Timestamp;

impl FleetLanes for Database {
    fn lanes(&self, name: Option<&str>, prefix: &str, most_counted: usize) -> Result<Vec<SharedLane>, AppError> {
        let most = i32::try_from(most_counted).unwrap_or(i32::MAX);
        let rows = self.with(|client| client.query(sql::LANES, &[&name, &prefix, &most]))?;
        let lane = |row: &postgres::Row| SharedLane {
            name: row.get(0),
            rules: row.get(1),
            used: row.get::<_, i64>(2).unsigned_abs(),
            waiting: row.get::<_, i64>(3).unsigned_abs(),
            pause: row.get(4),
            is_counted: row.get(5),
        };
        Ok(rows.iter().map(lane).collect())
    }

    fn set_lane(
        &self,
        lane: &str,
        seen: &str,
        rules: &str,
        capacity: u32,
        values: Option<&[String]>,
    ) -> Result<bool, AppError> {
        let capacity = i32::try_from(capacity).unwrap_or(i32::MAX);
        let given = [&lane as &Given, &seen, &rules, &capacity, &values];
        Ok(self.with(|client| client.query_one(sql::SET_LANE, &given))?.get(0))
    }

    fn pause_lane(&self, lane: &str, until: Option<Timestamp>, pause: &str) -> Result<String, AppError> {
        let until = until.map(|at| at.0);
        Ok(self.with(|client| client.query_one(sql::PAUSE_LANE, &[&lane, &until, &pause]))?.get(0))
    }

    fn resume_lane(&self, lane: &str) -> Result<Option<String>, AppError> {
        Ok(self.with(|client| client.query_opt(sql::RESUME_LANE, &[&lane]))?.map(|row| row.get(0)))
    }
}
