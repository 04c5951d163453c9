internal import EntitySchema

/// What a token stands for that the upstream gave out: everything up to a version was listed.
struct DeltaMark {
    var version: Int
    var madeAt: Timestamp

    init(version: Int, madeAt: Timestamp) {
        self.version = version
        self.madeAt = madeAt
    }

    /// Nil without a token. Refuses one that this upstream has never given out, or no longer knows.
    init?(_ token: String?, of entity: String, _ store: Store, _ now: Timestamp) throws(Refusal) {
        guard let token else { return nil }
        let parts = token.split(separator: "-").map { Int64($0) }
        guard parts.count == 2, let version = parts[0], let time = parts[1], version <= store.version(of: entity) else {
            throw .forgotten(token)
        }
        self.init(version: Int(version), madeAt: Timestamp(milliseconds: time))
        guard let lifetime = store.habits.time(.forgottenTokens), madeAt + lifetime <= now else { return }
        store.note(.forgottenTokens)
        throw .forgotten(token)
    }

    /// Opaque to callers.
    var token: String { "\(version)-\(madeAt.milliseconds)" }
}

extension Refusal {
    fileprivate static func forgotten(_ token: String) -> Refusal {
        Refusal(
            status: 410, code: "unknown_token", message: "the token \(token) is not known any more; read the whole list"
        )
    }
}
