//! The thesis's two tables of words (New York Times, α₀ = 1), remade on the Daily KOS blog.

use crate::report::{Page, percent, short};
use crate::{Outcome, Request};
use protocol::{Shared, shared_data};
use tenfold::topics::{Model, Params};

/// The thesis prints 18 topics with ten words each.
const TOPICS: usize = 18;
const WORDS: usize = 10;

/// What the thesis printed, topics 1, 8 and 11 of its table.
const PUBLISHED: [(&str, &str); 3] = [
    (
        "1",
        "prompting, complicated, eviscerated, predetermined, lap, renegotiating, loose, entity, legalese, justice",
    ),
    (
        "8",
        "capable, misdeed, dashboard, navigation, opportunistically, aerodynamic, airbag, system, braking, mph",
    ),
    ("11", "smirky, silly, bad, natured, frat, thoughtful, freaked, moron, obtuse, stink"),
];
const PUBLISHED_BRIDGES: &str =
    "minutes, consumer, human, member, friend, program, board, cell, insurance, shot";

/// Fits and writes the page `topic-words.md`.
pub fn run(request: &Request) -> Outcome<()> {
    let corpus = Shared::Kos.read(&shared_data()?)?;
    let params = Params { alpha0: 1.0, seed: request.seed, ..Params::new(TOPICS) };
    let model = params.fit(&corpus)?;
    let mut page = Page::new("Topics and the words between them");
    page.say(&format!(
        "The thesis printed topics of the New York Times collection at α₀ = 1. Here the same is done with the Daily KOS \
         blog ({} documents, {} words), {TOPICS} topics, α₀ = 1, the usual polish.",
        corpus.documents(),
        corpus.words()
    ));
    topics(&mut page, &model);
    bridges(&mut page, &model);
    page.finish(&request.out, "topic-words")?;
    Ok(())
}

fn topics(page: &mut Page, model: &Model) {
    page.section("Top words");
    page.say(
        "Most probable words of each topic; in brackets the most relevant ones at λ = 0.3, which favours words that are \
         special to the topic. Coherence is NPMI over documents: 0 is chance, 1 is always together.",
    );
    let word = |w: usize| model.vocabulary()[w].clone();
    let list = |t: usize, n: usize, lambda: f64| -> String {
        model.top_words(t, n, lambda).iter().map(|w| word(w.word)).collect::<Vec<_>>().join(", ")
    };
    let rows: Vec<Vec<String>> = (0..model.k())
        .map(|t| {
            vec![
                t.to_string(),
                percent(model.shares()[t]),
                short(model.coherence()[t]),
                format!("{} ({})", list(t, WORDS, 1.0), list(t, 5, 0.3)),
            ]
        })
        .collect();
    page.table(&["topic", "share", "coherence", "words"], &rows);
    page.say("Three of the published topics, on the New York Times:");
    let published: Vec<Vec<String>> =
        PUBLISHED.iter().map(|(topic, words)| vec![topic.to_string(), words.to_string()]).collect();
    page.table(&["topic", "words"], &published);
}

fn bridges(page: &mut Page, model: &Model) {
    page.section("Words that bridge topics");
    page.say(
        "Words that belong to many topics at once, by bridgeness corrected for frequency, with the topics that hold at \
         least a tenth of the word.",
    );
    let rows: Vec<Vec<String>> = model
        .bridging_words(WORDS)
        .iter()
        .map(|bridge| {
            let topics = bridge.topics.iter().map(|(t, share)| format!("{t} ({})", percent(*share)));
            let topics = topics.collect::<Vec<_>>().join(", ");
            vec![model.vocabulary()[bridge.word].clone(), short(bridge.score), topics]
        })
        .collect();
    page.table(&["word", "score", "topics"], &rows);
    page.say(&format!("Published for the New York Times: {PUBLISHED_BRIDGES}."));
}
