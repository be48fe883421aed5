//! What was asked for and runs otherwise, of both ends together.

use pathscope_core::id::Role;
use pathscope_core::record::Substitution;

/// What both ends run otherwise than asked; what they agree on, once.
pub(super) fn both_ends(
    role: Role,
    here: &[Substitution],
    there: &[Substitution],
) -> Vec<Substitution> {
    let name = |role: Role| if role == Role::Client { "client" } else { "server" };
    let at = |role: Role, substitution: &Substitution| Substitution {
        what: format!("{} of the {}", substitution.what, name(role)),
        ..substitution.clone()
    };
    let alike = here.iter().filter(|substitution| there.contains(substitution)).cloned();
    let only_here = here.iter().filter(|mine| !there.contains(mine)).map(|mine| at(role, mine));
    let only_there =
        there.iter().filter(|other| !here.contains(other)).map(|other| at(role.peer(), other));
    alike.chain(only_here).chain(only_there).collect()
}
