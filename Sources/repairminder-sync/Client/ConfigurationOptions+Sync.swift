import JSONText
import LocalAPI

extension ConfigurationOptions {
    /// Starts a sync, so that a running daemon notices a sign-in or a sign-out immediately. False when no daemon answers.
    func startSync(_ configuration: Configuration) async -> Bool {
        do {
            let client = try ConnectionOptions.configured(
                configuration.place, systemSocket: config == nil ? ConnectionOptions.systemSocket : nil
            ).client(deadline: .seconds(5))
            _ = try await client.post(LocalAPIPaths.sync, body: .object([:]))
            return true
        } catch {
            return false
        }
    }
}
