//! From samples to a tree with its parameters.

pub(super) mod support;
mod tell;

use super::choices::{Contraction, Params};
use super::clusters::clusters;
use super::data::Table;
use super::distances::Distances;
use super::model::stored::params_json;
use super::model::{Diagnostics, Model};
use super::moments::Spectra;
use super::network::Network;
use super::picture::HeldOut;
use super::polish::Polish;
use super::structure::{self, Choices, Limits};
use super::tree::Tree;
use super::units::Units;
use crate::checkpoint::{Keep, Rounds, identify, stage, within};
use crate::components::Components;
use crate::error::{Error, Result};
use crate::verdict::Verdict;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use tenfold_engine::progress::{Progress, Silent};

/// Rounds of weighing edges and polishing again; the second seldom contracts anything.
const ROUNDS: usize = 3;

/// Edges shorter than this many of their errors go before anything is weighed: fewer to weigh, and surer weights for the others.
const LOOSE: f64 = 2.0;

/// An edge stays when it is worth this share of the price that Bayes' criterion puts on it. At the whole price true edges between
/// nodes that are much alike go too (127 of 997 in a drawn tree of 1,000 binary variables).
const SHARE: f64 = 0.8;

/// Hidden nodes of a large tree: its edges are weighed once.
const LARGE: usize = 300;

/// An edge as long as this many of its errors needs no weighing.
const SURE: f64 = 8.0;

/// Nats a sample: sweeps that gain less have come to rest.
const REST: f64 = 0.01;

/// Sweeps before edges are weighed.
const BEFORE: usize = 4;

/// Groups that pages show in colours, at most.
const GROUPS: usize = 12;

/// With fewer samples there are no distances: eight blocks of two are left out in turn.
const FEWEST: usize = 16;

/// With fewer samples none are held out.
const ENOUGH: usize = 200;

/// What the samples gave, in units of their spread.
struct Learned {
    tree: Tree,
    network: Network,
    states: usize,
    contracted: usize,
    sweeps: usize,
    converged: bool,
    held_out: Option<HeldOut>,
    /// Tables that were resampled.
    bootstrap: usize,
    support: BTreeMap<(usize, usize), f64>,
    errors: BTreeMap<(usize, usize), f64>,
}

impl Params {
    /// Learns a tree.
    ///
    /// Distances come from canonical correlations ([`Spectra`]), the structure from distances ([`structure::learn`]), one tree for
    /// each set of variables that depend on each other; parameters from moments and expectation maximisation ([`Polish`]); edges
    /// that the likelihood does not pay for are contracted ([`Network::weigh`]).
    ///
    /// # Errors
    /// Too few samples or variables, more states than the variables can show, two variables that are never known together.
    ///
    /// # Example
    /// ```
    /// use tenfold::trees::{Params, Synth};
    /// let drawn = Synth { variables: 6, samples: 3000, ..Synth::default() }.draw()?;
    /// let model = Params { bootstrap: 0, ..Params::new(2) }.fit(&drawn.table)?;
    /// assert!(model.diagnostics().held_out.is_some_and(|held| held.tree > held.independence));
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn fit(&self, table: &Table) -> Result<Model> {
        self.fit_with(table, &Silent)
    }

