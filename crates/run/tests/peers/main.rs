//! Callers of a server's ports and kinds of peers, over real sockets; one program, since each that is built has all machines in it.

mod callers;
mod common;
mod ctstraffic_streams;
mod iperf3;
mod iperf3_by_hand;
mod iperf3_company;
mod lagscope;
mod loads;
mod mla;
mod ntttcp;
mod ntttcp_datagrams;
mod ntttcp_served;
mod ntttcp_several;
mod probes;
