//! `tenfold completions SHELL`.

use crate::common::print;
use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Print completions for your shell
#[derive(Args)]
#[command(after_help = "\
Examples:
  tenfold completions bash > ~/.local/share/bash-completion/completions/tenfold
  tenfold completions zsh > ~/.zfunc/_tenfold        (with ~/.zfunc in fpath)
  tenfold completions fish > ~/.config/fish/completions/tenfold.fish")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    /// Into memory first: the generator panics when its output is closed.
    pub fn run<C: CommandFactory>(self) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut C::command(), "tenfold", &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}
