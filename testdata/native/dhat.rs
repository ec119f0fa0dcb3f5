#[global_allocator]
static ALLOC: dhat::Alloc = dhat::Alloc;

#[inline(never)]
fn keep(kept: &mut Vec<Vec<u8>>) {
    kept.push(vec![1; 10_000]);
}

fn main() {
    let _profiler = dhat::Profiler::new_heap();
    let mut kept = Vec::new();
    for round in 0..30 {
        let text = "word".repeat(round);
        if text.len() % 3 == 0 {
            keep(&mut kept);
        }
    }
    std::mem::forget(kept);
}
