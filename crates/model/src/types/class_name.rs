//! Types as Java class names (`AbstractType.toString`), which `vector` travels under and which
//! custom types are known by.
