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
        if let kept = kept.withLock(\.self), kept.source == source { return kept.text }
        let text = write()
        kept.withLock { $0 = (source, text) }
        return text
    }
}
