//! What tenfold is built from, checked without a network: licences, crates in two versions and sources against `deny.toml`, the
//! pins of the Python side, and that the pages bring no package of anybody else.
//!
//! `deny.toml` is that of cargo-deny, so there is one list. Where a cargo-deny that understands this workspace is installed, it
//! also looks through the advisories it has; without one, or without its database, the step says so.

mod licence;
mod rules;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Stdio};

use crate::venv::Venv;
use crate::workspace::{Workspace, succeeds};
use rules::Rules;

/// Endings of files by which somebody else's scripts would come in.
const PACKAGES: &[&str] = &["package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml"];

/// A crate as cargo resolved it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Crate {
    name: String,
    version: String,
    licence: Option<String>,
    /// None: of this workspace.
    source: Option<String>,
}

/// Every check; the answer tells what was looked at.
pub fn check(workspace: &Workspace) -> Result<String, String> {
    let path = workspace.root.join("deny.toml");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let rules = Rules::read(&text)?;
    // The fuzzers are a workspace of their own, with a lock file of their own.
    let mut found = crates(workspace, "Cargo.toml")?;
    found.extend(crates(workspace, "fuzz/Cargo.toml")?);
    found.sort();
    found.dedup();
    let mut wrong = breaches(&rules, &found);
    wrong.extend(pins(workspace)?);
    let files = tracked(workspace);
    wrong.extend(foreign_scripts(&files));
    let python = python(workspace);
    wrong.extend(python.as_ref().err().cloned());
    let advisories = advisories(workspace);
    wrong.extend(advisories.as_ref().err().cloned());
    if wrong.is_empty() {
        Ok(format!(
            "{} crates; {}; {}; no npm package",
            found.len(),
            advisories.unwrap_or_default(),
            python.unwrap_or_default()
        ))
    } else {
        Err(wrong.join("\n    "))
    }
}

/// All crates of a workspace, of all features and all systems.
fn crates(workspace: &Workspace, manifest: &str) -> Result<Vec<Crate>, String> {
    let arguments = ["metadata", "--format-version", "1", "--all-features", "--locked", "--manifest-path"];
    let output = workspace
        .cargo(&arguments)
        .arg(manifest)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let packages = metadata["packages"].as_array().ok_or("cargo metadata names no packages")?;
    let read = |package: &Value| {
        Some(Crate {
            name: text(&package["name"])?,
            version: text(&package["version"])?,
            licence: text(&package["license"]),
            source: text(&package["source"]),
        })
    };
    packages.iter().map(read).collect::<Option<_>>().ok_or_else(|| "a package without a name".into())
}

/// What the crates do that the rules do not allow, and rules that nothing needs.
fn breaches(rules: &Rules, crates: &[Crate]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut skips: BTreeSet<String> = rules.skip.iter().cloned().collect();
    let mut licences: BTreeSet<&str> = rules.licences.iter().map(String::as_str).collect();
    for one in crates {
        let Crate { name, version, .. } = one;
        match one.licence.as_deref().map(|text| licence::allowed(text, &rules.licences)) {
            Some(Ok(true)) => {}
            Some(Ok(false)) => {
                let told = one.licence.as_deref().unwrap_or_default();
                wrong.push(format!("{name} {version}: the licence `{told}` is not among those allowed"));
            }
            Some(Err(why)) => wrong.push(format!("{name} {version}: {why}")),
            None => wrong.push(format!("{name} {version} names no licence")),
        }
        licences.retain(|known| !one.licence.as_deref().is_some_and(|text| text.contains(known)));
        let registry = |source: &String| rules.registries.iter().any(|r| source == &format!("registry+{r}"));
        if one.source.as_ref().is_some_and(|source| !registry(source)) {
            wrong.push(format!("{name} {version} comes from {}", one.source.as_deref().unwrap_or_default()));
        }
        if !skips.remove(&format!("{name}@{version}")) {
            versions.entry(name).or_default().insert(version);
        }
    }
    for (name, found) in versions.iter().filter(|(_, found)| found.len() > 1) {
        wrong.push(format!("{name} is here in versions {found:?}; deny.toml gives no reason"));
    }
    wrong.extend(skips.iter().map(|skip| format!("deny.toml skips {skip}, which nobody needs any more")));
    wrong.extend(licences.iter().map(|known| format!("deny.toml allows {known}, which nobody has")));
    wrong
}

/// The Python that tests and benches use is the same everywhere only if each line names one version.
fn pins(workspace: &Workspace) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    for file in ["requirements.txt", "requirements-bench.txt"] {
        let path = workspace.root.join("xtask").join(file);
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let loose = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let loose = loose.filter(|line| !pinned(line));
        wrong.extend(loose.map(|line| format!("xtask/{file}: `{line}` names no single version")));
    }
    Ok(wrong)
}

fn pinned(line: &str) -> bool {
    line.split_once("==").is_some_and(|(name, version)| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.[]".contains(c);
        !name.is_empty() && name.chars().all(plain) && !version.is_empty() && version.chars().all(plain)
    })
}

