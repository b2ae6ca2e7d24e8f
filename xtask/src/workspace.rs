//! Where the tree and its build artifacts are, and how to start cargo in it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// The tree this program was built from.
pub struct Workspace {
    /// The folder of the root `Cargo.toml`.
    pub root: PathBuf,
    /// The build folder, wherever cargo was told to put it.
    pub target: PathBuf,
}

impl Workspace {
    /// Ask cargo, because environment and configuration may both move the build folder.
    pub fn find() -> Result<Self, String> {
        let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let output = Command::new(cargo_program())
            .args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"])
            .arg(&manifest)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("cannot start cargo: {error}"))?;
        if !output.status.success() {
            return Err("cargo metadata failed".into());
        }
        let metadata: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("cargo metadata is not JSON: {error}"))?;
        let path = |key: &str| {
            metadata[key].as_str().map(PathBuf::from).ok_or_else(|| format!("cargo metadata lacks {key}"))
        };
        Ok(Workspace { root: path("workspace_root")?, target: path("target_directory")? })
    }

    /// `cargo` with these arguments, at the root.
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo_program());
        command.args(arguments).current_dir(&self.root);
        build_once(&mut command);
        command
    }

    /// Builds the command `tenfold`, with the features of the tests so that nothing is compiled twice, and with these further arguments.
    pub fn tenfold(&self, further: &[&str]) -> Result<PathBuf, String> {
        let arguments = ["build", "--quiet", "--workspace", "--all-features", "--bin", "tenfold"];
        let built = self.cargo(&arguments).args(further).status();
        match built.map_err(|error| format!("cannot start cargo: {error}"))?.success() {
            true => Ok(self.target.join("debug").join(format!("tenfold{}", std::env::consts::EXE_SUFFIX))),
            false => Err("the command could not be built; see above".into()),
        }
    }
}

/// The cargo that runs this program, so that a toolchain chosen by hand is kept.
fn cargo_program() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())
}

/// Whether this is a run of continuous integration, as its usual variable says.
pub fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// In continuous integration nothing is built a second time, so what a second build would use costs time and gigabytes for nothing.
pub fn build_once(command: &mut Command) {
    if is_ci() {
        command.env("CARGO_INCREMENTAL", "0");
    }
}

/// Whether the command can be started and succeeds; what it prints is thrown away.
pub fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
