/// How an entity's records come here.
package struct PullPlan: Sendable, Equatable {
    package enum Mode: Sendable, Equatable {
        /// Only what changed since the watermark: `?<parameter>=<time>`; each pull starts `overlap` before it.
        case since(parameter: String, overlap: Duration)
        /// Pages by change time, newest first, until a whole page is known.
        case newestFirst
        /// Everything, each time.
        case full
    }

    /// A single record's own path, and where it stands in the answer.
    package struct Single: Sendable, Equatable {
        package var path: Template
        package var place: Place
    }

    /// Records of another entity that come with each record of this one.
    package struct Detail: Sendable, Equatable {
        /// Asked for each record that changed; nil where the others stand inside the record itself.
        package var path: Template?
        package var entity: String
        /// How the answer of `path`, or the record itself, holds them.
        package var list: ListPlan
        /// The field of this entity that moves when the other records do; nil where they stand inside it.
        package var whenChanged: String?
        /// The field of the other entity that holds this one's key; set where a record comes without it.
        package var by: String?
    }

    package var path: String
    /// Parameters that every page is asked with.
    package var query: [QueryItem]
    package var list: ListPlan
    package var mode: Mode
    /// The field that holds a record's change time.
    package var changedAt: String?
    /// A field whose presence with a value other than null or false marks a record as deleted.
    package var deleted: String?
    package var single: Single
    package var detail: Detail?

    /// True where a pull can ask for less than everything by time.
    package var isSince: Bool {
        if case .since = mode { true } else { false }
    }

    /// How much later than its change time says a row may turn up, by what the schema tells.
    package var overlap: Duration {
        if case .since(_, let overlap) = mode { overlap } else { Self.defaultOverlap }
    }

    static let defaultOverlap = Duration.seconds(300)
}
