//! The binary as a user has it: on loopback, and in labs.

#[cfg(target_os = "linux")]
mod buffers;
mod closing;
mod common;
mod control;
mod cut_off;
mod daemon;
mod datagrams;
mod documents;
mod find_rate;
mod found_there;
mod guide;
mod interrupted;
mod journal;
mod kept;
#[cfg(test)]
mod lab;
mod latency;
mod latency_ends;
mod latency_stamps;
mod measure;
mod media;
mod multipath;
#[cfg(target_os = "linux")]
mod quota;
mod relay;
mod set_up;
mod shape;
mod show;
mod stuck;
mod targets;
mod trouble;
mod weaknesses;
