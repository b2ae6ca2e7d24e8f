//! The run as seen from outside: a progress bar on the terminal, and what Ctrl-C does.
//!
//! One thread looks ten times a second whether a signal came and whether the bar is due. Signals only set flags.
//! The first one asks the run to end: reading, computing and writing see it between two blocks or steps, and a file
//! under its temporary name is removed. The next signal ends the process at once, and a run that has not ended after a
//! few seconds says so; what it leaves under temporary names the next run removes.

use crate::common::human_bytes;
use crate::exit;
use console::Term;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tenfold::engine::linalg::Rows;
use tenfold::engine::progress::Progress;
use tenfold::output::shown;

/// A command that takes less than this shows no bar.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often the thread looks.
const TICK: Duration = Duration::from_millis(100);
/// A run that has not ended this long after a signal tells how to end it by force.
const STOP_PATIENCE: Duration = Duration::from_secs(3);

/// The listener of every long run; clones watch the same run.
#[derive(Clone)]
pub struct Watch(Arc<Shared>);

struct Shared {
    /// A signal came.
    stop: Arc<AtomicBool>,
    /// The next signal ends the process in its handler.
    force: Arc<AtomicBool>,
    /// Steps done in the current stage; worker threads only touch this.
    done: AtomicU64,
    stage: Mutex<Stage>,
    begin: Instant,
    /// Where the bar goes; nowhere with `--quiet` and `--json`.
    bars: Option<Term>,
    verbose: bool,
}

/// The current stage; no name before the first and after the last.
#[derive(Default)]
struct Stage {
    name: Option<String>,
    steps: u64,
    begin: Option<Instant>,
    /// Whether its bar is on the screen.
    drawn: bool,
}

impl Watch {
    /// Listens to signals and starts the thread. `quiet` and `json` show no bar, nor does a stderr that is no terminal.
    pub fn start(json: bool, quiet: bool, verbose: bool) -> Self {
        let terminal =
            Some(Term::stderr()).filter(|t| t.is_term() && std::env::var("TERM").as_deref() != Ok("dumb"));
        let shared = Shared {
            stop: Arc::default(),
            force: Arc::default(),
            done: AtomicU64::new(0),
            stage: Mutex::default(),
            begin: Instant::now(),
            bars: terminal.filter(|_| !quiet && !json),
            verbose,
        };
        for signal in signals() {
            use signal_hook::flag;
            // In this order: the signal that sets `stop` must not see what it has set. Where signals cannot be
            // had, Ctrl-C does what the system does, and files still appear whole or not at all.
            let code = i32::from(exit::INTERRUPTED);
            let _ = flag::register_conditional_shutdown(signal, code, Arc::clone(&shared.force));
            let _ = flag::register(signal, Arc::clone(&shared.stop));
        }
        let watch = Self(Arc::new(shared));
        let thread = watch.clone();
        std::thread::spawn(move || thread.look());
        watch
    }

    fn look(&self) {
        let (mut stopped, mut told): (Option<Instant>, bool) = (None, false);
        loop {
            std::thread::sleep(TICK);
            if self.stopped() {
                let since = *stopped.get_or_insert_with(|| {
                    self.end();
                    Instant::now()
                });
                // Only from now on: a wrapper that hands on what the terminal has sent already sends the same signal twice at once.
                self.0.force.store(true, Ordering::SeqCst);
                if since.elapsed() > STOP_PATIENCE && !told {
                    told = true;
                    say("stopping at the end of this step; Ctrl-C again ends it at once");
                }
            } else if let Some(terminal) = self.0.bars.as_ref().filter(|_| self.0.begin.elapsed() > PATIENCE)
            {
                self.draw(terminal);
            }
        }
    }

    fn draw(&self, terminal: &Term) {
        let mut stage = self.stage_now();
        let (Some(name), Some(begin)) = (&stage.name, stage.begin) else { return };
        let line = bar(name, self.0.done.load(Ordering::Relaxed), stage.steps, begin.elapsed());
        // Three columns stay free for the `^C` of the terminal: in a full line it would go to the next one, and the
        // bar could no longer be cleared.
        let width = usize::from(terminal.size().1).saturating_sub(3);
        let line = console::truncate_str(&line, width, "…");
        // When the terminal has gone there is no one to tell.
        let _ = terminal.write_str(&format!("\r{line:<width$}"));
        stage.drawn = true;
    }

