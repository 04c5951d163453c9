import Upstream

/// Reads all files that a daemon is set up with, and checks that they can be used together.
struct SetupReader: Sendable {
    /// The file that was asked for; nil for the system's.
    let path: String?
    let flags: [ConfigurationKey: String]
    let environment: Environment

    /// Throws for the first thing that a person must correct. What is only missing yet, such as a sign-in, is no error.
    func setup() throws(ConfigurationError) -> Setup {
        let configuration = try ConfigurationReader(path: path, flags: flags, environment: environment)
            .configuration()
        let finder = SchemaFinder(environment: environment)
        let setup = Setup(
            configuration: configuration, schema: try finder.schema(for: configuration),
            schemaFile: try finder.path(for: configuration))
        try checkToken(configuration)
        try checkKey(configuration)
        return setup
    }

    private func checkToken(_ configuration: Configuration) throws(ConfigurationError) {
        guard let path = configuration.upstream.tokenFile else { return }
        do {
            _ = try BearerToken(path: path)
        } catch {
            throw ConfigurationError(place: "upstream.token_file", problem: error.message)
        }
    }

    private func checkKey(_ configuration: Configuration) throws(ConfigurationError) {
        do {
            _ = try SecretKeyFile(configuration).existing()
        } catch {
            throw ConfigurationError(place: "secret_key_file", problem: error.message)
        }
    }
}
