import JSONText
import LocalAPI

/// The daemon's side of a feed.
struct FeedSource {
    let client: LocalAPIClient
    /// The entities to feed; empty for all.
    let entities: [String]
    /// The most bytes in the answers about the changed records of one entity in a batch.
    var largestBatch = 1 << 30

    /// How many entries and records are asked for at once.
    private static let most = 1000

    /// The entities as the daemon has them now, and a text that changes with anything that the tables depend on.
    struct Shape: Equatable {
        var entities: [FeedEntity]
        var text: String
    }

    struct Batch {
        var entries: [JSONText]
        var epoch: String
        /// Where the log continues.
        var next: Int
    }

    // MARK: The schema

    /// `schemaHash` is that of the schema's file.
    func shape(schemaHash: String) async throws -> Shape {
        let answer = try await client.get(LocalAPIPaths.schema)
        guard let tag = answer.tag, let described = answer.body?["entities"] else {
            throw LocalAPIError.unexpected(
                "\(LocalAPIPaths.schema) returned no schema; is the daemon the same version?")
        }
        let all = described.elements.compactMap(FeedEntity.init)
        if let unknown = entities.first(where: { name in !all.contains { $0.name == name } }) {
            let names = TerminalText.line(all.map(\.name).joined(separator: ", "))
            throw CommandFailure(.badData, "the daemon has no entity \(unknown); it has \(names)")
        }
        let wanted = entities.isEmpty ? all : all.filter { entities.contains($0.name) }
        return Shape(
            entities: wanted, text: ([tag, schemaHash] + wanted.map(\.name)).joined(separator: " "))
    }

    /// What the daemon calls itself, and the hash of its schema's file.
    func about() async throws -> (instance: String, schemaHash: String) {
        let response = try await client.answer(
            to: LocalAPIRequest(method: "GET", target: PathTemplate.metrics.text))
        let lines = String(decoding: response.body, as: UTF8.self).split(separator: "\n")
        guard response.status == 200,
            let line = lines.first(where: { $0.hasPrefix("repairminder_sync_info{") }).map(String.init)
        else {
            // The same refusal, or that the daemon is busy, in its own words.
            _ = try await client.get(LocalAPIPaths.status)
            throw LocalAPIError.unexpected("/metrics does not say which daemon this is; is it the same version?")
        }
        return (Self.label("instance", line), Self.label("schema_hash", line))
    }

    /// The value of a label of a series (Prometheus text format): a quote, a backslash and a line break are escaped.
    static func label(_ name: String, _ line: String) -> String {
        guard let start = line.firstRange(of: "\(name)=\"")?.upperBound else { return "" }
        var value = ""
        var isEscaped = false
        for character in line[start...].unicodeScalars {
            switch character {
            case _ where isEscaped:
                value.unicodeScalars.append(character == "n" ? "\n" : character)
                isEscaped = false
            case "\\": isEscaped = true
            case "\"": return value
            default: value.unicodeScalars.append(character)
            }
        }
        return value
    }

    // MARK: Changes

    /// The end of the change log.
    func end() async throws -> Batch { try await batch([]) }

    /// The entries after a position, at most 1000; waits up to `wait` seconds for the first. Nil if the log no longer has
    /// them, or the cache is another one.
    func changes(after position: FeedPosition, wait: Int) async throws -> Batch? {
        do throws(LocalAPIError) {
            return try await batch([
                ("since", "\(position.sequence)"), ("epoch", position.epoch), ("wait", "\(wait)"),
                ("limit", "\(Self.most)"),
            ])
        } catch {
            if case .problem(let problem) = error, problem.status == 410 { return nil }
            throw error
        }
    }

    private func batch(_ query: LocalAPIClient.Query) async throws(LocalAPIError) -> Batch {
        let body = try await client.get(LocalAPIPaths.changes, query: query).body
        guard let data = body?["data"], let next = body?["next"]?.integer, let epoch = body?["epoch"]?.string else {
            throw .unexpected("\(LocalAPIPaths.changes) returned no list of changes; is the daemon the same version?")
        }
        let entries = data.elements
        guard entries.count <= Self.most else {
            throw .unexpected("\(LocalAPIPaths.changes) returned more changes than were asked for")
        }
        return Batch(entries: entries, epoch: epoch, next: next)
    }

    // MARK: Records

    /// The first entity whose records are not all in the cache yet; nil if there is none.
    func incomplete(_ shape: Shape) async throws -> String? {
        for entity in shape.entities {
            let page = try await client.get(
                LocalAPIPaths.records(of: entity.name), query: [("limit", "1"), ("fields", entity.key)])
            if page.body?["complete"]?.boolean == false { return entity.name }
        }
        return nil
    }

    /// The next page of all records, and where the one after it begins.
    func page(of entity: FeedEntity, after cursor: String?) async throws -> Page {
        try await page(entity, [("limit", "\(Self.most)")], cursor)
    }

    /// Those of the records with these keys that the cache has. It never asks the upstream. Throws for more records than
    /// keys: a compromised daemon must not take memory without end.
    func records(of entity: FeedEntity, _ keys: [String]) async throws -> [JSONText] {
        var found: [JSONText] = []
        var size = 0
        for values in Self.filters(keys) {
            var cursor: String?
            repeat {
                let page = try await page(entity, [("\(entity.key).in", values), ("limit", "\(Self.most)")], cursor)
                found += page.records
                // Counts pages without records too, so that they cannot go on without end.
                size += page.size + 1000
                guard size <= largestBatch else {
                    throw LocalAPIError.unexpected(
                        "the changed \(entity.name) have more than \(largestBatch >> 20) MiB, which is not held in memory"
                    )
                }
                guard found.count <= keys.count else {
                    throw LocalAPIError.unexpected(
                        "\(entity.name) has more records than were asked for; is the daemon the same version?")
                }
                cursor = page.next
            } while cursor != nil
        }
        return found
    }

    struct Page {
        var records: [JSONText]
        /// Of the whole answer, which its records keep in memory.
        var size: Int
        var next: String?
    }

    private func page(
        _ entity: FeedEntity, _ query: LocalAPIClient.Query, _ cursor: String?
    ) async throws -> Page {
        let path = LocalAPIPaths.records(of: entity.name)
        let body = try await client.get(path, query: query + (cursor.map { [("cursor", $0)] } ?? [])).body
        guard let data = body?["data"] else {
            throw LocalAPIError.unexpected("\(path) did not return a list; is the daemon the same version?")
        }
        let next = body?["next"]?.string
        guard next == nil || next != cursor else {
            throw LocalAPIError.unexpected("\(path) returned the same cursor twice, so the list has no end")
        }
        return Page(records: data.elements, size: body?.bytes.count ?? 0, next: next)
    }

    /// Filters for keys, each short enough for one request: a list of quoted values in parentheses.
    static func filters(_ keys: [String]) -> [String] {
        var filters: [String] = []
        var values: [String] = []
        var length = 0
        func close() { if !values.isEmpty { filters.append("(\(values.joined(separator: ",")))") } }
        for key in keys {
            let escaped = key.unicodeScalars.map { "\"\\".unicodeScalars.contains($0) ? "\\\($0)" : "\($0)" }
            let value = "\"\(escaped.joined())\""
            // In an address most other characters take three times their bytes.
            let size = 3 * value.utf8.count + 3
            if length + size > 6000 || values.count == 500 {
                close()
                (values, length) = ([], 0)
            }
            values.append(value)
            length += size
        }
        close()
        return filters
    }
}
