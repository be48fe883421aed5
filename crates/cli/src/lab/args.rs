//! The words of `pathscope lab`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

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
    Exec(ExecArgs),
    /// Start a shell on a node
    Shell(ShellArgs),
    /// Show what a topology file describes, or the lab that is up and what its links did to every packet
    Show(ShowArgs),
    /// Change a link while it carries traffic: lab set r1:r2 loss=1% at 5s cut at 10s restore
    Set(SetArgs),
    /// Write the packets of a link to a file
    Capture(CaptureArgs),
    /// Take a lab down, with every program on its nodes
    Down(DownArgs),
    /// Hold a lab: for 'lab up'
    #[command(hide = true)]
    Keep,
}

/// Which lab, where several are up.
#[derive(Args, Debug)]
pub struct WhichArgs {
    /// The lab's name, where several are up
    #[arg(long, value_name = "NAME")]
    pub lab: Option<String>,
}

/// `pathscope lab up`.
#[derive(Args, Debug)]
pub struct UpArgs {
    /// The topology
    pub file: PathBuf,
    /// What to call it [default: the topology's name]
    #[arg(long, value_name = "NAME")]
    pub lab: Option<String>,
    /// What the links' chances are drawn from [default: the topology's, or at random]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Who applies the links' conditions
    #[arg(long, value_name = "WHO", default_value = "auto")]
    pub shaper: Shaper,
}

/// Who applies the links' conditions.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Shaper {
    /// Whoever can on this machine: the relay
    Auto,
    /// Pathscope's own relay, which counts what it does to every packet
    Relay,
}

/// `pathscope lab exec`.
#[derive(Args, Debug)]
pub struct ExecArgs {
    /// Which lab
    #[command(flatten)]
    pub which: WhichArgs,
    /// The node
    pub node: String,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// `pathscope lab shell`.
#[derive(Args, Debug)]
pub struct ShellArgs {
    /// Which lab
    #[command(flatten)]
    pub which: WhichArgs,
    /// The node
    pub node: String,
}

/// `pathscope lab show`.
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// Which lab
    #[command(flatten)]
    pub which: WhichArgs,
    #[arg(help = "A topology [default: the lab that is up]")]
    pub file: Option<PathBuf>,
    /// Write the picture to this file, as SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// As JSON; of a lab that is up with all that was counted
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
    /// KEY=VALUE of rate, delay, jitter, queue, loss, dup, corrupt, reorder; or 'cut', or 'restore'; 'at TIME'
    /// before them puts them off until so long after now
    #[arg(required = true, value_name = "WORD")]
    pub words: Vec<String>,
}

/// `pathscope lab capture`.
#[derive(Args, Debug)]
pub struct CaptureArgs {
    /// Which lab
    #[command(flatten)]
    pub which: WhichArgs,
    /// The link, as the topology names it; captured where it ends at the node named first
    pub link: String,
    /// The file, in pcap's format
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: PathBuf,
    /// Stop after so many packets
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// Stop after this time
    #[arg(long, value_name = "TIME")]
    pub duration: Option<pathscope_core::quantity::Period>,
    /// Bytes of each packet that are kept
    #[arg(long, value_name = "BYTES", default_value_t = 65_535)]
    pub snap: u32,
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
