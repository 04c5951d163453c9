/// A fault of daemons, put in on purpose, to test that the checks of a crowd notice it.
enum CrowdMutation: String, Sendable, CaseIterable {
    /// A change whose first attempt fails is dropped.
    case dropsChanges
    /// Each attempt has another idempotency key.
    case repeatsCreations
    /// Some records in the caches never follow the upstream.
    case missesUpdates
    /// Every second conflict of a daemon is decided for the other side.
    case decidesByChance

    var rule: Violation.Rule {
        switch self {
        case .dropsChanges: .neverLost
        case .repeatsCreations: .onlyOnce
        case .missesUpdates: .equalInTheEnd
        case .decidesByChance: .sameDecision
        }
    }

    /// The faults that the simulation of one or two daemons has too.
    var mutation: Mutation? {
        switch self {
        case .repeatsCreations: .changesKeys
        case .missesUpdates: .ignoresUpdates
        case .dropsChanges, .decidesByChance: nil
        }
    }

    /// SQL that each process runs on its database.
    var trigger: String? {
        switch self {
        case .repeatsCreations, .missesUpdates: nil
        case .dropsChanges:
            """
            CREATE TRIGGER IF NOT EXISTS crowd AFTER UPDATE OF state ON sync_outbox WHEN NEW.state = 'waiting'
            BEGIN DELETE FROM sync_outbox WHERE id = NEW.id; END
            """
        case .decidesByChance:
            """
            CREATE TRIGGER IF NOT EXISTS crowd AFTER INSERT ON sync_conflict WHEN NEW.winner IS NOT NULL AND NEW.id % 2 = 0
            BEGIN
              UPDATE sync_conflict SET winner = iif(NEW.winner = 'local', 'server', 'local') WHERE id = NEW.id;
            END
            """
        }
    }
}
