//! Functions that JavaScript calls.
//!
//! JavaScript calls [`allocate`] for the address and the body of a request, writes them there, and calls [`call`], which
//! frees them. The answer lies at [`answer`] until the next call. A panic ends the instance; its message is an answer, too.

use crate::problem::Problem;
use crate::session::Session;
use std::cell::RefCell;
use std::panic;
use std::ptr;

thread_local! {
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Returns memory for this many bytes, which the caller fills; null if there is not enough.
#[unsafe(no_mangle)]
extern "C" fn allocate(length: usize) -> *mut u8 {
    let mut bytes: Vec<u8> = Vec::new();
    if bytes.try_reserve_exact(length).is_err() {
        return ptr::null_mut();
    }
    bytes.resize(length, 0);
    Box::leak(bytes.into_boxed_slice()).as_mut_ptr()
}

/// Answers a request, see [`Session::answer`]. Returns 200, or the status of a problem, which is the answer as JSON.
///
/// # Safety
///
/// Both parts lie in memory of [`allocate`], which the caller does not use any more.
#[unsafe(no_mangle)]
unsafe extern "C" fn call(
    address: *mut u8,
    address_length: usize,
    body: *mut u8,
    body_length: usize,
) -> u32 {
    // Otherwise it would be taken for the message of a panic.
    set_answer(Vec::new());
    // SAFETY: the caller promises it.
    let [address, body] = unsafe { [taken(address, address_length), taken(body, body_length)] };
    match answer_to(&String::from_utf8_lossy(&address), &body) {
        Ok(answer) => {
            set_answer(answer);
            200
        }
        Err(problem) => {
            // Its fields are plain, so that this does not fail.
            set_answer(serde_json::to_vec(&problem).unwrap_or_default());
            problem.status.into()
        }
    }
}

/// Returns the place of the last answer.
#[unsafe(no_mangle)]
extern "C" fn answer() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

/// Returns the number of bytes of the last answer.
#[unsafe(no_mangle)]
extern "C" fn answer_length() -> usize {
    ANSWER.with_borrow(Vec::len)
}

/// # Safety
///
/// See [`call`].
unsafe fn taken(start: *mut u8, length: usize) -> Box<[u8]> {
    // SAFETY: `allocate` leaked a boxed slice with this start and length.
    unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(start, length)) }
}

fn answer_to(address: &str, body: &[u8]) -> Result<Vec<u8>, Problem> {
    SESSION.with_borrow_mut(|session| {
        let session = match session {
            Some(session) => session,
            None => {
                panic::set_hook(Box::new(|panic| set_answer(panic.to_string().into_bytes())));
                session.insert(Session::new()?)
            }
        };
        session.answer(address, body)
    })
}

fn set_answer(answer: Vec<u8>) {
    ANSWER.set(answer);
}
