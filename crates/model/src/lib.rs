//! nouns
