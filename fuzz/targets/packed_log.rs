#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lpf_fuzz::packed_log(bytes));
