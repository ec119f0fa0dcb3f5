//! Parallel work with results in order.

use std::sync::mpsc::sync_channel;
use std::thread;

/// Runs `work` on each item on up to `threads` threads, and `then` on this thread with each result, in the order
/// of the items. Each thread holds at most one finished result, so memory is bounded. Stops at the first failure
/// of `then`.
pub(crate) fn in_order<T: Sync, R: Send, E>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    mut then: impl FnMut(&T, R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.min(items.len());
    if threads <= 1 {
        return items.iter().try_for_each(|item| then(item, work(item)));
    }
    thread::scope(|scope| {
        let work = &work;
        let started: Vec<_> = (0..threads)
            .map_while(|first| {
                let (done, results) = sync_channel(0);
                // The number of threads is known when all have started.
                let (begin, step) = sync_channel(1);
                let run = move || {
                    for item in items.iter().skip(first).step_by(step.recv().unwrap_or(1)) {
                        if done.send(work(item)).is_err() {
                            break;
                        }
                    }
                };
                let thread = thread::Builder::new().spawn_scoped(scope, run);
                thread.ok().map(|_| (begin, results))
            })
            .collect();
        if started.is_empty() {
            return items.iter().try_for_each(|item| then(item, work(item)));
        }
        for (begin, _) in &started {
            // Each thread waits for it.
            let _ = begin.send(started.len());
        }
        for (item, (_, results)) in items.iter().zip(started.iter().cycle()) {
            // A thread that panicked sends nothing; leaving the scope propagates its panic.
            let Ok(result) = results.recv() else { break };
            then(item, result)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::in_order;
    use std::time::Duration;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..40).collect();
        let slow_first = |&item: &u64| {
            std::thread::sleep(Duration::from_micros(400 - 10 * item));
            item * 2
        };
        for threads in [0, 1, 3, 100] {
            let mut results = Vec::new();
            let done: Result<(), ()> = in_order(&items, threads, slow_first, |_, result| {
                results.push(result);
                Ok(())
            });
            assert_eq!(done, Ok(()));
            assert_eq!(results, (0..80).step_by(2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn stops_at_the_first_failure_in_order() {
        let items: Vec<u32> = (0..100).collect();
        let mut seen = 0;
        let failed = in_order(
            &items,
            4,
            |&item| item,
            |&item, _| {
                seen += 1;
                if item == 7 { Err(item) } else { Ok(()) }
            },
        );
        assert_eq!((failed, seen), (Err(7), 8));
    }

    #[test]
    fn accepts_no_items() {
        let done: Result<(), ()> = in_order(&[], 4, |item: &u8| *item, |_, _| Err(()));
        assert_eq!(done, Ok(()));
    }
}
