import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

/// A schema with every kind of derived field and every delete rule; the server sends some of the fields.
enum DerivedFieldSchema {
    static let yaml = """
        schema: home
        upstream:
          base_url: http://localhost
        entities:
          people:
            title: "{full_name}"
            fields:
              id: { type: string }
              first_name: { type: string }
              last_name: { type: string }
              full_name: { type: string, search: true, derive: { text: "{first_name} {last_name}" } }
            pull: { path: /people, deleted: deleted_at }
            push:
              create: { call: POST /people }
              update: { call: "PATCH /people/{id}" }
              delete: { call: "DELETE /people/{id}" }
            many:
              talks: { of: talks, by: owner_id, on_delete: deny }
              helped: { of: talks, by: helper_id, on_delete: nullify }
          talks:
            sort: -unread_count
            fields:
              id: { type: string }
              owner_id: { type: reference, to: people, as: owner }
              helper_id: { type: reference, to: people, as: helper }
              line_count: { type: integer, derive: { count: lines } }
              unread_count: { type: integer, index: true, derive: { count: lines, unless: { read_by: $account } } }
              failed_count: { type: integer, derive: { count: lines, where: { state: failed } } }
              cost: { type: money, derive: { sum: lines.cost, unless: { kind: [free, gift] } } }
              last_text: { type: string, derive: { latest: lines.text, by: at } }
              last_at: { type: time, derive: { latest: lines.at, by: at } }
            pull: { path: /talks, deleted: deleted_at }
            push:
              create: { call: POST /talks }
              update: { call: "PATCH /talks/{id}" }
              delete: { call: "DELETE /talks/{id}" }
            many:
              lines: { of: lines, by: talk_id, on_delete: cascade }
          lines:
            fields:
              id: { type: string }
              talk_id: { type: reference, to: talks, index: true }
              text: { type: string }
              kind: { type: string }
              cost: { type: money }
              at: { type: time }
              read_by: { type: list, merge: set }
              state:
                type: enum
                index: true
                values: { pending: Pending, sent: Sent, delivered: Delivered, read: Read, failed: Failed }
                follow: { queued: pending, acknowledged: sent, failed: failed, then: [delivered, read] }
            pull: { path: /lines, deleted: deleted_at }
            push:
              create: { call: POST /lines }
              update: { call: "PATCH /lines/{id}" }
              delete: { call: "DELETE /lines/{id}" }
            order_within: talk_id
        """
}

extension TestCache {
    /// Begins an attempt of the oldest change that is ready.
    func begun(at time: Timestamp = now) async throws -> OutboxChange {
        let change = try #require(try store.readyChanges(limit: 1, at: time).first)
        #expect(try await store.begin(change, at: time))
        return change
    }

    /// Finishes the oldest change that is ready.
    func send(_ outcome: PushOutcome, at time: Timestamp = now) async throws {
        try await store.finish(try await begun(at: time).id, outcome, at: time)
    }

    /// The same with an acknowledgement; `answer` is nil for one without a record.
    func send(answer: String?, at time: Timestamp = now) async throws {
        try await send(.acknowledged(record: answer.map { try JSONText(parsing: $0) }), at: time)
    }

    /// Open and decided ones.
    func conflictCount() throws -> Int {
        try store.conflicts(before: nil, open: false, limit: 100).conflicts.count
    }

    func change(_ entity: String, _ key: String, _ body: String) async throws {
        try await store.update(entity, key: key, body: JSONText(parsing: body), at: Self.now)
    }

    func make(_ entity: String, _ body: String) async throws -> String {
        try await store.create(entity, body: JSONText(parsing: body), at: Self.now)
    }

    /// The values of a record's members as text; null for a missing one.
    func values(_ entity: String, _ key: String, _ fields: String...) throws -> [String] {
        let record = try #require(try record(entity, key))
        return fields.map { record[$0]?.text ?? "null" }
    }
}
