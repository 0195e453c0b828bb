//! The `lpf` command.

fn main() -> std::process::ExitCode {
    lpf::cli::main()
}
