//! What can be found of a run, whatever is measured.

use pathscope_core::findings;

findings! {
    /// What to mind of a run.
    pub enum RunCaveat {
        AddressUnanswered: "address_unanswered", "an address of the server did not answer, and no connection went there",
            "name the addresses that are to be used, or see to the one that is silent";
        BufferCut: "buffer_cut", "a kernel granted a smaller socket buffer than was asked for",
            "raise the limit that the text names, or run with CAP_NET_ADMIN";
        ControlConnectionRenewed: "control_connection_renewed", "the control connection broke, or messages on it were damaged, and it was made anew",
            "look for what cuts or damages TCP on the path; what damages these messages damages data, too";
        FileIncomplete: "file_incomplete", "a file that is written while a test runs lacks rows",
            "see the sentence for the reason: a full disk, a slow one, a reader that is gone";
        LaneLost: "lane_lost", "the server could not take a path's socket anew",
            "read why in the text: a limit of files or of memory, as a rule";
        PortsUsedUp: "ports_used_up", "the client had no port left for connections that it was to make",
            "close by a reset, after which nothing waits (--shutdown rude); more addresses of this end (--bind) or ports of the server's; a wider net.ipv4.ip_local_port_range; or fewer connections a second";
        ProbesElsewhere: "probes_elsewhere", "the latency probes beside a load went to a server of their own, since the load's has no place for them",
            "where the two are not at one host, read loaded latency as that of the way to the probes' server";
        SamplesDropped: "samples_dropped", "samples came faster than their file was written: some are not in it",
            "a faster disk, or fewer samples a second";
        SamplesUnwritten: "samples_unwritten", "the file of samples could not be written to its end",
            "see the sentence for the reason: a full disk, a reader that is gone";
        ServerUnnamed: "server_unnamed", "a server under one of several names refused the session that would have told whether it is another one; it was taken for an address of the first",
            "let it take one more session, or measure it in a run of its own";
        ThreadShared: "thread_shared", "a server with many tests ran light flows on a thread that has those of others, too",
            "ask again when the server has fewer clients, or by name for `--engine plain`, which has a thread to itself";
        UdpUnanswered: "udp_unanswered", "the server's UDP port did not answer, so latency was measured over TCP",
            "open the server's UDP port";
        WorkerFailed: "worker_failed", "a thread that runs flows could not go on: its flows have failed",
            "read why in the text: a limit of files, threads or memory, as a rule";
    }
}
