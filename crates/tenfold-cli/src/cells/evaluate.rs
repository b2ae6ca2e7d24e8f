//! `tenfold cells evaluate`.

use super::reading::{ReadArgs, read_cells, read_counts};
use crate::common::Session;
use crate::exit;
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tenfold::cells::validate::{self, Judged, Validation};
use tenfold::cells::{Expression, Model, Params, read_labels};
use tenfold::engine::progress::Progress;

/// How good types are: by single cells, against chance, averages and known types
#[derive(Args)]
#[command(after_help = "\
Half of the transcripts of a single cell give its mixture of types, the other half is predicted: the smaller \
its perplexity, the better. Permuted cells have every gene's levels in another order of cells: types that say \
something predict them worse. With --tissue types are also learnt from average expression in voxels, which \
forgets single cells, and by --curve for other numbers of types. Known types are a table of counts or \
profiles with a column or row for each.

Examples:
  tenfold cells evaluate m.tenfold --single-cells counts.tsv.gz --labels labels.tsv
  tenfold cells evaluate m.tenfold --single-cells counts.tsv --tissue cells.parquet --curve 2-12
  tenfold cells evaluate m.tenfold --truth profiles.csv")]
pub struct Evaluate {
    /// A model that `tenfold cells fit` made
    model: PathBuf,
    /// Counted transcripts of single cells, genes × cells or cells × genes (.csv, .tsv, packed or not)
    #[arg(long, value_name = "COUNTS")]
    single_cells: Option<PathBuf>,
    /// Known types of the single cells: a table of cell and type
    #[arg(long, value_name = "TABLE", requires = "single_cells")]
    labels: Option<PathBuf>,
    /// Permuted sets of cells
    #[arg(long, value_name = "N", default_value_t = 199)]
    permutations: usize,
    /// The cells of the fit, for the baseline of average expression
    #[arg(long, value_name = "CELLS", requires = "single_cells")]
    tissue: Option<PathBuf>,
    /// Voxels along a side of the tissue, for the baseline
    #[arg(long, value_name = "N", default_value_t = 16, requires = "tissue")]
    voxels: usize,
    /// Other numbers of types to learn and judge, as in 2-12 or 4,8,12
    #[arg(long, value_name = "A-B|A,B,…", requires = "tissue", value_parser = parse_numbers)]
    curve: Option<Numbers>,
    /// Known types: a table of genes × types
    #[arg(long, value_name = "TABLE")]
    truth: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

/// Numbers of types.
#[derive(Clone)]
struct Numbers(Vec<usize>);

/// What is told, for people and for machines.
struct Told {
    text: String,
    value: Value,
}

impl Evaluate {
    pub fn run(self, session: &Session) -> Result<()> {
        if self.single_cells.is_none() && self.truth.is_none() {
            return Err(exit::usage("nothing to compare with; give --single-cells or --truth"));
        }
        let model = Model::load(&self.model)?;
        let mut told = Told { text: String::new(), value: json!({}) };
        if let Some(path) = &self.single_cells {
            let cells = read_counts(path, model.genes(), session)?;
            self.by_cells(&model, &cells, session, &mut told)?;
        }
        if let Some(path) = &self.truth {
            let known = read_counts(path, model.genes(), session)?;
            by_types(&model, &known, &mut told)?;
        }
        session.watch.check()?;
        session.answer(&told.text, &told.value)
    }

    fn by_cells(&self, model: &Model, cells: &Expression, session: &Session, told: &mut Told) -> Result<()> {
        let how = Validation { permutations: self.permutations, seed: session.seed, ..Validation::default() };
        let judged = session.watch.during(|watch| how.judge(model, &cells.counts, watch))?;
        tell_judged(&judged, told);
        if let Some(path) = &self.labels {
            let bound = session.max_decompressed;
            let labels = session.watch.during(|watch| read_labels(path, &cells.cells, bound, watch))?;
            self.by_labels(model, cells, &labels, session, told)?;
        }
        if let Some(path) = &self.tissue {
            let tissue = read_cells(path, &self.read, session)?;
            let params = params(model);
            let average = validate::voxels(&tissue, self.voxels);
            let base = session.watch.during(|watch| {
                let base = params.fit_counts_with(&average, watch)?;
                Validation { permutations: 0, ..how }.judge(&base, &cells.counts, watch)
            })?;
            told.text += &format!("averages in voxels   {:.1}\n", base.perplexity);
            told.value["averaged"] = json!(base.perplexity);
            if let Some(Numbers(numbers)) = &self.curve {
                let bins = model
                    .bins()
                    .ok_or_else(|| exit::usage("--curve needs a model of cells with features"))?;
                let counts = bins.histogram(&tissue).counts;
                let curve = session
                    .watch
                    .during(|watch| how.curve(&counts, &cells.counts, (&params, numbers), watch))?;
                told.text += "\ntypes  perplexity\n";
                curve.iter().for_each(|(k, p)| told.text += &format!("{k:>5}  {p:.1}\n"));
                told.value["curve"] = json!(curve);
            }
        }
        Ok(())
    }

