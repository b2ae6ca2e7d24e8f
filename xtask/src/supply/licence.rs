//! Whether an SPDX expression, such as `(MIT OR Apache-2.0) AND Unicode-3.0`, can be met by licences that are allowed.

/// True if some choice among the alternatives needs allowed licences only. Old crates write `/` for `OR`.
pub fn allowed(expression: &str, list: &[String]) -> Result<bool, String> {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let answer = any(&words, &mut at, list)?;
    if at < words.len() {
        return Err(format!("the licence `{expression}` is not understood"));
    }
    Ok(answer)
}

/// `OR` binds least.
fn any(words: &[&str], at: &mut usize, list: &[String]) -> Result<bool, String> {
    let mut answer = all(words, at, list)?;
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        answer |= all(words, at, list)?;
    }
    Ok(answer)
}

fn all(words: &[&str], at: &mut usize, list: &[String]) -> Result<bool, String> {
    let mut answer = single(words, at, list)?;
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        answer &= single(words, at, list)?;
    }
    Ok(answer)
}

fn single(words: &[&str], at: &mut usize, list: &[String]) -> Result<bool, String> {
    let word = words.get(*at).ok_or("a licence ends in the middle")?;
    *at += 1;
    if *word == "(" {
        let answer = any(words, at, list)?;
        if words.get(*at) != Some(&")") {
            return Err("a licence has an open parenthesis".into());
        }
        *at += 1;
        return Ok(answer);
    }
    if matches!(*word, "OR" | "AND" | "WITH" | ")") {
        return Err(format!("a licence has `{word}` where a name belongs"));
    }
    // An exception grants more, so the licence without it must not be taken for the one with it.
    let name = match words.get(*at..*at + 2) {
        Some(["WITH", exception]) => {
            *at += 2;
            format!("{word} WITH {exception}")
        }
        _ => (*word).to_owned(),
    };
    Ok(list.contains(&name))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn expressions_are_weighed() {
        let list = ["MIT", "Apache-2.0", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        for good in [
            "MIT",
            "MIT/GPL-2.0",
            "GPL-2.0 OR MIT",
            "(MIT OR GPL-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
            "GPL-2.0 AND ISC OR MIT",
        ] {
            assert_eq!(allowed(good, &list), Ok(true), "{good}");
        }
        for bad in ["GPL-2.0", "MIT AND GPL-2.0", "(MIT OR ISC) AND GPL-2.0", "MIT WITH Something-else"] {
            assert_eq!(allowed(bad, &list), Ok(false), "{bad}");
        }
        for broken in ["", "MIT OR", "(MIT", "MIT)", "OR MIT", "MIT ISC"] {
            assert!(allowed(broken, &list).is_err(), "{broken}");
        }
    }
}
