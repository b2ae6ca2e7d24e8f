//! The same models elsewhere: the golden recipes are made again at other levels of x86-64 (by qemu's models of processors), by
//! programs that were compiled with other levels of optimisation, and on other numbers of threads; bytes are compared, and where they
//! differ, by how much.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Found, Row};
use crate::workspace::{Workspace, succeeds};

#[path = "../../../crates/tenfold/tests/golden/recipes.rs"]
mod recipes;

/// One way to run the command.
struct Way {
    name: &'static str,
    /// `opt-level` of tenfold's own crates; those of others keep 3.
    level: &'static str,
    /// qemu's model of a processor; none for the machine itself.
    processor: Option<&'static str>,
    threads: &'static str,
    /// Whether the same bytes are promised; else numbers that differ by rounding only.
    same: bool,
}

const NATIVE: Way = Way { name: "this machine", level: "2", processor: None, threads: "2", same: true };

/// Ways beside [`NATIVE`]. Levels 1 and 2 of x86-64 have no fused multiply-add, which levels 3 and 4 round once where they round twice.
const WAYS: &[Way] = &[
    Way { name: "1 thread", threads: "1", ..NATIVE },
    Way { name: "5 threads", threads: "5", ..NATIVE },
    Way { name: "opt-level 0", level: "0", ..NATIVE },
    Way { name: "opt-level 3", level: "3", ..NATIVE },
    Way { name: "x86-64-v3 (Haswell)", processor: Some("Haswell"), threads: "1", ..NATIVE },
    Way { name: "x86-64-v2 (Nehalem)", processor: Some("Nehalem"), threads: "1", same: false, ..NATIVE },
    Way { name: "x86-64-v1 (qemu64)", processor: Some("qemu64"), threads: "1", same: false, ..NATIVE },
];

/// What rounding may come to after a fit has gone through it; beyond it another answer was found.
const ROUNDING: f64 = 1e-6;

pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<Found, String> {
    // Two more builds take longer than all the rest, so that they can be left out.
    let compilers = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => true,
        ["--one-build"] => false,
        _ => return Err("reproducible takes only --one-build".into()),
    };
    let levels: &[&str] = if compilers { &["0", "3", NATIVE.level] } else { &[NATIVE.level] };
    if !succeeds(Command::new("qemu-x86_64").arg("--version")) {
        return Err("qemu-x86_64 is missing (Debian: apt-get install qemu-user)".into());
    }
    let scratch = workspace.target.join("reproducible");
    let golden = workspace.root.join("crates/tenfold/tests/golden");
    let recipes = recipes::recipes(&golden);
    let mut programs = BTreeMap::new();
    for level in levels {
        programs.insert(*level, program(workspace, level, &scratch)?);
    }
    let make = |way: &Way, recipe: &recipes::Recipe| -> Result<Vec<u8>, String> {
        let place = scratch.join("place");
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).map_err(|error| error.to_string())?;
        for name in recipe.of("take") {
            fs::copy(golden.join(name), place.join(name)).map_err(|error| format!("{name}: {error}"))?;
        }
        for line in recipe.of("make") {
            // Data are drawn by the machine itself: what is compared is the fit.
            let way = if line.starts_with("generate") { &NATIVE } else { way };
            follow(&programs[way.level], way, line, &place)?;
        }
        fs::read(place.join("model.tenfold")).map_err(|error| format!("{}: {error}", recipe.name))
    };
    let mut page = String::from(PAGE);
    page += "| | ";
    page += &recipes.iter().map(|recipe| recipe.name.clone()).collect::<Vec<_>>().join(" | ");
    page += &format!(" |\n| --- |{}\n", " --- |".repeat(recipes.len()));
    let baseline: Vec<Vec<u8>> =
        recipes.iter().map(|recipe| make(&NATIVE, recipe)).collect::<Result<_, String>>()?;
    let mut rows = Vec::new();
    for way in WAYS.iter().filter(|way| levels.contains(&way.level)) {
        let (mut cells, mut same, mut worst, mut moving) = (Vec::new(), 0, 0.0f64, Vec::new());
        for (recipe, known) in recipes.iter().zip(&baseline) {
            let model = make(way, recipe)?;
            let apart = difference(known, &model).map_err(|why| format!("{}: {why}", recipe.name))?;
            same += usize::from(apart.is_none());
            let (number, told) = apart.unwrap_or((0.0, "same bytes".into()));
            match number > 0.0 && !settled(known)? {
                true => moving.push(format!("; {}, which had not converged, by {number:.1e}", recipe.name)),
                false => worst = worst.max(number),
            }
            println!("{:<22} {:<12} {told}", way.name, recipe.name);
            cells.push(told);
        }
        page += &format!("| {} | {} |\n", way.name, cells.join(" | "));
        rows.push(Row {
            tried: format!("{} models on {}", recipes.len(), way.name),
            promised: if way.same {
                "the same bytes".into()
            } else {
                format!("the same numbers up to {ROUNDING:.0e}, of fits that say they converged")
            },
            measured: format!(
                "{same} of {} have the same bytes, the others differ by at most {worst:.1e}{}",
                recipes.len(),
                moving.concat()
            ),
            held: if way.same { same == recipes.len() } else { worst <= ROUNDING },
        });
    }
    let path = workspace.root.join("docs/reproducible.md");
    fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))?;
    let _ = fs::remove_dir_all(&scratch);
    Ok(Found {
        command: format!("cargo xtask trust reproducible{}", if compilers { "" } else { " --one-build" }),
        rows,
    })
}

