//! Several datagrams at once: whatever the system refuses of it, each leaves once and arrives once.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_core::record::BatchUse;
use pathscope_engines::{Blocking, Kernel, SystemCalls, Trouble, room_bytes};
use pathscope_flow::{
    Batch, Batches, ClockNeed, Consumed, Event, Machine, Phase, RecvMeta, RecvWant, SendWant,
    Totals, Transport, Want,
};
use pathscope_os::Socket;
use pathscope_os::sockets::Settings;

use crate::harness::{everywhere, pair, start_on, terms};
use crate::toys::Bench;

/// So few that they wait in a socket of any size, and none is lost.
const COUNT: u64 = 150;
const SIZE: usize = 100;
/// The last one is shorter.
const LAST: usize = 37;

/// Sends or expects datagrams that hold their number.
#[derive(Debug)]
struct Numbers {
    sends: bool,
    /// Takes one of those that it is shown, and wants none right after it.
    bites: bool,
    is_full: bool,
    next: u64,
    wrong: Option<String>,
}

impl Numbers {
    fn new(sends: bool, bites: bool) -> Self {
        Self { sends, bites, is_full: false, next: 0, wrong: None }
    }

    fn len_of(number: u64) -> usize {
        if number + 1 == COUNT { LAST } else { SIZE }
    }

    fn take(&mut self, datagram: &[u8]) {
        let number = datagram.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        if (number, datagram.len()) != (Some(self.next), Self::len_of(self.next)) {
            let text = format!("{number:?} of {} came for {}", datagram.len(), self.next);
            self.wrong.get_or_insert(text);
        }
        self.next += 1;
    }
}

impl Machine for Numbers {
    type Shared = Bench;

    const CLOCK: ClockNeed = ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        FlowId(0)
    }

    fn want(&mut self, _: &mut Bench, now: Tick) -> Want {
        if self.next == COUNT {
            return Want::NOTHING;
        }
        if self.sends {
            let max = (COUNT - self.next) as usize;
            let send = SendWant::Datagrams { stride: SIZE, max };
            return Want { send, ..Want::NOTHING };
        }
        if std::mem::take(&mut self.is_full) {
            return Want { wake: Some(now), ..Want::NOTHING };
        }
        Want { recv: RecvWant::Any, ..Want::NOTHING }
    }

    fn fill(&mut self, _: &mut Bench, _: Lane, batch: &mut Batch<'_>, _: Tick) {
        for number in self.next..COUNT {
            let Some(datagram) = batch.datagram(Self::len_of(number)) else { return };
            datagram.fill(0xa5);
            datagram[..8].copy_from_slice(&number.to_le_bytes());
        }
    }

    fn sent(&mut self, _: &mut Bench, _: Lane, amount: usize, _: Tick) {
        self.next += amount as u64;
    }

    fn received(
        &mut self,
        _: &mut Bench,
        _: Lane,
        bytes: &[u8],
        meta: RecvMeta,
        _: Tick,
    ) -> Consumed {
        let stride = meta.stride.expect("datagrams have one").get();
        let most = if self.bites { 1 } else { usize::MAX };
        self.is_full = self.bites;
        let taken = bytes.chunks(stride).take(most);
        Consumed(taken.map(|datagram| (self.take(datagram), datagram.len()).1).sum())
    }

    fn event(&mut self, _: &mut Bench, event: Event, _: Tick) {
        if let Event::Reset { errno, .. } = event {
            self.wrong.get_or_insert(format!("reset by {errno}"));
        }
    }

    fn phase(&self) -> Phase {
        if self.next == COUNT { Phase::Done } else { Phase::Running }
    }

    fn totals(&self) -> Totals {
        Totals::default()
    }
}

/// What the system refuses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Refusal {
    Nothing,
    /// To be told how to cut.
    Cutting(i32),
    /// The batch of this number, with this error.
    Batch(u64, i32),
    /// To join what comes.
    Joining(i32),
    /// More than so many datagrams with one call.
    Many(usize),
}

#[derive(Clone, Debug)]
struct Refusing {
    refusal: Refusal,
    batches: u64,
}

impl SystemCalls for Refusing {
    fn send_datagrams(
        &mut self,
        socket: &Socket,
        bytes: &[u8],
        stride: usize,
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        let most = if let Refusal::Many(most) = self.refusal { most * stride } else { usize::MAX };
        Kernel.send_datagrams(socket, &bytes[..bytes.len().min(most)], stride, blocking)
    }

    fn cut(&mut self, socket: &Socket, stride: usize) -> Result<(), Trouble> {
        match self.refusal {
            Refusal::Cutting(errno) => Err(Trouble::Failed(errno)),
            _ => Kernel.cut(socket, stride),
        }
    }

