//! Works for two seconds, and sends its profile to the server at the address that is its argument.

use pyroscope::backend::{BackendConfig, PprofConfig, pprof_backend};
use pyroscope::pyroscope::PyroscopeAgentBuilder;
use std::env;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

#[inline(never)]
fn checkout() -> u64 {
    (0..1_000_000).fold(0, |sum, item: u64| sum ^ black_box(item).wrapping_mul(31))
}

fn main() -> Result<(), Box<dyn Error>> {
    // The SDK makes a client of TLS, even though the address has none.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let server = env::args().nth(1).ok_or("the address is missing")?;
    let backend = pprof_backend(PprofConfig::default(), BackendConfig::default());
    let agent = PyroscopeAgentBuilder::new(server, "shop", 100, "pyroscope-rs", "2.1.5", backend)
        .tags(vec![("version", "v1")])
        .build()?;
    let running = agent.start()?;
    let end = Instant::now() + Duration::from_secs(2);
    while Instant::now() < end {
        black_box(checkout());
    }
    running.stop()?.shutdown();
    Ok(())
}
