//! How much memory a run needs, has, and took.
//!
//! Every application says before its work what the largest arrays of its fit will be, as an [`Estimate`]: a function of sizes alone,
//! in its file `memory`. Who starts a run prints it, and refuses what does not fit.

use std::fs;
use std::path::{Path, PathBuf};

/// What the program itself takes beside data and work: its code as far as it is used, the stacks of its threads, and small things.
/// Measured: what fits of all applications at small sizes took beyond the arrays that they reckon, 18 to 24 MB.
pub const PROGRAM: u64 = 20 << 20;

/// The memory that a run is expected to take at its peak, by what it is for.
///
/// # Example
/// ```
/// use tenfold::memory::{Estimate, PROGRAM};
/// let estimate = Estimate::beside("documents", 3_000_000).and("directions", 500_000);
/// assert_eq!(estimate.total(), PROGRAM + 3_500_000);
/// // Where the system says that reading has left more behind, half of that comes on top.
/// assert_eq!(estimate.expected(Some(PROGRAM + 5_000_000), None), PROGRAM + 4_500_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    held: (&'static str, u64),
    work: Vec<(&'static str, u64)>,
}

impl Estimate {
    /// For work beside data that are held already, in so many bytes.
    pub fn beside(what: &'static str, bytes: u64) -> Self {
        Self { held: (what, bytes), work: Vec::new() }
    }

    /// Adds bytes of the work that are held together with all others here.
    #[must_use]
    pub fn and(mut self, what: &'static str, bytes: u64) -> Self {
        if bytes > 0 {
            self.work.push((what, bytes));
        }
        self
    }

    /// Adds the largest of several stages, which are never held at the same time.
    #[must_use]
    pub fn and_largest(self, stages: &[(&'static str, u64)]) -> Self {
        match stages.iter().max_by_key(|stage| stage.1) {
            Some(&(what, bytes)) => self.and(what, bytes),
            None => self,
        }
    }

    /// What is held, by name, the data first; without the program.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        std::iter::once(self.held).chain(self.work.iter().copied()).filter(|part| part.1 > 0)
    }

    /// Bytes that the work adds to what is held.
    pub fn work(&self) -> u64 {
        self.work.iter().fold(0, |sum, part| sum.saturating_add(part.1))
    }

    /// Bytes at the peak, by sizes alone: program, data and work.
    pub fn total(&self) -> u64 {
        PROGRAM.saturating_add(self.held.1).saturating_add(self.work())
    }

    /// Bytes at the peak of this process, where the system tells what it holds now and what it held at most. What it holds now beyond
    /// program and data is memory that reading gave back and the allocator kept: small arrays of the work go there, large ones do
    /// not. Half of it is taken to stay useless: fits at large sizes left between a fifth and all of it so.
    pub fn expected(&self, now: Option<u64>, peak: Option<u64>) -> u64 {
        let left = now.unwrap_or(0).saturating_sub(PROGRAM.saturating_add(self.held.1));
        self.total().saturating_add(left / 2).max(peak.unwrap_or(0))
    }
}

/// A size to give to `--memory`, a little above so many bytes.
///
/// # Example
/// ```
/// assert_eq!(tenfold::memory::size_to_give(123_456_789), "130MB");
/// ```
pub fn size_to_give(bytes: u64) -> String {
    let unit = if bytes < 1_000_000_000 { 10_000_000 } else { 100_000_000 };
    format!("{}MB", bytes.div_ceil(unit).saturating_mul(unit) / 1_000_000)
}

/// The same for numbers that may take half of what the program leaves, because the other half is for the work with them.
pub fn size_for_half(bytes: u64) -> String {
    size_to_give(bytes.saturating_mul(2).saturating_add(PROGRAM))
}

/// What this process holds now, where the system tells it.
pub fn resident() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// The largest resident memory of this process so far, where the system tells it.
pub fn peak() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// What this process may still take: what the machine has free, or what is left of the limit that a container sets. `None` where
/// the system does not tell.
pub fn available() -> Option<u64> {
    let machine = kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    Some(left_by_groups(&groups, Path::new("/sys/fs/cgroup")).map_or(machine, |left| left.min(machine)))
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kb| kb << 10)
}

/// The least that a control group of this process, or one above it, leaves of its limit.
fn left_by_groups(groups: &str, root: &Path) -> Option<u64> {
    let number = |path: PathBuf| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let mut least: Option<u64> = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
        let (folder, limit, usage) = match controllers {
            "" => (root.to_owned(), "memory.max", "memory.current"),
            one if one.split(',').any(|name| name == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => continue,
        };
        // Inside a container the path may be that of the machine outside: then the root is the container's own group.
        let own = Path::new(group.trim_start_matches('/'));
        for above in own.ancestors() {
            let place = folder.join(above);
            if let (Some(limit), Some(usage)) = (number(place.join(limit)), number(place.join(usage))) {
                least = Some(least.unwrap_or(u64::MAX).min(limit.saturating_sub(usage)));
            }
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_largest_stage_counts_where_they_follow_each_other() {
        let estimate =
            Estimate::beside("graph", 10).and_largest(&[("directions", 7), ("polish", 9)]).and("nothing", 0);
        assert_eq!(estimate.parts().collect::<Vec<_>>(), [("graph", 10), ("polish", 9)]);
        assert_eq!((estimate.work(), estimate.total()), (9, PROGRAM + 19));
        assert_eq!(Estimate::beside("a", 1).and("b", u64::MAX).total(), u64::MAX);
        // What the system tells counts where it is more, and what was held once stays the peak.
        assert_eq!(estimate.expected(None, None), PROGRAM + 19);
        assert_eq!(estimate.expected(Some(PROGRAM + 110), Some(5)), PROGRAM + 69);
        assert_eq!(estimate.expected(Some(5), Some(2 * PROGRAM)), 2 * PROGRAM);
    }

    #[test]
    fn lines_of_the_system_are_understood() {
        assert_eq!(kilobytes("Name:\tx\nVmHWM:\t   12 kB\n", "VmHWM:"), Some(12 << 10));
        assert_eq!(kilobytes("VmHWM: many kB\n", "VmHWM:"), None);
        if cfg!(target_os = "linux") {
            let before = peak().unwrap();
            let held = vec![1u8; 64 << 20];
            assert!(peak().unwrap() >= before.max(64 << 20) && held[5] == 1);
            assert!(available().unwrap() > 0);
        }
    }

    #[test]
    fn the_narrowest_group_counts() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let left = |groups: &str| left_by_groups(groups, root.path());
        assert_eq!(left("0::/a/b\n"), None);
        // The second version: `max` is no limit, that of the group above is one.
        write("a/b/memory.max", "max\n");
        write("a/b/memory.current", "100\n");
        write("a/memory.max", "1000\n");
        write("a/memory.current", "300\n");
        assert_eq!(left("0::/a/b\n"), Some(700));
        // The first version, beside other controllers.
        write("memory/c/memory.limit_in_bytes", "500\n");
        write("memory/c/memory.usage_in_bytes", "450\n");
        assert_eq!(left("3:cpu,cpuacct:/\n4:memory:/c\n0::/a/b\n"), Some(50));
        assert_eq!(left("nonsense\n"), None);
    }
}
