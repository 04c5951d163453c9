import JSONText
import Testing

/// What is done during a day in the shop, counted, with the records that it is done to.
struct ShopDay {
    let shop: Shop
    private(set) var operations = 0
    /// The key of each record by the name that the story gives it: a local one, or the upstream's of a known record.
    private(set) var keys: [String: String] = [:]

    init(in shop: Shop) {
        self.shop = shop
    }

    /// The path of a named record.
    subscript(_ entity: String, _ name: String) -> String { "/v1/\(entity)/\(keys[name] ?? name)" }

    // MARK: Known records

    /// Names the first record of a list that has no name yet.
    mutating func know(_ name: String, in list: String) async throws {
        let records = try await shop.call("GET", "/v1/\(list)").body["data"]?.elements ?? []
        let free = records.compactMap { $0["id"]?.string }.filter { !keys.values.contains($0) }
        let key = try #require(free.first, "\(list) has no record for \(name)")
        keys[name] = key
    }

    // MARK: Operations

    @discardableResult
    mutating func create(_ name: String, at path: String, _ body: String) async throws -> JSONText {
        let answer = try await shop.call("POST", path, filled(body))
        try #require(answer.status == 201, "\(path): \(answer.body.text)")
        #expect(answer.body.at(path: "_sync.state") == "pending")
        operations += 1
        let key = try #require(answer.body["id"]?.string)
        keys[name] = key
        return answer.body
    }

    @discardableResult
    mutating func change(_ path: String, _ body: String) async throws -> JSONText {
        let answer = try await shop.call("PATCH", path, filled(body))
        try #require(answer.status == 200, "\(path): \(answer.body.text)")
        #expect(answer.body.at(path: "_sync.state") == "pending", "\(path): \(answer.body.text)")
        operations += 1
        return answer.body
    }

    /// Corrects the queued creation of a named record.
    mutating func correct(_ name: String, _ body: String) async throws {
        let queued = try await shop.call("GET", "/v1/pending?record=\(key(name))").body["data"]?.elements ?? []
        let creation = try #require(queued.first { $0["operation"] == "create" })
        let answer = try await shop.call("PATCH", "/v1/pending/\(creation["id"]?.plain ?? "")", filled(body))
        try #require(answer.status == 200, "\(answer.body.text)")
        operations += 1
    }

    mutating func delete(_ path: String) async throws {
        let answer = try await shop.call("DELETE", path)
        try #require(answer.status == 204, "\(path): \(answer.body.text)")
        #expect(try await shop.call("GET", path).status == 404)
        operations += 1
    }

    /// The body with `{name}` replaced by the named record's key.
    private func filled(_ body: String) throws -> JSONText {
        try JSONText(parsing: keys.reduce(body) { $0.replacing("{\($1.key)}", with: $1.value) })
    }

    // MARK: Looking

    func record(_ entity: String, _ name: String) async throws -> JSONText {
        try await shop.call("GET", self[entity, name]).body
    }

    /// The keys of a list.
    func list(_ path: String) async throws -> [String] {
        let answer = try await shop.call("GET", "/v1/\(path)")
        try #require(answer.status == 200, "\(path): \(answer.body.text)")
        return answer.body["data"]?.elements.compactMap { $0["id"]?.string } ?? []
    }

    func key(_ name: String) throws -> String { try #require(keys[name]) }
}
