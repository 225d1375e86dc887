//! ADD and DROP IDENTITY.

/// `ADD IDENTITY [IF NOT EXISTS] identity TO ROLE role`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddIdentity {
    /// The identity; an unquoted name keeps its case.
    pub identity: String,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The role; an unquoted name keeps its case.
    pub role: String,
}

/// `DROP IDENTITY [IF EXISTS] identity`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropIdentity {
    /// The identity; an unquoted name keeps its case.
    pub identity: String,
    /// `IF EXISTS`
    pub if_exists: bool,
}
