//! What a run of several servers says of all of them, figure by figure. What one server has, too, has its mode's ids there.

use crate::figure::group;

const SERVERS: &str = "method/servers.md";

group! {
    "servers", "Several servers together", told 254, at "servers", for [];
    "fairness" as "fairness between servers": Number Higher at "{way}.fairness", SERVERS, "Jain's index over the servers' rates, 1 where all are equal";
    "start_spread" as "starts apart": Duration Lower at "start_spread_ns", SERVERS, "from the first start of a server's flows at the client to the last";
    "shared" as "ran together": Duration Neither at "shared_ns", SERVERS, "the time in which all ran: from the last start to the first end, by the client's clock";
    "whole" as "from first to last": Duration Neither at "whole_ns", SERVERS, "from the first start to the last end";
}
