//! What a shell and a manual need to know of the commands.

use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use super::output::Output;
use super::{Cli, Failure};

/// Print completions for a shell.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionArgs {
    /// The shell: for bash, `lpf completions bash > ~/.local/share/bash-completion/completions/lpf`
    shell: Shell,
}

/// Print the manual page of `lpf` or of one of its commands.
#[derive(Debug, clap::Args)]
pub(super) struct ManualArgs {
    /// A command: `lpf man audit | man -l -`
    command: Option<String>,
}

pub(super) fn completions(args: &CompletionArgs) -> Result<ExitCode, Failure> {
    let mut bytes = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lpf", &mut bytes);
    Output::create(None)?.write(&bytes)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn manual(args: &ManualArgs) -> Result<ExitCode, Failure> {
    let mut all = Cli::command().disable_help_subcommand(true);
    all.build();
    let page = match &args.command {
        None => all,
        Some(name) => {
            let found = all.get_subcommands().find(|own| own.get_name() == name);
            let unknown = || Failure::Usage(format!("man {name}: there is no such command"));
            let found: Command = found.ok_or_else(unknown)?.clone();
            found.display_name(format!("lpf-{name}"))
        }
    };
    let mut bytes = Vec::new();
    let rendered = clap_mangen::Man::new(page).render(&mut bytes);
    rendered.map_err(|error| Failure::write("the manual page", error))?;
    Output::create(None)?.write(&bytes)?;
    Ok(ExitCode::SUCCESS)
}
