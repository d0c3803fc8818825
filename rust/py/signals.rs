//! Long calls that Ctrl-C ends: the core asks between two pieces of work whether to go on.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

/// How often Python is asked whether a signal has come; half of what a user notices.
const EVERY: Duration = Duration::from_millis(40);

/// Asks Python for signals, seldom enough not to cost anything. For the calling thread, detached: handlers run there.
pub struct Signals {
    asked: Instant,
    raised: Option<PyErr>,
}

impl Signals {
    /// None have come.
    pub fn new() -> Self {
        Self {
            asked: Instant::now(),
            raised: None,
        }
    }

    /// Whether the work should go on; false for ever after a signal handler has raised.
    pub fn go_on(&mut self) -> bool {
        if self.raised.is_none() && self.asked.elapsed() >= EVERY {
            // The method alone is not general enough over lifetimes.
            #[allow(clippy::redundant_closure_for_method_calls)]
            let checked = Python::attach(|py| py.check_signals());
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

/// `work` over pieces of `texts` of about `bytes`, given the number of the first; the answers in order.
pub fn in_pieces<T: Send, E: Into<PyErr> + Send>(
    py: Python<'_>,
    texts: &[PyBackedStr],
    bytes: usize,
    work: impl Fn(usize, &[PyBackedStr]) -> Result<Vec<T>, E> + Send + Sync,
) -> PyResult<Vec<T>> {
    let mut signals = Signals::new();
    let done = py.detach(|| {
        let (mut done, mut at) = (Vec::with_capacity(texts.len()), 0);
        while at < texts.len() && signals.go_on() {
            let (mut end, mut size) = (at, 0);
            while end < texts.len() && (end == at || size + texts[end].len() <= bytes) {
                size += texts[end].len();
                end += 1;
            }
            done.extend(work(at, &texts[at..end])?);
            at = end;
        }
        Ok::<_, E>(done)
    });
    signals.finish()?;
    done.map_err(Into::into)
}
