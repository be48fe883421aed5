//! What a worker leaves when its flows are over: what they came to, as their mode says it, and what the system knows of them.

use std::net::SocketAddr;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::journal::Stream;
use pathscope_core::record::{FlowError, FlowFacts, StampFacts, TcpFacts, WorkerUsage};
use pathscope_core::tcp_look::TcpLook;
use pathscope_engines::{Finished, Lanes};
use pathscope_flow::{FlowDatagrams, Group, Totals, Transport};
use pathscope_modes::flows::{Flow, Left, System, error_of};
use pathscope_modes::load::{ConnectionEnd, FLOWS_TOLD};
use pathscope_modes::registry::{InDocuments, WorkerReport};
use pathscope_os::batches::longest_payload;
use pathscope_os::clock;
use pathscope_os::errno::errno_name;
use pathscope_os::sockets::Socket;
use pathscope_os::tcp_facts::{tcp_facts, tcp_look};

/// What went through a flow until an interval passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowProgress {
    pub flow: FlowId,
    pub totals: Totals,
    /// Of one of datagrams: what became of those that came.
    pub datagrams: Option<FlowDatagrams>,
    /// How its connection stood then, where this end sends on it.
    pub tcp: Option<TcpLook>,
}

/// What the kernel said of a connection as it ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastSeen {
    pub facts: TcpFacts,
    /// How it stood, where this end sends on it and somebody hears what went through it.
    pub look: Option<TcpLook>,
}

impl LastSeen {
    /// Asks the system.
    pub fn of(flow: FlowId, socket: &Socket, sends: bool) -> Option<Self> {
        let look = if sends { tcp_look(socket) } else { None };
        let look = look.map(|look| TcpLook { flow, ..look });
        Some(Self { facts: tcp_facts(socket)?, look })
    }
}

/// What a worker came to.
#[derive(Debug)]
pub(crate) struct WorkerOutcome {
    /// When its flows were over.
    pub at: Tick,
    /// Processor time and waiting of its threads.
    pub usage: Vec<WorkerUsage>,
    /// What its flows came to.
    pub report: WorkerReport,
    /// Those of its flows that are connections, and what the kernel said of each that is told.
    pub connections: Vec<(ConnectionEnd, Option<Box<TcpFacts>>)>,
    /// The sockets of all its flows, which may have something on its way, and are to be closed when it is this end's turn. Those of lanes
    /// that roam are closed.
    pub sockets: Vec<(FlowId, Socket)>,
    /// Those of its flows that are streams, and when they ended where that was found out later.
    pub streams: Vec<(Option<Tick>, Stream)>,
    /// Datagrams that their sockets dropped; absent where the system does not say, and over TCP.
    pub socket_drops: Option<u64>,
    /// How far the kernel's stamps can be trusted, where they were asked for.
    pub stamps: Option<StampFacts>,
    /// What ended the first of them that did not come to its end.
    pub error: Option<FlowError>,
}

impl WorkerOutcome {
    /// What is left of flows that are over, at this end.
    pub fn of<M: InDocuments, F: Flow<M>>(
        plan: &M,
        (role, group, tells_rows): (Role, Group, bool),
        finished: Finished<F>,
    ) -> Self {
        let at = clock::now();
        let Finished { flows, lane_drops, shared, usage, stamps, .. } = finished;
        let flows = flows.into_iter().map(|(flow, sockets)| (flow, FlowSockets(sockets)));
        let flows: Vec<(F, FlowSockets)> = flows.collect();
        let left = Left { flows: &flows, shared: &shared, lane_drops: &lane_drops };
        let report = M::worker_report(F::worker_report(plan, &left));
        let drops = flows.iter().flat_map(|(_, sockets)| sockets.0.iter());
        let drops = drops.map(|socket| socket.receive_drops().map(u64::from));
        let socket_drops = if group.transport == Transport::Datagram { drops.sum() } else { None };
        let error = flows.iter().find_map(|(flow, _)| error_of(flow)).map(named);
        let stream = |(flow, sockets): &(F, FlowSockets)| {
            let (at, stream) = flow.stream_end(plan, role)?;
            let [local, remote] = sockets.addresses();
            let error = stream.facts.error.map(named);
            let facts = FlowFacts { local, remote, error, ..stream.facts };
            Some((at, Stream { facts, ..stream }))
        };
        let streams = flows.iter().filter_map(stream).collect();
        let mut failures = 0;
        let mut connection = |(flow, sockets): &(F, FlowSockets)| {
            let end = flow.connection_end(plan)?;
            let error = end.error.map(named);
            let socket = sockets.0.first().filter(|_| !end.is_reset);
            failures += u32::from(error.is_some());
            let is_told = end.flow.0 < FLOWS_TOLD || error.is_some() && failures <= FLOWS_TOLD;
            // Of those that came to their end the row has it already.
            let has_row = tells_rows && !flow.phase().is_over();
            let tcp = socket.filter(|_| is_told || has_row).and_then(tcp_facts);
            Some((ConnectionEnd { error, ..end }, tcp.map(Box::new)))
        };
        let is_kept = !group.roams;
        let count =
            if is_kept { flows.iter().map(|(_, sockets)| sockets.0.len()).sum() } else { 0 };
        let mut kept = Vec::with_capacity(count);
        // In the memory of the flows: of very many there is none for both.
        let connections = flows.into_iter().filter_map(|flow| {
            let end = connection(&flow);
            let (flow, FlowSockets(all)) = flow;
            if is_kept {
                let flow = flow.id();
                kept.extend(all.into_iter().map(|socket| (flow, socket)));
            }
            end
        });
        let mut connections: Vec<_> = connections.collect();
        connections.shrink_to_fit();
        let sockets = kept;
        Self { at, usage, report, connections, sockets, streams, socket_drops, stamps, error }
    }
}

/// The sockets of a flow that is over.
#[derive(Debug)]
struct FlowSockets(Lanes);

impl System for FlowSockets {
    fn addresses(&self) -> [Option<String>; 2] {
        texts(self.0.first().map(addresses).unwrap_or_default())
    }

    fn longest_datagram_bytes(&self) -> Option<u64> {
        self.0.first().and_then(longest_payload).map(u64::from)
    }

    fn named(&self, error: FlowError) -> FlowError {
        named(error)
    }
}

/// A socket's own address and the other end's.
pub(crate) fn addresses(socket: &Socket) -> [Option<SocketAddr>; 2] {
    [socket.local_addr(), socket.peer_addr()].map(Result::ok)
}

/// The same as they are told.
pub(crate) fn texts(addresses: [Option<SocketAddr>; 2]) -> [Option<String>; 2] {
    addresses.map(|it| it.map(|it| it.to_string()))
}

/// An error with the system's name in place of its number.
pub(crate) fn named(mut error: FlowError) -> FlowError {
    if let Some(number) = error.errno.as_ref().and_then(|errno| errno.parse().ok()) {
        let name = errno_name(number);
        error.text = error.text.replace(&format!("error {number}"), name);
        error.errno = Some(name.to_owned());
    }
    error
}
