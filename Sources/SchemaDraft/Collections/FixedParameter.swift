/// Parameters that a call always has with one value.
enum FixedParameter {
    /// The value that the document gives; of a version also the one that it shows. Nil if there is none.
    static func value(of parameter: APIOperation.Parameter) -> String? {
        if let preset = parameter.shape.preset, !preset.isEmpty { return preset }
        if Words.folded(parameter.name) == "xrequestedwith" { return "XMLHttpRequest" }
        let isVersion = Words.parts(of: parameter.name).contains("version")
        return isVersion ? parameter.shape.example?.text : order(parameter)
    }

    private static let orders: Set = [
        "sort", "sortby", "orderby", "order", "direction", "sortorder", "sortdirection", "orderdirection", "sortdir",
    ]

    /// One of the orders in which a list that needs one comes: any will do, best that of keys or the ascending one.
    private static func order(_ parameter: APIOperation.Parameter) -> String? {
        guard parameter.place == "query", orders.contains(Words.folded(parameter.name)) else { return nil }
        let values = parameter.shape.enumValues.map(\.value).filter(isPlain)
        let best = values.first { ["asc", "ascending", "id"].contains($0.lowercased()) }
        // A direction may also be that of what a record is about: `inbound`.
        return best ?? (Words.folded(parameter.name) == "direction" ? nil : values.first)
    }

    /// `?api-version=1.0`, for the parameters without which a call is refused; nil if one of them has no such value.
    static func query(of call: APIOperation) -> String? {
        let confirmed = Set(call.method == "DELETE" ? call.queries.filter(mustBeTrue).map(\.name) : [])
        let needed = call.queries.filter {
            ($0.isRequired || confirmed.contains($0.name) || whole(of: $0, in: call) != nil)
                && !$0.isToken
        }
        let known = needed.compactMap { parameter -> String? in
            let value =
                confirmed.contains(parameter.name) ? "true" : whole(of: parameter, in: call) ?? value(of: parameter)
            guard let value, isPlain(value), isPlain(parameter.name) else { return nil }
            return "\(parameter.name)=\(value)"
        }
        guard known.count == needed.count else { return nil }
        return known.isEmpty ? "" : "?" + known.joined(separator: "&")
    }

    /// The value with which a GET shows all records.
    private static func whole(of parameter: APIOperation.Parameter, in call: APIOperation) -> String? {
        call.method == "GET" ? HiddenRecords.value(of: parameter) : nil
    }

    /// Whether a deletion is refused without it, in the words of the document only: `force` of WordPress is "Required to be true,
    /// as resource does not support trashing".
    private static func mustBeTrue(_ parameter: APIOperation.Parameter) -> Bool {
        let text = (parameter.description ?? "").lowercased()
        return parameter.shape.kind == .boolean
            && text.prefixMatch(
                of: /\s*(required to|must|has to|needs to) be (set to )?`?true`?\s*([.,;]|as |because |$)/) != nil
    }

    /// The parameter with which a list also shows deleted records.
    static func forDeleted(of list: APIOperation) -> String? {
        let names = ["includedeleted", "withdeleted", "showdeleted", "includetrashed", "withtrashed"]
        return list.queries.first { names.contains(Words.folded($0.name)) && $0.shape.kind == .boolean }?.name
    }

    static func isPlain(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                "-_.".utf8.contains(byte) || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
            }
    }
}
