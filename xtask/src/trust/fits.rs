//! Small fits of every application, for the pieces that disturb them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use super::command;
use crate::workspace::Workspace;

/// A command that writes files over others.
pub struct Fit {
    pub name: &'static str,
    /// Split at spaces.
    pub arguments: &'static str,
    pub outputs: &'static [&'static str],
}

/// Data with known truth, drawn by the command itself.
const DATA: &[&str] = &[
    "generate topics --documents 6000 --words 400 -k 8 --length 60 -o d --no-mixtures",
    "generate communities --nodes 6000 --degree 24 -k 8 -o g.txt",
    "generate ica --samples 60000 --columns 12 -o X.npy",
    "generate motifs --windows 1000 -L 3 -o S.npy",
    "generate trees --variables 40 --samples 4000 -o T.csv",
    "generate cells --genes 2 --side 256 --cells 250 -o t",
    "generate cells --types 5 --genes 60 --cells 20000 --no-images -o many",
];

/// Fits that write models and tables. Each takes about half a second, and has stages and rounds.
pub const FITS: &[Fit] = &[
    Fit {
        name: "topics",
        arguments: "topics fit d/docword.txt -k 8 --polish faithful --epochs 30 -o topics.tenfold --mixtures topics.csv",
        outputs: &["topics.tenfold", "topics.csv"],
    },
    Fit {
        name: "communities",
        arguments: "communities fit g.txt -k 8 -o communities.tenfold",
        outputs: &["communities.tenfold"],
    },
    Fit {
        name: "ica",
        arguments: "ica fit X.npy -k 12 --solver power --tolerance 0 --max-iterations 60 --restarts 2 -o ica.tenfold --sources ica.csv",
        outputs: &["ica.tenfold", "ica.csv"],
    },
    Fit {
        name: "motifs",
        arguments: "motifs fit S.npy -L 3 --length 12 -o motifs.tenfold --events motifs.csv",
        outputs: &["motifs.tenfold", "motifs.csv"],
    },
    Fit {
        name: "trees",
        arguments: "trees fit T.csv --bootstrap 20 -o trees.tenfold",
        outputs: &["trees.tenfold"],
    },
    Fit {
        name: "cells detect",
        arguments: "cells detect t/gene0001.png t/gene0002.png --radius 5 -o cells.parquet",
        outputs: &["cells.parquet"],
    },
    Fit {
        name: "cells",
        arguments: "cells fit many/truth.csv -k auto --max-types 7 -o types.tenfold",
        outputs: &["types.tenfold"],
    },
    Fit {
        name: "sentences",
        arguments: "sentences fit s.txt --templates 30 -o sentences.tenfold",
        outputs: &["sentences.tenfold"],
    },
];

/// What is made of the models, once these are there.
pub const RESULTS: &[Fit] = &[
    Fit { name: "report", arguments: "report topics.tenfold -o page.html", outputs: &["page.html"] },
    Fit {
        name: "topics infer",
        arguments: "topics infer topics.tenfold d/docword.txt -o mixtures.csv",
        outputs: &["mixtures.csv"],
    },
    Fit {
        name: "ica infer",
        arguments: "ica infer ica.tenfold X.npy -o sources.csv",
        outputs: &["sources.csv"],
    },
    Fit {
        name: "communities export",
        arguments: "communities export communities.tenfold --members members.csv",
        outputs: &["members.csv"],
    },
];

/// The built command, in a folder with data for all fits.
pub struct Field {
    pub folder: PathBuf,
    program: PathBuf,
}

impl Field {
    /// Builds the command and draws the data, in a folder of the build folder that is made anew.
    pub fn prepare(workspace: &Workspace, name: &str) -> Result<Self, String> {
        let program = command(workspace)?;
        let folder = workspace.target.join("trust").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let field = Self { folder, program };
        for data in DATA {
            field.must(data)?;
        }
        fs::write(field.path("s.txt"), sentences()).map_err(|error| error.to_string())?;
        Ok(field)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments.split_whitespace()).current_dir(&self.folder);
        command
    }

    pub fn start(&self, arguments: &str) -> Result<Child, String> {
        let mut command = self.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map_err(|error| error.to_string())
    }

    pub fn run(&self, arguments: &str) -> Result<Output, String> {
        self.command(arguments).output().map_err(|error| error.to_string())
    }

    /// A run that must succeed.
    pub fn must(&self, arguments: &str) -> Result<Output, String> {
        let output = self.run(arguments)?;
        match output.status.success() {
            true => Ok(output),
            false => Err(format!("tenfold {arguments}: {}", String::from_utf8_lossy(&output.stderr))),
        }
    }

    /// Temporary files and folders that lie in the folder.
    pub fn leftovers(&self) -> Vec<String> {
        leftovers(&self.folder)
    }
}

pub fn leftovers(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(".tenfold-")).collect()
}

/// Numbers that look random: splitmix64, so that a campaign can be given again but for the clock.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between 0 and 1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Lines about ten subjects, whose first words are the commonest.
fn sentences() -> String {
    let mut chance = Chance(7);
    let mut text = String::new();
    for _ in 0..3000 {
        let subject = chance.next() % 10;
        for _ in 0..14 {
            let common = 1 + chance.next() % 40;
            text += &format!("w{} ", subject * 40 + chance.next() % common);
        }
        text += "\n";
    }
    text
}
