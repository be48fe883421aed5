//! What each end says of itself and its machine, figure by figure, whatever was measured.

use crate::figure::group;

const CONNECT: &str = "method/latency.md#connect-time";
const COUNTERS: &str = "method/verdict.md#counters-beside-a-run";
const STILL: &str = "method/verdict.md#programs-that-stand-still";
const WAITING: &str = "method/latency.md#waiting";
const SOURCES: &str = "method/verdict.md#where-figures-come-from";

group! {
    "end", "The ends themselves", told 255, at "{end}", for [];
    "connect" as "connect time": Distribution Lower at "connect", CONNECT, "how long TCP connections took to be established";
    "elapsed": Duration Neither at "elapsed_ns", SOURCES, "from the start of the test to the end of its last flow";
    "stood_still": Duration Lower at "stood_still.total_ns", STILL, "how long its program stood still";
    "stood_still.times": Count Lower at "stood_still.times", STILL, "how often";
    "stood_still.longest": Duration Lower at "stood_still.longest_ns", STILL, "the longest of these times";
    "cpu.share": Share Lower at "host_cpu_share", COUNTERS, "of all processors of its machine, the share of time that was not idle";
    "cpu.busy": Share Lower at "host.cpus[].busy", COUNTERS, "the same of one processor";
    "cpu.soft_interrupt": Share Lower at "host.cpus[].soft_interrupt", COUNTERS, "of its time, what soft interrupts took";
    "cpu.interrupt": Share Lower at "host.cpus[].interrupt", COUNTERS, "of its time, what interrupts took";
    "cpu.user": Share Lower at "host.cpus[].user", COUNTERS, "of its time, what programs took";
    "cpu.system": Share Lower at "host.cpus[].system", COUNTERS, "of its time, what the kernel took for programs";
    "cpu.stolen": Share Lower at "host.cpus[].stolen", COUNTERS, "of its time, what the hypervisor gave to others";
    "counter": Count Neither at "host.protocols.*", COUNTERS, "a counter of the kernel's protocols that moved, by its name";
    "interface.received": Bytes Neither at "host.interfaces[].received_bytes", COUNTERS, "what an interface received, whoever it was for";
    "interface.sent": Bytes Neither at "host.interfaces[].sent_bytes", COUNTERS, "what it sent";
    "interface.receive_drops": Count Lower at "host.interfaces[].receive_drops", COUNTERS, "packets that it received and dropped";
    "interface.send_drops": Count Lower at "host.interfaces[].send_drops", COUNTERS, "packets that were dropped before they were sent";
    "memory.peak": Bytes Lower at "host.process_peak_bytes", COUNTERS, "the most memory that its program ever had in use";
    "worker.user": Duration Lower at "workers[].user_ns", SOURCES, "processor time of a worker in user mode";
    "worker.system": Duration Lower at "workers[].system_ns", SOURCES, "processor time of a worker in the kernel";
    "worker.waited": Duration Lower at "workers[].waited_ns", SOURCES, "how long a worker was ready to run and had no processor";
    "worker.elapsed": Duration Neither at "workers[].elapsed_ns", SOURCES, "from its first event to its last";
    "worker.operations": Count Lower at "workers[].operations", SOURCES, "its system calls that moved data";
    "worker.preempted": Count Lower at "workers[].preempted", SOURCES, "times that it was taken off its processor against its will";
    "worker.off_cpu": Duration Lower at "workers[].off_cpu.total_ns", WAITING, "how long a worker that spins was seen not to run";
    "worker.off_cpu.times": Count Lower at "workers[].off_cpu.times", WAITING, "how often";
    "worker.off_cpu.longest": Duration Lower at "workers[].off_cpu.longest_ns", WAITING, "the longest of these times";
}
