//! What can be found of a multipath test beside its figures.

use pathscope_core::findings;

findings! {
    /// What has to hold.
    pub(super) enum MultipathCheck {
        Verified: "verified", "every datagram that came at either end was as it was sent",
            "the path or a machine damages data: repeat over another path, with offloads switched off, and see docs/method/verification.md";
        PathsWorked: "paths_worked", "each path that was named has carried answers; where none was named, any",
            "read why in the text: the link, its address, its route, or what filters UDP there";
    }
}

findings! {
    /// What to mind of the figures.
    pub(super) enum MultipathCaveat {
        PathNeverWorked: "path_never_worked", "a path carried nothing, so what is said of the others is not of it",
            "read why in the text: the link, its address, its route, or what filters UDP there";
        OnePath: "one_path", "one path alone worked, so there is nothing to compare it with",
            "bring a second interface up; --secondary 0 measures one on purpose";
        SendLag: "send_lag", "datagrams left after their time: this machine did not keep the schedule",
            "give it less to do, or a lower --rate";
        DatagramsUnsent: "datagrams_unsent", "datagrams that were due never left: this machine cannot keep the rate on so many paths",
            "a lower --rate or fewer paths";
        SocketDrops: "socket_drops", "the sockets of the ends themselves dropped datagrams: this loss is not the path's",
            "a lower --rate, or a faster machine at the end that is named";
        LateEchoes: "late_echoes", "answers came when their numbers had been given up: they count as lost",
            "none is needed where so late is as good as lost";
        ServerResumed: "server_resumed", "the server was gone and back: what it counts is of the time after, and losses are not told apart by direction",
            "repeat where the direction of losses matters";
        BoundByAddress: "bound_by_address", "a socket could not be bound to its interface, and is kept there by its address and the routes",
            "run with CAP_NET_RAW, or on Linux 5.7 or later";
    }
}
