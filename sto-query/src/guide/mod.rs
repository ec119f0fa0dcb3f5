//! A guide in four chapters, whose examples are complete programs.
//!
//! 1. [Store a profile](store_a_profile)
//! 2. [Ask a question](ask_a_question)
//! 3. [Add a metric](add_a_metric)
//! 4. [Render a result](render_a_result)

#[doc = include_str!("store_a_profile.md")]
pub mod store_a_profile {}

#[doc = include_str!("ask_a_question.md")]
pub mod ask_a_question {}

#[doc = include_str!("add_a_metric.md")]
pub mod add_a_metric {}

#[doc = include_str!("render_a_result.md")]
pub mod render_a_result {}
