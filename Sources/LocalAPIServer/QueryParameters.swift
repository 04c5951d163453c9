internal import SocketServer

/// A request's query, decoded (`application/x-www-form-urlencoded`), in the order it came.
struct QueryParameters {
    private(set) var items: [(name: String, value: String)] = []

    init(_ request: Request) throws(Problem) {
        guard let query = request.query, !query.isEmpty else { return }
        for part in query.utf8.split(separator: UInt8(ascii: "&")) {
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = try Self.decoded(Substring(pair[0]), plusIsSpace: true)
            items.append((name, pair.count > 1 ? try Self.decoded(Substring(pair[1]), plusIsSpace: true) : ""))
        }
    }

    /// The value of a parameter that may stand once; nil when it is not there.
    func value(_ name: String) throws(Problem) -> String? {
        let values = items.filter { $0.name == name }
        guard values.count <= 1 else { throw .badRequest("\(name) is given more than once", field: name) }
        return values.first?.value
    }

    func flag(_ name: String) throws(Problem) -> Bool {
        guard let value = try value(name) else { return false }
        switch value {
        case "true", "1", "": return true
        case "false", "0": return false
        default: throw .badRequest("expected true or false", field: name)
        }
    }

    func integer(_ name: String, in range: ClosedRange<Int>, else standard: Int) throws(Problem) -> Int {
        guard let text = try value(name) else { return standard }
        guard let number = Int(text), range.contains(number) else {
            throw .badRequest("expected a whole number from \(range.lowerBound) to \(range.upperBound)", field: name)
        }
        return number
    }

    func requireOnly(_ names: [String]) throws(Problem) {
        for item in items where !names.contains(item.name) {
            let known = names.isEmpty ? "it takes none" : "it takes \(names.joined(separator: ", "))"
            throw .badRequest("this address has no parameter \(item.name); \(known)", field: item.name)
        }
    }

    static func decoded(_ text: Substring, plusIsSpace: Bool = false) throws(Problem) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return String(text)
        }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                guard digits.count == 2, let value = UInt8(String(Substring(digits)), radix: 16) else {
                    throw .badRequest("the address holds a broken %-escape")
                }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        guard let decoded = String(validating: bytes, as: UTF8.self), !decoded.utf8.contains(0) else {
            throw .badRequest("the address holds what is not UTF-8 text")
        }
        return decoded
    }
}
