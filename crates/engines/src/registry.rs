//! The engines, listed once.

use std::fmt;
use std::str::FromStr;

use pathscope_flow::{Machine, Split};

use crate::{EngineError, Finished, SystemCalls, Worker};

/// Makes of the list below the engines by name, and who runs a worker.
macro_rules! engines {
    ($($(#[$doc:meta])* $kind:ident = $($module:ident)::+;)*) => {
        /// An engine by name.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        pub enum EngineKind {
            $($(#[$doc])* $kind,)*
        }

        impl EngineKind {
            /// Every engine with its name as typed.
            pub const ALL: [(&'static str, Self); [$($($module)::+::NAME),*].len()] =
                [$(($($module)::+::NAME, Self::$kind)),*];

            /// As it is typed.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $($module)::+::NAME,)*
                }
            }
        }

        /// Runs a worker's flows on the calling thread until all are over.
        pub fn run<M: Machine, S: SystemCalls>(
            kind: EngineKind,
            worker: Worker<M>,
            calls: S,
        ) -> Result<Finished<M>, EngineError> {
            match kind {
                $(EngineKind::$kind => $($module)::+::run(worker, calls),)*
            }
        }
    };
}

engines! {
    /// Direct calls: for one flow, or few.
    Plain = crate::plain;
    /// Readiness from the kernel: for any number.
    Epoll = crate::epoll;
    /// Operations that the kernel has for a while: for many.
    Uring = crate::uring;
}

/// The one that tries each socket with direct calls: for one flow, or few.
pub const DIRECT: EngineKind = EngineKind::Plain;
/// The one that waits for all sockets at once: for any number of flows.
pub const POLLING: EngineKind = EngineKind::Epoll;
/// The one by which a [`SharedThread`](crate::SharedThread) runs its workers.
pub const SHARED: EngineKind = EngineKind::Epoll;

impl EngineKind {
    /// Whether it runs the two halves of a flow on threads of their own, by [`run_halves`].
    pub const fn runs_halves(self) -> bool {
        matches!(self, DIRECT)
    }

    /// Whether a flow that replaces another may come with something to say and to hear first.
    pub const fn speaks_prefaces(self) -> bool {
        matches!(self, DIRECT | POLLING)
    }

    /// Whether this machine has it; else why not, and what to do.
    pub fn available(self) -> Result<(), String> {
        match self {
            Self::Uring => crate::uring::available(),
            _ => Ok(()),
        }
    }
}

/// Runs the sending and the receiving half of each flow on threads of their own until all are over, by blocking calls.
pub fn run_halves<M: Split, S: SystemCalls + Clone + Send>(
    worker: Worker<M>,
    calls: S,
) -> Result<Finished<M>, EngineError> {
    crate::plain::run_split(worker, calls)
}

impl fmt::Display for EngineKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for EngineKind {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(name, _)| *name == typed);
        found.map(|(_, kind)| kind).ok_or_else(|| {
            format!("'{typed}' is no engine; choose {}", Self::ALL.map(|(name, _)| name).join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_has_the_name_it_is_typed_by() {
        for (name, kind) in EngineKind::ALL {
            assert_eq!((name.parse(), kind.name()), (Ok(kind), name));
        }
    }

    #[test]
    fn an_unknown_engine_is_refused_with_the_list() {
        let error = "iocp".parse::<EngineKind>().expect_err("not here");
        assert_eq!(error, "'iocp' is no engine; choose plain, epoll, uring");
    }
}
