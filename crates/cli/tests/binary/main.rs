//! The binary as a user has it: on loopback, and in labs.

mod ahead;
mod analysis;
mod analyzer;
mod asserted;
#[cfg(target_os = "linux")]
mod beside;
mod between_callers;
#[cfg(target_os = "linux")]
mod buffers;
mod caller;
mod closing;
mod common;
mod compare;
mod consent;
mod control;
#[cfg(unix)]
mod ctstraffic;
mod cut_off;
mod daemon;
mod datagrams;
mod documents;
mod find_rate;
#[cfg(target_os = "linux")]
mod forbidden;
mod foreign;
mod foreign_loads;
mod found_there;
mod guide;
#[cfg(target_os = "linux")]
mod idle;
mod interrupted;
mod iperf3;
mod iperf3_held;
mod iperf3_members;
mod iperf3_told;
mod journal;
mod junit;
#[cfg(test)]
mod kept;
mod kept_pings;
#[cfg(target_os = "linux")]
mod kinds;
#[cfg(test)]
mod lab;
mod lagscope;
mod latency;
mod latency_ends;
mod latency_stamps;
mod lost;
mod measure;
mod media;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(unix)]
mod mla;
mod multipath;
#[cfg(unix)]
mod ntttcp;
mod ntttcp_several;
mod options;
#[cfg(target_os = "linux")]
mod pinned;
mod plot;
#[cfg(target_os = "linux")]
mod quota;
mod relay;
mod repeat;
mod report;
mod report_charts;
mod report_connections;
mod set_up;
mod several_servers;
mod shape;
mod show;
#[cfg(unix)]
mod simpleperf;
#[cfg(target_os = "linux")]
mod stopped;
mod streams_of_others;
mod stuck;
mod tables;
mod targets;
mod totals;
mod trouble;
#[cfg(target_os = "linux")]
mod uring;
mod weaknesses;