    /// [`Params::fit`] with a listener that may stop it.
    ///
    /// # Errors
    /// As [`Params::fit`].
    pub fn fit_with(&self, table: &Table, progress: &dyn Progress) -> Result<Model> {
        self.check(table)?;
        identify(progress, "trees", self, |digest| table.identify(digest))?;
        let mut verdict = Verdict::default();
        let units = Units::of(table);
        tell::outliers(&units, table, &mut verdict);
        let scaled = units.apply(table);
        let table = scaled.as_ref().unwrap_or(table);
        let (learn, watch) = self.split(table);
        let learned = learn.as_ref().unwrap_or(table);
        if learned.samples() < FEWEST {
            return self.independent(table, &units, progress);
        }
        let (spectra, distances) = stage(progress, "distances", |progress| {
            let rank = |spectra: &Spectra| Ok(self.states_of(spectra, learned, &mut Verdict::default())? - 1);
            Spectra::and_distances(learned, rank, progress)
        })?;
        let states = self.states_of(&spectra, learned, &mut verdict)?;
        tell::data(&spectra, learned, &mut verdict);
        let components = spectra.components();
        // They are twice as large as the distances, which are all that the search for a tree needs.
        drop(spectra);
        let mut tree =
            stage(progress, "structure", |progress| self.forest(&components, &distances, progress))?;
        let contracted = match self.contraction {
            Contraction::Likelihood => self.contracted(&mut tree, states, (learned, &distances), progress)?,
            _ => 0,
        };
        let mut tree = tree.canonical();
        let polished = stage(progress, "polish", |progress| {
            let started =
                stage(progress, "start", |progress| self.started(&tree, states, learned, progress))?;
            Polish { sweeps: self.sweeps, ..Polish::default() }.run(&started, learned, progress)
        })?;
        let mut network = polished.network;
        let held_out = match &watch {
            None => None,
            Some(watch) => {
                let compared = |progress: &dyn Progress| compare(&network, learned, watch, progress);
                Some(stage(progress, "held out", compared)?.less(units.nats(watch)))
            }
        };
        if watch.is_some() {
            let last = Polish { sweeps: self.sweeps.min(1), ..Polish::default() };
            network = stage(progress, "last", |progress| Ok(last.run(&network, table, progress)?.network))?;
        }
        let errors = measured(&mut tree, &distances)?;
        let support =
            stage(progress, "support", |progress| support::bootstrap(self, table, &tree, states, progress))?;
        tell::tree(&tree, &support, held_out, &mut verdict);
        let learned = Learned {
            tree,
            network,
            states,
            contracted,
            sweeps: polished.trace.len(),
            converged: at_rest(&polished.trace),
            held_out,
            bootstrap: self.bootstrap,
            support,
            errors,
        };
        self.assemble(learned, verdict, (table, &units), progress)
    }

    /// So few samples say nothing of any pair: all variables stand alone.
    fn independent(&self, table: &Table, units: &Units, progress: &dyn Progress) -> Result<Model> {
        let mut verdict = Verdict::default();
        verdict.warn(format!(
            "{} samples say nothing about any pair of variables, so all stand alone: some hundred are needed",
            table.samples()
        ));
        let alone = Learned {
            tree: Tree::new(table.variables().len()),
            network: Network::independent(table, progress)?,
            states: 1,
            contracted: 0,
            sweeps: 0,
            converged: true,
            held_out: None,
            bootstrap: 0,
            support: BTreeMap::new(),
            errors: BTreeMap::new(),
        };
        self.assemble(alone, verdict, (table, units), progress)
    }

    /// The model of what was learnt, in the units of the data.
    fn assemble(
        &self,
        learned: Learned,
        verdict: Verdict,
        (table, units): (&Table, &Units),
        progress: &dyn Progress,
    ) -> Result<Model> {
        let (nodes, emissions) = (&learned.network.nodes, &learned.network.emissions);
        let tables = nodes.iter().map(|n| &n.table).chain(emissions.iter().map(|e| &e.mean));
        crate::error::check_fitted("tables of the tree", tables.flat_map(|t| t.as_slice().iter().copied()))?;
        let log_likelihood = mean(&learned.network.log_likelihood(table, progress)?) - units.nats(table);
        let diagnostics = Diagnostics {
            samples: table.samples(),
            seen: seen(table),
            states: learned.states,
            method: self.method.name().to_owned(),
            contracted: learned.contracted,
            sweeps: learned.sweeps,
            converged: learned.converged,
            log_likelihood,
            held_out: learned.held_out,
            bootstrap: learned.bootstrap,
        };
        Ok(Model {
            variables: table.variables().to_vec(),
            clusters: clusters(&learned.tree, groups(&learned.tree)),
            tree: learned.tree,
            network: units.undo(learned.network, table),
            support: learned.support,
            errors: learned.errors,
            params: params_json(self),
            diagnostics,
            verdict,
        })
    }

