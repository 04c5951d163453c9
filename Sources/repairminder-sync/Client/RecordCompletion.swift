import ArgumentParser
import JSONText
import LocalAPI

/// What shells offer for entities, fields, values and ids: asks the daemon, and offers nothing if it does not answer.
enum RecordCompletion {
    private static let limit = 50
    private static let deadline = Duration.seconds(2)

    @Sendable static func entities(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        guard let schema = await answer(LocalAPIPaths.schema, [], words) else { return [] }
        return offered((schema["entities"]?.elements.compactMap { $0["name"]?.string } ?? []).filter(isPlain))
    }

    /// Natural keys of the records that were added or changed last, else their ids.
    @Sendable static func ids(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        guard let entity = entity(in: words), let shape = await shape(of: entity, words) else { return [] }
        let query = [
            (name: "limit", value: "\(limit)"), ("fields", ([shape.key] + shape.naturalKeys).joined(separator: ",")),
        ]
        let records = await answer(LocalAPIPaths.records(of: entity), query, words)?["data"]?.elements ?? []
        return offered(names(of: records, shape))
    }

    /// The words as a shell's script takes them: zsh reads what follows a colon as the description of a word.
    static func offered(_ words: [String], to shell: CompletionShell? = .requesting) -> [String] {
        shell == .zsh ? words.map { $0.replacing(":", with: "\\:") } : words
    }

    static func names(of records: [JSONText], _ shape: EntityShape) -> [String] {
        records.flatMap { record in
            (shape.naturalKeys + [shape.key]).compactMap { record[$0]?.plain }.filter(isPlain)
        }
    }

    /// Whether every shell reads the word as itself. Other people write the records, and a shell may expand `$(…)` in what
    /// it is offered.
    static func isPlain(_ word: String) -> Bool {
        !word.isEmpty && !word.hasPrefix("-")
            && word.unicodeScalars.allSatisfy { scalar in
                scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                    || "._@+:-".unicodeScalars.contains(scalar)
            }
    }

    /// `status=`, and after that `status=ready` for each value of an enum.
    @Sendable static func filters(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        await fields(words, prefix) { _, _ in true }
    }

    @Sendable static func changes(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        await fields(words, prefix) { shape, name in shape.updatable.contains(name) }
    }

    @Sendable static func creations(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        await fields(words, prefix) { shape, name in shape.creatable.contains(name) }
    }

    private static func fields(
        _ words: [String], _ prefix: String, _ isOffered: (EntityShape, String) -> Bool
    ) async -> [String] {
        guard let entity = entity(in: words), let shape = await shape(of: entity, words) else { return [] }
        return offered(offers(shape, prefix) { isOffered(shape, $0) })
    }

    /// The fields of a schema with `=`, or the values of the enum that `prefix` names.
    static func offers(_ shape: EntityShape, _ prefix: String, _ isOffered: (String) -> Bool) -> [String] {
        let names = shape.names { $0["name"]?.string.map(isOffered) ?? false }.filter(isPlain)
        guard let equals = prefix.firstIndex(of: "=") else { return names.map { "\($0)=" } }
        let name = String(prefix[..<equals])
        return shape.values(of: name).filter(isPlain).map { "\(name)=\($0)" }
    }

    /// The word after the command, which is the entity of each command that completes fields and ids.
    static func entity(in words: [String]) -> String? {
        var plain: [String] = []
        var isValue = false
        for word in words.dropFirst() {
            if !isValue, !word.hasPrefix("-") { plain.append(word) }
            isValue = connectionFlags.contains(word) || otherFlags.contains(word)
        }
        return plain.count > 1 ? plain[1] : nil
    }

    /// The flags that say where the daemon is; each takes a value.
    static let connectionFlags: Set<String> = ["--config", "--socket", "--address", "--token-file"]
    /// The other flags that take a value, of the commands that complete fields and ids.
    private static let otherFlags: Set<String> = ["--sort", "--limit", "--columns", "--format", "--reveal"]

    // MARK: Asking

    private static func shape(of entity: String, _ words: [String]) async -> EntityShape? {
        await answer(LocalAPIPaths.schema(of: entity), [], words).map { EntityShape($0) }
    }

    private static func answer(_ path: String, _ query: LocalAPIClient.Query, _ words: [String]) async -> JSONText? {
        do {
            let client = try ConnectionOptions.parse(connectionWords(words)).client(deadline: deadline)
            return try await client.get(path, query: query).body
        } catch {
            return nil
        }
    }

    /// The flags of the command line that say where the daemon is.
    static func connectionWords(_ words: [String]) -> [String] {
        var flags: [String] = []
        for (place, word) in words.enumerated()
        where connectionFlags.contains(word) && place + 1 < words.count {
            flags += [word, words[place + 1]]
        }
        return flags
    }
}
