//! The one program: `basalt run` starts a node.
fn main() {}
