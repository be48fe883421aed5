//! What each end says of itself and its machine, figure by figure, whatever was measured.

use crate::figure::group;

const CONNECT: &str = "method/latency.md#connect-time";
const COUNTERS: &str = "method/verdict.md#counters-beside-a-run";
const FAILURES: &str = "method/goodput.md#failures";
const REQUEST: &str = "method/goodput.md#request-time";
const STILL: &str = "method/verdict.md#programs-that-stand-still";
const TCP: &str = "method/verdict.md#connections-over-time";
const WAITING: &str = "method/latency.md#waiting";
const SOURCES: &str = "method/verdict.md#where-figures-come-from";

group! {
    "end", "The ends themselves", told 255, at "{end}", for [];
    "connect" as "connect time": Distribution Lower at "connect", CONNECT, "how long TCP connections took to be established";
    "ramp.connections": Count Neither at "ramp.connections", CONNECT, "connections with which the test began";
    "ramp.took" as "all connected after": Duration Lower at "ramp.took_ns", CONNECT, "from before the SYN of the first of them until the last was established";
    "ramp.rate" as "connections made": PerSecond Higher at "ramp.connections_per_second", CONNECT, "how many a second that were, the first left out";
    "request" as "request time": Distribution Lower at "goodput.times.request", REQUEST, "how long connections took that follow one another and ended well, each from before its SYN to its end: connected, asked, answered";
    "connection" as "time of a connection": Duration Lower at "goodput.times.told[].took_ns", FAILURES, "how long one of the connections took that follow one another, from before its SYN to its end, beside when it began: of the client, and of those that were drawn by chance";
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
    "activity.length": Duration Neither at "host_activity.length_ns", COUNTERS, "how long the machine's counters were looked at for what follows, which intervals have, too";
    "activity.busy" as "processors": Share Lower at "host_activity.busy_ratio", COUNTERS, "of all processors, the share of time that was not idle";
    "activity.busiest" as "busiest processor": Share Lower at "host_activity.busiest_ratio", COUNTERS, "the same of the one that was idle least";
    "activity.soft_interrupt" as "soft interrupts": Share Lower at "host_activity.soft_interrupt_ratio", COUNTERS, "what soft interrupts took of the processor that had most of them";
    "activity.stolen" as "stolen": Share Lower at "host_activity.stolen_ratio", COUNTERS, "what the hypervisor took of the processor of which it took most";
    "activity.received": Bytes Neither at "host_activity.received_bytes", COUNTERS, "what all interfaces received, whoever it was for";
    "activity.sent": Bytes Neither at "host_activity.sent_bytes", COUNTERS, "what they sent";
    "activity.retransmits" as "segments sent again": Count Lower at "host_activity.retransmits", COUNTERS, "TCP segments that the machine sent again";
    "activity.timeouts" as "TCP timeouts": Count Lower at "host_activity.timeouts", COUNTERS, "times that its TCP had waited for an acknowledgement in vain";
    "activity.receive_buffer_errors" as "datagrams without room": Count Lower at "host_activity.receive_buffer_errors", COUNTERS, "datagrams for which a socket had no room";
    "activity.drops" as "dropped": Count Lower at "host_activity.drops", COUNTERS, "all that the machine threw away of what had arrived or was to be sent";
    "counter": Count Neither at "host.protocols.*", COUNTERS, "a counter of the kernel's protocols that moved, by its name";
    "interface.received": Bytes Neither at "host.interfaces[].received_bytes", COUNTERS, "what an interface received, whoever it was for";
    "interface.sent": Bytes Neither at "host.interfaces[].sent_bytes", COUNTERS, "what it sent";
    "interface.receive_drops": Count Lower at "host.interfaces[].receive_drops", COUNTERS, "packets that it received and dropped";
    "interface.send_drops": Count Lower at "host.interfaces[].send_drops", COUNTERS, "packets that were dropped before they were sent";
    "memory.peak": Bytes Lower at "host.process_peak_bytes", COUNTERS, "the most memory that its program ever had in use";
    "sender.window" as "congestion window": Bytes Neither at "senders[].congestion_window_bytes", TCP, "the congestion window of one of the first connections on which an end sent, as intervals have it, too";
    "sender.rtt" as "TCP's round trip": Duration Lower at "senders[].rtt_ns", TCP, "its smoothed round-trip time, as its kernel has it";
    "sender.rtt_variation" as "variation": Duration Lower at "senders[].rtt_variation_ns", TCP, "how far round trips are from it on average, smoothed (RTTVAR of RFC 6298)";
    "sender.timeout" as "retransmission timeout": Duration Lower at "senders[].retransmission_timeout_ns", TCP, "how long an acknowledgement is waited for before a segment is sent again (RTO)";
    "sender.reordering" as "reordering": Count Lower at "senders[].reordering_segments", TCP, "how many segments further on may be acknowledged before one counts as lost";
    "sender.reorderings" as "reorderings": Count Lower at "senders[].reorderings", TCP, "times that reordering was seen";
    "sender.retransmits" as "sent again": Count Lower at "senders[].retransmits", TCP, "segments that were sent again";
    "sender.duplicates" as "in vain": Count Lower at "senders[].duplicates", TCP, "of those, what the other end said it had already (D-SACK)";
    "sender.timeouts" as "timeouts": Count Lower at "senders[].timeouts", TCP, "times that an acknowledgement was waited for in vain";
    "worker.user": Duration Lower at "workers[].user_ns", SOURCES, "processor time of a worker in user mode";
    "worker.system": Duration Lower at "workers[].system_ns", SOURCES, "processor time of a worker in the kernel";
    "worker.per_gigabyte" as "CPU per GB": Duration Lower at "cpu_per_gigabyte_ns", SOURCES, "processor time of all workers for 10^9 bytes of payload that the end sent or received";
    "worker.waited": Duration Lower at "workers[].waited_ns", SOURCES, "how long a worker was ready to run and had no processor";
    "worker.elapsed": Duration Neither at "workers[].elapsed_ns", SOURCES, "from its start until its flows had left it";
    "worker.operations": Count Lower at "workers[].operations", SOURCES, "its system calls that moved data";
    "worker.preempted": Count Lower at "workers[].preempted", SOURCES, "times that it was taken off its processor against its will";
    "worker.off_cpu": Duration Lower at "workers[].off_cpu.total_ns", WAITING, "how long a worker that spins was seen not to run";
    "worker.off_cpu.times": Count Lower at "workers[].off_cpu.times", WAITING, "how often";
    "worker.off_cpu.longest": Duration Lower at "workers[].off_cpu.longest_ns", WAITING, "the longest of these times";
}
