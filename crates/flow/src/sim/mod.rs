//! Machines against each other in virtual time: exact, repeatable, no sleep.
