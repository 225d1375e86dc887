//! Profiles as cassandra-stress documents them.
