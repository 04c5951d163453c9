internal import CacheStore
internal import JSONText
internal import SyncEngine
internal import Synchronization

/// What the status says about every entity, kept as text until something in it changes: programs poll the status, and to write
/// this part takes as long as the rest.
final class EntitiesStatus: Sendable {
    /// All that it is made from, by entity. Usually these are the dictionaries of the call before, which Swift compares by their
    /// addresses.
    struct Source: Sendable, Equatable {
        var status: [String: SyncStatus.Entity]
        var rows: [String: Int]
        var cursors: [String: PullCursor]
    }

    private let kept = Mutex<(source: Source, text: JSONText)?>(nil)

    /// `write` makes the text.
    func text(of source: Source, _ write: () -> JSONText) -> JSONText {
        let last = kept.withLock(\.self)
        let text = if let last, last.source == source { last.text } else { write() }
        // An equal source is kept as well: the next call compares with the same addresses.
        kept.withLock { $0 = (source, text) }
        return text
    }
}
