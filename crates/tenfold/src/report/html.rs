//! The page as text: markup for what is read, placeholders for what the script draws.

use super::policy::policy;
use super::{Block, Cell, Page, Section, Table};
use serde_json::{Value, json};
use std::fmt::Write;

const STYLE: &str = include_str!("assets/page.css");
const SCRIPT: &str = concat!(
    include_str!("assets/kit.js"),
    include_str!("assets/plots.js"),
    include_str!("assets/heatmap.js"),
    include_str!("assets/tables.js")
);
/// Last, because it mounts what the scripts before it registered.
const START: &str = include_str!("assets/start.js");

pub(super) fn render(page: &Page) -> String {
    let mut style = STYLE.to_owned();
    let mut script = SCRIPT.to_owned();
    for extension in &page.extensions {
        style += extension.style;
        script += extension.script;
    }
    script += START;
    let mut body = Body::default();
    body.header(page);
    for section in &page.sections {
        body.section(section);
    }
    let data = island(&Value::Array(body.mounts));
    let (policy, title, inside) = (policy(&style, &script), escape(&page.title), body.text);
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"generator\" content=\"tenfold {version}\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n{inside}</main>\n\
         <footer><p>Made by tenfold {version}. This page holds its data and fetches nothing.</p></footer>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{script}</script>\n</body>\n</html>\n"
    )
}

/// The markup so far, and what its placeholders stand for.
#[derive(Default)]
struct Body {
    text: String,
    mounts: Vec<Value>,
}

impl Body {
    fn add(&mut self, text: &str) {
        self.text += text;
    }

    fn header(&mut self, page: &Page) {
        // The empty picture lends its namespace to the script, so that no address stands in the page.
        self.add("<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<svg id=\"ns\" hidden></svg>\n<header>\n");
        self.add("<div class=\"masthead\"><span class=\"brand\">tenfold</span>");
        self.add("<button type=\"button\" id=\"theme\" hidden>Dark</button></div>\n");
        self.add(&format!(
            "<h1>{}</h1>\n<p class=\"subtitle\">{}",
            escape(&page.title),
            escape(&page.subtitle)
        ));
        if let Some(badge) = &page.badge {
            let class = if badge.warning { "badge warning" } else { "badge" };
            let (to, text) = (anchor(&badge.section), escape(&badge.text));
            self.add(&format!(" <a class=\"{class}\" href=\"#{to}\">{text}</a>"));
        }
        self.add("</p>\n</header>\n<nav aria-label=\"Sections\"><ul>");
        for section in &page.sections {
            self.add(&format!(
                "<li><a href=\"#{}\">{}</a></li>",
                anchor(&section.title),
                escape(&section.title)
            ));
        }
        self.add(
            "</ul></nav>\n<noscript><p class=\"callout\">Plots and search need JavaScript, which is off. ",
        );
        self.add("Text and tables are complete.</p></noscript>\n<main id=\"main\">\n");
    }

