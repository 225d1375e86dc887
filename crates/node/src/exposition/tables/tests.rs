//! Which tables a page shows, and what of them.

use basalt_storage::checker::test_table;
use uuid::Uuid;

use super::*;
use crate::env::SystemEnv;

fn schema(names: &[&str]) -> Schema {
    let mut schema = Schema::default();
    for (at, name) in (1_u128..).zip(names) {
        let id = TableId(Uuid::from_u128(at));
        let table = Table { id, keyspace: "ks".into(), name: (*name).into(), ..(*test_table(false)).clone() };
        schema.tables_by_id.insert(id, Arc::new(table));
    }
    schema
}

fn id(at: u128) -> TableId {
    TableId(Uuid::from_u128(at))
}

fn page(
    metrics: &TableMetrics,
    schema: &Schema,
    debts: &HashMap<TableId, Debt>,
    tables_max: usize,
) -> String {
    let mut page = Page::default();
    write(&mut page, metrics, schema, debts, tables_max);
    page.into_text()
}

fn metrics() -> TableMetrics {
    TableMetrics::new(Arc::new(SystemEnv::new()), 1)
}

#[test]
fn only_what_happened_is_shown() {
    let (metrics, schema) = (metrics(), schema(&["used", "unused"]));
    metrics.read(id(1), metrics.begin(), false, 3, 7);
    let text = page(&metrics, &schema, &HashMap::new(), 10);
    assert!(!text.contains("unused"), "{text}");
    let read = "{keyspace=\"ks\",table=\"used\",operation=\"read\"";
    assert!(text.contains(&format!("basalt_local_latency_seconds_count{read}}} 1\n")), "{text}");
    assert!(text.contains(&format!("basalt_local_latency_seconds{read},quantile=\"0.999\"}} ")), "{text}");
    assert!(!text.contains("operation=\"write\""), "nothing was written: {text}");
    assert!(
        text.contains("basalt_rows_per_read{keyspace=\"ks\",table=\"used\",quantile=\"0.5\"} 3\n"),
        "{text}"
    );
    assert!(
        text.contains("basalt_tombstones_per_read{keyspace=\"ks\",table=\"used\",quantile=\"1\"} 7\n"),
        "{text}"
    );
}

#[test]
fn a_page_has_room_for_so_many_tables_and_says_so() {
    let (metrics, schema) = (metrics(), schema(&["c", "a", "b"]));
    (1..=3).for_each(|at| metrics.wrote(&[id(at)], metrics.begin()));
    let text = page(&metrics, &schema, &HashMap::new(), 2);
    assert!(
        text.contains("table=\"a\"") && text.contains("table=\"b\"") && !text.contains("table=\"c\""),
        "{text}"
    );
    assert!(text.ends_with("basalt_tables_not_shown 1\n"), "{text}");
}

#[test]
fn what_tables_share_is_not_counted_for_each() {
    let (metrics, schema) = (metrics(), schema(&["own", "shared"]));
    metrics.wrote(&[id(1), id(2)], metrics.begin());
    let debt = |is_shared| Debt { pending_bytes: 5, level0_files: 4, is_shared, ..Debt::default() };
    let debts = HashMap::from([(id(1), debt(false)), (id(2), debt(true))]);
    let text = page(&metrics, &schema, &debts, 10);
    assert!(
        text.contains("basalt_table_compaction_pending_bytes{keyspace=\"ks\",table=\"own\"} 5\n"),
        "{text}"
    );
    assert!(text.contains("basalt_table_level0_files{keyspace=\"ks\",table=\"own\"} 4\n"), "{text}");
    let owed: Vec<&str> = text.lines().filter(|line| line.starts_with("basalt_table_")).collect();
    assert!(owed.iter().all(|line| !line.contains("\"shared\"")), "{owed:?}");
}
