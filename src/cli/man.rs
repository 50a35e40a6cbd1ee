//! `callpair man`

use super::whole_file::write_whole;
use super::{Cli, Exit, output};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes the manual pages: callpair.1 and a page for each command
///
/// Each file appears whole or not at all, and takes the place of one of its name.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  callpair man | man -l -
  callpair man ~/.local/share/man/man1

Exit status:
  0  they were written
  2  the folder was unusable")]
pub(super) struct Args {
    /// The folder to write them to, which must be there; without it callpair.1 goes to standard output
    folder: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Exit {
    let mut command = Cli::command().disable_help_subcommand(true);
    // Gives each subcommand its whole name.
    command.build();
    match &args.folder {
        Some(folder) => write_all(folder, &command),
        None => {
            let mut out = output::for_programs();
            let written = write_page(&command, &mut out).and_then(|()| out.flush());
            output::after_writing(written, Exit::Holds)
        }
    }
}

fn write_all(folder: &Path, command: &Command) -> Exit {
    for command in pages(command) {
        let page = folder.join(file_name(command));
        if let Err(error) = write_whole(&page, |out| write_page(command, out)) {
            let why =
                format!("cannot be written: {error}; name a folder that is there and may be written to");
            output::complain(&page.to_string_lossy(), &why);
            return Exit::Unusable;
        }
    }
    Exit::Holds
}

/// The command and all below it that are shown.
fn pages(command: &Command) -> Vec<&Command> {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    std::iter::once(command).chain(shown.flat_map(pages)).collect()
}

fn file_name(command: &Command) -> String {
    format!("{}.1", command.get_display_name().unwrap_or_else(|| command.get_name()))
}

/// What clap knows, and what stands behind the flags in `--help` under headings that readers of manuals look for.
fn write_page(command: &Command, out: &mut impl Write) -> io::Result<()> {
    let page = Man::new(command.clone()).source(concat!("callpair ", env!("CARGO_PKG_VERSION")));
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    if command.has_subcommands() {
        page.render_subcommands_section(out)?;
    }
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    write_sections(&help).to_writer(out)
}

/// `Examples:` and the indented lines below it become a section, and so on.
fn write_sections(help: &str) -> Roff {
    let mut roff = Roff::new();
    for line in help.lines() {
        match line.strip_suffix(':').filter(|line| !line.starts_with(' ')) {
            Some(heading) => {
                roff.control("SH", [heading.to_uppercase().as_str()]);
                roff.control("nf", []);
            }
            None => {
                roff.text([roman(line)]);
            }
        }
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built() -> Command {
        let mut command = Cli::command().disable_help_subcommand(true);
        command.build();
        command
    }

    #[test]
    fn each_command_that_is_shown_has_a_page() {
        let command = built();
        let names: Vec<String> = pages(&command).into_iter().map(file_name).collect();
        for name in ["callpair.1", "callpair-verify.1", "callpair-case-encode.1", "callpair-man.1"] {
            assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
        }
        assert!(!names.iter().any(|name| name.contains("serve-fault")), "{names:?}");
    }

    #[test]
    fn every_page_has_its_examples_and_what_the_exit_status_says() {
        let command = built();
        for page in pages(&command) {
            let mut text = Vec::new();
            write_page(page, &mut text).expect("memory can be written to");
            let text = String::from_utf8(text).expect("UTF-8");
            let name = file_name(page);
            assert!(text.contains(".SH NAME\n"), "{name}");
            assert!(text.contains(".SH EXAMPLES\n.nf\n  callpair"), "{name}\n{text}");
            assert!(text.contains(".SH \"EXIT STATUS\"\n.nf\n"), "{name}\n{text}");
        }
    }
}
