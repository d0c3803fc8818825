//! Long calls that Ctrl-C ends: the core asks between two stretches of work whether to go on.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::interrupt::{checkpoint, ending};

/// How often Python is asked whether a signal has come: a fifth of what is promised (100 ms), for the rest is waiting.
const EVERY: Duration = Duration::from_millis(20);

/// Asks Python for signals, seldom enough not to cost anything. For the calling thread, detached: handlers run there.
pub struct Signals {
    asked: Instant,
    /// Whether this is the thread that handlers run in; found out with the first question.
    hears: Option<bool>,
    raised: Option<PyErr>,
}

impl Signals {
    /// None have come.
    pub fn new() -> Self {
        Self {
            asked: Instant::now(),
            hears: None,
            raised: None,
        }
    }

    /// Whether the work should go on; false for ever after a signal handler has raised.
    pub fn go_on(&mut self) -> bool {
        if self.raised.is_none() && self.hears != Some(false) && self.asked.elapsed() >= EVERY {
            let checked = Python::attach(|py| {
                if self.hears.is_none() {
                    self.hears = Some(is_main_thread(py)?);
                }
                py.check_signals()
            });
            self.raised = checked.err();
            self.asked = Instant::now();
        }
        self.raised.is_none()
    }

    /// What the handler raised, which is the answer then.
    pub fn finish(self) -> PyResult<()> {
        self.raised.map_or(Ok(()), Err)
    }
}

/// Python runs handlers in its main thread alone: asking from another would only wait for the interpreter.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?;
    Ok(main.is(&threading.call_method0("current_thread")?))
}

/// `work` without the interpreter; what a signal handler raises ends it at its next look (`crate::interrupt`).
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| {
        let signals = Rc::new(RefCell::new(Signals::new()));
        let asked = Rc::clone(&signals);
        let done = ending(move || asked.borrow_mut().go_on(), work);
        let raised = signals.borrow_mut().raised.take();
        match (done, raised) {
            (Some(done), _) => Ok(done),
            (None, Some(raised)) => Err(raised),
            (None, None) => unreachable!("only what was raised ends the work"),
        }
    })
}

/// `work` over pieces of `texts` of about `bytes`, given the number of the first; the answers in order.
///
/// A text longer than that is a piece of its own: its work has the calling thread to itself, which alone hears signals.
pub fn in_pieces<T: Send, E: Into<PyErr> + Send>(
    py: Python<'_>,
    texts: &[PyBackedStr],
    bytes: usize,
    work: impl Fn(usize, &[PyBackedStr]) -> Result<Vec<T>, E> + Send + Sync,
) -> PyResult<Vec<T>> {
    let done = detached(py, || {
        let (mut done, mut at) = (Vec::with_capacity(texts.len()), 0);
        while at < texts.len() {
            let (mut end, mut size) = (at, 0);
            while end < texts.len() && (end == at || size + texts[end].len() <= bytes) {
                size += texts[end].len();
                end += 1;
            }
            done.extend(work(at, &texts[at..end])?);
            checkpoint();
            at = end;
        }
        Ok::<_, E>(done)
    })?;
    done.map_err(Into::into)
}
