//! The words of `pathscope lab`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use pathscope_lab::running::Shaper;

/// `pathscope lab`.
#[derive(Args, Debug)]
pub struct LabArgs {
    /// The folder in which labs are written down
    #[arg(long, value_name = "FOLDER", hide = true)]
    pub registry: Option<PathBuf>,
    /// What to do
    #[command(subcommand)]
    pub command: LabCommand,
}

/// What can be done with labs.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Build the network of a topology file; it stands until 'lab down'
    Up(UpArgs),
    /// Run a program on a node: lab exec h1 -- ping -c 3 h4
    ///
    /// This process becomes the program: input, output, signals and the exit code are the program's own.
    /// It finds the other nodes by their names.
    Exec(ExecArgs),
    /// Start a shell on a node; its end leaves the lab up
    Shell(ShellArgs),
    /// Show the lab that is up, with what its links did to every packet; or what a file describes
    Show(ShowArgs),
    /// Change a link while it carries traffic: lab set r1:r2 loss=1% at 5s cut at 10s restore
    ///
    /// The command returns at once; what is to happen later is kept by the lab. What is not named stays as it
    /// is. Where one word cannot be, nothing is changed.
    Set(SetArgs),
    /// Write the packets at one end of a link to a file, until Ctrl-C
    Capture(CaptureArgs),
    /// Do the experiments of a topology file on its network: lab run labs/portfolio.toml -o portfolio.json
    ///
    /// The network is put up, each step's programs are started on its nodes, and what they find stands beside what the links
    /// promise. The network is taken down whatever happens. Exit code 5: something did not come out as it should.
    Run(Box<RunArgs>),
    /// Hold every figure to known truth, over the range of its settings: lab verify -o calibration.json
    ///
    /// A network of known truth is put up, each mode is measured on it in few settings in which every two meet, and what it says
    /// is held to what was asked for, to the links, to the ledger of what they did to every frame, to the kernel's ping and to
    /// single samples. Give the machine nothing else to do. Exit code 5: a figure is further off than is allowed.
    Verify(Box<VerifyArgs>),
    /// Take a lab down, with every program on its nodes; also where its keeper was killed
    Down(DownArgs),
    /// Hold a lab: for 'lab up'
    #[command(hide = true)]
    Keep,
}

/// Which lab, where several are up.
#[derive(Args, Debug)]
pub struct WhichArgs {
    /// Which lab, by its name [default: the only one that is up]
    #[arg(long, value_name = "NAME")]
    pub lab: Option<String>,
}

/// `pathscope lab up`.
#[derive(Args, Debug)]
pub struct UpArgs {
    /// The topology, as TOML
    pub file: PathBuf,
    /// What to call the lab [default: the topology's name, with '-' for blanks]
    #[arg(long, value_name = "NAME")]
    pub lab: Option<String>,
    /// What losses and other chances are drawn from: the same number gives the same draws [default: the
    /// topology's, else at random]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Who applies the links' conditions
    #[arg(long, value_name = "WHO", default_value = "auto")]
    pub shaper: ShaperChoice,
}

/// Who applies the links' conditions.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum ShaperChoice {
    /// The relay, since nothing else tells what became of which packet
    Auto,
    /// Pathscope's own relay, which counts what it does to every packet
    Relay,
    /// The kernel's queueing disciplines, by tc(8): for high rates; no ledger, no 'lab set', and no jitter,
    /// corruption or reordering
    Tc,
}

impl From<ShaperChoice> for Shaper {
    fn from(choice: ShaperChoice) -> Self {
        match choice {
            ShaperChoice::Auto | ShaperChoice::Relay => Self::Relay,
            ShaperChoice::Tc => Self::Tc,
        }
    }
}

