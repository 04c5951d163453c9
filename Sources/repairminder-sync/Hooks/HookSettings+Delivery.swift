import CacheStore
import EntitySchema
import Logging
import SyncEngine
import Upstream

extension HookSettings {
    /// The hook as it is delivered.
    func hook(
        _ schema: EntitySchema, environment: [String: String], clock: any Clock<Duration>,
        transport: any HTTPTransport, now: @escaping @Sendable () -> Timestamp, log: Logger
    ) -> Hook {
        switch recipient {
        case .command(let path, let arguments):
            let program = HookProgram(
                path: path, arguments: arguments, entity: rule.entity.flatMap { schema[$0] },
                environment: HookProgram.passedOn(environment), deadline: deadline, memory: memory, clock: clock
            ) { [name = rule.name] line in
                log.info("a hook's program wrote", metadata: ["hook": "\(name)", "line": "\(line)"])
            }
            return Hook(rule: rule, attempts: attempts) { try await program.run($0) }
        case .webhook(let url, let file):
            let webhook = HookWebhook(
                url: url, secrets: file.map { SignalSecrets(path: $0, key: secretKey) },
                deadline: deadline, transport: transport, now: now)
            return Hook(rule: rule, attempts: attempts) { try await webhook.send($0) }
        }
    }
}
