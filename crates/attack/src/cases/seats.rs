//! Seats of UDP flows: of tokens that nobody has, two of one address, and those of somebody else's session.

use std::io::{self, Read as _, Write as _};
use std::net::IpAddr;
use std::time::Duration;

use serde_json::json;

use crate::caller::{Caller, attach, greeting};
use crate::crowd::again_and_again;
use crate::datagrams::Seat;
use crate::ground::Ground;
use crate::random::Random;
use crate::tests_asked_for as asked;
use crate::wire::{Pass, Token, digits_of, kind};
use crate::{clock, sockets};

/// Proves an address for a token that nobody has, and confirms again and again.
pub fn refused(ground: &Ground) -> io::Result<()> {
    again_and_again(ground, 4, |index| {
        let mut random = Random(u64::from(index) << 32 | ground.counted("confirms"));
        let socket = sockets::seat(ground.address(index), 0, ground.server)?;
        let mut token = [0; 16];
        token.copy_from_slice(&random.bytes(16));
        let pass = Pass { token, name: Some(token) };
        let seat = Seat { flow: random.next() as u32, ..Seat::first(pass) };
        let (nonce, cookie) = seat.prove(&socket, &mut random)?;
        for _ in 0..256 {
            seat.confirm(&socket, nonce, &cookie)?;
        }
        ground.add("confirms", 256);
        Ok(())
    })
}

/// Two flows of one test from one address: the second must be told no.
pub fn two_of_one_address(ground: &Ground) -> io::Result<()> {
    again_and_again(ground, 1, |_| {
        let mut random = Random(7);
        let source = ground.address(0);
        let mut caller = Caller::greet(source, ground.server, ground.version)?;
        let token = caller.propose(&asked::datagrams("push", 2, 1_000_000))?;
        let socket = sockets::seat(source, 0, ground.server)?;
        let pass = caller.pass(token);
        let first = Seat::first(pass).take(&socket, &mut random)?;
        let second = Seat { flow: 1, ..Seat::first(pass) }.take(&socket, &mut random)?;
        if first != 0 {
            ground.broken(format!("the first seat was refused by code {first}"));
        }
        if second == 0 {
            ground.broken("two seats were given to one UDP address".to_owned());
        }
        ground.count("pairs of seats");
        Ok(())
    })
}

/// Somebody runs a test of several paths. A third party that has read its token, and calls from elsewhere, tries what
/// a token may be good for; the test must go on as if nobody had called.
pub fn known_token(ground: &Ground) -> io::Result<()> {
    let mut random = Random(11);
    let (own, other) = (ground.address(0), ground.address(9));
    let mut victim = Caller::greet(own, ground.server, ground.version)?;
    let token = victim.propose(&asked::multipath())?;
    let lane = sockets::seat(own, 0, ground.server)?;
    if Seat::first(victim.pass(token)).take(&lane, &mut random)? != 0 {
        return Err(io::Error::other("the victim's own lane was refused"));
    }
    victim.start()?;
    while ground.goes_on() {
        if steal(ground, other, token, &mut random).is_err() {
            // Its sessions that broke off are waited for, and take its place meanwhile.
            ground.count("thieves refused");
        }
        // The victim still has its session.
        victim.say(kind::PING, &json!({ "id": 1 }))?;
        let alive = victim.await_kind(&[kind::PONG]);
        if let Err(error) = alive {
            ground.broken(format!("the victim's session was ended: {error}"));
            return Ok(());
        }
        ground.count("rounds");
        clock::pause(clock::left(ground.until).min(Duration::from_millis(100)));
    }
    Ok(())
}

/// All that the token may be good for, once.
fn steal(ground: &Ground, other: IpAddr, token: Token, random: &mut Random) -> io::Result<()> {
    // Its session, by resumption.
    let mut thief = Caller::greet(other, ground.server, ground.version)?;
    let proposal = json!({ "test": asked::multipath(), "resumes": digits_of(token) });
    thief.say(kind::PROPOSE, &proposal)?;
    match thief.await_kind(&[kind::ACCEPT]) {
        Ok(_) => ground.broken("a third party resumed a session by its token".to_owned()),
        Err(_) => ground.count("resumptions refused"),
    }
    // A place among its flows, over TCP.
    let pass = thief.pass(token);
    match attach(other, ground.server, ground.version, pass, 0) {
        Ok((_, 0)) => ground.broken("a third party attached a connection".to_owned()),
        _ => ground.count("connections refused by code"),
    }
    // A lane of its own, and the victim's lane.
    for lane in [1, 0] {
        let socket = sockets::seat(other, 0, ground.server)?;
        match (Seat { lane, ..Seat::first(pass) }).take(&socket, random) {
            Ok(0) => ground.broken(format!("a third party took lane {lane} of a session")),
            _ => ground.count("lanes refused"),
        }
    }
    // Its control connection, by a name that is the token.
    let mut stray = sockets::dial(other, ground.server)?;
    stray.set_read_timeout(Some(Duration::from_secs(1)))?;
    stray.write_all(&greeting(ground.version)[..16])?;
    stray.write_all(&token)?;
    // Whatever it says: the victim is looked at below.
    let _ = stray.read(&mut [0; 64]);
    Ok(())
}
