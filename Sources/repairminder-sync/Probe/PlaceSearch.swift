import JSONText
import SchemaDraft
import Upstream

/// Where an answer has what a schema may look for.
///
/// Looks through objects, and not into lists, four levels deep: an answer's envelope is no deeper.
struct PlaceSearch {
    struct Found {
        /// Names separated by dots; empty for the answer itself.
        var place: String
        var value: JSONText
    }

    /// Every value, those near the top first.
    let values: [Found]

    private static let deepest = 4
    private static let most = 2000
    /// No name of an envelope has more bytes.
    private static let longestName = 100

    init(_ answer: JSONText) {
        var found = [Found(place: "", value: answer)]
        var level = found[...]
        for _ in 0..<Self.deepest {
            let start = found.count
            for parent in level where found.count < Self.most {
                let members = parent.value.members(atMost: Self.most - found.count)
                found += members.compactMap { Self.member($0, of: parent.place) }
            }
            level = found[start...]
        }
        values = found
    }

    private static func member(_ member: (key: String, value: JSONText), of place: String) -> Found? {
        // Such a name cannot stand in a place as it is.
        guard !member.key.isEmpty, !member.key.contains("."), member.key.utf8.count <= longestName else { return nil }
        return Found(place: place.isEmpty ? member.key : "\(place).\(member.key)", value: member.value)
    }

    /// Lists of objects, the longest first.
    var lists: [Found] {
        values.filter { $0.value.kind == .array && $0.value.elements.first?.kind == .object }
            .sorted { $0.value.elementCount > $1.value.elementCount }
    }

    /// Where the longest list is, as advice on the key `records` under this one.
    func adviceOnRecords(under key: String) -> String? {
        guard let best = lists.first else { return nil }
        let count = best.value.elementCount.counted("record", "records")
        return best.place.isEmpty
            ? "remove \(key).records: the answer itself is a list of \(count)"
            : "set \(key).records: \(best.place), where there is a list of \(count)"
    }

    /// Objects that have a value other than null under this name.
    func objects(with name: String) -> [Found] {
        values.filter { $0.value.kind == .object && ($0.value[name] ?? .null).kind != .null }
    }

    /// Other places with the last name of `path`, or nearly the same.
    func places(like path: String) -> [String] {
        let name = Words.folded(path.split(separator: ".").last.map(String.init) ?? path)
        return values.filter { found in
            found.place != path && found.value.kind != .null
                && Words.folded(found.place.split(separator: ".").last.map(String.init) ?? "") == name
        }.map(\.place)
    }

    /// Whole numbers under a name that totals have, and that can be the total of `count` records.
    func totals(of count: Int) -> [Found] {
        values.filter { found in
            guard let name = found.place.split(separator: ".").last, let number = found.value.integer else {
                return false
            }
            return Self.totals.contains(Words.folded(String(name))) && number >= count
        }
    }

    private static let totals: Set = [
        "total", "count", "totalcount", "totalitems", "totalresults", "totalrecords", "totalsize", "totalelements",
        "recordcount", "itemcount", "odatacount", "hits",
    ]

    /// The same in a header such as `X-Total-Count`, as a schema names it.
    static func total(of count: Int, in response: HTTPResponse) -> (String, String)? {
        totalHeader(of: count, in: response).map { ("{ header: \($0.name) }", $0.value) }
    }

    static func totalHeader(of count: Int, in response: HTTPResponse) -> HTTPHeader? {
        response.headers.first { header in
            let name = Words.folded(header.name)
            let isTotal = totals.contains(name.hasPrefix("x") ? String(name.dropFirst()) : name) || name == "xwptotal"
            return isTotal && Int(header.value).map { $0 >= count } ?? false
        }
    }
}
