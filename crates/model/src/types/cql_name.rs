//! Types as CQL text (`CQL3Type.toString`), as `system_schema` stores them.
