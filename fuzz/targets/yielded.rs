#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| luzia::fuzzed::yielded(bytes));
