//! Work on all cores, after a fork too.
//!
//! A thread does not survive a fork, and a pool that waits for its threads waits for ever; so each process has a pool of its
//! own, made when it is first needed. Nothing here takes a lock that another thread could have held at the fork. The pool of
//! a parent stays in its child as dead memory: a few hundred bytes.

use once_cell::race::OnceBox;
use rayon::{ThreadPool, ThreadPoolBuilder};

struct Link {
    process: u32,
    /// None when not even one thread could be started.
    pool: Option<ThreadPool>,
    /// Of the child, whose memory began as a copy of this.
    next: OnceBox<Link>,
}

static FIRST: OnceBox<Link> = OnceBox::new();

/// Run `work`, whose parallel iterators use the pool of this process.
///
/// Cost: one system call more than the work itself; the first call of a process starts its threads.
///
/// # Panics
/// As rayon does when the system refuses a single thread.
pub fn spread<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let process = std::process::id();
    let mut link = FIRST.get_or_init(|| Box::new(Link::new(process)));
    while link.process != process {
        link = link.next.get_or_init(|| Box::new(Link::new(process)));
    }
    match &link.pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

impl Link {
    fn new(process: u32) -> Self {
        let named = || ThreadPoolBuilder::new().thread_name(|at| format!("armarius-{at}"));
        let pool = named().build().or_else(|_| named().num_threads(1).build());
        Self {
            process,
            pool: pool.ok(),
            next: OnceBox::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    #[test]
    fn spread_work_gives_the_same_answer_and_nests() {
        let sum: u64 = super::spread(|| {
            (0..1000_u64)
                .into_par_iter()
                .map(|n| super::spread(|| n))
                .sum()
        });
        assert_eq!(sum, 499_500);
    }

    #[test]
    fn a_process_has_one_pool() {
        let threads =
            || super::spread(|| (rayon::current_num_threads(), rayon::current_thread_index()));
        let (first, second) = (threads(), threads());
        assert_eq!(first.0, second.0);
        assert!(first.1.is_some(), "not in the pool");
    }
}