    fn section(&mut self, section: &Section) {
        let (id, title) = (anchor(&section.title), escape(&section.title));
        self.add(&format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n"
        ));
        section.blocks.iter().for_each(|block| self.block(block));
        self.add("</section>\n");
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Text(text) => self.add(&format!("<p>{}</p>\n", escape(text))),
            Block::Note(text) => self.add(&format!("<p class=\"note\">{}</p>\n", escape(text))),
            Block::Heading(text) => self.add(&format!("<h3>{}</h3>\n", escape(text))),
            Block::Facts(facts) => self.facts(facts),
            Block::Findings { headline, findings } => self.findings(headline, findings),
            Block::Code(text) => {
                let text = escape(text);
                self.add(&format!(
                    "<div class=\"code\"><button type=\"button\" class=\"copy\" hidden>Copy</button><pre tabindex=\"0\">{text}</pre></div>\n"
                ));
            }
            Block::Table(table) => self.table(table),
            Block::Plot(plot) => {
                self.add("<figure>");
                self.mount("plot", plot.to_json());
                self.add(&format!("<figcaption>{}</figcaption></figure>\n", escape(plot.caption())));
            }
            Block::Widget { name, data } => self.mount(name, data.clone()),
            Block::Group(blocks) => blocks.iter().for_each(|block| self.block(block)),
            Block::Row(blocks) => {
                self.add("<div class=\"row\">\n");
                for block in blocks {
                    self.add("<div>");
                    self.block(block);
                    self.add("</div>\n");
                }
                self.add("</div>\n");
            }
        }
    }

    fn mount(&mut self, name: &str, data: Value) {
        self.add(&format!("<div class=\"mount {name}\" data-mount=\"{}\"></div>", self.mounts.len()));
        self.mounts.push(json!({ "name": name, "data": data }));
    }

    fn facts(&mut self, facts: &[(String, String)]) {
        self.add("<dl class=\"facts\">\n");
        for (name, value) in facts {
            self.add(&format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value)));
        }
        self.add("</dl>\n");
    }

    fn findings(&mut self, headline: &str, findings: &[(bool, String)]) {
        let class = if findings.iter().any(|(warning, _)| *warning) { "callout warning" } else { "callout" };
        self.add(&format!("<div class=\"{class}\"><p><strong>{}</strong></p>", escape(headline)));
        if !findings.is_empty() {
            self.add("<ul>");
            for (warning, text) in findings {
                let (class, word) = if *warning { ("warning", "Warning") } else { ("note", "Note") };
                self.add(&format!("<li><span class=\"level {class}\">{word}</span> {}</li>", escape(text)));
            }
            self.add("</ul>");
        }
        self.add("</div>\n");
    }

    fn table(&mut self, table: &Table) {
        let class = if table.tall { "table tall" } else { "table" };
        self.add(&format!(
            "<div class=\"{class}\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>\n<thead><tr>"
        ));
        for (j, name) in table.columns.iter().enumerate() {
            let first = table.rows.first().map(|(_, cells)| &cells[j]);
            let class = match first {
                Some(Cell::Number(..)) => " class=\"number\"",
                _ => "",
            };
            self.add(&format!("<th scope=\"col\"{class}>{}</th>", escape(name)));
        }
        self.add("</tr></thead>\n<tbody>\n");
        for (item, cells) in &table.rows {
            let item = item.map_or(String::new(), |i| format!(" data-item=\"{i}\""));
            self.add(&format!("<tr{item}>"));
            cells.iter().for_each(|cell| self.cell(cell));
            self.add("</tr>\n");
        }
        self.add("</tbody></table></div>\n");
    }

    fn cell(&mut self, cell: &Cell) {
        let text = match cell {
            Cell::Text(text) => format!("<td><bdi>{}</bdi></td>", escape(text)),
            Cell::Number(x, text) => format!("<td class=\"number\" data-value=\"{x}\">{}</td>", escape(text)),
            Cell::Bar(x, text, length) => format!(
                "<td class=\"bar\" data-value=\"{x}\"><span>{}</span><svg viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" \
                 aria-hidden=\"true\"><rect width=\"{:.1}\" height=\"8\"/></svg></td>",
                escape(text),
                100.0 * length
            ),
            Cell::Words(words) => {
                // Each word keeps its own direction of writing.
                let words: Vec<String> = words.iter().map(|w| format!("<bdi>{}</bdi>", escape(w))).collect();
                format!("<td class=\"words\">{}</td>", words.join(" "))
            }
            Cell::Items(items) => chips("item", items),
            Cell::Picks(picks) => chips("pick", picks),
        };
        self.add(&text);
    }
}

/// A cell of buttons that choose an item or pick a thing.
fn chips(what: &str, named: &[(usize, String)]) -> String {
    let mut text = "<td class=\"items\">".to_owned();
    for (id, name) in named {
        // Writing to a string cannot fail. A name keeps its own direction of writing.
        let _ = write!(
            text,
            "<button type=\"button\" class=\"chip\" data-{what}=\"{id}\"><bdi>{}</bdi></button> ",
            escape(name)
        );
    }
    text + "</td>"
}

/// The name of a section inside the page: letters, digits and dashes.
fn anchor(title: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    format!("s-{}", title.chars().map(plain).collect::<String>())
}

