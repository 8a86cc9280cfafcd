//! The reference of the configuration: schema, manual page, and `config check --strict`.

use crate::support::Place;
use serde_json::{Value, json};
use std::fs;

fn root(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}

fn validator(place: &Place) -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(&place.ok(&["config", "schema"]).out).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn the_schema_admits_the_defaults_and_the_packaged_configurations() {
    let place = Place::new();
    let validator = validator(&place);
    let shown: Value = serde_json::from_str(&place.ok(&["config", "show"]).out).unwrap();
    assert!(validator.is_valid(&shown), "{:?}", validator.validate(&shown));
    let mut count = 0;
    for entry in fs::read_dir(root("packaging/config")).unwrap() {
        let path = entry.unwrap().path();
        let value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert!(validator.is_valid(&value), "{path:?}: {:?}", validator.validate(&value));
        count += 1;
    }
    assert_eq!(count, 4);
    assert!(!validator.is_valid(&json!({ "slot": { "max": 1 } })));
}

#[test]
fn the_schema_is_printed_while_the_configuration_has_a_mistake() {
    let place = Place::new();
    place.configure(&json!({ "slots": 3 }));
    place.luzia(&["config", "check"]).coded(78);
    validator(&place);
}

#[test]
fn strict_fails_on_a_key_without_effect_and_on_nothing_else() {
    let place = Place::new();
    assert_eq!(place.json(&["config", "check", "--strict"])["ok"], true);
    place.configure(&json!({ "slot": { "max": 1 }, "lanes": { "deploy": { "maks": 1 } } }));
    let told = place.ok(&["config", "check"]).err;
    assert!(
        told.contains(": 2 warnings") && told.contains("line 1 column 45: unknown key \"lanes.deploy.maks\""),
        "{told}"
    );
    let ran = place.luzia(&["config", "check", "--strict"]).coded(1);
    assert!(ran.err.contains("did you mean \"slots\"?") && ran.err.contains(": 2 warnings"), "{}", ran.err);
    let ran = place.luzia(&["config", "check", "--strict", "--json"]).coded(1);
    assert_eq!((ran.json()["ok"].clone(), ran.json()["warnings"].as_array().unwrap().len()), (json!(false), 2));
    place.configure(&json!({ "slots": { "max": 0 } }));
    place.luzia(&["config", "check", "--strict"]).coded(78);
}

#[test]
fn the_page_names_every_key_that_the_defaults_show() {
    let page = fs::read_to_string(root("man/luzia-config.5")).unwrap().replace("\\-", "-");
    let shown: Value = serde_json::from_str(&Place::new().ok(&["config", "show"]).out).unwrap();
    for (name, value) in shown.as_object().unwrap() {
        let inner: Vec<String> = match value {
            Value::Object(inner) if !inner.is_empty() => inner.keys().map(|key| format!("{name}.{key}")).collect(),
            _ => vec![name.clone()],
        };
        for key in inner {
            assert!(page.contains(&format!("\n\\fB{key}\\fR\n")), "{key}");
        }
    }
}
