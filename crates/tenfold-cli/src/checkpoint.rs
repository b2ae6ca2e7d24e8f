//! `--checkpoint`: long fits that go on where they were cut off.

use crate::common::Session;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use tenfold::checkpoint::{Checkpoint, Told};
use tenfold::engine::progress::Progress;

/// The option.
#[derive(Args)]
pub struct CheckpointArgs {
    /// Keep what is finished in this folder: after a crash the same command goes on from there, to the same bytes
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,
}

/// The folder of a run, if it has one.
pub struct Kept(Option<(PathBuf, Checkpoint)>);

impl CheckpointArgs {
    /// Opens the folder, before any work.
    pub fn open(&self, session: &Session) -> Result<Kept> {
        let Some(folder) = &self.checkpoint else { return Ok(Kept(None)) };
        let (noted, shown) = (session.notes(), folder.display().to_string());
        let tell = move |told: Told| match told {
            Told::Taken(stage) if noted => eprint_line(&format!("taken over from {shown}: {stage}")),
            Told::Taken(_) => {}
            Told::Trouble(message) => eprint_line(&format!("warning: {message}")),
        };
        Ok(Kept(Some((folder.clone(), Checkpoint::open(folder, tell)?))))
    }
}

/// When standard error is closed there is no one left to tell.
fn eprint_line(message: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{message}");
}

impl Kept {
    /// Runs `work` as [`Watch::during`](crate::watch::Watch::during) does, and keeps its stages.
    pub fn during<T>(&self, session: &Session, work: impl FnOnce(&dyn Progress) -> T) -> T {
        let done = session.watch.during(|watch| match &self.0 {
            Some((_, checkpoint)) => work(&checkpoint.listening(watch)),
            None => work(watch),
        });
        if let (Some((folder, _)), true) = (&self.0, session.watch.stopped()) {
            session.note(&format!(
                "what was finished is kept in {}: the same command goes on from there",
                folder.display()
            ));
        }
        done
    }

    /// The results are in their place: the checkpoint has done its work and goes.
    pub fn finish(self, session: &Session) {
        let Some((folder, checkpoint)) = self.0 else { return };
        checkpoint.remove();
        session.note(&format!("the checkpoint in {} is no longer needed and was removed", folder.display()));
        let about =
            json!({ "folder": folder.to_string_lossy(), "taken_over": checkpoint.taken(), "removed": true });
        session.add("checkpoint", about);
    }
}
