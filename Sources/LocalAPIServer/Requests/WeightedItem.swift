internal import SocketServer

/// An element of a field in which callers say what they prefer, such as `Accept` (RFC 9110, 12.4.2): `text/csv;q=0.5`.
struct WeightedItem {
    /// In lower case, without parameters.
    let name: String
    /// In thousandths; 0 for what the caller does not want.
    let weight: Int

    /// The elements of all fields of this name.
    static func all(of field: String, in request: Request) -> [WeightedItem] {
        request.headers[all: field].flatMap { $0.split(separator: ",").map(WeightedItem.init) }
    }

    /// A weight that is no number from 0 to 1 counts as 0, so that what cannot be understood is not done.
    private init(_ text: Substring) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map { part in
            part.filter { $0 != " " && $0 != "\t" }.lowercased()
        }
        name = parts[0]
        let given = parts.dropFirst().first { $0.hasPrefix("q=") }
        weight = given.map { Self.thousandths($0.dropFirst(2)) } ?? 1000
    }

    private static func thousandths(_ text: Substring) -> Int {
        guard let number = Double(text), (0...1).contains(number) else { return 0 }
        return Int((number * 1000).rounded())
    }
}