    fn check(&self, table: &Table) -> Result<()> {
        let wrong = |name: &str, value: String, expected: &str| {
            Err(Error::BadParameter { name: name.into(), value, expected: expected.into() })
        };
        if let Components::Exactly(k) = self.states
            && k < 2
        {
            return wrong("states", k.to_string(), "at least 2, or auto");
        }
        crate::error::check_repeats("bootstrap", self.bootstrap)?;
        if !(0.0..1.0).contains(&self.held_out) {
            return wrong("held_out", self.held_out.to_string(), "a share from 0 to below 1");
        }
        if table.samples() < 2 {
            return Err(Error::Unfit {
                problem: format!("{} samples", table.samples()),
                remedy: "a tree needs at least some hundred rows".into(),
            });
        }
        Ok(())
    }

    /// Samples to learn from and samples to hold out, evenly spread; none are held out where there are few.
    fn split(&self, table: &Table) -> (Option<Table>, Option<Table>) {
        let n = table.samples();
        let held = (self.held_out * n as f64) as usize;
        if held == 0 || n < ENOUGH {
            return (None, None);
        }
        // Sample i is held out where the count of held-out samples up to it goes up.
        let out = |i: usize| (i + 1) * held / n > i * held / n;
        (Some(table.take((0..n).filter(|&i| !out(i)))), Some(table.take((0..n).filter(|&i| out(i)))))
    }

    fn states_of(&self, spectra: &Spectra, table: &Table, verdict: &mut Verdict) -> Result<usize> {
        let widest = (0..spectra.variables()).map(|v| spectra.width(v)).max().unwrap_or(0);
        match self.states {
            Components::Auto => {
                let found = spectra.rank().states().max(2);
                verdict
                    .note(format!("{found} states of hidden nodes chosen: pairs of variables show no more"));
                Ok(found)
            }
            Components::Exactly(k) => {
                let narrow = (0..spectra.variables()).filter(|&v| spectra.width(v) + 1 < k).count();
                if widest + 1 < k {
                    return Err(Error::Unfit {
                        problem: format!(
                            "no variable can show k = {k} states: the widest tells {} apart",
                            widest + 1
                        ),
                        remedy: format!("give -k {} or less, or auto", (widest + 1).max(2)),
                    });
                }
                if narrow > 0 {
                    verdict.warn(format!(
                        "{narrow} of {} variables cannot tell {k} states apart; their distances are only estimates: -k auto",
                        table.variables().len()
                    ));
                }
                let shown = spectra.rank().states().max(2);
                if k > shown {
                    verdict.warn(format!(
                        "k = {k} was given, but pairs of variables show {shown} states: distances by correlations that are not there \
                         tell no tree; -k auto takes {shown}"
                    ));
                }
                Ok(k)
            }
        }
    }

    /// A tree for every set of variables that depend on each other.
    fn forest(
        &self,
        components: &[Vec<usize>],
        distances: &Distances,
        progress: &dyn Progress,
    ) -> Result<Tree> {
        let mut edges = Vec::new();
        let mut next = distances.count();
        let limits = match self.contraction {
            Contraction::None => {
                Limits { z: f64::NEG_INFINITY, length: f64::NEG_INFINITY, ..Limits::default() }
            }
            Contraction::Jackknife => Limits::default(),
            Contraction::Likelihood => Limits { z: LOOSE, ..Limits::default() },
        };
        let choices = Choices { method: self.method, limits };
        for component in components.iter().filter(|c| c.len() > 1) {
            progress.check()?;
            let among = match component.len() == distances.count() {
                true => Cow::Borrowed(distances),
                false => Cow::Owned(distances.select(component)),
            };
            let tree = structure::learn(&among, &choices, progress)?;
            let place = |node: usize| match component.get(node) {
                Some(&variable) => variable,
                None => next + node - component.len(),
            };
            edges.extend(tree.edges().into_iter().map(|(a, b, w)| (place(a), place(b), w)));
            next += tree.capacity() - component.len();
        }
        Ok(Tree::from_edges(distances.count(), &edges))
    }

