//! The identifier of a connection: derived from what both ends know and nobody else, so that it needs no
//! message, survives any translation of addresses, and does not give the token away.

use pathscope_core::id::{ConnectionId, FlowId, Token};

use super::keyed_hash::keyed_hash;

/// Sets this use of the token apart from others.
const PURPOSE: &[u8; 16] = b"pathscope:connid";

/// The identifier of a flow's connection in the test that `token` stands for.
pub fn connection_id(token: Token, flow: FlowId) -> ConnectionId {
    let mut message = [0; 20];
    message[..16].copy_from_slice(PURPOSE);
    message[16..].copy_from_slice(&flow.0.to_be_bytes());
    ConnectionId::from_bytes(keyed_hash(&token.0, &message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_connection_of_each_test_has_its_own() {
        let mut seen = std::collections::HashSet::new();
        for token in [Token([1; 16]), Token([2; 16])] {
            for flow in 0..1_000 {
                assert!(seen.insert(connection_id(token, FlowId(flow)).to_string()));
            }
        }
    }

    #[test]
    fn it_is_what_the_protocol_s_document_says() {
        let token = Token(std::array::from_fn(|index| index as u8));
        let told = connection_id(token, FlowId(3)).to_string();
        assert_eq!(told, "4dadf9e8-c4ec-8b23-aeff-dc02599001fb");
    }
}
