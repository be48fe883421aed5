//! What a server was to serve before it ends, and whether it has.

use pathscope_core::Tick;
use pathscope_core::quantity::counted;
use pathscope_peers::Refusal;

use super::super::Settings;
use super::Sessions;
use crate::threads::lock;

impl Sessions {
    /// Whether a test may begin: the server has not served all that it was to serve.
    pub fn check_served(&self) -> Result<(), Refusal> {
        let served = lock(&self.state).served;
        let Some(most) = self.settings.exit_after.filter(|&most| served >= most) else {
            return Ok(());
        };
        let most = counted(most, "connection");
        let sentence = format!(
            "it was to serve {most} (--exit-after), has served as many, and is about to end"
        );
        Err(Refusal::new("unable", sentence))
    }

    /// One more test begins; unless as many have as were to.
    pub fn begin_test(&self) -> Result<(), Refusal> {
        self.check_served()?;
        let mut state = lock(&self.state);
        if let Some(most) = self.settings.exit_after_tests.filter(|&most| state.begun >= most) {
            let most = counted(most, "test");
            let sentence = format!(
                "it was to serve {most} (--exit-after-tests), has served as many, and is about to end"
            );
            return Err(Refusal::new("unable", sentence));
        }
        state.begun += 1;
        Ok(())
    }

    /// One more connection is served, that no token names; unless as many are as were to be.
    pub fn serve_one(&self) -> Result<(), Refusal> {
        self.check_served()?;
        lock(&self.state).served += 1;
        Ok(())
    }

    /// When it ends since nobody has come, if nobody comes until then; `None`: somebody is here, or it waits for ever.
    pub fn idle_until(&self) -> Option<Tick> {
        let limit = self.settings.exit_after_idle?;
        let state = lock(&self.state);
        (state.present == 0).then(|| state.empty_since.plus_nanos(limit.0))
    }

    /// Why the server ends by itself, where it does: nobody is left, and as many connections or tests as were to be served are, or nobody
    /// has come for as long as was to be waited.
    pub fn done(&self, now: Tick) -> Option<String> {
        let is_idle = self.idle_until().is_some_and(|until| now >= until);
        let state = lock(&self.state);
        if state.present > 0 {
            return None;
        }
        let Settings { exit_after, exit_after_tests, exit_after_idle, .. } = &self.settings;
        if exit_after.is_some_and(|most| state.served >= most) {
            let text = "all connections that were to be served are served (--exit-after): ending";
            return Some(text.to_owned());
        }
        if exit_after_tests.is_some_and(|most| state.begun >= most) {
            let text = "all tests that were to be served are served (--exit-after-tests): ending";
            return Some(text.to_owned());
        }
        let limit = exit_after_idle.filter(|_| is_idle)?;
        Some(format!("no client was here for {limit} (--exit-after-idle): ending"))
    }
}
