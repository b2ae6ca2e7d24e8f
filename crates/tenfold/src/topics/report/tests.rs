use super::*;
use rand::RngExt;
use tenfold_engine::linalg::random;

/// A drawn model of plain words, one of them hostile.
struct Drawn {
    topics: Mat,
    vocabulary: Vec<String>,
    unigram: Vec<f64>,
    shares: Vec<f64>,
    correlations: Mat,
    verdict: Verdict,
    parameters: Value,
}

impl Drawn {
    fn new(k: usize, words: usize) -> Self {
        let mut rng = random::rng(5, 0);
        let mut topics = Mat::from_fn(k, words, |_, w| rng.random::<f64>().powi(6) / (1.0 + w as f64));
        for t in 0..k {
            let sum: f64 = topics.row(t).iter().sum();
            topics.row_mut(t).iter_mut().for_each(|p| *p /= sum);
        }
        let total = (k * (k + 1)) as f64 / 2.0;
        let shares: Vec<f64> = (0..k).map(|t| (k - t) as f64 / total).collect();
        let unigram = (0..words).map(|w| (0..k).map(|t| shares[t] * topics[(t, w)]).sum()).collect();
        let mut vocabulary: Vec<String> = (0..words).map(|w| format!("word{w}")).collect();
        vocabulary[1] = "</script><img src=x onerror=alert(1)>".into();
        let correlations =
            Mat::from_fn(k, k, |i, j| if i == j { 1.0 } else { ((i * j) % 7) as f64 / 10.0 - 0.3 });
        let mut verdict = Verdict::default();
        verdict.warn("topic 1 rests on a handful of documents");
        let parameters = json!({ "k": k, "seed": 7 });
        Self { topics, vocabulary, unigram, shares, correlations, verdict, parameters }
    }

    fn data(&self) -> PageData<'_> {
        let k = self.topics.rows();
        PageData {
            topics: &self.topics,
            vocabulary: &self.vocabulary,
            unigram: &self.unigram,
            shares: &self.shares,
            alpha: &self.shares,
            correlations: &self.correlations,
            coherence: &self.shares,
            stability: &self.shares,
            spectrum: &[3.0, 2.0, 1.0, 0.1, 0.0],
            interval: Some((2, 4)),
            tried: &[(2, 2000.0), (5, 1900.0)],
            curve: &[(0.0, 1900.0), (0.5, 1500.0)],
            carriers: &self.shares,
            representatives: vec![vec![("document 1".into(), 0.9)]; k],
            bridges: vec![Bridge { word: 1, score: 0.8, topics: vec![(0, 0.5), (k - 1, 0.5)] }],
            verdict: &self.verdict,
            diagnostics: vec![("condition".into(), "12".into())],
            parameters: &self.parameters,
            documents: 1234,
            looked_at: 1234,
        }
    }
}

fn island(html: &str) -> Value {
    let start = html.find("id=\"data\">").unwrap() + 10;
    serde_json::from_str(&html[start..start + html[start..].find("</script>").unwrap()]).unwrap()
}

mod browser;

#[test]
fn the_page_holds_every_part_and_the_ids_of_the_model() {
    let drawn = Drawn::new(5, 300);
    let html = page(&drawn.data()).unwrap().to_html();
    for part in ["Explore", "Topics", "Correlations", "Bridging words", "Spectrum", "Diagnostics", "About"] {
        assert!(html.contains(&format!(">{part}</h2>")), "{part}");
    }
    assert!(html.contains("rests on a handful") && html.contains("5 topics in 1,234 documents"));
    assert!(html.contains("All 300 words can be searched"));
    let widget = &island(&html)[0]["data"];
    for t in 0..5 {
        // Topic t of the page is row t of the model: its first word is the most probable one.
        let first = widget["topics"][t]["words"][0].as_u64().unwrap() as usize;
        let best = top_words(&drawn.topics, 1)[t][0] as usize;
        assert_eq!(widget["words"][first], drawn.vocabulary[best]);
        assert!((widget["topics"][t]["p"][0].as_f64().unwrap() / drawn.topics[(t, best)] - 1.0).abs() < 1e-4);
    }
}

#[test]
fn a_sample_of_the_documents_is_called_one() {
    let drawn = Drawn::new(3, 40);
    let sampled = page(&PageData { documents: 90_000, looked_at: 20_480, ..drawn.data() }).unwrap().to_html();
    assert!(sampled.contains("random sample of 20,480 documents"));
    assert!(!page(&drawn.data()).unwrap().to_html().contains("random sample"));
}

#[test]
fn hostile_words_stay_inside_and_no_address_is_named() {
    let html = page(&Drawn::new(4, 60).data()).unwrap().to_html();
    assert_eq!(html.matches("<script").count(), 2);
    assert!(!html.contains("<img") && !html.contains("http:") && !html.contains("https:"));
    assert!(!html.contains("innerHTML"));
}

#[test]
fn the_smallest_models_have_a_page() {
    for k in [1, 2] {
        let drawn = Drawn::new(k, 3);
        let mut data = drawn.data();
        (data.stability, data.carriers, data.interval, data.spectrum) = (&[], &[], None, &[]);
        (data.tried, data.curve) = (&[], &[]);
        (data.representatives, data.bridges) = (Vec::new(), Vec::new());
        assert!(page(&data).unwrap().to_html().len() > 1000);
    }
}

#[test]
fn a_large_model_gives_a_small_page_quickly() {
    let drawn = Drawn::new(100, 100_000);
    let begin = std::time::Instant::now();
    let html = page(&drawn.data()).unwrap().to_html();
    let seconds = begin.elapsed().as_secs_f64();
    assert!(html.len() < 5_000_000, "{} bytes", html.len());
    assert!(html.contains("Of 100,000 words"));
    // A second or two on an idle machine; tests share theirs.
    assert!(seconds < 10.0, "{seconds} s");
    println!("{} bytes in {seconds:.2} s", html.len());
}