/// Text as text, inside elements and inside quoted attributes. What HTML cannot hold becomes the replacement
/// character.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\n' | '\t' => out.push(c),
            c if c.is_control() || turns(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Whether a character turns the direction of all that follows it, up to the end of the paragraph: an embedding, an override or an
/// isolate. Marks, which only tell the direction of their own place, belong to the writing of many languages.
fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// JSON inside a script element: what could end the element or begin a comment is written as an escape, which
/// JSON allows wherever these letters can stand.
fn island(value: &Value) -> String {
    let text = value.to_string();
    let mut out = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        match c {
            '<' => out += "\\u003c",
            '>' => out += "\\u003e",
            '&' => out += "\\u0026",
            '\u{2028}' => out += "\\u2028",
            '\u{2029}' => out += "\\u2029",
            c if turns(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Plot;

    const HOSTILE: &[&str] = &[
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<!--<script>",
        "\"'><svg onload=alert(1)>",
        "]]>&lt;&#60;",
        "a\u{0}b\u{1b}\u{7f}",
        "\u{2028}\u{2029}\\u003c/script>",
        "{{constructor}} ${alert(1)} `x`",
    ];

    #[test]
    fn no_name_turns_the_text_behind_it() {
        let name = "abc\u{202e}txt\u{2067}x";
        let mut page = Page::new(name, name);
        page.push(
            Section::new(name).with(Block::text(name)).with(Block::Widget { name: "w", data: json!([name]) }),
        );
        let html = page.to_html();
        assert!(!html.contains(turns) && html.contains("abc\u{fffd}txt\u{fffd}x"));
        // Marks of direction and letters of any script stay.
        assert_eq!(escape("\u{200f}עברית"), "\u{200f}עברית");
    }

    fn hostile_page() -> Page {
        let all = || HOSTILE.iter().map(|w| (*w).to_owned());
        let mut page = Page::new(HOSTILE.concat(), HOSTILE.concat());
        let mut table = Table::new(HOSTILE);
        let cells = all().map(|w| Cell::Items(vec![(1, w.clone()), (2, w)])).collect();
        table.push(Some(0), cells);
        table.push(None, all().map(|w| Cell::Picks(vec![(1, w)])).collect());
        table.push(None, all().map(|w| Cell::Words(vec![w])).collect());
        let bars = Plot::bars(HOSTILE.concat(), &all().collect::<Vec<_>>(), &[1.0; 8], true);
        let section = Section::new(HOSTILE.concat())
            .with(Block::text(HOSTILE.concat()))
            .with(Block::Code(HOSTILE.concat()))
            .with(Block::Facts(all().map(|w| (w.clone(), w)).collect()))
            .with(Block::Widget { name: "w", data: json!(HOSTILE) })
            .with(table)
            .with(bars);
        page.push(section);
        let findings = page.judge(HOSTILE[0], all().map(|w| (true, w)).collect());
        page.push(Section::new(HOSTILE[0]).with(findings));
        page
    }

    #[test]
    fn hostile_words_stay_words() {
        let html = hostile_page().to_html();
        let lower = html.to_lowercase();
        assert_eq!(lower.matches("<script").count(), 2, "the data and the program");
        assert_eq!(lower.matches("</script").count(), 2);
        for tag in ["<img", "<!--", "<svg onload"] {
            assert!(!lower.contains(tag), "{tag}");
        }
        assert!(!html.contains('\u{0}') && !html.contains('\u{1b}'));
        let start = html.find("id=\"data\">").unwrap() + 10;
        let end = start + html[start..].find("</script>").unwrap();
        let data: Value = serde_json::from_str(&html[start..end]).unwrap();
        assert_eq!(data[0]["data"], json!(HOSTILE), "data come back as they were");
    }

    #[test]
    fn a_browser_shows_hostile_words_and_runs_none() {
        let Some(mut browser) = crate::browser::Browser::start() else { return };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        let mut page = hostile_page();
        // The widget's own script is missing on purpose: without it the page would stop there.
        page.sections[0].blocks.retain(|block| !matches!(block, Block::Widget { .. }));
        page.write(&path).unwrap();
        for width in [1280, 390] {
            browser.open(&path, width, false);
            assert_eq!(browser.value("[document.images.length, document.scripts.length]"), json!([0, 2]));
            assert!(browser.text("h1").starts_with(HOSTILE[0]));
            let over = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(browser.value(over), 0, "no scrolling sideways at {width}");
            assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
        }
    }

    #[test]
    fn the_page_is_lean_and_names_no_address() {
        let mut page = Page::new("t", "s");
        page.push(Section::new("Spectrum").with(Plot::line("c", &[2.0, 1.0]).log_y()));
        let html = page.to_html();
        assert!(html.len() < 60_000, "{} bytes before any data", html.len());
        for part in ["http:", "https:", "//www", "url(", "@import", "fetch(", "XMLHttp", "innerHTML", "eval("]
        {
            assert!(!html.contains(part), "{part}");
        }
        assert_eq!(html, page.to_html(), "the same bytes");
        assert!(html.contains("script-src 'sha256-") && html.contains("style-src 'sha256-"));
    }

    #[test]
    fn anchors_are_plain() {
        assert_eq!(anchor("Größe & \"x\""), "s-gr--e----x-");
    }
}
