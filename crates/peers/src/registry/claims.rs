//! What stands for a claim of whichever kind of peer, as the registry makes it for each.

/// A socket of whichever kind that says for which seat it is.
macro_rules! claims {
    ($name:ident: $($kind:ident)*) => {
        impl ClaimSeat for $name {
            fn seat(&self) -> Seat {
                match self {
                    $(Self::$kind(own) => own.seat(),)*
                }
            }

            fn proves(&self, session: Token) -> bool {
                match self {
                    $(Self::$kind(own) => own.proves(session),)*
                }
            }

            fn reply(&self, decided: Result<(), SeatRefusal>) -> Vec<u8> {
                match self {
                    $(Self::$kind(own) => own.reply(decided),)*
                }
            }
        }
    };
}

pub(super) use claims;