    fn stage_now(&self) -> MutexGuard<'_, Stage> {
        // A panic elsewhere leaves the stage as it was, which is good enough for a bar.
        self.0.stage.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Ends the current stage and clears its bar.
    pub fn end(&self) {
        let mut stage = self.stage_now();
        if let (true, Some(terminal)) = (stage.drawn, &self.0.bars) {
            let _ = terminal.clear_line();
        }
        if let (true, Some(name), Some(begin)) = (self.0.verbose, &stage.name, stage.begin) {
            let peak =
                tenfold::memory::peak().map(|peak| format!(", memory so far at most {}", human_bytes(peak)));
            say(&format!("{name}: {:.2} s{}", begin.elapsed().as_secs_f64(), peak.unwrap_or_default()));
        }
        *stage = Stage::default();
    }

    /// Runs `work`, which looks at [`Progress::stopped`] by itself, and clears its bar.
    pub fn during<T>(&self, work: impl FnOnce(&Self) -> T) -> T {
        let result = work(self);
        self.end();
        result
    }
}

impl Progress for Watch {
    fn stage(&self, name: &str, steps: u64) {
        self.end();
        self.0.done.store(0, Ordering::Relaxed);
        *self.stage_now() =
            Stage { name: Some(shown(name).into_owned()), steps, begin: Some(Instant::now()), drawn: false };
    }

    fn advance(&self, by: u64) {
        self.0.done.fetch_add(by, Ordering::Relaxed);
    }

    fn stopped(&self) -> bool {
        self.0.stop.load(Ordering::SeqCst)
    }
}

/// A line on standard error; when that is closed there is no one left to tell.
fn say(message: &str) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// The signals that ask a run to end. A terminal that closes is one of them, unless the run was started so as to outlive it.
fn signals() -> Vec<i32> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let mut signals = vec![SIGINT, SIGTERM];
    #[cfg(unix)]
    if !is_ignored(signal_hook::consts::SIGHUP) {
        signals.push(signal_hook::consts::SIGHUP);
    }
    signals
}

/// Whether a signal is ignored, as `nohup` has it; taken for granted where the system does not tell.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask >> (signal - 1) & 1 == 1)
}

/// One line: the stage, how much of it is done, and for how long it goes on.
fn bar(name: &str, done: u64, steps: u64, elapsed: Duration) -> String {
    const WIDTH: usize = 24;
    if steps == 0 || done == 0 {
        let count = if done == 0 { String::new() } else { format!("{done} steps, ") };
        return format!("{name}  {count}{}", human_time(elapsed));
    }
    let share = done.min(steps) as f64 / steps as f64;
    let full = "=".repeat((share * WIDTH as f64) as usize);
    let left = human_time(elapsed.mul_f64(1.0 / share - 1.0));
    format!("{name}  [{full:<WIDTH$}] {:>3.0} %  {}, {left} left", 100.0 * share, human_time(elapsed))
}

fn human_time(time: Duration) -> String {
    match time.as_secs() {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min {} s", s / 60, s % 60),
        s => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

/// Rows that stop with the run: a file that is being written from them is given up between two blocks.
pub struct Stoppable<'a> {
    rows: &'a dyn Rows,
    watch: &'a Watch,
}

impl<'a> Stoppable<'a> {
    /// The same rows, counted as steps of the current stage.
    pub fn new(rows: &'a dyn Rows, watch: &'a Watch) -> Self {
        Self { rows, watch }
    }
}

impl Rows for Stoppable<'_> {
    fn rows(&self) -> usize {
        self.rows.rows()
    }
    fn cols(&self) -> usize {
        self.rows.cols()
    }
    // Rows are copied even where they could be borrowed, because only reading can say that the run ends.
    fn read_rows(&self, start: usize, out: &mut [f64]) -> tenfold::engine::Result<()> {
        self.watch.check()?;
        self.watch.advance((out.len() / self.rows.cols().max(1)) as u64);
        self.rows.read_rows(start, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_says_what_is_known() {
        let after = |seconds| Duration::from_secs(seconds);
        assert_eq!(bar("separating", 0, 0, after(3)), "separating  3 s");
        assert_eq!(bar("separating", 7, 0, after(75)), "separating  7 steps, 1 min 15 s");
        assert_eq!(bar("reading x.csv", 0, 50, after(3)), "reading x.csv  3 s");
        let quarter = bar("reading x.csv", 25, 100, after(3600));
        assert_eq!(quarter, "reading x.csv  [======                  ]  25 %  1 h 0 min, 3 h 0 min left");
        // More than all of it, as when a stage is gone over twice, is all of it.
        assert!(bar("x", 101, 100, after(5)).ends_with("] 100 %  5 s, 0 s left"));
    }
}
