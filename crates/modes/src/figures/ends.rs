//! What each end says of itself and its machine, figure by figure, whatever was measured.

use crate::figures::{FigureDefinition, Unit};

const CONNECT: &str = "method/latency.md#connect-time";
const COUNTERS: &str = "method/verdict.md#counters-beside-a-run";
const STILL: &str = "method/verdict.md#programs-that-stand-still";
const WAITING: &str = "method/latency.md#waiting";
const SOURCES: &str = "method/verdict.md#where-figures-come-from";

/// All of them.
pub const FIGURES: &[FigureDefinition] = &[
    FigureDefinition::lower("connect", "connect", Unit::Distribution)
        .means("how long TCP connections took to be established", CONNECT),
    FigureDefinition::neutral("elapsed", "elapsed_ns", Unit::Duration)
        .means("from the start of the test to the end of its last flow", SOURCES),
    FigureDefinition::lower("stood_still", "stood_still.total_ns", Unit::Duration)
        .means("how long its program stood still", STILL),
    FigureDefinition::lower("stood_still.times", "stood_still.times", Unit::Count)
        .means("how often", STILL),
    FigureDefinition::lower("stood_still.longest", "stood_still.longest_ns", Unit::Duration)
        .means("the longest of these times", STILL),
    FigureDefinition::lower("cpu.share", "host_cpu_share", Unit::Share)
        .means("of all processors of its machine, the share of time that was not idle", COUNTERS),
    FigureDefinition::lower("cpu.busy", "host.cpus[].busy", Unit::Share)
        .means("the same of one processor", COUNTERS),
    FigureDefinition::lower("cpu.soft_interrupt", "host.cpus[].soft_interrupt", Unit::Share)
        .means("of its time, what soft interrupts took", COUNTERS),
    FigureDefinition::lower("cpu.interrupt", "host.cpus[].interrupt", Unit::Share)
        .means("of its time, what interrupts took", COUNTERS),
    FigureDefinition::lower("cpu.user", "host.cpus[].user", Unit::Share)
        .means("of its time, what programs took", COUNTERS),
    FigureDefinition::lower("cpu.system", "host.cpus[].system", Unit::Share)
        .means("of its time, what the kernel took for programs", COUNTERS),
    FigureDefinition::lower("cpu.stolen", "host.cpus[].stolen", Unit::Share)
        .means("of its time, what the hypervisor gave to others", COUNTERS),
    FigureDefinition::neutral("counter", "host.protocols.*", Unit::Count)
        .means("a counter of the kernel's protocols that moved, by its name", COUNTERS),
    FigureDefinition::neutral(
        "interface.received",
        "host.interfaces[].received_bytes",
        Unit::Bytes,
    )
    .means("what an interface received, whoever it was for", COUNTERS),
    FigureDefinition::neutral("interface.sent", "host.interfaces[].sent_bytes", Unit::Bytes)
        .means("what it sent", COUNTERS),
    FigureDefinition::lower(
        "interface.receive_drops",
        "host.interfaces[].receive_drops",
        Unit::Count,
    )
    .means("packets that it received and dropped", COUNTERS),
    FigureDefinition::lower("interface.send_drops", "host.interfaces[].send_drops", Unit::Count)
        .means("packets that were dropped before they were sent", COUNTERS),
    FigureDefinition::lower("memory.peak", "host.process_peak_bytes", Unit::Bytes)
        .means("the most memory that its program ever had in use", COUNTERS),
    FigureDefinition::lower("worker.user", "workers[].user_ns", Unit::Duration)
        .means("processor time of a worker in user mode", SOURCES),
    FigureDefinition::lower("worker.system", "workers[].system_ns", Unit::Duration)
        .means("processor time of a worker in the kernel", SOURCES),
    FigureDefinition::lower("worker.waited", "workers[].waited_ns", Unit::Duration)
        .means("how long a worker was ready to run and had no processor", SOURCES),
    FigureDefinition::neutral("worker.elapsed", "workers[].elapsed_ns", Unit::Duration)
        .means("from its first event to its last", SOURCES),
    FigureDefinition::lower("worker.operations", "workers[].operations", Unit::Count)
        .means("its system calls that moved data", SOURCES),
    FigureDefinition::lower("worker.preempted", "workers[].preempted", Unit::Count)
        .means("times that it was taken off its processor against its will", SOURCES),
    FigureDefinition::lower("worker.off_cpu", "workers[].off_cpu.total_ns", Unit::Duration)
        .means("how long a worker that spins was seen not to run", WAITING),
    FigureDefinition::lower("worker.off_cpu.times", "workers[].off_cpu.times", Unit::Count)
        .means("how often", WAITING),
    FigureDefinition::lower(
        "worker.off_cpu.longest",
        "workers[].off_cpu.longest_ns",
        Unit::Duration,
    )
    .means("the longest of these times", WAITING),
];
