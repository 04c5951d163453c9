import ContentStore
import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Contents that the upstream does not let through")
struct BarredContentTests {
    private static let home = """
        schema: home
        upstream: { base_url: http://localhost, pagination: { style: page } }
        entities:
          photos:
            fields: { id: { type: string }, caption: { type: string } }
            content: { path: "/photos/{id}/file", upload: { call: "PUT /photos/{id}/file" } }
            pull: { path: /photos }
            push: { update: { call: "PATCH /photos/{id}" } }
        """
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    private let upstream: PictureUpstream
    private let store: CacheStore
    private let folder: TemporaryFolder
    private let contents: ContentFolder
    private let time = ManualClock()

    init() async throws {
        let records = FakeUpstream(pageSize: 9)
        try records.set("/photos", #"[{"id":"a"}]"#)
        upstream = PictureUpstream(records: records)
        store = try CacheStore.temporary(EntitySchema(yaml: Self.home, file: "home.yaml"))
        folder = try TemporaryFolder()
        contents = try ContentFolder(path: folder.path("content"))
        _ = try await store.apply(PulledPage(entity: "photos", records: #"[{"id":"a"}]"#), at: time.timestamp)
        let draft = try contents.draft(limit: 1000)
        try draft.write(Self.png)
        let content = try await contents.finish(draft, type: "image/png")
        try await store.write(at: time.timestamp) { [contents] transaction in
            try transaction.setContent("photos", key: "a", content) { try contents.install(draft, as: content.sha256) }
        }
    }

    /// Sends what is ready in a lane once, with these changes barred.
    private func drain(_ lane: PushLane, barred: Set<Int64>) async throws {
        let admission = PushAdmission(
            slots: { 1 }, allowance: { .all }, newest: { .max }, mayBegin: { _ in true }, barred: { barred },
            breaksOff: { _ in })
        let pusher = Pusher.test(
            store, contents, to: upstream, at: time.timestamp, callableSince: time.timestamp, lane: lane)
        try await pusher.drain(through: admission)
    }

    @Test("let a change of fields find out first whether the account may write", .timeLimit(.minutes(1)))
    func changesOfFieldsFirst() async throws {
        let barred = try Set(store.readyChanges(limit: 9, at: time.timestamp, in: .content).map(\.id))
        try await store.update("photos", key: "a", body: JSONText(parsing: #"{"caption":"x"}"#), at: time.timestamp)
        try await drain(.content, barred: barred)
        #expect(upstream.uploads.isEmpty)
        try await drain(.fields, barred: barred)
        #expect(upstream.records.pushes.map(\.request.path) == ["/photos/a"])
        try await drain(.content, barred: barred)
        #expect(upstream.uploads.map(\.bytes) == [Self.png])
    }
}