/// `pathscope lab exec`.
#[derive(Args, Debug)]
pub struct ExecArgs {
    /// Which lab
    #[command(flatten)]
    pub which: WhichArgs,
    /// The node, as the topology names it
    pub node: String,
    /// The program and its arguments; behind --, so that its options are its own
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// `pathscope lab shell`.
#[derive(Args, Debug)]
pub struct ShellArgs {
    /// Which lab
    #[command(flatten)]
    pub which: WhichArgs,
    /// The node, as the topology names it
    pub node: String,
}

/// `pathscope lab show`.
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// Which lab
    #[command(flatten)]
    pub which: WhichArgs,
    #[arg(help = "A topology, which need not be up [default: the lab that is up]")]
    pub file: Option<PathBuf>,
    /// Also the addresses and routes of a lab that is up; those of a file are always shown
    #[arg(short, long)]
    pub verbose: bool,
    /// Also draw the network, to this file, as SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// As JSON; of a lab that is up with all that was counted, by link and by flow
    #[arg(long)]
    pub json: bool,
}

/// `pathscope lab set`.
#[derive(Args, Debug)]
pub struct SetArgs {
    /// Which lab
    #[command(flatten)]
    pub which: WhichArgs,
    /// Only the direction that begins at this node [default: both]
    #[arg(long, value_name = "NODE")]
    pub from: Option<String>,
    /// The link, as the topology names it
    pub link: String,
    /// KEY=VALUE, several at once, of rate=40Mbit, delay=10ms, jitter=2ms, queue=67p or 100KB, loss=1% or
    /// burst:1%,30%, dup=1%, corrupt=1%, reorder=1%x3; or 'cut', or 'restore'. 'at TIME' before words puts
    /// them off until so long from now
    #[arg(required = true, value_name = "WORD")]
    pub words: Vec<String>,
}

/// `pathscope lab capture`.
#[derive(Args, Debug)]
pub struct CaptureArgs {
    /// Which lab
    #[command(flatten)]
    pub which: WhichArgs,
    /// The link, as the topology names it: a:b captures at a, b:a at b
    pub link: String,
    /// The file, in pcap's format with stamps in nanoseconds; what it held is replaced
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: PathBuf,
    /// End after so many packets
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// End after this time, such as 10s
    #[arg(long, value_name = "TIME")]
    pub duration: Option<pathscope_core::quantity::Period>,
    /// Bytes of each packet that are kept
    #[arg(
        long, value_name = "BYTES", default_value_t = 65_535,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub snap: u32,
}

/// `pathscope lab run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The topology, with its experiments
    pub file: PathBuf,
    /// Only these experiments, by their names
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub only: Vec<String>,
    /// How long what is run in each step lasts [default: as the file says]
    #[arg(short = 't', long, value_name = "TIME")]
    pub duration: Option<pathscope_core::quantity::Period>,
    /// What losses and other chances are drawn from [default: the topology's, else at random]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Also write the result to this file, as JSON; '-' is standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How the result is shown
    #[command(flatten)]
    pub form: crate::form::FormArgs,
    /// When escape sequences for color are written
    #[command(flatten)]
    pub color: crate::verbosity::ColorArgs,
    /// Show only the result
    #[arg(short, long)]
    pub quiet: bool,
}

/// `pathscope lab verify`.
#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// Half a second for each cell, and not five
    #[arg(long, conflicts_with = "long")]
    pub quick: bool,
    /// Ten seconds for each cell, and settings that need them
    #[arg(long)]
    pub long: bool,
    /// Only cells of this name, or whose names begin so: 'datagrams 7' or 'latency'
    #[arg(long, value_name = "NAME", value_delimiter = ';')]
    pub only: Vec<String>,
    /// What losses and other chances are drawn from [default: at random]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Also write the result to this file, as JSON; '-' is standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How the result is shown
    #[command(flatten)]
    pub form: crate::form::FormArgs,
    /// When escape sequences for color are written
    #[command(flatten)]
    pub color: crate::verbosity::ColorArgs,
    /// Show only the result
    #[arg(short, long)]
    pub quiet: bool,
}

/// `pathscope lab down`.
#[derive(Args, Debug)]
pub struct DownArgs {
    #[arg(help = "The lab's name, or its topology file [default: the only one that is up]")]
    pub lab: Option<String>,
    /// The lab's name
    #[arg(long = "lab", value_name = "NAME", conflicts_with = "lab")]
    pub name: Option<String>,
}
