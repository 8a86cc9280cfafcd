//! The file of `simulate`: a described load as JSON. Every error names the wrong member.

use crate::app::AppError;
use crate::app::estimate::{Gap, MOST_TASKS, Plan, RunLength, Stream};
use crate::model::config::{Config, LaneRule};
use crate::model::time::parse_duration;
use crate::model::{LaneName, Name, Priority};
use serde_json::{Map, Value};

/// The longest time of a member, in milliseconds: a year.
const MOST_MS: u64 = 366 * 86_400_000;
/// The largest number of slots, and of a weight.
const MOST_NUMBER: u64 = 1_000_000;

/// Reads a described load. `place` is the name of the file, for errors.
pub fn read(place: &str, text: &str) -> Result<Plan, AppError> {
    plan(text).map_err(|why| {
        AppError::usage(format!("\"{place}\" does not describe a load: {why}"))
            .hint("nothing was simulated; `luzia simulate --help` has an example")
    })
}

fn plan(text: &str) -> Result<Plan, String> {
    let file: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let Value::Object(members) = file else { return Err("it must be an object".to_owned()) };
    let mut plan = Plan { config: Config::default(), streams: Vec::new() };
    for (key, value) in &members {
        match key.as_str() {
            "slots" => plan.config.slots_max = number(key, value, MOST_NUMBER)?,
            "tier_shares" => plan.config.tier_shares = shares(value)?,
            "lanes" => {
                for (lane, rule) in object(key, value)? {
                    plan.config.lanes.insert(lane.clone(), lane_rule(lane, rule)?);
                }
            }
            "users" => {
                for (user, streams) in object(key, value)? {
                    let name = Name::new(user).map_err(|error| format!("user \"{user}\": {error}"))?;
                    let list = streams.as_array().ok_or(format!("users.{user} must be an array of streams"))?;
                    for (at, one) in list.iter().enumerate() {
                        plan.streams.push(stream(&name, &format!("users.{user}[{at}]"), one)?);
                    }
                }
            }
            other => {
                return Err(format!(
                    "\"{other}\" is not a member; the members are slots, tier_shares, lanes and users"
                ));
            }
        }
    }
    if plan.count() > MOST_TASKS {
        return Err(format!("it has {} tasks, and {MOST_TASKS} is the most", plan.count()));
    }
    fits(&plan)?;
    Ok(plan)
}

/// Refuses a task that takes more slots of a lane than the lane has, because it would wait for ever.
fn fits(plan: &Plan) -> Result<(), String> {
    for stream in &plan.streams {
        let narrow = stream.lanes.iter().find(|lane| plan.config.limit(lane) < stream.slots);
        if let Some(lane) = narrow {
            let (user, slots, limit) = (&stream.user, stream.slots, plan.config.limit(lane));
            return Err(format!("a task of user \"{user}\" takes {slots} slots of lane \"{lane}\", which has {limit}"));
        }
    }
    Ok(())
}

fn lane_rule(lane: &str, rule: &Value) -> Result<LaneRule, String> {
    let name = lane.strip_suffix('*').map_or_else(|| lane.to_owned(), |prefix| format!("{prefix}x"));
    LaneName::parse(&name).map_err(|error| format!("lanes.{lane}: {error}"))?;
    let mut read = LaneRule::default();
    for (key, value) in object(&format!("lanes.{lane}"), rule)? {
        let place = format!("lanes.{lane}.{key}");
        match key.as_str() {
            "max" => read.max = Some(number(&place, value, MOST_NUMBER)?),
            "weight" => read.weight = Some(number(&place, value, MOST_NUMBER)?),
            _ => return Err(format!("\"{place}\" is not a member; the members are max and weight")),
        }
    }
    Ok(read)
}

fn stream(user: &Name, place: &str, value: &Value) -> Result<Stream, String> {
    let mut read = Stream {
        user: user.clone(),
        session: None,
        lanes: Vec::new(),
        takes_user_lane: false,
        slots: 1,
        priority: Priority::DEFAULT,
        count: 1,
        from_ms: 0,
        gap: Gap::Every(0),
        runs: RunLength::Unknown,
        timeout_ms: None,
    };
    let mut own_lane = None;
    for (key, value) in object(place, value)? {
        let place = format!("{place}.{key}");
        match key.as_str() {
            "count" => read.count = u64::from(number(&place, value, MOST_TASKS)?),
            "from" => read.from_ms = duration(&place, value)?,
            "every" => read.gap = Gap::Every(duration(&place, value)?),
            "about" => read.gap = Gap::About(duration(&place, value)?),
            "runs" => read.runs = length(&place, value)?,
            "timeout" => read.timeout_ms = Some(duration(&place, value)?),
            "session" => read.session = Some(text(&place, value)?),
            "slots" => read.slots = number(&place, value, MOST_NUMBER)?,
            "user_lane" => own_lane = Some(value.as_bool().ok_or(format!("{place} must be true or false"))?),
            "priority" => {
                let number = value.as_u64().and_then(|number| Priority::new(u8::try_from(number).ok()?));
                read.priority = number.ok_or(format!("{place} must be a number from 0 to 9"))?;
            }
            "lanes" => {
                let list = value.as_array().ok_or(format!("{place} must be an array of lanes"))?;
                for one in list {
                    let lane = text(&place, one)?;
                    let lane = LaneName::parse(&lane).map_err(|error| format!("{place}: {error}"))?;
                    if lane.is_user() || lane.is_global() {
                        return Err(format!(
                            "{place}: \"{lane}\" cannot be named; user_lane takes the lane of the user"
                        ));
                    }
                    read.lanes.push(lane);
                }
            }
            _ => {
                let names = "count, from, every, about, runs, timeout, session, slots, user_lane, priority and lanes";
                return Err(format!("\"{place}\" is not a member; the members are {names}"));
            }
        }
    }
    if read.runs == RunLength::Unknown {
        return Err(format!("{place}.runs is missing: how long a task runs"));
    }
    read.lanes.sort_unstable();
    read.lanes.dedup();
    read.takes_user_lane = own_lane.unwrap_or(read.lanes.is_empty());
    if !read.takes_user_lane && read.lanes.is_empty() {
        return Err(format!("{place} takes no lane: name lanes, or leave user_lane out"));
    }
    Ok(read)
}

