#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| armarius::fuzzed::outlines(data));
