//! How other tools are spoken, a folder for each: what their command lines mean in words of ours, and what somebody sees who is used
//! to one. Says nothing on a wire, which is the affair of `peers`; writes to no file and no terminal by itself.

#![forbid(unsafe_code)]

mod clock;
mod ctstraffic;
pub mod dialect;
mod iperf3;
mod lagscope;
mod mla;
mod ntttcp;
mod one_dash;
pub mod registry;
pub mod screen;
mod simpleperf;
pub mod spelling;
mod visualize_data;
