/// How an entity's records are pulled.
package struct PullPlan: Sendable, Equatable {
    package enum Mode: Sendable, Equatable {
        /// Only what changed since the watermark: `?<parameter>=<time>`; each pull starts `overlap` before it.
        case since(parameter: String, overlap: Duration)
        /// Pages by change time, newest first, until a whole page is known.
        case newestFirst
        /// Everything, each time.
        case full
    }

    /// A single record's own path, and where the response has it.
    package struct Single: Sendable, Equatable {
        package var path: Template
        package var place: Place
        /// The place is the upstream's, not one that the entity sets.
        package var isPlaceInherited = false
    }

    /// Records of another entity that come with each record of this one.
    package struct Detail: Sendable, Equatable {
        /// Requested for each changed record; nil when the other records are embedded in the record itself.
        package var path: Template?
        package var entity: String
        /// How the response to `path`, or the record itself, contains them.
        package var list: ListPlan
        /// The field of this entity that changes when the other records do; nil when they are embedded.
        package var whenChanged: String?
        /// The field of the other entity with this one's key; set when a record comes without it.
        package var by: String?
        /// The key field of the other entity.
        package var key: String?
    }

    package var path: String
    /// Parameters of every page request.
    package var query: [QueryItem]
    package var list: ListPlan
    package var mode: Mode
    /// The field with a record's change time.
    package var changedAt: String?
    /// A field whose presence with a value other than null or false marks a record as deleted.
    package var deleted: String?
    package var single: Single
    package var detail: Detail?

    /// Whether a pull can ask only for records changed since a time.
    package var isSince: Bool {
        if case .since = mode { true } else { false }
    }

    /// How long after its change time a record may still appear.
    package var overlap: Duration {
        if case .since(_, let overlap) = mode { overlap } else { Self.defaultOverlap }
    }

    static let defaultOverlap = Duration.seconds(300)
}
