//! Random bytes for ids.

use std::cell::RefCell;

thread_local! {
    /// Bytes that nobody has got yet. To ask the system costs more than all else
    /// that an id takes, so it is asked for many at a time.
    static POOL: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Bytes that nobody can guess and nobody else gets.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let pooled = POOL.with_borrow_mut(|pool| {
        if pool.len() < N {
            let mut fresh = [0; POOL_SIZE];
            // Without a source of randomness ids repeat. That is better than not to
            // serve.
            let _ = getrandom::fill(&mut fresh);
            *pool = fresh.to_vec();
        }
        let bytes = pool.last_chunk::<N>().copied();
        pool.truncate(pool.len().saturating_sub(N));
        bytes
    });
    pooled.unwrap_or([0; N])
}

const POOL_SIZE: usize = 1024;
