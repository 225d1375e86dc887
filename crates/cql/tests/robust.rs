//! What holds for any text: no panic, and what is accepted prints to a text that means the same.

use basalt_cql::fuzzing::fuzz_one;
use proptest::prelude::*;

/// Every statement of the corpus.
fn corpus() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parse");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the corpus is part of the repository")
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    files.sort();
    let texts = files.into_iter().map(|path| std::fs::read_to_string(path).expect("a readable file"));
    texts
        .flat_map(|text| text.lines().map(|line| line.replace("\\n", "\n")).collect::<Vec<_>>())
        .filter(|line| !line.is_empty() && !line.starts_with(['#', '=', '!']))
        .collect()
}

/// A small generator of numbers with a fixed beginning: the same mutations in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n.max(1) as u64).expect("below a usize")
    }
}

/// Cuts a text into words, spaces and single characters.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut word = false;
    for c in text.chars() {
        let in_word = c.is_alphanumeric() || c == '_';
        match pieces.last_mut() {
            Some(last) if in_word && word => last.push(c),
            _ => pieces.push(c.to_string()),
        }
        word = in_word;
    }
    pieces
}

#[test]
fn mutated_statements_do_no_harm() {
    let corpus = corpus();
    let pool: Vec<String> = corpus.iter().flat_map(|text| pieces(text)).collect();
    let mut numbers = Numbers(0x5eed);
    for _ in 0..20_000 {
        let mut pieces = pieces(&corpus[numbers.below(corpus.len())]);
        for _ in 0..=numbers.below(3) {
            let at = numbers.below(pieces.len());
            match numbers.below(5) {
                0 => pieces.truncate(at),
                1 if !pieces.is_empty() => drop(pieces.remove(at)),
                2 => pieces.insert(at, pool[numbers.below(pool.len())].clone()),
                3 if !pieces.is_empty() => pieces[at] = pool[numbers.below(pool.len())].clone(),
                _ => {
                    let other = numbers.below(pieces.len());
                    if !pieces.is_empty() {
                        pieces.swap(at, other);
                    }
                }
            }
        }
        fuzz_one(pieces.concat().as_bytes());
    }
}

#[test]
fn statements_cut_anywhere_do_no_harm() {
    for text in corpus() {
        for end in 0..text.len() {
            fuzz_one(&text.as_bytes()[..end]);
        }
    }
}

proptest! {
    #[test]
    fn any_text_does_no_harm(text in "\\PC{0,60}") {
        fuzz_one(text.as_bytes());
    }

    #[test]
    fn any_tokens_do_no_harm(tokens in proptest::collection::vec(token(), 0..30)) {
        fuzz_one(tokens.join(" ").as_bytes());
    }

    #[test]
    fn any_selection_does_no_harm(tokens in proptest::collection::vec(token(), 0..16)) {
        fuzz_one(format!("SELECT {} FROM t", tokens.join(" ")).as_bytes());
    }

    #[test]
    fn any_relation_does_no_harm(tokens in proptest::collection::vec(token(), 0..16)) {
        fuzz_one(format!("SELECT * FROM t WHERE {}", tokens.join("")).as_bytes());
    }
}

/// A token that parsers may stumble over.
fn token() -> impl Strategy<Value = String> {
    let words = [
        "SELECT",
        "json",
        "distinct",
        "a",
        "\"b\"",
        "\"\"",
        "int",
        "list",
        "set",
        "<",
        ">",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "?",
        "..",
        ".",
        "1",
        "-1",
        "-",
        "--",
        "1.5",
        "'x'",
        "$$y$$",
        "0xff",
        "1h",
        "as",
        "AS",
        "FROM",
        "where",
        "and",
        "in",
        "token",
        "count",
        "*",
        "+",
        "=",
        "cast",
        "null",
        "contains",
        "key",
        "expr(",
        "true",
        "P1Y",
        "-nan",
        "writetime",
        "ttl",
        "frozen",
        "is",
        "not",
        ";",
        "\n",
        "\u{e9}",
        "exists",
        "if",
    ];
    proptest::sample::select(words.to_vec()).prop_map(str::to_owned)
}
