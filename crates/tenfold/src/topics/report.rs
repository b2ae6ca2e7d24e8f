//! The page of a topic model: map, words with their relevance, sizes, correlations, search and diagnostics.
//!
//! # References
//! Sievert and Shirley, "LDAvis: a method for visualizing and interpreting topics", ACL workshop on interactive
//! language learning, visualization, and interfaces (2014), equation (1).

mod layout;
mod model;
mod words;

use super::Bridge;
use crate::error::Result;
use crate::evaluate::top_words;
use crate::report::{Block, Cell, Extension, Page, Plot, Section, Series, Table, grouped, number, numbers};
use crate::verdict::{Level, Verdict};
use layout::{Layout, layout};
use serde_json::{Value, json};
use tenfold_engine::linalg::Mat;
use words::Words;

const EXPLORER: Extension = Extension {
    script: concat!(
        include_str!("report/map.js"),
        include_str!("report/search.js"),
        include_str!("report/explorer.js")
    ),
    style: include_str!("report/explorer.css"),
};

/// What the page is made of, borrowed from a model.
struct PageData<'a> {
    /// k × words, rows sum to one.
    topics: &'a Mat,
    /// The words.
    vocabulary: &'a [String],
    /// Every word's share of all tokens.
    unigram: &'a [f64],
    /// Every topic's share of all tokens.
    shares: &'a [f64],
    /// Parameters of the prior.
    alpha: &'a [f64],
    /// Of mixtures over documents, k × k.
    correlations: &'a Mat,
    /// NPMI of every topic's top words.
    coherence: &'a [f64],
    /// How well every topic is found again in parts of the data, 0 to 1; empty when it was not measured.
    stability: &'a [f64],
    /// Eigenvalues of the second moment, largest first.
    spectrum: &'a [f64],
    /// The range that k was chosen from, when it was chosen.
    interval: Option<(usize, usize)>,
    /// Held-out perplexity of the numbers of topics that were tried; empty when k was given.
    tried: &'a [(usize, f64)],
    /// Held-out perplexity along the polish: passes over the documents, perplexity; empty without a polish.
    curve: &'a [(f64, f64)],
    /// How many documents carry each topic, as an effective number; empty when it is not known.
    carriers: &'a [f64],
    /// For every topic, documents that show it best with the topic's share.
    representatives: Vec<Vec<(String, f64)>>,
    /// Words that belong to several topics.
    bridges: Vec<Bridge>,
    /// What the fit says about itself.
    verdict: &'a Verdict,
    /// Names and values of diagnostics.
    diagnostics: Vec<(String, String)>,
    /// Parameters of the fit and of the reading.
    parameters: &'a Value,
    /// Documents of the fit.
    documents: usize,
    /// Documents whose mixtures were inferred for sizes, correlations and typical documents.
    looked_at: usize,
}

/// The page of a topic model. Topics keep the ids of the model file.
///
/// # Errors
/// When the topics hold numbers that are not finite.
fn page(data: &PageData) -> Result<Page> {
    let k = data.topics.rows();
    let (map, words) = (layout(data.topics)?, words::pick(data.topics, data.shares, data.unigram));
    let mut page = Page::new(
        format!("{} in {} documents", plural(k, "topic"), grouped(data.documents)),
        format!("{} words in the vocabulary", grouped(data.vocabulary.len())),
    );
    page.extensions.extend([Extension::EXPLORE, EXPLORER]);
    page.push(explore(data, &map, &words));
    page.push(sizes(data));
    if k > 1 {
        page.push(correlations(data));
    }
    if !data.bridges.is_empty() {
        page.push(bridges(data));
    }
    page.push(spectrum(data));
    let findings = data.verdict.findings().iter();
    let findings = findings.map(|(level, text)| (*level == Level::Warning, text.clone())).collect();
    let verdict = page.judge("Diagnostics", findings);
    page.push(Section::new("Diagnostics").with(verdict).with(Block::Facts(data.diagnostics.clone())));
    page.push(about(data, &map, &words));
    Ok(page)
}

