internal import Foundation
internal import JSONText

/// One key with its value.
struct EtcdEntry: Sendable, Equatable {
    var key: String
    var value: String
    /// The revision at which the key came to be.
    var created: Int64
    /// The revision at which it was last written.
    var modified: Int64
    /// 0 for a key without a lease.
    var lease: String
}

/// The calls that a standby needs. Keys and values are text here, and base64 on the way.
extension EtcdGateway {
    /// What has to be true for a transaction to be carried out.
    enum Condition: Sendable {
        /// 0: there is no such key.
        case created(key: String, Int64)
        case modified(key: String, Int64)

        var json: JSONText {
            switch self {
            case .created(let key, let revision): Self.json("CREATE", key, "create_revision", revision)
            case .modified(let key, let revision): Self.json("MOD", key, "mod_revision", revision)
            }
        }

        private static func json(_ target: String, _ key: String, _ name: String, _ revision: Int64) -> JSONText {
            .object(["target": .string(target), "result": "EQUAL", "key": coded(key)])
                .setting(name, to: .string(String(revision)))
        }
    }

    enum Step: Sendable {
        case put(key: String, value: String, lease: String? = nil)
        case delete(key: String)
        case read(key: String)

        var json: JSONText {
            switch self {
            case .put(let key, let value, let lease):
                let put = JSONText.object(["key": coded(key), "value": coded(value)])
                let full = lease.map { put.setting("lease", to: .string($0)) } ?? put
                return .object(["request_put": full])
            case .delete(let key): return .object(["request_delete_range": .object(["key": coded(key)])])
            case .read(let key): return .object(["request_range": .object(["key": coded(key)])])
            }
        }
    }

    /// What the daemon that holds the lease is called; nil if none does. Changes nothing.
    package func holder(of settings: StandbySettings) async throws(StandbyError) -> String? {
        try await entries(settings.holderKey, limit: 1).first?.name
    }

    /// A new lease's id and its seconds.
    func grant(_ ttl: Duration) async throws(StandbyError) -> (id: String, ttl: Duration) {
        let answer = try await call("/v3/lease/grant", .object(["TTL": .string(String(ttl.components.seconds))]))
        guard let id = answer["ID"]?.string, let seconds = answer.number("TTL") else {
            throw .refused("etcd granted no lease")
        }
        return (id, .seconds(seconds))
    }

    /// What is left of a lease after its renewal; zero if etcd does not have it any more.
    func keepAlive(_ lease: String) async throws(StandbyError) -> Duration {
        let answer = try await call("/v3/lease/keepalive", .object(["ID": .string(lease)]))
        guard let result = answer["result"] else { throw .unanswered("etcd did not renew the lease") }
        return .seconds(result.number("TTL") ?? 0)
    }

    func revoke(_ lease: String) async throws(StandbyError) {
        _ = try await call("/v3/lease/revoke", .object(["ID": .string(lease)]))
    }

    /// Carries out the first steps if the conditions are true, else the others. Returns the cluster's revision and id, and
    /// what was read.
    ///
    /// Each list must have a step: etcd answers a transaction without any from one member's memory, which may be old.
    func transaction(
        if conditions: [Condition], then steps: [Step], else others: [Step]
    ) async throws(StandbyError) -> (succeeded: Bool, revision: Int64, cluster: String, read: [EtcdEntry]) {
        let answer = try await call(
            "/v3/kv/txn",
            .object([
                "compare": .array(conditions.map(\.json)), "success": .array(steps.map(\.json)),
                "failure": .array(others.map(\.json)),
            ]))
        let ranges = (answer["responses"]?.elements ?? []).compactMap { $0["response_range"] }
        let read = try Self.entries(ranges.flatMap { $0["kvs"]?.elements ?? [] })
        let header = answer["header"]
        return (
            answer["succeeded"]?.boolean ?? false, header?.number("revision") ?? 0,
            header?["cluster_id"]?.plain ?? "", read
        )
    }

    /// All keys that begin with `prefix`, by key; at most `limit` from `start` on.
    func entries(
        _ prefix: String, from start: String? = nil, limit: Int
    ) async throws(StandbyError) -> [EtcdEntry] {
        let answer = try await call(
            "/v3/kv/range",
            .object([
                "key": coded(start ?? prefix), "range_end": coded(Self.end(of: prefix)),
                "limit": .string(String(limit)),
            ]))
        return try Self.entries(answer["kvs"]?.elements ?? [])
    }

    /// In bytes, as base64. etcd takes 1.5 MiB at most; a longer one could have millions of values for its reader.
    private static let longestValue = 3 << 20

    private static func entries(_ list: [JSONText]) throws(StandbyError) -> [EtcdEntry] {
        guard list.allSatisfy({ $0["value"].map { $0.bytes.count <= longestValue } ?? true }) else {
            throw .refused("etcd has a value of more than 2 MiB")
        }
        return list.compactMap(EtcdEntry.init)
    }

    private static let entriesAtOnce = 50
    /// A queue of that size would not fit into the daemon's memory.
    private static let mostBytes = 256 << 20
    /// What an entry takes besides its texts.
    private static let entryBytes = 200

    /// All keys that begin with `prefix`, read in parts. Throws when they take more than `most` bytes, or come in another
    /// order than etcd's: such a server could go on for ever.
    func all(_ prefix: String, most: Int = mostBytes) async throws(StandbyError) -> [EtcdEntry] {
        var (found, start, size): ([EtcdEntry], String, Int) = ([], prefix, 0)
        while true {
            let part = try await entries(prefix, from: start, limit: Self.entriesAtOnce)
            for entry in part {
                guard !entry.key.utf8.lexicographicallyPrecedes(start.utf8) else {
                    throw .refused("etcd answered keys out of order")
                }
                start = entry.key + "\0"
                size += entry.key.utf8.count + entry.value.utf8.count + Self.entryBytes
            }
            guard size <= most else { throw .refused("etcd has more than \(most >> 20) MiB below \(prefix)") }
            found += part
            guard part.count == Self.entriesAtOnce else { return found }
        }
    }

    /// The first key after all that begin with an ASCII `prefix`.
    private static func end(of prefix: String) -> String {
        var bytes = Array(prefix.utf8)
        guard let last = bytes.popLast() else { return "\u{7F}" }
        return String(decoding: bytes + [last + 1], as: UTF8.self)
    }
}

private func coded(_ text: String) -> JSONText { .string(Data(text.utf8).base64EncodedString()) }

extension EtcdEntry {
    fileprivate init?(_ json: JSONText) {
        func text(_ name: String) -> String? {
            json[name]?.string.flatMap { Data(base64Encoded: $0) }.map { String(decoding: $0, as: UTF8.self) }
        }
        guard let key = text("key") else { return nil }
        self.init(
            key: key, value: text("value") ?? "", created: json.number("create_revision") ?? 0,
            modified: json.number("mod_revision") ?? 0, lease: json["lease"]?.string ?? "0")
    }
}

extension JSONText {
    /// A 64-bit number, which the gateway writes as text and leaves out for 0.
    fileprivate func number(_ name: String) -> Int64? { self[name].flatMap { Int64($0.plain) } }
}
