//! What a cell came to: what was true of it by its goodput with and without the cause, and what the verdict said.

use anyhow::{Context as _, Result, bail};
use pathscope_core::quantity::{bit_rate, ratio};
use pathscope_core::record::{Limit, Verdict};

use pathscope_modes::document::Measurement;
use pathscope_modes::goodput;
use pathscope_modes::registry::{EndReport, Plan};
use pathscope_modes::results::{End, Results};
use serde::{Deserialize, Serialize};

use super::cause::{EXPECTED_ELSE, Line};
use super::cell::Cell;
use super::stage::{Ran, Stage};

/// A cause is true where goodput without it is this many times that with it.
pub const RAISES: f64 = 1.2;
/// Between these, one pair does not tell.
const NEAR: [f64; 2] = [1.1, 1.31];
/// So many pairs at the most.
const PAIRS: usize = 3;

/// A cell that was measured.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Outcome {
    /// Of its cause.
    pub cause: String,
    pub cell: Cell,
    pub with_bps: f64,
    pub without_bps: f64,
    /// The first run with the cause.
    pub with: Box<Measurement>,
    /// The first run without it, where the link is the narrowest thing there is.
    pub without: Box<Measurement>,
    /// The processors of the machine.
    pub cpus: Option<u32>,
    /// Why it says nothing.
    pub spoilt: Option<String>,
}

/// What an end says of its flows, which are of a mode.
fn end<'a, M: Results>(report: &'a EndReport, own: Option<&'a M::Report>) -> Result<End<'a, M>> {
    let own = own.context("find what an end says of goodput")?;
    Ok(End { own, facts: report.facts() })
}

impl Outcome {
    /// The verdicts that the rules give now on what was measured then.
    pub fn judge_again(&mut self) -> Result<()> {
        for measurement in [&mut self.with, &mut self.without] {
            let Plan::Goodput(plan) = &measurement.test.plan else { bail!("find goodput") };
            let summary = measurement.summary.goodput.as_ref().context("find goodput")?;
            let server = measurement.server.as_ref().context("find the server's report")?;
            let client = end(&measurement.client, measurement.client.goodput.as_ref())?;
            let server = end(server, server.goodput.as_ref())?;
            let ends = (&client, &server);
            measurement.verdict = Some(goodput::verdict(plan, summary, ends, self.cpus));
        }
        Ok(())
    }

    pub fn line(&self) -> Result<&'static Line> {
        Line::named(&self.cause)
    }

    /// How many times the goodput with the cause that without it is.
    pub fn raised(&self) -> f64 {
        self.without_bps / self.with_bps.max(1.0)
    }

    pub fn is_true(&self) -> bool {
        self.raised() >= RAISES
    }

    pub fn expected(&self) -> Limit {
        match self.line() {
            Ok(line) if self.is_true() => line.expected,
            _ => EXPECTED_ELSE,
        }
    }

    pub fn is_right(&self) -> bool {
        self.said() == self.expected()
    }

    pub fn is_sure(&self) -> bool {
        verdict(&self.with).is_some_and(|it| it.sure == Some(true))
    }

    pub fn said(&self) -> Limit {
        verdict(&self.with).map_or(Limit::Undetermined, |it| it.limit)
    }

    /// What was said where the cause was removed.
    pub fn said_without(&self) -> Limit {
        verdict(&self.without).map_or(Limit::Undetermined, |it| it.limit)
    }

    /// Whether that was said for sure.
    pub fn is_sure_without(&self) -> bool {
        verdict(&self.without).is_some_and(|it| it.sure == Some(true))
    }

    /// For one who watches.
    pub fn words(&self) -> String {
        let mark = match (self.is_right(), self.is_sure()) {
            _ if self.spoilt.is_some() => "spoilt",
            (true, true) => "right",
            (true, false) => "right, not sure",
            (false, false) => "WRONG, not sure",
            (false, true) => "WRONG AND SURE",
        };
        format!(
            "{mark:16} {:18} {:34} {} → {} without (× {:.2}); expected {}, said {}",
            self.cause,
            self.cell.to_string(),
            bit_rate(self.with_bps),
            bit_rate(self.without_bps),
            self.raised(),
            name(self.expected()),
            name(self.said()),
        )
    }

    /// What the verdict rests on.
    pub fn evidence(&self) -> String {
        verdict(&self.with).map_or_else(|| "no verdict".to_owned(), in_figures)
    }
}

fn verdict(measurement: &Measurement) -> Option<&Verdict> {
    measurement.verdict.as_ref()
}

fn in_figures(verdict: &Verdict) -> String {
    let figures = verdict.evidence.iter().map(|it| match it.value {
        share if it.name.ends_with("share") => format!("`{}` {}", it.name, ratio(share)),
        value => format!("`{}` {value}", it.name),
    });
    format!("{}: {}", verdict.text, figures.collect::<Vec<_>>().join(", "))
}

/// A limit as documents name it.
pub fn name(limit: Limit) -> String {
    let value = serde_json::to_value(limit).unwrap_or_default();
    value.as_str().unwrap_or("unknown").to_owned()
}

/// Measures a cell: pairs of runs next to each other, until they tell whether the cause is true. `is_reversed`: the run
/// without comes first.
pub fn measure(
    stage: &Stage,
    line: &'static Line,
    cell: &Cell,
    is_reversed: bool,
) -> Result<Outcome> {
    let removed = line.cause.removed(cell);
    let used = match line.cause.needs_use() {
        Some(which) => stage.run(cell, &removed)?.used(which.end(cell)),
        None => 0.0,
    };
    let brought_about = line.cause.brought_about(cell, used);
    let mut pairs: Vec<Pair> = Vec::new();
    loop {
        let (with, without);
        if is_reversed == pairs.len().is_multiple_of(2) {
            without = stage.run(cell, &removed)?;
            with = stage.run(cell, &brought_about)?;
        } else {
            with = stage.run(cell, &brought_about)?;
            without = stage.run(cell, &removed)?;
        }
        pairs.push(Pair { with, without });
        let outcome = outcome(line, cell, &pairs)?;
        let is_near = (NEAR[0]..NEAR[1]).contains(&outcome.raised());
        if !is_near || pairs.len() == PAIRS || outcome.spoilt.is_some() {
            return Ok(outcome);
        }
    }
}

/// Two runs next to each other.
#[derive(Debug)]
struct Pair {
    with: Ran,
    without: Ran,
}

impl Pair {
    fn spoilt(&self) -> Option<String> {
        self.with.spoilt.clone().or_else(|| self.without.spoilt.clone())
    }
}

fn outcome(line: &'static Line, cell: &Cell, pairs: &[Pair]) -> Result<Outcome> {
    let mean = |which: fn(&Pair) -> &Ran| -> Result<f64> {
        let all: Result<Vec<f64>> = pairs.iter().map(|pair| which(pair).goodput_bps()).collect();
        Ok(all?.iter().sum::<f64>() / pairs.len() as f64)
    };
    let Pair { with, without } = pairs.first().context("measure a pair")?;
    Ok(Outcome {
        cause: line.name.to_owned(),
        cell: cell.clone(),
        with_bps: mean(|pair| &pair.with)?,
        without_bps: mean(|pair| &pair.without)?,
        with: with.measurement.clone(),
        without: without.measurement.clone(),
        cpus: with.cpus,
        spoilt: pairs.iter().find_map(Pair::spoilt),
    })
}
