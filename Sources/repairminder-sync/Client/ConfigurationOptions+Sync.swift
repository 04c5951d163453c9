import JSONText
import LocalAPI

extension ConfigurationOptions {
    /// The packaged daemon's socket; nil with --config, which must not lead to another daemon's.
    var systemSocket: String? { config == nil ? ConnectionOptions.systemSocket : nil }

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
