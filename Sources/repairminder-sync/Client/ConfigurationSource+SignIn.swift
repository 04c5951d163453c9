import EntitySchema
import JSONText
import LocalAPI

extension ConfigurationSource {
    /// The packaged daemon's socket; nil with --config, which must not lead to another daemon's.
    var systemSocket: String? { config == nil ? ConnectionOptions.systemSocket : nil }

    /// What a sign-in or a sign-out goes by. Throws for a user who may not use the state directory.
    func signInSetup() throws -> (configuration: Configuration, schema: EntitySchema) {
        let environment = Environment.ofThisProcess()
        let configuration = try configuration(environment: environment)
        try StateAccess.require(configuration)
        return (configuration, try setupReader(environment: environment).ownSchema(for: configuration))
    }

    /// Starts a sync, so that a running daemon notices a sign-in or a sign-out immediately. False when no daemon answers.
    func startSync(_ configuration: Configuration) async -> Bool {
        do {
            let client = try ConnectionOptions.configured(configuration.place, systemSocket: systemSocket)
                .client(deadline: .seconds(5))
            _ = try await client.post(LocalAPIPaths.sync, body: .object([:]))
            return true
        } catch {
            return false
        }
    }
}
