//! Text of a `cassandra.yaml`: no panic, an error on one line, and settings that show.
#![no_main]

use basalt_node::config::Config;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Config::parse("fuzz", text) {
        Ok(config) => {
            let shown = config.shown();
            assert!(shown.windows(2).all(|pair| pair[0] <= pair[1]), "settings are shown in order");
            let _any = (
                config.millis("commitlog_sync_period"),
                config.bytes("memory"),
                config.flag("rpc_keepalive"),
            );
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error:?}"),
    }
});
