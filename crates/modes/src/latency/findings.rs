//! What can be found of a latency test, and of the probes beside a load, beside their figures.

use pathscope_core::findings;

findings! {
    /// What has to hold.
    pub(super) enum LatencyCheck {
        EchoesVerified: "echoes_verified", "every ping came as it was sent, every echo was its ping, and the flow lived to its end",
            "the path or a machine damages data: repeat over another path, with offloads switched off, and see docs/method/verification.md";
    }
}

findings! {
    /// What to mind of the figures.
    pub(super) enum LatencyCaveat {
        SendLag: "send_lag", "pings left after their time: this is the machine's own, and what keeps it from sending keeps it from receiving as well",
            "give it less to do; --wait spin; a processor of its own (--cpu); a longer --period";
        PingsUnsent: "pings_unsent", "pings that were due never left; they would have been the latest, so the figures flatter",
            "a longer --period or a lower --rate; --closed where the schedule does not matter";
        LateEchoes: "late_echoes", "echoes came when their pings were not remembered any more: they have no latency and may count as lost",
            "a lower rate, so that fewer pings are under way at once";
        Drift: "drift", "the median moved over the run by more than a twentieth: the figures stand for neither end of it",
            "look at the rows over time, and measure the two states apart";
        SocketDrops: "socket_drops", "the sockets of the ends themselves dropped datagrams: this loss is not the path's",
            "a larger --receive-buffer, fewer datagrams a second, or a faster machine at the end that is named";
        KernelStampsMissing: "kernel_stamps_missing", "not every ping has the stamps of both kernels: the parts of the round trip stand for some pings alone, or for none",
            "see why a system would not stamp, where the text says so; a lower rate";
        WallClockStepped: "wall_clock_stepped", "a wall clock, by which kernels stamp, was stepped: parts of round trips about that time may be wrong",
            "let the clock be slewed, not stepped (chrony, ntpd), and repeat";
        PutOff: "put_off", "the median is as long as Linux puts off an acknowledgement, and the server is of another kind: it may send echoes in pieces, the second of which waits for that",
            "tell both ends the same length of a ping; --size 4 for a lagscope server that was told none";
        VirtualMachine: "virtual_machine", "a hypervisor may take the processor away unseen: the highest percentiles hold its pauses too",
            "trust the median; for the highest percentiles use real hardware";
    }
}
