//! Servers that are none of ours, met by our client: it says what they are.

use pathscope_core::Tick;
use pathscope_core::record::Host;
use pathscope_flow::{Dialogue as _, Input, Output};

use crate::PeerError;
use crate::dialogue::ClientDialogue as _;
use crate::native::client::Client;
use crate::native::fixtures;

/// How a client ends that said its hello and is answered so.
fn ended(answer: impl FnOnce(&[u8]) -> Vec<u8>) -> Option<PeerError> {
    let now = Tick::from_nanos(1_000);
    let mut client = Client::new(Host::default(), now);
    client.propose(fixtures::load(1), now);
    let mut said = Vec::new();
    while let Some(output) = client.output() {
        if let Output::Send(bytes) = output {
            said.extend(bytes);
        }
    }
    client.input(Input::Received(&answer(&said)), now);
    let outputs = std::iter::from_fn(|| client.output());
    outputs
        .filter_map(|it| if let Output::End(Err(error)) = it { Some(error) } else { None })
        .last()
}

#[test]
fn a_server_that_echoes_is_named_with_the_words_that_speak_to_it() {
    for part in [8, 32, usize::MAX] {
        let error = ended(|said| said[..part.min(said.len())].to_vec());
        let error = error.expect("it does not go on").to_string();
        let expected = "no pathscope server: what was said comes back, as a lagscope receiver answers; --peer lagscope";
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_server_that_names_the_connection_is_ctstraffic() {
    let error = ended(|_| b"6f9619ff-8b86-d011-b42d-00c04fc964ff\0".to_vec());
    let error = error.expect("it does not go on").to_string();
    assert!(error.contains("ctsTraffic server does; --peer ctstraffic"), "{error}");
}
