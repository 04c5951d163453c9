internal import CacheStore
internal import EntitySchema

/// Brings the cache in line with the schema's windows once lists were read: records that left go, and records outside
/// that kept ones refer to are read.
struct WindowSweep {
    let puller: Puller

    struct Outcome {
        /// How many records left, by entity.
        var left: [String: Int] = [:]
        /// Why records that kept ones refer to are missing, by their entity. `isPassing`: the next pull may read them.
        var problems: [String: (text: String, isPassing: Bool)] = [:]
    }

    /// The entities whose last pull was made with another window.
    private func unpulled() throws -> Set<String> {
        Set(
            try puller.schema.entities.filter { entity in
                guard entity.pull?.window != nil else { return false }
                return try puller.store.cursor(of: entity.name).window != puller.store.windowDefinition(of: entity)
            }.map(\.name))
    }

    /// `asksAgain`: also for records that the upstream did not serve a while ago.
    func run(asksAgain: Bool = false) async throws -> Outcome {
        let store = puller.store
        var outcome = Outcome()
        outcome.left = try await store.leaveWindows(
            at: puller.now(), serverNow: puller.upstreamTime, unpulled: try unpulled())
        var readers = puller.schema.entities.filter { $0.pull?.window?.keepsReferenced == true }.map {
            ReferenceReader(puller: puller, entity: $0)
        }
        if asksAgain {
            for reader in readers {
                try await store.forgetAbsent(of: reader.entity.name)
                try await store.noteReferences(nil, of: reader.entity.name, until: puller.now())
            }
        }
        // What was read may refer to others.
        var goesOn = true
        while goesOn {
            goesOn = false
            for index in readers.indices {
                let hasAsked = try await readers[index].read()
                goesOn = goesOn || hasAsked
            }
        }
        for reader in readers {
            guard let text = try await reader.problem() else { continue }
            outcome.problems[reader.entity.name] = (text, reader.mayPass)
        }
        return outcome
    }
}
