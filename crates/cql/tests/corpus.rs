//! Statements and what becomes of them: `tests/parse/*.txt`.
//!
//! A line is a statement (`\n` and `\t` stand for a line end and a tab). The line below it is what it prints as
//! (`= ...`) or the error (`! ...`); what Cassandra 5.0.9 says to the same texts was compared when they were written.
//! `UPDATE_EXPECT=1` rewrites the files. Other lines are headings, which begin with `#`.

use std::path::Path;

use basalt_cql::parse;

/// The file as it should be.
fn rendered(file: &str) -> String {
    let mut out = String::new();
    for line in file.lines().filter(|line| !line.starts_with("= ") && !line.starts_with("! ")) {
        out.push_str(line);
        out.push('\n');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let text = line.replace("\\n", "\n").replace("\\t", "\t");
        let verdict = match parse(&text) {
            Ok(parsed) => {
                let printed = parsed.statement.to_string();
                let again =
                    parse(&printed).unwrap_or_else(|error| panic!("{text} printed as {printed}: {error}"));
                assert_eq!(again, parsed, "{text} printed as {printed}");
                format!("= {printed}")
            }
            Err(error) => format!("! {error}"),
        };
        out.push_str(&verdict.replace('\n', "\\n").replace('\t', "\\t"));
        out.push('\n');
    }
    out
}

fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parse").join(name);
    let file = std::fs::read_to_string(&path).expect("the corpus is part of the repository");
    expect_test::expect_file![path].assert_eq(&rendered(&file));
}

#[test]
fn data_statements() {
    check("data.txt");
}

#[test]
fn schema_statements() {
    check("schema.txt");
}

#[test]
fn access_statements() {
    check("access.txt");
}

#[test]
fn describe_statements() {
    check("describe.txt");
}

#[test]
fn terms_and_selectables() {
    check("terms.txt");
}

#[test]
fn names_and_types() {
    check("names.txt");
}

#[test]
fn errors() {
    check("errors.txt");
}
