//! Work without the interpreter's lock, which Ctrl-C cancels.

use pyo3::{PyErr, PyResult, Python};
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use sto_core::CancelToken;

/// Time between two checks for signals.
const INTERVAL: Duration = Duration::from_millis(50);

/// Does work in another thread, so that this one can receive signals: Python's handler of Ctrl-C raises an exception,
/// which cancels the work. Other Python threads run meanwhile.
pub(crate) fn interruptible<T, E>(
    py: Python<'_>,
    work: impl FnOnce(&CancelToken) -> Result<T, E> + Send,
) -> PyResult<T>
where
    T: Send,
    E: Into<PyErr> + Send,
{
    let cancel = CancelToken::default();
    let (outcome, exception) = py.detach(|| {
        let (running, ended) = channel::<()>();
        let cancel = &cancel;
        thread::scope(|scope| {
            let worker = scope.spawn(move || {
                let _running = running;
                work(cancel)
            });
            let mut exception = None;
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(INTERVAL) {
                if let Err(raised) = Python::attach(|py| py.check_signals()) {
                    cancel.cancel();
                    exception.get_or_insert(raised);
                }
            }
            (worker.join(), exception)
        })
    });
    match (outcome, exception) {
        (Err(panic), _) => resume_unwind(panic),
        (_, Some(exception)) => Err(exception),
        (Ok(outcome), None) => outcome.map_err(Into::into),
    }
}
