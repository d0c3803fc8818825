//! Long work that ends when it is asked to: between two stretches it looks whether to go on.
//!
//! Whoever calls the core says with [`ending`] how that is asked; the loops that a long text makes long call
//! [`checkpoint`] every [`STRETCH`] bytes. One that is told to stop leaves by unwinding, past every caller, back to
//! [`ending`]: no function in between has a result for it, and none of what was half done is seen by anybody
//! (`docs/decisions/0180`). No message is printed: it is no panic. On threads that nobody watches nothing is asked.
//!
//! What cannot look, because it is somebody else's loop, runs [`aside`].

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::Duration;

/// Bytes (or steps of about that cost) between two looks: 0.05 ms of the slowest loop.
pub const STRETCH: usize = if cfg!(any(test, fuzzing)) {
    64
} else {
    1 << 14
};

/// How often a thread that waits for work `aside` looks.
const LOOK: Duration = Duration::from_millis(20);

/// Whether to go on. Of the thread that asks.
type Ask = Box<dyn FnMut() -> bool>;

thread_local! {
    static WATCH: RefCell<Option<Ask>> = const { RefCell::new(None) };
}

/// What unwinds.
struct Ended;

/// `work` of this thread, or `None` when `go_on` said no before it was done.
pub fn ending<T>(go_on: impl FnMut() -> bool + 'static, work: impl FnOnce() -> T) -> Option<T> {
    /// Puts the watch of the caller back, however the work ends.
    struct Back(Option<Ask>);
    impl Drop for Back {
        fn drop(&mut self) {
            let before = self.0.take();
            WATCH.with_borrow_mut(|watch| *watch = before);
        }
    }
    let _back = Back(WATCH.replace(Some(Box::new(go_on))));
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => Some(done),
        Err(other) if !other.is::<Ended>() => resume_unwind(other),
        Err(_) => None,
    }
}

/// Leave the work under way, if whoever asked for it says so.
///
/// What is asked may run the caller's code, which may ask the core again: where a thread's own state is borrowed around
/// this, a second borrow must be reckoned with.
pub fn checkpoint() {
    let Some(mut ask) = WATCH.take() else { return };
    let go_on = ask();
    WATCH.with_borrow_mut(|watch| *watch = Some(ask));
    if !go_on {
        resume_unwind(Box::new(Ended));
    }
}

/// Counts down to the next look of a loop whose steps are short.
pub struct Pace(usize);

impl Pace {
    /// A full stretch to go.
    pub fn new() -> Self {
        Self(STRETCH)
    }

    /// So many bytes more are done.
    #[inline]
    pub fn step(&mut self, bytes: usize) {
        match self.0.checked_sub(bytes) {
            Some(left) => self.0 = left,
            None => self.look(),
        }
    }

    #[cold]
    fn look(&mut self) {
        self.0 = STRETCH;
        checkpoint();
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self::new()
    }
}

/// `text` in pieces of about [`STRETCH`] bytes, with a look before each.
pub fn stretches(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        checkpoint();
        let mut end = rest.len().min(STRETCH);
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

/// `items`, with a look every [`STRETCH`] of them.
pub fn paced<I: Iterator>(items: I) -> impl Iterator<Item = I::Item> {
    let mut pace = Pace::new();
    items.inspect(move |_| pace.step(1))
}

/// `work` that looks nowhere: on a thread of its own while this one looks.
///
/// When this one is told to stop, the other comes to its end alone and what it made is dropped. With nobody watching, or no
/// thread to be had, it runs here.
pub fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    if WATCH.with_borrow(Option::is_none) {
        return work();
    }
    // The work stays reachable from here, in case no thread comes for it.
    let work = Arc::new(Mutex::new(Some(work)));
    let theirs = Arc::clone(&work);
    let (send, receive) = channel();
    let thread = Builder::new().name("armarius-aside".to_owned());
    let started = thread.spawn(move || {
        if let Some(work) = taken(&theirs) {
            let _ = send.send(catch_unwind(AssertUnwindSafe(work)));
        }
    });
    while started.is_ok() {
        match receive.recv_timeout(LOOK) {
            Ok(Ok(done)) => return done,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Timeout) => checkpoint(),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    match taken(&work) {
        Some(work) => work(),
        None => unreachable!("a thread that took the work sends what became of it"),
    }
}

fn taken<W>(work: &Mutex<Option<W>>) -> Option<W> {
    work.lock().ok()?.take()
}

#[cfg(test)]
mod tests;
