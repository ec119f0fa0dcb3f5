//! Damaged questions are answered or are errors.
#![allow(
    clippy::undocumented_unsafe_blocks,
    clippy::unwrap_used,
    reason = "arguments are as the rules say, and a test that cannot go on has failed"
)]

use std::ffi::{CStr, CString};
use std::ptr::null_mut;
use sto_capi::{StoClass, sto_ask, sto_close, sto_error_class, sto_error_free, sto_error_message};
use sto_capi::{StoStore, sto_ingest_bytes, sto_open_in_memory, sto_text_free};
use sto_test_support::{Random, damage};

const QUESTIONS: [&str; 6] = [
    r#"{"question": "top", "named": "v1", "limit": 10, "order": "total"}"#,
    r#"{"question": "check", "baseline": {"any": "v1"}, "candidate": "v2", "all": true}"#,
    r#"{"question": "diff", "baseline": "v1", "candidate": {"selector": "v2"}}"#,
    r#"{"question": "potential", "named": ["v1", "v2"], "degree": 2}"#,
    r#"{"question": "search", "text": "par", "limit": 3}"#,
    r#"{"question": "series", "function": "parse", "by": "build", "window": 5}"#,
];

/// Returns the class of the error of asking a question, which is `None` if it was answered.
fn ask(store: *mut StoStore, question: &CStr) -> StoClass {
    let mut error = null_mut();
    let answer = unsafe { sto_ask(store, question.as_ptr(), &raw mut error) };
    assert_eq!(answer.is_null(), !error.is_null(), "{question:?}");
    let class = unsafe { sto_error_class(error) };
    if !error.is_null() {
        let message = unsafe { CStr::from_ptr(sto_error_message(error)) };
        assert_ne!(class, StoClass::Internal, "{question:?}: {message:?}");
    }
    unsafe { sto_error_free(error) };
    unsafe { sto_text_free(answer) };
    class
}

/// Returns a store with two builds.
fn filled_store() -> *mut StoStore {
    let store = unsafe { sto_open_in_memory(null_mut()) };
    for build in ["v1", "v2"] {
        let options =
            CString::new(format!(r#"{{"program": "demo", "build": "{build}"}}"#)).unwrap();
        let stacks = "main;parse 300\nmain;render 500\n";
        let (bytes, length) = (stacks.as_ptr().cast(), stacks.len());
        let report = unsafe {
            sto_ingest_bytes(
                store,
                c"a.folded".as_ptr(),
                bytes,
                length,
                options.as_ptr(),
                null_mut(),
            )
        };
        assert!(!report.is_null());
        unsafe { sto_text_free(report) };
    }
    store
}

#[test]
fn damaged_questions_never_panic() {
    let store = filled_store();
    for question in QUESTIONS {
        let question = CString::new(question).unwrap();
        assert_eq!(ask(store, &question), StoClass::None, "{question:?}");
    }
    let mut random = Random::new(1);
    for number in 0..3_000 {
        let mut question = QUESTIONS[number % QUESTIONS.len()].as_bytes().to_vec();
        damage(&mut question, &mut random);
        question.retain(|&byte| byte != 0);
        ask(store, &CString::new(question).unwrap());
    }
    sto_close(store);
}

#[test]
fn largest_number_of_runs_does_not_overflow() {
    let store = filled_store();
    ask(
        store,
        c"{\"question\": \"calibrate\", \"named\": \"v1\", \"runs\": 18446744073709551615}",
    );
    sto_close(store);
}
