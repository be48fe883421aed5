//! What a server was to serve before it ends, and whether it has.

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

    /// Why all is done.
    pub fn why_done(&self) -> &'static str {
        if self.settings.exit_after.is_some() {
            "all connections that were to be served are served (--exit-after): ending"
        } else {
            "all tests that were to be served are served (--exit-after-tests): ending"
        }
    }

    /// Whether all is done: as many connections or tests as were to be served, and nobody is left.
    pub fn is_done(&self) -> bool {
        let state = lock(&self.state);
        let Settings { exit_after, exit_after_tests, .. } = &self.settings;
        let is_served = exit_after.is_some_and(|most| state.served >= most)
            || exit_after_tests.is_some_and(|most| state.begun >= most);
        is_served && state.present == 0
    }
}