    fn send_cut(
        &mut self,
        socket: &Socket,
        bytes: &[u8],
        blocking: Blocking,
    ) -> Result<(), Trouble> {
        self.batches += 1;
        match self.refusal {
            Refusal::Batch(number, errno) if self.batches == number => Err(Trouble::Failed(errno)),
            _ => Kernel.send_cut(socket, bytes, blocking),
        }
    }

    fn join(&mut self, socket: &Socket) -> Result<(), Trouble> {
        match self.refusal {
            Refusal::Joining(errno) => Err(Trouble::Failed(errno)),
            _ => Kernel.join(socket),
        }
    }
}

/// Moves all of them; how they moved at the sender and at the receiver.
fn moved(batches: Batches, refusal: Refusal, bites: bool) -> Vec<[Option<BatchUse>; 2]> {
    let mut used = Vec::new();
    everywhere(|engine, wait| {
        let (here, there) = pair(Transport::Datagram, &Settings::default());
        if batches == JOINED && !matches!(refusal, Refusal::Joining(_)) {
            // What comes before a receiver has begun is cut by the kernel.
            let _ = Kernel.join(&there);
        }
        let mut terms = terms(wait, Transport::Datagram);
        terms.batches = batches;
        terms.receive_buffer_bytes = room_bytes(batches);
        let calls = Refusing { refusal, batches: 0 };
        let receiver = vec![(Numbers::new(false, bites), vec![there])];
        let receiver = start_on(engine, terms, receiver, Bench::new(), calls.clone());
        let sender = vec![(Numbers::new(true, false), vec![here])];
        let sender = start_on(engine, terms, sender, Bench::new(), calls);
        let ends = [sender.finish(), receiver.finish()];
        let words = format!("{engine:?} {wait:?} {batches:?} {refusal:?}");
        for end in &ends {
            let machine = &end.flows[0].0;
            assert_eq!((machine.next, &machine.wrong), (COUNT, &None), "{words}");
        }
        used.push(ends.map(|end| end.usage[0].batches));
    });
    used
}

const EIO: i32 = 5;
const EINVAL: i32 = 22;
const EMSGSIZE: i32 = 90;
const ENOPROTOOPT: i32 = 92;
const JOINED: Batches = Batches::Joined { longest: SIZE };

/// Whether this kernel cuts and joins; it says so where it does not.
#[expect(clippy::print_stdout, reason = "a test that cannot run says why")]
fn kernel_does_both() -> bool {
    let (here, there) = pair(Transport::Datagram, &Settings::default());
    let does = Kernel.cut(&here, SIZE).and_then(|()| Kernel.join(&there));
    if let Err(trouble) = does {
        println!("skipped, because this kernel does not cut or join datagrams: {trouble:?}");
    }
    does.is_ok()
}

#[test]
fn each_arrives_once_whether_one_by_one_or_several_with_a_call() {
    for (batches, is_told) in [(Batches::One, false), (Batches::Several { longest: SIZE }, true)] {
        for bites in [false, true] {
            for used in moved(batches, Refusal::Nothing, bites) {
                assert_eq!(used, [is_told.then(BatchUse::default); 2]);
            }
        }
    }
}

#[test]
fn what_is_cut_and_joined_arrives_once_and_is_told() {
    if !kernel_does_both() {
        return;
    }
    for bites in [false, true] {
        for [sender, receiver] in moved(JOINED, Refusal::Nothing, bites) {
            let (sent, came) = (sender.expect("told"), receiver.expect("told"));
            assert_eq!((sent.cut, sent.refused, came.refused), (COUNT, 0, 0));
            // Loopback hands on what was not cut yet.
            assert_eq!(came.joined, COUNT);
        }
    }
}

#[test]
fn a_refused_batch_leaves_one_by_one_and_none_is_tried_again() {
    if !kernel_does_both() {
        return;
    }
    // 64 at once: the third batch is of 22.
    for (refusal, cut) in [
        (Refusal::Cutting(ENOPROTOOPT), 0),
        (Refusal::Batch(1, EIO), 0),
        (Refusal::Batch(2, EINVAL), 64),
        (Refusal::Batch(3, EMSGSIZE), 128),
    ] {
        for [sender, _] in moved(JOINED, refusal, false) {
            assert_eq!(sender, Some(BatchUse { cut, joined: 0, refused: 1 }), "{refusal:?}");
        }
    }
}

#[test]
fn a_kernel_that_joins_nothing_is_asked_for_several() {
    for bites in [false, true] {
        for [_, receiver] in moved(JOINED, Refusal::Joining(ENOPROTOOPT), bites) {
            assert_eq!(receiver.expect("told").joined, 0);
        }
    }
}

#[test]
fn what_a_call_did_not_take_is_offered_again() {
    moved(Batches::Several { longest: SIZE }, Refusal::Many(7), false);
}
