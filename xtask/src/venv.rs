//! Python environments under `target/`, made once and remade only when their requirements change.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::workspace::{Workspace, succeeds};

/// The last line of advice when Python is missing and cannot be installed from here.
const HOW: &str = "install Python 3.11 or newer with its venv module (Debian: apt-get install python3-venv)";

/// One environment: its folder under `target/` and the file that says what belongs in it.
pub struct Venv {
    folder: PathBuf,
    requirements: PathBuf,
}

impl Venv {
    /// What the tests use: it reads the files tenfold writes.
    pub fn for_tests(workspace: &Workspace) -> Self {
        Self::new(workspace, "venv", "requirements.txt")
    }

    /// What the benches compare with.
    pub fn for_benches(workspace: &Workspace) -> Self {
        Self::new(workspace, "venv-bench", "requirements-bench.txt")
    }

    fn new(workspace: &Workspace, folder: &str, requirements: &str) -> Self {
        Venv {
            folder: workspace.target.join(folder),
            requirements: workspace.root.join("xtask").join(requirements),
        }
    }

    /// The interpreter inside.
    pub fn python(&self) -> PathBuf {
        let inside = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
        self.folder.join(inside)
    }

    /// Make the environment if it is missing or stale; what it answers on failure is why, and the remedy.
    pub fn ensure(&self) -> Result<&'static str, String> {
        if self.is_current() {
            return Ok("already there");
        }
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)
                .map_err(|error| format!("cannot remove the stale {}: {error}", self.folder.display()))?;
        }
        if !self.create() {
            install_system_python()?;
            if !self.create() {
                return Err(format!("python3 -m venv failed; {HOW}"));
            }
        }
        let installed = Command::new(self.python())
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"])
            .arg(&self.requirements)
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !installed {
            return Err(format!(
                "pip could not install {}; it needs a Python package index it can reach",
                self.requirements.display()
            ));
        }
        // Written last: an interrupted install leaves no stamp and is begun again.
        let stamp = self.expected_stamp().ok_or("the requirements file cannot be read")?;
        fs::write(self.stamp_file(), stamp).map_err(|error| format!("cannot write the stamp: {error}"))?;
        Ok("installed")
    }

    /// Whether the environment holds what the requirements file asks for now.
    pub fn is_current(&self) -> bool {
        let stamp = fs::read_to_string(self.stamp_file()).ok();
        stamp.is_some() && stamp == self.expected_stamp() && succeeds(Command::new(self.python()).arg("-V"))
    }

    fn stamp_file(&self) -> PathBuf {
        self.folder.join("requirements.stamp")
    }

    /// The requirements themselves: comparing the text needs no hash. A venv cannot be moved, so its place
    /// is part of the stamp.
    fn expected_stamp(&self) -> Option<String> {
        let requirements = fs::read_to_string(&self.requirements).ok()?;
        Some(format!("# {}\n{requirements}", self.folder.display()))
    }

    fn create(&self) -> bool {
        succeeds(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&self.folder))
    }
}

/// Python and its venv module from the system's packages, where that is ours to do: as root, on Debian.
fn install_system_python() -> Result<(), String> {
    let root = Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == "0");
    if !root || !Path::new("/etc/debian_version").exists() {
        return Err(format!("python3 with venv is missing; {HOW}"));
    }
    println!("    installing python3-venv by apt-get");
    let apt = |arguments: &[&str]| {
        succeeds(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    if apt(&["update"]) && apt(&["install", "--yes", "--no-install-recommends", "python3-venv"]) {
        Ok(())
    } else {
        Err(format!("apt-get could not install python3-venv; {HOW}"))
    }
}
