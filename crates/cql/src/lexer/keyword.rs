//! The keywords of the grammar, and in which places each may be a name.

/// Where a keyword may stand for a name (the `unreserved_keyword` rules of Cassandra's grammar).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Never.
    Reserved,
    /// Everywhere, also as the name of a type or function.
    Basic,
    /// A native type: everywhere but as the name of a type.
    Native,
    /// Everywhere but as the name of a function or type.
    Column,
}

macro_rules! keywords {
    ($($name:ident $token:literal $class:ident $($word:literal)|+;)*) => {
        /// A keyword.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum Keyword {
            $($name,)*
        }

        impl Keyword {
            /// The keyword written as `word`, which is in lower case.
            fn of_lower(word: &[u8]) -> Option<Keyword> {
                match word {
                    $($($word)|+ => Some(Keyword::$name),)*
                    _ => None,
                }
            }

            /// The name Cassandra's messages give to the token.
            pub(crate) fn token_name(self) -> &'static str {
                match self {
                    $(Keyword::$name => $token,)*
                }
            }

            /// Where it may be a name.
            pub(crate) fn class(self) -> Class {
                match self {
                    $(Keyword::$name => Class::$class,)*
                }
            }
        }
    };
}

keywords! {
    Access "K_ACCESS" Basic b"access";
    Add "K_ADD" Reserved b"add";
    Aggregate "K_AGGREGATE" Basic b"aggregate";
    Aggregates "K_AGGREGATES" Basic b"aggregates";
    All "K_ALL" Basic b"all";
    Allow "K_ALLOW" Reserved b"allow";
    Alter "K_ALTER" Reserved b"alter";
    And "K_AND" Reserved b"and";
    Ann "K_ANN" Basic b"ann";
    Apply "K_APPLY" Reserved b"apply";
    As "K_AS" Basic b"as";
    Asc "K_ASC" Reserved b"asc";
    Ascii "K_ASCII" Native b"ascii";
    Authorize "K_AUTHORIZE" Reserved b"authorize";
    Batch "K_BATCH" Reserved b"batch";
    Begin "K_BEGIN" Reserved b"begin";
    Bigint "K_BIGINT" Native b"bigint";
    Blob "K_BLOB" Native b"blob";
    Boolean "K_BOOLEAN" Native b"boolean";
    By "K_BY" Reserved b"by";
    Called "K_CALLED" Basic b"called";
    Cast "K_CAST" Column b"cast";
    Cidrs "K_CIDRS" Basic b"cidrs";
    Cluster "K_CLUSTER" Basic b"cluster";
    Clustering "K_CLUSTERING" Basic b"clustering";
    Compact "K_COMPACT" Basic b"compact";
    Contains "K_CONTAINS" Basic b"contains";
    Count "K_COUNT" Column b"count";
    Counter "K_COUNTER" Native b"counter";
    Create "K_CREATE" Reserved b"create";
    Custom "K_CUSTOM" Basic b"custom";
    Datacenters "K_DATACENTERS" Basic b"datacenters";
    Date "K_DATE" Native b"date";
    Decimal "K_DECIMAL" Native b"decimal";
    Default "K_DEFAULT" Basic b"default";
    Delete "K_DELETE" Reserved b"delete";
    Desc "K_DESC" Reserved b"desc";
    Describe "K_DESCRIBE" Reserved b"describe";
    Distinct "K_DISTINCT" Column b"distinct";
    Double "K_DOUBLE" Native b"double";
    Drop "K_DROP" Reserved b"drop";
    Duration "K_DURATION" Native b"duration";
    Entries "K_ENTRIES" Reserved b"entries";
    Execute "K_EXECUTE" Reserved b"execute";
    Exists "K_EXISTS" Basic b"exists";
    Filtering "K_FILTERING" Basic b"filtering";
    Finalfunc "K_FINALFUNC" Basic b"finalfunc";
    Float "K_FLOAT" Native b"float";
    From "K_FROM" Reserved b"from";
    Frozen "K_FROZEN" Basic b"frozen";
    Full "K_FULL" Reserved b"full";
    Function "K_FUNCTION" Basic b"function";
    Functions "K_FUNCTIONS" Basic b"functions";
    Grant "K_GRANT" Reserved b"grant";
    Group "K_GROUP" Basic b"group";
    Hashed "K_HASHED" Basic b"hashed";
    Identity "K_IDENTITY" Basic b"identity";
    If "K_IF" Reserved b"if";
    In "K_IN" Reserved b"in";
    Index "K_INDEX" Reserved b"index";
    Inet "K_INET" Native b"inet";
    Initcond "K_INITCOND" Basic b"initcond";
    Input "K_INPUT" Basic b"input";
    Insert "K_INSERT" Reserved b"insert";
    Int "K_INT" Native b"int";
    Internals "K_INTERNALS" Basic b"internals";
    Into "K_INTO" Reserved b"into";
    Is "K_IS" Reserved b"is";
    Json "K_JSON" Column b"json";
    Key "K_KEY" Column b"key";
    Keys "K_KEYS" Basic b"keys";
    Keyspace "K_KEYSPACE" Reserved b"keyspace";
    Keyspaces "K_KEYSPACES" Basic b"keyspaces";
    Language "K_LANGUAGE" Basic b"language";
    Like "K_LIKE" Basic b"like";
    Limit "K_LIMIT" Reserved b"limit";
    List "K_LIST" Basic b"list";
    Login "K_LOGIN" Basic b"login";
    Map "K_MAP" Basic b"map";
    Masked "K_MASKED" Basic b"masked";
    Materialized "K_MATERIALIZED" Reserved b"materialized";
    Maxwritetime "K_MAXWRITETIME" Column b"maxwritetime";
    Mbean "K_MBEAN" Basic b"mbean";
    Mbeans "K_MBEANS" Basic b"mbeans";
    Modify "K_MODIFY" Reserved b"modify";
    Nologin "K_NOLOGIN" Basic b"nologin";
    Norecursive "K_NORECURSIVE" Reserved b"norecursive";
    Nosuperuser "K_NOSUPERUSER" Basic b"nosuperuser";
    Not "K_NOT" Reserved b"not";
    Null "K_NULL" Reserved b"null";
    Of "K_OF" Reserved b"of";
    On "K_ON" Reserved b"on";
    Only "K_ONLY" Basic b"only";
    Options "K_OPTIONS" Basic b"options";
    Or "K_OR" Reserved b"or";
    Order "K_ORDER" Reserved b"order";
    Partition "K_PARTITION" Basic b"partition";
    Password "K_PASSWORD" Basic b"password";
    Per "K_PER" Basic b"per";
    Permission "K_PERMISSION" Basic b"permission";
    Permissions "K_PERMISSIONS" Basic b"permissions";
    Primary "K_PRIMARY" Reserved b"primary";
    Rename "K_RENAME" Reserved b"rename";
    Replace "K_REPLACE" Basic b"replace";
    Returns "K_RETURNS" Basic b"returns";
    Revoke "K_REVOKE" Reserved b"revoke";
    Role "K_ROLE" Basic b"role";
    Roles "K_ROLES" Basic b"roles";
    Schema "K_SCHEMA" Reserved b"schema";
    Select "K_SELECT" Reserved b"select";
    SelectMasked "K_SELECT_MASKED" Basic b"select_masked";
    Set "K_SET" Reserved b"set";
    Sfunc "K_SFUNC" Basic b"sfunc";
    Smallint "K_SMALLINT" Native b"smallint";
    Static "K_STATIC" Basic b"static";
    Storage "K_STORAGE" Basic b"storage";
    Stype "K_STYPE" Basic b"stype";
    Superuser "K_SUPERUSER" Basic b"superuser";
    Table "K_COLUMNFAMILY" Reserved b"table" | b"columnfamily";
    Tables "K_TABLES" Basic b"tables" | b"columnfamilies";
    Text "K_TEXT" Native b"text";
    Time "K_TIME" Native b"time";
    Timestamp "K_TIMESTAMP" Native b"timestamp";
    Timeuuid "K_TIMEUUID" Native b"timeuuid";
    Tinyint "K_TINYINT" Native b"tinyint";
    To "K_TO" Reserved b"to";
    Token "K_TOKEN" Reserved b"token";
    Trigger "K_TRIGGER" Basic b"trigger";
    Truncate "K_TRUNCATE" Reserved b"truncate";
    Ttl "K_TTL" Column b"ttl";
    Tuple "K_TUPLE" Basic b"tuple";
    Type "K_TYPE" Basic b"type";
    Types "K_TYPES" Basic b"types";
    Unlogged "K_UNLOGGED" Reserved b"unlogged";
    Unmask "K_UNMASK" Basic b"unmask";
    Unset "K_UNSET" Basic b"unset";
    Update "K_UPDATE" Reserved b"update";
    Use "K_USE" Reserved b"use";
    User "K_USER" Basic b"user";
    Users "K_USERS" Basic b"users";
    Using "K_USING" Reserved b"using";
    Uuid "K_UUID" Native b"uuid";
    Values "K_VALUES" Basic b"values";
    Varchar "K_VARCHAR" Native b"varchar";
    Varint "K_VARINT" Native b"varint";
    Vector "K_VECTOR" Basic b"vector";
    View "K_VIEW" Reserved b"view";
    Where "K_WHERE" Reserved b"where";
    With "K_WITH" Reserved b"with";
    Writetime "K_WRITETIME" Column b"writetime";
}

/// The longest keyword, in bytes.
const LONGEST: usize = 14;

impl Keyword {
    /// The keyword written as `word`, in any case.
    pub(crate) fn of(word: &str) -> Option<Keyword> {
        let mut lower = [0; LONGEST];
        let lower = lower.get_mut(..word.len())?;
        lower.copy_from_slice(word.as_bytes());
        lower.make_ascii_lowercase();
        Keyword::of_lower(lower)
    }
}
