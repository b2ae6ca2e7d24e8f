//! The lists of `deny.toml` that are held here: plain arrays with one entry a line, so that no parser of TOML is needed.

/// What is allowed.
#[derive(Debug, PartialEq, Eq)]
pub struct Rules {
    pub licences: Vec<String>,
    /// Crates beside a newer version of themselves, as `name@version`.
    pub skip: Vec<String>,
    pub registries: Vec<String>,
}

impl Rules {
    /// From the text of `deny.toml`; a list that is not there, or a skip without a reason, is an error.
    pub fn read(text: &str) -> Result<Self, String> {
        Ok(Rules {
            licences: list(text, "[licenses]", "allow")?,
            skip: list(text, "[bans]", "skip")?,
            registries: list(text, "[sources]", "allow-registry")?,
        })
    }
}

/// The entries of one array: strings, or tables with a `crate` and a `reason`.
fn list(text: &str, section: &str, key: &str) -> Result<Vec<String>, String> {
    let head = format!("{key} = [");
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != section).skip(1);
    lines
        .by_ref()
        .take_while(|line| !line.starts_with('['))
        .find(|line| *line == head)
        .ok_or_else(|| format!("deny.toml: {section} has no `{head}` on a line of its own"))?;
    let inside =
        lines.take_while(|line| *line != "]").filter(|line| !line.is_empty() && !line.starts_with('#'));
    inside.map(entry).collect()
}

fn entry(line: &str) -> Result<String, String> {
    let quoted = |text: &str| text.split('"').nth(1).filter(|value| !value.is_empty()).map(str::to_owned);
    let found = match line.strip_prefix('{') {
        None => line.starts_with('"').then(|| quoted(line)).flatten(),
        Some(table) => {
            let value = |key: &str| table.split_once(&format!("{key} = ")).and_then(|(_, rest)| quoted(rest));
            value("reason").and_then(|_| value("crate"))
        }
    };
    found.ok_or_else(|| format!("deny.toml: `{line}` is neither a string nor a crate with its reason"))
}

#[cfg(test)]
mod unit {
    use super::*;

    const TEXT: &str = "\
[licenses]
# why
allow = [
    \"MIT\",
    \"Apache-2.0 WITH LLVM-exception\",
]

[bans]
multiple-versions = \"deny\"
skip = [
    # here too
    { crate = \"a@1.0.0\", reason = \"b needs it\" },
]

[sources]
allow-registry = [
    \"https://index\",
]
";

    #[test]
    fn lists_are_read() {
        let rules = Rules::read(TEXT).unwrap();
        assert_eq!(rules.licences, ["MIT", "Apache-2.0 WITH LLVM-exception"]);
        assert_eq!(rules.skip, ["a@1.0.0"]);
        assert_eq!(rules.registries, ["https://index"]);
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        assert!(Rules::read(&TEXT.replace("skip = [", "skip=[")).unwrap_err().contains("[bans]"));
        assert!(Rules::read(&TEXT.replace(", reason = \"b needs it\"", "")).unwrap_err().contains("reason"));
        assert!(Rules::read(&TEXT.replace("    \"MIT\",", "    MIT,")).unwrap_err().contains("MIT"));
    }

    #[test]
    fn the_real_file_is_understood() {
        let rules = Rules::read(include_str!("../../../deny.toml")).unwrap();
        assert!(rules.licences.iter().any(|licence| licence == "MIT"));
    }
}
