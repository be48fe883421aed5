//! The names of a run that are greeted side by side, as their threads share it: which of them are one server, and when the tests of
//! different ones start. Not the sessions themselves, nor what comes of them.
//!
//! Names whose servers say the same identity are addresses of one server; others are other servers. Servers that say none are older
//! than that, and taken for one, as ever: an address at which a session is not known is refused when a flow comes there.

use std::net::SocketAddr;
use std::sync::Mutex;

use pathscope_core::id::Token;
use pathscope_core::record::Caveat;
use pathscope_peers::PeerError;

use crate::error::RunError;
use crate::findings::RunCaveat;
use crate::messages::inbox::{Inbox, SessionMessage};
use crate::threads::lock;

/// Why the others are stopped where one of them is lost before the start.
const NOBODY_STARTS: &str = "another server of the run was not ready to start";

/// Several names of servers.
#[derive(Debug)]
pub(super) struct Company {
    names: Vec<String>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    members: Vec<Member>,
    /// Once every name has answered: the servers there are, in the order in which they were named.
    servers: Option<Vec<Server>>,
    /// Whether their tests may start.
    is_released: bool,
    /// Those for whom no test starts: the first that were lost, or not ready when another had waited for long enough.
    missing: Vec<usize>,
}

/// One name.
#[derive(Debug, Default)]
struct Member {
    targets: Vec<SocketAddr>,
    inbox: Option<Inbox>,
    answer: Answer,
}

/// What came of the greeting.
#[derive(Debug, Default)]
enum Answer {
    #[default]
    Awaited,
    /// A server, which says this of itself.
    Met(Option<Token>),
    /// It took no session.
    Refused(String),
    /// Nothing.
    Failed,
}

/// A server and its names: the session is held by the thread of the first that was met.
#[derive(Debug)]
struct Server {
    leader: usize,
    names: Vec<usize>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    Preparing,
    Ready,
    Over,
}

/// What a name turns out to be.
#[derive(Debug)]
pub(super) enum Verdict {
    /// A server, under all its names, with the addresses of each.
    Server { target: String, targets: Vec<Vec<SocketAddr>>, caveats: Vec<Caveat> },
    /// One more address of a server that has a session.
    Address,
    /// There is no run: a name was not reached.
    NoRun,
}

impl Company {
    /// Of these names, of which the addresses are known.
    pub fn new(names: Vec<String>, targets: Vec<Vec<SocketAddr>>) -> Self {
        let member = |targets| Member { targets, ..Member::default() };
        let members = targets.into_iter().map(member).collect();
        let (is_released, missing) = (false, Vec::new());
        Self { names, state: Mutex::new(State { members, servers: None, is_released, missing }) }
    }

    /// All names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The addresses of this name.
    pub fn targets_of(&self, name: usize) -> Vec<SocketAddr> {
        lock(&self.state).members[name].targets.clone()
    }

    /// A session begins under this name. Whether it is the first; or that there is no run any more.
    pub fn begins(&self, name: usize, inbox: &Inbox) -> Result<bool, RunError> {
        let mut state = lock(&self.state);
        let is_first = matches!(state.members[name].answer, Answer::Awaited);
        state.members[name].inbox = Some(inbox.clone());
        if state.missing.is_empty() { Ok(is_first) } else { Err(RunError::Interrupted) }
    }

    /// The server under this name has answered, and says this of itself.
    pub fn met(&self, name: usize, identity: Option<Token>) {
        lock(&self.state).answer(name, Answer::Met(identity));
    }

    /// Whether it is known which names are one server.
    pub fn is_decided(&self) -> bool {
        lock(&self.state).servers.is_some()
    }

    /// Whether that are several.
    pub fn is_of_several(&self) -> bool {
        lock(&self.state).servers.as_ref().is_some_and(|servers| servers.len() > 1)
    }

    /// What this name is, once that is known.
    pub fn verdict(&self, name: usize) -> Verdict {
        let state = lock(&self.state);
        let servers = state.servers.as_deref().unwrap_or_default();
        if servers.is_empty() {
            return Verdict::NoRun;
        }
        let Some(server) = servers.iter().find(|server| server.leader == name) else {
            return Verdict::Address;
        };
        let named = |&name: &usize| self.names[name].as_str();
        let refused = server.names.iter().filter_map(|&other| match &state.members[other].answer {
            Answer::Refused(why) => Some((&self.names[other], why)),
            _ => None,
        });
        let caveat = |(other, why): (&String, &String)| {
            let first = &self.names[name];
            let text = format!(
                "{other} was taken for an address of the server {first}, since it took no session that would have told: {why}"
            );
            Caveat::new(RunCaveat::ServerUnnamed, text)
        };
        Verdict::Server {
            target: server.names.iter().map(named).collect::<Vec<_>>().join(", "),
            targets: server.names.iter().map(|&it| state.members[it].targets.clone()).collect(),
            caveats: refused.map(caveat).collect(),
        }
    }