fn shares(value: &Value) -> Result<[u32; 3], String> {
    let mut shares = Config::default().tier_shares;
    for (key, value) in object("tier_shares", value)? {
        let place = ["high", "normal", "low"].iter().position(|word| *word == key.as_str());
        let place = place.ok_or(format!("\"tier_shares.{key}\" is not a tier; the tiers are high, normal and low"))?;
        shares[place] = number(&format!("tier_shares.{key}"), value, MOST_NUMBER)?;
    }
    Ok(shares)
}

/// `"20s"`, or two of them: any length between.
fn length(place: &str, value: &Value) -> Result<RunLength, String> {
    match value.as_array().map(Vec::as_slice) {
        None => Ok(RunLength::Fixed(duration(place, value)?)),
        Some([least, most]) => {
            let (least, most) = (duration(place, least)?, duration(place, most)?);
            if least > most {
                return Err(format!("{place}: the shorter one comes first"));
            }
            Ok(RunLength::Between(least, most))
        }
        Some(_) => Err(format!("{place} must be a duration, or an array of two")),
    }
}

fn duration(place: &str, value: &Value) -> Result<u64, String> {
    let text = value.as_str().map(str::to_owned).or_else(|| value.as_u64().map(|number| number.to_string()));
    let text = text.ok_or(format!("{place} must be a duration such as \"30s\""))?;
    let ms = parse_duration(&text).map_err(|error| format!("{place}: {error}"))?;
    if ms > MOST_MS { Err(format!("{place} is longer than a year")) } else { Ok(ms) }
}

fn number(place: &str, value: &Value, most: u64) -> Result<u32, String> {
    let number =
        value.as_u64().filter(|number| (1..=most).contains(number)).and_then(|number| u32::try_from(number).ok());
    number.ok_or(format!("{place} must be a number from 1 to {most}"))
}

fn text(place: &str, value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or(format!("{place} must be text"))
}

fn object<'a>(place: &str, value: &'a Value) -> Result<&'a Map<String, Value>, String> {
    value.as_object().ok_or(format!("{place} must be an object"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_help_reads_and_each_fault_is_named() {
        let help = crate::cli::commands::look::simulate::SIMULATE_HELP;
        let example = help.split("`slots`").next().and_then(|text| text.strip_prefix("File:")).expect("an example");
        let read = plan(example).expect("it reads");
        assert_eq!((read.streams.len(), read.config.slots_max), (3, 4));
        for (text, says) in [
            ("", "not JSON"),
            ("[]", "must be an object"),
            ("{\"slot\":1}", "\"slot\" is not a member"),
            ("{\"slots\":0}", "slots must be a number from 1"),
            ("{\"lanes\":{\"A:b\":{}}}", "lanes.A:b"),
            ("{\"lanes\":{\"build\":{\"rate\":1}}}", "lanes.build.rate"),
            ("{\"users\":{\"a\":{}}}", "users.a must be an array"),
            ("{\"users\":{\"a\":[{}]}}", "users.a[0].runs is missing"),
            ("{\"users\":{\"a\":[{\"runs\":\"x\"}]}}", "users.a[0].runs"),
            ("{\"users\":{\"a\":[{\"runs\":[\"2s\",\"1s\"]}]}}", "the shorter one comes first"),
            ("{\"users\":{\"a\":[{\"runs\":\"1s\",\"priority\":10}]}}", "from 0 to 9"),
            ("{\"users\":{\"a\":[{\"runs\":\"1s\",\"lanes\":[\"user:b\"]}]}}", "cannot be named"),
            ("{\"users\":{\"a\":[{\"runs\":\"1s\",\"lanes\":[\"build\"],\"slots\":2}]}}", "which has 1"),
            ("{\"users\":{\"a\":[{\"runs\":\"1s\",\"user_lane\":false}]}}", "takes no lane"),
            ("{\"users\":{\"a\":[{\"runs\":\"1s\",\"count\":1000000},{\"runs\":\"1s\"}]}}", "is the most"),
            ("{\"users\":{\"a\":[{\"runs\":\"9999d\"}]}}", "users.a[0].runs"),
        ] {
            let why = plan(text).expect_err(text);
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}
