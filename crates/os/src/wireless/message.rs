//! Messages of generic netlink and of nl80211: bytes to facts and back. Numbers are those of `linux/genetlink.h` and
//! `linux/nl80211.h`.
//!
//! What is cut off, lies about its length or has another shape than expected is absent, as is what the driver does not tell.

use std::convert::Infallible;

use netlink_packet_core::{
    NLA_HEADER_SIZE, NetlinkDeserializable, NetlinkHeader, NetlinkSerializable, NlasIterator,
};
use pathscope_core::record::WirelessFacts;

use super::channel;

/// `GENL_ID_CTRL` and what it is asked: the family that tells of families.
const CONTROL: u16 = 16;
const GET_FAMILY: u8 = 3;
const NEW_FAMILY: u8 = 1;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;

/// `NL80211_CMD_…`.
const GET_INTERFACE: u8 = 5;
const NEW_INTERFACE: u8 = 7;
const GET_STATION: u8 = 17;
const NEW_STATION: u8 = 19;

/// `NL80211_ATTR_…`.
const INTERFACE_INDEX: u16 = 3;
const INTERFACE_TYPE: u16 = 5;
const STATION_INFO: u16 = 21;
const FREQUENCY: u16 = 38;
const SSID: u16 = 52;
const CHANNEL_WIDTH: u16 = 159;

/// `NL80211_STA_INFO_…`.
const SIGNAL: u16 = 7;
const SEND_BITRATE: u16 = 8;
const SIGNAL_AVERAGE: u16 = 13;
const RECEIVE_BITRATE: u16 = 14;

/// `NL80211_RATE_INFO_…`: in 100 kbit/s, in 16 bits and, where that is too little, in 32.
const BITRATE: u16 = 1;
const BITRATE_32: u16 = 5;
const BITRATE_UNIT_BPS: u64 = 100_000;

/// `NL80211_IFTYPE_…`.
const STATION: u32 = 2;
const PEER_TO_PEER_CLIENT: u32 = 8;

/// Command, version and two bytes that are not used.
const HEADER_BYTES: usize = 4;
const VERSION: u8 = 1;

/// A message of generic netlink.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Generic {
    family: u16,
    command: u8,
    attributes: Vec<u8>,
}

impl NetlinkSerializable for Generic {
    fn message_type(&self) -> u16 {
        self.family
    }

    fn buffer_len(&self) -> usize {
        HEADER_BYTES + self.attributes.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer[..HEADER_BYTES].copy_from_slice(&[self.command, VERSION, 0, 0]);
        buffer[HEADER_BYTES..].copy_from_slice(&self.attributes);
    }
}

impl NetlinkDeserializable for Generic {
    type Error = Infallible;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Self, Infallible> {
        // One without a header of its own says nothing: no command has this number.
        let command = payload.first().copied().unwrap_or(0);
        let attributes = payload.get(HEADER_BYTES..).unwrap_or_default().to_vec();
        Ok(Self { family: header.message_type, command, attributes })
    }
}

/// Asks for the number of a family.
pub(super) fn ask_family(name: &str) -> Generic {
    let mut text = name.as_bytes().to_vec();
    text.push(0);
    Generic { family: CONTROL, command: GET_FAMILY, attributes: attribute(FAMILY_NAME, &text) }
}

/// Asks what an interface is doing.
pub(super) fn ask_interface(family: u16, interface: u32) -> Generic {
    let attributes = attribute(INTERFACE_INDEX, &interface.to_ne_bytes());
    Generic { family, command: GET_INTERFACE, attributes }
}

/// Asks for the stations that an interface talks to: a client's access point.
pub(super) fn ask_stations(family: u16, interface: u32) -> Generic {
    Generic { command: GET_STATION, ..ask_interface(family, interface) }
}

/// The number of a family, where that is what a message tells.
pub(super) fn family(message: &Generic) -> Option<u16> {
    let attributes = message.attributes_of(NEW_FAMILY)?;
    number(find(attributes, FAMILY_ID)?).map(u16::from_ne_bytes)
}

/// What an interface is to its network.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Role(u32);

impl Role {
    /// Whether the one station that it talks to is its access point.
    pub(super) fn is_client(self) -> bool {
        matches!(self.0, STATION | PEER_TO_PEER_CLIENT)
    }
}

/// What a message tells of an interface.
pub(super) fn interface(message: &Generic) -> Option<(WirelessFacts, Role)> {
    let attributes = message.attributes_of(NEW_INTERFACE)?;
    let four = |kind| number(find(attributes, kind)?).map(u32::from_ne_bytes);
    let frequency_mhz = four(FREQUENCY).filter(|&frequency| frequency > 0);
    let found = frequency_mhz.and_then(channel::of);
    let facts = WirelessFacts {
        ssid: find(attributes, SSID).and_then(name),
        band: found.map(|(band, _)| band.to_owned()),
        channel: found.map(|(_, channel)| channel),
        frequency_mhz,
        width_mhz: four(CHANNEL_WIDTH).and_then(width_mhz),
        ..WirelessFacts::default()
    };
    Some((facts, Role(four(INTERFACE_TYPE).unwrap_or(0))))
}