    /// All flows of this server are there. The last lets all of them start.
    pub fn ready(&self, name: usize) {
        let mut state = lock(&self.state);
        state.set(name, Stage::Ready);
        let mut servers = state.servers.iter().flatten();
        let all_are = servers.all(|server| server.stage == Stage::Ready);
        if all_are && state.missing.is_empty() {
            state.is_released = true;
            state.post_to_others(None, || SessionMessage::MayStart);
        }
    }

    /// The session under this name is over, and came to this. Before the start nobody starts without it.
    pub fn leaves(&self, name: usize, result: &Result<(), RunError>) {
        let mut state = lock(&self.state);
        if state.servers.is_none() {
            let answer = match result {
                Err(RunError::Dialogue(PeerError::Refused(refusal))) => {
                    Answer::Refused(refusal.to_string())
                }
                _ => Answer::Failed,
            };
            return state.answer(name, answer);
        }
        let Some(stage) = state.set(name, Stage::Over) else { return };
        if state.is_released || !state.missing.is_empty() {
            return;
        }
        // Who has waited for long enough leaves for want of the others.
        let servers = state.servers.as_deref().unwrap_or_default();
        let preparing = servers.iter().filter(|server| server.stage == Stage::Preparing);
        let preparing: Vec<usize> = preparing.map(|server| server.leader).collect();
        let is_for_others = stage == Stage::Ready && !preparing.is_empty();
        state.missing = if is_for_others { preparing } else { vec![name] };
        state.post_to_others(Some(name), || SessionMessage::Stop(NOBODY_STARTS));
    }

    /// The names whose threads have sessions with servers, in order.
    pub fn leaders(&self) -> Vec<usize> {
        let state = lock(&self.state);
        state.servers.iter().flatten().map(|server| server.leader).collect()
    }

    /// Those whose servers were lost or not ready before the start, so that nobody started; none where all have.
    pub fn missing(&self) -> Vec<usize> {
        lock(&self.state).missing.clone()
    }

    /// The first name that answered nothing.
    pub fn unreached(&self) -> Option<usize> {
        let state = lock(&self.state);
        let is_one = |member: &Member| !matches!(member.answer, Answer::Met(_));
        let failed = |member: &Member| matches!(member.answer, Answer::Failed);
        let first = state.members.iter().position(failed);
        first.or_else(|| state.members.iter().position(is_one))
    }
}

impl State {
    /// A name has answered. The last of them tells what all are.
    fn answer(&mut self, name: usize, answer: Answer) {
        self.members[name].answer = answer;
        if self.members.iter().any(|member| matches!(member.answer, Answer::Awaited)) {
            return;
        }
        self.servers = Some(self.by_identity());
        self.members.iter().flat_map(|member| &member.inbox).for_each(|inbox| inbox.waker.wake());
    }

    /// The servers that the names stand for; none where one of them is not to be had.
    fn by_identity(&self) -> Vec<Server> {
        let mut servers: Vec<(Option<Token>, Server)> = Vec::new();
        for (name, member) in self.members.iter().enumerate() {
            match member.answer {
                Answer::Met(identity) => {
                    let same = servers.iter_mut().find(|(known, _)| *known == identity);
                    if let Some((_, server)) = same {
                        server.names.push(name);
                    } else {
                        let (names, stage) = (vec![name], Stage::Preparing);
                        servers.push((identity, Server { leader: name, names, stage }));
                    }
                }
                Answer::Failed => return Vec::new(),
                Answer::Awaited | Answer::Refused(_) => {}
            }
        }
        let is_refused = |member: &Member| matches!(member.answer, Answer::Refused(_));
        let refused = (0..self.members.len()).filter(|&name| is_refused(&self.members[name]));
        if let Some((_, first)) = servers.first_mut() {
            first.names.extend(refused);
            first.names.sort_unstable();
        }
        servers.into_iter().map(|(_, server)| server).collect()
    }

    /// The server of this leader is at this stage; at which it was before.
    fn set(&mut self, leader: usize, stage: Stage) -> Option<Stage> {
        let mut servers = self.servers.iter_mut().flatten();
        let server = servers.find(|server| server.leader == leader)?;
        Some(std::mem::replace(&mut server.stage, stage))
    }

    fn post_to_others(&self, but: Option<usize>, word: impl Fn() -> SessionMessage) {
        let servers = self.servers.iter().flatten();
        let others = servers.filter(|it| Some(it.leader) != but && it.stage != Stage::Over);
        let inboxes = others.filter_map(|server| self.members[server.leader].inbox.as_ref());
        inboxes.for_each(|inbox| inbox.post(word()));
    }
}