fn plural(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn explore(data: &PageData, map: &Layout, words: &Words) -> Section {
    let k = data.topics.rows();
    let per_topic = |values: &[f64], t: usize| values.get(t).map_or(Value::Null, |&x| number(x));
    let topic = |t: usize| {
        let shown = &words.shown[t];
        let probabilities: Vec<f64> = shown.iter().map(|&at| data.topics[(t, words.held[at])]).collect();
        let mut near: Vec<usize> = (0..k).filter(|&j| j != t).collect();
        near.sort_by(|&a, &b| map.distances[(t, a)].total_cmp(&map.distances[(t, b)]));
        let documents: Vec<Value> = match data.representatives.get(t) {
            Some(found) => found.iter().map(|(name, share)| json!([name, number(*share)])).collect(),
            None => Vec::new(),
        };
        json!({
            "share": number(data.shares[t]), "alpha": per_topic(data.alpha, t),
            "coherence": per_topic(data.coherence, t), "stability": per_topic(data.stability, t),
            "x": number(map.places[t].0), "y": number(map.places[t].1),
            "words": shown, "p": numbers(&probabilities), "documents": documents,
            "near": near.iter().take(4).map(|&j| json!([j, number(map.distances[(t, j)])])).collect::<Value>(),
        })
    };
    let held = |value: &dyn Fn(usize) -> Value| words.held.iter().map(|&w| value(w)).collect::<Value>();
    let flat =
        |uses: &Vec<(usize, u32)>| uses.iter().flat_map(|&(t, s)| [json!(t), json!(s)]).collect::<Value>();
    let widget = json!({
        "topics": (0..k).map(topic).collect::<Value>(),
        "words": held(&|w| json!(data.vocabulary[w])),
        "unigram": held(&|w| number(data.unigram[w])),
        "uses": words.uses.iter().map(flat).collect::<Value>(),
        "vocabulary": data.vocabulary.len(),
        "shown": words::SHOWN,
        "steps": words::STEPS,
        "kept": number(map.kept),
    });
    Section::new("Explore").with(Block::Widget { name: "topics", data: widget })
}

fn sizes(data: &PageData) -> Section {
    let k = data.topics.rows();
    let ids: Vec<String> = (0..k).map(|t| t.to_string()).collect();
    let plot =
        Plot::bars("Every topic's share of all tokens. A click chooses the topic.", &ids, data.shares, true)
            .axes("topic", "share of tokens")
            .percent();
    let measured = [
        ("coherence", data.coherence, 2),
        ("stability", data.stability, 2),
        ("documents", data.carriers, 0),
        ("α", data.alpha, 3),
    ];
    // What was not measured has no column.
    let measured: Vec<_> = measured.into_iter().filter(|(_, values, _)| values.len() == k).collect();
    let mut columns = vec!["topic", "share of tokens", "most probable words"];
    columns.extend(measured.iter().map(|(name, ..)| *name));
    let mut table = Table::new(&columns);
    table.tall = k > 12;
    let largest = data.shares.iter().copied().fold(0.0, f64::max);
    for (t, words) in top_words(data.topics, 8).iter().enumerate() {
        let words = words.iter().map(|&w| data.vocabulary[w as usize].clone()).collect();
        let mut cells = vec![
            Cell::Items(vec![(t, t.to_string())]),
            Cell::share(data.shares[t], largest),
            Cell::Words(words),
        ];
        cells.extend(measured.iter().map(|(_, values, digits)| Cell::number(values[t], *digits)));
        table.push(Some(t), cells);
    }
    let mut note =
        "Coherence is the normalised pointwise mutual information (NPMI) of the ten most probable words, \
                    −1 to 1: do they occur in the same documents?"
            .to_owned();
    if data.stability.len() == k {
        note += " Stability is how surely the topic comes back from other documents, 0 (chance) to 1.";
    }
    if data.carriers.len() == k {
        note += " Documents is the effective number of documents that carry the topic.";
    }
    Section::new("Topics")
        .with(plot)
        .with(table)
        .with(Block::note(note + " A click on a column's name sorts by it."))
}

fn correlations(data: &PageData) -> Section {
    let k = data.topics.rows();
    let ids: Vec<String> = (0..k).map(|t| t.to_string()).collect();
    let mut pairs: Vec<(f64, usize, usize)> =
        (0..k).flat_map(|i| (0..i).map(move |j| (data.correlations[(i, j)], j, i))).collect();
    pairs.retain(|pair| pair.0.is_finite());
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    // Colours reach to the strongest pair, but no nearer than 0.1: noise should look pale.
    let full = pairs.first().into_iter().chain(pairs.last()).map(|p| p.0.abs()).fold(0.1, f64::max);
    let plot = Plot::heatmap(
        "How shares of topics go together over documents. A click chooses the topic of the row.",
        &ids,
        data.correlations,
        full,
    )
    .axes("topic", "");
    let mut table = Table::new(&["topics", "correlation"]);
    let first = top_words(data.topics, 2);
    let (most, least) =
        (pairs.iter().take(8), pairs.iter().rev().take(pairs.len().saturating_sub(8).min(4)).rev());
    for &(c, i, j) in most.chain(least) {
        let name = |t: usize| {
            let words = first[t].iter().map(|&w| data.vocabulary[w as usize].as_str());
            (t, format!("{t} · {}", words.collect::<Vec<_>>().join(" ")))
        };
        table.push(None, vec![Cell::Items(vec![name(i), name(j)]), Cell::number(c, 3)]);
    }
    let note = Block::note("The pairs that most often share documents, then those that least do.");
    let beside = Section::new("").with(table).with(note).blocks;
    Section::new("Correlations").with(Block::Row(vec![Block::Plot(plot), Block::Group(beside)]))
}

fn bridges(data: &PageData) -> Section {
    let mut table = Table::new(&["word", "score", "topics and their shares of its uses"]);
    table.tall = data.bridges.len() > 12;
    for Bridge { word, score, topics } in &data.bridges {
        let chips = topics.iter().map(|(t, share)| (*t, format!("{t} · {:.0} %", 100.0 * share))).collect();
        let word = Cell::text(data.vocabulary[*word].as_str());
        table.push(None, vec![word, Cell::number(*score, 3), Cell::Items(chips)]);
    }
    let text = "Words that belong to several topics at once and so tie them together.";
    Section::new("Bridging words").with(Block::text(text)).with(table)
}

fn spectrum(data: &PageData) -> Section {
    let k = data.topics.rows();
    let mut caption =
        format!("Eigenvalues of the second moment, largest first. The model uses the first {k}");
    caption += match data.interval {
        Some(_) => "; k was chosen from the data, and the shaded range would also do.",
        None => "; k was given.",
    };
    let mut plot = Plot::line(caption, data.spectrum)
        .axes("component", "eigenvalue")
        .log_y()
        .mark(k as f64, &format!("k = {k}"));
    if let Some((from, to)) = data.interval {
        plot = plot.band(from as f64, to as f64, "interval");
    }
    let mut blocks = vec![Block::Plot(plot)];
    if data.tried.len() > 1 {
        let points = data.tried.iter().map(|&(k, perplexity)| (k as f64, perplexity)).collect();
        let caption = "Perplexity of held-out words for the numbers of topics that were tried, before any polish; \
                       lower is better.";
        let curve = Plot::lines(caption, vec![Series { name: String::new(), points }]);
        blocks.push(curve.axes("topics", "perplexity").mark(k as f64, &format!("k = {k}")).into());
    }
    if data.curve.len() > 1 {
        let series = Series { name: String::new(), points: data.curve.to_vec() };
        let caption = "Perplexity of held-out words along the polish, from the answer of the moments at 0; lower is better.";
        blocks
            .push(Plot::lines(caption, vec![series]).axes("passes over the documents", "perplexity").into());
    }
    Section::new("Spectrum").with(Block::Row(blocks))
}

fn about(data: &PageData, map: &Layout, words: &Words) -> Section {
    Section::about(data.parameters)
        .with(Block::heading("What this page leaves out"))
        .with(Block::text(left_out(data, map, words)))
}

/// What the page does not hold, said plainly.
fn left_out(data: &PageData, map: &Layout, words: &Words) -> String {
    let (held, all) = (words.held.len(), data.vocabulary.len());
    let search = if held == all {
        format!("All {} words can be searched.", grouped(all))
    } else {
        format!(
            "Of {} words, the {} most probable ones and those that the word bars can show can be searched; the model \
             file holds them all.",
            grouped(all),
            grouped(held)
        )
    };
    // Empty documents are never looked at; a sample leaves out most.
    let sample = if data.looked_at > 0 && 2 * data.looked_at < data.documents {
        format!(
            " Sizes, correlations and typical documents are those of a random sample of {} documents.",
            grouped(data.looked_at)
        )
    } else {
        String::new()
    };
    format!(
        "{search}{sample} The word bars hold, for every topic, each word that is among the {} most relevant at any position of \
         the slider. A word's distribution leaves out topics with less than 1 % of its uses. Numbers are rounded to \
         five digits. The map keeps {:.0} % of the squared distances between topics, and circles that would cover \
         each other are moved apart. Topics have the ids of the model file, counted from 0.",
        words::SHOWN,
        100.0 * map.kept
    )
}

#[cfg(test)]
use crate::browser::Browser;
#[cfg(test)]
mod tests;
