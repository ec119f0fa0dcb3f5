//! Benchmarks of sto.
