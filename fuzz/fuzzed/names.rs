//! Names: of users, of lanes, and of files. One spelling each, and none means two things.

use super::text;
use crate::model::lane::{self, LaneName, Target};
use crate::model::name::{self, Name};
use crate::model::{Priority, TaskId};
use crate::store::files::disk::file_name;

/// The longest name of a file that Linux takes, in bytes.
const LONGEST_FILE_NAME: usize = 255;

/// Names: what is refused, the round trip, one spelling, no two names with one spelling, and that it is a file's name.
pub fn name(bytes: &[u8]) {
    let input = text(bytes);
    let accepted = Name::new(&input);
    let is_refused = input.is_empty() || input.len() > name::MAX_NAME_BYTES || input.chars().any(char::is_control);
    assert_eq!(accepted.is_err(), is_refused, "{input:?}");
    let encoded = name::encode(&input);
    assert!(encoded.len() <= name::MAX_ENCODED_BYTES);
    assert!(encoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-=".contains(&byte)), "{encoded}");
    assert!(!encoded.starts_with(['.', '-']), "{encoded}");
    if accepted.is_ok() {
        let back = (!name::is_hashed(&encoded)).then_some(&*input);
        assert_eq!(Name::decoded(&encoded).as_ref().map(Name::as_str), back, "{encoded}");
    }
    // Read as an encoded form: only what `encode` makes is read.
    if let Some(decoded) = Name::decoded(&input) {
        assert_eq!(decoded.encoded(), input);
        assert!(Name::new(decoded.as_str()).is_ok() && !name::is_hashed(&input));
    }
    // Two names that differ never share a form; the neighbours of this one are the likeliest to.
    for other in [format!("{input}="), input.to_lowercase(), input.replacen('=', "=3d", 1), encoded.clone()] {
        assert!(other == input || name::encode(&other) != encoded, "{input:?} {other:?}");
    }
}

/// Lanes: what is written reads back as the same lane, from its name and from the name of its file; slots as well.
pub fn lane(bytes: &[u8]) {
    let input = text(bytes);
    if let Ok(lane) = LaneName::parse(&input) {
        assert_eq!(LaneName::parse(&lane.to_string()).as_ref(), Ok(&lane));
        let stem = lane.stem();
        let is_hashed = name::is_hashed(&lane.key().encoded());
        assert_eq!(LaneName::from_stem(&stem), (!is_hashed).then(|| lane.clone()));
        for slot in [0, 1, 7, u32::MAX] {
            let file = lane::slot_stem(&stem, slot);
            assert_eq!(lane::split_slot_stem(&file), Some((stem.as_str(), slot)));
            assert!(format!(".{file}.json.tmp").len() <= LONGEST_FILE_NAME, "{file}");
        }
        assert!(lane.kind().starts_with(|c: char| c.is_ascii_lowercase()) && !lane.kind().contains(['_', ':', '@']));
    }
    if let Some(lane) = LaneName::from_stem(&input) {
        assert_eq!(lane.stem(), input, "one spelling");
    }
    if let Some((stem, slot)) = lane::split_slot_stem(&input) {
        assert_eq!(lane::slot_stem(stem, slot), input, "one spelling");
    }
    match Target::any(&input) {
        Ok(Target::Task(id)) => {
            assert_eq!(id.to_string().trim_start_matches("task_"), input.trim_start_matches("task_"))
        }
        Ok(Target::Lane(lane)) => assert!(input.contains(':') || lane.is_user() || lane::BUILT_IN.contains(&&*input)),
        Err(_) => assert!(TaskId::parse(&input).is_none()),
    }
}

/// Names of files that carry data: only the one spelling that luzia writes is read.
pub fn file_name(bytes: &[u8]) {
    let input = text(bytes);
    if let Some(number) = file_name::number(&input) {
        assert_eq!(number.to_string(), input);
    }
    if let Some(id) = file_name::task(&input) {
        assert_eq!((id.0.to_string(), TaskId::parse(&input)), (input.clone(), Some(id)));
    }
    if let Some(timer) = file_name::timer(&input) {
        assert_eq!(file_name::timer_name(&timer), input);
    }
    if let Some((priority, id, user)) = file_name::order(&input) {
        assert_eq!(file_name::order_name(priority, id, user), input);
    }
    let stem = LaneName::user(&Name::new(&input).unwrap_or_else(|_| Name::new("a").expect("a name"))).stem();
    let (priority, id) = (Priority::DEFAULT, TaskId(u64::MAX));
    assert_eq!(file_name::order(&file_name::order_name(priority, id, &stem)), Some((priority, id, stem.as_str())));
}
