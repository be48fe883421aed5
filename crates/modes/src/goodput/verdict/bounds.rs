//! From where on a figure counts: the thresholds of the rules, shares of one, and how strictly they are held to.

/// How strictly thresholds are held to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Strictness {
    /// What is nearly there counts.
    Lax,
    /// What decides.
    #[default]
    Usual,
    /// What is well beyond counts alone.
    Strict,
}

/// One threshold: lax, usual, strict.
#[derive(Clone, Copy)]
pub(super) struct Bound(f64, f64, f64);

impl Bound {
    /// Where it is.
    pub const fn at(self, strictness: Strictness) -> f64 {
        match strictness {
            Strictness::Lax => self.0,
            Strictness::Usual => self.1,
            Strictness::Strict => self.2,
        }
    }
}

/// A thread that uses its processor for this share of the time has no more to give.
pub(super) const CPU_USED_UP: Bound = Bound(0.8, 0.9, 0.95);
/// Of all processors, what both ends must have used for the machine to be full of them.
pub(super) const CPU_OURS: Bound = Bound(0.5, 0.6, 0.7);
/// A receiver this busy is why its window is small.
pub(super) const CPU_BUSY: Bound = Bound(0.6, 0.7, 0.8);
/// A thread that is ready and has no processor for this share of the time is held back by that.
pub(super) const CPU_KEPT_AWAY: Bound = Bound(0.4, 0.5, 0.6);
/// A rate is reached from this share on: pacing moves whole quanta.
pub(super) const RATE_REACHED: Bound = Bound(0.92, 0.95, 0.97);
/// A program that stood still for this share of the time is what such a run shows.
pub(super) const STOOD_STILL: Bound = Bound(0.05, 0.1, 0.2);
/// A sender stopped for this share of its busy time was held back by it.
pub(super) const LIMITED: Bound = Bound(0.2, 0.3, 0.4);
/// A sender with data in flight for this share of the time was held back by the path.
pub(super) const BUSY: Bound = Bound(0.7, 0.8, 0.9);
/// What most looks at a sender's sockets found held it back.
pub(super) const MOSTLY: Bound = Bound(0.35, 0.5, 0.65);
/// Where fewer looks than these found that next to nothing was acknowledged, it was acknowledged all the time.
pub(super) const FLUENT: Bound = Bound(0.05, 0.02, 0.01);
/// Of all looks, those that found a buffer or a window full and no queue in the path: a larger one gains so much.
pub(super) const UNFILLED: Bound = Bound(0.0, 0.0, 0.35);
/// What so many looks found to hold a sender held it, where the path [had room](ROOM) meanwhile: never for sure.
pub(super) const OFTEN: Bound = Bound(0.3, 0.4, f64::INFINITY);
/// A path that so many looks found to be what data waits for is all that it waits for.
pub(super) const PATH_ALONE: Bound = Bound(0.95, 0.9, 0.85);
/// Of the looks that found a full buffer or window: so many in moments of a queue in the path mean that the path never
/// ran empty. One that did would have carried more. Reckoned for sends of 512 KiB that each wait until the one before is
/// acknowledged, at 100 Mbit/s and 20 ms: some 70 % of them with one connection, 99 % with eight.
pub(super) const NEVER_EMPTY: Bound = Bound(0.85, 0.92, 0.96);

/// What costs so much of the time costs a sixth of goodput: without it there is a fifth more.
pub(super) const ROOM: f64 = 1.0 / 6.0;
/// Threads that wait for a processor for less than this share of the time lose nothing by it.
pub(super) const CPU_WAITS: f64 = 0.1;
