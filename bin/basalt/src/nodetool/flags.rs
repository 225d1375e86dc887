//! nodetool's flags of one dash and several letters, which no Unix parser reads, as those of two dashes that mean the same.

/// Each such flag with its long name.
const FLAGS: [(&str, &str); 11] = [
    ("-pw", "--password"),
    ("-pwf", "--password-file"),
    ("-pp", "--print-port"),
    ("-cf", "--table"),
    ("-kt", "--kt-list"),
    ("-kc", "--kt-list"),
    ("--kc.list", "--kt-list"),
    ("-sf", "--skip-flush"),
    ("-st", "--start-token"),
    ("-et", "--end-token"),
    ("-nt", "--no-ttl"),
];

/// The arguments of a process with those of `nodetool` in their long form.
pub fn long_names(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut is_nodetool = false;
    let mut is_over = false;
    let long = |(index, argument): (usize, String)| {
        is_nodetool |= index == 1 && argument == "nodetool";
        is_over |= argument == "--";
        let known = FLAGS.iter().find(|(flag, _)| is_nodetool && !is_over && *flag == argument);
        known.map_or(argument, |(_, long)| (*long).to_owned())
    };
    arguments.enumerate().map(long).collect()
}

#[cfg(test)]
mod tests {
    //! Only nodetool's own, and only flags.
    use super::long_names;

    fn of(line: &str) -> String {
        long_names(line.split(' ').map(str::to_owned)).join(" ")
    }

    #[test]
    fn flags_of_several_letters_get_two_dashes() {
        assert_eq!(
            of("basalt nodetool -pp snapshot -cf t -sf"),
            "basalt nodetool --print-port snapshot --table t --skip-flush"
        );
        assert_eq!(of("basalt nodetool snapshot -- -cf"), "basalt nodetool snapshot -- -cf");
        assert_eq!(of("basalt run -pp"), "basalt run -pp");
    }
}
