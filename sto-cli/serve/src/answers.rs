//! Answers about the newest state of the store, so that many readers of a page cost as much as one.

use crate::problem::Problem;
use axum::body::Bytes;
use axum::http::HeaderValue;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use sto_core::store::StateId;
use tokio::sync::OnceCell;

/// Memory for answers. If they need more, all are forgotten.
const MAX_SIZE: usize = 64 << 20;

/// Memory for the tag of an answer.
const TAG_SIZE: usize = 256;

/// Known answers, by entity tag.
#[derive(Default)]
pub(crate) struct Answers(Mutex<Known>);

#[derive(Default)]
struct Known {
    state: Option<StateId>,
    by_tag: HashMap<HeaderValue, Arc<OnceCell<Bytes>>>,
    /// Bytes of all answers and their tags.
    size: usize,
}

impl Answers {
    /// Returns the answer with this tag. If it is not known, one of those who wait for it computes it.
    pub(crate) async fn get_or_compute(
        &self,
        state: StateId,
        tag: HeaderValue,
        compute: impl Future<Output = Result<Bytes, Problem>>,
    ) -> Result<Bytes, Problem> {
        let answer = self.cell(state, tag);
        let answer = answer.get_or_try_init(|| async {
            let computed = compute.await?;
            self.make_room(computed.len());
            Ok(computed)
        });
        answer.await.cloned()
    }

    fn cell(&self, state: StateId, tag: HeaderValue) -> Arc<OnceCell<Bytes>> {
        let mut known = self.lock();
        if known.state != Some(state) {
            *known = Known {
                state: Some(state),
                ..Known::default()
            };
        }
        if let Some(answer) = known.by_tag.get(&tag) {
            return Arc::clone(answer);
        }
        drop(known);
        self.make_room(TAG_SIZE);
        Arc::clone(self.lock().by_tag.entry(tag).or_default())
    }

    fn make_room(&self, size: usize) {
        let mut known = self.lock();
        known.size += size;
        if known.size > MAX_SIZE {
            known.by_tag.clear();
            known.size = size;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::tests::wait;
    use futures_util::future::join;
    use sto_core::store::Store;

    const TAG: HeaderValue = HeaderValue::from_static("\"tag\"");

    async fn bytes(text: &'static str) -> Result<Bytes, Problem> {
        tokio::task::yield_now().await;
        Ok(Bytes::from_static(text.as_bytes()))
    }

    fn state() -> StateId {
        Store::in_memory().unwrap().state().unwrap()
    }

    #[test]
    fn concurrent_questions_are_computed_once() {
        let answers = Answers::default();
        let get = |text| answers.get_or_compute(state(), TAG, bytes(text));
        let (first, second) = wait(join(get("first"), get("second")));
        assert_eq!(first.unwrap(), "first");
        assert_eq!(second.unwrap(), "first");
    }

    #[test]
    fn failures_are_not_known() {
        let answers = Answers::default();
        let failing = async { Err(Problem::internal()) };
        assert!(wait(answers.get_or_compute(state(), TAG, failing)).is_err());
        let again = wait(answers.get_or_compute(state(), TAG, bytes("again")));
        assert_eq!(again.unwrap(), "again");
    }
}