/// Whether what is installed fits together; whether any of it is known to be dangerous only a service can say.
fn python(workspace: &Workspace) -> Result<String, String> {
    let venv = Venv::for_tests(workspace);
    if !venv.is_current() {
        return Ok("Python pinned".into());
    }
    let output = Command::new(venv.python()).args(["-m", "pip", "check"]).output();
    match output {
        Ok(output) if output.status.success() => Ok("Python pinned and consistent".into()),
        Ok(output) => Err(format!("pip check: {}", String::from_utf8_lossy(&output.stdout).trim())),
        Err(error) => Err(format!("pip could not be started: {error}")),
    }
}

/// Files under version control; empty in a tree that is none.
fn tracked(workspace: &Workspace) -> Vec<String> {
    let output = Command::new("git").arg("ls-files").current_dir(&workspace.root).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The scripts of the pages are written by hand, so there is nothing of npm to audit; this holds it so.
fn foreign_scripts(files: &[String]) -> Vec<String> {
    let named = |file: &&String| {
        file.split('/').any(|part| part == "node_modules")
            || PACKAGES.iter().any(|name| file.rsplit('/').next() == Some(name))
    };
    files.iter().filter(named).map(|file| format!("{file}: pages are to need no package")).collect()
}

/// Advisories by cargo-deny from a database that it already holds; what is missing is told, not failed.
fn advisories(workspace: &Workspace) -> Result<String, String> {
    if !succeeds(&mut workspace.cargo(&["deny", "--version"])) {
        return Ok("advisories not asked (no cargo-deny)".into());
    }
    // A cargo-deny from before the workspace's edition, or one without a database, fails before it has an opinion.
    let output = workspace
        .cargo(&["deny", "--offline", "--format", "json", "check", "--disable-fetch", "advisories"])
        .output()
        .map_err(|error| format!("cargo deny could not be started: {error}"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Ok("no advisory".into());
    }
    let found: Vec<&str> = told.lines().filter(|line| line.contains("\"advisory\"")).collect();
    if found.is_empty() {
        return Ok("advisories not asked (cargo-deny has no database it can read)".into());
    }
    Err(format!("cargo deny check advisories:\n    {}", found.join("\n    ")))
}

#[cfg(test)]
mod unit {
    use super::*;

    fn one(name: &str, version: &str, licence: Option<&str>, source: Option<&str>) -> Crate {
        Crate {
            name: name.into(),
            version: version.into(),
            licence: licence.map(str::to_owned),
            source: source.map(str::to_owned),
        }
    }

    fn rules() -> Rules {
        Rules {
            licences: vec!["MIT".into()],
            skip: vec!["a@1.0.0".into()],
            registries: vec!["https://index".into()],
        }
    }

    #[test]
    fn what_is_allowed_passes() {
        let crates = [
            one("a", "1.0.0", Some("MIT"), Some("registry+https://index")),
            one("a", "2.0.0", Some("GPL-3.0 OR MIT"), Some("registry+https://index")),
            one("own", "0.1.0", Some("MIT"), None),
        ];
        assert_eq!(breaches(&rules(), &crates), Vec::<String>::new());
    }

    #[test]
    fn each_breach_is_named() {
        let crates = [
            one("a", "2.0.0", Some("GPL-3.0"), Some("git+https://elsewhere")),
            one("b", "1.0.0", None, None),
            one("b", "1.1.0", Some("MIT"), Some("registry+https://index.evil")),
        ];
        let wrong = breaches(&rules(), &crates).join("\n");
        for expected in [
            "a 2.0.0: the licence `GPL-3.0`",
            "a 2.0.0 comes from git+https://elsewhere",
            "b 1.0.0 names no licence",
            "b 1.1.0 comes from registry+https://index.evil",
            "b is here in versions",
            "skips a@1.0.0",
        ] {
            assert!(wrong.contains(expected), "{expected} is not in\n{wrong}");
        }
        let unused = Rules { licences: vec!["MIT".into(), "ISC".into()], ..rules() };
        assert!(breaches(&unused, &crates).join("\n").contains("allows ISC, which nobody has"));
    }

    #[test]
    fn pins_are_single_versions() {
        assert!(pinned("numpy==2.4.6") && pinned("scikit-learn==1.9.1") && pinned("a[b]==1.0"));
        for loose in ["numpy", "numpy>=2", "numpy==2.*", "numpy==1,!=2", "git+https://x==1"] {
            assert!(!pinned(loose), "{loose}");
        }
    }

    #[test]
    fn packages_of_npm_are_seen() {
        let files = |name: &str| vec!["src/a.js".to_owned(), name.to_owned()];
        assert!(foreign_scripts(&files("src/b.js")).is_empty());
        assert_eq!(foreign_scripts(&files("web/package.json")).len(), 1);
        assert_eq!(foreign_scripts(&files("web/node_modules/x.js")).len(), 1);
    }
}
