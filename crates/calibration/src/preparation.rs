//! What cells need of a machine beside links: programs, congestion controls, translation of addresses, routes. It is made ready, and
//! the cells of which it cannot be are left out, each with the reason.

use std::collections::BTreeMap;

use pathscope_core::record::Caveat;
use pathscope_experiments::programs::{Program, is_installed};
use pathscope_lab::harness::Lab;
use pathscope_os::sockets;

use crate::cell::Cell;
use crate::findings::CalibrationCaveat;
use crate::place::Place;

/// The cells that can be done, and what is told of the others.
pub fn prepare(lab: &Lab, cells: Vec<Cell>) -> (Vec<Cell>, Vec<Caveat>) {
    let machine = Machine::of(lab, &cells);
    let mut left_out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut there = Vec::new();
    for cell in cells {
        match machine.lacks(&cell) {
            Some(why) => left_out.entry(why).or_default().push(cell.name),
            None => there.push(cell),
        }
    }
    let caveat = |(why, names): (&String, &Vec<String>)| {
        let (count, first) = (names.len(), names.first().map_or("", String::as_str));
        let text = match count {
            1 => format!("a cell was left out, since {why}: {first}"),
            _ => format!("{count} cells were left out, since {why}; first: {first}"),
        };
        Caveat::new(CalibrationCaveat::CellsLeftOut, text)
    };
    (there, left_out.iter().map(caveat).collect())
}

/// What a machine has.
struct Machine {
    /// Absent where it does not say.
    congestion_controls: Option<String>,
    /// Places that cannot be as they should, and why.
    faults: Vec<(Place, String)>,
}

impl Machine {
    fn of(lab: &Lab, cells: &[Cell]) -> Self {
        let mut places: Vec<Place> = Vec::new();
        for cell in cells {
            if !places.contains(&cell.place) {
                places.push(cell.place);
            }
        }
        let fault = |place: Place| {
            let mut needs = place.needs().into_iter();
            Some((place, needs.find_map(|(node, words)| refused(lab, node, &words))?))
        };
        Self {
            // A user without rights has no kernel load what it lacks.
            congestion_controls: sockets::congestion_controls(),
            faults: places.into_iter().filter_map(fault).collect(),
        }
    }

    /// What a cell needs and is not there.
    fn lacks(&self, cell: &Cell) -> Option<String> {
        if let Program::Known(known) = cell.program()
            && !is_installed(known.name)
        {
            return Some(format!("there is no program '{}' on this machine", known.name));
        }
        if let (Some(wanted), Some(there)) = (cell.congestion(), &self.congestion_controls)
            && !there.split_whitespace().any(|name| name == wanted)
        {
            return Some(format!("this kernel has the congestion control {wanted} not at hand"));
        }
        let fault = self.faults.iter().find(|(place, _)| *place == cell.place);
        fault.map(|(_, why)| format!("this machine cannot do what they need: {why}"))
    }
}

/// Why a node did not do this, if it did not.
fn refused(lab: &Lab, node: &str, words: &[String]) -> Option<String> {
    let [program, arguments @ ..] = words else { return None };
    match lab.command(node, program).args(arguments).output() {
        Ok(ran) if ran.status.success() => None,
        Ok(ran) => {
            let said = String::from_utf8_lossy(&ran.stderr);
            let first = said.lines().next().unwrap_or("it said nothing");
            Some(format!("{program} on {node}: {first}"))
        }
        Err(error) => Some(format!("{program} on {node}: {error}")),
    }
}
