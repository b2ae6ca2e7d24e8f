//! A graphics driver for the tests: the machine's own, or Mesa's software Vulkan where it can be installed.

use std::path::Path;
use std::process::Command;

use crate::workspace::succeeds;

/// Where drivers say that they are there.
const DRIVERS: [&str; 3] = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d"];

/// Debian's package of Mesa's drivers, of which one needs no card.
const PACKAGE: &str = "mesa-vulkan-drivers";

/// Sees to a driver; what it answers is how, or why there is none.
pub fn ensure() -> Result<&'static str, String> {
    if !cfg!(target_os = "linux") {
        return Ok("the system's own");
    }
    if there() {
        return Ok("already there");
    }
    let apt = |words: &[&str]| {
        succeeds(Command::new("apt-get").args(words).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    // Without root, or without apt, both calls fail at once.
    let install = ["install", "--yes", "--quiet", "--no-install-recommends", PACKAGE];
    if apt(&["update", "--quiet"]) && apt(&install) && there() {
        return Ok("installed");
    }
    Err(format!("there is no Vulkan driver; install {PACKAGE} to test the card's kernels"))
}

fn there() -> bool {
    let holds = |folder: &&str| Path::new(folder).read_dir().is_ok_and(|mut files| files.next().is_some());
    DRIVERS.iter().any(holds)
}
