import ArgumentParser

/// `--setting` of the commands that take a schema without a configuration.
struct SettingOption: ParsableArguments {
    @Option(
        name: .customLong("setting"), parsing: .singleValue,
        help: ArgumentHelp("A setting that the schema names; can be repeated.", valueName: "name=value"))
    var values: [String] = []

    func validate() throws {
        guard let wrong = values.first(where: { !$0.contains("=") }) else { return }
        throw ValidationError("--setting \(wrong): expected NAME=VALUE")
    }
}