#[cfg(test)]
mod tests {
    use pathscope_os::Waker;
    use pathscope_peers::Refusal;

    use super::*;
    use crate::messages::inbox::InboxReader;

    const ONE: Option<Token> = Some(Token([1; 16]));
    const OTHER: Option<Token> = Some(Token([2; 16]));

    /// These names, each with a session that has begun.
    fn company(names: usize) -> (Company, Vec<InboxReader>) {
        let all: Vec<String> = (0..names).map(|name| format!("h{name}")).collect();
        let company = Company::new(all, vec![Vec::new(); names]);
        let begin = |name| {
            let (inbox, reader) = Inbox::new(Waker::new().expect("a waker"));
            assert!(company.begins(name, &inbox).expect("there is a run"), "it is the first");
            reader
        };
        let readers = (0..names).map(begin).collect();
        (company, readers)
    }

    /// The names of each server, as each name's verdict tells.
    fn servers(company: &Company) -> Vec<String> {
        let told = |name| match company.verdict(name) {
            Verdict::Server { target, .. } => target,
            Verdict::Address => "address".to_owned(),
            Verdict::NoRun => "no run".to_owned(),
        };
        (0..company.names().len()).map(told).collect()
    }

    fn refused() -> Result<(), RunError> {
        Err(RunError::Dialogue(PeerError::Refused(Refusal::new("sessions", "it has no place"))))
    }

    fn word(reader: &InboxReader) -> Option<SessionMessage> {
        reader.take()
    }

    #[test]
    fn names_whose_servers_say_the_same_are_one_server() {
        let (company, _readers) = company(4);
        for (name, identity) in [(0, OTHER), (2, ONE), (3, ONE)] {
            company.met(name, identity);
            assert!(!company.is_decided());
        }
        company.met(1, OTHER);
        assert!(company.is_decided() && company.is_of_several());
        assert_eq!(servers(&company), ["h0, h1", "address", "h2, h3", "address"]);
    }

    #[test]
    fn servers_that_say_nothing_are_taken_for_one() {
        let (company, _readers) = company(2);
        (0..2).for_each(|name| company.met(name, None));
        assert_eq!(servers(&company), ["h0, h1", "address"]);
        assert!(!company.is_of_several());
    }

    #[test]
    fn a_name_that_gets_no_session_is_taken_for_one_of_the_first_server_and_that_is_told() {
        let (company, _readers) = company(2);
        company.leaves(0, &refused());
        company.met(1, ONE);
        let Verdict::Server { target, caveats, .. } = company.verdict(1) else {
            panic!("a server")
        };
        assert_eq!((target.as_str(), caveats.len()), ("h0, h1", 1));
        assert!(caveats[0].text.contains("it has no place"), "{caveats:?}");
    }

    #[test]
    fn there_is_no_run_where_a_name_is_not_reached() {
        let (company, _readers) = company(2);
        company.met(0, ONE);
        company.leaves(1, &Err(RunError::LeftEarly));
        assert_eq!(servers(&company), ["no run", "no run"]);
        assert_eq!(company.unreached(), Some(1));
    }

    #[test]
    fn all_start_when_the_last_is_ready_and_who_is_lost_then_stops_nobody() {
        let (company, readers) = company(2);
        (0..2).zip([ONE, OTHER]).for_each(|(name, identity)| company.met(name, identity));
        company.ready(0);
        assert!(readers.iter().all(|reader| word(reader).is_none()));
        company.ready(1);
        for reader in &readers {
            assert!(matches!(word(reader), Some(SessionMessage::MayStart)));
        }
        company.leaves(1, &Err(RunError::LeftEarly));
        assert!(word(&readers[0]).is_none() && company.missing().is_empty());
    }

    #[test]
    fn nobody_starts_without_one_that_is_lost_or_not_ready_in_time() {
        for (is_ready, leaves, missing) in [(None, 1, 1), (Some(0), 1, 1), (Some(0), 0, 1)] {
            let (company, readers) = company(2);
            (0..2).zip([ONE, OTHER]).for_each(|(name, identity)| company.met(name, identity));
            is_ready.into_iter().for_each(|name| company.ready(name));
            company.leaves(leaves, &Err(RunError::LeftEarly));
            assert_eq!(company.missing(), [missing]);
            assert!(matches!(word(&readers[1 - leaves]), Some(SessionMessage::Stop(_))));
            company.ready(1 - leaves);
            assert!(word(&readers[1 - leaves]).is_none(), "it is too late");
            let (inbox, _reader) = Inbox::new(Waker::new().expect("a waker"));
            assert!(company.begins(0, &inbox).is_err());
        }
    }
}
