//! Which bytes are a value of a type (`AbstractType.validate`).
