import EntitySchema
import Upstream

/// Checks that the signals of the schema can arrive.
struct SignalChecks {
    let configuration: Configuration
    let schema: EntitySchema

    func findings() -> [Finding] {
        let sources = schema.upstream.signals
        guard !sources.isEmpty else { return [] }
        let names = sources.map(\.name).joined(separator: ", ")
        guard sources.contains(where: \.isWebhook) else { return [.ok("signals", names)] }
        guard let address = configuration.signals.listen else {
            return [
                .warning(
                    "signals", "the schema has a webhook, and signals.listen is off",
                    "set signals.listen to an address and port, or leave it: polling finds the changes")
            ]
        }
        guard let path = configuration.signals.secretFile else {
            return [
                .error("signals", "there is no secret", "set signals.secret_file to a file with the webhook's secret")
            ]
        }
        do {
            _ = try SignalSecrets(path: path).read()
        } catch {
            return [.error("signals", error.message, "check signals.secret_file")]
        }
        return [.ok("signals", "\(names), at \(address)")]
    }
}
