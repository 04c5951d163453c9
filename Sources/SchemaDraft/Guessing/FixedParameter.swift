/// Parameters that a call always has with one value.
enum FixedParameter {
    /// The value that the document gives; of a version also the one that it shows. Nil if there is none.
    static func value(of parameter: APIOperation.Parameter) -> String? {
        if let preset = parameter.shape.preset, !preset.isEmpty { return preset }
        if Words.folded(parameter.name) == "xrequestedwith" { return "XMLHttpRequest" }
        let isVersion = Words.snake(parameter.name).split(separator: "_").contains("version")
        return isVersion ? parameter.shape.example?.text : nil
    }

    /// `?api-version=1.0`, for the parameters without which a call is refused; nil if one of them has no such value.
    static func query(of call: APIOperation) -> String? {
        let needed = call.queries.filter { $0.isRequired && !TokenParameter.isToken($0) }
        let known = needed.compactMap { parameter -> String? in
            guard let value = value(of: parameter), isPlain(value), isPlain(parameter.name) else { return nil }
            return "\(parameter.name)=\(value)"
        }
        guard known.count == needed.count else { return nil }
        return known.isEmpty ? "" : "?" + known.joined(separator: "&")
    }

    /// The parameter with which a list also shows deleted records.
    static func forDeleted(of list: APIOperation) -> String? {
        let names = ["includedeleted", "withdeleted", "showdeleted", "includetrashed", "withtrashed"]
        return list.queries.first { names.contains(Words.folded($0.name)) && $0.shape.kind == .boolean }?.name
    }

    private static func isPlain(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                "-_.".utf8.contains(byte) || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
            }
    }
}
