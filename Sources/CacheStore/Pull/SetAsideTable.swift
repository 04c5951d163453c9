internal import EntitySchema
internal import GRDB
internal import JSONText

/// The texts of an entity's records that came without a usable key, so that each is counted once; inside the caller's
/// transaction.
///
/// At most `most` are kept: an upstream may give each of them another value in each pull. When there is no room, those
/// from before `age` make some.
struct SetAsideTable {
    let entity: String
    let db: Database
    let now: Timestamp
    /// How many more there is room for; nil until it was counted.
    private var room: Int?

    static let most = 1000
    private static let age = Duration.seconds(86_400)
    /// In Unicode scalars.
    private static let longest = 4096

    init(entity: String, db: Database, now: Timestamp) {
        self.entity = entity
        self.db = db
        self.now = now
    }

    mutating func insert(_ text: String) throws {
        guard try hasRoom() else { return }
        try db.cachedStatement(
            sql: "INSERT INTO sync_set_aside (entity, record, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        ).execute(arguments: [entity, String(text.start(scalars: Self.longest)), now.milliseconds])
        room = room.map { $0 - db.changesCount }
    }

    private mutating func hasRoom() throws -> Bool {
        if let room { return room > 0 }
        var left = Self.most - (try count())
        if left <= 0 {
            try db.cachedStatement(sql: "DELETE FROM sync_set_aside WHERE entity = ? AND at < ?")
                .execute(arguments: [entity, (now - Self.age).milliseconds])
            left = Self.most - (try count())
        }
        room = left
        return left > 0
    }

    /// No further than it matters.
    private func count() throws -> Int {
        try Int.fetchOne(
            db.cachedStatement(
                sql: "SELECT count(*) FROM (SELECT 1 FROM sync_set_aside WHERE entity = ? LIMIT \(Self.most))"),
            arguments: [entity]) ?? 0
    }
}
