package import EntitySchema
internal import JSONText
package import Upstream

/// Notices records that share the value by which the next page is asked for (`ListPlan.Style.lastRecord`). A server that then
/// shows only what is greater leaves out the others that share it with the last record of a page.
package struct SharedPositions {
    private let place: Place?
    private let key: String
    /// The value of the last record of the page before.
    private var last: String?
    private var isShared = false
    /// A page began with the value that the page before had ended with: the server leaves out none of them.
    private var isRepeated = false
    private var pages = 0
    private var records = 0
    private var total: Int?

    /// `key`: that of the records, which no two of them share.
    package init(_ list: ListPlan, key: String) {
        self.key = key
        if case .lastRecord(_, let place) = list.style, place.paths != [key] { self.place = place } else { place = nil }
    }

    /// Call it with each page, in their order.
    package mutating func add(_ page: Page) {
        total = page.total
        guard let place, page.count > 0 else { return }
        (pages, records) = (pages + 1, records + page.count)
        let found = page.records.elements.map { (value: place.value(in: $0), key: $0[key]) }
        isRepeated = isRepeated || last != nil && found.first?.value?.text == last
        // A list of changes may name a record for each of them.
        let pairs = zip(found, found.dropFirst())
        isShared = isShared || pairs.contains { $0.value != nil && $0.value == $1.value && $0.key != $1.key }
        last = found.last?.value?.text
    }

    package static let advice = "let pagination.next.last name a value that no two records share"

    /// Why the list may lack records, in words; nil if nothing suggests it.
    package var words: String? {
        guard let place, pages > 1, isShared, !isRepeated, total != records else { return nil }
        return """
            records have the same \(place.description), by which the next page is asked for, so some that have it may be missing
            """
    }

    /// The same, and what to correct.
    var reason: String? { words.map { "\($0); \(Self.advice)" } }
}