    fn by_labels(
        &self,
        model: &Model,
        cells: &Expression,
        labels: &[Option<String>],
        session: &Session,
        told: &mut Told,
    ) -> Result<()> {
        let known: Vec<usize> = (0..labels.len()).filter(|&i| labels[i].is_some()).collect();
        let mut numbers: BTreeMap<&str, u32> =
            labels.iter().flatten().map(|name| (name.as_str(), 0)).collect();
        numbers.values_mut().enumerate().for_each(|(i, number)| *number = i as u32);
        let own: Vec<u32> =
            known.iter().filter_map(|&i| labels[i].as_deref().map(|name| numbers[name])).collect();
        let mixtures =
            session.watch.during(|watch| model.mixtures(&cells.counts.take_rows(&known), watch))?;
        let ari = validate::label_agreement(&mixtures, &own, session.seed);
        let (cells, groups) = (known.len(), numbers.len());
        told.text += &format!(
            "adjusted Rand index  {ari:.4}  ({cells} cells of {groups} known types; {groups} groups by k-means on mixtures)\n"
        );
        told.value["adjusted_rand_index"] = json!(ari);
        told.value["labelled"] = json!(known.len());
        Ok(())
    }
}

/// The choices of the fit, for fits beside it.
fn params(model: &Model) -> Params {
    let told = model.params();
    let number = |name: &str, usual: f64| told[name].as_f64().unwrap_or(usual);
    Params {
        smoothing: number("smoothing", 0.01),
        alpha: number("alpha", 0.01),
        seed: told["seed"].as_u64().unwrap_or(0),
        ..Params::new(model.k())
    }
}

fn tell_judged(judged: &Judged, told: &mut Told) {
    told.text += &format!(
        "perplexity           {:.1}  ({} single cells, {} common genes; half of each is predicted)\n",
        judged.perplexity, judged.cells, judged.genes
    );
    if !judged.permuted.is_empty() {
        told.text += &format!(
            "permuted cells       {:.1}  (p = {:.4}, {} permutations)\n",
            judged.permuted_mean(),
            judged.p_value,
            judged.permuted.len()
        );
        told.value["permuted"] = json!(judged.permuted);
        told.value["p_value"] = json!(judged.p_value);
    }
    told.text += &format!("gene frequencies     {:.1}\n", judged.unigram);
    told.value["perplexity"] = json!(judged.perplexity);
    told.value["unigram"] = json!(judged.unigram);
    told.value["genes"] = json!(judged.genes);
    told.value["cells"] = json!(judged.cells);
}

fn by_types(model: &Model, known: &Expression, told: &mut Told) -> Result<()> {
    let matched = validate::match_types(model, &known.counts)?;
    told.text += &format!(
        "total variation      {:.4}  (mean over {} known types; {:.0} % found)\n",
        matched.mean(),
        known.cells.len(),
        100.0 * matched.share_found()
    );
    let mut pairs = Vec::new();
    for (i, name) in known.cells.iter().enumerate() {
        let (partner, apart) = (matched.partners()[i], matched.variations()[i]);
        let shown = partner.map_or("none".to_owned(), |t| format!("type {t}"));
        told.text += &format!("  {name:<24} {shown:<9} {apart:.4}\n");
        pairs.push(json!({ "known": name, "type": partner, "total_variation": apart }));
    }
    told.value["total_variation"] = json!(matched.mean());
    told.value["matches"] = json!(pairs);
    Ok(())
}

/// `2-12`, or numbers with commas between them.
fn parse_numbers(text: &str) -> Result<Numbers, String> {
    let wrong = || "numbers of types such as 2-12 or 4,8,12 are needed".to_owned();
    let one =
        |text: &str| text.trim().parse::<usize>().ok().filter(|k| (1..=500).contains(k)).ok_or_else(wrong);
    match text.split_once('-') {
        Some((first, last)) => {
            let (first, last) = (one(first)?, one(last)?);
            if first > last { Err(wrong()) } else { Ok(Numbers((first..=last).collect())) }
        }
        None => text.split(',').map(one).collect::<Result<_, _>>().map(Numbers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ranges_or_lists() {
        let numbers = |text| parse_numbers(text).map(|n| n.0);
        assert_eq!(numbers("2-5"), Ok(vec![2, 3, 4, 5]));
        assert_eq!(numbers("4, 8,12"), Ok(vec![4, 8, 12]));
        assert!(numbers("5-2").is_err() && numbers("0").is_err() && numbers("a").is_err());
    }
}