const PAGE: &str = "\
# The same model elsewhere

Made by `cargo xtask trust reproducible`. The models of `crates/tenfold/tests/golden/recipes.txt` were made on one machine with two threads
and tenfold's own crates at `opt-level` 2, and again in other ways; dependencies are at `opt-level` 3 throughout, and levels of x86-64 are
qemu's models of processors. A cell says whether the model files are the same bytes, and otherwise by how much their arrays differ: the
largest difference in shares of the array's largest entry.

Loops are compiled for levels 1 and 3 of x86-64 and chosen when the program starts. Level 3 multiplies and adds in one instruction that
rounds once, which levels 1 and 2 have not: there the last digits differ, and a fit carries them on. One that converges comes to the same
place; one that was still moving when its iterations were over, and says so, may have got elsewhere.

";

/// The command compiled with this level, beside the others.
fn program(workspace: &Workspace, level: &str, scratch: &Path) -> Result<PathBuf, String> {
    fs::create_dir_all(scratch).map_err(|error| error.to_string())?;
    let setting = format!("profile.dev.opt-level={level}");
    let made = workspace.tenfold(&["--config", &setting])?;
    let own = scratch.join(format!("tenfold-{level}"));
    fs::copy(&made, &own).map_err(|error| format!("{}: {error}", made.display()))?;
    Ok(own)
}

fn follow(program: &Path, way: &Way, line: &str, place: &Path) -> Result<(), String> {
    let mut command = match way.processor {
        Some(processor) => {
            let mut command = Command::new("qemu-x86_64");
            command.args(["-cpu", processor]).arg(program);
            command
        }
        None => Command::new(program),
    };
    command.args(line.split_whitespace()).args(["--threads", way.threads]).current_dir(place);
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{line}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{} on {}: {}", line, way.name, String::from_utf8_lossy(&output.stderr)))
}

/// None for the same bytes; else by how much the arrays differ, and in which most.
fn difference(known: &[u8], found: &[u8]) -> Result<Option<(f64, String)>, String> {
    if known == found {
        return Ok(None);
    }
    let (known, found) = (arrays(known)?, arrays(found)?);
    if known.keys().ne(found.keys()) {
        return Ok(Some((f64::INFINITY, "other arrays".into())));
    }
    let mut most = (0.0f64, "facts only".to_owned());
    for (name, a) in &known {
        let b = &found[name];
        if a.len() != b.len() {
            return Ok(Some((f64::INFINITY, format!("`{name}` of another shape"))));
        }
        let largest = a.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
        let apart = a.iter().zip(b).fold(0.0f64, |m, (x, y)| m.max((x - y).abs())) / largest;
        if apart > most.0 {
            most = (apart, format!("{apart:.0e} in `{name}`"));
        }
    }
    Ok(Some(most))
}

/// Whether the fit says that it converged; one that says nothing of it has no iterations.
fn settled(model: &[u8]) -> Result<bool, String> {
    let (_, header) = header(model)?;
    let facts = header["__metadata__"].as_object().into_iter().flat_map(|facts| facts.values());
    let facts: Vec<Value> =
        facts.filter_map(|text| serde_json::from_str(text.as_str().unwrap_or_default()).ok()).collect();
    let said = ["/diagnostics/converged", "/converged"];
    let said = facts.iter().flat_map(|fact| said.map(|place| fact.pointer(place))).flatten();
    Ok(said.into_iter().all(|told| told == true))
}

fn bad() -> String {
    "not a model file".into()
}

/// Where the arrays of a safetensors file begin, and what stands before them.
fn header(bytes: &[u8]) -> Result<(usize, Value), String> {
    let length = u64::from_le_bytes(bytes.get(..8).ok_or_else(bad)?.try_into().map_err(|_| bad())?) as usize;
    let header = serde_json::from_slice(bytes.get(8..8 + length).ok_or_else(bad)?).map_err(|_| bad())?;
    Ok((8 + length, header))
}

/// The arrays of a safetensors file as numbers.
fn arrays(bytes: &[u8]) -> Result<BTreeMap<String, Vec<f64>>, String> {
    let (begin, header) = header(bytes)?;
    let mut all = BTreeMap::new();
    for (name, fact) in header.as_object().ok_or_else(bad)?.iter().filter(|(name, _)| *name != "__metadata__")
    {
        let at = |i: usize| fact["data_offsets"][i].as_u64().map(|x| begin + x as usize).ok_or_else(bad);
        let data = bytes.get(at(0)?..at(1)?).ok_or_else(bad)?;
        let numbers = match fact["dtype"].as_str() {
            Some("F64") => {
                data.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes"))).collect()
            }
            Some("F32") => data
                .chunks_exact(4)
                .map(|b| f64::from(f32::from_le_bytes(b.try_into().expect("four bytes"))))
                .collect(),
            _ => data.iter().map(|b| f64::from(*b)).collect(),
        };
        all.insert(name.clone(), numbers);
    }
    Ok(all)
}