    /// Contracts what the likelihood does not pay for; how many hidden nodes went.
    fn contracted(
        &self,
        tree: &mut Tree,
        states: usize,
        (table, distances): (&Table, &Distances),
        progress: &dyn Progress,
    ) -> Result<usize> {
        let before = tree.hidden().count();
        let mut rounds = Rounds::new(progress, "contraction");
        let mut done = 0;
        if let Some((rounds, known)) = rounds.taken::<(usize, Tree)>()
            && known.observed() == tree.observed()
        {
            (done, *tree) = (rounds, known);
        }
        for round in done..ROUNDS {
            let inside = within(progress, &format!("contraction {round}"));
            let progress: &dyn Progress = &inside;
            progress.check()?;
            let doubtful: BTreeSet<(usize, usize)> = structure::measure(distances, tree)?
                .into_iter()
                .filter(|edge| edge.z() < SURE && tree.is_hidden(edge.a) && tree.is_hidden(edge.b))
                .map(|edge| (edge.a, edge.b))
                .collect();
            if doubtful.is_empty() {
                break;
            }
            let started = self.started(tree, states, table, progress)?;
            let short = Polish { sweeps: BEFORE.min(self.sweeps), ..Polish::default() };
            let network = short.run(&started, table, progress)?.network;
            let in_doubt = |a: usize, b: usize| doubtful.contains(&(a.min(b), a.max(b)));
            let weighed = network.weigh_some(table, &in_doubt, progress)?;
            let now = tree.hidden().count();
            *tree = tree.without_unneeded(&weighed, SHARE);
            tree.suppress();
            rounds.keep(|parcel| {
                let last = now > LARGE || 50 * (now - tree.hidden().count()) <= now;
                (if last { ROUNDS } else { round + 1 }).put(parcel);
                tree.put(parcel);
            });
            // A few edges more or less are not worth another round, in a large tree none is.
            if now > LARGE || 50 * (now - tree.hidden().count()) <= now {
                break;
            }
        }
        Ok(before - tree.hidden().count())
    }

    fn started(&self, tree: &Tree, states: usize, table: &Table, progress: &dyn Progress) -> Result<Network> {
        let blank = Network::skeleton(tree, table.variables(), |_| states)?;
        Ok(blank.from_moments(tree, table, self.seed, progress)?.network)
    }
}

/// How likely held-out samples are, beside models without hidden nodes.
fn compare(network: &Network, learn: &Table, watch: &Table, progress: &dyn Progress) -> Result<HeldOut> {
    let of = |network: &Network| Ok::<f64, Error>(mean(&network.log_likelihood(watch, progress)?));
    let chow_liu = of(&Network::chow_liu(learn, progress)?.1)?;
    let independence = of(&Network::independent(learn, progress)?)?;
    let tree = of(network)?;
    Ok(HeldOut { tree, chow_liu, independence, samples: watch.samples() })
}

/// Lengths of all edges from the distances, and their errors.
fn measured(tree: &mut Tree, distances: &Distances) -> Result<BTreeMap<(usize, usize), f64>> {
    let mut errors = BTreeMap::new();
    for edge in structure::measure(distances, tree)? {
        tree.join(edge.a, edge.b, edge.length.max(0.0));
        errors.insert((edge.a, edge.b), edge.error);
    }
    Ok(errors)
}

/// Whether the last sweep gained next to nothing.
fn at_rest(trace: &[f64]) -> bool {
    match trace {
        [.., before, last] => last - before < REST,
        _ => true,
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Samples in which each variable was observed; empty where all were.
fn seen(table: &Table) -> Vec<usize> {
    if !table.has_missing() {
        return Vec::new();
    }
    let mut seen = vec![table.samples(); table.variables().len()];
    (0..table.samples()).for_each(|i| table.row(i).missing.iter().for_each(|&v| seen[v as usize] -= 1));
    seen
}

/// About as many groups as the root of the number of variables, and at least one for each tree.
fn groups(tree: &Tree) -> usize {
    let trees = tree.components().iter().filter(|nodes| nodes.len() > 1).count();
    ((tree.observed() as f64).sqrt().round() as usize).clamp(2, GROUPS).max(trees)
}