/// How well a station is heard, and at which rates.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Station {
    signal_dbm: Option<i32>,
    send_bps: Option<u64>,
    receive_bps: Option<u64>,
}

impl Station {
    /// Adds it to what is known of the interface.
    pub(super) fn tell(self, facts: &mut WirelessFacts) {
        let Self { signal_dbm, send_bps, receive_bps } = self;
        (facts.signal_dbm, facts.send_bps, facts.receive_bps) = (signal_dbm, send_bps, receive_bps);
    }
}

/// What a message tells of a station.
pub(super) fn station(message: &Generic) -> Option<Station> {
    let info = find(message.attributes_of(NEW_STATION)?, STATION_INFO)?;
    // One byte, of which the header says that it is one without a sign, and a power in dBm: below zero, but on the antenna.
    let power = |kind| number(find(info, kind)?).map(i8::from_ne_bytes).map(i32::from);
    Some(Station {
        signal_dbm: power(SIGNAL).or_else(|| power(SIGNAL_AVERAGE)),
        send_bps: find(info, SEND_BITRATE).and_then(bitrate_bps),
        receive_bps: find(info, RECEIVE_BITRATE).and_then(bitrate_bps),
    })
}

fn bitrate_bps(rate: &[u8]) -> Option<u64> {
    let wide = || number(find(rate, BITRATE_32)?).map(u32::from_ne_bytes).map(u64::from);
    let narrow = || number(find(rate, BITRATE)?).map(u16::from_ne_bytes).map(u64::from);
    wide().or_else(narrow).filter(|&rate| rate > 0).map(|rate| rate * BITRATE_UNIT_BPS)
}

/// `enum nl80211_chan_width`.
fn width_mhz(width: u32) -> Option<u32> {
    Some(match width {
        0 | 1 => 20,
        2 => 40,
        3 => 80,
        // Twice 80 MHz apart from each other, and 160 MHz in one piece.
        4 | 5 => 160,
        6 => 5,
        7 => 10,
        13 => 320,
        _ => return None,
    })
}

/// A network's name. It is chosen by whoever set the network up, and may be any bytes: what would move a terminal's
/// cursor has no place in a result.
fn name(ssid: &[u8]) -> Option<String> {
    let printable = |letter: char| if letter.is_control() { '\u{FFFD}' } else { letter };
    let text: String = String::from_utf8_lossy(ssid).chars().map(printable).collect();
    (!text.is_empty()).then_some(text)
}

