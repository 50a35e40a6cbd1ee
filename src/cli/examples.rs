//! The examples in `--help`, held to the flags that there are. Test code only.

use super::Cli;
use clap::{Command, CommandFactory, Parser};

/// The command and all below it, with their whole names.
fn commands(command: &Command) -> Vec<&Command> {
    std::iter::once(command).chain(command.get_subcommands().flat_map(commands)).collect()
}

/// The lines of a command's examples that are commands: without what a shell does (`curl … |`, `> FILE`), and without the
/// remark behind three blanks.
fn examples(command: &Command) -> Vec<String> {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let lines = lines.take_while(|line| line.starts_with("  "));
    lines
        .map(|line| {
            let line = line.trim_start().split("   ").next().unwrap_or_default();
            let line = line.split(" > ").next().unwrap_or_default();
            line.split(" | ").find(|part| part.starts_with("callpair")).unwrap_or(line).to_owned()
        })
        .collect()
}

#[test]
fn every_example_of_help_parses_and_is_of_its_own_command() {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    for command in commands(&command).into_iter().filter(|command| !command.is_hide_set()) {
        let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
        let examples = examples(command);
        assert!(!examples.is_empty(), "{name} --help shows no example");
        for example in examples {
            let words = shlex::split(&example).expect(&example);
            assert!(example.starts_with(name), "`{example}` is an example of {name}");
            if let Err(error) = Cli::try_parse_from(words) {
                panic!("{name}: `{example}`: {error}");
            }
        }
    }
}
