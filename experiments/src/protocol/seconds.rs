//! What a run costs.

use rayon::prelude::*;
use std::time::Instant;

/// What `work` returns, and the processor seconds of all threads that were there before and after it: those of a pool.
/// Where the system does not tell them, seconds by the clock.
pub fn cpu_seconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let (begin, clock) = (spent(), Instant::now());
    let result = work();
    let seconds = match (begin, spent()) {
        (Some(begin), Some(end)) => end - begin,
        _ => clock.elapsed().as_secs_f64(),
    };
    (seconds, result)
}

/// Processor seconds of this process's threads; the scheduler counts nanoseconds.
fn spent() -> Option<f64> {
    let mut nanoseconds = 0.0;
    for task in std::fs::read_dir("/proc/self/task").ok()? {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += text.split_whitespace().next()?.parse::<f64>().ok()?;
    }
    Some(nanoseconds / 1e9)
}

/// The largest resident memory of this process so far, where the system tells it.
pub fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kb| kb / 1024.0)
}

/// Bytes a second that this machine copies from memory to memory on all threads, reading and writing counted: the best
/// of five passes over arrays that no cache holds.
pub fn memory_rate() -> f64 {
    const PART: usize = 1 << 20;
    let from = vec![1u64; 32 << 20];
    let mut to = vec![0u64; from.len()];
    let mut best = 0.0f64;
    for _ in 0..5 {
        let begin = Instant::now();
        to.par_chunks_mut(PART).zip(from.par_chunks(PART)).for_each(|(to, from)| to.copy_from_slice(from));
        std::hint::black_box(&to);
        best = best.max(16.0 * from.len() as f64 / begin.elapsed().as_secs_f64());
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_costs_more_than_sleep() {
        let (asleep, ()) = cpu_seconds(|| std::thread::sleep(std::time::Duration::from_millis(200)));
        let (busy, sum) = cpu_seconds(|| {
            let begin = Instant::now();
            let mut sum = 0u64;
            while begin.elapsed().as_millis() < 100 {
                sum = (0..10_000u64).fold(sum, |s, x| s ^ x.wrapping_mul(s | 1));
            }
            sum
        });
        assert!(std::hint::black_box(sum) < u64::MAX && asleep < busy, "{asleep} {busy}");
    }
}