impl Generic {
    /// The attributes, where this is the command.
    fn attributes_of(&self, command: u8) -> Option<&[u8]> {
        (self.command == command).then_some(&self.attributes)
    }
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let len = (NLA_HEADER_SIZE + value.len()) as u16;
    let mut bytes = [len.to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The value of the first attribute of this kind; what follows a broken one is not looked at.
fn find(attributes: &[u8], kind: u16) -> Option<&[u8]> {
    let mut whole = NlasIterator::new(attributes).map_while(Result::ok);
    let found = whole.find(|attribute| attribute.kind() == kind)?;
    let end = usize::from(found.length());
    found.into_inner().get(NLA_HEADER_SIZE..end)
}

fn number<const BYTES: usize>(value: &[u8]) -> Option<[u8; BYTES]> {
    value.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAMILY: u16 = 35;

    fn nested(kind: u16, inside: &[Vec<u8>]) -> Vec<u8> {
        // `NLA_F_NESTED`, which newer kernels set and older ones do not.
        attribute(kind | 0x8000, &inside.concat())
    }

    fn new_interface(attributes: &[Vec<u8>]) -> Generic {
        Generic { family: FAMILY, command: 7, attributes: attributes.concat() }
    }

    fn new_station(info: &[Vec<u8>]) -> Generic {
        let attributes = [attribute(6, &[2, 0, 0, 0, 0, 1]), nested(21, info)].concat();
        Generic { family: FAMILY, command: 19, attributes }
    }

    fn four(kind: u16, value: u32) -> Vec<u8> {
        attribute(kind, &value.to_ne_bytes())
    }

    /// As a client of a network in the 5 GHz band has them.
    fn associated() -> Generic {
        new_interface(&[
            four(3, 4),
            attribute(4, b"wlan0\0"),
            four(5, 2),
            attribute(52, "Café, 2nd floor".as_bytes()),
            four(38, 5_180),
            four(159, 3),
            four(160, 5_210),
        ])
    }

    fn heard() -> Generic {
        new_station(&[
            attribute(7, &[(-54_i8) as u8]),
            attribute(13, &[(-57_i8) as u8]),
            nested(8, &[attribute(1, &8_667_u16.to_ne_bytes()), four(5, 8_667)]),
            // Beyond what 16 bits take: there it is 0.
            nested(14, &[attribute(1, &[0, 0]), four(5, 115_294)]),
        ])
    }

    #[test]
    fn an_association_is_told_whole() {
        let (mut facts, role) = interface(&associated()).expect("it is an interface's");
        assert!(role.is_client());
        station(&heard()).expect("it is a station's").tell(&mut facts);
        let expected = WirelessFacts {
            ssid: Some("Café, 2nd floor".to_owned()),
            band: Some("5 GHz".to_owned()),
            channel: Some(36),
            frequency_mhz: Some(5_180),
            width_mhz: Some(80),
            signal_dbm: Some(-54),
            send_bps: Some(866_700_000),
            receive_bps: Some(11_529_400_000),
        };
        assert_eq!(facts, expected);
    }

    #[test]
    fn what_the_driver_does_not_tell_is_absent() {
        let (facts, role) = interface(&new_interface(&[four(5, 2)])).expect("it is an interface's");
        assert_eq!((facts, role.is_client()), (WirelessFacts::default(), true));
        // An access point has many stations: none of them is its own.
        let (_, role) = interface(&new_interface(&[four(5, 3)])).expect("it is an interface's");
        assert!(!role.is_client());
        let none = Station { signal_dbm: None, send_bps: None, receive_bps: None };
        assert_eq!(station(&new_station(&[])), Some(none));
        let average = station(&new_station(&[attribute(13, &[(-70_i8) as u8])]));
        assert_eq!(average.and_then(|it| it.signal_dbm), Some(-70));
        // A frequency that is no channel of a known band is told as it is.
        let (facts, _) = interface(&new_interface(&[four(38, 923)])).expect("it is an interface's");
        assert_eq!((facts.frequency_mhz, facts.band, facts.channel), (Some(923), None, None));
        // Another command, and another family's words.
        assert_eq!(interface(&heard()), None);
        assert_eq!(station(&associated()), None);
        assert_eq!(family(&associated()), None);
    }

    #[test]
    fn a_name_moves_no_cursor() {
        let named =
            |ssid: &[u8]| interface(&new_interface(&[attribute(52, ssid)])).expect("it is").0.ssid;
        assert_eq!(named(b"a\x1b[2Jb\n").as_deref(), Some("a\u{FFFD}[2Jb\u{FFFD}"));
        assert_eq!(named(b"\xff\xfe").as_deref(), Some("\u{FFFD}\u{FFFD}"));
        assert_eq!(named(b""), None);
    }

    #[test]
    fn a_family_is_asked_for_by_name_and_told_by_number() {
        let asked = ask_family("nl80211");
        let mut bytes = vec![0xff; asked.buffer_len()];
        asked.serialize(&mut bytes);
        let expected =
            [&[3, 1, 0, 0][..], &12_u16.to_ne_bytes(), &2_u16.to_ne_bytes(), b"nl80211\0"];
        assert_eq!((asked.message_type(), bytes), (16, expected.concat()));
        let attributes = [attribute(2, b"nl80211\0"), attribute(1, &FAMILY.to_ne_bytes())].concat();
        assert_eq!(family(&Generic { family: 16, command: 1, attributes }), Some(FAMILY));
        let asked = ask_stations(FAMILY, 4);
        assert_eq!((asked.family, asked.command, asked.attributes), (FAMILY, 17, four(3, 4)));
    }

    /// Every cut of what a driver tells, every lie about a length, and every bit turned: absent or something else,
    /// and never a panic.
    #[test]
    fn hostile_messages_cost_nothing_but_their_facts() {
        for message in [associated(), heard()] {
            let whole = message.attributes.clone();
            let with =
                |attributes: &[u8]| Generic { attributes: attributes.to_vec(), ..message.clone() };
            let read = |message: &Generic| (interface(message), station(message), family(message));
            for len in 0..whole.len() {
                read(&with(&whole[..len]));
            }
            for place in 0..whole.len() {
                for bit in 0..8 {
                    let mut turned = whole.clone();
                    turned[place] ^= 1 << bit;
                    read(&with(&turned));
                }
                for length in [0_u16, 1, 3, 4, u16::MAX] {
                    let mut lying = whole.clone();
                    if let Some(room) = lying.get_mut(place..place + 2) {
                        room.copy_from_slice(&length.to_ne_bytes());
                    }
                    read(&with(&lying));
                }
            }
            for payload in [&[][..], &[7], &[7, 1, 0], &[19, 1, 0, 0]] {
                let mut header = NetlinkHeader::default();
                header.message_type = FAMILY;
                let Ok(short) = Generic::deserialize(&header, payload);
                assert_eq!(family(&short), None);
                read(&short);
            }
        }
        // Of the wrong size, a number is none.
        let odd =
            new_interface(&[attribute(38, &[1, 2]), attribute(159, &[1, 0, 0, 0, 0, 0, 0, 0])]);
        let (facts, _) = interface(&odd).expect("it is an interface's");
        assert_eq!((facts.frequency_mhz, facts.width_mhz), (None, None));
    }
}
