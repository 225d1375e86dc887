//! Limits and entries of the parser.
